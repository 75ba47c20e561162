"""Suites run: read one back, run it against a system, keep what came out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from whence import files
from whence.api.models import to_text, version
from whence.api.tests import TimedChart, load_timed_chart
from whence.source import Diagnostic, InputError, Origin, UsageError

if TYPE_CHECKING:
    from whence.model.chart import Chart
    from whence.model.signals import SignalMap
    from whence.model.suite import Suite, TestCase
    from whence.model.test_run import SuiteRun, TestRun
    from whence.testing.execute import ExecuteSettings, Executor
    from whence.testing.systems.base import Simulated, Stepper
    from whence.testing.systems.spec import SystemSpec

__all__ = ["OpenSuite", "RunOptions", "open_suite", "write_run"]

AnyPath = Path | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """`tests`: only these. `seconds`: for each test. `period`: how often a simulated system is
    looked at. `signals`, `dbc`: files. `node`: what is started beside a bus. `latency`, `jitter`:
    admitted, in milliseconds. `folder`: where results are kept, and `resume`: whether those that
    are there count."""

    tests: tuple[str, ...] = ()
    workers: int = 1
    seconds: float = 60.0
    period: int = 1
    real_time: bool = False
    latency: int | None = None
    jitter: int | None = None
    overrun: int = 100
    sanitize: tuple[str, ...] = ()
    signals: str | None = None
    dbc: str | None = None
    node: str = ""
    folder: str | None = None
    resume: bool = False


@dataclass(frozen=True)
class OpenSuite:
    """A suite, and the model that judges. `notes` say where they do not fit."""

    suite: Suite
    chart: TimedChart
    notes: tuple[str, ...] = ()
    home: Path = field(default_factory=Path)

    def c_interface(self) -> tuple[str, str]:
        """The name and text of a header: what `c:` systems have to implement."""
        from whence.formats.c_interface import header, header_name
        from whence.testing.elaborate import elaborate
        from whence.testing.interface import interface_of
        from whence.testing.part import system_part

        interface = interface_of(system_part(elaborate(self.chart.chart)))
        return header_name(interface), header(interface)

    def chosen(self, names: Sequence[str]) -> tuple[TestCase, ...]:
        if not names:
            return self.suite.tests
        known = {test.ident for test in self.suite.tests}
        for name in names:
            if name not in known:
                raise UsageError(f"the suite has no test `{name}`")
        return tuple(test for test in self.suite.tests if test.ident in names)

    def run(
        self,
        system: str | Stepper,
        options: RunOptions | None = None,
        say: Callable[[str], None] | None = None,
    ) -> SuiteRun:
        """`system`: as `--sut` has it, or an object with `reset` and `step`. Ctrl-C ends it with
        what there is by then."""
        from whence.model.test_run import SuiteRun
        from whence.testing.execute import execute

        chosen = options or RunOptions()
        if chosen.folder is not None:
            _check_folder(Path(chosen.folder))
        began = perf_counter()
        tests = self.chosen(chosen.tests)
        spec, other = self._system(system)
        words = spec.text if spec is not None else type(system).__name__
        executor = self.executor(system, chosen)
        settings = executor.settings
        marks = {test.ident: self._mark(test, words, chosen, spec) for test in tests}
        found: dict[str, TestRun] = {}
        if chosen.folder is not None and chosen.resume:
            found = _kept(Path(chosen.folder), marks)
        left = [test for test in tests if test.ident not in found]
        program = None if executor.program is None else executor.program.program

        def again() -> tuple[Chart, SystemSpec, ExecuteSettings, Chart | None, str | None]:
            assert spec is not None
            return (self.chart.chart, spec, settings, other, program)

        # Another process would have to read an interpreted program again.
        spread = spec is not None and spec.kind != "interpreted"
        workers = chosen.workers if spread else 1
        complete = True
        try:
            for run in execute(executor, left, workers, again):
                found[run.test] = run
                if chosen.folder is not None:
                    _keep(Path(chosen.folder), run, marks[run.test], words)
                if say is not None:
                    say(f"{len(found)} of {len(tests)} tests: {run.test} {run.verdict}")
        except KeyboardInterrupt:
            complete = False
        finally:
            executor.close()
        return SuiteRun(
            suite=self.suite,
            system=words,
            runs=tuple(found[test.ident] for test in tests if test.ident in found),
            hash=self.chart.hash,
            complete=complete,
            notes=self.notes,
            seconds=perf_counter() - began,
        )

    def executor(self, system: str | Stepper, options: RunOptions) -> Executor:
        """What runs tests against a system; to be closed."""
        from whence.testing.execute import Executor

        signals = self._signals(options)
        spec, other = self._system(system)
        executor = Executor(
            self.chart.chart,
            spec,
            self._settings(options, signals),
            other,
            stepper=None if isinstance(system, str) else system,
            simulated=self._interpreted(spec, options),
        )
        if options.signals is not None:
            from whence.formats.signal_map import check_names

            check_names(signals, [v.name for v in (*executor.inputs, *executor.outputs)])
        return executor

    def _interpreted(self, spec: SystemSpec | None, options: RunOptions) -> Simulated | None:
        if spec is None or spec.kind != "interpreted":
            return None
        from whence.campaign.loop.interpreted import InterpretedSystem

        if options.real_time:
            raise UsageError("a system behind `interpreted:` has no time of its own")
        if options.sanitize:
            raise UsageError(
                "an interpreted system needs no sanitizers: undefined behaviour is told"
            )
        return InterpretedSystem(self.chart.interface(), spec.parts, options.period)

    def _system(self, system: str | Stepper) -> tuple[SystemSpec | None, Chart | None]:
        from whence.testing.systems.spec import parse_system

        if not isinstance(system, str):
            return None, None
        spec = parse_system(system)
        if spec.kind == "model" and spec.parts:
            return spec, load_timed_chart(spec.parts[0]).chart
        return spec, None

    def _signals(self, options: RunOptions) -> SignalMap:
        from whence.formats.markup import read_bytes
        from whence.formats.signal_map import read_signal_map
        from whence.model.signals import SignalMap

        if options.signals is None:
            return SignalMap()
        return read_signal_map(read_bytes(options.signals), options.signals)

    def _settings(self, options: RunOptions, signals: SignalMap) -> ExecuteSettings:
        from whence.testing.execute import ExecuteSettings

        dbc = options.dbc or ""
        if not dbc and signals.dbc:
            dbc = str(Path(signals.file).parent / signals.dbc)
        return ExecuteSettings(
            seconds=options.seconds,
            period=options.period,
            real_time=options.real_time,
            latency=options.latency,
            jitter=options.jitter,
            overrun=options.overrun,
            sanitize=options.sanitize,
            node=options.node,
            signals=signals,
            dbc=dbc,
        )

    def _mark(
        self, test: TestCase, system: str, options: RunOptions, spec: SystemSpec | None
    ) -> str:
        """What a result depends on, as far as we know: with the same mark it counts again."""
        from whence.report.tests_json import case_document

        parts: list[object] = [version(), self.chart.hash, system, case_document(test)]
        parts.append([str(getattr(options, name)) for name in _OF_RESULT])
        for name in (*(() if spec is None else spec.files), options.signals, options.dbc):
            if name is not None and os.path.isfile(name):
                parts.append(hashlib.sha256(Path(name).read_bytes()).hexdigest())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


#: The options that a verdict depends on.
_OF_RESULT = ("seconds", "period", "real_time", "latency", "jitter", "overrun", "sanitize", "node")


def open_suite(folder: AnyPath, model: AnyPath | None = None, *, force: bool = False) -> OpenSuite:
    """A suite and its model, which is where the suite says, or next to it. Raises InputError if
    the model is another one than the suite was made from, unless `force` is true."""
    from whence.formats.suites import read_suite

    suite = read_suite(folder)
    place = _model_of(suite, Path(folder)) if model is None else Path(model)
    chart = load_timed_chart(place)
    notes: tuple[str, ...] = ()
    if chart.hash != suite.hash:
        if not force:
            raise InputError(
                Diagnostic(
                    "the model is not the one that the suite was made from: its hash is "
                    f"{chart.hash[:12]}, that of the suite {suite.hash[:12]}",
                    Origin(str(place)),
                    "make the suite anew with whence tests, or say --force",
                )
            )
        notes = ("the model is not the one that the suite was made from (--force)",)
    if suite.widened:
        chart = chart.widened()
    return OpenSuite(suite, chart, notes, Path(folder))


def _model_of(suite: Suite, folder: Path) -> Path:
    around = (folder / suite.file, folder.parent / suite.file)
    for place in (Path(suite.file), *around, folder.parent / Path(suite.file).name):
        if suite.file and place.is_file():
            return place
    raise InputError(
        Diagnostic(
            f"the model of the suite, {suite.file or 'which has no name'}, is not there",
            Origin(str(folder)),
            "say where it is with --model",
        )
    )


def write_run(run: SuiteRun, folder: AnyPath) -> None:
    """What came out, for people and for tools: `report.html`, `run.json`, `junit.xml`,
    `requirements.csv`. Traces and verdicts of single tests are there already."""
    from whence.report.run_files import junit, matrix_csv
    from whence.report.run_html import run_page
    from whence.report.run_json import run_document

    target = _folder(folder)
    files.write_atomically(target / "junit.xml", junit(run))
    files.write_atomically(target / "requirements.csv", matrix_csv(run))
    files.write_atomically(target / "report.html", run_page(run, version()))
    files.write_atomically(target / "run.json", to_text(run_document(run, version())))


def _check_folder(folder: Path) -> None:
    """A folder that has something else than results of ours is left alone."""
    try:
        if not folder.exists():
            return
        if not folder.is_dir():
            raise InputError(Diagnostic("this is a file, not a folder", Origin(str(folder))))
        names = {path.name for path in folder.iterdir()}
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(
            Diagnostic(f"the folder cannot be read: {reason}", Origin(str(folder)))
        ) from None
    if names and "run.json" not in names and not {"tests", "traces"} <= names:
        raise InputError(
            Diagnostic(
                "this folder is not empty, and what is in it are no results of a run",
                Origin(str(folder)),
                "name a new folder",
            )
        )


def _folder(folder: AnyPath) -> Path:
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(
            Diagnostic(f"the folder cannot be written: {reason}", Origin(str(folder)))
        ) from None
    return target


def _keep(folder: Path, run: TestRun, mark: str, system: str) -> None:
    from whence.report.run_files import trace_text
    from whence.report.run_json import one_run_document

    for name in ("tests", "traces"):
        _folder(folder / name)
    files.write_atomically(folder / "traces" / f"{run.test}.txt", trace_text(run, system))
    document = {"mark": mark, **one_run_document(run)}
    files.write_atomically(folder / "tests" / f"{run.test}.json", to_text(document))


def _kept(folder: Path, marks: dict[str, str]) -> dict[str, TestRun]:
    """Results of an earlier run; those that cannot be read are made again."""
    from whence.report.run_json import one_run_of

    found = {}
    for name, mark in marks.items():
        try:
            document = json.loads((folder / "tests" / f"{name}.json").read_text("utf-8"))
            if document["mark"] == mark:
                found[name] = replace(one_run_of(document), test=name)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return found
