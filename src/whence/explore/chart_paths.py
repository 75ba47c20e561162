"""Compound transitions: from a location, through choices and junctions and into composite states,
to the next location (UML 2.5.1, section 14.2.3.8).

A compound transition leaves the states that its *scope* does not contain: the innermost composite
state around everything that the transition touches on its way to the first state it reaches.
Effects come in this order: exits, from the innermost state out; the effects of the segments;
entries, from the outermost state in, and the initial transitions of composite states after their
entry.

Guards are conditions at a *point* of that sequence.  The guards of a transition that leaves a
state, and of the junctions behind it, are asked before anything happens, those behind a choice
when everything up to the choice has happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from whence.explore.chart_structure import MachineStructure
from whence.expr.scope import Problem
from whence.model.chart import Assign, ChartState, ChartTransition, Effect

__all__ = ["Compound", "compounds_from", "starts", "transition_text"]

#: More ways through choices than this, from one state, are a mistake.
_LIMIT = 4096
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Compound:
    """One way from the location `source` to the location `target`.

    `first` is the transition that it begins with, and `segments` are all of those on the way but
    initial ones.  `guards` are (point, transition): the guard of that transition, asked after so
    many of the `effects`.  `reached` is the state that the last segment leads to, `entered` are
    all states that are entered.
    """

    source: str
    target: str
    segments: tuple[ChartTransition, ...]
    effects: tuple[Effect, ...]
    guards: tuple[tuple[int, ChartTransition], ...]
    reached: str
    entered: tuple[ChartState, ...] = ()

    @property
    def first(self) -> ChartTransition:
        return self.segments[0]


def transition_text(compound: Compound) -> str:
    """A compound transition as UML writes one: trigger, guards and effects, in lines."""
    lines = []
    guards = [guard.guard.text.strip() for _, guard in compound.guards if guard.guard is not None]
    asked = " ".join(f"[{guard}]" for guard in guards)
    head = " ".join(part for part in (compound.first.trigger or "", asked) if part)
    if head:
        lines.append(head)
    for effect in compound.effects:
        if isinstance(effect, Assign):
            lines.append(f"/ {effect.text.text.strip()}")
        else:
            to = f" to {effect.target}" if effect.target is not None else ""
            lines.append(f"/ send {effect.signal}{to}")
    return "\n".join(lines)


def compounds_from(structure: MachineStructure, location: str) -> Iterator[Compound]:
    """The compound transitions that can be taken at a location, those of inner states first."""
    count = 0
    for state in structure.active(location):
        for transition in structure.leaving[state]:
            for compound in _Walk(structure, location).along(transition):
                count += 1
                if count > _LIMIT:
                    raise Problem(
                        f"more than {_LIMIT} ways through the choices behind one state",
                        transition.origin,
                        unsupported=True,
                    )
                yield compound


def starts(structure: MachineStructure) -> Iterator[Compound]:
    """How the machine comes into its first location; `segments` are empty, but for choices."""
    initial = structure.initial[None]
    walk = _Walk(structure, initial)
    begin = Compound(initial, initial, (), (), (), initial)
    if structure.is_location(initial):
        yield begin
        return
    yield from walk.inward(begin, structure.leaving[initial][0], None, 0, ())


@dataclass(slots=True)
class _Walk:
    structure: MachineStructure
    location: str

    def along(self, transition: ChartTransition) -> Iterator[Compound]:
        begin = Compound(self.location, self.location, (), (), (), transition.source)
        if transition.internal:
            yield replace(
                begin,
                segments=(transition,),
                effects=transition.effects,
                guards=((0, transition),),
                reached=transition.source,
            )
            return
        for segments in self._routes((transition,)):
            yield from self._taken(begin, segments)

    def _routes(
        self, segments: tuple[ChartTransition, ...]
    ) -> Iterator[tuple[ChartTransition, ...]]:
        """The ways through pseudostates to the first state."""
        target = self.structure.states[segments[-1].target]
        if target.kind not in ("choice", "junction"):
            yield segments
            return
        self._check_chain(target, segments)
        for following in self.structure.leaving[target.ident]:
            yield from self._routes((*segments, following))

    def _check_chain(self, target: ChartState, segments: tuple[ChartTransition, ...]) -> None:
        if not self.structure.leaving[target.ident]:
            raise Problem(f"nothing leaves the {target.kind} `{target.name}`", target.origin)
        if any(segment.source == target.ident for segment in segments):
            raise Problem(
                f"a cycle of choices and junctions through `{target.name}`",
                target.origin,
                unsupported=True,
            )
        if len(segments) > _LONGEST:
            raise Problem(
                f"more than {_LONGEST} choices and junctions in a row",
                target.origin,
                unsupported=True,
            )

    def _taken(self, begin: Compound, segments: tuple[ChartTransition, ...]) -> Iterator[Compound]:
        states, around = self.structure.states, self.structure.around
        target = states[segments[-1].target]
        # The innermost composite state that properly contains all that is touched.
        touched = [segments[0].source, *(segment.target for segment in segments)]
        scope = next(
            (s for s in around[touched[0]] if all(s in around[other] for other in touched)), None
        )
        effects: list[Effect] = []
        if target.kind != "terminate":
            for ident in self.structure.active(self.location):
                if ident == scope:
                    break
                effects.extend(states[ident].exit)
        point = 0
        guards = []
        for segment in segments:
            if states[segment.source].kind == "choice":
                point = len(effects)
            guards.append((point, segment))
            effects.extend(segment.effects)
        done = replace(
            begin,
            segments=segments,
            effects=tuple(effects),
            guards=tuple(guards),
            reached=target.ident,
        )
        yield from self._enter(done, target.ident, scope, point)

    def _enter(
        self, done: Compound, ident: str, scope: str | None, point: int
    ) -> Iterator[Compound]:
        """Goes on from the transition's end in `scope` into the state `ident`."""
        structure = self.structure
        chain = [ident]
        for state in structure.around[ident]:
            if state == scope:
                break
            chain.append(state)
        entered = tuple(structure.states[inner] for inner in reversed(chain))
        if structure.states[ident].kind == "terminate":
            entered = entered[-1:]
        effects = done.effects + tuple(effect for state in entered for effect in state.entry)
        done = replace(done, effects=effects, entered=done.entered + entered)
        if structure.is_location(ident):
            yield replace(done, target=ident)
            return
        initial = structure.initial.get(ident)
        if initial is None:
            raise Problem(
                f"a transition to `{structure.states[ident].name}`, which has no initial state",
                (done.segments[-1] if done.segments else structure.states[ident]).origin,
                "lead it to a state inside, or give that one `initial`",
            )
        if structure.is_location(initial):
            yield replace(done, target=initial)
            return
        yield from self.inward(done, structure.leaving[initial][0], ident, point, ())

    def inward(
        self,
        done: Compound,
        transition: ChartTransition,
        scope: str | None,
        point: int,
        passed: tuple[ChartTransition, ...],
    ) -> Iterator[Compound]:
        """Follows an initial transition, or one behind it, inside the state `scope`."""
        states = self.structure.states
        if states[transition.source].kind == "choice":
            point = len(done.effects)
        if states[transition.source].kind != "initial":
            done = replace(
                done,
                guards=(*done.guards, (point, transition)),
                segments=(*done.segments, transition),
            )
        done = replace(done, effects=done.effects + transition.effects)
        target = states[transition.target]
        passed = (*passed, transition)
        if target.kind in ("choice", "junction"):
            self._check_chain(target, passed)
            for following in self.structure.leaving[target.ident]:
                yield from self.inward(done, following, scope, point, passed)
            return
        if scope is not None and scope not in self.structure.around[target.ident]:
            raise Problem(
                f"the initial transition of `{states[scope].name}` leads out of it",
                transition.origin,
            )
        yield from self._enter(done, target.ident, scope, point)
