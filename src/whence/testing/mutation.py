"""How many mutants a suite kills, which tests would kill the others, and which of them no test can
kill because they behave as the model does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from time import perf_counter

from whence.model.mutation import MutantResult, MutantStatus, Mutation
from whence.model.suite import Expected, Input, TestCase
from whence.source import Diagnostic, Origin, UnsupportedError
from whence.testing.equivalence import Equivalence
from whence.testing.inputs import interesting
from whence.testing.model import TimedModel
from whence.testing.mutants import Mutant, mutants_of
from whence.testing.oracle import Oracle, Tolerance
from whence.testing.part import system_part
from whence.testing.semantics.simulator import Simulator
from whence.testing.session import SimulatedSession, play
from whence.testing.systems.model import ModelSystem

__all__ = ["MutationSettings", "extended", "mutate"]

_FEW = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationSettings:
    """`tries`: how many random tests are made to kill a survivor, of `dates` changes of inputs
    each (0: none are). `latency`: of outputs, in milliseconds. `budget`: of the solver, for one
    question about equivalence (0: none is asked). `seconds`: after so much time nothing more is
    tried."""

    seed: int = 0
    tries: int = 400
    dates: int = 24
    latency: int = 50
    budget: int = 20_000_000
    seconds: float | None = None


def mutate(
    model: TimedModel,
    tests: Sequence[TestCase],
    settings: MutationSettings | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Mutation:
    """Run the tests against all mutants of the system's part of a model."""
    part = system_part(model)
    if part.having("choice"):
        raise UnsupportedError(
            Diagnostic(
                "not supported: mutants of a system that chooses when a timer elapses",
                Origin(model.file),
                "what one of them does, the system may do, too; give `elapsed` one time",
            )
        )
    return _Mutation(part, tests, settings or MutationSettings(), say).run()


def extended(
    tests: Sequence[TestCase], mutation: Mutation
) -> tuple[tuple[TestCase, ...], Mutation]:
    """The tests with those that kill survivors, and the result for all of them."""
    names = {
        test.ident: f"test_{number:03d}"
        for number, test in enumerate(mutation.tests, len(tests) + 1)
    }
    mutants = tuple(
        replace(one, status="killed", would=False, test=names[one.test])
        if one.would and one.test is not None
        else one
        for one in mutation.mutants
    )
    more = tuple(replace(test, ident=names[test.ident]) for test in mutation.tests)
    return (*tests, *more), replace(mutation, mutants=mutants, tests=())


