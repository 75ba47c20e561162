"""The runs that a search has found, as a tree, and the goals that they cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whence.expr.tree import Expr
from whence.testing.bounded_ltl import holds
from whence.testing.goals import Goal
from whence.testing.model import TimedModel
from whence.testing.semantics.python import (
    NAMESPACE,
    Fault,
    compiled,
    number_source,
    truth_source,
)
from whence.testing.semantics.simulator import Illegal, Simulator, State

__all__ = ["Covered", "Node", "Runs", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run and the state behind it. `delay` 0: a discrete step."""

    delay: int
    state: State


@dataclass(frozen=True, slots=True)
class Node:
    """A state that a run reaches. `parent` -1: the run begins here. `time` in milliseconds."""

    parent: int
    state: State
    delay: int
    time: int
    depth: int


@dataclass(frozen=True, slots=True)
class Covered:
    """The run that ends in `node` covers a goal; it is so from its step number `step` on."""

    node: int
    step: int


@dataclass(eq=False)
class Runs:
    model: TimedModel
    simulator: Simulator
    goals: Sequence[Goal]
    nodes: list[Node] = field(default_factory=list)
    covered: dict[str, Covered] = field(default_factory=dict)
    #: The first illegal ends of runs, by kind and place, with the node before them.
    illegal: dict[tuple[str, str], tuple[int, Illegal]] = field(default_factory=dict)
    _tests: dict[Expr, Callable[[State], bool]] = field(default_factory=dict)
    _roots: dict[State, int] = field(default_factory=dict)
    #: The goals `F condition` that are not covered, with what tells whether a state meets them.
    waiting: dict[str, Callable[[State], bool]] = field(default_factory=dict)
    #: The others that are not covered, apart from requirements.
    temporal: dict[str, Goal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for goal in self.goals:
            if goal.condition is not None:
                self.waiting[goal.ident] = self.test(goal.condition)
            elif goal.formula is not None:
                self.temporal[goal.ident] = goal

    def test(self, condition: Expr) -> Callable[[State], bool]:
        """A condition on states as a function; a condition without value does not hold."""
        found = self._tests.get(condition)
        if found is None:
            names = {s: f"state[{place}]" for s, place in self.model.place.items()}
            source = f"lambda state: {truth_source(condition, names)}"
            plain: Callable[[State], Any] = eval(
                compiled(source, "a goal", "eval"), dict(NAMESPACE)
            )

            def guarded(state: State) -> bool:
                try:
                    return bool(plain(state))
                except Fault:
                    return False

            found = self._tests[condition] = guarded
        return found

    def value(self, expr: Expr) -> Callable[[State], int | None]:
        """The value of an expression as a function; None where it has none."""
        names = {s: f"state[{place}]" for s, place in self.model.place.items()}
        source = f"lambda state: {number_source(expr, names)}"
        plain: Callable[[State], int] = eval(compiled(source, "a value", "eval"), dict(NAMESPACE))

        def guarded(state: State) -> int | None:
            try:
                return plain(state)
            except Fault:
                return None

        return guarded

    # -------------------------------------------------------------------------------------- nodes

    def root(self, state: State) -> int:
        if state not in self._roots:
            self._roots[state] = len(self.nodes)
            self.nodes.append(Node(-1, state, 0, 0, 0))
        return self._roots[state]

    def path(self, node: int) -> list[Node]:
        found = []
        while node >= 0:
            found.append(self.nodes[node])
            node = self.nodes[node].parent
        found.reverse()
        return found

    def add(self, start: int, steps: Iterable[Step]) -> int:
        """Nodes for a run that goes on behind a node. The last of them."""
        at = start
        for step in steps:
            before = self.nodes[at]
            self.nodes.append(
                Node(at, step.state, step.delay, before.time + step.delay, before.depth + 1)
            )
            at = len(self.nodes) - 1
        return at

    # -------------------------------------------------------------------------------------- goals

    @property
    def open(self) -> list[Goal]:
        """The goals that are not covered, apart from requirements."""
        return [
            goal for goal in self.goals if goal.ident in self.waiting or goal.ident in self.temporal
        ]

    def met(self, state: State) -> list[str]:
        """The open goals that a state with a step from it meets."""
        return [ident for ident, test in self.waiting.items() if test(state)]

    def note(self, ident: str, node: int, step: int) -> None:
        self.covered[ident] = Covered(node, step)
        self.waiting.pop(ident, None)
        self.temporal.pop(ident, None)

    def note_run(self, start: int, steps: Sequence[Step]) -> int | None:
        """Keep what a run covers, and no more of it. The last node that was kept, if any was."""
        states = [self.nodes[start].state, *(step.state for step in steps)]
        found: list[tuple[str, int]] = []
        for at in range(len(steps)):
            found += [(ident, at) for ident in self.met(states[at]) if ident not in dict(found)]
        before = self.path(start)
        offset = len(before) - 1
        for ident, goal in self.temporal.items():
            whole = [node.state for node in before[:-1]] + states[:-1]
            assert goal.formula is not None
            end = holds(goal.formula, len(whole), lambda e, n, w=whole: self.test(e)(w[n]))  # type: ignore[misc]
            if whole and end[0] is not None:
                found.append((ident, max(end[0] - offset, 0)))
        if not found:
            return None
        last = self.add(start, steps[: max(at for _, at in found) + 1])
        kept = self.path(last)
        numbers = self._numbers(last, len(kept))
        for ident, at in found:
            self.note(ident, numbers[offset + at + 1], offset + at)
        return last

    def _numbers(self, node: int, length: int) -> list[int]:
        found = []
        while node >= 0:
            found.append(node)
            node = self.nodes[node].parent
        found.reverse()
        assert len(found) == length
        return found
