"""`whence locate`: what it prints and returns. What is found is tested elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.support import EXAMPLES, Run

HEATER = EXAMPLES / "locate" / "heater.c"
TESTS = EXAMPLES / "locate" / "heater.csv"
ASKED = ("locate", HEATER, "--tests", TESTS, "--entry", "heater")


def test_faults_are_listed(whence: Run) -> None:
    ended = whence(*ASKED)
    assert (ended.status, ended.err) == (1, "")
    assert "4 of 15 tests fail; 17 ways to change 2 places" in ended.out
    first = ended.out.split("\n1. ")[1].split("\n2. ")[0]
    assert "heater.c:39:5" in first
    assert "      44 |         goal = goal - HYSTERESIS;\n" in first
    # 21 would do as well.
    assert re.search("line 44, goal, gave 18, 2[12] would pass", first)


def test_json(whence: Run) -> None:
    document = json.loads(whence(*ASKED, "--format", "json").out)
    assert document["schema"] == "locate/1"
    assert (document["failing"], document["passing"], document["cardinality"]) == (4, 11, 2)
    assert len(document["diagnoses"]) == 17
    first = document["diagnoses"][0]
    assert [place["line"] for place in first["places"]] == [39, 44]
    assert {"file", "line", "column", "end_line", "end_column"} <= first["places"][0].keys()
    assert first["fix"] is None
    change = first["witnesses"][1]["changes"][0]
    assert (change["what"], change["gave"]) == ("goal", 18)
    assert change["wanted"] in (21, 22)
    assert {"file": str(HEATER), "line": 44} in document["lines"]
    assert document["csr"] == pytest.approx(13 / 48)
    assert document["unwound"][0]["rounds"] == 11


def test_sarif(whence: Run) -> None:
    log = json.loads(whence(*ASKED, "--format", "sarif").out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert len(run["results"]) == 17
    result = run["results"][0]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
    (place,) = result["locations"]
    region = place["physicalLocation"]["region"]
    assert (region["startLine"], region["endLine"]) == (39, 39)
    (other,) = result["relatedLocations"]
    assert other["physicalLocation"]["region"]["startLine"] == 44
    ranks = [each["rank"] for each in run["results"]]
    assert ranks == sorted(ranks, reverse=True)
    assert 0 < ranks[-1] <= ranks[0] == 100


def test_like_the_thesis(whence: Run) -> None:
    document = json.loads(whence(*ASKED, "--like-thesis", "--format", "json").out)
    kinds = {place["kind"] for each in document["diagnoses"] for place in each["places"]}
    assert kinds == {"line"}


def test_larger_sets(whence: Run) -> None:
    document = json.loads(whence(*ASKED, "--max", 3, "--witnesses", 0, "--format", "json").out)
    sizes = {len(each["places"]) for each in document["diagnoses"]}
    assert sizes == {2, 3}
    assert document["diagnoses"][0]["witnesses"] == []


RIGHT = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n"
RIGHT += '    if (argc < 2)\n        exit(2);\n    printf("%d!\\n", atoi(argv[1]) * 2);\n'
RIGHT += "    return 0;\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "right.c").write_text(RIGHT)
    (tmp_path / "wrong.c").write_text(RIGHT.replace("* 2", "* 3"))
    (tmp_path / "universe").write_text("0\n4\n\n7\n")
    return tmp_path


def test_golden_program(whence: Run, folder: Path) -> None:
    asked = ("--tests", folder / "universe", "--golden", folder / "right.c")
    ended = whence("locate", folder / "wrong.c", *asked)
    assert ended.status == 1
    assert "2 of 3 tests fail; 1 way to change 1 place" in ended.out
    assert "printed '12!\\n', not '8!\\n'" in ended.out
    assert "wrong.c:7:5" in ended.out
    ended = whence("locate", folder / "right.c", *asked)
    assert (ended.status, ended.out) == (0, "All 3 tests pass.\n")


def test_no_change_can_do(whence: Run, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text("int f(int x) { return x; }\n")
    tests = tmp_path / "t.csv"
    tests.write_text("x,return\n1,1\n1,2\n")
    ended = whence("locate", source, "--tests", tests, "--entry", "f", "--trust", "f")
    assert ended.status == 1
    assert "No change of the places that can be faulty" in ended.out
    assert "tests 1 and 2 have the same input" in ended.err


def test_a_loop_that_does_not_end(whence: Run, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(
        "int f(int x) {\n    int i = 0;\n    while (i < x)\n        i = i + 0;\n    return i;\n}\n"
    )
    tests = tmp_path / "t.csv"
    tests.write_text("x,return\n0,0\n3,3\n")
    asked = ("--tests", tests, "--entry", "f", "--steps", 1000)
    ended = whence("locate", source, *asked)
    assert ended.status == 1
    assert "no end after 1000 loop iterations" in ended.out
    assert "f.c:4:9" in ended.out


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("int f(int x) { return x }", ("--entry", "f"), "f.c:1:"),
        ("int f(int x) { return x; }", ("--entry", "g"), "there is no function `g`"),
        ("double f(int x) { return x * 0.5; }", ("--entry", "f"), "floating point"),
        ("int f(int x) { return x; }", ("--entry", "f", "--check", "none"), "no such check"),
        ("int f(int x) { return x; }", ("--entry", "f", "--budget", "5 states"), "only a time"),
    ],
)
def test_refused(
    text: str, arguments: tuple[str, ...], said: str, whence: Run, tmp_path: Path
) -> None:
    (tmp_path / "f.c").write_text(text + "\n")
    (tmp_path / "t.csv").write_text("x,return\n1,2\n")
    ended = whence("locate", tmp_path / "f.c", "--tests", tmp_path / "t.csv", *arguments)
    assert ended.status == 2
    assert said in ended.err


def test_a_value_that_does_not_fit(whence: Run, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(int x) { return x; }\n")
    (tmp_path / "t.csv").write_text("x,return\n1,1\n[1],2\n")
    ended = whence("locate", tmp_path / "f.c", "--tests", tmp_path / "t.csv", "--entry", "f")
    assert ended.status == 2
    assert "t.csv:3:1: error: test 2:" in ended.err


def test_no_tests(whence: Run) -> None:
    ended = whence("locate", HEATER, "--entry", "heater")
    assert ended.status == 2
    assert "there are no tests" in ended.err


def test_within_a_budget(whence: Run) -> None:
    ended = whence(*ASKED, "--budget", "1ms")
    assert ended.status in (1, 3)
    if ended.status == 3:
        assert "Partial: stopped after" in ended.out


def test_candidates(whence: Run, tmp_path: Path) -> None:
    source = tmp_path / "heater.c"
    before = HEATER.read_text()
    source.write_text(before)
    asked = ("locate", source, "--tests", TESTS, "--entry", "heater")
    ended = whence(*asked, "--fix", "--witnesses", 1)
    assert ended.status == 1
    assert "\n   candidate: all tests pass with\n" in ended.out
    assert "\n   +        goal = goal + HYSTERESIS;\n" in ended.out
    assert "all tests pass with each of them, which does not prove them right" in ended.out
    # Nobody asked for it to be written.
    assert source.read_text() == before
    document = json.loads(whence(*asked, "--fix", "--format", "json").out)
    first = document["diagnoses"][0]
    assert first["fix"] == first["fixes"][0]["diff"]
    assert [edit["line"] for edit in first["fixes"][0]["edits"]] == [39, 44]
    ended = whence(*asked, "--apply")
    assert (ended.status, "a candidate was written" in ended.err) == (1, True)
    assert "goal = goal + HYSTERESIS;" in source.read_text()
    assert whence(*asked).status == 0


def test_report(whence: Run, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert whence(*ASKED, "-o", page).status == 1
    assert "17 ways to change 2 places" in page.read_text()
    ended = whence(*ASKED, "-o", tmp_path / "missing" / "report.html")
    assert (ended.status, "there is no folder" in ended.err) == (2, True)
