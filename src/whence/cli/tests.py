"""`whence tests`: what should I test, with which inputs at which times?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.common import FormatOption, terminal
from whence.cli.counterexample import QuietOption
from whence.cli.status import ExitStatus
from whence.cli.watch import watching
from whence.source import UsageError

if TYPE_CHECKING:
    from whence.model.suite import Suite

HELP = """What should I test, with which inputs at which times?

Generates a suite of tests that covers a model of concurrent timed state machines: their control
states, transitions, conditions of guards (MC/DC), boundary values of inputs, requirements, and the
goals that the model or --goal names as temporal formulas. Each goal ends as covered by a test,
proved unreachable, or open up to a number of steps.

MODEL is a chart (.yaml), or state machines of UML or SysML (.uml, .xmi, Cameo's .xml). Its machines
take their steps together; see docs/tests.md.

\b
Exit status:
  0  all goals are covered, or proved unreachable
  1  something is wrong with the model, or a state, transition or requirement is unreachable
  2  the model or a goal cannot be read, or is not supported
  3  some goals are open: neither covered nor proved unreachable

\b
Examples:
  whence tests turn_indicator.yaml
  whence tests turn_indicator.yaml -o suite/ --render pytest --render csv
  whence tests turn_indicator.yaml --mutate --kill -o suite/
  whence tests model.xmi --widen-ranges --format json
  whence tests turn_indicator.yaml --goal 'F (Output.Flashing && in_EmSwitch)'
"""


def register(app: typer.Typer) -> None:
    app.command("tests", help=HELP, short_help="What should I test, with which inputs?")(generate)


def generate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model.", show_default=False)],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write the suite to this folder."),
    ] = None,
    goals: Annotated[
        list[str] | None,
        typer.Option(
            "--goal",
            metavar="FORMULA",
            help="One more goal, such as 'F (Output.On && x > 3)'; can be given several times.",
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Only goals of this kind: state, transition, hierarchic, mcdc, state-pair, "
            "transition-pair, boundary, class, requirement or user; can be given several times.",
        ),
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs", help="Also pairs of control states and of transitions, of which many are."
        ),
    ] = False,
    style: Annotated[
        Literal["few", "short"],
        typer.Option("--tests", help="As few tests as possible, or short ones."),
    ] = "few",
    bound: Annotated[
        int,
        typer.Option(min=1, max=1000, metavar="K", help="How many steps to look ahead for a goal."),
    ] = 24,
    latency: Annotated[
        int,
        typer.Option(min=0, metavar="MS", help="How much later an output may come, in a test."),
    ] = 50,
    widen_ranges: Annotated[
        bool,
        typer.Option(
            "--widen-ranges",
            help="Widen ranges that a default or an assignment leaves, and say so.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="What random choices begin with.")] = 0,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, metavar="S", help="Ask no new questions after so many seconds."),
    ] = None,
    mutate: Annotated[
        bool,
        typer.Option("--mutate", help="Measure the suite with mutants of the model."),
    ] = False,
    kill: Annotated[
        bool,
        typer.Option("--kill", help="Add tests that kill mutants which survive (with --mutate)."),
    ] = False,
    forms: Annotated[
        list[str] | None,
        typer.Option(
            "--render",
            metavar="FORM",
            help="Write the suite also as pytest, robot, csv or c; can be given several times.",
        ),
    ] = None,
    output_format: FormatOption = "text",
    quiet: QuietOption = False,
) -> None:
    from whence.api import to_text, version
    from whence.api.tests import load_timed_chart, write_suite
    from whence.report.tests_json import suite_document
    from whence.report.tests_text import suite_text

    if forms and output is None:
        raise UsageError("--render needs a folder to write to: -o FOLDER")
    chart = load_timed_chart(model)
    if widen_ranges:
        chart = chart.widened()
    with watching(not quiet) as watch:
        suite = chart.tests(
            seed=seed,
            goals=tuple(goals or ()),
            kinds=tuple(kinds or ()),
            style=style,
            bound=bound,
            latency=latency,
            seconds=seconds,
            pairs=pairs,
            say=watch.stage,
        )
        if mutate or kill:
            suite = chart.mutate(
                suite, seed=seed, latency=latency, seconds=seconds, kill=kill, say=watch.stage
            )
    if output is not None:
        interface = chart.interface() if {"c", "csv"} & set(forms or ()) else None
        write_suite(suite, output, tuple(forms or ()), interface)
    if output_format == "json":
        sys.stdout.write(to_text(suite_document(suite, version())))
    else:
        terminal().print(suite_text(suite))
    raise typer.Exit(_status(suite))


def _status(suite: Suite) -> ExitStatus:
    if suite.count("open"):
        return ExitStatus.GAVE_UP
    dead = any(
        goal.status == "unreachable" and goal.kind in ("state", "transition", "requirement", "user")
        for goal in suite.goals
    )
    if dead or any(one.severity == "error" for one in suite.findings):
        return ExitStatus.FOUND
    return ExitStatus.NOTHING_WRONG
