"""One log from its file to its faults and their explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from whence.formats.can.trace import whole
from whence.formats.logs import open_log
from whence.model.events import Trace
from whence.model.prd import EventTrace, PrdAutomaton, TimedEvent
from whence.source import Diagnostic, InputError, Origin, UnsupportedError, WhenceError
from whence.triage.classify import key_of
from whence.triage.explain import analyse
from whence.triage.findings import (
    Case,
    FoundFault,
    FoundMark,
    FoundTrace,
    InShort,
    LogFindings,
    LogOptions,
    Problem,
    Rank,
    Role,
    SeenEvent,
    TraceVerdict,
)
from whence.triage.machine import prepared
from whence.triage.marks import compared
from whence.triage.results import Explanation, Fault
from whence.triage.telling import expected_texts, expected_words, observed_words, since_before
from whence.triage.traces import traces_of
from whence.triage.verify import verify
from whence.triage.words import event_text

if TYPE_CHECKING:
    from whence.formats.can.odx import Database

__all__ = ["Judged", "triage_log"]

#: So many events around a fault are kept of a case, besides those of the explanation.
_AROUND = 60
#: And so many before the first of the explanation.
_BEFORE = 2
#: Events are sorted by their dates, but for so many places as in the log.
_NEIGHBOURS = 20
#: So many of the problems of a log are kept.
_MOST_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """What one log tells, and the cases that are better than those that are known."""

    findings: LogFindings
    cases: tuple[Case, ...] = ()


def triage_log(
    automaton: PrdAutomaton,
    path: str,
    options: LogOptions,
    database: Database | None = None,
    best: Mapping[str, Rank] | None = None,
) -> Judged:
    """Replays the traces of a log, and explains their faults. `best`: by key (of similar
    explanations), the rank of the best case that is known already. A log that cannot be read or
    replayed is a broken trace, and nothing is raised."""
    try:
        log = whole(open_log(path, options.pairs, database))
    except WhenceError as error:
        return Judged(_broken(path, error))
    problems = _problems(log)
    omitted = log.omitted + max(0, len(log.problems) - _MOST_PROBLEMS)
    absolute = any("1970" in note for note in log.notes)
    try:
        traces, alien = _about_the_model(automaton, log, options)
    except WhenceError as error:
        findings = _broken(path, error, log)
        return Judged(replace(findings, problems=problems, omitted=omitted, absolute=absolute))
    problems += tuple(
        Problem("warning", f"{trace.name}: none of its {len(trace.events)} events is the model's",
                hint="this conversation is left out; --ecu chooses another") for trace in alien
    )  # fmt: skip
    work = _Work(automaton, path, options, best or {})
    for trace in traces:
        work.trace(trace)
    replayed = {n: trace for n, trace in enumerate(traces) if n not in work.unreplayed}
    marks = compared(log.annotations, replayed, work.by_trace)
    findings = LogFindings(
        traces=tuple(work.traces),
        faults=tuple(work.faults),
        marks=marks,
        problems=problems,
        omitted=omitted,
        absolute=absolute,
    )
    return Judged(findings, tuple(work.cases.values()))


def _broken(path: str, error: WhenceError, log: Trace | None = None) -> LogFindings:
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    first = error.diagnostics[0]
    trace = FoundTrace(name, path, "broken", first.origin.line, 0, 0, first.message, first.hint)
    marks: tuple[FoundMark, ...] = ()
    if log is not None:
        marks = compared(log.annotations, {}, {}, "the log cannot be replayed")
    return LogFindings((trace,), marks=marks)


def _problems(log: Trace) -> tuple[Problem, ...]:
    return tuple(_problem(each) for each in log.problems[:_MOST_PROBLEMS])


def _problem(diagnostic: Diagnostic) -> Problem:
    origin = diagnostic.origin
    return Problem(diagnostic.severity, diagnostic.message, origin.line, diagnostic.hint)


def _about_the_model(
    automaton: PrdAutomaton, log: Trace, options: LogOptions
) -> tuple[tuple[EventTrace, ...], tuple[EventTrace, ...]]:
    """The traces that the model has a say in, and the others. Raises InputError if all are
    others."""
    nothing = Diagnostic(
        "there are no requests and no responses in this log",
        Origin(log.file),
        "if it has some, --pair tells their identifiers",
    )
    if not log.events:
        raise InputError(nothing)
    found = traces_of(log, options.ecu, split=options.split, errors=options.errors)
    if not any(trace.events for trace in found):
        raise InputError(nothing)
    if not options.complete:
        found = tuple(replace(trace, complete=False) for trace in found)
    known = tuple(trace for trace in found if _is_known(automaton, trace))
    if not known:
        events = sum(len(trace.events) for trace in found)
        labels = list(dict.fromkeys(event.label for trace in found for event in trace.events))
        raise InputError(
            Diagnostic(
                "the log has nothing that the model speaks of: none of its "
                f"{events:,} events is one of the model's",
                Origin(log.file),
                f"it has {', '.join(labels[:3])}" + (", …" if len(labels) > 3 else ""),
            )
        )
    return known, tuple(trace for trace in found if trace not in known)


def _is_known(automaton: PrdAutomaton, trace: EventTrace) -> bool:
    patterns = prepared(automaton).patterns
    return not trace.events or any(patterns.shapes[patterns.shape(event)] for event in trace.events)


class _Work:
    """The traces of one log, one after the other."""

    def __init__(
        self, automaton: PrdAutomaton, path: str, options: LogOptions, best: Mapping[str, Rank]
    ) -> None:
        self.automaton, self.path, self.options, self.best = automaton, path, options, best
        self.traces: list[FoundTrace] = []
        self.faults: list[FoundFault] = []
        self.by_trace: dict[int, list[FoundFault]] = {}
        self.unreplayed: set[int] = set()
        self.cases: dict[str, Case] = {}

    def trace(self, trace: EventTrace) -> None:
        number = len(self.traces)
        line, events = trace.origin.line, len(trace.events)
        try:
            analysed = analyse(self.automaton, trace, self.options.hide)
        except (WhenceError, RecursionError, MemoryError) as error:
            reason, hint = _reason(error)
            self.unreplayed.add(number)
            self.traces.append(
                FoundTrace(trace.name, self.path, "broken", line, events, 0, reason, hint)
            )
            return
        found = [self._fault(number, trace, *each) for each in analysed]
        self.faults += found
        self.by_trace[number] = found
        verdict: TraceVerdict = "faulty" if found else "conforming"
        self.traces.append(
            FoundTrace(trace.name, self.path, verdict, line, events, len(found))
        )  # fmt: skip

    def _fault(
        self, number: int, trace: EventTrace, fault: Fault, explanations: Sequence[Explanation]
    ) -> FoundFault:
        expected, others = expected_texts(self.automaton, fault)
        position = None if fault.event is None else fault.event.index
        last = trace.events[-1].origin.line if trace.events else 0
        found = FoundFault(
            trace=number,
            number=fault.number,
            index=fault.index,
            position=position,
            line=last if fault.event is None else fault.event.origin.line,
            next_line=_next_line(trace, fault),
            date=fault.date,
            kind=fault.kind,
            event="" if fault.event is None else event_text(fault.event),
            after=since_before(trace, fault),
            since=fault.since,
            expected=expected,
            others=others,
            requirements=fault.requirements,
            explanations=tuple(self._in_short(trace, each) for each in explanations),
        )
        for n, explanation in enumerate(explanations):
            self._keep(trace, explanation, n)
        return found

    def _in_short(self, trace: EventTrace, explanation: Explanation) -> InShort:
        problems = None
        if self.options.verify:
            try:
                problems = verify(self.automaton, trace, explanation)
            except UnsupportedError as error:
                problems = (f"not checked: {error.diagnostics[0].message}",)
        return InShort(
            explanation.events,
            explanation.key,
            key_of(explanation, "events"),
            key_of(explanation, "requirements"),
            explanation.complete,
            problems,
        )

    def _keep(self, trace: EventTrace, explanation: Explanation, n: int) -> None:
        fault = explanation.fault
        rank = (
            len(explanation.events),
            (len(trace.events) if fault.index is None else fault.index) - fault.since,
            trace.name,
            self.path,
            fault.number,
            n,
        )
        known = self.cases.get(explanation.key)
        worse = known is not None and known.rank <= rank
        if worse or self.best.get(explanation.key, rank) < rank:
            return
        events, omitted = _seen(trace, explanation)
        self.cases[explanation.key] = Case(
            rank,
            explanation,
            events,
            omitted,
            expected_words(self.automaton, fault),
            observed_words(trace, fault),
        )


def _next_line(trace: EventTrace, fault: Fault) -> int:
    """Where the log goes on with the trace. An error stands in the log where it was noticed."""
    event = fault.event
    if event is None or fault.index is None:
        return 0
    near = trace.events[max(0, fault.index - _NEIGHBOURS) : fault.index + _NEIGHBOURS]
    later = [
        (other.index, other.origin.line)
        for other in near
        if other.index > event.index and other.origin.line > event.origin.line
    ]
    return min(later)[1] if later else 0


def _reason(error: Exception) -> tuple[str, str]:
    if isinstance(error, WhenceError):
        first = error.diagnostics[0]
        return first.message, first.hint
    if isinstance(error, MemoryError):
        return "there is not enough memory to replay it", ""
    return "it is too deep to be replayed", ""


def _seen(trace: EventTrace, explanation: Explanation) -> tuple[tuple[SeenEvent, ...], int]:
    """The events of an explanation and those that it leaves out, as many as can be told: the last
    ones. `context` are some before the first of them."""
    fault = explanation.fault
    relevant = set(explanation.events)
    dropped = {n for gap in explanation.gaps for n in gap.dropped}
    last = len(trace.events) - 1 if fault.index is None else fault.index
    started = min((*relevant, *dropped, last))
    wanted = relevant | {last}
    for n in range(last, max(-1, started - _BEFORE - 1), -1):
        if len(wanted) - len(relevant) >= _AROUND:
            break
        wanted.add(n)
    events = tuple(
        _event(trace.events[n], n, _role(n, fault, relevant, started))
        for n in sorted(wanted)
        if n >= 0
    )
    return events, last + 1 - len(events)


def _role(n: int, fault: Fault, relevant: set[int], started: int) -> Role:
    if n == fault.index:
        return "fault"
    if n in relevant:
        return "relevant"
    return "irrelevant" if n >= started else "context"


def _event(event: TimedEvent, index: int, role: Role) -> SeenEvent:
    return SeenEvent(index, event.date, event.label, event_text(event), event.origin.line, role)
