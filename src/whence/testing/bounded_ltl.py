"""Goals in linear temporal logic, with the bounded semantics of finite runs (section 3).

A finite run makes `F p` and `p U q` true by a state that it has.  What only endless runs can make
true (`G`, `W`, `R`, and the negations of `F` and `U`) is refused, and so is `X`: what is the next
state of a system in dense time?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whence.expr.ltl import Formula, parse_ltl
from whence.expr.tree import Expr
from whence.solve.frames import AllOf, AnyOf, Claim, Holds
from whence.source import Diagnostic, Origin, SourceText, UnsupportedError
from whence.testing.logic import FALSE, TRUE, both, either, negation

__all__ = ["And", "Atom", "Or", "Temporal", "Until", "claim", "holds", "necessary", "read_goal"]


#: `O (p)` and `p S q`: neither is anything else in this language.
_PAST = re.compile(r"\b(?P<one>[YZOHP])\s*\(|(?<=[\w)])\s+(?P<two>[STB])\s+(?=[\w(!])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Atom:
    expr: Expr


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Temporal, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Temporal, ...]


@dataclass(frozen=True, slots=True)
class Until:
    """`left U right`; `F right` if left is true."""

    left: Temporal
    right: Temporal


Temporal = Atom | And | Or | Until


def read_goal(text: SourceText, formula: Callable[[SourceText], Expr]) -> Temporal:
    """The goal that a text is; `formula` reads conditions on states."""
    _refuse_past(text)
    parsed, atoms = parse_ltl(text)
    exprs = [formula(atom) for atom in atoms]
    return _made(parsed, exprs, False, text)


def _refuse_past(text: SourceText) -> None:
    found = _PAST.search(text.text)
    if found is not None:
        at = found.start("one") if found["one"] else found.start("two")
        raise UnsupportedError(
            Diagnostic(
                f"not supported: the past operator `{found['one'] or found['two']}` in a goal",
                text.origin(at),
                "say what comes first, and F or U for what comes then",
            )
        )


def _made(formula: Formula, atoms: Sequence[Expr], negated: bool, text: SourceText) -> Temporal:
    def inside(part: Formula, flipped: bool = negated) -> Temporal:
        return _made(part, atoms, flipped, text)

    operands = formula.operands
    match formula.operator:
        case "true" | "false":
            return Atom(TRUE if (formula.operator == "true") != negated else FALSE)
        case "atom":
            expr = atoms[formula.atom]
            return Atom(negation(expr) if negated else expr)
        case "!":
            return inside(operands[0], not negated)
        case "&&" | "||":
            parts = tuple(inside(part) for part in operands)
            return _all(parts) if (formula.operator == "&&") != negated else _any(parts)
        case "->":
            parts = inside(operands[0], not negated), inside(operands[1])
            return _all(parts) if negated else _any(parts)
        case "<->":
            both_ways = tuple(
                _all((inside(operands[0], one), inside(operands[1], one != negated)))
                for one in (False, True)
            )
            return _any(both_ways)
        case "F" if not negated:
            return Until(Atom(TRUE), inside(operands[0]))
        case "U" if not negated:
            return Until(inside(operands[0]), inside(operands[1]))
    origin: Origin = text.origin(formula.start, formula.end)
    if formula.operator == "X":
        raise UnsupportedError(
            Diagnostic("not supported: the operator `X` in a goal", origin, "use F or U")
        )
    shown = f"`{formula.operator}`" + (" behind a negation" if negated else "")
    raise UnsupportedError(
        Diagnostic(
            f"not supported: {shown} in a goal",
            origin,
            "no finite test makes it true; goals are made of F, U and conditions on states",
        )
    )


def _all(parts: tuple[Temporal, ...]) -> Temporal:
    """A conjunction; one of conditions on states is such a condition."""
    exprs = [part.expr for part in parts if isinstance(part, Atom)]
    return Atom(both(exprs)) if len(exprs) == len(parts) else And(parts)


def _any(parts: tuple[Temporal, ...]) -> Temporal:
    exprs = [part.expr for part in parts if isinstance(part, Atom)]
    return Atom(either(exprs)) if len(exprs) == len(parts) else Or(parts)


def holds(goal: Temporal, length: int, atom: Callable[[Expr, int], bool]) -> list[int | None]:
    """For each state of a finite run, the state by which the goal is true from there on, or None.
    `atom` says whether a condition holds at a state."""
    match goal:
        case Atom(expr):
            return [at if atom(expr, at) else None for at in range(length)]
        case And(parts):
            found = [holds(part, length, atom) for part in parts]
            return [
                None if None in row else max(end for end in row if end is not None)
                for row in zip(*found, strict=True)
            ]
        case Or(parts):
            found = [holds(part, length, atom) for part in parts]
            return [
                min((end for end in row if end is not None), default=None)
                for row in zip(*found, strict=True)
            ]
        case Until(left, right):
            first, second = holds(left, length, atom), holds(right, length, atom)
            result: list[int | None] = [None] * length
            later: int | None = None
            for at in reversed(range(length)):
                here = second[at]
                through = first[at]
                on = None if through is None or later is None else max(through, later)
                options = [end for end in (here, on) if end is not None]
                later = result[at] = min(options, default=None)
            return result


def claim(goal: Temporal, first: int, last: int) -> Claim:
    """That the goal is true from frame `first` on, by frames up to `last`."""
    match goal:
        case Atom(expr):
            return Holds(expr, first)
        case And(parts):
            return AllOf(tuple(claim(part, first, last) for part in parts))
        case Or(parts):
            return AnyOf(tuple(claim(part, first, last) for part in parts))
        case Until(left, right):
            options = []
            for at in range(first, last + 1):
                before: tuple[Claim, ...] = ()
                if left != Atom(TRUE):
                    before = tuple(claim(left, one, last) for one in range(first, at))
                options.append(AllOf((*before, claim(right, at, last))))
            return AnyOf(tuple(options))


def necessary(goal: Temporal) -> Expr:
    """A condition that some state has to meet, if the goal is true of a run."""
    match goal:
        case Atom(expr):
            return expr
        case And(parts):
            atoms = [part.expr for part in parts if isinstance(part, Atom)]
            return both(atoms) if atoms else necessary(parts[0])
        case Or(parts):
            return either(necessary(part) for part in parts)
        case Until(_, right):
            return necessary(right)
