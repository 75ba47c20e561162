"""Writes transition systems for PRISM (and Storm, with `--prism-compat`): as a program in its
language, or as explicit lists, which suit large systems.

PRISM knows no transitions that take no time: those without a rate need one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from whence.model.transitions import TransitionSystem
from whence.source import Diagnostic, InputError, UnsupportedError

__all__ = [
    "prism_labels",
    "prism_program",
    "prism_properties",
    "prism_states",
    "prism_transitions",
]

Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

#: Words of the language, labels that are there already, and the variable of the program.
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """A bool clock const ctmc C double dtmc E endinit endinvariant endmodule endobservables
        endrewards endsystem false formula filter func F global G init invariant I int label max
        mdp min module X nondeterministic observable observables of Pmax Pmin P pomdp popta
        probabilistic prob pta rate rewards Rmax Rmin R S stochastic system true U W deadlock s""",
    )
)
_CHUNK = 10_000


def _names(texts: Iterable[str]) -> dict[str, str]:
    """Different identifiers for different texts: `Train.Tc` becomes `Train_Tc`."""
    found: dict[str, str] = {}
    used = set(_RESERVED)
    for text in texts:
        name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "p"
        if name[0].isdigit():
            name = f"p_{name}"
        unique, number = name, 1
        while unique in used:
            number += 1
            unique = f"{name}_{number}"
        used.add(unique)
        found[text] = unique
    return found


def _rates(system: TransitionSystem, default_rate: float | None) -> Floats:
    rates = np.full(system.transitions, np.nan) if system.rate is None else system.rate
    untimed = np.flatnonzero(np.isnan(rates))
    if len(untimed) and default_rate is None:
        name = system.actions[system.action[untimed[0]]].name
        raise UnsupportedError(
            Diagnostic(
                f"`{name}` has no rate, and PRISM has no transitions that take no time",
                system.actions[system.action[untimed[0]]].origin,
                "say which rate such transitions get",
            )
        )
    wrong = np.flatnonzero((rates < 0) | np.isinf(rates))
    if len(wrong):
        name = system.actions[system.action[wrong[0]]].name
        raise InputError(f"`{name}` has the rate {rates[wrong[0]]}, which is no rate")
    return np.where(np.isnan(rates), 0.0 if default_rate is None else default_rate, rates)


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """The same text in larger pieces."""
    piece: list[str] = []
    for line in lines:
        piece.append(line)
        if len(piece) == _CHUNK:
            yield "".join(piece)
            piece = []
    if piece:
        yield "".join(piece)


def _comment(text: str) -> str:
    """What may stand in a comment: one line."""
    return " ".join(text.split())


def _states(states: Sequence[int]) -> str:
    """A condition for being in one of these states, which are ascending."""
    parts: list[str] = []
    at = 0
    while at < len(states):
        to = at
        while to + 1 < len(states) and states[to + 1] == states[to] + 1:
            to += 1
        if to == at:
            parts.append(f"s={states[at]}")
        else:
            parts.append(f"(s>={states[at]} & s<={states[to]})")
        at = to + 1
    return " | ".join(parts) or "false"


def prism_program(system: TransitionSystem, default_rate: float | None = None) -> Iterator[str]:
    """A CTMC with one module, whose variable `s` is the number of the state; each proposition is
    a label. In pieces of text."""
    return _joined(_program(system, _rates(system, default_rate)))


def _program(system: TransitionSystem, rates: Floats) -> Iterator[str]:
    actions = _names(action.name for action in system.actions)
    yield "ctmc\n\n"
    if system.name:
        yield f"// {_comment(system.name)}\n\n"
    first = f" init {system.initial[0]}" if len(system.initial) == 1 else ""
    yield f"module system_\n  s : [0..{max(1, system.states - 1)}]{first};\n\n"
    rows = zip(
        system.source.tolist(),
        system.action.tolist(),
        system.target.tolist(),
        rates.tolist(),
        strict=True,
    )
    for source, action, target, rate in rows:
        if rate > 0:
            name = actions[system.actions[action].name]
            yield f"  [{name}] s={source} -> {rate!r} : (s'={target});\n"
    yield "endmodule\n\n"
    if len(system.initial) != 1:
        yield f"init {_states(sorted(system.initial))} endinit\n\n"
    labels = _names(system.propositions)
    for text, name in labels.items():
        if name != text:
            yield f"// {_comment(text)}\n"
        holds = np.flatnonzero(system.propositions[text]).tolist()
        yield f'label "{name}" = {_states(holds)};\n'


def prism_properties(system: TransitionSystem, bad: str, time: Fraction) -> str:
    """How likely it is that `bad` comes true within the time (in the unit of the rates)."""
    label = _names(system.propositions)[bad]
    return f'const double T = {time};\n\nP=? [ F<=T "{label}" ]\n'


def prism_transitions(system: TransitionSystem, default_rate: float | None = None) -> Iterator[str]:
    """The rates between states, explicitly (a `.tra` file), in pieces of text."""
    return _joined(_transitions(system, _rates(system, default_rate)))


def _transitions(system: TransitionSystem, rates: Floats) -> Iterator[str]:
    kept = rates > 0
    keys = system.source[kept].astype(np.int64) * system.states + system.target[kept]
    pairs, which = np.unique(keys, return_inverse=True)
    sums = np.bincount(which.reshape(-1), weights=rates[kept], minlength=len(pairs))
    yield f"{system.states} {len(pairs)}\n"
    for key, rate in zip(pairs.tolist(), sums.tolist(), strict=True):
        yield f"{key // system.states} {key % system.states} {rate!r}\n"


def prism_states(system: TransitionSystem) -> Iterator[str]:
    """The values of the variable in each state (a `.sta` file), in pieces of text."""
    lines = (f"{state}:({state})\n" for state in range(system.states))
    yield "(s)\n"
    yield from _joined(lines)


def prism_labels(system: TransitionSystem, default_rate: float | None = None) -> Iterator[str]:
    """The labels of states (a `.lab` file), in pieces of text."""
    left = np.zeros(system.states, bool)
    left[system.source[_rates(system, default_rate) > 0]] = True
    initial = np.zeros(system.states, bool)
    initial[list(system.initial)] = True
    marks: list[tuple[str, Marks]] = [("init", initial), ("deadlock", ~left)]
    marks += [
        (name, system.propositions[text]) for text, name in _names(system.propositions).items()
    ]
    yield " ".join(f'{number}="{name}"' for number, (name, _) in enumerate(marks)) + "\n"
    table = np.array([holds for _, holds in marks])
    lines = (
        f"{state}: {' '.join(map(str, np.flatnonzero(table[:, state]).tolist()))}\n"
        for state in np.flatnonzero(table.any(axis=0)).tolist()
    )
    yield from _joined(lines)
