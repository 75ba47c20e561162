"""A triage as JSON, schema `triage/1`, and its classes, schema `classes/1`: see docs/json.md.

There may be a hundred thousand faults: documents are made and written a piece at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import indent
from typing import Any

from whence.formats.events.values import date_text
from whence.source import Diagnostic
from whence.triage.findings import (
    FaultClass,
    FoundFault,
    FoundMark,
    FoundTrace,
    InShort,
    KnownClass,
    Seen,
    SeenEvent,
    Triage,
)
from whence.triage.results import Assertion, Gap

__all__ = ["classes_document", "document_of", "items_text", "triage_document", "triage_pieces"]

Json = dict[str, Any]


def triage_document(found: Triage, version: str) -> Json:
    """What `whence triage --format json` prints, for `json.dumps`."""
    return document_of(_fields(found, version))


def triage_pieces(found: Triage, version: str) -> Iterator[str]:
    """The same as text, a piece at a time."""
    return _pieces(_fields(found, version))


def document_of(fields: Mapping[str, object]) -> Json:
    return {
        name: [*value] if isinstance(value, Iterator) else value for name, value in fields.items()
    }


def _pieces(fields: Mapping[str, object]) -> Iterator[str]:
    """As `json.dumps(…, indent=2)` does it; what is an iterator is a list."""
    before = "{"
    for name, value in fields.items():
        yield f"{before}\n  {json.dumps(name)}: "
        if isinstance(value, Iterator):
            yield from items_text(value, 1)
        else:
            yield indent(json.dumps(value, indent=2), "  ").lstrip()
        before = ","
    yield "\n}\n"


def items_text(values: Iterable[object], depth: int) -> Iterator[str]:
    """A list, a piece at a time, as `json.dumps(…, indent=2)` writes one at this depth."""
    before, blanks = "[", "  " * depth
    for value in values:
        yield f"{before}\n"
        yield indent(json.dumps(value, indent=2), f"{blanks}  ")
        before = ","
    yield "[]" if before == "[" else f"\n{blanks}]"


def _fields(found: Triage, version: str) -> dict[str, object]:
    return {
        "whence": version,
        "schema": "triage/1",
        "model": found.model,
        "grouping": found.grouping,
        "logs": found.logs,
        "traces": len(found.traces),
        "faulty": len(found.of_verdict("faulty")),
        "conforming": len(found.of_verdict("conforming")),
        "broken": len(found.of_verdict("broken")),
        "partial": not found.complete,
        "compared": found.compared,
        "verified": found.verified,
        "classes": (_class(found, each) for each in found.classes),
        "gone": [_known(each) for each in found.gone],
        "faults": _faults(found),
        "verdicts": (_trace(each) for each in found.traces),
        "environment": {
            "both": found.found_by_both,
            "model": len(found.only_by_model),
            "environment": len(found.only_by_environment),
        },
        "marks": (_mark(found, each) for each in found.marks),
        "passed_over": list(found.passed_over),
        "diagnostics": (_problem(each) for several in found.problems.values() for each in several),
    }


# ------------------------------------------------------------------------------------- faults


def _faults(found: Triage) -> Iterator[Json]:
    for number, fault in enumerate(found.faults):
        yield _fault(found, number, fault)


def _fault(found: Triage, number: int, fault: FoundFault) -> Json:
    trace = found.traces[fault.trace]
    explanations = [_in_short(found, each) for each in fault.explanations]
    return {
        "trace": trace.name,
        "file": trace.file,
        "line": fault.line,
        "number": fault.number,
        "index": fault.index,
        "position": fault.position,
        "date": date_text(fault.date),
        "kind": fault.kind,
        "event": fault.event,
        "after": date_text(fault.after),
        "expected": list(fault.expected),
        "others": fault.others,
        "requirements": list(fault.requirements),
        "explanation": explanations[0]["events"] if explanations else [],
        "class": explanations[0]["class"] if explanations else None,
        "explanations": explanations,
        "mark": found.marked[number],
    }


def _in_short(found: Triage, each: InShort) -> Json:
    short: Json = {
        "events": list(each.events),
        "class": each.key(found.grouping),
        "complete": each.complete,
    }
    if each.problems is not None:
        short["problems"] = list(each.problems)
    return short


def _trace(trace: FoundTrace) -> Json:
    return {
        "trace": trace.name,
        "file": trace.file,
        "line": trace.line,
        "verdict": trace.verdict,
        "events": trace.events,
        "faults": trace.faults,
        "reason": trace.reason,
        "hint": trace.hint,
    }


def _mark(found: Triage, mark: FoundMark) -> Json:
    trace = None if mark.trace is None else found.traces[mark.trace]
    return {
        "trace": None if trace is None else trace.name,
        "file": None if trace is None else trace.file,
        "line": mark.line,
        "index": mark.index,
        "verdict": mark.verdict,
        "text": mark.text,
        "found_by": "environment" if mark.fault is None else "both",
        "fault": mark.fault,
        "why": mark.why,
    }


def _problem(diagnostic: Diagnostic) -> Json:
    return {
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "file": diagnostic.origin.file,
        "line": diagnostic.origin.line,
        "hint": diagnostic.hint,
    }


# ------------------------------------------------------------------------------------ classes


def _class(found: Triage, each: FaultClass) -> Json:
    return {
        **_in_words(each),
        "status": each.status or None,
        "representative": each.representative,
        "members": list(each.members),
        "case": _case(each),
    }


def _in_words(each: FaultClass | KnownClass) -> Json:
    return {
        "id": each.ident,
        "size": each.size,
        "kind": each.kind,
        "events": list(each.events),
        "constraints": list(each.constraints),
        "requirements": list(each.requirements),
        "expected": each.expected,
        "observed": each.observed,
        "first_seen": _seen(each.first),
        "last_seen": _seen(each.last),
    }


def _known(each: KnownClass) -> Json:
    return _in_words(each)


def _seen(seen: Seen) -> Json:
    return {
        "file": seen.file,
        "trace": seen.trace,
        "line": seen.line,
        "date": date_text(seen.date),
        "absolute": seen.absolute,
    }


def _case(each: FaultClass) -> Json:
    case = each.case
    explanation = case.explanation
    return {
        "events": [_event(event) for event in case.events],
        "omitted": case.omitted,
        "gaps": [_gap(gap) for gap in explanation.gaps],
        "after": [_assertion(one) for one in explanation.after],
        "before": [_assertion(one) for one in explanation.before],
        "rebased": explanation.rebased,
        "resynchronised": explanation.fault.resynchronised,
        "states": list(explanation.fault.states),
    }


def _event(event: SeenEvent) -> Json:
    return {
        "index": event.index,
        "date": date_text(event.date),
        "label": event.label,
        "text": event.text,
        "line": event.line,
        "role": event.role,
    }


def _gap(gap: Gap) -> Json:
    return {
        "time": date_text(gap.time),
        "dropped": list(gap.dropped),
        "kept": gap.kept,
        "matters": gap.matters,
    }


def _assertion(assertion: Assertion) -> list[str]:
    return [str(one) for one in assertion]


def classes_document(found: Triage, version: str) -> Json:
    """What `--classes` writes and `--known` reads. Classes that are gone are kept, so that they are
    known if they come back."""
    here = [{**_in_words(each), "status": each.status or None} for each in found.classes]
    gone = [{**_known(each), "status": "gone"} for each in found.gone]
    return {
        "whence": version,
        "schema": "classes/1",
        "model": found.model,
        "grouping": found.grouping,
        "classes": [*here, *gone],
    }
