"""Logs made elsewhere: every frame is read, conversations are found, and nothing is invented."""

from __future__ import annotations

import gzip
import random
import re
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.can.support import EXAMPLES, SHARED, shared

from whence.formats.can.read import format_of
from whence.formats.logs import read_trace
from whence.model.events import Trace
from whence.source import InputError

# ------------------------------------------------------------------------ counted by other means


def lines_with(pattern: str) -> Callable[[bytes], int]:
    return lambda data: len(re.findall(pattern.encode(), data, re.MULTILINE))


def pcap_records(data: bytes) -> int:
    at = count = 0
    at = 24
    while at < len(data):
        at += 16 + struct.unpack("<I", data[at + 8 : at + 12])[0]
        count += 1
    return count


def pcapng_packets(data: bytes) -> int:
    at = count = 0
    while at < len(data):
        kind, length = struct.unpack("<II", data[at : at + 8])
        count += kind == 6
        at += length
    return count


LOGS: dict[str, tuple[str, Callable[[bytes], int]]] = {
    "kona_bms_main_relay_on.asc": ("ASC", lines_with(r"^ +\d+\.\d+ 0 +\w+\s+Rx")),
    "open3e_candump.log": ("candump console", lines_with(r"^  can0 ")),
    # All frames, remote frames and error frames, but no messages of other protocols.
    "pythoncan_logfile.asc": (
        "ASC",
        lines_with(r"^ +[\d.]+ (?:\d  ?(?:ErrorFrame|[0-9A-F]+x? +[RT]x)|CANFD)"),
    ),
    "savvycan_BusMasterLog.log": ("BUSMASTER", lines_with(r"^\d+:\d+:\d+:\d+ Rx")),
    "savvycan_CarBusAnalyzer.trc": ("CarBusAnalyzer", lambda data: data.count(b"\t0004\t")),
    "scapy_candump_uds_scanner.pcap.gz": ("pcap", pcap_records),
    "scapy_ecu_trace.pcap.gz": ("pcapng", pcapng_packets),
}


def content(path: Path) -> bytes:
    return gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.parametrize("name", LOGS)
def test_all_frames_are_read(name: str) -> None:
    path = shared(name)
    form, count = LOGS[name]
    trace = read_trace(str(path))
    assert (trace.format, trace.frames) == (form, count(content(path)))
    assert (trace.problems, trace.omitted) == ((), 0)
    assert trace.frames > 10


# --------------------------------------------------------------------------------- conversations


def kinds(trace: Trace) -> Counter[str]:
    return Counter(event.kind for event in trace.events)


def test_a_flash_session() -> None:
    trace = read_trace(str(shared("scapy_ecu_trace.pcap.gz")))
    assert [str(pair) for pair in trace.pairs] == ["700:77D", "710:77A"]
    assert kinds(trace) == {"request": 34, "positive": 18, "pending": 6}
    names = [event.name for event in trace.events if event.kind == "positive"]
    assert names == [
        "DiagnosticSessionControl", "RoutineControl", "ControlDTCSetting",
        "DiagnosticSessionControl", "SecurityAccess", "SecurityAccess", "WriteDataByIdentifier",
        "RequestDownload", "TransferData", "RequestTransferExit", "RoutineControl",
        "RoutineControl", "RequestDownload", "TransferData", "RequestTransferExit",
        "RoutineControl", "RoutineControl", "RequestDownload",
    ]  # fmt: skip
    # Erasing takes 18 s: four times "pending", then the answer, all to the same request.
    erase = next(
        at for at, e in enumerate(trace.events) if e.payload == bytes.fromhex("3101FF000101")
    )
    answers = [event.kind for event in trace.events if event.answers == erase]
    assert answers == ["pending"] * 4 + ["positive"]
    transfer = next(event for event in trace.events if event.service == 0x36)
    assert len(transfer.payload) == 0x102
    assert transfer.first is not None
    assert transfer.last is not None
    # From the file: 1539006521.607296 and .618154 seconds.
    assert (transfer.last - transfer.first) * 1_000_000 == 10858


