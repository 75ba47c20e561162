"""The oracle: the system's part of the model, run beside the system (section 1 of the report:
"test oracles … check the SUT responses on the fly").

What is observed at a date t is admitted if some run of the model explains it.  A run is driven by
the inputs at the dates at which they were really given.  For each output there has to be a date
τ(t), never going back, with t - latency <= τ(t) <= t, at which the run has that value (up to the
admitted error): an output may come later than in the model, and a pulse that is shorter than the
latency may be lost.

Several runs are possible where

* an input changes at the date at which a timer elapses: either may be first;
* reactions may be late by themselves (`jitter`): what is due may happen so many milliseconds later,
  and everything that follows is later, too.

All of them are followed, as *hypotheses*: a state, and for each output the values of the last
`latency` milliseconds that may still be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

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
        self._hypotheses: set[_Hypothesis] = set()

    # -------------------------------------------------------------------------------------- runs

    def begin(self, inputs: Mapping[str, int]) -> None:
        """The start, with the first values of all inputs."""
        state = self.simulator.initial([inputs[v.name] for v in self.inputs])
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
                settled = self._settle(one)
                if settled is not None:
                    found.add(self._with_inputs(settled, inputs))
        self._hypotheses = found
        self._check_size()

    def _with_inputs(self, one: _Hypothesis, inputs: Mapping[str, int]) -> _Hypothesis:
        state = list(one.state)
        for place, variable in zip(self._free, self.inputs, strict=True):
            if variable.name in inputs:
                state[place] = inputs[variable.name]
        return _Hypothesis(tuple(state), one.seen, one.due)

    def _is_due(self, one: _Hypothesis) -> bool:
        try:
            return self.simulator.step(one.state) is not None
        except Illegal:
            return True

    def _settle(self, one: _Hypothesis) -> _Hypothesis | None:
        """All steps that are due now. None: the model has no step."""
        state = one.state
        seen = list(one.seen)
        step = self.simulator.step
        try:
            for _ in range(_ZENO):
                after = step(state)
                if after is None:
                    return _Hypothesis(state, tuple(seen))
                state = after
                for number, place in enumerate(self._places):
                    value = state[place]
                    if seen[number][-1][0] != value:
                        last = seen[number]
                        seen[number] = (*last[:-1], (last[-1][0], self.now), (value, _OPEN))
        except Illegal as illegal:
            where = f" ({illegal.origin})" if str(illegal.origin) else ""
            self.stuck = f"{illegal.message}{where}"
            return None
        self.stuck = f"its steps at {self.now} ms do not end (a Zeno loop)"
        return None

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
                if self._is_due(one):
                    settled = self._settle(one)
                    if one.due < self.jitter:
                        late = self._wait(one, 1, one.due + 1)
                        (arrived if date + 1 == until else waiting.setdefault(date + 1, set())).add(
                            late
                        )
                    if settled is None:
                        continue
                    one = settled
                delay = min(self.simulator.limit(one.state), until - date)
                after = self._wait(one, delay, 0)
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
                settled = self._settle(one)
                if settled is not None:
                    now.add(settled)
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
