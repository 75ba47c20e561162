"""Hostile and broken input: a message, exit status 2, and never a traceback."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from tests.cli.support import DATABASE, MODEL, Run

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE nta [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {outer} "{f"&{inner};" * 10}">' for inner, outer in pairwise("abcdefghi"))
    + "]><nta><declaration>&i;</declaration></nta>"
)
STEAL = (
    '<!DOCTYPE nta [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    "<nta><declaration>&x;</declaration></nta>"
)


def whole() -> bytes:
    return Path(DATABASE).read_bytes()


CONTENTS = {
    "empty": b"",
    "blank": b" \n\n",
    "text": b"hello",
    "cut": whole()[:1500],
    "bomb": BOMB.encode(),
    "steal": STEAL.encode(),
    "junk": random.Random(1).randbytes(4000),
    "zeros": b"\0" * 4000,
    "html": b"<html><body>404</body></html>",
    "nothing": b"<nta/>",
    "deep": b"<nta>" + b"<a>" * 100_000,
    "parentheses": whole().replace(b"z &lt;= 3", b"(" * 50_000),
    "braces": whole().replace(b"chan req, ser;", b"void f() " + b"{" * 50_000),
    "number": whole().replace(b"z &lt;= 3", b"z &lt;= " + b"9" * 5000),
    "surrogate": whole().replace(b"initial", b"&#xD800;"),
    "latin": whole().replace(b"time units", "Zeiteinheiten, für".encode("latin-1")),
    "encoding": whole().replace(b'"utf-8"', b'"unicode_escape"'),
    "mutilated": whole().replace(b"<system>", b"<system>system nothing;"),
}


@pytest.mark.parametrize("command", ["check", "info"])
@pytest.mark.parametrize("ending", ["xml", "xta"])
@pytest.mark.parametrize("name", CONTENTS)
def test_bad_files(whence: Run, tmp_path: Path, command: str, ending: str, name: str) -> None:
    path = tmp_path / f"model.{ending}"
    path.write_bytes(CONTENTS[name])
    ended = whence(command, path)
    assert ended.status == 2
    assert ended.err.startswith(f"{path}:")
    assert ": error: " in ended.err
    assert len(ended.err) < 100_000
    assert "root:" not in ended.err


@pytest.mark.parametrize("command", ["check", "info", "replay"])
def test_places_without_a_file(whence: Run, tmp_path: Path, command: str) -> None:
    rest = ["x"] if command == "replay" else []
    for path, message in (
        (tmp_path, "this is a directory"),
        (tmp_path / "nosuch.xml", "there is no such file"),
        (tmp_path / "nosuch.xta", "there is no such file"),
        ("x" * 5000, "File name too long"),
    ):
        ended = whence(command, path, *rest)
        assert (ended.status, ended.out) == (2, "")
        assert message in ended.err


def test_bad_usage(whence: Run) -> None:
    for arguments in (
        ("check",),
        ("check", DATABASE, "--trace", "long"),
        ("check", DATABASE, "--no-such-option"),
        ("frobnicate",),
        ("replay", DATABASE),
        ("check", DATABASE, "--queries", "nosuch.q"),
    ):
        ended = whence(*arguments)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err


def test_names_are_no_markup(whence: Run, tmp_path: Path) -> None:
    """Neither rich's markup nor its emoji, nor control characters of terminals."""
    path = tmp_path / "[red]m:smile:\x1b[31m.xta"
    path.write_text(MODEL, encoding="utf-8")
    ended = whence("info", path)
    assert "[red]m:smile:\ufffd[31m.xta" in ended.out
    ended = whence("check", path, "-q", "E<> n == 3 // [bold]:smile:\x1b[31m")
    assert ended.status == 0
    assert "[bold]:smile:" in ended.out
    assert "\x1b" not in ended.out
    ended = whence("check", path)
    assert ended.status == 2
    assert "\x1b" not in ended.err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["check", "--help"], ["info", DATABASE]])
def test_what_needs_no_search_does_not_load_it(arguments: list[str]) -> None:
    """Starting must be quick: numba alone takes half a second."""
    program = (
        "import sys, whence.cli\n"
        f"sys.argv = ['whence', *{arguments!r}]\n"
        "try: whence.cli.main()\n"
        "except SystemExit: pass\n"
        "sys.exit(sorted({'numba', 'numpy'} & sys.modules.keys()) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_importing_is_light() -> None:
    program = (
        "import sys, whence\n"
        "heavy = {'numba', 'numpy', 'rich', 'typer', 'whence.api'} & sys.modules.keys()\n"
        "assert not heavy, heavy\n"
        "whence.load, whence.Model\n"
        "assert 'numba' not in sys.modules"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_output_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    """Under LC_ALL=C standard output may be ASCII."""
    path = tmp_path / "model.xta"
    path.write_text(MODEL, encoding="utf-8")
    path.with_suffix(".q").write_text("/* Grün → Rot */\nE<> P.B\n", encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "whence", "info", str(path)],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)},
    )
    assert ended.returncode == 0, ended.stderr
    assert rb"Gr\xfcn \u2192 Rot" in ended.stdout
