"""Event order logic (EOL; Koelbl, section 3.5): its formulas as values, and how they are written.

A formula speaks about the actions of a finite trace. Its event variables are actions; `a#2` is the
second time that `a` happens (section 4.3 gives actions that happen several times such numbers).
What formulas mean is in :mod:`whence.causes.eol_semantics`, how they are read in
:mod:`whence.causes.eol_parser`; docs/eol.md has both spellings of all operators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, assert_never

from whence.source import NOWHERE, Origin

__all__ = [
    "After",
    "And",
    "Before",
    "Between",
    "Formula",
    "Not",
    "Or",
    "Ordered",
    "Variable",
    "is_simple",
    "is_strict_subset",
    "is_subset",
    "print_formula",
    "variables",
]

#: Which characters operators are printed with.
Spelling = Literal["ascii", "unicode"]


@dataclass(frozen=True, slots=True)
class Variable:
    """An event variable: the action happens, or (with a number, from 1) happens for that time."""

    action: str
    occurrence: int | None = None
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """`!φ`; φ is simple."""

    operand: Formula
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class And:
    """`ψ1 & ψ2 & …`, in whatever order they come about."""

    operands: tuple[Formula, ...]
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Or:
    """`ψ1 | ψ2 | …`."""

    operands: tuple[Formula, ...]
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ordered:
    """`ψ1 ; ψ2 ; …`, the ordered conjunction; more than two are `(ψ1 ; ψ2) ; …`."""

    operands: tuple[Formula, ...]
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class After:
    """`ψ ;[ φ`: from when ψ has come about, every state satisfies the simple formula φ."""

    first: Formula
    always: Formula
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Before:
    """`φ ;] ψ`: up to where ψ begins, every state satisfies the simple formula φ."""

    always: Formula
    last: Formula
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Between:
    """`ψ1 ;< φ ;> ψ2`: every state between ψ1 and ψ2 satisfies the simple formula φ."""

    first: Formula
    always: Formula
    last: Formula
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)


Formula = Variable | Not | And | Or | Ordered | After | Before | Between


def parts(formula: Formula) -> tuple[Formula, ...]:
    """What a formula is put together from."""
    match formula:
        case Variable():
            return ()
        case Not():
            return (formula.operand,)
        case And() | Or() | Ordered():
            return formula.operands
        case After():
            return (formula.first, formula.always)
        case Before():
            return (formula.always, formula.last)
        case Between():
            return (formula.first, formula.always, formula.last)
        case _:
            assert_never(formula)


def walk(formula: Formula) -> Iterator[Formula]:
    """The formula and all its parts, each shared one once."""
    seen: set[int] = set()
    waiting = [formula]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(reversed(parts(node)))


def is_simple(formula: Formula) -> bool:
    """Whether a formula says nothing about order (Definition 9)."""
    return all(isinstance(node, Variable | Not | And | Or) for node in walk(formula))


def variables(formula: Formula) -> frozenset[Variable]:
    """The event variables that a formula is built over."""
    return frozenset(node for node in walk(formula) if isinstance(node, Variable))


def is_subset(one: Formula, other: Formula) -> bool:
    """Definition 11: `one ⊆ other`, a relation of their event variables only."""
    return variables(one) <= variables(other)


def is_strict_subset(one: Formula, other: Formula) -> bool:
    """Definition 11: `one ⊂ other`."""
    return variables(one) < variables(other)


# ------------------------------------------------------------------------------------------ text

_PLAIN = re.compile(r"[^\W\d][\w.]*")
_SIGNS: dict[Spelling, dict[str, str]] = {
    "ascii": {"not": "!", "and": " & ", "or": " | ", "ordered": ";"},
    "unicode": {"not": "¬", "and": " ∧ ", "or": " ∨ ", "ordered": "⋏"},
}
#: How strongly operators bind (section 3.5): ∨ the least, then ∧, then those about order, then ¬.
_OR, _AND, _ORDER, _NOT = range(4)


def print_formula(formula: Formula, spelling: Spelling = "ascii") -> str:
    """The formula as :func:`whence.causes.eol_parser.parse_formula` reads it, without needless
    parentheses."""
    return _printed(formula, _OR, _SIGNS[spelling])


def _printed(formula: Formula, room: int, signs: dict[str, str]) -> str:
    order = signs["ordered"]
    match formula:
        case Variable():
            return print_variable(formula)
        case Not():
            return signs["not"] + _printed(formula.operand, _NOT, signs)
        case Or():
            strength = _OR
            text = signs["or"].join(_printed(part, _AND, signs) for part in formula.operands)
        case And():
            strength = _AND
            text = signs["and"].join(_printed(part, _ORDER, signs) for part in formula.operands)
        case Ordered():
            strength = _ORDER
            # These operators group to the left, and so only the first part needs no parentheses.
            head, *tail = formula.operands
            # An ordered conjunction in front would become one with this.
            first = _printed(head, _NOT if isinstance(head, Ordered) else _ORDER, signs)
            text = f" {order} ".join((first, *(_printed(part, _NOT, signs) for part in tail)))
        case After():
            strength = _ORDER
            text = f"{_printed(formula.first, _ORDER, signs)} {order}[ "
            text += _printed(formula.always, _NOT, signs)
        case Before():
            strength = _ORDER
            text = f"{_printed(formula.always, _NOT, signs)} {order}] "
            text += _printed(formula.last, _NOT, signs)
        case Between():
            strength = _ORDER
            text = f"{_printed(formula.first, _ORDER, signs)} {order}< "
            text += f"{_printed(formula.always, _NOT, signs)} {order}> "
            text += _printed(formula.last, _NOT, signs)
        case _:
            assert_never(formula)
    return f"({text})" if strength < room else text


def print_variable(variable: Variable) -> str:
    name = variable.action
    if not _PLAIN.fullmatch(name):
        escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        name = f'"{escaped}"'
    return name if variable.occurrence is None else f"{name}#{variable.occurrence}"