@dataclass(eq=False)
class _Mutation:
    part: TimedModel
    tests: Sequence[TestCase]
    settings: MutationSettings
    say: Callable[[str], None]
    began: float = field(default_factory=perf_counter)
    complete: bool = True
    added: list[TestCase] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.simulator = Simulator(self.part)
        self.outputs = self.part.having("output")
        self.inputs = self.part.having("input")
        self.values = [interesting(self.part, v) for v in self.inputs]

    def run(self) -> Mutation:
        results: dict[str, MutantResult] = {}
        survivors: list[tuple[Mutant, ModelSystem]] = []
        mutants = list(mutants_of(self.part))
        for number, mutant in enumerate(mutants):
            if number % 20 == 0:
                self.say(f"mutant {number} of {len(mutants)}")
            try:
                system = ModelSystem(mutant.model)
            except UnsupportedError:
                continue
            killed = self._killed_by(system, self.tests)
            if killed is None:
                survivors.append((mutant, system))
            else:
                results[mutant.ident] = _result(mutant, "killed", killed[0].ident, killed[1])
        equivalence = Equivalence(self.part, self.settings.budget)
        for number, (mutant, system) in enumerate(survivors):
            self.say(f"survivor {number} of {len(survivors)}")
            results[mutant.ident] = self._survivor(mutant, system, equivalence)
        return Mutation(
            mutants=tuple(results[one.ident] for one in mutants if one.ident in results),
            tests=tuple(self.added),
            complete=self.complete,
            seconds=perf_counter() - self.began,
        )

    def _late(self) -> bool:
        limit = self.settings.seconds
        if limit is not None and perf_counter() - self.began > limit:
            self.complete = False
            return True
        return False

    # -------------------------------------------------------------------------------- one mutant

    def _killed_by(
        self, system: ModelSystem, tests: Iterable[TestCase]
    ) -> tuple[TestCase, str] | None:
        for test in tests:
            session = self._played(system, test)
            if session.verdict in ("fail", "error"):
                return test, f"at {session.time} ms: {session.reason}"
        return None

    def _played(self, system: ModelSystem, test: TestCase) -> SimulatedSession:
        tolerances = {
            v.name: Tolerance(
                max((one.latency for one in test.expected if one.name == v.name), default=0)
            )
            for v in self.outputs
        }
        oracle = Oracle(self.part, tolerances, 0, self.simulator)
        session = SimulatedSession(self.part, oracle, system)
        play(session, test)
        return session

    def _survivor(
        self, mutant: Mutant, system: ModelSystem, equivalence: Equivalence
    ) -> MutantResult:
        killed = self._killed_by(system, self.added)
        if killed is not None:
            return _result(mutant, "survived", killed[0].ident, killed[1], would=True)
        random = Random(f"{self.settings.seed} {mutant.text}")
        # A few tests first, as a proof takes longer; all of them if there is none.
        few = min(self.settings.tries, _FEW)
        for tries in (few, self.settings.tries - few):
            found = None if self._late() else self._killer(mutant, system, random, tries)
            if found is not None:
                return _result(mutant, "survived", found[0].ident, found[1], would=True)
            if tries == few and not self._late():
                proof = equivalence.proof(mutant.model)
                if proof:
                    return _result(mutant, "equivalent", None, proof)
        tried = self.settings.tries
        return _result(
            mutant,
            "survived",
            None,
            f"none of {tried} random tests kills it, and there is no proof that it is equivalent",
        )

    # ------------------------------------------------------------------------------ tests to kill

    def _killer(
        self, mutant: Mutant, system: ModelSystem, random: Random, tries: int
    ) -> tuple[TestCase, str] | None:
        """A test that the model passes and the mutant does not, as short as it was found."""
        for _ in range(tries):
            test = self._random_test(random)
            if test is None:
                continue
            session = self._played(system, test)
            if session.verdict in ("fail", "error"):
                test = self._kept(test, session.time)
                self.added.append(test)
                return test, f"at {session.time} ms: {session.reason}"
        return None

    def _random_test(self, random: Random) -> TestCase | None:
        """The beginning of a test of the suite, or nothing; then inputs that change at random, at
        dates of timers or any others."""
        given: list[Input] = []
        now = 0
        base = random.choice((None, *self.tests, *self.added))
        if base is not None:
            dates = sorted({one.time for one in base.inputs})
            now = dates[random.randrange(len(dates))]
            given = [one for one in base.inputs if one.time <= now]
        state = {one.name: one.value for one in given}
        if not given:
            first = [random.choice(values) for values in self.values]
            given = [
                Input(0, v.name, v.shown(number))
                for v, number in zip(self.inputs, first, strict=True)
            ]
            state = {one.name: one.value for one in given}
        delays = sorted({one.constant for one in self.part.elapsed}) or [1000]
        for _ in range(random.randint(1, self.settings.dates)):
            longest = random.choice(delays)
            kind = random.random()
            if kind < 0.4:
                now += longest
            elif kind < 0.8:
                now += random.randint(1, max(longest, 2))
            else:
                now += random.randint(1, 6 * max(delays))
            for v, values in zip(self.inputs, self.values, strict=True):
                if random.random() < 1.2 / len(self.inputs):
                    text = v.shown(random.choice(values))
                    if state[v.name] != text:
                        state[v.name] = text
                        given.append(Input(now, v.name, text))
        end = now + 2 * max(delays) + self.settings.latency + 1
        expected = [Expected(0, v.name, "", self.settings.latency) for v in self.outputs]
        return TestCase(
            ident=f"kill_{len(self.added) + 1:03d}",
            inputs=tuple(given),
            expected=tuple(expected),
            end=end,
        )

    def _kept(self, test: TestCase, time: int) -> TestCase:
        """Up to the date at which it was clear, with what the model's own run does."""
        inputs = tuple(one for one in test.inputs if one.time <= time)
        return replace(
            test,
            inputs=inputs,
            end=time + 1,
            expected=tuple(self._expected(replace(test, inputs=inputs, end=time + 1))),
        )

    def _expected(self, test: TestCase) -> list[Expected]:
        session = self._played(ModelSystem(self.part, self.simulator), test)
        latency = self.settings.latency
        found = [
            Expected(one.time, one.name, one.value, latency)
            for one in session.seen
            if not one.given
        ]
        return sorted(found, key=lambda one: one.time)


def _result(
    mutant: Mutant, status: MutantStatus, test: str | None, reason: str, *, would: bool = False
) -> MutantResult:
    return MutantResult(
        ident=mutant.ident,
        operator=mutant.operator,
        text=mutant.text,
        status=status,
        test=test,
        reason=reason,
        would=would,
        origin=mutant.origin,
    )
