"""The lazy engine: diagnosis by running, for programs that are too large to be encoded.

For a set of components, only these are free; all else computes as always
(`whence.locate.lazy_run`).  If no run passes a failing test, one of the other components that the
runs came by cannot be healthy: a conflict.  Which sets to ask for is `whence.locate.dualization`'s
business.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from whence.locate.dualization import dualize
from whence.locate.fault_model import FaultModel, Place, Suspects
from whence.locate.interpreter import Interpreter
from whence.locate.lazy_run import Doubt, Effort, LazyInterpreter, Tried
from whence.locate.observations import Ran
from whence.locate.outcome import Options
from whence.locate.results import Conflict, Diagnoses, Stop, Told
from whence.model.program import Expansion, IntConstant, Program
from whence.model.program_test import Test
from whence.model.program_walk import expressions, statements, subexpressions
from whence.solve.hitting import GaveUp
from whence.solve.sat import Limit

__all__ = ["LazyFound", "diagnose_lazily"]

#: Sets with more components are taken to explain everything: that is not worth finding out.
_MOST_TOGETHER = 3
#: Bytes, if the tests can do with as many.
_MEMORY = 1 << 20
#: With so many tests it was not found out whether a set explains them: it stays.
_MOST_UNDECIDED = 2


@dataclass(frozen=True, slots=True)
class _Component:
    place: Place
    doubt: Doubt
    functions: frozenset[str]
    #: Of what cannot be followed, nothing can be excluded.
    followed: bool = True


@dataclass(frozen=True, slots=True)
class LazyFound:
    """`found` numbers the `places`. `considered` are the failing tests that diagnoses explain;
    those of `open` could not be excluded, and may not explain them all. `tried` has for each
    diagnosis and test what made it pass."""

    places: tuple[Place, ...]
    found: Diagnoses
    considered: tuple[Ran, ...]
    open: frozenset[tuple[int, ...]]
    tried: Mapping[tuple[tuple[int, ...], str], Tried]
    uses: Mapping[Place, frozenset[Place]]
    steps: int


def diagnose_lazily(
    program: Program,
    entry: str,
    ran: Sequence[Ran],
    model: FaultModel,
    options: Options,
    *,
    minimum: bool = True,
    max_size: int | None = None,
    tests: int = 5,
    effort: Effort | None = None,
    stop: Stop | None = None,
    progress: Told | None = None,
) -> LazyFound:
    """Which sets of components explain the `tests` shortest failing tests."""
    began = time.perf_counter()
    considered = _shortest([each for each in ran if each.failure], tests)
    ended = [each.outcome.steps for each in ran if each.outcome.end != "limit"]
    usual = sorted(ended)[len(ended) // 2] if ended else 100
    oracle = _Oracle(program, entry, considered, model, options, effort or Effort(), usual)
    found = dualize(
        oracle,
        len(oracle.components),
        max_size=max_size,
        minimum=minimum,
        stop=stop,
        progress=progress,
    )
    members = sorted((tuple(sorted(each)) for each in found.diagnoses), key=lambda m: (len(m), m))
    diagnoses = Diagnoses(
        diagnoses=tuple(members),
        minimum=minimum,
        below=found.below,
        reason=found.reason,
        failing=tuple(range(len(considered))),
        unexplained=() if found.unexplained is None else (found.unexplained,),
        conflicts=tuple(found.conflicts),
        checks=oracle.checks,
        seconds=time.perf_counter() - began,
    )
    open_ones = frozenset(each for each in members if oracle.is_open(frozenset(each)))
    return LazyFound(
        tuple(component.place for component in oracle.components),
        diagnoses,
        tuple(considered),
        open_ones,
        {
            (tuple(sorted(candidate)), oracle.tests[at].name): tried
            for (candidate, at), tried in oracle.known.items()
            if frozenset(candidate) in set(map(frozenset, members))
        },
        oracle.uses,
        max(oracle.longest, default=0),
    )


def _shortest(failing: Sequence[Ran], count: int) -> list[Ran]:
    """Short runs say as much as long ones, sooner. Different ones say more."""
    ended = [each for each in failing if each.outcome.end != "limit"] or list(failing)
    ranked = sorted(ended, key=lambda each: (each.outcome.steps, each.test.name))
    chosen: list[Ran] = []
    seen: set[object] = set()
    for each in ranked:
        covered = each.outcome.coverage
        executed = frozenset(covered.statements) if covered is not None else None
        key = (executed, each.outcome.end)
        if key not in seen:
            seen.add(key)
            chosen.append(each)
        if len(chosen) == count:
            break
    chosen += [each for each in ranked if each not in chosen][: count - len(chosen)]
    return chosen


@dataclass
class _Oracle:
    program: Program
    entry: str
    ran: Sequence[Ran]
    model: FaultModel
    options: Options
    effort: Effort
    #: How long runs that end are.
    usual: int = 0
    checks: int = 0
    components: list[_Component] = field(default_factory=list)
    known: dict[tuple[frozenset[int], int], Tried] = field(default_factory=dict)
    uses: dict[Place, frozenset[Place]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A change after which a test runs very much longer is not found.
        self.longest = [
            min(
                self.options.steps,
                3 * (self.usual if each.outcome.end == "limit" else each.outcome.steps) + 500,
            )
            for each in self.ran
        ]
        self.tests: list[Test] = [each.test for each in self.ran]
        options = replace(self.options, coverage=True)
        # Sizes that nobody knows would take all memory there is, again and again.
        small = replace(options, memory=min(options.memory, _MEMORY))
        trial = Interpreter(self.program, small)
        if any(
            trial.run(
                self.entry,
                each.test.args,
                argv=each.test.argv,
                stdin=each.test.stdin,
                globals=each.test.globals,
            ).end
            != each.outcome.end
            for each in self.ran
        ):
            small = options
        self.interpreter = LazyInterpreter(self.program, small)
        self._components()

    def _components(self) -> None:
        suspects = Suspects(self.program, self.model)
        numbers: dict[Place, set[int]] = {}
        functions: dict[Place, set[str]] = {}
        defined: dict[Place, tuple[Expansion, bool]] = {}
        users: dict[Place, set[Place]] = {}
        #: The places that statements belong to, those of definitions among them.
        self.of_statement: dict[int, set[Place]] = {}
        for key, function in self.program.functions.items():
            for statement in statements(function.body):
                place = suspects.of_statement.get(statement.number)
                if place is None:
                    continue
                numbers.setdefault(place, set()).add(statement.number)
                functions.setdefault(place, set()).add(key)
                mine = self.of_statement.setdefault(statement.number, set())
                mine.add(place)
                for expression in expressions(statement):
                    for part in subexpressions(expression):
                        expansion = part.expansion
                        macro = None if expansion is None else suspects.macro(expansion)
                        if macro is None or expansion is None:
                            continue
                        followed = isinstance(part, IntConstant)
                        before = defined.get(macro, (expansion, True))
                        defined[macro] = (expansion, before[1] and followed)
                        functions.setdefault(macro, set()).add(key)
                        users.setdefault(macro, set()).add(place)
                        mine.add(macro)
        for place, held in numbers.items():
            doubt = Doubt(statements=frozenset(held))
            self.components.append(_Component(place, doubt, frozenset(functions[place])))
        for place, (expansion, followed) in defined.items():
            if place not in numbers:
                doubt = Doubt(definitions=frozenset({expansion.definition}))
                among = frozenset(functions[place])
                self.components.append(_Component(place, doubt, among, followed))
        self.components.sort(
            key=lambda each: (
                each.place.origin.file,
                each.place.origin.line,
                each.place.origin.column,
                each.place.kind,
            )
        )
        self._number = {each.place: number for number, each in enumerate(self.components)}
        self.uses = {place: frozenset(who) for place, who in users.items()}

    def conflict(self, candidate: frozenset[int], limit: Limit) -> Conflict | None:
        """See `whence.locate.dualization.Oracle`."""
        if len(candidate) > _MOST_TOGETHER:
            return None
        undecided = 0
        for at in range(len(self.tests)):
            if undecided == _MOST_UNDECIDED:
                # More of the same would not find it out.
                break
            if limit.deadline is not None and time.perf_counter() >= limit.deadline:
                raise GaveUp
            tried = self._tried(candidate, at)
            if tried.answer == "excluded":
                others = {
                    self._number[place]
                    for number in tried.executed
                    for place in self.of_statement.get(number, ())
                }
                return Conflict(frozenset(others - candidate), at)
            undecided += tried.answer == "open"
        return None

    def _tried(self, candidate: frozenset[int], at: int) -> Tried:
        known = self.known.get((candidate, at))
        if known is not None:
            return known
        self.checks += 1
        members = [self.components[number] for number in sorted(candidate)]
        if all(each.followed for each in members):
            doubt = Doubt(
                frozenset().union(*(each.doubt.statements for each in members)),
                frozenset().union(*(each.doubt.definitions for each in members)),
            )
            functions = sorted(frozenset().union(*(each.functions for each in members)))
            self.interpreter.doubt(doubt, functions)
            options = self.interpreter.options
            self.interpreter.options = replace(options, steps=self.longest[at])
            tried = self.interpreter.explains(self.entry, self.tests[at], self.effort)
        else:
            tried = Tried("open", frozenset(), 0)
        self.known[candidate, at] = tried
        return tried

    def is_open(self, candidate: frozenset[int]) -> bool:
        if len(candidate) > _MOST_TOGETHER:
            return True
        return any(
            self.known.get((candidate, at), _UNKNOWN).answer == "open"
            for at in range(len(self.tests))
        )


_UNKNOWN = Tried("open", frozenset(), 0)
