"""Static questions about patterns and guards, against trying all events and values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from tests.reference.prd_patterns import captured, guard_holds, matches

from whence.model.prd import (
    AllOf,
    AnyOf,
    Arithmetic,
    Assignment,
    Captured,
    Clock,
    ClockBound,
    Comparison,
    Constant,
    EventPattern,
    FieldPattern,
    Guard,
    Initial,
    Not,
    PrdAutomaton,
    PrdTransition,
    Read,
    State,
    Term,
    Variable,
)
from whence.triage.checks import check_automaton
from whence.triage.compatible import can_both_hold
from whence.triage.folding import all_of, any_of, folded, negated
from whence.triage.overlaps import covers, joined, overlap
from whence.triage.unfold import unfold

# ---------------------------------------------------------------------------------------- patterns

LABELS = ("req a", "req b")
VALUES = (None, 0, 1, 2, 3, "on", b"\x01", b"\x01\x02", b"\x03\x02")
EVENTS = [
    (label, {name: value for name, value in (("f", one), ("g", other)) if value is not None})
    for label, one, other in product(LABELS, VALUES, VALUES)
]
FIELDS = st.builds(
    FieldPattern,
    st.sampled_from("fg"),
    st.frozensets(st.sampled_from((0, 1, 2, "on")), max_size=2),
    st.sampled_from(((), ((0, 1),), ((2, 3),), ((1, 2), (3, 3)))),
    st.just(""),
    st.just(""),
    st.booleans(),
) | st.builds(
    lambda name, regex, required: FieldPattern(name, regex=regex, required=required),
    st.sampled_from("fg"),
    st.sampled_from(
        (r"\x01.*", r"[\x01-\x02]\x02", r"(?P<v>.)", r"\x03.", r"(?P<v>[\x02-\x03])(?P<w>.{1})",
         r".*")
    ),
    st.booleans(),
)  # fmt: skip
SIMPLE = st.builds(
    EventPattern,
    st.frozensets(st.sampled_from(LABELS), max_size=2),
    st.lists(FIELDS, max_size=2, unique_by=lambda field: field.name).map(tuple),
)
PATTERNS = st.builds(
    EventPattern,
    st.frozensets(st.sampled_from(LABELS), max_size=2),
    st.lists(FIELDS, max_size=2, unique_by=lambda field: field.name).map(tuple),
    st.lists(SIMPLE, max_size=1).map(tuple),
    st.lists(SIMPLE, max_size=2).map(tuple),
)


@given(PATTERNS, PATTERNS)
def test_what_overlaps(one: EventPattern, other: EventPattern) -> None:
    both = [event for event in EVENTS if matches(one, *event) and matches(other, *event)]
    if both:
        assert overlap(one, other)
    whole = joined(one, other)
    assert [event for event in EVENTS if whole is not None and matches(whole, *event)] == both


@given(PATTERNS, PATTERNS)
def test_what_covers(large: EventPattern, small: EventPattern) -> None:
    if covers(large, small):
        assert all(matches(large, *event) for event in EVENTS if matches(small, *event))


def payload(regex: str) -> EventPattern:
    return EventPattern(fields=(FieldPattern("payload", regex=regex),))


def test_bytes_are_decided() -> None:
    assert not overlap(payload(r"\x22\xf1\x90"), payload(r"\x22\xf1\x8c"))
    assert not overlap(payload(r"\x22.."), payload(r"\x22."))
    assert overlap(payload(r"\x22.*"), payload(r"\x22(?P<v>.{2})"))
    assert not overlap(payload(r"\x22[\x00-\x0f].*"), payload(r"\x22(?P<v>[\x10-\x1f])"))
    assert covers(payload(r"\x22.*"), payload(r"\x22\xf1\x90"))
    assert not covers(payload(r"\x22\xf1.*"), payload(r"\x22.*"))


def test_fields_that_may_be_missing() -> None:
    def optional(value: int, required: bool = False) -> EventPattern:
        return EventPattern(fields=(FieldPattern("f", frozenset({value}), required=required),))

    # An event without the field matches both.
    assert overlap(optional(1), optional(2))
    assert not overlap(optional(1), optional(2, required=True))


# ------------------------------------------------------------------------------------------ guards

TERMS: st.SearchStrategy[Term] = st.one_of(
    st.integers(-1, 3).map(Constant),
    st.sampled_from((Read("n"), Read("m"), Captured("v"), Captured("w"))),
    st.builds(
        Arithmetic,
        st.sampled_from(("+", "-", "*", "//", "%", "&", "<<")),
        st.sampled_from((Read("n"), Captured("v"))),
        st.integers(0, 2).map(Constant),
    ),
)
OPERATORS = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
ATOMS: st.SearchStrategy[Guard] = st.builds(Comparison, TERMS, OPERATORS, TERMS) | st.builds(
    ClockBound, st.just("x"), OPERATORS, st.sampled_from((Fraction(0), Fraction(1), Fraction(2)))
)
GUARDS: st.SearchStrategy[Guard] = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(lambda found: AllOf(tuple(found))),
        st.lists(parts, max_size=3).map(lambda found: AnyOf(tuple(found))),
        parts.map(Not),
    ),
    max_leaves=5,
)
MEMORIES = [{"n": n, "m": m} for n, m in product(range(3), repeat=2)]
CAPTURES = [
    {name: value for name, value in (("v", v), ("w", w)) if value is not None}
    for v, w in product((None, 0, 2), repeat=2)
]
CLOCKS = [{"x": x / 2} for x in range(6)]
SITUATIONS = [*product(MEMORIES, CAPTURES, CLOCKS)]


@given(GUARDS, st.integers(0, 2))
def test_folding_keeps_the_meaning(guard: Guard, n: int) -> None:
    simple = folded(guard, {"n": n})
    for situation in SITUATIONS:
        if situation[0]["n"] == n:
            assert guard_holds(simple, *situation) == guard_holds(guard, *situation)


@given(GUARDS, GUARDS)
def test_joining_and_negating(one: Guard, other: Guard) -> None:
    for situation in SITUATIONS:
        first, second = guard_holds(one, *situation), guard_holds(other, *situation)
        assert guard_holds(negated(one), *situation) == (not first)
        assert guard_holds(all_of(one, other), *situation) == (first and second)
        assert guard_holds(any_of(one, other), *situation) == (first or second)


@given(GUARDS, GUARDS)
def test_guards_that_can_both_hold(one: Guard, other: Guard) -> None:
    pattern = EventPattern(
        fields=(FieldPattern("f", capture="v"), FieldPattern("g", capture="w", required=False))
    )
    first = PrdTransition("p", "p", pattern, one)
    second = PrdTransition("p", "q", pattern, other)
    if any(guard_holds(one, *each) and guard_holds(other, *each) for each in SITUATIONS):
        assert can_both_hold(first, second)


def test_contradictions_are_seen() -> None:
    def can(one: Guard, other: Guard) -> bool:
        return can_both_hold(
            PrdTransition("p", "p", None, one), PrdTransition("p", "q", None, other)
        )

    n, m, v = Read("n"), Read("m"), Captured("v")
    assert not can(Comparison(n, "==", v), Comparison(v, "!=", n))
    assert not can(Comparison(n, "==", Constant(1)), Comparison(n, "!=", Constant(1)))
    assert not can(Comparison(n, "<", m), Comparison(n, ">=", m))
    assert not can(Comparison(n, ">", Constant(1)), Comparison(n, "<", Constant(2)))
    assert not can(ClockBound("x", ">", Fraction(1)), ClockBound("x", "<=", Fraction(1)))
    assert can(ClockBound("x", ">", Fraction(1)), ClockBound("x", "<", Fraction(2)))
    assert not can(
        AllOf((Comparison(n, ">=", Constant(0)), Comparison(n, "<=", Constant(1)))),
        AllOf((Comparison(n, "!=", Constant(0)), Comparison(n, "!=", Constant(1)))),
    )


# ---------------------------------------------------------------------------------------- automata


def found(automaton: PrdAutomaton) -> str:
    return "\n".join(each.message for each in check_automaton(automaton))


def automaton(*transitions: PrdTransition, initial: str = "p") -> PrdAutomaton:
    names = dict.fromkeys(name for t in transitions for name in (t.source, t.target))
    return PrdAutomaton(
        states=tuple(State(name) for name in names),
        initial=(Initial(initial),) if initial else (),
        transitions=transitions,
        variables=(Variable("n", 0, 3), Variable("m", 0, 3)),
        clocks=(Clock("x"),),
    )


A, B = EventPattern(frozenset({"req a"})), EventPattern(frozenset({"req b"}))


def test_states() -> None:
    text = found(
        automaton(
            PrdTransition("p", "q", A), PrdTransition("r", "p", A), PrdTransition("q", "q", None)
        )
    )
    assert "no way leads to the state `r`" in text
    assert "no event is possible in the state `q`" in text
    assert "time cannot pass in the state `p`" in text
    assert "time cannot pass in the state `q`" not in text


def test_names_that_nothing_has() -> None:
    text = found(automaton(PrdTransition("p", "q", A, Comparison(Read("k"), "==", Constant(1)))))
    assert text == "unknown variable `k`"
    assert found(automaton(PrdTransition("p", "p", A), initial="")) == "there is no initial state"


def test_choices_and_overlaps() -> None:
    narrow = EventPattern(frozenset({"req a"}), (FieldPattern("f", ranges=((0, 5),)),), text="f")
    wide = EventPattern(frozenset({"req a"}), (FieldPattern("f", ranges=((3, 9),)),), text="g")
    low, high = Comparison(Read("n"), "<", Constant(2)), Comparison(Read("n"), ">=", Constant(2))
    time = [PrdTransition(state, state, None) for state in "pq"]
    back = PrdTransition("q", "p", A)
    assert "nondeterminism: in `p`, f can lead to `q`" in found(
        automaton(PrdTransition("p", "q", narrow), PrdTransition("p", "p", narrow), back, *time)
    )
    decided = found(
        automaton(
            PrdTransition("p", "q", narrow, low), PrdTransition("p", "p", wide, high), back, *time
        )
    )
    assert decided == "the patterns `f` and `g` overlap, and neither covers the other (in `p`)"
    assert not found(
        automaton(PrdTransition("p", "q", A, low), PrdTransition("p", "p", A, high), back, *time)
    )


def test_cycles_of_time() -> None:
    add = Assignment("n", Arithmetic("+", Read("n"), Constant(1)))
    event = PrdTransition("p", "p", A)
    assert "computes `n` from what it changes itself" in found(
        automaton(event, PrdTransition("p", "p", None, assignments=(add,)))
    )
    assert "resets x" in found(automaton(event, PrdTransition("p", "p", None, resets=("x",))))
    other = Assignment("n", Read("m"))
    assert not found(automaton(event, PrdTransition("p", "p", None, assignments=(other,))))
    # Of two states: one assigns what the other reads.
    swapped = found(
        automaton(
            event,
            PrdTransition("p", "q", None, assignments=(Assignment("n", Read("m")),)),
            PrdTransition("q", "p", None, assignments=(Assignment("m", Read("n")),)),
            PrdTransition("q", "q", A),
        )
    )
    assert "a Δ-cycle through `p` computes `n`" in swapped
    # No cycle leads back here.
    assert not found(
        automaton(
            PrdTransition("p", "q", None, assignments=(add,), resets=("x",)),
            PrdTransition("q", "p", A),
            PrdTransition("q", "q", None),
        )
    )


# ---------------------------------------------------------------------------------------- unfolding

UPDATES = st.lists(
    st.builds(
        Assignment,
        st.sampled_from("nm"),
        st.one_of(
            st.integers(0, 4).map(Constant),
            st.just(Captured("v")),
            st.builds(Arithmetic, st.just("+"), st.just(Read("n")), st.just(Constant(1))),
        ),
    ),
    max_size=2,
    unique_by=lambda each: each.variable,
).map(tuple)
CAPTURING = EventPattern(frozenset({"req a"}), (FieldPattern("f", ranges=((0, 2),), capture="v"),))
MEMORY_GUARDS = st.builds(
    Comparison, st.sampled_from((Read("n"), Read("m"), Captured("v"))), OPERATORS,
    st.integers(0, 3).map(Constant),
)  # fmt: skip


@given(
    st.lists(
        st.builds(
            PrdTransition, st.sampled_from("pqr"), st.sampled_from("pqr"), st.just(CAPTURING),
            MEMORY_GUARDS, UPDATES,
        ),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_unfolding(transitions: list[PrdTransition]) -> None:
    """Against trying every event in every configuration."""
    model = PrdAutomaton(
        states=tuple(map(State, "pqr")),
        initial=(Initial("p"),),
        transitions=tuple(transitions),
        variables=(Variable("n", 0, 3, initial=0), Variable("m", 0, 3, initial=1)),
    )
    seen = {("p", (0, 1))}
    pending = [*seen]
    steps = set()
    for state, memory in pending:
        named = {"n": memory[0], "m": memory[1]}
        for number, transition in enumerate(transitions):
            for v in range(3):
                fields = {"f": v}
                assert matches(CAPTURING, "req a", fields)
                values = {name: int(value) for name, value in captured(CAPTURING, fields).items()}
                if transition.source != state or not guard_holds(
                    transition.guard, named, values, {}
                ):
                    continue
                after = dict(named)
                for each in transition.assignments:
                    match each.value:
                        case Constant(value):
                            after[each.variable] = value
                        case Captured():
                            after[each.variable] = v
                        case _:
                            after[each.variable] = named["n"] + 1
                if max(after.values()) > 3:
                    continue
                target = (transition.target, (after["n"], after["m"]))
                steps.add((state, memory, number, target))
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
    size = unfold(model)
    assert (size.states, size.transitions, size.complete) == (len(seen), len(steps), True)
