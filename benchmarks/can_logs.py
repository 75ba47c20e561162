"""Measure how many frames of a log are read in a second, and how many become events.

The logs are made here: ordinary traffic with a diagnostic conversation in it (a fifth of the
frames), or nothing but the conversation. python-can's reader is measured in the same run, on the
same file. Use as a program::

    python benchmarks/can_logs.py
    python benchmarks/can_logs.py --frames 1000000 candump ASC
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for a start as a program, which knows its own folder only

from rich.console import Console
from rich.table import Table

from whence.formats.can.addresses import parse_pair
from whence.formats.can.read import items
from whence.formats.logs import open_log
from whence.model.events import AddressPair, CanFrame

__all__ = ["FORMATS", "main"]

GOAL: Final = 100_000
#: A reading of an identifier: the response takes two frames.
_CONVERSATION: Final = (
    (0x7E0, "0322F19000000000"),
    (0x7E8, "100B62F190313233"),
    (0x7E0, "3000000000000000"),
    (0x7E8, "2134353637380000"),
)
Frame = tuple[int, int, bytes]


def frames(count: int, traffic: int) -> Iterator[Frame]:
    """Microseconds, identifier and bytes; `traffic` ordinary frames between two of diagnostics."""
    numbers = random.Random(1)
    idents = [numbers.randrange(0x100, 0x600) for _ in range(60)]
    for number in range(count):
        at, ordinary = divmod(number, traffic + 1)
        if ordinary:
            yield number * 250, numbers.choice(idents), numbers.randbytes(8)
        else:
            ident, data = _CONVERSATION[at % len(_CONVERSATION)]
            yield number * 250, ident, bytes.fromhex(data)


# --------------------------------------------------------------------------------------- writers


def _candump(log: Iterable[Frame]) -> Iterator[str]:
    for time_, ident, data in log:
        seconds, micro = divmod(time_, 1_000_000)
        yield f"({seconds + 1_436_509_052}.{micro:06d}) can0 {ident:03X}#{data.hex().upper()}\n"


def _console(log: Iterable[Frame]) -> Iterator[str]:
    for time_, ident, data in log:
        date = f"({time_ // 1_000_000 + 1_436_509_052}.{time_ % 1_000_000:06d})"
        yield f" {date}  can0  {ident:03X}   [{len(data)}]  {data.hex(' ').upper()}\n"


def _asc(log: Iterable[Frame]) -> Iterator[str]:
    yield "date Thu Nov 9 20:29:27.000 2023\nbase hex  timestamps absolute\n"
    yield "internal events logged\nBegin Triggerblock Thu Nov 9 20:29:27.000 2023\n"
    for time_, ident, data in log:
        date = f"{time_ / 1_000_000:11.6f}"
        yield f"{date} 1  {ident:<15X} Rx   d {len(data)} {data.hex(' ').upper()}\n"
    yield "End TriggerBlock\n"


def _trc(log: Iterable[Frame]) -> Iterator[str]:
    yield ";$FILEVERSION=2.1\n;$STARTTIME=43008.6\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n"
    for number, (time_, ident, data) in enumerate(log, 1):
        listed = data.hex(" ").upper()
        yield f"{number:>7} {time_ / 1000:13.3f} DT  1 {ident:>8X} Rx -  {len(data):<4} {listed}\n"


def _busmaster(log: Iterable[Frame]) -> Iterator[str]:
    yield "***BUSMASTER Ver 2.4.0***\n***HEX***\n***ABSOLUTE MODE***\n"
    for time_, ident, data in log:
        seconds, micro = divmod(time_, 1_000_000)
        date = f"{seconds // 3600}:{seconds // 60 % 60}:{seconds % 60}:{micro // 100:04d}"
        yield f"{date} Rx 1 0x{ident:03X} s {len(data)} {data.hex(' ').upper()}\n"


def _text(lines: Callable[[Iterable[Frame]], Iterator[str]]) -> Callable[..., None]:
    def write(path: Path, log: Iterable[Frame]) -> None:
        with path.open("w", encoding="ascii") as stream:
            stream.writelines(lines(log))

    return write


def _pcap(path: Path, log: Iterable[Frame]) -> None:
    with path.open("wb") as stream:
        stream.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 227))
        for time_, ident, data in log:
            packet = struct.pack(">IBBH", ident, len(data), 0, 0) + data
            head = divmod(time_, 1_000_000)
            stream.write(struct.pack("<IIII", *head, len(packet), len(packet)) + packet)


def _by_python_can(path: Path, log: Iterable[Frame]) -> None:
    import can

    with can.Logger(str(path)) as logger:
        for time_, ident, data in log:
            logger.on_message_received(
                can.Message(
                    timestamp=1_436_509_052 + time_ / 1_000_000, arbitration_id=ident, data=data,
                    is_extended_id=False, channel=1,
                )
            )  # fmt: skip


def _sqlite(path: Path, log: Iterable[Frame]) -> None:
    """As python-can's SqliteWriter, which loses frames that come too fast for it."""
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE messages (ts REAL, arbitration_id INTEGER, extended INTEGER,"
        " remote INTEGER, error INTEGER, dlc INTEGER, data BLOB)"
    )
    connection.executemany(
        "INSERT INTO messages VALUES (?, ?, 0, 0, 0, ?, ?)",
        ((1_436_509_052 + time_ / 1_000_000, ident, len(data), data) for time_, ident, data in log),
    )
    connection.commit()
    connection.close()


