"""What tests have to reach: coverage of the system's machines, boundary values of its inputs, its
requirements, and the user's goals (section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from whence.expr.printer import print_expression
from whence.expr.scope import Problem, Problems
from whence.expr.tree import Binary, Expr, IntLiteral, Name
from whence.expr.walk import subexpressions
from whence.model.chart import UserGoal
from whence.source import NOWHERE, Origin
from whence.testing.bounded_ltl import Atom, Temporal, Until, read_goal
from whence.testing.logic import TRUE, both, compare, negation, number, read, within
from whence.testing.mcdc import conditions, decisive
from whence.testing.model import TimedMachine, TimedModel, Transition, Variable

__all__ = ["KINDS", "Goal", "goals_of"]

#: Kinds of goals, in the order of results.
KINDS = ("state", "transition", "hierarchic", "mcdc", "boundary", "requirement", "user")
#: An input with so few values is tried with all of them.
_FEW = 4
_AGE = re.compile(r"(?:\S+\.)?age of (\S+) >= (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Met by a run that makes `formula` true.  Most are `F condition`: `condition` is not None
    then, and the step from the state that meets it exists.  A requirement has neither: it is met
    with any of the goals `parts`."""

    ident: str
    kind: str
    formula: Temporal | None = None
    condition: Expr | None = None
    parts: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    origin: Origin = field(default=NOWHERE, compare=False)


def goals_of(
    model: TimedModel, more: Iterable[UserGoal] = (), kinds: Iterable[str] = KINDS
) -> tuple[Goal, ...]:
    """All goals, each with an identifier of its own. Raises InputError where one of the user's
    cannot be read."""
    wanted = set(kinds)
    found: list[Goal] = []
    taken: set[str] = set()
    for goal in (*_coverage(model), *_boundaries(model), *_users(model, more)):
        if goal.kind not in wanted:
            continue
        found.append(_named(goal, taken))
    if "requirement" in wanted:
        for requirement in model.requirements:
            parts = [goal.ident for goal in found if requirement.ident in goal.requirements]
            goal = Goal(
                ident=f"requirement {requirement.ident}",
                kind="requirement",
                parts=tuple(parts),
                requirements=(requirement.ident,),
                origin=requirement.origin,
            )
            found.append(_named(goal, taken))
    return tuple(sorted(found, key=lambda goal: KINDS.index(goal.kind)))


def _named(goal: Goal, taken: set[str]) -> Goal:
    ident, count = goal.ident, 1
    while ident in taken:
        count += 1
        ident = f"{goal.ident} #{count}"
    taken.add(ident)
    return Goal(
        ident=ident,
        kind=goal.kind,
        formula=goal.formula,
        condition=goal.condition,
        parts=goal.parts,
        requirements=goal.requirements,
        origin=goal.origin,
    )


def _reach(
    kind: str, ident: str, condition: Expr, requirements: tuple[str, ...], origin: Origin
) -> Goal:
    return Goal(
        ident=f"{kind} {ident}",
        kind=kind,
        formula=Until(Atom(TRUE), Atom(condition)),
        condition=condition,
        requirements=requirements,
        origin=origin,
    )


# --------------------------------------------------------------------------------------- coverage


def _coverage(model: TimedModel) -> Iterator[Goal]:
    for machine in model.machines:
        if machine.environment:
            continue
        for location in machine.basics:
            if not location.pseudo:
                here = within(machine.control, location.first, location.first)
                # What a state around it satisfies is satisfied in it.
                satisfied = dict.fromkeys(
                    name
                    for one in machine.upward(location.number)
                    for name in machine.locations[one].requirements
                )
                yield _reach(
                    "state", machine.path(location.number), here, tuple(satisfied), location.origin
                )
        for one in machine.transitions:
            if not machine.locations[one.source].pseudo:
                yield from _of_transition(machine, one)


