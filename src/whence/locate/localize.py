"""From a program and its tests to ranked diagnoses (Graussam, chapters 5 and 6).

The tests are run; those that fail become observations of the encoded program; diagnoses explain
them all.  Tests that pass cannot make a diagnosis better (section 7.5), but say which one to look
at first: its places are executed by tests that fail rather than by those that pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from whence.locate.diagnosis import Diagnoser
from whence.locate.encode import EncodedProgram, encode_program
from whence.locate.encode_places import Havoc
from whence.locate.fault_model import FaultModel, Place, Suspects
from whence.locate.interpreter import Interpreter
from whence.locate.observations import Ran, contradictions, run_tests
from whence.locate.outcome import Options
from whence.locate.results import Diagnoses, Progress, Stop
from whence.locate.unrolling import unrolling
from whence.model.program import Loop, Program
from whence.model.program_test import Test
from whence.source import Diagnostic, Origin

__all__ = [
    "Change",
    "Diagnosis",
    "Fix",
    "Localization",
    "Settings",
    "Spectrum",
    "TextEdit",
    "Witness",
    "localize",
    "options_for",
    "spectrum",
]


@dataclass(frozen=True, slots=True)
class Settings:
    """`minimum`: only diagnoses with as few places as possible; otherwise all subset-minimal ones
    with up to `most`. `witnesses`: for how many failing tests of each diagnosis to say what would
    pass. `slack` and `rounds` bound loops: see `unrolling`."""

    model: FaultModel = field(default_factory=FaultModel)
    minimum: bool = True
    most: int | None = None
    witnesses: int = 3
    slack: int = 1
    rounds: int | None = None
    stop: Stop = field(default_factory=Stop)
    steps: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Spectrum:
    """How many failing and passing tests execute a place, and what follows for it: Ochiai, and
    DStar with exponent 2 (infinite where only the failing tests execute it, all of them)."""

    failing: int
    passing: int
    ochiai: float
    dstar: float


@dataclass(frozen=True, slots=True)
class Change:
    """At a place, a run in which a test passes has another value: `gave` is what the program
    computes there in this run, `wanted` what it would have had to."""

    place: Place
    what: str
    origin: Origin
    gave: int
    wanted: int
    decision: bool


@dataclass(frozen=True, slots=True)
class Witness:
    """How a failing test could pass. `changes` in the order of the run, the first ones only."""

    test: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class TextEdit:
    """What stands at `origin` in the user's text is replaced."""

    origin: Origin
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A candidate: with these edits all tests pass, which need not make them right. `diff` is
    unified, `texts` are the edited files; the lower the `cost`, the simpler it is."""

    edits: tuple[TextEdit, ...]
    diff: str
    cost: int
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Places that, changed together, could make all failing tests pass. `fixes` are candidates
    for such changes, if any were looked for (`whence.locate.fixes`)."""

    places: tuple[Place, ...]
    spectra: tuple[Spectrum, ...]
    witnesses: tuple[Witness, ...]
    fixes: tuple[Fix, ...] = ()

    @property
    def score(self) -> float:
        """The mean of Ochiai's coefficients."""
        return sum(each.ochiai for each in self.spectra) / max(len(self.spectra), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Localization:
    """`diagnoses` by rank. `unseen` are failing tests whose failure the encoding does not have, and
    `unexplained` those that no change of places could make pass: then there are no diagnoses.
    `unwound` are loops assumed not to run longer than so many rounds."""

    entry: str
    ran: tuple[Ran, ...]
    diagnoses: tuple[Diagnosis, ...]
    components: int
    unseen: tuple[str, ...]
    unexplained: tuple[str, ...]
    unwound: tuple[tuple[Loop, int], ...]
    cut: bool
    found: Diagnoses | None
    notes: tuple[Diagnostic, ...]
    #: How many edits were tried; None: none were asked for.
    tried: int | None = None

    @property
    def failing(self) -> tuple[Ran, ...]:
        return tuple(ran for ran in self.ran if ran.failure)

    @property
    def passing(self) -> int:
        return len(self.ran) - len(self.failing)

    @property
    def complete(self) -> bool:
        return self.found is None or self.found.complete

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """The lines of all diagnoses with as few places as possible (section 6.1)."""
        least = min((len(each.places) for each in self.diagnoses), default=0)
        return tuple(
            sorted(
                {
                    (place.origin.file, place.origin.line)
                    for each in self.diagnoses
                    if len(each.places) == least
                    for place in each.places
                }
            )
        )


def options_for(model: FaultModel, steps: int = 1_000_000) -> Options:
    """Runs in which the same is undefined as in the encoding."""
    return Options(
        steps=steps,
        signed_overflow="undefined" if "overflow" in model.checks else "wrap",
        uninitialised="undefined" if "uninitialised" in model.checks else "zero",
    )


Told = Callable[[str, int, int], None]


def localize(
    program: Program,
    entry: str,
    tests: Sequence[Test],
    settings: Settings | None = None,
    progress: Told | None = None,
) -> Localization:
    """`progress` hears what is being done, and how far it is: tests run and all of them, conflicts
    and diagnoses so far."""
    settings = settings or Settings()
    tell = progress or (lambda what, one, two: None)
    model = settings.model
    options = options_for(model, settings.steps)
    interpreter = Interpreter(program, options)
    ran = run_tests(interpreter, entry, tests, lambda done: tell("running tests", done, len(tests)))
    failing = tuple(each for each in ran if each.failure)
    notes = contradictions(tests)
    if not failing:
        return Localization(
            entry=entry,
            ran=ran,
            diagnoses=(),
            components=0,
            unseen=(),
            unexplained=(),
            unwound=(),
            cut=False,
            found=None,
            notes=notes,
        )
    tell("encoding", 0, len(failing))
    bounds = unrolling(program, entry, ran, options, slack=settings.slack, most=settings.rounds)
    encoded = encode_program(
        program,
        entry,
        [each.test for each in failing],
        model,
        rounds=bounds.rounds,
        depth=bounds.depth,
    )

    def searched(progress: Progress) -> None:
        tell("searching", progress.conflicts, progress.diagnoses)

    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        found = diagnoser.diagnose(
            max_size=settings.most,
            minimum=settings.minimum,
            stop=settings.stop,
            progress=searched,
        )
        spectra = _Spectra(program, model, encoded, ran)
        ranked = sorted(
            found.diagnoses,
            key=lambda members: spectra.rank([encoded.places[at] for at in members]),
        )
        order = _watched(found.failing, settings.witnesses)
        diagnoses = []
        for number, members in enumerate(ranked):
            tell("searching witnesses", number, len(ranked))
            places = tuple(encoded.places[at] for at in members)
            witnesses = []
            for observation in order:
                changes = _changes(diagnoser, encoded, members, observation)
                witnesses.append(Witness(encoded.observations[observation].name, changes))
            diagnoses.append(Diagnosis(places, tuple(map(spectra.of, places)), tuple(witnesses)))
    names = [each.test.name for each in failing]
    seen = set(found.failing)
    return Localization(
        entry=entry,
        ran=ran,
        diagnoses=tuple(diagnoses),
        components=len(encoded.places),
        unseen=tuple(name for at, name in enumerate(names) if at not in seen),
        unexplained=tuple(names[at] for at in found.unexplained),
        unwound=encoded.unwound,
        cut=encoded.cut,
        found=found,
        notes=notes,
    )


def _watched(failing: Sequence[int], count: int) -> Sequence[int]:
    return failing[:count]


# ---------------------------------------------------------------------------------- witnesses

_MOST_CHANGES = 8


def _changes(
    diagnoser: Diagnoser, encoded: EncodedProgram, members: Sequence[int], observation: int
) -> tuple[Change, ...]:
    """What the places of a diagnosis do otherwise in a run in which the test passes."""
    witness = diagnoser.witness(members, observation)
    if witness is None:
        return ()
    places = {encoded.places[at] for at in members}
    doubted = [havoc for havoc in encoded.havocs if havoc.place in places]
    wanted = [word for havoc in doubted for word in ((havoc.guard,), havoc.value, havoc.result)]
    numbers = encoded.description.values(witness, wanted, signed=False)
    found: list[Change] = []
    for at, havoc in enumerate(doubted):
        taken, gave, result = numbers[3 * at : 3 * at + 3]
        if not taken or gave == result:
            continue
        found.append(
            Change(
                havoc.place,
                havoc.what,
                havoc.origin,
                _signed(gave, havoc),
                _signed(result, havoc),
                len(havoc.value) == 1,
            )
        )
        if len(found) == _MOST_CHANGES:
            break
    return tuple(found)


def _signed(value: int, havoc: Havoc) -> int:
    bits = len(havoc.value)
    return value - (1 << bits) if havoc.signed and value >> bits - 1 else value


# ------------------------------------------------------------------------------------ spectra


def spectrum(failing: int, passing: int, all_failing: int) -> Spectrum:
    """Of what so many of the failing and the passing tests execute."""
    both = all_failing * (failing + passing)
    rest = passing + all_failing - failing
    return Spectrum(
        failing,
        passing,
        failing / math.sqrt(both) if both else 0.0,
        failing * failing / rest if rest else math.inf,
    )


class _Spectra:
    """Which tests execute which places."""

    def __init__(
        self, program: Program, model: FaultModel, encoded: EncodedProgram, ran: Sequence[Ran]
    ) -> None:
        self._uses = encoded.uses
        self._of_place: dict[Place, set[int]] = {}
        for number, place in Suspects(program, model).of_statement.items():
            if place is not None:
                self._of_place.setdefault(place, set()).add(number)
        self._failing = [_executed(each) for each in ran if each.failure]
        self._passing = [_executed(each) for each in ran if not each.failure]
        self._known: dict[Place, Spectrum] = {}

    def _numbers(self, place: Place) -> set[int]:
        found = set(self._of_place.get(place, ()))
        for user in self._uses.get(place, ()):
            found |= self._of_place.get(user, set())
        return found

    def of(self, place: Place) -> Spectrum:
        known = self._known.get(place)
        if known is None:
            numbers = self._numbers(place)
            # What is executed before the program starts, or has no statement, is in every run.
            failing = _count(self._failing, numbers)
            passing = _count(self._passing, numbers)
            known = self._known[place] = spectrum(failing, passing, len(self._failing))
        return known

    def rank(self, places: Sequence[Place]) -> tuple[object, ...]:
        """By cardinality, number of lines, and spectrum."""
        spectra = [self.of(place) for place in places]
        ochiai = sum(each.ochiai for each in spectra) / max(len(spectra), 1)
        dstar = sum(each.dstar for each in spectra) / max(len(spectra), 1)
        lines = {(place.origin.file, place.origin.line) for place in places}
        where = tuple(
            (place.origin.file, place.origin.line, place.origin.column, place.kind)
            for place in places
        )
        # Between equals, what is done before what is defined.
        definitions = sum(place.kind not in ("line", "statement") for place in places)
        return (len(places), len(lines), -round(ochiai, 12), -dstar, definitions, where)


def _executed(ran: Ran) -> frozenset[int]:
    covered = ran.outcome.coverage
    return frozenset(covered.statements) if covered is not None else frozenset()


def _count(runs: Iterable[frozenset[int]], numbers: set[int]) -> int:
    return sum(not numbers or bool(numbers & run) for run in runs)
