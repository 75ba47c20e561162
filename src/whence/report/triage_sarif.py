"""A triage as SARIF 2.1.0: a rule for each class, a result for each fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from whence.report.triage_json import items_text
from whence.report.triage_words import clean, headline, title
from whence.triage.findings import FaultClass, FoundFault, FoundTrace, Triage

__all__ = ["sarif_pieces"]

Json = dict[str, Any]
_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_STATES: Final = {"new": "new", "known": "unchanged"}


def sarif_pieces(found: Triage, version: str) -> Iterator[str]:
    """The document, a piece at a time. `fingerprints` have the identity of the class,
    `baselineState` whether it is new."""
    # Quotes inside of texts are escaped: this is where the results are to stand, and nothing else.
    before, empty, after = json.dumps(_document(found, version), indent=2).rpartition(_NO_RESULTS)
    assert empty
    yield before + _NO_RESULTS.removesuffix("[]")
    yield from items_text(_results(found), 3)
    yield f"{after}\n"


_NO_RESULTS: Final = '"results": []'


def _document(found: Triage, version: str) -> Json:
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "whence",
                        "version": version,
                        "rules": [_rule(found, each) for each in found.classes],
                    }
                },
                "columnKind": "utf16CodeUnits",
                "invocations": [
                    {
                        "executionSuccessful": found.complete and not found.defects,
                        "toolExecutionNotifications": [*_notifications(found)],
                    }
                ],
                "results": [],
            }
        ],
    }


def _rule(found: Triage, each: FaultClass) -> Json:
    texts = [found.requirements.get(name, "") for name in each.requirements]
    said = f"Expected: {each.expected}. Observed: {each.observed}."
    return {
        "id": each.ident,
        "name": "FaultClass",
        "shortDescription": {"text": clean(title(each))},
        "fullDescription": {"text": clean(" ".join([said, *filter(None, texts)]))},
        "properties": {
            "size": each.size,
            "requirements": list(each.requirements),
            "events": list(each.events),
            "constraints": list(each.constraints),
        },
    }


def _notifications(found: Triage) -> Iterator[Json]:
    yield {"level": "note", "message": {"text": headline(found)}}
    for trace in found.of_verdict("broken"):
        yield {
            "level": "error",
            "message": {"text": clean(f"{trace.name}: {trace.reason}")},
            "locations": [_location(trace, trace.line)],
        }


def _results(found: Triage) -> Iterator[Json]:
    rules = {each.ident: number for number, each in enumerate(found.classes)}
    for fault in found.faults:
        idents = [each.key(found.grouping) for each in fault.explanations]
        number = rules[idents[0]] if idents else None
        yield _result(found, fault, number)


def _result(found: Triage, fault: FoundFault, number: int | None) -> Json:
    trace = found.traces[fault.trace]
    expected = ", or ".join(fault.expected) or "no event"
    said = f"{fault.event or 'The trace ends'}: expected {expected}"
    result: Json = {
        "level": "error",
        "message": {"text": clean(f"{said}{' or others' if fault.others else ''}.")},
        "locations": [_location(trace, fault.line)],
        "properties": {
            "trace": trace.name,
            "kind": fault.kind,
            "requirements": list(fault.requirements),
        },
    }
    if number is not None:
        each = found.classes[number]
        result = {
            "ruleId": each.ident,
            "ruleIndex": number,
            **result,
            "fingerprints": {"faultClass/v1": each.ident},
        }
        if each.status:
            result["baselineState"] = _STATES[each.status]
    return result


def _location(trace: FoundTrace, line: int) -> Json:
    path = PurePath(trace.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place: Json = {"artifactLocation": {"uri": uri}}
    if line:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}