def test_a_scan_of_security_levels() -> None:
    trace = read_trace(str(shared("scapy_candump_uds_scanner.pcap.gz")))
    assert [str(pair) for pair in trace.pairs] == ["641:651"]
    data = content(shared("scapy_candump_uds_scanner.pcap.gz"))
    records = [data[at + 16 : at + 32] for at in _offsets(data)]
    asked = [record for record in records if record[:2] == b"\x41\x06"]
    refused = [record for record in records if record[:2] == b"\x51\x06" and record[9] == 0x7F]
    # A request is one frame here, apart from a few first frames that nobody continues.
    started = [record for record in records if record[:2] in (b"\x41\x06", b"\x51\x06")]
    started = [record for record in started if record[8] >> 4 == 1]
    asked = [record for record in asked if record not in started]
    assert (kinds(trace)["request"], kinds(trace)["error"]) == (len(asked), len(started))
    assert kinds(trace)["negative"] == len(refused)


def _offsets(data: bytes) -> list[int]:
    offsets, at = [], 24
    while at < len(data):
        offsets.append(at)
        at += 16 + struct.unpack("<I", data[at + 8 : at + 12])[0]
    return offsets


def test_a_scan_without_dates_and_flow_control() -> None:
    """Answers of more than one frame have no second one, because nobody asked for it."""
    path = shared("open3e_candump.log")
    trace = read_trace(str(path))
    lines = path.read_text().splitlines()
    assert [str(pair) for pair in trace.pairs] == ["680:690"]
    assert kinds(trace) == {
        "request": sum(" 680 " in line for line in lines),
        "negative": sum("  03 7F 22 " in line for line in lines),
        "error": sum(" 690   [8]  10 " in line for line in lines),
        "positive": sum(bool(re.search(r" 690   \[8\]  0\d 62 ", line)) for line in lines),
    }
    assert all(event.first is None and event.last is None for event in trace.events)
    assert trace.notes == ("the log has no dates: only the order of its frames is known",)


def test_actuator_tests_among_ordinary_traffic() -> None:
    trace = read_trace(str(shared("kona_bms_main_relay_on.asc")))
    assert [str(pair) for pair in trace.pairs] == ["7E4:7EC"]
    assert [(event.kind, event.name, event.answers) for event in trace.events] == [
        ("request", "InputOutputControlByIdentifier", None),
        ("positive", "InputOutputControlByIdentifier", 0),
        ("request", "InputOutputControlByIdentifier", None),
        ("positive", "InputOutputControlByIdentifier", 2),
    ]


@pytest.mark.parametrize(
    "name", ["savvycan_BusMasterLog.log", "savvycan_CarBusAnalyzer.trc", "pythoncan_logfile.asc"]
)
def test_ordinary_traffic_has_no_conversations(name: str) -> None:
    trace = read_trace(str(shared(name)))
    assert (trace.pairs, trace.events) == ((), ())


# ------------------------------------------------------------------------------- what is cut off


@pytest.mark.parametrize("name", [*LOGS, "ecu.log"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_no_cut_and_no_noise_crashes(
    name: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = EXAMPLES / name if name == "ecu.log" else shared(name)
    numbers = random.Random(seed)
    data = path.read_bytes()
    if numbers.random() < 0.5 and path.suffix == ".gz":
        data = gzip.decompress(data)
    # Some kilobytes from the start, cut off anywhere, so that this is quick.
    data = bytearray(data[: numbers.randrange(min(len(data), 20_000))])
    for _ in range(numbers.choice([0, 0, 1, 20])):
        if data:
            data[numbers.randrange(len(data))] = numbers.randrange(256)
    broken = tmp_path_factory.mktemp("broken") / "log"
    broken.write_bytes(data)
    try:
        trace = read_trace(str(broken))
    except InputError:
        return  # refused, with a reason
    assert len(trace.problems) <= 100
    for problem in trace.problems:
        assert problem.origin.file == str(broken)


def test_every_log_here_has_a_test() -> None:
    if not SHARED.exists():
        pytest.skip("the shared data is not there")
    assert {path.name for path in SHARED.iterdir()} == {*LOGS, "somersault.pdx"}
    assert format_of((SHARED / "somersault.pdx").read_bytes()[:65536]) is None
