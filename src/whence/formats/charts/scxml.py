"""Reads SCXML (W3C, State Chart XML, 2015) as far as charts mean the same.

One document is one machine.  What `<raise>` and `<send>` say goes into its own queue; an event
that no transition takes is dropped, as :attr:`Machine.unexpected` can say.  Transitions of one
state are ordered as in the document.  SCXML takes transitions without an event before any with one,
and raised events before sent ones; charts do neither, so documents in which that could matter are
refused, as is everything else that has no meaning in charts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from whence.formats.charts.xmi_marks import identifier, unique
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_texts import made
from whence.formats.markup import XmlFile, XmlNode, attribute_text, codec_of_text, decode, parse
from whence.model.chart import (
    Assign,
    Chart,
    ChartState,
    ChartTransition,
    ChartVariable,
    Effect,
    Machine,
    Send,
    Signal,
    StateKind,
    VariableType,
)
from whence.source import Origin, SourceText

__all__ = ["looks_like_scxml", "read_scxml"]

_NAMESPACE = "http://www.w3.org/2005/07/scxml"
_HINT = f'SCXML is an <scxml xmlns="{_NAMESPACE}"> element'
_EVENT = re.compile(r"[^\s.*]+(\.[^\s.*]+)*")
_PLATFORM = re.compile(r"(done|error)(\.|$)")
_INTEGER = re.compile(r"[+-]?\d{1,9}")
#: Queues of charts hold no more.
_CAPACITY = 64
_STATES = ("state", "final")
_NOT_HERE = {
    "parallel": "parallel states: write several documents, or machines in another format",
    "history": "history states",
    "invoke": "invoked machines",
    "script": "scripts",
    "if": "the statement <if>: use transitions with conditions",
    "foreach": "the statement <foreach>",
    "cancel": "cancelled messages",
    "donedata": "data of final states",
}


def looks_like_scxml(data: bytes) -> bool:
    return _NAMESPACE.encode() in data[:16384] and b"<scxml" in data[:16384]


def read_scxml(text: bytes | str, file: str) -> Chart:
    """The chart with the one machine that a document is."""
    if isinstance(text, bytes):
        raw, _ = decode(text, file)
    else:
        codec_of_text(text[:1000], file)
        raw = text
    xml = XmlFile(raw, file)
    root = parse(xml, "scxml", None, lambda _node, _around: True, _HINT)
    if root.attributes.get("xmlns") != _NAMESPACE:
        raise xml.error("this is not SCXML", root.start, root.open_end, _HINT)
    return _Reader(xml, root).chart()


@dataclass(slots=True)
class _Reader:
    xml: XmlFile
    root: XmlNode
    problems: Problems = field(default_factory=Problems)
    #: By the `id` of the document.
    idents: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, XmlNode] = field(default_factory=dict)
    #: The states by where they start in the file.
    places: dict[int, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    arrows: set[str] = field(default_factory=set)
    states: list[ChartState] = field(default_factory=list)
    transitions: list[ChartTransition] = field(default_factory=list)
    variables: list[ChartVariable] = field(default_factory=list)
    name: str = ""

    def chart(self) -> Chart:
        self.name = identifier(self.root.attribute("name")) or "scxml"
        events = self.events()
        self.vertices(self.root, None)
        self.checks()
        for ident, node in self.nodes.items():
            self.leaving(ident, node, events)
        self.starts(self.root, None)
        for ident, node in self.nodes.items():
            if self.inner(node):
                self.starts(node, ident)
        sent = sum(1 for node in _inside(self.root) if node.tag in ("raise", "send"))
        capacity = min(max(sent, 2), _CAPACITY)
        if sent:
            self.problems.note(
                f"the queue of the machine holds {capacity} messages", self.place(self.root)
            )
        machine = Machine(
            name=self.name,
            states=tuple(self.states),
            transitions=tuple(self.transitions),
            variables=tuple(self.variables),
            capacity=capacity,
            unexpected="discard",
            origin=self.place(self.root),
        )
        return Chart(
            name=self.name,
            machines=(machine,),
            signals=tuple(Signal(name=name, origin=origin) for name, origin in events.items()),
            notes=self.problems.finish(),
            origin=self.place(self.root),
        )

    def place(self, node: XmlNode) -> Origin:
        return self.xml.origin(node.start, node.open_end)

    def text(self, node: XmlNode, name: str, what: str) -> SourceText | None:
        return attribute_text(self.xml, node, name, what)

    @staticmethod
    def inner(node: XmlNode) -> list[XmlNode]:
        return [child for child in node.children if child.tag in _STATES]

    # ------------------------------------------------------------------------------- events

    def events(self) -> dict[str, Origin]:
        """All events that the document speaks of. `foo.*` and `foo` are the same descriptor, of
        `foo` and of all that begins with `foo.`."""
        found: dict[str, Origin] = {}
        for node in _inside(self.root):
            names = [node.attribute("event")] if node.tag in ("raise", "send") else []
            if node.tag == "transition":
                names = [_bare(name) for name in node.attribute("event").split()]
            for name in names:
                if name and _EVENT.fullmatch(name):
                    found.setdefault(name, self.place(node))
        return found

    def matching(self, node: XmlNode, events: dict[str, Origin]) -> list[str]:
        result: dict[str, None] = {}
        for descriptor in node.attribute("event").split():
            bare = _bare(descriptor)
            if bare and (not _EVENT.fullmatch(bare) or _PLATFORM.match(bare)):
                self.problems.refuse(f"the event `{descriptor}`", self.place(node))
                continue
            result.update(
                dict.fromkeys(
                    name
                    for name in events
                    if not bare or name == bare or name.startswith(f"{bare}.")
                )
            )
        return list(result)

    # ------------------------------------------------------------------------------- states

    def vertices(self, around: XmlNode, parent: str | None) -> None:
        for node in around.children:
            if node.tag in _STATES:
                self.state(node, parent)
            elif node.tag == "datamodel":
                self.data(node)
            elif node.tag in _NOT_HERE:
                self.problems.refuse(_NOT_HERE[node.tag], self.place(node))
            elif node.tag not in ("transition", "initial", "onentry", "onexit"):
                self.problems.refuse(f"<{node.tag}> in <{around.tag}>", self.place(node))

    def state(self, node: XmlNode, parent: str | None) -> None:
        name = node.attribute("id")
        base = identifier(name) or node.tag
        ident = unique(f"{parent}.{base}" if parent is not None else base, self.taken)
        if name in self.idents:
            self.problems.error(f"a second state `{name}`", self.place(node))
        if name:
            self.idents[name] = ident
        self.nodes[ident] = node
        self.places[node.start] = ident
        kind: StateKind = "simple"
        if node.tag == "final":
            kind = "final"
        elif self.inner(node):
            kind = "composite"
        self.states.append(
            ChartState(
                ident=ident,
                name=name,
                kind=kind,
                parent=parent,
                entry=self.contents(node, "onentry"),
                exit=self.contents(node, "onexit"),
                origin=self.place(node),
            )
        )
        self.vertices(node, ident)

    def data(self, datamodel: XmlNode) -> None:
        for node in datamodel.children:
            what = f"the value of {node.attribute('id')}"
            value = self.text(node, "expr", what)
            plain = value.text.strip() if value is not None else ""
            if plain in ("true", "false"):
                kind = VariableType(kind="bool", lo=0, hi=1)
            elif _INTEGER.fullmatch(plain):
                kind = VariableType(kind="int", lo=-(2**31), hi=2**31 - 1)
            else:
                self.problems.refuse(
                    f"data that do not start as a number or a truth value: "
                    f"`{node.attribute('id')}`",
                    self.place(node),
                    'give an integer, true or false: <data id="x" expr="0"/>',
                )
                continue
            name = node.attribute("id")
            if not name or name in {one.name for one in self.variables}:
                self.problems.error(
                    f"a second variable `{name}`" if name else "data without an id",
                    self.place(node),
                )
                continue
            self.variables.append(
                ChartVariable(name=name, type=kind, initial=value, origin=self.place(node))
            )

    def starts(self, node: XmlNode, parent: str | None) -> None:
        """The initial transition of the document or of a state."""
        shown = f"state `{node.attribute('id')}`" if parent is not None else "the document"
        element = node.child("initial")
        target = self.text(node, "initial", f"the initial state of {shown}")
        effects: tuple[Effect, ...] = ()
        place = self.place(node)
        if element is not None:
            transition = element.child("transition")
            if transition is None:
                self.problems.error("<initial> without a transition", self.place(element))
                return
            target = self.text(transition, "target", f"the initial state of {shown}")
            effects = self.effects(transition)
            place = self.place(transition)
        inner = self.inner(node)
        if target is None:
            if not inner:
                self.problems.error(f"{shown} has no states", place)
                return
            first = self.places[inner[0].start]
        else:
            found = self.target(target)
            if found is None:
                return
            first = found
        if parent is not None and not first.startswith(f"{parent}."):
            self.problems.error(f"the initial state of {shown} is not inside it", place)
            return
        base = "initial" if parent is None else f"{parent}.initial"
        ident = unique(base, self.taken)
        self.states.append(
            ChartState(ident=ident, name="", kind="initial", parent=parent, origin=place)
        )
        self.transitions.append(
            ChartTransition(
                ident=unique(f"{ident}->{first}", self.arrows, "#"),
                source=ident,
                target=first,
                effects=effects,
                origin=place,
            )
        )

    def target(self, text: SourceText) -> str | None:
        names = text.text.split()
        if len(names) != 1:
            self.problems.refuse(
                f"a transition to {len(names)} states", text.origin(0, len(text.text))
            )
            return None
        ident = self.idents.get(names[0])
        if ident is None:
            self.problems.error(f"there is no state `{names[0]}`", text.origin(0, len(text.text)))
        return ident

    # -------------------------------------------------------------------------- transitions

    def leaving(self, ident: str, node: XmlNode, events: dict[str, Origin]) -> None:
        for order, one in enumerate(child for child in node.children if child.tag == "transition"):
            text = self.text(one, "target", f"the target of a transition of {ident}")
            target = ident if text is None else self.target(text)
            effects = self.effects(one)
            guard = self.text(one, "cond", f"the condition of a transition of {ident}")
            triggers: list[str | None] = [None]
            if "event" in one.attributes:
                triggers = [*self.matching(one, events)]
            if target is None:
                continue
            inside = target.startswith(f"{ident}.")
            if one.attribute("type") == "internal" and inside and self.has_effects(node):
                self.problems.refuse(
                    f"an internal transition of state `{node.attribute('id')}`, "
                    "which has <onentry> or <onexit>",
                    self.place(one),
                )
            for trigger in triggers:
                self.transitions.append(
                    ChartTransition(
                        ident=unique(f"{ident}->{target}", self.arrows, "#"),
                        source=ident,
                        target=target,
                        trigger=trigger,
                        guard=guard,
                        effects=effects,
                        internal=text is None,
                        priority=order,
                        origin=self.place(one),
                    )
                )

    @staticmethod
    def has_effects(node: XmlNode) -> bool:
        return node.child("onentry") is not None or node.child("onexit") is not None

    def contents(self, node: XmlNode, tag: str) -> tuple[Effect, ...]:
        return tuple(
            effect for child in node.children if child.tag == tag for effect in self.effects(child)
        )

    def effects(self, block: XmlNode) -> tuple[Effect, ...]:
        found: list[Effect] = []
        for node in block.children:
            match node.tag:
                case "log":
                    pass
                case "raise" | "send":
                    found += self.sent(node)
                case "assign":
                    location = self.text(node, "location", "an assignment")
                    value = self.text(node, "expr", "an assignment")
                    if location is None or value is None:
                        self.problems.refuse("<assign> without location and expr", self.place(node))
                        continue
                    if not re.fullmatch(r"\s*[^\W\d]\w*\s*", location.text):
                        self.problems.refuse(f"assignments to `{location.text}`", self.place(node))
                        continue
                    name = location.text.strip()
                    text = made(f"{name} = ", value, "", "an assignment")
                    pieces = ((0, *location.position(0)), *text.pieces[1:])
                    found.append(Assign(SourceText(text.text, text.file, pieces, text.element)))
                case tag:
                    self.problems.refuse(
                        _NOT_HERE.get(tag, f"<{tag}> as a statement"), self.place(node)
                    )
        return tuple(found)

    def sent(self, node: XmlNode) -> list[Effect]:
        place = self.place(node)
        event = node.attribute("event")
        if not _EVENT.fullmatch(event):
            self.problems.refuse(f"<{node.tag}> without the name of an event", place)
            return []
        more = sorted(set(node.attributes) - {"event", "id"})
        if more:
            self.problems.refuse(f"<{node.tag}> with `{more[0]}`", place)
        if node.children:
            self.problems.refuse(f"messages with data: <{node.children[0].tag}>", place)
        return [Send(event, self.name, place)]

    # ------------------------------------------------------------------------------- checks

    def checks(self) -> None:
        """Where SCXML's order of steps could make a difference."""
        nodes = list(_inside(self.root))
        raised = next((node for node in nodes if node.tag == "raise"), None)
        sent = next((node for node in nodes if node.tag == "send"), None)
        if raised is not None and sent is not None:
            self.problems.refuse(
                "both <raise> and <send>: raised events overtake sent ones",
                self.place(sent if sent.start > raised.start else raised),
                "use only one of them",
            )
        parents = {state.ident: state.parent for state in self.states}
        nested_final = any(
            state.kind == "final" and state.parent is not None for state in self.states
        )
        for node in nodes:
            if nested_final and "*" in node.attribute("event").split():
                self.problems.refuse(
                    "the event `*` where `done.state` events happen", self.place(node)
                )
        for ident, node in self.nodes.items():
            leaving: list[XmlNode] = []
            at: str | None = ident
            while at is not None:
                leaving += [one for one in self.nodes[at].children if one.tag == "transition"]
                at = parents[at]
            free = [one for one in leaving if "event" not in one.attributes]
            if 0 < len(free) < len(leaving):
                self.problems.refuse(
                    f"state `{node.attribute('id')}` has, or stands in one that has, transitions "
                    "with and without an event: those without go first",
                    self.place(free[0]),
                )
            if node.tag == "final" and node.child("transition") is not None:
                self.problems.error("a transition of a final state", self.place(node))


def _bare(descriptor: str) -> str:
    """Without what all descriptors may end in; empty for `*`."""
    return "" if descriptor == "*" else descriptor.removesuffix(".*").removesuffix(".")


def _inside(node: XmlNode) -> Iterator[XmlNode]:
    ahead = node.children[::-1]
    while ahead:
        one = ahead.pop()
        yield one
        ahead += one.children[::-1]
