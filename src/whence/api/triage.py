"""Failing tests from Python: where logs and requirements diverge, why, and which faults are one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from whence.source import Diagnostic, Origin, UsageError

if TYPE_CHECKING:
    from whence.campaign.inputs import Inputs
    from whence.campaign.memory import Memory
    from whence.campaign.triage import Progress, Settings
    from whence.model.ecu import Timing
    from whence.triage.findings import Triage
    from whence.triage.models import PrdModel
    from whence.triage.results import Grouping
    from whence.triage.traces import SplitAt

__all__ = ["OUTPUTS", "annotate", "pieces_of", "save", "save_classes", "triage"]

AnyPath: TypeAlias = Path | str
_Pieces: TypeAlias = "Callable[[Triage], Iterable[str]]"


def triage(
    model: AnyPath | PrdModel,
    logs: Iterable[AnyPath],
    *,
    parameters: Mapping[str, str | int] | None = None,
    timing: Timing | None = None,
    pairs: Sequence[str] = (),
    pdx: AnyPath | None = None,
    ecu: str = "",
    split: SplitAt = None,
    errors: bool = True,
    complete: bool = True,
    hide: Sequence[str] = (),
    group: Grouping = "similar",
    known: AnyPath | None = None,
    verify: bool = False,
    workers: int | None = 1,
    resume: AnyPath | None = None,
    store: AnyPath | None = None,
    code: str = "",
    progress: Progress | None = None,
) -> Triage:
    """The faults of all traces in the logs, and their classes.

    `model` is the file of a model of requirements (docs/prd.md), with the `parameters` that choose
    the variant, or such a model; `logs` are files, folders, and patterns such as `logs/*.asc`.
    `pairs` (`7E0:7E8`) and `pdx` tell how logs are read, `ecu` which conversations are meant,
    `split` where a log is cut into traces: at `power-cycle`, at comments with a text, or at pauses
    of so many seconds. Without `errors`, messages that are not whole are ignored; with `complete`
    false, a response that is awaited at the end is not missing.

    `hide` are variables and clocks that explanations ignore, `group` says what makes a class,
    `known` is a file with the classes of an earlier run. With `verify`, the proof of each
    explanation is checked. `workers` None: as many processes as there are processors, if the work
    is worth it. `resume` is a file in which finished logs are remembered, and looked up. `store` is
    a file or URL to store the run in, log by log; it remembers finished logs too. `code` is how the
    version of the code that was tested is called there.

    A log that cannot be read or replayed is told as a broken trace. Raises InputError if the model
    cannot be read or there are no logs.
    """
    from whence.campaign.inputs import find_logs
    from whence.campaign.journal import Journal
    from whence.campaign.memory import JournalMemory
    from whence.campaign.triage import Settings, triage_logs
    from whence.formats.can.addresses import parse_pair
    from whence.triage.findings import LogOptions
    from whence.triage.known import read_classes
    from whence.triage.models import PrdModel, load_prd

    options = LogOptions(
        pairs=tuple(parse_pair(text) for text in pairs),
        ecu=ecu,
        split=split,
        errors=errors,
        complete=complete,
        hide=tuple(hide),
        verify=verify,
    )
    earlier = None if known is None else read_classes(known, group)
    chosen = dict(parameters or {})
    loaded = model if isinstance(model, PrdModel) else load_prd(str(model), chosen, timing)
    _known_names(loaded, options.hide)
    if pdx is not None:
        from whence.formats.can.odx import read_pdx

        read_pdx(str(pdx))  # what is wrong with it is said before any work
    found = find_logs(map(str, logs))
    remembered = resume is not None or store is not None
    settings = Settings(
        options=options,
        pdx="" if pdx is None else str(pdx),
        grouping=group,
        workers=_workers(workers, len(found.logs)),
        fingerprint=_fingerprint(model, pdx, chosen, timing) if remembered else "",
        earlier=earlier,
    )
    if resume is not None and not settings.fingerprint:
        raise UsageError("only for a model from a file can be remembered what was done")
    if resume is not None and store is not None:
        raise UsageError("a store remembers what was done: it needs no journal to go on from")
    with ExitStack() as ends:
        memory: Memory | None = None
        if resume is not None:
            memory = JournalMemory(ends.enter_context(closing(Journal(resume))))
        elif store is not None:
            asked = {"parameters": chosen, "pairs": [*pairs], "split": split and str(split)}
            memory = ends.enter_context(_stored(store, loaded, found, settings, asked, code))
        return triage_logs(
            loaded,
            found.logs,
            settings,
            memory=memory,
            passed_over=found.passed_over,
            progress=progress,
        )


@contextmanager
def _stored(
    store: AnyPath,
    model: PrdModel,
    found: Inputs,
    settings: Settings,
    asked: Mapping[str, object],
    code: str,
) -> Iterator[Memory]:
    """A run in a store, that ends there when its answer is known."""
    from whence.api.models import version
    from whence.campaign.journal import content_hash
    from whence.store.runs import TRIAGE, About
    from whence.store.store import open_store
    from whence.store.triage import StoredTriage, triage_head

    options = settings.options
    about = About(
        command=TRIAGE,
        model=model.file or model.automaton.name,
        model_name=model.automaton.name,
        model_hash=content_hash(model.file) if settings.fingerprint else "",
        whence=version(),
        code=code,
        grouping=settings.grouping,
        planned=len(found.logs),
        options={
            **asked,
            "pdx": settings.pdx,
            "ecu": options.ecu,
            "errors": options.errors,
            "complete": options.complete,
            "hide": [*options.hide],
        },
        head=triage_head(model.requirements, found.passed_over, settings.earlier, options.verify),
    )
    with open_store(store, to_write=True) as opened:
        yield StoredTriage(opened, about, settings.grouping)


def _workers(wanted: int | None, logs: int) -> int:
    from whence.campaign.processes import available
    from whence.campaign.triage import FEW_LOGS

    if wanted is not None:
        if wanted < 1:
            raise UsageError("there has to be a worker")
        return wanted
    return available() if logs >= FEW_LOGS else 1


def _known_names(model: PrdModel, hide: Iterable[str]) -> None:
    automaton = model.automaton
    names = {each.name for each in automaton.variables}
    names |= {each.name for each in automaton.clocks}
    unknown = [name for name in hide if name not in names]
    if unknown:
        raise UsageError(
            Diagnostic(
                f"the model has no variable or clock {', '.join(unknown)}",
                Origin(model.file),
                f"it has {', '.join(sorted(names)) or 'none'}",
            )
        )


def _fingerprint(
    model: AnyPath | PrdModel,
    pdx: AnyPath | None,
    parameters: Mapping[str, str | int],
    timing: Timing | None,
) -> str:
    """What decides the result besides the log and the options; "" of a model that is no file."""
    from whence.api.models import version
    from whence.campaign.journal import content_hash
    from whence.triage.models import PrdModel

    if isinstance(model, PrdModel):
        return ""
    contents = [content_hash(file) for file in (model, pdx) if file is not None]
    return json.dumps([version(), contents, sorted(parameters.items()), repr(timing)])


# ------------------------------------------------------------------------------------- writing


def _json(found: Triage) -> Iterable[str]:
    from whence.api.models import version
    from whence.report.triage_json import triage_pieces

    return triage_pieces(found, version())


def _sarif(found: Triage) -> Iterable[str]:
    from whence.api.models import version
    from whence.report.triage_sarif import sarif_pieces

    return sarif_pieces(found, version())


def _junit(found: Triage) -> Iterable[str]:
    from whence.report.triage_junit import junit_pieces

    return junit_pieces(found)


def _html(found: Triage, folder: str = ".") -> Iterable[str]:
    from whence.api.models import version
    from whence.report.triage_html import triage_report

    return (triage_report(found, version(), folder),)


#: What an answer is written as, by the ending of the file.
OUTPUTS: Final[Mapping[str, _Pieces]] = {
    ".html": _html, ".json": _json, ".sarif": _sarif, ".xml": _junit,
}  # fmt: skip


def pieces_of(found: Triage, ending: str) -> Iterable[str]:
    """The answer as `.html`, `.json` (triage/1), `.sarif` or `.xml` (JUnit)."""
    write = OUTPUTS.get(ending.lower())
    if write is None:
        raise UsageError(
            Diagnostic(f"nothing is written as `{ending}`", hint=f"use {', '.join(OUTPUTS)}")
        )
    return write(found)


def save(found: Triage, path: AnyPath) -> None:
    """Write the answer as the ending of the file says."""
    from whence.files import written_atomically

    ending = Path(path).suffix
    # The page links to the logs from where it is.
    is_page = ending.lower() == ".html"
    pieces = _html(found, str(Path(path).parent)) if is_page else pieces_of(found, ending)
    with written_atomically(path) as write:
        for piece in pieces:
            write(piece)


def annotate(found: Triage, folder: AnyPath) -> tuple[Path, ...]:
    """Copies of the logs that could be replayed, with a mark at each fault: a comment, or where the
    format has none, a file beside the copy. Returns the files with the marks."""
    from whence.formats.marks import Mark, marked_copy
    from whence.report.triage_words import fault_words

    marks: dict[str, list[Mark]] = {
        trace.file: [] for trace in found.traces if trace.verdict != "broken"
    }
    for fault in found.faults:
        mark = Mark(fault.next_line, fault_words(found, fault), fault.date)
        marks[found.traces[fault.trace].file].append(mark)
    return tuple(
        marked_copy(file, Path(folder) / name, marks[file])
        for file, name in _names_in_a_folder(marks).items()
    )


def _names_in_a_folder(files: Iterable[str]) -> dict[str, Path]:
    """Different names for all files: their names, or as much of their paths as differs."""
    paths = {file: Path(os.path.abspath(file)) for file in files}
    if len({path.name for path in paths.values()}) == len(paths):
        return {file: Path(path.name) for file, path in paths.items()}
    common = os.path.commonpath([path.parent for path in paths.values()])
    return {file: path.relative_to(common) for file, path in paths.items()}


def save_classes(found: Triage, path: AnyPath) -> None:
    """Write the classes, for `known` of a later run."""
    from whence.api.models import to_text, version
    from whence.files import write_atomically
    from whence.report.triage_json import classes_document

    write_atomically(path, to_text(classes_document(found, version())))
