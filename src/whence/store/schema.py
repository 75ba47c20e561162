"""Which version the tables of a store have, and how they are brought up to date.

The version stands in a table of its own, whose name says that the database is a store.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import ColumnClause, Connection, Text, column, inspect, select, table, text

from whence.source import Diagnostic, InputError, Origin

__all__ = ["VERSION_TABLE", "bring_up_to_date", "check_up_to_date", "newest", "one_at_a_time"]

VERSION_TABLE: Final = "whence_schema"
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
#: Whoever creates tables or classes in PostgreSQL holds this lock: any number, always the same.
_LOCK: Final = 0x77686E63


def newest() -> str:
    """The version that this program makes."""
    head = _scripts().get_current_head()
    assert head is not None
    return head


def check_up_to_date(connection: Connection, name: str) -> bool:
    """Whether the tables are older than they should be. Raises InputError if this is no store, or
    one of a newer whence."""
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        what = "this is a database of another program" if tables else "this database is empty"
        raise _error(name, what, "name a store, as `--store` makes them")
    return _version(connection, name) != newest()


def bring_up_to_date(connection: Connection, name: str, to: str = "head") -> None:
    """Makes the tables, or makes of older ones what they should be, in the transaction of this
    connection. Raises InputError as `check_up_to_date` does, but for an empty database."""
    one_at_a_time(connection)
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables and tables:
        raise _error(
            name,
            "this is a database of another program",
            "name a file that does not exist yet, or an empty database",
        )
    if VERSION_TABLE in tables and _version(connection, name) == newest():
        return
    config = _config()
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    command.upgrade(config, to)


def one_at_a_time(connection: Connection) -> None:
    """Others who ask the same wait until this transaction ends. In SQLite all who write do."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def _version(connection: Connection, name: str) -> str:
    number: ColumnClause[str] = column("version_num", Text)
    rows = connection.execute(select(number).select_from(table(VERSION_TABLE, number))).all()
    if len(rows) != 1 or not isinstance(rows[0][0], str):
        raise _error(name, "the store is damaged: it does not say which version it has")
    version = rows[0][0]
    known = [script.revision for script in _scripts().walk_revisions()]
    if version not in known:
        raise _error(
            name,
            f"the store has version {version[:40]!r} and this program knows up to {known[0]!r}: "
            "a newer whence made it",
            "use the newer whence",
        )
    return version


def _config() -> Config:
    config = Config()
    # A percent sign begins a variable in alembic's configuration.
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _error(name: str, message: str, hint: str = "") -> InputError:
    return InputError(Diagnostic(message, Origin(name), hint))
