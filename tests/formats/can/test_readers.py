"""Each dialect of log: what its lines mean, by the documentation of the programs that write it."""

from __future__ import annotations

import gzip
import io
import random
import struct
import warnings
from pathlib import Path
from typing import Any

import can
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.can.support import Read, read

from whence.formats.can import lines as lines_module
from whence.formats.can.asc import read_asc
from whence.formats.can.busmaster import read_busmaster
from whence.formats.can.candump import read_console, read_log
from whence.formats.can.lines import annotation, stretches
from whence.formats.can.pcap import read_pcap, read_pcapng
from whence.formats.can.read import format_of, head_of, items
from whence.formats.can.trc import read_carbus, read_trc
from whence.source import InputError, UnsupportedError

MS = 1_000_000

# ------------------------------------------------------------------------------------------ lines


@given(
    st.lists(st.sampled_from(["a", "bc", "\r", "\n", "\r\n", "\x85", "d" * 9]), max_size=30),
    st.integers(1, 9),
)
def test_lines_are_those_of_python(parts: list[str], size: int) -> None:
    text = "".join(parts)
    old, lines_module._STRETCH = lines_module._STRETCH, size
    try:
        numbered = list(stretches(io.BytesIO(text.encode("latin-1"))))
    finally:
        lines_module._STRETCH = old
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = [line for _, lines in numbered for line in lines]
    assert found == (expected if expected[-1] else expected[:-1])
    count = 1
    for first, lines in numbered:
        assert first == count
        count += len(lines)


def test_a_line_without_end_is_cut_and_counted_once() -> None:
    data = b"x" * 3_000_000 + b"\nlast"
    found = [line for _, lines in stretches(io.BytesIO(data), 1000) for line in lines]
    assert [len(line) for line in found] == [1000, 4]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Test case 7: FAILED (no answer)", "fail"),
        ("verdict = pass", "pass"),
        ("Step 3 inconclusive", "inconclusive"),
        ("FAIL", "fail"),
        ("door opened, all ok", None),
        ("version 9.0.0", None),
    ],
)
def test_verdict_marks(text: str, verdict: str | None) -> None:
    mark = annotation("f", 1, text)
    assert (mark.verdict if mark.kind == "verdict" else None) == verdict


# ---------------------------------------------------------------------------------------- candump


def test_candump_log() -> None:
    found = read(
        read_log,
        "(1436509052.249713) can0 7E0#0210030000000000\n"
        "(1436509052.249714) vcan1 18DAF110#02 R\n"
        "(1436509052.249715) can0 123##1" + "00" * 12 + " T\n"
        "(1436509052.249716) can0 123#R4\n"
        "(1436509052.5) can0 7E0#\n"
        "(1436509052.249717) can0 20000004#0004000000000000\n"
        "# TC 3 verdict: fail\n"
        "\n"
        "(1436509052.249718) can0 7E0#021\n"
        "(1436509052.2497) can0\n",
    )
    start = 1436509052 * 1000 * MS
    assert found.told() == [
        (start + 249_713_000, "can0", "7E0", "0210030000000000"),
        (start + 249_714_000, "vcan1", "18DAF110", "02"),
        (start + 249_715_000, "can0", "123", "00" * 12),
        (start + 249_716_000, "can0", "123", ""),
        (start + 500_000_000, "can0", "7E0", ""),
        (start + 249_717_000, "can0", "004", "0004000000000000"),
    ]
    kinds = [(frame.kind, frame.fd, frame.direction, frame.record) for frame in found.frames]
    assert kinds == [
        ("data", False, "", 1),
        ("data", False, "rx", 2),
        ("data", True, "tx", 3),
        ("remote", False, "", 4),
        ("data", False, "", 5),
        ("error", False, "", 6),
    ]
    assert [(mark.verdict, mark.origin.line) for mark in found.annotations] == [("fail", 7)]
    assert [str(problem.origin) for problem in found.problems] == ["the.log:9:1", "the.log:10:1"]


