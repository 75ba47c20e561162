"""Simple edits at the places of a diagnosis, and those after which all tests pass.

Such an edit is a candidate, not a repair: tests know only so much.  The failing tests are run
first, and the test that rejected the last edit before all others, so that most edits cost one run.
What passes all tests among the variants of one program (`whence.locate.variants`) is then written
into the user's text, which is read anew, and has to pass all tests once more: that is what is
shown.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

from whence.locate.edits import Choice, edits_of
from whence.locate.fault_model import FaultModel, Place, Suspects
from whence.locate.interpreter import Interpreter
from whence.locate.localize import Fix, Localization, TextEdit, options_for
from whence.locate.observations import Ran, failure
from whence.locate.regions import Region, SourceFile, regions_of
from whence.locate.scope import Scope, scope_of
from whence.locate.variants import Trial, filling, selector, written
from whence.model.program import Program
from whence.model.program_test import Test, Value
from whence.source import Origin, WhenceError

__all__ = ["FixSettings", "Reread", "with_fixes"]

#: Costs: what people mistype; what they forget; comparisons that stand nowhere in the program.
_LEVELS: Final = ((0, 3), (4, 5), (6, 6))

#: So many combinations of edits are tried at places that have to be changed together.
_MOST_PAIRS: Final = 600

#: Reads the program with other texts instead of those of its files.
Reread = Callable[[Mapping[str, str]], Program]


@dataclass(frozen=True, slots=True)
class FixSettings:
    """`diagnoses`: at how many of them edits are tried; `shown`: how many candidates each may have.
    `work` bounds the runs of tests, in iterations and calls, of which each run counts as 30 more;
    `readings` how often the program is read."""

    diagnoses: int = 60
    shown: int = 3
    work: int = 8_000_000
    readings: int = 150


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A trial with what fills its hole."""

    trial: Trial
    choice: Choice | None

    @property
    def cost(self) -> int:
        return self.trial.edit.cost + (self.choice.cost if self.choice is not None else 0)

    @property
    def new(self) -> str:
        return self.trial.edit.filled(self.choice)


class _OutOfWork(Exception):
    pass


