"""Runs of suites for other tools: JUnit's XML, the matrix of requirements and tests as CSV, and
what was seen as events that `whence triage` and `whence events` read."""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from whence.formats.events.text import text_line
from whence.model.events import Annotation, BusEvent, Field, Verdict
from whence.model.test_run import SuiteRun, TestRun, TestVerdict, requirement_verdicts

__all__ = ["junit", "matrix_csv", "trace_text"]

#: What XML 1.0 has no characters for.
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_VERDICTS: dict[TestVerdict, Verdict] = {
    "pass": "pass",
    "fail": "fail",
    "error": "error",
    "inconclusive": "inconclusive",
}


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def junit(run: SuiteRun) -> str:
    """As JUnit's Ant task writes it: what continuous integration reads."""
    name = run.suite.model or "suite"
    total = sum(one.seconds for one in run.runs)
    counts = (
        f'tests="{len(run.runs)}" failures="{run.count("fail")}" errors="{run.count("error")}" '
        f'skipped="{run.count("inconclusive")}" time="{total:.3f}"'
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f"  <testsuite name={_attribute(name)} {counts}>",
        "    <properties>",
        f'      <property name="system" value={_attribute(run.system)}/>',
        f'      <property name="model" value={_attribute(run.suite.file)}/>',
        f'      <property name="hash" value={_attribute(run.hash)}/>',
        "    </properties>",
    ]
    for one in run.runs:
        lines += _junit_case(name, one)
    lines += ["  </testsuite>", "</testsuites>", ""]
    return "\n".join(lines)


def _junit_case(suite: str, one: TestRun) -> list[str]:
    begin = (
        f"    <testcase classname={_attribute(suite)} name={_attribute(one.test)} "
        f'time="{one.seconds:.3f}">'
    )
    lines = [begin]
    if one.requirements:
        lines.append("      <properties>")
        lines += [
            f'        <property name="requirement" value={_attribute(name)}/>'
            for name in one.requirements
        ]
        lines.append("      </properties>")
    element = {"fail": "failure", "error": "error", "inconclusive": "skipped"}.get(one.verdict)
    if element is not None:
        message = f"at {one.time} ms: {one.reason}"
        lines.append(f"      <{element} message={_attribute(message)}>{escape(_clean(one.reason))}"
                     f"</{element}>")  # fmt: skip
    return [*lines, "    </testcase>"]


def matrix_csv(run: SuiteRun) -> str:
    """A row a requirement, a column a test, the verdict where the test covers the requirement."""
    found = {one.test: one.verdict for one in run.runs}
    names = [test.ident for test in run.suite.tests]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["requirement", "verdict", *names, "text"])
    for one in requirement_verdicts(run.suite, run.runs):
        cells = [found.get(name, "not run") if name in one.tests else "" for name in names]
        writer.writerow([one.ident, one.verdict, *cells, one.text])
    return stream.getvalue()


def trace_text(run: TestRun, system: str) -> str:
    """What was given and seen, as lines of events (docs/events.md)."""
    lines = ["%unit ms", text_line(Annotation("comment", f"{run.test} of {system}"))]
    for (time, given), group in groupby(run.seen, lambda one: (one.time, one.given)):
        fields = tuple(Field(_word(one.name), _value(one.value)) for one in group)
        event = BusEvent(
            "request" if given else "other",
            Fraction(time),
            Fraction(time),
            name="inputs" if given else "outputs",
            fields=fields,
        )
        lines.append(text_line(event))
    verdict = Annotation(
        "verdict", run.reason or run.test, _VERDICTS[run.verdict], Fraction(run.time)
    )
    lines.append(text_line(verdict))
    return "\n".join((*lines, ""))


def _word(name: str) -> str:
    return re.sub(r"\s", "_", name)


def _value(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text, re.ASCII) else text
