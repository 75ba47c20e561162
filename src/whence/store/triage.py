"""A triage that is stored log by log as it goes, and what an earlier one has answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from whence.campaign.memory import Piece
from whence.campaign.records import from_record, to_record
from whence.source import Diagnostic, Origin, UsageError
from whence.store.columns import Damaged
from whence.store.rows import (
    add_cases,
    add_findings,
    case_of,
    chunks,
    moved,
    of_key,
    read_findings,
    unless_there,
)
from whence.store.runs import TRIAGE, About, Run, begin, finish, the_run
from whence.store.schema import one_at_a_time
from whence.store.store import Store
from whence.store.tables import classes, inputs, sightings
from whence.triage.classify import constraints_of
from whence.triage.findings import Case, KnownClass, LogFindings, Triage
from whence.triage.gather import Gathering
from whence.triage.one_log import Judged
from whence.triage.results import GROUPINGS, Grouping

__all__ = ["StoredTriage", "read_triage", "triage_head"]


def triage_head(
    requirements: Mapping[str, str],
    passed_over: Sequence[str],
    earlier: Sequence[KnownClass] | None,
    verified: bool,
) -> dict[str, Any]:
    """What an answer says besides what logs tell, for `About.head`."""
    return {
        "requirements": to_record(requirements),
        "passed_over": [*passed_over],
        "earlier": None if earlier is None else to_record(tuple(earlier)),
        "verified": verified,
    }


class StoredTriage:
    """A :class:`whence.campaign.memory.Memory`: the run in the store that goes on now.

    Of each log that is done, all there is goes into one transaction: the log, its traces, faults
    and explanations, and the classes that they make. So whenever the process is killed, the store
    has the logs that were done, whole, and knows that the run has not ended.
    """

    def __init__(self, store: Store, about: About, grouping: Grouping) -> None:
        self._store = store
        self._grouping = grouping
        self._classes: dict[str, int] = {}
        self.run = begin(store, about)

    def recall(self, pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Judged]]:
        """Logs that an earlier run has looked at, with the same model and options, are logs of this
        run without any work."""
        for chunk in chunks(piece for piece in pieces if piece.key):
            told: list[tuple[Piece, Judged]] = []
            with self._store.writing() as connection:
                numbers = of_key(connection, [piece.key for piece in chunk])
                known = read_findings(connection, numbers.values())
                for piece in chunk:
                    number = numbers.get(piece.key)
                    if number is not None:
                        judged = moved(known[number], piece.path)
                        self._note(connection, piece, number, judged)
                        told.append((piece, judged))
            yield from told

    def keep(self, piece: Piece, judged: Judged) -> None:
        key = "" if judged.findings.defect else piece.key
        with self._store.writing() as connection:
            number = add_findings(connection, key, piece.content, judged.findings)
            add_cases(connection, number, judged.cases)
            self._note(connection, piece, number, judged)

    def explained(self, piece: Piece, judged: Judged) -> None:
        with self._store.writing() as connection:
            number = connection.execute(
                select(inputs.c.findings).where(
                    inputs.c.run == self.run, inputs.c.number == piece.number
                )
            ).scalar_one()
            add_cases(connection, number, judged.cases)

    def answered(self, found: Triage) -> None:
        finish(self._store, self.run, found.outcome, found.complete)

    # ---------------------------------------------------------------------------------- classes

    def _note(self, connection: Connection, piece: Piece, number: int, judged: Judged) -> None:
        connection.execute(
            insert(inputs).values(
                run=self.run, number=piece.number, path=piece.path, findings=number
            )
        )
        seen = _seen(judged.findings, self._grouping)
        if not seen:
            return
        self._describe(connection, seen, judged.cases)
        rows = [
            {
                "run": self.run,
                "class": self._classes[key],
                "size": each.size,
                "input": piece.number,
                "fault": each.fault,
            }
            for key, each in sorted(seen.items())
        ]
        _count(connection, rows)

    def _describe(
        self, connection: Connection, seen: Mapping[str, _Seen], told: Sequence[Case]
    ) -> None:
        """Sees to it that classes are there. Those that nobody has seen before are told by a case,
        of this log or of an earlier one: the first log that has an explanation has its case."""
        missing = sorted(key for key in seen if key not in self._classes)
        if not missing:
            return
        there = self._known(connection, missing)
        here = {each.explanation.key: each for each in told}
        fresh: list[dict[str, Any]] = []
        for key in missing:
            if key not in there:
                each = seen[key]
                case = here.get(each.similar) or case_of(connection, each.similar)
                if case is None:
                    raise Damaged("an explanation is missing")
                fresh.append(_in_words(self._grouping, key, each, case))
        if fresh:
            # Else two that add the same classes, in different orders, would wait for each other.
            one_at_a_time(connection)
            connection.execute(unless_there(connection, classes), fresh)
            there |= self._known(connection, [row["key"] for row in fresh])
        # Should the transaction fail, so does the run: what is noted here is true or not used.
        self._classes |= there

    def _known(self, connection: Connection, keys: Iterable[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for chunk in chunks(keys):
            rows = connection.execute(
                select(classes.c.key, classes.c.id).where(
                    classes.c.grouping == self._grouping, classes.c.key.in_(chunk)
                )
            )
            found.update((row[0], row[1]) for row in rows)
        return found


@dataclass(slots=True)
class _Seen:
    """Faults of a class in one log: how many, and the first, with an explanation."""

    size: int
    fault: int
    similar: str
    requirements: tuple[str, ...]


def _seen(found: LogFindings, grouping: Grouping) -> dict[str, _Seen]:
    """By class. A fault counts once, though several of its explanations be of the class."""
    seen: dict[str, _Seen] = {}
    for ordinal, fault in enumerate(found.faults):
        for key in dict.fromkeys(each.key(grouping) for each in fault.explanations):
            known = seen.get(key)
            if known is not None:
                known.size += 1
                continue
            similar = next(e.similar for e in fault.explanations if e.key(grouping) == key)
            seen[key] = _Seen(1, ordinal, similar, fault.requirements)
    return seen


def _in_words(grouping: Grouping, key: str, seen: _Seen, case: Case) -> dict[str, Any]:
    explanation = case.explanation
    return {
        "grouping": grouping,
        "key": key,
        "kind": explanation.fault.kind,
        "events": [*explanation.signature],
        "constraints": [*constraints_of(explanation)] if grouping == "similar" else [],
        "requirements": [*seen.requirements],
        "expected": case.expected,
        "observed": case.observed,
    }


def _count(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Adds to what the run has seen of classes; the example stays the first."""
    where = [sightings.c.run, sightings.c["class"]]
    if connection.dialect.name == "postgresql":
        of_pg = postgresql.insert(sightings)
        size = sightings.c.size + of_pg.excluded.size
        connection.execute(
            of_pg.on_conflict_do_update(index_elements=where, set_={"size": size}), rows
        )
    else:
        of_sqlite = sqlite.insert(sightings)
        size = sightings.c.size + of_sqlite.excluded.size
        connection.execute(
            of_sqlite.on_conflict_do_update(index_elements=where, set_={"size": size}), rows
        )


