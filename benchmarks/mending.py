"""One seeded modification of a model, repaired and judged; the unit of `repair_mutants.py`."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.mutants import modifications

from whence.api import read_document
from whence.explore.check import Options
from whence.explore.search import Budget
from whence.explore.traces import walk
from whence.model.network import Query
from whence.model.trace import Transition, Verdict
from whence.solve.integers import Amounts
from whence.source import InputError, WhenceError
from whence.timing.changes import apply_changes, changes_of
from whence.timing.model import TimedModel
from whence.timing.repair import Judge, RepairOptions, search_repairs
from whence.timing.results import SINGLE_KINDS, Change, Kind
from whence.timing.trace import diagnose
from whence.zones.differences import least_solution

__all__ = [
    "MODELS",
    "Case",
    "JudgedRepair",
    "Mutant",
    "Searched",
    "Settings",
    "evaluate",
    "fingerprint",
    "seeds",
    "warm_up",
]


@dataclass(frozen=True, slots=True)
class Case:
    """A model of the thesis' evaluation, and its file."""

    name: str
    file: str


#: In the order of table 10.1. Of the files with the database, this is the one whose property
#: holds and whose modifications are as many as the thesis counts.
MODELS = (
    Case("db rep.", "1repairedDB2.xml"),
    Case("csma", "2csma.xml"),
    Case("elevator", "3elevator.xml"),
    Case("viking", "4viking.xml"),
    Case("bando", "5bando.xml"),
    Case("Pacemaker", "6Pacemaker.xml"),
    Case("SBR", "7SBR.xml"),
    Case("FDDI", "8FDDI.xml"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """`repairs`: so many of each kind, of at most `changes` changes, or up to `more` as long as
    none of any kind is admissible; `seconds` for each search of a test of admissibility,
    `check_seconds` for each check of the property, `again_seconds` for those after repairs."""

    repairs: int = 20
    more: int = 100
    changes: int = 3
    seconds: float = 10.0
    check_seconds: float = 120.0
    again_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class JudgedRepair:
    """`verdict` is that of the property on the whole repaired model; `mended` says that, walked
    again in the repaired model, the trace does not violate the property any more (and is still
    there, if that was possible). `admissible` None: not within the budget; `violations_only` is
    asked of those that are not."""

    changes: tuple[tuple[str, str, str], ...]
    verdict: Verdict
    mended: bool
    admissible: bool | None
    why: str
    check_seconds: float
    seconds: float
    violations_only: bool | None = None

    @property
    def fit(self) -> bool:
        return self.admissible is True or self.violations_only is True


@dataclass(frozen=True, slots=True)
class Searched:
    """The repairs of one kind. `cut`: the search used up its effort."""

    kind: Kind
    seconds: float
    cpu_seconds: float
    cut: bool
    solved: int
    repairs: tuple[JudgedRepair, ...]

    @property
    def admissible(self) -> bool:
        return any(repair.admissible for repair in self.repairs)

    @property
    def fit(self) -> bool:
        return any(repair.fit for repair in self.repairs)


@dataclass(frozen=True, slots=True)
class Mutant:
    """What became of one modification. `verdict` is that of the property on the modified model
    (`error`: it has no initial state, or does something wrong); with `always`, no run along its
    trace satisfies the property. Mixed repairs are searched where no other is admissible, and
    `undone` says whether it is admissible to undo the modification, then."""

    model: str
    number: int
    settings: str
    kind: Kind
    change: tuple[str, str, str]
    verdict: Verdict
    check_seconds: float
    length: int = 0
    always: bool = False
    searches: tuple[Searched, ...] = ()
    undone: bool | None = None

    def search(self, kind: Kind) -> Searched | None:
        return next((search for search in self.searches if search.kind == kind), None)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> Mutant:
        values: dict[str, Any] = json.loads(text)
        values["change"] = tuple(values["change"])
        values["searches"] = tuple(_searched(search) for search in values["searches"])
        return Mutant(**values)


def _searched(values: dict[str, Any]) -> Searched:
    repairs = []
    for repair in values.pop("repairs"):
        changes = tuple(tuple(change) for change in repair.pop("changes"))
        repairs.append(JudgedRepair(changes, **repair))
    return Searched(**values, repairs=tuple(repairs))


@dataclass(frozen=True, slots=True)
class _Seeded:
    model: TimedModel
    query: Query
    changes: tuple[Change, ...]
    print: str


@cache
def _seeded(path: Path) -> _Seeded:
    """A model and all its modifications."""
    model = TimedModel(read_document(path))
    query = model.queries[0]
    assert not isinstance(query, InputError)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return _Seeded(model, query, modifications(model), digest)


def seeds(path: Path) -> int:
    """How many modifications there are."""
    return len(_seeded(path).changes)


def fingerprint(path: Path, settings: Settings) -> str:
    """What a result depends on besides the version of the program."""
    return f"{_seeded(path).print} {json.dumps(dataclasses.asdict(settings))}"


def evaluate(name: str, path: Path, number: int, settings: Settings) -> Mutant:
    """Seeds modification `number`, and repairs what violates the property then."""
    seeded = _seeded(path)
    change = seeded.changes[number]
    told = _told(change)
    print_ = fingerprint(path, settings)
    began = time.perf_counter()
    try:
        model = TimedModel(apply_changes(seeded.model.document, (change,)))
        query = model.query(seeded.query.text)
        options = Options("shortest", budget=Budget(seconds=settings.check_seconds))
        result = model.checker.check(query, options)
    except WhenceError:
        seconds = time.perf_counter() - began
        return Mutant(name, number, print_, change.kind, told, "error", seconds)
    seconds = time.perf_counter() - began
    if result.verdict != "violated":
        return Mutant(name, number, print_, change.kind, told, result.verdict, seconds)
    assert result.trace is not None
    mending = _Mending(model, query, result.trace.transitions, settings)
    searches = [mending.searched(kind) for kind in SINGLE_KINDS]
    if not any(search.admissible for search in searches):
        searches = [mending.continued(search) for search in searches]
    undone = None
    if not any(search.admissible for search in searches):
        searches.append(mending.searched("mixed"))
        admissibility = mending.judge.admissibility(seeded.model)
        assert admissibility is not None
        undone = admissibility.admissible
    return Mutant(
        name,
        number,
        print_,
        change.kind,
        told,
        "violated",
        seconds,
        len(result.trace.transitions),
        mending.always,
        tuple(searches),
        undone,
    )


def warm_up() -> None:
    """Loads what the first search would have to load."""
    Amounts([(0, 1)]).least()
    none = np.zeros(0, np.int64)
    least_solution(1, none, none, none)


def _told(change: Change) -> tuple[str, str, str]:
    return change.element, change.before, change.after


class _Mending:
    def __init__(
        self,
        model: TimedModel,
        query: Query,
        transitions: Sequence[Transition],
        settings: Settings,
    ) -> None:
        self.model = model
        self.query = query
        self.transitions = transitions
        self.settings = settings
        self.options = RepairOptions(
            limit=settings.repairs,
            max_changes=settings.changes,
            budget=Budget(seconds=settings.seconds),
        )
        self.judge = Judge(model, query, self.options)
        self.trace = diagnose(model.checker, query, transitions)
        self.always = False

    def searched(self, kind: Kind) -> Searched:
        kinds: tuple[Kind, ...] = (*SINGLE_KINDS, "mixed") if kind == "mixed" else (kind,)
        options = dataclasses.replace(self.options, kinds=kinds)
        began, cpu = time.perf_counter(), time.process_time()
        system, outcome, self.always = search_repairs(self.trace, self.model, options)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        repairs = tuple(
            self._judged(changes_of(system, found.variations))
            for found in outcome.repairs
            if found.kind == kind
        )
        return Searched(kind, seconds, cpu, outcome.exhausted, outcome.solved, repairs)

    def continued(self, search: Searched) -> Searched:
        """The same with more repairs, up to the first that is admissible."""
        if len(search.repairs) < self.settings.repairs:
            return search
        options = dataclasses.replace(self.options, kinds=(search.kind,), limit=self.settings.more)
        began, cpu = time.perf_counter(), time.process_time()
        system, outcome, _ = search_repairs(self.trace, self.model, options)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        repairs = list(search.repairs)
        for found in outcome.repairs[len(repairs) :]:
            repairs.append(self._judged(changes_of(system, found.variations)))
            if repairs[-1].admissible:
                break
        return Searched(
            search.kind, seconds, cpu, outcome.exhausted, outcome.solved, tuple(repairs)
        )

    def _judged(self, changes: Sequence[Change]) -> JudgedRepair:
        told = tuple(_told(change) for change in changes)
        began = time.perf_counter()
        try:
            changed = TimedModel(apply_changes(self.model.document, changes))
            query = changed.query(self.query.text)
            budget = Budget(seconds=self.settings.again_seconds)
            verdict = changed.checker.check(query, Options("none", budget=budget)).verdict
        except WhenceError as error:
            seconds = time.perf_counter() - began
            return JudgedRepair(told, "error", False, None, str(error), seconds, 0.0)
        check_seconds = time.perf_counter() - began
        mended = self._mended(changed, query)
        began = time.perf_counter()
        admissibility = self.judge.admissibility(changed)
        seconds = time.perf_counter() - began
        assert admissibility is not None
        why = admissibility.reason
        if admissibility.word is not None:
            word = " / ".join(admissibility.word[-2:])
            why = f"only {admissibility.only_in}, {len(admissibility.word)}: … {word}"
        return JudgedRepair(
            told,
            verdict,
            mended,
            admissibility.admissible,
            why,
            check_seconds,
            seconds,
            admissibility.violations_only,
        )

    def _mended(self, changed: TimedModel, query: Query) -> bool:
        """Whether the trace, walked again in the changed model, does not violate the property, and
        was kept where it could be."""
        try:
            diagnose(changed.checker, query, self.transitions)
        except InputError:
            there = any(True for _ in walk(changed.checker.interpreter, self.transitions))
            return there or self.always
        return False
