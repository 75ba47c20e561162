"""Faults in words: what was to be expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from whence.api.triage import triage
from whence.triage.telling import NO_RESPONSE

#: Two requests that take turns; each has to wait for 10 ms, and is not answered. Now and then the
#: voltage changes.
MODEL = """automaton: A
unit: ms
clocks: [c]
initial: a
time: free
transitions:
  - { from: a, to: b, event: req @E one, update: c = 0 }
  - { from: b, to: a, event: req @E two, when: c >= 10 }
  - { from: [a, b], to: =, event: other @E voltage }
"""


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("res @E one", NO_RESPONSE),
        ("req @E two", "req @E two from 10 ms on, or other @E voltage"),
    ],
)
def test_where_only_requests_are_possible(tmp_path: Path, event: str, expected: str) -> None:
    model, log = tmp_path / "model.yaml", tmp_path / "a.events"
    model.write_text(MODEL, encoding="utf-8")
    log.write_text(f"%unit ms\n0 req @E one\n0 {event}\n", encoding="utf-8")
    found = triage(model, [log])
    assert [each.expected for each in found.classes] == [expected]
