"""The chain from a model to the faulty lines, on the control unit that comes with whence."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from whence.api import RunOptions, load_timed_chart
from whence.api.loop import LoopOptions, demo_project, loop, write_loop
from whence.api.runs import OpenSuite
from whence.campaign.loop.results import Loop
from whence.campaign.loop.shrink import sheet_of, shortened
from whence.formats.bus_map import read_bus_map
from whence.formats.can.bus_log import bus_log, isotp_frames
from whence.model.suite import Input, TestCase
from whence.model.test_run import Seen
from whence.source import InputError

BUS = b"""
tester: 7E0
ecu: 7E8
requests: {signal: in_R, idle: none, messages: {get: 22 01 01, set: 2E 01 01 <in_V:2>}}
answers:
  signal: out_A
  idle: silent
  messages: {done: {set: 6E 01 01}, value: 62 01 01 <out_V>, locked: 7F <service> 33}
comments: {in_P: {"false": power off}}
"""


def seeded(project: object) -> list[int]:
    """The lines in which the faulty code differs from the correct one."""
    folder = Path(str(project.chart)).parent  # type: ignore[attr-defined]
    right = (folder / "blower.c").read_text().splitlines()
    wrong = (folder / "blower_faulty.c").read_text().splitlines()
    assert len(right) == len(wrong)
    return [n for n, pair in enumerate(zip(right, wrong, strict=True), 1) if pair[0] != pair[1]]


# ------------------------------------------------------------------------------------ the bus


def test_messages_are_segmented_as_the_standard_says() -> None:
    # ISO 15765-2: 20 bytes are a first frame with 6, flow control, and 14 in two more.
    payload = bytes(range(20))
    frames = list(isotp_frames(payload))
    assert [own for own, _ in frames] == [True, False, True, True]
    assert [data.hex() for _, data in frames] == [
        "1014000102030405",
        "3000005555555555",
        "21060708090a0b0c",
        "220d0e0f10111213",
    ]
    assert list(isotp_frames(b"\x3e\x00")) == [(True, bytes.fromhex("023e005555555555"))]


def test_a_log_of_the_bus() -> None:
    seen = [
        Seen(0, "in_R", "none", given=True),
        Seen(0, "out_A", "silent", given=False),
        Seen(5, "in_V", "258", given=True),
        Seen(5, "in_R", "set", given=True),
        Seen(9, "out_A", "locked", given=False),
        Seen(12, "in_P", "false", given=True),
        Seen(12, "in_R", "none", given=True),
        Seen(12, "out_A", "silent", given=False),
    ]
    assert bus_log(seen, read_bus_map(BUS, "b.yaml"), {}, [(9, "test failed: x")]) == (
        "(0000000000.005000) can0 7E0#052E010101025555\n"
        "(0000000000.009000) can0 7E8#037F2E3355555555\n"
        "# test failed: x\n"
        "# power off\n"
    )


def test_what_is_wrong_with_a_bus_map_is_told_with_its_place() -> None:
    with pytest.raises(InputError) as caught:
        read_bus_map(BUS.replace(b"22 01 01", b"22 01 0G").replace(b"7E8", b"XYZ"), "b.yaml")
    told = [(each.origin.line, each.message) for each in caught.value.diagnostics]
    assert [line for line, _ in told] == [3, 4]


# -------------------------------------------------------------------------------- short tests


def test_what_does_not_matter_is_taken_away() -> None:
    inputs = [Input(0, "in_R", "none"), Input(0, "in_V", "9")]
    for number, name in enumerate(("get", "set", "get", "set", "get")):
        inputs += [Input(10 + 20 * number, "in_R", name), Input(20 + 20 * number, "in_R", "none")]
    test = TestCase(ident="t", inputs=tuple(inputs), expected=(), end=130)

    def asked(sheet: object) -> list[str]:
        made = sheet.test(test, "s")  # type: ignore[attr-defined]
        return [i.value for i in made.inputs if i.name == "in_R" and i.value != "none"]

    def fails(sheet: object) -> bool:
        """Two times `set`, whatever else."""
        return asked(sheet).count("set") >= 2

    map_ = read_bus_map(BUS, "b.yaml")
    short = shortened(sheet_of(test), map_, {"in_V": (0, 300)}, fails)
    assert asked(short) == ["set", "set"]
    assert dict(short.start)["in_V"] == "1"


# ---------------------------------------------------------------------------------- the chain


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Loop, list[int], Path]:
    folder = tmp_path_factory.mktemp("demo")
    project = demo_project(folder)
    result = loop(project, LoopOptions(seed=6, compiler=False, fix=False))
    return result, seeded(project), folder


@pytest.mark.nightly
@pytest.mark.xfail(reason="late and forgotten demands are explained alike: one class", strict=True)
def test_classes_are_the_seeded_faults_one_to_one(found: tuple[Loop, list[int], Path]) -> None:
    result, lines, _ = found
    assert len(lines) == 5
    assert len(result.classes) == 5
    assert not result.loose
    assert not result.silent
    owners: dict[int, int] = {}
    for number, one in enumerate(result.classes):
        assert one.code is not None, one.why
        told = {p.origin.line for each in one.code.found.diagnoses for p in each.places}
        # A class may suspect several seeded lines only if they depend on each other.
        for line in lines:
            if line in told:
                owners.setdefault(line, number)
    assert sorted(owners) == lines


@pytest.mark.nightly
def test_the_report_is_whole(found: tuple[Loop, list[int], Path]) -> None:
    result, _, folder = found
    write_loop(result, folder)
    page = (folder / "report.html").read_text()
    assert page.count('class="diagnosis" id="bug-') == len(result.classes)
    document = json.loads((folder / "loop.json").read_text())
    assert document["schema"] == "loop/1"
    assert len(document["bugs"]) == len(result.classes)
    assert document["timing"][0]["ranges"]


def _suite(folder: Path) -> OpenSuite:
    chart = load_timed_chart(demo_project(folder).chart)
    return OpenSuite(chart.tests(seed=2, style="short", kinds=("state", "transition")), chart)


def test_the_correct_code_passes_and_its_logs_conform(tmp_path: Path) -> None:
    project = demo_project(tmp_path, correct=True)
    result = loop(project, LoopOptions(seed=6, compiler=False))
    assert result.run.verdict == "pass"
    assert result.triage is not None
    assert not result.triage.faults
    assert not result.classes
    assert not result.timing


@pytest.mark.skipif(
    not (os.environ.get("CC") or shutil.which("cc")), reason="there is no C compiler"
)
def test_interpreted_and_compiled_code_behave_alike(tmp_path: Path) -> None:
    suite = _suite(tmp_path)
    faulty = tmp_path / "blower_faulty.c"
    compiled = suite.run(f"c:{faulty}", RunOptions())
    interpreted = suite.run(f"interpreted:{faulty}", RunOptions())
    told = [(r.test, r.verdict, r.time, r.reason, r.seen) for r in compiled.runs]
    assert told == [(r.test, r.verdict, r.time, r.reason, r.seen) for r in interpreted.runs]
    assert compiled.verdict == "fail"
