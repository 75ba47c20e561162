"""`whence info`: what is in this model?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from whence.cli.common import FormatOption, ModelArgument, complain, read_document, terminal
from whence.cli.errors import printable, rendered
from whence.cli.status import ExitStatus
from whence.source import InputError, UnsupportedError, WhenceError

if TYPE_CHECKING:
    from whence.api import Model
    from whence.cli.inventory import Inventory, TemplateFacts
    from whence.formats.uppaal.document import Document

HELP = """What is in this model?

Lists templates, processes, clocks, variables, channels, queries, and what of the language the model
uses. Nothing is searched. What whence does not support is named, with its place.

\b
Exit status:
  0  the model can be checked (perhaps not all of its queries: those that cannot are named)
  2  it cannot be read, or is wrong, or uses something that is not supported
"""

#: More names than these are only counted.
_MANY = 12
_INDENT = len("templates") + 2


def register(app: typer.Typer) -> None:
    app.command("info", help=HELP, short_help="What is in this model?")(info)


def info(model: ModelArgument, output_format: FormatOption = "text") -> None:
    from whence.api import Model
    from whence.cli.inventory import inventory_of, outline_of

    document = read_document(model)
    read: Model | None = None
    wrong: InputError | None = None
    try:
        read = Model(document)
        inventory = inventory_of(read)
    except InputError as error:
        wrong, inventory = error, outline_of(document)
    queries = _queries(document, read)
    if output_format == "json":
        _print_json(document, read, inventory, queries, wrong)
    else:
        _print_text(document, read, inventory, queries, wrong)
    if wrong is not None:
        complain(rendered(wrong))
        raise typer.Exit(ExitStatus.BAD_INPUT)


def _queries(document: Document, model: Model | None) -> list[dict[str, Any]]:
    """Each query: as written, its comment, its kind, and what is wrong with it, if something is.
    Without a model, nothing is known but the text."""
    from whence.formats.uppaal.queries import says_nothing

    if model is None:
        texts = [query for query in document.queries if not says_nothing(query.formula)]
        return [
            {"query": _line(query.formula.text), "comment": _line(query.comment), "kind": None}
            | {"supported": None, "reason": "", "expected": query.expected}
            for query in texts
        ]
    found = []
    for text, query in model.asked:
        entry: dict[str, Any] = {
            "query": _line(text.formula.text),
            "comment": _line(text.comment),
            "kind": None if isinstance(query, WhenceError) else query.kind,
            "supported": not isinstance(query, WhenceError),
            "reason": "",
            "expected": text.expected,
        }
        if isinstance(query, WhenceError):
            entry["reason"] = query.render()
        found.append(entry)
    return found


def _line(text: str) -> str:
    return " ".join(text.split())


# ---------------------------------------------------------------------------------------- text


def _print_text(
    document: Document,
    model: Model | None,
    inventory: Inventory,
    queries: Sequence[dict[str, Any]],
    wrong: InputError | None,
) -> None:
    from rich.text import Text

    console = terminal()

    def row(heading: str, lines: Sequence[str]) -> None:
        """Lines stay whole, however narrow the terminal: they are to be searched and copied."""
        for number, line in enumerate(lines or ("none",)):
            text = Text(f"{'' if number else heading:<{_INDENT}}", style="bold")
            text.append(printable(line), style="not bold")
            console.print(text, soft_wrap=True)

    row("model", [document.file])
    row("templates", [_template(facts, model is not None) for facts in inventory.templates])
    if model is not None:
        row("clocks", [_names(inventory.clock_count, [name for name, _ in inventory.clocks])])
        row("variables", [_names(inventory.cell_count, _typed(inventory.variables))])
        row("channels", [_names(inventory.channel_count, _typed(inventory.channels))])
        row(
            "features",
            [f"{item.name}: {item.count}, first {item.first}" for item in inventory.features],
        )
    lines: list[str] = []
    for entry in queries:
        lines.append(entry["query"])
        if entry["comment"]:
            lines.append(f"  {entry['comment']}")
        if entry["reason"]:
            lines.extend(f"  {line}" for line in entry["reason"].splitlines())
    row("queries", lines)
    if wrong is not None:
        what = "not supported" if isinstance(wrong, UnsupportedError) else "wrong"
        count = len(wrong.diagnostics)
        things = "one thing is" if count == 1 else f"{count} things are"
        row("verdict", [f"cannot be checked: {things} {what}"])


def _template(facts: TemplateFacts, resolved: bool) -> str:
    size = f"{facts.locations} locations, {facts.edges} edges"
    if not resolved:
        return f"{facts.name}: {size}"
    if not facts.processes:
        return f"{facts.name}: {size}; no process"
    if facts.processes == (facts.name,):
        return f"{facts.name}: {size}; one process"
    return f"{facts.name}: {size}; {_names(len(facts.processes), facts.processes)}"


def _typed(items: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{name}: {type_}" for name, type_ in items]


def _names(count: int, names: Sequence[str]) -> str:
    """`3: a, b, c`, or with many of them `200: a, b, …`."""
    if not names:
        return "none"
    shown = list(names) if len(names) <= _MANY else [*names[: _MANY - 1], "…"]
    return f"{count}: {', '.join(shown)}"


# ---------------------------------------------------------------------------------------- JSON


def _print_json(
    document: Document,
    model: Model | None,
    inventory: Inventory,
    queries: Sequence[dict[str, Any]],
    wrong: InputError | None,
) -> None:
    from whence.api import fields, to_text, version

    def typed(items: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
        return [{"name": name, "type": type_} for name, type_ in items]

    result: dict[str, Any] = {
        "whence": version(),
        "schema": "info/1",
        "file": document.file,
        "network": model.network.name if model is not None else None,
        "supported": wrong is None,
        "templates": [
            {
                "name": facts.name,
                "locations": facts.locations,
                "edges": facts.edges,
                "processes": list(facts.processes),
            }
            for facts in inventory.templates
        ],
        "clocks": typed(inventory.clocks),
        "variables": typed(inventory.variables),
        "channels": typed(inventory.channels),
        "features": [
            {
                "name": item.name,
                "count": item.count,
                "file": item.first.file,
                "line": item.first.line,
                "column": item.first.column,
            }
            for item in inventory.features
        ],
        "queries": list(queries),
        "diagnostics": [
            fields(diagnostic) for diagnostic in (wrong.diagnostics if wrong is not None else ())
        ],
    }
    sys.stdout.write(to_text(result))
