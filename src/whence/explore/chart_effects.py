"""Effects, guards and queues of charts as checked expressions.

A queue is an array: the message at its head is in cell 0, and behind the last message all cells
are 0, so that two states with the same messages are the same.  Messages are numbers of signals,
from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from whence.explore.chart_names import ChartNames, joined
from whence.explore.chart_paths import Compound
from whence.explore.chart_structure import MachineStructure
from whence.expr.scope import Problem
from whence.expr.tree import (
    Assignment,
    Binary,
    BoolLiteral,
    Call,
    Conditional,
    Expr,
    Index,
    InLocation,
    IntLiteral,
    Name,
    Step,
    Symbol,
    SymbolKind,
    Unary,
)
from whence.expr.types import BOOL, INT32, ArrayType, BoolType, IntType
from whence.expr.walk import subexpressions, substitute
from whence.model.chart import Assign, Chart, ChartTransition, Effect, Machine, Send
from whence.model.network import Variable
from whence.source import NOWHERE, Origin

__all__ = ["Queue", "Texts", "conjunction", "external_signals", "negation", "queues_of"]

#: A guard that is larger than this after substitution has grown by itself.
_LARGEST_GUARD = 20_000
_LARGEST_QUEUE = 64
_TRUE = BoolLiteral(True, type=BOOL)


def conjunction(parts: Iterable[Expr]) -> Expr | None:
    """All of the parts, asked from left to right; None where there are none."""
    return joined("&&", [part for part in parts if part != _TRUE])


def negation(expr: Expr) -> Expr:
    return Unary("!", expr, type=BOOL, origin=expr.origin)


def _number(value: int, origin: Origin = NOWHERE) -> Expr:
    return IntLiteral(value, type=IntType(value, value), origin=origin)


def _operation(op: str, left: Expr, right: Expr, origin: Origin) -> Expr:
    type_ = BOOL if op in ("==", "!=", "&&", "||") else INT32
    return Binary(op, left, right, type=type_, origin=origin)


# ---------------------------------------------------------------------------------------- queues


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue of a machine. `signals` numbers all signals of the chart."""

    machine: Machine
    symbol: Symbol
    signals: dict[str, int]
    #: The signals that somebody sends to it.
    received: tuple[str, ...]

    def _cell(self, index: Expr, origin: Origin) -> Expr:
        assert isinstance(self.symbol.type, ArrayType)
        array = Name(str(self.symbol), self.symbol, type=self.symbol.type, origin=origin)
        return Index(array, index, type=self.symbol.type.element, origin=origin)

    def _is_free(self, cell: int, origin: Origin) -> Expr:
        return _operation("==", self._cell(_number(cell), origin), _number(0), origin)

    def head_is(self, signal: str, origin: Origin) -> Expr:
        head = self._cell(_number(0), origin)
        return _operation("==", head, _number(self.signals[signal]), origin)

    def has_room(self, messages: int, popped: bool, origin: Origin) -> Expr:
        """So many messages fit in, after the head was taken if it is `popped`."""
        first = self.machine.capacity - messages + int(popped)
        if messages > self.machine.capacity:
            return BoolLiteral(False, type=BOOL, origin=origin)
        return _TRUE if first >= self.machine.capacity else self._is_free(first, origin)

    def pop(self, origin: Origin) -> tuple[Expr, ...]:
        last = self.machine.capacity - 1
        cells = [self._cell(_number(n), origin) for n in range(last + 1)]
        return tuple(
            Assignment(
                "=",
                cell,
                cells[n + 1] if n < last else _number(0),
                type=cell.type,
                origin=origin,
            )
            for n, cell in enumerate(cells)
        )

    def append(self, signal: str, origin: Origin) -> Expr:
        """Puts a message behind the last one; where the queue may be full, if it is not."""
        taken = [
            _operation("!=", self._cell(_number(n), origin), _number(0), origin)
            for n in range(self.machine.capacity - 1)
        ]
        where = reduce(lambda a, b: _operation("+", a, b, origin), taken) if taken else _number(0)
        cell = self._cell(where, origin)
        put = Assignment("=", cell, _number(self.signals[signal]), type=cell.type, origin=origin)
        if self.machine.when_full == "block":
            return put
        room = self._is_free(self.machine.capacity - 1, origin)
        return Conditional(room, put, _number(0), type=INT32, origin=origin)

    @property
    def variable(self) -> Variable:
        return Variable(self.symbol, (0,) * self.machine.capacity, origin=self.machine.origin)