def test_console() -> None:
    found = read(
        read_console,
        "  can0  7E0   [8]  02 10 03 00 00 00 00 00   '........'\n"
        "  can0  18DAF110   [3]  02 10 03\n"
        " \x1b[31m can0  123  [12]  00 01 02 03 04 05 06 07 08 09 0A 0B\x1b[0m\n"
        "  can0  RX - -  7E8   [2]  01 7E\n"
        "  can0  123   [4]  remote request\n"
        "  can0  20000004   [8]  00 04 00 00 00 00 00 00   ERRORFRAME\n"
        "  can0  7E0   [8]  02 10 03\n",
    )
    assert [line[1:] for line in found.told()] == [
        ("can0", "7E0", "0210030000000000"),
        ("can0", "18DAF110", "021003"),
        ("can0", "123", "000102030405060708090A0B"),
        ("can0", "7E8", "017E"),
        ("can0", "123", ""),
        ("can0", "004", "0004000000000000"),
    ]
    assert {frame.time for frame in found.frames} == {None}
    assert [frame.fd for frame in found.frames] == [False, False, True, False, False, False]
    assert [frame.kind for frame in found.frames[4:]] == ["remote", "error"]
    assert found.notes == ["the log has no dates: only the order of its frames is known"]
    assert [problem.origin.line for problem in found.problems] == [7]


@pytest.mark.parametrize(
    ("dates", "times", "note"),
    [
        (["000.000000", "000.020000", "001.500000"], [0, 20, 1500], "from the first frame"),
        (["000.000000", "000.020000", "000.005000"], [0, 20, 25], "differences"),
        (["1436509052.249713", "1436509052.250713"], [1436509052249.713, 1436509052250.713],
         "1970-01-01"),
        (["2015-07-10 06:17:32.249713"], [1436509052249.713], "1970-01-01"),
    ],
)  # fmt: skip
def test_dates_on_the_console(dates: list[str], times: list[float], note: str) -> None:
    found = read(read_console, "".join(f" ({date})  can0  7E0   [1]  3E\n" for date in dates))
    assert [frame.time for frame in found.frames] == [round(time * 1000) * 1000 for time in times]
    assert note in found.notes[0]


# -------------------------------------------------------------------------------------------- ASC

ASC = """date Thu Nov 9 20:29:27.000 2023
base {base}  timestamps {dates}
internal events logged
// version 9.0.0
Begin Triggerblock Thu Nov 9 20:29:27.000 2023
   0.000000 Start of measurement
"""


def test_asc() -> None:
    found = read(
        read_asc,
        ASC.format(base="hex", dates="absolute")
        + "   0.128080 1  7E0             Rx   d 8 02 10 03 00 00 00 00 00  Length = 1\n"
        "   0.128081 2  18DAF110x       Tx   d 2 3E 00\n"
        "   0.2 1  7E0             Rx   d 0\n"
        "   0.300000 1  123 Rx r 4\n"
        "   0.400000 1  ErrorFrame\n"
        "   0.5 CANFD 3 Rx 300  Name_1  1 0 9 12 00 01 02 03 04 05 06 07 08 09 0A 0B 1 2 3000\n"
        "   0.600000 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%\n"
        "   0.700000 1  7E0             Rx   d 8 02 10 03\n"
        "   0.800000 1  900             Rx   d 1 02\n"
        "End TriggerBlock\n",
    )
    assert found.told() == [
        (128_080_000, "1", "7E0", "0210030000000000"),
        (128_081_000, "2", "18DAF110", "3E00"),
        (200 * MS, "1", "7E0", ""),
        (300 * MS, "1", "123", ""),
        (400 * MS, "1", "000", ""),
        (500 * MS, "3", "300", "000102030405060708090A0B"),
    ]
    assert [frame.kind for frame in found.frames] == [
        "data", "data", "data", "remote", "error", "data",
    ]  # fmt: skip
    assert [frame.fd for frame in found.frames] == [False] * 5 + [True]
    assert [problem.origin.line for problem in found.problems] == [14, 15]
    assert "Thu Nov 9 20:29:27.000 2023" in found.notes[0]


