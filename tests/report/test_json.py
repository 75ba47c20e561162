"""`check/1` has the documented form, and is exact."""

import json
from fractions import Fraction
from typing import Any

import pytest
from tests.report.support import database, database_trace, strange, strange_trace

from whence.model.layout import layout_of
from whence.model.network import Network
from whence.model.trace import QueryResult, Supremum
from whence.report.json import check_document
from whence.report.schema import CHECK

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def problems(value: Any, schema: dict[str, Any], where: str = "$") -> list[str]:
    """What of the few keywords that the schema uses does not hold."""
    import re

    if "$ref" in schema:
        return problems(value, CHECK["$defs"][schema["$ref"].removeprefix("#/$defs/")], where)
    found = []
    if "oneOf" in schema:
        fitting = [one for one in schema["oneOf"] if not problems(value, one, where)]
        if len(fitting) != 1:
            found.append(f"{where}: fits {len(fitting)} of the alternatives")
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: is not {schema['const']}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is not in the list")
    names = schema.get("type", [])
    types = [_TYPES[name] for name in ([names] if isinstance(names, str) else names)]
    if types and not any(
        isinstance(value, kind) and (kind is bool or not isinstance(value, bool)) for kind in types
    ):
        return [*found, f"{where}: {value!r} is no {names}"]
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{where}: too small")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} does not match")
    if isinstance(value, dict):
        found += [f"{where}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            found += problems(item, inner, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            found += problems(item, schema["items"], f"{where}[{number}]")
    return found


def document(network: Network, *results: QueryResult) -> Any:
    """What a reader gets."""
    made = check_document("db.xml", network, layout_of(network), results, "1.2")
    return json.loads(json.dumps(made))


def test_a_document_with_everything_fits_the_schema() -> None:
    network = strange()
    results = [
        QueryResult("A[] p", "violated", 3, 4, 0.5, strange_trace(network, "goal")),
        QueryResult("A<> p", "violated", 3, 4, 0.5, strange_trace(network, "lasso")),
        QueryResult("E<> p", "error", 3, 4, 0.5, strange_trace(network), reason="broken"),
        QueryResult("E<> q", "unknown", 3, 4, 12.0, reason="out of time"),
        QueryResult(
            "sup: x, y", "satisfied", 3, 4, 0.5, None, (Supremum("x", 5, True), Supremum("y", None))
        ),
    ]
    made = document(network, *results)
    assert problems(made, CHECK) == []
    assert made["summary"] == {"satisfied": 1, "violated": 2, "unknown": 1, "error": 1}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "check/2"),
        (("queries", 0, "verdict"), "maybe"),
        (("queries", 0, "states"), True),
        (("queries", 0, "trace", "delays", 2), 1.5),
        (("queries", 0, "trace", "steps", 1, "edges", 0, "process"), None),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: tuple[str | int, ...], value: object) -> None:
    made = document(database(), QueryResult("A[] p", "violated", 3, 4, 0.5, database_trace()))
    *way, last = path
    inner = made
    for key in way:
        inner = inner[key]
    inner[last] = value
    assert problems(made, CHECK)


def test_the_schema_describes_every_field() -> None:
    def walk(schema: Any) -> None:
        for part in schema.get("properties", {}).values():
            assert "$ref" in part or part["description"]
            walk(part)

    for schema in (CHECK, *CHECK["$defs"].values()):
        walk(schema)


def test_a_trace_is_exact_and_every_step_has_the_same_fields() -> None:
    made = document(database(), QueryResult("A[] p", "violated", 3, 4, 0.5, database_trace()))
    (query,) = made["queries"]
    trace = query["trace"]
    assert trace["delays"] == [2, 0, "3/2", 1]
    assert trace["duration"] == "9/2"
    assert trace["steps"][0] == {
        "locations": {"client": "initial", "db": "waiting", "one": "g", "two": "g"},
        "variables": {"sent": 0, "busy": 0},
        "zone": ["x == y"],
        "action": None,
        "edges": [],
    }
    step = trace["steps"][2]
    assert step["action"] == "req"
    assert [edge["process"] for edge in step["edges"]] == ["client", "db"]
    assert step["edges"][0]["update"] == "sent++"
    assert step["zone"] == ["y <= 2", "x == y"]


def test_what_is_not_there_is_null_or_left_out() -> None:
    made = document(
        database(),
        QueryResult("E<> p", "unknown", 1, 2, 0.25, reason="the budget of time is used up"),
        QueryResult("sup: x", "satisfied", 1, 2, 0.25, None, (Supremum("x", None),)),
    )
    first, second = made["queries"]
    assert first == {
        "query": "E<> p",
        "verdict": "unknown",
        "states": 1,
        "transitions": 2,
        "seconds": 0.25,
        "reason": "the budget of time is used up",
        "trace": None,
    }
    assert second["suprema"] == [{"expression": "x", "value": None, "strict": False}]
    assert "reason" not in second


def test_an_action_that_fails_leads_to_no_state() -> None:
    network = strange()
    trace = strange_trace(network)
    made = document(network, QueryResult("A[] p", "error", 1, 1, 0.5, trace))
    steps = made["queries"][0]["trace"]["steps"]
    assert len(steps) == 6
    assert "locations" not in steps[-1]
    assert steps[-1]["action"] == network.name
    assert Fraction(made["queries"][0]["trace"]["duration"]) == trace.duration
