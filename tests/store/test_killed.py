"""Nothing is lost when the process is killed at any moment, and two that write do no harm."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, event
from tests.store.support import MODEL, is_sound, start, text_of, write_logs

from whence.api.store import history, stored
from whence.api.triage import triage
from whence.triage.findings import Triage

NewStore = Callable[[], str]


def kill_until_done(store: str, logs: list[str], kills: int, seed: int) -> None:
    """A run that is killed, and begun again, so many times; then one that comes to its end."""
    chance = random.Random(seed)
    plain = triage(MODEL, logs)
    told: list[int] = []
    for _ in range(kills):
        process = start(store, logs)
        assert process.stdout is not None
        before = max(told, default=0)
        reported = 0
        # Somewhere among the first logs that it does, at any place in its work on one.
        wanted = chance.randint(1, 6)
        for line in process.stdout:
            reported = int(line)
            if reported >= min(before + wanted, len(logs)):
                break
        time.sleep(chance.random() * 0.02)
        process.kill()
        reported = max([reported, *map(int, process.stdout.read().split())])
        process.communicate()
        told.append(reported)
        if Path(store).exists():
            assert is_sound(Path(store))
        run = history(store).runs[-1]
        # What it told is there; perhaps what it did not come to tell, too.
        assert reported <= run.done <= reported + 1
        if run.run.ended is None:
            assert not run.run.complete
        found = stored(store, run.run.ident)
        assert isinstance(found, Triage)
        assert len(found.traces) == run.done
        assert set(found.traces) <= set(plain.traces)
    assert [*sorted(told)] == told
    found = triage(MODEL, logs, store=store)
    assert text_of(found) == text_of(plain)
    last = history(store).runs[-1]
    assert last.run.complete
    again = stored(store, last.run.ident)
    assert isinstance(again, Triage)
    assert text_of(again) == text_of(plain)


def test_killed_some_times(store: str, tmp_path: Path) -> None:
    kill_until_done(store, write_logs(tmp_path / "logs", 40), 2, seed=1)


def test_ended_at_every_statement(tmp_path: Path) -> None:
    """The same without luck: a run ends at its first statement, at its second, …; each time in a
    copy of the same store, which knows some of the logs."""
    logs = write_logs(tmp_path / "logs", 5)
    plain = text_of(triage(MODEL, logs))
    made = tmp_path / "made.db"
    triage(MODEL, logs[1:2], store=made)
    left, reported = 0, 0

    class Ended(BaseException):
        pass

    def count_down(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Ended

    def progress(done: int, _all: int, _faults: int) -> None:
        nonlocal reported
        reported = done

    for number in range(1000):
        store = shutil.copy(made, tmp_path / f"{number}.db")
        left, reported = number, 0
        event.listen(Engine, "before_cursor_execute", count_down)
        try:
            triage(MODEL, logs, store=store, progress=progress)
            break
        except Ended:
            pass
        finally:
            event.remove(Engine, "before_cursor_execute", count_down)
        assert is_sound(Path(store))
        for run in history(store).runs[1:]:
            assert reported <= run.done <= reported + 1
            assert not run.run.complete
            assert len(stored(store, run.run.ident).traces) == run.done  # type: ignore[union-attr]
        assert text_of(triage(MODEL, logs, store=store)) == plain
    assert number > 30


@pytest.mark.nightly
def test_killed_many_times(store: str, tmp_path: Path) -> None:
    kill_until_done(store, write_logs(tmp_path / "logs", 400), 60, seed=2)


@pytest.mark.nightly
def test_killed_while_it_is_made(new_store: NewStore, tmp_path: Path) -> None:
    """At any moment from its start on: there is no store yet, or one that is whole."""
    logs = write_logs(tmp_path / "logs", 10)
    for delay in range(0, 40):
        store = new_store()
        process = start(store, logs)
        time.sleep(0.2 + delay * 0.05)
        process.kill()
        process.communicate()
        if Path(store).exists():
            assert is_sound(Path(store))
        assert triage(MODEL, logs, store=store).complete


def both_write(store: str, first: list[str], second: list[str]) -> None:
    """Two processes begin at once, in a store that is not there yet."""
    processes = [start(store, first), start(store, second)]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    if Path(store).exists():
        assert is_sound(Path(store))
    runs = history(store).runs
    assert sorted(each.run.complete for each in runs) == [True, True]
    answers = []
    for each in runs:
        found = stored(store, each.run.ident)
        assert isinstance(found, Triage)
        answers.append(text_of(found))
    assert sorted(answers) == sorted(text_of(triage(MODEL, logs)) for logs in (first, second))


def test_two_write_at_once(store: str, tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs", 40)
    both_write(store, logs[:30], [*reversed(logs[10:])])


@pytest.mark.nightly
def test_two_write_at_once_often(new_store: NewStore, tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs", 300)
    for _ in range(5):
        both_write(new_store(), logs, [*reversed(logs)])


def test_threads_that_read_and_write(store: str, tmp_path: Path) -> None:
    """Whoever reads sees whole logs, at any moment."""
    logs = write_logs(tmp_path / "logs", 30)
    triage(MODEL, logs[:1], store=store)
    wrong: list[BaseException] = []

    def write(mine: list[str]) -> None:
        try:
            triage(MODEL, mine, store=store)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=write, args=(mine,)) for mine in (logs[:20], [*logs[:5:-1]])]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for run in history(store).runs:
            assert sum(run.verdicts.values()) == run.done
    for thread in threads:
        thread.join()
    assert not wrong
    assert [run.run.complete for run in history(store).runs] == [True] * 3
