"""Bytecode: the interpretation of expressions that the exploration kernel runs.

A small stack machine.  One program serves one guard, invariant, update list, channel index or
state formula; all programs of a network share one code array, so that one compiled kernel runs
every model.  Values on the stack are integers; arrays and structs are pushed cell by cell.

Memory is one row of integers, addressed absolutely::

    0 .. P-1                 locations, one a process
    P .. P+D-1               data cells, in the order of the network's layout
    then                     constants that are arrays or structs
    then                     select variables of the edge being run (SELECTS of them)
    then                     frames of function calls

Programs also *emit*: a guard or invariant emits clock constraints (i, j, bound) and an update
emits clock resets (clock, value), in order.  A program ends with ACCEPT or REJECT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from whence.expr.faults import Fault
from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    BoolLiteral,
    Call,
    Conditional,
    Deadlock,
    DoWhile,
    Evaluate,
    Expr,
    Field,
    For,
    ForEach,
    Function,
    If,
    Index,
    InLocation,
    IntLiteral,
    Name,
    Quantifier,
    Return,
    Statement,
    Step,
    Symbol,
    SymbolKind,
    Unary,
    While,
)
from whence.expr.types import (
    ArrayType,
    BoolType,
    ChannelType,
    ClockType,
    ConstraintType,
    IntType,
    ScalarType,
    StructType,
    Type,
    cells,
    named_cells,
)
from whence.source import Diagnostic, Origin, UnsupportedError

__all__ = ["Assembler", "Memory", "Op"]


class Op(IntEnum):
    """The instructions; operands follow in the code array. `..., a -> ..., b` is the stack."""

    ACCEPT = 0  # end: true
    REJECT = 1  # end: false
    CONST = 2  # k: -> k
    LOAD = 3  # address: -> value
    LOAD_LOCAL = 4  # offset: -> value
    LOAD_AT = 5  # address -> value
    STORE = 6  # address lo hi: value ->
    STORE_LOCAL = 7  # offset lo hi: value ->
    STORE_AT = 8  # lo hi: address, value ->
    STORE_AT_KEEP = 9  # lo hi: address, value -> value
    LOCAL = 10  # offset: -> absolute address
    INDEX = 11  # lo length stride: i -> (i - lo) * stride, checked
    ADD = 12
    SUB = 13
    MUL = 14
    DIV = 15
    MOD = 16
    SHL = 17
    SHR = 18
    AND = 19
    OR = 20
    XOR = 21
    MIN = 22
    MAX = 23
    NEG = 24
    NOT = 25
    LT = 26
    LE = 27
    EQ = 28
    NE = 29
    GE = 30
    GT = 31
    TRUTH = 32  # value -> 0 or 1
    JUMP = 33  # target
    JUMP_IF = 34  # target: value ->
    JUMP_UNLESS = 35  # target: value ->
    LOOP = 36  # target: a jump back, counted
    POP = 37
    DUP = 38
    CALL = 39  # target frame: arguments -> results
    ENTER = 40  # argument cells, frame cells
    RETURN = 41
    FAULT = 42  # fault
    EMIT = 43  # relation: clock i, clock j, bound ->
    RESET = 44  # clock, value ->
    CLOCK_AT = 45  # table: address of the clock's cell -> clock number
    CHANNEL_AT = 46  # table: address of the channel's cell -> channel number
    LOAD_CELLS = 47  # count: address -> cells
    STORE_CELLS = 48  # count: address, cells ->
    EQUAL_CELLS = 49  # count: cells, cells -> 0 or 1
    CHECK_LOCAL = 50  # offset lo hi: a parameter's range
    SWAP = 51
    EQ_CONST = 52  # address k: -> memory[address] == k
    REJECT_UNLESS = 53  # value ->
    SET_LOCAL_ZERO = 54  # offset count
    YIELD = 55  # value -> ; the program's result
    CHECK_TOP = 56  # depth lo hi: the range of a value on the stack


class Relation(IntEnum):
    """How EMIT compares clock i - clock j with the bound."""

    LT = 0
    LE = 1
    EQ = 2
    GE = 3
    GT = 4


_BINARY = {
    "+": Op.ADD,
    "-": Op.SUB,
    "*": Op.MUL,
    "/": Op.DIV,
    "%": Op.MOD,
    "<<": Op.SHL,
    ">>": Op.SHR,
    "&": Op.AND,
    "|": Op.OR,
    "^": Op.XOR,
    "<?": Op.MIN,
    ">?": Op.MAX,
    "<": Op.LT,
    "<=": Op.LE,
    "==": Op.EQ,
    "!=": Op.NE,
    ">=": Op.GE,
    ">": Op.GT,
}
_RELATIONS = {
    "<": Relation.LT,
    "<=": Relation.LE,
    "==": Relation.EQ,
    ">=": Relation.GE,
    ">": Relation.GT,
}
_INT32 = (-(2**31), 2**31 - 1)


@dataclass(frozen=True)
class Memory:
    """Where a network's symbols live for the kernel (see the module's text).

    Variables of clocks and channels have addresses too, behind the data: nothing is read there,
    but `clock_of` and `channel_of`, indexed by address, say which clock or channel it is.
    """

    processes: int
    variables: Mapping[Symbol, int]
    constants: Mapping[Symbol, int]
    clock_of: Sequence[int]
    channel_of: Sequence[int]
    selects: int
    frames: int


@dataclass
class _Frame:
    """The local cells of the function (or top-level program) being assembled."""

    offsets: dict[Symbol, int] = field(default_factory=dict)
    references: set[Symbol] = field(default_factory=set)
    size: int = 0
    #: Where in the code the final size is needed: a callee's frame starts behind ours.
    size_wanted: list[int] = field(default_factory=list)


def _range_of(type_: Type) -> tuple[int, int]:
    match type_:
        case IntType(lo, hi):
            return lo, hi
        case BoolType():
            return 0, 1
        case ScalarType(size, _):
            return 0, size - 1
    return _INT32


def _is_aggregate(type_: Type | None) -> bool:
    return isinstance(type_, ArrayType | StructType)


def _typed(expr: Expr) -> Type:
    assert expr.type is not None, f"unchecked expression: {expr}"
    return expr.type


class Assembler:
    """Collects the code of one network. `places` tells where in the model an instruction that
    can fault came from."""

    def __init__(self, memory: Memory, functions: Mapping[Symbol, Function]) -> None:
        self._memory = memory
        self._functions = functions
        # The numbers of clocks and channels by address come first: code can look them up.
        self.code: list[int] = [*memory.clock_of, *memory.channel_of]
        self._tables = {Op.CLOCK_AT: 0, Op.CHANNEL_AT: len(memory.clock_of)}
        self.places: dict[int, Origin] = {}
        self._entry: dict[Symbol, int] = {}
        self._calls: list[tuple[int, Symbol]] = []
        self._selects: dict[Symbol, int] = {}
        self._frame = _Frame()
        self._pushes = 0
        self.largest_frame = 1
        self.largest_program = 64

    # ------------------------------------------------------------------------------ programs

    def guard(self, expr: Expr | None, selects: Sequence[Symbol] = ()) -> int:
        """A program that rejects, or accepts and has emitted its clock constraints; -1 where
        there is nothing to decide."""
        if expr is None or expr == BoolLiteral(True):
            return -1
        with_start = self._begin(selects)
        self._guard(expr)
        return self._end(with_start)

    def update(self, updates: Sequence[Expr], selects: Sequence[Symbol] = ()) -> int:
        """A program that changes memory and emits clock resets."""
        if not updates:
            return -1
        start = self._begin(selects)
        for expr in updates:
            self._effect(expr)
        return self._end(start)

    def value(self, expr: Expr, selects: Sequence[Symbol] = ()) -> int:
        """A program that yields the value of an integer or boolean expression."""
        start = self._begin(selects)
        self._value(expr)
        self._emit(Op.YIELD)
        return self._end(start)

    def channel(self, expr: Expr, selects: Sequence[Symbol] = ()) -> int:
        """A program that yields the number of a channel."""
        start = self._begin(selects)
        self._identity(expr, Op.CHANNEL_AT)
        self._emit(Op.YIELD)
        return self._end(start)

    def static_channel(self, expr: Expr) -> int | None:
        """The number of a channel, where it is the same in every state."""
        self._selects = {}
        static = self._static(expr)
        return None if static is None else self._memory.channel_of[static]

    def _begin(self, selects: Sequence[Symbol]) -> int:
        self._selects = {symbol: self._memory.selects + n for n, symbol in enumerate(selects)}
        self._frame = _Frame()
        self._pushes = 0
        return len(self.code)

    def _end(self, start: int) -> int:
        self._emit(Op.ACCEPT)
        self._close_frame()
        self._finish_calls()
        return start

    def _close_frame(self) -> None:
        for use in self._frame.size_wanted:
            self.code[use] = self._frame.size
        self.largest_frame = max(self.largest_frame, self._frame.size + 1)
        self.largest_program = max(self.largest_program, self._pushes + 8)

    def _finish_calls(self) -> None:
        """Assembles the functions called so far and patches the calls to them."""
        while self._calls:
            at, symbol = self._calls.pop()
            if symbol not in self._entry:
                self._entry[symbol] = len(self.code)
                self._function(self._functions[symbol])
            self.code[at] = self._entry[symbol]

    # --------------------------------------------------------------------------- small things

    def _emit(self, op: Op, *operands: int, at: Origin | None = None) -> int:
        if at is not None:
            self.places[len(self.code)] = at
        self.code.append(int(op))
        self.code.extend(operands)
        self._pushes += 1
        return len(self.code) - len(operands)

    def _here(self) -> int:
        return len(self.code)

    def _patch(self, *operands: int) -> None:
        for operand in operands:
            self.code[operand] = len(self.code)

    def _local(self, symbol: Symbol) -> int:
        """The frame offset of a local symbol, made on first sight."""
        if symbol not in self._frame.offsets:
            self._frame.offsets[symbol] = self._frame.size
            self._frame.size += cells(symbol.type)
        return self._frame.offsets[symbol]

    # -------------------------------------------------------------------- guards, constraints

    def _guard(self, expr: Expr) -> None:
        if not isinstance(expr.type, ConstraintType):
            if isinstance(expr, Binary) and expr.op == "&&":
                self._guard(expr.left)
                self._guard(expr.right)
                return
            self._value(expr)
            self._emit(Op.REJECT_UNLESS)
            return
        match expr:
            case Binary(op="&&"):
                self._guard(expr.left)
                self._guard(expr.right)
            case Binary(op="||" | "imply"):
                self._guarded_unless(expr)
            case Binary():
                self._constraint(expr)
            case Conditional():
                self._value(expr.condition)
                otherwise = self._emit(Op.JUMP_UNLESS, 0)
                self._guard(expr.then)
                end = self._emit(Op.JUMP, 0)
                self._patch(otherwise)
                self._guard(expr.otherwise)
                self._patch(end)
            case Quantifier(kind="forall"):
                self._for_all_values(expr, lambda: self._guard(expr.body))
            case _:
                raise UnsupportedError(
                    Diagnostic(
                        "not supported: clock constraints in a guard or invariant "
                        "that do not form a conjunction",
                        expr.origin,
                        hint="split the edge, one for each alternative",
                    )
                )

    def _guarded_unless(self, expr: Binary) -> None:
        """`data || constraint`, `constraint || data`, `data imply constraint`."""
        condition, constraint = expr.left, expr.right
        if expr.op == "||" and isinstance(condition.type, ConstraintType):
            condition, constraint = constraint, condition
        if isinstance(condition.type, ConstraintType):
            raise UnsupportedError(
                Diagnostic(
                    "not supported: a disjunction of clock constraints in a guard", expr.origin
                )
            )
        self._value(condition)
        skip = self._emit(Op.JUMP_IF if expr.op == "||" else Op.JUMP_UNLESS, 0)
        self._guard(constraint)
        self._patch(skip)

    def _constraint(self, expr: Binary) -> None:
        left = expr.left
        if isinstance(left, Binary):
            self._clock(left.left)
            self._clock(left.right)
        else:
            self._clock(left)
            self._emit(Op.CONST, 0)
        self._value(expr.right)
        self._emit(Op.EMIT, _RELATIONS[expr.op], at=expr.origin)

    def _clock(self, expr: Expr) -> None:
        self._identity(expr, Op.CLOCK_AT)

    def _identity(self, expr: Expr, op: Op) -> None:
        """Pushes the number of a clock or channel, at once where its index is constant."""
        static = self._static(expr)
        if static is not None:
            self._emit(Op.CONST, self.code[self._tables[op] + static])
            return
        self._place(expr)
        self._emit(op, self._tables[op])

    # ------------------------------------------------------------------------------- lvalues

    def _static(self, expr: Expr) -> int | None:
        """The absolute address of an lvalue, where it is known now."""
        match expr:
            case Name(symbol=Symbol() as symbol):
                for table in (self._memory.variables, self._memory.constants, self._selects):
                    if symbol in table:
                        return table[symbol]
            case Field(record, name):
                base = self._static(record)
                if base is not None:
                    return base + self._field_offset(record, name)
            case Index(array, IntLiteral(value)):
                base = self._static(array)
                type_ = _typed(array)
                assert isinstance(type_, ArrayType)
                if base is not None and 0 <= value - type_.lo < type_.length:
                    return base + (value - type_.lo) * cells(type_.element)
        return None

    @staticmethod
    def _field_offset(record: Expr, name: str) -> int:
        type_ = _typed(record)
        assert isinstance(type_, StructType)
        found = type_.field(name)
        assert found is not None
        return found[0]

    def _place(self, expr: Expr) -> None:
        """Pushes the absolute address of an lvalue."""
        static = self._static(expr)
        if static is not None:
            self._emit(Op.CONST, static)
            return
        match expr:
            case Name(symbol=Symbol() as symbol):
                offset = self._local(symbol)
                if symbol in self._frame.references:
                    self._emit(Op.LOAD_LOCAL, offset)
                else:
                    self._emit(Op.LOCAL, offset)
            case Field(record, name):
                self._place(record)
                offset = self._field_offset(record, name)
                if offset:
                    self._emit(Op.CONST, offset)
                    self._emit(Op.ADD)
            case Index(array, index):
                type_ = _typed(array)
                assert isinstance(type_, ArrayType)
                self._place(array)
                self._value(index)
                self._emit(Op.INDEX, type_.lo, type_.length, cells(type_.element), at=expr.origin)
                self._emit(Op.ADD)
            case Conditional():
                self._value(expr.condition)
                otherwise = self._emit(Op.JUMP_UNLESS, 0)
                self._place(expr.then)
                end = self._emit(Op.JUMP, 0)
                self._patch(otherwise)
                self._place(expr.otherwise)
                self._patch(end)
            case Assignment() | Step(prefix=True):
                self._effect(expr)
                self._place(expr.target)
            case _:
                raise AssertionError(f"not an lvalue: {expr}")

    def _is_plain_local(self, expr: Expr) -> Symbol | None:
        if (
            isinstance(expr, Name)
            and expr.symbol is not None
            and expr.symbol.kind in (SymbolKind.LOCAL, SymbolKind.BOUND)
            and expr.symbol not in self._frame.references
            and not _is_aggregate(expr.symbol.type)
        ):
            return expr.symbol
        return None

    # -------------------------------------------------------------------------------- values

    def _value(self, expr: Expr) -> None:
        """Pushes the value of `expr`, one integer a cell."""
        match expr:
            case IntLiteral(value):
                self._emit(Op.CONST, value)
            case BoolLiteral(truth):
                self._emit(Op.CONST, int(truth))
            case Name() | Index() | Field():
                self._load(expr)
            case Unary(op, operand):
                self._value(operand)
                if op == "-":
                    self._emit(Op.NEG, at=expr.origin)
                elif op == "!":
                    self._emit(Op.NOT)
            case Binary():
                self._binary(expr)
            case Conditional(condition, then, otherwise):
                self._value(condition)
                jump = self._emit(Op.JUMP_UNLESS, 0)
                self._value(then)
                end = self._emit(Op.JUMP, 0)
                self._patch(jump)
                self._value(otherwise)
                self._patch(end)
            case Quantifier():
                self._quantifier(expr)
            case Call():
                self._call(expr)
            case Assignment() | Step():
                self._assign(expr, keep=True)
            case InLocation(IntLiteral(process), location, _):
                self._emit(Op.EQ_CONST, process, location)
            case InLocation(process_expr, location, _):
                self._value(process_expr)
                self._emit(Op.INDEX, 0, self._memory.processes, 1, at=expr.origin)
                self._emit(Op.LOAD_AT)
                self._emit(Op.CONST, location)
                self._emit(Op.EQ)
            case Deadlock():
                raise AssertionError("deadlock is not a value")

    def _load(self, expr: Expr) -> None:
        type_ = _typed(expr)
        static = self._static(expr)
        if _is_aggregate(type_):
            self._place(expr)
            self._emit(Op.LOAD_CELLS, cells(type_))
            self._pushes += cells(type_)
        elif static is not None:
            self._emit(Op.LOAD, static)
        elif (symbol := self._is_plain_local(expr)) is not None:
            self._emit(Op.LOAD_LOCAL, self._local(symbol))
        else:
            self._place(expr)
            self._emit(Op.LOAD_AT)

    def _binary(self, expr: Binary) -> None:
        op = expr.op
        if op in ("&&", "||", "imply"):
            self._value(expr.left)
            if op == "imply":
                self._emit(Op.NOT)
            self._emit(Op.TRUTH)
            self._emit(Op.DUP)
            end = self._emit(Op.JUMP_UNLESS if op == "&&" else Op.JUMP_IF, 0)
            self._emit(Op.POP)
            self._value(expr.right)
            self._emit(Op.TRUTH)
            self._patch(end)
            return
        if (
            op == "=="
            and isinstance(expr.right, IntLiteral)
            and not _is_aggregate(expr.left.type)
            and (static := self._static(expr.left)) is not None
        ):
            self._emit(Op.EQ_CONST, static, expr.right.value)
            return
        self._value(expr.left)
        self._value(expr.right)
        if _is_aggregate(expr.left.type):
            self._emit(Op.EQUAL_CELLS, cells(_typed(expr.left)))
            if op == "!=":
                self._emit(Op.NOT)
            return
        self._emit(_BINARY[op], at=expr.origin)

    def _for_all_values(self, quantifier: Quantifier | ForEach, body: Callable[[], None]) -> None:
        """A loop over the domain of `quantifier` in ascending order."""
        symbol = quantifier.symbol
        assert symbol is not None
        lo, hi = _range_of(symbol.type)
        offset = self._local(symbol)
        self._emit(Op.CONST, lo)
        self._emit(Op.STORE_LOCAL, offset, *_INT32)
        start = self._here()
        self._emit(Op.LOAD_LOCAL, offset)
        self._emit(Op.CONST, hi)
        self._emit(Op.LE)
        end = self._emit(Op.JUMP_UNLESS, 0)
        body()
        self._emit(Op.LOAD_LOCAL, offset)
        self._emit(Op.CONST, 1)
        self._emit(Op.ADD)
        self._emit(Op.STORE_LOCAL, offset, *_INT32)
        self._emit(Op.LOOP, start, at=quantifier.origin)
        self._patch(end)

    def _quantifier(self, expr: Quantifier) -> None:
        assert expr.symbol is not None
        result = self._frame.size
        self._frame.size += 1

        def keep(value: int) -> None:
            self._emit(Op.CONST, value)
            self._emit(Op.STORE_LOCAL, result, *_INT32)

        keep(1 if expr.kind == "forall" else 0)
        leave: list[int] = []

        def body() -> None:
            self._value(expr.body)
            if expr.kind == "sum":
                self._emit(Op.LOAD_LOCAL, result)
                self._emit(Op.ADD, at=expr.origin)
                self._emit(Op.STORE_LOCAL, result, *_INT32)
                return
            # Found what decides: keep it and leave the loop.
            decided = expr.kind == "exists"
            onward = self._emit(Op.JUMP_UNLESS if decided else Op.JUMP_IF, 0)
            keep(int(decided))
            leave.append(self._emit(Op.JUMP, 0))
            self._patch(onward)

        self._for_all_values(expr, body)
        self._patch(*leave)
        self._emit(Op.LOAD_LOCAL, result)

    def _call(self, expr: Call) -> None:
        assert expr.symbol is not None
        function = self._functions[expr.symbol]
        for parameter, argument in zip(function.parameters, expr.arguments, strict=True):
            if parameter.reference:
                self._place(argument)
            else:
                self._value(argument)
                if isinstance(parameter.symbol.type, BoolType):
                    self._emit(Op.TRUTH)
                if _is_aggregate(parameter.symbol.type):
                    self._check_cells(_typed(argument), parameter.symbol.type, argument.origin)
        at = self._emit(Op.CALL, 0, 0, at=expr.origin)
        self._calls.append((at, expr.symbol))
        self._frame.size_wanted.append(at + 1)
        self._pushes += cells(expr.symbol.type)
        self._check_references(function, expr)

    def _check_references(self, function: Function, call: Call) -> None:
        """What was written through a reference must be in the range of what it refers to, which
        may be narrower than that of the parameter."""
        for parameter, argument in zip(function.parameters, call.arguments, strict=True):
            type_ = _typed(argument)
            if not parameter.reference or isinstance(type_, ClockType | ChannelType):
                continue
            pairs = zip(named_cells("", parameter.symbol.type), named_cells("", type_), strict=True)
            for position, (have, need) in enumerate(pairs):
                least, most = _range_of(have.type)
                lo, hi = _range_of(need.type)
                if least < lo or most > hi:
                    self._place(argument)
                    self._emit(Op.CONST, position)
                    self._emit(Op.ADD)
                    self._emit(Op.LOAD_AT)
                    self._emit(Op.CHECK_TOP, 1, lo, hi, at=call.origin)
                    self._emit(Op.POP)

    # ------------------------------------------------------------------------------- effects

    def _effect(self, expr: Expr) -> None:
        """Runs `expr` for its effect alone."""
        match expr:
            case Assignment() | Step():
                self._assign(expr, keep=False)
            case Conditional(condition, then, otherwise):
                self._value(condition)
                jump = self._emit(Op.JUMP_UNLESS, 0)
                self._effect(then)
                end = self._emit(Op.JUMP, 0)
                self._patch(jump)
                self._effect(otherwise)
                self._patch(end)
            case _:
                self._value(expr)
                for _ in range(cells(_typed(expr))):
                    self._emit(Op.POP)

    def _assign(self, expr: Assignment | Step, keep: bool) -> None:
        target = expr.target
        type_ = _typed(target)
        if isinstance(type_, ClockType):
            assert isinstance(expr, Assignment)
            self._value(expr.value)
            if keep:
                self._emit(Op.DUP)
            self._clock(target)
            self._emit(Op.SWAP)
            self._emit(Op.RESET, at=expr.origin)
            return
        if _is_aggregate(type_):
            assert isinstance(expr, Assignment)
            self._place(target)
            self._value(expr.value)
            self._check_cells(_typed(expr.value), type_, expr.origin)
            self._emit(Op.STORE_CELLS, cells(type_))
            if keep:
                self._load(target)
            return
        lo, hi = _range_of(type_)
        static = self._static(target)
        local = self._is_plain_local(target)
        if static is not None or local is not None:
            self._new_value(expr, lambda: self._load(target))
            if keep and isinstance(expr, Step) and not expr.prefix:
                # The old value is wanted: fetch it before it is overwritten.
                self._load(target)
                self._emit(Op.SWAP)
            if static is not None:
                self._emit(Op.STORE, static, lo, hi, at=expr.origin)
            else:
                assert local is not None
                self._emit(Op.STORE_LOCAL, self._local(local), lo, hi, at=expr.origin)
            if keep and not (isinstance(expr, Step) and not expr.prefix):
                self._load(target)
            return
        # The address is computed once, before the value, as its parts may have effects.
        self._place(target)
        if keep and isinstance(expr, Step) and not expr.prefix:
            self._emit(Op.DUP)
            self._emit(Op.LOAD_AT)
            self._emit(Op.SWAP)
            keep = False  # what was there before is on the stack already

        def old() -> None:
            self._emit(Op.DUP)
            self._emit(Op.LOAD_AT)

        self._new_value(expr, old)
        self._emit(Op.STORE_AT_KEEP if keep else Op.STORE_AT, lo, hi, at=expr.origin)

    def _check_cells(self, given: Type, wanted: Type, at: Origin) -> None:
        """Checks the ranges of the cells on the stack, where a given one may be outside."""
        count = cells(wanted)
        pairs = zip(named_cells("", given), named_cells("", wanted), strict=True)
        for position, (have, need) in enumerate(pairs):
            least, most = _range_of(have.type)
            lo, hi = _range_of(need.type)
            if least < lo or most > hi:
                self._emit(Op.CHECK_TOP, count - position, lo, hi, at=at)

    def _new_value(self, expr: Assignment | Step, old: Callable[[], None]) -> None:
        """Pushes what is to be stored."""
        if isinstance(expr, Step):
            old()
            self._emit(Op.CONST, 1)
            self._emit(Op.ADD if expr.op == "++" else Op.SUB, at=expr.origin)
        elif expr.op == "=":
            self._value(expr.value)
        else:
            old()
            self._value(expr.value)
            self._emit(_BINARY[expr.op[:-1]], at=expr.origin)
        if isinstance(expr.target.type, BoolType):
            self._emit(Op.TRUTH)

    # ------------------------------------------------------------------- functions, statements

    def _function(self, function: Function) -> None:
        self._begin(())
        for parameter in function.parameters:
            if parameter.reference:
                self._frame.offsets[parameter.symbol] = self._frame.size
                self._frame.references.add(parameter.symbol)
                self._frame.size += 1
            else:
                self._local(parameter.symbol)
        arguments = self._frame.size
        self._emit(Op.ENTER, arguments)
        for parameter in function.parameters:
            if not parameter.reference and not _is_aggregate(parameter.symbol.type):
                lo, hi = _range_of(parameter.symbol.type)
                offset = self._local(parameter.symbol)
                self._emit(Op.CHECK_LOCAL, offset, lo, hi, at=function.origin)
        self._statement(function.body, function)
        if cells(function.symbol.type):
            self._emit(Op.FAULT, Fault.NO_RETURN, at=function.origin)
        else:
            self._emit(Op.RETURN)
        self._close_frame()

    def _statement(self, statement: Statement, function: Function) -> None:
        match statement:
            case Block():
                for local in statement.locals:
                    offset = self._local(local.symbol)
                    if local.initial:
                        self._initialise(local.symbol, offset, local.initial)
                    else:
                        self._zero(local.symbol.type, offset)
                for inner in statement.statements:
                    self._statement(inner, function)
            case Evaluate(expr):
                if expr is not None:
                    self._effect(expr)
            case If(condition, then, otherwise):
                self._value(condition)
                jump = self._emit(Op.JUMP_UNLESS, 0)
                self._statement(then, function)
                if otherwise is None:
                    self._patch(jump)
                else:
                    end = self._emit(Op.JUMP, 0)
                    self._patch(jump)
                    self._statement(otherwise, function)
                    self._patch(end)
            case While(condition, body):
                start = self._here()
                self._value(condition)
                end = self._emit(Op.JUMP_UNLESS, 0)
                self._statement(body, function)
                self._emit(Op.LOOP, start, at=statement.origin)
                self._patch(end)
            case DoWhile(body, condition):
                start = self._here()
                self._statement(body, function)
                self._value(condition)
                end = self._emit(Op.JUMP_UNLESS, 0)
                self._emit(Op.LOOP, start, at=statement.origin)
                self._patch(end)
            case For():
                self._for(statement, function)
            case ForEach():
                self._for_all_values(statement, lambda: self._statement(statement.body, function))
            case Return(value):
                if value is not None:
                    self._value(value)
                    if isinstance(function.symbol.type, BoolType):
                        self._emit(Op.TRUTH)
                    else:
                        self._check_cells(_typed(value), function.symbol.type, statement.origin)
                self._emit(Op.RETURN)

    def _for(self, statement: For, function: Function) -> None:
        if statement.start is not None:
            self._effect(statement.start)
        start = self._here()
        end = None
        if statement.condition is not None:
            self._value(statement.condition)
            end = self._emit(Op.JUMP_UNLESS, 0)
        self._statement(statement.body, function)
        if statement.advance is not None:
            self._effect(statement.advance)
        self._emit(Op.LOOP, start, at=statement.origin)
        if end is not None:
            self._patch(end)

    def _initialise(self, symbol: Symbol, offset: int, initial: Sequence[Expr]) -> None:
        for position, (cell, expr) in enumerate(
            zip(named_cells(symbol.name, symbol.type), initial, strict=True)
        ):
            self._value(expr)
            if isinstance(cell.type, BoolType):
                self._emit(Op.TRUTH)
            lo, hi = _range_of(cell.type)
            self._emit(Op.STORE_LOCAL, offset + position, lo, hi, at=expr.origin)

    def _zero(self, type_: Type, offset: int) -> None:
        """A local without initialiser starts as 0, or as the least value of its range."""
        self._emit(Op.SET_LOCAL_ZERO, offset, cells(type_))
        for position, cell in enumerate(named_cells("", type_)):
            lo, hi = _range_of(cell.type)
            if not lo <= 0 <= hi:
                self._emit(Op.CONST, lo)
                self._emit(Op.STORE_LOCAL, offset + position, lo, hi)
