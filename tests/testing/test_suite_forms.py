"""Suites in the forms of other tools, run by these tools."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.testing.support import ROOT, TURN_INDICATOR

from whence.api import load_timed_chart, write_suite
from whence.source import UsageError

EXAMPLES = ROOT / "examples"
SYSTEM = f"python:{EXAMPLES / 'turn_indicator.py'}:TurnIndicator"
FORMS = ("pytest", "robot", "csv", "c")
CC = shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chart = load_timed_chart(TURN_INDICATOR)
    found = tmp_path_factory.mktemp("forms") / "suite"
    write_suite(chart.tests(), found, FORMS, chart.interface())
    return found


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> str:
    text = (EXAMPLES / "turn_indicator.py").read_text()
    path = tmp_path_factory.mktemp("faulty") / "faulty.py"
    path.write_text(text.replace("340, 320", "340, 180"))
    return f"python:{path}:TurnIndicator"


def ended(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))
    return subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_pytest(folder: Path, faulty: str, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    for system, failures in ((SYSTEM, "0"), (faulty, "4")):
        done = ended(
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir",
            str(folder), f"--junitxml={report}", str(folder / "test_suite.py"),
            WHENCE_SUT=system, WHENCE_MODEL=str(TURN_INDICATOR),
        )  # fmt: skip
        assert done.returncode == int(failures != "0"), done.stdout
        found = ElementTree.parse(report).getroot().find("testsuite")
        assert found is not None
        assert (found.attrib["tests"], found.attrib["failures"]) == ("4", failures)
    assert "`out_LampsLeft` is" in done.stdout


def test_robot_framework(folder: Path, faulty: str, tmp_path: Path) -> None:
    pytest.importorskip("robot")
    for system, failures in ((SYSTEM, 0), (faulty, 4)):
        done = ended(
            sys.executable, "-m", "robot", "--outputdir", str(tmp_path), "--xunit", "xunit.xml",
            "-v", f"SUT:{system}", "-v", f"MODEL:{TURN_INDICATOR}", str(folder / "suite.robot"),
        )  # fmt: skip
        assert done.returncode == failures, done.stdout
        root = ElementTree.parse(tmp_path / "xunit.xml").getroot()
        assert (root.attrib["tests"], root.attrib["failures"]) == ("4", str(failures))
    assert "`out_LampsLeft` is" in done.stdout
    tags = ElementTree.parse(tmp_path / "output.xml").getroot().iter("tag")
    assert "REQ-FLASH" in {tag.text for tag in tags}


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_c(folder: Path, tmp_path: Path) -> None:
    text = (EXAMPLES / "turn_indicator.c").read_text()
    source, program = tmp_path / "system.c", tmp_path / "tests"
    for old, new, status in (("", "", 0), ("ON_TIME = 340", "ON_TIME = 400", 1)):
        source.write_text(text.replace(old, new) if old else text)
        done = ended(
            str(CC), "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(folder),
            str(folder / "suite.c"), str(source), "-o", str(program),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        done = ended(str(program))
        assert done.returncode == status
    assert "fail test_001" in done.stdout
    assert " ms; expected 0 since " in done.stdout


def test_csv(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "suite.csv").read_text().splitlines()))
    assert {row["test"] for row in rows} == {f"test_00{n}" for n in range(1, 5)}
    assert {row["kind"] for row in rows} == {"input", "output", "end"}
    first = [row for row in rows if row["test"] == "test_001"]
    times = [int(row["time"]) for row in first]
    assert times == sorted(times)
    assert [row["name"] for row in first[:5]] == [
        "in_TurnIndLvr",
        "in_EmSwitch",
        "in_TurnIndLvrSPV",
        "in_EmSwitchSPV",
        "in_Voltage",
    ]
    assert {row["latency"] for row in rows if row["kind"] == "output"} == {"50"}


def test_forms_go_with_their_suite(tmp_path: Path) -> None:
    chart = load_timed_chart(TURN_INDICATOR)
    suite = chart.tests(kinds=("state",))
    folder = tmp_path / "suite"
    write_suite(suite, folder, ("robot",))
    assert (folder / "suite.robot").exists()
    write_suite(suite, folder)
    assert not (folder / "suite.robot").exists()
    with pytest.raises(UsageError, match="unknown form `ttcn`"):
        write_suite(suite, folder, ("ttcn",))


def test_hostile_names_do_not_get_out_of_their_texts() -> None:
    """Names of requirements may hold anything."""
    from whence.model.suite import Input, Suite, TestCase
    from whence.report.suite_forms import pytest_form, robot_form

    test = TestCase(
        ident="test_001",
        inputs=(Input(0, "M.x", "${evil}    Log    1"),),
        expected=(),
        end=5,
        requirements=('"""\nimport os\nos.abort()', "a    b\\"),
    )
    suite = Suite(model="m", file="m.yaml", hash="", seed=0, goals=(), tests=(test,))
    compile(pytest_form(suite), "form", "exec")
    assert "\nimport os\nos.abort" not in pytest_form(suite)
    lines = robot_form(suite).splitlines()
    assert "    At    0    M.x=\\$\\{evil\\} Log 1" in lines
