"""Systems that several tests of the room share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whence.locate.description import Description, Place, describe
from whence.model.mbd import Observation
from whence.solve import words
from whence.solve.circuits import Circuit, Literal
from whence.solve.words import Word

WIDTH = 32


@dataclass(frozen=True)
class MaxPlusOne:
    """The program of listings 3.1, 5.1 and 5.2: line 3 compares, lines 4 and 6 assign, line 7
    asserts that both inputs are less than the result."""

    description: Description
    inputs: tuple[Word, Word]
    asserted: Literal
    doubted: tuple[Word, ...]

    def observation(self, a: int, b: int) -> Observation:
        literals = [self.asserted]
        for word, value in zip(self.inputs, (a, b), strict=True):
            literals += observed(word, value)
        return self.description.observation(literals, f"a = {a}, b = {b}")

    def lines(self, diagnoses: Sequence[Sequence[int]]) -> set[frozenset[int]]:
        names = [int(each.name) for each in self.description.system.components]
        return {frozenset(names[number] for number in each) for each in diagnoses}


def observed(word: Word, value: int) -> list[Literal]:
    """Literals for: the word has the value."""
    return [bit ^ 1 ^ (value >> place & 1) for place, bit in enumerate(word)]


def max_plus_one(condition: Callable[[Circuit, Word, Word], Literal], added: int) -> MaxPlusOne:
    """Equation 5.4."""
    circuit = Circuit()
    healthy = circuit.inputs(3)
    a, b = words.fresh(circuit, WIDTH), words.fresh(circuit, WIDTH)
    one = words.constant(added, WIDTH)
    g = circuit.havoc(healthy[0], condition(circuit, a, b))
    result1 = words.havoc(circuit, healthy[1], words.add(circuit, b, one))
    result2 = words.havoc(circuit, healthy[2], words.add(circuit, a, one))
    result3 = words.choose(circuit, g, result1, result2)
    asserted = circuit.and_(
        words.less(circuit, a, result3, signed=True), words.less(circuit, b, result3, signed=True)
    )
    places = [Place(literal, name) for literal, name in zip(healthy, "346", strict=True)]
    description = describe(circuit, places, observable=[*a, *b], assertable=[asserted])
    return MaxPlusOne(description, (a, b), asserted, ((g,), result1, result2))
