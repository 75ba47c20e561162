"""The terms for the solver against the plain evaluator."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from tests.expr import test_evaluate_samples as s

from whence.expr.evaluate import apply_updates, evaluate, holds
from whence.expr.faults import EvaluationError
from whence.expr.smt import Encoder, Flavour, State
from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Conditional,
    Deadlock,
    DoWhile,
    Evaluate,
    Expr,
    Field,
    Function,
    If,
    Index,
    Quantifier,
    Return,
    Step,
    Symbol,
    Unary,
    While,
)
from whence.expr.types import BOOL, CONSTRAINT, INT32, VOID, ArrayType, IntType
from whence.source import UnsupportedError

z3: Any = pytest.importorskip("z3")

FLAVOURS = pytest.mark.parametrize("flavour", Flavour, ids=lambda flavour: flavour.value)


class Symbolic:
    """A state of free variables, and what they stand for."""

    def __init__(
        self, flavour: Flavour, sample: Any, functions: dict[Symbol, Function] = s.FUNCTIONS
    ) -> None:
        cells, clocks, locations, chosen = sample
        self.encoder = Encoder(
            flavour,
            address=s.ADDRESS,
            clock_of=s.CLOCK_OF,
            constants=s.CONSTANTS,
            functions=functions,
        )
        new = self.encoder.variable
        data = {address: new(f"d{address}") for address in range(len(cells))}
        of_clocks = {n: self.encoder.clock(f"c{n}") for n in (1, 2)}
        of_locations = [new(f"l{n}") for n in range(len(locations))]
        select = new("s")
        self.state = State(data, of_clocks, of_locations)
        self.bindings = {s.symbol(s.CHOSEN): select}
        integer = self.encoder.integer
        self._known = [
            *zip(data.values(), map(integer, cells), strict=True),
            *zip(of_clocks.values(), map(_real, clocks), strict=True),
            *zip(of_locations, map(integer, locations), strict=True),
            (select, integer(chosen)),
        ]

    def known(self, term: Any) -> Any:
        """The value of a term in the concrete state."""
        return z3.simplify(z3.substitute(term, *self._known))

    def integers(self, terms: Any) -> list[int]:
        return [self.encoder.to_python(self.known(term)) for term in terms]


def _real(value: Fraction) -> Any:
    return z3.RealVal(str(value))


def _rational(term: Any) -> Fraction:
    return Fraction(term.numerator_as_long(), term.denominator_as_long())


@FLAVOURS
@given(expr=s.expressions(effects=True), sample=s.states)
def test_values(flavour: Flavour, expr: Expr, sample: Any) -> None:
    symbolic = Symbolic(flavour, sample)
    value = symbolic.encoder.value(expr, symbolic.state, symbolic.bindings)
    defined = symbolic.known(value.defined)
    try:
        expected = evaluate(expr, s.store(*sample))
    except EvaluationError:
        assert z3.is_false(defined)
    else:
        assert z3.is_true(defined)
        assert symbolic.integers(value.cells) == [expected]


@FLAVOURS
@given(expr=s.constraints(), sample=s.states)
def test_conditions(flavour: Flavour, expr: Expr, sample: Any) -> None:
    symbolic = Symbolic(flavour, sample)
    truth = symbolic.encoder.condition(expr, symbolic.state, symbolic.bindings)
    defined = symbolic.known(truth.defined)
    try:
        expected = holds(expr, s.store(*sample))
    except EvaluationError:
        assert z3.is_false(defined)
    else:
        assert z3.is_true(defined)
        assert z3.is_true(symbolic.known(truth.term)) is expected


@FLAVOURS
@given(updates=s.updates(), sample=s.states)
def test_updates(flavour: Flavour, updates: list[Expr], sample: Any) -> None:
    symbolic = Symbolic(flavour, sample)
    after = symbolic.encoder.apply(updates, symbolic.state, symbolic.bindings)
    defined = symbolic.known(after.defined)
    store = s.store(*sample)
    try:
        apply_updates(updates, store)
    except EvaluationError:
        assert z3.is_false(defined)
        return
    assert z3.is_true(defined)
    assert symbolic.integers(after.state.data.values()) == store.data
    assert store.clocks is not None
    assert [_rational(symbolic.known(c)) for c in after.state.clocks.values()] == store.clocks[1:]


@FLAVOURS
def test_the_solver_finds_values(flavour: Flavour) -> None:
    encoder = Encoder(flavour, address=s.ADDRESS, functions=s.FUNCTIONS)
    state = State({address: encoder.variable(f"d{address}") for address in range(len(s.CELLS))})
    wanted = Binary("==", s.call(s.FIND, s.number(7)), s.number(2), type=BOOL)
    truth = encoder.condition(wanted, state)
    solver = z3.Solver()
    solver.add(truth.term, truth.defined)
    solver.add(*(encoder.within(state.data[n], type_) for n, type_ in enumerate(s.CELLS)))
    assert solver.check() == z3.sat
    at = s.ADDRESS[s.symbol(s.LIST)]
    model = solver.model()
    values = [
        encoder.to_python(model.eval(state.data[at + n], model_completion=True)) for n in range(3)
    ]
    assert values[2] == 7
    assert 7 not in values[:2]


def test_overflow_can_be_left_out() -> None:
    grown = Binary("+", s.A, s.number(1), type=INT32)
    for overflow, expected in ((True, z3.sat), (False, z3.unsat)):
        encoder = Encoder(Flavour.UNBOUNDED, address=s.ADDRESS, overflow=overflow)
        state = State({0: encoder.variable("a")})
        solver = z3.Solver()
        solver.add(z3.Not(encoder.value(grown, state).defined))
        assert solver.check() == expected


def _loop(condition: Expr) -> Function:
    return s.function("spin", INT32, [], s.block(While(condition, Evaluate(None)), Return(s.A)))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_loop(Binary("<", s.A, s.number(3), type=BOOL)), "number of iterations depends"),
        (_loop(s.number(1)), "so many iterations"),
    ],
)
def test_unsupported_loops(function: Function, words: str) -> None:
    encoder = Encoder(
        Flavour.UNBOUNDED, address=s.ADDRESS, functions={function.symbol: function}, unrolled=50
    )
    with pytest.raises(UnsupportedError, match=words):
        encoder.value(s.call(function), State({0: encoder.variable("a")}))


def test_unsupported_recursion_and_deadlock() -> None:
    symbol = s.function("f", INT32, [], Block((), ())).symbol
    again = Call("f", (), symbol, type=INT32)
    function = Function(symbol, (), s.block(Return(again)))
    encoder = Encoder(Flavour.BIT_PRECISE, functions={symbol: function})
    with pytest.raises(UnsupportedError, match="the recursive function `f`"):
        encoder.value(again, State())
    with pytest.raises(UnsupportedError, match="`deadlock`"):
        encoder.condition(Deadlock(type=CONSTRAINT), State())


def test_long_domains_are_refused() -> None:
    k = s.name("k", IntType(0, 10_000_000))
    everything = Quantifier("sum", "k", None, k, s.symbol(k), type=INT32)
    with pytest.raises(UnsupportedError, match="so many iterations"):
        Encoder(Flavour.UNBOUNDED).value(everything, State())


def test_reset_of_a_clock() -> None:
    encoder = Encoder(Flavour.BIT_PRECISE, address=s.ADDRESS, clock_of=s.CLOCK_OF)
    state = State({0: encoder.variable("a")}, {1: encoder.clock("x"), 2: encoder.clock("y")})
    after = encoder.apply([Assignment("=", s.X, s.A, type=s.X.type)], state)
    assert after.state.clocks[2].eq(state.clocks[2])
    solver = z3.Solver()
    solver.add(after.defined, after.state.clocks[1] < 0)
    assert solver.check() == z3.unsat


# ----------------------------------------------------------- what random samples have too little of

ROW = ArrayType(s.PAIR, IntType(1, 2))


def _row(index: Expr) -> Expr:
    return Index(s.GRID, index, type=ROW)


def _pair(row: Expr, index: Expr) -> Expr:
    return Index(row, index, type=s.PAIR)


def _id(pair: Expr) -> Expr:
    return Field(pair, "id", type=IntType(-3, 9))


def _is(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right, type=BOOL)


def _set(target: Expr, value: Expr, op: str = "=") -> Assignment:
    return Assignment(op, target, value, type=target.type)


def _extra_functions() -> dict[str, Function]:
    row, by = s.local("row", ROW, "set"), s.local("by", IntType(1, 2), "set")
    # Through a reference to a row that is not known, and nothing returned.
    put = s.function(
        "put",
        VOID,
        [(row, True), (by, False)],
        s.block(
            If(_is("<", s.B, s.number(0)), Return(None), None),
            Evaluate(_set(_id(_pair(row, by)), s.B)),
        ),
    )
    copy = s.local("copy", s.PAIR, "pick")
    pick = s.function(
        "pick",
        s.PAIR,
        [(copy, False)],
        s.block(If(s.FLAG, Return(copy), Return(_pair(_row(s.number(1)), s.number(2))))),
    )
    i = s.local("i", IntType(0, 9), "first")
    first = s.function(
        "first",
        INT32,
        [],
        s.block(
            DoWhile(
                s.block(
                    If(_is(">", Index(s.LIST, i, type=INT32), s.number(4)), Return(i), None),
                    Evaluate(Step("++", False, i, type=i.type)),
                ),
                _is("<", i, s.number(3)),
            ),
            While(
                _is("<", i, s.number(6)),
                s.block(
                    If(_is("==", s.B, i), s.block(Return(s.number(77))), None),
                    Evaluate(Step("++", False, i, type=i.type)),
                ),
            ),
            Return(Unary("-", i, type=INT32)),
            locals_=(s.Local(s.symbol(i)),),
        ),
    )
    low = s.local("low", ArrayType(IntType(3, 9), IntType(0, 1)), "start")
    start = s.function(
        "start",
        INT32,
        [],
        s.block(
            Evaluate(_set(Index(low, s.FLAG, type=IntType(3, 9)), s.B, "+=")),
            Return(s.add(Index(low, s.number(0), type=INT32), Index(low, s.number(1), type=INT32))),
            locals_=(s.Local(s.symbol(low)),),
        ),
    )
    narrow = s.local("narrow", IntType(-1, 1), "bump")
    bump = s.function(
        "bump", INT32, [(narrow, True)], s.block(Return(_set(narrow, s.number(1), "+=")))
    )
    return {of.symbol.name: of for of in (put, pick, first, start, bump)}


EXTRA = _extra_functions()
CALLS = {name: partial(s.call, of) for name, of in EXTRA.items()}
CASES: dict[str, list[Expr]] = {
    "choice of structs": [
        _set(
            _pair(_row(s.number(0)), s.number(1)),
            Conditional(
                s.FLAG,
                _pair(_row(s.CHOSEN), s.number(2)),
                _pair(_row(s.number(1)), s.number(1)),
                type=s.PAIR,
            ),
        )
    ],
    "known choice": [
        _set(
            _row(s.number(0)),
            Conditional(s.number(0), _row(s.number(7)), _row(s.number(1)), type=ROW),
        )
    ],
    "equal": [_set(s.FLAG, _is("==", _row(s.number(0)), _row(s.number(1))))],
    "different": [
        _set(
            s.FLAG,
            _is("!=", _pair(_row(s.number(0)), s.CHOSEN), _pair(_row(s.number(1)), s.number(1))),
        )
    ],
    "field of a choice": [
        _set(
            s.A,
            _id(
                Conditional(
                    s.FLAG,
                    _pair(_row(s.number(0)), s.number(1)),
                    _pair(_row(s.number(1)), s.number(1)),
                    type=s.PAIR,
                )
            ),
        )
    ],
    "choice of truths": [
        _set(s.FLAG, Conditional(_is("<", s.B, s.number(0)), s.FLAG, _is(">", s.A, s.B), type=BOOL))
    ],
    "known choice of truths": [
        _set(s.A, _is("&&", Conditional(s.number(1), s.FLAG, s.FLAG, type=BOOL), s.number(1)))
    ],
    "reference to a row": [CALLS["put"](_row(s.CHOSEN), s.add(s.CHOSEN, s.number(1)))],
    "struct result": [
        _set(
            _pair(_row(s.number(0)), s.number(1)),
            CALLS["pick"](_pair(_row(s.number(1)), s.number(1))),
        )
    ],
    "field of a result": [_set(s.A, _id(CALLS["pick"](_pair(_row(s.number(0)), s.number(2)))))],
    "do while": [_set(s.A, CALLS["first"]())],
    "locals out of the way of zero": [_set(s.A, CALLS["start"]())],
    "two ranges": [_set(s.A, CALLS["bump"](s.B))],
    "assigned struct as value": [
        _set(_row(s.number(0)), _set(_row(s.number(1)), _row(s.CHOSEN))),
    ],
    "assignment as target": [_set(_set(s.B, s.CHOSEN), s.number(3), "+=")],
    "step as target": [_set(Step("++", True, s.B, type=s.B.type), s.CHOSEN, "*=")],
}


@FLAVOURS
@pytest.mark.parametrize("case", CASES)
@settings(max_examples=25)
@given(sample=s.states)
def test_special_cases(flavour: Flavour, case: str, sample: Any) -> None:
    functions = {of.symbol: of for of in EXTRA.values()}
    symbolic = Symbolic(flavour, sample, functions)
    after = symbolic.encoder.apply(CASES[case], symbolic.state, symbolic.bindings)
    defined = symbolic.known(after.defined)
    store = s.store(*sample)
    store.functions = functions
    try:
        apply_updates(CASES[case], store)
    except EvaluationError:
        assert z3.is_false(defined)
        return
    assert z3.is_true(defined)
    assert symbolic.integers(after.state.data.values()) == store.data


def test_a_choice_of_what_to_change() -> None:
    choice = Conditional(s.FLAG, s.A, s.B, type=INT32)
    encoder = Encoder(Flavour.UNBOUNDED, address=s.ADDRESS)
    state = State({address: encoder.variable(f"d{address}") for address in range(len(s.CELLS))})
    with pytest.raises(UnsupportedError, match="a choice of what to change"):
        encoder.apply([_set(choice, s.number(1))], state)
