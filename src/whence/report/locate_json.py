"""Fault localization as JSON, schema `locate/1`, and as SARIF 2.1.0: see docs/json.md."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from whence.locate.fault_model import Place
from whence.locate.localize import Change, Diagnosis, Fix, Localization, Spectrum
from whence.report.locate_words import (
    assumptions,
    change_words,
    headline,
    place_words,
    why_empty,
)
from whence.source import Origin

__all__ = ["locate_document", "sarif_document"]

Json = dict[str, Any]

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def locate_document(found: Localization, csr: float, version: str) -> Json:
    """What `whence locate --format json` prints, for `json.dumps`."""
    return {
        "whence": version,
        "schema": "locate/1",
        "entry": found.entry,
        "tests": len(found.ran),
        "failing": len(found.failing),
        "passing": found.passing,
        "failures": [
            {"test": ran.test.name, "reason": ran.failure, **_place(ran.outcome.origin)}
            for ran in found.failing
        ],
        "components": found.components,
        "cardinality": min((len(each.places) for each in found.diagnoses), default=None),
        "diagnoses": [_diagnosis(each) for each in found.diagnoses],
        "lines": [{"file": file, "line": line} for file, line in found.lines],
        "csr": csr,
        "complete": found.complete,
        "reason": (found.found.reason if found.found is not None else "") or why_empty(found),
        "unexplained": list(found.unexplained),
        "unseen": list(found.unseen),
        "assumptions": assumptions(found),
        "unwound": [{**_place(loop.origin), "rounds": rounds} for loop, rounds in found.unwound],
        "tried": found.tried,
        "seconds": found.found.seconds if found.found is not None else 0.0,
    }


def _place(origin: Any) -> Json:
    return {
        "file": origin.file,
        "line": origin.line,
        "column": origin.column,
        "end_line": origin.end_line,
        "end_column": origin.end_column,
    }


def _diagnosis(diagnosis: Diagnosis) -> Json:
    return {
        "places": [
            {
                **_place(place.origin),
                "kind": place.kind,
                "name": place.name,
                **_spectrum(spectrum),
            }
            for place, spectrum in zip(diagnosis.places, diagnosis.spectra, strict=True)
        ],
        "score": diagnosis.score,
        "witnesses": [
            {"test": witness.test, "changes": [_change(each) for each in witness.changes]}
            for witness in diagnosis.witnesses
        ],
        "fix": diagnosis.fixes[0].diff if diagnosis.fixes else None,
        "fixes": [_fix(each) for each in diagnosis.fixes],
    }


def _fix(fix: Fix) -> Json:
    return {
        "cost": fix.cost,
        "diff": fix.diff,
        "edits": [{**_place(edit.origin), "old": edit.old, "new": edit.new} for edit in fix.edits],
    }


def _spectrum(spectrum: Spectrum) -> Json:
    return {
        "failing": spectrum.failing,
        "passing": spectrum.passing,
        "ochiai": spectrum.ochiai,
        "dstar": None if math.isinf(spectrum.dstar) else spectrum.dstar,
    }


def _change(change: Change) -> Json:
    gave: int | bool = change.gave
    wanted: int | bool = change.wanted
    if change.decision:
        gave, wanted = bool(gave), bool(wanted)
    return {**_place(change.origin), "what": change.what, "gave": gave, "wanted": wanted}


# -------------------------------------------------------------------------------------- SARIF


def sarif_document(found: Localization, version: str) -> Json:
    """One result a diagnosis: its first place, the others related to it."""
    count = len(found.diagnoses)
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "whence",
                        "version": version,
                        "rules": [
                            {
                                "id": "locate",
                                "name": "PossibleFault",
                                "shortDescription": {
                                    "text": "A place that, changed, could make failing tests pass"
                                },
                                "fullDescription": {
                                    "text": "Consistency-based diagnosis over all failing tests"
                                },
                            }
                        ],
                    }
                },
                "columnKind": "utf16CodeUnits",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": said}}
                            for said in (headline(found), *assumptions(found))
                        ],
                    }
                ],
                "results": [
                    _result(number, diagnosis, count)
                    for number, diagnosis in enumerate(found.diagnoses)
                ],
            }
        ],
    }


def _result(number: int, diagnosis: Diagnosis, count: int) -> Json:
    first, *others = diagnosis.places
    said = [f"Diagnosis {number + 1} of {count}: a change here"]
    if others:
        said.append(" and at the related places")
    said.append(" could make all failing tests pass.")
    for witness in diagnosis.witnesses:
        for change in witness.changes[:1]:
            said.append(f" Test {witness.test}: {change_words(change, diagnosis)}.")
    result: Json = {
        "ruleId": "locate",
        "ruleIndex": 0,
        "level": "warning",
        "rank": round(100.0 * (count - number) / count, 3),
        "message": {"text": "".join(said)},
        "locations": [_location(first)],
        "properties": {"score": diagnosis.score, "places": len(diagnosis.places)},
    }
    if others:
        result["relatedLocations"] = [
            {"id": at, **_location(place)} for at, place in enumerate(others, 1)
        ]
    if diagnosis.fixes:
        result["fixes"] = [_sarif_fix(fix) for fix in diagnosis.fixes]
    return result


def _sarif_fix(fix: Fix) -> Json:
    changes: dict[str, list[Json]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.origin.file, []).append(
            {"deletedRegion": _region(edit.origin), "insertedContent": {"text": edit.new}}
        )
    return {
        "description": {"text": "A candidate: all tests pass with it."},
        "artifactChanges": [
            {"artifactLocation": {"uri": _uri(file)}, "replacements": replacements}
            for file, replacements in changes.items()
        ],
    }


def _location(place: Place) -> Json:
    location: Json = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.origin.file)},
            "region": _region(place.origin),
        },
    }
    words = place_words(place)
    if words:
        location["message"] = {"text": words}
    return location


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _region(origin: Origin) -> Json:
    region: Json = {"startLine": origin.line}
    if origin.column:
        region["startColumn"] = origin.column
    if origin.end_line >= origin.line and origin.end_column:
        region["endLine"] = origin.end_line
        region["endColumn"] = origin.end_column
    return region
