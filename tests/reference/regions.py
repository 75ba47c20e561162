"""A model checker for tiny networks, written down from the definition of timed automata.

It shares no code with the fast one: it reads the model's dataclasses and evaluates expressions
itself.  Where the fast checker computes with sets of clock values, this one knows only single
valuations, and walks the graph of regions (Alur & Dill 1994).

**States.**  A state is (locations, data, clocks), and the clocks are one concrete valuation of
rational numbers.  After each step the valuation is replaced by a smaller one that is *equivalent*:

* Without differences between clocks in the model or query, let `cap[x]` be the largest constant
  that x is ever compared with.  Valuations are equivalent if, for each clock, both lie above the
  cap or have equal integer parts and agree on whether the fraction is zero, and if the clocks
  not above their caps have their fractions in the same order.  This is Alur & Dill's region
  equivalence: a bisimulation, where "some delay" matches "some delay".
* With differences compared with constants of absolute value up to D, and clocks set to values up
  to R, all caps are one number `cap`, at least D + R.  Equivalent valuations must then, besides,
  agree on `x - y ~ c` for all pairs of clocks and all |c| <= D.  It is a bisimulation as well.
  *Delay* changes no difference, and clocks above the cap stay there; the others behave as before.
  *Setting* x to r leaves, for a clock y not above the cap, numbers that are determined by y's
  integer part and whether it is integral; for y above the cap, y - x > cap - R >= D in both
  valuations.  (With a smaller cap it would be wrong, which is the known trap of diagonals.)

A smaller representative need not be unique; that costs states, not correctness.  The constants
are not guessed: an evaluation that compares a clock with a number beyond its cap raises
:class:`_Beyond`, and everything starts again with a larger cap.

**Steps.**  *Delay*, to the next region in time, if no process is in an urgent or committed
location, no synchronisation on an urgent channel is enabled, and the invariants hold there, too.
"Enabled" is about guards alone: neither priorities nor invariants of the target locations make
an urgent synchronisation less urgent.  *Action*: internal, binary or broadcast as in UPPAAL's
manual; possible if the guards hold, the committed rule is kept, the invariants hold in the state
after all updates, and no action of strictly higher priority is possible at this moment.  The
priority of an action is (priority of the channel, highest priority of a process that takes
part), compared in this order.

**Properties.**  p must hold also during delays.  `deadlock` holds where no action is possible,
now or after any legal delay.  `E[] p` holds if there is a *maximal* run on which p always holds,
where a run is maximal if it

(a) takes infinitely many actions (no matter in how much time: Zeno runs count), or
(b) takes finitely many, and then lets time pass without bound, or
(c) takes finitely many, and then stays in its last locations for as long as the invariants and
    urgency allow, though that is bounded, and no action is possible at the end of this time: at
    its last moment, or, where a strict invariant leaves no last moment, in the last region.

A run that halts although something could still happen is not maximal, nor is one that delays
infinitely often by ever smaller amounts to put off what it can still do.  In the graph of
regions these are exactly the paths that are infinite or end in a state without successors, given
that a region in which nothing changes any more by delay is its own successor in time.
`A<> p` is `not E[] not p`, and `p --> q` is `A[] (p imply A<> q)`.

**Faults.**  A step that fails (a value out of range, a division by zero, …) leads to a state of
its own in which no property holds.  Such a step counts as possible: for `deadlock`, for blocking
lower priorities, and for runs, which are not maximal if they end before it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Literal, NamedTuple, assert_never

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
    ArrayType,
    BoolType,
    ChannelType,
    ClockType,
    IntType,
    ScalarType,
    Type,
)
from whence.model.network import Edge, Network, Query

__all__ = [
    "Answer",
    "Bound",
    "ModelError",
    "Reference",
    "TooLarge",
    "allowed_answers",
    "reachable_count_discrete",
    "reachable_discrete",
    "reachable_valuations",
    "reference_check",
]

#: How many states (not: discrete states) are too many.
LIMIT = 20_000
#: How far the value of a clock is followed for `sup` and `inf`.
FARTHEST = 32


class Bound(NamedTuple):
    """The answer to `sup`/`inf` for one expression; None is "no bound"."""

    value: int | None
    strict: bool


Truth = Literal["satisfied", "violated", "error"]
#: `sup`/`inf` are answered with one bound an expression, or with none where no state qualifies.
Answer = Truth | tuple[Literal["value"], tuple[Bound, ...]]


class TooLarge(Exception):
    """The network is not tiny."""


class ModelError(Exception):
    """The model did something that is an error at run time."""


class _Beyond(Exception):
    """A clock was compared with a number that the caps did not foresee."""


# ----------------------------------------------------------------------------------- expressions


@dataclass(slots=True)
class _Moment:
    """All that an expression can depend on. `clocks` are in units of 1/unit."""

    locations: list[int]
    data: list[int]
    clocks: list[int]
    bound: dict[Symbol, int] = field(default_factory=dict)
    deadlock: bool = False


_Code = Callable[[_Moment], int]


class _Caps:
    """The constants that decide which valuations are equivalent (see the module's docstring)."""

    def __init__(self, clocks: int) -> None:
        self.unit = clocks + 1
        self.single = [0] * clocks
        self.difference = -1
        self.reset = 0
        self._known: dict[tuple[tuple[int, ...], int], tuple[int, ...]] = {}

    def _lift(self) -> None:
        self._known.clear()
        if self.difference >= 0:
            highest = max(*self.single, self.difference + self.reset)
            self.single = [highest] * len(self.single)

    def compared(self, clock: int, number: int) -> None:
        if number > self.single[clock]:
            self.single[clock] = number
            self._lift()
            raise _Beyond

    def subtracted(self, number: int) -> None:
        if abs(number) > self.difference:
            self.difference = abs(number)
            self._lift()
            raise _Beyond

    def set_to(self, number: int) -> None:
        if number > self.reset:
            self.reset = number
            self._lift()
            if self.difference >= 0:
                raise _Beyond

    def reduced(self, clocks: Sequence[int], unit: int) -> tuple[int, ...]:
        """A small valuation equivalent to `clocks`; from units of 1/`unit` to 1/`self.unit`."""
        key = tuple(clocks), unit
        if key not in self._known:
            self._known[key] = self._reduced(clocks, unit)
        return self._known[key]

    def _reduced(self, clocks: Sequence[int], unit: int) -> tuple[int, ...]:
        values = list(clocks)
        if self.difference < 0:
            for clock, cap in enumerate(self.single):
                if values[clock] > cap * unit:
                    values[clock] = (cap + 1) * unit
        else:
            # A clock above the cap, and more than D above the next lower one, may come down,
            # along with all above it, as long as both stays true of it.
            cap, gap = self.single[0] * unit, self.difference * unit
            before, before_now, moved = 0, 0, 0
            for rank, clock in enumerate(sorted(range(len(values)), key=clocks.__getitem__)):
                value = clocks[clock]
                if value > cap and (rank == 0 or value - before > gap):
                    floor = cap if rank == 0 else max(cap, before_now + gap)
                    moved = (floor // unit + 1) * unit - value
                before, before_now = value, value + moved
                values[clock] = before_now
        fractions = sorted({value % unit for value in values} | {0})
        rank_of = {fraction: rank for rank, fraction in enumerate(fractions)}
        return tuple(value // unit * self.unit + rank_of[value % unit] for value in values)

    def delayed(self, clocks: tuple[int, ...]) -> tuple[int, ...]:
        """The next region in time; the same one if no delay changes anything any more."""
        unit = self.unit
        followed = [
            value for value, cap in zip(clocks, self.single, strict=True) if value <= cap * unit
        ]
        if not followed:
            return clocks
        if any(value % unit == 0 for value in followed):
            # Leave the integers, by less than what brings another clock to the next one.
            return self.reduced([2 * value + 1 for value in clocks], 2 * unit)
        step = unit - max(value % unit for value in followed)
        return self.reduced([value + step for value in clocks], unit)


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _in_32_bits(value: int) -> int:
    if not -(2**31) <= value < 2**31:
        raise ModelError("overflow")
    return value


def _calculate(op: str, left: int, right: int) -> int:
    """Arithmetic as in C, but what C leaves undefined is an error."""
    match op:
        case "+":
            return _in_32_bits(left + right)
        case "-":
            return _in_32_bits(left - right)
        case "*":
            return _in_32_bits(left * right)
        case "/" | "%":
            if right == 0:
                raise ModelError("division by zero")
            quotient = abs(left) // abs(right)
            if (left < 0) != (right < 0):
                quotient = -quotient
            return _in_32_bits(quotient if op == "/" else left - quotient * right)
        case "<<" | ">>":
            if not 0 <= right <= 31:
                raise ModelError("bad shift")
            return _in_32_bits(left << right if op == "<<" else left >> right)
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "<?":
            return min(left, right)
        case ">?":
            return max(left, right)
    raise NotImplementedError(op)


def _size(type_: Type) -> int:
    match type_:
        case ArrayType():
            return type_.length * _size(type_.element)
        case IntType() | BoolType() | ScalarType() | ClockType() | ChannelType():
            return 1
    raise NotImplementedError(type_)


def _leaf(type_: Type) -> Type:
    return _leaf(type_.element) if isinstance(type_, ArrayType) else type_


def _domain(symbol: Symbol) -> range:
    match symbol.type:
        case IntType(lo, hi):
            return range(lo, hi + 1)
        case ScalarType(size):
            return range(size)
        case BoolType():
            return range(2)
    raise NotImplementedError(symbol.type)


class _Expressions:
    """Turns expressions into Python functions of a moment."""

    def __init__(self, network: Network) -> None:
        #: Where a variable's cells begin among the cells of its sort.
        self.begin: dict[Symbol, int] = {}
        self.initial: list[int] = []
        self.constants: list[int] = []
        self.channels: list[ChannelType] = []
        clocks = 0
        for constant in network.constants:
            self.begin[constant.symbol] = len(self.constants)
            self.constants += constant.initial
        for variable in network.variables:
            leaf = _leaf(variable.symbol.type)
            size = _size(variable.symbol.type)
            if isinstance(leaf, ClockType):
                self.begin[variable.symbol] = clocks
                clocks += size
            elif isinstance(leaf, ChannelType):
                self.begin[variable.symbol] = len(self.channels)
                self.channels += [leaf] * size
            else:
                self.begin[variable.symbol] = len(self.initial)
                assert len(variable.initial) == size
                self.initial += variable.initial
        self.clocks = clocks
        self.caps = _Caps(clocks)

    def place(self, expr: Expr) -> tuple[_Code, Type, Symbol]:
        """Which cell an lvalue is, of what type, and of which variable."""
        match expr:
            case Name(symbol=Symbol() as symbol):
                begin = self.begin[symbol]
                return (lambda _: begin), symbol.type, symbol
            case Index(array, index):
                base, type_, symbol = self.place(array)
                assert isinstance(type_, ArrayType)
                number, lo, length = self.value(index), type_.lo, type_.length
                width = _size(type_.element)

                def cell(now: _Moment) -> int:
                    offset = number(now) - lo
                    if not 0 <= offset < length:
                        raise ModelError("index outside the array")
                    return base(now) + offset * width

                return cell, type_.element, symbol
        raise NotImplementedError(expr)

    def _is_clock(self, expr: Expr) -> bool:
        match expr:
            case Name(symbol=Symbol() as symbol):
                return isinstance(_leaf(symbol.type), ClockType)
            case Index(array, _):
                return self._is_clock(array)
        return False

    def _is_clocked(self, expr: Expr) -> bool:
        """Whether this is a clock or a difference of clocks."""
        match expr:
            case Binary("-", left, right):
                return self._is_clock(left) and self._is_clock(right)
        return self._is_clock(expr)

    def mentions_clocks(self, expr: Expr | None) -> bool:
        match expr:
            case None:
                return False
            case Unary(_, operand):
                return self.mentions_clocks(operand)
            case Binary(_, left, right):
                return self.mentions_clocks(left) or self.mentions_clocks(right)
            case Conditional(condition, then, otherwise):
                return any(map(self.mentions_clocks, (condition, then, otherwise)))
            case Quantifier(body=body):
                return self.mentions_clocks(body)
        return self._is_clock(expr)

    def _constraint(self, op: str, left: Expr, right: Expr) -> _Code:
        """A comparison with a clock or a difference on at least one side."""
        holds = _COMPARISONS[op]
        caps = self.caps
        unit = caps.unit
        if not self._is_clocked(left):
            mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
            return self._constraint(mirrored.get(op, op), right, left)
        if self._is_clocked(right):
            assert self._is_clock(left)
            assert self._is_clock(right)
            left, right = Binary("-", left, right), IntLiteral(0)
        number = self.value(right)
        # The caps find out about every constant as they go; this only spares them restarts.
        foreseen = right.value if isinstance(right, IntLiteral) else 0
        if isinstance(left, Binary):
            with suppress(_Beyond):
                caps.subtracted(foreseen)
            plus, minus = self.place(left.left)[0], self.place(left.right)[0]

            def difference(now: _Moment) -> int:
                constant = number(now)
                caps.subtracted(constant)
                apart = now.clocks[plus(now)] - now.clocks[minus(now)]
                return holds(apart, constant * unit)

            return difference
        clock, _, symbol = self.place(left)
        with suppress(_Beyond):
            caps.compared(self.begin[symbol], foreseen)

        def single(now: _Moment) -> int:
            constant = number(now)
            which = clock(now)
            caps.compared(which, constant)
            return holds(now.clocks[which], constant * unit)

        return single

    def value(self, expr: Expr) -> _Code:
        """The value of `expr`; truth is 1 and 0."""
        match expr:
            case IntLiteral(value) | BoolLiteral(value):
                number = int(value)
                return lambda _: number
            case Name() | Index():
                return self._read(expr)
            case Unary(op, operand):
                inner = self.value(operand)
                match op:
                    case "-":
                        return lambda now: _in_32_bits(-inner(now))
                    case "+":
                        return inner
                    case "!":
                        return lambda now: not inner(now)
                raise NotImplementedError(op)
            case Binary(op, left, right):
                return self._binary(op, left, right)
            case Conditional(condition, then, otherwise):
                test, yes, no = map(self.value, (condition, then, otherwise))
                return lambda now: yes(now) if test(now) else no(now)
            case Assignment(op, target, value):
                return self._assignment(op, target, self.value(value))
            case Step(op, prefix, target):
                change = 1 if op == "++" else -1
                assign = self._assignment("+=", target, lambda _: change)
                if prefix:
                    return assign
                return lambda now: assign(now) - change
            case Quantifier():
                return self._quantifier(expr)
            case InLocation(process, location):
                which = self.value(process)
                return lambda now: now.locations[which(now)] == location
            case Deadlock():
                return lambda now: now.deadlock
        raise NotImplementedError(expr)

    def _read(self, expr: Name | Index) -> _Code:
        match expr:
            case Name(symbol=Symbol(kind=SymbolKind.SELECT | SymbolKind.BOUND) as bound):
                return lambda now: now.bound[bound]
        cell, type_, symbol = self.place(expr)
        assert isinstance(type_, IntType | BoolType | ScalarType), expr
        if symbol.kind is SymbolKind.CONSTANT:
            constants = self.constants
            return lambda now: constants[cell(now)]
        return lambda now: now.data[cell(now)]

    def _binary(self, op: str, left: Expr, right: Expr) -> _Code:
        if op in _COMPARISONS and (self._is_clocked(left) or self._is_clocked(right)):
            return self._constraint(op, left, right)
        first, second = self.value(left), self.value(right)
        match op:
            case "&&":
                return lambda now: bool(first(now)) and bool(second(now))
            case "||":
                return lambda now: bool(first(now)) or bool(second(now))
            case "imply":
                return lambda now: not first(now) or bool(second(now))
        if op in _COMPARISONS:
            holds = _COMPARISONS[op]
            return lambda now: holds(first(now), second(now))
        return lambda now: _calculate(op, first(now), second(now))

    def _assignment(self, op: str, target: Expr, value: _Code) -> _Code:
        cell, type_, _ = self.place(target)
        if isinstance(type_, ClockType):
            assert op == "=", op
            caps = self.caps

            def reset(now: _Moment) -> int:
                number = value(now)
                if number < 0:
                    raise ModelError("negative clock")
                caps.set_to(number)
                now.clocks[cell(now)] = number * caps.unit
                return number

            return reset

        def assign(now: _Moment) -> int:
            number = int(value(now))
            where = cell(now)
            if op != "=":
                number = _calculate(op.removesuffix("="), now.data[where], number)
            match type_:
                case IntType(lo, hi) if not lo <= number <= hi:
                    raise ModelError("value out of range")
                case ScalarType(size) if not 0 <= number < size:
                    raise ModelError("value out of range")
                case BoolType():
                    number = int(bool(number))
            now.data[where] = number
            return number

        return assign

    def _quantifier(self, expr: Quantifier) -> _Code:
        assert expr.symbol is not None
        symbol: Symbol = expr.symbol
        domain, body = _domain(symbol), self.value(expr.body)

        def each(now: _Moment) -> Iterator[int]:
            for number in domain:
                now.bound[symbol] = number
                yield body(now)

        match expr.kind:
            case "forall":
                return lambda now: all(each(now))
            case "exists":
                return lambda now: any(each(now))
            case "sum":
                return lambda now: sum(map(int, each(now)))
        raise NotImplementedError(expr.kind)


# ----------------------------------------------------------------------------------------- steps


class _State(NamedTuple):
    locations: tuple[int, ...]
    data: tuple[int, ...]
    clocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """An edge for one choice of its select variables."""

    process: int
    target: int
    selects: dict[Symbol, int]
    guard: _Code | None
    channel: _Code | None
    sends: bool
    updates: tuple[_Code, ...]


@dataclass(frozen=True, slots=True)
class _Action:
    """Ways that are taken together, in the order of their updates."""

    ways: tuple[_Way, ...]
    priority: tuple[int, int]


class _Steps:
    """The successors of single states."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.expressions = _Expressions(network)
        self.ways: list[list[list[_Way]]] = []
        self.invariants: list[list[_Code | None]] = []
        for number, process in enumerate(network.processes):
            by_source: list[list[_Way]] = [[] for _ in process.locations]
            for edge in process.edges:
                by_source[edge.source].extend(self._ways(number, edge))
            self.ways.append(by_source)
            self.invariants.append(
                [
                    None if location.invariant is None else self._code(location.invariant)
                    for location in process.locations
                ]
            )
        #: Whether some guard, channel or invariant could not be evaluated: an error of the model,
        #: but a checker may well have had no need to look at it.
        self.stumbled = False

    def _code(self, expr: Expr) -> _Code:
        return self.expressions.value(expr)

    def _ways(self, number: int, edge: Edge) -> Iterator[_Way]:
        synchronisation = edge.synchronisation
        channel: _Code | None = None
        if synchronisation is not None:
            channel, type_, _ = self.expressions.place(synchronisation.channel)
            assert isinstance(type_, ChannelType)
            if type_.urgent and self.expressions.mentions_clocks(edge.guard):
                raise NotImplementedError("a clock guard at an urgent channel")
        guard = None if edge.guard is None else self._code(edge.guard)
        updates = tuple(self._code(update) for update in edge.updates)
        sends = synchronisation is not None and synchronisation.direction == "!"
        symbols = [select.symbol for select in edge.selects]
        for choice in product(*(range(select.lo, select.hi + 1) for select in edge.selects)):
            selects = dict(zip(symbols, choice, strict=True))
            yield _Way(number, edge.target, selects, guard, channel, sends, updates)

    def initial(self) -> _State:
        network, expressions = self.network, self.expressions
        locations = [process.initial for process in network.processes]
        clocks = [0] * expressions.clocks
        now = _Moment(locations, list(expressions.initial), clocks)
        if not self._invariants_hold(now):
            raise ModelError("the initial state violates an invariant")
        return _State(tuple(locations), tuple(now.data), tuple(clocks))

    def _invariants_hold(self, now: _Moment) -> bool:
        for of_process, location in zip(self.invariants, now.locations, strict=True):
            invariant = of_process[location]
            if invariant is not None and not invariant(now):
                return False
        return True

    def _enabled(self, state: _State) -> Iterator[tuple[_Way, int | None]]:
        """Ways whose guard holds, each with the number of its channel, by process."""
        now = _Moment(list(state.locations), list(state.data), list(state.clocks))
        for of_process, location in zip(self.ways, state.locations, strict=True):
            for way in of_process[location]:
                now.bound = dict(way.selects)
                try:
                    if way.guard is None or way.guard(now):
                        yield way, None if way.channel is None else way.channel(now)
                except ModelError:
                    self.stumbled = True

    def _kind(self, process: int, state: _State) -> str:
        return self.network.processes[process].locations[state.locations[process]].kind

    def _actions(self, state: _State) -> tuple[list[_Action], bool]:
        """What the guards allow, and whether something of this is urgent."""
        internal: list[_Way] = []
        senders: list[tuple[_Way, int]] = []
        receivers: dict[int, list[_Way]] = {}
        for way, channel in self._enabled(state):
            if channel is None:
                internal.append(way)
            elif way.sends:
                senders.append((way, channel))
            else:
                receivers.setdefault(channel, []).append(way)

        network = self.network
        actions = [self._action(network.default_priority, way) for way in internal]
        urgent = False
        for sender, channel in senders:
            type_ = self.expressions.channels[channel]
            priority = network.channel_priorities.get(channel, network.default_priority)
            others = [way for way in receivers.get(channel, ()) if way.process != sender.process]
            together: list[tuple[_Way, ...]]
            if type_.broadcast:
                by_process: dict[int, list[_Way]] = {}
                for way in others:  # they come by process
                    by_process.setdefault(way.process, []).append(way)
                together = list(product(*by_process.values()))
            else:
                together = [(way,) for way in others]
            actions += [self._action(priority, sender, *ways) for ways in together]
            urgent = urgent or (type_.urgent and bool(together))
        return actions, urgent

    def _action(self, priority: int, *ways: _Way) -> _Action:
        processes = self.network.processes
        return _Action(ways, (priority, max(processes[way.process].priority for way in ways)))

    def successors(self, state: _State) -> tuple[list[_State], _State | None, bool]:
        """By action; by delay; and whether some action fails."""
        kinds = [self._kind(process, state) for process in range(len(state.locations))]
        actions, urgent = self._actions(state)
        delayed = None
        if not urgent and "urgent" not in kinds and "committed" not in kinds:
            delayed = self._delayed(state)
        if "committed" in kinds:
            actions = [
                action
                for action in actions
                if any(kinds[way.process] == "committed" for way in action.ways)
            ]
        # From the highest priority down, until something is possible.
        reached: list[_State] = []
        fails = False
        for priority in sorted({action.priority for action in actions}, reverse=True):
            for action in actions:
                if action.priority == priority:
                    try:
                        after = self._after(state, action)
                    except ModelError:
                        fails = True
                    else:
                        if after is not None:
                            reached.append(after)
            if reached or fails:
                break
        return reached, delayed, fails

    def _after(self, state: _State, action: _Action) -> _State | None:
        now = _Moment(list(state.locations), list(state.data), list(state.clocks))
        for way in action.ways:
            now.bound = dict(way.selects)
            for update in way.updates:
                update(now)
            now.locations[way.process] = way.target
        try:
            if not self._invariants_hold(now):
                return None
        except ModelError:
            self.stumbled = True
            return None
        caps = self.expressions.caps
        clocks = caps.reduced(now.clocks, caps.unit)
        return _State(tuple(now.locations), tuple(now.data), clocks)

    def _delayed(self, state: _State) -> _State | None:
        after = state._replace(clocks=self.expressions.caps.delayed(state.clocks))
        now = _Moment(list(after.locations), list(after.data), list(after.clocks))
        return after if self._invariants_hold(now) else None


# ----------------------------------------------------------------------------------------- graph


class _Graph:
    """All reachable states. `delay[s]` is the next state in time (perhaps s itself) or -1."""

    def __init__(self, steps: _Steps, limit: int) -> None:
        steps.stumbled = False
        self.states = [steps.initial()]
        self.delay: list[int] = []
        self.actions: list[list[int]] = []
        self.fails: list[bool] = []
        number_of = {self.states[0]: 0}

        def number(state: _State) -> int:
            if state not in number_of:
                if len(self.states) >= limit:
                    raise TooLarge(f"more than {limit} states")
                number_of[state] = len(self.states)
                self.states.append(state)
            return number_of[state]

        for state in self.states:  # it grows while we go through it
            reached, delayed, fails = steps.successors(state)
            self.actions.append(sorted({number(after) for after in reached}))
            self.delay.append(-1 if delayed is None else number(delayed))
            self.fails.append(fails)

    def successors(self, state: int) -> Iterator[int]:
        yield from self.actions[state]
        if self.delay[state] >= 0:
            yield self.delay[state]

    def deadlocks(self) -> list[bool]:
        """Where no action is possible, now or after any delay."""
        found = []
        for state in range(len(self.states)):
            seen: set[int] = set()
            later = state
            while later >= 0 and later not in seen:
                seen.add(later)
                if self.actions[later] or self.fails[later]:
                    break
                later = self.delay[later]
            else:
                found.append(True)
                continue
            found.append(False)
        return found

    def staying(self, inside: Sequence[bool]) -> list[bool]:
        """From where there is a maximal run that never leaves `inside`: `E[]`."""
        remaining = list(inside)
        predecessors: list[list[int]] = [[] for _ in self.states]
        ways = [0] * len(self.states)
        ends = []
        for state in range(len(self.states)):
            following = set(self.successors(state))
            ends.append(not following and not self.fails[state])
            for after in following:
                if inside[after]:
                    ways[state] += 1
                    predecessors[after].append(state)
        # Take away, again and again, what neither ends a run nor leads to anything that is left.
        waiting = [
            state
            for state in range(len(self.states))
            if inside[state] and not ends[state] and not ways[state]
        ]
        while waiting:
            state = waiting.pop()
            remaining[state] = False
            for before in predecessors[state]:
                ways[before] -= 1
                if remaining[before] and not ways[before]:
                    waiting.append(before)
        return remaining

    def reached_within(self, inside: Sequence[bool]) -> list[int]:
        """What can be reached from the start without leaving `inside`."""
        if not inside[0]:
            return []
        found = {0: None}
        waiting = [0]
        while waiting:
            for after in self.successors(waiting.pop()):
                if inside[after] and after not in found:
                    found[after] = None
                    waiting.append(after)
        return list(found)


# ------------------------------------------------------------------------------------ properties


@dataclass(frozen=True, slots=True)
class _Outcome:
    """`answer` leaves faults aside; `fails` says that whoever answers so must have met a step
    that fails; `may_fail`, that there is some fault that it may have met."""

    answer: Answer
    fails: bool
    may_fail: bool


def _bound(steps: _Steps, graph: _Graph, where: list[int], clock: int, kind: str) -> Bound:
    """The supremum or infimum of a clock over the states in `where`."""
    # A state stands for a region, and the clock's projection of that is a point or an open
    # interval of length 1: reachable sets are unions of zones with integer bounds.
    caps = steps.expressions.caps
    cap = caps.single[clock]
    values = {state: graph.states[state].clocks[clock] for state in where}
    value = max(values.values()) if kind == "sup" else min(values.values())
    if value > cap * caps.unit:
        # The clock is not followed that far.
        if kind == "sup" and any(
            graph.delay[state] == state and values[state] > cap * caps.unit for state in where
        ):
            return Bound(None, True)
        if cap >= FARTHEST:
            raise TooLarge("a clock that becomes very large")
        caps.compared(clock, max(4, 2 * cap))
    whole, fraction = divmod(value, caps.unit)
    if fraction and kind == "sup":
        whole += 1
    return Bound(whole, fraction != 0)


class Reference:
    """A network to ask queries about; it is explored anew only for larger caps."""

    def __init__(self, network: Network, limit: int = LIMIT) -> None:
        self._network = network
        self._limit = limit
        self._steps = _Steps(network)
        self._graph: _Graph | None = None
        self._explored_for: object = None

    @property
    def caps(self) -> _Caps:
        return self._steps.expressions.caps

    def _explored(self) -> _Graph:
        caps = (tuple(self.caps.single), self.caps.difference)
        if self._graph is None or self._explored_for != caps:
            self._graph = _Graph(self._steps, self._limit)
            self._explored_for = caps
        return self._graph

    def graph(self) -> _Graph:
        while True:
            try:
                return self._explored()
            except _Beyond:
                continue

    def inside(self, query: Query) -> list[bool]:
        """For each state of the graph, whether the predicate of a query holds in it."""
        assert query.predicate is not None
        while True:
            try:
                predicate = self._steps.expressions.value(query.predicate)
                return [
                    bool(predicate(_Moment(list(at.locations), list(at.data), list(at.clocks))))
                    for at in self._explored().states
                ]
            except _Beyond:
                continue

    def outcome(self, query: Query) -> _Outcome:
        while True:
            try:
                return self._decide(query)
            except _Beyond:
                continue

    def _asked(self, query: Query) -> _Outcome:
        if query.kind in ("sup", "inf"):
            # They may follow clocks very far, which no other query should have to pay for.
            return Reference(self._network, self._limit).outcome(query)
        return self.outcome(query)

    def check(self, query: Query) -> Answer:
        """As :func:`reference_check`."""
        try:
            outcome = self._asked(query)
        except ModelError:
            return "error"
        return "error" if outcome.may_fail else outcome.answer

    def allowed(self, query: Query) -> frozenset[Answer]:
        """As :func:`allowed_answers`."""
        try:
            outcome = self._asked(query)
        except ModelError:
            return frozenset({"error"})
        if outcome.fails:
            return frozenset({"error"})
        if outcome.may_fail:
            return frozenset({outcome.answer, "error"})
        return frozenset({outcome.answer})

    def _decide(self, query: Query) -> _Outcome:
        steps = self._steps
        expressions = steps.expressions
        everywhere: Expr = BoolLiteral(True)
        predicate = expressions.value(query.predicate or everywhere)
        second = expressions.value(query.second or everywhere)
        graph = self._explored()
        moments = [
            _Moment(list(state.locations), list(state.data), list(state.clocks), deadlock=dead)
            for state, dead in zip(graph.states, graph.deadlocks(), strict=True)
        ]

        def where(code: _Code, expected: bool = True) -> list[bool]:
            return [bool(code(now)) is expected for now in moments]

        some_step_fails = any(graph.fails)
        some_fault = some_step_fails or steps.stumbled

        def outcome(holds: bool, complete: bool, fails: bool = some_step_fails) -> _Outcome:
            answer: Truth = "satisfied" if holds else "violated"
            return _Outcome(answer, complete and fails, some_fault)

        match query.kind:
            case "E<>":
                holds = any(where(predicate))
                return outcome(holds, complete=not holds)
            case "A[]":
                holds = all(where(predicate))
                return outcome(holds, complete=holds)
            case "E[]" | "A<>":
                inside = where(predicate, query.kind == "E[]")
                stays = graph.staying(inside)[0]
                met = any(graph.fails[state] for state in graph.reached_within(inside))
                return outcome(stays == (query.kind == "E[]"), complete=not stays, fails=met)
            case "-->":
                unanswered = graph.staying(where(second, False))
                holds = not any(map(operator.and_, where(predicate), unanswered))
                return outcome(holds, complete=holds)
            case "sup" | "inf":
                qualified = [state for state, holds in enumerate(where(predicate)) if holds]
                bounds = []
                for expr in query.expressions if qualified else ():
                    if expressions.mentions_clocks(expr):
                        clock = expressions.place(expr)[0](moments[0])
                        bounds.append(_bound(steps, graph, qualified, clock, query.kind))
                    else:
                        code = expressions.value(expr)
                        values = [int(code(moments[state])) for state in qualified]
                        extreme = max(values) if query.kind == "sup" else min(values)
                        bounds.append(Bound(extreme, False))
                return _Outcome(("value", tuple(bounds)), some_step_fails, some_fault)
            case _:
                assert_never(query.kind)


def reference_check(network: Network, query: Query, limit: int = LIMIT) -> Answer:
    """The answer to `query`; "error" if any reachable state of `network` leads to a fault (also
    if the query could be answered without meeting it), or if the query itself does."""
    return Reference(network, limit).check(query)


def allowed_answers(network: Network, query: Query, limit: int = LIMIT) -> frozenset[Answer]:
    """All right answers: a checker that stops at the first witness, or at the first fault, gives
    another one depending on which of the two it meets first."""
    return Reference(network, limit).allowed(query)


def reachable_discrete(
    network: Network, limit: int = LIMIT
) -> frozenset[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The reachable (locations, data); a step that fails leads nowhere."""
    states = Reference(network, limit).graph().states
    return frozenset((state.locations, state.data) for state in states)


def reachable_valuations(
    network: Network, limit: int = LIMIT
) -> frozenset[tuple[tuple[int, ...], tuple[int, ...], tuple[Fraction, ...]]]:
    """(locations, data, clocks) of one reachable state for each reachable region in which no clock
    is above its cap.

    Only these are reachable themselves: where a clock is above its cap, we go on with another
    value of it.  Whatever sets of valuations a checker computes, they must contain these."""
    reference = Reference(network, limit)
    graph, caps = reference.graph(), reference.caps
    return frozenset(
        (state.locations, state.data, tuple(Fraction(v, caps.unit) for v in state.clocks))
        for state in graph.states
        if all(v <= cap * caps.unit for v, cap in zip(state.clocks, caps.single, strict=True))
    )


def reachable_count_discrete(network: Network, limit: int = LIMIT) -> int:
    """How many states a network without clocks has."""
    if _Expressions(network).clocks:
        raise ValueError("this network has clocks")
    return len(reachable_discrete(network, limit))
