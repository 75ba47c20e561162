"""Plain transition systems (Koelbl, Definition 1), as arrays: they may have millions of states."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from whence.source import NOWHERE, Origin

__all__ = ["Action", "Marks", "TransitionSystem"]

Ints = npt.NDArray[np.int32]
Marks = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What transitions are labelled with. `failure`: it is a fault, which somebody notices
    (`detected`), or nobody, or (None) that is not known. `silent`: it cannot be seen, and does
    not count in traces. `component`: who does it, if that is known."""

    name: str
    failure: bool = False
    detected: bool | None = None
    silent: bool = False
    component: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TransitionSystem:
    """States are `0 .. states - 1`. Transition k goes from `source[k]` with `actions[action[k]]`
    to `target[k]`. `propositions` are true where their mark is. `rate[k]` is that of an
    exponential distribution, or NaN where the transition is no matter of chance.

    `complete` is false where not all of a larger system was explored, for `reason`: then states
    whose depth (the fewest transitions from an initial state) is below `explored_depth` have all
    their transitions, and all states up to that depth are there.
    """

    states: int
    actions: tuple[Action, ...]
    source: Ints
    action: Ints
    target: Ints
    initial: tuple[int, ...]
    propositions: Mapping[str, Marks] = field(default_factory=lambda: MappingProxyType({}))
    rate: Floats | None = None
    complete: bool = True
    explored_depth: int | None = None
    reason: str = ""
    name: str = ""

    @property
    def transitions(self) -> int:
        return len(self.source)

    @staticmethod
    def from_edges(
        edges: Iterable[tuple[Hashable, str | Action, Hashable]],
        initial: Hashable,
        bad: Iterable[Hashable] = (),
        propositions: Mapping[str, Iterable[Hashable]] | None = None,
    ) -> TransitionSystem:
        """From (state, action, state) triples; a state is whatever can be hashed. `bad` are the
        states in which the proposition `bad` holds; `propositions` gives others their states.
        States are numbered as they come up, the initial one first."""
        numbers: dict[Hashable, int] = {initial: 0}
        actions: dict[str, int] = {}
        infos: list[Action] = []
        rows: list[tuple[int, int, int]] = []
        for source, action, target in edges:
            info = action if isinstance(action, Action) else Action(name=action)
            if actions.setdefault(info.name, len(infos)) == len(infos):
                infos.append(info)
            first = numbers.setdefault(source, len(numbers))
            rows.append((first, actions[info.name], numbers.setdefault(target, len(numbers))))
        marked = {"bad": bad, **(propositions or {})}
        known = {
            name: [numbers.setdefault(state, len(numbers)) for state in states]
            for name, states in marked.items()
        }
        marks = {}
        for name, states in known.items():
            marks[name] = np.zeros(len(numbers), bool)
            marks[name][states] = True
        table = np.array(rows, np.int32).reshape(-1, 3)
        return TransitionSystem(
            states=len(numbers),
            actions=tuple(infos),
            source=table[:, 0].copy(),
            action=table[:, 1].copy(),
            target=table[:, 2].copy(),
            initial=(0,),
            propositions=MappingProxyType(marks),
        )
