"""Runs of commands: when, of what, and how they ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias, get_args

from sqlalchemy import Connection, Row, insert, select, update

from whence.source import Diagnostic, Origin, UsageError
from whence.store.columns import Damaged
from whence.store.store import Store
from whence.store.tables import runs

__all__ = ["TRIAGE", "About", "Run", "RunVerdict", "all_runs", "begin", "finish", "the_run"]

#: As the exit status of the command says it; "" of a run that has not ended.
RunVerdict: TypeAlias = Literal["", "nothing", "found", "bad", "gave up", "defect"]
#: The command whose findings have tables of their own.
TRIAGE: Final = "triage"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a run when it begins. `model` is a file, `model_hash` the hash of what is in
    it and in the other files that the model is read from. `code`: which version of the code was
    tested. `planned`: how many inputs there are. `head`: what its answer says besides results."""

    command: str
    model: str
    model_name: str
    whence: str
    model_hash: str = ""
    code: str = ""
    grouping: str = ""
    planned: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    head: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """A run. `ended` None: it goes on, or it was killed. Dates are of ISO 8601."""

    ident: int
    command: str
    started: str
    ended: str | None
    complete: bool
    verdict: RunVerdict
    model: str
    model_name: str
    model_hash: str
    whence: str
    code: str
    grouping: str
    planned: int
    options: Mapping[str, Any]
    head: Mapping[str, Any]


def begin(store: Store, about: About) -> int:
    """Notes that a run begins; returns its number."""
    with store.writing() as connection:
        return begun(connection, about)


def begun(connection: Connection, about: About) -> int:
    made = connection.execute(
        insert(runs).values(
            command=about.command,
            started=_now(),
            ended=None,
            complete=False,
            verdict="",
            model=about.model,
            model_name=about.model_name,
            model_hash=about.model_hash,
            whence=about.whence,
            code=about.code,
            options=dict(about.options),
            grouping=about.grouping,
            planned=about.planned,
            head=dict(about.head),
        )
    )
    assert made.inserted_primary_key is not None
    number: int = made.inserted_primary_key[0]
    return number


def finish(store: Store, run: int, verdict: RunVerdict, complete: bool) -> None:
    """Notes that a run has ended, and whether with all it should do."""
    with store.writing() as connection:
        finished(connection, run, verdict, complete)


def finished(connection: Connection, run: int, verdict: RunVerdict, complete: bool) -> None:
    connection.execute(
        update(runs)
        .where(runs.c.id == run)
        .values(ended=_now(), verdict=verdict, complete=complete)
    )


def all_runs(connection: Connection) -> tuple[Run, ...]:
    """The oldest first."""
    return tuple(map(_run, connection.execute(select(runs).order_by(runs.c.id))))


def the_run(connection: Connection, number: int, name: str) -> Run:
    """Raises UsageError if there is no run with this number; `name` is that of the store."""
    row = connection.execute(select(runs).where(runs.c.id == number)).one_or_none()
    if row is None:
        raise UsageError(
            Diagnostic(
                f"there is no run {number} in this store",
                Origin(name),
                "`whence history` lists the runs",
            )
        )
    return _run(row)


def _run(row: Row[Any]) -> Run:
    values = row._mapping
    if values["verdict"] not in get_args(RunVerdict):
        raise Damaged("a run has no verdict that there is")
    for name in ("options", "head"):
        if not isinstance(values[name], dict):
            raise Damaged("a run is not as it was written")
    return Run(
        ident=values["id"],
        command=values["command"],
        started=values["started"],
        ended=values["ended"],
        complete=values["complete"],
        verdict=values["verdict"],
        model=values["model"],
        model_name=values["model_name"],
        model_hash=values["model_hash"],
        whence=values["whence"],
        code=values["code"],
        grouping=values["grouping"],
        planned=values["planned"],
        options=values["options"],
        head=values["head"],
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