def queues_of(chart: Chart) -> dict[str, Queue]:
    """The queues of the machines that somebody sends messages to."""
    triggers = {
        machine.name: {t.trigger for t in machine.transitions if t.trigger is not None}
        for machine in chart.machines
    }
    signals: dict[str, int] = {}
    for signal in chart.signals:
        signals.setdefault(signal.name, len(signals) + 1)
    received: dict[str, dict[str, None]] = {machine.name: {} for machine in chart.machines}
    for machine in chart.machines:
        for send in _sends(machine):
            signals.setdefault(send.signal, len(signals) + 1)
            for name in _receivers(send, triggers):
                received[name][send.signal] = None
    result = {}
    for machine in chart.machines:
        if received[machine.name]:
            if not 1 <= machine.capacity <= _LARGEST_QUEUE:
                raise Problem(
                    f"a queue for {machine.capacity} messages (expected 1 to {_LARGEST_QUEUE})",
                    machine.origin,
                )
            cells = ArrayType(IntType(0, len(signals)), IntType(0, machine.capacity - 1))
            # No variable can be called that, so that none is in its way.
            symbol = Symbol(machine.name, "(queue)", SymbolKind.VARIABLE, cells)
            result[machine.name] = Queue(machine, symbol, signals, tuple(received[machine.name]))
    return result


def external_signals(chart: Chart) -> tuple[str, ...]:
    """The signals that trigger transitions and that no machine sends: they come from outside, and
    can do so at any time."""
    sent = {send.signal for machine in chart.machines for send in _sends(machine)}
    triggers = (t.trigger for machine in chart.machines for t in machine.transitions)
    return tuple(dict.fromkeys(t for t in triggers if t is not None and t not in sent))


def _sends(machine: Machine) -> Iterable[Send]:
    for state in machine.states:
        yield from (effect for effect in (*state.entry, *state.exit) if isinstance(effect, Send))
    for transition in machine.transitions:
        yield from (effect for effect in transition.effects if isinstance(effect, Send))


def _receivers(send: Send, triggers: dict[str, set[str]]) -> tuple[str, ...]:
    if send.target is None:
        return tuple(name for name, wanted in triggers.items() if send.signal in wanted)
    if send.target not in triggers:
        raise Problem(f"unknown machine `{send.target}`", send.origin)
    return (send.target,)


# ----------------------------------------------------------------------------------------- texts


