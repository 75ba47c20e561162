"""Single modifications of timed models, as Kölbl's thesis (section 10.5.2) seeds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whence.explore.bounds import clocks_named
from whence.expr.tree import Binary
from whence.expr.types import ConstraintType
from whence.expr.walk import subexpressions
from whence.timing.changes import changes_of
from whence.timing.elements import ClockName, Elements, Reset, Urgency, WrittenComparison, place
from whence.timing.model import TimedModel
from whence.timing.results import Change
from whence.timing.system import (
    OPS,
    Flip,
    NewOperator,
    Reference,
    Shift,
    System,
    TraceElement,
    Variation,
)

__all__ = ["largest_bound", "modifications"]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A comparison as it is written, and what it is in the instances of its template: between
    which values its bound lies, and for each process which clocks it can name."""

    written: WrittenComparison
    low: int
    high: int
    clocks: dict[int, frozenset[int]]


class _WholeModel(System):
    """All elements of a model where a system has those of one trace; good for `changes_of`
    alone."""

    def __init__(self, source: Elements) -> None:
        self.source = source
        self.elements: list[TraceElement] = []

    def change(self, element: TraceElement, make: type[Flip] | None = None) -> Change:
        """The change that flips an element."""
        return self.vary((make or Flip)(self.number(element)))

    def number(self, element: TraceElement) -> int:
        self.elements.append(element)
        return len(self.elements) - 1

    def vary(self, variation: Variation) -> Change:
        (change,) = changes_of(self, (variation,))
        return change


def modifications(model: TimedModel) -> tuple[Change, ...]:
    """All of them, by kind, in the order of the model's file. Only templates with instances."""
    elements = model.elements
    comparisons = _comparisons(model)
    whole = _WholeModel(elements)
    return (
        *_bounds(whole, comparisons),
        *_operators(whole, comparisons),
        *_clocks(whole, comparisons),
        *_resets(whole),
        *_urgencies(whole),
    )


def largest_bound(model: TimedModel) -> int:
    """M: the largest bound that any clock is compared with in the model."""
    return max((comparison.high for comparison in _comparisons(model)), default=0)


def _comparisons(model: TimedModel) -> list[_Comparison]:
    elements, compiled = model.elements, model.checker.compiled
    checked: dict[tuple[int, ...], list[tuple[int, Binary]]] = {}
    for number, process in enumerate(model.network.processes):
        formulas = [location.invariant for location in process.locations]
        formulas += [edge.guard for edge in process.edges]
        for formula in formulas:
            for part in subexpressions(formula) if formula is not None else ():
                if isinstance(part, Binary) and isinstance(part.type, ConstraintType):
                    checked.setdefault(place(part.origin), []).append((number, part))
    found = []
    for where, written in elements._comparisons.items():
        instances = checked.get(where, [])
        if not instances:
            continue
        intervals = [compiled.ranges.interval(part.right) for _, part in instances]
        found.append(
            _Comparison(
                written,
                min(interval.lo for interval in intervals),
                max(interval.hi for interval in intervals),
                {
                    number: frozenset(clocks_named(part.left, compiled.layout))
                    if not written.difference
                    else frozenset()
                    for number, part in instances
                },
            )
        )
    return found


def _bounds(whole: _WholeModel, comparisons: list[_Comparison]) -> Iterator[Change]:
    most = max((comparison.high for comparison in comparisons), default=0)
    for comparison in comparisons:
        element = whole.number(comparison.written)
        for amount in dict.fromkeys((-10, -1, 1, most // 10, most)):
            if amount and comparison.low + amount >= 0:
                yield whole.vary(Shift(element, amount))


def _operators(whole: _WholeModel, comparisons: list[_Comparison]) -> Iterator[Change]:
    for comparison in comparisons:
        element = whole.number(comparison.written)
        for op in OPS:
            if op != comparison.written.op:
                yield whole.vary(NewOperator(element, op))


def _clocks(whole: _WholeModel, comparisons: list[_Comparison]) -> Iterator[Change]:
    for comparison in comparisons:
        element = whole.number(comparison.written)
        for name in whole.source.clocks(comparison.written.template):
            if not _is_there(comparison, name):
                yield whole.vary(Reference(element, name))
                if comparison.written.difference:
                    yield whole.vary(Reference(element, name, "right"))


def _is_there(comparison: _Comparison, name: ClockName) -> bool:
    """Whether a comparison is one of this clock already, in all instances."""
    return all({name.clocks[number]} == clocks for number, clocks in comparison.clocks.items())


def _resets(whole: _WholeModel) -> Iterator[Change]:
    elements = whole.source
    for template, written in enumerate(elements.document.templates):
        for edge in range(len(written.edges)):
            existing = elements.resets(template, edge)
            done = {reset.clock for reset in existing}
            for reset in existing:
                yield whole.change(reset)
            for name in elements.clocks(template):
                if name.text not in done:
                    yield whole.change(Reset(template, edge, name.text))


def _urgencies(whole: _WholeModel) -> Iterator[Change]:
    elements = whole.source
    for template, written in enumerate(elements.document.templates):
        if not any(True for _ in elements.processes_of(template)):
            continue
        for index, location in enumerate(written.locations):
            if not location.committed and not location.branchpoint:
                yield whole.change(Urgency(template, index, location.urgent, location.origin))
