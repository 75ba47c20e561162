"""The machine that runs the bytecode of :mod:`whence.expr.bytecode`.

One call of :func:`run` is one guard, invariant, update or value.  It reads and writes `memory`
(integers, absolutely addressed), appends clock constraints to `constraints` and clock resets to
`resets`, and never allocates.
"""

from __future__ import annotations

from typing import Any

from whence.explore.kernels.tables import SET_FRAMES
from whence.expr.bytecode import Op, Relation
from whence.expr.faults import CALL_DEPTH, LOOP_STEPS, Fault
from whence.zones.bounds import MAX_CONSTANT
from whence.zones.jit import internal

__all__ = [
    "CONSTRAINTS",
    "FAULT_PC",
    "OUT_SIZE",
    "RESETS",
    "RESULT",
    "run",
]

# What `out` holds: how many constraints and resets were emitted so far (the caller sets them to
# where the emission shall begin), the program's value, and where it faulted.
CONSTRAINTS = 0
RESETS = 1
RESULT = 2
FAULT_PC = 3
OUT_SIZE = 4

# Numba sees module-level integers as constants; enumeration members it does not.
_ACCEPT = int(Op.ACCEPT)
_REJECT = int(Op.REJECT)
_CONST = int(Op.CONST)
_LOAD = int(Op.LOAD)
_LOAD_LOCAL = int(Op.LOAD_LOCAL)
_LOAD_AT = int(Op.LOAD_AT)
_STORE = int(Op.STORE)
_STORE_LOCAL = int(Op.STORE_LOCAL)
_STORE_AT = int(Op.STORE_AT)
_STORE_AT_KEEP = int(Op.STORE_AT_KEEP)
_LOCAL = int(Op.LOCAL)
_INDEX = int(Op.INDEX)
_ADD = int(Op.ADD)
_SUB = int(Op.SUB)
_MUL = int(Op.MUL)
_DIV = int(Op.DIV)
_MOD = int(Op.MOD)
_SHL = int(Op.SHL)
_SHR = int(Op.SHR)
_AND = int(Op.AND)
_OR = int(Op.OR)
_XOR = int(Op.XOR)
_MIN = int(Op.MIN)
_MAX = int(Op.MAX)
_NEG = int(Op.NEG)
_NOT = int(Op.NOT)
_LT = int(Op.LT)
_LE = int(Op.LE)
_EQ = int(Op.EQ)
_NE = int(Op.NE)
_GE = int(Op.GE)
_GT = int(Op.GT)
_TRUTH = int(Op.TRUTH)
_JUMP = int(Op.JUMP)
_JUMP_IF = int(Op.JUMP_IF)
_JUMP_UNLESS = int(Op.JUMP_UNLESS)
_LOOP = int(Op.LOOP)
_POP = int(Op.POP)
_DUP = int(Op.DUP)
_CALL = int(Op.CALL)
_ENTER = int(Op.ENTER)
_RETURN = int(Op.RETURN)
_FAULT = int(Op.FAULT)
_EMIT = int(Op.EMIT)
_RESET = int(Op.RESET)
_CLOCK_AT = int(Op.CLOCK_AT)
_CHANNEL_AT = int(Op.CHANNEL_AT)
_LOAD_CELLS = int(Op.LOAD_CELLS)
_STORE_CELLS = int(Op.STORE_CELLS)
_EQUAL_CELLS = int(Op.EQUAL_CELLS)
_CHECK_LOCAL = int(Op.CHECK_LOCAL)
_SWAP = int(Op.SWAP)
_EQ_CONST = int(Op.EQ_CONST)
_REJECT_UNLESS = int(Op.REJECT_UNLESS)
_SET_LOCAL_ZERO = int(Op.SET_LOCAL_ZERO)
_YIELD = int(Op.YIELD)
_CHECK_TOP = int(Op.CHECK_TOP)

_REL_LT = int(Relation.LT)
_REL_LE = int(Relation.LE)
_REL_EQ = int(Relation.EQ)
_REL_GE = int(Relation.GE)

_DIVISION_BY_ZERO = int(Fault.DIVISION_BY_ZERO)
_OUT_OF_RANGE = int(Fault.OUT_OF_RANGE)
_BAD_INDEX = int(Fault.BAD_INDEX)
_OVERFLOW = int(Fault.OVERFLOW)
_BAD_SHIFT = int(Fault.BAD_SHIFT)
_RECURSION = int(Fault.RECURSION)
_ENDLESS = int(Fault.ENDLESS_LOOP)
_NEGATIVE_CLOCK = int(Fault.NEGATIVE_CLOCK)

_INT32_MIN = -(2**31)
_INT32_MAX = 2**31 - 1
_CALL_DEPTH = CALL_DEPTH
_LOOP_STEPS = LOOP_STEPS
_MAX_CONSTANT = MAX_CONSTANT


