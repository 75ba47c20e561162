"""sEOL: causes as formulas, and which of two is more general (Koelbl, section 4.4)."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from tests.causes.eol_strategies import (
    ACTIONS,
    CONJUNCTIONS,
    POSITIVE,
    TRACES,
    plain,
    plain_chains,
)
from tests.reference.eol import all_traces, chain_holds, holds, linear_extensions

from whence.causes.eol import Formula, print_formula
from whence.causes.eol_parser import parse_formula
from whence.causes.results import Absent, Cause, Event
from whence.causes.seol import (
    SubsumptionBudgetExceeded,
    formula_of,
    satisfies,
    separating_trace,
    strictly_subsumes,
    subsumes,
)
from whence.source import InputError, UnsupportedError

#: (4.1), (4.2) and (4.3).
PHI = parse_formula("Ca ; Cc & Ta ; Tc & Gf ; Tc")
PSI_1 = parse_formula("Ca ; Cc & Ta ; Tc & Gf ; Tc & Cc ; !Cl ; Tc")
PSI_2 = parse_formula("Ca ; Cc & Ta ; Tc & Gf ; Tc & Tc ; !Tl ; Cc")
CA, CC, TA, TC, GF = (Event(name) for name in ("Ca", "Cc", "Ta", "Tc", "Gf"))


def cause(*absent: Absent) -> Cause:
    return Cause(
        ident=1,
        events=(CA, CC, TA, TC, GF),
        order=frozenset({(CA, CC), (TA, TC), (GF, TC)}),
        traces=20,
        exact=True,
        absent=absent,
    )


# ------------------------------------------------------------------------------------- satisfaction


@given(formula=CONJUNCTIONS, trace=TRACES)
def test_chains_against_their_definition(formula: Formula, trace: list[str]) -> None:
    expected = all(chain_holds(trace, chain) for chain in plain_chains(formula))
    assert satisfies(trace, formula) == expected


@given(formula=POSITIVE, trace=TRACES)
def test_orders_mean_what_definition_10_says(formula: Formula, trace: list[str]) -> None:
    """Both through the automata: as the weaker side and as the stronger side of a comparison."""
    assert satisfies(trace, formula) == holds(trace, plain(formula))
    missing = separating_trace(formula, parse_formula("x ; x ; x"))
    assert missing is None or holds(missing, plain(formula))


@pytest.mark.parametrize(
    ("trace", "formula", "expected"),
    [
        ("Ca Ta Gf Cc Tc", PSI_1, True),
        # The counterexample to CC2(2) for (4.1), and its counterpart for the other order.
        ("Ca Ta Gf Cc Cl Tc", PHI, True),
        ("Ca Ta Gf Cc Cl Tc", PSI_1, False),
        ("Ca Ta Gf Cc Cl Ta Tc", PSI_1, False),
        ("Ca Ta Gf Tc Tl Cc", PSI_2, False),
        # Why (4.1) has to become two causes.
        ("Ca Ta Gf Tc Cc", PHI, True),
        ("Ca Ta Gf Tc Cc", PSI_1, False),
        ("Ca Ta Gf Tc Cc", PSI_2, True),
        # What is not between does no harm: before the car enters, after the train does.
        ("Cl Ca Cc Ta Gf Tc", PSI_1, True),
        ("Ca Cc Ta Gf Tc Cl", PSI_1, True),
        ("Ca Cc Ta Gf Tc Cl", parse_formula("Cc ; !Cl"), False),
        # The car may come back.
        ("Ca Cc Cl Ca Cc Ta Gf Tc", PSI_1, True),
    ],
)
def test_railroad(trace: str, formula: Formula, expected: bool) -> None:
    assert satisfies(trace.split(), formula) is expected


def test_the_causal_traces_of_the_railroad() -> None:
    """The 20 traces of Example 2, 12 of which section 4.4 lists for (4.2)."""
    order = [("Ca", "Cc"), ("Ta", "Tc"), ("Gf", "Tc")]
    traces = list(linear_extensions(["Ca", "Cc", "Ta", "Tc", "Gf"], order))
    assert len(traces) == 20
    assert all(satisfies(trace, PHI) for trace in traces)
    assert sum(satisfies(trace, PSI_1) for trace in traces) == 12
    assert sum(satisfies(trace, PSI_2) for trace in traces) == 8


# -------------------------------------------------------------------------------------- subsumption


@settings(max_examples=150)
@given(one=CONJUNCTIONS, other=CONJUNCTIONS)
def test_against_all_short_traces(one: Formula, other: Formula) -> None:
    found = separating_trace(one, other)
    chains, others = plain_chains(one), plain_chains(other)
    if found is None:
        for trace in all_traces([*ACTIONS, "x"], 4):
            if all(chain_holds(trace, chain) for chain in chains):
                assert all(chain_holds(trace, chain) for chain in others), trace
    else:
        assert all(chain_holds(found, chain) for chain in chains)
        assert not all(chain_holds(found, chain) for chain in others)
        for at in range(len(found)):
            without = found[:at] + found[at + 1 :]
            assert not all(chain_holds(without, chain) for chain in chains) or all(
                chain_holds(without, chain) for chain in others
            )


@pytest.mark.parametrize(
    ("general", "special"),
    [
        # The examples of section 4.4.
        ("a & b", "a ; b"),
        ("a", "a & c"),
        ("a ; !b", "a & !b"),
        # Orders follow from each other.
        ("a ; c", "a ; b & b#1 ; c & a#1 ; b#1 & a ; c"),
        ("a ; c", "(a & b) ; c"),
        ("a ; b", "a ; !c ; b"),
        ("!b ; a", "!b & a"),
        ("a ; !b ; c", "a ; (c ; c) & !b"),
        ("a#1", "a#2"),
        ("a", "a#2"),
        ("a ; a", "a#3"),
    ],
)
def test_strict_subsumption(general: str, special: str) -> None:
    one, other = parse_formula(general), parse_formula(special)
    assert strictly_subsumes(one, other)
    assert not subsumes(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(a & b) ; c", "a ; c & b ; c"),
        ("a ; (b & c)", "a ; b & a ; c"),
        ("a#2", "a ; a"),
        ("a ; !x ; a", "a ; !x ; a & a ; a"),
        ("a & !a", "b & !b"),
    ],
)
def test_equivalent(one: str, other: str) -> None:
    left, right = parse_formula(one), parse_formula(other)
    assert subsumes(left, right)
    assert subsumes(right, left)
    assert not strictly_subsumes(left, right)


def test_incomparable() -> None:
    """Section 4.4: a b c satisfies both, a c b and b c a one each."""
    one, other = parse_formula("b & a ; c"), parse_formula("a & b ; c")
    assert separating_trace(one, other) == ("a", "c", "b")
    assert separating_trace(other, one) == ("b", "c", "a")
    assert not subsumes(one, other)
    assert not subsumes(other, one)
    assert subsumes(PHI, PSI_1)
    assert subsumes(PHI, PSI_2)
    assert not subsumes(PSI_1, PSI_2)
    assert not subsumes(PSI_2, PSI_1)


def test_what_follows_from_several_orders_together() -> None:
    """No chain of the special one alone implies the general one."""
    general, special = parse_formula("a ; b ; c"), parse_formula("a ; b#1 & b#1 ; c")
    assert strictly_subsumes(general, special)
    # With another b for each, it does not follow.
    assert separating_trace(parse_formula("a ; b & b ; c"), general) == ("b", "c", "a", "b")


def test_large_formulas() -> None:
    chain = " ; ".join(f"e{n}" for n in range(29))
    wide = " & ".join(f"e{n} ; e28" for n in range(28))
    assert subsumes(parse_formula(wide), parse_formula(chain))
    found = separating_trace(parse_formula(wide), parse_formula(chain))
    assert found is not None
    assert len(found) == 29
    with pytest.raises(SubsumptionBudgetExceeded, match="after 50 combinations"):
        subsumes(parse_formula("x ; y"), parse_formula(f"{wide} & y"), budget=50)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a | b", "1:1: error: a disjunction is no sEOL formula"),
        ("c & (a ;< !b ;> c)", "1:6: error: an interval is no sEOL formula"),
        ("c & !(a & b)", "1:5: error: the negation of more than one event"),
        ("(a & b) ; !c", "1:11: error: a conjunction within an order that says what must not"),
        ("a ; (b & !c)", "1:6: error: a conjunction within an order that says what must not"),
        (" ; ".join(["(a & b)"] * 20), "an order of more than 4096 chains"),
    ],
)
def test_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as error:
        subsumes(parse_formula(text), parse_formula("a"))
    assert message in str(error.value)


# ------------------------------------------------------------------------------ causes as formulas


def test_formula_of_the_railroad_s_causes() -> None:
    formula = formula_of(cause())
    assert print_formula(formula) == "Ca ; Cc & (Ta & Gf) ; Tc"
    assert subsumes(PHI, formula)
    assert subsumes(formula, PHI)
    first = formula_of(cause(Absent("Cl", CC, TC)))
    assert print_formula(first, "unicode") == "Ca ⋏ Cc ∧ (Ta ∧ Gf) ⋏ Tc ∧ Cc ⋏ ¬Cl ⋏ Tc"
    assert subsumes(PSI_1, first)
    assert subsumes(first, PSI_1)


def test_absences_at_the_ends() -> None:
    formula = formula_of(
        cause(Absent("x", None, CA), Absent("y", TC, None), Absent("z", None, None))
    )
    assert print_formula(formula).endswith("& !x ; Ca & Tc ; !y & !z")
    trace = ["Ca", "Cc", "Ta", "Gf", "Tc"]
    assert satisfies(trace, formula)
    assert satisfies(["y", *trace, "x"], formula)
    assert not satisfies(["x", *trace], formula)
    assert not satisfies([*trace, "y"], formula)
    assert not satisfies([*trace, "z"], formula)


def test_actions_that_happen_several_times() -> None:
    """Section 4.2's trace with two gate failures, say: events have the numbers of section 4.3."""
    first, second, other = Event("a"), Event("a", 2), Event("b")
    twice = Cause(
        ident=1,
        events=(first, other, second),
        order=frozenset({(first, other), (other, second)}),
        traces=1,
        exact=True,
        absent=(Absent("c", other, second),),
    )
    formula = formula_of(twice)
    assert print_formula(formula) == "a#1 ; b ; a#2 & b ; !c ; a#2"
    assert satisfies("aba", formula)
    assert satisfies("acba", formula)
    assert not satisfies("abca", formula)
    assert not satisfies("aab", formula)


def test_a_cause_that_contradicts_itself() -> None:
    loop = Cause(
        ident=1, events=(CA, CC), order=frozenset({(CA, CC), (CC, CA)}), traces=1, exact=True
    )
    with pytest.raises(InputError, match="goes round in a circle: Ca, Cc"):
        formula_of(loop)
    with pytest.raises(InputError, match="speaks of Tl, which is no event of it"):
        formula_of(cause(Absent("x", Event("Tl"), None)))


@given(formula=CONJUNCTIONS)
def test_more_constraints_are_more_special(formula: Formula) -> None:
    """AND with anything else makes a formula more special, never more general."""
    text = print_formula(formula)
    assume("#" not in text)
    assert subsumes(formula, parse_formula(f"{text} & x ; a"))
