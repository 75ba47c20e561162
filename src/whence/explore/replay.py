"""Traces executed step by step with concrete clock values: do they say the truth?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from whence.explore.concrete import ConcreteState, IllegalStep, Interpreter, Refusal
from whence.expr.faults import EvaluationError
from whence.expr.tree import Expr
from whence.model.network import Network
from whence.model.trace import SymbolicState, TimedTrace
from whence.source import NOWHERE, Origin

__all__ = ["Replay", "holds_at_end", "replay"]

#: What an entry of a zone says where there is no bound.
_NO_BOUND: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of executing a trace.

    If `ok` is false, `reason` says what is wrong with `step`, the first one that fails: step
    number n is the wait in state n and then transition n.  `states` are the concrete states that
    were reached: on arrival and after the wait, in turn.  `fault` is the fault of the model that
    a trace with `end == "error"` really leads to.
    """

    ok: bool
    states: tuple[ConcreteState, ...]
    step: int | None = None
    reason: str = ""
    origin: Origin = NOWHERE
    fault: EvaluationError | None = None

    def __bool__(self) -> bool:
        return self.ok


class _Failure(Exception):
    def __init__(self, reason: str, origin: Origin = NOWHERE) -> None:
        self.reason = reason
        self.origin = origin
        super().__init__(reason)


class _Replayer:
    def __init__(self, network: Network, trace: TimedTrace) -> None:
        self.interpreter = Interpreter(network)
        self.network = network
        self.trace = trace
        self.step = 0
        self.reached: list[ConcreteState] = []

    def run(self) -> None:
        """Execute the trace, or raise what is wrong with it."""
        trace = self.trace
        failing = trace.end == "error" and len(trace.transitions) == len(trace.states)
        if len(trace.transitions) != len(trace.states) - (0 if failing else 1):
            raise _Failure("the number of transitions does not fit the number of states")
        if len(trace.delays) != len(trace.states):
            raise _Failure("the number of delays does not fit the number of states")

        try:
            state = self.interpreter.initial()
        except IllegalStep as illegal:
            raise _refused("in the initial state", illegal.refusal) from None
        for number, expected in enumerate(trace.states):
            self.step = number
            self._compare(state, expected)
            self.reached.append(state)
            try:
                state = self.interpreter.delay(state, trace.delays[number])
            except IllegalStep as illegal:
                raise _refused("the wait", illegal.refusal) from None
            self._compare_zone(state, expected.zone)
            self.reached.append(state)
            if number < len(trace.transitions):
                transition = trace.transitions[number]
                try:
                    state = self.interpreter.fire(state, transition)
                except IllegalStep as illegal:
                    raise _refused(f"action {transition.action}", illegal.refusal) from None
        if failing:
            raise _Failure("the last action is no fault of the model")
        self._end(state)

    def _end(self, state: ConcreteState) -> None:
        match self.trace.end:
            case "lasso":
                self._repeats(state)
            case "deadlock":
                if not self.interpreter.deadlocked(state):
                    raise _Failure("this is no deadlock: an action is possible, now or later")
            case "divergence":
                if not self.interpreter.can_wait_for_ever(state):
                    raise _Failure("time cannot pass without bound here")
            case "error":
                # Without a failing action, it is looking for actions that fails.
                self.interpreter.enabled(state)
                raise _Failure("there is no fault of the model here")
            case "goal":
                pass

    def _repeats(self, state: ConcreteState) -> None:
        start = self.trace.loop_to
        if start is None or not 0 <= start < len(self.trace.states) - 1:
            raise _Failure(f"the trace does not say to which earlier state it loops ({start})")
        first = self.reached[2 * start]
        if (first.locations, first.values) != (state.locations, state.values):
            raise _Failure(f"the last state does not repeat state {start}")

    def _compare(self, state: ConcreteState, expected: SymbolicState) -> None:
        """A trace may leave locations or values out, but what it says must be so."""
        for what, said, actual in (
            ("locations", expected.locations, state.locations),
            ("values", expected.values, state.values),
        ):
            if said and len(said) != len(actual):
                raise _Failure(f"the trace has {len(said)} {what}, the network {len(actual)}")
        if expected.locations and expected.locations != state.locations:
            for process, here, there in zip(
                self.network.processes, state.locations, expected.locations, strict=True
            ):
                if here != there:
                    raise _Failure(
                        f"{process.name} is in {process.locations[here].name}, the trace says "
                        f"{process.locations[there].name}",
                        process.locations[here].origin,
                    )
        if expected.values and expected.values != state.values:
            cells = self.interpreter.layout.cells[: self.interpreter.layout.data]
            for cell, here, there in zip(cells, state.values, expected.values, strict=True):
                if here != there:
                    raise _Failure(f"{cell.name} is {here}, the trace says {there}")

    def _compare_zone(self, state: ConcreteState, zone: Sequence[Sequence[int]]) -> None:
        clocks = self.interpreter.layout.clocks
        for i, row in enumerate(zone):
            for j, entry in enumerate(row):
                bound, strict = entry >> 1, not entry & 1
                difference = state.clocks[i] - state.clocks[j]
                if entry == _NO_BOUND or difference < bound or (difference == bound and not strict):
                    continue
                raise _Failure(
                    f"{clocks[i]} - {clocks[j]} is {difference}, the trace's zone says "
                    f"{'<' if strict else '<='} {bound}"
                )


def _refused(what: str, refusal: Refusal) -> _Failure:
    return _Failure(f"{what} is not possible: {refusal.reason}", refusal.origin)


def replay(network: Network, trace: TimedTrace) -> Replay:
    """Execute `trace` in `network`, checking everything that it says, also how it ends."""
    replayer = _Replayer(network, trace)
    try:
        replayer.run()
    except _Failure as failure:
        return Replay(False, tuple(replayer.reached), replayer.step, failure.reason, failure.origin)
    except EvaluationError as error:
        # Only a trace that announces an error may end in one, and only with its last step.
        last = replayer.step == len(trace.states) - 1
        if trace.end == "error" and last and len(trace.transitions) >= len(trace.states) - 1:
            return Replay(True, tuple(replayer.reached), fault=error)
        return Replay(
            False,
            tuple(replayer.reached),
            replayer.step,
            f"the model has a fault here: {error}",
            error.origin,
        )
    return Replay(True, tuple(replayer.reached))


def holds_at_end(network: Network, trace: TimedTrace, formula: Expr) -> bool:
    """Whether a state formula is true at the end of a trace, after its last wait.

    A trace that cannot be executed up to there leads to no such state: then it is not.
    """
    replayed = replay(network, trace)
    reached_end = len(replayed.states) == 2 * len(trace.states)
    return replayed.ok and reached_end and Interpreter(network).holds(replayed.states[-1], formula)
