"""What a database complains about becomes a message about the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from whence.source import Diagnostic, InputError, Origin
from whence.store.columns import Damaged

__all__ = ["damaged", "told"]

#: By what SQLite calls it (the longest name that fits): what is wrong, and what can be done.
_SQLITE: Final = {
    "SQLITE_BUSY": ("another program keeps the store locked", "try again when it has ended"),
    "SQLITE_LOCKED": ("another program keeps the store locked", "try again when it has ended"),
    "SQLITE_READONLY": ("the store cannot be written: it is read-only", ""),
    "SQLITE_PERM": ("the store cannot be written: permission denied", ""),
    "SQLITE_AUTH": ("the store cannot be written: permission denied", ""),
    "SQLITE_FULL": (
        "the store cannot be written: there is no space left",
        "what was stored before is there; go on with the same command when there is space",
    ),
    "SQLITE_IOERR": (
        "the store cannot be read or written: the disk reports an error, or is full",
        "what was stored before is there, if the disk is well",
    ),
    "SQLITE_CANTOPEN": ("the store cannot be opened", ""),
    "SQLITE_NOTADB": ("this is no database", "name a file that does not exist yet, or a store"),
    "SQLITE_CORRUPT": (
        "the store is damaged",
        "`sqlite3 FILE .recover` may save what can be read; or take a copy",
    ),
    "SQLITE_TOOBIG": ("a result is too large for the store", ""),
    "SQLITE_NOMEM": ("there is not enough memory for the store", ""),
}
#: By the first two characters of PostgreSQL's code, or all five.
_POSTGRESQL: Final = {
    "25006": ("the store cannot be written: it is read-only", ""),
    "28": ("the database does not let us in", ""),
    "3D": ("there is no such database", "create it first, with createdb"),
    "42501": ("the store cannot be used: permission denied", ""),
    "53100": (
        "the store cannot be written: there is no space left",
        "what was stored before is there; go on with the same command when there is space",
    ),
    "53": ("the database has no room for us now", "try again later"),
    "55P03": ("another program keeps the store locked", "try again when it has ended"),
    "42P01": ("the store is damaged: a table is missing", ""),
    "42703": ("the store is damaged: a column is missing", ""),
}


@contextmanager
def told(name: str) -> Iterator[None]:
    """Raises InputError for whatever is wrong with the store of this name."""
    try:
        yield
    except Damaged as error:
        raise damaged(name, str(error)) from error
    except DBAPIError as error:
        raise _of_driver(name, error.orig) from error
    except sqlite3.Error as error:
        raise _of_driver(name, error) from error
    except SQLAlchemyError as error:
        raise _error(name, f"the store cannot be used: {_one_line(error)}") from error


def damaged(name: str, what: str) -> InputError:
    return _error(name, f"the store is damaged: {what}")


def _of_driver(name: str, error: BaseException | None) -> InputError:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorname", "")
        for known, (message, hint) in _SQLITE.items():
            if code == known or code.startswith(f"{known}_"):
                return _error(name, message, hint)
        return _error(name, f"the store is damaged: {_one_line(error)}")
    state = getattr(error, "sqlstate", None) or ""
    for length in (5, 2):
        found = _POSTGRESQL.get(state[:length]) if state else None
        if found is not None:
            return _error(name, f"{found[0]} ({_one_line(error)})", found[1])
    return _error(name, f"the database says: {_one_line(error)}")


def _one_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def _error(name: str, message: str, hint: str = "") -> InputError:
    return InputError(Diagnostic(message, Origin(name), hint))
