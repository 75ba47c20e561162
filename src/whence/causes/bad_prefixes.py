"""The bad prefixes of safety formulas, recognised as early as can be (Koelbl, Definition 4).

A formula in negation normal form becomes a tableau: a state is a set of formulas that must all
hold from now on, and a step reads which atoms are true.  Where there is no `U`, each endless run
of the tableau accepts; so a finite word is a bad prefix if and only if no run over it ends in a
state from which an endless run goes on.  States without one are found beforehand (atoms are taken
to be independent of each other), and left out.  What remains is made deterministic step by step:
a state of the automaton is a set of tableau states, and the empty set says that a bad prefix has
just been completed.
"""

from __future__ import annotations

from typing import Literal

from whence.expr.ltl import Formula
from whence.source import UnsupportedError

__all__ = ["BAD", "BadPrefixAutomaton", "can_be_violated"]

#: The state of the automaton that bad prefixes lead to.
BAD = 0

#: The tableau, and the automaton, may have so many states (each way to expand counts).
MAX_STATES = 100_000

Node = (
    tuple[Literal["true", "false"]]
    | tuple[Literal["literal"], int, bool]
    | tuple[Literal["and", "or"], frozenset[int]]
    | tuple[Literal["next"], int]
    | tuple[Literal["until", "release"], int, int]
)
#: Formulas (by number) that must all hold.
Obligations = frozenset[int]


