"""The syntactic elements of a model that a repair may change (Koelbl, section 10.2.1).

Elements belong to templates: one that stands in several instances, or that a trace meets several
times, is still one element, for a repair changes the text.  They are found by their places in
the model's file: what is checked and instantiated carries the same places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from whence.explore.compile import Compiled
from whence.expr.evaluate import Store, place_of
from whence.expr.faults import EvaluationError
from whence.expr.parser import parse_expression, parse_updates
from whence.expr.printer import print_expression
from whence.expr.tree import Assignment, Binary, Expr, Field, Index, IntLiteral, Name, Unary
from whence.expr.types import ClockType, ConstraintType
from whence.expr.walk import subexpressions
from whence.formats.uppaal.document import Document, Label, TemplateEdge, TemplateLocation
from whence.model.network import Process
from whence.source import NOWHERE, Origin

__all__ = ["ClockName", "Elements", "Reset", "Urgency", "WrittenComparison", "mirrored"]

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
#: Arrays of clocks up to this size offer each of their clocks by its index.
_SMALL_ARRAY = 8


def mirrored(op: str) -> str:
    """The comparison read from right to left."""
    return _MIRRORED[op]


Place = tuple[int, int, int, int]


def place(origin: Origin) -> Place:
    return (origin.line, origin.column, origin.end_line, origin.end_column)


@dataclass(frozen=True, slots=True)
class WrittenComparison:
    """An atomic clock constraint as it is written: comparison `number` in the invariant of a
    location or the guard of an edge.

    `written` is what stands there. In its checked form, `clock ~ bound`, the clock is that of
    the left side, or, if `turned`, that of the right.  `difference`: two clocks are compared.
    """

    template: int
    owner: Literal["location", "edge"]
    index: int
    number: int
    written: Binary = field(compare=False)
    turned: bool = field(compare=False)
    difference: bool = field(compare=False)

    @property
    def op(self) -> str:
        """The operator of the checked form."""
        return mirrored(self.written.op) if self.turned else self.written.op

    @property
    def subject(self) -> Expr:
        return self.written.right if self.turned else self.written.left

    @property
    def bound(self) -> Expr:
        return self.written.left if self.turned else self.written.right

    @property
    def origin(self) -> Origin:
        return self.written.origin

    def text(self, subject: str | None = None, op: str | None = None, amount: int = 0) -> str:
        """The constraint with another clock, operator or bound."""
        left = subject if subject is not None else print_expression(self.subject)
        right = _shifted(self.bound, amount)
        op = op or self.op
        return f"{right} {mirrored(op)} {left}" if self.turned else f"{left} {op} {right}"


def _shifted(bound: Expr, amount: int) -> str:
    if isinstance(bound, IntLiteral):
        return str(bound.value + amount)
    if isinstance(bound, Unary) and bound.op == "-" and isinstance(bound.operand, IntLiteral):
        return str(amount - bound.operand.value)
    text = print_expression(bound)
    if not amount:
        return text
    if isinstance(bound, Binary) and bound.op in ("+", "-") and isinstance(bound.right, IntLiteral):
        # `N + 2` becomes `N + 1`, and not `N + 2 - 1`.
        last = bound.right.value if bound.op == "+" else -bound.right.value
        text, amount = print_expression(bound.left), last + amount
        if not amount:
            return text
    elif not _is_lvalue(bound) and not (
        isinstance(bound, Binary) and bound.op in ("+", "-", "*", "/", "%")
    ):
        text = f"({text})"
    return f"{text} {'+' if amount > 0 else '-'} {abs(amount)}"


@dataclass(frozen=True, slots=True)
class Reset:
    """Whether an edge sets a clock: `update` is the number of the assignment that does, or -1
    where none does. `clock` is the clock as it is written there."""

    template: int
    index: int
    clock: str
    update: int = field(default=-1, compare=False)
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Urgency:
    """Whether a location is urgent."""

    template: int
    index: int
    urgent: bool = field(compare=False)
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ClockName:
    """A clock as the texts of a template can write it, and which clock that is in each of its
    processes (numbers of the layout)."""

    text: str
    clocks: Mapping[int, int] = field(compare=False)


class Elements:
    """What can be changed in a model, read from its document and its checked network."""

    def __init__(self, document: Document, compiled: Compiled) -> None:
        self.document = document
        self.compiled = compiled
        self.network = compiled.network
        self._template_of_name = {
            template.name.text.strip(): number for number, template in enumerate(document.templates)
        }

    def template_of(self, process: Process) -> int:
        return self._template_of_name[process.template]

    def processes_of(self, template: int) -> Iterator[int]:
        for number, process in enumerate(self.network.processes):
            if self.template_of(process) == template:
                yield number

    # ----------------------------------------------------------------------------- comparisons

    @cached_property
    def _comparisons(self) -> dict[Place, WrittenComparison]:
        found: dict[Place, WrittenComparison] = {}
        for template, written in enumerate(self.document.templates):
            owners: list[tuple[Literal["location", "edge"], int, Label]] = []
            for index, location in enumerate(written.locations):
                owners += [("location", index, label) for label in _labels(location, "invariant")]
            for index, edge in enumerate(written.edges):
                owners += [("edge", index, label) for label in _labels(edge, "guard")]
            for owner, index, label in owners:
                checked = self._checked(template, owner, index)
                number = 0
                for part in subexpressions(parse_expression(label.source)):
                    if not isinstance(part, Binary) or place(part.origin) not in checked:
                        continue
                    comparison = _understood(
                        part, checked[place(part.origin)], (template, owner, index, number)
                    )
                    number += 1
                    if comparison is not None:
                        found[place(part.origin)] = comparison
        return found

    def _checked(self, template: int, owner: str, index: int) -> dict[Place, Binary]:
        """The checked comparisons of clocks in a text, by place."""
        for number in self.processes_of(template):
            process = self.network.processes[number]
            checked = (
                process.locations[index].invariant
                if owner == "location"
                else process.edges[index].guard
            )
            if checked is None:
                return {}
            return {
                place(part.origin): part
                for part in subexpressions(checked)
                if isinstance(part, Binary)
                and part.op in _MIRRORED
                and isinstance(part.type, ConstraintType)
            }
        return {}

    def comparison(self, checked: Binary) -> WrittenComparison | None:
        """The element that a comparison of a checked guard or invariant stands for; None where
        it is written in a way that we do not change."""
        return self._comparisons.get(place(checked.origin))

    # ---------------------------------------------------------------------------------- resets

    def resets(self, template: int, edge: int) -> tuple[Reset, ...]:
        """The assignments of an edge that set a clock."""
        return self._resets.get((template, edge), ())

    @cached_property
    def _resets(self) -> dict[tuple[int, int], tuple[Reset, ...]]:
        found: dict[tuple[int, int], tuple[Reset, ...]] = {}
        for template, written in enumerate(self.document.templates):
            process = next((self.network.processes[n] for n in self.processes_of(template)), None)
            if process is None:
                continue
            for index in range(len(written.edges)):
                resets = []
                texts = self.updates(template, index)
                for number, update in enumerate(process.edges[index].updates):
                    target = _clock_set_by(update)
                    if target is None or number >= len(texts):
                        continue
                    text = texts[number]
                    if isinstance(text, Assignment):
                        resets.append(
                            Reset(
                                template,
                                index,
                                print_expression(text.target),
                                number,
                                text.origin,
                            )
                        )
                found[template, index] = tuple(resets)
        return found

    def updates(self, template: int, edge: int) -> tuple[Expr, ...]:
        """The updates of an edge as they are written."""
        labels = _labels(self.document.templates[template].edges[edge], "assignment")
        return parse_updates(labels[0].source) if labels else ()

    # ---------------------------------------------------------------------------------- clocks

    def clocks(self, template: int) -> tuple[ClockName, ...]:
        """The clocks that the texts of a template can name."""
        return self._clocks[template]

    @cached_property
    def _clocks(self) -> list[tuple[ClockName, ...]]:
        return [
            tuple(self._clock_names(template)) for template in range(len(self.document.templates))
        ]

    def _clock_names(self, template: int) -> Iterator[ClockName]:
        processes = list(self.processes_of(template))
        if not processes:
            return
        seen: set[tuple[int, ...]] = set()
        names: dict[str, dict[int, int]] = {}
        # First what is written in the template: parameters and arrays with their usual index.
        for text, number, clock in self._written_clocks(template, processes):
            names.setdefault(text, {})[number] = clock
        for text, clocks in self._declared_clocks(processes):
            names.setdefault(text, clocks)
        for text, clocks in names.items():
            key = tuple(clocks.get(number, 0) for number in processes)
            if 0 not in key and key not in seen:
                seen.add(key)
                yield ClockName(text, clocks)

    def _declared_clocks(self, processes: list[int]) -> Iterator[tuple[str, dict[int, int]]]:
        layout = self.compiled.layout
        numbers = {name: number for number, name in enumerate(layout.clocks) if number}
        scopes = {self.network.processes[number].name for number in processes}
        local = {
            variable.symbol.name
            for variable in (*self.network.variables, *self.network.constants)
            if variable.symbol.scope in scopes
        }
        hidden = local | {
            name for number in processes for name, _ in self.network.processes[number].arguments
        }
        arrays: dict[str, list[str]] = {}
        for name in numbers:
            arrays.setdefault(name.split("[")[0], []).append(name)
        for name, cells in arrays.items():
            if len(cells) > _SMALL_ARRAY:
                continue
            for cell in cells:
                if "." not in cell and name not in hidden:
                    yield cell, dict.fromkeys(processes, numbers[cell])
        first = self.network.processes[processes[0]].name
        for name, number in numbers.items():
            scope, _, rest = name.partition(".")
            if scope == first and rest and "." not in rest:
                found = {
                    process: numbers.get(f"{self.network.processes[process].name}.{rest}", 0)
                    for process in processes
                }
                if number and 0 not in found.values():
                    yield rest, found

    def _written_clocks(
        self, template: int, processes: list[int]
    ) -> Iterator[tuple[str, int, int]]:
        """(text, process, clock) of each clock that is written in a guard, invariant or reset."""
        written = {
            place(comparison.origin): comparison
            for comparison in self._comparisons.values()
            if comparison.template == template and not comparison.difference
        }
        for number in processes:
            process = self.network.processes[number]
            formulas = [location.invariant for location in process.locations]
            formulas += [edge.guard for edge in process.edges]
            for formula in formulas:
                for part in subexpressions(formula) if formula is not None else ():
                    if isinstance(part, Binary) and place(part.origin) in written:
                        clock = self._constant_clock(part.left)
                        if clock:
                            text = print_expression(written[place(part.origin)].subject)
                            yield text, number, clock
            for index, edge in enumerate(process.edges):
                for reset in self.resets(template, index):
                    target = _clock_set_by(edge.updates[reset.update])
                    clock = self._constant_clock(target) if target is not None else 0
                    if clock:
                        yield reset.clock, number, clock

    def _constant_clock(self, expr: Expr) -> int:
        """The number of the clock that an expression is in every state; 0 if that depends."""
        if any(
            isinstance(part, Name)
            and part.symbol is not None
            and part.symbol.kind.name != "CONSTANT"
            for index in _indices(expr)
            for part in subexpressions(index)
        ):
            return 0
        compiled = self.compiled
        store = Store(
            data=list(compiled.layout.initial),
            address=compiled.layout.address,
            clock_of=compiled.layout.clock_of,
            locations=tuple(process.initial for process in self.network.processes),
            constants=compiled.ranges.constants,
            functions=self.network.functions,
        )
        try:
            return compiled.layout.clock_of[place_of(expr, store).address]
        except EvaluationError:
            return 0


def _labels(owner: TemplateLocation | TemplateEdge, kind: str) -> list[Label]:
    from whence.formats.uppaal.elaborate_templates import is_blank

    return [label for label in owner.labels if label.kind == kind and not is_blank(label.source)][
        :1
    ]


def _understood(
    written: Binary,
    checked: Binary,
    where: tuple[int, Literal["location", "edge"], int, int],
) -> WrittenComparison | None:
    difference = isinstance(checked.left, Binary)
    if written.op not in _MIRRORED:
        return None
    if difference:
        left = written.left
        plain = (
            isinstance(left, Binary)
            and left.op == "-"
            and _is_lvalue(left.left)
            and _is_lvalue(left.right)
        )
        return (
            WrittenComparison(*where, written, False, True)
            if plain and written.op == checked.op
            else None
        )
    left_clock = _is_lvalue(written.left) and written.op == checked.op
    right_clock = _is_lvalue(written.right) and mirrored(written.op) == checked.op
    if left_clock and right_clock:
        # `x == N`: the side that is called like the clock, the left one if that does not tell.
        right_only = print_expression(written.right) == print_expression(checked.left)
        left_clock = not right_only or print_expression(written.left) == print_expression(
            checked.left
        )
    if left_clock:
        return WrittenComparison(*where, written, False, False)
    if right_clock:
        return WrittenComparison(*where, written, True, False)
    return None


def _is_lvalue(expr: Expr) -> bool:
    return isinstance(expr, Name | Index | Field)


def _clock_set_by(update: Expr) -> Expr | None:
    if (
        isinstance(update, Assignment)
        and update.op == "="
        and isinstance(update.target.type, ClockType)
    ):
        return update.target
    return None


def _indices(expr: Expr) -> Iterator[Expr]:
    match expr:
        case Index(array, index):
            yield index
            yield from _indices(array)
        case Field(record, _):
            yield from _indices(record)
