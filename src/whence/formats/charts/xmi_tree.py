"""XMI as a tree of elements with identities and references, whatever tool wrote it.

The dialects differ in how they write one and the same thing, and only this module knows it: a
property of an element may be an attribute or a child element, a reference may be an attribute, a
child with `xmi:idref` or one with `href`, a type may be left out where only one is possible
(Eclipse UML2), and stereotypes are applied by elements beside the model whose `base_…` names what
they are applied to.  What tools add for themselves (`xmi:Extension`) is skipped, except for the
names that MagicDraw gives to what stands in other files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from whence.formats.charts.xmi_problems import Problems
from whence.formats.markup import (
    XmlFile,
    XmlNode,
    attribute_text,
    codec_of_text,
    decode,
    element_text,
    parse,
)
from whence.source import InputError, Origin, SourceText, UnsupportedError

__all__ = ["Application", "Element", "Model", "Reference", "read_model"]

_XMI = re.compile(r"https?://(www|schema)\.omg\.org/spec/XMI(/|$)")
_UML = re.compile(r"https?://(www\.eclipse\.org/uml2/|(www|schema)\.omg\.org/spec/UML(/|$))")
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_HINT = "UML in XMI is an <xmi:XMI> or <uml:Model> element, as Papyrus and Cameo export it"

#: What an element is if it does not say so, by the name of the property that it stands in.
_DEFAULTS = {
    "appliedProfile": "Profile",
    "connection": "ConnectionPointReference",
    "connectionPoint": "Pseudostate",
    "end": "ConnectorEnd",
    "generalization": "Generalization",
    "guard": "Constraint",
    "ownedAttribute": "Property",
    "ownedComment": "Comment",
    "ownedConnector": "Connector",
    "ownedEnd": "Property",
    "ownedLiteral": "EnumerationLiteral",
    "ownedOperation": "Operation",
    "ownedReception": "Reception",
    "ownedRule": "Constraint",
    "profileApplication": "ProfileApplication",
    "region": "Region",
    "transition": "Transition",
    "trigger": "Trigger",
    "when": "TimeExpression",
}


def _local(name: str) -> str:
    return name.rpartition(":")[2]


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of another element: `ident`, and the file that it is in if that is another one.
    `path` is how MagicDraw calls an element of another file."""

    ident: str
    origin: Origin
    file: str = ""
    path: str = ""

    @property
    def shown(self) -> str:
        return self.path or (f"{self.file}#{self.ident}" if self.file else self.ident)


@dataclass(slots=True, eq=False)
class Element:
    """One element of the model. `role` is the property of `parent` that it stands in, `kind` its
    UML metaclass."""

    node: XmlNode
    role: str
    kind: str
    ident: str
    model: Model = field(repr=False)
    parent: Element | None = field(repr=False)
    children: list[Element] = field(default_factory=list, repr=False)
    #: Looked up once: messages are made before anybody knows whether they are needed.
    _name: str | None = field(default=None, repr=False)
    _shown: str | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        if self._name is None:
            self._name = self.text("name").strip()
        return self._name

    @property
    def origin(self) -> Origin:
        return self.model.xml.origin(self.node.start, self.node.end)

    @property
    def place(self) -> Origin:
        """Where its start tag stands."""
        return self.model.xml.origin(self.node.start, self.node.open_end)

    def text(self, name: str, default: str = "") -> str:
        """The value of a property, written as an attribute or as a child element."""
        value = self.node.attributes.get(name)
        if value is not None:
            return value
        child = self.child(name)
        return default if child is None else child.node.text

    def source(self, name: str, what: str) -> SourceText | None:
        """The same with its places."""
        found = attribute_text(self.model.xml, self.node, name, what)
        if found is None:
            child = self.child(name)
            if child is None or child.model.nil(child.node):
                return None
            found = element_text(self.model.xml, child.node, what)
        return found

    def sources(self, name: str, what: str) -> list[SourceText]:
        """All values of a property that may have several."""
        found = attribute_text(self.model.xml, self.node, name, what)
        if found is not None:
            return [found]
        return [element_text(self.model.xml, child.node, what) for child in self.all(name)]

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.text(name).strip().lower()
        return default if not value else value in ("true", "1")

    def child(self, role: str) -> Element | None:
        return next((child for child in self.children if child.role == role), None)

    def all(self, role: str) -> list[Element]:
        return [child for child in self.children if child.role == role]

    def inside(self) -> Iterator[Element]:
        """All elements in this one, in the order of the file."""
        ahead = self.children[::-1]
        while ahead:
            element = ahead.pop()
            yield element
            ahead += element.children[::-1]

    def around(self) -> Iterator[Element]:
        """The elements around this one, the innermost first."""
        parent = self.parent
        while parent is not None:
            yield parent
            parent = parent.parent

    def references(self, name: str) -> list[Reference]:
        """What a property refers to; elements that it contains are no references."""
        return self.model.references(self.node, name, self.origin)

    def targets(self, name: str, problems: Problems, what: str) -> list[Element]:
        """The elements that a property refers to or contains. An unknown one is reported; `what`
        says what it is: `the target of a transition`."""
        found = [child for child in self.all(name) if not self.model.is_reference(child.node)]
        for reference in self.references(name):
            target = self.model.find(reference)
            if target is not None:
                found.append(target)
            elif reference.file:
                problems.error(
                    f"{what} is in another file: `{reference.shown}`",
                    reference.origin,
                    "files that the model refers to are not read; export all into one",
                    self.shown,
                )
            else:
                problems.error(
                    f"{what} is unknown: there is no element `{reference.shown}`",
                    reference.origin,
                    element=self.shown,
                )
        return found

    def target(self, name: str, problems: Problems, what: str) -> Element | None:
        found = self.targets(name, problems, what)
        return found[0] if found else None

    @property
    def shown(self) -> str:
        """How messages call it: transition `N2OVP` of `CSM`."""
        if self._shown is None:
            self._shown = self._described()
        return self._shown

    def _described(self) -> str:
        named = next((one for one in self.around() if one.name and one.kind != "Region"), None)
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.kind).lower() or self.role
        text = f"{kind} `{self.name}`" if self.name else kind
        if self.kind == "Transition" and not self.name:
            ends = [
                (end.name or end.kind.lower()) if end is not None else reference.ident
                for which in ("source", "target")
                for reference in self.references(which)
                for end in (self.model.find(reference),)
            ]
            text = f"transition {' -> '.join(ends)}"
        if named is not None and self.kind not in ("Class", "Signal", "Package"):
            text += f" of `{named.name}`"
        return text


