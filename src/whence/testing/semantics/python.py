"""Expressions as Python source: what the simulator is made of.

Values are integers, truth values 0 and 1.  Where an evaluation may be a fault (an overflow of 32
bits, a division by zero), the source calls a function that raises :class:`Fault`; where intervals
show that it cannot, it computes directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType
from typing import Any, Final, NoReturn

from whence.expr.ieee import (
    COMPARISONS,
    Format,
    divided,
    format_of,
    from_ordinal,
    operation_of,
    ordinal,
    rounded,
    smaller,
)
from whence.expr.intervals import Interval, interval
from whence.expr.tree import (
    Binary,
    BoolLiteral,
    Call,
    Conditional,
    Expr,
    IntLiteral,
    Name,
    Symbol,
    Unary,
)
from whence.expr.types import INT32, BoolType
from whence.source import Diagnostic, UnsupportedError

__all__ = ["NAMESPACE", "Fault", "compiled", "may_fault", "number_source", "truth_source"]


class Fault(Exception):
    """An expression has no value here."""


def _fault(what: str) -> NoReturn:
    raise Fault(what)


def _fit(value: int) -> int:
    if INT32.lo <= value <= INT32.hi:
        return value
    _fault(f"{value} does not fit into 32 bits")


def _div(left: int, right: int) -> int:
    """Rounded towards 0."""
    if right == 0:
        _fault("division by zero")
    quotient = abs(left) // abs(right)
    return _fit(quotient if (left < 0) == (right < 0) else -quotient)


def _mod(left: int, right: int) -> int:
    """With the sign of the left side."""
    if right == 0:
        _fault("division by zero")
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _shl(left: int, right: int) -> int:
    if not 0 <= right <= 31:
        _fault(f"a shift by {right}")
    return _fit(left << right)


def _shr(left: int, right: int) -> int:
    if not 0 <= right <= 31:
        _fault(f"a shift by {right}")
    return left >> right


def _trunc(value: float) -> int:
    """Towards 0."""
    if not INT32.lo - 1 < value < INT32.hi + 1:
        _fault(f"{value} as an integer of 32 bits")
    return int(value)


#: What generated sources need.
NAMESPACE: Final[dict[str, Any]] = {
    "_f32": lambda number: from_ordinal(number, 32),
    "_f64": lambda number: from_ordinal(number, 64),
    "_o32": lambda value: ordinal(value, 32),
    "_o64": lambda value: ordinal(value, 64),
    "_r32": lambda value: rounded(value, 32),
    "_fdiv": divided,
    "_fmin": smaller,
    "_fmax": lambda left, right: -smaller(-left, -right),
    "_trunc": _trunc,
    "_fit": _fit,
    "_div": _div,
    "_mod": _mod,
    "_shl": _shl,
    "_shr": _shr,
}


def compiled(source: str, name: str, mode: str = "exec") -> CodeType:
    """Raises UnsupportedError where Python's limits of nesting are reached."""
    try:
        return compile(source, name, mode)
    except (SyntaxError, RecursionError, MemoryError, OverflowError):
        raise UnsupportedError(
            Diagnostic(f"not supported: expressions or machines as large as those of {name}")
        ) from None


_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_CALLS = {"/": "_div", "%": "_mod", "<<": "_shl", ">>": "_shr"}


def _exact(expr: Binary) -> Interval:
    """The bounds of `+`, `-`, `*` before it is known to fit."""
    left, right = interval(expr.left), interval(expr.right)
    match expr.op:
        case "+":
            return Interval(left.lo + right.lo, left.hi + right.hi)
        case "-":
            return Interval(left.lo - right.hi, left.hi - right.lo)
    corners = [a * b for a in (left.lo, left.hi) for b in (right.lo, right.hi)]
    return Interval(min(corners), max(corners))


def _fits(bounds: Interval) -> bool:
    return INT32.lo <= bounds.lo and bounds.hi <= INT32.hi


def truth_source(expr: Expr, names: Mapping[Symbol, str]) -> str:
    """Source whose truth is that of the expression."""
    match expr:
        case BoolLiteral(value=value):
            return str(value)
        case Unary(op="!", operand=operand):
            return f"(not {truth_source(operand, names)})"
        case Binary(op="&&" | "||" | "imply" as op, left=left, right=right):
            first, second = truth_source(left, names), truth_source(right, names)
            if op == "imply":
                return f"(not {first} or {second})"
            return f"({first} {'and' if op == '&&' else 'or'} {second})"
        case Binary(op=op, left=left, right=right) if op in _COMPARISONS:
            return f"({number_source(left, names)} {op} {number_source(right, names)})"
        case Call() if (found := operation_of(expr)) is not None and found[1] in COMPARISONS:
            first, second = (_float_source(one, found[0], names) for one in expr.arguments)
            return f"({first} {found[1]} {second})"
        case Conditional(condition, then, otherwise):
            return (
                f"({truth_source(then, names)} if {truth_source(condition, names)} "
                f"else {truth_source(otherwise, names)})"
            )
    return number_source(expr, names)