#: By format: the suffix by which python-can knows it ("" if it does not), and how it is written.
FORMATS: Final[dict[str, tuple[str, Callable[..., None]]]] = {
    "candump": (".log", _text(_candump)),
    "candump console": ("", _text(_console)),
    "ASC": (".asc", _text(_asc)),
    "TRC": (".trc", _text(_trc)),
    "BUSMASTER": ("", _text(_busmaster)),
    "pcap": ("", _pcap),
    "python-can CSV": (".csv", _by_python_can),
    "SQLite": (".db", _sqlite),
    "BLF": (".blf", _by_python_can),
}


# ------------------------------------------------------------------------------------- measuring


def _rate(count: int, work: Callable[[], int]) -> float:
    """Frames a second of processor time, the best of three."""
    best = 0.0
    for _ in range(3):
        began = time.process_time()
        found = work()
        best = max(best, count / (time.process_time() - began))
        assert found == count, f"{found} frames in place of {count}"
    return best


def _read(path: str, form: str) -> int:
    return sum(type(item) is CanFrame for item in items(path, form))


def _pipeline(path: str, pairs: Sequence[AddressPair]) -> int:
    log = open_log(path, pairs)
    events = sum(1 for _ in log.told())
    assert events, "there are no events"
    return log.frames


def _python_can(path: str) -> int:
    import can

    reader: Iterable[Any] = can.LogReader(path)
    return sum(1 for _ in reader)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="only these")
    parser.add_argument("--frames", type=int, default=200_000, help="how many each log has")
    options = parser.parse_args(arguments)
    table = Table(title=f"Frames a second of processor time, logs of {options.frames:,} frames")
    for heading in (
        "format",
        "diagnostics",
        "events",
        "with --pair",
        "read",
        "python-can",
        "ratio",
    ):
        table.add_column(heading, justify="left" if heading == "format" else "right")
    slow = []
    for name in options.formats or FORMATS:
        suffix, write = FORMATS[name]
        for traffic in (4, 0):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"log{suffix}"
                write(path, frames(options.frames, traffic))
                at, count = str(path), options.frames
                found = _rate(count, lambda at=at: _pipeline(at, ()))  # type: ignore[misc]
                given = _rate(count, lambda at=at: _pipeline(at, [parse_pair("7E0:7E8")]))  # type: ignore[misc]
                read = _rate(count, lambda at=at, name=name: _read(at, name))  # type: ignore[misc]
                peer = _rate(count, lambda at=at: _python_can(at)) if suffix else 0.0  # type: ignore[misc]
            table.add_row(
                name, f"{100 // (traffic + 1)} %", f"{found:,.0f}", f"{given:,.0f}", f"{read:,.0f}",
                f"{peer:,.0f}" if peer else "–", f"{read / peer:.2f}×" if peer else "–",
            )  # fmt: skip
            if name in ("candump", "ASC") and found < GOAL:
                slow.append(f"{name} ({100 // (traffic + 1)} % diagnostics)")
    console = Console()
    console.print(table)
    console.print(
        "events: the whole way, with a first pass to see who talks to whom; read: frames only;\n"
        "ratio: reading frames, against python-can's reader."
    )
    met = f"missed by {', '.join(slow)}" if slow else "met"
    console.print(f"Goal: {GOAL:,} frames/s to events for candump and ASC: {met}.")


if __name__ == "__main__":
    main()
