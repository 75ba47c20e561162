"""A fault as a story: what is to be drawn of it, row by row, with the times between the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_lowercase
from typing import Literal, TypeAlias

from whence.report.triage_words import clean, count
from whence.triage.findings import Case, FoundMark, Role, SeenEvent
from whence.triage.results import Explanation, Gap
from whence.triage.words import time_text

__all__ = ["Bracket", "CaseStory", "Line", "Measure", "Row", "RowKind", "line_of", "tell_case"]

#: `fold`: events that are not drawn one by one. `mark`: what the environment of the tests said.
#: `accepted`: what the model would have accepted in place of the fault.
RowKind: TypeAlias = Literal["start", "event", "fold", "mark", "accepted", "end"]
#: Where an event is drawn: as a message of the tester or of the ECU, or at one of the lifelines.
Line: TypeAlias = Literal["request", "response", "ecu", "environment"]

#: So many events in a row that make no difference are drawn; more of them are folded.
_FEW = 2
_REQUESTS = frozenset({"req"})
_RESPONSES = frozenset({"res", "neg", "pend"})


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the drawing. `line` is where the event stands in the log, 0 if nobody tells."""

    kind: RowKind
    text: str
    role: Role = "context"
    at: Line = "ecu"
    line: int = 0
    date: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """The time u0, u1, … between two rows. `matters`: without it there would be no such fault."""

    first: int
    last: int
    text: str
    matters: bool


@dataclass(frozen=True, slots=True)
class Bracket:
    """A time constraint, from row to row; if these are the same, at the moment of that row. `here`
    is the sum of its times in this trace, None where there are none."""

    letter: str
    first: int
    last: int
    text: str
    holds: bool
    here: Fraction | None


@dataclass(frozen=True, slots=True)
class CaseStory:
    rows: tuple[Row, ...]
    measures: tuple[Measure, ...]
    brackets: tuple[Bracket, ...]
    has_environment: bool


def line_of(label: str) -> Line:
    """Where an event with this label is drawn: see :mod:`whence.triage.traces`."""
    kind = label.partition(" ")[0]
    if kind in _REQUESTS:
        return "request"
    if kind in _RESPONSES:
        return "response"
    return "ecu" if kind == "err" else "environment"


def tell_case(case: Case, marks: Iterable[FoundMark] = ()) -> CaseStory:
    """`marks`: those of the trace; what they stand behind tells which of them are drawn."""
    rows, places = _rows(case, list(marks))
    explanation = case.explanation
    moments = _moments(explanation, rows, places)
    measures = tuple(
        Measure(moments[n], moments[n + 1], _measured(n, gap, rows, moments), gap.matters)
        for n, gap in enumerate(explanation.gaps)
    )
    return CaseStory(
        tuple(rows),
        measures,
        tuple(_brackets(explanation, moments)),
        any(row.at == "environment" and row.kind in ("event", "mark") for row in rows),
    )


# ------------------------------------------------------------------------------------------- rows


def _rows(case: Case, marks: list[FoundMark]) -> tuple[list[Row], dict[int, int]]:
    """The rows, and the row of each event that is drawn. -1: that of the start."""
    explanation = case.explanation
    fault = explanation.fault
    dropped = [n for gap in explanation.gaps for n in gap.dropped]
    told = [event.index for event in case.events]
    started = min((*explanation.events, *dropped, *told[-1:]), default=0)
    behind: dict[int, list[FoundMark]] = {}
    for mark in marks:
        if mark.index is not None and mark.fault != fault.number:
            behind.setdefault(mark.index, []).append(mark)
    rows: list[Row] = []
    places: dict[int, int] = {}
    before = [event for event in case.events if event.index < started]
    after = [event for event in case.events if event.index >= started]
    _stretch(rows, places, before, 0, started, behind)
    places[-1] = len(rows)
    rows.append(Row("start", _start(explanation), date=_start_date(case)))
    end = fault.index + 1 if fault.index is not None else max([started - 1, *told]) + 1
    _stretch(rows, places, after, started, end, behind)
    if fault.event is None:
        rows.append(Row("end", "the end of the trace", "fault", date=fault.date))
    rows.append(Row("accepted", f"expected {clean(case.expected)}", "fault"))
    rows += _marks(mark for mark in marks if mark.fault == fault.number)
    if fault.index is not None:
        rows += _marks(behind.get(fault.index, ()))
    return rows, places


