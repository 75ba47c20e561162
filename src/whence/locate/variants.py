"""One program in which all edits stand, of which global variables choose.

To read and compile a program for each edit would take longer than to run its tests.  So each
region becomes a choice between what it was and what edits make of it, and one program is read that
has them all.  What fills holes is chosen by a second variable: numbers directly, everything else
through functions behind the code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whence.locate.edits import HOLE, Edit
from whence.locate.regions import Region, SourceFile
from whence.locate.scope import Scope
from whence.model.program import IntType, Type

__all__ = ["Trial", "Variants", "written"]

_PREFIX = "__whence_"
_CTYPES = {8: "char", 16: "short", 32: "int", 64: "long long"}


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit of a region; `number` is what chooses it there."""

    region: int
    number: int
    edit: Edit


@dataclass(frozen=True, slots=True)
class Variants:
    """A file with all edits. `lines` has for each line of the text, from 0, the trial that it is
    part of, or None."""

    text: str
    lines: tuple[Trial | None, ...]


def selector(region: int) -> str:
    return f"{_PREFIX}edit_{region}"


def filling(region: int) -> str:
    return f"{_PREFIX}value_{region}"


def _call(trial: Trial, bits: int) -> str:
    edit, value = trial.edit, filling(trial.region)
    match edit.hole:
        case "number":
            return value
        case "atom":
            return f"{_atoms_of(edit.type)}({value})"
        case "known" | "compared":
            return f"{_PREFIX}{edit.hole}({value})"
    return ""


def _atoms_of(type: Type | None) -> str:
    assert isinstance(type, IntType)
    sign = "s" if type.signed else "u"
    return f"{_PREFIX}atom_{sign}{type.bits}{'b' if type.boolean else ''}"


def written(
    source: SourceFile,
    regions: Mapping[int, Region],
    trials: Sequence[Trial],
    scope: Scope,
    *,
    compared: bool,
) -> Variants:
    """The file with these regions and trials, all of the regions of this file."""
    bits = scope.program.data_model.int_bits
    by_region: dict[int, list[Trial]] = {number: [] for number in regions}
    for trial in trials:
        by_region[trial.region].append(trial)
    types: dict[IntType, None] = {}
    for trial in trials:
        if trial.edit.hole == "atom" and isinstance(trial.edit.type, IntType):
            types.setdefault(trial.edit.type)
    out = _Out()
    for number in regions:
        out.add(f"int {selector(number)}, {filling(number)};\n")
    for type in types:
        out.add(f"static {_ctype(type)} {_atoms_of(type)}(int);\n")
    out.add(f"static int {_PREFIX}known(int);\nstatic int {_PREFIX}compared(int);\n")
    at = 0
    for number, region in sorted(regions.items(), key=lambda pair: pair[1].start):
        out.add(source.text[at : region.start])
        _choice(out, source, region, by_region[number], bits)
        at = region.end
    out.add(source.text[at:])
    out.add("\n")
    for type in types:
        _switch(out, f"{_ctype(type)} {_atoms_of(type)}", scope.atoms(type))
    # Conditions that cannot be compiled there are none of ours: they stood in the file.
    _switch(out, f"int {_PREFIX}known", [f"!!({each})" for each in scope.conditions])
    _comparison(out, scope, IntType(bits, True), compared)
    return Variants("".join(out.parts), tuple(out.lines))


class _Out:
    """Text, and which trial each line of it is part of."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.lines: list[Trial | None] = [None]

    def add(self, text: str, trial: Trial | None = None) -> None:
        self.parts.append(text)
        if trial is not None:
            self.lines[-1] = trial
        self.lines += [trial] * text.count("\n")


def _choice(
    out: _Out, source: SourceFile, region: Region, trials: Sequence[Trial], bits: int
) -> None:
    macro = region.form == "macro"
    original = source.text[region.start : region.end]
    name = selector(trials[0].region) if trials else ""

    def form(text: str, trial: Trial | None) -> None:
        match region.form:
            case "condition":
                text = f"!!({text})"
            case "effect":
                text = f"(void)({text})"
            case _:
                text = f"({text})"
        if macro:
            out.add(" ".join(text.replace("\\\n", "\n").split("\n")))
            return
        # A line of its own, so that what is wrong there can be found.
        out.add("\n")
        out.add(text, trial)
        out.add("\n")

    def among(first: int, last: int) -> None:
        """One of the trials from `first` up to `last`."""
        if last - first == 1:
            trial = trials[first]
            edit = trial.edit
            text = edit.text.replace(HOLE, _call(trial, bits))
            whole = source.text[region.start : edit.start] + text
            form(whole + source.text[edit.end : region.end], trial)
            return
        middle = (first + last) // 2
        out.add(f"({name} < {trials[middle].number} ? ")
        among(first, middle)
        out.add(" : ")
        among(middle, last)
        out.add(")")

    if not trials:
        out.add(original)
        return
    out.add(f"({name} == 0 ? ")
    form(original, None)
    out.add(" : ")
    among(0, len(trials))
    out.add(")")


def _ctype(type: IntType) -> str:
    if type.boolean:
        return "_Bool"
    word = _CTYPES[type.bits]
    return f"{'signed' if type.signed else 'unsigned'} {word}"


def _switch(out: _Out, head: str, values: Sequence[str]) -> None:
    out.add(f"static {head}(int which)\n{{\n    switch (which) {{\n")
    for number, value in enumerate(values):
        out.add(f"    case {number}: return {value};\n")
    out.add("    default: return 0;\n    }\n}\n")


def _comparison(out: _Out, scope: Scope, int_type: IntType, used: bool) -> None:
    atoms = scope.atoms(int_type)
    others = [*scope.numbers, *atoms]
    if not used or not atoms:
        out.add(f"static int {_PREFIX}compared(int which) {{ return 0; }}\n")
        return
    _switch(out, f"int {_PREFIX}left", atoms)
    _switch(out, f"int {_PREFIX}right", others)
    out.add(f"static int {_PREFIX}compared(int which)\n{{\n")
    out.add(f"    int left = {_PREFIX}left(which % {len(atoms)});\n")
    out.add(f"    int right = {_PREFIX}right(which / {len(atoms)} % {len(others)});\n")
    out.add(f"    switch (which / {len(atoms) * len(others)}) {{\n")
    for number, operator in enumerate(("<", "<=", ">", ">=", "==", "!=")):
        out.add(f"    case {number}: return left {operator} right;\n")
    out.add("    default: return 0;\n    }\n}\n")
