"""Components beyond the thesis: macros, constants, sizes of arrays, initialisers."""

from __future__ import annotations

import pytest

from whence.formats.c.read import read_c
from whence.locate.fault_model import FaultModel
from whence.locate.localize import Localization, Settings, localize
from whence.model.program_test import Expected, Test


def located(text: str, cases: list[tuple[tuple[int, ...], int]]) -> Localization:
    program = read_c(["test.c"], text=text)
    tests = [
        Test(str(number), args, expected=Expected((value,)))
        for number, (args, value) in enumerate(cases, 1)
    ]
    return localize(program, "f", tests, Settings(FaultModel()))


def named(found: Localization) -> set[tuple[str, str, int]]:
    return {
        (place.kind, place.name, place.origin.line)
        for diagnosis in found.diagnoses
        if len(diagnosis.places) == 1
        for place in diagnosis.places
    }


@pytest.mark.parametrize(
    ("text", "cases", "place"),
    [
        (
            "#define LIMIT 5\nint f(int x) {\n    if (x > LIMIT)\n        return LIMIT;\n"
            "    return x;\n}\n",
            [((3,), 3), ((8,), 7), ((7,), 7), ((6,), 6)],
            ("macro", "LIMIT", 1),
        ),
        (
            "#define LESS(a, b) ((a) <= (b))\nint f(int x, int y) {\n    int s = LESS(x, y);\n"
            "    return s + 2 * LESS(y, 3);\n}\n",
            [((1, 2), 3), ((2, 2), 2), ((0, 3), 1)],
            ("macro", "LESS", 1),
        ),
        (
            "enum { LOW = 2, HIGH = 8 };\nint f(int x) {\n    return x > HIGH ? HIGH : x;\n}\n",
            [((20,), 9), ((9,), 9), ((1,), 1)],
            ("constant", "HIGH", 1),
        ),
        (
            "int f(int x) {\n    int a[3], i;\n    for (i = 0; i < 4; i++)\n        a[i] = i;\n"
            "    return a[x];\n}\n",
            [((3,), 3), ((2,), 2)],
            ("array size", "a", 2),
        ),
        (
            "int step = 3;\nint f(int x) {\n    int y = x + step;\n    return y - 2 * step;\n}\n",
            [((1,), -1), ((4,), 2)],
            ("initialiser", "step", 1),
        ),
    ],
)
def test_definitions_can_be_faulty(
    text: str, cases: list[tuple[tuple[int, ...], int]], place: tuple[str, str, int]
) -> None:
    found = located(text, cases)
    assert found.failing
    assert place in named(found)
    for diagnosis in found.diagnoses:
        assert diagnosis.witnesses


def test_one_definition_has_one_value() -> None:
    """A macro is the same wherever it is used: it cannot be 3 and 4."""
    text = "#define LIMIT 5\nint f(int x) {\n    return (LIMIT == 3) + 2 * (LIMIT == 4);\n}\n"
    assert ("macro", "LIMIT", 1) not in named(located(text, [((0,), 3)]))
    assert ("macro", "LIMIT", 1) in named(located(text, [((0,), 2)]))


def test_a_larger_array_keeps_what_is_written_to_it() -> None:
    """More room is no excuse for what is read elsewhere."""
    text = "int a[2];\nint f(int x) {\n    a[2] = x;\n    return a[2];\n}\n"
    assert ("array size", "a", 1) in named(located(text, [((5,), 5)]))
    assert ("array size", "a", 1) not in named(located(text, [((5,), 6)]))
