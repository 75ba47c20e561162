"""What expressions and statements mean, written down as plainly as possible.

This interpretation is the judge of the others: constants are folded with it, traces are replayed
with it, and the fast kernel is tested against it.  So it shares no code with them, and favours
being obviously right over being quick.

Evaluation goes from left to right everywhere: the left operand before the right one, the array
index in the target of an assignment (and, for `+=` and its like, the target's old value) before
the assigned value, arguments in order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from whence.expr.constants import default_cells
from whence.expr.faults import CALL_DEPTH, LOOP_STEPS, EvaluationError, Fault
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
    BOOL,
    CONSTRAINT,
    DIFFERENCE,
    INT32,
    VOID,
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
from whence.source import Diagnostic, InputError, Origin

__all__ = [
    "Place",
    "Returned",
    "Store",
    "apply_updates",
    "domain_of",
    "evaluate",
    "evaluate_constant",
    "execute",
    "holds",
    "place_of",
    "type_of",
]

Cells = tuple[int, ...]

#: Room on Python's stack for CALL_DEPTH nested calls with deeply nested expressions in each.
_STACK: Final = 60_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value lives: `memory[address]` and the cells after it, as many as `type` has.

    The address of a variable is its address in the network's layout, also for clocks and channels,
    which have no memory of their own.  `text` is how messages call the place.
    """

    memory: Sequence[int]
    address: int
    type: Type
    text: str
    #: What a reference parameter stands for may have other ranges than it: these bind as well.
    beneath: tuple[Type, ...] = ()


@dataclass(slots=True)
class Store:
    """Everything that an expression can read or write.

    `data` holds the data cells and `address` says where each variable begins among all cells
    (`Layout.address`); the clock at an address is number `clock_of[address]`, and
    `clocks[number]` is its value (without `clocks`, resets are checked but not kept, and
    comparing clocks is an error of the caller).  `frame` holds the local variables and
    parameters of the function being executed, and bound and select variables.
    """

    data: list[int] = field(default_factory=list)
    address: Mapping[Symbol, int] = field(default_factory=dict)
    clocks: list[Fraction] | None = None
    clock_of: Sequence[int] = ()
    locations: Sequence[int] = ()
    constants: Mapping[Symbol, Cells] = field(default_factory=dict)
    functions: Mapping[Symbol, Function] = field(default_factory=dict)
    frame: dict[Symbol, Place] = field(default_factory=dict)
    #: Decides `deadlock`, which is not a matter of this one state alone.
    deadlock: Callable[[], bool] | None = None
    #: If set, collects after what further delays the outcome of some comparison of clocks may
    #: change. Clocks that were reset meanwhile are taken to be reset anew after that delay.
    changes: set[Fraction] | None = None
    reset: set[int] = field(default_factory=set)
    depth: int = 0
    steps: int = 0

    def bind(self, symbol: Symbol, value: int) -> None:
        """Give a select or bound variable its value."""
        self.frame[symbol] = Place([value], 0, symbol.type, str(symbol.name))


@dataclass(frozen=True, slots=True)
class Returned:
    """What executing a statement gives when it ended the function: the returned cells."""

    cells: Cells


# ---------------------------------------------------------------------------------- entry points


def evaluate(expr: Expr, store: Store) -> int | Cells:
    """The value: an integer (truth values are 0 and 1), or the cells of an array or struct."""
    with _fresh(store):
        if _is_aggregate(expr) or isinstance(type_of(expr), VoidType):
            return _cells(expr, store)
        return _number(expr, store)


def holds(expr: Expr, store: Store) -> bool:
    """Whether a condition, possibly on clocks, is true."""
    with _fresh(store):
        return _number(expr, store) != 0


def apply_updates(updates: Sequence[Expr], store: Store) -> None:
    """Evaluate the expressions of an update label for their effect, one after the other."""
    for update in updates:
        evaluate(update, store)


def execute(statement: Statement, store: Store) -> Returned | None:
    """Execute one statement; the result is there if it returned from its function."""
    with _fresh(store):
        return _execute(statement, store)


def place_of(expr: Expr, store: Store) -> Place:
    """The place that an lvalue (of data, clock or channel type) denotes."""
    with _fresh(store):
        return _place(expr, store)


