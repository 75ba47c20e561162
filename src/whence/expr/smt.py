"""Expressions as terms of z3, in two flavours behind one interface.

`bit-precise` computes with bit vectors of 32 bits, `unbounded` with mathematical integers; clocks
are real numbers in both.  A term alone says nothing where the evaluation of its expression is a
fault, so each comes with its definedness: the condition under which no fault happens.  With that
both flavours say the same.

Expressions are executed symbolically: memory maps each cell to a term, branches run on copies of
it that are merged with if-then-else afterwards, functions are inlined, loops unrolled.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from typing import Any, Final

from whence.expr import ieee_smt
from whence.expr.constants import default_cells
from whence.expr.evaluate import domain_of, type_of
from whence.expr.ieee import COMPARISONS, Format, format_of, operation_of
from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    BoolLiteral,
    Call,
    Conditional,
    Deadlock,
    DoWhile,
    Evaluate,
    Expr,
    Field,
    For,
    ForEach,
    Function,
    If,
    Index,
    InLocation,
    IntLiteral,
    Name,
    Quantifier,
    Return,
    Statement,
    Step,
    Symbol,
    Unary,
    While,
)
from whence.expr.types import (
    INT32,
    ArrayType,
    BoolType,
    ClockType,
    ConstraintType,
    DifferenceType,
    IntType,
    ScalarType,
    StructType,
    Type,
    VoidType,
    cells,
    named_cells,
)
from whence.source import Diagnostic, InputError, Origin, UnsupportedError

__all__ = ["Encoder", "Flavour", "State", "Term", "Truth", "Value", "z3_module"]

#: A term of z3, which has no precise types.
Term = Any

#: How many loop iterations are unrolled, all loops of one expression together.
UNROLLED: Final = 4096


class Flavour(Enum):
    BIT_PRECISE = "bit-precise"
    UNBOUNDED = "unbounded"


@cache
def z3_module() -> Any:
    """The solver, loaded when it is needed: it takes a while."""
    return importlib.import_module("z3")


@dataclass(frozen=True, slots=True)
class State:
    """A symbolic state: a term for each data cell by address, for each clock by number, and for
    the location of each process."""

    data: Mapping[int, Term] = field(default_factory=dict)
    clocks: Mapping[int, Term] = field(default_factory=dict)
    locations: Sequence[Term] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition: `term` is a Bool, meaningful where `defined` (a Bool) holds."""

    term: Term
    defined: Term


@dataclass(frozen=True, slots=True)
class Value:
    """One integer term a cell of the value."""

    cells: tuple[Term, ...]
    defined: Term


@dataclass(frozen=True, slots=True)
class Successor:
    """The state after updates."""

    state: State
    defined: Term


class Encoder:
    """Makes terms of checked expressions.

    `address`, `clock_of`, `constants` and `functions` are those of the network and its layout.
    With `overflow=False`, integers that do not fit into 32 bits no longer count as faults.
    """

    def __init__(
        self,
        flavour: Flavour,
        *,
        address: Mapping[Symbol, int] | None = None,
        clock_of: Sequence[int] = (),
        constants: Mapping[Symbol, tuple[int, ...]] | None = None,
        functions: Mapping[Symbol, Function] | None = None,
        overflow: bool = True,
        unrolled: int = UNROLLED,
    ) -> None:
        self.flavour = flavour
        self._z3 = z3_module()
        self._address = address or {}
        self._clock_of = clock_of
        self._constants = constants or {}
        self._functions = functions or {}
        self._overflow = overflow
        self._unrolled = unrolled

    # ------------------------------------------------------------------------------- building

    def integer(self, value: int) -> Term:
        if self.flavour is Flavour.BIT_PRECISE:
            # Only ordinals of floating-point numbers are wider.
            return self._z3.BitVecVal(value, 32 if -(2**31) <= value < 2**32 else 64)
        return self._z3.IntVal(value)

    def variable(self, name: str) -> Term:
        """A free integer."""
        if self.flavour is Flavour.BIT_PRECISE:
            return self._z3.BitVec(name, 32)
        return self._z3.Int(name)

    def clock(self, name: str) -> Term:
        """A free clock value; that it is not negative is the caller's to say."""
        return self._z3.Real(name)

    def within(self, term: Term, type_: Type) -> Term:
        """That an integer is in the range of a cell type."""
        lo, hi = _range_of(type_)
        if self.flavour is Flavour.BIT_PRECISE and (lo, hi) == (INT32.lo, INT32.hi):
            return self._z3.BoolVal(True)
        if self.flavour is Flavour.BIT_PRECISE and term.size() == 64:
            least, most = (self._z3.BitVecVal(bound, 64) for bound in (lo, hi))
            return self._z3.And(term >= least, term <= most)
        return self._z3.And(term >= self.integer(lo), term <= self.integer(hi))

    def to_python(self, term: Term) -> int:
        """The value of a numeral of this flavour's integer sort."""
        if self.flavour is Flavour.BIT_PRECISE:
            return int(term.as_signed_long())
        return int(term.as_long())

    # ------------------------------------------------------------------------------- encoding

    def condition(
        self, expr: Expr, state: State, bindings: Mapping[Symbol, Term] | None = None
    ) -> Truth:
        """A guard, invariant or state formula. `bindings` are the select variables."""
        run = self._run(state, bindings)
        term = run.truth(expr)
        return Truth(term, run.defined())

    def value(
        self, expr: Expr, state: State, bindings: Mapping[Symbol, Term] | None = None
    ) -> Value:
        run = self._run(state, bindings)
        value = run.cells_of(expr)
        return Value(value, run.defined())

    def apply(
        self, updates: Iterable[Expr], state: State, bindings: Mapping[Symbol, Term] | None = None
    ) -> Successor:
        """The state after evaluating the expressions one after the other."""
        run = self._run(state, bindings)
        for update in updates:
            run.cells_of(update)
        data = {address: run.memory[address] for address in state.data}
        return Successor(State(data, dict(run.clocks), state.locations), run.defined())

    def _run(self, state: State, bindings: Mapping[Symbol, Term] | None) -> _Run:
        run = _Run(
            self,
            self._z3,
            self._address,
            self._clock_of,
            self._constants,
            self._functions,
            state,
            self._overflow,
            self._unrolled,
        )
        for symbol, term in (bindings or {}).items():
            run.frame[symbol] = run.fresh(symbol.type, (term,))
        return run


