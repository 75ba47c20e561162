"""The oracle: the system's part of the model, run beside the system (section 1 of the report:
"test oracles … check the SUT responses on the fly").

What is observed at a date t is admitted if some run of the model explains it.  A run is driven by
the inputs at the dates at which they were really given.  For each output there has to be a date
τ(t), never going back, with t - latency <= τ(t) <= t, at which the run has that value (up to the
admitted error): an output may come later than in the model, and a pulse that is shorter than the
latency may be lost.

Several runs are possible where

* an input changes at the date at which a timer elapses: either may be first;
* a timer of the system may elapse at any millisecond between two times (`elapsed(t, lo, hi)`);
* reactions may be late by themselves (`jitter`): what is due may happen so many milliseconds later,
  and everything that follows is later, too.

All of them are followed, as *hypotheses*: a state, and for each output the values of the last
`latency` milliseconds that may still be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from whence.testing.model import TimedModel, Variable
from whence.testing.semantics.simulator import Illegal, Simulator, State
from whence.testing.values import Number, alike, as_text

__all__ = ["NoJudgement", "Oracle", "Tolerance"]

#: Discrete steps at one date.
_ZENO = 1000
#: So many hypotheses are followed.
_MOST = 10_000
#: The end of a value that is there still.
_OPEN = 1 << 60

#: The values that an output may be seen to have, the oldest first, each with the date of its end.
_Values = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much later an output may come, in milliseconds, and how far off it may be."""

    latency: int = 0
    error: Fraction = Fraction(0)


class NoJudgement(Exception):
    """The model has nothing to say: it has no step, its steps do not end, or too much is
    possible."""


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    """`due`: for how long a step has been due that has not happened."""

    state: State
    seen: tuple[_Values, ...]
    due: int = 0