def number_source(expr: Expr, names: Mapping[Symbol, str]) -> str:
    """Source whose value is that of the expression as an integer."""
    match expr:
        case IntLiteral(value=value):
            return str(value) if value >= 0 else f"({value})"
        case BoolLiteral(value=truth):
            return str(int(truth))
        case Name(symbol=Symbol() as symbol):
            return names[symbol]
        case Unary(op="-", operand=operand):
            source = f"-{number_source(operand, names)}"
            return f"({source})" if interval(operand).lo > INT32.lo else f"_fit({source})"
        case Unary(op="+", operand=operand):
            return number_source(operand, names)
        case Binary(op="+" | "-" | "*" as op, left=left, right=right):
            source = f"({number_source(left, names)} {op} {number_source(right, names)})"
            return source if _fits(_exact(expr)) else f"_fit{source}"
        case Binary(op="&" | "|" | "^" as op, left=left, right=right):
            return f"({number_source(left, names)} {op} {number_source(right, names)})"
        case Binary(op="<?" | ">?" as op, left=left, right=right):
            function = "min" if op == "<?" else "max"
            return f"{function}({number_source(left, names)}, {number_source(right, names)})"
        case Binary(op=op, left=left, right=right) if op in _CALLS:
            first, second = number_source(left, names), number_source(right, names)
            if op in ("/", "%") and interval(left).lo >= 0 and interval(right).lo > 0:
                return f"({first} {'//' if op == '/' else '%'} {second})"
            return f"{_CALLS[op]}({first}, {second})"
        case Conditional(condition, then, otherwise) if not isinstance(expr.type, BoolType):
            return (
                f"({number_source(then, names)} if {truth_source(condition, names)} "
                f"else {number_source(otherwise, names)})"
            )
        case Call() if (found := operation_of(expr)) is not None and found[1] not in COMPARISONS:
            format_, op = found
            if op == "to int":
                return f"_trunc({_float_source(expr.arguments[0], format_, names)})"
            return f"_o{format_}({_float_source(expr, format_, names)})"
    return f"(1 if {truth_source(expr, names)} else 0)"


def _float_source(expr: Expr, format_: Format, names: Mapping[Symbol, str]) -> str:
    """Source whose value is the floating-point number that an expression has the ordinal of.

    Sums, products and quotients of 32-bit numbers are right if they are computed with 64 bits and
    rounded: 53 digits are more than twice 24, and two."""
    match expr:
        case IntLiteral(value=value):
            number = from_ordinal(value, format_)
            return repr(number) if abs(number) < 1e300 else f"_f{format_}({value})"
        case Call() if (found := operation_of(expr)) is not None:
            parts = []
            for place, one in enumerate(expr.arguments):
                inner = format_of(expr, place)
                if inner is None:
                    parts.append(f"float({number_source(one, names)})")
                else:
                    parts.append(_float_source(one, inner, names))
            return _operation_source(format_, found[1], parts)
        case Conditional(condition, then, otherwise):
            return (
                f"({_float_source(then, format_, names)} if {truth_source(condition, names)} "
                f"else {_float_source(otherwise, format_, names)})"
            )
    return f"_f{format_}({number_source(expr, names)})"


def _operation_source(format_: Format, op: str, parts: list[str]) -> str:
    match op:
        case "neg":
            return f"(-{parts[0]})"
        case "<?" | ">?":
            return f"{'_fmin' if op == '<?' else '_fmax'}({parts[0]}, {parts[1]})"
        case "from f32":
            return parts[0]
        case "from int" | "from f64":
            source = parts[0]
        case "/":
            source = f"_fdiv({parts[0]}, {parts[1]})"
        case _:
            source = f"({parts[0]} {op} {parts[1]})"
    return f"_r32({source})" if format_ == 32 else source


def may_fault(expr: Expr) -> bool:
    """Whether an evaluation may have no value."""
    match expr:
        case Unary(operand=operand):
            return may_fault(operand) or (expr.op == "-" and interval(operand).lo == INT32.lo)
        case Binary(op=op, left=left, right=right):
            if may_fault(left) or may_fault(right):
                return True
            if op in ("+", "-", "*"):
                return not _fits(_exact(expr))
            if op in ("/", "%"):
                return 0 in interval(right) or interval(left).lo == INT32.lo
            return op in ("<<", ">>")
        case Call():
            found = operation_of(expr)
            return (found is not None and found[1] == "to int") or any(
                map(may_fault, expr.arguments)
            )
        case Conditional(condition, then, otherwise):
            return may_fault(condition) or may_fault(then) or may_fault(otherwise)
    return False
