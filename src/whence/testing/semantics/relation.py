"""The transition relation of section 2 as expressions over unprimed and primed symbols.

To keep the formulas small, each guard and each trigger condition has a symbol of its own, which
`definitions` equates with what it stands for.  A step of the model is a valuation of `state`,
`primed` and `auxiliary` for which all `definitions` and all of `step` hold, and each symbol is
within its range (`Inv`).  An expression that has no value (a division by zero) does not hold: a
step in which a guard or an assignment has none does not exist.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from whence.expr.tree import Expr, Symbol, SymbolKind
from whence.expr.types import BOOL, IntType
from whence.testing.logic import (
    both,
    compare,
    either,
    negation,
    number,
    operation,
    read,
    within,
)
from whence.testing.model import TimedMachine, TimedModel, Transition, Write
from whence.testing.semantics.definitions import competitors, effect, timers

__all__ = ["Assigned", "Relation"]


@dataclass(frozen=True, slots=True)
class Assigned:
    """That `write` is executed in a step where `condition` (over auxiliary symbols) holds.
    `transition` is the number of the one whose effect it is; None: a `do` effect's."""

    machine: TimedMachine
    condition: Expr
    write: Write
    transition: int | None = None


@dataclass(eq=False)
class Relation:
    """`name` tells the symbols of several relations apart."""

    model: TimedModel
    name: str = ""

    # ----------------------------------------------------------------------------------- symbols

    @cached_property
    def state(self) -> tuple[Symbol, ...]:
        return self.model.symbols

    @cached_property
    def primed(self) -> tuple[Symbol, ...]:
        return tuple(Symbol(s.scope, f"{s.name}'", SymbolKind.VARIABLE, s.type) for s in self.state)

    def prime(self, symbol: Symbol) -> Symbol:
        return self.primed[self.model.place[symbol]]

    @cached_property
    def delay(self) -> Symbol:
        """How much time passes: 0 in a discrete step."""
        return Symbol(self.name, "delay", SymbolKind.VARIABLE, IntType(0, self.model.longest))

    def holds(self, machine: TimedMachine, transition: Transition) -> Symbol:
        """The source location is active, and the guard evaluates to true."""
        return Symbol(machine.name, f"guard {transition.number}", SymbolKind.VARIABLE, BOOL)

    def trigger(self, machine: TimedMachine, transition: Transition) -> Symbol:
        """trigger_s(transition)."""
        return Symbol(machine.name, f"trigger {transition.number}", SymbolKind.VARIABLE, BOOL)

    @cached_property
    def discrete(self) -> Symbol:
        """trigger_D."""
        return Symbol(self.name, "discrete", SymbolKind.VARIABLE, BOOL)

    @cached_property
    def auxiliary(self) -> tuple[Symbol, ...]:
        found = [self.delay, self.discrete]
        for machine in self.model.machines:
            found += [self.holds(machine, one) for one in machine.transitions]
            found += [self.trigger(machine, one) for one in machine.transitions]
        return tuple(found)

    def inside(self, machine: TimedMachine, location: int) -> Expr:
        """The active basic control state is in location."""
        here = machine.locations[location]
        return within(machine.control, here.first, here.last)

    # ------------------------------------------------------------------------------- definitions

    @cached_property
    def definitions(self) -> tuple[Expr, ...]:
        """What the auxiliary symbols mean, in terms of the state alone."""
        found: list[Expr] = []
        for machine in self.model.machines:
            for one in machine.transitions:
                guard = both((self.inside(machine, one.source), one.guard))
                found.append(compare("==", read(self.holds(machine, one)), guard))
                found.append(
                    compare("==", read(self.trigger(machine, one)), self._triggered(machine, one))
                )
        found.append(compare("==", read(self.discrete), self._discrete()))
        return tuple(found)

    def _triggered(self, machine: TimedMachine, one: Transition) -> Expr:
        """trigger_s: enabled, none of a better priority from the same location, and none of a
        higher location. Of several of one priority the environment chooses; of the system's,
        such a choice is illegal (`overlaps`)."""
        outer = machine.upward(one.source)[1:]
        hindering = [t for around in outer for t in machine.outgoing[around]]
        hindering += [t for t in machine.outgoing[one.source] if t.priority < one.priority]
        parts: list[Expr] = [read(self.holds(machine, one))]
        parts += [negation(read(self.holds(machine, t))) for t in hindering]
        if machine.choice is not None:
            parts += [self._chosen(machine, one, other) for other in competitors(machine, one)]
        return both(parts)

    def _chosen(self, machine: TimedMachine, one: Transition, other: Transition) -> Expr:
        """That `other` is not enabled, or comes later in the order that is chosen: the choice is
        the number of the first in a round."""
        assert machine.choice is not None
        alike = sorted((one, *competitors(machine, one)), key=lambda t: t.number)
        mine, theirs = alike.index(one), alike.index(other)
        # In the round that begins with `first`, mine comes before theirs.
        size = len(alike)
        last = machine.choice.type.hi if isinstance(machine.choice.type, IntType) else 0
        wins = [
            compare("==", read(machine.choice), number(first))
            for first in range(last + 1)
            if (mine - first) % size < (theirs - first) % size
        ]
        return either((negation(read(self.holds(machine, other))), *wins))

    def _discrete(self) -> Expr:
        """trigger_D: a transition is triggered, or a do action would change something."""
        found: list[Expr] = []
        for machine in self.model.machines:
            found += [read(self.trigger(machine, one)) for one in machine.transitions]
            for location in machine.locations:
                found += [
                    both(
                        (
                            self.inside(machine, location.number),
                            compare("!=", read(write.variable), write.value),
                        )
                    )
                    for write in location.do
                ]
        return either(found)

    def moves(self, machine: TimedMachine) -> Expr:
        return either(read(self.trigger(machine, one)) for one in machine.transitions)

    # ---------------------------------------------------------------------------------- the step

    @cached_property
    def overlaps(self) -> tuple[tuple[TimedMachine, Transition, Transition], ...]:
        """Pairs of transitions of the system that priorities do not put in order."""
        return tuple(
            (machine, one, other)
            for machine in self.model.machines
            if machine.choice is None
            for one in machine.transitions
            for other in competitors(machine, one)
            if one.number < other.number
        )

    @cached_property
    def assigned(self) -> tuple[Assigned, ...]:
        """All assignments with what lets them be executed, given that the step is discrete."""
        found: list[Assigned] = []
        for machine in self.model.machines:
            stays = negation(self.moves(machine))
            for location in machine.locations:
                if location.do:
                    condition = both((stays, self.inside(machine, location.number)))
                    found += [Assigned(machine, condition, write) for write in location.do]
            for one in machine.transitions:
                found += self._assigned_by(machine, one)
        return tuple(found)

    def _assigned_by(self, machine: TimedMachine, one: Transition) -> Iterable[Assigned]:
        """The effect may depend on the basic control state that is left, by its exit actions."""
        source = machine.locations[one.source]
        triggered = read(self.trigger(machine, one))
        basics = machine.basics[source.first : source.last + 1]
        effects = {basic.first: effect(machine, one, basic.number).writes for basic in basics}
        if len(set(effects.values())) == 1:
            yield from (Assigned(machine, triggered, w, one.number) for w in effects[source.first])
            return
        for basic, writes in effects.items():
            here = both((triggered, within(machine.control, basic, basic)))
            yield from (Assigned(machine, here, write, one.number) for write in writes)

    @cached_property
    def step(self) -> tuple[Expr, ...]:
        """Phi, apart from `definitions` and `Inv`."""
        discrete = read(self.discrete)
        waits = negation(discrete)
        found: list[Expr] = [either((discrete, part)) for part in self._timed()]
        found += [either((waits, part)) for part in self._stepped()]
        return tuple(found)

    def _stepped(self) -> Iterable[Expr]:
        """Phi_D."""
        yield compare("==", read(self.delay), number(0))
        for machine, one, other in self.overlaps:
            yield negation(
                both((read(self.trigger(machine, one)), read(self.trigger(machine, other))))
            )
        writing: dict[Symbol, list[Expr]] = defaultdict(list)
        for assigned in self.assigned:
            target = assigned.write.variable
            writing[target].append(assigned.condition)
            value = compare("==", read(self.prime(target)), assigned.write.value)
            yield either((negation(assigned.condition), value))
        for variable in self.model.variables:
            if variable.role == "choice":
                continue
            written = either(writing.get(variable.symbol, ()))
            same = compare("==", read(self.prime(variable.symbol)), read(variable.symbol))
            yield either((written, same))
        for machine in self.model.machines:
            yield from self._moved(machine)

    def _moved(self, machine: TimedMachine) -> Iterable[Expr]:
        control, after = read(machine.control), read(self.prime(machine.control))
        for one in machine.transitions:
            source = machine.locations[one.source]
            active = machine.basics[source.first].number
            reached: Expr = number(effect(machine, one, active).target)
            if one.internal:
                reached = control
            triggered = read(self.trigger(machine, one))
            yield either((negation(triggered), compare("==", after, reached)))
        yield either((self.moves(machine), compare("==", after, control)))

    def _timed(self) -> Iterable[Expr]:
        """Phi_T. Ages stop growing at the largest constant that they are compared with."""
        delay = read(self.delay)
        yield compare(">=", delay, number(1))
        for machine in self.model.machines:
            yield compare("==", read(self.prime(machine.control)), read(machine.control))
            for basic in machine.basics:
                for elapsed in timers(machine, basic.number):
                    age, constant = read(elapsed.age), number(elapsed.constant)
                    yield either(
                        (
                            compare("!=", read(machine.control), number(basic.first)),
                            compare("<=", operation("+", age, delay), constant),
                            compare(">=", age, constant),
                        )
                    )
        for variable in self.model.variables:
            if variable.free:
                continue
            value = read(variable.symbol)
            if variable.role == "timer":
                grown = operation("+", value, delay)
                value = operation("<?", grown, number(variable.limits[1]))
            yield compare("==", read(self.prime(variable.symbol)), value)

    @cached_property
    def initial(self) -> tuple[Expr, ...]:
        """Init: free inputs have any value, everything else its default."""
        found = [
            compare("==", read(machine.control), number(_start(machine)))
            for machine in self.model.machines
        ]
        found += [
            compare("==", read(variable.symbol), number(variable.initial))
            for variable in self.model.variables
            if not variable.free
        ]
        return tuple(found)


def _start(machine: TimedMachine) -> int:
    """The top-most start location."""
    return next(one.first for one in machine.basics if one.pseudo)
