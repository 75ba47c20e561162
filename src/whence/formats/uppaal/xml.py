"""Reads UPPAAL's XML. How XML itself is read, and with which limits: :mod:`whence.formats.markup`,
whose names are here too for the other modules of this package."""

from __future__ import annotations

from pathlib import Path

from whence.formats.markup import (
    MAX_BYTES,
    MAX_DEPTH,
    Run,
    XmlFile,
    XmlNode,
    codec_of_text,
    decode,
    element_text,
    parse,
    read_bytes,
)
from whence.formats.uppaal.document import (
    Document,
    Label,
    QueryText,
    Template,
    TemplateEdge,
    TemplateLocation,
)
from whence.model.network import Point
from whence.source import Origin, SourceText

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "TEMPLATE_TAGS",
    "Run",
    "XmlFile",
    "XmlNode",
    "decode",
    "parse",
    "read_bytes",
    "read_tree",
    "read_xml",
    "read_xml_file",
]

# ------------------------------------------------------------------------------ a model's elements

#: The elements whose text is read.
_TEXTS = frozenset(
    ("name", "parameter", "declaration", "label", "instantiation", "system", "formula", "comment")
)
_ROOT_HINT = "a UPPAAL model in XML is an <nta> element; UPPAAL's own language is in .xta files"
#: Those below <nta> that are a template in a document, if only to be refused.
TEMPLATE_TAGS = frozenset(("template", "lsc", "dynamic"))