class _Formulas:
    """Formulas in negation normal form; equal ones have the same number."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[Node, int] = {}
        self.known: dict[tuple[int, bool], int] = {}
        self.true = self.make(("true",))
        self.false = self.make(("false",))

    def make(self, node: Node) -> int:
        number = self.numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return number

    def all_of(self, operands: frozenset[int]) -> int:
        operands -= {self.true}
        if self.false in operands:
            return self.false
        if len(operands) < 2:
            return next(iter(operands), self.true)
        return self.make(("and", operands))

    def any_of(self, operands: frozenset[int]) -> int:
        operands -= {self.false}
        if self.true in operands:
            return self.true
        if len(operands) < 2:
            return next(iter(operands), self.false)
        return self.make(("or", operands))

    def normal_form(self, formula: Formula, negated: bool) -> int:
        # An operand of `<->` is asked for again and again.
        key = id(formula), negated
        if key not in self.known:
            self.known[key] = self._normal_form(formula, negated)
        return self.known[key]

    def _normal_form(self, formula: Formula, negated: bool) -> int:
        match formula.operator:
            case "true" | "false":
                return self.true if (formula.operator == "true") != negated else self.false
            case "atom":
                return self.make(("literal", formula.atom, not negated))
            case "!":
                return self.normal_form(formula.operands[0], not negated)
            case "&&" | "||":
                operands = frozenset(self.normal_form(part, negated) for part in formula.operands)
                both = (formula.operator == "&&") != negated
                return self.all_of(operands) if both else self.any_of(operands)
            case "->":
                left, right = formula.operands
                first, second = (
                    self.normal_form(left, not negated),
                    self.normal_form(right, negated),
                )
                operands = frozenset((first, second))
                return self.all_of(operands) if negated else self.any_of(operands)
            case "<->":
                left, right = formula.operands
                if negated:
                    first = self.all_of(self._pair(left, False, right, True))
                    second = self.all_of(self._pair(left, True, right, False))
                else:
                    first = self.all_of(self._pair(left, False, right, False))
                    second = self.all_of(self._pair(left, True, right, True))
                return self.any_of(frozenset((first, second)))
            case "X":
                return self.make(("next", self.normal_form(formula.operands[0], negated)))
            case "F" | "G":
                inner = self.normal_form(formula.operands[0], negated)
                if (formula.operator == "F") != negated:
                    return self.make(("until", self.true, inner))
                return self.make(("release", self.false, inner))
            case "U" | "R":
                first, second = (self.normal_form(part, negated) for part in formula.operands)
                until = (formula.operator == "U") != negated
                return self.make(("until" if until else "release", first, second))
            case "W":
                # p W q is q R (p || q); its negation is !q U (!p && !q).
                first, second = (self.normal_form(part, negated) for part in formula.operands)
                sides = frozenset((first, second))
                if negated:
                    return self.make(("until", second, self.all_of(sides)))
                return self.make(("release", second, self.any_of(sides)))

    def _pair(
        self, left: Formula, left_negated: bool, right: Formula, right_negated: bool
    ) -> frozenset[int]:
        first = self.normal_form(left, left_negated)
        return frozenset((first, self.normal_form(right, right_negated)))


class _Step:
    """One way to meet obligations now: these atoms true and those false, and what remains."""

    __slots__ = ("false", "remaining", "true")

    def __init__(self, true: int, false: int, remaining: Obligations) -> None:
        self.true = true
        self.false = false
        self.remaining = remaining

    def is_weaker(self, other: _Step) -> bool:
        return (
            not self.true & ~other.true
            and not self.false & ~other.false
            and self.remaining <= other.remaining
        )


class _Tableau:
    """All that can become of a formula. States are numbered; `steps[state]` are (atoms true, atoms
    false, next state)."""

    def __init__(self, formula: Formula, negated: bool = False) -> None:
        self.formulas = _Formulas()
        self.work = 0
        root = self.formulas.normal_form(formula, negated)
        self.states: list[Obligations] = [frozenset((root,))]
        self.numbers = {self.states[0]: 0}
        self.steps: list[list[tuple[int, int, int]]] = []
        for number, state in enumerate(self.states):  # grows on the way
            assert number == len(self.steps)
            self.steps.append(
                [
                    (step.true, step.false, self.number(step.remaining))
                    for step in self.expand(state)
                ]
            )

    def number(self, state: Obligations) -> int:
        number = self.numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def expand(self, state: Obligations) -> list[_Step]:
        found: dict[tuple[int, int, Obligations], _Step] = {}
        nodes = self.formulas.nodes
        # What is still to be met, the literals chosen, and what remains for later.
        pending: list[tuple[tuple[int, ...], int, int, Obligations]] = [
            (tuple(sorted(state)), 0, 0, frozenset())
        ]
        while pending:
            todo, true, false, later = pending.pop()
            self.work += 1
            if self.work > MAX_STATES:
                _too_large()
            if not todo:
                found[true, false, later] = _Step(true, false, later)
                continue
            first, rest = todo[0], todo[1:]
            node = nodes[first]
            match node:
                case ("true",):
                    pending.append((rest, true, false, later))
                case ("false",):
                    pass
                case ("literal", atom, positive):
                    chosen_true, chosen_false = true, false
                    if positive:
                        chosen_true |= 1 << atom
                    else:
                        chosen_false |= 1 << atom
                    if not chosen_true & chosen_false:
                        pending.append((rest, chosen_true, chosen_false, later))
                case ("and", operands):
                    pending.append(((*sorted(operands), *rest), true, false, later))
                case ("or", operands):
                    pending.extend(
                        ((operand, *rest), true, false, later) for operand in sorted(operands)
                    )
                case ("next", operand):
                    pending.append((rest, true, false, later | {operand}))
                case ("until", left, right):
                    pending.append(((right, *rest), true, false, later))
                    pending.append(((left, *rest), true, false, later | {first}))
                case ("release", left, right):
                    pending.append(((left, right, *rest), true, false, later))
                    pending.append(((right, *rest), true, false, later | {first}))
        steps = sorted(
            found.values(), key=lambda step: (len(step.remaining), step.true, step.false)
        )
        kept: list[_Step] = []
        for step in steps:
            if not any(other.is_weaker(step) for other in kept):
                kept.append(step)
        return kept

    def alive(self) -> list[bool]:
        """From which states an endless run goes on."""
        alive = [True] * len(self.states)
        leading: list[list[int]] = [[] for _ in self.states]
        ways = [len(steps) for steps in self.steps]
        for state, steps in enumerate(self.steps):
            for _, _, after in steps:
                leading[after].append(state)
        dead = [state for state, number in enumerate(ways) if not number]
        while dead:
            state = dead.pop()
            alive[state] = False
            for before in leading[state]:
                ways[before] -= 1
                if not ways[before]:
                    dead.append(before)
        return alive


class BadPrefixAutomaton:
    """Reads, in each step, which atoms are true, as bits; in the state :data:`BAD` a bad prefix has
    been completed, and nothing leads out of it."""

    def __init__(self, formula: Formula) -> None:
        tableau = _Tableau(formula)
        alive = tableau.alive()
        self._obligations = tableau.states
        self._steps = [[step for step in steps if alive[step[2]]] for steps in tableau.steps]
        self._states: list[frozenset[int]] = [frozenset()]
        self._numbers: dict[frozenset[int], int] = {frozenset(): BAD}
        #: Where it begins: BAD, if nothing at all satisfies the formula.
        self.start = self._number(frozenset((0,)) if alive[0] else frozenset())

    def _number(self, state: frozenset[int]) -> int:
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            if number > MAX_STATES:
                _too_large()
            self._states.append(state)
        return number

    def step(self, state: int, letter: int) -> int:
        reached = {
            after
            for before in self._states[state]
            for true, false, after in self._steps[before]
            if true & letter == true and not false & letter
        }
        # What meets more obligations is met by all that meets fewer of them.
        found = [self._obligations[after] for after in reached]
        return self._number(
            frozenset(
                after
                for after in reached
                if not any(other < self._obligations[after] for other in found)
            )
        )


def can_be_violated(formula: Formula) -> bool:
    """Whether a safety formula has a bad prefix at all: whether its negation, in which there is no
    `R`, has a tableau that leads to where nothing remains to be met."""
    return frozenset() in _Tableau(formula, negated=True).numbers


def _too_large() -> None:
    raise UnsupportedError(
        f"the formula is too large: its automaton would have more than {MAX_STATES} states"
    )
