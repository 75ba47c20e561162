"""What a log tells as rows of tables, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, CursorResult, Insert, Row, Select, Table, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.campaign.memory import at_path, fits
from whence.campaign.records import from_record, to_record
from whence.store.columns import Damaged
from whence.store.tables import cases, explanations, faults, findings, traces
from whence.triage.findings import (
    Case,
    FoundFault,
    FoundMark,
    FoundTrace,
    InShort,
    LogFindings,
    Problem,
)
from whence.triage.one_log import Judged

__all__ = [
    "add_cases",
    "add_findings",
    "case_of",
    "chunks",
    "moved",
    "of_key",
    "read_findings",
    "unless_there",
]

_T = TypeVar("_T")
#: So many values a question to the database has at most.
_MOST: Final = 500


def chunks(values: Iterable[_T]) -> Iterator[list[_T]]:
    """So many as a question to the database may have."""
    rest = iter(values)
    while chunk := [*islice(rest, _MOST)]:
        yield chunk


def number_of(made: CursorResult[Any]) -> int:
    """What the database has numbered a row by that was inserted."""
    assert made.inserted_primary_key is not None
    return int(made.inserted_primary_key[0])


def unless_there(connection: Connection, table: Table) -> Insert:
    """Inserts what is not there yet, whoever has put it there meanwhile."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


# -------------------------------------------------------------------------------------- writing


def add_findings(connection: Connection, key: str, content: str, found: LogFindings) -> int:
    """Stores what a log tells, unless what has this key is there; returns its number."""
    row = {
        "key": key or None,
        "content": content,
        "marks": to_record(found.marks),
        "problems": to_record(found.problems),
        "omitted": found.omitted,
        "absolute": found.absolute,
        "defect": found.defect,
    }
    number = _number(connection, key, row)
    if number is None:
        return int(connection.execute(_there(key)).scalar_one())
    for table, rows in (
        (traces, _traces(number, found)),
        (faults, _faults(number, found)),
        (explanations, _explanations(number, found)),
    ):
        if rows:
            connection.execute(insert(table), rows)
    return number


def _number(connection: Connection, key: str, row: dict[str, Any]) -> int | None:
    """The number of new findings; None if there are some with this key."""
    if not key:
        return number_of(connection.execute(insert(findings).values(row)))
    if connection.execute(_there(key)).one_or_none() is not None:
        return None
    if connection.dialect.name == "postgresql":
        # Another run may store the same at this moment.
        adding = unless_there(connection, findings).values(row).returning(findings.c.id)
        return connection.execute(adding).scalar_one_or_none()
    return number_of(connection.execute(insert(findings).values(row)))


def _there(key: str) -> Select[Any]:
    return select(findings.c.id).where(findings.c.key == key)


def add_cases(connection: Connection, number: int, found: Sequence[Case]) -> None:
    rows = [
        {"findings": number, "similar": each.explanation.key, "record": to_record(each)}
        for each in found
    ]
    if rows:
        connection.execute(unless_there(connection, cases), rows)


def _traces(number: int, found: LogFindings) -> list[dict[str, Any]]:
    return [
        {
            "findings": number,
            "number": n,
            "name": each.name,
            "verdict": each.verdict,
            "line": each.line,
            "events": each.events,
            "faults": each.faults,
            "reason": each.reason,
            "hint": each.hint,
        }
        for n, each in enumerate(found.traces)
    ]


def _faults(number: int, found: LogFindings) -> list[dict[str, Any]]:
    return [
        {
            "findings": number,
            "ordinal": ordinal,
            "trace": each.trace,
            "number": each.number,
            "index": each.index,
            "position": each.position,
            "line": each.line,
            "next_line": each.next_line,
            "date": str(each.date),
            "kind": each.kind,
            "event": each.event,
            "after": str(each.after),
            "since": each.since,
            "expected": [*each.expected],
            "others": each.others,
            "requirements": [*each.requirements],
        }
        for ordinal, each in enumerate(found.faults)
    ]


def _explanations(number: int, found: LogFindings) -> list[dict[str, Any]]:
    return [
        {
            "findings": number,
            "fault": ordinal,
            "number": n,
            "events": [*each.events],
            "similar": each.similar,
            "by_events": each.by_events,
            "by_requirements": each.by_requirements,
            "complete": each.complete,
            "problems": None if each.problems is None else [*each.problems],
        }
        for ordinal, fault in enumerate(found.faults)
        for n, each in enumerate(fault.explanations)
    ]


