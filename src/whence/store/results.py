"""What commands other than triage answer: their JSON documents, an entry a row.

A document is kept as it is printed: its list of answers in rows that can be asked for by name and
verdict, the rest of it with the run. It is for the caller to see that it is such a document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, insert, select

from whence.source import Diagnostic, Origin, UsageError
from whence.store.columns import Damaged
from whence.store.runs import About, RunVerdict, begun, finished, the_run
from whence.store.store import Store
from whence.store.tables import results

__all__ = ["KINDS", "Kind", "Result", "keep_document", "read_document", "results_of"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """Where the answers of a document are: in the list `items`, each of a `kind`, with a name that
    is the same when the same is asked again, and a verdict."""

    items: str
    kind: str
    name: Callable[[Json], str]
    verdict: Callable[[Json], str]


def _places(diagnosis: Json) -> str:
    return ", ".join(f"{place['file']}:{place['line']}" for place in diagnosis["places"])


#: By the schema of the document.
KINDS: Final[Mapping[str, Kind]] = {
    "check/1": Kind("queries", "query", lambda each: each["query"], lambda each: each["verdict"]),
    "locate/1": Kind("diagnoses", "diagnosis", _places, lambda _: "possible"),
    "run/1": Kind("verdicts", "test", lambda each: each["test"], lambda each: each["verdict"]),
    "tests/1": Kind("goals", "goal", lambda each: each["id"], lambda each: each["status"]),
}


@dataclass(frozen=True, slots=True)
class Result:
    kind: str
    name: str
    verdict: str


def keep_document(
    store: Store, about: About, document: Mapping[str, Any], verdict: RunVerdict, complete: bool
) -> int:
    """Stores a document, all of it or nothing; returns the number of the run."""
    kind = KINDS[document["schema"]]
    head = {name: value for name, value in document.items() if name != kind.items}
    items: list[Json] = document[kind.items]
    rows = [
        {
            "number": number,
            "kind": kind.kind,
            "name": kind.name(each),
            "verdict": kind.verdict(each),
            "payload": each,
        }
        for number, each in enumerate(items)
    ]
    about = replace(about, head={"fields": [*document], "document": head}, planned=len(items))
    with store.writing() as connection:
        run = begun(connection, about)
        if rows:
            connection.execute(insert(results), [{"run": run, **row} for row in rows])
        finished(connection, run, verdict, complete)
    return run


def read_document(store: Store, number: int) -> Json:
    """The document of a run, as it was kept. Raises UsageError if the run has none."""
    with store.reading() as connection:
        run = the_run(connection, number, store.name)
        head = run.head.get("document")
        if not isinstance(head, dict):
            raise UsageError(
                Diagnostic(f"run {number} is one of `whence {run.command}`", Origin(store.name))
            )
        kind = KINDS.get(head.get("schema", ""))
        if kind is None:
            raise Damaged("a document is of no kind that there is")
        items = [
            row[0]
            for row in connection.execute(
                select(results.c.payload).where(results.c.run == number).order_by(results.c.number)
            )
        ]
        fields = run.head.get("fields")
        whole = {**head, kind.items: items}
        if not isinstance(fields, list) or sorted(map(str, fields)) != sorted(whole):
            raise Damaged("a document is not as it was written")
        return {name: whole[name] for name in fields}


def results_of(connection: Connection, run: int) -> tuple[Result, ...]:
    rows = connection.execute(
        select(results.c.kind, results.c.name, results.c.verdict)
        .where(results.c.run == run)
        .order_by(results.c.number)
    )
    return tuple(Result(*row) for row in rows)
