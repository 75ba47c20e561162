"""Linear temporal logic, written down from its definitions.

Formulas are nested tuples, with names as atoms: ("G", ("->", "p", ("X", "q"))).  A letter is the
set of atoms that hold.  Nothing here is shared with the package.

:func:`holds` is the semantics (Definitions 2 and 3 of M. Kölbl, Causal Analysis and Repair of
Systems, Konstanz 2022, with the usual derived operators) on words u v v v ….

:func:`is_bad_prefix` is Definition 4, decided with elementary sets (C. Baier, J.-P. Katoen,
Principles of Model Checking, section 5.2.3): a state says of each formula of the closure whether
it holds; a path is fair if what is to come eventually does come.  A finite word is a bad prefix if
no fair path begins with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

#: A name, or an operator with its operands.
Formula = Any
Letter = frozenset[str]
TEMPORAL = ("X", "F", "G", "U", "W", "R")


def holds(formula: Formula, prefix: Sequence[Letter], loop: Sequence[Letter]) -> bool:
    word = [*prefix, *loop]

    def following(at: int) -> int:
        return at + 1 if at + 1 < len(word) else len(prefix)

    def from_here(at: int) -> list[int]:
        """All positions that are still to come, in order, each at least once."""
        result = []
        for _ in range(2 * len(word)):
            result.append(at)
            at = following(at)
        return result

    def at(position: int, formula: Formula) -> bool:
        match formula:
            case "true":
                return True
            case "false":
                return False
            case str(name):
                return name in word[position]
            case ("!", f):
                return not at(position, f)
            case ("&&", *parts):
                return all(at(position, part) for part in parts)
            case ("||", *parts):
                return any(at(position, part) for part in parts)
            case ("->", f, g):
                return not at(position, f) or at(position, g)
            case ("<->", f, g):
                return at(position, f) == at(position, g)
            case ("X", f):
                return at(following(position), f)
            case ("F", f):
                return any(at(later, f) for later in from_here(position))
            case ("G", f):
                return all(at(later, f) for later in from_here(position))
            case ("U", f, g):
                for later in from_here(position):
                    if at(later, g):
                        return True
                    if not at(later, f):
                        return False
                return False
            case ("W", f, g):
                return at(position, ("G", f)) or at(position, ("U", f, g))
            case ("R", f, g):
                return not at(position, ("U", ("!", f), ("!", g)))
        raise AssertionError(formula)

    return at(0, formula)


def subformulas(formula: Formula) -> list[Formula]:
    """Inner ones first."""
    result = []
    if not isinstance(formula, str):
        for part in formula[1:]:
            result += subformulas(part)
    return [*dict.fromkeys([*result, formula])]


class _ElementarySets:
    def __init__(self, formula: Formula, names: Sequence[str]) -> None:
        self.formula = formula
        self.closure = [*dict.fromkeys([*names, *subformulas(formula)])]
        self.names = set(names)
        free = [f for f in self.closure if f in self.names or f[0] in TEMPORAL]
        self.sets = [
            self.complete(dict(zip(free, values, strict=True)))
            for values in product((False, True), repeat=len(free))
        ]
        count = range(len(self.sets))
        self.after = [[j for j in count if self.fits(self.sets[i], self.sets[j])] for i in count]
        self.fair = self.fair_sets()

    def complete(self, values: dict[Formula, bool]) -> dict[Formula, bool]:
        for f in self.closure:
            if f not in values:
                match f:
                    case "true" | "false":
                        values[f] = f == "true"
                    case ("!", g):
                        values[f] = not values[g]
                    case ("&&", *parts):
                        values[f] = all(values[part] for part in parts)
                    case ("||", *parts):
                        values[f] = any(values[part] for part in parts)
                    case ("->", g, h):
                        values[f] = not values[g] or values[h]
                    case ("<->", g, h):
                        values[f] = values[g] == values[h]
        return values

    def fits(self, now: dict[Formula, bool], then: dict[Formula, bool]) -> bool:
        for f in self.closure:
            match f:
                case ("X", g):
                    wanted = then[g]
                case ("F", g):
                    wanted = now[g] or then[f]
                case ("G", g):
                    wanted = now[g] and then[f]
                case ("U", g, h) | ("W", g, h):
                    wanted = now[h] or (now[g] and then[f])
                case ("R", g, h):
                    wanted = now[h] and (now[g] or then[f])
                case _:
                    continue
            if now[f] != wanted:
                return False
        return True

    def fulfilled(self, now: dict[Formula, bool], f: Formula) -> bool:
        """Whether nothing is outstanding of an operator, here, that must come eventually."""
        match f:
            case ("F", g):
                return not now[f] or now[g]
            case ("G", g):
                return now[f] or not now[g]
            case ("U", _, h):
                return not now[f] or now[h]
            case ("W", g, h):
                return now[f] or not (now[g] or now[h])
            case ("R", _, h):
                return now[f] or not now[h]
        return True

    def fair_sets(self) -> set[int]:
        """From which a path goes on that fulfils each operator again and again."""
        reach = []
        for start in range(len(self.sets)):
            seen: set[int] = set()
            pending = list(self.after[start])
            while pending:
                state = pending.pop()
                if state not in seen:
                    seen.add(state)
                    pending += self.after[state]
            reach.append(seen)
        good = set()
        for start in range(len(self.sets)):
            together = {other for other in reach[start] if start in reach[other]}
            if together and all(
                any(self.fulfilled(self.sets[other], f) for other in together) for f in self.closure
            ):
                good.add(start)
        return {start for start in range(len(self.sets)) if start in good or reach[start] & good}

    def is_bad_prefix(self, word: Sequence[Letter]) -> bool:
        states = [i for i, values in enumerate(self.sets) if values[self.formula]]
        for at, letter in enumerate(word):
            if at:
                states = [*{after for state in states for after in self.after[state]}]
            states = [
                i for i in states if all(self.sets[i][n] == (n in letter) for n in self.names)
            ]
        return not self.fair.intersection(states)


def bad_prefixes(
    formula: Formula, names: Sequence[str], words: Sequence[Sequence[Letter]]
) -> list[bool]:
    """For each of the words, whether it is a bad prefix of the formula."""
    sets = _ElementarySets(formula, names)
    return [sets.is_bad_prefix(word) for word in words]
