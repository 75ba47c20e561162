"""`whence triage`: what it prints and writes, how it goes on, and what it does with bad input."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
from benchmarks.triage_study import study
from tests.cli.support import EXAMPLES, Json, Run

from whence.formats.logs import read_trace
from whence.report.triage_schema import CLASSES, TRIAGE

MODEL, LOGS = EXAMPLES / "prd_paper.yaml", EXAMPLES / "prd_paper"
ECU, LOG = EXAMPLES / "ecu_requirements.yaml", EXAMPLES / "ecu.log"
ASKED = ("triage", MODEL, LOGS)


def document(whence: Run, *arguments: object) -> Json:
    text = whence(*arguments, "--format", "json").out
    found: Json = json.loads(text)
    assert text == json.dumps(found, indent=2) + "\n"
    jsonschema.validate(found, TRIAGE)
    return found


# --------------------------------------------------------------------------------- the answer


def test_the_paper_has_two_classes(whence: Run) -> None:
    """Becker et al., Figures 1 to 4: Test-1 and Test-2 fail for one reason, Test-3 for another."""
    ended = whence(*ASKED)
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.startswith("3 traces, 3 faulty: 3 faults in 2 classes.\n")
    assert "GET-1: get returns the value of the latest set." in ended.out
    found = document(whence, *ASKED)
    classes = {tuple(each["members"]): each for each in found["classes"]}
    assert classes.keys() == {(0, 1), (2,)}
    assert [fault["trace"] for fault in found["faults"]] == [
        "test_1.events", "test_2.events", "test_3.events",
    ]  # fmt: skip
    # The faults are at the last responses; of Test-2, the log and its response do not matter.
    assert [fault["index"] for fault in found["faults"]] == [3, 5, 3]
    assert found["faults"][1]["explanation"] == [0, 1, 4, 5]
    assert found["faults"][1]["requirements"] == ["GET-1"]
    atoms = {text.replace(" ms", "") for text in classes[0, 1]["constraints"]}
    assert atoms == {"u2 + u3 < 50", "clk + u3 < 50", "clk + u2 + u3 < 50"}
    assert found["faults"][2]["expected"] == ["res @CTR ret value=<val> with val == ctx (0)"]


def test_a_trace_as_it_should_be(whence: Run, tmp_path: Path) -> None:
    log = tmp_path / "fine.events"
    log.write_text("%unit ms\n0 req @CTR set value=5\n7 res @CTR ack value=5\n")
    ended = whence("triage", MODEL, log)
    assert (ended.status, ended.out) == (0, "1 trace, no fault.\n")
    assert document(whence, "triage", MODEL, log)["verdicts"][0]["verdict"] == "conforming"


def test_missing_at_the_end(whence: Run, tmp_path: Path) -> None:
    log = tmp_path / "cut.events"
    log.write_text("%unit ms\n0 req @CTR set value=5\n")
    found = document(whence, "triage", MODEL, log)
    (fault,) = found["faults"]
    assert (fault["kind"], fault["index"], fault["line"]) == ("missing", None, 2)
    assert whence("triage", MODEL, log, "--open-end").status == 0
    assert "the end" in whence("triage", MODEL, log).out


def test_sarif(whence: Run) -> None:
    text = whence(*ASKED, "--format", "sarif").out
    log = json.loads(text)
    assert text == json.dumps(log, indent=2) + "\n"
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [each["properties"]["size"] for each in rules] == [2, 1]
    assert len({each["id"] for each in rules}) == 2
    assert len(run["results"]) == 3
    for result in run["results"]:
        assert result["ruleId"] == rules[result["ruleIndex"]]["id"]
        assert result["level"] == "error"
        assert result["message"]["text"]
        assert result["fingerprints"] == {"faultClass/v1": result["ruleId"]}
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
        assert place["physicalLocation"]["region"]["startLine"] in (7, 9)
    assert run["invocations"][0]["executionSuccessful"] is True


def test_junit(whence: Run, tmp_path: Path) -> None:
    fine = tmp_path / "fine.events"
    fine.write_text("0 req @CTR set value=5 # & <é\x07\n")
    broken = tmp_path / "broken.log"
    broken.write_text("Dear diary,\n")
    ended = whence(*ASKED, broken, "--format", "junit")
    suites = ET.fromstring(ended.out)
    assert (suites.attrib["tests"], suites.attrib["failures"], suites.attrib["errors"]) == (
        "4", "3", "1",
    )  # fmt: skip
    cases = suites.findall("testsuite/testcase")
    assert [case.attrib["name"] for case in cases] == [
        "test_1.events", "test_2.events", "test_3.events", "broken.log",
    ]  # fmt: skip
    failure = cases[0].find("failure")
    assert failure is not None
    assert "expected res @CTR ret" in (failure.text or "")
    error = cases[3].find("error")
    assert error is not None
    assert error.attrib["message"] == "not a log that whence knows"


def test_files_are_written_as_their_ending_says(whence: Run, tmp_path: Path) -> None:
    paths = [tmp_path / f"out{ending}" for ending in (".json", ".sarif", ".xml")]
    ended = whence(*ASKED, *(text for path in paths for text in ("-o", path)))
    assert ended.status == 1
    for path, form in zip(paths, ("json", "sarif", "junit"), strict=True):
        assert path.read_text() == whence(*ASKED, "--format", form).out
    assert "nothing is written with this ending" in whence(*ASKED, "-o", "x.docx").err
    assert whence(*ASKED, "-o", tmp_path / "no" / "x.json").status == 2


def test_a_page_is_written_and_links_to_the_logs(whence: Run, tmp_path: Path) -> None:
    for log in LOGS.iterdir():
        shutil.copy(log, tmp_path)
    ended = whence("triage", MODEL, tmp_path / "*.events", "-o", tmp_path / "report.html")
    assert (ended.status, ended.err) == (1, "")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>3 traces, 3 faulty: 3 faults in 2 classes.</h1>" in text
    assert 'href="./test_2.events"' in text


def test_proofs_are_checked(whence: Run) -> None:
    ended = whence(*ASKED, "--verify")
    assert "verified: 3 of 3 proofs are valid" in ended.out
    found = document(whence, *ASKED, "--verify")
    assert all(each["explanations"][0]["problems"] == [] for each in found["faults"])


def test_help_teaches(whence: Run) -> None:
    ended = whence("triage", "--help")
    assert ended.status == 0
    for word in ("MODEL", "--known", "Exit status", "whence triage requirements.yaml logs/"):
        assert word in ended.out


# ------------------------------------------------------------------------------ earlier classes


def test_new_known_gone(whence: Run, tmp_path: Path) -> None:
    last, this = tmp_path / "last.json", tmp_path / "this.json"
    whence("triage", MODEL, LOGS / "test_1.events", LOGS / "test_3.events", "--classes", last)
    jsonschema.validate(json.loads(last.read_text()), CLASSES)
    ended = whence("triage", MODEL, LOGS / "test_2.events", "--known", last, "--classes", this)
    assert "Not seen any more" in ended.out
    found = document(whence, "triage", MODEL, LOGS / "test_2.events", "--known", last)
    (known,) = found["classes"]
    assert known["status"] == "known"
    # It was first seen in the run before.
    assert known["first_seen"]["trace"] == "test_1.events"
    assert known["last_seen"]["trace"] == "test_2.events"
    assert [each["observed"] for each in found["gone"]] == ["res CTR ret value=5"]
    # What is gone is known when it comes back.
    kept = json.loads(this.read_text())
    jsonschema.validate(kept, CLASSES)
    assert [each["status"] for each in kept["classes"]] == ["known", "gone"]
    again = document(whence, *ASKED, "--known", this)
    assert [each["status"] for each in again["classes"]] == ["known", "known"]
    fresh = tmp_path / "fresh.json"
    whence("triage", MODEL, LOGS / "test_3.events", "--classes", fresh)
    assert [e["status"] for e in document(whence, *ASKED, "--known", fresh)["classes"]] == [
        "new", "known",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "this is not JSON"),
        ("[]", "this is no list of classes"),
        ('{"schema": "classes/1", "grouping": "events", "classes": []}', "grouped by `events`"),
        ('{"schema": "classes/1", "grouping": "similar", "classes": [{}]}', "not complete"),
        ('{"schema": "classes/1", "grouping": "similar"}', "not complete"),
    ],
)
def test_no_list_of_classes(whence: Run, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    ended = whence(*ASKED, "--known", path)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


def test_coarser_classes(whence: Run) -> None:
    for group in ("events", "requirements"):
        (one,) = document(whence, *ASKED, "--group", group)["classes"]
        assert (one["size"], one["constraints"]) == (3, [])


# ------------------------------------------------------------------------- many logs at once


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred logs of the study, and three broken ones."""
    logs = tmp_path_factory.mktemp("logs")
    texts = [trace.text for trace in study()[-50:]]
    for number in range(297):
        text = (
            texts[number % 50] if number % 18 == 0 else "\n".join(texts[0].splitlines()[:3]) + "\n"
        )
        (logs / f"t{number:03}.log").write_text(text)
    (logs / "a.log").write_text("")
    (logs / "b.log").write_text("Dear diary,\n")
    (logs / "c.log").write_text("(1.0) can0 123#00\n")
    (logs / "notes.md").write_text("# Not a log\n")
    return logs


