"""The documentation says what is so: its examples run and print what it shows.

A page is read from top to bottom, in a folder with a fresh copy of `examples/`:

- A ```console block holds `$ whence …` commands, each followed by what it prints. `...` stands for
  anything; a command with nothing after it may print what it likes; `> file` at its end keeps its
  standard output. `<!-- exit: 1 -->` before the block names the exit status of its commands,
  otherwise 0.
- The ```python blocks of a page share their names.
"""

import doctest
import io
import re
import shlex
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from whence.cli import main

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?:^<!-- exit: (?P<status>\d+) -->\s*)?^```(?P<language>console|python)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    status: int
    body: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def commands(self) -> list[tuple[str, str]]:
        """Each command with the output shown for it."""
        before, *rest = re.split(r"^\$ ", self.body.replace("\\\n", " "), flags=re.MULTILINE)
        assert not before.strip(), f"{self}: a console block starts with `$ `"
        pairs = [text.partition("\n") for text in rest]
        return [(command, shown) for command, _, shown in pairs]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, match.start("body")) + 1,
            language=match["language"],
            status=int(match["status"] or 0),
            body=match["body"],
        )
        for match in BLOCK.finditer(text)
    ]


PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if blocks(page)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            padding = "\n" * (block.line - 1)  # so that a failure names the line of the page
            exec(compile(padding + block.body, str(page), "exec"), names)
        else:
            check_console(block, monkeypatch)


def check_console(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, shown in block.commands():
        program, *arguments = shlex.split(command)
        assert program == "whence", f"{block}: only whence runs here; show others as ```sh"
        status, printed = run(arguments, monkeypatch)
        assert status == block.status, f"{block}: {command}\n{printed}"
        if shown.strip():
            check_output(f"{block}: {command}", shown, printed)


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Exit status of `whence` with these arguments, and what a terminal would show."""
    terminal, kept = io.StringIO(), None
    if ">" in arguments:
        *arguments, _, kept = arguments
    monkeypatch.setattr("sys.argv", ["whence", *arguments])
    output = terminal if kept is None else io.StringIO()
    with redirect_stdout(output), redirect_stderr(terminal), pytest.raises(SystemExit) as ended:
        main()
    if kept is not None:
        Path(kept).write_text(output.getvalue(), encoding="utf-8")
    return int(ended.value.code or 0), terminal.getvalue()


def check_output(what: str, shown: str, printed: str) -> None:
    """Compare as doctest does, blanks at the ends of lines and around the whole aside."""
    want, got = (
        "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
        for text in (shown, printed)
    )
    checker = doctest.OutputChecker()
    if not checker.check_output(want, got, doctest.ELLIPSIS):
        example = doctest.Example(what, want)
        pytest.fail(f"{what}\n{checker.output_difference(example, got, doctest.REPORT_UDIFF)}")


def test_the_checks_can_fail() -> None:
    with pytest.raises(pytest.fail.Exception, match="expected"):
        check_output("two lines", "one\n...\nthree\n", "one\ntwo\nfour\n")
    check_output("two lines", "one\n...\nthree\n", "one\ntwo  \nthree\n\n")
