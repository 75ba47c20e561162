"""`whence triage`: how many bugs are these failing tests?"""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.common import complain, terminal
from whence.cli.counterexample import QuietOption
from whence.cli.status import ExitStatus
from whence.cli.stores import CodeOption, StoreOption
from whence.cli.watch import noticing_interruption, watching
from whence.source import Diagnostic, UsageError

if TYPE_CHECKING:
    from whence.triage.findings import Triage
    from whence.triage.traces import SplitAt

HELP = """How many bugs are these failing tests?

Replays the traces in logs on a model of the requirements, finds where they diverge, reduces each
trace to the events that matter for that, and puts faults that happen for the same reason into one
class. The marks of the tests' environment are compared with what is found.

MODEL says which responses may follow which requests, and when: services or automata in YAML, or an
ODX database (`whence prd show` tells what it says). LOG is a log as `whence events` reads it, a
folder with logs, or a pattern such as 'logs/*.asc'. A log that is broken is listed with the reason,
and the others are done.

\b
Exit status:
  0  all traces are as the model allows
  1  there are faults; or records of logs are broken and left out
  2  the model, or one of the logs, cannot be read or replayed; or the usage is bad
  3  interrupted; what was found until then is printed, marked partial

\b
Examples:
  whence triage requirements.yaml logs/ -o report.html
  whence triage ecu.pdx --set variant=base 'night/*.asc' -o triage.sarif
  whence triage requirements.yaml logs/ --classes this.json --known last.json
  whence triage requirements.yaml logs/ --workers 8 --resume done.journal
  whence triage requirements.yaml logs/ --store results.db --code v1.4
  whence triage requirements.yaml logs/ --group events --annotate marked/
"""

#: So many problems of logs that were read are told.
_MOST_PROBLEMS = 20


def register(app: typer.Typer) -> None:
    app.command("triage", help=HELP, short_help="How many bugs are these failing tests?")(triage)


def triage(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="The requirements.", show_default=False)
    ],
    logs: Annotated[
        list[str],
        typer.Argument(metavar="LOG...", help="Logs, folders, patterns.", show_default=False),
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the model, such as the variant; can be given several times.",
            show_default=False,
        ),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REQ:RES",
            help="Who talks to whom, as for `whence events`; can be given several times.",
            show_default=False,
        ),
    ] = None,
    pdx: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Read logs with the names of an ODX database."),
    ] = None,
    ecu: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Only the conversations of this ECU: a pair of addresses, or a name.",
        ),
    ] = "",
    split: Annotated[
        str | None,
        typer.Option(
            metavar="AT",
            help="Cut logs into traces: at `power-cycle`, at pauses of so many seconds (`2.5`), or "
            "at comments with this text.",
        ),
    ] = None,
    no_errors: Annotated[
        bool,
        typer.Option("--no-errors", help="Ignore messages that are not whole (lost frames)."),
    ] = False,
    open_end: Annotated[
        bool,
        typer.Option(
            "--open-end",
            help="Logs just stop: a response that is awaited at the end is not missing.",
        ),
    ] = False,
    hide: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A variable or clock that explanations ignore; can be given several times.",
        ),
    ] = None,
    group: Annotated[
        Literal["similar", "events", "requirements"],
        typer.Option(
            help="What makes a class: similar explanations; the same events and violated "
            "transition, whatever the times; the same violated requirements.",
        ),
    ] = "similar",
    known: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The classes of an earlier run (--classes): tells which are new, known, gone.",
        ),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the classes there, for --known.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the proof of each explanation by another road."),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="So many processes; by default, as many as processors."
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Remember there what is done, and go on from what is there."
        ),
    ] = None,
    store: StoreOption = None,
    code: CodeOption = "",
    annotate: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write copies of the logs there, with a mark at each fault: as a comment, or "
            "beside a log that has no room for comments.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Show so many classes.")] = 20,
    output_format: Annotated[
        Literal["text", "json", "sarif", "junit"],
        typer.Option("--format", help="Text for people; the others for programs."),
    ] = "text",
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Also write the answer: .html (a page), .json, .sarif, or .xml (JUnit); can be "
            "given several times.",
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    from whence import files
    from whence.api.triage import OUTPUTS, pieces_of, save, save_classes
    from whence.api.triage import annotate as mark_logs
    from whence.api.triage import triage as run
    from whence.triage.models import parse_parameters

    # What can be seen to be wrong is said before any work.
    for path in (*(outputs or ()), *([classes] if classes is not None else ())):
        files.check_writable(path)
    for path in outputs or ():
        if PurePath(path).suffix.lower() not in OUTPUTS:
            raise UsageError(
                Diagnostic(
                    f"-o {path}: nothing is written with this ending",
                    hint=f"use {', '.join(OUTPUTS)}",
                )
            )
    with noticing_interruption(), watching(not quiet) as watch:
        say = watch.stage

        def progress(done: int, all_: int, faults: int) -> None:
            if say is not None:
                say(f"{done:,} of {all_:,} logs, {faults:,} faults")

        found = run(
            model,
            logs,
            parameters=parse_parameters(set_ or ()),
            pairs=pair or (),
            pdx=pdx,
            ecu=ecu,
            split=_split(split),
            errors=not no_errors,
            complete=not open_end,
            hide=hide or (),
            group=group,
            known=known,
            verify=verify,
            workers=workers,
            resume=resume,
            store=store,
            code=code,
            progress=progress,
        )
    problems = [diagnostic for each in found.problems.values() for diagnostic in each]
    for diagnostic in problems[:_MOST_PROBLEMS]:
        complain(diagnostic.render())
    if len(problems) > _MOST_PROBLEMS:
        complain(f"{len(problems) - _MOST_PROBLEMS:,} more of these; --format json lists all")
    if output_format == "text":
        from whence.report.triage_text import triage_text

        console = terminal()
        for part in triage_text(found, top, quiet):
            console.print(part)
    else:
        ending = {"json": ".json", "sarif": ".sarif", "junit": ".xml"}[output_format]
        for piece in pieces_of(found, ending):
            sys.stdout.write(piece)
    for path in outputs or ():
        save(found, path)
    if classes is not None:
        save_classes(found, classes)
    if annotate is not None:
        mark_logs(found, annotate)
    raise typer.Exit(_status(found))


def _split(text: str | None) -> SplitAt:
    from whence.formats.events.values import parse_date

    if text is None:
        return None
    date = parse_date(text)
    if date is not None and date <= 0:
        raise UsageError(f"--split {text}: a pause is longer than that")
    return text if date is None else date


def _status(found: Triage) -> ExitStatus:
    return {
        "nothing": ExitStatus.NOTHING_WRONG,
        "found": ExitStatus.FOUND,
        "bad": ExitStatus.BAD_INPUT,
        "gave up": ExitStatus.GAVE_UP,
        "defect": ExitStatus.INTERNAL,
    }[found.outcome]
