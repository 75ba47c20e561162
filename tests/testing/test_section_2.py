"""The formal definitions of section 2 of the report, one by one, worked out by hand."""

from __future__ import annotations

import pytest
from tests.testing.support import at, model, values

from whence.expr.intervals import Interval
from whence.solve.frames import Answer, Frames, Holds
from whence.testing.logic import compare, number, read
from whence.testing.model import TimedModel
from whence.testing.semantics.abstract import AbstractInterpreter
from whence.testing.semantics.definitions import do_actions, effect, lca
from whence.testing.semantics.relation import Relation
from whence.testing.semantics.simulator import Illegal, Simulator, State

HIERARCHY = """\
variables: {go: "input int[0,9]", x: int, y: output int, log: output int}
machines:
  M:
    initial: {to: A, do: x = 7}
    states:
      A:
        entry: log = 1
        exit: log = 2
        do: y = 1
        initial: {to: B, do: x = 8}
        states:
          B: {entry: x = 9, exit: x = 10}
          C: {entry: x = 11}
      D: {}
    transitions:
      - {from: A, to: D, when: go == 1}
      - {from: B, to: C, when: go == 1 || go == 2, priority: 1}
      - {from: B, to: D, when: go == 2 || go == 3, priority: 0}
      - {from: D, to: A, when: go == 4}
      - {from: A, to: A, when: go == 5}
      - {from: A, to: C, when: go == 6}
      - {from: A, internal: true, when: go == 7, do: x = 0}
"""


def settled(found: TimedModel, go: int = 0) -> tuple[Simulator, State]:
    """The state after the start, with an input that then changes."""
    simulator = Simulator(found)
    state = simulator.initial([0])
    while (after := simulator.step(state)) is not None:
        state = after
    return simulator, simulator.wait(state, 1, [go])


class TestHierarchy:
    found = model(HIERARCHY)
    machine = found.machines[0]

    def number(self, ident: str) -> int:
        return next(one.number for one in self.machine.locations if one.ident == ident)

    def test_basic_control_states_are_the_leaves(self) -> None:
        names = [one.ident for one in self.machine.basics]
        assert names == ["(initial)", "A.B", "A.C", "D"]
        assert self.machine.upward(self.number("A.B")) == (
            self.number("A.B"),
            self.number("A"),
            0,
        )

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ("A.B", "A.C", "A"),
            ("A.B", "D", ""),
            # The words of the definition: a location is not inside itself.
            ("A.B", "A.B", "A"),
            ("A", "A.C", ""),
            ("A", "A", ""),
        ],
    )
    def test_least_common_ancestor(self, one: str, other: str, expected: str) -> None:
        common = lca(self.machine, self.number(one), self.number(other))
        assert self.machine.locations[common].ident == expected

    def test_effects_come_in_order_exit_do_action_entry(self) -> None:
        def shown(transition: int, active: str) -> list[str]:
            one = self.machine.transitions[transition]
            found = effect(self.machine, one, self.number(active))
            return [f"{w.variable} {w.origin.line}" for w in found.writes]

        # From B to C: the exit of B, the do action of A, which stays active, the entry of C.
        assert shown(2, "A.B") == ["x 12", "y 9", "x 13"]
        # Out of A: the exits of B and A, outwards.
        assert shown(1, "A.B") == ["x 12", "log 8"]
        # Into A: its entry, then its initial transition, then the entry of B.
        assert shown(4, "D") == ["log 7", "x 10", "x 12"]
        assert [w.origin.line for w in do_actions(self.machine, self.number("A.C"))] == [9]

    def test_the_start_is_a_discrete_step_from_the_start_location(self) -> None:
        text = HIERARCHY.replace("{to: B, do: x = 8}", "B").replace("{to: A, do: x = 7}", "A")
        found = model(text)
        simulator = Simulator(found)
        state = simulator.initial([3])
        assert at(found, state) == ["(initial)"]
        after = simulator.step(state)
        assert after is not None
        assert at(found, after) == ["A.B"]
        assert values(found, after)["x"] == 9

    def test_writing_twice_is_a_racing_condition(self) -> None:
        simulator = Simulator(self.found)
        with pytest.raises(Illegal, match="`x` is assigned 7 and 8 in one step") as caught:
            simulator.step(simulator.initial([0]))
        assert caught.value.kind == "race"


PLAIN = HIERARCHY.replace("{to: B, do: x = 8}", "B").replace("{to: A, do: x = 7}", "A")


@pytest.mark.parametrize(
    ("go", "reached"),
    [
        (1, "D"),  # the higher-level transition goes first, though both guards hold
        (2, "D"),  # the better priority of two from the same location
        (3, "D"),
        (6, "A.C"),
        (7, "A.B"),  # internal: nothing is left
        (8, "A.B"),
    ],
)
def test_trigger_conditions(go: int, reached: str) -> None:
    found = model(PLAIN.replace(", exit: x = 10", "").replace("exit: log = 2", ""))
    simulator, state = settled(found, go)
    after = simulator.step(state)
    assert at(found, state if after is None else after) == [reached]


def test_self_transitions_leave_and_enter() -> None:
    """B is left with x = 10 and entered with x = 9 in one step: that they race shows that both
    are executed."""
    simulator, state = settled(model(PLAIN.replace("exit: log = 2", "")), 5)
    with pytest.raises(Illegal, match="`x` is assigned 10 and 9"):
        simulator.step(state)


def test_all_assignments_use_the_values_before() -> None:
    found = model(
        """\
variables: {go: "input int[0,1]", a: int = 1, b: int = 2}
machines:
  M:
    initial: P
    states: {P: {}, Q: {entry: b = a}}
    transitions: [{from: P, to: Q, when: go == 1, do: a = b}]
"""
    )
    simulator, state = settled(found, 1)
    after = simulator.step(state)
    assert after is not None
    assert (values(found, after)["a"], values(found, after)["b"]) == (2, 1)