def _of_transition(machine: TimedMachine, one: Transition) -> Iterator[Goal]:
    """Example 1 of the report."""
    source = machine.locations[one.source]
    target = machine.locations[one.target]
    inside = within(machine.control, source.first, source.last)
    free = both((inside, _unhindered(machine, one)))
    triggered = both((free, one.guard))
    name = f"{machine.path(one.source)} -> {target.ident}"
    yield _reach("transition", name, triggered, one.requirements, one.origin)
    if not source.basic:
        for basic in machine.basics[source.first : source.last + 1]:
            here = both((within(machine.control, basic.first, basic.first), triggered))
            label = f"{name} in {basic.ident}"
            yield _reach("hierarchic", label, here, one.requirements, one.origin)
    if one.guard is None:
        return
    for path, condition in conditions(one.guard):
        for truth in (True, False):
            decided = both((free, decisive(one.guard, path, condition, truth)))
            label = f"{name}: {_shown(condition)} is {str(truth).lower()}"
            yield _reach("mcdc", label, decided, (), one.origin)


def _shown(condition: Expr) -> str:
    """As its author may have written it."""
    text = _AGE.sub(r"elapsed(\1, \2)", print_expression(condition))
    return " ".join(text.split())


def _unhindered(machine: TimedMachine, one: Transition) -> Expr | None:
    """Nothing keeps it from firing but its guard."""
    hindering = [t for around in machine.upward(one.source)[1:] for t in machine.outgoing[around]]
    hindering += [t for t in machine.outgoing[one.source] if t.priority < one.priority]
    return both(negation(t.guard if t.guard is not None else TRUE) for t in hindering)


# --------------------------------------------------------------------------------- boundary values


def _boundaries(model: TimedModel) -> Iterator[Goal]:
    for variable in model.variables:
        if variable.role == "input" and variable.free:
            for value in interesting(model, variable):
                condition = compare("==", read(variable.symbol), number(value))
                label = f"{variable.name} == {variable.shown(value)}"
                yield _reach("boundary", label, condition, (), variable.origin)


def interesting(model: TimedModel, variable: Variable) -> tuple[int, ...]:
    """The values of an input to try: its bounds, and what lies at constants that it is compared
    with, on both sides."""
    low, high = variable.limits
    if high - low < _FEW:
        return tuple(range(low, high + 1))
    found = {low, high}
    for machine in model.machines:
        for one in machine.transitions:
            for part in () if one.guard is None else subexpressions(one.guard):
                constant = _compared(part, variable)
                if constant is not None:
                    found.update((constant - 1, constant, constant + 1))
    return tuple(sorted(value for value in found if low <= value <= high))


def _compared(part: Expr, variable: Variable) -> int | None:
    if not isinstance(part, Binary) or part.op not in ("<", "<=", ">", ">=", "==", "!="):
        return None
    for side, other in ((part.left, part.right), (part.right, part.left)):
        if isinstance(side, Name) and side.symbol == variable.symbol:
            return other.value if isinstance(other, IntLiteral) else None
    return None


# ----------------------------------------------------------------------------------- user's goals


def _users(model: TimedModel, more: Iterable[UserGoal]) -> Iterator[Goal]:
    problems = Problems()
    found = []
    for goal in (*model.goals, *more):
        with problems.collecting(f"goal {goal.name}"):
            try:
                formula = read_goal(goal.text, model.formulas)
            except RecursionError:
                raise Problem("the formula is nested too deeply", goal.origin) from None
            condition = None
            if isinstance(formula, Until) and formula.left == Atom(TRUE):
                inner = formula.right
                condition = inner.expr if isinstance(inner, Atom) else None
            found.append(
                Goal(
                    ident=f"user {goal.name}",
                    kind="user",
                    formula=formula,
                    condition=condition,
                    requirements=goal.requirements,
                    origin=goal.origin,
                )
            )
    problems.raise_any()
    yield from found
