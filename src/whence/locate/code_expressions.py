"""Expressions of the core language as text of Python.

Values: integers are ints (or bools) within the range of their type, floats are floats, pointers
pairs (object, offset), structures snapshots of memory. Masks and checks are written only where
the value can leave the range of its type.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from whence.locate.layout import Layout, is_scalar
from whence.locate.memory import code_of
from whence.locate.outcome import Options
from whence.locate.ranges import bounds
from whence.model.program import (
    AddressOf,
    ArrayType,
    Binary,
    Cast,
    Conditional,
    Dereference,
    Element,
    Expression,
    FloatConstant,
    FloatType,
    FunctionAddress,
    IntConstant,
    IntType,
    Load,
    Logical,
    Member,
    NullPointer,
    Place,
    PointerAdd,
    PointerDifference,
    PointerType,
    Unary,
    Variable,
    VariablePlace,
    size_of,
)
from whence.model.program_walk import root
from whence.source import Origin

__all__ = ["ExpressionCode", "Names", "Spot", "literal"]


@dataclass
class Names:
    """What things of the program are called in Python, and the places it can fail at."""

    layout: Layout
    options: Options
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    #: (place, number of the statement) by site.
    sites: list[tuple[Origin, int]] = field(default_factory=list)
    #: Decisions that are reached where another (the second) came out false.
    chained: list[tuple[int, int]] = field(default_factory=list)
    #: Functions whose address is used, by their names in Python.
    addresses: dict[str, str] = field(default_factory=dict)
    #: Statements by number, and definitions, that compute anything: see `LazyCode`.
    doubted: frozenset[int] = frozenset()
    doubted_definitions: frozenset[Origin] = frozenset()

    def variable(self, variable: Variable) -> str:
        name = self.variables.get(variable.key)
        if name is None:
            letter = "o" if self.layout.in_memory(variable) else "v"
            if variable.lasting:
                letter = letter.upper()
            name = f"{letter}{len(self.variables)}"
            self.variables[variable.key] = name
        return name

    def address(self, function: str) -> str:
        return self.addresses.setdefault(function, f"A{len(self.addresses)}")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a place is. `kind` says how to get there: a variable of Python (`name`), an item of a
    list (`name[index]`), bytes of an object (`name`, `index`), or bytes behind a pointer."""

    kind: str
    name: str
    index: str = "0"


def literal(value: float) -> str:
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INF" if value > 0 else "(-INF)"
    return repr(value) if value >= 0 and not str(value).startswith("-") else f"({value!r})"