class Oracle:
    """Dates are milliseconds and do not go back. At one date, inputs come first."""

    def __init__(
        self,
        part: TimedModel,
        tolerances: Mapping[str, Tolerance] | None = None,
        jitter: int = 0,
        simulator: Simulator | None = None,
    ) -> None:
        self.part = part
        self.simulator = simulator or Simulator(part)
        self.outputs: tuple[Variable, ...] = part.having("output")
        self.inputs: tuple[Variable, ...] = part.having("input")
        given = tolerances or {}
        admitted = [given.get(v.name, Tolerance()) for v in self.outputs]
        self.tolerances = [
            Tolerance(one.latency, one.error * v.scale)
            for one, v in zip(admitted, self.outputs, strict=True)
        ]
        self.jitter = jitter
        self.now = 0
        self.most = 1
        self.reason = ""
        #: Why runs of the model came to an end.
        self.stuck = ""
        self.held: list[Number | None] = [None] * len(self.outputs)
        self._places = [part.place[v.symbol] for v in self.outputs]
        self._free = self.simulator.free
        self._input_places = [part.place[v.symbol] for v in self.inputs]
        # In hypotheses, all choices are 0: they are made anew in each step.
        places = [place for place, _ in self.simulator.choices]
        options = product(*(range(last + 1) for _, last in self.simulator.choices))
        self._choices = [tuple(zip(places, chosen, strict=True)) for chosen in options]
        self._hypotheses: set[_Hypothesis] = set()

    # -------------------------------------------------------------------------------------- runs

    def begin(self, inputs: Mapping[str, int]) -> None:
        """The start, with the first values of all inputs."""
        free = (v for v in self.part.variables if v.free)
        state = self.simulator.initial([inputs[v.name] if v.role == "input" else 0 for v in free])
        seen = tuple(((state[place], _OPEN),) for place in self._places)
        self.now = 0
        self.held = [None] * len(self.outputs)
        self._hypotheses = {_Hypothesis(state, seen)}

    def set_inputs(self, time: int, inputs: Mapping[str, int]) -> None:
        """Inputs that change; what else is due at that date may happen before or after."""
        self._advance(time)
        found: set[_Hypothesis] = set()
        for one in self._hypotheses:
            found.add(self._with_inputs(one, inputs))
            if self._is_due(one):
                found.update(self._with_inputs(end, inputs) for end in self._settle(one))
        self._hypotheses = found
        self._check_size()

    def _with_inputs(self, one: _Hypothesis, inputs: Mapping[str, int]) -> _Hypothesis:
        state = list(one.state)
        for place, variable in zip(self._input_places, self.inputs, strict=True):
            if variable.name in inputs:
                state[place] = inputs[variable.name]
        return _Hypothesis(tuple(state), one.seen, one.due)

    def _chosen(self, state: State) -> list[State]:
        """The state with all choices that the system can make."""
        if len(self._choices) == 1:
            return [state]
        found = []
        for choice in self._choices:
            values = list(state)
            for place, value in choice:
                values[place] = value
            found.append(tuple(values))
        return found

    def _is_due(self, one: _Hypothesis) -> bool:
        """Whether a step may happen now."""
        try:
            return any(
                self.simulator.step(chosen) is not None for chosen in self._chosen(one.state)
            )
        except Illegal:
            return True

    def _settle(self, one: _Hypothesis) -> list[_Hypothesis]:
        """Where all steps lead that are due now; where the system may choose to wait, also that.
        Empty: the model has no step."""
        found: dict[_Hypothesis, None] = {}
        seen = {one}
        waiting = [one]
        for _ in range(_ZENO):
            if not waiting:
                return list(found)
            now = waiting.pop()
            for chosen in self._chosen(now.state):
                try:
                    after = self.simulator.step(chosen)
                except Illegal as illegal:
                    where = f" ({illegal.origin})" if str(illegal.origin) else ""
                    self.stuck = f"{illegal.message}{where}"
                    continue
                if after is None:
                    found[_Hypothesis(now.state, now.seen)] = None
                    continue
                new = self._stepped(now, after)
                if new not in seen:
                    seen.add(new)
                    waiting.append(new)
                elif not waiting:
                    self.stuck = f"its steps at {self.now} ms do not end (a Zeno loop)"
        self.stuck = f"its steps at {self.now} ms do not end (a Zeno loop)"
        return list(found)

    def _stepped(self, one: _Hypothesis, after: State) -> _Hypothesis:
        if self.simulator.choices:
            values = list(after)
            for place, _ in self.simulator.choices:
                values[place] = 0
            after = tuple(values)
        seen = list(one.seen)
        for number, place in enumerate(self._places):
            value = after[place]
            if seen[number][-1][0] != value:
                last = seen[number]
                seen[number] = (*last[:-1], (last[-1][0], self.now), (value, _OPEN))
        return _Hypothesis(after, tuple(seen))

    def _patience(self, one: _Hypothesis) -> int:
        """For how long no choice of the system matters: at most up to the next time that stands
        in `elapsed`, and a millisecond where a step may happen now."""
        if not self.simulator.choices:
            return self.simulator.limit(one.state)
        if self._is_due(one):
            return 1
        left = [self.simulator.limit(one.state)]
        for elapsed in self.part.elapsed:
            age = one.state[self.part.place[elapsed.age]]
            if age < elapsed.constant:
                left.append(elapsed.constant - age)
        return min(left)

    def _wait(self, one: _Hypothesis, delay: int, due: int) -> _Hypothesis:
        free = [one.state[place] for place in self._free]
        return _Hypothesis(self.simulator.wait(one.state, delay, free), one.seen, due)

    def _advance(self, until: int) -> None:
        """Let time pass. What is due at the end of it has not happened yet."""
        if until <= self.now:
            return
        begin = self.now
        waiting: dict[int, set[_Hypothesis]] = {begin: self._hypotheses}
        arrived: set[_Hypothesis] = set()
        while waiting:
            date = min(waiting)
            self.now = date
            for one in waiting.pop(date):
                ends = [one]
                if self._is_due(one):
                    ends = self._settle(one)
                    if one.due < self.jitter:
                        late = self._wait(one, 1, one.due + 1)
                        (arrived if date + 1 == until else waiting.setdefault(date + 1, set())).add(
                            late
                        )
                for end in ends:
                    delay = min(self._patience(end), until - date)
                    after = self._wait(end, delay, 0)
                    if date + delay == until:
                        arrived.add(after)
                    else:
                        waiting.setdefault(date + delay, set()).add(after)
            if len(arrived) + sum(map(len, waiting.values())) > _MOST:
                raise _too_many()
        self.now = until
        self._hypotheses = arrived
        self._check_size()

    def _check_size(self) -> None:
        self.most = max(self.most, len(self._hypotheses))
        if len(self._hypotheses) > _MOST:
            raise _too_many()

    # -------------------------------------------------------------------------------- observation

    def observe(self, time: int, outputs: Mapping[str, Number], *, held: bool = True) -> bool:
        """Whether some run explains what is seen now. `held`: outputs kept their values since the
        last observation (otherwise nobody knows what they were in between)."""
        self._advance(time)
        now: set[_Hypothesis] = set()
        for one in self._hypotheses:
            if self._is_due(one):
                now.update(self._settle(one))
                if one.due < self.jitter:
                    now.add(one)
            else:
                now.add(one)
        if not now:
            raise NoJudgement(f"the model has no step: {self.stuck}")
        new = [
            outputs[v.name] if v.name in outputs else self.held[n]
            for n, v in enumerate(self.outputs)
        ]
        found = set()
        for one in now:
            left = self._explained(one, new, held)
            if left is not None:
                found.add(left)
        if not found:
            self.reason = self._complaint(now, new, held)
            self._hypotheses = set()
            return False
        self.held = new
        self._hypotheses = found
        self._check_size()
        return True

    def _explained(
        self, one: _Hypothesis, new: list[Number | None], held: bool
    ) -> _Hypothesis | None:
        seen = []
        for number, values in enumerate(one.seen):
            left = self._matched(number, values, new[number], held)
            if left is None:
                return None
            seen.append(left)
        return _Hypothesis(one.state, tuple(seen), one.due)

    def _matched(
        self, number: int, values: _Values, value: Number | None, held: bool
    ) -> _Values | None:
        """What may still be seen of an output that has this value now; None: it cannot have it."""
        variable, tolerance = self.outputs[number], self.tolerances[number]
        first = 0
        # A value is gone `latency` milliseconds after its end: what was held until now must have
        # become another one by then.
        while values[first][1] + tolerance.latency <= self.now:
            gone = values[first][1] + tolerance.latency
            before = self.held[number]
            if held and before is not None and gone < self.now:
                begun = values[first][1]
                first += 1
                while not alike(variable, values[first][0], before, tolerance.error):
                    begun = values[first][1]
                    first += 1
                    if first == len(values) or begun > gone:
                        return None
            else:
                first += 1
        if value is None:
            return values[first:]
        while not alike(variable, values[first][0], value, tolerance.error):
            first += 1
            if first == len(values):
                return None
        return values[first:]

    # ---------------------------------------------------------------------------------- complaints

    def _complaint(
        self, hypotheses: Iterable[_Hypothesis], new: list[Number | None], held: bool
    ) -> str:
        """Which outputs no run explains, and what they should be."""
        those = sorted(hypotheses, key=lambda one: (one.state, one.seen, one.due))
        for number, variable in enumerate(self.outputs):
            value = new[number]
            if any(self._matched(number, one.seen[number], value, held) for one in those):
                continue
            before = self.held[number]
            late = held and not any(
                self._matched(number, one.seen[number], None, held) for one in those
            )
            # What was held until now was wrong before.
            wrong = before if late else value
            wanted = dict.fromkeys(self._wanted(number, one.seen[number], wrong) for one in those)
            said = "not known" if wrong is None else as_text(variable, wrong)
            text = f"`{variable.name}` is {said} "
            text += f"until {self.now} ms" if late else f"at {self.now} ms"
            if held and not late and before is not None and before != value:
                text += f", {as_text(variable, before)} until then"
            return f"{text}; expected {' or '.join(list(wanted)[:4])}"
        shown = ", ".join(
            f"{v.name} = {as_text(v, value)}"
            for v, value in zip(self.outputs, new, strict=True)
            if value is not None
        )
        return f"no run of the model has {shown} together at {self.now} ms"

    def _wanted(self, number: int, values: _Values, value: Number | None) -> str:
        """What a run has in place of the value that is seen."""
        variable, tolerance = self.outputs[number], self.tolerances[number]
        begun = None
        for wanted, end in values:
            other = value is None or not alike(variable, wanted, value, tolerance.error)
            if other and (begun is None or begun + tolerance.latency <= self.now):
                told = variable.shown(wanted)
                if begun is not None:
                    told += f" since {begun} ms"
                    if tolerance.latency:
                        told += f" (by {begun + tolerance.latency} ms)"
                return told if end == _OPEN else f"{told}, until {end} ms"
            begun = end
        return variable.shown(values[-1][0])


def _too_many() -> NoJudgement:
    return NoJudgement(f"more than {_MOST} states of the model are possible: admit less jitter")