def test_asc_with_decimal_numbers_and_differences() -> None:
    """python-can reads over `relative`: its dates would all be near 0."""
    text = ASC.format(base="dec", dates="relative") + (
        "   0.100000 1  2016            Rx   d 2 16 3\n"
        "   0.100000 1  Statistic: D 0 R 0\n"
        "   0.100000 1  2024            Rx   d 8 80 3 0 50 1 244 170 170\n"
        "   0.100000 1  2024            Rx   d 1 256\n"
    )
    found = read(read_asc, text)
    assert found.told() == [
        (100 * MS, "1", "7E0", "1003"),
        (300 * MS, "1", "7E8", "5003003201F4AAAA"),
    ]
    assert "differences" in found.notes[0]
    assert len(found.problems) == 1
    found = read(read_asc, text.replace("base dec", "base hex").replace("2016", "7E0"))
    assert found.told()[0] == (100 * MS, "1", "7E0", "1603")
    assert found.told()[1:] == []  # 2024 is no identifier of 11 bits
    line = "   0.100000 1  7E0             Rx   d 2 3E 00\n"
    found = read(read_asc, ASC.format(base="hex", dates="relative") + 2 * line)
    assert [frame.time for frame in found.frames] == [100 * MS, 200 * MS]


# -------------------------------------------------------------------------------------------- TRC


@pytest.mark.parametrize(
    ("header", "line", "expected"),
    [
        ("", "     1)      1841 0001 8 00 01 02 03 04 05 06 07",
         (1841 * MS, "1", "001", "0001020304050607")),
        ("", "     2)      1842 18EFC034 1 AB", (1842 * MS, "1", "18EFC034", "AB")),
        (";$FILEVERSION=1.1\n;$STARTTIME=37704.5364870833\n",
         "     1)      1059.9  Rx         0300  7  00 00 00 00 04 00 00",
         (1059_900_000, "1", "300", "00000000040000")),
        (";$FILEVERSION=1.2\n", "  1)  1059.9 2 Tx 0300  2  00 01",
         (1059_900_000, "2", "300", "0001")),
        (";$FILEVERSION=1.3\n", "  1)  1059.900 2 Tx 0300 - 2  00 01",
         (1059_900_000, "2", "300", "0001")),
        (";$FILEVERSION=2.0\n;$COLUMNS=N,O,T,I,d,l,D\n",
         "   1   1059.900 DT     0300 Rx 2  00 01", (1059_900_000, "1", "300", "0001")),
        (";$FILEVERSION=2.1\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n",
         "   1   1059.900 FB 1   18EBFF00 Rx -  9    00 01 02 03 04 05 06 07 08 09 0A 0B",
         (1059_900_000, "1", "18EBFF00", "000102030405060708090A0B")),
    ],
)  # fmt: skip
def test_trc(header: str, line: str, expected: tuple[int, str, str, str]) -> None:
    found = read(read_trc, f"{header}{line}\n  x) broken\n")
    assert found.told() == [expected]
    assert [problem.origin.line for problem in found.problems] == [header.count("\n") + 2]


def test_trc_lines_that_are_no_frames() -> None:
    found = read(
        read_trc,
        ";$FILEVERSION=1.1\n"
        "     1)      1059.9  Rx         0300  2  RTR\n"
        "     2)      1100.0  Warng  FFFFFFFF  4  00 00 00 08  BUSHEAVY\n"
        "     3)      1200.0  Rx         0300  3  00 01\n",
    )
    assert [(frame.kind, frame.record) for frame in found.frames] == [("remote", 2)]
    assert [problem.origin.line for problem in found.problems] == [4]


def test_unknown_versions_of_trc_are_refused() -> None:
    found = read(read_trc, ";$FILEVERSION=3.0\n  1)  1 Rx 0300 1 00\n")
    assert not found.frames
    assert "TRC version `3.0` is not supported" in found.problems[0].message


def test_carbus() -> None:
    found = read(
        read_carbus,
        "@ TEXT @ 2 @ 64 @\r46,016\t1\t0004\t45A\t2\t5A 04\t00000000\tZ \t\r"
        "47,5\t1\t0004\t45A\t2\t5A\r",
    )
    assert found.told() == [(46_016 * MS, "1", "45A", "5A04")]
    assert [problem.origin.line for problem in found.problems] == [3]


