"""A triage as JUnit's XML: a test case for each trace, which fails if it has faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from whence.report.triage_words import KIND_WORDS, fault_words, headline
from whence.triage.findings import FoundFault, FoundTrace, Triage

__all__ = ["junit_pieces"]

#: What XML 1.0 cannot hold.
_IMPOSSIBLE: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_pieces(found: Triage) -> Iterator[str]:
    """A piece at a time. Broken traces are errors; faults tell their class."""
    by_trace: dict[int, list[FoundFault]] = {}
    for fault in found.faults:
        by_trace.setdefault(fault.trace, []).append(fault)
    broken = len(found.of_verdict("broken"))
    counts = f'tests="{len(found.traces)}" failures="{len(by_trace)}" errors="{broken}" skipped="0"'
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_attribute(f'whence triage {found.model}')} {counts}>\n"
    yield f'  <testsuite name={_attribute(found.model)} {counts} time="0">\n'
    for number, trace in enumerate(found.traces):
        yield from _case(found, trace, by_trace.get(number, []))
    yield f"    <system-out>{_text(headline(found))}</system-out>\n"
    yield "  </testsuite>\n</testsuites>\n"


def _case(found: Triage, trace: FoundTrace, faults: list[FoundFault]) -> Iterator[str]:
    head = f"    <testcase name={_attribute(trace.name)} classname={_attribute(trace.file)}"
    if trace.verdict == "conforming":
        yield f'{head} time="0"/>\n'
        return
    yield f'{head} time="0">\n'
    if trace.verdict == "broken":
        yield f'      <error type="broken" message={_attribute(trace.reason)}/>\n'
    else:
        first = faults[0]
        idents = dict.fromkeys(
            each.key(found.grouping) for fault in faults for each in fault.explanations
        )
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        message = f"{KIND_WORDS[first.kind]}: {first.event or 'the end of the trace'}{more}"
        yield f"      <failure type={_attribute(' '.join(idents))} message={_attribute(message)}>"
        yield _text("\n".join(_line(found, trace, fault) for fault in faults))
        yield "</failure>\n"
    yield "    </testcase>\n"


def _line(found: Triage, trace: FoundTrace, fault: FoundFault) -> str:
    where = f"{trace.file}:{fault.line}" if fault.line else trace.file
    return f"{where}: {fault_words(found, fault)}"


def _text(text: str) -> str:
    return escape(_IMPOSSIBLE.sub("\ufffd", text))


def _attribute(text: str) -> str:
    return quoteattr(_IMPOSSIBLE.sub("\ufffd", text))
