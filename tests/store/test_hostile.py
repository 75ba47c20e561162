"""Stores that are none, that cannot be used, or that somebody has been at: told, no traceback."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from tests.cli.support import Run
from tests.store.support import LOGS, MODEL, ROOT, write_logs

from whence.api.store import compare, history, keep, stored
from whence.api.triage import triage
from whence.source import InputError, UsageError, WhenceError
from whence.store import store as store_module
from whence.store.columns import Record, Words
from whence.store.schema import bring_up_to_date, newest
from whence.store.store import open_store
from whence.store.tables import METADATA


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of triage."""
    path = tmp_path_factory.mktemp("made") / "store.db"
    triage(MODEL, [LOGS], store=path)
    return path


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "copy.db"))


def ask_all(path: Path | str) -> None:
    history(path)
    stored(path, 1)
    compare(path, 1, 1)


def refused(path: Path | str, words: str) -> None:
    """Whether it is to be read or written."""
    with pytest.raises(WhenceError, match=words):
        history(path)
    with pytest.raises(WhenceError, match=words):
        triage(MODEL, [LOGS], store=path)


# ------------------------------------------------------------------------------- what is no store


def test_what_is_no_store(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE addresses (name TEXT)")
    connection.commit()
    connection.close()
    before = other.read_bytes()
    refused(other, "database of another program")
    assert other.read_bytes() == before
    file = tmp_path / "notes.txt"
    file.write_text("These are notes.\n" * 100)
    refused(file, "this is no database")
    assert file.read_text() == "These are notes.\n" * 100
    refused(tmp_path, "directory")
    refused("", "no name of a file")
    refused("a\0b", "no name of a file")
    refused("/dev/null", "this is no file")
    with pytest.raises(InputError, match="there is no such store"):
        history(tmp_path / "missing.db")
    assert not (tmp_path / "missing.db").exists()
    with pytest.raises(InputError, match="there is no folder"):
        triage(MODEL, [LOGS], store=tmp_path / "missing" / "store.db")
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(InputError, match="database is empty"):
        history(empty)
    # Whoever makes a temporary file first may use it.
    triage(MODEL, [LOGS], store=empty)
    assert len(history(empty).runs) == 1


def test_urls() -> None:
    for url, words in (
        ("mysql://ci:secret@host/x", "not stored in `mysql`"),
        ("postgresql+nothing://ci:secret@host/x", "cannot be used"),
        ("postgresql://ci:sec@ret:x/", "URL of the store is none"),
        ("postgresql://ci:secret@127.0.0.1:1/x", "connection"),
        ("sqlite://", "is a file"),
    ):
        with pytest.raises(WhenceError, match=words) as told:
            history(url)
        assert "secret" not in str(told.value)


def test_names_of_files(tmp_path: Path) -> None:
    """Also such as mean something in URLs."""
    for name in ("a b.db", "50%25.db", "what?mode=ro", "x#y", "ü.db", os.fsdecode(b"\xff.db")):
        path = tmp_path / name
        triage(MODEL, [LOGS], store=path)
        assert len(history(f"sqlite:///{tmp_path / 'a b.db'}").runs) == 1
        assert path.exists()


# -------------------------------------------------------------------------------- other versions


def test_of_a_newer_whence(copy: Path) -> None:
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE whence_schema SET version_num = '9999'")
    connection.commit()
    connection.close()
    refused(copy, "'9999' and this program knows up to .* a newer whence made it")


def test_without_a_version(copy: Path) -> None:
    connection = sqlite3.connect(copy)
    connection.execute("DELETE FROM whence_schema")
    connection.commit()
    connection.close()
    refused(copy, "does not say which version")


def test_an_older_store_is_brought_up_to_date(new_store: Callable[[], str]) -> None:
    """One of the first version, with a run in it, by whoever opens it first."""
    for to_write in (True, False):
        where = new_store()
        whence_store = _of_version(where, "0001")
        with whence_store.writing() as connection:
            connection.execute(
                text(
                    "INSERT INTO runs (command, started, ended, complete, verdict, model, "
                    "model_name, model_hash, whence, code, options, grouping, planned, head) "
                    "VALUES ('check', '2020', NULL, false, '', 'm', 'M', '', '0', 'c', '{}', '', "
                    "0, '{}')"
                )
            )
        whence_store.close()
        if to_write:
            open_store(where, to_write=True).close()
        assert [each.run.code for each in history(where).runs] == ["c"]
        document = {
            "whence": "0", "schema": "check/1", "file": "", "network": "", "summary": {},
            "queries": [],
        }  # fmt: skip
        assert keep(where, document, model="m", name="M") == 2
        assert stored(where, 2) == document


def _of_version(where: str, version: str) -> store_module.Store:
    name, engine = (
        store_module._url(where, True) if "://" in where else store_module._file(where, True)
    )
    made = store_module.Store(name, engine)
    with made.writing() as connection:
        bring_up_to_date(connection, name, version)
    return made


def test_the_migrations_make_the_tables(store: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from whence.store.schema import VERSION_TABLE

    with open_store(store, to_write=True) as opened, opened.reading() as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, METADATA) == []
        assert connection.execute(text(f"SELECT * FROM {VERSION_TABLE}")).scalar() == newest()


# ---------------------------------------------------------------------------- what is in the way


def test_a_locked_store(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PATIENCE", 0.2)
    other = sqlite3.connect(copy, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    # Whoever reads need not wait.
    ask_all(copy)
    with pytest.raises(InputError, match="another program keeps the store locked"):
        triage(MODEL, [LOGS], store=copy)
    other.close()
    triage(MODEL, [LOGS], store=copy)


def test_who_may_not_write_may_read(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may do anything, so that this is not left to the permissions of files."""
    before = sorted(made.parent.iterdir())
    monkeypatch.setattr(store_module, "_writable", lambda path: False)
    ask_all(made)
    with pytest.raises(InputError, match="cannot be written: permission denied"):
        triage(MODEL, [LOGS], store=made)
    assert sorted(made.parent.iterdir()) == before


def limited(pages: int) -> Callable[..., sqlite3.Connection]:
    """SQLite says of a database that may not grow what it says of a full disk."""
    real = sqlite3.connect

    def connect(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = real(*arguments, **named)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    return connect


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whence: Run) -> None:
    """What was stored until then is there, and the run goes on when there is space."""
    logs = write_logs(tmp_path / "logs", 30)
    store = tmp_path / "store.db"
    triage(MODEL, logs[:1], store=store)
    pages = store.stat().st_size // 4096
    with monkeypatch.context() as patch:
        patch.setattr("whence.store.store.sqlite3.connect", limited(pages + 5))
        ended = whence("triage", MODEL, tmp_path / "logs", "--store", store)
        assert ended.status == 2
        assert ended.err.startswith(f"{store}: error: the store cannot be written: there is no")
        assert ended.out == ""
    run = history(store).runs[1]
    assert 0 < run.done < len(logs)
    assert run.run.ended is None
    assert triage(MODEL, logs, store=store) == triage(MODEL, logs)


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "whence", "triage", MODEL, LOGS, "--store", tmp_path / "store.db"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_DISABLE_JIT": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
    )  # fmt: skip
    assert ended.returncode == 2
    assert "store.db: error: the store cannot be" in ended.stderr
    assert "Traceback" not in ended.stderr


# ------------------------------------------------------------------------- what others have done


@given(st.data())
def test_a_store_that_is_damaged(made: Path, data: st.DataObject) -> None:
    """Bytes are others, or missing: an error, or an answer."""
    content = bytearray(made.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        # The front, where the tables are described, and pages of all tables.
        start = data.draw(st.integers(0, len(content) - 8))
        content[start : start + 8] = data.draw(st.binary(min_size=8, max_size=8))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(1, len(content))) :]
    path = made.parent / "damaged.db"
    path.write_bytes(content)
    for question in (lambda: history(path), lambda: stored(path, 1), lambda: compare(path, 1, 1)):
        # Neither does it have to be noticed.
        with suppress(InputError, UsageError):
            question()
    for name in ("damaged.db-wal", "damaged.db-shm"):
        (made.parent / name).unlink(missing_ok=True)


VALUES = [
    None, 0, -1, 2**62, 1.5, "", "x", "1/0", "null", "[]", "{}", "[[]]", b"\xff\xfe", "\x1bzzzz",
    '["a"]', "[" * 100_000,
]  # fmt: skip


@given(st.data())
def test_rows_that_nobody_of_us_wrote(made: Path, data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(METADATA.sorted_tables))
    column = data.draw(st.sampled_from([*table.columns])).name
    value = data.draw(st.sampled_from(VALUES))
    path = Path(shutil.copy(made, made.parent / "rows.db"))
    connection = sqlite3.connect(path)
    try:
        connection.execute(f'UPDATE {table.name} SET "{column}" = ?', (value,))
        connection.commit()
    except sqlite3.IntegrityError:
        return
    finally:
        connection.close()
    questions: list[Callable[[], object]] = [
        lambda: history(path),
        lambda: stored(path, 1),
        lambda: compare(path, 1, 1),
        lambda: triage(MODEL, [LOGS], store=path),
    ]
    # Neither does it have to be noticed.
    with suppress(InputError, UsageError):
        data.draw(st.sampled_from(questions))()


def test_tables_that_are_missing(copy: Path) -> None:
    connection = sqlite3.connect(copy)
    connection.execute("DROP TABLE sightings")
    connection.commit()
    connection.close()
    refused(copy, "the store is damaged: no such table: sightings")


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=())))
def test_any_text_comes_back(value: str) -> None:
    words = Words()
    kept = words.process_bind_param(value, None)  # type: ignore[arg-type]
    assert kept is not None
    kept.encode()
    assert "\0" not in kept
    assert words.process_result_value(kept, None) == value  # type: ignore[arg-type]
    record = Record().process_bind_param([value], None)  # type: ignore[arg-type]
    assert record.isascii()
    assert Record().process_result_value(record, None) == [value]  # type: ignore[arg-type]


def test_odd_texts_are_stored(store: str) -> None:
    odd = "a\0b\ud800c\udcff\x1b\x1b0000 ü😀'\";--"
    document = {
        "whence": "0", "schema": "check/1", "file": odd, "network": odd, "summary": {},
        "queries": [
            {
                "query": odd, "verdict": "unknown", "states": 0, "transitions": 0, "seconds": 0.5,
                "reason": odd, "trace": None,
            }
        ],
    }  # fmt: skip
    assert keep(store, document, model=odd, name=odd, code=odd) == 1
    assert stored(store, 1) == document
    (run,) = history(store, model=odd).runs
    assert (run.run.code, run.run.model) == (odd, odd)


def test_documents_that_are_none(store: str) -> None:
    for document in (
        {"schema": "triage/1"},
        {"schema": "check/1"},
        {},
        {"schema": "check/1", "whence": "0", "file": "", "network": "", "summary": {},
         "queries": [{"verdict": "perhaps"}]},
    ):  # fmt: skip
        with pytest.raises(InputError):
            keep(store, document, model="m", name="M")
    open_store(store, to_write=True).close()
    assert history(store).runs == ()


def test_questions_without_an_answer(made: Path, copy: Path) -> None:
    with pytest.raises(UsageError, match="there is no run 7 in this store"):
        compare(made, 1, 7)
    with pytest.raises(UsageError, match="there is no run 7 in this store"):
        stored(made, 7)
    with pytest.raises(UsageError, match="there is no run of a model `heater`"):
        history(made, model="heater")
    with pytest.raises(UsageError, match="there is no class `zz`"):
        history(made, ident="zz")
    triage(MODEL, [LOGS], store=copy, group="events")
    with pytest.raises(UsageError, match="grouped by `similar`, those of run 2 by `events`"):
        compare(copy, 1, 2)
    with pytest.raises(UsageError, match="needs no journal"):
        triage(MODEL, [LOGS], store=copy, resume=copy.parent / "journal")