def with_fixes(
    found: Localization,
    program: Program,
    model: FaultModel,
    texts: Mapping[str, bytes],
    reread: Reread,
    settings: FixSettings | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Localization:
    """The same, with candidate edits, and the diagnoses that have some first. `texts` are the
    program's files."""
    settings = settings or FixSettings()
    if not found.diagnoses:
        return found
    fixer = _Fixer(found, program, model, texts, reread, settings)
    tell = progress or (lambda what, one, two: None)
    fixes = fixer.all(tell)
    ranked = sorted(
        (
            replace(diagnosis, fixes=tuple(fixes.get(number, ())))
            for number, diagnosis in enumerate(found.diagnoses)
        ),
        key=lambda each: (
            len(each.places),
            not each.fixes,
            min((fix.cost for fix in each.fixes), default=0),
        ),
    )
    return replace(found, diagnoses=tuple(ranked), tried=fixer.tried)


@dataclass
class _Tests:
    """Tests in the order in which they reject edits."""

    failing: list[Test]
    passing: list[Test]
    work: int

    def passes(self, interpreter: Interpreter, entry: str, given: Mapping[str, Value]) -> bool:
        return all(
            self._all(interpreter, entry, given, tests) for tests in (self.failing, self.passing)
        )

    def _all(
        self, interpreter: Interpreter, entry: str, given: Mapping[str, Value], tests: list[Test]
    ) -> bool:
        for at, test in enumerate(tests):
            if not self.one(interpreter, entry, given, test):
                if at:
                    tests.insert(0, tests.pop(at))
                return False
        return True

    def one(
        self, interpreter: Interpreter, entry: str, given: Mapping[str, Value], test: Test
    ) -> bool:
        if self.work <= 0:
            raise _OutOfWork
        outcome = interpreter.run(
            entry,
            test.args,
            argv=test.argv,
            stdin=test.stdin,
            globals={**test.globals, **given} if test.globals else given,
            observe=tuple(test.expected.globals),
        )
        self.work -= outcome.steps + 30
        return not failure(test, outcome)


@dataclass
class _Fixer:
    found: Localization
    program: Program
    model: FaultModel
    texts: Mapping[str, bytes]
    reread: Reread
    settings: FixSettings
    regions: list[Region] = field(default_factory=list)
    of_place: dict[Place, list[int]] = field(default_factory=dict)
    tried: int = 0

    def __post_init__(self) -> None:
        self.sources = {
            name: SourceFile(name, text.decode("latin-1"))
            for name, text in self.texts.items()
            if _is_utf8(text)
        }
        self.suspects = Suspects(self.program, self.model)
        self.scopes: dict[str, Scope] = {}
        self.readings = self.settings.readings
        most = max(each.outcome.steps for each in self.found.ran if each.outcome.end != "limit")
        self.options = replace(
            options_for(self.model, 20 * most + 2_000), coverage=False, dependences=False
        )
        self.tests = _Tests(
            [each.test for each in self.found.failing],
            [each.test for each in self.found.ran if not each.failure],
            self.settings.work,
        )
        self.diagnoses = list(enumerate(self.found.diagnoses))[: self.settings.diagnoses]

    def all(self, tell: Callable[[str, int, int], None]) -> dict[int, list[Fix]]:
        self._find_regions()
        fixes: dict[int, list[Fix]] = {}
        for least, most in _LEVELS:
            large = most > _LEVELS[1][1]
            trials = [each for each in self._trials(large) if least <= each.edit.cost <= most]
            count = sum(max(1, len(each.edit.choices)) for each in trials)
            tell("trying edits", 0, count)
            for number, chosen in self._passing(trials, large, tell, count):
                fixes.setdefault(number, [])
                fixes[number] += self._verified(chosen)
            fixes = {number: some for number, some in fixes.items() if some}
            if fixes or self.tests.work <= 0:
                # What is simpler is likelier: of more involved edits there are always some.
                break
        return fixes

    # --------------------------------------------------------------------------- what is tried

    def _find_regions(self) -> None:
        taken: dict[str, list[tuple[int, int]]] = {}
        for _, diagnosis in self.diagnoses:
            for place in diagnosis.places:
                if place in self.of_place:
                    continue
                numbers = self.of_place[place] = []
                for region in regions_of(place, self.program, self.suspects, self.sources):
                    known = taken.setdefault(region.file, [])
                    if any(start < region.end and region.start < end for start, end in known):
                        continue
                    known.append((region.start, region.end))
                    numbers.append(len(self.regions))
                    self.regions.append(region)

    def _scope(self, file: str) -> Scope:
        known = self.scopes.get(file)
        if known is None:
            known = self.scopes[file] = scope_of(self.program, self.sources[file])
        return known

    def _suggested(self) -> dict[Place, list[int]]:
        """Numbers that would make a test pass, and those that tests give and ask for."""
        given: set[int] = set()
        for ran in self.found.failing[:50]:
            given.update(_numbers(ran))
        common = sorted({near for value in given for near in (value, value + 1, value - 1)})
        suggested: dict[Place, list[int]] = {}
        for _, diagnosis in self.diagnoses:
            for place in diagnosis.places:
                wanted = {
                    change.wanted
                    for witness in diagnosis.witnesses
                    for change in witness.changes
                    if change.place == place and not change.decision
                }
                suggested[place] = [*sorted(wanted), *common]
        return suggested

    def _trials(self, large: bool) -> list[Trial]:
        suggested = self._suggested()
        trials = []
        for place, numbers in self.of_place.items():
            for number in numbers:
                region = self.regions[number]
                scope = self._scope(region.file)
                text = self.sources[region.file].text
                edits = edits_of(region, text, scope, suggested[place], large=large)
                trials += [Trial(number, at, edit) for at, edit in enumerate(edits, 1)]
        return trials

    # -------------------------------------------------------------------------------- variants

    def _variants(self, trials: Sequence[Trial], large: bool) -> tuple[Program | None, list[Trial]]:
        """A program with all of these but those that are no C."""
        left = list(trials)
        while left and self.readings > 0:
            texts, lines = {}, {}
            for file, source in self.sources.items():
                used = {each.region for each in left}
                regions = {
                    number: region
                    for number, region in enumerate(self.regions)
                    if region.file == file and number in used
                }
                if not regions:
                    continue
                here = [each for each in left if each.region in regions]
                scope = self._scope(file)
                made = written(source, regions, here, scope, compared=large)
                texts[file] = _decoded(made.text)
                lines[file] = made.lines
            try:
                self.readings -= 1
                return self.reread(texts), left
            except WhenceError as error:
                fewer = self._without_wrong(left, error, texts, lines)
                if len(fewer) == len(left):
                    return None, []
                left = fewer
        return None, []

    def _without_wrong(
        self,
        trials: list[Trial],
        error: WhenceError,
        texts: Mapping[str, str],
        lines: Mapping[str, Sequence[Trial | None]],
    ) -> list[Trial]:
        """Those that stand on lines with errors are no C, and left out. On other lines, a macro has
        to be constant there: it is tried alone."""
        wrong: set[tuple[int, int]] = set()
        elsewhere = ""
        for each in error.diagnostics:
            known = lines.get(each.origin.file, ())
            if 0 < each.origin.line <= len(known):
                trial = known[each.origin.line - 1]
                if trial is not None:
                    wrong.add((trial.region, trial.number))
                else:
                    elsewhere += texts[each.origin.file].split("\n")[each.origin.line - 1] + "\n"
        if wrong:
            return [each for each in trials if (each.region, each.number) not in wrong]
        macros = {
            number: place.name
            for place, numbers in self.of_place.items()
            for number in numbers
            if self.regions[number].form == "macro"
        }
        words = set(re.findall(r"\w+", elsewhere))
        named = {number for number, name in macros.items() if name in words} or set(macros)
        return [each for each in trials if each.region not in named]

    def _passing(
        self,
        trials: Sequence[Trial],
        large: bool,
        tell: Callable[[str, int, int], None],
        count: int,
    ) -> Iterator[tuple[int, list[tuple[_Chosen, ...]]]]:
        """For each diagnosis, what makes all tests pass, the cheapest first."""
        constant = {number for number, each in enumerate(self.regions) if each.form == "definition"}
        together = [each for each in trials if each.region not in constant]
        program, used = self._variants(together, large)
        left_out = {(each.region, each.number) for each in used}
        alone = [each for each in trials if each.region in constant] + [
            each
            for each in together
            if self.regions[each.region].form == "macro"
            and (each.region, each.number) not in left_out
        ]
        by_region: dict[int, list[Trial]] = {}
        for trial in used:
            by_region.setdefault(trial.region, []).append(trial)
        lonely: dict[int, list[Trial]] = {}
        for trial in alone:
            lonely.setdefault(trial.region, []).append(trial)
        interpreter = Interpreter(program, self.options) if program is not None else None
        known: dict[int, list[_Chosen]] = {}
        try:
            for number, diagnosis in self.diagnoses:
                tell("trying edits", self.tried, count)
                groups = [self.of_place[place] for place in diagnosis.places]
                if len(groups) == 1:
                    good: list[tuple[_Chosen, ...]] = []
                    for region in groups[0]:
                        if region not in known:
                            known[region] = list(
                                self._single(interpreter, by_region.get(region, ()))
                            )
                            known[region] += self._alone(lonely.get(region, ()))
                        good += [(chosen,) for chosen in known[region]]
                elif interpreter is not None:
                    good = list(self._several(interpreter, groups, by_region))
                else:
                    good = []
                good.sort(key=lambda chosen: sum(each.cost for each in chosen))
                if good:
                    yield number, good
        except _OutOfWork:
            return

    def _single(
        self, interpreter: Interpreter | None, trials: Iterable[Trial]
    ) -> Iterator[_Chosen]:
        if interpreter is None:
            return
        entry = self.found.entry
        for trial in trials:
            passed = 0
            for chosen in _choices(trial):
                self.tried += 1
                if self.tests.passes(interpreter, entry, _given([chosen])):
                    yield chosen
                    passed += 1
                    # Of numbers the likeliest is enough.
                    if trial.edit.hole == "number" or passed == self.settings.shown:
                        break

    def _alone(self, trials: Iterable[Trial]) -> Iterator[_Chosen]:
        """Edits for each of which the program is read anew, the cheapest only."""
        chosen = sorted(
            (each for trial in trials for each in _choices(trial)), key=lambda each: each.cost
        )
        for each in chosen[:20]:
            if self.readings <= 0:
                return
            self.tried += 1
            if self._verify([each]) is not None:
                yield each
                return

    def _several(
        self,
        interpreter: Interpreter,
        groups: Sequence[Sequence[int]],
        by_region: Mapping[int, Sequence[Trial]],
    ) -> Iterator[tuple[_Chosen, ...]]:
        """An edit for each place: of those after which most failing tests pass."""
        entry = self.found.entry
        failing = self.tests.failing[:30]
        best = []
        for group in groups:
            scored: list[tuple[int, int, int, _Chosen, frozenset[int]]] = []
            for region in group:
                for trial in by_region.get(region, ()):
                    for chosen in _choices(trial)[:40]:
                        self.tried += 1
                        given = _given([chosen])
                        passed = frozenset(
                            at
                            for at, test in enumerate(failing)
                            if self.tests.one(interpreter, entry, given, test)
                        )
                        if passed:
                            scored.append((-len(passed), chosen.cost, len(scored), chosen, passed))
            scored.sort(key=lambda each: each[:3])
            best.append(scored[: 40 if len(groups) == 2 else 12])
        # A test may need all of the edits: what passes with each alone need not be everything.
        pairs = sorted(
            product(*best),
            key=lambda pair: (
                -len(frozenset().union(*(each[4] for each in pair))),
                sum(each[1] for each in pair),
            ),
        )
        count = 0
        for combined in pairs[:_MOST_PAIRS]:
            chosen_ones = tuple(each[3] for each in combined)
            self.tried += 1
            if self.tests.passes(interpreter, entry, _given(chosen_ones)):
                yield chosen_ones
                count += 1
                if count == self.settings.shown:
                    return

    # ------------------------------------------------------------------------------- verified

    def _verified(self, good: Sequence[tuple[_Chosen, ...]]) -> list[Fix]:
        fixes: list[Fix] = []
        for chosen in good:
            if len(fixes) == self.settings.shown or self.readings <= 0:
                break
            texts = self._verify(chosen)
            if texts is None:
                continue
            edits = tuple(self._edit(each) for each in chosen)
            diff = "".join(
                _diff(name, _decoded(self.sources[name].text), text) for name, text in texts.items()
            )
            fix = Fix(edits, diff, sum(each.cost for each in chosen), texts)
            if all(fix.diff != other.diff for other in fixes):
                fixes.append(fix)
        return fixes

    def _verify(self, chosen: Sequence[_Chosen]) -> dict[str, str] | None:
        """The texts after these edits, if the program then passes all tests."""
        texts: dict[str, str] = {}
        for name, source in self.sources.items():
            here = sorted(
                (each for each in chosen if self.regions[each.trial.region].file == name),
                key=lambda each: -each.trial.edit.start,
            )
            text = source.text
            for each in here:
                edit = each.trial.edit
                text = text[: edit.start] + each.new + text[edit.end :]
            if here:
                texts[name] = _decoded(text)
        self.readings -= 1
        try:
            interpreter = Interpreter(self.reread(texts), self.options)
            passes = self.tests.passes(interpreter, self.found.entry, {})
        except WhenceError:
            return None
        return texts if passes else None

    def _edit(self, chosen: _Chosen) -> TextEdit:
        edit = chosen.trial.edit
        file = self.regions[chosen.trial.region].file
        source = self.sources[file]
        line, end_line = source.line(edit.start), source.line(edit.end)
        origin = Origin(
            file,
            line,
            edit.start - source.starts[line - 1] + 1,
            end_line,
            edit.end - source.starts[end_line - 1] + 1,
        )
        return TextEdit(origin, _decoded(source.text[edit.start : edit.end]), _decoded(chosen.new))


def _choices(trial: Trial) -> list[_Chosen]:
    if not trial.edit.hole:
        return [_Chosen(trial, None)]
    return [_Chosen(trial, choice) for choice in trial.edit.choices]


def _given(chosen: Iterable[_Chosen]) -> dict[str, Value]:
    given: dict[str, Value] = {}
    for each in chosen:
        given[selector(each.trial.region)] = each.trial.number
        if each.choice is not None:
            given[filling(each.trial.region)] = each.choice.value
    return given


def _numbers(ran: Ran) -> Iterator[int]:
    """The integers that a test speaks of."""
    expected = ran.test.expected
    waiting: list[Value] = [*(ran.test.args or ()), *ran.test.globals.values()]
    waiting += [*(expected.returned or ()), *expected.globals.values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, int):
            yield int(value)
        elif isinstance(value, list):
            waiting += value[:50]
        elif isinstance(value, dict):
            waiting += value.values()
    for word in (*ran.test.argv, *ran.test.stdin.split()[:50]):
        try:
            yield int(word)
        except ValueError:
            continue


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "replace")


def _diff(name: str, before: str, after: str) -> str:
    """Unified."""
    lines = []
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, name, name):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)
