"""From a property that does not hold to repairs of the model (Koelbl, chapter 10).

The trace that violates the property is repaired, and each repair is then judged on the whole
model: the changed model is read again, its properties are checked, and its untimed language is
compared with that of the original.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from whence.explore.check import Options
from whence.explore.realize import Realization
from whence.explore.search import Budget
from whence.formats.uppaal.document import Document
from whence.model.network import Query
from whence.model.trace import QueryResult, TimedTrace, Transition, Verdict
from whence.source import InputError, WhenceError
from whence.timing.admissible import (
    Comparison,
    Labels,
    LabelTable,
    UntimedGraph,
    compare,
    label_of,
    untimed,
    witness_trace,
)
from whence.timing.admissible import Test as LanguageTest
from whence.timing.changes import apply_changes, changes_of
from whence.timing.matching import Reachable, can_do_all, reachable, unreachable_path
from whence.timing.model import TimedModel
from whence.timing.results import (
    KINDS,
    Admissibility,
    Change,
    Kind,
    OtherQuery,
    Repair,
    RepairResult,
    Test,
)
from whence.timing.satisfying import satisfying_part
from whence.timing.search import Found, RepairSearch, SearchOutcome
from whence.timing.system import System
from whence.timing.trace import DiagnosticTrace, diagnose, require_safety

__all__ = [
    "Judge",
    "RepairOptions",
    "Round",
    "iterate",
    "repair",
    "repaired",
    "search_repairs",
    "violation",
]

Say = Callable[[str], None] | None
_DEADLOCK = "A[] not deadlock"
#: So many states of each model are compared exactly at once.
_FEW = 20_000
#: So many seconds may each search of a judgement take, if the budget says nothing about time.
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """`limit`: so many repairs of each kind. `budget` holds for each search in a state space; of
    those that only judge repairs, each may take 10 seconds if it says nothing of time. `effort` is
    for the search for repairs: how many constraint systems are solved."""

    kinds: tuple[Kind, ...] = KINDS
    limit: int = 20
    max_changes: int = 3
    labels: Labels = "transitions"
    test: Test | Literal["none"] = "equal"
    realization: Realization = "earliest"
    budget: Budget = field(default_factory=Budget)
    effort: int = 100_000


def repaired(document: Document, changes: Sequence[Change]) -> Document:
    """The document with the changes of a repair made, its layout kept."""
    return apply_changes(document, changes)


def violation(
    model: TimedModel,
    query: Query,
    transitions: Sequence[Transition] | None,
    realization: Realization,
    budget: Budget,
) -> tuple[QueryResult | None, DiagnosticTrace | None]:
    """The trace to be analysed: the one that is given, or a shortest one that violates the query.
    Without a violation there is none, and the verdict says why."""
    require_safety(query)
    result = None
    if transitions is None:
        result = model.checker.check(query, Options("shortest", realization, budget=budget))
        if result.verdict != "violated":
            return result, None
        assert result.trace is not None
        transitions = result.trace.transitions
    return result, diagnose(model.checker, query, transitions, realization)


def search_repairs(
    trace: DiagnosticTrace, model: TimedModel, options: RepairOptions, say: Say = None
) -> tuple[System, SearchOutcome, bool]:
    """The minimal repairs of one trace; whether they can only block it (no run along the trace
    satisfies the property)."""
    system = System(trace, model.elements)
    blocks = _blocking_state(system)
    search = RepairSearch(
        system,
        options.kinds,
        options.limit,
        options.max_changes,
        options.effort,
        blocks,
        say,
    )
    return system, search.run(), blocks is not None


def _blocking_state(system: System) -> int | None:
    """None if some run along the trace satisfies the property. Otherwise the state up to which a
    trace that is blocked must stay possible (section 10.5.5): the first in which, in the trace
    as it is, a delay can be chosen that blocks it; or the first after the start, or where that
    violates the property itself, none (-1)."""
    varied = system.varied()
    if not always_violates(system):
        return None
    last = system.states - 1
    # Where the first step is the violation itself, nothing but the start can stay.
    return next((state for state in range(last) if varied.can_block(state)), 1 if last > 1 else -1)


def always_violates(system: System) -> bool:
    """Whether every run along the trace violates the property."""
    return not system.varied().can_satisfy()


def repair(
    model: TimedModel,
    query: Query,
    transitions: Sequence[Transition] | None = None,
    options: RepairOptions | None = None,
    say: Say = None,
) -> RepairResult:
    """The repairs of the model for one trace that violates the query, each judged on the whole
    model; smallest first."""
    options = options or RepairOptions()
    began = time.perf_counter()
    result, trace = violation(model, query, transitions, options.realization, options.budget)
    if trace is None:
        assert result is not None
        return RepairResult(
            query.text,
            result.verdict,
            None,
            complete=result.verdict == "satisfied",
            reason=result.reason,
            seconds=time.perf_counter() - began,
        )
    searching = time.perf_counter()
    system, outcome, always = search_repairs(trace, model, options, say)
    search_seconds = time.perf_counter() - searching
    judge = Judge(model, query, options)
    repairs: list[Repair] = []
    reason = ""
    if outcome.exhausted:
        reason = f"the search for repairs of more than {outcome.complete_to} changes was cut short"
    try:
        for number, found in enumerate(outcome.repairs, 1):
            if say is not None:
                say(f"judging repair {number} of {len(outcome.repairs)}")
            repairs.append(judge.judged(number, found, system, always))
    except KeyboardInterrupt:
        reason = f"interrupted: {len(outcome.repairs) - len(repairs)} repairs were not judged"
    repairs.sort(key=_rank)
    undecided = [r for r in repairs if r.admissibility is not None and r.admissible is None]
    if undecided and not reason:
        many = len(undecided)
        reason = f"the budget was too small to judge {many} of the repairs: try --budget 10min"
    return RepairResult(
        query.text,
        "violated",
        trace.realization,
        tuple(replace(r, number=number) for number, r in enumerate(repairs, 1)),
        always,
        outcome.complete_to,
        not reason,
        reason,
        time.perf_counter() - began,
        search_seconds,
    )


def _rank(repair: Repair) -> tuple[int, bool, bool, bool, int]:
    """Smallest first; of one size, those that mend the whole model and change nothing else."""
    return (
        len(repair.changes),
        repair.verdict != "satisfied",
        repair.admissible is not True,
        not repair.violations_only,
        repair.number,
    )


class _Side:
    """One of the models that are compared; what is known of it is worked out once."""

    def __init__(self, model: TimedModel, labels: Labels, table: LabelTable) -> None:
        self.model = model
        self.labels = labels
        self.table = table
        self._graphs: dict[Budget, UntimedGraph] = {}
        self._states: Reachable | None = None

    def graph(self, budget: Budget) -> UntimedGraph:
        if budget not in self._graphs:
            self._graphs[budget] = untimed(self.model.checker, self.labels, self.table, budget)
        return self._graphs[budget]

    def states(self, budget: Budget) -> Reachable:
        if self._states is None:
            self._states = reachable(self.model, budget)
        return self._states


class Judge:
    """Judges repairs of one model. What is known of the original is worked out once."""

    def __init__(self, model: TimedModel, query: Query, options: RepairOptions) -> None:
        self.model = model
        self.query = query
        self.options = options
        self.budget = options.budget
        if self.budget.seconds is None:
            self.budget = replace(self.budget, seconds=_PATIENCE)
        self._table = LabelTable()
        self._before: dict[str, Verdict] = {}
        self._whole = self._side(model)

    @cached_property
    def _satisfying(self) -> _Side | None:
        """What the original does without ever violating the property."""
        part = satisfying_part(self.model, self.query)
        return None if part is None else self._side(part)

    def _side(self, model: TimedModel) -> _Side:
        return _Side(model, self.options.labels, self._table)

    def judged(self, number: int, found: Found, system: System, always: bool) -> Repair:
        changes = changes_of(system, found.variations)
        try:
            changed = TimedModel(repaired(self.model.document, changes))
            query = changed.query(self.query.text)
            result = self._check(changed, query, self.options.budget)
        except WhenceError:
            # A constant expression that the change makes wrong, say.
            return Repair(number, found.kind, changes, always, "error")
        return Repair(
            number,
            found.kind,
            changes,
            always,
            result.verdict,
            self.admissibility(changed),
            self._others(changed),
            self._verdict(self.model, _DEADLOCK),
            self._check(changed, changed.query(_DEADLOCK), self.budget).verdict,
            result.trace,
        )

    @staticmethod
    def _check(model: TimedModel, query: Query, budget: Budget) -> QueryResult:
        return model.checker.check(query, Options("shortest", budget=budget))

    def _verdict(self, model: TimedModel, text: str) -> Verdict:
        if text not in self._before:
            self._before[text] = self._check(model, model.query(text), self.budget).verdict
        return self._before[text]

    def _others(self, changed: TimedModel) -> tuple[OtherQuery, ...]:
        others = []
        for query in self.model.queries:
            if isinstance(query, InputError) or query.text == self.query.text:
                continue
            after = self._check(changed, changed.query(query.text), self.budget).verdict
            others.append(OtherQuery(query.text, self._verdict(self.model, query.text), after))
        return tuple(others)

    def admissibility(self, changed: TimedModel) -> Admissibility | None:
        """What the test says that the options ask for."""
        test = self.options.test
        if test == "none":
            return None
        other = self._side(changed)
        found = self._compared(self._whole, other, test)
        violations_only = None
        if found.admissible is False:
            violations_only = self._takes_violations_only(other, found)
        trace: TimedTrace | None = None
        if found.transitions is not None:
            owner = self.model if found.only_in == "original" else changed
            trace = witness_trace(owner.checker, found.transitions, self.options.realization)
        return Admissibility(
            test,
            self.options.labels,
            found.admissible,
            found.word,
            found.only_in,
            trace,
            found.reason,
            violations_only,
        )

    def _takes_violations_only(self, changed: _Side, found: Comparison) -> bool | None:
        """Whether a repair that is not admissible adds nothing, and takes nothing away but what
        violates the property in every run."""
        if found.test == "equal" and found.only_in == "repaired":
            return False
        part = self._satisfying
        if part is None:
            return None
        kept = self._compared(part, changed, "nothing lost").admissible
        if not kept or found.test != "equal":
            return kept
        return self._compared(self._whole, changed, "nothing new").admissible

    def _compared(self, original: _Side, changed: _Side, test: LanguageTest) -> Comparison:
        """The exact test if it is a matter of a few states; if not, what can be told without
        whole languages; and only then the exact test again."""
        budget = self.budget
        few = _FEW if budget.states is None else min(budget.states, _FEW)
        small = replace(budget, states=few)
        found = compare(original.graph(small), changed.graph(small), test, None)
        if found.admissible is None and few != budget.states:
            told = self._by_states(original, changed, test)
            return told or compare(original.graph(budget), changed.graph(budget), test, None)
        return found

    def _by_states(self, original: _Side, changed: _Side, test: LanguageTest) -> Comparison | None:
        """What follows from the transitions that each model can take at all, and from whether each
        can match every step of the other."""
        budget = self.budget
        sides: list[tuple[Literal["original", "repaired"], _Side, _Side]] = []
        if test != "nothing new":
            sides.append(("original", original, changed))
        if test != "nothing lost":
            sides.append(("repaired", changed, original))
        if self.options.labels == "transitions":
            for name, mine, other in sides:
                if not other.states(budget).complete:
                    continue
                path = unreachable_path(mine.states(budget), other.states(budget))
                if path is not None:
                    network = self.model.network
                    word = tuple(label_of(network, step, "transitions") for step in path)
                    return Comparison(False, test, word, name, path)
        if all(
            can_do_all(mine.states(budget), other.model, budget.seconds) for _, mine, other in sides
        ):
            return Comparison(True, test)
        return None


# -------------------------------------------------------------------------------------- iterating


@dataclass(frozen=True, slots=True)
class Round:
    """One round: the repairs found, the one that was made (None: there was nothing to choose, or
    no need), and the document after it."""

    result: RepairResult
    chosen: Repair | None
    document: Document


def iterate(
    model: TimedModel,
    query: Query,
    options: RepairOptions | None = None,
    say: Say = None,
    rounds: int = 20,
) -> list[Round]:
    """Repairs one trace after the other, until the property holds or there is no fit repair left.

    Fit are the admissible ones, and those that take away violations only. A trace of which every
    run violates the property must go itself: there, any repair is chosen after which the property
    holds, if none is fit."""
    options = options or RepairOptions()
    done: list[Round] = []
    transitions: Sequence[Transition] | None = None
    for number in range(1, rounds + 1):
        if say is not None:
            say(f"round {number}")
        result = repair(model, query, transitions, options, say)
        chosen = _choice(result, options)
        if chosen is None:
            done.append(Round(result, None, model.document))
            return done
        document = repaired(model.document, chosen.changes)
        done.append(Round(result, chosen, document))
        model = TimedModel(document)
        query = model.query(query.text)
    return done


def _choice(result: RepairResult, options: RepairOptions) -> Repair | None:
    judged = options.test != "none"
    fit = [
        repair
        for repair in result.repairs
        if repair.verdict in ("satisfied", "violated") and (repair.fit or not judged)
    ]
    mending = [repair for repair in fit if repair.verdict == "satisfied"]
    if mending:
        return mending[0]
    if result.always:
        blocking = [repair for repair in result.repairs if repair.verdict == "satisfied"]
        if blocking:
            return blocking[0]
    return fit[0] if fit else None
