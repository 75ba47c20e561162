"""`ranges/1` and `repair/1` have the documented form, and are exact."""

import json
from typing import Any

import pytest
from tests.report.support import EVIL
from tests.report.timing_support import (
    ALONE,
    FILE,
    OPEN,
    QUERY,
    TOGETHER,
    evil,
    model,
    ranges,
    repairs,
    trace,
)

from whence.model.layout import layout_of
from whence.model.network import Network
from whence.model.trace import QueryResult
from whence.report.json import check_document
from whence.report.timing_json import ranges_document, repair_document
from whence.report.timing_schema import RANGES, REPAIR
from whence.timing.results import RangesResult, RepairResult

NETWORK = model().network
Json = dict[str, Any]

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def problems(value: Any, schema: Json, whole: Json, where: str = "$") -> list[str]:
    """What of the few keywords that the schemas use does not hold."""
    import re

    if "$ref" in schema:
        inner = whole["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return problems(value, inner, whole, where)
    found = []
    if "oneOf" in schema:
        fitting = [one for one in schema["oneOf"] if not problems(value, one, whole, where)]
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
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        found.append(f"{where}: too small")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} does not match")
    if isinstance(value, dict):
        found += [f"{where}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            found += problems(item, inner, whole, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            found += problems(item, schema["items"], whole, f"{where}[{number}]")
    return found


def of_ranges(result: RangesResult, network: Network = NETWORK) -> Json:
    """What a reader gets."""
    made: Json = json.loads(json.dumps(ranges_document(FILE, network, result, "1.2")))
    assert problems(made, RANGES, RANGES) == []
    return made


def of_repairs(result: RepairResult, network: Network = NETWORK, **more: Any) -> Json:
    made: Json = json.loads(json.dumps(repair_document(FILE, network, result, "1.2", **more)))
    assert problems(made, REPAIR, REPAIR) == []
    return made


def test_ranges_are_exact() -> None:
    made = of_ranges(ranges(ranges=(ALONE, TOGETHER, OPEN)))
    assert (made["schema"], made["query"], made["verdict"]) == ("ranges/1", QUERY, "violated")
    assert [delay["delay"] for delay in made["causal_delays"]] == [2, 4]
    assert made["causal_delays"][0]["state"] == "client is in reqSent and db in reqReceived"
    alone, together, open_ = made["ranges"]
    assert alone["lower"] == {"value": "2", "strict": False}
    assert alone["upper"] == {"value": "3", "strict": False}
    assert alone["text"] == "2 <= δ4 <= 3"
    assert alone["violating"] == [0, 0, 1, 1, "5/2"]
    assert alone["satisfying"] == [0, 0, 1, 1, 0]
    assert together["delays"] == [2, 4]
    assert together["alternatives"] == [[0, 0, 1, 1, "7/4"], [0, 0, "7/4", 1, 0]]
    assert open_["lower"] == {"value": "3/2", "strict": True}
    assert open_["upper"] is None
    assert open_["satisfying"] == [0, 0, "1/3"]
    assert "could not have gone on" in open_["explanation"]


def test_the_trace_is_that_of_check() -> None:
    result = QueryResult(QUERY, "violated", 1, 1, 0.5, trace())
    checked = check_document(FILE, NETWORK, layout_of(NETWORK), [result], "1.2")
    (query,) = json.loads(json.dumps(checked))["queries"]
    assert of_ranges(ranges())["trace"] == query["trace"]
    assert of_repairs(repairs())["trace"] == query["trace"]


def test_no_ranges() -> None:
    made = of_ranges(ranges(verdict="satisfied", trace=None, causal_delays=(), ranges=()))
    assert made["trace"] is None
    assert made["ranges"] == made["causal_delays"] == []
    made = of_ranges(ranges(complete=False, reason="out of time"))
    assert (made["complete"], made["reason"]) == (False, "out of time")


def test_repairs_have_all_that_was_found_out() -> None:
    made = of_repairs(repairs())
    assert (made["schema"], made["complete_to"], made["applied"]) == ("repair/1", 2, None)
    first, second, third, fourth, fifth = made["repairs"]
    assert first["changes"] == [
        {
            "kind": "bound",
            "element": "invariant of client.serReceiving",
            "before": "z <= 3",
            "after": "z <= 1",
            "amount": -2,
            "file": FILE,
            "line": 27,
            "column": 9,
        }
    ]
    assert (first["amount"], first["admissible"], first["witness"]) == (2, True, None)
    assert first["other_queries"] == [
        {"query": "E<> client.timeout", "before": "satisfied", "after": "violated"}
    ]
    assert (second["admissible"], second["witness_in"]) == (False, "original")
    assert second["witness"][1] == "req"
    assert second["witness_trace"]["duration"] == 2
    assert second["deadlock"] == {"before": "satisfied", "after": "violated"}
    assert third["property_trace"]["duration"] == 6
    assert (fourth["admissible"], fourth["admissible_reason"]) == (None, "out of time")
    assert (fifth["kind"], fifth["admissible"], fifth["test"]) == ("mixed", None, None)


def test_rounds() -> None:
    result = repairs()
    done = repairs(verdict="satisfied", trace=None, repairs=())
    made = of_repairs(result, applied=result.repairs[2], further=[(done, None)])
    assert made["applied"] == 3
    (last,) = made["rounds"]
    assert (last["verdict"], last["repairs"], last["applied"]) == ("satisfied", [], None)


def test_names_of_all_kinds() -> None:
    network, explained, repaired = evil(EVIL)
    assert of_ranges(explained, network)["reason"] == EVIL
    assert of_repairs(repaired, network)["repairs"][0]["blocks"] is True


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "repair/2"),
        (("verdict",), "maybe"),
        (("applied",), 0),
        (("repairs", 0, "admissible"), "yes"),
        (("repairs", 0, "witness_in"), "both"),
        (("repairs", 0, "changes", 0, "kind"), "mixed"),
        (("repairs", 1, "witness"), "req"),
        (("trace", "delays", 4), 2.5),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: tuple[str | int, ...], value: object) -> None:
    made: Any = of_repairs(repairs())
    *way, last = path
    inner = made
    for key in way:
        inner = inner[key]
    inner[last] = value
    assert problems(made, REPAIR, REPAIR)


def test_the_schemas_describe_every_field() -> None:
    def walk(schema: Any) -> None:
        for part in schema.get("properties", {}).values():
            assert "$ref" in part or part["description"]
            walk(part)

    for whole in (RANGES, REPAIR):
        for schema in (whole, *whole["$defs"].values()):
            walk(schema)
