"""What was done is remembered: a file to which each finished piece of work is added.

A piece of work is known by a key that has everything in it that decides its result, so that a
journal never tells what is not true any more; what does not fit is not found. Each entry is a line,
which is there as soon as the work is: a process that is killed loses what it was working on. A last
line that is not whole is not taken for an entry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TextIO

from whence.source import Diagnostic, InputError, Origin

__all__ = ["Journal", "content_hash", "key_of"]

_HEAD: Final = '{"whence-journal": 1}\n'
_CHUNK: Final = 1 << 20


def content_hash(path: Path | str) -> str:
    """The hash of what is in a file. Raises OSError."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while data := stream.read(_CHUNK):
            digest.update(data)
    return digest.hexdigest()


def key_of(parts: Iterable[str]) -> str:
    return hashlib.sha256(json.dumps([*parts]).encode()).hexdigest()


class Journal:
    """The journal in a file, which is created if it is not there. Raises InputError if the file is
    something else, or cannot be written."""

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        self.places: dict[str, int] = {}
        try:
            fresh = not Path(path).exists() or Path(path).stat().st_size == 0
            if not fresh:
                self._read()
            self.stream: TextIO = open(path, "a", encoding="ascii")  # noqa: SIM115
            if fresh:
                self.stream.write(_HEAD)
                self.stream.flush()
            elif not self.whole:
                # What was cut off stays where it is, as a line of its own that is no entry.
                self.stream.write("\n")
                self.stream.flush()
            self.again = open(path, "rb")  # noqa: SIM115
        except OSError as error:
            why = error.strerror or str(error)
            raise InputError(
                Diagnostic(f"the journal cannot be used: {why.lower()}", Origin(self.path))
            ) from None

    whole = True

    def _read(self) -> None:
        with open(self.path, "rb") as stream:
            if stream.readline(len(_HEAD)) != _HEAD.encode():
                raise InputError(
                    Diagnostic(
                        "this is no journal of whence",
                        Origin(self.path),
                        "name a file that does not exist yet, or that --resume made",
                    )
                )
            place = stream.tell()
            for line in stream:
                self.whole = line.endswith(b"\n")
                key = line[2:66]
                if self.whole and line.startswith(b'["') and line[66:67] == b'"':
                    self.places[key.decode("ascii", "replace")] = place
                place += len(line)

    def get(self, key: str) -> object | None:
        """What is remembered under this key."""
        place = self.places.get(key)
        if place is None:
            return None
        self.again.seek(place)
        try:
            entry = json.loads(self.again.readline())
        except (ValueError, RecursionError):
            return None
        return entry[1] if isinstance(entry, list) and len(entry) == 2 else None

    def add(self, key: str, record: object) -> None:
        self.stream.write(json.dumps([key, record], separators=(",", ":")) + "\n")
        self.stream.flush()

    def close(self) -> None:
        self.stream.close()
        self.again.close()
