"""Reads files of tests: CSV, YAML and JSON by their endings, a test universe otherwise.

A universe (as of the Siemens programs) has the arguments of the process line by line, as a shell
would read them; `< FILE` gives standard input.  What should come out is in files with the numbers
of the lines in another folder (`t1`, `t2`, ... or `1`, `2`, ...), or what a golden program does.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from whence.expr.scope import Problems
from whence.formats.charts.nodes import Mapping, Node, Scalar, Sequence, decode, read_nodes
from whence.formats.observations.rows import Cell, Names, bytes_of, number_of
from whence.model.program import Program
from whence.model.program_test import Test, Value
from whence.source import Diagnostic, InputError, Origin

__all__ = ["read_tests"]

MAX_BYTES = 64 * 1024 * 1024
_DOCUMENTS = (".yaml", ".yml", ".json")


def read_tests(
    path: str | Path, program: Program, entry: str, outputs: str | Path | None = None
) -> tuple[Test, ...]:
    """`outputs` is a folder with what a universe's tests should print."""
    names = Names(program, entry)
    file = str(path)
    data = _bytes(path)
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        tests = tuple(_table(decode(data, file), file, names))
    elif ending in _DOCUMENTS:
        tests = tuple(_document(decode(data, file), file, names))
    else:
        tests = tuple(_universe(data, file, names))
        if outputs is not None:
            tests = tuple(_with_outputs(tests, Path(outputs)))
    if not tests:
        raise InputError(Diagnostic("there are no tests in this file", Origin(file)))
    return tests


def _bytes(path: str | Path) -> bytes:
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = f"the file cannot be read: {reason}"
        raise InputError(Diagnostic(problem, Origin(str(path)))) from None
    if len(data) > MAX_BYTES:
        limit = f"the file is larger than {MAX_BYTES // 2**20} MiB, our limit"
        raise InputError(Diagnostic(limit, Origin(str(path))))
    return data


# ----------------------------------------------------------------------------------- tables


def _table(text: str, file: str, names: Names) -> Iterator[Test]:
    reader = csv.reader(io.StringIO(text), strict=True)
    wrong: list[Diagnostic] = []
    header: list[str] | None = None
    number = 0
    line = 1
    try:
        for row in reader:
            origin, line = Origin(file, line, 1), reader.line_num + 1
            if not any(cell.strip() for cell in row) or row[0].lstrip().startswith("#"):
                continue
            if header is None:
                header = [cell.strip() for cell in row]
                problems = names.check((name, origin) for name in header)
                twice = {name for name in header if header.count(name) > 1}
                problems += [
                    Diagnostic(f"the column `{name}` stands twice", origin)
                    for name in sorted(twice)
                ]
                if problems:
                    raise InputError(problems)
                continue
            number += 1
            if len(row) > len(header):
                wrong.append(Diagnostic(f"{len(row)} values, but {len(header)} columns", origin))
                continue
            cells = {
                name: Cell(_cell(name, value), origin)
                for name, value in zip(header, row, strict=False)
                if value.strip() or name in ("stdin", "stdout")
            }
            try:
                yield names.test(cells, str(number), origin)
            except InputError as error:
                wrong += error.diagnostics
    except csv.Error as error:
        raise InputError(
            Diagnostic(f"this is no CSV: {error}", Origin(file, reader.line_num, 1))
        ) from None
    if wrong:
        raise InputError(wrong)


def _cell(name: str, value: str) -> Value | str:
    if name in ("name", "argv"):
        return value
    if name in ("stdin", "stdout"):
        # A line break can be written as \n: quoted cells with real ones are hard to read.
        return value.replace("\\n", "\n").replace("\\t", "\t")
    return number_of(value)


# -------------------------------------------------------------------------------- documents


def _document(text: str, file: str, names: Names) -> Iterator[Test]:
    problems = Problems()
    root = read_nodes(text, file, problems)
    problems.raise_any()
    if isinstance(root, Mapping):
        found = [node for key, node in root.pairs if key.value == "tests"]
        root = found[0] if len(found) == 1 else root
    if not isinstance(root, Sequence):
        origin = root.origin if root is not None else Origin(file)
        raise InputError(
            Diagnostic("a list of tests should stand here", origin, hint="or `tests:` with one")
        )
    wrong: list[Diagnostic] = []
    for number, node in enumerate(root.items, 1):
        try:
            fields = dict(_fields(node, names))
            problems_here = names.check((name, cell.origin) for name, cell in fields.items())
            if problems_here:
                raise InputError(problems_here)
            yield names.test(fields, str(number), node.origin)
        except InputError as error:
            wrong += error.diagnostics
    if wrong:
        raise InputError(wrong)