def evaluate_constant(
    expr: Expr, constants: Mapping[Symbol, Cells], functions: Mapping[Symbol, Function]
) -> Cells:
    """The cells of an expression over constants alone.

    Raises :class:`EvaluationError` where the evaluation goes wrong, and :class:`InputError` where
    the expression reads something that is no constant.
    """
    store = Store(constants=constants, functions=functions)
    with _fresh(store):
        return _cells(expr, store)


def domain_of(symbol: Symbol) -> range:
    """The values that a bound variable ranges over, ascending."""
    match symbol.type:
        case IntType(lo, hi):
            return range(lo, hi + 1)
        case ScalarType(size=size):
            return range(size)
        case BoolType():
            return range(2)
        case other:
            raise TypeError(f"{symbol} ranges over {other}")


def type_of(expr: Expr) -> Type:
    """The type of a checked expression; where it was not noted, what its parts imply."""
    if expr.type is not None:
        return expr.type
    match expr:
        case Name(symbol=Symbol(type=type_)) | Call(symbol=Symbol(type=type_)):
            return type_
        case Index(array=array):
            return _element_type(type_of(array))
        case Field(record=record, name=name):
            return _field_type(type_of(record), name)[1]
        case Assignment(target=inner) | Step(target=inner) | Conditional(then=inner):
            return type_of(inner)
        case Binary(op="-", left=left) if isinstance(type_of(left), ClockType):
            return DIFFERENCE
        case Binary(op=op, left=left, right=right) if op in _COMPARISONS or op in _SHORT_CIRCUIT:
            clocked = ClockType | DifferenceType | ConstraintType
            sides = type_of(left), type_of(right)
            return CONSTRAINT if any(isinstance(side, clocked) for side in sides) else BOOL
        case Quantifier(kind="sum"):
            return INT32
        case Quantifier() | InLocation() | Deadlock() | BoolLiteral() | Unary(op="!"):
            return BOOL
        case _:
            return INT32


@contextmanager
def _fresh(store: Store) -> Iterator[None]:
    """A new count of loop iterations, and a stack of Python's that CALL_DEPTH calls fit on."""
    store.steps = 0
    limit = sys.getrecursionlimit()
    if limit >= _STACK:
        yield
        return
    sys.setrecursionlimit(_STACK)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


# ------------------------------------------------------------------------------------------ values


def _element_type(type_: Type) -> Type:
    assert isinstance(type_, ArrayType)
    return type_.element


def _field_type(type_: Type, name: str) -> tuple[int, Type]:
    assert isinstance(type_, StructType)
    found = type_.field(name)
    assert found is not None
    return found


def _is_aggregate(expr: Expr) -> bool:
    return isinstance(type_of(expr), ArrayType | StructType)


def _is_clock(expr: Expr) -> bool:
    return isinstance(type_of(expr), ClockType | DifferenceType)


def _cells(expr: Expr, store: Store) -> Cells:
    """The cells of any value: none for void, one for a number, and so on."""
    if isinstance(type_of(expr), VoidType):
        assert isinstance(expr, Call)
        return _call(expr, store)
    if not _is_aggregate(expr):
        return (_number(expr, store),)
    match expr:
        case Call():
            return _call(expr, store)
        case Conditional():
            return _cells(_branch(expr, store), store)
        case Assignment():
            return _assign(expr, store)[1]
        case _:
            return _load(_place(expr, store))


def _number(expr: Expr, store: Store) -> int:
    """The value of an expression of integer, boolean, scalar or constraint type."""
    match expr:
        case IntLiteral(value=value):
            return value
        case BoolLiteral(value=truth):
            return int(truth)
        case Name() | Index() | Field():
            return _load(_place(expr, store))[0]
        case Unary(op="!", operand=operand):
            return int(_number(operand, store) == 0)
        case Unary(op="-", operand=operand):
            value = _number(operand, store)
            return _fit_32_bits(-value, expr.origin, f"-({value})")
        case Unary(operand=operand):
            return _number(operand, store)
        case Binary():
            return _binary(expr, store)
        case Conditional():
            return _number(_branch(expr, store), store)
        case Call():
            return _call(expr, store)[0]
        case Assignment():
            return _assign(expr, store)[1][0]
        case Step():
            return _step(expr, store)[1]
        case Quantifier():
            return _quantifier(expr, store)
        case InLocation():
            process = _number(expr.process, store)
            if not 0 <= process < len(store.locations):
                raise EvaluationError(
                    Fault.BAD_INDEX, expr.origin, f"process number {process} in {expr.text}"
                )
            return int(store.locations[process] == expr.location)
        case Deadlock():
            if store.deadlock is None:
                raise InputError(Diagnostic("`deadlock` cannot be evaluated here", expr.origin))
            return int(store.deadlock())


