"""Tables, documents and universes of tests, and observations within the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from whence.formats.c.read import read_c
from whence.formats.observations.inline import inline_observations
from whence.formats.observations.read import read_tests
from whence.model.program import Program
from whence.model.program_test import Expected, Test
from whence.source import InputError, UnsupportedError, UsageError, WhenceError

TEXT = """int limit; int a[2]; char *name;
int f(int x, int *p) { return x + p[0] + limit; }
int main(int argc, char **argv) { return argc; }
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return read_c(["test.c"], text=TEXT)


def read(
    folder: Path, name: str, text: str | bytes, program: Program, entry: str = "f"
) -> list[Test]:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_tests(path, program, entry))


CSV = 'name,x,p,limit,return,expect.a\nfirst,0x10,"[1, -2]",3,20,"[0;7]"\n\n# no test\n,1,NULL,,,\n'
YAML = """
- name: first
  args: [0x10, [1, -2]]
  globals: {limit: 3}
  expect: {return: 20, globals: {a: [0, 7]}}
- args: {x: 1, p: ~}
"""
JSON = """{"tests": [
  {"name": "first", "args": [16, [1, -2]], "globals": {"limit": 3},
   "expect": {"return": 20, "globals": {"a": [0, 7]}}},
  {"x": 1, "p": null}
]}"""


@pytest.mark.parametrize(("name", "text"), [("t.csv", CSV), ("t.yaml", YAML), ("t.json", JSON)])
def test_formats_say_the_same(name: str, text: str, program: Program, tmp_path: Path) -> None:
    first, second = read(tmp_path, name, text, program)
    assert first.name == "first"
    assert first.args == (16, [1, -2])
    assert dict(first.globals) == {"limit": 3}
    assert first.expected.returned == (20,)
    assert dict(first.expected.globals) == {"a": [0, 7]}
    assert first.expected.stdout is None
    assert first.origin.file.endswith(name)
    assert first.origin.line
    assert (second.name, second.args) == ("2", (1, None))
    assert second.expected == Expected()


def test_of_processes(program: Program, tmp_path: Path) -> None:
    text = "argv,stdin,stdout,exit\n\"1 'two words'\",3\\n,a\\nb,2\n"
    (test,) = read(tmp_path, "t.csv", text, program, "main")
    assert test.argv == (b"1", b"two words")
    assert (test.stdin, test.expected.stdout, test.expected.exit_code) == (b"3\n", b"a\nb", 2)
    assert test.args is None


def test_universe(program: Program, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"data")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "t1").write_bytes(b"right\n")
    path = tmp_path / "universe"
    path.write_text(" 1 2\n\n3 < in\n")
    first, second = read_tests(path, program, "main", tmp_path / "out")
    assert first.argv == (b"1", b"2")
    assert first.expected.stdout == b"right\n"
    assert (second.name, second.argv, second.stdin) == ("3", (b"3",), b"data")
    assert second.expected.stdout is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.csv", "x,p,wrong\n1,NULL,2\n", "`wrong` is neither a parameter"),
        ("t.csv", "x,x,p\n1,1,NULL\n", "the column `x` stands twice"),
        ("t.csv", "x,p\n1,NULL,3\n", "t.csv:2:1: error: 3 values, but 2 columns"),
        ("t.csv", "x\n1\n", "test 1 gives no value for p"),
        ("t.csv", "x,p,return\n1,NULL,much\n", "`much` is no number"),
        ("t.csv", 'x,p\n"1,NULL\n', "this is no CSV"),
        ("t.csv", "x,p\n", "there are no tests"),
        ("t.csv", b"x,p\n\xff,1\n", "this is not UTF-8"),
        ("t.yaml", "x: 1\n", "a list of tests should stand here"),
        ("t.yaml", "- args: [1]\n", "takes 2 arguments, 1 are given"),
        ("t.yaml", "- args: [1, &a [1]]\n- args: [1, *a]\n", "t.yaml:"),
        ("t.json", '[{"x": 1, "p": ', "this is no YAML"),
        ("universe", "1 2\n", "arguments of a process"),
        ("t.yaml", "[" * 5000, "t.yaml:"),
    ],
)
def test_wrong_tests(
    name: str, text: str | bytes, said: str, program: Program, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, name, text, program)
    assert said in str(caught.value)


def test_all_that_is_wrong_is_said(program: Program, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "t.csv", "x,p\n1\n2\n", program)
    assert [each.origin.line for each in caught.value.diagnostics] == [2, 3]


def test_no_such_function(program: Program, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no function `g`"):
        read(tmp_path, "t.csv", "x\n1\n", program, "g")
    with pytest.raises(InputError, match="cannot be read"):
        read_tests(tmp_path / "missing.csv", program, "f")


BEGIN, END = "__CPROVER_observation_begin();", "__CPROVER_observation_end();"


@pytest.mark.parametrize(
    ("body", "said", "kind"),
    [
        (f"if (a) {{ {BEGIN} a = 1; }}", "this observation does not end", InputError),
        (f"{END}", "an observation ends here", InputError),
        (f"{BEGIN} {BEGIN} a = 1; {END}", "within another", InputError),
        (f"{BEGIN} a = b; {END}", "what is no number", UnsupportedError),
        (f"{BEGIN} f(); {END}", "not of assignments", UnsupportedError),
        (f"{BEGIN} a = 1; {END} {BEGIN} b = 1; {END}", "set by one", UnsupportedError),
        (f"{BEGIN} a = 1; {END} b = 2; {BEGIN} a = 1; {END}", "more than one", UnsupportedError),
    ],
)
def test_wrong_observations(body: str, said: str, kind: type[WhenceError]) -> None:
    text = f"int a, b; void f(void) {{ }}\nint main(void) {{ {body} return 0; }}\n"
    with pytest.raises(kind) as caught:
        inline_observations(read_c(["test.c"], text=text))
    assert said in str(caught.value)
    assert str(caught.value).startswith("test.c:2:")
