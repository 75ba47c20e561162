"""The generator: simulation first, then the solver from promising states, and proofs for the rest.

The same model, settings and seed give the same suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from time import perf_counter
from typing import Literal

from whence.model.chart import UserGoal
from whence.model.suite import GoalResult, Suite
from whence.source import Diagnostic
from whence.testing.assemble import assemble
from whence.testing.by_cone import groups, lifted
from whence.testing.checks import simulated_findings
from whence.testing.goals import KINDS, Goal, goals_of
from whence.testing.model import TimedModel
from whence.testing.reach import Found, Reacher
from whence.testing.reach import Settings as ReachSettings
from whence.testing.runs import Covered, Runs, Step
from whence.testing.semantics.simulator import Illegal, Simulator, State
from whence.testing.walks import Walker

__all__ = ["GenerateSettings", "generate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateSettings:
    """`walks`: how many steps are simulated, and how many in a row may bring nothing new.
    `starts`: from how many states the solver looks ahead at once, and `ahead`: how far.
    `seconds`: after so much time no more questions are asked. `tests`: as few as possible, or
    short ones. `latency`: what is admitted for outputs, in milliseconds."""

    seed: int = 0
    kinds: tuple[str, ...] = KINDS
    walks: int = 400_000
    patience: int = 60_000
    starts: int = 24
    ahead: int = 6
    reach: ReachSettings = field(default_factory=ReachSettings)
    seconds: float | None = None
    tests: Literal["few", "short"] = "few"
    latency: int = 50


def generate(
    model: TimedModel,
    settings: GenerateSettings | None = None,
    goals: Iterable[UserGoal] = (),
    *,
    findings: Iterable[Diagnostic] = (),
    hash_: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Suite:
    """A suite for all goals of a model."""
    chosen = settings or GenerateSettings()
    return _Generator(model, chosen, goals_of(model, goals, chosen.kinds), say).run(
        tuple(findings), hash_
    )


class _Generator:
    def __init__(
        self,
        model: TimedModel,
        settings: GenerateSettings,
        goals: tuple[Goal, ...],
        say: Callable[[str], None],
    ) -> None:
        self.model = model
        self.settings = settings
        self.goals = goals
        self.say = say
        self.began = perf_counter()
        self.simulator = Simulator(model)
        self.runs = Runs(model, self.simulator, goals)
        self.walker = Walker(self.runs, Random(settings.seed))
        self.reacher: Reacher | None = None
        self.proved: dict[str, str] = {}
        self.bounds: dict[str, int] = {}
        #: Goals that the solver found and the simulator did not confirm: a defect of ours.
        self.doubted: set[str] = set()
        self.complete = True

    # ---------------------------------------------------------------------------------- the search

    def run(self, findings: tuple[Diagnostic, ...], hash_: str) -> Suite:
        starts = _can_start(self.model)
        if starts:
            self.say("simulating")
            self.walker.begin()
            self._walk()
            self._solve()
        tests, places = assemble(self.runs, self.settings.tests, self.settings.latency)
        results = [self._result(goal, places) for goal in self.goals if goal.kind != "requirement"]
        results += self._requirements(results)
        order = {goal.ident: number for number, goal in enumerate(self.goals)}
        results.sort(key=lambda result: order[result.ident])
        return Suite(
            model=self.model.name,
            file=self.model.file,
            hash=hash_,
            seed=self.settings.seed,
            goals=tuple(results),
            tests=tests,
            requirements=self.model.requirements,
            findings=(*findings, *simulated_findings(self.runs, self.walker, findings)),
            complete=self.complete and not (self.reacher is not None and self.reacher.gave_up),
            seconds=perf_counter() - self.began,
            steps=self.walker.steps,
        )

    def _walk(self) -> None:
        self.walker.walk(self.settings.walks, self.settings.patience)

    @property
    def _open(self) -> list[Goal]:
        return [
            goal
            for goal in self.runs.open
            if goal.ident not in self.proved and goal.ident not in self.doubted
        ]

    def _late(self) -> bool:
        limit = self.settings.seconds
        if limit is not None and perf_counter() - self.began > limit:
            self.complete = False
            return True
        return False

    def _solve(self) -> None:
        if not self._open:
            return
        self.say("solving")
        self.reacher = Reacher(self.model, self.settings.reach)
        # Most of what is unreachable is so in a single step.
        self._prove(0)
        if self.settings.reach.cone:
            self._by_cones()
        looked: set[int] = set()
        while self._open and not self._late():
            starts = self._promising(looked)
            if not starts:
                break
            looked.update(starts)
            states = [self.runs.nodes[node].state for node in starts]
            found, _ = self.reacher.search(self._open, states, self.settings.ahead)
            while found is not None and self._confirmed(found, starts):
                if not self._open:
                    return
                found, _ = self.reacher.search(self._open, states, self.settings.ahead)
            self._walk_on()
        self._from_the_start()

    def _by_cones(self) -> None:
        """Goals that a part of the model decides, each group in its part."""
        for group in groups(self.model, self._open, self.settings.reach):
            while not self._late():
                names = {goal.ident for goal in self._open}
                goals = [goal for goal in group.goals if goal.ident in names]
                if not goals:
                    break
                found, bounds = group.reacher.search(goals, (), self.settings.reach.bound)
                if found is None:
                    self.bounds |= bounds
                    self._prove_each(goals, group.reacher, self.settings.reach.bound)
                    break
                run = lifted(self.simulator, group.reacher.model, found)
                before = len(self.runs.covered)
                if run is not None:
                    kept = self.runs.note_run(self.runs.root(run[0]), run[1])
                    if kept is not None:
                        self.walker.corpus.append(kept)
                if len(self.runs.covered) == before:
                    # The rest of the model is in the way: look at all of it.
                    break

    def _from_the_start(self) -> None:
        """What cannot be reached within the bound; and, with that, proofs by induction."""
        assert self.reacher is not None
        while self._open and not self._late():
            found, bounds = self.reacher.search(self._open, (), self.settings.reach.bound)
            if found is None:
                self.bounds |= bounds
                self._prove(self.settings.reach.bound)
                if self._open and not self._late():
                    self.say("proving")
                    self.reacher.split()
                    self._prove(0)
                return
            if self._confirmed(found, ()):
                self._walk_on()

    def _walk_on(self) -> None:
        patience = self.settings.patience // 4
        self.walker.walk(patience, patience)

    def _prove(self, bound: int) -> None:
        assert self.reacher is not None
        self._prove_each(self._open, self.reacher, bound)

    def _prove_each(self, goals: Iterable[Goal], reacher: Reacher, bound: int) -> None:
        for goal in goals:
            if self._late():
                return
            reason = reacher.unreachable(goal, min(bound, self.bounds.get(goal.ident, 0)))
            if reason:
                self.proved[goal.ident] = reason

    def _promising(self, looked: set[int]) -> list[int]:
        """Nodes where walks found something new, the latest first, of different control states."""
        machines = len(self.model.machines)
        found: list[int] = []
        places: set[tuple[int, ...]] = set()
        for node in reversed(self.walker.corpus):
            place = self.runs.nodes[node].state[:machines]
            if node not in looked and place not in places:
                places.add(place)
                found.append(node)
        return found[: self.settings.starts]

    def _confirmed(self, found: Found, starts: Iterable[int]) -> bool:
        """Replay a run of the solver in the simulator, and keep what it covers."""
        before = len(self.runs.covered)
        node = self._node_of(found.start, starts)
        if node is not None and self._replays(found):
            kept = self.runs.note_run(node, found.steps)
            if kept is not None:
                self.walker.corpus.append(kept)
        if len(self.runs.covered) == before:
            # Never silently: what is left is reported as open, with this reason.
            self.doubted.update(goal.ident for goal in self._open)
            return False
        return True

    def _node_of(self, state: State, starts: Iterable[int]) -> int | None:
        free = {place for place, _ in self.simulator.choices}
        for node in starts:
            other = self.runs.nodes[node].state
            if all(
                a == b for n, (a, b) in enumerate(zip(state, other, strict=True)) if n not in free
            ):
                if state == other:
                    return node
                # The same but for choices, which are made anew in every step.
                at = self.runs.nodes[node]
                if at.parent < 0:
                    return self.runs.root(state)
                return self.runs.add(at.parent, (Step(at.delay, state),))
        initial = self.simulator.initial([state[place] for place in self.simulator.free])
        return self.runs.root(state) if initial == state else None

    def _replays(self, found: Found) -> bool:
        state = found.start
        free = self.simulator.free
        choices = {place for place, _ in self.simulator.choices}
        for step in found.steps:
            try:
                after = self.simulator.step(state)
            except Illegal:
                return False
            if after is None:
                if not 1 <= step.delay <= self.simulator.limit(state):
                    return False
                after = self.simulator.wait(state, step.delay, [step.state[p] for p in free])
            elif step.delay:
                return False
            same = zip(after, step.state, strict=True)
            if any(a != b for n, (a, b) in enumerate(same) if n not in choices):
                return False
            state = step.state
        return True

    # ------------------------------------------------------------------------------------ results

    def _result(self, goal: Goal, places: dict[str, tuple[str, int, int]]) -> GoalResult:
        covered: Covered | None = self.runs.covered.get(goal.ident)
        if covered is not None:
            test, step, time = places[goal.ident]
            return GoalResult(
                ident=goal.ident,
                kind=goal.kind,
                status="covered",
                test=test,
                step=step,
                time=time,
                requirements=goal.requirements,
                origin=goal.origin,
            )
        reason = self.proved.get(goal.ident)
        bound = self.bounds.get(goal.ident, 0)
        if reason is None:
            told = f"no run of up to {bound} steps from the start meets it" if bound else ""
            if goal.ident in self.doubted:
                told = "a run of the solver did not replay: please report this as a defect"
            if goal.unreadable:
                told = goal.unreadable
            if not _can_start(self.model):
                told = "no run can start: see the findings"
        return GoalResult(
            ident=goal.ident,
            kind=goal.kind,
            status="open" if reason is None else "unreachable",
            reason=told if reason is None else reason,
            bound=None if reason is not None else bound,
            requirements=goal.requirements,
            origin=goal.origin,
        )

    def _requirements(self, results: Iterable[GoalResult]) -> list[GoalResult]:
        """A requirement is met with any of its goals."""
        by_ident = {result.ident: result for result in results}
        found = []
        for goal in self.goals:
            if goal.kind != "requirement":
                continue
            parts = [by_ident[ident] for ident in goal.parts]
            hits = [part for part in parts if part.status == "covered"]
            if hits:
                first = min(hits, key=lambda part: (part.test or "", part.step or 0))
                result = GoalResult(
                    ident=goal.ident,
                    kind=goal.kind,
                    status="covered",
                    test=first.test,
                    step=first.step,
                    time=first.time,
                    requirements=goal.requirements,
                    origin=goal.origin,
                )
            else:
                never = bool(parts) and all(part.status == "unreachable" for part in parts)
                reason = "all that satisfies it is unreachable" if never else "see its goals"
                result = GoalResult(
                    ident=goal.ident,
                    kind=goal.kind,
                    status="unreachable" if never else "open",
                    reason=reason if parts else "nothing in the model satisfies it",
                    requirements=goal.requirements,
                    origin=goal.origin,
                )
            found.append(result)
        return found


def _can_start(model: TimedModel) -> bool:
    """Init and Inv: all defaults are within their ranges."""
    return all(v.limits[0] <= v.initial <= v.limits[1] for v in model.variables)
