"""From a model to the faulty lines, in one call: generate tests, run the code, tell logs, classify
their faults, make a short failing test of each, and look for the lines that can be the fault."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from whence.api.models import Limits, load
from whence.api.runs import OpenSuite, RunOptions
from whence.api.tests import TimedChart, load_timed_chart
from whence.source import Diagnostic, InputError, Origin

if TYPE_CHECKING:
    from whence.campaign.loop.results import BugClass, CodeFound, Loop, ShortTest, TimingFound
    from whence.campaign.loop.shrink import Sheet
    from whence.locate.localize import Localization
    from whence.model.bus_map import BusMap
    from whence.model.program import Program
    from whence.model.program_test import Test
    from whence.model.signals import Interface
    from whence.model.suite import Suite, TestCase
    from whence.model.test_run import Seen, TestRun
    from whence.testing.execute import Executor
    from whence.triage.findings import FoundFault, Triage
    from whence.triage.models import PrdModel

__all__ = ["LoopOptions", "Project", "demo", "demo_project", "loop", "write_loop"]

AnyPath = Path | str
Say = Callable[[str], None]
#: So many seconds are spent on more tests, each round.
_MORE = 3.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What the chain needs. `chart`: the model that tests are made from. `code`: sources in C that
    implement its C interface (docs/run.md). `requirements`: the model of requirements that logs
    are replayed on. `bus`: which messages inputs and outputs are (docs/demo.md). `timing`:
    models of networks of timed automata, whose `A[]` queries shall hold."""

    chart: AnyPath
    code: tuple[AnyPath, ...]
    requirements: AnyPath
    bus: AnyPath
    timing: tuple[AnyPath, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """`compiler`: whether the code is compiled; None: if there is a compiler, otherwise it is
    interpreted. `rounds`: how often tests are generated for goals that were not judged because
    their tests failed before. `tests`: how many short failing tests of a class are wanted, and
    `passing`: how many tests that are nearly the same and pass. `seconds` bounds the search for the
    lines of each class. `folder` keeps the logs; None: nothing is kept."""

    compiler: bool | None = None
    seed: int = 0
    rounds: int = 3
    tests: int = 2
    passing: int = 10
    fix: bool = True
    seconds: float = 20.0
    goals: tuple[str, ...] = ()
    folder: AnyPath | None = None


def loop(project: Project, options: LoopOptions | None = None, say: Say | None = None) -> Loop:
    """The whole chain. Raises InputError for what cannot be read."""
    chosen = options or LoopOptions()
    with tempfile.TemporaryDirectory(prefix="whence-") as scratch:
        chain = _Chain(project, chosen, say or (lambda _: None), Path(scratch))
        try:
            return chain.run()
        finally:
            chain.close()


@dataclass
class _Chain:
    project: Project
    options: LoopOptions
    say: Say
    scratch: Path
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        from whence.formats.bus_map import check_bus_map, read_bus_map
        from whence.formats.markup import read_bytes
        from whence.triage.models import load_prd

        self.chart: TimedChart = load_timed_chart(self.project.chart)
        self.interface: Interface = self.chart.interface()
        self.map: BusMap = read_bus_map(read_bytes(str(self.project.bus)), str(self.project.bus))
        check_bus_map(self.map, self.interface)
        self.prd: PrdModel = load_prd(str(self.project.requirements), {}, None)
        self.numbers = {
            one.name: {member: number for number, member in enumerate(one.members)}
            for one in (*self.interface.inputs, *self.interface.outputs)
        }
        self.ranges = {
            signal.name: (int(signal.low or 0), int(signal.high or 0))
            for signal in self.interface.inputs
            if signal.kind == "int"
        }
        self.code = tuple(map(str, self.project.code))
        self.executor: Executor | None = None
        self.model: Executor | None = None
        self.program: Program | None = None

    def close(self) -> None:
        for each in (self.executor, self.model):
            if each is not None:
                each.close()

    # ------------------------------------------------------------------------------- the chain

    def run(self) -> Loop:
        from whence.campaign.loop.results import Loop
        from whence.model.test_run import SuiteRun

        suite = self._timed("tests", lambda: self._tests(self.options.seed))
        system = self._system()
        self._open(suite, system)
        runs: dict[str, TestRun] = {}
        logs: dict[str, str] = {}
        self._timed("run", lambda: self._run(suite.tests, runs, logs))
        for number in range(1, self.options.rounds + 1):
            more = self._timed("tests", partial(self._masked, suite, runs, number))
            if not more:
                break
            suite = replace(suite, tests=(*suite.tests, *more))
            self._timed("run", partial(self._run, more, runs, logs))
        found = self._timed("triage", lambda: self._triage(logs))
        classes, loose = self._timed("short tests", lambda: self._classes(suite, logs, found))
        located = self._timed("code", lambda: tuple(map(self._located, classes)))
        timing = self._timed("timing", self._timing)
        return Loop(
            title=self.project.title or self.chart.chart.name,
            suite=suite,
            run=SuiteRun(
                suite=suite,
                system=system,
                runs=tuple(runs[test.ident] for test in suite.tests),
                hash=self.chart.hash,
                seconds=self.seconds["run"],
            ),
            triage=found,
            classes=located,
            loose=loose,
            silent=self._silent(suite, runs, logs, found),
            sources=self._sources(),
            timing=timing,
            logs=logs,
            notes=tuple(self.notes),
            seconds=dict(self.seconds),
        )

    def _timed(self, what: str, action: Callable[[], _T]) -> _T:
        began = perf_counter()
        try:
            return action()
        finally:
            self.seconds[what] = self.seconds.get(what, 0.0) + perf_counter() - began

    # ----------------------------------------------------------------------------------- tests

    def _tests(self, seed: int) -> Suite:
        self.say("generating tests")
        return self.chart.tests(seed=seed, style="short", goals=self.options.goals)

    def _masked(
        self, suite: Suite, runs: Mapping[str, TestRun], number: int
    ) -> tuple[TestCase, ...]:
        """More tests for goals that no test was judged at: something else failed before."""
        masked = {
            goal.ident
            for goal in suite.goals
            if goal.test is not None
            and runs[goal.test].verdict != "pass"
            and runs[goal.test].time < (goal.time or 0)
        }
        reached = {
            ident
            for test in suite.tests
            if runs[test.ident].verdict == "pass"
            for ident in test.goals
        }
        masked -= reached
        if not masked:
            return ()
        kinds = {goal.kind for goal in suite.goals if goal.ident in masked}
        self.say(f"more tests for {len(masked)} goals that other failures hide")
        other = self.chart.tests(
            seed=self.options.seed + number,
            style="short",
            goals=self.options.goals,
            kinds=tuple(sorted(kinds - {"requirement"})),
            seconds=_MORE,
        )
        wanted = {goal.test for goal in other.goals if goal.ident in masked}
        count = len(suite.tests)
        return tuple(
            replace(test, ident=f"test_{count + at:03d}")
            for at, test in enumerate((t for t in other.tests if t.ident in wanted), 1)
        )

    def _system(self) -> str:
        compiler = self.options.compiler
        if compiler is None:
            compiler = bool(os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc"))
        return f"{'c' if compiler else 'interpreted'}:{','.join(self.code)}"

    def _open(self, suite: Suite, system: str) -> None:
        self.say(f"building {system}")
        opened = OpenSuite(suite, self.chart)
        self.executor = opened.executor(system, RunOptions())
        self.model = opened.executor("model", RunOptions())

    def _run(
        self, tests: Sequence[TestCase], runs: dict[str, TestRun], logs: dict[str, str]
    ) -> None:
        """Verdicts, and logs of the whole tests, whatever failed in them."""
        assert self.executor is not None
        self.say(f"running {len(tests)} tests")
        for test in tests:
            run = self.executor.run(test)
            seen, problem = self.executor.recorded(test)
            runs[test.ident] = run
            comments = [(test.end, f"the system went on no more: {problem}")] if problem else []
            if run.verdict == "fail":
                comments.append((run.time, f"test failed: {run.reason}"))
            try:
                logs[test.ident] = self._log(seen, comments)
            except InputError as error:
                self.notes += (
                    replace(each, severity="warning", message=f"{test.ident}: {each.message}")
                    for each in error.diagnostics
                )

    def _log(self, seen: Sequence[Seen], comments: Sequence[tuple[int, str]] = ()) -> str:
        from whence.formats.can.bus_log import bus_log

        return bus_log(seen, self.map, self.numbers, comments)

    # ---------------------------------------------------------------------------------- triage

    def _triage(self, logs: Mapping[str, str], place: str = "logs") -> Triage | None:
        """Of logs in which somebody talks."""
        from whence.api.triage import triage

        folder = self.scratch / place
        if self.options.folder is not None and place == "logs":
            folder = Path(self.options.folder) / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for name, text in logs.items():
            file = folder / f"{name}.log"
            file.write_text(text, "utf-8")
            if "#" in text.replace("# ", ""):
                files.append(file)
        if not files:
            return None
        if place == "logs":
            self.say(f"classifying the faults of {len(files)} logs")
        return triage(self.prd, files, split="power-cycle")

    def _silent(
        self,
        suite: Suite,
        runs: Mapping[str, TestRun],
        logs: Mapping[str, str],
        found: Triage | None,
    ) -> tuple[str, ...]:
        """Failing tests whose logs are as the requirements want them."""
        faulty = set()
        if found is not None:
            faulty = {Path(t.file).stem for t in found.traces if t.verdict == "faulty"}
        return tuple(
            test.ident
            for test in suite.tests
            if runs[test.ident].verdict == "fail" and test.ident not in faulty
        )

    # ----------------------------------------------------------------------------- short tests

    def _classes(
        self, suite: Suite, logs: Mapping[str, str], found: Triage | None
    ) -> tuple[tuple[BugClass, ...], tuple[int, ...]]:
        """Short tests of the members of all classes; those that are alike make a class."""
        from whence.campaign.loop.results import BugClass

        if found is None or not found.classes:
            return (), ()
        tests = {test.ident: test for test in suite.tests}
        shorts: dict[str, ShortTest] = {}
        of_fault: dict[int, str] = {}
        for number, one in enumerate(found.classes, 1):
            self.say(f"short tests of class {number} of {len(found.classes)}")
            others = [member for member in one.members if member != one.representative]
            for member in (one.representative, *others)[: self.options.tests]:
                fault = found.faults[member]
                ident = Path(found.traces[fault.trace].file).stem
                date = _date(logs[ident], fault.line, tests[ident].end)
                short = self._shortened(tests[ident], fault, date, f"short_{len(shorts) + 1:03d}")
                if short is not None:
                    shorts[short.test.ident] = short
                    of_fault[member] = short.test.ident
        told = self._triage({name: self._log(s.seen) for name, s in shorts.items()}, "short")
        if told is None:
            return (), tuple(range(len(found.faults)))
        classes: list[BugClass] = []
        placed: set[int] = set()
        for one in told.classes:
            names = {self._test_of(told, member) for member in one.members}
            own = [member for member, name in of_fault.items() if name in names]
            # A class of the whole campaign belongs where its short tests do.
            faults = sorted(
                {
                    member
                    for group in found.classes
                    if set(group.members) & set(own)
                    for member in group.members
                    if member in own or member not in of_fault
                }
                - placed
            )
            placed.update(faults)
            classes.append(
                BugClass(
                    what=one,
                    tests=self._different(shorts[name] for name in sorted(names)),
                    faults=tuple(faults),
                    runs=tuple(dict.fromkeys(self._test_of(found, each) for each in faults)),
                )
            )
        loose = tuple(n for n in range(len(found.faults)) if n not in placed)
        return tuple(classes), loose

    @staticmethod
    def _test_of(found: Triage, fault: int) -> str:
        return Path(found.traces[found.faults[fault].trace].file).stem

    @staticmethod
    def _different(tests: Iterable[ShortTest]) -> tuple[ShortTest, ...]:
        kept: dict[object, ShortTest] = {}
        for one in tests:
            kept.setdefault(one.test.inputs, one)
        return tuple(sorted(kept.values(), key=lambda one: (len(one.test.inputs), one.time)))

    def _shortened(
        self, test: TestCase, fault: FoundFault, date: int, ident: str
    ) -> ShortTest | None:
        from whence.campaign.loop.results import ShortTest
        from whence.campaign.loop.shrink import sheet_of, shortened

        wanted = _signature(fault)
        if not wanted:
            return None

        def fails(sheet: Sheet) -> bool:
            return self._alike(sheet.test(test, ident), wanted) is not None

        sheet = shortened(sheet_of(test, min(date + 1, test.end)), self.map, self.ranges, fails)
        short = sheet.test(test, ident)
        run = self._alike(short, wanted)
        if run is None:
            return None
        return ShortTest(short, test.ident, run.time, run.reason, run.seen, wanted)

    def _alike(self, test: TestCase, wanted: str) -> TestRun | None:
        """The run of the test, if it fails, and what fails first is a fault of this kind."""
        assert self.executor is not None
        run = self.executor.run(test)
        if run.verdict != "fail":
            return None
        try:
            log = self._log(run.seen)
        except InputError:
            return None
        told = self._triage({"trial": log}, "trial")
        if told is None or len(told.faults) != 1 or _signature(told.faults[0]) != wanted:
            return None
        return run

    # ------------------------------------------------------------------------------------ code

    def _located(self, one: BugClass) -> BugClass:
        from whence.source import WhenceError

        if not self.code:
            return one
        self.say(f"looking for the lines of {one.what.kind} ({', '.join(one.what.requirements)})")
        try:
            return replace(one, code=self._code(one))
        except WhenceError as error:
            return replace(
                one, why="; ".join(f"{each.origin}: {each.message}" for each in error.diagnostics)
            )

    def _code(self, one: BugClass) -> CodeFound:
        from whence.campaign.loop.interpreted import read_system
        from whence.campaign.loop.results import CodeFound
        from whence.formats.c_replay import REPLAY, RESET, RUN
        from whence.locate.fault_model import FaultModel
        from whence.locate.fixes import with_fixes
        from whence.locate.interpreter import Interpreter
        from whence.locate.localize import Settings, localize, options_for
        from whence.locate.results import Stop

        if self.program is None:
            self.program, _ = read_system(self.interface, self.code)
        program = self.program
        model = FaultModel(trusted=frozenset((REPLAY, RESET, RUN)))
        interpreter = Interpreter(program, options_for(model))
        failing, passing = self._replays(one, interpreter)
        if not failing:
            raise InputError(
                Diagnostic(
                    "the interpreter does not see the failure of these tests",
                    Origin(self.code[0]),
                )
            )
        # Loops of the replay are as long as the longest test.
        longest = max(_steps(test) for test in failing)
        passing = [test for test in passing if _steps(test) <= longest]
        settings = Settings(model=model, witnesses=0, stop=Stop(seconds=self.options.seconds))
        found = localize(program, REPLAY, (*failing, *passing), settings)
        found = _without_generated(found, self.code)
        if self.options.fix:
            texts = {file: Path(file).read_bytes() for file in self.code}

            def reread(changed: Mapping[str, str]) -> Program:
                return read_system(self.interface, self.code, texts=changed)[0]

            found = with_fixes(found, program, model, texts, reread)
        return CodeFound(found, len(failing), len(passing))

    def _replays(self, one: BugClass, interpreter: object) -> tuple[list[Test], list[Test]]:
        """The short tests and what is next to them, as calls of the replay function."""
        from whence.campaign.loop.replays import Replay, merged
        from whence.campaign.loop.shrink import neighbours, sheet_of
        from whence.locate.interpreter import Interpreter

        assert self.executor is not None
        assert isinstance(interpreter, Interpreter)
        failing: list[Test] = []
        passing: list[Test] = []

        def add(test: TestCase, seen: Sequence[Seen], time: int, fails: bool) -> None:
            wanted = self._wanted(test, time) if fails else None
            replay = Replay(test.ident, tuple(seen), time, wanted)
            found = merged(self.interface, interpreter, replay)
            if found is not None:
                (failing if fails else passing).append(found)

        for short in one.tests[: self.options.tests]:
            add(short.test, short.seen, short.time, True)
        first = one.tests[0]
        wanted = first.signature
        most = self.options.tests
        for number, sheet in enumerate(neighbours(sheet_of(first.test), self.map, self.ranges), 1):
            if len(failing) >= most and len(passing) >= self.options.passing:
                break
            test = sheet.test(first.test, f"{first.test.ident}.{number}")
            run = self.executor.run(test)
            if run.verdict == "pass" and len(passing) < self.options.passing:
                add(test, run.seen, test.end, False)
            elif run.verdict == "fail" and len(failing) < most:
                alike = self._alike(test, wanted)
                if alike is not None:
                    add(test, alike.seen, alike.time, True)
        return failing, passing

    def _wanted(self, test: TestCase, time: int) -> dict[str, str]:
        """What the model has at a date."""
        assert self.model is not None
        seen, _ = self.model.recorded(test)
        return {one.name: one.value for one in seen if not one.given and one.time <= time}

    def _sources(self) -> dict[str, tuple[str, ...]]:
        return {
            file: tuple(Path(file).read_text("utf-8", errors="replace").splitlines())
            for file in self.code
        }

    # ---------------------------------------------------------------------------------- timing

    def _timing(self) -> tuple[TimingFound, ...]:
        from whence.campaign.loop.results import TimingFound

        found = []
        for file in self.project.timing:
            self.say(f"checking {file}")
            model = load(file)
            for query in model.queries:
                if query.kind != "A[]" or model.check(query).verdict != "violated":
                    continue
                limits = Limits(seconds=self.options.seconds)
                ranges = model.ranges(query, budget=limits)
                repairs = model.repair(query, budget=limits)
                found.append(TimingFound(str(file), query.text, ranges, repairs))
        return tuple(found)


def _signature(fault: FoundFault) -> str:
    """The way in which requirements are violated."""
    return fault.explanations[0].by_requirements if fault.explanations else ""


def _steps(test: Test) -> int:
    """Of a replay."""
    return int(str(test.args[0])) if test.args else 0


def _date(log: str, line: int, end: int) -> int:
    """The date of a line of a log of ours, in milliseconds; of none, the end."""
    lines = log.splitlines()
    if not 1 <= line <= len(lines) or not lines[line - 1].startswith("("):
        return end
    return int(float(lines[line - 1][1:].split(")")[0]) * 1000 + 0.5)


def _without_generated(found: Localization, files: Sequence[str]) -> Localization:
    """Without what blames a generated file."""
    kept = tuple(
        each for each in found.diagnoses if all(place.origin.file in files for place in each.places)
    )
    return replace(found, diagnoses=kept)


#: What is shipped to show the chain with.
_DATA = Path(__file__).parent.parent / "demo_data"
#: The seed with which tests of the shipped model are generated.
_SEED = 6


def demo_project(folder: AnyPath, *, correct: bool = False) -> Project:
    """The shipped control unit, copied to a folder: its model, its requirements, its code (with
    five seeded faults, unless it is to be `correct`) and a timed model."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for file in sorted(_DATA.iterdir()):
        if file.suffix in (".yaml", ".c", ".xml"):
            shutil.copyfile(file, target / file.name)
    return Project(
        chart=target / "blower.yaml",
        code=(target / ("blower.c" if correct else "blower_faulty.c"),),
        requirements=target / "blower_requirements.yaml",
        bus=target / "blower_bus.yaml",
        timing=() if correct else (target / "blower_timing.xml",),
        title="blower",
    )


def demo(
    folder: AnyPath,
    *,
    correct: bool = False,
    compiler: bool | None = None,
    say: Say | None = None,
) -> Loop:
    """The whole chain on the shipped control unit, with `report.html`, `loop.json`, the logs of
    the bus and the sources in a folder."""
    project = demo_project(folder, correct=correct)
    options = LoopOptions(seed=_SEED, compiler=compiler, folder=folder)
    found = loop(project, options, say)
    write_loop(found, folder)
    return found


def write_loop(found: Loop, folder: AnyPath) -> None:
    """What came out: `report.html` for people, `loop.json` for programs."""
    from whence import files
    from whence.api.models import to_text, version
    from whence.report.loop_html import loop_page
    from whence.report.loop_json import loop_document

    target = Path(folder)
    files.write_atomically(target / "report.html", loop_page(found, version()))
    files.write_atomically(target / "loop.json", to_text(loop_document(found, version())))
