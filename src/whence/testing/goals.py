"""What tests have to reach: coverage of the system's machines, boundary values of its inputs, its
requirements, and the user's goals (section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations

from whence.expr.ieee import readable
from whence.expr.printer import print_expression
from whence.expr.scope import Problem, Problems
from whence.expr.tree import Expr
from whence.model.chart import UserGoal
from whence.source import NOWHERE, Origin, WhenceError
from whence.testing.bounded_ltl import And, Atom, Temporal, Until, read_goal
from whence.testing.inputs import classes, interesting
from whence.testing.logic import TRUE, both, compare, either, negation, number, read, within
from whence.testing.mcdc import conditions, decisive
from whence.testing.model import TimedMachine, TimedModel, Transition, Variable
from whence.testing.semantics.definitions import effect

__all__ = ["ALL_KINDS", "KINDS", "Goal", "goals_of"]

#: Kinds of goals, in the order of results.
ALL_KINDS = (
    "state",
    "transition",
    "hierarchic",
    "mcdc",
    "state-pair",
    "transition-pair",
    "boundary",
    "class",
    "requirement",
    "user",
)
#: Those that are meant if nothing else is said: pairs can be many.
KINDS = tuple(kind for kind in ALL_KINDS if not kind.endswith("-pair"))
_AGE = re.compile(r"(?:\S+\.)?age of (\S+) >= (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Met by a run that makes `formula` true.  Most are `F condition`: `condition` is not None
    then, and the step from the state that meets it exists.  A requirement has neither: it is met
    with any of the goals `parts`.  Nor has a goal of a model made elsewhere that cannot be read:
    `unreadable` says why."""

    ident: str
    kind: str
    formula: Temporal | None = None
    condition: Expr | None = None
    parts: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    unreadable: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


def goals_of(
    model: TimedModel, more: Iterable[UserGoal] = (), kinds: Iterable[str] = KINDS
) -> tuple[Goal, ...]:
    """All goals, each with an identifier of its own. Raises InputError where one of the user's
    cannot be read."""
    wanted = set(kinds)
    found: list[Goal] = []
    taken: set[str] = set()
    parts = [_coverage(model), _of_inputs(model), _users(model, more)]
    if "state-pair" in wanted:
        parts.append(_state_pairs(model))
    if "transition-pair" in wanted:
        parts.append(_transition_pairs(model))
    for goal in chain.from_iterable(parts):
        if goal.kind in wanted:
            found.append(_named(goal, taken))
    if "requirement" in wanted:
        for requirement in model.requirements:
            those = [goal.ident for goal in found if requirement.ident in goal.requirements]
            goal = Goal(
                ident=f"requirement {requirement.ident}",
                kind="requirement",
                parts=tuple(those),
                requirements=(requirement.ident,),
                origin=requirement.origin,
            )
            found.append(_named(goal, taken))
    return tuple(sorted(found, key=lambda goal: ALL_KINDS.index(goal.kind)))


def _named(goal: Goal, taken: set[str]) -> Goal:
    ident, count = goal.ident, 1
    while ident in taken:
        count += 1
        ident = f"{goal.ident} #{count}"
    taken.add(ident)
    return replace(goal, ident=ident)


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
    text = _AGE.sub(r"elapsed(\1, \2)", print_expression(readable(condition)))
    return " ".join(text.split())


def _unhindered(machine: TimedMachine, one: Transition) -> Expr | None:
    """Nothing keeps it from firing but its guard."""
    hindering = [t for around in machine.upward(one.source)[1:] for t in machine.outgoing[around]]
    hindering += [t for t in machine.outgoing[one.source] if t.priority < one.priority]
    return both(negation(t.guard if t.guard is not None else TRUE) for t in hindering)