def _start(explanation: Explanation) -> str:
    if not explanation.rebased:
        return "what the fault before left"
    return "from here on it is explained" if explanation.fault.since else "the trace begins"


def _start_date(case: Case) -> Fraction | None:
    """Exact only if all time before the first event counts."""
    explanation = case.explanation
    first = explanation.gaps[0] if explanation.gaps else None
    if first is None or not first.kept:
        return None
    index = explanation.events[0] if explanation.events else None
    dates = {event.index: event.date for event in case.events}
    end = explanation.fault.date if index is None else dates.get(index)
    return None if end is None else end - first.time


def _stretch(
    rows: list[Row],
    places: dict[int, int],
    events: Sequence[SeenEvent],
    first: int,
    end: int,
    behind: dict[int, list[FoundMark]],
) -> None:
    """The events with the indices `first .. end - 1`, of which some are not told."""
    folded: list[SeenEvent] = []
    missing, at = 0, first

    def unfold() -> None:
        nonlocal missing
        if not missing and len(folded) <= _FEW:
            for event in folded:
                places[event.index] = len(rows)
                rows.append(_event(event))
                rows.extend(_marks(behind.get(event.index, ())))
        elif missing or folded:
            rows.append(_fold(folded, missing))
        folded.clear()
        missing = 0

    for event in events:
        missing += event.index - at
        at = event.index + 1
        if event.role in ("context", "irrelevant"):
            folded.append(event)
            continue
        unfold()
        places[event.index] = len(rows)
        rows.append(_event(event))
        if event.role != "fault":
            rows.extend(_marks(behind.get(event.index, ())))
    missing += max(0, end - at)
    unfold()


def _event(event: SeenEvent) -> Row:
    return Row("event", clean(event.text), event.role, line_of(event.label), event.line, event.date)


def _fold(events: Sequence[SeenEvent], missing: int) -> Row:
    number = len(events) + missing
    role: Role = events[-1].role if events else "context"
    words = count(number, "event")
    if role == "irrelevant":
        words += " that makes no difference" if number == 1 else " that make no difference"
    else:
        words += " before"
    if not missing and len(events) > 1:
        words += f", in {time_text(events[-1].date - events[0].date)}"
    return Row("fold", words, role, line=events[0].line if events and not missing else 0)


def _marks(marks: Iterable[FoundMark]) -> Iterator[Row]:
    for mark in marks:
        role: Role = "context" if mark.fault is None else "fault"
        yield Row("mark", clean(mark.text) or mark.verdict, role, "environment", mark.line)


# ------------------------------------------------------------------------------------------ times


def _moments(explanation: Explanation, rows: Sequence[Row], places: dict[int, int]) -> list[int]:
    """The rows between which the times u0, u1, … pass."""
    moments = [places[-1]]
    for n in range(len(explanation.gaps)):
        # Where time itself is the fault, or something is missing, the last time ends at the fault.
        index = explanation.events[n] if n < len(explanation.events) else explanation.fault.index
        if index is None:
            end = next((at for at, row in enumerate(rows) if row.kind == "end"), len(rows) - 1)
        else:
            end = places[index]
        moments.append(end)
    return moments


def _measured(n: int, gap: Gap, rows: Sequence[Row], moments: Sequence[int]) -> str:
    first, last = rows[moments[n]].date, rows[moments[n + 1]].date
    text = f"u{n} = {time_text(gap.time)}"
    if first is not None and last is not None and last - first != gap.time:
        return f"{text} of {time_text(last - first)}"
    return text


def _brackets(explanation: Explanation, moments: Sequence[int]) -> Iterator[Bracket]:
    atoms = zip(explanation.template.atoms, explanation.satisfied, strict=True)
    last = len(moments) - 1
    for n, (atom, holds) in enumerate(atoms):
        letter = ascii_lowercase[n] if n < len(ascii_lowercase) else str(n + 1)
        here: Fraction | None = None
        if atom.first <= atom.last:
            first, end = moments[min(atom.first, last)], moments[min(atom.last + 1, last)]
            gaps = explanation.gaps[atom.first : atom.last + 1]
            here = sum((gap.time for gap in gaps), Fraction(0))
        else:
            # Only a clock counts, at one moment.
            first = end = moments[min((atom.position + 1) // 2, last)]
        yield Bracket(letter, first, end, atom.text, holds, here)