# -------------------------------------------------------------------------------------- reading


def of_key(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    """The findings that have these keys, as far as there are any."""
    found: dict[str, int] = {}
    for chunk in chunks(keys):
        rows = connection.execute(
            select(findings.c.key, findings.c.id).where(findings.c.key.in_(chunk))
        )
        found.update((row[0], row[1]) for row in rows)
    return found


def read_findings(connection: Connection, numbers: Iterable[int]) -> dict[int, Judged]:
    """What logs tell, with the cases that are kept, by number of the findings. Where the logs are
    is left open (see `moved`)."""
    found: dict[int, Judged] = {}
    for chunk in chunks(dict.fromkeys(numbers)):
        found.update(_read(connection, chunk))
    return found


def _read(connection: Connection, numbers: list[int]) -> Iterator[tuple[int, Judged]]:
    heads = connection.execute(select(findings).where(findings.c.id.in_(numbers))).all()
    of_traces = _by_findings(connection, traces, numbers, traces.c.number)
    of_faults = _by_findings(connection, faults, numbers, faults.c.ordinal)
    shorts = _by_findings(
        connection, explanations, numbers, explanations.c.fault, explanations.c.number
    )
    of_cases = _by_findings(connection, cases, numbers, cases.c.similar)
    try:
        for head in heads:
            number = head.id
            in_short: defaultdict[int, list[InShort]] = defaultdict(list)
            for row in shorts[number]:
                in_short[row.fault].append(_in_short(row))
            found = LogFindings(
                traces=tuple(map(_trace, of_traces[number])),
                faults=tuple(
                    _fault(row, tuple(in_short[row.ordinal])) for row in of_faults[number]
                ),
                marks=from_record(tuple[FoundMark, ...], head.marks),
                problems=from_record(tuple[Problem, ...], head.problems),
                omitted=from_record(int, head.omitted),
                absolute=head.absolute,
                defect=head.defect,
            )
            if not fits(found):
                raise Damaged("a log has no traces")
            kept = tuple(from_record(Case, row.record) for row in of_cases[number])
            yield number, Judged(found, kept)
    except (ValueError, TypeError) as error:
        raise Damaged(f"findings are not as they were written ({error})") from None


def _by_findings(
    connection: Connection, table: Table, numbers: list[int], *order: Any
) -> defaultdict[int, list[Row[Any]]]:
    rows = connection.execute(
        select(table).where(table.c.findings.in_(numbers)).order_by(table.c.findings, *order)
    )
    found: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        found[row.findings].append(row)
    return found


def _trace(row: Row[Any]) -> FoundTrace:
    record = [row.name, "", row.verdict, row.line, row.events, row.faults, row.reason, row.hint]
    return from_record(FoundTrace, record)


def _fault(row: Row[Any], in_short: tuple[InShort, ...]) -> FoundFault:
    values = row._mapping
    names = (
        "trace", "number", "index", "position", "line", "next_line", "date", "kind", "event",
        "after", "since", "expected", "others", "requirements",
    )  # fmt: skip
    fault = from_record(FoundFault, [*(values[name] for name in names), []])
    return replace(fault, explanations=in_short)


def _in_short(row: Row[Any]) -> InShort:
    record = [
        row.events, row.similar, row.by_events, row.by_requirements, row.complete, row.problems,
    ]  # fmt: skip
    return from_record(InShort, record)


def case_of(connection: Connection, similar: str) -> Case | None:
    """Some explanation of this key, wherever it is from."""
    rows = connection.execute(
        select(cases.c.record).where(cases.c.similar == similar).order_by(cases.c.findings).limit(1)
    )
    for row in rows:
        try:
            return from_record(Case, row[0])
        except (ValueError, TypeError) as error:
            raise Damaged(f"an explanation is not as it was written ({error})") from None
    return None


def moved(judged: Judged, path: str) -> Judged:
    """The same, of a log that stands there."""
    return Judged(
        at_path(judged.findings, path),
        tuple(replace(each, rank=(*each.rank[:3], path, *each.rank[4:])) for each in judged.cases),
    )