# -------------------------------------------------------------------------------------- BUSMASTER


def test_busmaster() -> None:
    head = "***BUSMASTER Ver 2.4.0***\n***HEX***\n***SYSTEM MODE***\n"
    found = read(
        read_busmaster,
        head + "23:59:59:992 Rx 1 0000021A s 2 FE 36\n"
        "0:0:0:2 Tx 1 0x18DAF110 x 1 FE\n"
        "0:0:1:0025 Rx 2 7E0 sr 0\n"
        "0:0:1:3 Rx 2 7E0 s 3 00\n",
    )
    day = 86_400_000
    assert found.told() == [
        ((day - 8) * MS, "1", "21A", "FE36"),
        ((day + 2) * MS, "1", "18DAF110", "FE"),
        ((day + 1002) * MS + 500_000, "2", "7E0", ""),
    ]
    assert [problem.origin.line for problem in found.problems] == [7]
    found = read(
        read_busmaster,
        head.replace("HEX", "DEC").replace("SYSTEM", "RELATIVE")
        + "0:0:0:100 Rx 1 2016 s 2 16 3\n0:0:0:100 Rx 1 2016 s 1 255\n",
    )
    assert found.told() == [(100 * MS, "1", "7E0", "1003"), (200 * MS, "1", "7E0", "FF")]


# ------------------------------------------------------------------------------------------- pcap


def pcap(order: str, link: int, packets: list[bytes], nano: bool = False) -> bytes:
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    data = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for number, packet in enumerate(packets):
        data += struct.pack(f"{order}IIII", 7, number, len(packet), len(packet)) + packet
    return data


def socketcan(ident: int, data: bytes, order: str = ">", flags: int = 0) -> bytes:
    return struct.pack(f"{order}IBBH", ident, len(data), flags, 0) + data


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("ident_order", "<>")
@pytest.mark.parametrize("nano", [False, True])
def test_pcap(order: str, ident_order: str, nano: bool) -> None:
    packets = [
        socketcan(0x7E0, b"\x02\x10\x03", ident_order),
        socketcan(0x80000000 | 0x18DAF110, b"\x3e", ident_order),
        socketcan(0x123, bytes(12), ident_order, flags=4),
        socketcan(0x80000000 | 0x00000080, b"\x01", ident_order),  # possible in both orders
        socketcan(0x7E0, bytes(8), ident_order)[:-1],
    ]
    found = read(read_pcap, pcap(order, 227, packets, nano))
    unit = 1 if nano else 1000
    assert found.told() == [
        (7_000_000_000, "", "7E0", "021003"),
        (7_000_000_000 + unit, "", "18DAF110", "3E"),
        (7_000_000_000 + 2 * unit, "", "123", "00" * 12),
        (7_000_000_000 + 3 * unit, "", "00000080", "01"),
    ]
    assert [frame.fd for frame in found.frames] == [False, False, True, False]
    assert ("little-endian" in " ".join(found.notes)) == (ident_order == "<")
    offset = 24 + sum(16 + len(packet) for packet in packets[:-1])
    assert found.problems[0].message == f"record 5, at byte {offset}: the frame is not whole"


@pytest.mark.parametrize(("link", "head"), [(113, 16), (276, 20)])
def test_cooked_captures(link: int, head: int) -> None:
    def cooked(protocol: int, kind: int, frame: bytes) -> bytes:
        if head == 16:
            return struct.pack(">HHH8sH", kind, 280, 0, bytes(8), protocol) + frame
        return struct.pack(">HHIHBB8s", protocol, 0, 1, 280, kind, 0, bytes(8)) + frame

    packets = [
        cooked(0x000C, 0, socketcan(0x7E0, b"\x01")),
        cooked(0x000D, 4, socketcan(0x7E8, b"\x02")),
        cooked(0x0800, 0, b"an IP packet"),
    ]
    found = read(read_pcap, pcap("<", link, packets))
    assert [(f.ident, f.fd, f.direction) for f in found.frames] == [
        (0x7E0, False, "rx"),
        (0x7E8, True, "tx"),
    ]
    assert not found.problems


