"""`whence run`: verdicts, files, and systems that misbehave."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest
from tests.cli.support import EXAMPLES, Run

from whence.formats.logs import read_trace
from whence.report.run_schema import RUN

TURN_INDICATOR = EXAMPLES / "turn_indicator.yaml"
ECHO = """\
chart: echo
variables: {i: "input int[0,3]", e: "input enum {low, high}", o: "output int[0,3]", p: output bool}
machines:
  M:
    initial: P
    states: {P: {do: "o = i; p = e == high", satisfies: [R1]}}
requirements: {R1: The output is the input., R2: Never tested.}
goals: {three: "F (o == 3 && p)"}
"""
CC = shutil.which("cc") or shutil.which("gcc")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")


@pytest.fixture(scope="module")
def turn_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from whence.api import load_timed_chart, write_suite

    folder = tmp_path_factory.mktemp("turn") / "suite"
    write_suite(load_timed_chart(TURN_INDICATOR).tests(), folder)
    return folder


@pytest.fixture
def suite(whence: Run, tmp_path: Path) -> Path:
    """Of the small model."""
    path = tmp_path / "echo.yaml"
    path.write_text(ECHO)
    folder = tmp_path / "suite"
    assert whence("tests", path, "-o", folder).status in (0, 3)
    return folder


def python_system(folder: Path, step: str, reset: str = "return self.step(0, inputs)") -> str:
    """A system for the small model, with this body of `step`."""
    path = folder / "system.py"
    path.write_text(
        "import os, sys, time\n"
        "class System:\n"
        f"    def reset(self, inputs):\n        {reset}\n"
        f"    def step(self, ms, inputs):\n        {step}\n"
        "class Empty: pass\n"
        "broken = 3\n"
    )
    return f"python:{path}:System"


RIGHT = "return {'o': inputs['i'], 'p': inputs['e'] == 'high'}"


def one_verdict(whence: Run, suite: Path, system: str, *more: str) -> tuple[int, str, str]:
    ended = whence("run", suite, "--sut", system, "--format", "json", *more).check()
    assert ended.status != 2, ended.err
    document = json.loads(ended.out)
    jsonschema.validate(document, RUN)
    worst = document["verdicts"][0]
    return ended.status, worst["verdict"], worst["reason"]


def shorten(path: Path, end: int) -> None:
    """A test with the beginning of another one."""
    document = json.loads(path.read_text())
    document["inputs"] = [one for one in document["inputs"] if one["time"] < end]
    document["end"] = end
    path.write_text(json.dumps(document))


# ------------------------------------------------------------------------- the shipped example


SYSTEMS = [
    "model",
    pytest.param(f"model:{TURN_INDICATOR}", marks=pytest.mark.nightly),
    pytest.param(f"c:{EXAMPLES / 'turn_indicator.c'}", marks=needs_cc),
    f"python:{EXAMPLES / 'turn_indicator.py'}:TurnIndicator",
    f"process:{sys.executable} {EXAMPLES / 'turn_indicator.py'}",
]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_turn_indicator(whence: Run, turn_suite: Path, system: str) -> None:
    ended = whence("run", turn_suite, "--sut", system).check()
    assert ended.status == 0, ended.out
    assert "All 4 tests pass" in ended.out
    assert re.search(r"MC/DC of guards +60 +60 +60", ended.out)


@needs_cc
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("ON_TIME = 340", "ON_TIME = 420", r"expected false since \d+ ms \(by \d+ ms\)"),
        pytest.param(
            "OFF_TIME = 320", "OFF_TIME = 200", "expected false", marks=pytest.mark.nightly
        ),
        pytest.param("< 150", "<= 150", "expected false", marks=pytest.mark.nightly),
        ("mine > 0 ? mine : theirs", "theirs > 0 ? theirs : mine", "expected"),
    ],
)
def test_faults_of_a_c_build_are_found(
    whence: Run, turn_suite: Path, tmp_path: Path, old: str, new: str, why: str
) -> None:
    text = (EXAMPLES / "turn_indicator.c").read_text()
    assert old in text
    source = tmp_path / "faulty.c"
    source.write_text(text.replace(old, new))
    ended = whence("run", turn_suite, "--sut", f"c:{source}").check()
    assert ended.status == 1
    assert re.search(why, " ".join(ended.out.split()))


@needs_cc
def test_sanitizers_and_dead_programs(whence: Run, turn_suite: Path, tmp_path: Path) -> None:
    text = (EXAMPLES / "turn_indicator.c").read_text()
    source = tmp_path / "faulty.c"
    source.write_text(text.replace("self.flashes++;", "self.flashes += 1 << (31 + self.flashes);"))
    ended = whence("run", turn_suite, "--sut", f"c:{source}", "--sanitize", "undefined").check()
    assert ended.status == 1
    assert "runtime error: " in " ".join(ended.out.split())
    source.write_text(text.replace("self.flashes++;", "*(volatile int *)0 = 1;"))
    ended = whence("run", turn_suite, "--sut", f"c:{source}").check()
    assert "was ended by SIGSEGV" in " ".join(ended.out.split())
    source.write_text(text.replace("self.flashes++;", "for (;;) { self.timer++; }"))
    ended = whence(
        "run", turn_suite, "--sut", f"c:{source}", "--timeout", "0.5", "--test", "test_001"
    ).check()
    assert "the system hangs" in " ".join(ended.out.split())
    source.write_text("int x = ;")
    ended = whence("run", turn_suite, "--sut", f"c:{source}").check()
    assert ended.status == 2
    assert "does not compile" in ended.err
    assert whence("run", turn_suite, "--sut", "c:none.c").check().status == 2


def test_the_virtual_bus(whence: Run, tmp_path: Path) -> None:
    """In real time, so a short test."""
    pytest.importorskip("can")
    pytest.importorskip("cantools")
    folder = tmp_path / "suite"
    assert (
        whence(
            "tests", TURN_INDICATOR, "-o", folder, "--tests", "short", "--kind", "user",
            "--goal", "F (Output.Off)",
        ).status
        == 0
    )  # fmt: skip
    tests = {path.stem: json.loads(path.read_text())["end"] for path in folder.glob("test_*.json")}
    shortest = min(tests, key=lambda name: tests[name])
    assert tests[shortest] < 2000
    common = (
        "run", folder, "--sut", "can:virtual:whence-test", "--test", shortest,
        "--signals", EXAMPLES / "turn_indicator_signals.yaml",
    )  # fmt: skip
    # On a busy machine, what is real time may be late: three tries.
    for _ in range(3):
        ended = whence(*common, "--start", f"{EXAMPLES / 'turn_indicator.py'}:node").check()
        if ended.status == 0:
            break
    assert ended.status == 0, ended.out
    assert "late" in ended.out
    # Nobody is there: the tester gives up.
    ended = whence(*common, "--timeout", "0.3").check()
    assert ended.status == 1
    assert "did not tell its outputs" in " ".join(ended.out.split())


# ---------------------------------------------------------------------------- what is written


def test_files(whence: Run, suite: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    system = python_system(tmp_path, RIGHT)
    ended = whence("run", suite, "--sut", system, "-o", results).check()
    assert ended.status == 0, ended.out
    document = json.loads((results / "run.json").read_text())
    jsonschema.validate(document, RUN)
    assert document["summary"]["pass"] == len(document["verdicts"])
    verdicts = {one["id"]: one["verdict"] for one in document["requirements"]}
    assert verdicts == {"R1": "pass", "R2": "untested"}
    root = ElementTree.parse(results / "junit.xml").getroot()
    assert root.attrib["tests"] == str(len(document["verdicts"]))
    assert root.attrib["failures"] == root.attrib["errors"] == "0"
    rows = list(csv.reader((results / "requirements.csv").read_text().splitlines()))
    assert rows[0][:3] == ["requirement", "verdict", "test_001"]
    assert [row[:2] for row in rows[1:]] == [["R1", "pass"], ["R2", "untested"]]
    trace = read_trace(str(results / "traces" / "test_001.txt"))
    assert trace.problems == ()
    assert [one.verdict for one in trace.annotations if one.kind == "verdict"] == ["pass"]
    assert {event.kind for event in trace.events} == {"request", "other"}
    seen = document["verdicts"][0]["seen"]
    assert sum(len(event.fields) for event in trace.events) == len(seen)
    page = (results / "report.html").read_text()
    assert "All" in page or "The test passes" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_results_are_resumed_if_nothing_has_changed(
    whence: Run, suite: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    system = python_system(tmp_path, RIGHT)
    assert whence("run", suite, "--sut", system, "-o", results).status == 0
    kept = results / "tests" / "test_001.json"
    document = json.loads(kept.read_text())
    document["reason"] = "kept"
    kept.write_text(json.dumps(document))
    whence("run", suite, "--sut", system, "-o", results, "--resume")
    assert json.loads((results / "run.json").read_text())["verdicts"][0]["reason"] == "kept"
    # Another system, another result; broken results count for nothing.
    system = python_system(tmp_path, "return {'o': 0, 'p': False}")
    assert whence("run", suite, "--sut", system, "-o", results, "--resume").status == 1
    kept.write_text("{")
    assert whence("run", suite, "--sut", system, "-o", results, "--resume").status == 1
    assert whence("run", suite, "--resume").status == 2


def test_other_folders_are_left_alone(whence: Run, suite: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    ended = whence("run", suite, "-o", other).check()
    assert (ended.status, "not empty" in ended.err) == (2, True)
    assert whence("run", suite, "-o", other / "thesis.txt").check().status == 2
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_workers_change_nothing(whence: Run, turn_suite: Path) -> None:
    documents = []
    for workers in (1, 2):
        ended = whence("run", turn_suite, "--workers", workers, "--format", "json").check()
        document = json.loads(ended.out)
        for one in (document, *document["verdicts"]):
            del one["seconds"]
        documents.append(document)
    assert documents[0] == documents[1]


@needs_cc
def test_looking_now_and_then(whence: Run, turn_suite: Path) -> None:
    """Every 10 ms; what happens in between is not known, and not held against the system."""
    system = f"c:{EXAMPLES / 'turn_indicator.c'}"
    assert whence("run", turn_suite, "--sut", system, "--period", "10").check().status == 0
    ended = whence("run", turn_suite, "--sut", system, "--period", "7", "--latency", "2").check()
    assert ended.status == 1  # it is told the time too rarely to be so exact


def test_the_interface_in_c(whence: Run, suite: Path) -> None:
    text = whence("run", suite, "--c-interface").check().out
    for part in ("int32_t i; /* 0 to 3 */", "#define echo_high 1", "bool p;", "void echo_step("):
        assert part in text


# ----------------------------------------------------------------------- systems that misbehave


@pytest.mark.parametrize(
    ("step", "verdict", "reason"),
    [
        ("return {'o': inputs['i'] ^ 1, 'p': inputs['e'] == 'high'}", "fail", "`o` is"),
        pytest.param(
            "return {'o': inputs['i'] + .0, 'p': inputs['e'] == 'high'}",
            "pass",
            "",
            marks=pytest.mark.nightly,
        ),
        ("return {'o': inputs['i']}", "error", "does not tell its output `p`"),
        pytest.param(
            "return {'o': 'x' * 500, 'p': 1}",
            "error",
            "no value of the output `o`",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "return {'o': float('nan'), 'p': 1}",
            "error",
            "no value of the output `o`",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "return {'o': [], 'p': 1}",
            "error",
            "no value of the output `o`",
            marks=pytest.mark.nightly,
        ),
        ("return {'o': object(), 'p': 1}", "error", "no plain values"),
        pytest.param("return 3", "error", "not its outputs by name", marks=pytest.mark.nightly),
        ("raise ValueError('so')", "error", "raised ValueError: so"),
        ("os._exit(7)", "error", "ended with status 7"),
        pytest.param(
            "os.kill(os.getpid(), 9)", "error", "ended by SIGKILL", marks=pytest.mark.nightly
        ),
        ("sys.stderr.write('last words'); sys.stderr.flush(); os._exit(1)", "error", "last words"),
        ("time.sleep(60)", "error", "the system hangs"),
        ("print('noise'); " + RIGHT, "pass", ""),
    ],
)
def test_python_systems(
    whence: Run, suite: Path, tmp_path: Path, step: str, verdict: str, reason: str
) -> None:
    system = python_system(tmp_path, step)
    status, got, why = one_verdict(whence, suite, system, "--timeout", "2", "--test", "test_001")
    assert (got, status) == (verdict, int(verdict != "pass"))
    assert reason in why


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("print('hello', flush=True)", "which is no JSON"),
        pytest.param("print('[1]', flush=True)", "no JSON object", marks=pytest.mark.nightly),
        ("print('{}', flush=True)", "without an object `outputs`"),
        pytest.param("print('[' * 100000, flush=True)", "no JSON", marks=pytest.mark.nightly),
        ("print('x' * (1 << 21), flush=True)", "longer than a mebibyte"),
        pytest.param(
            "sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()",
            "no JSON",
            marks=pytest.mark.nightly,
        ),
        ('print(\'{"error": "no power"}\', flush=True)', "the system says: no power"),
        pytest.param("sys.exit(3)", "ended with status 3", marks=pytest.mark.nightly),
        pytest.param(
            "sys.stdout.close(); os.close(1); time.sleep(9)",
            "closed its output",
            marks=pytest.mark.nightly,
        ),
        (
            "sys.stderr.write('x' * (1 << 22) + '\\n'); sys.exit('the end')",
            "ended with status 1: the end",
        ),
        ("time.sleep(9)", "hangs"),
    ],
)
def test_processes(whence: Run, suite: Path, tmp_path: Path, said: str, reason: str) -> None:
    path = tmp_path / "process.py"
    path.write_text(f"import os, sys, time\nfor line in sys.stdin:\n    {said}\n")
    status, verdict, why = one_verdict(
        whence, suite, f"process:{sys.executable} {path}", "--timeout", "1.5", "--test", "test_001"
    )
    assert (status, verdict) == (1, "error")
    assert reason in why


def test_a_process_with_a_time_of_its_own(whence: Run, suite: Path, tmp_path: Path) -> None:
    path = tmp_path / "process.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    said = json.loads(line)\n"
        "    i = said.get('reset') or said['inputs']\n"
        "    told = {'o': i['i'] FAULT, 'p': i['e'] == 'high'}\n"
        "    print(json.dumps({'outputs': told}), flush=True)\n"
    )
    text = path.read_text()
    shorten(suite / "test_001.json", 400)
    common = ("--real-time", "--latency", "100", "--test", "test_001")
    for fault, expected in (("", (0, "pass")), ("^ 1", (1, "fail"))):
        path.write_text(text.replace("FAULT", fault))
        system = f"process:{sys.executable} {path}"
        for _ in range(3):
            status, verdict, why = one_verdict(whence, suite, system, *common)
            if (status, verdict) == expected:
                break
        assert (status, verdict) == expected, why


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("process:no-such-program-anywhere", "cannot be started"),
        pytest.param(
            "python:no_such_module_anywhere:x", "cannot be imported", marks=pytest.mark.nightly
        ),
        pytest.param("python:{folder}/none.py:x", "there is no file", marks=pytest.mark.nightly),
        ("python:{folder}/system.py:Missing", "has no `Missing`"),
        ("python:{folder}/system.py:Empty", "has no method `reset`"),
        pytest.param(
            "python:{folder}/system.py:broken", "cannot be called", marks=pytest.mark.nightly
        ),
    ],
)
def test_systems_that_cannot_start(
    whence: Run, suite: Path, tmp_path: Path, system: str, said: str
) -> None:
    python_system(tmp_path, RIGHT)
    status, verdict, why = one_verdict(whence, suite, system.format(folder=tmp_path))
    assert (status, verdict) == (1, "error")
    assert said in why


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sut", "fmu:x.fmu"), "not supported: a system behind `fmu:`"),
        (("--sut", "uds:can0"), "not supported: a system behind `uds:`"),
        (("--sut", "thing"), "names no system"),
        (("--sut", "process:'"), "cannot be read"),
        (("--sut", "model:none.yaml"), "none.yaml"),
        (("--sut", "can:virtual:x"), "needs a database"),
        (("--sut", "model", "--real-time"), "no time of its own"),
        (("--sanitize", "magic"), "unknown sanitizer"),
        (("--test", "test_999"), "has no test `test_999`"),
        (("--signals", "none.yaml"), "none.yaml"),
        (("--model", "none.yaml"), "none.yaml"),
    ],
)
def test_bad_usage(whence: Run, suite: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = whence("run", suite, *arguments).check()
    assert ended.status == 2
    assert said in " ".join(ended.err.split())


def test_signal_maps_that_do_not_fit(whence: Run, suite: Path, tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    for text, said in (
        ("signals: {x: {latency: 3}}", "`x` is no input or output"),
        ("latency: -1", "expected milliseconds"),
        ("signals: {o: {latncy: 3}}", "did you mean `latency`"),
        ("signals: {o: {message: M}}", "go together"),
        ("signals: {o: {error: 1e9}}", "expected a number"),
        ("signals: 3", "expected signals by name"),
        ("- 1", "expected latency"),
    ):
        path.write_text(text)
        ended = whence("run", suite, "--signals", path).check()
        assert ended.status == 2
        assert said in ended.err, ended.err
        assert "map.yaml:1:" in ended.err
    path.write_text("signals: {o: {latency: 0, error: 1}, p: {latency: 70}}")
    system = python_system(tmp_path, "return {'o': inputs['i'] ^ 1, 'p': inputs['e'] == 'high'}")
    assert whence("run", suite, "--sut", system, "--signals", path).status == 0


# ------------------------------------------------------------------- suites that do not fit


def test_a_suite_of_another_model_is_refused(whence: Run, suite: Path, tmp_path: Path) -> None:
    model = tmp_path / "echo.yaml"
    model.write_text(ECHO.replace("o = i;", "o = 3 - i;"))
    ended = whence("run", suite).check()
    assert ended.status == 2
    assert "is not the one that the suite was made from" in ended.err
    ended = whence("run", suite, "--force", "--sut", python_system(tmp_path, RIGHT)).check()
    assert ended.status == 1
    assert "(--force)" in ended.out
    model.unlink()
    ended = whence("run", suite).check()
    assert (ended.status, "say where it is with --model" in ended.err) == (2, True)
    model.write_text(ECHO.replace("i: ", "j: ").replace("o = i;", "o = j;"))
    ended = whence("run", suite, "--force").check()
    assert ended.status == 1
    assert "this is no test of this model" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    "break_it",
    [
        lambda folder: (folder / "manifest.json").unlink(),
        lambda folder: (folder / "manifest.json").write_text("{"),
        lambda folder: (folder / "manifest.json").write_text("[" * 100_000),
        lambda folder: (folder / "manifest.json").write_text('{"schema": "tests/1"}'),
        lambda folder: (folder / "manifest.json").write_text(
            '{"schema": "tests/1", "tests": [{"file": "../../etc/passwd"}]}'
        ),
        lambda folder: (folder / "test_001.json").unlink(),
        lambda folder: (folder / "test_001.json").write_text('{"id": 3}'),
        lambda folder: (folder / "test_001.json").write_bytes(b"\xff\xfe\x00"),
        lambda folder: (folder / "test_001.json").write_text(
            (folder / "test_001.json").read_text().replace('"end": ', '"end": 1e999, "e": ')
        ),
        lambda folder: (folder / "test_001.json").write_text(
            (folder / "test_001.json").read_text().replace('"end": ', '"end": -')
        ),
    ],
)
def test_broken_suites(whence: Run, suite: Path, break_it: object) -> None:
    assert callable(break_it)
    break_it(suite)
    ended = whence("run", suite).check()
    assert ended.status == 2
    assert ".json: error: no" in ended.err or "this is no part of a suite" in ended.err


def test_values_that_no_input_has(whence: Run, suite: Path) -> None:
    path = suite / "test_001.json"
    document = json.loads(path.read_text())
    document["inputs"][0]["value"] = "900"
    path.write_text(json.dumps(document))
    ended = whence("run", suite, "--test", "test_001").check()
    assert ended.status == 1
    assert "`900` is no value of" in ended.out
