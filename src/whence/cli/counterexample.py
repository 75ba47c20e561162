"""What the commands about one violated property need: which property, and which trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.status import ExitStatus
from whence.source import Diagnostic, Origin, SourceText, UsageError, WhenceError

if TYPE_CHECKING:
    from whence.api import Limits, Model, Recorded
    from whence.model.network import Query
    from whence.model.trace import TimedTrace
    from whence.timing.results import RangesResult, RepairResult

__all__ = [
    "BudgetOption",
    "QueryOption",
    "QuietOption",
    "TraceOption",
    "asked",
    "limits_of",
    "outcome",
]

QueryOption = Annotated[
    str | None,
    typer.Option(
        "--query",
        "-q",
        metavar="TEXT",
        help="The `A[]` property; may be left out if the model has only one.",
    ),
]
TraceOption = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="The trace that violates it, as `whence check` or UPPAAL wrote it; without this, "
        "one is searched for.",
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="When to give up: 60s, 2GB, 1000000 states; several with commas.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", help="Print only the answer: no trace, and no progress.")
]


def limits_of(budget: str | None) -> Limits | None:
    from whence.api import parse_budget

    return parse_budget(budget) if budget is not None else None


def asked(
    model: Model, query: str | None, file: str | None
) -> tuple[Query | None, TimedTrace | None]:
    """The property that is meant, and its trace from a file, if one is named. Without a query,
    a trace that says which one it answers decides."""
    meant = model.query(SourceText(query, "--query")) if query is not None else None
    if file is None:
        return meant, None
    recorded = _answering(model.traces(file), meant, file)
    if meant is None and recorded.query:
        meant = model.query(SourceText(recorded.query, file))
    return meant, recorded.trace


def _answering(traces: list[Recorded], query: Query | None, file: str) -> Recorded:
    """The one trace of a file that answers a query, or that does not say which one it does."""
    if query is not None:
        words = query.text.split()
        fitting = [at for at in traces if at.query.split() == words]
        fitting = fitting or [at for at in traces if not at.query]
    else:
        fitting = traces
    if len(fitting) == 1 or (fitting and query is not None):
        return fitting[0]
    listed = ", ".join(f"`{' '.join(at.query.split())}`" for at in traces) or "none"
    if not fitting:
        what = "no trace in this file answers the query" if traces else "there is no trace in it"
        raise UsageError(Diagnostic(what, Origin(file), f"the queries with a trace: {listed}"))
    raise UsageError(
        Diagnostic(
            f"there are {len(fitting)} traces in this file",
            Origin(file),
            f"choose one with --query: {listed}",
        )
    )


def outcome(result: RangesResult | RepairResult, failed: list[WhenceError]) -> ExitStatus:
    """What the shell is told of an answer, and of what could not be done with it."""
    if failed:
        return ExitStatus.BAD_INPUT
    if result.verdict == "error":
        return ExitStatus.FOUND
    if result.verdict == "unknown" or not result.complete:
        return ExitStatus.GAVE_UP
    return ExitStatus.FOUND if result.verdict == "violated" else ExitStatus.NOTHING_WRONG