# -------------------------------------------------------------------------------------- reading


def read_triage(store: Store, number: int) -> Triage:
    """What a run has answered, or of a run that has not ended, what it has found. Raises UsageError
    if there is no such run."""
    with store.reading() as connection:
        run = the_run(connection, number, store.name)
        if run.command != TRIAGE:
            raise UsageError(
                Diagnostic(f"run {number} is one of `whence {run.command}`", Origin(store.name))
            )
        return _answer(connection, run)


def _answer(connection: Connection, run: Run) -> Triage:
    grouping: Grouping | None = next((each for each in GROUPINGS if each == run.grouping), None)
    if grouping is None:
        raise Damaged("a run has no grouping that there is")
    gathering = Gathering(grouping)
    rows = connection.execute(
        select(inputs).where(inputs.c.run == run.ident).order_by(inputs.c.number)
    ).all()
    for chunk in chunks(rows):
        known = read_findings(connection, [row.findings for row in chunk])
        if not all(row.findings in known for row in chunk):
            raise Damaged("what was found in a log is missing")
        for row in chunk:
            gathering.add(row.number, moved(known[row.findings], row.path))
    if not run.complete:
        _fill_up(connection, gathering)
    try:
        head = run.head
        earlier = head["earlier"]
        return gathering.triage(
            run.model,
            run.planned,
            requirements=dict(from_record(tuple[tuple[str, str], ...], head["requirements"])),
            earlier=None if earlier is None else from_record(tuple[KnownClass, ...], earlier),
            verified=from_record(bool, head["verified"]),
            complete=run.complete,
            passed_over=from_record(tuple[str, ...], head["passed_over"]),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Damaged(f"a run is not as it was written ({error})") from None


def _fill_up(connection: Connection, gathering: Gathering) -> None:
    """A run that was killed may not have come to explaining again what it had from earlier ones."""
    needed = {
        each.similar
        for found in gathering.found.values()
        for fault in found.faults
        for each in fault.explanations
    }
    for similar in sorted(needed - gathering.cases.keys()):
        case = case_of(connection, similar)
        if case is not None:
            gathering.keep(case)