class ExpressionCode:
    """Writes the expressions of one function."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.layout = names.layout
        self.wraps = names.options.signed_overflow == "wrap"
        self.zeroed = names.options.uninitialised == "zero"
        self.statement = 0
        #: The variables that certainly have a value here; None where control never comes.
        self.defined: set[str] | None = set()
        #: Variables of Python that are checked somewhere, and so must exist from the start.
        self.checked: set[str] = set()
        self.undeclared: set[str] = set()
        self._temporaries = 0

    def site(self, origin: Origin) -> int:
        self.names.sites.append((origin, self.statement))
        return len(self.names.sites) - 1

    def fresh(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    # --- places -----------------------------------------------------------------------------

    def spot(self, place: Place) -> Spot:
        match place:
            case VariablePlace(variable=variable):
                name = self.names.variable(variable)
                if self.layout.in_memory(variable):
                    return Spot("object", name)
                return Spot("name", name) if is_scalar(variable.type) else Spot("item", name)
            case Dereference():
                return self._behind(place.pointer)
            case Element():
                return self._element(place)
            case Member():
                spot = self.spot(place.record)
                if spot.kind == "item":
                    count = self.layout.first_leaf(place.record.type, place.field)
                    return Spot("item", spot.name, _plus(spot.index, str(count)))
                return Spot(spot.kind, spot.name, _plus(spot.index, str(place.field.offset)))
        assert_never(place)

    def _behind(self, pointer: Expression) -> Spot:
        """What a pointer points at; steps of constant or variable size join the offset."""
        match pointer:
            case AddressOf():
                return self.spot(pointer.place)
            case Cast(operand=operand) if isinstance(operand.type, PointerType):
                return self._behind(operand)
            case PointerAdd():
                spot = self._behind(pointer.pointer)
                if spot.kind in ("object", "pointer"):
                    moved = self._scaled(pointer)
                    return Spot(spot.kind, spot.name, _plus(spot.index, moved))
        return Spot("pointer", self.value(pointer))

    def _scaled(self, add: PointerAdd) -> str:
        sign = -1 if add.back else 1
        if isinstance(add.index, IntConstant):
            return str(sign * add.stride * add.index.value)
        index = self.value(add.index)
        factor = sign * add.stride
        return index if factor == 1 else f"{factor} * {index}"

    def _element(self, place: Element) -> Spot:
        spot = self.spot(place.array)
        array = place.array.type
        assert isinstance(array, ArrayType)
        width = len(self.layout.leaves(place.type)) if spot.kind == "item" else size_of(place.type)
        if isinstance(place.index, IntConstant) and 0 <= place.index.value < (array.length or 0):
            return Spot(spot.kind, spot.name, _plus(spot.index, str(place.index.value * width)))
        index = self.value(place.index)
        least, greatest = bounds(place.index)
        # An object of exactly this array is checked when it is accessed.
        whole = spot.kind == "object" and isinstance(place.array, VariablePlace)
        checked = not place.flexible and array.length is not None and not whole
        if checked and (least < 0 or greatest >= (array.length or 0)):
            temporary = self.fresh()
            site = self.site(place.origin)
            index = (
                f"({temporary} if 0 <= ({temporary} := {index}) < {array.length} "
                f"else beyond({temporary}, {array.length}, {site}))"
            )
        scaled = index if width == 1 else f"{width} * {index}"
        return Spot(spot.kind, spot.name, _plus(spot.index, scaled))

    def load(self, place: Place, origin: Origin) -> str:
        spot = self.spot(place)
        if not is_scalar(place.type):
            size = size_of(place.type)
            return f"snapshot({self.base(spot)}, {size}, {self.site(origin)})"
        field = place.field if isinstance(place, Member) and place.field.width is not None else None
        match spot.kind:
            case "name":
                variable = place.variable if isinstance(place, VariablePlace) else None
                assert variable is not None
                return self._checked(variable, spot.name, origin)
            case "item":
                code = f"{spot.name}[{spot.index}]"
                variable = root(place)
                assert variable is not None
                if variable.lasting or self.zeroed:
                    return code
                temporary = self.fresh()
                return (
                    f"({temporary} if ({temporary} := {code}) is not None "
                    f"else unwritten({variable.name!r}, {self.site(origin)}))"
                )
        if field is not None:
            assert isinstance(place.type, IntType)
            signed = place.type.signed
            return (
                f"load_bits({self.base(spot)}, {field.bit}, {field.width}, {signed}, "
                f"{self.site(origin)})"
            )
        code = code_of(place.type)
        if spot.kind == "object":
            return f"load_{code}({spot.name}, {spot.index}, {self.site(origin)})"
        return f"get_{code}({spot.name}, {spot.index}, {self.site(origin)})"

    def _checked(self, variable: Variable, name: str, origin: Origin) -> str:
        if variable.lasting or variable.storage == "parameter":
            return name
        if self.defined is None or name in self.defined:
            return name
        self.checked.add(name)
        if self.zeroed:
            return f"({name} if {name} is not None else {self.zero(variable)})"
        return (
            f"({name} if {name} is not None else unwritten({variable.name!r}, {self.site(origin)}))"
        )

    def zero(self, variable: Variable) -> str:
        match variable.type:
            case PointerType():
                return "NULL"
            case FloatType():
                return "0.0"
        return "0"

    def base(self, spot: Spot) -> str:
        """Object and offset, as two arguments."""
        if spot.kind == "object":
            return f"{spot.name}, {spot.index}"
        assert spot.kind == "pointer"
        temporary = self.fresh()
        return f"({temporary} := {spot.name})[0], {temporary}[1] + {spot.index}"

    def pointer_to(self, spot: Spot) -> str:
        if spot.kind == "object":
            return f"({spot.name}, {spot.index})"
        assert spot.kind == "pointer"
        if spot.index == "0":
            return spot.name
        if spot.name.isidentifier():
            return f"({spot.name}[0], {spot.name}[1] + {spot.index})"
        temporary = self.fresh()
        return f"(({temporary} := {spot.name})[0], {temporary}[1] + {spot.index})"

    def store(self, place: Place, value: str, origin: Origin) -> str:
        """A statement that writes `value`."""
        spot = self.spot(place)
        if not is_scalar(place.type):
            return f"put({self.base(spot)}, {value}, {self.site(origin)})"
        field = place.field if isinstance(place, Member) and place.field.width is not None else None
        if field is not None and spot.kind in ("item", "name"):
            assert isinstance(place.type, IntType)
            assert field.width is not None
            value = self.wrap(value, IntType(field.width, place.type.signed))
        match spot.kind:
            case "name":
                return f"{spot.name} = {value}"
            case "item":
                return f"{spot.name}[{spot.index}] = {value}"
        if field is not None:
            return (
                f"store_bits({self.base(spot)}, {field.bit}, {field.width}, {value}, "
                f"{self.site(origin)})"
            )
        code = code_of(place.type)
        if spot.kind == "object":
            return f"store_{code}({spot.name}, {spot.index}, {value}, {self.site(origin)})"
        return f"set_{code}({spot.name}, {spot.index}, {value}, {self.site(origin)})"

    # --- conditions -------------------------------------------------------------------------

    def condition(self, expression: Expression) -> str:
        """Something that is true in Python where the expression differs from 0."""
        match expression:
            case Logical(operator=operator):
                word = "and" if operator == "&&" else "or"
                left = self.condition(expression.left)
                return f"({left} {word} {self.condition(expression.right)})"
            case Unary(operator="!"):
                return f"(not {self.condition(expression.operand)})"
        value = self.value(expression)
        if isinstance(expression.type, PointerType):
            return f"({value} != NULL)"
        return value

    # --- values -----------------------------------------------------------------------------

    def value(self, expression: Expression) -> str:
        match expression:
            case IntConstant(value=value):
                return str(value) if value >= 0 else f"({value})"
            case FloatConstant(value=value):
                return literal(value)
            case NullPointer():
                return "NULL"
            case FunctionAddress():
                return self.names.address(expression.function)
            case AddressOf():
                return self.pointer_to(self.spot(expression.place))
            case Load():
                return self.load(expression.place, expression.origin)
            case Unary():
                return self._unary(expression)
            case Binary():
                return self._binary(expression)
            case PointerAdd():
                spot = self._behind(expression.pointer)
                if spot.kind not in ("object", "pointer"):
                    spot = Spot("pointer", self.value(expression.pointer))
                moved = Spot(spot.kind, spot.name, _plus(spot.index, self._scaled(expression)))
                return self.pointer_to(moved)
            case PointerDifference():
                left, right = self.value(expression.left), self.value(expression.right)
                site = self.site(expression.origin)
                return f"difference({left}, {right}, {expression.stride}, {site})"
            case Logical():
                return f"(1 if {self.condition(expression)} else 0)"
            case Conditional():
                then, otherwise = self.value(expression.then), self.value(expression.otherwise)
                return f"({then} if {self.condition(expression.condition)} else {otherwise})"
            case Cast():
                return self._cast(expression)
        assert_never(expression)

    def _unary(self, expression: Unary) -> str:
        if expression.operator == "!":
            return f"(not {self.condition(expression.operand)})"
        value = self.value(expression.operand)
        type = expression.type
        if isinstance(type, FloatType):
            return f"(-{value})"
        assert isinstance(type, IntType)
        if expression.operator == "~":
            return f"(-1 - {value})" if type.signed else f"({value} ^ {type.greatest})"
        if not type.signed:
            return f"(-{value} & {type.greatest})"
        least, greatest = bounds(expression.operand)
        return self.within(f"-{value}", type, -greatest, -least, expression.origin)

    def within(self, code: str, type: IntType, least: int, greatest: int, origin: Origin) -> str:
        """`code`, which lies between `least` and `greatest`, as a value of the type."""
        if type.least <= least and greatest <= type.greatest:
            return f"({code})"
        if not type.signed:
            return f"({code} & {type.greatest})"
        temporary = self.fresh()
        outside = (
            f"wrapped({temporary}, {type.greatest})"
            if self.wraps
            else f"overflow({temporary}, {type.bits}, {self.site(origin)})"
        )
        return (
            f"({temporary} if {type.least} <= ({temporary} := {code}) <= {type.greatest} "
            f"else {outside})"
        )

    @staticmethod
    def wrap(code: str, type: IntType) -> str:
        """Any integer, modulo 2 ** bits."""
        mask = (1 << type.bits) - 1
        if not type.signed:
            return f"({code} & {mask})"
        half = 1 << type.bits - 1
        return f"((({code} & {mask}) ^ {half}) - {half})"

    def _binary(self, expression: Binary) -> str:
        operator = expression.operator
        left, right = self.value(expression.left), self.value(expression.right)
        if operator in ("==", "!="):
            return f"({left} {operator} {right})"
        if operator in ("<", ">", "<=", ">="):
            if isinstance(expression.left.type, PointerType):
                site = self.site(expression.origin)
                return f"(order({left}, {right}, {site}) {operator} 0)"
            return f"({left} {operator} {right})"
        if isinstance(expression.type, FloatType):
            code = f"{left} {operator} {right}"
            if operator == "/":
                code = f"divide({left}, {right})"
            return f"single({code})" if expression.type.bits == 32 else f"({code})"
        type = expression.type
        assert isinstance(type, IntType)
        one, two = bounds(expression.left), bounds(expression.right)
        origin = expression.origin
        match operator:
            case "+":
                code, least, greatest = f"{left} + {right}", one[0] + two[0], one[1] + two[1]
                return self.within(code, type, least, greatest, origin)
            case "-":
                code, least, greatest = f"{left} - {right}", one[0] - two[1], one[1] - two[0]
                return self.within(code, type, least, greatest, origin)
            case "*":
                products = [a * b for a in one for b in two]
                code = f"{left} * {right}"
                return self.within(code, type, min(products), max(products), origin)
            case "&" | "|" | "^":
                return f"({left} {operator} {right})"
            case "/" | "%":
                return self._division(expression, left, right)
            case "<<" | ">>":
                return self._shift(expression, left, right)
        raise AssertionError(operator)

    def _division(self, expression: Binary, left: str, right: str) -> str:
        type = expression.type
        assert isinstance(type, IntType)
        one, two = bounds(expression.left), bounds(expression.right)
        if one[0] >= 0 and two[0] > 0:
            return f"({left} {'//' if expression.operator == '/' else '%'} {right})"
        site = self.site(expression.origin)
        name = "quotient" if expression.operator == "/" else "remainder"
        code = f"{name}({left}, {right}, {site})"
        if type.signed and two[0] <= -1 <= two[1] and one[0] == type.least:
            if expression.operator == "%":
                # The remainder is 0, but the quotient does not exist.
                return (
                    f"{name}_checked({left}, {right}, {type.least}, {site})"
                    if (not self.wraps)
                    else code
                )
            return self.within(code, type, type.least, type.greatest + 1, expression.origin)
        return code

    def _shift(self, expression: Binary, left: str, right: str) -> str:
        type = expression.type
        assert isinstance(type, IntType)
        least, greatest = bounds(expression.right)
        if least < 0 or greatest >= type.bits:
            temporary = self.fresh()
            site = self.site(expression.origin)
            right = (
                f"({temporary} if 0 <= ({temporary} := {right}) < {type.bits} "
                f"else far({temporary}, {type.bits}, {site}))"
            )
        if expression.operator == ">>":
            return f"({left} >> {right})"
        one = bounds(expression.left)
        counted = least >= 0 and greatest < type.bits
        if counted and one[0] >= 0 and one[1] << greatest <= type.greatest:
            return f"({left} << {right})"
        return self.wrap(f"({left} << {right})", type)

    def _cast(self, expression: Cast) -> str:
        operand = expression.operand
        value = self.value(operand)
        source, target = operand.type, expression.type
        match source, target:
            case _, IntType(boolean=True):
                if isinstance(source, PointerType):
                    return f"({value} != NULL)"
                return f"({value} != 0)"
            case IntType(), IntType():
                least, greatest = bounds(operand)
                if target.least <= least and greatest <= target.greatest:
                    return value
                return self.wrap(value, target)
            case IntType(), FloatType():
                least, greatest = bounds(operand)
                if target.bits == 64:
                    return f"float({value})"
                return f"single_of({value})"
            case FloatType(), FloatType():
                if target.bits < source.bits:
                    return f"single({value})"
                return value
            case FloatType(), IntType():
                site = self.site(expression.origin)
                return f"truncate({value}, {target.least}, {target.greatest}, {site})"
            case PointerType(), PointerType():
                return value
            case PointerType(), IntType():
                code = f"address({value})"
                if target.signed or target.bits < source.bits:
                    return self.wrap(code, target)
                return code
            case IntType(), PointerType():
                mask = (1 << target.bits) - 1
                return f"pointer({value} & {mask})"
        raise AssertionError(expression)


def _plus(left: str, right: str) -> str:
    """The sum of two texts; numbers are added at once."""
    if right == "0":
        return left
    if left == "0":
        return right
    if _number(left) and _number(right):
        return str(int(left) + int(right))
    return f"{left} + {right}"


def _number(text: str) -> bool:
    return text.lstrip("-").isdigit()