def test_other_link_types_are_refused_by_number() -> None:
    with pytest.raises(UnsupportedError, match="link type 1 "):
        read(read_pcap, pcap("<", 1, [b"ethernet"]))


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + length + body + length


def option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


@pytest.mark.parametrize("order", "<>")
def test_pcapng(order: str) -> None:
    packet = socketcan(0x7E0, b"\x02\x10\x03")

    def enhanced(interface: int, ticks: int, options: bytes = b"") -> bytes:
        head = struct.pack(
            f"{order}IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(packet), len(packet)
        )
        return block(order, 6, head + packet + bytes(-len(packet) % 4) + options)

    def interface(options: bytes = b"") -> bytes:
        return block(order, 1, struct.pack(f"{order}HHI", 227, 0, 0) + options)

    section = block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    data = (
        section
        + interface(option(order, 2, b"can3"))
        + interface(option(order, 9, b"\x09"))
        + interface(option(order, 9, b"\x8a") + option(order, 14, struct.pack(f"{order}q", 5)))
        + enhanced(0, 1_539_006_519_395_399, option(order, 1, "Prüfschritt 2: FAILED".encode()))
        + enhanced(1, 42)
        + enhanced(2, 512)
        + block(order, 99, b"something new")
        + enhanced(9, 1)
        + block(order, 3, struct.pack(f"{order}I", len(packet)) + packet)
    )
    found = read(read_pcapng, data)
    assert [(frame.time, frame.channel) for frame in found.frames] == [
        (1_539_006_519_395_399_000, "can3"),
        (42, "1"),
        (5_500_000_000, "2"),
        (None, "can3"),
    ]
    assert [(m.text, m.verdict) for m in found.annotations] == [("Prüfschritt 2: FAILED", "fail")]
    assert len(found.problems) == 1
    assert "too short for what it holds" in found.problems[0].message


# ------------------------------------------------------------------------- what python-can writes

messages = st.builds(
    lambda time, extended, ident, data, remote: can.Message(
        timestamp=1_700_000_000 + time / 1024,
        arbitration_id=ident if extended else ident & 0x7FF,
        is_extended_id=extended,
        data=None if remote else data,
        is_remote_frame=remote,
        dlc=0 if remote else len(data),
        channel=1,
    ),
    st.integers(0, 2**20),
    st.booleans(),
    st.integers(0, 0x1FFFFFFF),
    st.binary(max_size=8),
    st.booleans(),
)


