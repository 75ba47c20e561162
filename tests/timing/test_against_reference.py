"""Ranges and repairs against the reference with quantifiers, on random traces."""

from __future__ import annotations

from hypothesis import given, settings
from tests.reference import timing as reference
from tests.timing.strategies import to_xml, traces

import whence
from whence.model.trace import EdgeUse, TimedTrace, Transition
from whence.timing.elements import Reset, Urgency, WrittenComparison
from whence.timing.model import TimedModel
from whence.timing.ranges import causal_ranges
from whence.timing.results import SINGLE_KINDS, Kind
from whence.timing.search import Found, RepairSearch
from whence.timing.system import Flip, NewOperator, Reference, Shift, System
from whence.timing.trace import diagnose

EXAMPLES = max(200, settings().max_examples * 5 // 2)


def system_of(trace: reference.Trace) -> System:
    model = TimedModel(whence.load_text(to_xml(trace), "random.xml").document)
    query = model.queries[0]
    assert not isinstance(query, Exception)
    transitions = [Transition("tau", (EdgeUse(0, edge),)) for edge in trace.edges]
    return System(diagnose(model.checker, query, transitions), model.elements)


@given(traces())
@settings(max_examples=EXAMPLES)
def test_ranges(trace: reference.Trace) -> None:
    if not reference.violable(trace):
        return
    found = causal_ranges(system_of(trace))
    assert found.complete
    assert found.causal_delays == reference.causal_delays(trace, reference.WAITED)
    ours = [
        reference.Range(
            r.delays,
            r.lower.value,
            r.lower.strict,
            None if r.upper is None else r.upper.value,
            r.upper is not None and r.upper.strict,
        )
        for r in found.ranges
    ]
    assert ours == list(reference.causal_ranges(trace, reference.WAITED))


def as_reference(system: System, found: Found) -> reference.Repair:
    elements = set()
    values: list[tuple[tuple[object, ...], object]] = []
    amount = 0
    for variation in found.variations:
        element = system.elements[variation.element]
        key: tuple[object, ...]
        match element:
            case WrittenComparison():
                owner = "invariant" if element.owner == "location" else "guard"
                key = (owner, element.index, element.number)
            case Reset():
                key = ("reset", element.index, element.clock)
            case Urgency():
                key = ("urgency", element.index)
        elements.add(key)
        match variation:
            case Shift():
                amount += abs(variation.amount)
            case NewOperator():
                values.append((key, variation.op))
            case Reference():
                values.append((key, variation.name.text))
            case Flip() if isinstance(element, Reset):
                values.append((key, element.update < 0))
            case Flip():
                assert isinstance(element, Urgency)
                values.append((key, not element.urgent))
    return reference.Repair(frozenset(elements), tuple(sorted(values, key=repr)), amount)


def compare_repairs(trace: reference.Trace, kind: Kind, max_changes: int) -> None:
    system = system_of(trace)
    outcome = RepairSearch(system, [kind], 10**6, max_changes, 10**9).run()
    assert outcome.complete_to == max_changes
    ours = {as_reference(system, found) for found in outcome.repairs}
    assert len(ours) == len(outcome.repairs)
    assert ours == reference.repairs(trace, kind, max_changes)


@given(traces())
@settings(max_examples=EXAMPLES)
def test_repairs(trace: reference.Trace) -> None:
    """Two changes, of each kind: they are of every size that a counterexample needs."""
    if not reference.violable(trace):
        return
    for kind in SINGLE_KINDS:
        compare_repairs(trace, kind, 2)


def test_a_trace_of_the_model_is_recognized() -> None:
    """The given trace is the one that is explained, also where it is not the shortest."""
    model = whence.load_text(
        """<nta><declaration>clock x;</declaration><template><name>P</name>
        <location id="a"><name>a</name></location><location id="b"><name>b</name></location>
        <init ref="a"/><transition><source ref="a"/><target ref="a"/></transition>
        <transition><source ref="a"/><target ref="b"/></transition></template>
        <system>system P;</system><queries><query><formula>A[] not P.b or x &lt; 3</formula>
        </query></queries></nta>"""
    )
    steps = tuple(Transition("tau", (EdgeUse(0, edge),)) for edge in (0, 0, 1))
    result = model.ranges(trace=TimedTrace((), steps, ()))
    assert result.trace is not None
    assert result.trace.transitions == steps
    assert result.causal_delays == (0, 1, 2, 3)
