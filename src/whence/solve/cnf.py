"""Circuits as clauses: Tseitin's encoding, with what is needed of it only.

A gate gets a variable if something that was asked for depends on it.  Of its definition y ↔ f,
y → f is needed where y makes something true, and f → y where it makes something false (Plaisted and
Greenbaum).  Then values of gates in a solution may be wrong, those of inputs and of havocs of
unhealthy components are right, and `Circuit.values` has all others from them.

Conjunctions of conjunctions that nothing else uses are one with many operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whence.solve.circuits import FALSE, TRUE, Circuit, Kind, Literal

__all__ = ["Encoded", "encode"]

_TRUE_SIDE = 1  # y → f is needed
_FALSE_SIDE = 2  # f → y is needed
_BOTH = 3
# The needs of a negated operand.
_SWAPPED = (0, 2, 1, 3)


@dataclass(frozen=True, slots=True)
class Encoded:
    """`variable[g]` is that of gate g, or 0 if it has none."""

    variables: int
    clauses: tuple[Sequence[int], ...]
    variable: Sequence[int]

    def literal(self, literal: Literal) -> int:
        """The same as in DIMACS files. Pre: the gate was asked for, or something depends on it."""
        variable = self.variable[literal >> 1]
        if not variable:
            raise ValueError("the encoding does not have this gate")
        return -variable if literal & 1 else variable


def encode(
    circuit: Circuit,
    *,
    free: Iterable[Literal] = (),
    positive: Iterable[Literal] = (),
    polarity: bool = True,
) -> Encoded:
    """Clauses for what the circuit requires, with variables for more literals: `free` may be
    assumed to be true or false, `positive` only to be true. Variables of `free` come first, in
    their order. Without `polarity` all definitions are whole, so that all values in a solution are
    right."""
    gates = circuit.gates
    free, positive = list(free), list(positive)
    needs = bytearray(len(gates))
    uses = [0] * len(gates)
    for literal in free:
        needs[literal >> 1] = _BOTH
        uses[literal >> 1] += 2
    for literal in positive:
        needs[literal >> 1] |= _FALSE_SIDE if literal & 1 else _TRUE_SIDE
        uses[literal >> 1] += 2
    for literal in circuit.required:
        needs[literal >> 1] |= _FALSE_SIDE if literal & 1 else _TRUE_SIDE
        uses[literal >> 1] += 1

    def need(literal: Literal, side: int) -> None:
        gate = literal >> 1
        uses[gate] += 1
        needs[gate] |= _SWAPPED[side] if literal & 1 else side

    for gate in range(len(gates) - 1, 0, -1):
        side = needs[gate]
        if not side:
            continue
        if not polarity:
            side = needs[gate] = _BOTH
        kind, a, b, c = gates[gate]
        match kind:
            case Kind.AND:
                need(a, side)
                need(b, side)
            case Kind.XOR:
                need(a, _BOTH)
                need(b, _BOTH)
            case Kind.ITE:
                need(a, _BOTH)
                need(b, side)
                need(c, side)
            case Kind.MAJORITY:
                need(a, side)
                need(b, side)
                need(c, side)
            case Kind.HAVOC:
                need(a, _FALSE_SIDE)
                need(b, side)

    variable = [0] * len(gates)
    last = 0
    clauses: list[Sequence[int]] = []
    for literal in free:
        if not variable[literal >> 1]:
            last += 1
            variable[literal >> 1] = last
    if variable[0]:
        clauses.append((-variable[0],))

    # Conjunctions that are only an operand of another one get no variable.
    within = bytearray(len(gates))
    for gate in range(len(gates) - 1, 0, -1):
        kind, a, b, _ = gates[gate]
        if kind == Kind.AND and needs[gate]:
            for operand in (a, b):
                inner = operand >> 1
                if not operand & 1 and uses[inner] == 1 and gates[inner][0] == Kind.AND:
                    within[inner] = 1

    def of(literal: Literal) -> int:
        known = variable[literal >> 1]
        return -known if literal & 1 else known

    def operands(gate: int) -> list[int]:
        found, waiting = [], [gate]
        while waiting:
            for operand in gates[waiting.pop()][1:3]:
                if within[operand >> 1] and not operand & 1:
                    waiting.append(operand >> 1)
                else:
                    found.append(of(operand))
        return found

    add = clauses.append
    for gate in range(1, len(gates)):
        side = needs[gate]
        if not side or within[gate]:
            continue
        y = variable[gate]
        if not y:
            last += 1
            y = variable[gate] = last
        kind, a, b, c = gates[gate]
        if kind == Kind.INPUT:
            continue
        if kind == Kind.AND:
            parts = operands(gate)
            if side & _TRUE_SIDE:
                for part in parts:
                    add((-y, part))
            if side & _FALSE_SIDE:
                add((y, *(-part for part in parts)))
            continue
        p, q = of(a), of(b)
        if kind == Kind.HAVOC:
            if b <= 1:
                # What a healthy component computes is a constant.
                if b and side & _FALSE_SIDE:
                    add((-p, y))
                if not b and side & _TRUE_SIDE:
                    add((-p, -y))
                continue
            if side & _TRUE_SIDE:
                add((-p, -y, q))
            if side & _FALSE_SIDE:
                add((-p, y, -q))
            continue
        if kind == Kind.XOR:
            if side & _TRUE_SIDE:
                add((-y, p, q))
                add((-y, -p, -q))
            if side & _FALSE_SIDE:
                add((y, -p, q))
                add((y, p, -q))
            continue
        r = of(c)
        if kind == Kind.ITE:
            # The last of each three is redundant, and lets a solver see more at once.
            if side & _TRUE_SIDE:
                add((-y, -p, q))
                add((-y, p, r))
                add((-y, q, r))
            if side & _FALSE_SIDE:
                add((y, -p, -q))
                add((y, p, -r))
                add((y, -q, -r))
            continue
        if side & _TRUE_SIDE:
            add((-y, p, q))
            add((-y, p, r))
            add((-y, q, r))
        if side & _FALSE_SIDE:
            add((y, -p, -q))
            add((y, -p, -r))
            add((y, -q, -r))
    for literal in circuit.required:
        if literal == FALSE:
            add(())
        elif literal != TRUE:
            add((of(literal),))
    return Encoded(last, tuple(clauses), variable)
