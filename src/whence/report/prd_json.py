"""A model of requirements as JSON, schema `prd/1`: see docs/json.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whence.model.prd import Clock, PrdAutomaton, PrdTransition, Variable
from whence.report.prd_words import guard_text, updates_text
from whence.source import Diagnostic
from whence.triage.models import PrdModel
from whence.triage.unfold import Unfolded
from whence.triage.words import pattern_text

__all__ = ["prd_document"]

Json = dict[str, Any]


def prd_document(
    model: PrdModel, checks: Iterable[Diagnostic], unfolded: Unfolded | None, version: str
) -> Json:
    """What `whence prd show --format json` prints, for `json.dumps`."""
    automaton = model.automaton
    variables = {variable.name: variable for variable in automaton.variables}
    return {
        "whence": version,
        "schema": "prd/1",
        "file": model.file,
        "name": automaton.name,
        "parameters": dict(model.parameters),
        "requirements": [{"id": ident, "text": text} for ident, text in model.requirements.items()],
        "parts": [part.name for part in model.parts],
        "states": _states(automaton, variables),
        "variables": [_variable(each) for each in automaton.variables],
        "clocks": [_clock(each) for each in automaton.clocks],
        "transitions": [_transition(each, variables) for each in automaton.transitions],
        "unfolded": None
        if unfolded is None
        else {
            "states": unfolded.states,
            "transitions": unfolded.transitions,
            "complete": unfolded.complete,
        },
        "diagnostics": [_diagnostic(each) for each in (*model.notes, *checks)],
    }


def _states(automaton: PrdAutomaton, variables: Mapping[str, Variable]) -> list[Json]:
    initial = {each.state: guard_text(each.guard, variables) for each in automaton.initial}
    return [
        {
            "name": state.name,
            "initial": state.name in initial,
            "initially": initial.get(state.name, ""),
            "awaits": state.awaits,
            "requirements": list(state.requirements),
        }
        for state in automaton.states
    ]


def _variable(each: Variable) -> Json:
    return {
        "name": each.name,
        "low": each.low,
        "high": each.high,
        "names": list(each.names),
        "initial": each.initial,
    }


def _clock(each: Clock) -> Json:
    return {"name": each.name, "initial": None if each.initial is None else str(each.initial)}


def _transition(each: PrdTransition, variables: Mapping[str, Variable]) -> Json:
    return {
        "source": each.source,
        "target": each.target,
        "event": None if each.pattern is None else pattern_text(each.pattern),
        "when": guard_text(each.guard, variables),
        "update": updates_text(each, variables),
        "requirements": list(each.requirements),
        "name": each.name,
        "file": each.origin.file,
        "line": each.origin.line,
    }


def _diagnostic(each: Diagnostic) -> Json:
    return {
        "severity": each.severity,
        "message": each.message,
        "file": each.origin.file,
        "line": each.origin.line,
        "element": each.element,
        "hint": each.hint,
    }
