"""Stores of results from Python: what is in them, and answers to be kept there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from whence.source import Diagnostic, InputError, Origin

if TYPE_CHECKING:
    from whence.store.compare import Comparison
    from whence.store.history import History
    from whence.store.runs import RunVerdict
    from whence.triage.findings import Triage

__all__ = ["check_store", "compare", "history", "keep", "stored"]

AnyPath: TypeAlias = Path | str
Json: TypeAlias = dict[str, Any]


def history(store: AnyPath, *, model: str = "", ident: str = "") -> History:
    """All runs in a store, and the classes that they have seen: of the model of this name or file,
    and of the class whose identifier begins with `ident`. Raises InputError if it is no store,
    UsageError if there is no such model or class."""
    from whence.store.history import history as told
    from whence.store.store import open_store

    with open_store(store) as opened:
        return told(opened, model=model, ident=ident)


def compare(store: AnyPath, before: int, after: int) -> Comparison:
    """Which classes and verdicts are others in the run `after` than in `before`."""
    from whence.store.compare import compare as compared
    from whence.store.store import open_store

    with open_store(store) as opened:
        return compared(opened, before, after)


def stored(store: AnyPath, run: int) -> Triage | Json:
    """What a run has answered: a triage as it was, of other commands the JSON document."""
    from whence.store.results import read_document
    from whence.store.runs import TRIAGE, the_run
    from whence.store.store import open_store
    from whence.store.triage import read_triage

    with open_store(store) as opened:
        with opened.reading() as connection:
            command = the_run(connection, run, opened.name).command
        return read_triage(opened, run) if command == TRIAGE else read_document(opened, run)


def check_store(store: AnyPath | None) -> None:
    """Raises what is wrong with a store that is to be written: to be asked before long work."""
    from whence.store.store import open_store

    if store is not None:
        open_store(store, to_write=True).close()


def keep(
    store: AnyPath,
    document: Mapping[str, Any],
    *,
    model: str,
    name: str,
    files: Sequence[AnyPath] = (),
    code: str = "",
    verdict: RunVerdict = "nothing",
    complete: bool = True,
) -> int:
    """Stores the JSON document of a command (`check/1`, `locate/1`, `run/1`, `tests/1`); returns
    the number of the run. `model` is its file, `name` what it is called, `files` all that it is
    read from. Raises InputError if the document is not as its schema says."""
    from whence.api.models import version
    from whence.store.results import keep_document
    from whence.store.runs import About
    from whence.store.store import open_store

    _check(document)
    about = About(
        command=str(document["schema"]).partition("/")[0],
        model=model,
        model_name=name,
        model_hash=_hash(files) or str(document.get("hash", "")),
        whence=version(),
        code=code,
    )
    with open_store(store, to_write=True) as opened:
        return keep_document(opened, about, document, verdict, complete)


def _check(document: Mapping[str, Any]) -> None:
    import jsonschema

    from whence.report.locate_schema import LOCATE
    from whence.report.run_schema import RUN
    from whence.report.schema import CHECK
    from whence.report.tests_schema import TESTS

    schemas = {"check/1": CHECK, "locate/1": LOCATE, "tests/1": TESTS, "run/1": RUN}
    schema = schemas.get(document.get("schema", ""))
    if schema is None:
        raise InputError(
            Diagnostic(
                "this is no document that is stored", hint=f"stored are {', '.join(schemas)}"
            )
        )
    validator = jsonschema.Draft202012Validator(schema)
    wrong = next(validator.iter_errors(document), None)
    if wrong is not None:
        raise InputError(
            Diagnostic(f"{wrong.json_path}: {wrong.message[:200]}", Origin("document"))
        )


def _hash(files: Sequence[AnyPath]) -> str:
    """Of one file, the hash of what is in it; of several, of their hashes. Files that cannot be
    read any more have none."""
    from whence.campaign.journal import content_hash, key_of

    try:
        hashes = [content_hash(file) for file in files]
    except OSError:
        return ""
    return hashes[0] if len(hashes) == 1 else key_of(hashes) if hashes else ""
