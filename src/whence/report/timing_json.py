"""Causal ranges and repairs as JSON, schemas `ranges/1` and `repair/1`: see docs/json.md and
:mod:`whence.report.timing_schema`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from whence.model.layout import layout_of
from whence.model.network import Network
from whence.model.trace import TimedTrace
from whence.report.json import trace_document
from whence.report.story import Story, tell
from whence.report.timing_words import range_words, state_words
from whence.timing.results import (
    CausalRange,
    Change,
    Limit,
    RangesResult,
    Repair,
    RepairResult,
)

__all__ = ["ranges_document", "repair_document"]

Json = dict[str, Any]


def _head(schema: str, file: str, network: Network, version: str) -> Json:
    return {"whence": version, "schema": schema, "file": file, "network": network.name}


def _delay(delay: Fraction) -> int | str:
    return delay.numerator if delay.denominator == 1 else str(delay)


def _delays(delays: Iterable[Fraction]) -> list[int | str]:
    return [_delay(delay) for delay in delays]


def _trace(trace: TimedTrace | None, network: Network) -> Json | None:
    return None if trace is None else trace_document(trace, network)


# ---------------------------------------------------------------------------------------- ranges


def ranges_document(file: str, network: Network, result: RangesResult, version: str) -> Json:
    """What `whence ranges --format json` prints, for `json.dumps`."""
    story = None if result.trace is None else tell(result.trace, network, layout_of(network))
    return {
        **_head("ranges/1", file, network, version),
        "query": result.query,
        "verdict": result.verdict,
        "causal_delays": [_causal_delay(delay, story) for delay in result.causal_delays],
        "ranges": [_range(found, story) for found in result.ranges],
        "always": result.always,
        "timed": result.timed,
        "complete": result.complete,
        "reason": result.reason,
        "seconds": result.seconds,
        "trace": _trace(result.trace, network),
    }


def _causal_delay(delay: int, story: Story | None) -> Json:
    return {"delay": delay, "state": "" if story is None else state_words(story, delay)}


def _range(found: CausalRange, story: Story | None) -> Json:
    return {
        "delays": list(found.delays),
        "lower": _limit(found.lower),
        "upper": _limit(found.upper),
        "text": str(found),
        "explanation": "" if story is None else " ".join(range_words(found, story)),
        "violating": _delays(found.violating),
        "satisfying": _delays(found.satisfying[0]) if found.satisfying else [],
        "alternatives": [_delays(delays) for delays in found.satisfying],
    }


def _limit(limit: Limit | None) -> Json | None:
    return None if limit is None else {"value": str(limit.value), "strict": limit.strict}


# --------------------------------------------------------------------------------------- repairs


def repair_document(
    file: str,
    network: Network,
    result: RepairResult,
    version: str,
    applied: Repair | None = None,
    further: Sequence[tuple[RepairResult, Repair | None]] = (),
) -> Json:
    """What `whence repair --format json` prints, for `json.dumps`.

    `applied` is the repair that was made, `further` are the rounds after it, if it was not the
    last one.
    """
    return {
        **_head("repair/1", file, network, version),
        **_round(result, network, applied),
        "rounds": [_round(round_, network, chosen) for round_, chosen in further],
    }


def _round(result: RepairResult, network: Network, applied: Repair | None) -> Json:
    return {
        "query": result.query,
        "verdict": result.verdict,
        "repairs": [_repair(repair, network) for repair in result.repairs],
        "applied": None if applied is None else applied.number,
        "always": result.always,
        "complete": result.complete,
        "complete_to": result.complete_to,
        "reason": result.reason,
        "seconds": result.seconds,
        "search_seconds": result.search_seconds,
        "trace": _trace(result.trace, network),
    }


def _repair(repair: Repair, network: Network) -> Json:
    found = repair.admissibility
    return {
        "number": repair.number,
        "kind": repair.kind,
        "changes": [_change(change) for change in repair.changes],
        "amount": repair.amount,
        "blocks": repair.blocks,
        "property": repair.verdict,
        "property_trace": _trace(repair.trace, network),
        "admissible": repair.admissible,
        "violations_only": None if found is None else found.violations_only,
        "test": None if found is None else found.test,
        "labels": None if found is None else found.labels,
        "witness": None if found is None or found.word is None else list(found.word),
        "witness_in": None if found is None else found.only_in,
        "witness_trace": None if found is None else _trace(found.trace, network),
        "admissible_reason": "" if found is None else found.reason,
        "other_queries": [
            {"query": query.query, "before": query.before, "after": query.after}
            for query in repair.other_queries
        ],
        "deadlock": {"before": repair.deadlock_before, "after": repair.deadlock_after},
    }


def _change(change: Change) -> Json:
    return {
        "kind": change.kind,
        "element": change.element,
        "before": change.before,
        "after": change.after,
        "amount": change.amount,
        "file": change.origin.file,
        "line": change.origin.line,
        "column": change.origin.column,
    }