@internal
def _divide(a: int, b: int) -> int:
    """Truncating division, as in C. Pre: b != 0."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


@internal
def run(tables: Any, work: Any, start: int) -> int:
    """Runs the program at `start`: 1 accepted, 0 rejected, -f for fault f.

    Pre: the stack of `work` has room for the largest program (see Assembler.largest_program),
    `calls` for CALL_DEPTH rows, `constraints` and `resets` for all that one state can emit
    (checked: FAULT OVERFLOW is never silent).
    Post: out[CONSTRAINTS] and out[RESETS] have moved past what was emitted.
    """
    code, memory, stack, out = tables.code, work.memory, work.stack, work.out
    calls, constraints, resets = work.calls, work.constraints, work.resets
    frames = tables.settings[SET_FRAMES]
    pc = start
    sp = 0  # the stack grows upward; stack[sp - 1] is its top
    fp = frames
    depth = 0
    steps = 0
    while True:
        op = code[pc]
        if op == _EQ_CONST:
            stack[sp] = 1 if memory[code[pc + 1]] == code[pc + 2] else 0
            sp += 1
            pc += 3
        elif op == _REJECT_UNLESS:
            sp -= 1
            if stack[sp] == 0:
                return 0
            pc += 1
        elif op == _LOAD:
            stack[sp] = memory[code[pc + 1]]
            sp += 1
            pc += 2
        elif op == _CONST:
            stack[sp] = code[pc + 1]
            sp += 1
            pc += 2
        elif op == _ACCEPT:
            return 1
        elif op == _STORE:
            sp -= 1
            value = stack[sp]
            if value < code[pc + 2] or value > code[pc + 3]:
                out[FAULT_PC] = pc
                return -_OUT_OF_RANGE
            memory[code[pc + 1]] = value
            pc += 4
        elif op == _EMIT:
            sp -= 3
            first = stack[sp]
            second = stack[sp + 1]
            limit = stack[sp + 2]
            relation = code[pc + 1]
            at = out[CONSTRAINTS]
            if limit > _MAX_CONSTANT or limit < -_MAX_CONSTANT or at + 2 > constraints.shape[0]:
                out[FAULT_PC] = pc
                return -_OVERFLOW
            if relation <= _REL_EQ:
                constraints[at, 0] = first
                constraints[at, 1] = second
                constraints[at, 2] = 2 * limit + (0 if relation == _REL_LT else 1)
                at += 1
            if relation >= _REL_EQ:
                constraints[at, 0] = second
                constraints[at, 1] = first
                constraints[at, 2] = -2 * limit + (1 if relation <= _REL_GE else 0)
                at += 1
            out[CONSTRAINTS] = at
            pc += 2
        elif op == _RESET:
            sp -= 2
            at = out[RESETS]
            if stack[sp + 1] < 0:
                out[FAULT_PC] = pc
                return -_NEGATIVE_CLOCK
            if stack[sp + 1] > _MAX_CONSTANT or at >= resets.shape[0]:
                out[FAULT_PC] = pc
                return -_OVERFLOW
            resets[at, 0] = stack[sp]
            resets[at, 1] = stack[sp + 1]
            out[RESETS] = at + 1
            pc += 1
        elif op == _LOAD_LOCAL:
            stack[sp] = memory[fp + code[pc + 1]]
            sp += 1
            pc += 2
        elif op == _STORE_LOCAL:
            sp -= 1
            value = stack[sp]
            if value < code[pc + 2] or value > code[pc + 3]:
                out[FAULT_PC] = pc
                return -_OUT_OF_RANGE
            memory[fp + code[pc + 1]] = value
            pc += 4
        elif op == _JUMP:
            pc = code[pc + 1]
        elif op == _JUMP_IF:
            sp -= 1
            pc = code[pc + 1] if stack[sp] != 0 else pc + 2
        elif op == _JUMP_UNLESS:
            sp -= 1
            pc = pc + 2 if stack[sp] != 0 else code[pc + 1]
        elif op == _LOOP:
            steps += 1
            if steps > _LOOP_STEPS:
                out[FAULT_PC] = pc
                return -_ENDLESS
            pc = code[pc + 1]
        elif _LT <= op <= _GT:
            sp -= 1
            a = stack[sp - 1]
            b = stack[sp]
            if op == _LT:
                truth = a < b
            elif op == _LE:
                truth = a <= b
            elif op == _EQ:
                truth = a == b
            elif op == _NE:
                truth = a != b
            elif op == _GE:
                truth = a >= b
            else:
                truth = a > b
            stack[sp - 1] = 1 if truth else 0
            pc += 1
        elif op == _INDEX:
            value = stack[sp - 1] - code[pc + 1]
            if value < 0 or value >= code[pc + 2]:
                out[FAULT_PC] = pc
                return -_BAD_INDEX
            stack[sp - 1] = value * code[pc + 3]
            pc += 4
        elif op == _LOAD_AT:
            stack[sp - 1] = memory[stack[sp - 1]]
            pc += 1
        elif op == _STORE_AT or op == _STORE_AT_KEEP:
            sp -= 2
            value = stack[sp + 1]
            if value < code[pc + 1] or value > code[pc + 2]:
                out[FAULT_PC] = pc
                return -_OUT_OF_RANGE
            memory[stack[sp]] = value
            if op == _STORE_AT_KEEP:
                stack[sp] = value
                sp += 1
            pc += 3
        elif _ADD <= op <= _MAX:
            sp -= 1
            a = stack[sp - 1]
            b = stack[sp]
            if op == _ADD:
                value = a + b
            elif op == _SUB:
                value = a - b
            elif op == _MUL:
                value = a * b
            elif op == _DIV or op == _MOD:
                if b == 0:
                    out[FAULT_PC] = pc
                    return -_DIVISION_BY_ZERO
                value = _divide(a, b)
                if op == _MOD:
                    value = a - value * b
            elif op == _SHL or op == _SHR:
                if b < 0 or b > 31:
                    out[FAULT_PC] = pc
                    return -_BAD_SHIFT
                value = a << b if op == _SHL else a >> b
            elif op == _AND:
                value = a & b
            elif op == _OR:
                value = a | b
            elif op == _XOR:
                value = a ^ b
            elif op == _MIN:
                value = min(a, b)
            else:
                value = max(a, b)
            if value < _INT32_MIN or value > _INT32_MAX:
                out[FAULT_PC] = pc
                return -_OVERFLOW
            stack[sp - 1] = value
            pc += 1
        elif op == _NEG:
            if stack[sp - 1] == _INT32_MIN:
                out[FAULT_PC] = pc
                return -_OVERFLOW
            stack[sp - 1] = -stack[sp - 1]
            pc += 1
        elif op == _NOT:
            stack[sp - 1] = 1 if stack[sp - 1] == 0 else 0
            pc += 1
        elif op == _TRUTH:
            stack[sp - 1] = 0 if stack[sp - 1] == 0 else 1
            pc += 1
        elif op == _POP:
            sp -= 1
            pc += 1
        elif op == _DUP:
            stack[sp] = stack[sp - 1]
            sp += 1
            pc += 1
        elif op == _SWAP:
            value = stack[sp - 1]
            stack[sp - 1] = stack[sp - 2]
            stack[sp - 2] = value
            pc += 1
        elif op == _LOCAL:
            stack[sp] = fp + code[pc + 1]
            sp += 1
            pc += 2
        elif op == _CALL:
            # The stack must hold whatever the callee can push, the memory its frame.
            if (
                depth >= _CALL_DEPTH
                or 2 * sp > stack.shape[0]
                or fp + 2 * code[pc + 2] > memory.shape[0]
            ):
                out[FAULT_PC] = pc
                return -_RECURSION
            calls[depth, 0] = pc + 3
            calls[depth, 1] = fp
            depth += 1
            fp += code[pc + 2]
            pc = code[pc + 1]
        elif op == _ENTER:
            count = code[pc + 1]
            sp -= count
            for n in range(count):
                memory[fp + n] = stack[sp + n]
            pc += 2
        elif op == _RETURN:
            depth -= 1
            pc = calls[depth, 0]
            fp = calls[depth, 1]
        elif op == _CHECK_LOCAL:
            value = memory[fp + code[pc + 1]]
            if value < code[pc + 2] or value > code[pc + 3]:
                out[FAULT_PC] = pc
                return -_OUT_OF_RANGE
            pc += 4
        elif op == _CLOCK_AT or op == _CHANNEL_AT:
            # The tables of numbers stand in the code array, at the operand.
            stack[sp - 1] = code[code[pc + 1] + stack[sp - 1]]
            pc += 2
        elif op == _LOAD_CELLS:
            sp -= 1
            address = stack[sp]
            for n in range(code[pc + 1]):
                stack[sp] = memory[address + n]
                sp += 1
            pc += 2
        elif op == _STORE_CELLS:
            count = code[pc + 1]
            sp -= count + 1
            address = stack[sp]
            for n in range(count):
                memory[address + n] = stack[sp + 1 + n]
            pc += 2
        elif op == _EQUAL_CELLS:
            count = code[pc + 1]
            sp -= 2 * count
            same = 1
            for n in range(count):
                if stack[sp + n] != stack[sp + count + n]:
                    same = 0
            stack[sp] = same
            sp += 1
            pc += 2
        elif op == _SET_LOCAL_ZERO:
            for n in range(code[pc + 2]):
                memory[fp + code[pc + 1] + n] = 0
            pc += 3
        elif op == _YIELD:
            sp -= 1
            out[RESULT] = stack[sp]
            pc += 1
        elif op == _CHECK_TOP:
            value = stack[sp - code[pc + 1]]
            if value < code[pc + 2] or value > code[pc + 3]:
                out[FAULT_PC] = pc
                return -_OUT_OF_RANGE
            pc += 4
        elif op == _REJECT:
            return 0
        else:  # FAULT
            out[FAULT_PC] = pc
            return -int(code[pc + 1])