def _branch(expr: Conditional, store: Store) -> Expr:
    return expr.then if _number(expr.condition, store) else expr.otherwise


def _binary(expr: Binary, store: Store) -> int:
    op = expr.op
    if op in _SHORT_CIRCUIT:
        # The left value that decides alone, and what it decides.
        deciding, result = _SHORT_CIRCUIT[op]
        left_truth = _number(expr.left, store) != 0
        if left_truth is deciding:
            return int(result)
        return int(_number(expr.right, store) != 0)
    if op in _COMPARISONS:
        if _is_clock(expr.left) or _is_clock(expr.right):
            return int(_compare_clocks(expr, store))
        if _is_aggregate(expr.left):
            same = _cells(expr.left, store) == _cells(expr.right, store)
            return int(same is (op == "=="))
        left = _number(expr.left, store)
        return int(_compare(op, left, _number(expr.right, store)))
    left = _number(expr.left, store)
    return _arithmetic(op, left, _number(expr.right, store), expr.origin)


_SHORT_CIRCUIT = {"&&": (False, False), "||": (True, True), "imply": (False, True)}
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def _compare(op: str, left: int | Fraction, right: int | Fraction) -> bool:
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


def _arithmetic(op: str, left: int, right: int, origin: Origin) -> int:
    """A 32-bit operation: computed without bounds, then checked."""
    shown = f"{left} {op} {right}"
    match op:
        case "+":
            result = left + right
        case "-":
            result = left - right
        case "*":
            result = left * right
        case "/" | "%":
            if right == 0:
                raise EvaluationError(Fault.DIVISION_BY_ZERO, origin, shown)
            # Python rounds down, C towards zero.
            quotient = abs(left) // abs(right)
            if (left < 0) is not (right < 0):
                quotient = -quotient
            result = quotient if op == "/" else left - quotient * right
        case "<<" | ">>":
            if not 0 <= right <= 31:
                raise EvaluationError(Fault.BAD_SHIFT, origin, shown)
            result = left << right if op == "<<" else left >> right
        case "&":
            result = left & right
        case "|":
            result = left | right
        case "^":
            result = left ^ right
        case "<?":
            result = min(left, right)
        case ">?":
            result = max(left, right)
        case _:
            raise ValueError(f"no operator: {op}")
    return _fit_32_bits(result, origin, shown)


def _fit_32_bits(value: int, origin: Origin, shown: str) -> int:
    if not INT32.lo <= value <= INT32.hi:
        raise EvaluationError(Fault.OVERFLOW, origin, shown)
    return value


def _quantifier(expr: Quantifier, store: Store) -> int:
    assert expr.symbol is not None, "an unchecked quantifier"
    total = 0
    result: int | None = None
    for value in domain_of(expr.symbol):
        store.bind(expr.symbol, value)
        body = _number(expr.body, store)
        if expr.kind == "sum":
            total = _fit_32_bits(total + body, expr.origin, f"{total} + {body}")
        elif (body != 0) is (expr.kind == "exists"):
            result = int(body != 0)
            break
    store.frame.pop(expr.symbol, None)
    if result is not None:
        return result
    return total if expr.kind == "sum" else int(expr.kind == "forall")


# ------------------------------------------------------------------------------------------ clocks


def _compare_clocks(expr: Binary, store: Store) -> bool:
    left, left_rate = _clock_value(expr.left, store)
    right, right_rate = _clock_value(expr.right, store)
    rate = left_rate - right_rate
    if store.changes is not None and rate:
        store.changes.add((right - left) / rate)
    return _compare(expr.op, left, right)


