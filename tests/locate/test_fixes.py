"""Candidate edits: programs with one thing wrong, and what would make it right."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from whence.formats.c.read import read_c
from whence.formats.c.spelled import NotSpelled, parts_of, spelled
from whence.locate.fault_model import FaultModel
from whence.locate.fixes import FixSettings, with_fixes
from whence.locate.interpreter import Interpreter
from whence.locate.localize import Localization, Settings, localize, options_for
from whence.locate.observations import expect, run_tests
from whence.model.program import Program
from whence.model.program_test import Test

GRID = [Test(f"{a},{b}", (a, b)) for a, b in product((-3, 0, 1, 2, 3, 7), repeat=2)]


def fixed(
    right: str, wrong: str, entry: str = "f", settings: FixSettings | None = None
) -> Localization:
    """The wrong program is to do what the right one does."""
    model = FaultModel()
    golden = Interpreter(read_c(["right.c"], text=right), options_for(model))
    tests, _ = expect(golden, entry, GRID)

    def reread(texts: Mapping[str, str]) -> Program:
        return read_c(["wrong.c"], text=texts.get("wrong.c", wrong))

    program = reread({})
    found = localize(program, entry, tests, Settings(model))
    after = with_fixes(found, program, model, {"wrong.c": wrong.encode()}, reread, settings)
    for diagnosis in after.diagnoses:
        for fix in diagnosis.fixes:
            ran = run_tests(Interpreter(reread(fix.texts), options_for(model)), entry, tests)
            assert not [each.failure for each in ran if each.failure]
    return after


def values(text: str) -> list[object]:
    """For other arguments than those of the tests."""
    interpreter = Interpreter(read_c(["other.c"], text=text), options_for(FaultModel()))
    return [
        (outcome.end, outcome.value)
        for a, b in product(range(-2, 12), (-50, -1, 0, 1, 2, 3, 4, 5, 8, 99))
        for outcome in [interpreter.run("f", (a, b))]
    ]


def texts_of(found: Localization) -> list[str]:
    return [fix.texts["wrong.c"].replace(" ", "") for each in found.diagnoses for fix in each.fixes]


PROGRAM = """#define LIMIT 7 /* a limit */
#define STEP 2
static int table[3] = {{ 5, 6, 9 }};
static int bias = 4;
static int ready(void) {{ return bias > 3; }}
int f(int a, int b)
{{
    int c = a + 1, d = 0;
    {}
    return c;
}}
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("if (a < b) c = 1;", "if (a <= b) c = 1;"),
        ("if (a == b) c = 1;", "if (a != b) c = 1;"),
        ("if (a > 2 && b > 2) c = 1;", "if (a > 2 || b > 2) c = 1;"),
        ("if (a > 2 && b > 2) c = 1; if (b > 2) d = 1;", "if (a > 2) c = 1; if (b > 2) d = 1;"),
        ("if (!(a > 2 && b)) c = 1;", "if ((a > 2 && b)) c = 1;"),
        ("if (b) c = 1;", "if (!b) c = 1;"),
        ("c = a + b;", "c = a - b;"),
        ("c = a + b;", "c = a + b + 1;"),
        ("c = a + 41;", "c = a + 14;"),
        ("c = a + LIMIT;", "c = a + STEP;"),
        ("c += b;", "c -= b;"),
        ("c = b;", "c = d;"),
        ("c = table[b > 2];", "c = table[(b > 2) + 1];"),
        ("c = b > 2 ? a : d;", "c = b > 2 ? d : a;"),
        ("if (a > 2 && (b > 7 || b == 1)) c = 1;", "if (a > 2 && b > 7 || b == 1) c = 1;"),
        ("while (d < b) { d++; c += 2; }", "while (d <= b) { d++; c += 2; }"),
        ("for (d = 1; d < b; d++) c += 2;", "for (d = 0; d < b; d++) c += 2;"),
        ("if (a > b && ready()) c = 8;", "if (a > b && !ready()) c = 8;"),
    ],
)
def test_what_was_mistyped_is_found(right: str, wrong: str) -> None:
    found = fixed(PROGRAM.format(right), PROGRAM.format(wrong))
    assert found.diagnoses[0].fixes
    # Some candidates are right without being the same text: they do the same everywhere else.
    wanted = values(PROGRAM.format(right))
    texts = [fix.texts["wrong.c"] for each in found.diagnoses for fix in each.fixes]
    assert any(values(text) == wanted for text in texts)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("#define LIMIT 7 /* a limit */", "#define LIMIT 7 + 1 /* a limit */"),
        ("static int table[3] = {{ 5, 6, 9 }};", "static int table[3] = {{ 5, 7, 9 }};"),
        ("static int bias = 4;", "static int bias = 1;"),
    ],
)
def test_definitions_are_edited_and_comments_stay(right: str, wrong: str) -> None:
    body = "c = a > 2 ? LIMIT : a > 0 ? table[1] : a < 0 ? bias : ready();"
    found = fixed(PROGRAM.format(body), PROGRAM.replace(right, wrong).format(body))
    wanted = right.format().replace(" ", "")
    assert any(wanted in text for text in texts_of(found))