def _fields(node: Node, names: Names) -> Iterator[tuple[str, Cell]]:
    if not isinstance(node, Mapping):
        raise InputError(Diagnostic("a test is a mapping", node.origin))
    for key, value in node.pairs:
        name = key.value
        if name == "args" and isinstance(value, Sequence):
            if len(value.items) != len(names.parameters):
                raise InputError(
                    Diagnostic(
                        f"`{names.function.name}` takes {len(names.parameters)} arguments, "
                        f"{len(value.items)} are given",
                        value.origin,
                    )
                )
            for parameter, item in zip(names.parameters, value.items, strict=True):
                yield f"args.{parameter}", Cell(_value(item), item.origin)
        elif name in ("args", "globals") and isinstance(value, Mapping):
            for inner, item in value.pairs:
                yield f"{name}.{inner.value}", Cell(_value(item), item.origin)
        elif name == "expect" and isinstance(value, Mapping):
            for inner, item in value.pairs:
                if inner.value in ("return", "stdout", "exit"):
                    cell = Cell(_value(item, inner.value == "stdout"), item.origin)
                    yield inner.value, cell
                elif inner.value == "globals" and isinstance(item, Mapping):
                    for variable, held in item.pairs:
                        yield f"expect.{variable.value}", Cell(_value(held), held.origin)
                else:
                    yield f"expect.{inner.value}", Cell(_value(item), item.origin)
        else:
            textual = name in ("name", "stdin", "stdout")
            if name == "argv" and isinstance(value, Sequence):
                words: list[Value] = [
                    bytes_of(item.value) for item in value.items if isinstance(item, Scalar)
                ]
                yield name, Cell(words, value.origin)
            else:
                yield name, Cell(_value(value, textual or name == "argv"), value.origin)


def _value(node: Node, textual: bool = False) -> Value | str:
    match node:
        case Scalar():
            if textual:
                return node.value
            if node.empty:
                return None
            return number_of(node.value) if node.plain else node.value
        case Sequence():
            return [_inner(item) for item in node.items]
        case Mapping():
            return {key.value: _inner(item) for key, item in node.pairs}


def _inner(node: Node) -> Value:
    value = _value(node)
    return bytes_of(value) if isinstance(value, str) else value


# -------------------------------------------------------------------------------- universes


def _universe(data: bytes, file: str, names: Names) -> Iterator[Test]:
    wrong: list[Diagnostic] = []
    if names.function.name != "main":
        raise InputError(
            Diagnostic(
                "the lines of this file are arguments of a process",
                Origin(file),
                hint="test `main` with it, or give the tests as .csv, .yaml or .json",
            )
        )
    for number, line in enumerate(data.splitlines(), 1):
        text = line.decode("utf-8", "surrogateescape")
        origin = Origin(file, number, 1, number, len(text) + 1)
        if not text.strip():
            continue
        try:
            words = shlex.split(text)
        except ValueError:
            wrong.append(Diagnostic("a quote is not closed", origin))
            continue
        stdin = b""
        if "<" in words:
            at = words.index("<")
            source = Path(file).parent / " ".join(words[at + 1 : at + 2])
            words = words[:at]
            stdin = _bytes(source)
        yield Test(str(number), argv=tuple(map(bytes_of, words)), stdin=stdin, origin=origin)
    if wrong:
        raise InputError(wrong)


def _with_outputs(tests: tuple[Test, ...], folder: Path) -> Iterator[Test]:
    if not folder.is_dir():
        raise InputError(Diagnostic("this is no folder of expected outputs", Origin(str(folder))))
    found = 0
    for test in tests:
        for name in (f"t{test.name}", test.name, f"{test.name}.out", f"{test.name}.txt"):
            path = folder / name
            if path.is_file():
                found += 1
                yield replace(test, expected=replace(test.expected, stdout=_bytes(path)))
                break
        else:
            yield test
    if not found:
        raise InputError(
            Diagnostic(
                "there is no output for any test in this folder",
                Origin(str(folder)),
                hint="the output of the test in line 1 is in the file t1 or 1",
            )
        )
