"""What can be seen to be odd about a PRD automaton without running it.

Nondeterminism is nothing wrong (it stands for what cannot be observed), but should be meant; so
these are warnings, apart from a missing initial state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from whence.expr.scope import suggestion
from whence.model.prd import EventPattern, PrdAutomaton, PrdTransition
from whence.source import Diagnostic
from whence.triage.compatible import can_both_hold
from whence.triage.folding import reads_of
from whence.triage.overlaps import covers, overlap

__all__ = ["check_automaton", "strongly_connected"]

#: So many findings of one kind are listed.
_MANY = 50


def check_automaton(automaton: PrdAutomaton, *, thorough: bool = True) -> tuple[Diagnostic, ...]:
    """What is wrong or odd; not `thorough`: only what is wrong.

    Names that nothing has, and a missing initial state (errors); states that cannot be reached
    or left, or stop time, transitions of which either can be taken, patterns that overlap, and
    Δ-cycles that may not be idempotent (warnings)."""
    found = [*_names(automaton)]
    if found or not thorough:
        return tuple(found)
    for kind in (_dead_states, _time_stops, _choices, _overlaps, _cycles):
        listed = list(kind(automaton))
        found += listed[:_MANY]
        if len(listed) > _MANY:
            found.append(
                Diagnostic(f"{len(listed) - _MANY} more of these", automaton.origin,
                           severity="warning")
            )  # fmt: skip
    return tuple(found)


def _warning(message: str, about: PrdTransition | None, automaton: PrdAutomaton,
             hint: str = "") -> Diagnostic:  # fmt: skip
    origin = automaton.origin if about is None or not about.origin.line else about.origin
    return Diagnostic(message, origin, hint, severity="warning")


# ------------------------------------------------------------------------------------------ names


def _names(automaton: PrdAutomaton) -> Iterator[Diagnostic]:
    states = {state.name for state in automaton.states}
    variables = {variable.name for variable in automaton.variables}
    clocks = {clock.name for clock in automaton.clocks}
    if not automaton.initial:
        yield Diagnostic("there is no initial state", automaton.origin)
    for state in (initial.state for initial in automaton.initial):
        if state not in states:
            yield Diagnostic(f"unknown initial state `{state}`", automaton.origin,
                             suggestion(state, sorted(states)))  # fmt: skip
    for transition in automaton.transitions:
        for state in (transition.source, transition.target):
            if state not in states:
                yield Diagnostic(f"unknown state `{state}`", transition.origin,
                                 suggestion(state, sorted(states)))  # fmt: skip
        terms = [assignment.value for assignment in transition.assignments]
        named = reads_of(transition.guard, *terms)
        named |= {assignment.variable for assignment in transition.assignments}
        for name in sorted(named - variables):
            yield Diagnostic(f"unknown variable `{name}`", transition.origin,
                             suggestion(name, sorted(variables)))  # fmt: skip
        for name in sorted({*transition.resets} - clocks):
            yield Diagnostic(f"unknown clock `{name}`", transition.origin,
                             suggestion(name, sorted(clocks)))  # fmt: skip


# ----------------------------------------------------------------------------------------- states


def _dead_states(automaton: PrdAutomaton) -> Iterator[Diagnostic]:
    following: dict[str, list[str]] = defaultdict(list)
    for transition in automaton.transitions:
        following[transition.source].append(transition.target)
    pending = [initial.state for initial in automaton.initial]
    reached = set(pending)
    while pending:
        for target in following[pending.pop()]:
            if target not in reached:
                reached.add(target)
                pending.append(target)
    for state in automaton.states:
        if state.name not in reached:
            yield Diagnostic(f"no way leads to the state `{state.name}`", state.origin,
                             severity="warning")  # fmt: skip
        elif all(target == state.name for target in following[state.name]) and not any(
            t.pattern is not None for t in automaton.transitions if t.source == state.name
        ):
            yield Diagnostic(f"no event is possible in the state `{state.name}`", state.origin,
                             severity="warning")  # fmt: skip


def _time_stops(automaton: PrdAutomaton) -> Iterator[Diagnostic]:
    moving = {t.source for t in automaton.transitions if t.pattern is None}
    for state in automaton.states:
        if state.name not in moving:
            yield Diagnostic(
                f"time cannot pass in the state `{state.name}`",
                state.origin,
                "give it a transition on time, or say `time: free`",
                severity="warning",
            )


# ------------------------------------------------------------------------------------ transitions


def _by_source(automaton: PrdAutomaton) -> Iterator[list[PrdTransition]]:
    groups: dict[tuple[str, bool], list[PrdTransition]] = defaultdict(list)
    for transition in automaton.transitions:
        groups[transition.source, transition.pattern is None].append(transition)
    yield from groups.values()


def _pairs(group: Sequence[PrdTransition]) -> Iterator[tuple[PrdTransition, PrdTransition]]:
    """Pairs that can share a label: of thousands of transitions few do."""
    by_label: dict[str, list[int]] = defaultdict(list)
    anything: list[int] = []
    for at, transition in enumerate(group):
        pattern = transition.pattern
        labels = _labels(pattern) if pattern is not None else None
        if labels is None:
            others: Iterable[int] = range(at)
            anything.append(at)
        else:
            others = sorted({*anything, *(n for name in labels for n in by_label[name])})
            for name in labels:
                by_label[name].append(at)
        for other in others:
            yield group[other], transition


def _labels(pattern: EventPattern) -> frozenset[str] | None:
    labels = pattern.labels or None
    for part in pattern.also:
        more = _labels(part)
        if more is not None:
            labels = more if labels is None else labels & more
    return labels


def _same_result(one: PrdTransition, other: PrdTransition) -> bool:
    return (
        one.target == other.target
        and {*one.assignments} == {*other.assignments}
        and {*one.resets} == {*other.resets}
    )


def _choices(automaton: PrdAutomaton) -> Iterator[Diagnostic]:
    """Those of transitions that are called the same in many states are told once."""
    found: dict[tuple[str, ...], list[tuple[PrdTransition, PrdTransition]]] = {}
    for group in _by_source(automaton):
        for one, other in _pairs(group):
            if _same_result(one, other):
                continue
            events = one.pattern is None or other.pattern is None or overlap(
                one.pattern, other.pattern
            )  # fmt: skip
            if events and can_both_hold(one, other):
                key = (_called(one), _called(other), _shown(one), _shown(other))
                found.setdefault(key, []).append((one, other))
    for (one, other), *more in found.values():
        also = f" (and so in {len(more)} other state{'s' if len(more) > 1 else ''})" if more else ""
        yield _warning(
            f"nondeterminism: in `{one.source}`, {_shown(other)} can lead to `{one.target}` "
            f"({_called(one)}) and to `{other.target}` ({_called(other)}){also}",
            other,
            automaton,
        )


def _overlaps(automaton: PrdAutomaton) -> Iterator[Diagnostic]:
    seen: set[tuple[EventPattern, EventPattern]] = set()
    for group in _by_source(automaton):
        for one, other in _pairs(group):
            if one.pattern is None or other.pattern is None or one.pattern == other.pattern:
                continue
            key = (one.pattern, other.pattern)
            if key in seen or not overlap(*key):
                continue
            seen.add(key)
            if covers(*key) or covers(*reversed(key)) or _same_result(one, other):
                continue
            yield _warning(
                f"the patterns `{_shown(one)}` and `{_shown(other)}` overlap, "
                f"and neither covers the other (in `{one.source}`)",
                other,
                automaton,
            )


def _shown(transition: PrdTransition) -> str:
    pattern = transition.pattern
    if pattern is None:
        return "time"
    return pattern.text or " or ".join(sorted(pattern.labels)[:3]) or "any event"


def _called(transition: PrdTransition) -> str:
    place = f"line {transition.origin.line}" if transition.origin.line else ""
    return transition.name or place or "without a name"


# ----------------------------------------------------------------------------------------- cycles


def _cycles(automaton: PrdAutomaton) -> Iterator[Diagnostic]:
    """Δ-cycles are idempotent if they reset no clock and what they assign does not depend on what
    they assign (Becker et al., section 6, asks that repeating one gives nothing new). So these
    here are those that may not be; the replay finds out whether they are."""
    time = [transition for transition in automaton.transitions if transition.pattern is None]
    for component in strongly_connected(time):
        assigned = {a.variable for t in component for a in t.assignments}
        for transition in component:
            if transition.resets:
                yield _warning(
                    f"a Δ-cycle through `{transition.source}` resets "
                    f"{', '.join(transition.resets)}: repeating it may not be idempotent",
                    transition,
                    automaton,
                )
            for assignment in transition.assignments:
                if reads_of(assignment.value) & assigned:
                    yield _warning(
                        f"a Δ-cycle through `{transition.source}` computes "
                        f"`{assignment.variable}` from what it changes itself: "
                        "repeating it may not be idempotent",
                        transition,
                        automaton,
                    )


def strongly_connected(
    transitions: Sequence[PrdTransition],
) -> Iterator[tuple[PrdTransition, ...]]:
    """The transitions of each strongly connected component that has a cycle (Tarjan, without
    recursion)."""
    following: dict[str, list[str]] = defaultdict(list)
    for transition in transitions:
        following[transition.source].append(transition.target)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    component: dict[str, int] = {}
    for root in list(following):
        if root in index:
            continue
        work = [(root, iter(following[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            state, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(following.get(target, ()))))
                    break
                if target not in component:
                    low[state] = min(low[state], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    number = len(component)
                    while True:
                        member = stack.pop()
                        component[member] = number
                        if member == state:
                            break
    inside: dict[int, list[PrdTransition]] = defaultdict(list)
    for transition in transitions:
        if component[transition.source] == component[transition.target]:
            inside[component[transition.source]].append(transition)
    yield from (tuple(found) for _, found in sorted(inside.items()))
