"""Random small networks and queries, to compare checkers on.

A network comes as checked dataclasses, and :func:`to_uppaal_xml` writes the same one as a file of
UPPAAL, so that what reads files can be put into the comparison.  The first half of this module
builds typed expressions; hand-written tests use it as well.

Two things make random networks worth checking.  Each location can be reached from the initial one
if labels are ignored, and each network uses only some of the features that are allowed to it:
with all at once, most networks are stuck in their initial state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Literal, TypeVar
from xml.sax.saxutils import escape

from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter

from whence.expr.tree import (
    Assignment,
    Binary,
    BoolLiteral,
    Conditional,
    Deadlock,
    Expr,
    Index,
    InLocation,
    IntLiteral,
    Name,
    Quantifier,
    Step,
    Symbol,
    SymbolKind,
    Unary,
)
from whence.expr.types import (
    BOOL,
    CLOCK,
    CONSTRAINT,
    DIFFERENCE,
    INT32,
    ArrayType,
    BoolType,
    ChannelType,
    ClockType,
    ConstraintType,
    IntType,
    Type,
)
from whence.model.network import (
    Edge,
    Location,
    Network,
    Process,
    Query,
    QueryKind,
    Select,
    Synchronisation,
    Variable,
)

__all__ = [
    "PRESETS",
    "QUERY_KINDS",
    "Features",
    "Model",
    "assign",
    "at",
    "binary",
    "choose",
    "deadlock",
    "element",
    "models",
    "name",
    "negation",
    "networks",
    "number",
    "quantifier",
    "queries",
    "text_of",
    "to_uppaal_xml",
    "truth",
    "variable",
    "with_text",
]

T = TypeVar("T")

# ------------------------------------------------------------------------------ typed expressions


def number(value: int) -> Expr:
    return IntLiteral(value, type=INT32)


def truth(value: bool) -> Expr:
    return BoolLiteral(value, type=BOOL)


def name(symbol: Symbol) -> Expr:
    return Name(symbol.name, symbol, type=symbol.type)


def element(array: Expr, index: Expr) -> Expr:
    assert isinstance(array.type, ArrayType)
    return Index(array, index, type=array.type.element)


def _truth_type(*parts: Expr) -> Type:
    return CONSTRAINT if any(isinstance(part.type, ConstraintType) for part in parts) else BOOL


def binary(op: str, left: Expr, right: Expr) -> Expr:
    """`left op right`, of the type that follows from the operands."""
    type_: Type = INT32
    if op in ("&&", "||", "imply"):
        type_ = _truth_type(left, right)
    elif op in ("<", "<=", ">", ">=", "==", "!="):
        clocked = left.type in (CLOCK, DIFFERENCE) or right.type in (CLOCK, DIFFERENCE)
        type_ = CONSTRAINT if clocked else BOOL
    elif left.type == CLOCK:
        type_ = DIFFERENCE
    return Binary(op, left, right, type=type_)


def negation(operand: Expr) -> Expr:
    return Unary("!", operand, type=_truth_type(operand))


def choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    return Conditional(condition, then, otherwise, type=INT32)


def assign(target: Expr, value: Expr, op: str = "=") -> Expr:
    return Assignment(op, target, value, type=target.type)


def at(process: int, location: int, text: str = "") -> Expr:
    """Process number `process` is in its location number `location`."""
    place = text or f"P{process}.L{location}"
    return InLocation(number(process), location, place, type=BOOL)


def deadlock() -> Expr:
    return Deadlock(type=CONSTRAINT)


def quantifier(kind: str, symbol: Symbol, body: Expr) -> Expr:
    type_ = INT32 if kind == "sum" else _truth_type(body)
    return Quantifier(kind, symbol.name, None, body, symbol, type=type_)


def variable(name: str, type_: Type, *initial: int, scope: str = "") -> Variable:
    """A variable; all its cells are 0 unless `initial` says otherwise."""
    cells = type_.length if isinstance(type_, ArrayType) else 1
    symbol = Symbol(scope, name, SymbolKind.VARIABLE, type_)
    return Variable(symbol, initial or (0,) * cells)


# ------------------------------------------------------------------------------------------- text


def text_of(expr: Expr, inside: str = "") -> str:
    """`expr` as UPPAAL reads it in process `inside`; with parentheses around everything."""

    def text(part: Expr) -> str:
        return text_of(part, inside)

    match expr:
        case IntLiteral(value):
            return str(value) if value >= 0 else f"({value})"
        case BoolLiteral(value):
            return "true" if value else "false"
        case Name(written, symbol):
            bound = (SymbolKind.SELECT, SymbolKind.BOUND)
            if symbol is None or symbol.scope in ("", inside) or symbol.kind in bound:
                return written
            return f"{symbol.scope}.{written}"
        case Unary(op, operand):
            return f"({op}{text(operand)})"
        case Binary(op, left, right):
            return f"({text(left)} {op} {text(right)})"
        case Conditional(condition, then, otherwise):
            return f"({text(condition)} ? {text(then)} : {text(otherwise)})"
        case Index(array, index):
            return f"{text(array)}[{text(index)}]"
        case Assignment(op, target, value):
            return f"{text(target)} {op} {text(value)}"
        case Step(op, prefix, target):
            return f"{op}{text(target)}" if prefix else f"{text(target)}{op}"
        case Quantifier(kind, written, _, body, symbol):
            assert symbol is not None
            return f"({kind} ({written} : {symbol.type}) {text(body)})"
        case InLocation(_, _, written):
            return written
        case Deadlock():
            return "deadlock"
    raise NotImplementedError(expr)


def with_text(query: Query) -> Query:
    """`query` with its text filled in."""
    predicate = "" if query.predicate is None else text_of(query.predicate)
    match query.kind:
        case "-->":
            assert query.second is not None
            text = f"{predicate} --> {text_of(query.second)}"
        case "sup" | "inf":
            condition = f"{{{predicate}}}" if predicate else ""
            text = f"{query.kind}{condition}: {', '.join(map(text_of, query.expressions))}"
        case _:
            text = f"{query.kind} {predicate}"
    return replace(query, text=text)


def _leaf(type_: Type) -> tuple[Type, int]:
    """What an array is made of, and of how many; 0 for what is no array."""
    return (type_.element, type_.length) if isinstance(type_, ArrayType) else (type_, 0)


def _declaration(declared: Variable, constant: bool = False) -> str:
    symbol = declared.symbol
    leaf, length = _leaf(symbol.type)
    dimension = f"[{length}]" if length else ""
    values = [str(value) for value in declared.initial]
    if leaf == BOOL:
        values = ["true" if value else "false" for value in declared.initial]
    initial = ""
    if not isinstance(leaf, ClockType | ChannelType):
        initial = f" = {{{', '.join(values)}}}" if dimension else f" = {values[0]}"
    return f"{'const ' * constant}{leaf} {symbol.name}{dimension}{initial};"


def _channel_priorities(network: Network) -> str:
    if not network.channel_priorities:
        return ""
    groups: dict[int, list[str]] = {network.default_priority: ["default"]}
    cell = 0
    for declared in network.variables:
        leaf, length = _leaf(declared.symbol.type)
        if isinstance(leaf, ChannelType):
            for index in range(length or 1):
                if cell in network.channel_priorities:
                    text = declared.symbol.name + (f"[{index}]" if length else "")
                    groups.setdefault(network.channel_priorities[cell], []).append(text)
                cell += 1
    return f"chan priority {' < '.join(', '.join(groups[key]) for key in sorted(groups))};"


def _label(kind: str, text: str) -> str:
    return f'<label kind="{kind}">{escape(text)}</label>' if text else ""


def _template(network: Network, process: Process) -> Iterable[str]:
    def text(expr: Expr | None) -> str:
        return "" if expr is None else text_of(expr, process.name)

    mine = [v for v in network.variables if v.symbol.scope == process.name]
    yield "<template>"
    yield f"<name>{process.name}</name>"
    yield f"<declaration>{escape(chr(10).join(map(_declaration, mine)))}</declaration>"
    idents = [f"{process.name}id{index}" for index in range(len(process.locations))]
    for ident, location in zip(idents, process.locations, strict=True):
        kind = "" if location.kind == "normal" else f"<{location.kind}/>"
        invariant = _label("invariant", text(location.invariant))
        yield f'<location id="{ident}"><name>{location.name}</name>{invariant}{kind}</location>'
    yield f'<init ref="{idents[process.initial]}"/>'
    for edge in process.edges:
        selects = ", ".join(f"{s.symbol.name} : int[{s.lo},{s.hi}]" for s in edge.selects)
        action = edge.synchronisation
        labels = (
            _label("select", selects),
            _label("guard", text(edge.guard)),
            _label(
                "synchronisation", f"{text(action.channel)}{action.direction}" if action else ""
            ),
            _label("assignment", ", ".join(map(text, edge.updates))),
        )
        yield "<transition>"
        yield f'<source ref="{idents[edge.source]}"/><target ref="{idents[edge.target]}"/>'
        yield "".join(labels)
        yield "</transition>"
    yield "</template>"


def to_uppaal_xml(network: Network, queries: Sequence[Query]) -> str:
    """`network`, whose processes are one a template, as a file of UPPAAL.

    Priorities of processes must ascend, for that is all that a system line can say."""
    priorities = [process.priority for process in network.processes]
    assert priorities == sorted(priorities), "not in the order of their priorities"
    declared = [_declaration(constant, constant=True) for constant in network.constants]
    declared += [_declaration(v) for v in network.variables if not v.symbol.scope]
    declared.append(_channel_priorities(network))
    system = ""
    for before, process in zip((None, *network.processes), network.processes, strict=False):
        if before is not None:
            system += ", " if before.priority == process.priority else " < "
        system += process.name
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<nta>"]
    lines.append(f"<declaration>{escape(chr(10).join(declared))}</declaration>")
    for process in network.processes:
        lines.extend(_template(network, process))
    lines.append(f"<system>system {escape(system)};</system>")
    lines.append("<queries>")
    for query in queries:
        formula = escape(with_text(query).text)
        lines.append(f"<query><formula>{formula}</formula><comment></comment></query>")
    lines += ["</queries>", "</nta>", ""]
    return "\n".join(lines)


# --------------------------------------------------------------------------------- random networks


@dataclass(frozen=True, slots=True)
class Features:
    """What random networks may contain. Numbers are upper limits."""

    processes: int = 3
    locations: int = 4
    #: Edges of a process beyond those that connect its locations.
    edges: int = 3
    clocks: int = 2
    #: The largest constant that clocks are compared with.
    largest: int = 3
    variables: int = 2
    strict: bool = True
    diagonals: bool = True
    #: Guards and invariants that compare clocks with integer expressions.
    symbolic_bounds: bool = True
    invariants: bool = True
    nonzero_resets: bool = True
    constants: bool = True
    arrays: bool = True
    quantifiers: bool = True
    selects: bool = True
    channels: bool = True
    broadcasts: bool = True
    #: Clock guards where a broadcast is received.
    receiver_clocks: bool = True
    urgent_channels: bool = True
    channel_arrays: bool = True
    urgent_locations: bool = True
    committed: bool = True
    channel_priorities: bool = True
    process_priorities: bool = True
    #: Whether evaluation may fail (ranges, indices, division by zero).
    faults: bool = False
    #: Whether each network uses only some of what is allowed here.
    sparse: bool = True


#: What most networks use; the rest is left out of more than half of them.
_COMMON = frozenset({"strict", "diagonals", "invariants", "channels", "broadcasts", "selects"})


#: Mixtures that are dense in what they are about, besides the one of everything.
PRESETS: Mapping[str, Features] = MappingProxyType(
    {
        "everything": Features(),
        "faults": Features(faults=True),
        "clocks": Features(
            **dict.fromkeys(("urgent_locations", "committed"), False),
            **dict.fromkeys(("channels", "channel_priorities", "process_priorities"), False),
            processes=2,
            variables=1,
            sparse=False,
        ),
        "synchronisation": Features(
            **dict.fromkeys(("diagonals", "strict", "nonzero_resets", "symbolic_bounds"), False),
            **dict.fromkeys(("quantifiers", "arrays", "urgent_locations"), False),
            **dict.fromkeys(("channel_priorities", "process_priorities"), False),
            clocks=1,
            variables=1,
            locations=3,
            sparse=False,
        ),
        "priorities": Features(
            **dict.fromkeys(("diagonals", "nonzero_resets", "symbolic_bounds"), False),
            **dict.fromkeys(("quantifiers", "arrays", "urgent_locations", "committed"), False),
            clocks=1,
            variables=1,
            locations=3,
            sparse=False,
        ),
        "data": Features(clocks=0, variables=3, faults=True, sparse=False),
    }
)


@dataclass(frozen=True, slots=True)
class _Number:
    """An integer expression and all values that it can have."""

    expr: Expr
    lo: int
    hi: int

    def within(self, lo: int, hi: int) -> Expr:
        """The expression, kept in lo..hi if it is not there by itself."""
        expr = self.expr
        if lo == 0 and self.lo >= 0 and self.hi > hi:
            return binary("%", expr, number(hi + 1))
        if self.hi > hi:
            expr = binary("<?", expr, number(hi))
        if self.lo < lo:
            expr = binary(">?", expr, number(lo))
        return expr


@dataclass(frozen=True, slots=True)
class _Array:
    expr: Expr
    length: int
    lo: int
    hi: int


@dataclass(slots=True)
class _Names:
    """What an expression may speak of. `targets` are those of `numbers` that can be assigned."""

    clocks: list[Expr]
    numbers: list[_Number]
    arrays: list[_Array]
    flags: list[Expr]
    targets: list[_Number]

    def copy(self) -> _Names:
        return _Names(*(list(getattr(self, entry.name)) for entry in fields(self)))


class _Maker:
    """Draws the parts of a network."""

    def __init__(self, draw: Callable[[st.SearchStrategy[object]], object], features: Features):
        self._draw = draw
        self.features = features
        self.bound_variables = 0

    def pick(self, *options: T) -> T:
        """One of `options`; shrinks towards the first."""
        return options[self.upto(len(options) - 1)]

    def upto(self, most: int, least: int = 0) -> int:
        if least >= most:
            return least
        value = self._draw(st.integers(least, most))
        assert isinstance(value, int)
        return value

    def several(self, most: int, least: int = 0) -> Iterator[int]:
        """0, 1, 2, …: at least `least` and at most `most` of them, rather more than fewer.

        Whether to go on is drawn anew before each, so that when a failing example shrinks, any
        one of what is made here can be left out together with what was drawn for it."""
        for index in range(most):
            if index >= least and not self.chance(9):
                return
            yield index

    def chance(self, tenths: int) -> bool:
        """True `tenths` times of ten; shrinks towards False."""
        return tenths > 0 and self.upto(9) >= 10 - tenths

    def restricted(self, features: Features) -> Features:
        """The features that this network uses."""
        if not features.sparse:
            return features
        off = {
            entry.name: False
            for entry in fields(features)
            if getattr(features, entry.name) is True
            and not self.chance(7 if entry.name in _COMMON else 4)
            and entry.name not in ("faults", "sparse")
        }
        return replace(features, **off)

    # ----------------------------------------------------------------------------- expressions

    def literal(self, lo: int, hi: int) -> _Number:
        value = self.upto(hi, lo)
        return _Number(number(value), value, value)

    def integer(self, names: _Names, depth: int = 1) -> _Number:
        kinds = ["literal"]
        kinds += ["name"] * (3 * bool(names.numbers))
        kinds += ["element"] * (2 * bool(names.arrays))
        if depth:
            kinds += ["+", "-", "*", "<?", ">?", "?:"]
            if names.arrays and self.features.quantifiers:
                kinds += ["sum"]
        match self.pick(*kinds):
            case "literal":
                return self.literal(0, 2)
            case "name":
                return self.pick(*names.numbers)
            case "element":
                array = self.pick(*names.arrays)
                return _Number(self.element(names, array), array.lo, array.hi)
            case "sum":
                array = self.pick(*names.arrays)
                body, symbol = self.each(array)
                total = quantifier("sum", symbol, body)
                return _Number(total, array.lo * array.length, array.hi * array.length)
            case "?:":
                first, second = self.integer(names, 0), self.integer(names, 0)
                condition = self.comparison(names, 0)
                expr = choose(condition, first.expr, second.expr)
                return _Number(expr, min(first.lo, second.lo), max(first.hi, second.hi))
            case op:
                first, second = self.integer(names, 0), self.integer(names, 0)
                operations: dict[str, Callable[[int, int], int]] = {
                    "+": lambda a, b: a + b,
                    "-": lambda a, b: a - b,
                    "*": lambda a, b: a * b,
                    "<?": min,
                    ">?": max,
                }
                corners = [
                    operations[op](a, b)
                    for a in (first.lo, first.hi)
                    for b in (second.lo, second.hi)
                ]
                expr = binary(op, first.expr, second.expr)
                return _Number(expr, min(corners), max(corners))

    def each(self, array: _Array) -> tuple[Expr, Symbol]:
        """An array's element for a bound variable, and that variable."""
        self.bound_variables += 1
        domain = IntType(0, array.length - 1)
        label = f"q{self.bound_variables}"
        symbol = Symbol(label, label, SymbolKind.BOUND, domain)
        return element(array.expr, name(symbol)), symbol

    def element(self, names: _Names, array: _Array, unsafe: bool = False) -> Expr:
        """An element; with `unsafe`, one whose index may be outside the array."""
        if unsafe and names.targets:
            return element(array.expr, self.pick(*names.targets).expr)
        return element(array.expr, self.integer(names, 0).within(0, array.length - 1))

    def comparison(self, names: _Names, depth: int = 1) -> Expr:
        """A condition on data."""
        kinds = ["compare"] * 3
        kinds += ["flag"] * (2 * bool(names.flags))
        if names.arrays and self.features.quantifiers and depth:
            kinds += ["forall", "exists"]
        match self.pick(*kinds):
            case "flag":
                flag = self.pick(*names.flags)
                return flag if self.chance(5) else negation(flag)
            case "compare":
                value = self.integer(names, depth)
                op = self.pick("==", "!=", "<", "<=", ">", ">=")
                # A constant in the middle of what is possible: neither always true nor never.
                return binary(op, value.expr, self.literal(value.lo, value.hi).expr)
            case kind:
                array = self.pick(*names.arrays)
                body, symbol = self.each(array)
                op = self.pick("==", "<=", ">")
                limit = self.literal(array.lo, array.hi).expr
                return quantifier(kind, symbol, binary(op, body, limit))

    def bound(self, names: _Names, least: int) -> Expr:
        """What a clock is compared with."""
        largest = self.features.largest
        if self.features.symbolic_bounds and self.chance(4):
            return self.integer(names).within(min(least, largest), largest)
        return self.literal(least, largest).expr

    def constraint(self, names: _Names, upper: bool = False, initially: bool = False) -> Expr:
        """One clock constraint: with `upper`, one that an invariant may be; with `initially`, one
        that holds when all clocks are 0."""
        operators = ["<=", "<"] if upper else [">=", "<=", "==", ">", "<"]
        if not self.features.strict:
            operators = [op for op in operators if op not in ("<", ">")]
        op = self.pick(*operators)
        clocks = names.clocks
        if self.features.diagonals and len(clocks) > 1 and self.chance(4):
            first = self.upto(len(clocks) - 1)
            second = (first + self.upto(len(clocks) - 1, 1)) % len(clocks)
            least = int(op == "<") if initially else -min(2, self.features.largest)
            limit = self.literal(least, min(2, self.features.largest)).expr
            if self.chance(2) and not initially:
                return binary(op, clocks[first], clocks[second])
            return binary(op, binary("-", clocks[first], clocks[second]), limit)
        # An upper bound of 0 leaves no time at all: rarely interesting in an invariant.
        limit = self.bound(names, int(upper))
        return binary(op, self.pick(*clocks), limit)

    def conjunction(self, parts: Iterable[Expr]) -> Expr | None:
        result: Expr | None = None
        for part in parts:
            result = part if result is None else binary("&&", result, part)
        return result

    def _may_fail(self, names: _Names) -> Expr | None:
        """An integer expression that some states cannot evaluate.

        What fails depends on a variable: what always fails need not even be accepted."""
        kinds = ["/"] * bool(names.targets)
        kinds += ["[]"] * bool(names.arrays and names.targets)
        if not kinds:
            return None
        if self.pick(*kinds) == "[]":
            return self.element(names, self.pick(*names.arrays), unsafe=True)
        divisor = self.pick(*names.targets).expr
        return binary(self.pick("/", "%"), self.literal(1, 3).expr, divisor)

    # ------------------------------------------------------------------------------------ edges

    def guard(self, names: _Names, clocked: bool, paired: bool) -> Expr | None:
        parts = []
        has_data = names.numbers or names.flags or names.arrays
        # Data first: what follows is then evaluated, or not, for all clock values alike.
        if has_data and self.chance(1 if paired else 3):
            parts.append(self.comparison(names))
        if self.features.faults and self.chance(1):
            risky = self._may_fail(names)
            if risky is not None:
                op = self.pick("<=", "==")
                parts.append(binary(op, risky, self.literal(0, 2).expr))
        if clocked and names.clocks:
            # Both sides of a synchronisation have guards; with many, they would hardly ever meet.
            count = self.pick(0, 0, 1) if paired else self.pick(0, 1, 1, 2)
            parts += [self.constraint(names) for _ in range(count)]
        return self.conjunction(parts)

    def update(self, names: _Names) -> Expr | None:
        kinds = ["reset"] * (3 * bool(names.clocks))
        kinds += ["assign"] * (3 * bool(names.targets))
        kinds += ["element"] * bool(names.arrays)
        kinds += ["flag"] * bool(names.flags)
        if self.features.faults and names.targets:
            kinds += ["step", "compound", "unchecked"]
        if not kinds:
            return None
        match self.pick(*kinds):
            case "reset":
                value = number(0)
                if self.features.nonzero_resets and self.chance(4):
                    value = self.bound(names, 1)
                return assign(self.pick(*names.clocks), value)
            case "assign":
                target = self.pick(*names.targets)
                return assign(target.expr, self.integer(names).within(target.lo, target.hi))
            case "element":
                array = self.pick(*names.arrays)
                unsafe = self.features.faults and self.chance(3)
                value = self.integer(names).within(array.lo, array.hi)
                return assign(self.element(names, array, unsafe), value)
            case "flag":
                flag = self.pick(*names.flags)
                value = negation(flag) if self.chance(5) else truth(self.chance(5))
                return assign(flag, value)
            case "step":
                target = self.pick(*names.targets)
                op, prefix = self.pick("++", "--"), self.chance(5)
                return Step(op, prefix, target.expr, type=target.expr.type)
            case "compound":
                target = self.pick(*names.targets)
                op = self.pick("+=", "-=", "*=", "/=", "%=")
                value = self.integer(names, 0).expr
                if op in ("/=", "%="):
                    value = self.pick(*names.targets).expr
                return assign(target.expr, value, op)
            case _:
                target = self.pick(*names.targets)
                value = self._may_fail(names) or self.integer(names).expr
                return assign(target.expr, value)

    def edge(
        self,
        place: tuple[int, int],
        scope: str,
        names: _Names,
        channels: Sequence[Variable],
        first: bool,
    ) -> Edge:
        names = names.copy()
        selects: list[Select] = []
        if self.features.selects and self.chance(2):
            highest = self.upto(2, 1)
            symbol = Symbol(scope, "s", SymbolKind.SELECT, IntType(0, highest))
            selects.append(Select(symbol, 0, highest))
            names.numbers.append(_Number(name(symbol), 0, highest))
        synchronisation: Synchronisation | None = None
        clocked = True
        if channels and self.chance(6):
            symbol = self.pick(*channels).symbol
            channel, type_ = name(symbol), symbol.type
            if isinstance(type_, ArrayType):
                last = type_.length - 1
                if selects and self.chance(7):
                    index = names.numbers[-1]
                else:
                    index = self.integer(names, 0) if self.chance(3) else self.literal(0, last)
                channel, type_ = element(channel, index.within(0, last)), type_.element
            assert isinstance(type_, ChannelType)
            # The first process mostly sends and the others mostly receive, so that partners meet.
            direction: Literal["!", "?"] = "!" if self.chance(7 if first else 3) else "?"
            synchronisation = Synchronisation(channel, direction)
            clocked = not type_.urgent
            if type_.broadcast and direction == "?" and not self.features.receiver_clocks:
                clocked = False
        guard = self.guard(names, clocked, paired=synchronisation is not None)
        drawn = [self.update(names) for _ in range(self.pick(0, 1, 1, 2))]
        updates = tuple(update for update in drawn if update is not None)
        return Edge(*place, tuple(selects), guard, synchronisation, updates)

    # -------------------------------------------------------------------------------- processes

    def location(self, index: int, names: _Names) -> Location:
        features = self.features
        kind: Literal["normal", "urgent", "committed"] = "normal"
        # Where all begins, time should not stand still too often.
        often = 2 if index else 1
        if features.urgent_locations and self.chance(often):
            kind = "urgent"
        if features.committed and self.chance(often):
            kind = "committed"
        invariant = None
        if features.invariants and self.chance(4):
            parts = []
            # The initial state must not violate an invariant.
            initially = index == 0
            if (names.numbers or names.flags) and not initially and self.chance(1):
                parts.append(self.comparison(names))
            if names.clocks:
                parts.append(self.constraint(names, upper=True, initially=initially))
            invariant = self.conjunction(parts)
        return Location(f"L{index}", kind, invariant)

    def process(self, index: int, names: _Names, channels: Sequence[Variable]) -> Process:
        features = self.features
        own = f"P{index}"
        locations: list[Location] = []
        edges: list[Edge] = []

        def connect(source: int, target: int) -> None:
            scope = f"{own}.e{len(edges)}"
            edges.append(self.edge((source, target), scope, names, channels, first=not index))

        for target in self.several(features.locations, min(2, features.locations)):
            locations.append(self.location(target, names))
            if target:
                connect(self.upto(target - 1), target)
        last = len(locations) - 1
        for _ in self.several(features.edges):
            # Half of them lead back to the start, for runs that go on.
            connect(self.upto(last), 0 if self.chance(5) else self.upto(last))
        return Process(own, own, tuple(locations), tuple(edges), 0)

    def data(self, label: str, scope: str) -> Variable:
        kinds = ["int", "int", "bool"] + ["array"] * (2 * self.features.arrays)
        kind = self.pick(*kinds)
        if kind == "bool":
            return variable(label, BOOL, self.upto(1), scope=scope)
        lo = -1 if self.chance(2) else 0
        hi = self.upto(3, 1)
        if kind == "int":
            return variable(label, IntType(lo, hi), self.upto(hi, 0), scope=scope)
        length = self.upto(3, 2)
        initial = [self.upto(hi, 0) for _ in range(length)]
        type_ = ArrayType(IntType(lo, hi), IntType(0, length - 1))
        return variable(label, type_, *initial, scope=scope)

    def channel(self, label: str) -> Variable:
        features = self.features
        type_ = ChannelType(
            broadcast=features.broadcasts and self.chance(5),
            urgent=features.urgent_channels and self.chance(4),
        )
        if features.channel_arrays and self.chance(3):
            return variable(label, ArrayType(type_, IntType(0, 1)))
        return variable(label, type_)

    def network(self) -> Network:
        features = self.features
        # What belongs to a process that does not come about is left out in the end.
        owners = [f"P{index}" for index in range(features.processes)]

        def owner() -> str:
            return self.pick(*owners) if self.chance(4) else ""

        declared: list[Variable] = []
        for index in self.several(features.variables):
            declared.append(self.data(f"v{index}", owner()))
        for index in self.several(features.clocks):
            declared.append(variable(f"x{index}", CLOCK, scope=owner()))
        channels: list[Variable] = []
        if features.channels and features.processes > 1:
            channels = [self.channel(f"c{index}") for index in self.several(self.pick(1, 1, 2), 1)]
        constants: list[Variable] = []
        if features.constants:
            value = self.upto(features.largest, 1)
            symbol = Symbol("", "K", SymbolKind.CONSTANT, INT32)
            constants.append(Variable(symbol, (value,)))

        processes = tuple(
            self.process(index, names_in(declared, constants, f"P{index}"), channels)
            for index in self.several(features.processes, 1)
        )
        scopes = ["", *(process.name for process in processes)]
        variables = sorted(
            (v for v in (*declared, *channels) if v.symbol.scope in scopes),
            key=lambda v: scopes.index(v.symbol.scope),
        )
        if features.process_priorities:
            raised = []
            priority = 0
            for process in processes:
                raised.append(replace(process, priority=priority))
                priority += self.chance(5)
            processes = tuple(raised)
        cells = sum(_leaf(channel.symbol.type)[1] or 1 for channel in channels)
        priorities: dict[int, int] = {}
        if features.channel_priorities:
            priorities = {cell: self.upto(1, -1) for cell in range(cells) if self.chance(7)}
        return Network(
            "random",
            tuple(variables),
            processes,
            tuple(constants),
            channel_priorities=MappingProxyType(priorities),
        )

    # ---------------------------------------------------------------------------------- queries

    def atom(self, network: Network, names: _Names) -> Expr:
        kinds = ["location"] * 4 + ["deadlock"]
        kinds += ["data"] * (2 * bool(names.numbers or names.flags or names.arrays))
        kinds += ["clock"] * (3 * bool(names.clocks))
        match self.pick(*kinds):
            case "location":
                process = self.upto(len(network.processes) - 1)
                return at(process, self.upto(len(network.processes[process].locations) - 1))
            case "data":
                return self.comparison(names)
            case "clock":
                return self.constraint(names)
            case _:
                return deadlock()

    def predicate(self, network: Network, names: _Names, depth: int = 2) -> Expr:
        kinds = ["atom"] * 2 + ["&&", "||", "!", "imply"] * (depth > 0)
        match self.pick(*kinds):
            case "atom":
                return self.atom(network, names)
            case "!":
                return negation(self.predicate(network, names, depth - 1))
            case op:
                first = self.predicate(network, names, depth - 1)
                return binary(op, first, self.predicate(network, names, depth - 1))

    def query(self, network: Network, kinds: Sequence[QueryKind]) -> Query:
        names = names_in(network.variables, network.constants, None)
        kind = self.pick(*kinds)
        if kind in ("sup", "inf"):
            measured = [*names.clocks, *(entry.expr for entry in names.numbers)]
            if measured:
                condition = self.predicate(network, names, 1) if self.chance(5) else None
                return with_text(Query(kind, condition, None, (self.pick(*measured),)))
            kind = kinds[0]
        predicate = self.predicate(network, names)
        second = self.predicate(network, names) if kind == "-->" else None
        return with_text(Query(kind, predicate, second))


