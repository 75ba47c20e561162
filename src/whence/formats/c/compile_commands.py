"""`compile_commands.json`: which files a project consists of, and how each is compiled."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from whence.formats.c.read import COptions
from whence.source import Diagnostic, InputError, Origin

__all__ = ["read_compile_commands"]

#: Options that name a file or folder, relative to where the compiler runs.
_PATHS = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros")
#: Options that change what the code means, besides `-D`, `-U` and those with a path.
_KEPT = (
    "-std=",
    "-m16",
    "-m32",
    "-m64",
    "-mlong-double-",
    "-fsigned-",
    "-funsigned-",
    "-fno-signed-",
    "-fno-unsigned-",
    "-fshort-",
    "-fno-short-",
    "-fpack-struct",
    "-ansi",
    "-fgnu89-inline",
)


def read_compile_commands(
    path: Path | str, options: COptions | None = None, only: Sequence[str] = ()
) -> tuple[tuple[str, ...], COptions]:
    """The C files that the database names (or those of `only`), and the options to read them
    with. Options that do not change what the code means are left out."""
    try:
        text = Path(path).read_text("utf-8")
        entries = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        reason = (getattr(error, "strerror", None) or "").lower() or "this is no JSON"
        raise InputError(
            Diagnostic(f"the database of commands cannot be read: {reason}", _at(path))
        ) from None
    if not isinstance(entries, list):
        raise InputError(Diagnostic("a list of commands was expected", _at(path)))
    units: dict[str, tuple[str, ...]] = {}
    for number, entry in enumerate(entries, 1):
        file, arguments = _entry(entry, number, path)
        if not file.endswith((".c", ".C")):
            continue
        if only and file not in only and os.path.basename(file) not in only:
            continue
        units.setdefault(file, arguments)
    if not units:
        raise InputError(Diagnostic("no C file is compiled by these commands", _at(path)))
    base = options or COptions()
    return tuple(units), replace(base, units=MappingProxyType({**units, **base.units}))


def _at(path: Path | str) -> Origin:
    return Origin(str(path))


def _entry(entry: Any, number: int, path: Path | str) -> tuple[str, tuple[str, ...]]:
    def wrong(what: str) -> InputError:
        return InputError(Diagnostic(f"command {number}: {what}", _at(path)))

    if not isinstance(entry, dict):
        raise wrong("an object was expected")
    file, folder = entry.get("file"), entry.get("directory", ".")
    if not isinstance(file, str) or not isinstance(folder, str):
        raise wrong("`file` and `directory` must be texts")
    words = entry.get("arguments")
    if words is None:
        command = entry.get("command")
        if not isinstance(command, str):
            raise wrong("`command` or `arguments` is missing")
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise wrong(f"`command` cannot be split into words ({error})") from None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise wrong("`arguments` must be a list of texts")
    base = Path(path).parent / folder
    return os.path.normpath(base / file), tuple(_meaningful(words[1:], base))


def _meaningful(words: list[str], base: Path) -> list[str]:
    kept: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        option = next((option for option in _PATHS if word.startswith(option)), None)
        if option is not None or word in ("-D", "-U"):
            name = option or word
            value = word[len(name) :]
            if not value:
                if index == len(words):
                    break
                value = words[index]
                index += 1
            kept += [name, os.path.normpath(base / value)] if option else [name + value]
        elif word.startswith(("-D", "-U")) or word.startswith(_KEPT):
            kept.append(word)
    return kept
