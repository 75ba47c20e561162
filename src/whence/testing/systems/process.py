"""Systems that are processes of their own: they may die, hang or babble, and are ended.

They are asked in lines on their standard input, and answer in lines on their standard output.
"""

from __future__ import annotations

import io
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from whence.testing.systems.base import SystemFault

__all__ = ["LONGEST", "Child"]

#: A line that a system says, in bytes, and how many may wait to be read.
LONGEST = 1 << 20
_WAITING = 10_000
#: A system may take so many seconds to end by itself when its input ends.
_GRACE = 0.5
#: And what was ended so many, until nobody waits any longer.
_PATIENCE = 2.0
#: So many bytes of what it says of its errors.
_KEPT = 1 << 16
_MEGABYTE = 1 << 20


class Child:
    """A process with its lines. `memory` in megabytes; None: unlimited."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        memory: int | None = None,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> None:
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=None if environment is None else {**os.environ, **environment},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SystemFault(f"`{command[0]}` cannot be started: {reason.lower()}") from None
        if memory is not None:
            _limit(self._process.pid, memory)
        self._lines: queue.Queue[tuple[float, bytes | None]] = queue.Queue(_WAITING)
        self._last = b""
        self._readers = [
            threading.Thread(target=read, daemon=True) for read in (self._read, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with suppress(OSError, ValueError):
            while line := stream.readline(LONGEST + 1):
                self._lines.put((time.monotonic(), line))
                if len(line) > LONGEST:
                    break
        self._lines.put((time.monotonic(), None))

    def _read_errors(self) -> None:
        """Only the end is kept, however much there is."""
        stream = self._process.stderr
        assert isinstance(stream, io.BufferedReader)
        with suppress(OSError, ValueError):
            while part := stream.read1(_KEPT):
                self._last = (self._last + part)[-_KEPT:]

    def say(self, line: str) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(line.encode() + b"\n")
            stream.flush()
        except (OSError, ValueError):
            raise SystemFault(self._death()) from None

    def hear(self, deadline: float) -> str:
        """The next line. Raises SystemFault if there is none by then."""
        heard = self.listen(deadline)
        if heard is None:
            raise SystemFault("the system hangs: it did not answer in time")
        return heard[1]

    def listen(self, until: float) -> tuple[float, str] | None:
        """The next line and when it came; None: none came until then."""
        try:
            left = max(0.0, min(until - time.monotonic(), threading.TIMEOUT_MAX))
            date, line = self._lines.get(timeout=left) if left else self._lines.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            self._lines.put((date, None))
            raise SystemFault(self._death())
        if len(line) > LONGEST:
            raise SystemFault("the system said a line longer than a mebibyte")
        return date, line.decode("utf-8", "backslashreplace").rstrip("\r\n")

    def _death(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        status = self._process.poll()
        if status is None:
            return "the system closed its output"
        if status < 0:
            try:
                how = f"was ended by {signal.Signals(-status).name}"
            except ValueError:
                how = f"was ended by signal {-status}"
        else:
            how = f"ended with status {status}"
        last = self._last_words()
        return f"the system {how}" + (f": {last}" if last else "")

    def _last_words(self) -> str:
        """What it said of its errors, the most telling line."""
        # What it wrote last may still be under way.
        self._readers[1].join(_GRACE)
        text = self._last.decode("utf-8", "backslashreplace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        telling = [line for line in lines if "ERROR: " in line or "runtime error" in line]
        return (telling or lines[-1:] or [""])[0][:300]

    def close(self) -> None:
        process = self._process
        assert process.stdin is not None
        with suppress(OSError, ValueError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        # Its children, too; they may outlive it.
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(OSError):
            process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
        end = time.monotonic() + _PATIENCE
        while self._readers[0].is_alive() and time.monotonic() < end:
            # A reader that waits for room would wait forever.
            with suppress(queue.Empty):
                while True:
                    self._lines.get_nowait()
            self._readers[0].join(0.05)
        for reader, stream in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(0.05)
            # A child that has left the group may hold the pipe: it is left to it.
            if not reader.is_alive() and stream is not None:
                stream.close()


def _limit(process: int, megabytes: int) -> None:
    """Where the operating system can do that for another process (Linux)."""
    try:
        import resource
    except ImportError:
        return
    limit: Any = getattr(resource, "prlimit", None)
    if limit is not None:
        with suppress(OSError, ValueError):
            limit(process, resource.RLIMIT_AS, (megabytes * _MEGABYTE, megabytes * _MEGABYTE))
