"""Causality checking: all causes of a hazard (Koelbl, chapters 4 to 6).

The system is explored once; what can lead to the hazard is made small (`prepared`), its causal
traces are found (`traces`), put together by their events (`orders`), and each class becomes a weak
cause, or several whose order is exact (`splitting`), or several with what must not happen in
between (`non_occurrence`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from whence.causes.non_occurrence import Refined, Runs
from whence.causes.orders import TraceClass, trace_classes
from whence.causes.prepared import prepare
from whence.causes.results import Absent, Cause, CausesResult, Order
from whence.causes.splitting import split
from whence.causes.traces import CausalTraces, Progress, Stop, causal_traces
from whence.model.transitions import Action, TransitionSystem

__all__ = ["CausesOptions", "causes_of"]

Marks = npt.NDArray[np.bool_]
Say = Callable[[str], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CausesOptions:
    """`non_occurrence`: how many events that avert the hazard are looked for in one run (0: none;
    the causes are weak). `exact`: causes whose order admits other sequences are split into the
    fewest whose order does not. `stop`: when to give up the search for causal traces."""

    non_occurrence: int = 0
    exact: bool = False
    stop: Stop = field(default_factory=Stop)


@dataclass(frozen=True, slots=True)
class _Found:
    """A cause before it has a number."""

    traces: TraceClass
    order: tuple[int, ...]
    absent: tuple[Absent, ...] = ()


def causes_of(
    system: TransitionSystem,
    bad: Marks,
    options: CausesOptions | None = None,
    *,
    hazard: str = "bad",
    say: Say = None,
) -> CausesResult:
    """The causes of reaching a state marked `bad`. Pre: no action is silent."""
    options = options or CausesOptions()
    began = time.perf_counter()
    result = CausesResult(
        model=system.name,
        hazard=hazard,
        verdict="unknown" if not system.complete else "satisfied",
        states=system.states,
        transitions=system.transitions,
        complete=system.complete,
        depth=None if system.complete else system.explored_depth,
        reason="" if system.complete else "only a part of the states was explored",
        actions=system.actions,
    )
    if any(bad[state] for state in system.initial):
        return replace(result, verdict="violated", initially=True, complete=True, depth=None)
    traces = _traces(system, bad, options, say)
    if traces.starts:
        result = replace(result, verdict="violated")
    elif traces.depth is not None:
        result = replace(result, verdict="unknown")
    if traces.depth is not None:
        known = [depth for depth in (result.depth, traces.depth) if depth is not None]
        result = replace(
            result, complete=False, depth=min(known), reason=result.reason or traces.reason
        )
    classes = trace_classes(traces)
    notes: list[str] = []
    deterministic: bool | None = None
    found = [_Found(traces, traces.order()) for traces in classes]
    if options.non_occurrence:
        if say is not None:
            say(f"what averts the hazard: {len(classes)} sets of events")
        found, deterministic = _with_absences(
            Runs(system, bad), classes, options.non_occurrence, notes
        )
    if options.exact:
        found = [part for one in found for part in _exact(one, notes)]
    return replace(
        result,
        causal_traces=traces.count(),
        causes=_numbered(found, system.actions),
        deterministic=deterministic,
        seconds=time.perf_counter() - began,
        notes=tuple(dict.fromkeys(notes)),
    )


def _traces(system: TransitionSystem, bad: Marks, options: CausesOptions, say: Say) -> CausalTraces:
    stop = options.stop
    if not system.complete:
        # Longer traces may not be minimal: a shorter one may be in what was not explored.
        limit = system.explored_depth or 0
        stop = replace(stop, depth=limit if stop.depth is None else min(limit, stop.depth))
    if say is not None:
        say(f"{system.states:,} states: what can lead to the hazard")
    prepared = prepare(system, bad)
    progress: Progress | None = None
    if say is not None:
        speak = say

        def progress(length: int, nodes: int, found: int) -> None:
            speak(f"traces of {length} events: {found} causal so far, {nodes:,} suffixes")

    return causal_traces(prepared, stop, progress)


def _with_absences(
    runs: Runs, classes: Sequence[TraceClass], extras: int, notes: list[str]
) -> tuple[list[_Found], bool]:
    """(causes by Definition 28, True); or weak ones and False, where events alone do not decide."""
    if not all(runs.decides(traces) for traces in classes):
        notes.append(
            "some runs with the same events as a causal trace avoid the hazard, so that no set of "
            "events decides: the causes are weak, and say nothing of what must not happen"
        )
        return [_Found(traces, traces.order()) for traces in classes], False
    found = []
    for traces in classes:
        for part in runs.refined(traces, extras):
            if not part.complete:
                notes.append(
                    "there are too many ways to avert the hazard: some causes do not say all that "
                    "must not happen"
                )
            found.append(_of_refined(part))
    return found, True


def _of_refined(part: Refined) -> _Found:
    return _Found(part.traces, part.order, part.absences())


def _exact(found: _Found, notes: list[str]) -> Iterable[_Found]:
    if found.traces.admits_others(found.order) is None:
        return [found]
    parts = split(found.traces)
    if parts is None:
        notes.append("a cause has too many traces to split it into exact orders")
        return [found]
    if not parts.fewest:
        notes.append("a cause is split into exact orders, though perhaps not into the fewest")
    result = []
    for order in parts.orders:
        inside = found.traces.within(order)
        assert inside is not None
        result.append(_Found(inside, order, found.absent))
    return result


def _numbered(found: Sequence[_Found], actions: Sequence[Action]) -> tuple[Cause, ...]:
    known = {action.name: action for action in actions}
    causes = []
    for number, one in enumerate(found, 1):
        events = one.traces.events
        failing = [known[event.action] for event in events if known[event.action].failure]
        causes.append(
            Cause(
                ident=number,
                events=events,
                order=_named(one),
                traces=one.traces.count(),
                exact=one.traces.admits_others(one.order) is None,
                absent=one.absent,
                example=tuple(events[event].action for event in next(one.traces.traces())),
                failures=len(failing),
                undetected=any(action.detected is False for action in failing),
            )
        )
    return tuple(causes)


def _named(found: _Found) -> Order:
    return found.traces.named(found.order)