def _clock_value(expr: Expr, store: Store) -> tuple[Fraction, int]:
    """The value of one side of a comparison, and how fast it grows with a delay before now."""
    if not _is_clock(expr):
        return Fraction(_number(expr, store)), 0
    match expr:
        case Binary(op="-", left=left_expr, right=right_expr):
            left, left_rate = _clock_value(left_expr, store)
            right, right_rate = _clock_value(right_expr, store)
            return left - right, left_rate - right_rate
        case Conditional():
            return _clock_value(_branch(expr, store), store)
        case _:
            if store.clocks is None:
                raise ValueError("a clock is read where there are no values of clocks")
            number = _clock_number(_place(expr, store), store)
            return store.clocks[number], int(number not in store.reset)


def _clock_number(place: Place, store: Store) -> int:
    return store.clock_of[place.address]


# ------------------------------------------------------------------------------------------ places


def _place(expr: Expr, store: Store) -> Place:
    match expr:
        case Name(symbol=Symbol() as symbol):
            return _place_of_symbol(symbol, store, expr.origin)
        case Index():
            array = _place(expr.array, store)
            index = _number(expr.index, store)
            assert isinstance(array.type, ArrayType)
            lo, hi = array.type.lo, array.type.lo + array.type.length - 1
            text = f"{array.text}[{index}]"
            if not lo <= index <= hi:
                raise EvaluationError(Fault.BAD_INDEX, expr.origin, f"{text}, allowed {lo}..{hi}")
            element = array.type.element
            address = array.address + (index - lo) * cells(element)
            beneath = tuple(_element_type(type_) for type_ in array.beneath)
            return Place(array.memory, address, element, text, beneath)
        case Field():
            record = _place(expr.record, store)
            offset, of_field = _field_type(record.type, expr.name)
            beneath = tuple(_field_type(type_, expr.name)[1] for type_ in record.beneath)
            text = f"{record.text}.{expr.name}"
            return Place(record.memory, record.address + offset, of_field, text, beneath)
        case Assignment():
            return _assign(expr, store)[0]
        case Step(prefix=True):
            return _step(expr, store)[0]
        case Conditional():
            return _place(_branch(expr, store), store)
        case _:
            # A value without a place, such as an array that a function returned.
            return Place(_cells(expr, store), 0, type_of(expr), "a value")


def _place_of_symbol(symbol: Symbol, store: Store, origin: Origin) -> Place:
    if symbol in store.frame:
        return store.frame[symbol]
    if symbol in store.constants:
        return Place(store.constants[symbol], 0, symbol.type, str(symbol))
    if symbol in store.address:
        return Place(store.data, store.address[symbol], symbol.type, str(symbol))
    raise InputError(Diagnostic(f"`{symbol}` has no value here", origin))


def _load(place: Place) -> Cells:
    return tuple(place.memory[place.address : place.address + cells(place.type)])


def _fitted(values: Cells, type_: Type, text: str, origin: Origin) -> Cells:
    """The cells as a variable of this type holds them; a fault if one is out of its range."""
    result = []
    for value, cell in zip(values, named_cells(text, type_), strict=True):
        match cell.type:
            case BoolType():
                result.append(int(value != 0))
                continue
            case IntType(lo, hi):
                pass
            case ScalarType(size=size):
                lo, hi = 0, size - 1
            case _:
                raise TypeError(f"{cell.name} of type {cell.type} cannot be assigned to")
        if not lo <= value <= hi:
            raise EvaluationError(
                Fault.OUT_OF_RANGE, origin, f"{cell.name} := {value}, allowed {lo}..{hi}"
            )
        result.append(value)
    return tuple(result)


def _save(place: Place, values: Cells, store: Store, origin: Origin) -> Cells:
    """Write to a place, clocks included; the cells that were written."""
    if isinstance(place.type, ClockType):
        (value,) = values
        if value < 0:
            raise EvaluationError(Fault.NEGATIVE_CLOCK, origin, f"{place.text} := {value}")
        number = _clock_number(place, store)
        store.reset.add(number)
        if store.clocks is not None:
            store.clocks[number] = Fraction(value)
        return values
    fitted = _fitted(values, place.type, place.text, origin)
    for type_ in place.beneath:
        fitted = _fitted(fitted, type_, place.text, origin)
    assert isinstance(place.memory, MutableSequence), f"{place.text} cannot be written to"
    place.memory[place.address : place.address + len(fitted)] = fitted
    return fitted


def _assign(expr: Assignment, store: Store) -> tuple[Place, Cells]:
    place = _place(expr.target, store)
    if expr.op == "=":
        values = _cells(expr.value, store)
    else:
        (old,) = _load(place)
        operand = _number(expr.value, store)
        values = (_arithmetic(expr.op[:-1], old, operand, expr.origin),)
    return place, _save(place, values, store, expr.origin)


