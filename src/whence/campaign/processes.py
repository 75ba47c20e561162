"""Work spread over processes of this machine.

A worker is a fresh interpreter that runs ``python -m whence.campaign.worker``: nothing of this
process is copied into it, so that neither threads nor a main program without a guard can do harm.
It is told once what all tasks share, then it takes tasks and gives answers, one after the other,
over its standard input and output. If it dies, its task has failed, and another takes its place.
"""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, Any, Final

__all__ = ["Answer", "DeadWorker", "available", "in_processes", "receive", "send"]

_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a task: its number, and what the worker's function returned, or
    why there is nothing."""

    number: int
    value: Any = None
    failure: str = ""


class DeadWorker(Exception):
    """A worker that has ended before it should."""


def available() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


# ------------------------------------------------------------------------------------- messages


def _read_only(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)


class _Pickler(pickle.Pickler):
    """Takes read-only mappings as well."""

    dispatch_table = copyreg.dispatch_table.copy()
    dispatch_table[MappingProxyType] = lambda view: (_read_only, (dict(view),))


def send(stream: IO[bytes], message: object) -> None:
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(message)
    data = buffer.getvalue()
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; raises EOFError if there is none. Both ends are ours."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        raise EOFError
    length = int.from_bytes(head, "big")
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


# -------------------------------------------------------------------------------------- workers


def in_processes(
    make: str, shared: object, tasks: Iterable[object], workers: int
) -> Iterator[Answer]:
    """The answers to all tasks, as they come; tasks are numbered as they are taken. `make` names,
    as in ``package.module:function``, what turns `shared` into the function of one task."""
    crew = _Crew(make, shared, iter(enumerate(tasks)), workers)
    try:
        yield from crew.answers()
    finally:
        crew.end()


class _Crew:
    """A thread waits for each worker."""

    def __init__(
        self, make: str, shared: object, tasks: Iterator[tuple[int, object]], workers: int
    ) -> None:
        self.make, self.shared = make, shared
        self.tasks, self.lock = tasks, threading.Lock()
        self.done: queue.SimpleQueue[Answer | BaseException | None] = queue.SimpleQueue()
        self.ending = False
        self.running: set[subprocess.Popen[bytes]] = set()
        self.threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]
        for thread in self.threads:
            thread.start()

    def answers(self) -> Iterator[Answer]:
        waiting = len(self.threads)
        while waiting:
            answer = self.done.get()
            if answer is None:
                waiting -= 1
            elif isinstance(answer, BaseException):
                raise answer
            else:
                yield answer

    def end(self) -> None:
        """Whatever is still running has nobody to answer to."""
        with self.lock:
            self.ending = True
            running = [*self.running]
        for process in running:
            process.kill()
        for thread in self.threads:
            thread.join()

    def _next(self) -> tuple[int, object] | None:
        with self.lock:
            return None if self.ending else next(self.tasks, None)

    def _serve(self) -> None:
        try:
            while (task := self._next()) is not None:
                self._one_worker(task)
        except BaseException as error:
            self.done.put(error)
        finally:
            self.done.put(None)

    def _one_worker(self, task: tuple[int, object] | None) -> None:
        """Until there are no more tasks, or the worker dies."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        began = False
        try:
            send(process.stdin, (self.make, self.shared))
            receive(process.stdout)
            began = True
            while task is not None:
                number, what = task
                send(process.stdin, what)
                value, failure = receive(process.stdout)
                self.done.put(Answer(number, value, failure))
                task = self._next()
        except (EOFError, OSError):
            if self.ending:
                return
            why = _how_it_ended(process)
            if not began:
                raise DeadWorker(f"a worker {why} before it began") from None
            assert task is not None
            self.done.put(Answer(task[0], None, f"the process that worked on it {why}"))
        finally:
            self._stop(process)

    def _start(self) -> subprocess.Popen[bytes]:
        # The worker imports from where this process does.
        paths = [path or os.getcwd() for path in sys.path]
        process = subprocess.Popen(
            [sys.executable, "-m", "whence.campaign.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        with self.lock:
            self.running.add(process)
        return process

    def _stop(self, process: subprocess.Popen[bytes]) -> None:
        """The end of its input is the end of its work."""
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()
        with self.lock:
            self.running.discard(process)


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    status = process.wait()
    if status < 0:
        return f"was ended by signal {-status}: perhaps there was not enough memory"
    return f"ended with status {status}"
