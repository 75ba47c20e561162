"""Results as JSON, schema `check/1`: see docs/json.md and :mod:`whence.report.schema`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from whence.explore.trace_json import trace_to_json
from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import QueryResult, TimedTrace, Verdict

__all__ = ["check_document", "trace_document"]

Json = dict[str, Any]

VERDICTS: tuple[Verdict, ...] = ("satisfied", "violated", "unknown", "error")


def check_document(
    file: str,
    network: Network,
    layout: Layout,
    results: Sequence[QueryResult],
    version: str,
) -> Json:
    """What `whence check --format json` prints, for `json.dumps`."""
    return {
        "whence": version,
        "schema": "check/1",
        "file": file,
        "network": network.name,
        "summary": {
            verdict: sum(result.verdict == verdict for result in results) for verdict in VERDICTS
        },
        "queries": [_query(result, network) for result in results],
    }


def _query(result: QueryResult, network: Network) -> Json:
    query: Json = {
        "query": result.query,
        "verdict": result.verdict,
        "states": result.states,
        "transitions": result.transitions,
        "seconds": result.seconds,
    }
    if result.reason:
        query["reason"] = result.reason
    if result.suprema:
        query["suprema"] = [
            {
                "expression": supremum.expression,
                "value": supremum.value,
                "strict": supremum.strict,
            }
            for supremum in result.suprema
        ]
    query["trace"] = None if result.trace is None else trace_document(result.trace, network)
    return query


def trace_document(trace: TimedTrace, network: Network) -> Json:
    document = trace_to_json(trace, network)
    steps: list[Json] = document["steps"]
    for step in steps:
        # The documented form: every step has the same fields, also the first.
        step.setdefault("action", None)
        step.setdefault("edges", [])
    duration: Fraction = trace.duration
    document["duration"] = duration.numerator if duration.denominator == 1 else str(duration)
    return document
