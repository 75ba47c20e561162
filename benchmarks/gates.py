"""Circuits of gates, like those of ISCAS 85, some of whose gates are stuck: to be diagnosed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from whence.locate.description import Description, Place, describe
from whence.model.mbd import Observation
from whence.solve.circuits import Circuit

__all__ = ["Faulty", "faulty"]

#: An input of a gate is mostly one of so many gates before it.
_NEAR = 30


@dataclass(frozen=True, eq=False)
class Faulty:
    """`faults` are the components that are stuck; all observations fail."""

    description: Description
    observations: tuple[Observation, ...]
    faults: tuple[int, ...]


def faulty(gates: int, observations: int, faults: int, seed: int = 1) -> Faulty:
    """Pre: the faults can be seen; otherwise another seed is needed (ValueError)."""
    rng = Random(seed)
    circuit = Circuit()
    healthy = circuit.inputs(gates)
    inputs = circuit.inputs(max(5, gates // 12))
    nodes = list(inputs)
    havocs = []
    used: set[int] = set()
    for number in range(gates):
        near = nodes[-_NEAR:] if rng.random() < 0.8 else nodes
        a, b = rng.sample(near, 2)
        used |= {a, b}
        kind = rng.random()
        if kind < 0.4:
            value = circuit.and_(a, b) ^ 1
        elif kind < 0.6:
            value = circuit.or_(a, b) ^ 1
        elif kind < 0.8:
            value = circuit.xor(a, b)
        else:
            value = circuit.and_(a, b)
        havocs.append(circuit.havoc(healthy[number], value))
        nodes.append(havocs[-1])
    outputs = [node for node in havocs if node not in used]
    places = [Place(literal, f"gate {number}") for number, literal in enumerate(healthy, 1)]
    description = describe(circuit, places, observable=[*inputs, *outputs])

    stuck = tuple(sorted(rng.sample(range(gates), faults)))
    width = max(64, 4 * observations)
    given = {literal >> 1: rng.getrandbits(width) for literal in inputs}
    right = given | {literal >> 1: (1 << width) - 1 for literal in healthy}
    wrong = right | {healthy[number] >> 1: 0 for number in stuck}
    chosen = {havocs[number] >> 1: rng.choice([0, (1 << width) - 1]) for number in stuck}
    expected = circuit.values(outputs, right, width=width)
    seen = circuit.values(outputs, wrong, width=width, chosen=chosen)
    differ = 0
    for one, other in zip(expected, seen, strict=True):
        differ |= one ^ other
    cases = [case for case in range(width) if differ >> case & 1][:observations]
    if len(cases) < observations:
        raise ValueError("the faults are too well hidden")
    found = []
    for case in cases:
        literals = [x ^ 1 ^ (given[x >> 1] >> case & 1) for x in inputs]
        literals += [y ^ 1 ^ (value >> case & 1) for y, value in zip(outputs, seen, strict=True)]
        found.append(description.observation(literals, f"inputs {case}"))
    return Faulty(description, tuple(found), stuck)
