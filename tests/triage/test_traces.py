"""From logs to traces: conversations, dates, labels, and where a log is split."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from whence.formats.logs import read_trace
from whence.model.events import Trace
from whence.source import InputError
from whence.triage.traces import conversations, marked_events, power_cycle, traces_of

ROOT = Path(__file__).resolve().parents[2]


def log(folder: Path, text: str) -> Trace:
    path = folder / "a.log"
    path.write_text(text, encoding="ascii")
    return read_trace(str(path))


def candump(*frames: str) -> str:
    """`12 7E0 0322F190`: milliseconds, identifier, bytes."""
    lines = []
    for frame in frames:
        date, ident, data = frame.split()
        seconds, rest = divmod(int(date), 1000)
        lines.append(f"({1000 + seconds}.{rest * 1000:06d}) can0 {ident}#{data}")
    return "\n".join(lines) + "\n"


MULTI = candump(
    "0 7E0 0210030000000000", "10 7E8 0650030032000000",
    "100 7E0 100A2E0101020304", "101 7E8 3000000000000000", "109 7E0 2105060708090000",
    "120 7E8 100F62F190313233", "121 7E0 3000000000000000", "125 7E8 2134353637383930",
    "130 7E8 2241420000000000",
)  # fmt: skip


def test_requests_count_at_their_end_and_responses_at_their_start(tmp_path: Path) -> None:
    (trace,) = traces_of(log(tmp_path, MULTI))
    assert [float(event.date) for event in trace.events] == [1000, 1000.01, 1000.109, 1000.12]
    assert [event.label for event in trace.events] == [
        "req DiagnosticSessionControl", "res DiagnosticSessionControl",
        "req WriteDataByIdentifier", "res ReadDataByIdentifier",
    ]  # fmt: skip
    assert trace.events[3].fields["payload"] == b"\x62\xf1\x901234567890AB"
    assert trace.complete
    # The last frame of the last message is the end of the recording.
    assert trace.end == Fraction(1000130, 1000)


def test_fields(tmp_path: Path) -> None:
    text = candump(
        "0 7DF 023E800000000000", "100 7E0 0322123400000000", "110 7E8 037F223100000000",
        "200 7E0 0431010203000000", "210 7E8 037F317800000000",
    )  # fmt: skip
    (trace,) = traces_of(log(tmp_path, text))
    present, read, refused, _, pending = trace.events
    assert (present.fields["suppress_response"], present.fields["to_all"]) == (1, 1)
    assert not {"suppress_response", "to_all"} & read.fields.keys()
    assert (refused.label, refused.fields["code"]) == ("neg ReadDataByIdentifier", 0x31)
    assert (pending.label, pending.fields["code"]) == ("pend RoutineControl", 0x78)
    assert trace.events[1].text == "req ReadDataByIdentifier did=0x1234"
    assert [event.index for event in trace.events] == [0, 1, 2, 3, 4]


def test_a_request_to_all_belongs_to_each_ecu(tmp_path: Path) -> None:
    text = candump(
        "0 7DF 0210030000000000", "10 7E8 0650030032000000", "11 7E9 0650030032000000",
        "100 7E1 0322123400000000", "110 7E9 037F223100000000",
    )  # fmt: skip
    found = log(tmp_path, text)
    assert [one.ecu for one in conversations(found)] == ["7E0:7E8", "7E1:7E9"]
    first, second = traces_of(found)
    assert [event.index for event in first.events] == [0, 1]
    assert [event.index for event in second.events] == [0, 2, 3, 4]
    assert [each.name for each in (first, second)] == ["a.log can0 7E0:7E8", "a.log can0 7E1:7E9"]
    (only,) = traces_of(found, "7E1:7E9")
    assert only.events == second.events
    with pytest.raises(InputError, match=r"`7E2:7EA` does not talk here"):
        traces_of(found, "7E2:7EA")


EVENTS = """\
%unit ms
# power on
0 req @CTR set value=5
10 res @CTR ack value=5
! fail late
1000 req @CTR get
# Power cycle
1010 other @CTR "power-on"
1020 req @CTR get
9000 req @CTR get
"""


def test_events_of_other_systems(tmp_path: Path) -> None:
    found = log(tmp_path, EVENTS)
    (trace,) = traces_of(found)
    assert [event.label for event in trace.events][:2] == ["req CTR set", "res CTR ack"]
    assert dict(trace.events[1].fields) == {"value": 5}
    ((mark, event),) = marked_events(found.annotations, trace.events)
    assert (mark.verdict, event) == ("fail", trace.events[1])


@pytest.mark.parametrize(
    ("split", "sizes"),
    [
        (None, [6]),
        ("power-cycle", [3, 3]),
        ("late", [2, 4]),
        (Fraction(5), [5, 1]),
        (Fraction(1, 2), [2, 3, 1]),
    ],
)
def test_splitting(tmp_path: Path, split: str | Fraction | None, sizes: list[int]) -> None:
    parts = traces_of(log(tmp_path, EVENTS), split=split)
    assert [len(part.events) for part in parts] == sizes
    names = ["a.log"] if len(sizes) == 1 else [f"a.log#{n}" for n in range(1, len(sizes) + 1)]
    assert [part.name for part in parts] == names
    assert [event.index for part in parts for event in part.events] == [0, 1, 2, 3, 4, 5]


def test_what_people_write_about_the_power() -> None:
    for text in ("Power ON", "--- power_cycle ---", "KL15 on", "Ignition  on"):
        assert power_cycle(text)
    for text in ("powerful", "the power is stable", "KL15"):
        assert not power_cycle(text)


def test_broken_messages_are_events(tmp_path: Path) -> None:
    cut = MULTI.splitlines(keepends=True)
    del cut[7]
    found = log(tmp_path, "".join(cut))
    (trace,) = traces_of(found)
    (error,) = [event for event in trace.events if event.label == "err"]
    assert "in place of 1" in str(error.fields["message"])
    (without,) = traces_of(found, errors=False)
    assert len(without.events) == len(trace.events) - 1


def test_dates_that_cannot_be_replayed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this event has no date") as caught:
        traces_of(log(tmp_path, "- req @CTR get\n"))
    assert str(caught.value.diagnostics[0].origin).endswith("a.log:1:1")
    with pytest.raises(InputError, match="the clock of the log runs backwards"):
        traces_of(log(tmp_path, "5 req @CTR get\n4 res @CTR get\n"))


def test_a_log_without_conversations(tmp_path: Path) -> None:
    found = log(tmp_path, candump("0 123 0011223344556677"))
    with pytest.raises(InputError, match="there is no conversation in this log"):
        traces_of(found)


def test_the_example(tmp_path: Path) -> None:
    found = read_trace(str(ROOT / "examples" / "ecu.log"))
    (trace,) = traces_of(found)
    assert len(trace.events) == len(found.events) == 19
    assert sum(event.fields.get("to_all") == 1 for event in trace.events) == 1
