"""Which files are meant: names, folders, and patterns such as `logs/*.asc`."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from whence.formats.can.read import format_of, head_of
from whence.formats.events.read import plain_format_of
from whence.source import Diagnostic, InputError, Origin, UsageError, WhenceError

__all__ = ["LOG_ENDINGS", "Inputs", "find_logs"]

#: What names of logs end with. Logs are told by what is in them; a file in a folder that is no log
#: is an error if it is called one.
LOG_ENDINGS: Final = (
    ".log", ".asc", ".blf", ".trc", ".mf4", ".mdf", ".pcap", ".pcapng", ".csv", ".jsonl", ".events",
    ".db", ".sqlite", ".candump", ".txt",
)  # fmt: skip
_PACKED: Final = (".gz",)
_MAGIC: Final = "*?["


@dataclass(frozen=True, slots=True)
class Inputs:
    """The logs, and files in folders that are passed over: neither logs nor called so."""

    logs: tuple[str, ...]
    passed_over: tuple[str, ...] = ()


def find_logs(names: Iterable[str]) -> Inputs:
    """The logs that are meant: files, all of a folder and the folders in it, or what a pattern
    matches; each once, those of a folder or pattern in the order of their names. Raises InputError
    for a folder without logs, and for a pattern that matches nothing."""
    logs: dict[str, None] = {}
    passed: dict[str, None] = {}
    for name in names:
        if os.path.isdir(name):
            found = [*_files(name)]
            mine = [path for path in found if _is_called_a_log(path) or _is_log(path)]
            if not mine:
                raise InputError(
                    Diagnostic("there is no log in this folder", Origin(name), "name the logs")
                )
            kept = {*mine}
            logs.update(dict.fromkeys(mine))
            passed.update(dict.fromkeys(path for path in found if path not in kept))
        elif any(sign in name for sign in _MAGIC) and not os.path.exists(name):
            matched = sorted(path for path in glob.glob(name, recursive=True))
            files = [path for path in matched if not os.path.isdir(path)]
            if not files:
                raise InputError(Diagnostic("no file is called so", Origin(name)))
            logs.update(dict.fromkeys(files))
        else:
            logs[name] = None
    if not logs:
        raise UsageError("there is no log to look at")
    return Inputs(tuple(logs), tuple(passed))


def _files(folder: str) -> Iterator[str]:
    """All files below, without hidden ones and without following links to folders."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield os.path.join(where, name)


def _is_called_a_log(path: str) -> bool:
    endings = Path(path.lower()).suffixes[-2:]
    if endings and endings[-1] in _PACKED:
        endings.pop()
    return bool(endings) and endings[-1] in LOG_ENDINGS


def _is_log(path: str) -> bool:
    try:
        head = head_of(path)
    except WhenceError:
        return False
    return plain_format_of(head) is not None or format_of(head) is not None
