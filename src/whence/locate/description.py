"""The system description of a circuit (Graussam, equation 4.5), and what is observed of it.

A circuit has one healthy literal a component, an input; what a component computes is havoced with
it.  What is required of the circuit is the rest part f_r, which holds always.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from whence.locate.diagnosis import Witness
from whence.model.mbd import Component, Observation, System
from whence.solve.circuits import TRUE, Circuit, Kind, Literal
from whence.solve.cnf import Encoded, encode
from whence.solve.words import Word, value_of
from whence.source import NOWHERE, Origin

__all__ = ["Description", "Place", "describe"]


@dataclass(frozen=True, slots=True)
class Place:
    """A component of a circuit: `healthy` is its literal there."""

    healthy: Literal
    name: str = ""
    origin: Origin = NOWHERE


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """A circuit and its clauses. Components have the order of the places."""

    circuit: Circuit
    encoded: Encoded
    system: System

    def observation(
        self, literals: Iterable[Literal], name: str = "", origin: Origin = NOWHERE
    ) -> Observation:
        """All these are true. Pre: they were said to be observable."""
        found = tuple(self.encoded.literal(literal) for literal in literals if literal != TRUE)
        return Observation(found, name, origin)

    def values(self, witness: Witness, words: Sequence[Word], *, signed: bool) -> tuple[int, ...]:
        """What these words are in a witness: for those that a component that is not healthy should
        have computed, what would have been right."""
        variable = self.encoded.variable
        given: dict[int, int] = {}
        chosen: dict[int, int] = {}
        # The solver's values of other gates may be wrong (see `whence.solve.cnf`).
        for gate in self.circuit.cone(chain.from_iterable(words)):
            kind = self.circuit.gates[gate][0]
            if gate < len(variable) and variable[gate] and witness.true(variable[gate]):
                if kind == Kind.INPUT:
                    given[gate] = 1
                elif kind == Kind.HAVOC:
                    chosen[gate] = 1
        bits = iter(self.circuit.values(tuple(chain.from_iterable(words)), given, chosen=chosen))
        return tuple(value_of([next(bits) for _ in word], signed=signed) for word in words)


def describe(
    circuit: Circuit,
    places: Sequence[Place],
    *,
    observable: Iterable[Literal] = (),
    assertable: Iterable[Literal] = (),
) -> Description:
    """The clauses of a circuit. Observations may speak of `observable` literals and their
    negations, and may say that `assertable` ones are true."""
    healthy = [place.healthy for place in places]
    if len({literal >> 1 for literal in healthy}) < len(healthy) or min(healthy, default=2) <= TRUE:
        raise ValueError("each component needs a healthy literal of its own")
    encoded = encode(circuit, free=[*healthy, *observable, TRUE], positive=assertable)
    components = tuple(
        Component(encoded.literal(place.healthy), place.name, place.origin) for place in places
    )
    return Description(circuit, encoded, System(encoded.variables, encoded.clauses, components))
