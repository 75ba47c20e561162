"""From what each log tells to one answer: the numbers of all traces and faults, and the classes.

Logs may come in any order, as several processes finish them; the answer is that of their order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from whence.source import Diagnostic, Origin
from whence.triage.classify import constraints_of
from whence.triage.findings import (
    Case,
    FaultClass,
    FoundFault,
    FoundMark,
    FoundTrace,
    InShort,
    KnownClass,
    LogFindings,
    Rank,
    Seen,
    Triage,
)
from whence.triage.one_log import Judged
from whence.triage.results import Grouping

__all__ = ["Gathering"]

_T = TypeVar("_T", bound=Hashable)


@dataclass
class Gathering:
    """Takes what logs tell, and keeps of it what the answer needs."""

    grouping: Grouping = "similar"
    #: By key of similar explanations, the best case that was seen.
    cases: dict[str, Case] = field(default_factory=dict)
    found: dict[int, LogFindings] = field(default_factory=dict)
    faults: int = 0
    _texts: dict[object, object] = field(default_factory=dict)

    @property
    def best(self) -> dict[str, Rank]:
        return {key: case.rank for key, case in self.cases.items()}

    def add(self, number: int, judged: Judged) -> None:
        """What the log with this number tells."""
        self.found[number] = self._shared(judged.findings)
        self.faults += len(judged.findings.faults)
        for case in judged.cases:
            self.keep(case)

    def keep(self, case: Case) -> None:
        key = case.explanation.key
        known = self.cases.get(key)
        if known is None or case.rank < known.rank:
            self.cases[key] = case

    def missing(self) -> frozenset[int]:
        """The logs whose cases are needed, and not there: what they told was remembered."""
        first: dict[str, tuple[Rank, int]] = {}
        for number, findings in self.found.items():
            for fault in findings.faults:
                trace = findings.traces[fault.trace]
                for n, explanation in enumerate(fault.explanations):
                    rank = _rank(trace, fault, explanation, n)
                    known = first.get(explanation.similar)
                    if known is None or rank < known[0]:
                        first[explanation.similar] = rank, number
        return frozenset(
            number
            for key, (rank, number) in first.items()
            if key not in self.cases or self.cases[key].rank != rank
        )

    def _shared(self, findings: LogFindings) -> LogFindings:
        """The same texts come again and again: one of each is enough."""
        return replace(
            findings,
            faults=tuple(
                replace(
                    fault,
                    event=self._one(fault.event),
                    expected=self._one(fault.expected),
                    requirements=self._one(fault.requirements),
                    explanations=tuple(
                        replace(
                            each,
                            similar=self._one(each.similar),
                            by_events=self._one(each.by_events),
                            by_requirements=self._one(each.by_requirements),
                        )
                        for each in fault.explanations
                    ),
                )
                for fault in findings.faults
            ),
        )

    def _one(self, value: _T) -> _T:
        return self._texts.setdefault(value, value)  # type: ignore[return-value]

    # --------------------------------------------------------------------------------- the answer

    def triage(
        self,
        model: str,
        logs: int,
        *,
        requirements: Mapping[str, str] | None = None,
        earlier: Sequence[KnownClass] | None = None,
        verified: bool = False,
        complete: bool = True,
        passed_over: Sequence[str] = (),
    ) -> Triage:
        """The answer, for which what was gathered is used up. `earlier`: the classes of an earlier
        run, to be compared with."""
        traces: list[FoundTrace] = []
        faults: list[FoundFault] = []
        marks: list[FoundMark] = []
        marked: list[int | None] = []
        absolute: list[bool] = []
        problems: dict[str, tuple[Diagnostic, ...]] = {}
        defects = 0
        for number in sorted(self.found):
            found = self.found.pop(number)
            first = len(traces)
            defects += found.defect
            absolute += [found.absolute] * len(found.traces)
            by_mark: dict[tuple[int | None, int | None], int] = {}
            for n, mark in enumerate(found.marks, len(marks)):
                by_mark.setdefault((mark.trace, mark.fault), n)
            marked += [by_mark.get((fault.trace, fault.number)) for fault in found.faults]
            traces += found.traces
            faults += [replace(fault, trace=first + fault.trace) for fault in found.faults]
            marks += [
                mark if mark.trace is None else replace(mark, trace=first + mark.trace)
                for mark in found.marks
            ]
            if found.problems or found.omitted:
                file = found.traces[0].file
                problems[file] = tuple(_diagnostics(file, found))
        classes = _classes(self.grouping, self.cases, traces, faults, absolute)
        gone: tuple[KnownClass, ...] = ()
        if earlier is not None:
            known = {each.ident: each for each in earlier}
            classes = [_compared(each, known.get(each.ident)) for each in classes]
            here = {each.ident for each in classes}
            gone = tuple(each for each in earlier if each.ident not in here)
        return Triage(
            model=model,
            grouping=self.grouping,
            logs=logs,
            traces=tuple(traces),
            faults=tuple(faults),
            marks=tuple(marks),
            marked=tuple(marked),
            classes=tuple(classes),
            gone=gone,
            compared=earlier is not None,
            verified=verified,
            complete=complete,
            defects=defects,
            passed_over=tuple(passed_over),
            absolute=tuple(absolute),
            problems=MappingProxyType(problems),
            requirements=MappingProxyType(dict(requirements or {})),
        )


def _rank(trace: FoundTrace, fault: FoundFault, explanation: InShort, n: int) -> Rank:
    """As that of the case: see `one_log`."""
    seen = (trace.events if fault.index is None else fault.index) - fault.since
    return len(explanation.events), seen, trace.name, trace.file, fault.number, n


def _diagnostics(file: str, found: LogFindings) -> Iterable[Diagnostic]:
    for each in found.problems:
        origin = Origin(file, each.line, 1 if each.line else 0)
        yield Diagnostic(each.message, origin, each.hint, severity=each.severity)
    if found.omitted:
        yield Diagnostic(f"{found.omitted} more of these", Origin(file), severity="warning")


@dataclass(slots=True)
class _Group:
    """What becomes a class."""

    best: tuple[Rank, int, str]
    members: list[int]
    requirements: dict[str, None]


def _classes(
    grouping: Grouping,
    cases: Mapping[str, Case],
    traces: Sequence[FoundTrace],
    faults: Sequence[FoundFault],
    absolute: Sequence[bool],
) -> list[FaultClass]:
    groups: dict[str, _Group] = {}
    for number, fault in enumerate(faults):
        trace = traces[fault.trace]
        for n, explanation in enumerate(fault.explanations):
            key = explanation.key(grouping)
            candidate = _rank(trace, fault, explanation, n), number, explanation.similar
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(candidate, [], {})
            group.best = min(group.best, candidate)
            if not group.members or group.members[-1] != number:
                group.members.append(number)
                group.requirements.update(dict.fromkeys(fault.requirements))
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1].members), item[0]))
    return [
        _class(key, group, grouping, cases[group.best[2]], traces, faults, absolute)
        for key, group in ordered
    ]


def _class(
    key: str,
    group: _Group,
    grouping: Grouping,
    case: Case,
    traces: Sequence[FoundTrace],
    faults: Sequence[FoundFault],
    absolute: Sequence[bool],
) -> FaultClass:
    explanation = case.explanation
    seen = sorted((_seen(n, traces, faults, absolute), n) for n in group.members)
    first, last = seen[0][1], seen[-1][1]
    return FaultClass(
        ident=key,
        kind=explanation.fault.kind,
        representative=group.best[1],
        members=tuple(group.members),
        events=explanation.signature,
        constraints=constraints_of(explanation) if grouping == "similar" else (),
        requirements=tuple(group.requirements),
        expected=case.expected,
        observed=case.observed,
        first=_where(first, traces, faults, absolute),
        last=_where(last, traces, faults, absolute),
        case=case,
    )


def _seen(
    number: int,
    traces: Sequence[FoundTrace],
    faults: Sequence[FoundFault],
    absolute: Sequence[bool],
) -> tuple[bool, object, int]:
    """In the order in which faults were seen: by date; where logs do not tell the day, in the order
    of the logs."""
    fault = faults[number]
    if absolute[fault.trace]:
        return False, fault.date, number
    return True, number, number


def _where(
    number: int,
    traces: Sequence[FoundTrace],
    faults: Sequence[FoundFault],
    absolute: Sequence[bool],
) -> Seen:
    fault = faults[number]
    trace = traces[fault.trace]
    return Seen(trace.file, trace.name, fault.line, fault.date, absolute[fault.trace])


def _compared(here: FaultClass, known: KnownClass | None) -> FaultClass:
    """A known class was first seen when it was first seen in all runs."""
    if known is None:
        return replace(here, status="new")
    return replace(here, status="known", first=known.first)
