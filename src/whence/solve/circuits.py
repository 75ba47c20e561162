"""Boolean circuits: gates over inverters, with structural hashing and constant propagation.

A *literal* is a number: gate g is 2g, its negation 2g + 1.  Gate 0 is the constant, so that FALSE
is 0 and TRUE is 1.  A gate is an input, or one of

- ``and``, ``xor``;
- ``ite`` (c, t, e): t if c, else e;
- ``majority`` of three, the carry of an adder;
- ``havoc`` (h, f): f if h holds, else anything.  This is how a component is described: where h is
  its healthy predicate, and f what it computes, equation 4.2 of Graussam's thesis says that h
  implies y = f.

Exclusive or, choice and majority are gates of their own, and not made of others, as in and-inverter
graphs: that takes fewer variables and clauses (`benchmarks/circuits.py`).

Equal gates are made once; that does not hold for inputs and havocs, each of which is another one.
Gates are numbered in the order in which they are made, and so come after those that they are made
of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Final

__all__ = ["FALSE", "TRUE", "Circuit", "Gate", "Kind", "Literal"]

#: A gate, or its negation.
Literal = int

FALSE: Final = 0
TRUE: Final = 1


class Kind(IntEnum):
    CONSTANT = 0
    INPUT = 1
    AND = 2
    XOR = 3
    ITE = 4
    MAJORITY = 5
    HAVOC = 6


#: (kind, operands); operands that a kind does not have are 0.
Gate = tuple[int, Literal, Literal, Literal]

_AND, _XOR, _ITE, _MAJORITY = int(Kind.AND), int(Kind.XOR), int(Kind.ITE), int(Kind.MAJORITY)


class Circuit:
    """Gates, of which there are more and more."""

    def __init__(self) -> None:
        self.gates: list[Gate] = [(Kind.CONSTANT, 0, 0, 0)]
        self._known: dict[Gate, Literal] = {}
        #: What always holds: the rest part f_r of equation 4.5.
        self.required: list[Literal] = []

    def __len__(self) -> int:
        return len(self.gates)

    def _gate(self, gate: Gate) -> Literal:
        found = self._known.get(gate)
        if found is None:
            found = self._known[gate] = 2 * len(self.gates)
            self.gates.append(gate)
        return found

    # -------------------------------------------------------------------------- what is free

    def input(self) -> Literal:
        """A new one."""
        self.gates.append((Kind.INPUT, 0, 0, 0))
        return 2 * len(self.gates) - 2

    def inputs(self, count: int) -> tuple[Literal, ...]:
        return tuple(self.input() for _ in range(count))

    def havoc(self, healthy: Literal, value: Literal) -> Literal:
        """`value` if `healthy`, otherwise anything: something else each time that this is called,
        and independent of all else."""
        if healthy == TRUE:
            return value
        if healthy == FALSE:
            return self.input()
        self.gates.append((Kind.HAVOC, healthy, value, 0))
        return 2 * len(self.gates) - 2

    def require(self, literal: Literal) -> None:
        """It always holds."""
        if literal != TRUE:
            self.required.append(literal)

    # --------------------------------------------------------------------------------- gates

    def and_(self, a: Literal, b: Literal) -> Literal:
        if a > b:
            a, b = b, a
        if a <= 1:
            return b if a else FALSE
        if a ^ b <= 1:
            return a if a == b else FALSE
        # One level down: a ∧ (a ∧ x) and the like.
        for one, other in ((a, b), (b, a)):
            kind, x, y, _ = self.gates[other >> 1]
            if kind == _AND:
                if other & 1:
                    if one in (x ^ 1, y ^ 1):
                        return one  # a ∧ ¬(¬a ∧ x)
                    if one == x:
                        return self.and_(one, y ^ 1)
                    if one == y:
                        return self.and_(one, x ^ 1)
                else:
                    if one in (x, y):
                        return other
                    if one in (x ^ 1, y ^ 1):
                        return FALSE
        return self._gate((_AND, a, b, 0))

    def or_(self, a: Literal, b: Literal) -> Literal:
        return self.and_(a ^ 1, b ^ 1) ^ 1

    def implies(self, a: Literal, b: Literal) -> Literal:
        return self.and_(a, b ^ 1) ^ 1

    def xor(self, a: Literal, b: Literal) -> Literal:
        negated = (a ^ b) & 1
        a &= ~1
        b &= ~1
        if a > b:
            a, b = b, a
        if a == 0:
            return b ^ negated
        if a == b:
            return negated
        for one, other in ((a, b), (b, a)):
            kind, x, y, _ = self.gates[other >> 1]
            if kind == _XOR:
                if one == x:
                    return y ^ negated
                if one == y:
                    return x ^ negated
        return self._gate((_XOR, a, b, 0)) ^ negated

    def iff(self, a: Literal, b: Literal) -> Literal:
        return self.xor(a, b) ^ 1

    def ite(self, c: Literal, t: Literal, e: Literal) -> Literal:
        """t if c, else e."""
        if c & 1:
            c, t, e = c ^ 1, e, t
        if c == 0:
            return e
        if t == e:
            return t
        if t ^ e == 1:
            return self.xor(c, e)
        # Here c is neither constant nor negated.
        if t <= 1 or t ^ c <= 1:
            # Where c holds, t is the constant that it is equal to.
            holds = t if t <= 1 else (t ^ c) ^ 1
            return self.or_(c, e) if holds else self.and_(c ^ 1, e)
        if e <= 1 or e ^ c <= 1:
            holds = e if e <= 1 else e ^ c
            return self.or_(c ^ 1, t) if holds else self.and_(c, t)
        # Where the branches choose by the same condition themselves.
        kind, x, y, _ = self.gates[t >> 1]
        if kind == _ITE and x == c:
            return self.ite(c, y ^ (t & 1), e)
        kind, x, _, y = self.gates[e >> 1]
        if kind == _ITE and x == c:
            return self.ite(c, t, y ^ (e & 1))
        if t & 1:
            return self._gate((_ITE, c, t ^ 1, e ^ 1)) ^ 1
        return self._gate((_ITE, c, t, e))

    def majority(self, a: Literal, b: Literal, c: Literal) -> Literal:
        """At least two of them."""
        a, b, c = sorted((a, b, c))
        if a <= 1:
            return self.or_(b, c) if a else self.and_(b, c)
        if a ^ b <= 1:
            return a if a == b else c
        if b ^ c <= 1:
            return b if b == c else a
        # It is its own dual: at most one operand is negated.
        if (a & 1) + (b & 1) + (c & 1) >= 2:
            return self._gate((_MAJORITY, a ^ 1, b ^ 1, c ^ 1)) ^ 1
        return self._gate((_MAJORITY, a, b, c))

    def all_(self, literals: Iterable[Literal]) -> Literal:
        level = list(literals)
        while len(level) > 1:
            level = [
                self.and_(level[at], level[at + 1]) if at + 1 < len(level) else level[at]
                for at in range(0, len(level), 2)
            ]
        return level[0] if level else TRUE

    def any_(self, literals: Iterable[Literal]) -> Literal:
        return self.all_(literal ^ 1 for literal in literals) ^ 1

    # ------------------------------------------------------------------------------- values

    def values(
        self,
        wanted: Sequence[Literal],
        given: Mapping[int, int],
        *,
        width: int = 1,
        chosen: Mapping[int, int] | None = None,
    ) -> tuple[int, ...]:
        """What `wanted` are, in `width` cases at once: bit k of a value is that of case k.

        `given` has the inputs by their gates, where they are not 0; `chosen` the values of havocs
        whose healthy predicate does not hold.
        """
        chosen = chosen or {}
        ones = (1 << width) - 1
        needed = self.cone(wanted)
        value: dict[int, int] = {}

        def of(literal: Literal) -> int:
            known = value[literal >> 1]
            return ones ^ known if literal & 1 else known

        for number in needed:
            kind, a, b, c = self.gates[number]
            match kind:
                case Kind.CONSTANT:
                    result = 0
                case Kind.INPUT:
                    result = given.get(number, 0)
                case Kind.AND:
                    result = of(a) & of(b)
                case Kind.XOR:
                    result = of(a) ^ of(b)
                case Kind.ITE:
                    result = (of(a) & of(b)) | (~of(a) & of(c))
                case Kind.MAJORITY:
                    result = (of(a) & of(b)) | (of(a) & of(c)) | (of(b) & of(c))
                case _:
                    result = (of(a) & of(b)) | (~of(a) & chosen.get(number, 0))
            value[number] = result & ones
        return tuple(of(literal) for literal in wanted)

    def cone(self, literals: Iterable[Literal]) -> list[int]:
        """All gates that these depend on, ascending."""
        seen = {literal >> 1 for literal in literals}
        waiting = list(seen)
        while waiting:
            for operand in self.gates[waiting.pop()][1:]:
                if operand >> 1 not in seen:
                    seen.add(operand >> 1)
                    waiting.append(operand >> 1)
        return sorted(seen)
