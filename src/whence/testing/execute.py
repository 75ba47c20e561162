"""Runs the tests of a suite, one after the other or in several processes at once.

Each test has a system of its own, or one that is reset.  The result does not depend on how many
processes there are.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from whence.formats.can.dbc import read_database
from whence.model.chart import Chart
from whence.model.signals import SignalMap
from whence.model.suite import TestCase
from whence.model.test_run import Seen, TestRun
from whence.source import Diagnostic, InputError, UsageError
from whence.testing.elaborate import elaborate
from whence.testing.interface import interface_of
from whence.testing.model import TimedModel
from whence.testing.oracle import Oracle, Tolerance
from whence.testing.part import system_part
from whence.testing.record import record
from whence.testing.semantics.simulator import Simulator
from whence.testing.session import Session, SimulatedSession, WiredSession, play
from whence.testing.systems.base import Polled, Simulated, Stepper, SystemFault, Wired
from whence.testing.systems.bus import BusSystem
from whence.testing.systems.c_program import CProgram
from whence.testing.systems.host import load
from whence.testing.systems.json_lines import JsonWire, PythonProcess, json_system
from whence.testing.systems.model import ModelSystem
from whence.testing.systems.spec import SystemSpec
from whence.testing.values import Unreadable

__all__ = ["ExecuteSettings", "Executor", "execute"]


#: What an executor is made of, in another process.
_Arguments: TypeAlias = "tuple[Chart, SystemSpec, ExecuteSettings, Chart | None, str | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteSettings:
    """`seconds`: for each test. `period`: how often a simulated system is looked at, in
    milliseconds. `jitter`: how late the system's reactions may be by themselves; `early`: how far
    its clock may be ahead of ours. `node`: what is started beside a bus. `overrun`: by how many
    milliseconds the tester may be late."""

    seconds: float = 60.0
    period: int = 1
    real_time: bool = False
    latency: int | None = None
    jitter: int | None = None
    early: int = 0
    overrun: int = 100
    sanitize: tuple[str, ...] = ()
    node: str = ""
    signals: SignalMap = field(default_factory=SignalMap)
    dbc: str = ""


class Executor:
    """Everything that tests of one system need, prepared once. `stepper`: a Python object in this
    process, in place of what `spec` says, and `simulated` a whole system."""

    def __init__(
        self,
        chart: Chart,
        spec: SystemSpec | None,
        settings: ExecuteSettings,
        other: Chart | None = None,
        program: str | None = None,
        stepper: Stepper | None = None,
        simulated: Simulated | None = None,
    ) -> None:
        self.part = system_part(elaborate(chart))
        self.settings = settings
        self.simulator = Simulator(self.part)
        self.inputs = self.part.having("input")
        self.outputs = self.part.having("output")
        if not self.outputs:
            raise InputError(
                Diagnostic("the model has no outputs: there is nothing to be judged", chart.origin)
            )
        self.program: CProgram | None = None
        self.wired = settings.real_time
        self._simulated: Simulated | None = None
        self._wire: Wired | None = None
        if simulated is not None:
            self._simulated = simulated
        elif stepper is not None:
            self._simulated = Polled(stepper, settings.period)
        elif spec is not None:
            self._prepare(spec, None if other is None else elaborate(other), program)

    def _prepare(self, spec: SystemSpec, other: TimedModel | None, program: str | None) -> None:
        settings = self.settings
        if settings.real_time and spec.kind in ("model", "python", "c", "interpreted"):
            raise UsageError(f"a system behind `{spec.kind}:` has no time of its own")
        match spec.kind:
            case "model":
                part = self.part if other is None else system_part(other)
                self._simulated = ModelSystem(part, self.simulator if other is None else None)
            case "python":
                self._simulated = PythonProcess(spec.parts[0], settings.period)
            case "process" if settings.real_time:
                self._wire = JsonWire(spec.parts)
            case "process":
                self._simulated = json_system(spec.parts, settings.period)
            case "c":
                self.program = CProgram(
                    interface_of(self.part), spec.parts, settings.period, settings.sanitize, program
                )
                self._simulated = self.program
            case "interpreted":
                raise UsageError("an interpreted system has to be handed over as one")
            case "can":
                self.wired = True
                self._wire = self._bus((spec.parts[0], spec.parts[1]))

    def _bus(self, address: tuple[str, str]) -> BusSystem:
        settings = self.settings
        if not settings.dbc:
            raise UsageError("a CAN bus needs a database: --dbc FILE, or `dbc:` in the signal map")
        node = None
        if settings.node:
            try:
                node = load(settings.node)
            except SystemFault as fault:
                raise UsageError(f"the node cannot be started: {fault}") from None
        database = read_database(settings.dbc)
        return BusSystem(interface_of(self.part), settings.signals, database, address, node)

    # --------------------------------------------------------------------------------- one test

    def session(self, test: TestCase) -> Session:
        settings = self.settings
        jitter = settings.jitter
        if jitter is None:
            jitter = settings.signals.jitter
        if jitter is None:
            jitter = 5 if self.wired else 0
        oracle = Oracle(self.part, self._tolerances(test), jitter, self.simulator)
        if self._wire is not None:
            return WiredSession(
                self.part,
                oracle,
                self._wire,
                settings.seconds + test.end / 1000,
                settings.early or 2,
                settings.overrun,
                min(5.0, settings.seconds),
            )
        assert self._simulated is not None
        return SimulatedSession(self.part, oracle, self._simulated, settings.seconds)

    def run(self, test: TestCase) -> TestRun:
        """Whatever the system does becomes a verdict."""
        session = self.session(test)
        try:
            play(session, test)
        except Unreadable as problem:
            session.verdict = "error"
            session.reason = f"this is no test of this model: {problem}"
        drift = session.drift() if isinstance(session, WiredSession) else None
        if session.verdict != "pass" or isinstance(session, WiredSession):
            self.release()
        return session.result(test, drift)

    def recorded(self, test: TestCase) -> tuple[tuple[Seen, ...], str]:
        """What is seen of the whole test, to its end, whatever is right; and why the system could
        not go on, "" if it could. In simulated time only."""
        if self._simulated is None:
            raise UsageError("a system with a time of its own is not recorded")
        found = record(self.part, self._simulated, test, self.settings.seconds)
        self.release()
        return found

    def release(self) -> None:
        """End the system; the next test begins another one."""
        for system in (self._simulated, self._wire):
            if system is not None:
                with suppress(Exception):
                    system.close()

    def close(self) -> None:
        self.release()
        if self.program is not None:
            self.program.dispose()

    def _tolerances(self, test: TestCase) -> dict[str, Tolerance]:
        """As the signal map says, otherwise as the command says, otherwise as the test does."""
        signals = self.settings.signals
        found = {}
        for variable in self.outputs:
            expected = [one for one in test.expected if one.name == variable.name]
            entry = signals.entry(variable.name)
            latency = None if entry is None else entry.latency
            for general in (self.settings.latency, signals.latency):
                latency = general if latency is None else latency
            if latency is None:
                latency = max((one.latency for one in expected), default=0)
            error = None if entry is None else entry.error
            if error is None:
                error = max((Fraction(one.tolerance) for one in expected), default=Fraction(0))
            found[variable.name] = Tolerance(latency, error)
        return found


# ------------------------------------------------------------------------------------ all tests


def execute(
    executor: Executor,
    tests: Sequence[TestCase],
    workers: int = 1,
    again: Callable[[], _Arguments] | None = None,
) -> Iterator[TestRun]:
    """The results, as they come. `again`: with which arguments another process makes the same
    executor; without it all tests run here."""
    if workers <= 1 or again is None or len(tests) <= 1 or executor.wired:
        for test in tests:
            yield executor.run(test)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(tests)), context, partial(_begin, *again()))
    try:
        waiting: dict[Future[TestRun], TestCase] = {pool.submit(_one, test): test for test in tests}
        for done in as_completed(waiting):
            try:
                yield done.result()
            except BrokenProcessPool:
                yield TestRun(
                    test=waiting[done].ident,
                    verdict="error",
                    time=0,
                    reason="the process that ran the test ended",
                    requirements=waiting[done].requirements,
                    goals=waiting[done].goals,
                )
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_EXECUTOR: list[Executor] = []


def _begin(
    chart: Chart,
    spec: SystemSpec,
    settings: ExecuteSettings,
    other: Chart | None,
    program: str | None,
) -> None:
    import signal
    from multiprocessing.util import Finalize

    # Ctrl-C is for the process that asked; it ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    executor = Executor(chart, spec, settings, other, program)
    Finalize(None, executor.close, exitpriority=1)
    _EXECUTOR.append(executor)


def _one(test: TestCase) -> TestRun:
    return _EXECUTOR[0].run(test)