def test_the_size_of_an_array() -> None:
    body = "d = b > 2; int t[{}]; t[0] = a; t[1] = b; t[2] = 4; c = t[1 + d];"
    found = fixed(PROGRAM.format(body.format(3)), PROGRAM.format(body.format(2)))
    assert found.diagnoses[0].places[0].kind == "array size"
    assert "intt[3];" in texts_of(found)[0]


def test_a_comparison_that_stands_nowhere_else() -> None:
    """All of the program's integers that a file knows are compared with each other."""
    head = "#define MOST 7\nint x, y;\n"
    rest = "int f(int a, int b)\n{{\n    x = a; y = b;\n"
    rest += "    if (x > 1{}) return 1;\n    return 2;\n}}\n"
    found = fixed(head + rest.format(" && y < MOST"), head + rest.format(""))
    assert found.diagnoses[0].fixes[0].cost >= 6
    wanted = (head + rest.format(" && (y < MOST)")).replace(" ", "")
    assert wanted in texts_of(found)


def test_two_faults_need_two_edits() -> None:
    body = "if (a {} 3) return 50; if (b > 2) c = c {} 2;"
    found = fixed(PROGRAM.format(body.format(">", "+")), PROGRAM.format(body.format(">=", "-")))
    first = found.diagnoses[0]
    assert len(first.places) == 2
    assert any(len(fix.edits) == 2 for fix in first.fixes)
    assert PROGRAM.format(body.format(">", "+")).replace(" ", "") in texts_of(found)


def test_patches_apply(tmp_path: Path) -> None:
    if shutil.which("patch") is None:
        pytest.skip("there is no `patch`")
    right = "int f(int a, int b)\r\n{\r\n    return a < b; /* é */\r\n}"
    wrong = right.replace("<", ">")
    fix = fixed(right, wrong).diagnoses[0].fixes[0]
    assert (fix.edits[0].old, fix.edits[0].new) == (">", "<")
    (tmp_path / "wrong.c").write_bytes(wrong.encode())
    ran = subprocess.run(
        ["patch", "--binary", "-p0"], input=fix.diff.encode(), cwd=tmp_path, capture_output=True
    )
    assert ran.returncode == 0, ran.stdout
    assert (tmp_path / "wrong.c").read_bytes() == right.encode()


def test_work_is_bounded() -> None:
    wrong = PROGRAM.format("if (a <= b) c = 1;")
    right = PROGRAM.format("if (a < b) c = 1;")
    assert not any(
        each.fixes for each in fixed(right, wrong, settings=FixSettings(work=500)).diagnoses
    )
    assert not any(
        each.fixes for each in fixed(right, wrong, settings=FixSettings(readings=0)).diagnoses
    )


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a && b || !c", ["logical", "logical", "name", "name", "prefix", "name"]),
        ("(unsigned char)x + 1", ["binary", "cast", "name", "number"]),
        ("(x)(y)", ["call", "group", "name", "name"]),
        ("p->q[i++].r", ["member", "index", "member", "name", "postfix", "name"]),
        ('f(a, "b" "c", \'d\')', ["call", "name", "name", "text", "text"]),
        ("a = b ? c : d, e", ["comma", "assignment", "name", "conditional", *["name"] * 4]),
        ("sizeof(int) * sizeof x", ["binary", "type", "type"]),
        ("x /* , */ - /**/ .5e-3", ["binary", "name", "number"]),
    ],
)
def test_expressions_as_spelled(text: str, kinds: list[str]) -> None:
    assert [part.kind for part in parts_of(spelled(text, 0, len(text)))] == kinds


@pytest.mark.parametrize(
    "text", ["", "a +", "(a", "a b", "{ 1 }", "int x", "a ? b", "@", "(" * 999]
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(NotSpelled):
        spelled(text, 0, len(text))
