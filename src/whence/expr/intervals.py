"""Between which bounds the value of an expression lies, whatever the state.

The bounds hold for every evaluation that does not end in a fault; an expression that always
faults may get any bounds.  They may be wide, but they are never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from whence.expr.evaluate import domain_of, type_of
from whence.expr.ieee import COMPARISONS, operation_of
from whence.expr.ieee_intervals import bounds_of, compared
from whence.expr.tree import (
    Assignment,
    Binary,
    Block,
    BoolLiteral,
    Call,
    Conditional,
    Deadlock,
    Expr,
    Field,
    Function,
    Index,
    InLocation,
    IntLiteral,
    Name,
    Quantifier,
    Return,
    Step,
    Symbol,
    Unary,
)
from whence.expr.types import (
    INT32,
    ArrayType,
    BoolType,
    IntType,
    ScalarType,
    StructType,
    Type,
    cells,
)

__all__ = ["Access", "Interval", "Ranges", "declared_range", "interval", "range_of_type"]


@dataclass(frozen=True, slots=True)
class Interval:
    """The integers from `lo` to `hi`, both included; never empty."""

    lo: int
    hi: int

    def __post_init__(self) -> None:
        assert self.lo <= self.hi

    def __contains__(self, value: int) -> bool:
        return self.lo <= value <= self.hi

    def __str__(self) -> str:
        return f"[{self.lo},{self.hi}]"

    def meet(self, other: Interval) -> Interval | None:
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Interval(lo, hi) if lo <= hi else None

    def join(self, other: Interval) -> Interval:
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi))

    @property
    def truth(self) -> bool | None:
        """Whether the value counts as true; None where both are possible."""
        if self.lo == self.hi == 0:
            return False
        return None if 0 in self else True


Access = Name | Index | Field
Ranges = Callable[[Access], Interval]

_ALL: Final = Interval(INT32.lo, INT32.hi)
_EITHER: Final = Interval(0, 1)
#: Above this many values, a quantifier's body or a constant's cells are not looked at one by one.
_ENUMERATED: Final = 4096
_INLINED: Final = 8


def range_of_type(type_: Type) -> Interval:
    """The values that a cell of this type can hold."""
    match type_:
        case IntType(lo, hi):
            return Interval(lo, hi)
        case ScalarType(size=size):
            return Interval(0, size - 1)
        case BoolType():
            return _EITHER
        case _:
            return _ALL


def declared_range(access: Access) -> Interval:
    """The range that the declaration of what is accessed gives."""
    return range_of_type(type_of(access))


def interval(
    expr: Expr,
    ranges: Ranges = declared_range,
    *,
    constants: Mapping[Symbol, tuple[int, ...]] | None = None,
    functions: Mapping[Symbol, Function] | None = None,
) -> Interval:
    """Bounds on the value of an integer or boolean expression.

    `ranges` bounds what is read, also bound and select variables; it must hold throughout the
    evaluation, whatever side effects that has.  Elements of `constants` are known better than
    their declarations tell, and so are results of those of `functions` that only return a value.
    """
    return _Bounds(ranges, constants or {}, functions or {}).of(expr)


class _Bounds:
    def __init__(
        self,
        ranges: Ranges,
        constants: Mapping[Symbol, tuple[int, ...]],
        functions: Mapping[Symbol, Function],
    ) -> None:
        self._ranges = ranges
        self._constants = constants
        self._functions = functions
        self._known: dict[Symbol, Interval] = {}
        self._depth = 0
        #: How many times the current expression is looked at because of quantifiers around it.
        self._copies = 1

    def of(self, expr: Expr) -> Interval:
        match expr:
            case IntLiteral(value=value):
                return Interval(value, value)
            case BoolLiteral(value=truth):
                return _truth(truth)
            case Name() | Index() | Field():
                return self._read(expr)
            case Unary(op="!", operand=operand):
                truth_of = self.of(operand).truth
                return _EITHER if truth_of is None else _truth(not truth_of)
            case Unary(op="-", operand=operand):
                inner = self.of(operand)
                return _fits(Interval(-inner.hi, -inner.lo))
            case Unary(operand=operand):
                return self.of(operand)
            case Binary():
                return self._binary(expr)
            case Conditional():
                condition = self.of(expr.condition).truth
                if condition is not None:
                    return self.of(expr.then if condition else expr.otherwise)
                return self.of(expr.then).join(self.of(expr.otherwise))
            case Call() if (found := operation_of(expr)) is not None:
                parts = tuple((part.lo, part.hi) for part in map(self.of, expr.arguments))
                if found[1] in COMPARISONS:
                    truth_is = compared(found[1], parts[0], parts[1], found[0])
                    return _EITHER if truth_is is None else _truth(truth_is)
                return Interval(*bounds_of(found[0], found[1], parts))
            case Call():
                return self._call(expr)
            case Assignment():
                return self._assignment(expr)
            case Step():
                old = self.of(expr.target)
                if not expr.prefix:
                    return old
                new = _arithmetic(expr.op[0], old, Interval(1, 1))
                return self._stored(expr.target, new)
            case Quantifier():
                return self._quantifier(expr)
            case InLocation() | Deadlock():
                return _EITHER

    # ------------------------------------------------------------------------------- reading

    def _read(self, access: Access) -> Interval:
        if isinstance(access, Name) and access.symbol in self._known:
            return self._known[access.symbol]
        declared = range_of_type(type_of(access))
        of_constant = self._constant(access)
        found = self._ranges(access) if of_constant is None else of_constant
        return found.meet(declared) or found

    def _constant(self, access: Access) -> Interval | None:
        """The bounds of those elements of a constant that an access may mean."""
        path: list[Index | Field] = []
        root: Expr = access
        while isinstance(root, Index | Field):
            path.append(root)
            root = root.array if isinstance(root, Index) else root.record
        symbol = root.symbol if isinstance(root, Name) else None
        if symbol is None or symbol not in self._constants:
            return None
        values = self._constants[symbol]
        type_ = symbol.type
        offsets: Iterable[int] = (0,)
        count = 1
        for part in reversed(path):
            if isinstance(part, Field):
                assert isinstance(type_, StructType)
                found = type_.field(part.name)
                assert found is not None
                steps: Iterable[int] = (found[0],)
                type_ = found[1]
            else:
                assert isinstance(type_, ArrayType)
                width = cells(type_.element)
                inside = Interval(0, type_.length - 1)
                index = self.of(part.index)
                # An index that is always outside never reads anything.
                index = Interval(index.lo - type_.lo, index.hi - type_.lo).meet(inside) or inside
                steps = range(index.lo * width, (index.hi + 1) * width, width)
                count *= len(steps)
                type_ = type_.element
            if count > _ENUMERATED:
                return _hull(values)
            offsets = [offset + step for offset, step in product(offsets, steps)]
        return _hull(values[offset] for offset in offsets)

    # ------------------------------------------------------------------------------ operators

    def _binary(self, expr: Binary) -> Interval:
        left = self.of(expr.left)
        if expr.op in ("&&", "||", "imply"):
            right_truth, left_truth = self.of(expr.right).truth, left.truth
            if expr.op == "imply":
                left_truth = None if left_truth is None else not left_truth
            return _decided(expr.op == "&&", (left_truth, right_truth))
        if expr.op in ("==", "!=", "<", "<=", ">", ">="):
            if isinstance(type_of(expr.left), IntType | BoolType | ScalarType):
                return _compare(expr.op, left, self.of(expr.right))
            return _EITHER
        return _arithmetic(expr.op, left, self.of(expr.right))

    def _assignment(self, expr: Assignment) -> Interval:
        value = self.of(expr.value)
        if expr.op != "=":
            value = _arithmetic(expr.op[:-1], self.of(expr.target), value)
        return self._stored(expr.target, value)

    def _stored(self, target: Expr, value: Interval) -> Interval:
        """The bounds of what a variable holds after `value` was assigned to it."""
        type_ = type_of(target)
        if isinstance(type_, BoolType):
            return _EITHER if value.truth is None else _truth(value.truth)
        declared = range_of_type(type_)
        return value.meet(declared) or declared

    def _quantifier(self, expr: Quantifier) -> Interval:
        assert expr.symbol is not None, "an unchecked quantifier"
        domain = domain_of(expr.symbol)
        if not domain:
            return _truth(expr.kind == "forall")
        if self._copies * len(domain) > _ENUMERATED:
            self._known[expr.symbol] = Interval(domain[0], domain[-1])
            bodies = [self.of(expr.body)]
            repeated = len(domain)
        else:
            bodies = []
            repeated = 1
            self._copies *= len(domain)
            for value in domain:
                self._known[expr.symbol] = Interval(value, value)
                bodies.append(self.of(expr.body))
            self._copies //= len(domain)
        del self._known[expr.symbol]
        if expr.kind != "sum":
            return _decided(expr.kind == "forall", tuple(body.truth for body in bodies))
        return _fits(
            Interval(
                repeated * sum(body.lo for body in bodies),
                repeated * sum(body.hi for body in bodies),
            )
        )

    # ------------------------------------------------------------------------------ functions

    def _call(self, expr: Call) -> Interval:
        assert expr.symbol is not None, "an unchecked call"
        declared = range_of_type(expr.symbol.type)
        function = self._functions.get(expr.symbol)
        result = None if function is None else _returned(function)
        if function is None or result is None or self._depth >= _INLINED:
            return declared
        arguments: dict[Symbol, Interval] = {}
        for parameter, argument in zip(function.parameters, expr.arguments, strict=True):
            type_ = parameter.symbol.type
            if isinstance(type_, BoolType | IntType | ScalarType):
                arguments[parameter.symbol] = self._stored(
                    Name(parameter.symbol.name, parameter.symbol), self.of(argument)
                )
        known = self._known
        self._known = arguments
        self._depth += 1
        try:
            value = self.of(result)
        finally:
            self._known = known
            self._depth -= 1
        return self._stored(expr, value)


def _returned(function: Function) -> Expr | None:
    """The expression that a function returns if it does nothing else, not even by side effects."""
    body = function.body
    if body.locals or len(body.statements) != 1:
        return None
    match body.statements[0]:
        case Block() as inner:
            return _returned(Function(function.symbol, function.parameters, inner))
        case Return(value=value) if value is not None and _is_pure(value):
            return value
        case _:
            return None


def _is_pure(expr: Expr) -> bool:
    """Whether an expression writes nothing; calls count as writing."""
    match expr:
        case Assignment() | Step() | Call():
            return False
        case Unary(operand=inner) | Field(record=inner) | Quantifier(body=inner):
            return _is_pure(inner)
        case InLocation(process=inner):
            return _is_pure(inner)
        case Binary(left=left, right=right) | Index(array=left, index=right):
            return _is_pure(left) and _is_pure(right)
        case Conditional():
            return all(map(_is_pure, (expr.condition, expr.then, expr.otherwise)))
        case IntLiteral() | BoolLiteral() | Name() | Deadlock():
            return True


# -------------------------------------------------------------------------------------- arithmetic


def _truth(value: bool) -> Interval:
    return Interval(int(value), int(value))


def _hull(values: Iterable[int]) -> Interval:
    listed = list(values)
    return Interval(min(listed), max(listed))


def _fits(value: Interval) -> Interval:
    """What is left of `value` when overflow is a fault."""
    return value.meet(_ALL) or _ALL


def _decided(every: bool, truths: tuple[bool | None, ...]) -> Interval:
    """All of the truth values (`every`), or at least one of them."""
    if (not every) in truths:
        return _truth(not every)
    return _EITHER if None in truths else _truth(every)


def _compare(op: str, left: Interval, right: Interval) -> Interval:
    match op:
        case "<":
            always, never = left.hi < right.lo, left.lo >= right.hi
        case "<=":
            always, never = left.hi <= right.lo, left.lo > right.hi
        case ">":
            return _compare("<", right, left)
        case ">=":
            return _compare("<=", right, left)
        case "==":
            always = left.lo == left.hi == right.lo == right.hi
            never = left.meet(right) is None
        case _:
            never = left.lo == left.hi == right.lo == right.hi
            always = left.meet(right) is None
    if always:
        return _truth(True)
    return _truth(False) if never else _EITHER


def _arithmetic(op: str, left: Interval, right: Interval) -> Interval:
    match op:
        case "+":
            result = Interval(left.lo + right.lo, left.hi + right.hi)
        case "-":
            result = Interval(left.lo - right.hi, left.hi - right.lo)
        case "*":
            result = _corners(lambda a, b: a * b, left, right)
        case "/":
            result = _divide(left, right)
        case "%":
            result = _modulo(left, right)
        case "<<" | ">>":
            amount = right.meet(Interval(0, 31))
            if amount is None:
                return _ALL
            if op == "<<":
                result = _corners(lambda a, b: a << b, left, amount)
            else:
                result = _corners(lambda a, b: a >> b, left, amount)
        case "<?":
            result = Interval(min(left.lo, right.lo), min(left.hi, right.hi))
        case ">?":
            result = Interval(max(left.lo, right.lo), max(left.hi, right.hi))
        case "&" | "|" | "^":
            result = _bitwise(op, left, right)
        case _:
            raise ValueError(f"no operator: {op}")
    return _fits(result)


def _corners(operation: Callable[[int, int], int], left: Interval, right: Interval) -> Interval:
    """The hull of an operation that is monotone in each operand for any value of the other."""
    return _hull(operation(a, b) for a in (left.lo, left.hi) for b in (right.lo, right.hi))


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) is (right < 0) else -quotient


def _divide(left: Interval, right: Interval) -> Interval:
    # Division is monotone on either side of zero; by zero it has no value.
    result: Interval | None = None
    for side in (Interval(_ALL.lo, -1), Interval(1, _ALL.hi)):
        divisor = right.meet(side)
        if divisor is not None:
            quotient = _corners(_truncated, left, divisor)
            result = quotient if result is None else result.join(quotient)
    return _ALL if result is None else result


def _modulo(left: Interval, right: Interval) -> Interval:
    # The result has the sign of the dividend, is no further from zero than it, and nearer than
    # the divisor; the dividend stays as it is where every divisor is larger.
    largest = max(abs(right.lo), abs(right.hi)) - 1
    if largest < 0:
        return _ALL
    smallest = 0 if 0 in right else min(abs(right.lo), abs(right.hi))
    if max(abs(left.lo), abs(left.hi)) < smallest:
        return left
    return Interval(-min(max(0, -left.lo), largest), min(max(0, left.hi), largest))


def _bitwise(op: str, left: Interval, right: Interval) -> Interval:
    if left.lo == left.hi and right.lo == right.hi:
        a, b = left.lo, right.lo
        value = a & b if op == "&" else a | b if op == "|" else a ^ b
        return Interval(value, value)
    if op == "&" and (left.lo >= 0 or right.lo >= 0):
        # Masking with a non-negative number gives at most that number.
        return Interval(0, min(side.hi for side in (left, right) if side.lo >= 0))
    bits = max(
        bound.bit_length() if bound >= 0 else (~bound).bit_length()
        for bound in (left.lo, left.hi, right.lo, right.hi)
    )
    hi = 2**bits - 1
    if left.lo >= 0 and right.lo >= 0:
        return Interval(max(left.lo, right.lo) if op == "|" else 0, hi)
    return Interval(-hi - 1, hi)