def _range_of(type_: Type) -> tuple[int, int]:
    match type_:
        case IntType(lo, hi):
            return lo, hi
        case BoolType():
            return 0, 1
        case ScalarType(size=size):
            return 0, size - 1
        case _:
            return INT32.lo, INT32.hi


@dataclass(frozen=True, slots=True)
class _Place:
    """A value in memory whose address may depend on the state: of the alternatives' conditions,
    exactly one holds in an evaluation without fault."""

    alternatives: tuple[tuple[Term, int], ...]
    type: Type
    #: What a reference parameter stands for may have other ranges than it: these bind as well.
    beneath: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class _Snapshot:
    memory: dict[int, Term]
    clocks: dict[int, Term]
    live: Term
    result: tuple[Term, ...]


#: Below all addresses.
_NOWHERE: Final = -(2**62)

_COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})


class _Run:
    """One symbolic execution."""

    def __init__(
        self,
        encoder: Encoder,
        z3: Any,
        address: Mapping[Symbol, int],
        clock_of: Sequence[int],
        constants: Mapping[Symbol, tuple[int, ...]],
        functions: Mapping[Symbol, Function],
        state: State,
        overflow: bool,
        unrolled: int,
    ) -> None:
        self._encoder = encoder
        self._z3 = z3
        self._address = address
        self._clock_of = clock_of
        self._constants = constants
        self._functions = functions
        self._locations = state.locations
        self._overflow = overflow
        self._left = unrolled
        self._bits = encoder.flavour is Flavour.BIT_PRECISE
        self._true = z3.BoolVal(True)
        self._false = z3.BoolVal(False)
        self._path: list[Term] = []
        self._required: list[Term] = []
        self._active: list[Symbol] = []
        #: Constants and local variables live at negative addresses, counted down.
        self._next = -1
        #: Cells below this address belong to the function being executed.
        self._outside = _NOWHERE
        self._constant_at: dict[Symbol, int] = {}
        self.memory: dict[int, Term] = dict(state.data)
        self.clocks: dict[int, Term] = dict(state.clocks)
        self.frame: dict[Symbol, _Place] = {}
        # Of the function being executed: whether it has not returned yet, and what it returned.
        self._live: Term = self._true
        self._result: tuple[Term, ...] = ()

    # ------------------------------------------------------------------------ logic, numerals

    def _folded(self, term: Term, *operands: Term) -> Term:
        """`term`, computed at once if its operands are known: so loops see what they count."""
        z3 = self._z3
        if all(
            z3.is_bv_value(x) or z3.is_int_value(x) or z3.is_true(x) or z3.is_false(x)
            for x in operands
        ):
            return z3.simplify(term)
        return term

    def _and(self, *terms: Term) -> Term:
        kept = [term for term in terms if not self._z3.is_true(term)]
        if any(self._z3.is_false(term) for term in kept):
            return self._false
        if not kept:
            return self._true
        return kept[0] if len(kept) == 1 else self._z3.And(*kept)

    def _not(self, term: Term) -> Term:
        if self._z3.is_true(term):
            return self._false
        if self._z3.is_false(term):
            return self._true
        return self._z3.Not(term)

    def _or(self, *terms: Term) -> Term:
        kept = [term for term in terms if not self._z3.is_false(term)]
        if any(self._z3.is_true(term) for term in kept):
            return self._true
        if not kept:
            return self._false
        return kept[0] if len(kept) == 1 else self._z3.Or(*kept)

    def _if(self, condition: Term, then: Term, otherwise: Term) -> Term:
        then, otherwise = self._aligned(then, otherwise)
        if self._z3.is_true(condition) or then.eq(otherwise):
            return then
        if self._z3.is_false(condition):
            return otherwise
        # Truth values stay without if-then-else as far as possible.
        if self._z3.is_true(then):
            return self._or(condition, otherwise)
        if self._z3.is_false(then):
            return self._and(self._not(condition), otherwise)
        if self._z3.is_true(otherwise):
            return self._or(self._not(condition), then)
        if self._z3.is_false(otherwise):
            return self._and(condition, then)
        return self._z3.If(condition, then, otherwise)

    def _aligned(self, one: Term, other: Term) -> tuple[Term, Term]:
        """With as many bits each: ordinals of 64-bit numbers stand beside shorter literals."""
        if not self._bits or one.sort() == other.sort() or not self._z3.is_bv(one):
            return one, other
        width = max(one.size(), other.size())
        extend = self._z3.SignExt
        return (
            one if one.size() == width else extend(width - one.size(), one),
            other if other.size() == width else extend(width - other.size(), other),
        )

    def _int(self, value: int) -> Term:
        return self._encoder.integer(value)

    def _as_python(self, term: Term) -> int | None:
        if self._z3.is_bv_value(term) or self._z3.is_int_value(term):
            return self._encoder.to_python(term)
        return None

    def _from_truth(self, truth: Term) -> Term:
        return self._if(truth, self._int(1), self._int(0))

    def _nonzero(self, number: Term) -> Term:
        return self._folded(number != self._int(0), number)

    def _require(self, condition: Term) -> None:
        """From here on, `condition` is needed for the evaluation to be without fault."""
        if self._z3.is_true(condition):
            return
        self._required.append(self._or(self._not(self._and(*self._path)), condition))

    def defined(self) -> Term:
        return self._and(*self._required)

    # ------------------------------------------------------------------------------- branches

    def _either(
        self, condition: Term, then: Callable[[], Any], otherwise: Callable[[], Any]
    ) -> tuple[Any, Any]:
        """Execute both branches, each where it belongs; their results (None: not possible)."""
        if self._z3.is_true(condition):
            return then(), None
        if self._z3.is_false(condition):
            return None, otherwise()
        before = self._snapshot()
        self._path.append(condition)
        first = then()
        self._path.pop()
        after = self._snapshot()
        self._restore(before)
        self._path.append(self._not(condition))
        second = otherwise()
        self._path.pop()
        self._merge(condition, after)
        return first, second

    def _snapshot(self) -> _Snapshot:
        return _Snapshot(dict(self.memory), dict(self.clocks), self._live, self._result)

    def _restore(self, snapshot: _Snapshot) -> None:
        # Cells made since then stay: a place that the branch gave as its result may need them.
        self.memory.update(snapshot.memory)
        self.clocks.update(snapshot.clocks)
        self._live, self._result = snapshot.live, snapshot.result

    def _merge(self, condition: Term, other: _Snapshot) -> None:
        """Make the current state that of `other` where `condition` holds."""
        # On a branch that has returned, the function's own variables do not matter any more.
        # Not mixing them in keeps counters of loops known.
        there_only, here_only = self._z3.is_false(self._live), self._z3.is_false(other.live)
        for address, term in other.memory.items():
            local = address < self._outside
            if local and here_only:
                continue
            now = term if local and there_only else self.memory[address]
            self.memory[address] = self._if(condition, term, now)
        for clock, term in other.clocks.items():
            self.clocks[clock] = self._if(condition, term, self.clocks[clock])
        self._live = self._if(condition, other.live, self._live)
        pairs = zip(other.result, self._result, strict=True)
        self._result = tuple(self._if(condition, there, here) for there, here in pairs)

    def _lazily(self, condition: Term, expr: Expr, otherwise: Term) -> Term:
        """The truth of `expr`, evaluated only where `condition` holds, else `otherwise`."""
        taken, _ = self._either(condition, lambda: self.truth(expr), lambda: None)
        return otherwise if taken is None else self._if(condition, taken, otherwise)

    # --------------------------------------------------------------------------------- values

    def cells_of(self, expr: Expr) -> tuple[Term, ...]:
        type_ = type_of(expr)
        if isinstance(type_, VoidType):
            assert isinstance(expr, Call)
            return self._call(expr)
        if not isinstance(type_, ArrayType | StructType):
            return (self.number(expr),)
        match expr:
            case Call():
                return self._call(expr)
            case Assignment():
                return self._assign(expr)[1]
            case Conditional():
                condition = self.truth(expr.condition)
                then, otherwise = self._either(
                    condition,
                    lambda: self.cells_of(expr.then),
                    lambda: self.cells_of(expr.otherwise),
                )
                if then is None or otherwise is None:
                    chosen: tuple[Term, ...] = otherwise if then is None else then
                    return chosen
                pairs = zip(then, otherwise, strict=True)
                return tuple(self._if(condition, a, b) for a, b in pairs)
            case _:
                return self._load(self._place(expr))

    def truth(self, expr: Expr) -> Term:
        """Any expression as a condition."""
        match expr:
            case BoolLiteral(value=value):
                return self._true if value else self._false
            case Unary(op="!", operand=operand):
                return self._not(self.truth(operand))
            case Binary(op="&&", left=left, right=right):
                return self._lazily(self.truth(left), right, self._false)
            case Binary(op="||", left=left, right=right):
                return self._lazily(self._not(self.truth(left)), right, self._true)
            case Binary(op="imply", left=left, right=right):
                return self._lazily(self.truth(left), right, self._true)
            case Binary(op=op) if op in _COMPARISONS:
                return self._comparison(expr)
            case Quantifier(kind="forall"):
                truth = self._true
                for _ in self._values(expr):
                    truth = self._lazily(truth, expr.body, self._false)
                return truth
            case Quantifier(kind="exists"):
                truth = self._false
                for _ in self._values(expr):
                    truth = self._lazily(self._not(truth), expr.body, self._true)
                return truth
            case Conditional() if isinstance(type_of(expr), BoolType | ConstraintType):
                condition = self.truth(expr.condition)
                then, otherwise = self._either(
                    condition, lambda: self.truth(expr.then), lambda: self.truth(expr.otherwise)
                )
                if then is None or otherwise is None:
                    return otherwise if then is None else then
                return self._if(condition, then, otherwise)
            case InLocation():
                return self._in_location(expr)
            case Deadlock():
                raise _unsupported("`deadlock`", expr.origin)
            case Call() if (found := operation_of(expr)) is not None and found[1] in COMPARISONS:
                left, right = (self._float(one, found[0]) for one in expr.arguments)
                return ieee_smt.comparison(self._z3, found[1], left, right)
            case _:
                return self._nonzero(self.number(expr))

    def number(self, expr: Expr) -> Term:
        """Any expression of one cell as an integer."""
        match expr:
            case IntLiteral(value=value):
                return self._int(value)
            case Name() | Index() | Field():
                return self._load(self._place(expr))[0]
            case Unary(op="-", operand=operand):
                return self._negated(self.number(operand))
            case Unary(op="+", operand=operand):
                return self.number(operand)
            case Binary(op=op, left=left, right=right) if op not in _COMPARISONS and op not in (
                "&&",
                "||",
                "imply",
            ):
                first = self.number(left)
                return self._arithmetic(op, first, self.number(right))
            case Conditional():
                condition = self.truth(expr.condition)
                then, otherwise = self._either(
                    condition, lambda: self.number(expr.then), lambda: self.number(expr.otherwise)
                )
                if then is None or otherwise is None:
                    return otherwise if then is None else then
                return self._if(condition, then, otherwise)
            case Call() if (found := operation_of(expr)) is not None:
                return self._of_floats(expr, *found)
            case Call():
                return self._call(expr)[0]
            case Assignment():
                return self._assign(expr)[1][0]
            case Step():
                return self._step(expr)[1]
            case Quantifier(kind="sum"):
                total = self._int(0)
                for _ in self._values(expr):
                    total = self._arithmetic("+", total, self.number(expr.body))
                return total
            case _:
                return self._from_truth(self.truth(expr))

    def _values(self, expr: Quantifier | ForEach) -> Iterator[int]:
        """Bind the variable to each value of its domain in turn."""
        assert expr.symbol is not None, "an unchecked quantifier"
        for value in domain_of(expr.symbol):
            self._count(expr.origin)
            self.frame[expr.symbol] = self.fresh(expr.symbol.type, (self._int(value),))
            yield value

    def _count(self, origin: Origin) -> None:
        self._left -= 1
        if self._left < 0:
            raise _unsupported("so many iterations of loops and quantifiers", origin)

    def _in_location(self, expr: InLocation) -> Term:
        process = self.number(expr.process)
        known = self._as_python(process)
        candidates = range(len(self._locations)) if known is None else (known,)
        location = self._int(expr.location)
        choices = []
        inside = []
        for number in candidates:
            if not 0 <= number < len(self._locations):
                continue
            here = self._folded(process == self._int(number), process)
            at = self._locations[number]
            inside.append(here)
            choices.append(self._and(here, self._folded(at == location, at)))
        self._require(self._or(*inside))
        return self._or(*choices)

    # ----------------------------------------------------------------------------- arithmetic

    def _fits(self, term: Term) -> Term:
        if self._bits or not self._overflow:
            return self._true
        lo, hi = self._int(INT32.lo), self._int(INT32.hi)
        return self._folded(self._z3.And(term >= lo, term <= hi), term)

    def _require_no_overflow(self, *conditions: Term) -> None:
        if self._overflow:
            for condition in conditions:
                self._require(condition)

    def _negated(self, operand: Term) -> Term:
        result = self._folded(-operand, operand)
        if self._bits:
            self._require_no_overflow(self._folded(self._z3.BVSNegNoOverflow(operand), operand))
        else:
            self._require_no_overflow(self._fits(result))
        return result

    def _arithmetic(self, op: str, left: Term, right: Term) -> Term:
        if op in ("<?", ">?"):
            smaller = self._folded(left <= right, left, right)
            return self._if(smaller, left, right) if op == "<?" else self._if(smaller, right, left)
        if op in ("/", "%"):
            self._require(self._nonzero(right))
        if op in ("<<", ">>"):
            shift = self._folded(self._z3.And(right >= self._int(0), right <= self._int(31)), right)
            self._require(shift)
        if self._bits:
            return self._on_bits(op, left, right)
        return self._on_integers(op, left, right)

    def _on_bits(self, op: str, left: Term, right: Term) -> Term:
        z3 = self._z3
        needed: list[Term] = []
        match op:
            case "+":
                result = left + right
                needed = [z3.BVAddNoOverflow(left, right, True), z3.BVAddNoUnderflow(left, right)]
            case "-":
                result = left - right
                needed = [z3.BVSubNoOverflow(left, right), z3.BVSubNoUnderflow(left, right, True)]
            case "*":
                result = left * right
                needed = [z3.BVMulNoOverflow(left, right, True), z3.BVMulNoUnderflow(left, right)]
            case "/":
                result = left / right
                needed = [z3.BVSDivNoOverflow(left, right)]
            case "%":
                result = z3.SRem(left, right)
            case "<<":
                result = left << right
                needed = [(result >> right) == left]
            case ">>":
                result = left >> right
            case "&":
                result = left & right
            case "|":
                result = left | right
            case "^":
                result = left ^ right
            case _:
                raise ValueError(f"no operator: {op}")
        self._require_no_overflow(*(self._folded(term, left, right) for term in needed))
        return self._folded(result, left, right)

    def _on_integers(self, op: str, left: Term, right: Term) -> Term:
        z3 = self._z3
        zero = self._int(0)
        match op:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "/":
                # z3 leaves a remainder that is never negative: right for dividends that are not.
                result = z3.If(left >= zero, left / right, -((-left) / right))
            case "%":
                result = z3.If(left >= zero, left % right, -((-left) % right))
            case "<<" | ">>":
                return self._shift_integer(op, left, right)
            case "&" | "|" | "^":
                bits = z3.Int2BV(left, 32), z3.Int2BV(right, 32)
                both = {"&": bits[0] & bits[1], "|": bits[0] | bits[1], "^": bits[0] ^ bits[1]}
                result = z3.BV2Int(both[op], is_signed=True)
            case _:
                raise ValueError(f"no operator: {op}")
        result = self._folded(result, left, right)
        if op in ("+", "-", "*", "/"):
            self._require_no_overflow(self._fits(result))
        return result

    def _shift_integer(self, op: str, left: Term, right: Term) -> Term:
        known = self._as_python(right)
        amounts = range(32) if known is None else range(min(max(known, 0), 31), 32)[:1]
        result = None
        for amount in amounts:
            power = self._int(2**amount)
            # z3 rounds down when it divides by a positive number, like an arithmetic shift.
            shifted = self._folded(left * power if op == "<<" else left / power, left)
            here = right == self._int(amount)
            result = shifted if result is None else self._if(here, shifted, result)
        assert result is not None
        if op == "<<":
            self._require_no_overflow(self._fits(result))
        return result

    # ------------------------------------------------------------------ floating-point numbers

    def _of_floats(self, expr: Call, format_: Format, op: str) -> Term:
        """An operation of :mod:`whence.expr.ieee` as an integer."""
        if op in COMPARISONS:
            return self._from_truth(self.truth(expr))
        if op == "to int":
            value, fits = ieee_smt.to_int(
                self._z3, self._float(expr.arguments[0], format_), format_
            )
            self._require(fits)
            return value
        return ieee_smt.ordinal_of(self._z3, self._float(expr, format_), format_)

    def _float(self, expr: Expr, format_: Format) -> Term:
        """An expression whose value is an ordinal, as a floating-point number."""
        if not self._bits:
            raise _unsupported("floating-point numbers", expr.origin)
        match expr:
            case IntLiteral(value=value):
                return ieee_smt.literal_of(self._z3, value, format_)
            case Call() if (found := operation_of(expr)) is not None:
                arguments = []
                for place, one in enumerate(expr.arguments):
                    inner = format_of(expr, place)
                    arguments.append(self.number(one) if inner is None else self._float(one, inner))
                return ieee_smt.operation(self._z3, format_, found[1], arguments)
            case Conditional():
                condition = self.truth(expr.condition)
                then, otherwise = self._either(
                    condition,
                    lambda: self._float(expr.then, format_),
                    lambda: self._float(expr.otherwise, format_),
                )
                if then is None or otherwise is None:
                    return otherwise if then is None else then
                return self._z3.If(condition, then, otherwise)
        return ieee_smt.float_of(self._z3, self.number(expr), format_)

    # ---------------------------------------------------------------------------- comparisons

    def _comparison(self, expr: Binary) -> Term:
        left_type, right_type = type_of(expr.left), type_of(expr.right)
        if isinstance(left_type, ArrayType | StructType):
            first = self.cells_of(expr.left)
            second = self.cells_of(expr.right)
            pairs = zip(first, second, strict=True)
            same = self._and(*(self._folded(a == b, a, b) for a, b in pairs))
            return same if expr.op == "==" else self._not(same)
        if any(isinstance(type_, ClockType | DifferenceType) for type_ in (left_type, right_type)):
            left = self._real(expr.left)
            return _compare(expr.op, left, self._real(expr.right))
        left = self.number(expr.left)
        left, right = self._aligned(left, self.number(expr.right))
        return self._folded(_compare(expr.op, left, right), left, right)

    def _real(self, expr: Expr) -> Term:
        match type_of(expr):
            case DifferenceType():
                assert isinstance(expr, Binary)
                left = self._real(expr.left)
                return left - self._real(expr.right)
            case ClockType():
                place = self._place(expr)
                alternatives = [
                    (condition, self.clocks[self._clock_of[address]])
                    for condition, address in place.alternatives
                ]
                return self._select(alternatives)
            case _:
                return self._to_real(self.number(expr))

    def _to_real(self, number: Term) -> Term:
        known = self._as_python(number)
        if known is not None:
            return self._z3.RealVal(known)
        if self._bits:
            number = self._z3.BV2Int(number, is_signed=True)
        return self._z3.ToReal(number)

    # --------------------------------------------------------------------------------- memory

    def fresh(self, type_: Type, values: Sequence[Term]) -> _Place:
        """New memory that holds `values`."""
        self._next -= len(values)
        for offset, value in enumerate(values):
            self.memory[self._next + offset] = value
        return _Place(((self._true, self._next),), type_)

    def _select(self, alternatives: Sequence[tuple[Term, Term]]) -> Term:
        result = alternatives[-1][1]
        for condition, term in reversed(alternatives[:-1]):
            result = self._if(condition, term, result)
        return result

    def _load(self, place: _Place) -> tuple[Term, ...]:
        return tuple(
            self._select(
                [(condition, self.memory[at + offset]) for condition, at in place.alternatives]
            )
            for offset in range(cells(place.type))
        )

    def _place(self, expr: Expr) -> _Place:
        match expr:
            case Name(symbol=Symbol() as symbol):
                return self._place_of_symbol(symbol, expr.origin)
            case Index():
                return self._element(expr)
            case Field():
                record = self._place(expr.record)
                offset, type_ = _field_of(record.type, expr.name)
                return _Place(
                    tuple((here, at + offset) for here, at in record.alternatives),
                    type_,
                    tuple(_field_of(beneath, expr.name)[1] for beneath in record.beneath),
                )
            case Assignment():
                return self._assign(expr)[0]
            case Step(prefix=True):
                return self._step(expr)[0]
            case _:
                return self.fresh(type_of(expr), self.cells_of(expr))

    def _target(self, expr: Expr) -> _Place:
        """A place that is written to, or may be."""
        root = expr
        while isinstance(root, Index | Field):
            root = root.array if isinstance(root, Index) else root.record
        if isinstance(root, Conditional):
            # The checker lets none pass: of places of different ranges, which would bind?
            raise _unsupported("a choice of what to change", expr.origin)
        return self._place(expr)

    def _place_of_symbol(self, symbol: Symbol, origin: Origin) -> _Place:
        if symbol in self.frame:
            return self.frame[symbol]
        if symbol in self._constants:
            if symbol not in self._constant_at:
                values = [self._int(value) for value in self._constants[symbol]]
                self._constant_at[symbol] = self.fresh(symbol.type, values).alternatives[0][1]
            return _Place(((self._true, self._constant_at[symbol]),), symbol.type)
        if symbol in self._address:
            return _Place(((self._true, self._address[symbol]),), symbol.type)
        raise InputError(Diagnostic(f"`{symbol}` has no value here", origin))

    def _element(self, expr: Index) -> _Place:
        array = self._place(expr.array)
        index = self.number(expr.index)
        assert isinstance(array.type, ArrayType)
        lo, length, element = array.type.lo, array.type.length, array.type.element
        hi = lo + length - 1
        inside = self._z3.And(index >= self._int(lo), index <= self._int(hi))
        self._require(self._folded(inside, index))
        beneath = tuple(_element_of(type_) for type_ in array.beneath)
        known = self._as_python(index)
        if known is not None:
            # Outside, any element will do: the evaluation is not defined then.
            offset = (min(max(known, lo), hi) - lo) * cells(element)
            same = tuple((here, at + offset) for here, at in array.alternatives)
            return _Place(same, element, beneath)
        alternatives = []
        for position in range(length):
            hit = index == self._int(lo + position)
            offset = position * cells(element)
            alternatives += [(self._and(hit, here), at + offset) for here, at in array.alternatives]
        return _Place(tuple(alternatives), element, beneath)

    def _fitted(self, values: Sequence[Term], type_: Type) -> tuple[Term, ...]:
        """The values as a variable of this type holds them, each required to be in its range."""
        result = []
        for value, cell in zip(values, named_cells("", type_), strict=True):
            if isinstance(cell.type, BoolType):
                result.append(self._from_truth(self._nonzero(value)))
            else:
                self._require(self._folded(self._encoder.within(value, cell.type), value))
                result.append(value)
        return tuple(result)

    def _save(self, place: _Place, values: Sequence[Term]) -> tuple[Term, ...]:
        if isinstance(place.type, ClockType):
            (value,) = values
            self._require(self._folded(value >= self._int(0), value))
            for here, at in place.alternatives:
                number = self._clock_of[at]
                self.clocks[number] = self._if(here, self._to_real(value), self.clocks[number])
            return tuple(values)
        fitted = self._fitted(values, place.type)
        for type_ in place.beneath:
            fitted = self._fitted(fitted, type_)
        for here, at in place.alternatives:
            for offset, value in enumerate(fitted):
                self.memory[at + offset] = self._if(here, value, self.memory[at + offset])
        return fitted

    def _assign(self, expr: Assignment) -> tuple[_Place, tuple[Term, ...]]:
        place = self._target(expr.target)
        if expr.op == "=":
            values = self.cells_of(expr.value)
        else:
            (old,) = self._load(place)
            values = (self._arithmetic(expr.op[:-1], old, self.number(expr.value)),)
        return place, self._save(place, values)

    def _step(self, expr: Step) -> tuple[_Place, Term]:
        place = self._target(expr.target)
        (old,) = self._load(place)
        (new,) = self._save(place, (self._arithmetic(expr.op[0], old, self._int(1)),))
        return place, new if expr.prefix else old

    # ------------------------------------------------------------------------------ functions

    def _call(self, expr: Call) -> tuple[Term, ...]:
        assert expr.symbol is not None, "an unchecked call"
        if expr.symbol in self._active:
            raise _unsupported(f"the recursive function `{expr.symbol.name}`", expr.origin)
        function = self._functions[expr.symbol]
        outside = self._next
        frame: dict[Symbol, _Place] = {}
        for parameter, argument in zip(function.parameters, expr.arguments, strict=True):
            type_ = parameter.symbol.type
            if parameter.reference:
                place = self._target(argument)
                beneath = (place.type, *place.beneath)
                frame[parameter.symbol] = _Place(place.alternatives, type_, beneath)
            else:
                values = self._fitted(self.cells_of(argument), type_)
                frame[parameter.symbol] = self.fresh(type_, values)

        result_type = expr.symbol.type
        caller = self.frame, self._live, self._result, self._outside
        self.frame, self._live, self._outside = frame, self._true, outside
        self._result = (self._int(0),) * cells(result_type)
        self._active.append(expr.symbol)
        self._execute((function.body,))
        self._active.pop()
        result, live = self._result, self._live
        self.frame, self._live, self._result, self._outside = caller
        if isinstance(result_type, VoidType):
            return ()
        self._require(self._not(live))
        return self._fitted(result, result_type)

    def _execute(self, statements: Sequence[Statement]) -> None:
        """Execute statements in sequence, as far as the function has not returned before."""
        for position, statement in enumerate(statements):
            if self._z3.is_false(self._live):
                return
            if not self._z3.is_true(self._live):
                self._continue(partial(self._execute, statements[position:]))
                return
            self._statement(statement)

    def _continue(self, rest: Callable[[], None]) -> None:
        """Do the rest of something only where the function has not returned before."""
        live = self._live

        def alive() -> None:
            self._live = self._true
            rest()

        def dead() -> None:
            self._live = self._false

        self._either(live, alive, dead)

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Block():
                for local in statement.locals:
                    self._declare(local.symbol, local.initial)
                self._execute(statement.statements)
            case Evaluate(expr=expr):
                if expr is not None:
                    self.cells_of(expr)
            case If():
                otherwise = () if statement.otherwise is None else (statement.otherwise,)
                self._either(
                    self.truth(statement.condition),
                    lambda: self._execute((statement.then,)),
                    lambda: self._execute(otherwise),
                )
            case While():
                self._loop(statement.condition, None, statement.body, statement.origin)
            case DoWhile():
                self._count(statement.origin)
                self._execute((statement.body,))
                self._continue(
                    lambda: self._loop(statement.condition, None, statement.body, statement.origin)
                )
            case For():
                if statement.start is not None:
                    self.cells_of(statement.start)
                self._loop(statement.condition, statement.advance, statement.body, statement.origin)
            case ForEach():
                self._for_each(statement, self._values(statement))
            case Return(value=value):
                if value is not None:
                    self._result = self.cells_of(value)
                self._live = self._false

    def _declare(self, symbol: Symbol, initial: Sequence[Expr]) -> None:
        if initial:
            given = [value for expr in initial for value in self.cells_of(expr)]
            self.frame[symbol] = self.fresh(symbol.type, self._fitted(given, symbol.type))
        else:
            start = [self._int(value) for value in default_cells(symbol.type)]
            self.frame[symbol] = self.fresh(symbol.type, start)

    def _for_each(self, statement: ForEach, values: Iterator[int]) -> None:
        for _ in values:
            self._execute((statement.body,))
            if self._z3.is_false(self._live):
                return
            if not self._z3.is_true(self._live):
                self._continue(lambda: self._for_each(statement, values))
                return

    def _loop(
        self, condition: Expr | None, advance: Expr | None, body: Statement, origin: Origin
    ) -> None:
        while True:
            more = self._true if condition is None else self.truth(condition)
            if self._z3.is_false(more):
                return
            if not self._z3.is_true(more):
                raise _unsupported("a loop whose number of iterations depends on values", origin)
            self._count(origin)
            self._execute((body,))
            if self._z3.is_false(self._live):
                return
            if not self._z3.is_true(self._live):
                self._continue(lambda: self._advance(condition, advance, body, origin))
                return
            if advance is not None:
                self.cells_of(advance)

    def _advance(
        self, condition: Expr | None, advance: Expr | None, body: Statement, origin: Origin
    ) -> None:
        if advance is not None:
            self.cells_of(advance)
        self._loop(condition, advance, body, origin)


def _element_of(type_: Type) -> Type:
    assert isinstance(type_, ArrayType)
    return type_.element


def _field_of(type_: Type, name: str) -> tuple[int, Type]:
    assert isinstance(type_, StructType)
    found = type_.field(name)
    assert found is not None
    return found


def _compare(op: str, left: Term, right: Term) -> Term:
    match op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case _:
            raise ValueError(f"no comparison: {op}")


def _unsupported(construct: str, origin: Origin) -> UnsupportedError:
    return UnsupportedError(
        Diagnostic(f"{construct} cannot be put into a formula for the solver", origin)
    )
