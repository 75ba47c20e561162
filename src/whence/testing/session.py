"""One test of one system: inputs go to the system and to the oracle, outputs come back and are
judged while the test runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic, perf_counter

from whence.model.suite import TestCase
from whence.model.test_run import Drift, Seen, TestRun, TestVerdict
from whence.testing.model import TimedModel, Variable
from whence.testing.oracle import NoJudgement, Oracle
from whence.testing.systems.base import Simulated, SystemFault, Wired
from whence.testing.values import (
    Native,
    Number,
    Unreadable,
    as_native,
    as_text,
    number_of,
    observed,
)

__all__ = ["Session", "SimulatedSession", "WiredSession", "play"]


class Session:
    """`start`, then `at` for each date at which inputs change, then `end`. After a verdict other
    than pass, nothing more happens. Raises Unreadable where the test sets what no input can be."""

    def __init__(
        self, part: TimedModel, oracle: Oracle, seconds: float | None, early: int = 0
    ) -> None:
        self.oracle = oracle
        self.inputs: dict[str, Variable] = {v.name: v for v in part.having("input")}
        self.outputs: dict[str, Variable] = {v.name: v for v in part.having("output")}
        self.seconds = seconds
        self.early = early
        self.verdict: TestVerdict | None = None
        self.reason = ""
        self.time = 0
        self.seen: list[Seen] = []
        self.began = perf_counter()
        self._given: dict[str, int] = {}
        self._shown: dict[str, str] = {}

    def start(self, inputs: Mapping[str, str]) -> None:
        missing = [name for name in self.inputs if name not in inputs]
        if missing:
            raise Unreadable(f"the test has no value of `{missing[0]}` at its start")
        self._change(0, inputs)
        self._guarded(self._start)

    def at(self, time: int, inputs: Mapping[str, str]) -> None:
        if self.verdict is None:
            changed = self._change(time, inputs, say=not self.wired)
            self._guarded(lambda: self._pass_until(time, changed))

    def end(self, time: int) -> None:
        if self.verdict is None:
            self._guarded(lambda: self._finish(time))
        if self.verdict is None:
            self.verdict, self.time = "pass", time

    wired = False

    def _start(self) -> None:
        raise NotImplementedError

    def _pass_until(self, time: int, changed: Mapping[str, int]) -> None:
        raise NotImplementedError

    def _finish(self, time: int) -> None:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------- inside

    def _guarded(self, action: Callable[[], None]) -> None:
        """Whatever happens becomes a verdict."""
        try:
            action()
        except SystemFault as fault:
            self._end("error", str(fault))
        except Unreadable as value:
            self._end("error", f"the system answered what is no output: {value}")
        except NoJudgement as nothing:
            self._end("inconclusive", str(nothing))

    def _end(self, verdict: TestVerdict, reason: str) -> None:
        if self.verdict is None:
            self.verdict, self.reason = verdict, reason

    def _change(self, time: int, inputs: Mapping[str, str], say: bool = True) -> dict[str, int]:
        changed = {}
        for name, text in inputs.items():
            variable = self.inputs.get(name)
            if variable is None:
                raise Unreadable(f"the test sets `{name[:60]}`, which is no input of the model")
            changed[name] = number_of(variable, text)
        self._given.update(changed)
        if say:
            self._note_inputs(time, changed)
        return changed

    def _note_inputs(self, time: int, changed: Mapping[str, int]) -> None:
        for name, number in changed.items():
            self.seen.append(Seen(time, name, self.inputs[name].shown(number), given=True))

    def _native(self) -> dict[str, Native]:
        return {name: as_native(self.inputs[name], self._given[name]) for name in self.inputs}

    def _observe(
        self, time: int, outputs: Mapping[str, object], *, held: bool, whole: bool
    ) -> bool:
        """Hand outputs to the oracle. `whole`: all have to be there. Whether to go on."""
        values: dict[str, Number] = {}
        self.time = time
        for name, variable in self.outputs.items():
            if name in outputs:
                values[name] = observed(variable, outputs[name])
                text = as_text(variable, values[name])
                if self._shown.get(name) != text:
                    self._shown[name] = text
                    self.seen.append(Seen(time, name, text, given=False))
            elif whole:
                raise SystemFault(f"the system does not tell its output `{name}`")
        if not self.oracle.observe(time + self.early, values, held=held):
            self._end("fail", self.oracle.reason)
            return False
        return True

    def result(self, test: TestCase, drift: Drift | None = None) -> TestRun:
        assert self.verdict is not None
        # What would have been given after the verdict was not.
        seen = [one for one in self.seen if self.verdict == "pass" or one.time <= self.time]
        return TestRun(
            test=test.ident,
            verdict=self.verdict,
            time=self.time,
            reason=self.reason,
            seen=tuple(sorted(seen, key=lambda one: one.time)),
            requirements=test.requirements,
            goals=test.goals,
            admitted=self.oracle.most,
            drift=drift,
            seconds=perf_counter() - self.began,
        )


class SimulatedSession(Session):
    def __init__(
        self, part: TimedModel, oracle: Oracle, system: Simulated, seconds: float | None = None
    ) -> None:
        super().__init__(part, oracle, seconds)
        self.system = system
        self.now = 0

    def _start(self) -> None:
        if self.seconds is not None:
            self.system.deadline = monotonic() + self.seconds
        outputs = self.system.reset(self._native())
        self.oracle.begin(self._given)
        self._observe(0, outputs, held=True, whole=True)

    def _pass_until(self, time: int, changed: Mapping[str, int]) -> None:
        begin = self.now
        if time <= begin:
            raise NoJudgement(f"the test goes back in time, to {time} ms")
        held = self.system.held
        self.now = time
        for passed, outputs in self.system.run(time - begin, self._native()):
            date = begin + passed
            if date == time:
                self.oracle.set_inputs(time, changed)
            if not self._observe(date, outputs, held=held, whole=True):
                return

    def _finish(self, time: int) -> None:
        if time > self.now:
            self._pass_until(time, {})


class WiredSession(Session):
    """In real time. What counts is when inputs were really sent, and outputs really came."""

    wired = True

    def __init__(
        self,
        part: TimedModel,
        oracle: Oracle,
        system: Wired,
        seconds: float | None = None,
        early: int = 0,
        overrun: int = 100,
        patience: float = 5.0,
    ) -> None:
        super().__init__(part, oracle, seconds, early)
        self.patience = patience
        self.system = system
        self.overrun = overrun
        self.most = self.last = 0.0
        self._begin = 0.0
        self._seen_at = 0
        self._told: dict[str, object] = {}
        self._waiting: tuple[float, Mapping[str, object]] | None = None

    def _start(self) -> None:
        if self.seconds is not None:
            self.system.deadline = monotonic() + self.seconds
        self.system.start(self._native())
        # Its time begins with the first outputs it tells, if it tells them soon.
        first = self.system.receive(monotonic() + self.patience) if self.outputs else None
        self._begin = monotonic() if first is None else first[0]
        if first is None and self.outputs:
            raise SystemFault(
                f"the system hangs: it did not tell its outputs within {self.patience:g} s"
            )
        self.oracle.begin(self._given)
        if first is not None:
            self._told.update(first[1])
            self._observe(0, self._told, held=True, whole=False)

    def _now(self) -> int:
        return int((monotonic() - self._begin) * 1000)

    def _listen(self, until: float) -> None:
        """Take what the system tells until then, and look whether what it does not tell is
        right."""
        while self.verdict is None:
            now = monotonic()
            if now >= self.system.deadline:
                raise SystemFault("the test's time is over")
            heard = self.system.receive(min(until, now + 0.02))
            if heard is not None:
                date = max(self._seen_at, int((heard[0] - self._begin) * 1000))
                self._told.update(heard[1])
                self._seen_at = date
                if not self._observe(date, heard[1], held=True, whole=False):
                    return
                continue
            if monotonic() >= until:
                return
            # What came is dated when it came: look a little into the past, so that nothing that
            # is under way is overtaken.
            date = self._now() - 20
            if date > self._seen_at:
                self._seen_at = date
                if not self._observe(date, {}, held=True, whole=False):
                    return

    def _pass_until(self, time: int, changed: Mapping[str, int]) -> None:
        planned = self._begin + time / 1000
        self._listen(planned)
        if self.verdict is not None:
            return
        self.system.send(self._native())
        sent = monotonic()
        self.last = max(0.0, sent - planned)
        self.most = max(self.most, self.last)
        date = max(self._seen_at, int((sent - self._begin) * 1000))
        self._seen_at = date
        self._note_inputs(date, changed)
        self.oracle.set_inputs(date + self.early, changed)
        if self.most * 1000 > self.overrun:
            self._end(
                "inconclusive",
                f"the tester was {self.most * 1000:.0f} ms late at {time} ms (a real-time overrun)",
            )

    def _finish(self, time: int) -> None:
        self._listen(self._begin + (time + 40) / 1000)
        if self.verdict is None:
            missing = [name for name in self.outputs if name not in self._told]
            if missing:
                raise SystemFault(f"the system never told its output `{missing[0]}`")
            self._observe(max(self._seen_at, time), {}, held=True, whole=False)

    def drift(self) -> Drift:
        return Drift(round(self.most, 6), round(self.last, 6))


def play(session: Session, test: TestCase) -> None:
    """A whole test."""
    dates: dict[int, dict[str, str]] = {}
    for one in test.inputs:
        dates.setdefault(one.time, {})[one.name] = one.value
    session.start(dates.pop(0, {}))
    for time, inputs in sorted(dates.items()):
        session.at(time, inputs)
    session.end(max(test.end, max(dates, default=0) + 1))