def _step(expr: Step, store: Store) -> tuple[Place, int]:
    """The target, and the value of `++` or `--`: the new one in front, the old one behind."""
    place = _place(expr.target, store)
    (old,) = _load(place)
    new = _arithmetic(expr.op[0], old, 1, expr.origin)
    (saved,) = _save(place, (new,), store, expr.origin)
    return place, saved if expr.prefix else old


# --------------------------------------------------------------------------------------- functions


def _call(expr: Call, store: Store) -> Cells:
    assert expr.symbol is not None, "an unchecked call"
    function = store.functions[expr.symbol]
    frame: dict[Symbol, Place] = {}
    for parameter, argument in zip(function.parameters, expr.arguments, strict=True):
        symbol = parameter.symbol
        if parameter.reference:
            place = _place(argument, store)
            beneath = (place.type, *place.beneath)
            frame[symbol] = Place(place.memory, place.address, symbol.type, place.text, beneath)
        else:
            values = _fitted(_cells(argument, store), symbol.type, symbol.name, argument.origin)
            frame[symbol] = Place(list(values), 0, symbol.type, symbol.name)

    if store.depth >= CALL_DEPTH:
        raise EvaluationError(Fault.RECURSION, expr.origin, f"in {expr.symbol.name}")
    caller = store.frame
    store.frame = frame
    store.depth += 1
    try:
        returned = _execute(function.body, store)
    finally:
        store.frame = caller
        store.depth -= 1
    if expr.symbol.type == VOID:
        return ()
    if returned is None:
        raise EvaluationError(Fault.NO_RETURN, expr.origin, expr.symbol.name)
    # The origin of a bad result is the call: `return` does not know what it returns to.
    return _fitted(returned.cells, expr.symbol.type, f"{expr.symbol.name}()", expr.origin)


def _execute(statement: Statement, store: Store) -> Returned | None:
    match statement:
        case Block():
            for local in statement.locals:
                _declare(local.symbol, local.initial, store, local.origin)
            for inner in statement.statements:
                returned = _execute(inner, store)
                if returned is not None:
                    return returned
            return None
        case Evaluate(expr=expr):
            if expr is not None:
                _cells(expr, store)
            return None
        case If():
            if _number(statement.condition, store):
                return _execute(statement.then, store)
            if statement.otherwise is not None:
                return _execute(statement.otherwise, store)
            return None
        case While():
            return _loop(statement.condition, None, statement.body, store, statement.origin)
        case DoWhile():
            _count(store, statement.origin)
            returned = _execute(statement.body, store)
            if returned is not None:
                return returned
            return _loop(statement.condition, None, statement.body, store, statement.origin)
        case For():
            if statement.start is not None:
                _cells(statement.start, store)
            return _loop(
                statement.condition, statement.advance, statement.body, store, statement.origin
            )
        case ForEach():
            assert statement.symbol is not None, "an unchecked loop"
            for value in domain_of(statement.symbol):
                _count(store, statement.origin)
                store.bind(statement.symbol, value)
                returned = _execute(statement.body, store)
                if returned is not None:
                    return returned
            return None
        case Return(value=value_expr):
            return Returned(() if value_expr is None else _cells(value_expr, store))


def _declare(symbol: Symbol, initial: tuple[Expr, ...], store: Store, origin: Origin) -> None:
    values: list[int] = []
    for expr in initial:
        values.extend(_cells(expr, store))
    fitted = _fitted(tuple(values), symbol.type, symbol.name, origin) if initial else None
    start = default_cells(symbol.type) if fitted is None else fitted
    store.frame[symbol] = Place(list(start), 0, symbol.type, symbol.name)


def _loop(
    condition: Expr | None, advance: Expr | None, body: Statement, store: Store, origin: Origin
) -> Returned | None:
    while condition is None or _number(condition, store):
        _count(store, origin)
        returned = _execute(body, store)
        if returned is not None:
            return returned
        if advance is not None:
            _cells(advance, store)
    return None


def _count(store: Store, origin: Origin) -> None:
    store.steps += 1
    if store.steps > LOOP_STEPS:
        raise EvaluationError(Fault.ENDLESS_LOOP, origin)
