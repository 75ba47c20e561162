"""The assembly of the commands.

Every start of `whence` imports this module and the commands' modules, so these import nothing
that is slow to load (numba, above all): a command imports what it needs when it runs.
"""

from typing import Annotated

import typer

from whence.cli import (
    causes,
    check,
    compare,
    demo,
    events,
    history,
    info,
    locate,
    prd,
    ranges,
    repair,
    replay,
    run,
    tests,
    triage,
)
from whence.cli.errors import ReportingGroup

HELP = """From the model of a timed system to what can go wrong in it, and why.

\b
What each command answers:
  check   Can this model go wrong, and how? Prints a timed diagnostic trace.
  causes  Which orders of events cause a hazard, and how likely is each?
  tests   What should I test, with which inputs at which times?
  run     What are the verdicts of these tests?
  ranges  Which delays cause the violation, and which values of them?
  repair  Which time bound do I change, so that the property holds?
  replay  Is this trace really a run of this model?
  triage  How many bugs are these failing tests?
  locate  Which lines of this C code can be the fault?
  history Which faults were seen when?
  compare What is different between two runs?
  info    What is in this model?
  events  What happened in these logs?
  prd     What does this model of requirements say?

\b
Exit status of every command:
  0  nothing wrong was found
  1  something was found: a violated property, a trace that does not replay
  2  the input or the usage is bad; the message says where and what was expected
  3  gave up within the budget; what was found by then is printed, marked partial

\b
Examples:
  whence info model.xml
  whence check model.xml
  whence check model.xml -o report.html
  whence check model.xml --format json > result.json
  whence ranges model.xml
  whence repair model.xml -o report.html
  whence tests chart.yaml -o suite/
  whence run suite/ --sut c:system.c
  whence events bus.log
  whence triage requirements.yaml logs/
  whence triage requirements.yaml logs/ --store results.db
  whence history results.db
"""


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"whence {version('whence')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options before the command."""


app = typer.Typer(
    cls=ReportingGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback(help=HELP)(_options)
for command in (
    demo, check, causes, tests, run, ranges, repair, replay, triage, locate, history, compare,
    events, prd, info,
):  # fmt: skip
    command.register(app)
