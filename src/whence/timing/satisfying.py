"""The part of a model's behaviour that satisfies a safety property.

Section 10.3 calls a repair admissible if the untimed languages before and after it are equal.
Where some sequence of transitions has no run but those that violate the property, no repair can
be: it has to take that sequence away.  What can be asked of it then is that it takes away no more.
Let the satisfying part of a model be its runs along which the property holds at all times.  A
repair takes away *violations only* if it adds no sequence and keeps those of the satisfying part.

For `A[] p` that part is a model of its own: the same one, with p for an invariant everywhere.  It
can be written down wherever p, with the locations and the data given, is a conjunction of clock
constraints.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from whence.explore.goals import (
    OPPOSITE,
    Alternative,
    alternatives,
    both,
    conjuncts,
    negation,
)
from whence.expr.tree import Binary, BoolLiteral, Expr
from whence.expr.types import BOOL, CONSTRAINT, ConstraintType
from whence.model.network import Location, Network, Process, Query
from whence.timing.model import TimedModel

__all__ = ["satisfying_part"]


def satisfying_part(model: TimedModel, query: Query) -> TimedModel | None:
    """The model whose runs are those along which `A[] p` (or the contrary of `E<> p`) holds; None
    if p is no conjunction of clock constraints in some state, or speaks of deadlock, or if there
    are priorities: an invariant that forbids a step makes way for those of lower priority, which a
    violation does not.

    It has the same text as the original, and other invariants than that says.
    """
    assert query.predicate is not None
    if model.network.has_priorities:
        return None
    bad = query.predicate if query.kind == "E<>" else negation(query.predicate)
    demands: dict[tuple[int, int], list[Expr]] = {}
    everywhere: list[Expr] = []
    for alternative in alternatives(bad):
        demand = _never(alternative)
        if demand is None:
            return None
        place = alternative.location
        if place is None:
            everywhere.append(demand)
        else:
            demands.setdefault(place, []).append(demand)
    # What holds in all states holds in all locations of whichever process.
    for index in range(len(model.network.processes[0].locations)):
        demands.setdefault((0, index), []).extend(everywhere)
    return model.with_network(_demanding(model.network, demands))


def _never(alternative: Alternative) -> Expr | None:
    """That an alternative does not hold, as an invariant."""
    if alternative.deadlock:
        return None
    parts = [part for whole in alternative.conjuncts for part in conjuncts(whole)]
    timed = [part for part in parts if isinstance(part.type, ConstraintType)]
    data = [part for part in parts if not isinstance(part.type, ConstraintType)]
    if not timed:
        return negation(reduce(both, data)) if data else BoolLiteral(False, type=BOOL)
    if len(timed) > 1:
        return None
    (atom,) = timed
    if not isinstance(atom, Binary) or atom.op not in OPPOSITE:
        return None
    opposite = replace(atom, op=OPPOSITE[atom.op])
    if not data:
        return opposite
    return Binary("imply", reduce(both, data), opposite, type=CONSTRAINT, origin=atom.origin)


def _demanding(network: Network, demands: dict[tuple[int, int], list[Expr]]) -> Network:
    def location(process: int, index: int, here: Location) -> Location:
        more = demands.get((process, index), [])
        if not more:
            return here
        before = [] if here.invariant is None else [here.invariant]
        return replace(here, invariant=reduce(both, [*before, *more]))

    def process(number: int, here: Process) -> Process:
        locations = (location(number, index, at) for index, at in enumerate(here.locations))
        return replace(here, locations=tuple(locations))

    return replace(
        network,
        processes=tuple(process(number, here) for number, here in enumerate(network.processes)),
    )