class Texts:
    """The effects and guards of a chart, each read and checked once."""

    def __init__(self, chart: Chart, names: ChartNames, queues: dict[str, Queue]) -> None:
        self.names = names
        self.queues = queues
        self._triggers = {
            machine.name: {t.trigger for t in machine.transitions if t.trigger is not None}
            for machine in chart.machines
        }
        self._effects: dict[tuple[str, Effect], tuple[Expr, ...]] = {}
        self._guards: dict[tuple[str, str], Expr] = {}

    # ------------------------------------------------------------------------------------ effects

    def receivers(self, send: Send) -> tuple[str, ...]:
        return _receivers(send, self._triggers)

    def effect(self, machine: str, effect: Effect) -> tuple[Expr, ...]:
        """The updates that an effect is."""
        key = (machine, effect)
        found = self._effects.get(key)
        if found is None:
            if isinstance(effect, Send):
                found = tuple(
                    self.queues[name].append(effect.signal, effect.origin)
                    for name in self.receivers(effect)
                )
            else:
                found = tuple(
                    self._assignment(update) for update in self.names.updates(effect.text, machine)
                )
            self._effects[key] = found
        return found

    def _assignment(self, update: Expr) -> Assignment:
        """An assignment `variable = value`, whatever its form was."""
        if not isinstance(update, Assignment | Step):
            raise Problem(
                "expected an assignment",
                update.origin,
                "effects are assignments and `send SIGNAL to MACHINE`, separated by `;`",
            )
        target = update.target
        symbol = target.symbol if isinstance(target, Name) else None
        assert symbol is not None
        assert isinstance(symbol.type, IntType | BoolType)
        origin = update.origin
        if isinstance(update, Step):
            value = _operation(update.op[0], target, _number(1, origin), origin)
        elif update.op == "=":
            value = update.value
        else:
            value = _operation(update.op[:-1], target, update.value, origin)
        for part in subexpressions(value):
            if isinstance(part, Assignment | Step | Call):
                raise Problem("an effect inside an expression", part.origin, unsupported=True)
        if isinstance(symbol.type, BoolType) and not isinstance(value.type, BoolType):
            value = _operation("!=", value, _number(0, origin), origin)
        wrapping = self.names.wrapping.get(symbol)
        if wrapping is not None:
            value = _wrapped(value, wrapping)
        return Assignment("=", target, value, type=symbol.type, origin=origin)

    def updates(self, machine: str, effects: Sequence[Effect]) -> tuple[Expr, ...]:
        return tuple(update for effect in effects for update in self.effect(machine, effect))

    def has_room(self, machine: str, compound: Compound) -> Expr | None:
        """Whether all messages that block their sender fit in."""
        counts: dict[str, list[Send]] = {}
        for effect in compound.effects:
            if isinstance(effect, Send):
                for name in self.receivers(effect):
                    counts.setdefault(name, []).append(effect)
        pops = any(segment.trigger is not None for segment in compound.segments[:1])
        return conjunction(
            self.queues[name].has_room(len(sends), pops and name == machine, sends[0].origin)
            for name, sends in counts.items()
            if self.queues[name].machine.when_full == "block"
        )

    # ------------------------------------------------------------------------------------- guards

    def _guard(self, machine: str, transition: ChartTransition) -> Expr:
        key = (machine, transition.ident)
        if key not in self._guards:
            text = transition.guard
            self._guards[key] = _TRUE if text is None else self.names.guard(text, machine)
        return self._guards[key]

    def condition(self, structure: MachineStructure, compound: Compound) -> Expr | None:
        """The guards of a compound transition, all as conditions before it."""
        parts = []
        for point, transition in compound.guards:
            guard = self._segment(structure, transition)
            parts.append(self._before(structure, guard, compound.effects[:point]))
        return conjunction(parts)

    def _segment(self, structure: MachineStructure, transition: ChartTransition) -> Expr:
        machine = structure.machine.name
        if not transition.otherwise:
            return self._guard(machine, transition)
        others = [
            self._guard(machine, other)
            for other in structure.leaving[transition.source]
            if not other.otherwise
        ]
        either = joined("||", others)
        return _TRUE if either is None else negation(either)

    def _before(self, structure: MachineStructure, guard: Expr, effects: Sequence[Effect]) -> Expr:
        """The weakest precondition of a guard for the effects before it."""
        if not effects:
            return guard
        for part in subexpressions(guard):
            if (
                isinstance(part, InLocation)
                and isinstance(part.process, IntLiteral)
                and part.process.value == structure.number
            ):
                raise Problem(
                    "a choice by a state of the machine itself, which is between two states",
                    part.origin,
                    unsupported=True,
                )
        for effect in reversed(effects):
            if not isinstance(effect, Assign):
                continue  # guards do not read queues
            for update in reversed(self.effect(structure.machine.name, effect)):
                assert isinstance(update, Assignment)
                assert isinstance(update.target, Name)
                assert update.target.symbol is not None
                guard = substitute(guard, update.target.symbol, update.value)
                if sum(1 for _ in subexpressions(guard)) > _LARGEST_GUARD:
                    raise Problem(
                        "a choice by a value that takes too much computing on the way to it",
                        update.origin,
                        "put a state in between",
                        unsupported=True,
                    )
        return guard


def _wrapped(value: Expr, type_: IntType) -> Expr:
    """The number in the range of `type_` that differs by a multiple of the range's size.

    `%` has the sign of its left side, and the range contains 0: what is shifted is positive.
    """
    size, at = type_.hi - type_.lo + 1, value.origin
    rest = _operation("%", value, _number(size, at), at)
    shifted = _operation("+", rest, _number(size - type_.lo, at), at)
    again = _operation("%", shifted, _number(size, at), at)
    return replace(_operation("+", again, _number(type_.lo, at), at), type=type_)