def names_in(
    variables: Iterable[Variable], constants: Iterable[Variable], scope: str | None
) -> _Names:
    """What can be spoken of in a process, or (None) in a query."""
    names = _Names([], [], [], [], [])
    for declared in variables:
        symbol = declared.symbol
        if scope is None or symbol.scope in ("", scope):
            expr = name(symbol)
            match symbol.type:
                case ClockType():
                    names.clocks.append(expr)
                case BoolType():
                    names.flags.append(expr)
                case IntType(lo, hi):
                    names.numbers.append(_Number(expr, lo, hi))
                    names.targets.append(_Number(expr, lo, hi))
                case ArrayType(IntType(lo, hi)) as array:
                    names.arrays.append(_Array(expr, array.length, lo, hi))
    for constant in constants:
        (value,) = constant.initial
        names.numbers.append(_Number(name(constant.symbol), value, value))
    return names


QUERY_KINDS: tuple[QueryKind, ...] = ("E<>", "A[]", "E[]", "A<>", "-->", "sup", "inf")


@st.composite
def networks(draw: st.DrawFn, features: Features = Features()) -> Network:
    """A network with some of `features`."""
    maker = _Maker(draw, features)
    maker.features = maker.restricted(features)
    return maker.network()


@st.composite
def queries(
    draw: st.DrawFn,
    network: Network,
    features: Features = Features(),
    kinds: Sequence[QueryKind] = QUERY_KINDS,
) -> Query:
    """A query about `network`."""
    return _Maker(draw, features).query(network, kinds)


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """A network and queries about it; a failing test shows them as what can be saved and run."""

    network: Network
    queries: tuple[Query, ...]

    def __repr__(self) -> str:
        return to_uppaal_xml(self.network, self.queries)

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        """Without this, Hypothesis would show all fields of all parts."""
        printer.text(repr(self))


@st.composite
def models(
    draw: st.DrawFn,
    features: Features = Features(),
    kinds: Sequence[QueryKind] = QUERY_KINDS,
    most_queries: int = 4,
) -> Model:
    """A network with some of `features`, and queries that use no more than it does."""
    maker = _Maker(draw, features)
    maker.features = maker.restricted(features)
    network = maker.network()
    count = maker.several(most_queries, 1)
    return Model(network, tuple(maker.query(network, kinds) for _ in count))
