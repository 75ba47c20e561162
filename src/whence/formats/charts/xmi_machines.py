"""State machines: regions, vertices and transitions, with their submachines put in their places.

A *frame* is one state machine at one place: the machine of a component, or a submachine in the
state that refers to it.  All vertices of all frames are numbered first, then the transitions are
read, so that a transition may go to an entry point of a submachine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from whence.formats.charts.problems import Problems
from whence.formats.charts.texts import made, words
from whence.formats.charts.xmi_behaviours import Behaviours, Guard, Signals, expression
from whence.formats.charts.xmi_components import regions_of
from whence.formats.charts.xmi_marks import (
    Requirements,
    identifier,
    marks_of,
    unique,
)
from whence.formats.charts.xmi_tree import Element, Model
from whence.model.chart import (
    Assign,
    ChartState,
    ChartTransition,
    ChartVariable,
    Machine,
    StateKind,
    VariableType,
)
from whence.source import Origin, SourceText

__all__ = ["MachineReader"]

#: So many states at most in one machine: submachines of submachines multiply.
_MOST_STATES = 100_000
_VERTICES = frozenset(("State", "FinalState", "Pseudostate", "ConnectionPointReference"))
_KINDS: dict[str, StateKind] = {
    "initial": "initial",
    "choice": "choice",
    "junction": "junction",
    "terminate": "terminate",
    # The semantics of an entry or exit point is that of a junction on the way in or out: the
    # state around it is entered before, or left after it.
    "entryPoint": "junction",
    "exitPoint": "junction",
}
_REFUSED = {
    "deepHistory": "deep history",
    "shallowHistory": "shallow history",
    "fork": "fork",
    "join": "join",
}
_AFTER = re.compile(r"\s*(?:after\b\s*)?\(?\s*(?P<time>[\w.]+)\s*\)?\s*;?\s*")
_UNIT = re.compile(r"\d+(\.\d+)?\s*[A-Za-z]+")


@dataclass(slots=True, eq=False)
class _Frame:
    machine: Element
    #: The state that it is the content of, None for the machine itself.
    inside: str | None
    around: tuple[Element, ...]
    #: Where its vertices went.
    idents: dict[Element, str] = field(default_factory=dict)
    #: Connection points of submachines that stand here twice.
    ambiguous: set[Element] = field(default_factory=set)
    regions: list[Element] = field(default_factory=list)


@dataclass(slots=True)
class MachineReader:
    """Reads one region of one machine of one component."""

    model: Model
    problems: Problems
    signals: Signals
    requirements: Requirements
    resolve: Callable[[str, str, Origin], tuple[str, ...]]
    timers: frozenset[str]
    #: The names of attributes of the signals, whose values no message carries here.
    data: dict[str, frozenset[str]]

    states: list[ChartState] = field(default_factory=list)
    transitions: list[ChartTransition] = field(default_factory=list)
    clocks: list[ChartVariable] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    arrows: set[str] = field(default_factory=set)
    #: The kind and the place of every state in `states`.
    index: dict[str, int] = field(default_factory=dict)
    elements: dict[str, Element] = field(default_factory=dict)
    behaviours: Behaviours = field(init=False)

    def __post_init__(self) -> None:
        self.behaviours = Behaviours(
            self.model, self.problems, self.signals, self.resolve, self.timers
        )

    def read(
        self,
        machine: Element,
        region: Element | None,
        name: str,
        variables: tuple[ChartVariable, ...],
        environment: bool,
        owner: Element | None,
    ) -> Machine:
        for attribute in ("extendedStateMachine", "redefinedClassifier", "redefinedBehavior"):
            if machine.references(attribute):
                self.problems.refuse(f"{machine.shown} extends another one", machine.place)
        frame = _Frame(machine, None, (machine,), regions=[region] if region is not None else [])
        self.frames.append(frame)
        if region is not None:
            self.vertices(region, None, frame)
        # Connection points of a machine that is no submachine lead nowhere.
        for current in self.frames:
            for inside in current.regions:
                self.arrows_of(inside, current)
        self.check_initials(machine, region)
        return Machine(
            name=name,
            states=tuple(self.states),
            transitions=tuple(self.transitions),
            variables=(*variables, *self.clocks),
            environment=environment,
            requirements=self.requirements.at(machine, owner),
            origin=machine.place,
        )

    # ----------------------------------------------------------------------------- vertices

    def vertices(self, region: Element, parent: str | None, frame: _Frame) -> None:
        for element in region.children:
            if element.role == "subvertex" or element.kind in _VERTICES:
                if self.model.is_reference(element.node):
                    continue
                self.vertex(element, parent, frame)
            elif element.role not in _SKIPPED and element.kind != "Transition":
                self.problems.refuse(
                    f"<{element.role}> in a region", element.place, element=region.shown
                )

    def place(
        self, element: Element, parent: str | None, frame: _Frame, kind: StateKind, name: str
    ) -> str:
        """The identifier of a new state."""
        base = identifier(name) or kind
        ident = unique(f"{parent}.{base}" if parent is not None else base, self.taken)
        frame.idents[element] = ident
        self.elements[ident] = element
        self.index[ident] = len(self.states)
        return ident

    def vertex(self, element: Element, parent: str | None, frame: _Frame) -> None:
        if len(self.states) >= _MOST_STATES:
            if len(self.states) == _MOST_STATES:
                self.problems.error(
                    f"there are more than {_MOST_STATES} states in one machine, our limit",
                    element.place,
                    "submachines in submachines multiply",
                )
            return
        if element.kind == "State":
            self.state(element, parent, frame)
        elif element.kind in ("FinalState", "Pseudostate"):
            self.pseudostate(element, parent, frame)
        else:
            self.problems.refuse(f"a {element.kind or element.role} as a state", element.place)

    def pseudostate(self, element: Element, parent: str | None, frame: _Frame) -> None:
        marks = marks_of(element, self.problems)
        kind: StateKind
        if element.kind == "FinalState":
            kind = "final"
        else:
            which = element.text("kind").strip() or "initial"
            refused = _REFUSED.get(which)
            if refused is not None:
                self.problems.refuse(
                    f"the {refused} `{element.name}`" if element.name else f"a {refused}",
                    element.place,
                    element=element.shown,
                )
            elif which not in _KINDS:
                self.problems.error(f"unknown kind of pseudostate: {which}", element.place)
            kind = _KINDS.get(which, "history")
        ident = self.place(element, parent, frame, kind, element.name)
        self.states.append(
            ChartState(
                ident=ident,
                name=element.name,
                kind=kind,
                parent=parent,
                failure=marks.failure,
                tags=tuple(marks.tags),
                requirements=self.requirements.at(element),
                origin=element.place,
            )
        )

    def state(self, element: Element, parent: str | None, frame: _Frame) -> None:
        marks = marks_of(element, self.problems)
        regions = [one for one in element.all("region") if one.all("subvertex")]
        activity = element.child("doActivity")
        inner: Element | None = None
        if element.text("submachine") or element.all("submachine"):
            inner = element.target(
                "submachine", self.problems, f"the submachine of {element.shown}"
            )
            if inner is not None and inner.kind != "StateMachine":
                self.problems.error(
                    f"the submachine of {element.shown} is a {inner.kind}", element.place
                )
                inner = None
        if activity is not None and activity.kind == "StateMachine":
            if inner is not None or regions:
                self.problems.refuse(
                    f"{element.shown} has a content and does a state machine besides",
                    activity.place,
                )
            else:
                inner = activity
                self.problems.note(
                    f"{activity.shown} is read as the content of the state that does it",
                    activity.place,
                )
            activity = None
        if inner is not None and regions:
            self.problems.error(f"{element.shown} has both regions and a submachine", element.place)
            inner = None
        for trigger in element.all("deferrableTrigger"):
            self.problems.refuse("deferred messages", trigger.place, element=element.shown)
        if element.all("stateInvariant"):
            self.problems.note(f"the invariant of {element.shown} is not read", element.place)
        contents = regions_of(inner) if inner is not None else regions
        if len(contents) > 1:
            self.problems.refuse(
                f"orthogonal regions in {element.shown}",
                contents[1].place,
                "make machines of their own of them, which send each other messages",
            )
        kind: StateKind = "composite" if contents else "simple"
        ident = self.place(element, parent, frame, kind, element.name)
        self.states.append(
            ChartState(
                ident=ident,
                name=element.name,
                kind=kind,
                parent=parent,
                entry=self.behaviours.effects(element.child("entry")),
                exit=self.behaviours.effects(element.child("exit")),
                do=self.behaviours.effects(activity),
                failure=marks.failure,
                tags=tuple(marks.tags),
                requirements=self.requirements.at(element, inner),
                origin=element.place,
            )
        )
        for point in element.all("connectionPoint"):
            self.vertex(point, ident, frame)
        for region in regions:
            self.vertices(region, ident, frame)
            if region not in frame.regions:
                frame.regions.append(region)
        if inner is not None:
            self.submachine(element, ident, inner, contents, frame)

    def submachine(
        self, state: Element, ident: str, inner: Element, contents: list[Element], frame: _Frame
    ) -> None:
        if inner in frame.around:
            self.problems.error(
                f"{inner.shown} contains itself as a submachine",
                state.place,
                "a submachine is put into the place of the state, so there would be no end",
                state.shown,
            )
            return
        if not contents:
            self.problems.error(f"{inner.shown} has no states", inner.place, "", state.shown)
        new = _Frame(inner, ident, (*frame.around, inner), regions=list(contents))
        self.frames.append(new)
        for point in inner.all("connectionPoint"):
            self.vertex(point, ident, new)
            # Some tools let transitions end at the point itself.
            if point in frame.idents:
                frame.ambiguous.add(point)
            elif point in new.idents:
                frame.idents[point] = new.idents[point]
        for region in contents:
            self.vertices(region, ident, new)
        for reference in state.all("connection"):
            points = [
                point
                for which in ("entry", "exit")
                for point in reference.targets(
                    which, self.problems, f"the {which} point of {reference.shown}"
                )
            ]
            if len(points) != 1:
                self.problems.refuse(
                    f"{reference.shown} stands for {len(points)} entry or exit points",
                    reference.place,
                )
            elif points[0] in new.idents:
                frame.idents[reference] = new.idents[points[0]]
            else:
                self.problems.error(
                    f"{points[0].shown} is not of the submachine `{inner.name}`", reference.place
                )

    # -------------------------------------------------------------------------- transitions

    def arrows_of(self, region: Element, frame: _Frame) -> None:
        for element in region.children:
            if element.kind == "Transition" and not self.model.is_reference(element.node):
                self.transition(element, frame)

    def end(self, transition: Element, which: str, frame: _Frame) -> str | None:
        targets = transition.targets(which, self.problems, f"the {which} of {transition.shown}")
        if not targets:
            if not transition.references(which):
                self.problems.error(f"a transition without a {which}", transition.place)
            return None
        vertex = targets[0]
        if vertex in frame.ambiguous:
            self.problems.error(
                f"the {which} of {transition.shown} is in a submachine that stands here twice",
                transition.place,
                "use connection point references",
            )
            return None
        ident = frame.idents.get(vertex)
        if ident is None and len(self.states) < _MOST_STATES:
            if vertex.text("kind") in ("entryPoint", "exitPoint"):
                message = (
                    f"the {which} of {transition.shown} is {vertex.shown}, "
                    "which nothing outside is connected to"
                )
            else:
                message = f"the {which} of {transition.shown} is no state here: {vertex.shown}"
            self.problems.error(message, transition.place)
        return ident

    def transition(self, element: Element, frame: _Frame) -> None:
        source = self.end(element, "source", frame)
        target = self.end(element, "target", frame)
        guard = self.behaviours.guard(element)
        effects = self.behaviours.effects(element.child("effect"))
        if source is None or target is None:
            return
        kind = element.text("kind").strip() or "external"
        if kind not in ("external", "internal", "local"):
            self.problems.error(f"unknown kind of transition: {kind}", element.place)
        if kind == "internal" and source != target:
            self.problems.error(f"an internal {element.shown} goes to another state", element.place)
        if kind == "local":
            self.check_local(element, source, target)
        marks = marks_of(element, self.problems)
        known = self.states[self.index[source]]
        triggers = [one for one in element.all("trigger") if one.kind == "Trigger"]
        if triggers and known.kind not in ("simple", "composite"):
            self.problems.error(
                f"{element.shown} has a trigger, but it starts at a pseudostate",
                triggers[0].place,
                "only states wait for something",
            )
            triggers = []
        if known.kind in ("final", "terminate"):
            self.problems.error(
                f"{element.shown} starts at a {known.kind} state, where all ends", element.place
            )
        if self.states[self.index[target]].kind == "initial":
            self.problems.error(f"{element.shown} goes to an initial state", element.place)
        if known.kind == "initial" and (guard.text is not None or guard.otherwise):
            self.problems.error(
                f"{element.shown} has a guard, but it starts at an initial pseudostate",
                element.place,
                "let it lead to a choice",
            )
        name = identifier(element.name) or f"{source}->{target}"
        base = ChartTransition(
            ident=name,
            source=source,
            target=target,
            effects=effects,
            event=marks.event,
            rate=marks.rate,
            failure=marks.failure,
            detected=marks.detected,
            internal=kind == "internal",
            requirements=self.requirements.at(element),
            origin=element.place,
        )
        causes: list[Element | None] = [*triggers] or [None]
        for trigger in causes:
            made_of = self.triggered(base, element, trigger, guard)
            if made_of is not None:
                ident = unique(name, self.arrows, "#")
                self.transitions.append(replace(made_of, ident=ident))

    def check_local(self, element: Element, source: str, target: str) -> None:
        """A local transition does not leave its composite source. Without entry and exit
        behaviours nobody can tell, and from other states it is as an external one."""
        state = self.states[self.index[source]]
        if source == target and state.kind == "simple":
            self.problems.error(
                f"a local {element.shown} of a simple state",
                element.place,
                "make it internal or external",
            )
        elif f"{target}.".startswith(f"{source}.") and (state.entry or state.exit):
            self.problems.refuse(
                f"the local {element.shown} of a state with entry or exit behaviour",
                element.place,
                "start it at the states inside",
            )

    def triggered(
        self, base: ChartTransition, element: Element, trigger: Element | None, guard: Guard
    ) -> ChartTransition | None:
        """The transition with one of its triggers."""
        plain = replace(base, guard=guard.text, otherwise=guard.otherwise)
        if trigger is None:
            return plain
        event = trigger.target("event", self.problems, f"the event of {element.shown}")
        if event is None:
            if not trigger.references("event"):
                self.problems.error(
                    f"the trigger of {element.shown} has no event",
                    trigger.place,
                    "choose a signal event for it",
                )
            return None
        if trigger.references("port"):
            self.problems.note(
                f"{element.shown} takes the message through whichever port it comes",
                trigger.place,
            )
        match event.kind:
            case "SignalEvent" | "CallEvent":
                return self.received(plain, element, event, guard)
            case "TimeEvent":
                return self.timed(plain, element, event, guard)
            case "ChangeEvent":
                return self.changed(plain, element, event, guard)
            case "Signal":  # a tool's shortcut
                return self.received(plain, element, event, guard)
            case other:
                self.problems.refuse(f"{other} as the trigger of {element.shown}", trigger.place)
                return None

    def received(
        self, plain: ChartTransition, element: Element, event: Element, guard: Guard
    ) -> ChartTransition | None:
        which = "operation" if event.kind == "CallEvent" else "signal"
        what = event if event.kind == "Signal" else None
        if what is None:
            what = event.target(which, self.problems, f"the {which} of {event.shown}")
        if what is None:
            if not event.references(which):
                self.problems.error(f"{event.shown} has no {which}", event.place)
            return None
        if what.ident not in self.signals.names:
            self.problems.error(f"{what.shown} is no {which}", event.place)
            return None
        if event.kind == "CallEvent":
            self.problems.note(
                f"calls of {what.shown} are read as messages: the caller does not wait",
                event.place,
            )
        texts: list[SourceText] = [one.text for one in plain.effects if isinstance(one, Assign)]
        if guard.text is not None:
            texts.append(guard.text)
        used = self.data.get(what.ident, frozenset()).intersection(
            word for text in texts for word in words(text.text)
        )
        if used:
            self.problems.refuse(
                f"messages with data: {element.shown} uses `{min(used)}` of {what.shown}",
                element.place,
                "keep it in a variable that both machines know",
            )
        return replace(plain, trigger=self.signals.names[what.ident])

    def changed(
        self, plain: ChartTransition, element: Element, event: Element, guard: Guard
    ) -> ChartTransition | None:
        specification = event.child("changeExpression")
        what = f"the change expression of {element.shown}"
        text = expression(specification, what, self.problems) if specification is not None else None
        if text is None:
            if specification is None or not self.problems.refused:
                self.problems.error(f"{event.shown} has no change expression", event.place)
            return None
        condition = self.behaviours.condition(text).text
        if condition is None:
            return plain
        self.problems.note(
            f"{event.shown} is read as a guard: the transition can be taken whenever "
            f"`{condition.text}` is true",
            event.place,
        )
        if guard.otherwise:
            self.problems.refuse(f"{element.shown} has both `else` and an event", element.place)
            return None
        if guard.text is None:
            return replace(plain, guard=condition)
        joined = made(f"({condition.text}) && (", guard.text, ")", guard.text.element)
        pieces = ((0, *condition.position(0)), *joined.pieces[1:])
        return replace(plain, guard=replace(joined, pieces=pieces))

    def timed(
        self, plain: ChartTransition, element: Element, event: Element, guard: Guard
    ) -> ChartTransition | None:
        """`after d`: a timer of its own that entering the source resets, and a guard that waits
        until it has run for d."""
        what = f"the time of {event.shown}"
        if not event.flag("isRelative"):
            self.problems.refuse(f"{event.shown} at an absolute time", event.place)
            return None
        if guard.text is not None or guard.otherwise:
            # The event happens once, and is lost if the guard is false then.
            self.problems.refuse(
                f"{element.shown} has both a time event and a guard",
                element.place,
                "let it lead to a choice",
            )
            return None
        source = self.states[self.index[plain.source]]
        if plain.internal or element.text("kind").strip() == "local":
            self.problems.refuse(
                f"{element.shown} waits for a time, but does not leave its state", element.place
            )
            return None
        when = event.child("when")
        inner = when.child("expr") if when is not None else None
        if inner is None:
            inner = when
        text = expression(inner, what, self.problems) if inner is not None else None
        if text is None and inner is not None and inner.kind == "LiteralInteger":
            text = SourceText("0", inner.place.file, ((0, inner.place.line, inner.place.column),))
        if text is None:
            self.problems.error(f"{event.shown} says no time", event.place)
            return None
        match = _AFTER.fullmatch(text.text)
        if match is None or _UNIT.fullmatch(match["time"]):
            self.problems.refuse(
                f"the time `{text.text}` of {event.shown}",
                text.origin(0, len(text.text)),
                "write a number or a name, without a unit",
            )
            return None
        timer = f"after_{source.ident.replace('.', '_')}"
        start = match.start("time")
        time = replace(text, text=match["time"], pieces=((0, *text.position(start)),))
        call = made(f"{timer}.elapsed(", time, ")", what)
        if all(clock.name != timer for clock in self.clocks):
            self.clocks.append(
                ChartVariable(name=timer, type=VariableType(kind="timer"), origin=event.place)
            )
            place = source.origin
            reset = SourceText(
                f"{timer}.reset()",
                place.file,
                ((0, place.line, place.column),),
                f"the timer of {event.shown}",
            )
            self.states[self.index[source.ident]] = replace(
                source, entry=(Assign(reset), *source.entry)
            )
        return replace(plain, guard=call)

    # ----------------------------------------------------------------------------- checking

    def check_initials(self, machine: Element, region: Element | None) -> None:
        """Where the machine starts, and every composite state that is entered as a whole."""
        starts: dict[str | None, list[ChartState]] = {}
        for state in self.states:
            if state.kind == "initial":
                starts.setdefault(state.parent, []).append(state)
        leaving: dict[str, list[ChartTransition]] = {}
        for transition in self.transitions:
            leaving.setdefault(transition.source, []).append(transition)
        refused = bool(self.problems.refused or self.problems.errors)
        if None not in starts:
            place = region.place if region is not None else machine.place
            self.problems.error(
                f"{machine.shown} has no initial state",
                place,
                "draw an initial pseudostate with a transition to the first state",
            )
        entered = {transition.target for transition in self.transitions if not transition.internal}
        for state in self.states:
            if state.kind == "composite" and state.ident in entered and state.ident not in starts:
                self.problems.error(
                    f"state `{state.name}` is entered as a whole, but has no initial state inside",
                    state.origin,
                )
        for found in starts.values():
            for extra in () if refused else found[1:]:
                self.problems.error("a second initial state in one region", extra.origin)
            start = found[0]
            count = len(leaving.get(start.ident, ()))
            if count != 1 and not (refused and count == 0):
                self.problems.error(
                    f"{self.elements[start.ident].shown} has {count} outgoing transitions, not 1",
                    start.origin,
                )


#: What may stand in a region and means nothing for its behaviour.
_SKIPPED = frozenset(
    (
        "eAnnotations",
        "elementImport",
        "name",
        "nameExpression",
        "ownedComment",
        "ownedRule",
        "packageImport",
        "transition",
    )
)
