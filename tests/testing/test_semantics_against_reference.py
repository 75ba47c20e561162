"""The interpretations of section 2 are differential tests of one another, and of a reference that
is written from the definitions."""

from __future__ import annotations

from itertools import product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.timed_charts import Moment, TimedReference
from tests.testing.strategies import charts

from whence.model.chart import Chart
from whence.solve.frames import Answer, Frames, Holds
from whence.testing.elaborate import elaborate
from whence.testing.logic import both, compare, negation, number, read
from whence.testing.model import TimedModel
from whence.testing.semantics.abstract import AbstractInterpreter
from whence.testing.semantics.partition import partition
from whence.testing.semantics.relation import Relation
from whence.testing.semantics.simulator import Illegal, Simulator, State

BUDGET = 10**8


def moment_of(model: TimedModel, state: State, now: int) -> Moment:
    at = tuple(
        (machine.name, machine.locations[machine.basics[value].number].ident)
        for machine, value in zip(model.machines, state, strict=False)
    )
    values = []
    for variable, value in zip(model.variables, state[len(model.machines) :], strict=True):
        if variable.role == "timer":
            name = variable.symbol.name.removeprefix("age of ")
            values.append(((variable.symbol.scope, name), now - value))
        elif variable.role != "choice":
            values.append(((variable.symbol.scope, variable.symbol.name), value))
    return Moment(at, tuple(values), now)


def same(model: TimedModel, state: State, moment: Moment) -> bool:
    """Whether they agree; ages stop growing."""
    mine = moment_of(model, state, moment.now)
    if mine.at != moment.at:
        return False
    caps = {
        (v.symbol.scope, v.symbol.name.removeprefix("age of ")): v.limits[1]
        for v in model.having("timer")
    }
    for key, value in moment.values:
        known = dict(mine.values)[key]
        if key in caps:
            value = moment.now - min(moment.now - value, caps[key])
        if known != value:
            return False
    return True


def all_choices(simulator: Simulator, state: State) -> list[State]:
    found = []
    for values in product(*(range(last + 1) for _, last in simulator.choices)):
        changed = list(state)
        for (place, _), value in zip(simulator.choices, values, strict=True):
            changed[place] = value
        found.append(tuple(changed))
    return found


def without_choices(simulator: Simulator, state: State) -> State:
    places = {place for place, _ in simulator.choices}
    return tuple(value for n, value in enumerate(state) if n not in places)


@given(charts(), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_the_simulator_does_what_the_definitions_say(chart: Chart, seed: int) -> None:
    model, reference, random = elaborate(chart), TimedReference(chart), Random(seed)
    simulator = Simulator(model)
    free = [v.limits for v in model.variables if v.free]
    state = simulator.initial([random.randint(*limits) for limits in free])
    now = 0
    # Timers hold when they were reset, so the reference keeps its own moment.
    moment = moment_of(model, state, now)
    for _ in range(25):
        expected = reference.discrete(moment)
        outcomes = []
        for chosen in all_choices(simulator, state):
            try:
                outcomes.append(simulator.step(chosen))
            except Illegal:
                continue
        if expected is None:
            assert outcomes == [None] * len(outcomes)
            limit = reference.limit(moment)
            if limit is not None:
                assert simulator.limit(state) == limit
            delay = random.randint(1, simulator.limit(state))
            state = simulator.wait(state, delay, [random.randint(*limits) for limits in free])
            now += delay
            inputs = dict(moment_of(model, state, now).values)
            values = tuple(
                (key, inputs[key] if key[1] in ("i", "b") else value)
                for key, value in moment.values
            )
            moment = Moment(moment.at, values, now)
            assert same(model, state, moment)
            continue
        reached = {without_choices(simulator, o) for o in outcomes if o is not None}
        assert None not in outcomes
        for one in expected:
            assert any(same(model, o, one) for o in outcomes if o is not None)
        for outcome in outcomes:
            assert outcome is not None
            assert any(same(model, outcome, one) for one in expected)
        if not reached:
            return
        state = outcomes[random.randrange(len(outcomes))]  # type: ignore[assignment]
        moment = next(one for one in expected if same(model, state, one))


def frames_of(relation: Relation) -> Frames:
    frames = Frames(
        relation.state, relation.primed, relation.auxiliary, relation.definitions, relation.step
    )
    frames.extend()
    return frames


@given(charts(), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_steps_are_those_that_phi_admits(chart: Chart, seed: int) -> None:
    """Every concrete step satisfies Phi, Phi has no other discrete step, and where the simulator
    finds a step illegal, Phi has none."""
    model, random = elaborate(chart), Random(seed)
    simulator, relation = Simulator(model), Relation(model)
    frames = frames_of(relation)
    free = [v.limits for v in model.variables if v.free]
    choices = {place for place, _ in simulator.choices}
    state = simulator.initial([random.randint(*limits) for limits in free])
    for _ in range(10):
        begin = frames.selector()
        frames.start_from(dict(zip(relation.state, state, strict=True)), begin)
        try:
            after = simulator.step(state)
        except Illegal:
            assert frames.ask((begin,), 1, BUDGET) is Answer.IMPOSSIBLE
            return
        discrete = after is not None
        if after is None:
            limit = simulator.limit(state)
            after = simulator.wait(state, random.randint(1, limit), [
                random.randint(*limits) for limits in free
            ])  # fmt: skip
        there = both(
            compare("==", read(symbol), number(value))
            for place, (symbol, value) in enumerate(zip(relation.state, after, strict=True))
            if place not in choices
        )
        hit, miss = frames.selector(), frames.selector()
        frames.require(Holds(there, 1), hit)
        frames.require(Holds(negation(there), 1), miss)
        assert frames.ask((begin, hit), 1, BUDGET) is Answer.POSSIBLE
        if discrete:
            assert frames.ask((begin, miss), 1, BUDGET) is Answer.IMPOSSIBLE
        state = after


@given(charts(), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_concrete_states_are_inside_the_abstract_ones(chart: Chart, seed: int) -> None:
    model, random = elaborate(chart), Random(seed)
    simulator, interpreter = Simulator(model), AbstractInterpreter(model)
    invariant = interpreter.invariant()
    cases = partition(interpreter, 500)
    free = [v.limits for v in model.variables if v.free]
    state = simulator.initial([random.randint(*limits) for limits in free])
    abstract = interpreter.initial()
    for _ in range(20):
        assert state in abstract
        assert state in invariant
        assert cases is None or any(state in case for case in cases)
        alone = interpreter.step(interpreter.of(state))
        try:
            after = simulator.step(state)
        except Illegal:
            return
        if after is None:
            delay = random.randint(1, simulator.limit(state))
            after = simulator.wait(state, delay, [random.randint(*limits) for limits in free])
        elif simulator.choices:
            after = random.choice(all_choices(simulator, after))
        assert after in alone
        abstract = interpreter.step(abstract)
        state = after
