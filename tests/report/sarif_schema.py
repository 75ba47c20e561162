"""Of SARIF 2.1.0 (OASIS, section 3, and its JSON schema), what we write of it.

As in the published schema: which properties an object may have and must have, their types, their
ranges and the values of enumerations. Properties that we do not write are left out, and would be
refused here.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _object(required: str = "", **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def _list(item: Schema, least: int = 0, unique: bool = False) -> Schema:
    return {"type": "array", "items": item, "minItems": least, "uniqueItems": unique}


_TEXT: Schema = {"type": "string"}
_FROM_ONE: Schema = {"type": "integer", "minimum": 1}
_URI: Schema = {"type": "string", "pattern": r"^[^\s\\<>\"{}|^`]*$"}
_LEVEL: Schema = {"enum": ["none", "note", "warning", "error"]}
#: 3.11: a message has a text or the identifier of one.
_MESSAGE = _object("text", text=_TEXT)
#: 3.30.
_REGION = _object(
    "startLine",
    startLine=_FROM_ONE,
    startColumn=_FROM_ONE,
    endLine=_FROM_ONE,
    endColumn=_FROM_ONE,
)
_ARTIFACT = _object(uri=_URI)
#: 3.28; identifiers of locations are non-negative.
_LOCATION = _object(
    id={"type": "integer", "minimum": -1},
    physicalLocation=_object("artifactLocation", artifactLocation=_ARTIFACT, region=_REGION),
    message=_MESSAGE,
)
#: 3.55 to 3.57: each change has at least one replacement, each of a region.
_FIX = _object(
    "artifactChanges",
    description=_MESSAGE,
    artifactChanges=_list(
        _object(
            "artifactLocation replacements",
            artifactLocation=_ARTIFACT,
            replacements=_list(
                _object(
                    "deletedRegion", deletedRegion=_REGION, insertedContent=_object(text=_TEXT)
                ),
                least=1,
            ),
        ),
        least=1,
        unique=True,
    ),
)
#: 3.27; a rank is between 0 and 100, -1 without one.
_RESULT = _object(
    "message",
    ruleId=_TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=_LEVEL,
    rank={"type": "number", "minimum": -1, "maximum": 100},
    message=_MESSAGE,
    locations=_list(_LOCATION),
    relatedLocations=_list(_LOCATION, unique=True),
    fixes=_list(_FIX, unique=True),
    properties={"type": "object"},
)
_RULE = _object("id", id=_TEXT, name=_TEXT, shortDescription=_MESSAGE, fullDescription=_MESSAGE)
_RUN = _object(
    "tool",
    tool=_object(
        "driver",
        driver=_object("name", name=_TEXT, version=_TEXT, rules=_list(_RULE, unique=True)),
    ),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations=_list(
        _object(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=_list(_object("message", level=_LEVEL, message=_MESSAGE)),
        )
    ),
    results=_list(_RESULT),
)
SARIF: Schema = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **_object(
        "version runs",
        **{"$schema": {"type": "string", "format": "uri"}},
        version={"enum": ["2.1.0"]},
        runs=_list(_RUN),
    ),
}
