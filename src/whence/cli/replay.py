"""`whence replay`: is this trace really a run of this model?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.common import FormatOption, ModelArgument, read_model, terminal
from whence.cli.status import ExitStatus
from whence.source import Diagnostic, InputError, Origin, WhenceError

if TYPE_CHECKING:
    from rich.console import Console

    from whence.api import Model, Recorded
    from whence.explore.concrete import ConcreteState
    from whence.explore.replay import Replay
    from whence.model.network import Query

HELP = """Is this trace really a run of this model?

Walks the trace step by step on the model, with plain arithmetic on exact numbers, and says which
step fails, and why, if one does. If the trace names its query, the end is checked for what the
query asks, too.

\b
TRACE is one of:
  what `whence check --save-trace FILE.json` wrote
  what `whence check --format json` printed: the runs of all its queries are replayed
  a symbolic trace in UPPAAL's XML; delays are found for it

\b
Exit status:
  0  the trace is a run of the model
  1  it is not
  2  the model or the trace cannot be read
"""


def register(app: typer.Typer) -> None:
    app.command("replay", help=HELP, short_help="Is this trace really a run of this model?")(replay)


def replay(
    model: ModelArgument,
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="The trace.", show_default=False)],
    output_format: FormatOption = "text",
) -> None:
    read = read_model(model)
    recorded = read.traces(trace)
    if not recorded:
        raise InputError(
            Diagnostic(
                "no query in this result has a trace",
                Origin(trace),
                "a satisfied `A[]` needs none; was the check made with --trace none?",
            )
        )
    replays = [_replayed(read, item) for item in recorded]
    if output_format == "json":
        _print_json(read, recorded, replays)
    else:
        _print_text(read, recorded, replays)
    failed = any(not replayed.ok for replayed in replays)
    raise typer.Exit(ExitStatus.FOUND if failed else ExitStatus.NOTHING_WRONG)


def _replayed(model: Model, recorded: Recorded) -> Replay:
    query = _query(model, recorded.query)
    if query is None:
        return model.replay(recorded.trace)
    return model.confirm(query, recorded.trace)


def _query(model: Model, text: str) -> Query | None:
    """A trace may come from elsewhere, with a query that is none of ours: it is a run or not."""
    try:
        return model.query(text) if text else None
    except WhenceError:
        return None


def _verdict(replayed: Replay) -> str:
    if not replayed.ok:
        place = f"{replayed.origin}: " if str(replayed.origin) else ""
        return f"fails after step {replayed.step}: {place}{replayed.reason}"
    if replayed.fault is not None:
        return f"the trace is a run of the model, and ends in the error: {replayed.fault}"
    return "the trace is a run of the model"


# ---------------------------------------------------------------------------------------- text


def _print_text(model: Model, recorded: Sequence[Recorded], replays: Sequence[Replay]) -> None:
    from rich.text import Text

    console = terminal()
    for number, (item, replayed) in enumerate(zip(recorded, replays, strict=True)):
        if number:
            console.print()
        if item.query:
            console.print(Text(" ".join(item.query.split()), style="bold"))
            console.print()
        _print_steps(model, item, replayed, console)
        console.print()
        style = "bold green" if replayed.ok else "bold red"
        console.print(Text(_verdict(replayed), style=style), soft_wrap=True)


def _print_steps(model: Model, item: Recorded, replayed: Replay, console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("time", justify="right", overflow="fold", max_width=12)
    table.add_column("action", overflow="fold", max_width=24)
    table.add_column("locations", ratio=3, overflow="fold")
    table.add_column("clocks on arrival", ratio=2, overflow="fold")
    for row in _steps(model, item, replayed):
        locations = ", ".join(f"{name}.{at}" for name, at in row["locations"].items())
        clocks = ", ".join(f"{name} = {value}" for name, value in row["clocks"].items())
        action = row["action"] or "(start)"
        cells = (str(row["step"]), str(row["time"]), action, locations, clocks)
        table.add_row(*map(Text, cells))
    console.print(table)


def _steps(model: Model, item: Recorded, replayed: Replay) -> list[dict[str, Any]]:
    """The states that were really reached, each as it was on arrival. After the first, only
    processes and variables that have changed are named."""
    from whence.explore.trace_json import location_names

    names = [location_names(process) for process in model.network.processes]
    cells = model.layout.cells
    rows: list[dict[str, Any]] = []
    time = Fraction(0)
    before: ConcreteState | None = None
    # Arrival in a state and the end of the wait there take turns.
    for number, state in enumerate(replayed.states[::2]):
        if number:
            time += item.trace.delays[number - 1]
        rows.append(
            {
                "step": number,
                "time": _exact(time),
                "action": item.trace.transitions[number - 1].action if number else None,
                "locations": {
                    process.name: names[at][here]
                    for at, (process, here) in enumerate(
                        zip(model.network.processes, state.locations, strict=True)
                    )
                    if before is None or before.locations[at] != here
                },
                "variables": {
                    cells[at].name: value
                    for at, value in enumerate(state.values)
                    if before is None or before.values[at] != value
                },
                "clocks": {
                    name: _exact(value)
                    for name, value in zip(model.layout.clocks[1:], state.clocks[1:], strict=True)
                },
            }
        )
        before = state
    return rows


def _exact(number: Fraction) -> int | str:
    return number.numerator if number.denominator == 1 else str(number)


# ---------------------------------------------------------------------------------------- JSON


def _print_json(model: Model, recorded: Sequence[Recorded], replays: Sequence[Replay]) -> None:
    from whence.api import to_text, version

    document = {
        "whence": version(),
        "schema": "replay/1",
        "file": model.file,
        "network": model.network.name,
        "traces": [
            {
                "query": item.query,
                "ok": replayed.ok,
                "failed_step": replayed.step,
                "reason": replayed.reason,
                "place": str(replayed.origin),
                "steps": _steps(model, item, replayed),
            }
            for item, replayed in zip(recorded, replays, strict=True)
        ],
    }
    sys.stdout.write(to_text(document))
