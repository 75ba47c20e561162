"""`whence prd`: models of requirements."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from whence.cli.common import FormatOption, terminal

HELP = "Models of requirements, for `whence triage`."

SHOW = """What does this model of requirements say?

Tells services, states, times and requirements in words, and what is odd: nondeterminism, states
that cannot be reached or left, overlapping patterns, cycles of time that may not be idempotent.

\b
MODEL is one of these, told apart by what is in it:
  YAML   an ECU's services, or automata: see docs/prd.md
  PDX    an ODX database; needs whence[odx]

\b
Exit status:
  0  the model was read
  2  it cannot be read, or contradicts itself; or the usage is bad

\b
Examples:
  whence prd show requirements.yaml
  whence prd show requirements.yaml --set version=3 --transitions
  whence prd show ecu.pdx --set variant=base
"""


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=HELP)
    # With a callback, the only command of the group keeps its name.
    group.callback()(_group)
    group.command("show", help=SHOW, short_help="What does this model say?")(show)
    app.add_typer(group, name="prd", help=HELP, short_help="Models of requirements.")


def _group() -> None: ...


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model.", show_default=False)],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter, such as the variant; can be given several times.",
            show_default=False,
        ),
    ] = None,
    transitions: Annotated[
        bool, typer.Option("--transitions", help="List the automaton, too.")
    ] = False,
    unfold: Annotated[
        bool, typer.Option("--unfold", help="Count states with each value of the variables.")
    ] = False,
    output_format: FormatOption = "text",
) -> None:
    from whence.report.prd_text import prd_lines
    from whence.triage.models import load_prd, parse_parameters
    from whence.triage.unfold import unfold as unfolded

    found = load_prd(model, parse_parameters(set_ or ()))
    size = unfolded(found.automaton) if unfold else None
    if output_format == "json":
        from whence.api import to_text, version
        from whence.report.prd_json import prd_document

        sys.stdout.write(to_text(prd_document(found, found.checks(), size, version())))
        return
    console = terminal()
    for line in prd_lines(found, found.checks(), size, transitions=transitions):
        console.print(line, soft_wrap=True)