@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        (".log", "candump"),
        (".asc", "ASC"),
        (".trc", "TRC"),
        (".csv", "python-can CSV"),
        (".db", "SQLite"),
        (".blf", "BLF"),
    ],
)
@settings(max_examples=20)
@given(written=st.lists(messages, min_size=1, max_size=12))
def test_what_python_can_writes(
    suffix: str, form: str, written: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    written.sort(key=lambda message: message.timestamp)
    if form == "TRC":  # its writer leaves remote frames out
        written = [message for message in written if not message.is_remote_frame] or [
            can.Message(timestamp=1, data=b"\x01")
        ]
    path = tmp_path_factory.mktemp("written") / f"log{suffix}"
    with can.Logger(str(path)) as log:
        for message in written:
            log.on_message_received(message)
    renamed = str(path.rename(path.with_suffix(".dat")))  # the name does not tell
    assert format_of(head_of(renamed)) == form
    found = Read(items(renamed, form))
    assert not found.problems
    assert [(f.ident, f.extended, f.data, f.kind) for f in found.frames] == [
        (
            message.arbitration_id,
            message.is_extended_id,
            bytes(message.data),
            "remote" if message.is_remote_frame else "data",
        )
        for message in written
    ]
    times = [frame.time for frame in found.frames]
    for frame, message in zip(found.frames, written, strict=True):
        assert frame.time is not None
        assert times[0] is not None
        passed = (frame.time - times[0]) / 1e9
        assert passed == pytest.approx(message.timestamp - written[0].timestamp, abs=0.0011)


# ----------------------------------------------------------------------------------------- packed


def test_a_packed_log_that_is_cut_off(tmp_path: Path) -> None:
    lines = b"".join(b"(%d.%06d) can0 7E0#%04X\n" % (n, n * 7, n) for n in range(5000))
    packed = gzip.compress(lines)
    path = tmp_path / "log.gz"
    path.write_bytes(packed[:-4000])
    found = Read(items(str(path), "candump"))
    assert 1000 < len(found.frames) < 5000
    assert "ends too early" in found.problems[-1].message
    path.write_bytes(gzip.compress(lines[:1200]) + gzip.compress(lines[1200:]) + bytes(512))
    found = Read(items(str(path), "candump"))
    assert (len(found.frames), found.problems) == (5000, [])
    path.write_bytes(packed[:3000] + bytes(100) + packed[3100:])
    assert Read(items(str(path), "candump")).problems


def test_a_clock_that_runs_backwards_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("(5.000000) can0 7E0#00\n(4.250000) can0 7E0#00\n(4.5) can0 7E0#00\n")
    (problem,) = Read(items(str(path), "candump")).problems
    assert problem.render().startswith(
        f"{path}:2:1: warning: the clock runs backwards here, by 0.75"
    )


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        head_of(str(tmp_path))
    with pytest.raises(InputError, match="more than once"):
        head_of("/dev/null")


# ------------------------------------------------------------------------- what others have to read


def blf(path: Path, count: int) -> Path:
    with can.Logger(str(path / "log.blf")) as log:
        for at in range(count):
            log.on_message_received(
                can.Message(
                    timestamp=1_700_000_000 + at / 1000, arbitration_id=0x7E0, data=b"\x01\x3e",
                    is_extended_id=False,
                )
            )  # fmt: skip
    return path / "log.blf"


def test_the_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = blf(tmp_path, 3)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'whence\[can\]'"):
        Read(items(str(path), "BLF"))
    with pytest.raises(InputError, match=r"pip install 'whence\[mf4\]'"):
        Read(items(str(path), "MF4"))


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_broken_logs_that_others_read(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("blf")
    numbers = random.Random(seed)
    data = bytearray(blf(folder, 50).read_bytes())
    if numbers.random() < 0.5:
        data = data[: numbers.randrange(144, len(data))]
    for _ in range(numbers.choice([0, 1, 10])):
        data[numbers.randrange(4, len(data))] = numbers.randrange(256)
    path = folder / "broken"
    path.write_bytes(data)
    assert len(Read(items(str(path), "BLF")).frames) <= 50


@pytest.mark.parametrize("left", [1, 100, 1000])
def test_a_blf_log_that_is_cut_off(tmp_path: Path, left: int) -> None:
    """python-can says nothing about it."""
    path = blf(tmp_path, 20_000)
    assert not Read(items(str(path), "BLF")).problems
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[: size // 2 if left == 1 else -left])
    found = Read(items(str(path), "BLF"))
    assert 0 < len(found.frames) < 20_000
    assert "too early" in found.problems[-1].message
    assert f"of {size} bytes" in found.problems[-1].message


def test_a_candump_log_that_is_cut_off_inside_of_a_frame() -> None:
    """What is there of the last frame looks like a frame."""
    whole = "(1.000000) can0 7E0#021003\n"
    assert not read(read_log, whole).problems
    (problem,) = read(read_log, whole[:-3]).problems
    assert (problem.severity, "no end" in problem.message) == ("warning", True)


def test_mf4(tmp_path: Path) -> None:
    pytest.importorskip("asammdf")
    path = tmp_path / "log.mf4"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with can.Logger(str(path)) as log:
            for at in range(4):
                log.on_message_received(
                    can.Message(
                        timestamp=1_700_000_000 + at / 1000, arbitration_id=0x7E0 + at,
                        data=bytes([1, 0x3E]), is_extended_id=False, channel=1,
                    )
                )  # fmt: skip
    assert format_of(head_of(str(path))) == "MF4"
    found = Read(items(str(path), "MF4"))
    assert [(frame.ident, frame.data) for frame in found.frames] == [
        (0x7E0 + at, b"\x01\x3e") for at in range(4)
    ]
    assert not found.problems
    path.write_bytes(path.read_bytes()[:2000])
    assert Read(items(str(path), "MF4")).problems
