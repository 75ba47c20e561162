"""State machines: regions, vertices and transitions, with their submachines put in their places.

A *frame* is one state machine at one place: the machine of a component, or a submachine in the
state that refers to it.  All vertices of all frames are numbered first, then the transitions are
read, so that a transition may go to an entry point of a submachine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from whence.formats.charts.xmi_behaviours import Behaviours
from whence.formats.charts.xmi_components import regions_of
from whence.formats.charts.xmi_events import Cause, Events, reset_of
from whence.formats.charts.xmi_marks import (
    Requirements,
    identifier,
    marks_of,
    unique,
)
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_signals import Signals
from whence.formats.charts.xmi_tree import Element, Model
from whence.model.chart import (
    Assign,
    ChartState,
    ChartTransition,
    ChartVariable,
    Effect,
    Machine,
    StateKind,
)
from whence.source import Diagnostic, InputError, Origin

__all__ = ["MachineReader"]

#: So many states at most in one machine: submachines of submachines multiply.
_MOST_STATES = 20_000
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
    events: Events = field(init=False)

    def __post_init__(self) -> None:
        self.behaviours = Behaviours(
            self.model, self.problems, self.signals, self.resolve, self.timers
        )
        self.events = Events(self.problems, self.signals, self.behaviours)

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
            raise InputError(
                Diagnostic(
                    f"there are more than {_MOST_STATES} states in one machine, our limit",
                    element.place,
                    "submachines in submachines multiply",
                )
            )
        if element.kind == "State":
            self.state(element, parent, frame)
        elif element.kind in ("FinalState", "Pseudostate"):
            self.pseudostate(element, parent, frame)
        else:
            self.problems.refuse(f"a {element.kind or element.role} as a state", element.place)

    def effects(self, element: Element, role: str) -> tuple[Effect, ...]:
        return self.behaviours.effects(
            element.target(role, self.problems, f"the {role} of {element.shown}")
        )

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
        activity = element.target(
            "doActivity", self.problems, f"the do behaviour of {element.shown}"
        )
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
                entry=self.effects(element, "entry"),
                exit=self.effects(element, "exit"),
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
        if ident is None:
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
        effects = self.effects(element, "effect")
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
        triggers = element.targets("trigger", self.problems, f"the trigger of {element.shown}")
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
            if trigger is None:
                cause: Cause | None = Cause(None, guard.text, guard.otherwise)
            else:
                cause = self.events.cause(element, trigger, guard, effects, known, kind)
            if cause is not None:
                ident = unique(name, self.arrows, "#")
                self.transitions.append(replace(self.caused(base, cause), ident=ident))

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

    def caused(self, base: ChartTransition, cause: Cause) -> ChartTransition:
        """The transition with its trigger and guard; a timer is reset where its state begins."""
        if cause.timer is not None and all(one.name != cause.timer.name for one in self.clocks):
            self.clocks.append(cause.timer)
            place = self.index[base.source]
            source = self.states[place]
            reset = Assign(reset_of(cause.timer, source.origin))
            self.states[place] = replace(source, entry=(reset, *source.entry))
        return replace(base, trigger=cause.trigger, guard=cause.guard, otherwise=cause.otherwise)

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
