"""The classes of an earlier run, from the file that it wrote (`classes/1`, or `triage/1`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from whence.formats.events.values import parse_date
from whence.source import Diagnostic, InputError, Origin, UsageError
from whence.triage.findings import KnownClass, Seen
from whence.triage.results import Grouping

__all__ = ["read_classes"]

_SCHEMAS = ("classes/1", "triage/1")
_LARGEST = 1 << 28


def read_classes(path: Path | str, grouping: Grouping) -> tuple[KnownClass, ...]:
    """The classes in a file. Raises InputError if it has none, UsageError if they were grouped in
    another way."""
    file = str(path)
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise InputError(Diagnostic("the file is too large to be a list of classes", _at(file)))
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(Diagnostic(f"the file cannot be read: {why}", _at(file))) from None
    except json.JSONDecodeError as error:
        where = Origin(file, error.lineno, error.colno)
        raise InputError(Diagnostic(f"this is not JSON: {error.msg}", where)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(Diagnostic(f"this is not JSON: {error}", _at(file))) from None
    if not isinstance(document, dict) or document.get("schema") not in _SCHEMAS:
        raise InputError(
            Diagnostic(
                "this is no list of classes", _at(file), "expected what `--classes FILE` wrote"
            )
        )
    if document.get("grouping") != grouping:
        raise UsageError(
            Diagnostic(
                f"the classes there are grouped by `{document.get('grouping')}`, not `{grouping}`",
                _at(file),
                "choose the same with --group",
            )
        )
    try:
        found = [_class(each) for each in document["classes"]]
        if document["schema"] == "triage/1":
            found += [_class(each) for each in document["gone"]]
    except (KeyError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError(Diagnostic(f"a class in it is not complete ({why})", _at(file))) from None
    return tuple({each.ident: each for each in found}.values())


def _at(file: str) -> Origin:
    return Origin(file)


def _class(each: Mapping[str, object]) -> KnownClass:
    return KnownClass(
        ident=_text(each["id"]),
        size=_number(each["size"]),
        kind=_text(each["kind"]),
        events=_texts(each["events"]),
        constraints=_texts(each["constraints"]),
        requirements=_texts(each["requirements"]),
        expected=_text(each["expected"]),
        observed=_text(each["observed"]),
        first=_seen(each["first_seen"]),
        last=_seen(each["last_seen"]),
    )


def _seen(value: object) -> Seen:
    if not isinstance(value, dict):
        raise TypeError("no place")
    date = parse_date(_text(value["date"]))
    if date is None:
        raise ValueError(f"no date: {value['date']}")
    return Seen(
        _text(value["file"]), _text(value["trace"]), _number(value["line"]), date,
        bool(value["absolute"]),
    )  # fmt: skip


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no number")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return tuple(map(_text, value))