@dataclass(slots=True)
class Application:
    """A stereotype that is applied to an element."""

    name: str
    base: str
    element: Element

    def value(self, *names: str) -> SourceText | None:
        """The value of the first property that has one of these names, in whatever case."""
        xml = self.element.model.xml
        for key in self.element.node.attributes:
            if key.lower() in names:
                return attribute_text(xml, self.element.node, key, f"`{key}` of {self.name}")
        for child in self.element.children:
            if child.role.lower() in names and not child.model.nil(child.node):
                what = f"`{child.role}` of {self.name}"
                if child.node.attributes.get("value") is not None:
                    return attribute_text(xml, child.node, "value", what)
                return element_text(xml, child.node, what)
        return None


@dataclass(slots=True, eq=False)
class Model:
    xml: XmlFile
    #: The names that this file gives to the namespaces.
    xmi: frozenset[str]
    uml: frozenset[str]
    xsi: frozenset[str]
    roots: list[Element] = field(default_factory=list)
    elements: dict[str, Element] = field(default_factory=dict)
    applications: dict[str, list[Application]] = field(default_factory=dict)
    _comments: dict[str, list[Element]] | None = None

    def comments(self, element: Element) -> list[Element]:
        """The comments that are attached to an element, or that it owns and that are attached to
        nothing else."""
        if self._comments is None:
            self._comments = {}
            for one in self.everything():
                if one.kind == "Comment":
                    attached = [reference.ident for reference in one.references("annotatedElement")]
                    if not attached and one.parent is not None:
                        attached = [one.parent.ident]
                    for ident in attached:
                        self._comments.setdefault(ident, []).append(one)
        return self._comments.get(element.ident, []) if element.ident else []

    def find(self, reference: Reference) -> Element | None:
        return None if reference.file else self.elements.get(reference.ident)

    def everything(self) -> Iterator[Element]:
        for root in self.roots:
            yield root
            yield from root.inside()

    def applied(self, element: Element) -> list[Application]:
        return self.applications.get(element.ident, []) if element.ident else []

    def stereotyped(self, element: Element, *names: str) -> bool:
        return any(one.name.lower() in names for one in self.applied(element))

    def xmi_attribute(self, node: XmlNode, name: str) -> str:
        for prefix in self.xmi:
            value = node.attributes.get(f"{prefix}:{name}")
            if value is not None:
                return value
        return ""

    def nil(self, node: XmlNode) -> bool:
        return any(node.attributes.get(f"{prefix}:nil") == "true" for prefix in self.xsi)

    def is_reference(self, node: XmlNode) -> bool:
        return bool(self.xmi_attribute(node, "idref") or node.attributes.get("href"))

    def references(self, node: XmlNode, name: str, origin: Origin) -> list[Reference]:
        found = []
        for ident in node.attributes.get(name, "").split():
            text = attribute_text(self.xml, node, name, "")
            assert text is not None
            start = text.text.index(ident)
            found.append(Reference(ident, text.origin(start, start + len(ident))))
        for child in node.children:
            if _local(child.tag) == name and self.is_reference(child):
                found.append(self.reference(child))
        return found

    def reference(self, node: XmlNode) -> Reference:
        origin = self.xml.origin(node.start, node.end)
        ident = self.xmi_attribute(node, "idref")
        if ident:
            return Reference(ident, origin)
        file, _, ident = node.attributes["href"].rpartition("#")
        if file.rpartition("/")[2] == re.split(r"[/\\]", self.xml.file)[-1]:
            file = ""
        path = ""
        for extension in node.children:
            for inner in extension.children:
                path = inner.attributes.get("referentPath", path)
        return Reference(ident, origin, file, path)


