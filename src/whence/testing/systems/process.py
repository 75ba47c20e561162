"""Systems that are processes of their own: they may die, hang or babble, and are ended.

They are asked in lines on their standard input, and answer in lines on their standard output.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from whence.testing.systems.base import SystemFault

__all__ = ["LONGEST", "Child"]

#: A line that a system says, in bytes, and how many may wait to be read.
LONGEST = 1 << 20
_WAITING = 10_000
#: A system may take so many seconds to end by itself when its input ends.
_GRACE = 0.5
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
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `close`)
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=folder,
                env=None if environment is None else {**os.environ, **environment},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._errors.close()
            reason = getattr(error, "strerror", None) or str(error)
            raise SystemFault(f"`{command[0]}` cannot be started: {reason.lower()}") from None
        if memory is not None:
            _limit(self._process.pid, memory)
        self._lines: queue.Queue[tuple[float, bytes | None]] = queue.Queue(_WAITING)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with suppress(OSError, ValueError):
            while line := stream.readline(LONGEST + 1):
                self._lines.put((time.monotonic(), line))
                if len(line) > LONGEST:
                    break
        self._lines.put((time.monotonic(), None))

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
        with suppress(OSError, ValueError):
            size = self._errors.seek(0, os.SEEK_END)
            self._errors.seek(max(0, size - 65536))
            text = self._errors.read().decode("utf-8", "backslashreplace")
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            telling = [line for line in lines if "ERROR: " in line or "runtime error" in line]
            if lines:
                return (telling[0] if telling else lines[-1])[:300]
        return ""

    def close(self) -> None:
        for stream in (self._process.stdin,):
            with suppress(OSError, ValueError):
                assert stream is not None
                stream.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        # Its children, too; they may outlive it.
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        # A reader that waits for room would wait forever.
        while self._reader.is_alive():
            with suppress(queue.Empty):
                while True:
                    self._lines.get_nowait()
            self._reader.join(0.05)
        with suppress(OSError, ValueError):
            assert self._process.stdout is not None
            self._process.stdout.close()
        self._errors.close()


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
