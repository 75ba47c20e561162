"""Guards and updates as texts, and back::

    session in {extended, programming} and 50 ms <= clk < 55 ms
    ctx = val; clk = 0

Memory and clocks are never mixed in a comparison (Becker et al., section 2). Names stand for
clocks, memory variables, values that the pattern captures, constants, or, beside something with
named values, for one of these values. Comparisons can be chained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from whence.expr.scope import Problem, suggestion
from whence.formats.prd.lexing import Token, Tokens, duration
from whence.model.prd import (
    TRUE,
    AllOf,
    AnyOf,
    Arithmetic,
    ArithmeticOperator,
    Assignment,
    Captured,
    ClockBound,
    Comparison,
    Constant,
    Guard,
    Not,
    Operator,
    Read,
    Term,
    Variable,
)
from whence.source import Origin, SourceText

__all__ = ["Scope", "Updates", "parse_guard", "parse_updates"]


@dataclass(frozen=True)
class Scope:
    """What names mean: a variable can have another name than it is called by here. `unit`: what a
    time without a unit counts in; None: it needs one."""

    variables: Mapping[str, Variable] = field(default_factory=dict)
    clocks: frozenset[str] = frozenset()
    captures: frozenset[str] = frozenset()
    constants: Mapping[str, int | str] = field(default_factory=dict)
    unit: Fraction | None = None

    def names(self) -> list[str]:
        return sorted({*self.variables, *self.clocks, *self.captures, *self.constants})


@dataclass(frozen=True, slots=True)
class Updates:
    assignments: tuple[Assignment, ...] = ()
    resets: tuple[str, ...] = ()


def parse_guard(source: SourceText, scope: Scope) -> Guard:
    """Raises Problem. An empty text is true."""
    reader = _Reader(Tokens(source), scope)
    if reader.tokens.next.kind == "end":
        return TRUE
    guard = reader.either(0)
    reader.tokens.done()
    return guard


def parse_updates(source: SourceText, scope: Scope) -> Updates:
    """Assignments and `restart CLOCK` (the same as `CLOCK = 0`), separated by semicolons. Raises
    Problem."""
    return _Reader(Tokens(source), scope).updates()


# --------------------------------------------------------------------------------------- operands


@dataclass(frozen=True, slots=True)
class _Clock:
    """A clock, or the difference of two."""

    name: str
    minus: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Time:
    """A number that can only be a time: it has a unit or a fraction."""

    value: Fraction
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Word:
    """A name or a text that nothing is called by: a named value, if the other side has any."""

    text: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class _Memory:
    term: Term
    origin: Origin
    #: The variable whose named values this is about.
    named: Variable | None = None


_Operand: TypeAlias = _Clock | _Time | _Word | _Memory
_MIRRORED: Final[dict[Operator, Operator]] = {
    "==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
}  # fmt: skip
_COMPARISONS: Final[dict[str, Operator]] = {
    "==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "==",
}  # fmt: skip
#: From the loosest to the tightest.
_LEVELS: Final[tuple[tuple[ArithmeticOperator, ...], ...]] = (
    ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "//", "%"),
)  # fmt: skip
_DEEPEST: Final = 50


class _Reader:
    def __init__(self, tokens: Tokens, scope: Scope) -> None:
        self.tokens = tokens
        self.scope = scope

    # ------------------------------------------------------------------------------------ guards

    def either(self, depth: int) -> Guard:
        return self._joined(depth, ("or", "||"), self.both, AnyOf)

    def both(self, depth: int) -> Guard:
        return self._joined(depth, ("and", "&&"), self.single, AllOf)

    def _joined(
        self,
        depth: int,
        words: tuple[str, ...],
        read: Callable[[int], Guard],
        join: type[AllOf] | type[AnyOf],
    ) -> Guard:
        parts = [read(depth)]
        while self.tokens.accept(*words):
            parts.append(read(depth))
        if len(parts) == 1:
            return parts[0]
        flat: list[Guard] = []
        for part in parts:
            flat += part.parts if isinstance(part, join) else (part,)
        return join(tuple(flat))

    def single(self, depth: int) -> Guard:
        if depth > _DEEPEST:
            self.tokens.fail(f"this is nested more than {_DEEPEST} levels deep")
        tokens = self.tokens
        if tokens.accept("not", "!"):
            return Not(self.single(depth + 1))
        if tokens.accept("true"):
            return TRUE
        if tokens.accept("false"):
            return AnyOf()
        if tokens.sees("(") and self._encloses_guard():
            tokens.take()
            inner = self.either(depth + 1)
            tokens.expect(")")
            return inner
        return self._comparisons(depth)

    def _encloses_guard(self) -> bool:
        """Whether what these parentheses enclose is a condition, and not a number."""
        depth, at = 0, 0
        inside = ("and", "or", "not", "in", "true", "false", "&&", "||", "!", "==", "!=", "<", "<=",
                  ">", ">=", "=")  # fmt: skip
        while True:
            token = self.tokens.peek(at)
            if token.kind == "end":
                return False
            if token.kind in ("op", "name") and token.text in inside:
                return True
            depth += (token.text == "(") - (token.text == ")")
            at += 1
            if depth == 0:
                after = self.tokens.peek(at)
                return after.kind == "end" or after.text in ("and", "or", "&&", "||", ")")

    def _comparisons(self, depth: int) -> Guard:
        left = self._operand(0, depth)
        found: list[Guard] = []
        while self.tokens.next.kind == "op" and self.tokens.next.text in _COMPARISONS:
            operator = _COMPARISONS[self.tokens.take().text]
            right = self._operand(0, depth)
            found.append(self._comparison(left, operator, right))
            left = right
        if self.tokens.sees("in") or (self.tokens.sees("not") and self.tokens.peek().text == "in"):
            negated = self.tokens.accept("not") is not None
            self.tokens.take()
            if found:
                self.tokens.fail("`in` stands behind a single value")
            inside = self._membership(left, depth)
            return Not(inside) if negated else inside
        if not found:
            return self._truth(left)
        return found[0] if len(found) == 1 else AllOf(tuple(found))

    def _membership(self, left: _Operand, depth: int) -> Guard:
        """`x in {a, b, 3..5}`."""
        self.tokens.expect("{")
        parts: list[Guard] = []
        while True:
            low = self._operand(0, depth)
            if self.tokens.accept(".."):
                high = self._operand(0, depth)
                parts.append(
                    AllOf((self._comparison(left, ">=", low), self._comparison(left, "<=", high)))
                )
            else:
                parts.append(self._comparison(left, "==", low))
            if not self.tokens.accept(","):
                break
        self.tokens.expect("}")
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _truth(self, operand: _Operand) -> Guard:
        if isinstance(operand, _Memory) and isinstance(operand.term, Read | Captured):
            return Comparison(operand.term, "!=", Constant(0))
        if isinstance(operand, _Word):
            raise self._unknown(operand)
        raise Problem("expected a comparison", operand.origin)

    def _comparison(self, left: _Operand, operator: Operator, right: _Operand) -> Guard:
        origin = left.origin.to(right.origin)
        if isinstance(left, _Clock) and isinstance(right, _Clock):
            if left.minus or right.minus:
                raise Problem("a difference of clocks is compared with a time only", origin)
            return ClockBound(left.name, operator, Fraction(0), right.name)
        if isinstance(left, _Clock):
            return ClockBound(left.name, operator, self._time(right), left.minus)
        if isinstance(right, _Clock):
            return ClockBound(right.name, _MIRRORED[operator], self._time(left), right.minus)
        named = left.named if isinstance(left, _Memory) else None
        if isinstance(right, _Memory):
            named = named or right.named
        first, second = self._term(left, named), self._term(right, named)
        if isinstance(first, Constant) and isinstance(second, Constant):
            return TRUE if _holds(first.value, operator, second.value) else AnyOf()
        return Comparison(first, operator, second)

    def _time(self, operand: _Operand) -> Fraction:
        """What a clock is compared with."""
        if isinstance(operand, _Time):
            return operand.value
        if isinstance(operand, _Memory) and isinstance(operand.term, Constant):
            value = Fraction(operand.term.value)
            if self.scope.unit is None and value:
                raise Problem(
                    "this time has no unit", operand.origin, "write `ms`, `s` or `us` behind it"
                )
            return value * (self.scope.unit or 1)
        if isinstance(operand, _Word):
            raise self._unknown(operand)
        raise Problem("clocks are compared with times and with clocks only", operand.origin)

    def _term(self, operand: _Operand, named: Variable | None) -> Term:
        if isinstance(operand, _Memory):
            return operand.term
        if isinstance(operand, _Time):
            raise Problem("a time is compared with clocks only", operand.origin)
        if isinstance(operand, _Word):
            if named is None:
                raise self._unknown(operand)
            if operand.text not in named.names:
                hint = suggestion(operand.text, list(named.names))
                raise Problem(
                    f"`{operand.text}` is no value of `{named.name}`",
                    operand.origin,
                    hint or f"it has the values {', '.join(named.names[:20])}",
                )
            return Constant(named.names.index(operand.text))
        raise Problem("a clock stands alone on its side of a comparison", operand.origin)

    def _unknown(self, word: _Word) -> Problem:
        return Problem(
            f"unknown name `{word.text[:60]}`",
            word.origin,
            suggestion(word.text, self.scope.names()),
        )

    # ------------------------------------------------------------------------------------- terms

    def _operand(self, level: int, depth: int) -> _Operand:
        if depth > _DEEPEST:
            self.tokens.fail(f"this is nested more than {_DEEPEST} levels deep")
        if level == len(_LEVELS):
            return self._atom(depth)
        left = self._operand(level + 1, depth)
        while True:
            token = self._operator(level)
            if token is None:
                return left
            right = self._operand(level + 1, depth)
            left = self._joined_operands(left, token, right)

    def _operator(self, level: int) -> ArithmeticOperator | None:
        token = self.tokens.next
        if token.kind != "op":
            return None
        text = token.text
        if text == "/":
            if self.tokens.peek().text == "/" and self.tokens.peek().start == token.end:
                if level != len(_LEVELS) - 1:
                    return None
                self.tokens.take()
                self.tokens.take()
                return "//"
            if level == len(_LEVELS) - 1:
                self.tokens.fail("`/` is not exact", "write `//`, which rounds down")
            return None
        for operator in _LEVELS[level]:
            if text == operator:
                self.tokens.take()
                return operator
        return None

    def _joined_operands(
        self, left: _Operand, operator: ArithmeticOperator, right: _Operand
    ) -> _Operand:
        origin = left.origin.to(right.origin)
        if isinstance(left, _Clock) and isinstance(right, _Clock) and operator == "-":
            if left.minus or right.minus:
                raise Problem("clocks are compared, or two are subtracted", origin)
            return _Clock(left.name, right.name, origin)
        if isinstance(left, _Clock) or isinstance(right, _Clock):
            raise Problem("there is no arithmetic with clocks", origin)
        if isinstance(left, _Time) or isinstance(right, _Time):
            raise Problem("there is no arithmetic with times", origin)
        first, second = self._term(left, None), self._term(right, None)
        if isinstance(first, Constant) and isinstance(second, Constant) and operator in "+-*":
            values = {
                "+": first.value + second.value,
                "-": first.value - second.value,
                "*": first.value * second.value,
            }
            return _Memory(Constant(values[operator]), origin)
        return _Memory(Arithmetic(operator, first, second), origin)

    def _atom(self, depth: int) -> _Operand:
        tokens, token = self.tokens, self.tokens.next
        origin = tokens.origin(token)
        if token.kind == "timed" or (token.kind == "number" and self._is_time()):
            return _Time(duration(tokens, self.scope.unit), origin)
        if token.kind == "number":
            tokens.take()
            return _Memory(Constant(_integer(token.text)), origin)
        if tokens.accept("-"):
            inner = self._atom(depth + 1)
            if isinstance(inner, _Time):
                return _Time(-inner.value, origin)
            if isinstance(inner, _Memory) and isinstance(inner.term, Constant):
                return _Memory(Constant(-inner.term.value), origin)
            return self._joined_operands(_Memory(Constant(0), origin), "-", inner)
        if tokens.accept("("):
            inner = self._operand(0, depth + 1)
            tokens.expect(")")
            return inner
        if token.kind == "string":
            tokens.take()
            return _Word(_unquoted(token.text), origin)
        if token.kind == "name":
            tokens.take()
            return self._name(token, origin)
        tokens.fail("expected a value")

    def _is_time(self) -> bool:
        follower = self.tokens.peek()
        known = self.scope
        return "." in self.tokens.next.text or (
            follower.kind == "name"
            and follower.text in ("s", "ms", "us", "min")
            and follower.text not in known.variables
        )

    def _name(self, token: Token, origin: Origin) -> _Operand:
        name, scope = token.text, self.scope
        if name in scope.captures:
            return _Memory(Captured(name), origin)
        if name in scope.clocks:
            return _Clock(name, "", origin)
        if name in scope.variables:
            variable = scope.variables[name]
            return _Memory(Read(variable.name), origin, variable if variable.names else None)
        if name in scope.constants:
            value = scope.constants[name]
            if isinstance(value, int):
                return _Memory(Constant(value), origin)
            return _Word(value, origin)
        return _Word(name, origin)

    # ----------------------------------------------------------------------------------- updates

    def updates(self) -> Updates:
        tokens = self.tokens
        assignments: list[Assignment] = []
        resets: list[str] = []
        while tokens.next.kind != "end":
            if tokens.accept(";"):
                continue
            self._update(assignments, resets)
            if tokens.next.kind != "end":
                tokens.expect(";")
        return Updates(tuple(assignments), tuple(resets))

    def _update(self, assignments: list[Assignment], resets: list[str]) -> None:
        tokens = self.tokens
        restart = tokens.peek().kind == "name" and tokens.accept("restart") is not None
        token = tokens.next
        if token.kind != "name":
            tokens.fail("expected an assignment, such as `session = extended`")
        tokens.take()
        name = token.text
        known_as = self.scope.variables[name].name if name in self.scope.variables else name
        if known_as in {done.variable for done in assignments} or name in resets:
            raise Problem(f"`{name}` gets two values", tokens.origin(token))
        if name in self.scope.clocks:
            if not restart:
                tokens.accept(":=") or tokens.expect("=")
                zero = tokens.take()
                if zero.text != "0":
                    raise Problem("a clock can only be set to 0", tokens.origin(zero))
            resets.append(name)
            return
        if restart:
            raise Problem(f"`{name}` is no clock", tokens.origin(token))
        variable = self.scope.variables.get(name)
        if variable is None:
            known = [*self.scope.variables, *self.scope.clocks]
            raise Problem(
                f"`{name[:60]}` is neither a variable nor a clock", tokens.origin(token),
                suggestion(name, known),
            )  # fmt: skip
        term = self._assigned(variable, token)
        if isinstance(term, Constant) and not variable.low <= term.value <= variable.high:
            raise Problem(
                f"`{name}` cannot become {term.value}",
                tokens.origin(token),
                f"its values are {variable.low} to {variable.high}",
            )
        assignments.append(Assignment(variable.name, term))

    def _assigned(self, variable: Variable, token: Token) -> Term:
        tokens = self.tokens
        for sign in ("+", "-"):
            if tokens.sees(sign) and tokens.peek().text == "=":
                tokens.take()
                tokens.take()
                amount = self._operand(0, 0)
                whole = self._joined_operands(
                    _Memory(Read(variable.name), tokens.origin(token)),
                    "+" if sign == "+" else "-",
                    amount,
                )
                return self._term(whole, None)
        tokens.accept(":=") or tokens.expect("=")
        return self._term(self._operand(0, 0), variable if variable.names else None)


def _integer(text: str) -> int:
    return int(text, 16) if text[:2] in ("0x", "0X") else int(text)


def _unquoted(text: str) -> str:
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def _holds(left: int, operator: Operator, right: int) -> bool:
    table: dict[Literal["==", "!=", "<", "<=", ">", ">="], bool] = {
        "==": left == right, "!=": left != right, "<": left < right,
        "<=": left <= right, ">": left > right, ">=": left >= right,
    }  # fmt: skip
    return table[operator]


def captured_in(terms: Iterable[Term]) -> frozenset[str]:
    """The names of captured values that occur in these terms."""
    found: set[str] = set()
    for term in terms:
        if isinstance(term, Captured):
            found.add(term.name)
        elif isinstance(term, Arithmetic):
            found |= captured_in((term.left, term.right))
    return frozenset(found)