def _of_inputs(model: TimedModel) -> Iterator[Goal]:
    """Boundary values, and classes of values that guards treat alike."""
    for variable in model.variables:
        if variable.role != "input" or not variable.free:
            continue
        for value in interesting(model, variable):
            condition = compare("==", read(variable.symbol), number(value))
            label = f"{variable.name} == {variable.shown(value)}"
            yield _reach("boundary", label, condition, (), variable.origin)
        parts = classes(model, variable)
        # Where boundary values are all values, classes say nothing new.
        for low, high in parts if 1 < len(parts) < _values(variable) else ():
            condition = within(variable.symbol, low, high)
            label = f"{variable.name} from {variable.shown(low)} to {variable.shown(high)}"
            yield _reach("class", label, condition, (), variable.origin)


def _values(variable: Variable) -> int:
    return variable.limits[1] - variable.limits[0] + 1


def _state_pairs(model: TimedModel) -> Iterator[Goal]:
    """Two machines of the system are in two control states at once."""
    own = [machine for machine in model.machines if not machine.environment]
    for one, other in combinations(own, 2):
        for here in one.basics:
            for there in other.basics:
                if here.pseudo or there.pseudo:
                    continue
                together = both(
                    (
                        within(one.control, here.first, here.first),
                        within(other.control, there.first, there.first),
                    )
                )
                label = f"{one.path(here.number)} with {other.path(there.number)}"
                yield _reach("state-pair", label, together, (), here.origin)


def _transition_pairs(model: TimedModel) -> Iterator[Goal]:
    """A transition of the system, and then another one from the state that it reaches, before any
    other of the machine: F (first && (first U (quiet U second)))."""
    for machine in model.machines:
        if machine.environment:
            continue
        real = [one for one in machine.transitions if not machine.locations[one.source].pseudo]
        fires = {one.number: _fires(machine, one) for one in real}
        silent = negation(either(fires.values()))
        for one in real:
            if one.internal:
                continue
            source = machine.basics[machine.locations[one.source].first].number
            reached = effect(machine, one, source)
            place = machine.basics[reached.target]
            quiet = both((within(machine.control, place.first, place.first), silent))
            around = machine.upward(place.number)
            for other in real:
                # A transition behind itself cannot be told from one alone, without `next`.
                if other.source not in around or other is one:
                    continue
                first, second = Atom(fires[one.number]), Atom(fires[other.number])
                formula = Until(Atom(TRUE), And((first, Until(first, Until(Atom(quiet), second)))))
                names = [_arrow(machine, t) for t in (one, other)]
                yield Goal(
                    ident=f"transition-pair {names[0]} then {names[1]}",
                    kind="transition-pair",
                    formula=formula,
                    origin=other.origin,
                )


def _arrow(machine: TimedMachine, one: Transition) -> str:
    return f"{machine.path(one.source)} -> {machine.locations[one.target].ident}"


def _fires(machine: TimedMachine, one: Transition) -> Expr:
    source = machine.locations[one.source]
    inside = within(machine.control, source.first, source.last)
    return both((inside, _unhindered(machine, one), one.guard))


# ----------------------------------------------------------------------------------- user's goals


def _unread(goal: UserGoal, error: Problem | WhenceError) -> Goal:
    if isinstance(error, WhenceError):
        message = error.diagnostics[0].message if error.diagnostics else str(error)
    else:
        message = f"{'not supported: ' * error.unsupported}{error.message}"
    return Goal(
        ident=f"user {goal.name}",
        kind="user",
        requirements=goal.requirements,
        unreadable=f"the model's formula cannot be read: {message}",
        origin=goal.origin,
    )


def _users(model: TimedModel, more: Iterable[UserGoal]) -> Iterator[Goal]:
    problems = Problems()
    found = []
    for goal in (*model.goals, *more):
        with problems.collecting(f"goal {goal.name}"):
            try:
                formula = read_goal(goal.text, model.formulas)
            except RecursionError:
                raise Problem("the formula is nested too deeply", goal.origin) from None
            except (Problem, WhenceError) as error:
                if not goal.optional:
                    raise
                found.append(_unread(goal, error))
                continue
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
