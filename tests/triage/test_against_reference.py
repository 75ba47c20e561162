"""Localization, proofs, explanations and classes against the definitions, on random automata."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import triage as reference
from tests.triage.strategies import HIGHEST, automata, to_automaton, to_trace, traces

from whence.model.prd import EventTrace
from whence.triage.classify import classify
from whence.triage.conditions import Cell
from whence.triage.describe import assertion_text
from whence.triage.explain import analyse
from whence.triage.irrelevance import Irrelevance
from whence.triage.localize import localize
from whence.triage.machine import Machine, prepared
from whence.triage.proofs import Hidden, proof_of, waits
from whence.triage.replay import END, replay
from whence.triage.results import Assertion, Explanation, Literal_
from whence.triage.verify import verify
from whence.zones.dates import FAR

#: Ticks in a unit of time; the moments of a run that matter are fewer.
GRID = 6
EXAMPLES = settings().max_examples


def contains(machine: Machine, cells: Sequence[Cell], config: reference.Config) -> bool:
    """Whether a configuration is in one of the cells, from what zones are."""
    _, memory, clocks = config
    ages = (0, *(Fraction(x * machine.scale, GRID) for x in clocks))
    for values, zone in cells:
        if not all(
            any(low <= x <= high for low, high in each)
            for x, each in zip(memory, values, strict=True)
        ):
            continue
        if all(
            raw == FAR
            or ages[i] - ages[j] < raw >> 1
            or (ages[i] - ages[j] == raw >> 1 and raw & 1)
            for i, row in enumerate(zone.tolist())
            for j, raw in enumerate(row)
        ):
            return True
    return False


def configs(automaton: reference.Automaton, step: int = 1) -> list[reference.Config]:
    """Configurations with clocks up to beyond all constants."""
    ticks = range(0, (automaton.largest + 1) * GRID + 1, step)
    return [
        (state, memory, clocks)
        for state in range(automaton.states)
        for memory in product(range(HIGHEST + 1), repeat=automaton.variables)
        for clocks in product(ticks, repeat=automaton.clocks)
    ]


@given(automata(), traces())
@settings(max_examples=4 * EXAMPLES)
def test_the_first_fault(automaton: reference.Automaton, trace: reference.Trace) -> None:
    found = localize(to_automaton(automaton), to_trace(trace)).faults
    expected = reference.first_fault(automaton, trace, GRID)
    if expected is None:
        assert not found
        return
    kind, number = expected
    fault = found[0]
    assert (len(trace[1]) if fault.index is None else fault.index) == number
    if kind == "time":
        assert fault.kind in ("late", "missing")
        assert fault.date == sum(trace[0][: number + 1])


@given(automata(), traces(3))
@settings(max_examples=EXAMPLES)
def test_strongest_postconditions(automaton: reference.Automaton, trace: reference.Trace) -> None:
    model, log = to_automaton(automaton), to_trace(trace)
    machine = prepared(model).machine(log)
    segment = next(iter(replay(machine, log)))
    reached = reference.initial(automaton, GRID)
    points = configs(automaton, 2)
    times, events = trace
    for gap, found in enumerate(segment.after):
        for config in points:
            assert contains(machine, found.get(config[0], []), config) == (config in reached)
        if gap == len(segment.before):
            break
        reached = reference.post_time(automaton, reached, times[gap], GRID)
        for config in points:
            inside = contains(machine, segment.before[gap].get(config[0], []), config)
            assert inside == (config in reached)
        if gap < len(events):
            reached = reference.post_event(automaton, reached, events[gap], GRID)


@given(automata(), traces(3), st.data())
@settings(max_examples=2 * EXAMPLES)
def test_escapes(
    automaton: reference.Automaton, trace: reference.Trace, data: st.DataObject
) -> None:
    """The complement of the interpolants: from where a run can continue, or leave them."""
    model, log = to_automaton(automaton), to_trace(trace)
    machine = prepared(model).machine(log)
    segment = next(iter(replay(machine, log)))
    if not segment.failed:
        return
    proof = proof_of(machine, segment)
    rest: list[int | reference.Event | None] = []
    inside: list[frozenset[int]] = []
    assertions = []
    times, events = trace
    for gap in range(proof.gaps - 1, -1, -1):
        if gap < len(proof.shapes):
            rest.insert(0, None if proof.shapes[gap] == END else events[gap])
            inside.insert(0, proof.after[gap + 1].states if gap + 1 < proof.gaps else frozenset())
            assertions.append((proof.before[gap], list(rest), list(inside)))
        rest.insert(0, times[gap])
        inside.insert(0, proof.before[gap].states)
        assertions.append((proof.after[gap], list(rest), list(inside)))
    points = configs(automaton)
    always = {
        config: all(
            _within(config, i, j, raw, machine.scale)
            for i, j, raw in machine.within[config[0]].tolist()
        )
        for config in (data.draw(st.sampled_from(points)) for _ in range(12))
    }
    for config in [config for config, usual in always.items() if usual]:
        for assertion, steps, states in assertions:
            if config[0] in assertion.states:
                escapes = contains(machine, assertion.escapes.get(config[0], []), config)
                assert escapes == reference.can_continue(automaton, config, steps, states, GRID)


def _within(config: reference.Config, i: int, j: int, raw: int, scale: int) -> bool:
    ages = (0, *(Fraction(x * scale, GRID) for x in config[2]))
    return ages[i] - ages[j] < raw >> 1 or (ages[i] - ages[j] == raw >> 1 and bool(raw & 1))


# -------------------------------------------------------------------------------- explanations


def as_formula(
    assertion: Assertion,
) -> dict[int, Any]:
    """An assertion as the reference understands it: state -> memory -> clocks -> formula."""

    def literal(each: Literal_, memory: tuple[int, ...], clocks: Sequence[Any]) -> Any:
        if each.variable:
            value = memory[int(each.variable[1:])]
            return z3.BoolVal(any(low <= value <= high for low, high in each.values))
        left = clocks[int(each.clock[1:])]
        if each.minus:
            left = left - clocks[int(each.minus[1:])]
        return reference.holds(left, each.operator, z3.RealVal(str(each.bound)))

    found = {}
    for state in assertion:

        def formula(memory: tuple[int, ...], clocks: Sequence[Any], state: Any = state) -> Any:
            clauses = [*state.clauses, *((each,) for each in state.always)]
            return z3.And(
                [z3.Or([literal(each, memory, clocks) for each in clause]) for clause in clauses]
            )

        found[int(state.state[1:])] = formula
    return found


def steps_of(explanation: Explanation, log: EventTrace) -> list[reference.Event | None]:
    """The events of the proof, None for the end of the trace."""
    gaps = len(explanation.gaps)
    kept = explanation.events[: gaps - explanation.of_time]
    found: list[reference.Event | None] = []
    for event in (log.events[n] for n in kept):
        value = event.fields["v"]
        assert isinstance(value, int)
        found.append((event.label, value))
    if not explanation.of_time and len(found) < gaps:
        found.append(None)
    return found


@given(automata(), traces(5))
@settings(max_examples=4 * EXAMPLES)
def test_what_is_left_fails_at_its_end(
    automaton: reference.Automaton, trace: reference.Trace
) -> None:
    log = to_trace(trace)
    for _, explanations in analyse(to_automaton(automaton), log)[:1]:
        assert explanations
        for explanation in explanations:
            configs = reference.initial(automaton, GRID)
            events = steps_of(explanation, log)
            for n, gap in enumerate(explanation.gaps):
                assert configs
                assert gap.time.denominator == 1
                configs = reference.post_time(automaton, configs, int(gap.time), GRID)
                if n < len(events):
                    assert configs
                    event = events[n]
                    if event is None:
                        configs = {c for c in configs if c[0] not in automaton.awaiting}
                    else:
                        configs = reference.post_event(automaton, configs, event, GRID)
            assert not configs


@given(automata(), traces(5))
@settings(max_examples=2 * EXAMPLES)
def test_what_is_dropped_is_irrelevant(
    automaton: reference.Automaton, trace: reference.Trace
) -> None:
    """By one of the two rules of section 4, in the proof of the whole trace."""
    model, log = to_automaton(automaton), to_trace(trace)
    machine = prepared(model).machine(log)
    segment = next(iter(replay(machine, log)))
    if not segment.failed:
        return
    proof = proof_of(machine, segment)
    ((_, explanations), *_) = analyse(model, log)
    after = [as_formula(assertion_text(machine, each)) for each in proof.after]
    before = [as_formula(assertion_text(machine, each)) for each in proof.before]
    for explanation in explanations:
        start = 0
        for gap in explanation.gaps:
            end = start + len(gap.dropped)
            if gap.dropped and gap.kept:
                assert gap.time == sum(trace[0][start : end + 1])
                assert reference.triple_is_valid(automaton, after[start], gap.time, before[end], 3)
            elif gap.dropped:
                assert any(
                    one and other and reference.implies(automaton, one, other)
                    for one in (after[start], before[start])
                    for other in (after[end], before[end])
                )
            start = end + 1


@given(automata(), traces(6))
@settings(max_examples=2 * EXAMPLES)
def test_what_is_known_of_other_events_is_right_for_these(
    automaton: reference.Automaton, trace: reference.Trace
) -> None:
    """Answers about irrelevance are kept, and used again for the same question."""
    model, log = to_automaton(automaton), to_trace(trace)
    machine = prepared(model).machine(log)
    segment = next(iter(replay(machine, log)))
    if not segment.failed:
        return
    proof = proof_of(machine, segment)
    irrelevance = Irrelevance(machine, proof, Hidden())
    for start in range(proof.gaps):
        for end in range(start + 1, proof.gaps):
            found = irrelevance.rule(start, end)
            assert found == Irrelevance(machine, proof, Hidden()).rule(start, end)
            amount = sum(proof.amounts[start : end + 1])
            if found == "wait":
                assert waits(machine, proof.after[start], amount, proof.before[end], Hidden())


@given(automata(), traces(5))
@settings(max_examples=EXAMPLES)
def test_explanations_are_valid_proofs(
    automaton: reference.Automaton, trace: reference.Trace
) -> None:
    model, log = to_automaton(automaton), to_trace(trace)
    for fault, explanations in analyse(model, log):
        for explanation in explanations:
            assert fault == explanation.fault
            assert not verify(model, log, explanation)
            assert all(explanation.after)
            events = steps_of(explanation, log)
            for n, gap in enumerate(explanation.gaps):
                before, after = as_formula(explanation.after[n]), as_formula(explanation.before[n])
                assert reference.triple_is_valid(automaton, before, gap.time, after, 3)
                if n == len(events):
                    assert not after
                    continue
                last = n + 1 == len(explanation.gaps)
                then = {} if last else as_formula(explanation.after[n + 1])
                assert reference.triple_is_valid(automaton, after, events[n], then, 3)


@given(automata(), st.lists(traces(3), min_size=2, max_size=4))
@settings(max_examples=EXAMPLES)
def test_classes_are_those_of_the_relation(
    automaton: reference.Automaton, logs: list[reference.Trace]
) -> None:
    """Explanations with the same events are in one class exactly if they satisfy the same atomic
    clock constraints."""
    model = to_automaton(automaton)
    explanations = [
        explanation
        for n, log in enumerate(logs)
        for _, found in analyse(model, to_trace(log, f"trace {n}"))
        for explanation in found
    ]
    classes = classify(explanations)
    for n, one in enumerate(explanations):
        for m, other in enumerate(explanations[:n]):
            same = classes.of[n] == classes.of[m]
            if one.template != other.template:
                assert not same
                continue
            atoms = [
                (bool(a.clock), a.first, a.last, a.operator, a.bound)
                for a in one.template.atoms
                if not a.minus
            ]
            times = [[gap.time for gap in each.gaps] for each in (one, other)]
            assert same == reference.similar(atoms, *times)