def test_three_of_three_hundred_are_broken(whence: Run, folder: Path, tmp_path: Path) -> None:
    ended = whence("triage", ECU, folder, "--quiet", "-o", tmp_path / "answer.json")
    found = json.loads((tmp_path / "answer.json").read_text())
    assert (found["logs"], found["traces"], found["broken"]) == (300, 300, 3)
    assert found["conforming"] + found["faulty"] == 297
    assert {each["trace"]: each["reason"] for each in found["verdicts"] if each["reason"]} == {
        "a.log": "the log is empty",
        "b.log": "not a log that whence knows",
        "c.log": "there are no requests and no responses in this log",
    }
    assert found["passed_over"] == [str(folder / "notes.md")]
    assert ended.status == 2
    assert "Not replayed" in ended.out
    assert "b.log: not a log that whence knows" in ended.out.replace("\n", "").replace("    ", "")


def test_workers_make_no_difference(whence: Run, folder: Path) -> None:
    some = sorted(folder.glob("?*.log"))[:60]
    asked = ("triage", ECU, *some, "--format", "json", "--workers")
    assert whence(*asked, 1).out == whence(*asked, 2).out


def test_going_on_makes_no_difference(whence: Run, folder: Path, tmp_path: Path) -> None:
    journal = tmp_path / "done.journal"
    some = sorted(folder.glob("t*.log"))[:20]
    whole = whence("triage", ECU, *some, "--format", "json").out
    whence("triage", ECU, *some[:12], "--resume", journal, "--workers", 1)
    assert len(journal.read_text().splitlines()) == 13
    # The process was killed while it wrote the last entry.
    journal.write_bytes(journal.read_bytes()[:-30])
    assert whence("triage", ECU, *some, "--resume", journal, "--format", "json").out == whole
    kept = journal.read_text().splitlines()
    assert len(kept) == 1 + 20 + 1
    assert whence("triage", ECU, *some, "--resume", journal, "--format", "json").out == whole
    assert journal.read_text().splitlines() == kept
    # A log that has changed is looked at again, and so are all with another model or options.
    changed = tmp_path / some[0].name
    changed.write_text(some[0].read_text() + "# more\n")
    whence("triage", ECU, changed, "--resume", journal)
    whence("triage", ECU, some[0], "--resume", journal, "--open-end")
    whence("triage", ECU, some[0], "--resume", journal, "--set", "version=3")
    assert len(journal.read_text().splitlines()) == len(kept) + 3


