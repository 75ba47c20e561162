"""Arrays of words, as circuits.

Elements that are read and written at places that are mostly known, or that are few: a tuple of
words.  Others, of which few places are ever touched: `Memory`, which has a condition for each pair
of accesses instead of a choice for each element (Ackermann's reduction).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from whence.solve.circuits import FALSE, TRUE, Circuit, Literal
from whence.solve.words import Word, as_constant, choose, constant, equal, fresh, less

__all__ = ["Memory", "in_bounds", "read", "write"]


def in_bounds(circuit: Circuit, count: int, index: Word, *, signed: bool) -> Literal:
    """0 <= index < count."""
    width = len(index)
    if signed and count >= 1 << (width - 1):
        return index[-1] ^ 1
    if not signed and count >= 1 << width:
        return TRUE
    # A negative index is a large unsigned one.
    return less(circuit, index, constant(count, width), signed=False)


def read(circuit: Circuit, elements: Sequence[Word], index: Word) -> Word:
    """The element with this (unsigned) number; any of them if there is none with it. Pre: there
    are elements."""
    level = list(elements)
    for bit in index:
        if len(level) == 1:
            break
        # A last element without a neighbour stays what it is: its neighbour would not exist.
        level = [
            choose(circuit, bit, level[at + 1], level[at]) if at + 1 < len(level) else level[at]
            for at in range(0, len(level), 2)
        ]
    return level[0]


def write(
    circuit: Circuit,
    elements: Sequence[Word],
    index: Word,
    value: Word,
    condition: Literal = TRUE,
) -> tuple[Word, ...]:
    """The elements after `value` was written to this (unsigned) number, if `condition` holds; all
    as they were if there is no element with it."""
    known = as_constant(index)
    if known is not None:
        condition_of = [condition if place == known else FALSE for place in range(len(elements))]
    else:
        condition_of = [
            circuit.and_(condition, selected)
            for selected in _decoded(circuit, index, len(elements))
        ]
    return tuple(
        choose(circuit, selected, value, element)
        for selected, element in zip(condition_of, elements, strict=True)
    )


def _decoded(circuit: Circuit, index: Word, count: int) -> list[Literal]:
    """For each number below `count`, whether it is the index."""
    level = [TRUE]
    for place in range(len(index) - 1, -1, -1):
        # Only the numbers that are needed: those of the upper bits up to the greatest.
        most = ((count - 1) >> place) + 1
        level = [
            circuit.and_(upper, lower)
            for upper in level
            for lower in (index[place] ^ 1, index[place])
        ][:most]
    return level


@dataclass(slots=True)
class Memory:
    """Elements of which nothing is known before they are written; equal places have equal ones.

    Reading looks at the writes before, the last first, and then at the reads before."""

    circuit: Circuit
    width: int
    _writes: list[tuple[Literal, Word, Word]] = field(default_factory=list)
    _reads: list[tuple[Word, Word]] = field(default_factory=list)

    def write(self, address: Word, value: Word, condition: Literal = TRUE) -> None:
        if len(value) != self.width:
            raise ValueError(f"a word of {len(value)} bits in a memory of {self.width}")
        if condition != FALSE:
            self._writes.append((condition, address, value))

    def read(self, address: Word) -> Word:
        result = self._initial(address)
        for condition, where, value in self._writes:
            hit = self.circuit.and_(condition, equal(self.circuit, where, address))
            result = choose(self.circuit, hit, value, result)
        return result

    def _initial(self, address: Word) -> Word:
        for where, value in self._reads:
            if where == address:
                return value
        value = fresh(self.circuit, self.width)
        for where, other in self._reads:
            same = equal(self.circuit, where, address)
            if same != FALSE:
                alike = equal(self.circuit, other, value)
                self.circuit.require(self.circuit.implies(same, alike))
        self._reads.append((address, value))
        return value
