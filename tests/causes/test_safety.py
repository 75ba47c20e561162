"""Safety properties: what is read, what is refused, and where bad prefixes end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.causes.strategies import systems, transition_system
from tests.reference.causes import System
from tests.reference.ltl import Letter, bad_prefixes, holds

from whence.causes.bad_prefixes import BAD, BadPrefixAutomaton, can_be_violated
from whence.causes.ctbs import causal_trace_backward_search
from whence.causes.safety import SafetyProperty, hazard_states, outlook, parse_safety
from whence.expr.ltl import MAX_DEPTH, Formula, parse_ltl
from whence.model.transitions import TransitionSystem
from whence.source import InputError, SourceText, UnsupportedError, UsageError

NAMES = ("p", "q")
letters = st.sampled_from([frozenset(), frozenset("p"), frozenset("q"), frozenset("pq")])
words = st.lists(letters, max_size=5)
loops = st.lists(letters, min_size=1, max_size=3)

safe_formulas = st.recursive(
    st.sampled_from(["p", "q", ("!", "p"), ("!", "q"), "p", "q", "true", "false"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["X", "G"]), inner),
        st.tuples(st.sampled_from(["&&", "||", "W", "R"]), inner, inner),
    ),
    max_leaves=4,
)
#: With these, negations can stand anywhere, and liveness comes up.
formulas = st.recursive(
    st.sampled_from(["p", "q"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["X", "F", "G", "!"]), inner),
        st.tuples(st.sampled_from(["&&", "||", "U", "W", "R", "->", "<->"]), inner, inner),
    ),
    max_leaves=5,
)


def made(formula: Any) -> Formula:
    """A tuple as the package has it; `p` is atom 0 and `q` atom 1."""
    if formula in ("true", "false"):
        return Formula(formula)
    if isinstance(formula, str):
        return Formula("atom", (), NAMES.index(formula))
    return Formula(formula[0], tuple(made(part) for part in formula[1:]))


def bits(letter: Letter) -> int:
    return sum(1 << NAMES.index(name) for name in letter)


def read(text: str) -> SafetyProperty:
    return parse_safety(SourceText(text, "property.txt"))


def is_safe(formula: Any, negated: bool = False) -> bool:
    """Whether there is no U in the negation normal form, in the order of its making."""
    match formula:
        case str():
            return True
        case ("!", f):
            return is_safe(f, not negated)
        case ("->", f, g):
            return is_safe(f, not negated) and is_safe(g, negated)
        case ("<->", *parts):
            return all(is_safe(part, side) for part in parts for side in (False, True))
        case (operator, *parts):
            if operator in ("F", "U") and not negated:
                return False
            if operator in ("G", "W", "R") and negated:
                return False
            return all(is_safe(part, negated) for part in parts)
    raise AssertionError(formula)


# ---------------------------------------------------------------------------------- bad prefixes


@given(safe_formulas, words, loops)
def test_words_are_refused_by_the_formula_and_the_automaton_alike(
    formula: Any, prefix: list[Letter], loop: list[Letter]
) -> None:
    automaton = BadPrefixAutomaton(made(formula))
    state = automaton.start
    for letter in prefix:
        state = automaton.step(state, bits(letter))
    seen = set()
    while state not in seen:
        seen.add(state)
        for letter in loop:
            state = automaton.step(state, bits(letter))
    assert (state == BAD) == (not holds(formula, prefix, loop))


@given(safe_formulas, words, loops)
def test_bad_prefixes_are_recognised_at_the_earliest_moment(
    formula: Any, word: list[Letter], loop: list[Letter]
) -> None:
    automaton = BadPrefixAutomaton(made(formula))
    states = [automaton.start]
    for letter in word:
        states.append(automaton.step(states[-1], bits(letter)))
    expected = bad_prefixes(formula, NAMES, [word[:n] for n in range(len(word) + 1)])
    assert [state == BAD for state in states] == expected


@given(safe_formulas)
def test_no_state_is_without_a_way_on(formula: Any) -> None:
    """Else a bad prefix would be seen too late. Also: whether there are bad prefixes at all."""
    automaton = BadPrefixAutomaton(made(formula))
    reached = [automaton.start]
    for state in reached:
        after = {automaton.step(state, letter) for letter in range(4)}
        reached += after - set(reached)
        assert state == BAD or after != {BAD}
    assert can_be_violated(made(formula)) == (BAD in reached)
    assert (outlook_of(formula) == "always violated") == (automaton.start == BAD)
    assert (outlook_of(formula) == "never violated") == (BAD not in reached)


def outlook_of(formula: Any) -> str:
    return outlook(SafetyProperty(SourceText(""), made(formula), ()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!p || q || (p W q)", "open"),
        ("(p W q) || !p && !q || X p", "open"),
        ("(p W q) || !p && !q || p && !q", "never violated"),
        ("X p || X !p", "never violated"),
        ("G X p && X X !p", "always violated"),
    ],
)
def test_outlooks(text: str, expected: str) -> None:
    assert outlook(read(text)) == expected


def test_informative_or_not() -> None:
    """The bad prefix is complete before it tells why: `G (p && X !p)` cannot hold at all, and
    after p, `G (p -> X (q && X (!q && X r && X !r)))` has no way out."""
    assert BadPrefixAutomaton(read("G (p && X !p)").formula).start == BAD
    automaton = BadPrefixAutomaton(read("G (p -> X (q && X (r && X r && X !r)))").formula)
    assert automaton.start != BAD
    assert automaton.step(automaton.start, 0b001) == BAD


def test_a_formula_can_be_too_large() -> None:
    text = " && ".join(f"(p{n} W q{n} || X r{n})" for n in range(25))
    with pytest.raises(UnsupportedError, match="too large"):
        BadPrefixAutomaton(read(text).formula)


# ---------------------------------------------------------------------------------- the product


@given(systems(largest=5), safe_formulas, st.data())
def test_hazards_are_where_bad_prefixes_end(
    system: System, formula: Any, data: st.DataObject
) -> None:
    """On each path of the system, and on no other, the product has a path to the same states."""
    states = st.sets(st.integers(0, system.states - 1))
    marks = {name: data.draw(states) for name in NAMES}
    model = transition_system(system)
    propositions = {n: np.isin(np.arange(system.states), [*marks[n]]) for n in NAMES}
    model = replace(model, propositions=MappingProxyType(propositions))
    prop = SafetyProperty(SourceText(""), made(formula), (SourceText("p"), SourceText("q")))
    product = hazard_states(model, prop)

    def letter(state: int) -> Letter:
        return frozenset(name for name in NAMES if state in marks[name])

    names = ("a", "b", "c", "d")
    expected: set[tuple[tuple[Any, ...], bool]] = set()
    paths: list[tuple[Any, ...]] = [(0,)]
    for _ in range(4):
        runs = [[letter(state) for state in path[::2]] for path in paths]
        bad = bad_prefixes(formula, NAMES, runs)
        expected |= set(zip(paths, bad, strict=True))
        paths = [
            (*path, action, target)
            for path, ended in zip(paths, bad, strict=True)
            if not ended
            for source, action, target in system.edges
            if source == path[-1]
        ][:300]
        if len(paths) == 300:
            return  # too many to look at
    found: set[tuple[tuple[Any, ...], bool]] = set()
    # A product state stands for the state that has its marks and its number: follow the actions.
    runs_of: list[tuple[tuple[Any, ...], int]] = [((0,), product.initial[0])]
    for _ in range(4):
        after: list[tuple[tuple[Any, ...], int]] = []
        for path, at in runs_of:
            found.add((path, bool(product.propositions["bad"][at])))
            leaving = np.flatnonzero(product.source == at)
            if product.propositions["bad"][at]:
                assert not len(leaving)
                continue
            # The product keeps the order of the transitions of a state.
            own = [edge for edge in system.edges if edge[0] == path[-1]]
            assert len(own) == len(leaving)
            for (_, action, target), number in zip(own, leaving.tolist(), strict=True):
                assert names[product.action[number]] == action
                after.append(((*path, action, target), int(product.target[number])))
        runs_of = after
    assert found == expected


def railroad() -> TransitionSystem:
    """The unguarded crossing of section 6.1."""
    edges = []
    train = {"away": ("Ta", "near"), "near": ("Tc", "in"), "in": ("Tl", "away")}
    car = {"away": ("Ca", "near"), "near": ("Cc", "in"), "in": ("Cl", "away")}
    for t in train:
        for c in car:
            edges.append(((t, c), train[t][0], (train[t][1], c)))
            if not (c == "near" and t == "in"):  # the car sees a train
                edges.append(((t, c), car[c][0], (t, car[c][1])))
    states = {(t, c) for t in train for c in car}
    return TransitionSystem.from_edges(
        edges,
        ("away", "away"),
        propositions={
            "Train.Tc": [s for s in states if s[0] == "in"],
            "Car.Cc": [s for s in states if s[1] == "in"],
            "Train.Ta": [s for s in states if s[0] == "near"],
        },
    )


def test_the_unguarded_crossing() -> None:
    """Section 6.1: one cause over {Ta, Tc, Ca, Cc} with three causal traces."""
    product = hazard_states(railroad(), read("G !(Train.Tc) || G !(Car.Cc)"))
    assert product.propositions["bad"].any()
    for text in ("always (!Train.Tc || !Car.Cc)", "never (Train.Tc) && (Car.Cc)"):
        assert read(text)
    prop = parse_safety(SourceText("G (Train.Tc -> !Car.Cc)"))
    found = causal_trace_backward_search(hazard_states(railroad(), prop))
    assert found.traces == {
        ("Ta", "Ca", "Cc", "Tc"),
        ("Ca", "Ta", "Cc", "Tc"),
        ("Ca", "Cc", "Ta", "Tc"),
    }


def test_hazards_with_a_memory() -> None:
    """No train before a car: that is violated by an order, in no particular state."""
    found = causal_trace_backward_search(hazard_states(railroad(), read("!Train.Ta W Car.Cc")))
    assert found.traces == {("Ta",)}


@pytest.mark.parametrize(
    ("text", "bad", "states"),
    [("true", False, 9), ("G (Train.Ta || !Train.Ta)", False, 9), ("false", True, 1)],
)
def test_formulas_that_need_no_system(text: str, bad: bool, states: int) -> None:
    atoms = {"Train.Ta || !Train.Ta": range(9)}
    system = railroad()
    system = replace(
        system,
        propositions=MappingProxyType(
            {**system.propositions, **{name: np.ones(9, bool) for name in atoms}}
        ),
    )
    product = hazard_states(system, read(text))
    assert product.propositions["bad"].all() == bad
    assert product.propositions["bad"].any() == bad
    assert product.states == states


def test_atoms_must_be_known_to_the_system() -> None:
    with pytest.raises(UsageError, match=r"property.txt:1:5.*`Gate.Gf` holds"):
        hazard_states(railroad(), read("G ! Gate.Gf"))


def test_marks_and_rates_go_along() -> None:
    system = replace(railroad(), rate=np.arange(17, dtype=np.float64)[: railroad().transitions])
    product = hazard_states(system, read("G !Train.Tc"))
    assert product.rate is not None
    assert len(product.rate) == product.transitions < system.transitions
    assert (product.propositions["Train.Tc"] == product.propositions["bad"]).all()


def test_large_systems_take_seconds() -> None:
    """Long and narrow, too."""
    states = 200_000
    source = np.repeat(np.arange(states, dtype=np.int32), 2)
    target = np.stack((np.arange(states) + 1, np.arange(states) // 2), 1).ravel() % states
    system = TransitionSystem(
        states=states,
        actions=railroad().actions,
        source=source,
        action=source % 5,
        target=target.astype(np.int32),
        initial=(0,),
        propositions=MappingProxyType(
            {"p": np.arange(states) % 7 == 0, "q": np.arange(states) == states - 1}
        ),
    )
    product = hazard_states(system, read("G (p -> X (!q W p))"))
    assert product.states == states
    assert product.propositions["bad"].sum() == 1


# ---------------------------------------------------------------------------------- reading


def shape(formula: Formula, atoms: Sequence[SourceText]) -> Any:
    if formula.operator == "atom":
        return atoms[formula.atom].text
    if formula.operator in ("true", "false"):
        return formula.operator
    return (formula.operator, *(shape(part, atoms) for part in formula.operands))


def parsed(text: str) -> Any:
    return shape(*parse_ltl(SourceText(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("G p && q", ("&&", ("G", "p"), "q")),
        ("p U q U r", ("U", "p", ("U", "q", "r"))),
        ("p U q && r W s", ("&&", ("U", "p", "q"), ("W", "r", "s"))),
        ("a -> b -> X c", ("->", "a", ("->", "b", ("X", "c")))),
        ("a || b && X c || d", ("||", "a", ("&&", "b", ("X", "c")), "d")),
        ("a <-> b -> c || d", ("<->", "a", ("->", "b", ("||", "c", "d")))),
        ("[] !<> p", ("G", ("!", ("F", "p")))),
        ("never p until q", ("U", ("G", ("!", "p")), "q")),
        ("always (p implies next q)", ("G", ("->", "p", ("X", "q")))),
        ("G !(Car.Cc && Train.Tc)", ("G", ("!", "Car.Cc && Train.Tc"))),
        ("G (x + 1 < 5 -> X y == -1)", ("G", ("->", "x + 1 < 5", ("X", "y == -1")))),
        ("G (x + 1) < (5)", ("G", "(x + 1) < (5)")),
        ("X P(1).cs", ("X", "P(1).cs")),
        ("X a[i && j] > 2 || Train.X", ("||", ("X", "a[i && j] > 2"), "Train.X")),
        ("G (Train.G)", ("G", "Train.G")),
        ("(forall (i : int[0,3]) a[i] == 0) W q", ("W", "forall (i : int[0,3]) a[i] == 0", "q")),
        ("((p)) R (q imply r);", ("R", "(p)", "q imply r")),
        ("p /* one */ W // two\n q", ("W", "p", "q")),
        ("(true) W false", ("W", "true", "false")),
    ],
)
def test_how_formulas_read(text: str, expected: Any) -> None:
    assert parsed(text) == expected


SPELLINGS = {
    "G": ["G", "[]", "always", "globally"],
    "F": ["F", "<>", "eventually", "finally"],
    "X": ["X", "next"],
    "!": ["!", "not"],
    "U": ["U", "until"],
    "W": ["W", "unless", "weak_until"],
    "R": ["R", "releases"],
    "&&": ["&&", "and"],
    "||": ["||", "or"],
    "->": ["->", "=>", "implies"],
    "<->": ["<->", "<=>", "iff"],
}


@given(formulas, words, loops, st.randoms(use_true_random=False))
def test_written_formulas_mean_the_same(
    formula: Any, prefix: list[Letter], loop: list[Letter], random: Any
) -> None:
    def write(formula: Any) -> str:
        if isinstance(formula, str):
            return formula
        operator = random.choice(SPELLINGS[formula[0]])
        parts = [write(part) for part in formula[1:]]
        if len(parts) == 1:
            return f"{operator} ({parts[0]})"
        return f" {operator} ".join(f"({part})" for part in parts)

    tree, atoms = parse_ltl(SourceText(write(formula)))

    def value(text: str, letter: Letter) -> bool:
        for ours, python in (("&&", " and "), ("||", " or "), ("!", " not ")):
            text = text.replace(ours, python)
        return bool(eval(text.strip(), {name: name in letter for name in NAMES}))

    def translated(word: list[Letter]) -> list[Letter]:
        return [frozenset(a.text for a in atoms if value(a.text, letter)) for letter in word]

    meaning = holds(shape(tree, atoms), translated(prefix), translated(loop))
    assert meaning == holds(formula, prefix, loop)


@given(formulas)
def test_liveness_is_refused(formula: Any) -> None:
    # Each atom in parentheses of its own, so that no part becomes an atom.
    def write(formula: Any) -> str:
        if isinstance(formula, str):
            return f"X {formula}"
        parts = [f"({write(part)})" for part in formula[1:]]
        return f"{formula[0]} {parts[0]}" if len(parts) == 1 else formula[0].join(parts)

    if is_safe(formula):
        assert read(write(formula))
    else:
        with pytest.raises(UnsupportedError, match="no safety property"):
            read(write(formula))


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("G (p -> F q)", "1:9: error: this is no safety property: `F q`", "!late W done"),
        ("G (p U q)", r"1:3: .*`\(p U q\)`", "`p W q` says the same"),
        ("!(G p) || X q", r"1:2: .*`\(G p\)`, negated,", "without the negation"),
        ("p -> !(q W X r)", r"1:7: .*`\(q W X r\)`, negated,", "weak until"),
        ("(G p) <-> q", r"1:1: .*`\(G p\)`, negated", ""),
        ("", "1:1: error: expected a state formula", "for example"),
        ("G", "1:2: .*expected a state formula .*nothing more", ""),
        ("p q", "1:3: .*expected an operator or the end of the formula, found `q`", ""),
        ("p && || q", r"1:6: .*expected a state formula .*found `\|\|`", ""),
        ("(p W q", r"1:1: .*`\(` is never closed", ""),
        ("p W q)", r"1:6: .*`\)` closes nothing", ""),
        ("(p W ]q)", "closes nothing", ""),
        ("(p X q) W r", "1:4: .*expected an operator or `", ""),
        ("()", "nothing in these parentheses", ""),
        ("!x < 5", "1:2: .*what does the `!`", "parentheses"),
        ("G forall (i : t) p(i)", "reaches how far", "parentheses"),
        ("p = 1", "1:3: .*unknown character `=`", "`==`"),
        ("□ p", "unknown character `□`", "write `G`"),
        ("a[] W b", r"1:2: .*expected an operator .*found `\[\]`", ""),
        ("(" * 200 + "X p" + ")" * 200, "more than 100 operators and parentheses within", ""),
        ("!" * 5000 + "p", "more than 100 operators and parentheses within", ""),
        (" -> ".join("p" * 5000), "more than 100 operators and parentheses within", ""),
        (" <-> ".join("p" * 5000), "more than 100 operators and parentheses within", ""),
    ],
)
def test_what_is_wrong_with_a_formula(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(text)
    assert re.search(re.escape(hint), caught.value.render())


def test_long_formulas_are_fine() -> None:
    assert outlook(read(" && ".join(f"(X p{n})" for n in range(3000)))) == "open"
    assert MAX_DEPTH < 3000
    deep = "p"
    for _ in range(40):
        deep = f"(X p <-> {deep})"
    assert read(deep)
    assert outlook(read("X p <-> X p")) == "never violated"


def test_atoms_are_there_once_with_their_places() -> None:
    prop = parse_safety(SourceText("G (p  <  3\n -> X (p < 3))", "f.txt", ((0, 7, 5),)))
    (atom,) = prop.atoms
    assert atom.text == "p  <  3"
    assert str(atom.origin(0)) == "f.txt:7:8"


SOUP = [
    "p",
    "q.r",
    "a[1]",
    "(",
    ")",
    "[]",
    "<>",
    "G",
    "X",
    "U",
    "W",
    "never",
    "&&",
    "||",
    "!",
    "->",
]
SOUP += ["<->", "<", "+", ",", ";", "forall", "true", ".", "'", "=", "?", ":"]


@given(st.lists(st.sampled_from(SOUP), max_size=9))
def test_nonsense_is_told_or_read(parts: list[str]) -> None:
    with suppress(InputError):
        assert outlook(read(" ".join(parts)))
