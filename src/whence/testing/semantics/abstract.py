"""Interval abstract interpretation (section 5, Figures 2 to 5).

An abstract state has the set of basic control states that each machine may be in, and an interval
for each variable.  `A` abstracts the states after i steps if it has them all; steps of illegal
runs do not exist, so that assigned values stay within their ranges.

Deviations from the figures, all of them towards more states or better bounds, never fewer states:
what is only possibly written is joined with the value before (the figures leave this implicit);
the choice among transitions of one priority does not hinder the others; ages of timers take the
place of the execution time, and the time that may pass is bounded by the machine whose active
locations admit the least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from whence.expr.ieee import COMPARISONS, Format, nan, operation_of
from whence.expr.ieee_intervals import narrowed as narrowed_float
from whence.expr.intervals import Access, Interval, interval
from whence.expr.tree import Binary, Call, Expr, Name, Symbol, Unary
from whence.testing.logic import either, within
from whence.testing.model import Location, TimedMachine, TimedModel, Transition, Write
from whence.testing.semantics.definitions import do_actions, effect, levels, timers

__all__ = ["Abstract", "AbstractInterpreter", "admitted", "admitted_controls"]

#: After so many joins without an end, bounds that still move jump to those of the type.
_PATIENCE = 24
_FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True)
class Abstract:
    """An element of the lattice L(S), apart from bottom. `controls`: for each machine, the numbers
    of basic control states."""

    controls: tuple[frozenset[int], ...]
    values: Mapping[Symbol, Interval]

    def __contains__(self, state: object) -> bool:
        """Whether a concrete state is one of those that it stands for."""
        assert isinstance(state, tuple)
        count = len(self.controls)
        return all(
            at in known for at, known in zip(state[:count], self.controls, strict=True)
        ) and all(
            value in known for value, known in zip(state[count:], self.values.values(), strict=True)
        )

    def join(self, other: Abstract) -> Abstract:
        return Abstract(
            tuple(a | b for a, b in zip(self.controls, other.controls, strict=True)),
            {symbol: known.join(other.values[symbol]) for symbol, known in self.values.items()},
        )


class AbstractInterpreter:
    """With `strict`, an assignment outside a range ends a run, as it is; without, the run goes on
    with any value of the range, so that what comes after a defect is looked at, too."""

    def __init__(self, model: TimedModel, strict: bool = True) -> None:
        self.model = model
        self.strict = strict
        self._machine_of = {machine.control: machine for machine in model.machines}

    # ---------------------------------------------------------------------------------- states

    def initial(self) -> Abstract:
        controls = []
        for machine in self.model.machines:
            controls.append(frozenset(one.first for one in machine.basics if one.pseudo))
        values = {
            v.symbol: _whole(v.limits) if v.free else Interval(v.initial, v.initial)
            for v in self.model.variables
        }
        return Abstract(tuple(controls), values)

    def of(self, state: tuple[int, ...]) -> Abstract:
        """The abstraction of one concrete state."""
        count = len(self.model.machines)
        return Abstract(
            tuple(frozenset((at,)) for at in state[:count]),
            {
                v.symbol: Interval(value, value)
                for v, value in zip(self.model.variables, state[count:], strict=True)
            },
        )

    # ------------------------------------------------------------------------------ evaluation

    def truth(self, expr: Expr, state: Abstract) -> bool | None:
        """[expr](state): None is top, the truth value of which both are possible."""
        match expr:
            case Unary(op="!", operand=operand):
                inner = self.truth(operand, state)
                return None if inner is None else not inner
            case Binary(op="&&" | "||" as op, left=left, right=right):
                decisive = op == "||"
                first = self.truth(left, state)
                if first is decisive:
                    return decisive
                second = self.truth(right, state)
                if second is decisive:
                    return decisive
                return None if first is None or second is None else not decisive
            case Binary(op=op, left=left, right=right) if op in _FLIPPED:
                test = self._control_test(expr)
                if test is not None:
                    known = state.controls[test[0].number]
                    hits = {at for at in known if at in test[1]}
                    return False if not hits else True if hits == known else None
        return self._bounds(expr, state).truth

    def _control_test(self, expr: Binary) -> tuple[TimedMachine, frozenset[int]] | None:
        """The machine and the control states that a test of a control state allows."""
        if not (isinstance(expr.left, Name) and expr.left.symbol in self._machine_of):
            return None
        machine = self._machine_of[expr.left.symbol]
        right = interval(expr.right)
        if right.lo != right.hi:
            return None
        allowed = (at for at in range(len(machine.basics)) if _compared(expr.op, at, right.lo))
        return machine, frozenset(allowed)

    def _bounds(self, expr: Expr, state: Abstract) -> Interval:
        def ranges(access: Access) -> Interval:
            assert isinstance(access, Name)
            assert access.symbol is not None
            machine = self._machine_of.get(access.symbol)
            if machine is not None:
                known = state.controls[machine.number]
                return Interval(min(known), max(known))
            return state.values[access.symbol]

        return interval(expr, ranges)

    # ------------------------------------------------------------------------------- contractors

    def contracted(self, expr: Expr, truth: bool, state: Abstract) -> Abstract | None:
        """C(expr = truth; state): still has all concrete states in which that is so; None: there
        are none."""
        if self.truth(expr, state) is (not truth):
            return None
        match expr:
            case Unary(op="!", operand=operand):
                return self.contracted(operand, not truth, state)
            case Binary(op="&&" | "||" as op, left=left, right=right):
                if (op == "&&") == truth:
                    first = self.contracted(left, truth, state)
                    return None if first is None else self.contracted(right, truth, first)
                one = self.contracted(left, truth, state)
                other = self.contracted(right, truth, state)
                if one is None or other is None:
                    return other if one is None else one
                return one.join(other)
            case Binary(op=op) if op in _FLIPPED:
                return self._compared(expr, op if truth else _FLIPPED[op], state)
            case Call() if (found := operation_of(expr)) is not None and found[1] in COMPARISONS:
                return self._floats_compared(expr, *found, truth, state)
            case Name(symbol=Symbol() as symbol) if symbol in state.values:
                known = state.values[symbol]
                if not truth:
                    return _with(state, symbol, known.meet(Interval(0, 0)))
                low = known.lo + (known.lo == 0)
                high = known.hi - (known.hi == 0)
                return _with(state, symbol, Interval(low, high) if low <= high else None)
        return state

    def _compared(self, expr: Binary, op: str, state: Abstract) -> Abstract | None:
        test = self._control_test(replace(expr, op=op))
        if test is not None:
            machine, allowed = test
            left = state.controls[machine.number] & allowed
            if not left:
                return None
            controls = list(state.controls)
            controls[machine.number] = left
            return Abstract(tuple(controls), state.values)
        found: Abstract | None = state
        for side, other, way in (
            (expr.left, expr.right, op),
            (expr.right, expr.left, _MIRRORED[op]),
        ):
            if found is None:
                return None
            symbol = side.symbol if isinstance(side, Name) else None
            if symbol is not None and symbol in found.values:
                bounds = self._bounds(other, found)
                found = _with(found, symbol, _narrowed(way, found.values[symbol], bounds))
        return found

    def _floats_compared(
        self, expr: Call, format_: Format, op: str, truth: bool, state: Abstract
    ) -> Abstract | None:
        left, right = expr.arguments
        if not truth:
            both = (self._bounds(left, state), self._bounds(right, state))
            if op not in ("==", "!=") and any(one.hi == nan(format_) for one in both):
                # What is not ordered does not compare either.
                return state
            op = _FLIPPED[op]
        found: Abstract | None = state
        for side, other, way in ((left, right, op), (right, left, _MIRRORED[op])):
            if found is None:
                return None
            symbol = side.symbol if isinstance(side, Name) else None
            if symbol is not None and symbol in found.values:
                known, bounds = found.values[symbol], self._bounds(other, found)
                left_ = narrowed_float(way, (known.lo, known.hi), (bounds.lo, bounds.hi), format_)
                found = _with(found, symbol, None if left_ is None else Interval(*left_))
        return found

    # --------------------------------------------------------------------------------------- steps

    def step(self, state: Abstract) -> Abstract:
        """absInt of Figure 3: the abstract state after a step."""
        discrete = self.discrete_possible(state)
        if discrete is not False:
            stepped = self._discrete(state)
            if discrete is True:
                return stepped or state
            waited = self.waited(state)
            return waited if stepped is None else stepped.join(waited)
        return self.waited(state)

    def discrete_possible(self, state: Abstract) -> bool | None:
        """[trigger_D](state)."""
        sure, possible = False, False
        for machine in self.model.machines:
            options = []
            for at in state.controls[machine.number]:
                active = machine.basics[at].number
                here = self._at(state, machine, at)
                truths = [
                    True if one.guard is None else self.truth(one.guard, here)
                    for group in levels(machine, active)
                    for one in group
                ]
                truths += [self.changes(write, here) for write in do_actions(machine, active)]
                options.append(True in truths)
                possible |= any(truth is not False for truth in truths)
            sure |= bool(options) and all(options)
        return True if sure else None if possible else False

    def changes(self, write: Write, state: Abstract) -> bool | None:
        before, after = state.values[write.variable], self._bounds(write.value, state)
        if before.meet(after) is None:
            return True
        return False if before.lo == before.hi == after.lo == after.hi else None

    @staticmethod
    def _at(state: Abstract, machine: TimedMachine, at: int) -> Abstract:
        controls = list(state.controls)
        controls[machine.number] = frozenset((at,))
        return Abstract(tuple(controls), state.values)

    def waited(self, state: Abstract) -> Abstract:
        """Figure 4: time passes, by at most what the timers still need, and inputs change."""
        values = dict(state.values)
        longest = self.model.longest
        for machine in self.model.machines:
            longest = min(
                longest,
                max(
                    self._limit(machine.basics[at], machine, state)
                    for at in state.controls[machine.number]
                ),
            )
        for variable in self.model.variables:
            if variable.free:
                values[variable.symbol] = _whole(variable.limits)
            elif variable.role == "timer":
                age, cap = values[variable.symbol], variable.limits[1]
                low, high = min(age.lo + 1, cap), min(age.hi + longest, cap)
                values[variable.symbol] = Interval(low, high)
        return Abstract(state.controls, values)

    def _limit(self, basic: Location, machine: TimedMachine, state: Abstract) -> int:
        """How long its timers let time pass at most while a control state is active."""
        longest = self.model.longest
        for elapsed in timers(machine, basic.number):
            age = state.values[elapsed.age]
            if age.hi < elapsed.constant:
                longest = min(longest, elapsed.constant - age.lo)
        return longest

    def _discrete(self, state: Abstract) -> Abstract | None:
        """Figure 5."""
        reached: list[set[int]] = [set() for _ in self.model.machines]
        written: dict[Symbol, Interval] = {}
        surely: set[Symbol] = set()
        for machine in self.model.machines:
            in_all: set[Symbol] | None = None
            for at in state.controls[machine.number]:
                here = self._at(state, machine, at)
                for writes, target, narrowed, _ in self.alternatives(machine, at, here):
                    outcome = self.written(writes, narrowed)
                    if outcome is None:
                        continue
                    reached[machine.number].add(target)
                    for symbol, value in outcome.items():
                        known = written.get(symbol)
                        written[symbol] = value if known is None else known.join(value)
                    now = set(outcome)
                    in_all = now if in_all is None else in_all & now
            surely |= in_all or set()
        if not all(reached):
            return None
        values = dict(state.values)
        for symbol, value in written.items():
            values[symbol] = value if symbol in surely else value.join(values[symbol])
        for variable in self.model.having("choice"):
            values[variable.symbol] = _whole(variable.limits)
        return Abstract(tuple(map(frozenset, reached)), values)

    def alternatives(
        self, machine: TimedMachine, at: int, state: Abstract
    ) -> Iterator[tuple[tuple[Write, ...], int, Abstract, bool]]:
        """What the machine may do in a control state: assignments, where it goes, the states in
        which it does so, and whether that is a transition."""
        active = machine.basics[at].number
        left: Abstract | None = state
        for group in levels(machine, active):
            if left is None:
                return
            for one in group:
                narrowed = left if one.guard is None else self.contracted(one.guard, True, left)
                if narrowed is not None:
                    found = effect(machine, one, active)
                    yield found.writes, found.target, narrowed, True
            left = self._none_of(group, left)
        if left is not None:
            yield do_actions(machine, active), at, left, False

    def _none_of(self, group: Iterable[Transition], state: Abstract) -> Abstract | None:
        left: Abstract | None = state
        for one in group:
            if left is None or one.guard is None:
                return None
            left = self.contracted(one.guard, False, left)
        return left

    def written(self, writes: Iterable[Write], state: Abstract) -> dict[Symbol, Interval] | None:
        """The values after the assignments; None: all of them are illegal."""
        found: dict[Symbol, Interval] = {}
        for write in writes:
            value: Interval | None = self._bounds(write.value, state)
            assert value is not None
            if self.model.variable_of[write.variable].boolean:
                truth = value.truth
                value = Interval(0, 1) if truth is None else Interval(int(truth), int(truth))
            limits = _whole(self.model.variable_of[write.variable].limits)
            value = value.meet(limits) or (None if self.strict else limits)
            if value is not None and write.variable in found:
                # Assigned twice: both are the same, or the step is a racing condition.
                value = value.meet(found[write.variable])
            if value is None:
                return None
            found[write.variable] = value
        return found

    # ----------------------------------------------------------------------------------- fixpoint

    def invariant(self) -> Abstract:
        """An abstract state that has all reachable ones."""
        known = self.initial()
        for number in range(10 * _PATIENCE):
            following = known.join(self.step(known))
            if following == known:
                return known
            known = self.widened(known, following) if number >= _PATIENCE else following
        return self._everything(known)

    def widened(self, before: Abstract, after: Abstract) -> Abstract:
        values = {}
        for symbol, known in after.values.items():
            low, high = self.model.variable_of[symbol].limits
            old = before.values[symbol]
            values[symbol] = Interval(
                low if known.lo < old.lo else known.lo, high if known.hi > old.hi else known.hi
            )
        return Abstract(after.controls, values)

    def _everything(self, state: Abstract) -> Abstract:
        """Not reached: after widening only finitely many control states can be added."""
        controls = tuple(frozenset(range(len(m.basics))) for m in self.model.machines)
        return Abstract(
            controls, {s: _whole(self.model.variable_of[s].limits) for s in state.values}
        )


def admitted_controls(model: TimedModel, state: Abstract) -> list[Expr]:
    """That machines are where an abstract state has them: what the report passes to the solver."""
    return [
        either(within(machine.control, at, at) for at in sorted(known))
        for machine, known in zip(model.machines, state.controls, strict=True)
        if len(known) < len(machine.basics)
    ]


def admitted(model: TimedModel, state: Abstract) -> list[Expr]:
    """That a state is one of those that an abstract state stands for."""
    found = admitted_controls(model, state)
    for symbol, bounds in state.values.items():
        if (bounds.lo, bounds.hi) != model.variable_of[symbol].limits:
            found.append(within(symbol, bounds.lo, bounds.hi))
    return found


def _whole(limits: tuple[int, int]) -> Interval:
    return Interval(*limits)


def _with(state: Abstract, symbol: Symbol, value: Interval | None) -> Abstract | None:
    if value is None:
        return None
    if value == state.values[symbol]:
        return state
    return Abstract(state.controls, {**state.values, symbol: value})


def _narrowed(op: str, known: Interval, other: Interval) -> Interval | None:
    """What is left of `known` if it compares so with something in `other`."""
    low, high = known.lo, known.hi
    match op:
        case "<":
            high = min(high, other.hi - 1)
        case "<=":
            high = min(high, other.hi)
        case ">":
            low = max(low, other.lo + 1)
        case ">=":
            low = max(low, other.lo)
        case "==":
            low, high = max(low, other.lo), min(high, other.hi)
        case "!=" if other.lo == other.hi:
            low += low == other.lo
            high -= high == other.lo
    return Interval(low, high) if low <= high else None


def _compared(op: str, left: int, right: int) -> bool:
    match op:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
    return left != right