def _integer(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return round(float(text))
    except (ValueError, OverflowError):
        return None


def _position(node: XmlNode) -> Point | None:
    x, y = _integer(node.attributes.get("x")), _integer(node.attributes.get("y"))
    return None if x is None or y is None else (x, y)


class _Builder:
    """Makes a document's values as their elements end, so that these can be forgotten."""

    def __init__(self, xml: XmlFile, keep: bool) -> None:
        self.xml = xml
        self.keep = keep
        self.declaration: SourceText | None = None
        self.instantiation: SourceText | None = None
        self.system: SourceText | None = None
        self.templates: list[Template] = []
        self.queries: list[QueryText] = []
        self.locations: list[TemplateLocation] = []
        self.edges: list[TemplateEdge] = []
        #: Of the template that is being read: its name, and its locations' names by identifier.
        self.template = ""
        self.names: dict[str, str] = {}

    def on_end(self, node: XmlNode, around: list[XmlNode]) -> bool:
        match len(around), node.tag:
            case 1, "declaration":
                self.once(self.declaration, node)
                self.declaration = self.source(node, "the global declarations")
            case 1, "instantiation":
                self.once(self.instantiation, node)
                self.instantiation = self.source(node, "the instantiations")
            case 1, "system":
                self.once(self.system, node)
                self.system = self.source(node, "the system declaration")
            case 1, tag if tag in TEMPLATE_TAGS:
                self.templates.append(self.template_of(node))
                self.locations, self.edges = [], []
                self.template, self.names = "", {}
            case 2, "name" if around[1].tag in TEMPLATE_TAGS:
                self.template = node.text.strip()
                return True
            case 2, "location" | "branchpoint" if around[1].tag in TEMPLATE_TAGS:
                self.locations.append(self.location_of(node))
            case 2, "transition" if around[1].tag in TEMPLATE_TAGS:
                self.edges.append(self.edge_of(node))
            case 2, "query" if around[1].tag == "queries":
                self.queries.append(self.query_of(node))
            case _:
                return True
        return self.keep

    def once(self, before: SourceText | None, node: XmlNode) -> None:
        if before is not None:
            raise self.xml.error(
                f"a second <{node.tag}>", node.start, node.open_end, "put its text into the first"
            )

    def source(self, node: XmlNode, element: str) -> SourceText:
        return element_text(self.xml, node, element)

    def name(self, node: XmlNode | None, element: str) -> SourceText | None:
        """A name without the blanks around it; None if nothing is left."""
        if node is None or not node.text.strip():
            return None
        whole = self.source(node, element)
        text = whole.text.strip()
        start = whole.text.index(text)
        end = start + len(text)
        pieces = [(0, *whole.position(start))]
        pieces += [
            (at - start, line, column) for at, line, column in whole.pieces if start < at < end
        ]
        return SourceText(text, whole.file, tuple(pieces), element)

    def of_template(self) -> str:
        return f" of template {self.template}" if self.template else ""

    def labels(self, node: XmlNode, element: str) -> tuple[Label, ...]:
        labels = []
        for child in node.children:
            if child.tag == "label":
                kind = child.attribute("kind")
                if not kind:
                    raise self.xml.error("a label without a kind", child.start, child.open_end)
                labels.append(
                    Label(kind, self.source(child, f"the {kind} of {element}"), _position(child))
                )
        return tuple(labels)

    def location_of(self, node: XmlNode) -> TemplateLocation:
        ident = node.attribute("id")
        if not ident:
            raise self.xml.error(f"a {node.tag} without an id", node.start, node.open_end)
        name_node = node.child("name")
        shown = (name_node.text.strip() if name_node else "") or ident
        self.names[ident] = shown
        element = f"{node.tag} {shown}{self.of_template()}"
        return TemplateLocation(
            ident=ident,
            name=self.name(name_node, f"the name of {element}"),
            position=_position(node),
            name_position=_position(name_node) if name_node else None,
            labels=self.labels(node, element),
            urgent=node.child("urgent") is not None,
            committed=node.child("committed") is not None,
            branchpoint=node.tag == "branchpoint",
            colour=node.attribute("color"),
            origin=self.xml.origin(node.start, node.end),
        )

    def edge_of(self, node: XmlNode) -> TemplateEdge:
        ends = []
        for tag in ("source", "target"):
            child = node.child(tag)
            if child is None or not child.attribute("ref"):
                raise self.xml.error(
                    f"a transition without a {tag}",
                    (child or node).start,
                    (child or node).open_end,
                    f'it needs <{tag} ref="…"/>',
                )
            ends.append(child.attribute("ref"))
        source, target = ends
        arrow = f"{self.names.get(source, source)} -> {self.names.get(target, target)}"
        return TemplateEdge(
            source=source,
            target=target,
            ident=node.attribute("id"),
            labels=self.labels(node, f"the edge {arrow}{self.of_template()}"),
            nails=tuple(
                position
                for child in node.children
                if child.tag == "nail" and (position := _position(child)) is not None
            ),
            controllable=node.attribute("controllable").strip().lower() not in ("false", "0"),
            colour=node.attribute("color"),
            origin=self.xml.origin(node.start, node.end),
        )

    def template_of(self, node: XmlNode) -> Template:
        singles: dict[str, XmlNode] = {}
        unsupported = "" if node.tag == "template" else node.tag
        for child in node.children:
            if child.tag in ("name", "parameter", "declaration", "init"):
                if child.tag in singles:
                    raise self.xml.error(
                        f"a second <{child.tag}> in one {node.tag}", child.start, child.open_end
                    )
                singles[child.tag] = child
            elif child.tag in ("lsc", "dynamic"):
                unsupported = child.tag
        name = self.name(singles.get("name"), "the name of a template")
        if name is None:
            raise self.xml.error(
                f"a {node.tag} without a name", node.start, node.open_end, "it needs <name>…</name>"
            )
        parameter, declaration = singles.get("parameter"), singles.get("declaration")
        init = singles.get("init")
        here = f" of template {name.text}"
        return Template(
            name=name,
            parameters=self.source(parameter, f"the parameters{here}") if parameter else None,
            declaration=self.source(declaration, f"the declarations{here}")
            if declaration
            else None,
            locations=tuple(self.locations),
            edges=tuple(self.edges),
            initial=(init.attribute("ref") or None) if init else None,
            initial_origin=self.xml.origin(init.start, init.end) if init else Origin(self.xml.file),
            unsupported=unsupported,
            origin=self.xml.origin(node.start, node.end),
        )

    def query_of(self, node: XmlNode) -> QueryText:
        number = f"query {len(self.queries) + 1}"
        formula, comment = node.child("formula"), node.child("comment")
        expected = ""
        # What the author expects counts more than what UPPAAL happened to answer last.
        for tag in ("expect", "result"):
            child = node.child(tag)
            outcome = child.attribute("outcome").strip().lower() if child else ""
            if outcome in ("success", "failure"):
                expected = outcome
                break
        return QueryText(
            formula=self.source(formula, number)
            if formula
            else SourceText("", self.xml.file, ((0, *self.xml.place(node.open_end)),), number),
            comment=comment.text if comment else "",
            expected=expected,
        )


def read_tree(
    raw: str, file: str, keep: bool = True, encoding: str = "utf-8"
) -> tuple[Document, XmlNode]:
    """A document and its elements, for the writer. Without `keep` only the root is of use."""
    xml = XmlFile(raw, file)
    builder = _Builder(xml, keep)
    root = parse(xml, "nta", _TEXTS, builder.on_end, _ROOT_HINT)
    end = ((0, *xml.place(root.close_start)),)
    document = Document(
        file=file,
        declaration=builder.declaration,
        templates=tuple(builder.templates),
        instantiation=builder.instantiation,
        # Whoever needs a system declaration says that there is none, at the end of the model.
        system=builder.system or SourceText("", file, end, "the system declaration"),
        queries=tuple(builder.queries),
        raw=raw,
        encoding=encoding,
    )
    return document, root


def read_xml(text: bytes | str, file: str) -> Document:
    """The document that the text of a UPPAAL model in XML is; `file` is its name in messages."""
    if isinstance(text, bytes):
        raw, encoding = decode(text, file)
    else:
        raw, encoding = text, codec_of_text(text[:1000], file)
    return read_tree(raw, file, keep=False, encoding=encoding)[0]


def read_xml_file(path: Path | str) -> Document:
    """The document that a file is."""
    return read_xml(read_bytes(path), str(path))
