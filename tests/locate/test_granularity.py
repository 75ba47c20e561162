"""Places as small as expressions, and as large as lines."""

from __future__ import annotations

from tests.locate.support import parsed

from whence.locate.fault_model import FaultModel, Granularity
from whence.locate.localize import Settings, localize
from whence.model.program_test import Expected, Test

TEXT = """int f(int x, int y)
{
    int z = x * 2; if (y > 3 && x < z + y)
        z = z - (y + 1);
    return z;
}
"""


def places(granularity: Granularity) -> set[str]:
    """The places, as text, that could be 0 more than they are: `y - 1` would be right."""
    cases = [(1, 5), (2, 9), (3, 4), (0, 0), (-7, 8)]
    tests = []
    for x, y in cases:
        z = x * 2
        if y > 3 and x < z + y:
            z = z - (y - 1)
        tests.append(Test(f"{x},{y}", (x, y), expected=Expected((z,))))
    model = FaultModel(granularity)
    found = localize(parsed(TEXT), "f", tests, Settings(model))
    lines = TEXT.split("\n")
    shown = set()
    for each in found.diagnoses:
        (place,) = each.places
        line = lines[place.origin.line - 1]
        stop = place.origin.end_column - 1
        shown.add(line.strip() if granularity == "line" else line[place.origin.column - 1 : stop])
    return shown


def test_granularity() -> None:
    statements = places("statement")
    assert "z = z - (y + 1)" in statements
    assert "y + 1" not in statements
    parts = places("expression")
    assert statements <= parts
    # What is subtracted, from what, and the difference; not what decides.
    assert {"z - (y + 1)", "y + 1", "y", "z"} <= {part.strip("()") for part in parts} | parts
    assert not any("<" in part for part in parts)
    assert "z = z - (y + 1);" in places("line")