def test_a_journal_that_somebody_else_wrote(whence: Run, tmp_path: Path) -> None:
    """What cannot be true is not believed."""
    journal = tmp_path / "journal"
    whole = whence(*ASKED, "--resume", journal, "--format", "json").out
    head, *lines = journal.read_text().splitlines()
    for old, new in (
        ("[[0,0,3", "[[7,0,3"),  # a trace that is not there
        ("09f15b5a8243a810", "ffffffffffffffff"),  # a class that is not there
        ('"value"', '"what"'),
        ("[[", "[{"),
    ):
        assert old in lines[0] + lines[1]
        journal.write_text("\n".join([head, *(line.replace(old, new) for line in lines), ""]))
        assert whence(*ASKED, "--resume", journal, "--format", "json").out == whole


def test_no_journal(whence: Run, tmp_path: Path) -> None:
    other = tmp_path / "diary"
    other.write_text("Dear diary,\n")
    ended = whence(*ASKED, "--resume", other)
    assert (ended.status, ended.out) == (2, "")
    assert "this is no journal" in ended.err
    assert other.read_text() == "Dear diary,\n"
    assert whence(*ASKED, "--resume", tmp_path / "no" / "x").status == 2


def test_an_interrupted_run_is_partial(
    whence: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from whence.campaign import triage as module

    real, looked = module.triage_log, 0

    def interrupted(*arguments: object) -> object:
        nonlocal looked
        looked += 1
        if looked > 20:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "triage_log", interrupted)
    ended = whence("triage", ECU, folder, "--workers", 1)
    assert ended.status == 3
    assert "Partial: interrupted before all logs were done." in ended.out
    assert ended.out.startswith("20 traces")


