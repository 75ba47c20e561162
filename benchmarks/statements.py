"""Programs of assignments and choices, one statement of which is wrong: to be diagnosed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from whence.locate.description import Description, Place, describe
from whence.model.mbd import Observation
from whence.solve import words
from whence.solve.circuits import Circuit
from whence.solve.words import Word

__all__ = ["Program", "program"]

WIDTH = 32
_VARIABLES = 6
_MASK = (1 << WIDTH) - 1


@dataclass(frozen=True, eq=False)
class Program:
    """Statement `fault` is wrong; all observations fail."""

    description: Description
    observations: tuple[Observation, ...]
    fault: int


def _signed(value: int) -> int:
    return value - (1 << WIDTH) if value >> (WIDTH - 1) else value


def program(statements: int, observations: int, seed: int = 1) -> Program:
    """Pre: the fault can be seen; otherwise another seed is needed (ValueError)."""
    rng = Random(seed)
    code = []
    for _ in range(statements):
        operation = rng.choice(["add", "subtract", "constant", "choose", "choose", "multiply"])
        places = [rng.randrange(_VARIABLES) for _ in range(5)]
        code.append((operation, places, rng.choice([0, 1, 2, 3, 5, 7, 400, 500, 600])))
    fault = rng.randrange(statements)
    operation, places, number = code[fault]
    code[fault] = (operation, [*places[:1], places[2], places[1], *places[3:]], number + 1)
    right = list(code)
    right[fault] = (operation, places, number)

    def run(steps: list[tuple[str, list[int], int]], start: list[int]) -> list[int]:
        state = list(start)
        for operation, (to, a, b, c, d), number in steps:
            match operation:
                case "add":
                    value = state[a] + state[b]
                case "subtract":
                    value = state[a] - state[b] - number
                case "constant":
                    value = state[a] + number
                case "multiply":
                    value = state[a] * number
                case _:
                    smaller = _signed(state[a]) < _signed((state[b] + number) & _MASK)
                    value = state[c] if smaller else state[d]
            state[to] = value & _MASK
        return state

    circuit = Circuit()
    healthy = circuit.inputs(statements)
    inputs = [words.fresh(circuit, WIDTH) for _ in range(_VARIABLES)]
    state: list[Word] = list(inputs)
    for place, (operation, (to, a, b, c, d), number) in enumerate(code):
        known = words.constant(number, WIDTH)
        match operation:
            case "add":
                value = words.add(circuit, state[a], state[b])
            case "subtract":
                difference = words.subtract(circuit, state[a], state[b])
                value = words.subtract(circuit, difference, known)
            case "constant":
                value = words.add(circuit, state[a], known)
            case "multiply":
                value = words.multiply(circuit, state[a], known)
            case _:
                limit = words.add(circuit, state[b], known)
                smaller = words.less(circuit, state[a], limit, signed=True)
                value = words.choose(circuit, smaller, state[c], state[d])
        state[to] = words.havoc(circuit, healthy[place], value)
    places_of = [Place(literal, f"statement {n}") for n, literal in enumerate(healthy, 1)]
    # What is seen is the first half of the variables.
    seen = state[: _VARIABLES // 2]
    observable = [bit for word in (*inputs, *seen) for bit in word]
    description = describe(circuit, places_of, observable=observable)
    found: list[Observation] = []
    for _ in range(100 * observations + 100):
        start = [rng.choice([rng.randrange(1000), rng.randrange(1 << WIDTH)]) for _ in inputs]
        expected = run(right, start)
        if expected[: len(seen)] != run(code, start)[: len(seen)]:
            literals = [
                bit ^ 1 ^ (value >> at & 1)
                for word, value in zip((*inputs, *seen), (*start, *expected), strict=False)
                for at, bit in enumerate(word)
            ]
            found.append(description.observation(literals, str(start)))
            if len(found) == observations:
                return Program(description, tuple(found), fault)
    raise ValueError("the fault is too well hidden")
