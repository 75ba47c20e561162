"""Random walks of the simulator, from states that were new when they were reached (section 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from whence.expr.ieee import Format, infinity, ordinal
from whence.testing.inputs import beside, interesting
from whence.testing.runs import Runs, Step
from whence.testing.semantics.simulator import Illegal, State

__all__ = ["Walker"]

#: Steps of one walk.
_LENGTH = 80
#: After so many discrete steps at one date we look whether they end; after so many more we no
#: longer believe that they do.
_SUSPICIOUS, _ZENO = 24, 1000
#: So many steps are made even if all goals are covered: to run into what is wrong.
_LEAST = 4000


_Side: TypeAlias = "Callable[[State], int | None]"
_Floats: TypeAlias = tuple[Format, Sequence[_Side]]


@dataclass(eq=False)
class Walker:
    """`steps` counts all steps that were simulated. `corpus` are nodes to start walks from."""

    runs: Runs
    random: Random
    steps: int = 0
    corpus: list[int] = field(default_factory=list)
    #: The dates at which discrete steps did not end: the node before them.
    zeno: list[int] = field(default_factory=list)
    _seen: set[State] = field(default_factory=set)
    _places: set[tuple[int, ...]] = field(default_factory=set)
    _visits: dict[int, int] = field(default_factory=dict)
    _values: list[tuple[Sequence[int], tuple[int, int]]] = field(default_factory=list)
    #: Of each free variable that is a floating-point number, what guards compare it with.
    _floats: list[_Floats | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        model = self.runs.model
        for variable in model.variables:
            if variable.free:
                values: Sequence[int] = (
                    range(variable.limits[0], variable.limits[1] + 1)
                    if variable.role == "choice"
                    else interesting(model, variable)
                )
                self._values.append((values, variable.limits))
                self._floats.append(
                    None
                    if variable.ieee is None
                    else (variable.ieee, [self.runs.value(e) for e in beside(model, variable)])
                )

    def _any_free(self) -> list[int]:
        return [self._value(number) for number in range(len(self._values))]

    def _value(self, number: int, state: State | None = None) -> int:
        values, limits = self._values[number]
        floats = self._floats[number]
        if floats is not None and self.random.random() < 0.7:
            value = self._float(*floats, state)
            return min(max(value, limits[0]), limits[1])
        if self.random.random() < 0.9:
            return values[self.random.randrange(len(values))]
        return self.random.randint(*limits)

    def _changed(self, state: State) -> list[int]:
        """Free variables after a wait: mostly as they were."""
        free = self.runs.simulator.free
        found = [state[place] for place in free]
        for number in range(len(found)):
            if self.random.random() < 0.3:
                found[number] = self._value(number, state)
        return found

    def _float(self, format_: Format, others: Sequence[_Side], state: State | None) -> int:
        """A number at what a guard compares it with now, or a whole one, or any."""
        if others and state is not None and self.random.random() < 0.7:
            value = others[self.random.randrange(len(others))](state)
            if value is not None and abs(value) < infinity(format_):
                return value + self.random.randint(-1, 1)
        if self.random.random() < 0.8:
            return ordinal(float(self.random.randint(-256, 256)), format_)
        return self.random.randint(-infinity(format_), infinity(format_))

    def begin(self) -> None:
        """Initial states to walk from: the default inputs first, then random ones."""
        default = [v.initial for v in self.runs.model.variables if v.free]
        for free in (default, *(self._any_free() for _ in range(3))):
            node = self.runs.root(self.runs.simulator.initial(free))
            if node not in self.corpus:
                self.corpus.append(node)

    def walk(self, budget: int, patience: int) -> None:
        """Walks until all goals are covered, `budget` steps are made, or `patience` steps cover no
        goal: of combinations of control states there may be no end of new ones."""
        end = self.steps + budget
        fruitful = self.steps
        while self.runs.waiting or self.runs.temporal or self.steps < _LEAST:
            if self.steps >= end or self.steps - fruitful > patience:
                return
            covered = len(self.runs.covered)
            self._one(self._start())
            if len(self.runs.covered) > covered:
                fruitful = self.steps

    def _start(self) -> int:
        """Of two nodes of the corpus, the one where fewer walks began."""
        count = len(self.corpus)
        picks = [self.corpus[self.random.randrange(count)] for _ in range(2)]
        node = min(picks, key=lambda one: (self._visits.get(one, 0), -one))
        self._visits[node] = self._visits.get(node, 0) + 1
        return node

    def _one(self, start: int) -> None:
        """One walk. What covers a goal or meets a new combination of control states is kept."""
        runs, simulator, random = self.runs, self.runs.simulator, self.random
        state = runs.nodes[start].state
        machines = len(runs.model.machines)
        steps: list[Step] = []
        new_place = -1
        discrete = 0
        interested = False
        for _ in range(_LENGTH):
            self.steps += 1
            try:
                after = simulator.step(state)
            except Illegal as illegal:
                key = (illegal.kind, str(illegal.origin))
                if key not in runs.illegal:
                    runs.illegal[key] = (runs.add(start, steps), illegal)
                break
            delay = 0
            if after is None:
                discrete = 0
                limit = simulator.limit(state)
                delay = limit if random.random() < 0.6 else random.randint(1, limit)
                after = simulator.wait(state, delay, self._changed(state))
            else:
                discrete += 1
                if discrete == _SUSPICIOUS and self._endless(after):
                    if len(self.zeno) < 5:
                        self.zeno.append(runs.add(start, steps[: len(steps) - discrete + 1]))
                    break
                if simulator.choices:
                    after = self._chosen(after)
            if state not in self._seen:
                self._seen.add(state)
                place = state[:machines]
                if place not in self._places:
                    self._places.add(place)
                    new_place = len(steps)
                interested = interested or bool(runs.met(state))
            steps.append(Step(delay, after))
            state = after
        if not (interested or new_place >= 0 or runs.temporal):
            return
        kept = runs.note_run(start, steps)
        if kept is not None:
            self._keep(kept)
        elif new_place > 0:
            self._keep(runs.add(start, steps[:new_place]))

    def _endless(self, state: State) -> bool:
        """Whether discrete steps come back to a state, or do not end for long."""
        seen = {state}
        for _ in range(_ZENO):
            try:
                after = self.runs.simulator.step(state)
            except Illegal:
                return False
            if after is None:
                return False
            if after in seen:
                return True
            seen.add(after)
            state = after
        return True

    def _keep(self, node: int) -> None:
        self.corpus.append(node)

    def _chosen(self, state: State) -> State:
        """The environment's choices are made anew in each step."""
        values = list(state)
        for place, last in self.runs.simulator.choices:
            values[place] = self.random.randint(0, last)
        return tuple(values)
