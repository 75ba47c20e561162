"""Tests from timed charts: read one, check it, generate a suite, write it to a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from whence import files
from whence.api.models import to_text, version
from whence.source import Diagnostic, InputError, Origin, SourceText, UsageError

if TYPE_CHECKING:
    from whence.model.chart import Chart
    from whence.model.signals import Interface
    from whence.model.suite import Suite

__all__ = ["TimedChart", "load_timed_chart", "write_suite"]

AnyPath = Path | str

#: The file of a suite's folder that says what is in it.
MANIFEST = "manifest.json"
#: The same for people.
PAGE = "index.html"


@dataclass(frozen=True)
class TimedChart:
    """A chart whose machines step together. `hash` is that of its file; `notes` say what was
    changed in it."""

    chart: Chart
    hash: str
    notes: tuple[Diagnostic, ...] = ()
    wide: bool = False

    def widened(self) -> TimedChart:
        """With ranges that have all defaults and all assigned values."""
        from whence.testing.checks import widened

        chart, notes = widened(self.chart)
        return TimedChart(chart, self.hash, (*self.notes, *notes), wide=True)

    def check(self) -> tuple[Diagnostic, ...]:
        """What is wrong with it, whatever tests are wanted."""
        from whence.testing.checks import check_model
        from whence.testing.elaborate import elaborate

        return (*self.notes, *check_model(elaborate(self.chart)))

    def interface(self) -> Interface:
        """The inputs and outputs of the system."""
        from whence.testing.elaborate import elaborate
        from whence.testing.interface import interface_of
        from whence.testing.part import system_part

        return interface_of(system_part(elaborate(self.chart)))

    def mutate(
        self,
        suite: Suite,
        *,
        seed: int = 0,
        latency: int = 50,
        seconds: float | None = None,
        kill: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> Suite:
        """The suite with what became of mutants of the model; with `kill`, also with tests that
        kill those that survive."""
        from whence.testing.elaborate import elaborate
        from whence.testing.mutation import MutationSettings, extended, mutate

        settings = MutationSettings(seed=seed, latency=latency, seconds=seconds)
        found = mutate(elaborate(self.chart), suite.tests, settings, say or (lambda _: None))
        if not kill:
            return replace(suite, mutation=found)
        tests, found = extended(suite.tests, found)
        return replace(suite, tests=tests, mutation=found)

    def tests(
        self,
        *,
        seed: int = 0,
        goals: tuple[str, ...] = (),
        kinds: tuple[str, ...] = (),
        style: Literal["few", "short"] = "few",
        bound: int | None = None,
        latency: int = 50,
        seconds: float | None = None,
        pairs: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> Suite:
        """A suite for all goals of these `kinds` (none: all but pairs; `pairs`: these as well),
        and for more `goals`, which are temporal formulas."""
        from whence.model.chart import UserGoal
        from whence.testing.checks import check_model
        from whence.testing.elaborate import elaborate
        from whence.testing.generate import GenerateSettings, generate
        from whence.testing.goals import ALL_KINDS, KINDS
        from whence.testing.reach import Settings

        for kind in kinds:
            if kind not in ALL_KINDS:
                known = ", ".join(ALL_KINDS)
                raise UsageError(f"unknown kind of goals `{kind}`; known are {known}")
        more = [
            UserGoal(name=text, text=SourceText(text, "<goal>", ((0, 1, 1),), "a goal"))
            for text in goals
        ]
        model = elaborate(self.chart)
        settings = GenerateSettings(
            seed=seed,
            kinds=tuple(kinds) or (ALL_KINDS if pairs else KINDS),
            reach=Settings() if bound is None else Settings(bound=bound),
            tests=style,
            latency=latency,
            seconds=seconds,
        )
        findings = (*self.notes, *check_model(model))
        suite = generate(
            model, settings, more, findings=findings, hash_=self.hash, say=say or (lambda _: None)
        )
        return replace(suite, widened=self.wide)


def load_timed_chart(path: AnyPath) -> TimedChart:
    """A chart in YAML, UML or SysML state machines as XMI, or an SCXML document."""
    from whence.formats.charts.scxml import read_scxml
    from whence.formats.charts.xmi import looks_like_xmi, read_xmi
    from whence.formats.charts.yaml import read_chart
    from whence.formats.markup import read_bytes

    name = str(path)
    data = read_bytes(name)
    ending = Path(name).suffix.lower()
    if ending in (".yaml", ".yml"):
        chart = read_chart(data, name)
    elif ending == ".scxml":
        chart = read_scxml(data, name)
    elif looks_like_xmi(data[: 1 << 16]):
        chart = read_xmi(data, name)
    else:
        raise InputError(
            Diagnostic(
                "this is no chart that tests can be made from",
                Origin(name),
                "expected .yaml, .scxml, or UML state machines as .xmi, .uml or .xml",
            )
        )
    return TimedChart(chart, hashlib.sha256(data).hexdigest())


def write_suite(
    suite: Suite, folder: AnyPath, forms: Sequence[str] = (), interface: Interface | None = None
) -> None:
    """A file for each test, a page for people, and the manifest, which comes last. A folder that
    has something else than a suite of ours is left alone. `forms`: for which other tools the
    suite is written as well; the form `c` needs the system's `interface`."""
    from whence.model.signals import Interface
    from whence.report.suite_forms import FORMS, rendered
    from whence.report.suite_html import suite_page
    from whence.report.tests_json import case_document, suite_document

    for form in forms:
        if form not in FORMS:
            raise UsageError(f"unknown form `{form}`; known are {', '.join(FORMS)}")
    texts: dict[str, str] = {}
    for form in forms:
        texts |= rendered(suite, form, interface or Interface(suite.model, (), ()))

    target = Path(folder)
    before = _tests_before(target)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in before:
            (target / name).unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(
            Diagnostic(f"the folder cannot be written: {reason}", Origin(str(folder)))
        ) from None
    for test in suite.tests:
        files.write_atomically(target / f"{test.ident}.json", to_text(case_document(test)))
    for name, text in texts.items():
        files.write_atomically(target / name, text)
    files.write_atomically(target / PAGE, suite_page(replace(suite, seconds=0.0), version()))
    manifest = suite_document(suite, version(), complete=False)
    manifest["forms"] = sorted(texts)
    files.write_atomically(target / MANIFEST, to_text(manifest))


def _tests_before(folder: Path) -> list[str]:
    """The files of a suite that is to be replaced."""
    try:
        if not folder.exists():
            return []
        if not folder.is_dir():
            raise InputError(Diagnostic("this is a file, not a folder", Origin(str(folder))))
        if not any(folder.iterdir()):
            return []
        found = json.loads((folder / MANIFEST).read_text("utf-8"))
        if found["schema"] != "tests/1":
            raise ValueError("another schema")
        names = [str(test["id"]) for test in found["tests"]]
        forms = [str(name) for name in found.get("forms", ())]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            Diagnostic(
                "this folder is not empty, and what is in it is no suite of tests",
                Origin(str(folder)),
                "name a new folder",
            )
        ) from None
    # Only names that we give, whatever the manifest says.
    tests = [f"{name}.json" for name in names if name.startswith("test_") and name[5:].isdigit()]
    ours = ("test_suite.py", "suite.robot", "suite.csv", "suite.c")
    return tests + [name for name in forms if name in ours]