def _kept(node: XmlNode, around: list[XmlNode]) -> bool:
    """Drops what tools add for themselves while the file is read: it is most of the file."""
    local = _local(node.tag)
    if local == "Documentation" and len(around) == 1:
        return False
    if local == "Extension":
        node.children = [one for one in node.children if _local(one.tag) == "referenceExtension"]
        return bool(node.children)
    return local != "DiagramRepresentationObject"


def read_model(text: bytes | str, file: str, problems: Problems) -> Model:
    """The elements of a file with UML in XMI."""
    if isinstance(text, bytes):
        raw, _ = decode(text, file)
    else:
        codec_of_text(text[:1000], file)  # reports an unknown encoding
        raw = text
    xml = XmlFile(raw, file)
    root = parse(xml, None, None, _kept, _HINT)
    if _local(root.tag) == "XMI" and "xmi.version" in root.attributes:
        version = root.attributes["xmi.version"]
        raise UnsupportedError(
            xml.error(
                f"not supported: XMI {version}",
                root.start,
                root.open_end,
                "export the model as XMI 2.1 or later",
            ).diagnostics
        )
    prefixes: dict[str, set[str]] = {"xmi": set(), "uml": set(), "xsi": set()}
    for key, value in root.attributes.items():
        if key.startswith("xmlns:"):
            prefix = key.removeprefix("xmlns:")
            if _XMI.match(value):
                prefixes["xmi"].add(prefix)
            elif _UML.match(value) and "Profile" not in value:
                prefixes["uml"].add(prefix)
            elif value == _XSI:
                prefixes["xsi"].add(prefix)
    model = Model(
        xml, frozenset(prefixes["xmi"]), frozenset(prefixes["uml"]), frozenset(prefixes["xsi"])
    )
    if not model.xmi:
        raise xml.error(
            f"this is not XMI: its root element is <{root.tag}>", root.start, root.open_end, _HINT
        )
    if not model.uml:
        raise xml.error("there is no UML in this XMI", root.start, root.open_end, _HINT)
    builder = _Builder(model, problems)
    tops = root.children if _local(root.tag) == "XMI" else [root]
    for node in tops:
        builder.top(node)
    if not model.roots:
        raise InputError(xml.error("there is no UML model in it", root.start).diagnostics)
    return model


class _Builder:
    def __init__(self, model: Model, problems: Problems) -> None:
        self.model = model
        self.problems = problems

    def top(self, node: XmlNode) -> None:
        prefix, _, local = node.tag.rpartition(":")
        if prefix in self.model.uml:
            self.model.roots.append(self.element(node, None, local))
            return
        if prefix in self.model.xmi:
            return
        element = self.element(node, None, local, known=False)
        for key, value in node.attributes.items():
            if key.startswith("base_"):
                for ident in value.split():
                    self.applied(Application(local, ident, element))
        for child in node.children:
            if _local(child.tag).startswith("base_") and self.model.is_reference(child):
                self.applied(Application(local, self.model.reference(child).ident, element))

    def applied(self, application: Application) -> None:
        self.model.applications.setdefault(application.base, []).append(application)

    def element(
        self, node: XmlNode, parent: Element | None, default: str = "", known: bool = True
    ) -> Element:
        model = self.model
        role = _local(node.tag)
        kind = model.xmi_attribute(node, "type")
        if not kind:
            kind = next(
                (node.attributes[k] for p in model.xsi if (k := f"{p}:type") in node.attributes),
                "",
            )
        kind = _local(kind) or default or _DEFAULTS.get(role, "")
        ident = model.xmi_attribute(node, "id")
        element = Element(node, role, kind, ident, model, parent)
        if ident and known:
            first = model.elements.setdefault(ident, element)
            if first is not element:
                self.problems.error(
                    f"two elements have the identifier `{ident}`",
                    element.place,
                    f"the other one is at line {first.place.line}",
                )
        element.children = [
            self.element(child, element, known=known)
            for child in node.children
            if _local(child.tag) != "Extension"
        ]
        return element
