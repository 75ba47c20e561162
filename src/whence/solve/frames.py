"""Runs of a transition relation as bit vectors: one solver, kept alive, more steps at a time.

What a step is, is given as expressions (:mod:`whence.expr`) over symbols; the solver computes with
exactly as many bits as their ranges need, and bit-precisely with 32 bits in between.  Each step is
one frame: `state` at its begin, `auxiliary` for it, `primed` for its end, which is the next one's
state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from whence.expr.smt import Encoder, Flavour, State, Truth, z3_module
from whence.expr.tree import Call, Expr, Symbol
from whence.expr.types import BoolType, IntType
from whence.expr.walk import subexpressions

__all__ = ["AllOf", "Answer", "AnyOf", "Claim", "Frames", "Holds", "Selector"]


@dataclass(frozen=True, slots=True)
class Holds:
    """That an expression holds (and has a value) at a frame."""

    expr: Expr
    frame: int


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Claim, ...]


Claim = Holds | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Selector:
    """Switches claims on for single questions."""

    number: int


class Answer(Enum):
    POSSIBLE = "possible"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


class Frames:
    """Frame 0 is there from the start; `extend` adds a step and the frame behind it."""

    def __init__(
        self,
        state: Sequence[Symbol],
        primed: Sequence[Symbol],
        auxiliary: Sequence[Symbol],
        definitions: Iterable[Expr],
        step: Iterable[Expr],
    ) -> None:
        z3 = self._z3 = z3_module()
        # A context of its own: in a shared one, which of several solutions comes out depends on
        # everything that was solved before.
        self._context = z3.Context()
        self._state, self._primed, self._auxiliary = state, primed, auxiliary
        everything = (*state, *primed, *auxiliary)
        self._encoder = Encoder(
            Flavour.BIT_PRECISE, address={symbol: n for n, symbol in enumerate(everything)}
        )
        # Templates are made once; each frame is a substitution.
        self._bits = [z3.BitVec(f"{symbol}", _width(symbol)[0]) for symbol in everything]
        self._memory = State(
            {
                n: self._widened(bits, symbol)
                for n, (bits, symbol) in enumerate(zip(self._bits, everything, strict=True))
            }
        )
        self._template = [bits.translate(self._context) for bits in self._bits]
        # Only the last step has no state behind it, so ranges of the primed symbols suffice.
        self._ranges = self._within(range(len(state)))
        later = self._within(range(len(state), len(everything)))
        self._defined = self._together(definitions, [])
        self._step = self._together(step, [later, self._defined])
        self._templates: dict[Expr, Any] = {}
        self._solver: Any = z3.SolverFor("QF_BV", ctx=self._context)
        self._frames: list[list[Any]] = []
        self._steps: list[list[Any]] = []
        self._selectors: list[Any] = []
        self._taken: list[Any] = []
        self._model: Any = None
        self._new_frame()
        self._solver.add(self._at(self._ranges, 0))

    @property
    def depth(self) -> int:
        """How many steps there are."""
        return len(self._frames) - 1

    # --------------------------------------------------------------------------------- templates

    def _widened(self, bits: Any, symbol: Symbol) -> Any:
        width, signed = _width(symbol)
        extend = self._z3.SignExt if signed else self._z3.ZeroExt
        # Ordinals of floating-point numbers of 64 bits have as many.
        whole = 32 if width <= 32 else 64
        return bits if width == whole else extend(whole - width, bits)

    def _within(self, numbers: Iterable[int]) -> Any:
        everything = (*self._state, *self._primed, *self._auxiliary)
        return self._z3.And(
            [self._z3.BoolVal(True)]
            + [
                self._encoder.within(self._memory.data[n], everything[n].type)
                for n in numbers
                if not _fills(everything[n])
            ]
        ).translate(self._context)

    def _together(self, exprs: Iterable[Expr], more: list[Any]) -> Any:
        made = [self._translated(expr) for expr in exprs]
        return self._z3.And([self._z3.BoolVal(True, self._context), *made, *more])

    def _translated(self, expr: Expr) -> Any:
        truth: Truth = self._encoder.condition(expr, self._memory)
        term = self._z3.And(truth.term, truth.defined)
        return self._in_bits(term, expr).translate(self._context)

    def _in_bits(self, term: Any, expr: Expr) -> Any:
        """Floating-point operations as circuits, once for all frames."""
        if not any(isinstance(part, Call) for part in subexpressions(expr)):
            return term
        z3 = self._z3
        goal = z3.Goal()
        goal.add(term)
        found = z3.And([z3.BoolVal(True), *z3.Then("simplify", "fpa2bv")(goal)[0]])
        # What the theory leaves open (the bits of a NaN, integers for numbers that fit none) is a
        # function there. None of it is looked at: encoders ask before. Any values will do, if they
        # are those of a NaN, as the circuits demand.
        nans = {32: 0x7FC0_0000, 64: 0x7FF8_0000_0000_0000}
        opened = [
            (function, z3.BitVecVal(nans[function.range().size()], function.range().size()))
            for function in _functions(z3, found)
        ]
        return z3.substitute_funs(found, *opened) if opened else found

    # ------------------------------------------------------------------------------------ frames

    def _fresh(self, symbols: Sequence[Symbol], frame: int) -> list[Any]:
        return [
            self._z3.BitVec(f"{symbol}@{frame}", _width(symbol)[0], self._context)
            for symbol in symbols
        ]

    def _new_frame(self) -> None:
        frame = len(self._frames)
        self._frames.append(self._fresh(self._state, frame))
        self._steps.append(self._fresh(self._auxiliary, frame))

    def _at(self, template: Any, frame: int) -> Any:
        count = len(self._state)
        pairs = list(zip(self._template[:count], self._frames[frame], strict=True))
        if frame < self.depth:
            pairs += zip(self._template[count : 2 * count], self._frames[frame + 1], strict=True)
        pairs += zip(self._template[2 * count :], self._steps[frame], strict=True)
        return self._z3.substitute(template, *pairs)

    def extend(self) -> None:
        """One more step, for the questions that are about so many steps."""
        taken = self._z3.Bool(f"step {self.depth}", self._context)
        self._new_frame()
        self._taken.append(taken)
        self._solver.add(self._z3.Implies(taken, self._at(self._step, self.depth - 1)))

    def define(self) -> None:
        """Give the auxiliary symbols of the last frame their meaning, whether or not there is a
        step. Pre: no step is added behind it."""
        self._solver.add(self._at(self._defined, self.depth))

    # --------------------------------------------------------------------------------- questions

    def selector(self) -> Selector:
        number = len(self._selectors)
        self._selectors.append(self._z3.Bool(f"selector {number}", self._context))
        return Selector(number)

    def require(self, claim: Claim, under: Selector | None = None) -> None:
        """For good; or, with a selector, for those questions that it is given with."""
        term = self._claimed(claim)
        if under is not None:
            term = self._z3.Implies(self._selectors[under.number], term)
        self._solver.add(term)

    def start_from(self, values: Mapping[Symbol, int], under: Selector) -> None:
        """Frame 0 has these values."""
        for n, symbol in enumerate(self._state):
            if symbol in values:
                bits = self._frames[0][n]
                same = bits == values[symbol]
                self._solver.add(self._z3.Implies(self._selectors[under.number], same))

    def _claimed(self, claim: Claim) -> Any:
        match claim:
            case Holds(expr, frame):
                template = self._templates.get(expr)
                if template is None:
                    template = self._templates[expr] = self._translated(expr)
                return self._at(template, frame)
            case AllOf(parts):
                true = self._z3.BoolVal(True, self._context)
                return self._z3.And([true, *map(self._claimed, parts)])
            case AnyOf(parts):
                false = self._z3.BoolVal(False, self._context)
                return self._z3.Or([false, *map(self._claimed, parts)])

    def ask(self, selectors: Sequence[Selector], steps: int, budget: int) -> Answer:
        """Whether there is such a run of so many steps, which need not go on.

        `budget` counts the solver's steps, not time, so that the same question has the same
        answer everywhere."""
        self._solver.set("rlimit", budget)
        found = self._solver.check(
            *self._taken[:steps], *(self._selectors[one.number] for one in selectors)
        )
        self._model = self._solver.model() if found == self._z3.sat else None
        if found == self._z3.sat:
            return Answer.POSSIBLE
        return Answer.IMPOSSIBLE if found == self._z3.unsat else Answer.UNKNOWN

    def state(self, frame: int) -> tuple[int, ...]:
        """The state of the run that was found. Pre: the last answer was POSSIBLE."""
        return self._values(self._state, self._frames[frame])

    def auxiliary(self, frame: int) -> tuple[int, ...]:
        return self._values(self._auxiliary, self._steps[frame])

    def _values(self, symbols: Sequence[Symbol], terms: Sequence[Any]) -> tuple[int, ...]:
        found = []
        for symbol, term in zip(symbols, terms, strict=True):
            value = self._model.eval(term, model_completion=True)
            signed = _width(symbol)[1]
            found.append(int(value.as_signed_long() if signed else value.as_long()))
        return tuple(found)


def _functions(z3: Any, term: Any) -> list[Any]:
    """The uninterpreted functions in a term."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = [term]
    while waiting:
        one = waiting.pop()
        if one.get_id() in seen:
            continue
        seen.add(one.get_id())
        if one.num_args() and one.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found[one.decl().get_id()] = one.decl()
        waiting += one.children()
    return list(found.values())


def _limits(symbol: Symbol) -> tuple[int, int]:
    if isinstance(symbol.type, BoolType):
        return 0, 1
    assert isinstance(symbol.type, IntType)
    return symbol.type.lo, symbol.type.hi


def _width(symbol: Symbol) -> tuple[int, bool]:
    """(bits, whether with a sign)."""
    low, high = _limits(symbol)
    if low < 0:
        return max((-low - 1).bit_length(), high.bit_length(), 0) + 1, True
    return max(high.bit_length(), 1), False


def _fills(symbol: Symbol) -> bool:
    """Whether every pattern of its bits is in its range."""
    low, high = _limits(symbol)
    width, signed = _width(symbol)
    least, most = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    return low <= least and most <= high
