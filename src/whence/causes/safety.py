"""Regular safety properties of transition systems as reachability (Koelbl, section 3.2).

A safety property is an LTL formula in which, once negations stand before atoms only, no operator
asks for something to happen eventually (no `U`, no `F`): each word that violates it has a finite
*bad prefix*.  The product of a transition system with the automaton of the bad prefixes has the
same action traces, and tells by its state whether a bad prefix has just been completed.

A formula is about the states of an execution, the initial one first; a silent transition is a
step like any other.  Atoms count as independent: that `x > 3` fails whenever `x < 2` holds is seen
when it happens, and not before.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NoReturn

import numpy as np
import numpy.typing as npt

from whence.causes.bad_prefixes import BAD, BadPrefixAutomaton, can_be_violated
from whence.expr.ltl import Formula, parse_ltl
from whence.model.transitions import TransitionSystem
from whence.source import Diagnostic, SourceText, UnsupportedError, UsageError

__all__ = ["SafetyProperty", "hazard_states", "outlook", "parse_safety"]

#: So many pairs of a state of the system and one of the automaton can be told apart (4 bytes each).
MAX_PAIRS = 2**30


@dataclass(frozen=True, slots=True)
class SafetyProperty:
    """`atoms` are state formulas; the text of each names the proposition that says where it
    holds."""

    source: SourceText
    formula: Formula
    atoms: tuple[SourceText, ...]


def parse_safety(source: SourceText) -> SafetyProperty:
    """Raises InputError where this is no formula, and UnsupportedError where it is no safety."""
    formula, atoms = parse_ltl(source)
    _check_fragment(source, formula, False)
    return SafetyProperty(source, formula, atoms)


def outlook(prop: SafetyProperty) -> Literal["open", "never violated", "always violated"]:
    """What can be said without a system: a formula may be violated from the start by whatever
    happens, or never."""
    if BadPrefixAutomaton(prop.formula).start == BAD:
        return "always violated"
    return "open" if can_be_violated(prop.formula) else "never violated"


# ------------------------------------------------------------------------------ the fragment


def _check_fragment(source: SourceText, formula: Formula, negated: bool | None) -> None:
    """Refuses liveness: `U` and `F` that count positively, and what their duals are negated.
    `negated` None: it counts both ways, being an operand of `<->`."""
    match formula.operator:
        case "F" | "U" if negated is not True:
            _refuse(source, formula, "")
        case "G" | "W" | "R" if negated is not False:
            _refuse(source, formula, ", negated,")
    for number, operand in enumerate(formula.operands):
        inner = negated
        if formula.operator == "<->":
            inner = None
        elif formula.operator == "!" or (formula.operator == "->" and number == 0):
            inner = None if negated is None else not negated
        _check_fragment(source, operand, inner)


def _refuse(source: SourceText, formula: Formula, negated: str) -> NoReturn:
    match formula.operator:
        case "U":
            hint = "`p W q` says the same, but does not ask for q ever to come"
        case "F":
            hint = "say what must not happen before it comes: `!late W done`"
        case _:
            hint = "write it without the negation, with `W` (weak until) in place of `U` and `F`"
    text = source.text[formula.start : formula.end]
    raise UnsupportedError(
        Diagnostic(
            f"this is no safety property: `{text}`{negated} asks for something to happen "
            "eventually, and no finite run shows that it never does",
            source.origin(formula.start, formula.end),
            hint,
            source.element,
        )
    )


# ------------------------------------------------------------------------------ the product


def hazard_states(
    system: TransitionSystem, prop: SafetyProperty, name: str = "bad"
) -> TransitionSystem:
    """The reachable product of the system with the automaton of the bad prefixes.

    Its proposition `name` marks the states in which a bad prefix has just been completed; nothing
    leads out of them.  The other propositions, actions and rates are those of the system, in which
    each atom of the property must be a proposition.  A formula that is violated from the start
    makes the initial states bad, one that is never violated leaves no bad state.
    """
    letter_of, letters = _letters(system, prop)
    automaton = BadPrefixAutomaton(prop.formula)
    first, transitions = _by_source(system)
    target, letter = system.target.data, letter_of.data

    #: For each state of the automaton: where it goes by each letter (-1: not known yet), and the
    #: number of its pair with each state of the system (-1: not reached).
    successors: dict[int, list[int]] = {}
    numbers: dict[int, array[int]] = {}
    unreached = array("i", [-1]) * system.states

    # The pairs, and the transitions between them.
    states, automaton_states = array("i"), array("i")
    sources, origins, targets = array("i"), array("i"), array("i")

    def row_of(state: int) -> array[int]:
        row = numbers.get(state)
        if row is None:
            if (len(numbers) + 1) * system.states > MAX_PAIRS:
                raise UnsupportedError(
                    Diagnostic(
                        "the system is too large for this property: they have more than "
                        f"{MAX_PAIRS} states together",
                        prop.source.origin(0, len(prop.source.text)),
                    )
                )
            row = numbers[state] = unreached[:]
            successors[state] = [-1] * len(letters)
        return row

    def reach(row: array[int], state: int, of_automaton: int) -> int:
        number = row[state] = len(states)
        states.append(state)
        automaton_states.append(of_automaton)
        return number

    initial = []
    for state in system.initial:
        after = automaton.step(automaton.start, letters[letter[state]])
        row = row_of(after)
        initial.append(row[state] if row[state] >= 0 else reach(row, state, after))
    at = 0
    while at < len(states):
        state, before = states[at], automaton_states[at]
        if before != BAD:
            after_letter = successors[before]
            for transition in transitions[first[state] : first[state + 1]]:
                following = target[transition]
                read = letter[following]
                after = after_letter[read]
                if after < 0:
                    after = after_letter[read] = automaton.step(before, letters[read])
                    row_of(after)
                row = numbers[after]
                number = row[following]
                if number < 0:
                    number = reach(row, following, after)
                sources.append(at)
                origins.append(transition)
                targets.append(number)
        at += 1

    chosen = np.frombuffer(states, np.int32)
    taken = np.frombuffer(origins, np.int32) if origins else np.zeros(0, np.int32)
    marks = {other: values[chosen] for other, values in system.propositions.items()}
    marks[name] = np.frombuffer(automaton_states, np.int32) == BAD
    return TransitionSystem(
        states=len(states),
        actions=system.actions,
        source=np.array(sources, np.int32),
        action=system.action[taken],
        target=np.array(targets, np.int32),
        initial=tuple(dict.fromkeys(initial)),
        propositions=MappingProxyType(marks),
        rate=None if system.rate is None else system.rate[taken],
        complete=system.complete,
        explored_depth=system.explored_depth,
        name=system.name,
    )


def _letters(
    system: TransitionSystem, prop: SafetyProperty
) -> tuple[npt.NDArray[np.int32], list[int]]:
    """The number of each state's letter, and the letters: which atoms hold, as bits."""
    letter_of = np.zeros(system.states, np.int64)
    letters = [0]
    for bit, atom in enumerate(prop.atoms):
        marks = system.propositions.get(atom.text)
        if marks is None:
            raise UsageError(
                Diagnostic(
                    f"the system does not say where `{atom.text}` holds",
                    atom.origin(0, len(atom.text)),
                    "its propositions are " + ", ".join(f"`{name}`" for name in system.propositions)
                    if system.propositions
                    else "it has no propositions",
                )
            )
        found, letter_of = np.unique(letter_of * 2 + marks, return_inverse=True)
        letters = [letters[number // 2] | (number % 2) << bit for number in found.tolist()]
    return letter_of.astype(np.int32), letters


def _by_source(system: TransitionSystem) -> tuple[memoryview, memoryview]:
    """The transitions in the order of their sources, and where those of each source begin."""
    order = np.argsort(system.source, kind="stable")
    counts = np.bincount(system.source, minlength=system.states)
    return np.concatenate(([0], np.cumsum(counts))).data, order.data
