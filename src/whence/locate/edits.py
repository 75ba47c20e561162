"""Simple edits of an expression: what people mistype, forget and mix up.

Constants, operators, boundaries of relations, variables of the same type, conditions that are
negated or have an operand too many or too few, indices that are off by one.  An edit replaces a
stretch of the text.  Where many things could stand in one place, it has a *hole* and choices for
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from whence.formats.c.spelled import Spelled
from whence.locate.regions import Region
from whence.locate.scope import Scope, number_of
from whence.model.program import IntType, Type

__all__ = ["HOLE", "Choice", "Edit", "edits_of"]

#: Stands in a text for what is chosen.
HOLE: Final = "\0"
#: `known`: a condition that stands elsewhere; `compared`: a comparison of two atoms.
Hole = Literal["", "number", "atom", "known", "compared"]


@dataclass(frozen=True, slots=True)
class Choice:
    text: str
    cost: int
    #: Of a number, the number; of anything else, which one of its kind it is.
    value: int


@dataclass(frozen=True, slots=True)
class Edit:
    """`start` to `end` of the file become `text`. Cheap ones are likelier: `cost` is that without
    what is chosen. `type` is that of a number or an atom."""

    start: int
    end: int
    text: str
    cost: int
    hole: Hole = ""
    choices: tuple[Choice, ...] = ()
    type: Type | None = None

    def filled(self, choice: Choice | None) -> str:
        return self.text if choice is None else self.text.replace(HOLE, choice.text)


_RELATIONS: Final = ("<", "<=", ">", ">=", "==", "!=")
#: The likeliest first.
_OTHER_RELATIONS: Final = {
    "<": ("<=", ">", ">=", "==", "!="),
    "<=": ("<", ">=", ">", "==", "!="),
    ">": (">=", "<", "<=", "==", "!="),
    ">=": (">", "<=", "<", "==", "!="),
    "==": ("!=", "<=", ">=", "<", ">"),
    "!=": ("==", "<", ">", "<=", ">="),
}
_OTHERS: Final = {
    "+": ("-", "*"),
    "-": ("+",),
    "*": ("/", "+"),
    "/": ("*", "%"),
    "%": ("/",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("|", "&"),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("/=",),
    "/=": ("*=",),
    "%=": ("/=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
    "&=": ("|=",),
    "|=": ("&=",),
    "^=": ("|=",),
}
_STEPS: Final = {"++": "--", "--": "++"}
_MOST_NUMBERS: Final = 400
_MOST_COMPARED: Final = 20_000


def edits_of(
    region: Region, text: str, scope: Scope, suggested: Sequence[int], *, large: bool = False
) -> list[Edit]:
    """All edits of a region, the likeliest first. `suggested` are numbers that would help
    somewhere. `large`: also those that put a new comparison in."""
    writer = _Writer(region, text, scope, suggested)
    found: dict[tuple[int, int, str, str], Edit] = {}
    edits = writer.compared() if large else writer.edits()
    for edit in edits:
        if edit.hole and not edit.choices:
            continue
        found.setdefault((edit.start, edit.end, edit.text, edit.hole), edit)
    return sorted(found.values(), key=lambda edit: (edit.cost, edit.start, edit.end, edit.text))


class _Writer:
    def __init__(self, region: Region, text: str, scope: Scope, suggested: Sequence[int]) -> None:
        self.region = region
        self.text = text
        self.scope = scope
        self.suggested = suggested
        bits = scope.program.data_model.int_bits
        self.int = IntType(bits, True)
        self.constant = region.form == "definition"

    def of(self, tree: Spelled) -> str:
        return self.text[tree.start : tree.end]

    def edits(self) -> Iterator[Edit]:
        tree = self.region.tree
        if self.region.form == "condition":
            yield from self._condition(tree)
        elif self.region.form in ("value", "effect"):
            inner = tree
            if tree.kind == "assignment":
                inner = tree.parts[1]
            elif self.region.form == "effect":
                yield from self._walk(tree, target=False)
                return
            while inner.kind == "group":
                inner = inner.parts[0]
            if inner.kind in ("logical", "relation", "call", "name") or inner.operator == "!":
                yield from self._condition(inner)
            if inner.kind not in ("number", "logical", "relation"):
                yield from self._off_by_one(inner, 4)
        yield from self._walk(tree, target=False)

    # ------------------------------------------------------------------------------- conditions

    def _condition(self, tree: Spelled) -> Iterator[Edit]:
        """As a whole: negated, or with an operand more."""
        text = self.of(tree)
        if tree.operator == "!" and tree.kind == "prefix":
            yield Edit(tree.start, tree.end, self.of(tree.parts[0]), 1)
        elif tree.kind != "relation":
            yield Edit(tree.start, tree.end, f"!({text})" if tree.parts else f"!{text}", 2)
        known = tuple(
            Choice(condition, 0, at) for at, condition in enumerate(self.scope.conditions)
        )
        for left, operator in self._joined(tree):
            yield Edit(tree.start, tree.end, f"{left} {operator} ({HOLE})", 4, "known", known)
            yield Edit(tree.start, tree.end, f"{left} {operator} !({HOLE})", 5, "known", known)
            for condition in self.scope.inner.get(self.region.function, ()):
                if condition != text:
                    yield Edit(tree.start, tree.end, f"{left} {operator} ({condition})", 4)

    def _joined(self, tree: Spelled) -> Iterator[tuple[str, str]]:
        text = self.of(tree)
        for operator in ("&&", "||"):
            mixed = tree.kind in ("conditional", "assignment", "comma") or (
                tree.kind == "logical" and tree.operator != operator
            )
            yield (f"({text})" if mixed else text), operator

    def compared(self) -> Iterator[Edit]:
        """A condition with a comparison that stands nowhere else as one more operand."""
        tree = self.region.tree
        if self.region.form == "value" or tree.kind == "assignment":
            tree = tree.parts[1] if tree.kind == "assignment" else tree
            while tree.kind == "group":
                tree = tree.parts[0]
            if tree.kind not in ("logical", "relation", "call", "name") and tree.operator != "!":
                return
        elif self.region.form != "condition":
            return
        choices = tuple(self._comparisons())
        for left, operator in self._joined(tree):
            yield Edit(tree.start, tree.end, f"{left} {operator} {HOLE}", 6, "compared", choices)

    def _comparisons(self) -> Iterator[Choice]:
        """Each as (operator, left, right), in one number: see `whence.locate.variants`."""
        atoms = self.scope.atoms(self.int)
        others = [*self.scope.numbers, *atoms]
        count = 0
        for right, other in enumerate(others):
            for left, atom in enumerate(atoms):
                if atom == other:
                    continue
                for at, operator in enumerate(_RELATIONS):
                    value = (at * len(others) + right) * len(atoms) + left
                    yield Choice(f"({atom} {operator} {other})", int(other in atoms), value)
                    count += 1
                    if count >= _MOST_COMPARED:
                        return

    # ------------------------------------------------------------------------------------- walk

    def _walk(self, tree: Spelled, *, target: bool) -> Iterator[Edit]:
        match tree.kind:
            case "name":
                yield from self._name(tree, target)
            case "number":
                yield from self._number(tree)
            case "relation":
                yield from self._operators(tree, _OTHER_RELATIONS[tree.operator])
                for part in tree.parts:
                    if part.kind != "number":
                        yield from self._off_by_one(part, 3)
                    yield from self._as_atom(part)
            case "logical":
                yield from self._logical(tree)
            case "binary":
                yield from self._binary(tree)
            case "conditional":
                condition, then, otherwise = tree.parts
                c, one, other = self.of(condition), self.of(then), self.of(otherwise)
                yield Edit(tree.start, tree.end, f"{c} ? {other} : {one}", 2)
                yield Edit(tree.start, tree.end, one, 3)
                yield Edit(tree.start, tree.end, other, 3)
                yield from self._condition(condition)
            case "prefix":
                yield from self._prefix(tree)
                target = tree.operator in ("++", "--", "&")
            case "postfix":
                yield self._operator(tree, _STEPS[tree.operator], 2)
                target = True
            case "index":
                yield from self._off_by_one(tree.parts[1], 2)
                yield from self._as_atom(tree.parts[1])
            case "assignment":
                for operator in _OTHERS.get(tree.operator, ()):
                    yield self._operator(tree, operator, 2)
                yield from self._walk(tree.parts[0], target=True)
                yield from self._walk(tree.parts[1], target=False)
                return
            case "call":
                for part in tree.parts[1:]:
                    yield from self._walk(part, target=False)
                    if part.kind != "number":
                        yield from self._off_by_one(part, 4)
                    yield from self._as_atom(part)
                return
            case "type" | "text":
                return
        for part in tree.parts:
            yield from self._walk(part, target=target and tree.kind in ("group", "member"))

    def _operator(self, tree: Spelled, operator: str, cost: int) -> Edit:
        return Edit(tree.at, tree.at + len(tree.operator), operator, cost)

    def _operators(self, tree: Spelled, others: Sequence[str]) -> Iterator[Edit]:
        for at, operator in enumerate(others):
            yield self._operator(tree, operator, 1 + (at > 0))

    def _logical(self, tree: Spelled) -> Iterator[Edit]:
        left, right = tree.parts
        yield self._operator(tree, "||" if tree.operator == "&&" else "&&", 1)
        yield Edit(tree.start, tree.end, self.of(left), 3)
        yield Edit(tree.start, tree.end, self.of(right), 3)
        for part in tree.parts:
            if part.kind in ("name", "call", "group"):
                yield Edit(part.start, part.end, f"!{self.of(part)}", 2)
        # Parentheses that were forgotten: `a && b || c` as `a && (b || c)`.
        if tree.operator == "||" and left.kind == "logical" and left.operator == "&&":
            link: Spelled = left
            rest = self.text[left.end : tree.end]
            while link.kind == "logical" and link.operator == "&&":
                first, last = link.parts
                behind = self.text[last.start : left.end]
                before = self.text[tree.start : last.start]
                inner = f"({behind})" if last.end != left.end else behind
                yield Edit(tree.start, tree.end, f"{before}({inner}{rest})", 2)
                link = first

    def _binary(self, tree: Spelled) -> Iterator[Edit]:
        left, right = tree.parts
        one, other = self.of(left), self.of(right)
        for at, operator in enumerate(_OTHERS.get(tree.operator, ())):
            yield self._operator(tree, operator, 1 + at)
        # A number too many is likelier than a variable.
        yield Edit(tree.start, tree.end, one, 1 if right.kind == "number" else 3)
        yield Edit(tree.start, tree.end, other, 1 if left.kind == "number" else 3)
        if tree.operator in ("-", "/", "%", "<<", ">>"):
            yield Edit(tree.start, tree.end, f"{other} {tree.operator} {one}", 3)
        if not self.constant:
            atoms = self._atoms(self.int)
            text = f"({HOLE} ? {self.of(tree)} : {one})"
            yield Edit(tree.start, tree.end, text, 5, "atom", atoms, self.int)
        for part in tree.parts:
            yield from self._as_atom(part)

    def _prefix(self, tree: Spelled) -> Iterator[Edit]:
        match tree.operator:
            case "!" | "-" | "~":
                yield Edit(tree.start, tree.end, self.of(tree.parts[0]), 2)
            case "++" | "--":
                yield self._operator(tree, _STEPS[tree.operator], 2)

    def _off_by_one(self, tree: Spelled, cost: int) -> Iterator[Edit]:
        if self.constant:
            return
        text = self.of(tree)
        simple = tree.kind in ("name", "call", "index", "member", "group", "number")
        inner = text if simple or tree.operator in ("+", "-") else f"({text})"
        yield Edit(tree.start, tree.end, f"{inner} + 1", cost)
        yield Edit(tree.start, tree.end, f"{inner} - 1", cost)

    # ------------------------------------------------------------------------- names and numbers

    def _atoms(self, type: Type, but: str = "") -> tuple[Choice, ...]:
        return tuple(
            Choice(name, int(name.endswith("()")), at)
            for at, name in enumerate(self.scope.atoms(type))
            if name != but
        )

    def _as_atom(self, tree: Spelled) -> Iterator[Edit]:
        """Something else instead of what has parts."""
        inner = tree
        while inner.kind == "group":
            inner = inner.parts[0]
        if self.constant or inner.kind not in ("binary", "call", "index", "conditional"):
            return
        atoms = self._atoms(self.int, self.of(tree))
        yield Edit(tree.start, tree.end, HOLE, 4, "atom", atoms, self.int)
        for name in self.scope.locals(self.int, self.region.function):
            yield Edit(tree.start, tree.end, name, 4)

    def _name(self, tree: Spelled, target: bool) -> Iterator[Edit]:
        name = self.of(tree)
        if name in self.scope.numbers:
            if not target:
                yield from self._numbers(tree, self.scope.numbers[name], 2)
                yield from self._macros(tree, name)
            return
        type = self.scope.type_of(name, self.region.function)
        if type is None or self.constant:
            return
        for other in self.scope.locals(type, self.region.function):
            if other != name:
                yield Edit(tree.start, tree.end, other, 2)
        if target or not isinstance(type, IntType):
            for other in self.scope.atoms(type):
                if other != name and not (target and other.endswith(")")):
                    yield Edit(tree.start, tree.end, other, 3)
            return
        yield Edit(tree.start, tree.end, HOLE, 2, "atom", self._atoms(type, name), type)
        yield from self._macros(tree, name)

    def _macros(self, tree: Spelled, but: str) -> Iterator[Edit]:
        for name in self.scope.numbers:
            if name != but and name not in ("EOF", "NULL"):
                yield Edit(tree.start, tree.end, name, 3)

    def _number(self, tree: Spelled) -> Iterator[Edit]:
        value = number_of(self.of(tree))
        if value is None:
            return
        yield from self._numbers(tree, value, 1)
        if not self.constant:
            yield Edit(tree.start, tree.end, HOLE, 3, "atom", self._atoms(self.int), self.int)
            for name in self.scope.locals(self.int, self.region.function):
                yield Edit(tree.start, tree.end, name, 3)

    def _numbers(self, tree: Spelled, value: int, cost: int) -> Iterator[Edit]:
        costs: dict[int, int] = {value + 1: 0, value - 1: 0}
        near = (0, 1, -1, 2, value * 2, value // 2, -value)
        for other in (*near, *sorted(self.scope.constants), *self.suggested):
            costs.setdefault(other, 1)
        costs.pop(value, None)
        glued = self.text[tree.start - 1 : tree.start] in ("-", "+")
        choices = [
            Choice(f"({other})" if glued and other < 0 else str(other), extra, other)
            for other, extra in costs.items()
            if self.int.least < other <= self.int.greatest
        ]
        # Round numbers are likelier.
        choices.sort(key=lambda choice: (choice.cost, _digits(choice.value), abs(choice.value)))
        chosen = tuple(choices[:_MOST_NUMBERS])
        yield Edit(tree.start, tree.end, HOLE, cost, "number", chosen, self.int)


def _digits(value: int) -> int:
    return len(str(abs(value)).rstrip("0"))
