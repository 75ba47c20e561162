"""Reads suites of tests back: the folder that `whence tests -o` writes (schema `tests/1`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from whence.model.chart import Requirement
from whence.model.suite import Expected, GoalResult, Input, Suite, TestCase
from whence.source import Diagnostic, InputError, Origin

__all__ = ["MANIFEST", "read_suite"]

MANIFEST = "manifest.json"
_MAX_BYTES = 256 << 20
#: A day.
_LONGEST = 86_400_000
_Value = TypeVar("_Value")


def read_suite(folder: str | Path) -> Suite:
    """Raises InputError with what is wrong, and in which file."""
    home = Path(folder)
    manifest = _document(home / MANIFEST, f"{folder}")
    with _reading(home / MANIFEST):
        if manifest["schema"] != "tests/1":
            raise ValueError("another schema")
        names = [_text(test["file"]) for test in manifest["tests"]]
        for name in names:
            if Path(name).name != name:
                raise ValueError(f"the file {name[:60]} is not in this folder")
    tests = []
    for name in names:
        document = _document(home / name, f"{folder}")
        with _reading(home / name):
            tests.append(_test(document))
    with _reading(home / MANIFEST):
        if len({test.ident for test in tests}) < len(tests):
            raise ValueError("two tests have the same name")
        return Suite(
            model=_text(manifest["model"]),
            file=_text(manifest["file"]),
            hash=_text(manifest["hash"]),
            seed=int(manifest["seed"]),
            goals=tuple(_goal(goal) for goal in manifest["goals"]),
            tests=tuple(tests),
            requirements=tuple(
                Requirement(ident=_text(one["id"]), text=_text(one["text"]))
                for one in manifest["requirements"]
            ),
            complete=bool(manifest["complete"]),
            widened=bool(manifest.get("widened", False)),
        )


def _document(path: Path, folder: str) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        hint = "whence tests MODEL -o FOLDER writes a suite" if path.name == MANIFEST else ""
        raise InputError(
            Diagnostic(f"no suite is here: {reason}", Origin(str(path)), hint)
        ) from None
    if len(data) > _MAX_BYTES:
        raise InputError(
            Diagnostic(f"the file is larger than {_MAX_BYTES >> 20} MiB", Origin(str(path)))
        )
    with _reading(path):
        found = json.loads(data)
        if not isinstance(found, dict):
            raise ValueError("no object")
        return found
    raise AssertionError


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        missing = f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else ""
        reason = missing or " ".join(str(error).split())[:200] or "it is nested too deeply"
        raise InputError(
            Diagnostic(f"this is no part of a suite: {reason}", Origin(str(path)))
        ) from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is expected")
    return value


def _time(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LONGEST:
        raise ValueError("a time is a number of milliseconds, of a day at most")
    return value


def _test(document: dict[str, Any]) -> TestCase:
    inputs = tuple(
        Input(_time(one["time"]), _text(one["name"]), _text(one["value"]))
        for one in document["inputs"]
    )
    expected = tuple(
        Expected(
            _time(one["time"]),
            _text(one["name"]),
            _text(one["value"]),
            _time(one["latency"]),
            _tolerance(one["tolerance"]),
        )
        for one in document["expected"]
    )
    ident = _text(document["id"])
    if not ident or not ident.replace("_", "a").replace("-", "a").isalnum():
        raise ValueError("the name of a test has letters, digits, `_` and `-`")
    return TestCase(
        ident=ident,
        inputs=inputs,
        expected=expected,
        end=_time(document["end"]),
        goals=_texts(document["goals"]),
        requirements=_texts(document["requirements"]),
    )


def _tolerance(value: object) -> str:
    text = _text(value)
    if len(text) > 60 or "e" in text.lower() or Fraction(text) < 0:
        raise ValueError("a tolerance is a number that is not negative")
    return text


def _texts(value: list[object]) -> tuple[str, ...]:
    return tuple(_text(one) for one in value)


def _maybe(value: object, read: Callable[[object], _Value]) -> _Value | None:
    return None if value is None else read(value)


def _goal(goal: dict[str, Any]) -> GoalResult:
    status = goal["status"]
    if status not in ("covered", "unreachable", "open"):
        raise ValueError("a goal is covered, unreachable or open")
    return GoalResult(
        ident=_text(goal["id"]),
        kind=_text(goal["kind"]),
        status=status,
        test=_maybe(goal["test"], _text),
        step=_maybe(goal["step"], _time),
        time=_maybe(goal["time"], _time),
        reason=_text(goal["reason"]),
        bound=_maybe(goal["bound"], _time),
        requirements=_texts(goal["requirements"]),
    )
