"""C programs from Python: which places can be the fault?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whence.source import Diagnostic, Origin, UsageError

if TYPE_CHECKING:
    from whence.formats.c.read import COptions
    from whence.locate.localize import Localization, Settings, Told
    from whence.model.program import Program

__all__ = ["Located", "locate"]


@dataclass(frozen=True)
class Located:
    """What was found in a program. `sources` are the lines of its files; `notes` what else there is
    to know."""

    program: Program
    found: Localization
    sources: Mapping[str, tuple[str, ...]]
    notes: tuple[Diagnostic, ...] = field(default=())

    @property
    def csr(self) -> float:
        """How much of the code is to be looked at (Graussam, equation 7.1)."""
        total = sum(len(lines) for lines in self.sources.values())
        return len(self.found.lines) / total if total else 0.0


def locate(
    paths: Sequence[Path | str],
    *,
    entry: str = "main",
    tests: Path | str | None = None,
    golden: Path | str | None = None,
    outputs: Path | str | None = None,
    options: COptions | None = None,
    settings: Settings | None = None,
    fix: bool = False,
    progress: Told | None = None,
) -> Located:
    """Which places of the program can be the fault. `tests` is a file of tests; without one, those
    in the source are taken. What should come out is what the tests say, or what the `golden`
    program does, or what stands in the folder `outputs`. With `fix`, simple edits are tried at the
    places: nothing is written."""
    from whence.formats.c.read import read_c
    from whence.formats.observations.inline import inline_observations
    from whence.formats.observations.read import read_tests
    from whence.formats.observations.rows import entry_function
    from whence.locate.interpreter import Interpreter
    from whence.locate.localize import Settings, localize, options_for
    from whence.locate.observations import expect

    settings = settings or Settings()
    program, inner = inline_observations(read_c(list(paths), options))
    entry_function(program, entry)
    if tests is not None:
        asked = read_tests(tests, program, entry, outputs)
    elif inner:
        asked = inner
    else:
        raise UsageError(
            Diagnostic(
                "there are no tests",
                Origin(str(paths[0])),
                hint="name a file with --tests, or write observations into the source",
            )
        )
    notes: tuple[Diagnostic, ...] = ()
    if golden is not None:
        correct, _ = inline_observations(read_c([golden], options))
        entry_function(correct, entry)
        model = options_for(settings.model, settings.steps)
        asked, notes = expect(Interpreter(correct, model), entry, asked)
    found = localize(program, entry, asked, settings, progress)
    if fix:
        from whence.locate.fixes import with_fixes

        def reread(texts: Mapping[str, str]) -> Program:
            return inline_observations(read_c(list(paths), options, texts=texts))[0]

        texts = _texts(program, found)
        found = with_fixes(found, program, settings.model, texts, reread, progress=progress)
    return Located(program, found, _sources(program), (*notes, *found.notes))


def _texts(program: Program, found: Localization) -> dict[str, bytes]:
    """The files that edits may change: those of the program, and where else places are."""
    files = dict.fromkeys(program.files)
    files.update(
        dict.fromkeys(place.origin.file for each in found.diagnoses for place in each.places)
    )
    texts = {}
    for file in files:
        try:
            texts[file] = Path(file).read_bytes()
        except OSError:
            continue
    return texts


def _sources(program: Program) -> dict[str, tuple[str, ...]]:
    found = {}
    for file in program.files:
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found[file] = tuple(text.splitlines())
    return found
