"""`whence causes`: which orders of events cause a hazard, how likely is each?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.common import Format, FormatOption, complain, terminal
from whence.cli.counterexample import BudgetOption, QuietOption, limits_of
from whence.cli.errors import rendered
from whence.cli.status import ExitStatus
from whence.cli.watch import watching
from whence.source import Diagnostic, UsageError, WhenceError

if TYPE_CHECKING:
    from whence.api import System
    from whence.causes.results import CausesResult
    from whence.model.fault_tree import FaultTree

HELP = """Which orders of events cause a hazard, and how likely is each?

Finds every minimal set of events, with the order that matters, after which the hazard is there.
Without --non-occurrence the causes are weak: other events may avert the hazard in between;
with it, each cause also says what must not happen.

MODEL is a chart (.yaml), UML or SysML state machines (.uml, .xmi, Cameo's .xml), a network of
timed automata (.xml, .xta, .ta), or a transition system (.aut, .dot). `compare` and two models
show both side by side.

\b
Exit status:
  0  the hazard cannot come about
  1  it can, and the causes are listed; or it is there from the start
  2  the model or the hazard cannot be read, or is not supported
  3  gave up within the budget; all causes up to the depth said are listed

\b
Examples:
  whence causes railroad.yaml
  whence causes railroad.yaml --non-occurrence 1 -o report.html
  whence causes model.xml --hazard 'Train.Cross && Car.Cross'
  whence causes ads.yaml --hazard SG1 --time 1h -o tree.dft
  whence causes compare ads_1.yaml ads_2.yaml --hazard SG1 --time 1h
"""

#: What a file is written as, by its ending.
_ENDINGS = (".html", ".dft", ".xml", ".dot", ".csv", ".json", ".prism")


def register(app: typer.Typer) -> None:
    app.command("causes", help=HELP, short_help="Which orders of events cause a hazard?")(causes)


def causes(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="The model; or `compare` and two models.",
            show_default=False,
        ),
    ],
    hazard: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR",
            help="A hazard that the model names, or a condition on its states, such as "
            "'Train.Tc && Car.Cc'. May be left out if the model names just one.",
        ),
    ] = None,
    errors: Annotated[
        Literal["any", "all"] | None,
        typer.Option(
            help="Of charts: the hazard is any state that is marked as an error or a failure; or "
            "one of each machine that has some.",
        ),
    ] = None,
    ltl: Annotated[
        str | None,
        typer.Option(
            metavar="FORMULA",
            help="What should hold, as a temporal formula (safety only), in place of a hazard.",
        ),
    ] = None,
    bad: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATE",
            help="Of an .aut file: a state that is the hazard, by its number, or an action that "
            "leads to it; can be given several times.",
        ),
    ] = None,
    ignore_calls: Annotated[
        bool,
        typer.Option(
            "--ignore-calls",
            help="Of charts: leave out calls of functions and activities that the model does not "
            "define, and list them.",
        ),
    ] = False,
    non_occurrence: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Also say what must not happen, looking for up to N events that avert the "
            "hazard together.",
        ),
    ] = 0,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Split causes whose order admits sequences that do not lead there."
        ),
    ] = False,
    depth: Annotated[
        int | None, typer.Option(min=1, metavar="D", help="Only causes of up to D events.")
    ] = None,
    labels: Annotated[
        Literal["transitions", "actions"],
        typer.Option(help="Of timed automata: events are transitions, or only their channels."),
    ] = "transitions",
    time: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="Also compute probabilities: that it comes about within T, such as 1h or 90min.",
        ),
    ] = None,
    default_rate: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Transitions without a rate have this one, and are not immediate.",
        ),
    ] = None,
    like_thesis: Annotated[
        bool,
        typer.Option("--like-thesis", help="The same as --default-rate 1."),
    ] = False,
    activation: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR",
            help="Where an emergency mode is activated: how likely is it that the system fails "
            "within --operation after that?",
        ),
    ] = None,
    operation: Annotated[
        str, typer.Option(metavar="T", help="How long the emergency mode is needed.")
    ] = "10s",
    budget: BudgetOption = None,
    output_format: FormatOption = "text",
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Also write a report (.html), the fault tree (.dft for Galileo, .xml for "
            "Open-PSA, .dot), the causes (.csv, .json), or the system for PRISM (.prism); can be "
            "given several times.",
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    from whence import files

    compared = models[0] == "compare"
    if len(models) != (3 if compared else 1):
        raise UsageError(
            Diagnostic("one model is needed, or `compare` and two models", hint="whence causes -h")
        )
    limits = limits_of(budget)
    for path in outputs or ():
        if not path.lower().endswith(_ENDINGS):
            told = ", ".join(_ENDINGS)
            raise UsageError(f"{path}: nothing is written to such a file; known are {told}")
        if compared and not path.lower().endswith((".json",)):
            raise UsageError(f"{path}: a comparison is only written as .json")
        files.check_writable(path)
    if like_thesis and default_rate is None:
        default_rate = 1.0
    systems = [_read(path, bad or [], ignore_calls) for path in models[compared:]]
    if not quiet:
        for system in systems:
            for note in system.notes:
                complain(note.render())
    if errors is not None:
        if hazard is not None or ltl is not None:
            raise UsageError("the hazard is given twice: by --errors, and by --hazard or --ltl")
        hazard = systems[0].error_states(errors)
    results = []
    with watching(not quiet) as watch:
        for number, system in enumerate(systems, 1):
            watch.begin(number, len(systems), hazard or ltl or system.name)
            results.append(
                system.causes(
                    hazard,
                    ltl=ltl,
                    say=watch.stage,
                    progress=watch.progress,
                    non_occurrence=non_occurrence,
                    exact=exact,
                    depth=depth,
                    budget=limits,
                    labels=labels,
                    time=time,
                    default_rate=default_rate,
                )
            )
    emergencies = []
    if activation is not None:
        emergencies = [
            system.emergency(
                activation,
                hazard,
                cycle=time or "1h",
                operation=operation,
                default_rate=default_rate,
                budget=limits,
            ).value
            for system in systems
        ]
    failed = _write(outputs or [], systems, results, hazard, default_rate)
    _show(results, output_format)
    if emergencies and output_format == "text":
        _show_emergencies(systems, emergencies, time or "1h", operation)
    for wrong in failed:
        complain(rendered(wrong))
    raise typer.Exit(_status(results, failed))


def _read(path: str, bad: list[str], ignore_calls: bool) -> System:
    from whence.api import load_system

    numbers = [int(state) for state in bad if state.isdecimal()]
    actions = [state for state in bad if not state.isdecimal()]
    return load_system(path, bad_states=numbers, bad_actions=actions, ignore_calls=ignore_calls)


def _write(
    paths: list[str],
    systems: list[System],
    results: list[CausesResult],
    hazard: str | None,
    default_rate: float | None,
) -> list[WhenceError]:
    """First to files: whoever reads standard output may go away. What could not be written."""
    from whence import files

    failed: list[WhenceError] = []
    for path in paths:
        try:
            if path.lower().endswith(".prism"):
                text = systems[0].prism(hazard, default_rate=default_rate)
            else:
                text = _content(path, systems, results)
            files.write_atomically(path, text)
        except WhenceError as error:
            failed.append(error)
    return failed


def _content(path: str, systems: list[System], results: list[CausesResult]) -> str:
    from whence.api import to_text

    ending = PurePath(path).suffix.lower()
    if ending == ".json":
        return to_text(_document(results))
    if ending == ".html":
        return systems[0].report(results[0])
    return _writer(ending)(systems[0].fault_tree(results[0]))


def _writer(ending: str) -> Callable[[FaultTree], str]:
    match ending:
        case ".dft":
            from whence.formats.fault_trees.galileo import write_galileo

            return write_galileo
        case ".xml":
            from whence.formats.fault_trees.open_psa import write_open_psa

            return write_open_psa
        case ".dot":
            from whence.formats.fault_trees.dot import write_dot

            return write_dot
        case _:
            from whence.formats.fault_trees.csv import write_csv

            return write_csv


def _document(results: list[CausesResult]) -> dict[str, object]:
    from whence.api import version
    from whence.report.causes_json import causes_document, comparison_document

    if len(results) == 2:
        return comparison_document(results[0], results[1], version())
    return causes_document(results[0], version())


def _show(results: list[CausesResult], output_format: Format) -> None:
    from whence.api import to_text
    from whence.report.causes_text import causes_text, comparison_text

    if output_format == "json":
        sys.stdout.write(to_text(_document(results)))
    elif len(results) == 2:
        terminal().print(comparison_text(results[0], results[1]))
    else:
        terminal().print(causes_text(results[0]))


def _show_emergencies(
    systems: list[System], values: list[float], cycle: str, operation: str
) -> None:
    from whence.report.causes_words import probability

    console = terminal()
    console.print()
    for system, value in zip(systems, values, strict=True):
        console.print(
            f"{system.name}: the emergency mode is activated within {cycle}, and fails within "
            f"{operation}, with probability {probability(value)}"
        )


def _status(results: list[CausesResult], failed: list[WhenceError]) -> ExitStatus:
    if failed:
        return ExitStatus.BAD_INPUT
    if any(result.verdict == "unknown" or not result.complete for result in results):
        return ExitStatus.GAVE_UP
    if any(result.verdict == "violated" for result in results):
        return ExitStatus.FOUND
    return ExitStatus.NOTHING_WRONG
