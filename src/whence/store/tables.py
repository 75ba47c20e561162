"""The tables of a store.

What is found in a log hangs on *findings*, not on a run: a log that is the same in two runs (same
content, model, options and version of whence) is found once, and both runs refer to it. All else
about a run is by its number.

The migrations make these tables; what stands here has to say the same as they do, and a test
compares them.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from whence.store.columns import Count, Record, Truth, Words

__all__ = [
    "METADATA",
    "cases",
    "classes",
    "explanations",
    "faults",
    "findings",
    "inputs",
    "results",
    "runs",
    "sightings",
    "traces",
]

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_NUMBER: Final = Count(number=True)

#: One for each time that a command was run with the store. `complete` is false until the run has
#: ended with all it should do; `ended` is NULL while it goes on, and for ever if it was killed.
#: `started`, `ended`: dates of ISO 8601 in UTC. `code`: which version of the code was tested, as
#: the user calls it. `planned`: so many inputs it was to look at. `head`: what else its answer
#: says.
runs: Final = Table(
    "runs",
    METADATA,
    Column("id", _NUMBER, primary_key=True, autoincrement=True),
    Column("command", Words, nullable=False),
    Column("started", Words, nullable=False),
    Column("ended", Words(optional=True)),
    Column("complete", Truth, nullable=False),
    Column("verdict", Words, nullable=False),
    Column("model", Words, nullable=False),
    Column("model_name", Words, nullable=False),
    Column("model_hash", Words, nullable=False),
    Column("whence", Words, nullable=False),
    Column("code", Words, nullable=False),
    Column("options", Record, nullable=False),
    Column("grouping", Words, nullable=False),
    Column("planned", Count, nullable=False),
    Column("head", Record, nullable=False),
    sqlite_autoincrement=True,
)

#: What a log tells. `key` has everything in it that decides it; NULL: it is not to be used again.
#: `marks` and `problems` are records, see :mod:`whence.campaign.records`.
findings: Final = Table(
    "findings",
    METADATA,
    Column("id", _NUMBER, primary_key=True, autoincrement=True),
    Column("key", Words(optional=True)),
    Column("content", Words, nullable=False),
    Column("marks", Record, nullable=False),
    Column("problems", Record, nullable=False),
    Column("omitted", Count, nullable=False),
    Column("absolute", Truth, nullable=False),
    Column("defect", Truth, nullable=False),
    UniqueConstraint("key"),
    sqlite_autoincrement=True,
)

#: The logs of a run that are done.
inputs: Final = Table(
    "inputs",
    METADATA,
    Column("run", _NUMBER, ForeignKey("runs.id"), nullable=False),
    Column("number", Count, nullable=False),
    Column("path", Words, nullable=False),
    Column("findings", _NUMBER, ForeignKey("findings.id"), nullable=False),
    PrimaryKeyConstraint("run", "number"),
    Index(None, "findings"),
)

traces: Final = Table(
    "traces",
    METADATA,
    Column("findings", _NUMBER, ForeignKey("findings.id"), nullable=False),
    Column("number", Count, nullable=False),
    Column("name", Words, nullable=False),
    Column("verdict", Words, nullable=False),
    Column("line", Count, nullable=False),
    Column("events", Count, nullable=False),
    Column("faults", Count, nullable=False),
    Column("reason", Words, nullable=False),
    Column("hint", Words, nullable=False),
    PrimaryKeyConstraint("findings", "number"),
)

#: `ordinal` counts the faults of the log, `number` those of the trace. Dates are fractions.
faults: Final = Table(
    "faults",
    METADATA,
    Column("findings", _NUMBER, nullable=False),
    Column("ordinal", Count, nullable=False),
    Column("trace", Count, nullable=False),
    Column("number", Count, nullable=False),
    Column("index", Count(optional=True)),
    Column("position", Count(optional=True)),
    Column("line", Count, nullable=False),
    Column("next_line", Count, nullable=False),
    Column("date", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("event", Words, nullable=False),
    Column("after", Words, nullable=False),
    Column("since", Count, nullable=False),
    Column("expected", Record, nullable=False),
    Column("others", Count, nullable=False),
    Column("requirements", Record, nullable=False),
    PrimaryKeyConstraint("findings", "ordinal"),
    ForeignKeyConstraint(["findings", "trace"], ["traces.findings", "traces.number"]),
)

#: The explanations of a fault in short, with their class in each grouping.
explanations: Final = Table(
    "explanations",
    METADATA,
    Column("findings", _NUMBER, nullable=False),
    Column("fault", Count, nullable=False),
    Column("number", Count, nullable=False),
    Column("events", Record, nullable=False),
    Column("similar", Words, nullable=False),
    Column("by_events", Words, nullable=False),
    Column("by_requirements", Words, nullable=False),
    Column("complete", Truth, nullable=False),
    Column("problems", Record, nullable=False),
    PrimaryKeyConstraint("findings", "fault", "number"),
    ForeignKeyConstraint(["findings", "fault"], ["faults.findings", "faults.ordinal"]),
)

#: Explanations with all there is to know, their proofs too: records, for some of each class.
cases: Final = Table(
    "cases",
    METADATA,
    Column("findings", _NUMBER, ForeignKey("findings.id"), nullable=False),
    Column("similar", Words, nullable=False),
    Column("record", Record, nullable=False),
    PrimaryKeyConstraint("findings", "similar"),
    Index(None, "similar"),
)

#: Classes in words: those of the member that was seen first.
classes: Final = Table(
    "classes",
    METADATA,
    Column("id", _NUMBER, primary_key=True, autoincrement=True),
    Column("grouping", Words, nullable=False),
    Column("key", Words, nullable=False),
    Column("kind", Words, nullable=False),
    Column("events", Record, nullable=False),
    Column("constraints", Record, nullable=False),
    Column("requirements", Record, nullable=False),
    Column("expected", Words, nullable=False),
    Column("observed", Words, nullable=False),
    UniqueConstraint("grouping", "key"),
    sqlite_autoincrement=True,
)

#: Which classes a run has seen, with how many faults, and one of them: the input, and the ordinal
#: of the fault in it.
sightings: Final = Table(
    "sightings",
    METADATA,
    Column("run", _NUMBER, ForeignKey("runs.id"), nullable=False),
    Column("class", _NUMBER, ForeignKey("classes.id"), nullable=False),
    Column("size", Count, nullable=False),
    Column("input", Count, nullable=False),
    Column("fault", Count, nullable=False),
    PrimaryKeyConstraint("run", "class"),
    Index(None, "class"),
)

#: What other commands answer: queries, diagnoses, goals, each as in the command's JSON.
results: Final = Table(
    "results",
    METADATA,
    Column("run", _NUMBER, ForeignKey("runs.id"), nullable=False),
    Column("number", Count, nullable=False),
    Column("kind", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("verdict", Words, nullable=False),
    Column("payload", Record, nullable=False),
    PrimaryKeyConstraint("run", "number"),
)
