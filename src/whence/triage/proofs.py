"""Interpolated Hoare proofs (Becker, sections 4 and 6).

A proof goes over gaps, the times between events: `after[g]` is what holds at the beginning of gap
g, `before[g]` at its end. Forwards these are strongest postconditions P. The interpolants I are as
weak as the control states of P allow: I has the states of P, and of each of them all
configurations from which the rest of the trace cannot leave I. (With no limit to its states,
everything that is stuck somewhere would be in I, and hardly an event relevant.)

What is kept of I is its complement within its states, the *escapes*: the configurations from which
a run can continue, or reach a state that I does not have. They are an existential backward image.
I ⊑ I' if the states of I are among those of I' and the escapes of I' are, there, among those of I.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whence.triage.conditions import Cell, Condition, covers, meet_cells, put, without
from whence.triage.images import before_event, before_time, everything, post_event, post_time
from whence.triage.machine import Machine
from whence.triage.replay import END, Segment, silent
from whence.zones.dates import FAR, Dates, anything

__all__ = [
    "Assertion",
    "Hidden",
    "Proof",
    "Run",
    "at_the_end",
    "entails",
    "forward",
    "interpolate",
    "proof_of",
    "waits",
    "within",
]


@dataclass(frozen=True, slots=True)
class Hidden:
    """Variables and clocks (by number) that explanations ignore (section A.2): (p, F) entails
    (p, G) if (∃x̄. F) ⟹ (∃x̄. G)."""

    variables: frozenset[int] = frozenset()
    clocks: frozenset[int] = frozenset()

    @property
    def nothing(self) -> bool:
        return not self.variables and not self.clocks

    def entails(
        self, machine: Machine, state: int, escapes: list[Cell], others: list[Cell]
    ) -> bool:
        """Whether what is not among `escapes` entails what is not among `others`."""
        universe = anything(machine.clocks + 1, machine.clocks)
        all_ = everything(machine, state, universe)
        one = self._projected(machine, without(all_, escapes))
        other = self._projected(machine, without(all_, others))
        return all(covers(other, cell) for cell in one)

    def _projected(self, machine: Machine, cells: list[Cell]) -> list[Cell]:
        found: list[Cell] = []
        for memory, zone in cells:
            free = tuple(
                machine.ranges[n] if n in self.variables else values
                for n, values in enumerate(memory)
            )
            loose = zone.copy()
            for clock in self.clocks:
                loose[clock, :] = FAR
                loose[:, clock] = loose[:, 0]
                loose[0, clock] = loose[clock, clock] = 1
            put(found, (free, loose))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Assertion:
    """An interpolant: its states, and for each of them what is not in it."""

    states: frozenset[int]
    escapes: Condition


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """`shapes` are those of the events between the gaps and, unless time itself is the fault, of
    the one after the last gap."""

    amounts: Sequence[int]
    shapes: Sequence[int]
    sp_after: Sequence[Condition]
    sp_before: Sequence[Condition]
    after: Sequence[Assertion]
    before: Sequence[Assertion]

    @property
    def gaps(self) -> int:
        return len(self.amounts)

    @property
    def of_time(self) -> bool:
        return len(self.shapes) < self.gaps


def proof_of(machine: Machine, segment: Segment) -> Proof:
    """The interpolated proof that a segment ends with a fault."""
    shapes = segment.shapes[: len(segment.amounts) - segment.of_time]
    return interpolate(machine, segment.after, segment.before, segment.amounts, shapes)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Strongest postconditions along gaps and events, up to where nothing is left: in gap `last`,
    or at the event after it. `fails`: this is at the last step."""

    after: list[Condition]
    before: list[Condition]
    last: int
    fails: bool


def forward(
    machine: Machine, start: Condition, amounts: Sequence[int], shapes: Sequence[int]
) -> Run:
    """Replay gaps and events."""
    after, before = [start], list[Condition]()
    of_time = len(shapes) < len(amounts)
    last = len(amounts) - 1
    for gap, amount in enumerate(amounts):
        waited = post_time(machine, after[-1], amount)
        before.append(waited)
        if not waited:
            return Run(after, before, gap, gap == last and of_time)
        if gap == len(shapes):
            break
        shape = shapes[gap]
        reached = silent(machine, waited) if shape == END else post_event(machine, waited, shape)
        if not reached:
            return Run(after, before, gap, gap == last)
        after.append(reached)
    return Run(after, before, last, False)


def interpolate(
    machine: Machine,
    sp_after: Sequence[Condition],
    sp_before: Sequence[Condition],
    amounts: Sequence[int],
    shapes: Sequence[int],
) -> Proof:
    """The proof whose strongest postconditions are given."""
    universe = anything(machine.clocks + 1, machine.clocks)
    of_time = len(shapes) < len(amounts)
    after: list[Assertion] = []
    before: list[Assertion] = []
    #: What holds after the step that is looked at; at first, nothing.
    next_ = Assertion(frozenset(), {})
    for gap in range(len(amounts) - 1, -1, -1):
        at_end = frozenset(sp_before[gap])
        if at_end:
            shape = shapes[gap]
            if shape == END:
                next_ = Assertion(at_end, at_the_end(machine, at_end, universe))
            else:
                next_ = Assertion(
                    at_end,
                    before_event(machine, next_.escapes, next_.states, at_end, shape, universe),
                )
        else:
            assert of_time
            assert gap == len(amounts) - 1
        before.append(next_)
        at_start = frozenset(sp_after[gap])
        escapes = before_time(
            machine, next_.escapes, next_.states, at_start, amounts[gap], universe
        )
        next_ = Assertion(at_start, escapes)
        after.append(next_)
    return Proof(amounts, shapes, sp_after, sp_before, after[::-1], before[::-1])


def at_the_end(machine: Machine, states: frozenset[int], universe: Dates) -> Condition:
    """Where a trace may end."""
    declared = machine.automaton.states
    return {
        state: everything(machine, state, universe)
        for state in states
        if not declared[state].awaits
    }


# ----------------------------------------------------------------------------------------- checks


def entails(machine: Machine, one: Assertion, other: Assertion, hidden: Hidden) -> bool:
    """Whether one ⊑ other (section A.2), but for what is hidden."""
    if not one.states <= other.states:
        return False
    return _less_escapes(machine, other.escapes, one, hidden)


def within(condition: Condition, assertion: Assertion) -> bool:
    """Whether the assertion holds in all configurations of the condition."""
    return condition.keys() <= assertion.states and not any(
        meet_cells(cells, assertion.escapes.get(state, ())) for state, cells in condition.items()
    )


def waits(machine: Machine, one: Assertion, amount: int, other: Assertion, hidden: Hidden) -> bool:
    """Whether {one} amount {other} is valid, but for what is hidden."""
    universe = anything(machine.clocks + 1, machine.clocks)
    escapes = before_time(machine, other.escapes, other.states, one.states, amount, universe)
    return _less_escapes(machine, escapes, one, hidden)


def _less_escapes(machine: Machine, escapes: Condition, one: Assertion, hidden: Hidden) -> bool:
    for state in one.states:
        cells = escapes.get(state)
        if not cells:
            continue
        mine = one.escapes.get(state, [])
        if hidden.nothing:
            if cells is mine:
                continue
            if not all(covers(mine, cell) for cell in cells):
                return False
        elif not hidden.entails(machine, state, mine, cells):
            return False
    return True