TWO = """\
variables: {i: "input int[0,3]", x: int, y: int}
machines:
  M:
    variables: {t: timer}
    initial: P
    states: {P: {do: x = i}, Q: {}}
    transitions: [{from: P, to: Q, when: "elapsed(t, 50)", do: "reset(t)"}]
  N:
    variables: {u: timer}
    initial: P
    states: {P: {}, Q: {}}
    transitions:
      - {from: P, to: Q, when: "i == 3 && elapsed(u, 30)", do: DO}
      - {from: Q, to: P, when: "elapsed(u, 70)"}
"""


class TestSteps:
    found = model(TWO.replace("DO", "y = x"))

    def test_do_actions_are_steps_only_if_they_change_something(self) -> None:
        simulator, state = settled(self.found, 2)
        after = simulator.step(state)
        assert after is not None
        assert values(self.found, after)["x"] == 2
        assert simulator.step(after) is None

    def test_time_passes_to_the_next_timer_of_an_active_location(self) -> None:
        simulator, state = settled(self.found)
        # One millisecond has passed: 29 are left of 30. N.Q, with its 70, is not active.
        assert simulator.limit(state) == 29
        later = simulator.wait(state, 29, [0])
        assert simulator.limit(later) == 20
        end = simulator.wait(later, 20, [0])
        assert values(self.found, end)["M.age of t"] == 50
        stepped = simulator.step(end)
        assert stepped is not None
        assert values(self.found, stepped)["M.age of t"] == 0
        assert at(self.found, stepped) == ["Q", "P"]

    def test_a_discrete_step_takes_no_time_and_keeps_inputs(self) -> None:
        simulator, state = settled(self.found, 3)
        after = simulator.step(state)
        assert after is not None
        before, behind = values(self.found, state), values(self.found, after)
        assert before["i"] == behind["i"] == 3
        assert before["N.age of u"] == behind["N.age of u"] == 1

    def test_machines_step_together_and_read_the_values_before(self) -> None:
        simulator, state = settled(self.found)
        state = simulator.wait(state, 29, [3])
        after = simulator.step(state)
        assert after is not None
        assert at(self.found, after) == ["P", "Q"]
        assert (values(self.found, after)["x"], values(self.found, after)["y"]) == (3, 0)

    def test_two_machines_that_write_different_values_race(self) -> None:
        found = model(TWO.replace("DO", "x = 1"))
        simulator, state = settled(found)
        state = simulator.wait(state, 29, [3])
        with pytest.raises(Illegal, match="`x` is assigned 3 and 1"):
            simulator.step(state)

    def test_phi_bounds_the_time(self) -> None:
        """A wait of 29 ms exists and one of 30 does not."""
        relation = Relation(self.found)
        frames = Frames(
            relation.state, relation.primed, relation.auxiliary, relation.definitions, relation.step
        )
        frames.extend()
        _, state = settled(self.found)
        begin = frames.selector()
        frames.start_from(dict(zip(relation.state, state, strict=True)), begin)
        answers = []
        for delay in (0, 1, 29, 30):
            chosen = frames.selector()
            frames.require(Holds(compare("==", read(relation.delay), number(delay)), 0), chosen)
            answers.append(frames.ask((begin, chosen), 1, 10**7))
        no, yes = Answer.IMPOSSIBLE, Answer.POSSIBLE
        assert answers == [no, yes, yes, no]

    def test_what_may_be_written_keeps_its_value_in_the_abstract(self) -> None:
        simulator, state = settled(self.found)
        interpreter = AbstractInterpreter(self.found)
        late = simulator.wait(state, 29, [0])
        some = interpreter.of(late).join(interpreter.of(simulator.wait(state, 29, [3])))
        after = interpreter.step(some)
        assert after.controls[1] == {1, 2}
        values_after = {str(symbol): bounds for symbol, bounds in after.values.items()}
        # x = i by M's do action in any case, y = x only if N moves.
        assert values_after["x"] == Interval(0, 3)
        assert values_after["y"] == Interval(0, 0)


def test_overlapping_guards_without_priority_are_illegal() -> None:
    text = PLAIN.replace("priority: 1", "priority: 0")
    simulator, state = settled(model(text), 2)
    with pytest.raises(Illegal) as caught:
        simulator.step(state)
    assert caught.value.kind == "overlap"


def test_the_environment_may_choose() -> None:
    text = """\
variables: {lever: "input int[0,2]"}
machines:
  Driver:
    environment: true
    variables: {t: timer}
    initial: N
    states: {N: {}, L: {entry: lever = 1}, R: {entry: lever = 2}}
    transitions:
      - {from: N, to: L, when: "elapsed(t, 100, 200)"}
      - {from: N, to: R, when: "elapsed(t, 100, 200)"}
"""
    found = model(text)
    assert [v.name for v in found.variables if v.free] == [
        "Driver.choice 1",
        "Driver.choice 2",
        "Driver.choice 3",
    ]
    simulator = Simulator(found)
    state = simulator.step(simulator.initial([0, 0, 0]))
    assert state is not None
    # May from 100 ms on, must at 200 ms: time need not stop before.
    assert simulator.limit(state) == 200
    early, late = simulator.wait(state, 150, [0, 0, 0]), simulator.wait(state, 200, [0, 0, 0])
    assert simulator.step(early) is None
    reached = {
        (one, values(found, after)["lever"])
        for one in range(2)
        if (after := simulator.step(simulator.wait(state, 200, [0, 0, one]))) is not None
    }
    assert reached == {(0, 1), (1, 2)}
    assert simulator.step(late) is not None