# ----------------------------------------------------------------------------- marks in copies


@pytest.mark.parametrize("form", ["log", "asc", "csv", "jsonl", "events", "blf"])
def test_copies_have_a_mark_at_each_fault(whence: Run, tmp_path: Path, form: str) -> None:
    """Whoever reads the copy finds what we found; nothing else has changed."""
    log = tmp_path / f"x.{form}"
    if form == "log":
        shutil.copyfile(LOG, log)
    elif form in ("csv", "jsonl"):
        whence("events", LOG, "--format", form, "-o", log)
    elif form == "events":
        from whence.formats.events.text import text_line

        trace = read_trace(str(LOG))
        log.write_text("".join(f"{text_line(event)}\n" for event in trace.events))
    else:
        can = pytest.importorskip("can")
        with can.Logger(str(log)) as writer:
            for message in can.LogReader(str(without_comments(LOG, tmp_path))):
                writer.on_message_received(message)
    before = read_trace(str(log))
    found = document(whence, "triage", ECU, log)
    assert len(found["faults"]) == 6
    ended = whence("triage", ECU, log, "--annotate", tmp_path / "marked", "--quiet")
    assert ended.status == 1
    copy = tmp_path / "marked" / log.name
    if form == "blf":
        assert copy.read_bytes() == log.read_bytes()
        beside = read_trace(f"{copy}.marks.events")
        assert len([mark for mark in beside.annotations if mark.verdict == "fail"]) == 6
        return
    after = read_trace(str(copy))
    assert after.events == before.events
    assert len(after.annotations) == len(before.annotations) + 6
    again = document(whence, "triage", ECU, copy)
    # On a bus, an interrupted message is noticed later than its last frame.
    assert again["environment"]["both"] == (5 if form in ("log", "asc") else 6)
    assert whence("triage", ECU, copy, "--annotate", tmp_path / "marked").status == 2


def without_comments(log: Path, folder: Path) -> Path:
    path = folder / "plain.log"
    lines = log.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("#")))
    return path


