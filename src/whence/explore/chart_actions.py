"""The actions of a chart: what its transitions are called, and what is known of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from whence.explore.chart_paths import Compound
from whence.explore.chart_structure import MachineStructure
from whence.expr.scope import Problem
from whence.model.chart import Machine
from whence.model.transitions import Action
from whence.source import Origin

__all__ = ["ActionTable"]


@dataclass(slots=True)
class _Use:
    """What the transitions with one name in one machine say of it, with the first that does."""

    machine: str
    name: str
    silent: bool
    origin: Origin
    failure: dict[bool, Origin] = field(default_factory=dict)
    detected: dict[bool, Origin] = field(default_factory=dict)


class ActionTable:
    """Numbers for actions. A machine's transitions with the same event share one."""

    def __init__(self) -> None:
        self._uses: dict[tuple[str, str, bool], _Use] = {}
        self._numbers: dict[tuple[str, str, bool], int] = {}

    def add(self, structure: MachineStructure, compound: Compound) -> int:
        """The action of a compound transition: the last `event` on its way, or the state that it
        reaches. It is a failure if a transition on its way is, or a state that it enters."""
        events = [s.event for s in compound.segments if s.event is not None]
        name = events[-1] if events else structure.states[compound.reached].name
        number, use = self._use(structure.machine.name, name, False, compound.first.origin)
        failure = any(segment.failure for segment in compound.segments)
        failure |= any(state.failure for state in compound.entered)
        use.failure.setdefault(failure, compound.first.origin)
        for segment in compound.segments:
            if segment.detected is not None:
                use.detected.setdefault(segment.detected, segment.origin)
        return number

    def add_silent(self, machine: Machine, name: str) -> int:
        return self._use(machine.name, name, True, machine.origin)[0]

    def _use(self, machine: str, name: str, silent: bool, origin: Origin) -> tuple[int, _Use]:
        key = (machine, name, silent)
        number = self._numbers.setdefault(key, len(self._numbers))
        return number, self._uses.setdefault(key, _Use(machine, name, silent, origin))

    def named(self) -> tuple[Action, ...]:
        """All actions; where two machines have events of one name, these are qualified. Raises
        Problem where transitions that share an action disagree about it."""
        count = Counter(use.name for use in self._uses.values())
        actions = [self._action(use, count[use.name] > 1) for use in self._uses.values()]
        names = Counter(action.name for action in actions)
        for action in actions:
            if names[action.name] > 1:
                raise Problem(
                    f"two actions are called `{action.name}`", action.origin, "rename an event"
                )
        return tuple(actions)

    @staticmethod
    def _action(use: _Use, qualified: bool) -> Action:
        name = f"{use.machine}.{use.name}" if qualified else use.name
        for said, what in ((use.failure, "a failure"), (use.detected, "detected")):
            if len(said) > 1:
                raise Problem(
                    f"`{name}` is {what} here, and elsewhere it is not",
                    said[True],
                    f"the other transition of this name is at {said[False]}: give one of them "
                    "another `event`",
                )
        return Action(
            name=name,
            failure=True in use.failure,
            detected=next(iter(use.detected), None),
            silent=use.silent,
            component=use.machine,
            origin=use.origin,
        )
