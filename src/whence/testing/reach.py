"""Bounded model checking from promising states, and proofs that goals cannot be reached
(sections 3 to 5).

One solver is kept for all bounds and all questions.  Goals stand in one disjunction behind a
selector, which is given as an assumption; so do the states that runs begin in.  What the abstract
interpretation excludes is left out of the disjunction, and where it excludes everything, the
solver is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from whence.solve.frames import AllOf, Answer, AnyOf, Claim, Frames, Holds, Selector
from whence.testing.bounded_ltl import Atom, Until, claim, necessary
from whence.testing.goals import Goal
from whence.testing.logic import TRUE, compare, negation, number, read
from whence.testing.model import TimedModel
from whence.testing.runs import Step
from whence.testing.semantics.abstract import (
    Abstract,
    AbstractInterpreter,
    admitted,
    admitted_controls,
)
from whence.testing.semantics.partition import partition
from whence.testing.semantics.relation import Relation
from whence.testing.semantics.simulator import State

__all__ = ["Found", "Reacher", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """`bound`: how many steps are looked ahead. `budget`: of the solver, for one question.
    `cases`: into how many cases the abstract interpretation may split. `abstract`: whether it
    helps the solver; `cone`: whether goals are looked for in what matters for them;
    `incremental`: whether one solver is kept for all depths (to compare with)."""

    bound: int = 24
    budget: int = 20_000_000
    induction: int = 4
    cases: int = 2000
    abstract: bool = True
    cone: bool = True
    incremental: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """A run: the state that it begins in, and its steps."""

    start: State
    steps: tuple[Step, ...]


@dataclass(eq=False)
class Reacher:
    model: TimedModel
    settings: Settings = field(default_factory=Settings)
    asked: int = 0
    skipped: int = 0
    #: Whether some question was not answered within the budget.
    gave_up: bool = False
    relation: Relation = field(init=False)
    interpreter: AbstractInterpreter = field(init=False)
    invariant: Abstract = field(init=False)
    #: The same as the invariant, case by case; computed when it is needed.
    parts: Sequence[Abstract] | None = None
    _frames: Frames | None = None
    _induction: Frames | None = None

    def __post_init__(self) -> None:
        self.relation = Relation(self.model)
        self.interpreter = AbstractInterpreter(self.model)
        self.invariant = self.interpreter.invariant()

    def _new_frames(self) -> Frames:
        relation = self.relation
        frames = Frames(
            relation.state,
            relation.primed,
            relation.auxiliary,
            relation.definitions,
            relation.step,
        )
        frames.require(self._in(self.invariant, 0))
        return frames

    @property
    def frames(self) -> Frames:
        if self._frames is None:
            self._frames = self._new_frames()
        return self._frames

    # ---------------------------------------------------------------------------------- states

    def _in(self, state: Abstract, frame: int) -> Claim:
        """That the state of a frame is one of those that an abstract state stands for."""
        return AllOf(tuple(Holds(expr, frame) for expr in admitted(self.model, state)))

    def _is(self, state: State, frame: int) -> Claim:
        parts = []
        for symbol, value in zip(self.relation.state, state, strict=True):
            variable = self.model.variable_of.get(symbol)
            # The environment's choices are free in every step.
            if variable is None or variable.role != "choice":
                parts.append(Holds(compare("==", read(symbol), number(value)), frame))
        return AllOf(tuple(parts))

    # ------------------------------------------------------------------------------------ search

    def search(
        self, goals: Sequence[Goal], starts: Sequence[State], last: int
    ) -> tuple[Found | None, dict[str, int]]:
        """A shortest run from one of the states, or from an initial state if there are none, to
        one of the goals, with at most `last` steps. For each goal, up to which number of steps no
        run from there reaches it."""
        from_start = not starts
        begin = self._begin(starts)
        if from_start:
            abstract = self.interpreter.initial()
        else:
            abstract = self.interpreter.of(starts[0])
            for state in starts[1:]:
                abstract = abstract.join(self.interpreter.of(state))
        bounds = dict.fromkeys((goal.ident for goal in goals), 0)
        doubtful: set[str] = set()
        for depth in range(1, last + 1):
            if not self.settings.incremental:
                self._frames = None
                begin = self._begin(starts)
            frames = self.frames
            while frames.depth < depth:
                frames.extend()
            options = self._options(goals, depth, abstract, from_start)
            if options:
                aim = frames.selector()
                frames.require(AnyOf(tuple(option for _, option in options)), aim)
                self.asked += 1
                answer = frames.ask((begin, aim), depth, self.settings.budget)
                if answer is Answer.POSSIBLE:
                    return self._found(depth), bounds
                if answer is Answer.UNKNOWN:
                    self.gave_up = True
                    doubtful.update(goal.ident for goal, _ in options)
            else:
                self.skipped += 1
            for goal in goals:
                if goal.ident not in doubtful:
                    bounds[goal.ident] = depth
            if self.settings.abstract:
                abstract = self.interpreter.step(abstract)
                frames.require(self._locations(abstract, depth), begin)
        return None, bounds

    def _begin(self, starts: Sequence[State]) -> Selector:
        """That runs begin in one of these states, or in an initial state if there are none."""
        frames = self.frames
        begin = frames.selector()
        if starts:
            frames.require(AnyOf(tuple(self._is(state, 0) for state in starts)), begin)
        else:
            for expr in self.relation.initial:
                frames.require(Holds(expr, 0), begin)
        return begin

    def _locations(self, state: Abstract, frame: int) -> Claim:
        parts = admitted_controls(self.model, state)
        return AllOf(tuple(Holds(expr, frame) for expr in parts))

    def _options(
        self, goals: Iterable[Goal], depth: int, abstract: Abstract, from_start: bool
    ) -> list[tuple[Goal, Claim]]:
        """The goals that may be reached by a run of so many steps, and not by a shorter one."""
        found: list[tuple[Goal, Claim]] = []
        for goal in goals:
            frame = depth - 1
            assert goal.formula is not None
            if goal.condition is not None:
                excluded = self.interpreter.truth(goal.condition, abstract) is False
                if excluded and self.settings.abstract:
                    continue
                found.append((goal, Holds(goal.condition, frame)))
            else:
                # Only F can be begun in the middle of a run.
                suffix = isinstance(goal.formula, Until) and goal.formula.left == Atom(TRUE)
                if from_start or suffix:
                    found.append((goal, claim(goal.formula, 0, frame)))
        return found

    def _found(self, depth: int) -> Found:
        frames = self.frames
        place = self.relation.auxiliary.index(self.relation.delay)
        steps = tuple(
            Step(frames.auxiliary(frame)[place], frames.state(frame + 1)) for frame in range(depth)
        )
        return Found(frames.state(0), steps)

    # ------------------------------------------------------------------------------------ proofs

    def split(self) -> None:
        """Look at the model case by case from now on, if there are not too many of them."""
        if self.settings.abstract and self.parts is None:
            self.parts = partition(self.interpreter, self.settings.cases)

    def unreachable(self, goal: Goal, bound: int) -> str:
        """Why no run meets a goal, or "" where that is not known. `bound`: no run of so many steps
        from the start does."""
        assert goal.formula is not None
        condition = goal.condition if goal.condition is not None else necessary(goal.formula)
        if self.interpreter.truth(condition, self.invariant) is False:
            return "abstract interpretation: it is false in all states that the intervals admit"
        if self.parts is not None and all(
            self.interpreter.truth(condition, part) is False for part in self.parts
        ):
            return (
                "abstract interpretation: it is false in all states that the intervals of "
                f"{len(self.parts)} cases admit"
            )
        frames = self._induction
        if frames is None:
            frames = self._induction = self._new_frames()
        # A goal is met before a step: the last frame needs one, too.
        # Of a formula, only that it is not met is known of short runs, not so of what it needs.
        known = bound if goal.condition is not None else 0
        for length in range(min(self.settings.induction, known) + 1):
            while frames.depth < length + 1:
                frames.extend()
                frames.require(self._in(self.invariant, frames.depth - 1))
            chosen = frames.selector()
            frames.require(Holds(condition, length), chosen)
            for frame in range(length):
                frames.require(Holds(negation(condition), frame), chosen)
            self.asked += 1
            answer = frames.ask((chosen,), length + 1, self.settings.budget)
            if answer is Answer.IMPOSSIBLE:
                return f"{length}-induction, from the intervals of the abstract interpretation"
            if answer is Answer.UNKNOWN:
                return ""
        return ""