def test_copies_of_logs_with_the_same_name(whence: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copyfile(LOG, tmp_path / name / "x.log")
    whence("triage", ECU, tmp_path / "a", tmp_path / "b", "--annotate", tmp_path / "m")
    assert sorted(path.relative_to(tmp_path / "m") for path in (tmp_path / "m").rglob("*.log")) == [
        Path("a/x.log"), Path("b/x.log"),
    ]  # fmt: skip


# ------------------------------------------------------------------------------------ bad input


def one_broken(whence: Run, model: Path, log: Path, said: str) -> None:
    ended = whence("triage", model, log)
    assert ended.status == 2
    found = document(whence, "triage", model, log)
    (trace,) = found["verdicts"]
    assert trace["verdict"] == "broken"
    assert said in trace["reason"]


def test_a_log_about_something_else(whence: Run, tmp_path: Path) -> None:
    one_broken(whence, MODEL, LOG, "the log has nothing that the model speaks of")
    quiet = tmp_path / "quiet.log"
    quiet.write_text("(1.0) can0 123#00\n(2.0) can0 124#00\n")
    one_broken(whence, ECU, quiet, "there are no requests and no responses")


def test_somebody_else_talks_too(whence: Run, tmp_path: Path) -> None:
    """What the model does not speak of at all is left out, which is told."""
    log = tmp_path / "two.events"
    lines = (LOGS / "test_1.events").read_text()
    log.write_text(f"{lines}1 req @DOOR open\n2 res @DOOR open\n")
    ended = whence("triage", MODEL, log)
    assert "DOOR: none of its 2 events is the model's" in ended.err
    found = document(whence, "triage", MODEL, log)
    assert [each["trace"] for each in found["verdicts"]] == ["two.events CTR"]
    assert len(found["faults"]) == 1
    assert whence("triage", MODEL, log, "--ecu", "CTR").err == ""


def test_an_ecu_that_is_not_there(whence: Run) -> None:
    ended = whence("triage", ECU, LOG, "--ecu", "7E1:7E9")
    assert ended.status == 2
    assert "`7E1:7E9` does not talk here" in ended.out


def test_a_clock_that_runs_backwards(whence: Run, tmp_path: Path) -> None:
    log = tmp_path / "back.asc"
    frames = [
        "1.0 1 7E0 Rx d 8 02 3E 00 00 00 00 00 00",
        "1.01 1 7E8 Rx d 8 02 7E 00 00 00 00 00 00",
        "0.2 1 7E0 Rx d 8 02 3E 00 00 00 00 00 00",
    ]
    log.write_text(
        "date Mon Nov 20 10:00:00 2023\nbase hex timestamps absolute\n" + "\n".join(frames) + "\n"
    )
    one_broken(whence, ECU, log, "the clock of the log runs backwards")
    assert "back.asc:5" in whence("triage", ECU, log).out.replace("\n", "")


def test_no_dates(whence: Run, tmp_path: Path) -> None:
    log = tmp_path / "dateless"
    log.write_text("  can0  7E0   [3]  02 3E 00\n  can0  7E8   [3]  02 7E 00\n")
    one_broken(whence, ECU, log, "this event has no date")


def test_a_cut_message(whence: Run, tmp_path: Path) -> None:
    """What is left of a message is a fault where it is noticed, or ignored on request."""
    log = tmp_path / "cut.log"
    log.write_text(
        "(1.0) can0 7E0#0322F190\n(1.01) can0 7E8#10146218F1905748\n(1.02) can0 7E0#300000\n"
    )
    found = document(whence, "triage", ECU, log)
    (fault,) = found["faults"]  # and no response is missing because of that
    assert fault["event"].startswith("err")
    assert "the log ends before the message does" in fault["event"]
    assert not [
        each for each in document(whence, "triage", ECU, log, "--no-errors")["faults"]
        if each["event"].startswith("err")
    ]  # fmt: skip


def test_an_unknown_service(whence: Run, tmp_path: Path) -> None:
    """The model has a code for those: anything else is a fault."""
    log = tmp_path / "x.log"
    log.write_text(
        "(1.0) can0 7E0#02BA01\n(1.01) can0 7E8#037FBA11\n"
        "(2.0) can0 7E0#02BA01\n(2.01) can0 7E8#02FA01\n"
    )
    found = document(whence, "triage", ECU, log, "--pair", "7E0:7E8")
    assert [(each["index"], each["event"]) for each in found["faults"]] == [
        (3, "res service 0xBA data=01")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("automaton: X\ntransitions:\n  - {from: a, to: b, event: req x}\n", "initial"),
        ("automaton: X\n", "error:"),
        ("- what\n", "error:"),
    ],
)
def test_a_model_that_is_none(whence: Run, tmp_path: Path, text: str, said: str) -> None:
    model = tmp_path / "m.yaml"
    model.write_text(text)
    ended = whence("triage", model, LOGS)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err


def test_bad_usage(whence: Run, tmp_path: Path) -> None:
    for arguments, said in (
        (("--set", "variant=sport", "--set", "variant=base"), "one variant at a time"),
        (("--hide", "nobody"), "no variable or clock nobody"),
        (("--split", "0"), "a pause is longer"),
        (("--pair", "7E0"), "not a pair of addresses"),
    ):
        ended = whence("triage", ECU, LOG, *arguments)
        assert (ended.status, ended.out) == (2, "")
        assert said in ended.err
    (tmp_path / "empty").mkdir()
    for log, said in ((tmp_path / "empty", "no log in this folder"), ("no*.log", "is called so")):
        ended = whence("triage", ECU, log)
        assert (ended.status, ended.out) == (2, "")
        assert said in ended.err


def test_commands_to_the_terminal_are_not_passed_on(whence: Run, tmp_path: Path) -> None:
    log = tmp_path / "x.events"
    log.write_text('0 req @CTR set value=5\n1 res @CTR ack value="\\u001b[2J"\n# FAILED \x1b[31m\n')
    assert "\x1b" not in whence("triage", MODEL, log).out
