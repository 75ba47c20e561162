"""Static checks of timed charts: what is wrong with them whatever tests are wanted.

The solver looks for one state, within the bounds of the abstract interpretation, in which two
transitions overlap, two assignments race, or an assigned value is outside its range.  Such a state
need not be reachable: the message says whether simulation ran into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from whence.expr.intervals import interval
from whence.expr.tree import Binary, Expr, Name, Symbol
from whence.expr.types import INT32
from whence.expr.walk import subexpressions
from whence.model.chart import Chart, ChartVariable
from whence.solve.frames import AllOf, Answer, Frames, Holds
from whence.source import Diagnostic, Origin
from whence.testing.elaborate import elaborate
from whence.testing.logic import both, compare, either, negation, number, read
from whence.testing.model import TimedModel, Write
from whence.testing.runs import Runs
from whence.testing.semantics.abstract import AbstractInterpreter, admitted
from whence.testing.semantics.relation import Assigned, Relation
from whence.testing.walks import Walker

__all__ = ["check_model", "simulated_findings", "widened"]

_BUDGET = 5_000_000


def check_model(model: TimedModel) -> tuple[Diagnostic, ...]:
    """All findings, those of reading the model first."""
    return (*model.findings, *_Checks(model).run())


class _Checks:
    def __init__(self, model: TimedModel) -> None:
        self.model = model
        self.relation = Relation(model)
        self._frames: Frames | None = None

    def run(self) -> Iterator[Diagnostic]:
        yield from self._unsatisfied()
        yield from self._overlaps()
        yield from self._ranges()
        yield from self._races()

    @property
    def frames(self) -> Frames:
        """One frame in which guards and triggers mean what they should, with no step behind it."""
        if self._frames is None:
            relation = self.relation
            self._frames = Frames(
                relation.state,
                relation.primed,
                relation.auxiliary,
                relation.definitions,
                relation.step,
            )
            self._frames.define()
            bounds = AbstractInterpreter(self.model, strict=False).invariant()
            for expr in admitted(self.model, bounds):
                self._frames.require(Holds(expr, 0))
        return self._frames

    def _witness(self, condition: Expr) -> tuple[int, ...] | None:
        chosen = self.frames.selector()
        self.frames.require(AllOf((Holds(condition, 0),)), chosen)
        if self.frames.ask((chosen,), 0, _BUDGET) is Answer.POSSIBLE:
            return self.frames.state(0)
        return None

    def _described(self, state: Sequence[int], exprs: Iterable[Expr]) -> str:
        """The values of what the expressions read."""
        wanted = {str(part.symbol) for expr in exprs for part in _names(expr)}
        found = []
        for variable in self.model.variables:
            if variable.name in wanted and variable.role not in ("timer", "choice"):
                value = state[self.model.place[variable.symbol]]
                found.append(f"{variable.name} = {variable.shown(value)}")
        return ", ".join(found[:8])

    # ------------------------------------------------------------------------------------- checks

    def _unsatisfied(self) -> Iterator[Diagnostic]:
        linked: set[str] = set()
        for machine in self.model.machines:
            for location in machine.locations:
                linked.update(location.requirements)
            for one in machine.transitions:
                linked.update(one.requirements)
        for goal in self.model.goals:
            linked.update(goal.requirements)
        for requirement in self.model.requirements:
            if requirement.ident not in linked:
                yield Diagnostic(
                    f"nothing satisfies the requirement `{requirement.ident}`",
                    requirement.origin,
                    severity="warning",
                )

    def _overlaps(self) -> Iterator[Diagnostic]:
        relation = self.relation
        together = [
            both(read(relation.trigger(machine, t)) for t in (one, other))
            for machine, one, other in relation.overlaps
        ]
        # Most models have none, which is one question for all pairs.
        if len(together) > 1 and self._witness(either(together)) is None:
            return
        for machine, one, other in relation.overlaps:
            triggered = both(read(relation.trigger(machine, t)) for t in (one, other))
            witness = self._witness(triggered)
            if witness is None:
                continue
            guards = [t.guard for t in (one, other) if t.guard is not None]
            example = self._described(witness, guards)
            yield Diagnostic(
                f"two transitions of `{machine.path(one.source)}` can be enabled together"
                + (f", for example with {example}" if example else ""),
                other.origin,
                f"the other one is at {one.origin}: give them priorities",
                f"machine {machine.name}",
            )

    def _ranges(self) -> Iterator[Diagnostic]:
        return (found for _, found in self.outside())

    def outside(self) -> Iterator[tuple[Symbol, Diagnostic]]:
        """Assignments of values outside of ranges, with their variables."""
        seen: set[Origin] = set()
        for assigned in self.relation.assigned:
            write = assigned.write
            variable = self.model.variable_of[write.variable]
            low, high = variable.limits
            bounds = interval(write.value)
            if (low <= bounds.lo and bounds.hi <= high) or write.origin in seen:
                continue
            outside = either(
                (
                    compare("<", write.value, number(low)),
                    compare(">", write.value, number(high)),
                )
            )
            witness = self._witness(both((assigned.condition, outside)))
            if witness is not None:
                seen.add(write.origin)
                example = self._described(witness, (write.value,))
                shown = (low, high) if variable.ieee is None else map(variable.shown, (low, high))
                yield (
                    write.variable,
                    Diagnostic(
                        f"`{write.variable}` can be assigned a value outside its range "
                        + " to ".join(map(str, shown))
                        + (f", for example with {example}" if example else ""),
                        write.origin,
                        "a run that does so is no run of the model",
                        f"machine {assigned.machine.name}",
                    ),
                )

    def _races(self) -> Iterator[Diagnostic]:
        seen: set[tuple[Origin, Origin]] = set()
        relation = self.relation
        alone = both(
            negation(both(read(relation.trigger(machine, t)) for t in (one, other)))
            for machine, one, other in relation.overlaps
        )
        by_variable: dict[str, list[Assigned]] = {}
        for assigned in self.relation.assigned:
            by_variable.setdefault(str(assigned.write.variable), []).append(assigned)
        for group in by_variable.values():
            for one, other in combinations(group, 2):
                # A machine takes one transition, or executes `do` effects; see `alone`.
                if one.machine is other.machine and one.transition != other.transition:
                    continue
                first, second = one.write, other.write
                key = (first.origin, second.origin)
                if key in seen or _same(first, second) or _apart(one, other):
                    continue
                differ = compare("!=", first.value, second.value)
                witness = self._witness(both((alone, one.condition, other.condition, differ)))
                if witness is None:
                    continue
                seen.add(key)
                yield Diagnostic(
                    f"`{first.variable}` can be assigned two different values in one step",
                    second.origin,
                    f"the other assignment is at {first.origin}",
                    f"machine {other.machine.name}",
                )


def widened(chart: Chart) -> tuple[Chart, tuple[Diagnostic, ...]]:
    """The chart with ranges that have all defaults and all assigned values, so that no run ends
    there; and what was changed."""
    model = elaborate(chart)
    wrong = {symbol for symbol, _ in _Checks(model).outside()}
    wrong |= {v.symbol for v in model.variables if not v.limits[0] <= v.initial <= v.limits[1]}
    # Only the ranges of integers can be.
    names = {
        (s.scope, s.name)
        for s in wrong
        for v in (model.variable_of[s],)
        if not (v.members or v.fixed or v.ieee is not None)
    }
    if not names:
        return chart, ()
    # As wide as can be first, then what the abstract interpretation leaves of that.
    wide = dict.fromkeys(names, (INT32.lo, INT32.hi))
    loose = elaborate(_with_ranges(chart, wide))
    bounds = AbstractInterpreter(loose, strict=False).invariant().values
    ranges: dict[tuple[str, str], tuple[int, int]] = {}
    notes = []
    for variable in model.variables:
        name = (variable.symbol.scope, variable.symbol.name)
        if name not in names:
            continue
        low, high = variable.limits
        known = next(b for s, b in bounds.items() if (s.scope, s.name) == name)
        ranges[name] = min(low, known.lo), max(high, known.hi)
        notes.append(
            Diagnostic(
                f"the range {low} to {high} of `{variable.name}` is taken for "
                f"{ranges[name][0]} to {ranges[name][1]}",
                variable.origin,
                severity="note",
            )
        )
    return _with_ranges(chart, ranges), tuple(notes)


def _with_ranges(chart: Chart, ranges: dict[tuple[str, str], tuple[int, int]]) -> Chart:
    def changed(owner: str, variable: ChartVariable) -> ChartVariable:
        bounds = ranges.get((owner, variable.name))
        if bounds is None:
            return variable
        type_ = replace(variable.type, lo=bounds[0], hi=bounds[1], wrap=False, name="")
        return replace(variable, type=type_)

    machines = tuple(
        replace(m, variables=tuple(changed(m.name, v) for v in m.variables)) for m in chart.machines
    )
    variables = tuple(changed("", v) for v in chart.variables)
    return replace(chart, machines=machines, variables=variables)


def _apart(one: Assigned, other: Assigned) -> bool:
    """Whether they belong to different transitions of one machine, which takes one in a step, or
    to a transition and to do actions, for which it takes none."""
    return one.machine is other.machine and _trigger(one) != _trigger(other)


def _trigger(assigned: Assigned) -> Symbol | None:
    """That of its transition; None for do actions."""
    first = assigned.condition
    while isinstance(first, Binary):
        first = first.left
    return first.symbol if isinstance(first, Name) else None


def _same(first: Write, second: Write) -> bool:
    return first.value == second.value


def _names(expr: Expr) -> Iterator[Name]:
    return (part for part in subexpressions(expr) if isinstance(part, Name))


def simulated_findings(
    runs: Runs, walker: Walker, known: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """What simulation ran into that is not known yet: illegal steps and Zeno loops."""
    places = {str(one.origin) for one in known}
    for node, illegal in runs.illegal.values():
        time = runs.nodes[node].time
        if str(illegal.origin) not in places:
            yield Diagnostic(f"{illegal.message}, at {time} ms of a run", illegal.origin)
    seen: set[tuple[int, ...]] = set()
    for node in walker.zeno:
        at = runs.nodes[node]
        place = at.state[: len(runs.model.machines)]
        if place in seen:
            continue
        seen.add(place)
        where = ", ".join(
            machine.path(machine.basics[number].number)
            for machine, number in zip(runs.model.machines, place, strict=True)
        )
        yield Diagnostic(
            f"steps without end at one date (a Zeno loop), at {at.time} ms of a run, in {where}",
            runs.model.machines[0].origin,
            "time cannot pass there: let a timer or an input end the loop",
        )
