"""The product of PRD automata (Becker, section 2): a step can be taken only if all can take it."""

from __future__ import annotations

from dataclasses import replace

from whence.model.prd import (
    ANY_EVENT,
    TRUE,
    AllOf,
    EventPattern,
    Guard,
    Initial,
    PrdAutomaton,
    PrdTransition,
    State,
)
from whence.source import Diagnostic, InputError
from whence.triage.patterns import labels_of
from whence.triage.words import pattern_text

__all__ = ["product"]


def product(first: PrdAutomaton, *others: PrdAutomaton) -> PrdAutomaton:
    """The states that can be reached, as pairs: `p0,p4`. Memory and clocks of equal names are
    shared, and must be declared alike."""
    found = first
    for other in others:
        found = _of_two(found, other)
    return found


def _of_two(first: PrdAutomaton, second: PrdAutomaton) -> PrdAutomaton:
    for mine, theirs in (
        (first.variables, second.variables),
        (first.clocks, second.clocks),
    ):
        known = {thing.name: thing for thing in mine}
        for thing in theirs:
            if known.get(thing.name, thing) != thing:
                raise InputError(
                    Diagnostic(f"{thing.name} is declared differently in two parts", thing.origin)
                )
    states_of_first = {state.name: state for state in first.states}
    states_of_second = {state.name: state for state in second.states}
    outgoing: tuple[dict[str, list[PrdTransition]], ...] = ({}, {})
    for part, automaton in zip(outgoing, (first, second), strict=True):
        for transition in automaton.transitions:
            part.setdefault(transition.source, []).append(transition)
    initial = tuple(
        Initial(f"{a.state},{b.state}", _conjunction(a.guard, b.guard))
        for a in first.initial
        for b in second.initial
    )
    pending = list(dict.fromkeys((a.state, b.state) for a in first.initial for b in second.initial))
    seen = set(pending)
    states: list[State] = []
    transitions: list[PrdTransition] = []
    joined: dict[tuple[int, int], EventPattern | None] = {}
    for pair in pending:  # which grows
        one, other = states_of_first[pair[0]], states_of_second[pair[1]]
        states.append(
            State(
                f"{one.name},{other.name}",
                " and ".join(text for text in (one.awaits, other.awaits) if text),
                tuple(dict.fromkeys(one.requirements + other.requirements)),
                one.origin,
            )
        )
        for a in outgoing[0].get(one.name, ()):
            for b in outgoing[1].get(other.name, ()):
                if (a.pattern is None) != (b.pattern is None):
                    continue
                pattern = None
                if a.pattern is not None and b.pattern is not None:
                    key = id(a.pattern), id(b.pattern)
                    if key not in joined:
                        joined[key] = _both(a.pattern, b.pattern)
                    pattern = joined[key]
                    if pattern is None:
                        continue
                transitions.append(_step(a, b, f"{one.name},{other.name}", pattern))
                target = a.target, b.target
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
    return PrdAutomaton(
        name=" × ".join(name for name in (first.name, second.name) if name),
        states=tuple(states),
        initial=initial,
        transitions=tuple(transitions),
        variables=tuple(dict.fromkeys(first.variables + second.variables)),
        clocks=tuple(dict.fromkeys(first.clocks + second.clocks)),
        origin=first.origin,
    )


def _step(
    a: PrdTransition, b: PrdTransition, source: str, pattern: EventPattern | None
) -> PrdTransition:
    assignments = {assignment.variable: assignment for assignment in a.assignments}
    for assignment in b.assignments:
        if assignments.setdefault(assignment.variable, assignment) != assignment:
            raise InputError(
                Diagnostic(f"two parts assign {assignment.variable} at once", b.origin)
            )
    return PrdTransition(
        source=source,
        target=f"{a.target},{b.target}",
        pattern=pattern,
        guard=_conjunction(a.guard, b.guard),
        assignments=tuple(assignments.values()),
        resets=tuple(dict.fromkeys(a.resets + b.resets)),
        requirements=tuple(dict.fromkeys(a.requirements + b.requirements)),
        name=" & ".join(name for name in (a.name, b.name) if name),
        origin=a.origin,
    )


def _conjunction(a: Guard, b: Guard) -> Guard:
    if a == TRUE:
        return b
    return a if b == TRUE else AllOf((a, b))


def _both(a: EventPattern, b: EventPattern) -> EventPattern | None:
    """What matches both; None where the labels exclude that."""
    if a in (ANY_EVENT, b):
        return b
    if b == ANY_EVENT:
        return a
    mine, theirs = labels_of(a), labels_of(b)
    if mine is not None and theirs is not None and not mine & theirs:
        return None
    # The one that tells more comes first: it is what people read.
    one, other = (a, b) if a.labels else (b, a)
    text = pattern_text(one)
    if other.labels or other.fields:
        text = f"{text} and {pattern_text(other)}"
    return replace(one, also=(*one.also, other), text=text)
