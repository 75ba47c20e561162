"""Makes tests of runs: few that cover much or many that are short, cut to what they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from whence.model.suite import Expected, Input, TestCase
from whence.solve.covers import Budget, smallest_cover
from whence.testing.bounded_ltl import holds
from whence.testing.model import Variable
from whence.testing.runs import Node, Runs
from whence.testing.semantics.simulator import Illegal

__all__ = ["assemble"]

#: Partial covers that are looked at.
_BUDGET = 2000

#: Where a goal is covered: the test, its step, and when.
Places = dict[str, tuple[str, int, int]]


def assemble(
    runs: Runs, style: Literal["few", "short"], latency: int
) -> tuple[tuple[TestCase, ...], Places]:
    """Tests that together cover all that the runs do."""
    if not runs.covered:
        return (), {}
    idents = [goal.ident for goal in runs.goals if goal.ident in runs.covered]
    ends = sorted({covered.node for covered in runs.covered.values()})
    inner = {node for end in ends for node in _before(runs, end)}
    candidates = [end for end in ends if end not in inner] if style == "few" else ends
    met = [_met(runs, candidate) for candidate in candidates]
    chosen = _chosen(idents, met, candidates, runs, style)
    return _cut(runs, idents, [(candidates[n], met[n]) for n in chosen], latency)


def _before(runs: Runs, node: int) -> list[int]:
    found = []
    node = runs.nodes[node].parent
    while node >= 0:
        found.append(node)
        node = runs.nodes[node].parent
    return found


def _met(runs: Runs, node: int) -> dict[str, int]:
    """All goals that the run to a node covers, each with its first step."""
    path = runs.path(node)
    found: dict[str, int] = {}
    for goal in runs.goals:
        if goal.ident not in runs.covered or goal.formula is None:
            continue
        if goal.condition is not None:
            test = runs.test(goal.condition)
            step = next((at for at, n in enumerate(path[:-1]) if test(n.state)), None)
        else:
            step = holds(goal.formula, len(path) - 1, lambda e, at: runs.test(e)(path[at].state))[0]
        if step is not None:
            found[goal.ident] = step
    return found


def _chosen(
    idents: Sequence[str],
    met: Sequence[dict[str, int]],
    candidates: Sequence[int],
    runs: Runs,
    style: Literal["few", "short"],
) -> list[int]:
    number = {ident: at for at, ident in enumerate(idents)}
    sets = [frozenset(number[ident] for ident in goals) for goals in met]
    if style == "few":
        return list(smallest_cover(len(idents), sets, Budget(_BUDGET))[0])
    # Short ones: the shortest runs first, each that covers something new.
    left = set(range(len(idents)))
    found = []
    for at in sorted(range(len(sets)), key=lambda n: (runs.nodes[candidates[n]].depth, n)):
        if sets[at] & left:
            left -= sets[at]
            found.append(at)
    return found


def _cut(
    runs: Runs, idents: Sequence[str], chosen: Sequence[tuple[int, dict[str, int]]], latency: int
) -> tuple[tuple[TestCase, ...], Places]:
    """Each goal belongs to the test that covers it first; no test is longer than its goals."""
    owner: dict[str, int] = {}
    for ident in idents:
        options = [(goals[ident], n) for n, (_, goals) in enumerate(chosen) if ident in goals]
        owner[ident] = min(options)[1]
    requirements = {goal.ident: goal.requirements for goal in runs.goals}
    tests: list[TestCase] = []
    places: Places = {}
    for n, (node, goals) in enumerate(chosen):
        mine = [ident for ident in idents if owner[ident] == n]
        if not mine:
            continue
        path = runs.path(node)[: max(goals[ident] for ident in mine) + 2]
        name = f"test_{len(tests) + 1:03d}"
        # What else it covers on the way counts, too.
        covers = [ident for ident in idents if ident in goals and goals[ident] + 1 < len(path)]
        for ident in mine:
            places[ident] = (name, goals[ident], path[goals[ident]].time)
        satisfied = dict.fromkeys(name for ident in covers for name in requirements[ident])
        tests.append(
            TestCase(
                ident=name,
                inputs=_inputs(runs, path),
                expected=_expected(runs, path, latency),
                end=path[-1].time + latency,
                goals=tuple(covers),
                requirements=tuple(satisfied),
            )
        )
    return tuple(tests), places


def _at_dates(path: Sequence[Node]) -> list[Node]:
    """The last state of each date: what happens in between at one date nobody can see."""
    found: list[Node] = []
    for node in path:
        if found and found[-1].time == node.time:
            found[-1] = node
        else:
            found.append(node)
    return found


def _changes(
    runs: Runs, path: Sequence[Node], variables: Sequence[Variable]
) -> list[tuple[int, str, str]]:
    place = runs.model.place
    known: dict[str, int] = {}
    found = []
    for node in _at_dates(path):
        for variable in variables:
            value = node.state[place[variable.symbol]]
            if known.get(variable.name) != value:
                known[variable.name] = value
                found.append((node.time, variable.name, variable.shown(value)))
    return found


def _inputs(runs: Runs, path: Sequence[Node]) -> tuple[Input, ...]:
    return tuple(Input(*change) for change in _changes(runs, path, runs.model.having("input")))


def _expected(runs: Runs, path: Sequence[Node], latency: int) -> tuple[Expected, ...]:
    outputs = runs.model.having("output")
    # The last step may leave things to be done at its date.
    settled = list(path)
    while len(settled) < len(path) + 200:
        try:
            after = runs.simulator.step(settled[-1].state)
        except Illegal:
            # The run ends here; what covers a goal has come before.
            break
        if after is None:
            break
        last = settled[-1]
        settled.append(Node(0, after, 0, last.time, last.depth + 1))
    return tuple(
        Expected(time, name, value, latency)
        for time, name, value in _changes(runs, settled, outputs)
    )
