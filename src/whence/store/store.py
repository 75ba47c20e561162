"""A store of results: a file for SQLite, or a PostgreSQL database by its URL.

Every change is a transaction. SQLite writes ahead (its WAL mode): what was committed is there
though the process is killed, those who read wait for nobody, and those who write wait for each
other. (That the machine itself loses power may cost the last transactions, never the store.)
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from whence.source import Diagnostic, InputError, Origin, UsageError
from whence.store.errors import told
from whence.store.schema import VERSION_TABLE, bring_up_to_date, check_up_to_date

__all__ = ["Store", "open_store"]

#: So many seconds a writer waits for others.
PATIENCE: Final = 60.0
_BEGIN: Final = "whence_begin"


class Store:
    """A store that is open. `name` is for messages: a password in a URL is not in it."""

    def __init__(self, name: str, engine: Engine) -> None:
        self.name = name
        self._engine = engine

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: all of it is done when the block ends, or nothing. In SQLite, nobody else
        writes meanwhile. Raises InputError if the database complains."""
        with (
            told(self.name),
            self._engine.connect() as connection,
            connection.execution_options(**{_BEGIN: "IMMEDIATE"}).begin(),
        ):
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """What the store holds at one moment. Raises InputError if the database complains."""
        with told(self.name), self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(where: Path | str, *, to_write: bool = False) -> Store:
    """The store in a file, or at a URL (`postgresql://user@host/name`, `sqlite:///file`). One that
    is to be written is created if it is not there, and its tables are brought up to date. Raises
    InputError if it is no store, or cannot be used; UsageError for URLs of other databases."""
    text = str(where)
    if "://" not in text:
        name, engine = _file(text, to_write)
    else:
        name, engine = _url(text, to_write)
    store = Store(name, engine)
    try:
        if to_write:
            with store.writing() as connection:
                bring_up_to_date(connection, name)
        else:
            with store.reading() as connection:
                behind = check_up_to_date(connection, name)
            if behind:
                with store.writing() as connection:
                    bring_up_to_date(connection, name)
    except BaseException:
        store.close()
        raise
    return store


def _url(text: str, to_write: bool) -> tuple[str, Engine]:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # What it says may have a password in it.
        raise UsageError(
            Diagnostic("the URL of the store is none", hint="such as postgresql://user@host/name")
        ) from None
    backend = url.drivername.partition("+")[0]
    if backend == "sqlite":
        if not url.database:
            raise UsageError("a store of SQLite is a file: sqlite:///file")
        return _file(url.database, to_write)
    if backend not in ("postgresql", "postgres"):
        raise UsageError(
            Diagnostic(
                f"results are not stored in `{backend}`",
                hint="name a file, for SQLite, or the URL of a PostgreSQL database",
            )
        )
    name = url.render_as_string(hide_password=True)
    return name, _postgresql(name, url)


# -------------------------------------------------------------------------------------- engines


def _postgresql(name: str, url: URL) -> Engine:
    if "+" not in url.drivername:
        url = url.set(drivername="postgresql+psycopg")
    try:
        return create_engine(url, pool_size=1, max_overflow=1)
    except ImportError as error:
        raise UsageError(
            Diagnostic(
                f"for PostgreSQL, {error.name or 'a driver'} has to be installed",
                Origin(name),
                "pip install 'whence[postgresql]'",
            )
        ) from None
    except Exception as error:  # of the dialect that the URL names
        raise UsageError(
            Diagnostic(f"the store cannot be used: {type(error).__name__}", Origin(name))
        ) from None


def _file(text: str, to_write: bool) -> tuple[str, Engine]:
    path = Path(os.path.abspath(text))
    _check(text, path, to_write)
    target = "file:" + quote(str(path).encode("utf-8", "surrogateescape"), safe="/")

    def connect() -> sqlite3.Connection:
        # Transactions begin where we say so, and not where the driver guesses.
        return sqlite3.connect(
            f"{target}?{_mode(path, to_write)}",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )

    engine = create_engine(
        "sqlite:///file", creator=connect, poolclass=QueuePool, pool_size=1, max_overflow=1
    )

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        # What others wrote may hold whatever SQLite runs: nothing of that is trusted.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if to_write:
            _write_ahead(connection)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        how = connection.get_execution_options().get(_BEGIN, "")
        connection.exec_driver_sql(f"BEGIN {how}")

    return text, engine


def _check(text: str, path: Path, to_write: bool) -> None:
    def wrong(message: str, hint: str = "") -> InputError:
        return InputError(Diagnostic(message, Origin(text), hint))

    try:
        if not text or "\0" in text:
            raise wrong("this is no name of a file")
        if path.is_dir():
            raise wrong("this is a directory", "name a file in it instead")
        if not path.exists():
            if not to_write:
                raise wrong("there is no such store", "`whence triage --store FILE` makes one")
            if not path.parent.is_dir():
                raise wrong(f"there is no folder {path.parent}", "create it first")
        elif not path.is_file():
            raise wrong("this is no file")
        elif not os.access(path, os.R_OK):
            raise wrong("the store cannot be read: permission denied")
        if to_write and not _writable(path):
            raise wrong("the store cannot be written: permission denied")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise wrong(f"the store cannot be opened: {why}") from None


def _writable(path: Path) -> bool:
    """The folder too: SQLite writes files beside its own."""
    return os.access(path.parent, os.W_OK | os.X_OK) and (
        not path.exists() or os.access(path, os.W_OK)
    )


def _mode(path: Path, to_write: bool) -> str:
    if to_write:
        return "mode=rwc"
    if _writable(path):
        return "mode=rw"
    # Without the right to write files beside it, it can be read if all is in the file itself.
    ahead = Path(f"{path}-wal")
    return "mode=ro" if ahead.exists() and ahead.stat().st_size else "mode=ro&immutable=1"


def _write_ahead(connection: sqlite3.Connection) -> None:
    """SQLite does not wait here, should another do the same at this moment. What is of another
    program stays as it is."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            names = {name for (name,) in rows}
            if names and VERSION_TABLE not in names:
                return
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
            if not busy or time.monotonic() > end:
                raise
        time.sleep(0.05)
