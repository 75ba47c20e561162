"""The textual format of UPPAAL (`.xta`, `.ta`): everything as one program text.

Only the outline is read here.  Declarations and labels become texts that know their place in the
file; whoever parses these speaks of that place.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from whence.expr.lexer import END, KEYWORDS, NAME, cut
from whence.expr.parse_core import Reader, Stop
from whence.formats.uppaal.document import (
    Document,
    Label,
    QueryText,
    Template,
    TemplateEdge,
    TemplateLocation,
)
from whence.source import SourceText

__all__ = ["read_xta", "write_xta"]

#: What can stand in an edge's braces, in its order, and the kind of label that it is.
_EDGE_LABELS = {
    "select": "select",
    "guard": "guard",
    "sync": "synchronisation",
    "assign": "assignment",
    "probability": "probability",
}
_SECTIONS = ("state", "branchpoint", "commit", "urgent", "init", "trans")
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


def read_xta(source: SourceText) -> Document:
    """Raises InputError with everything that is wrong with the outline."""
    return _Outline(source).document()


class _Outline(Reader):
    def __init__(self, source: SourceText) -> None:
        super().__init__(source, KEYWORDS)
        self._templates: list[Template] = []
        self._queries: list[QueryText] = []
        self._has_system = False

    # --------------------------------------------------------------------------- the whole

    def document(self) -> Document:
        declarations: list[tuple[int, int]] = []
        system: list[tuple[int, int]] = []
        covered = 0  # up to here, everything belongs somewhere
        while self.kinds[self.at] != END:
            first = self.at
            try:
                kind = self._item()
            except Stop:
                self.skip(first)
                self.at = max(self.at, first + 1)
                kind = ""
            # Comments before a declaration belong to it.
            stretch = (covered, self.ends[self.at - 1])
            if kind == "declaration":
                declarations.append(stretch)
            elif kind == "system":
                system.append(stretch)
            covered = stretch[1]
        if not self._has_system and not self.tokens.problems:
            with suppress(Stop):
                self.expected("the line `system …;`")
        self.finish()
        file = self.source.file
        return Document(
            file,
            self._join(declarations, "the declarations") if declarations else None,
            tuple(self._templates),
            None,
            self._join(system, "the system declaration"),
            tuple(self._queries),
        )

    def _item(self) -> str:
        """Go past a declaration, process or the like; returns what it belongs to."""
        text = self.texts[self.at]
        following = self.texts[self.at + 1]
        if text == "process":
            self._templates.append(self._process())
            return "process"
        if text == "system":
            self._has_system = True
            self._to_semicolon()
            return "system"
        if text == "query" and following == "{":
            opening = self.at + 1
            start = self.ends[opening]
            self.at += 1
            self.skip_braces()
            formula = self._between(start, self.starts[self.at - 1], "query")
            self._queries.append(QueryText(formula))
            return "query"
        interface = text == "IO" and self.texts[self.at + 2] == "{"
        if interface or (text in ("progress", "gantt") and following == "{"):
            self.at += 1 + interface
            self.skip_braces()
            return "system"
        if text in ("before_update", "after_update"):
            self.at += 1
            self.skip_braces()
            return "declaration"
        named = self.kinds[self.at] == NAME and text not in KEYWORDS
        instance = named and following in ("=", ":=", "(")
        self._declaration()
        return "system" if instance or self._has_system else "declaration"

    def _declaration(self) -> None:
        """Go past a declaration: up to its `;`, or over a function's body."""
        first = self.at
        while self.kinds[self.at] != END:
            text = self.texts[self.at]
            if text == ";":
                self.at += 1
                return
            if text in ("process", "system") and self.at > first:
                return  # A `;` is missing: the declarations' parser will say so.
            if text in _OPENING:
                body = text == "{" and self.texts[self.at - 1] == ")"
                self._past_brackets()
                if body:
                    return
            else:
                self.at += 1

    def _past_brackets(self) -> None:
        """Go past what begins with this bracket."""
        opened = [self.at]
        self.at += 1
        while opened:
            text = self.texts[self.at]
            if text in _OPENING:
                opened.append(self.at)
                self.at += 1
            elif text in _CLOSING or self.kinds[self.at] == END:
                self.close(opened.pop())
            else:
                self.at += 1

    def _to_semicolon(self) -> None:
        while self.texts[self.at] not in (";", ""):
            self.at += 1
        self.at += 1 if self.texts[self.at] else 0

    def _between(self, start: int, end: int, element: str) -> SourceText:
        """The characters there, without blanks around them."""
        text = self.source.text[start:end]
        begin = start + len(text) - len(text.lstrip())
        return cut(self.source, begin, max(begin, start + len(text.rstrip())), element)

    def _join(self, stretches: list[tuple[int, int]], element: str) -> SourceText:
        """Stretches of the file as one text: neighbours as they are, others a line apart."""
        merged: list[tuple[int, int]] = []
        for start, end in stretches:
            if merged and merged[-1][1] == start:
                start = merged.pop()[0]
            merged.append((start, end))
        text = ""
        pieces: list[tuple[int, int, int]] = []
        for start, end in merged:
            part = cut(self.source, start, end)
            if text:
                text += "\n"
            pieces.extend(
                (len(text) + offset, line, column) for offset, line, column in part.pieces
            )
            text += part.text
        return SourceText(text, self.source.file, tuple(pieces), element)

    # ------------------------------------------------------------------------------ processes

    def _process(self) -> Template:
        first = self.at
        self.at += 1
        at = self.at
        process = _Process(self.name("the name of the process"))
        parameters = None
        if self.texts[self.at] == "(":
            opening = self.at
            self._past_brackets()
            element = f"the parameters of {process.name}"
            text = self._between(self.ends[opening], self.starts[self.at - 1], element)
            parameters = text if text.text else None
        opening = self.at
        self.expect("{", f" and the body of the process {process.name}")
        declaration = self._local_declarations(process)
        while self.texts[self.at] != "}":
            section = self.at
            try:
                self._section(process, opening)
                self.semicolon(f"the list of `{self.texts[section]}`")
            except Stop:
                self._to_section(section, opening)
        self.at += 1
        self._check_names(process)
        if process.initial < 0 and not self._wrong:
            self.problem(
                f"the process {process.name} has no initial location",
                self.origin(at, at),
                "write `init …;` behind its locations",
                order=self.starts[at],
            )
        initial = process.initial if process.initial >= 0 else None
        return Template(
            cut(self.source, self.starts[at], self.ends[at], "the name of a process"),
            parameters,
            declaration,
            tuple(
                replace(
                    location,
                    urgent=location.ident in process.urgent,
                    committed=location.ident in process.committed,
                )
                for location in process.locations.values()
            ),
            tuple(process.edges),
            None if initial is None else self.texts[initial],
            self.origin(at, at) if initial is None else self.origin(initial, initial),
            origin=self.origin(first),
        )

    def _local_declarations(self, process: _Process) -> SourceText | None:
        start, stop = self.ends[self.at - 1], self.at
        while self.texts[self.at] not in ("}", ""):
            # `urgent` begins a list of locations, but also the declaration of a channel.
            channel = self.texts[self.at + 1] in ("chan", "broadcast")
            if self.texts[self.at] in _SECTIONS and not channel:
                break
            self._declaration()
            stop = self.at
        if stop == self.at and self.ends[stop - 1] == start:
            return None
        return cut(self.source, start, self.ends[stop - 1], f"the declarations of {process.name}")

    def _section(self, process: _Process, opening: int) -> None:
        section = self.texts[self.at]
        if section not in _SECTIONS:
            if self.kinds[self.at] == END:
                self.close(opening)
            self.expected("`state`, `branchpoint`, `commit`, `urgent`, `init`, `trans` or `}`")
        self.at += 1
        if section == "init":
            process.initial = self._location_name()
        elif section == "trans":
            source = self._edge(process, -1)
            while self.accept(","):
                source = self._edge(process, source)
        else:
            self._named(process, section)
            while self.accept(","):
                self._named(process, section)

    def _to_section(self, section: int, opening: int) -> None:
        """After an error in a section: go to the next one, or to the end of the process."""
        level = sum({"{": 1, "}": -1}.get(text, 0) for text in self.texts[section + 1 : self.at])
        if self.kinds[section] != END:
            self.at = max(self.at, section + 1)
        while self.kinds[self.at] != END:
            text = self.texts[self.at]
            if level <= 0 and (text in _SECTIONS or text == "}"):
                return
            level += {"{": 1, "}": -1}.get(text, 0)
            self.at += 1
        if not self._wrong:
            self.close(opening)
        raise Stop

    def _location_name(self) -> int:
        """The index of the name of a location that stands here."""
        self.name("the name of a location")
        return self.at - 1

    def _named(self, process: _Process, section: str) -> None:
        """A location in the list of `state`, `branchpoint`, `commit` or `urgent`."""
        at = self._location_name()
        name = self.texts[at]
        if section == "commit":
            process.committed[name] = at
        elif section == "urgent":
            process.urgent[name] = at
        else:
            labels = self._location_labels(process, name) if section == "state" else ()
            location = TemplateLocation(
                name,
                cut(self.source, self.starts[at], self.ends[at], "the name of a location"),
                labels=labels,
                branchpoint=section == "branchpoint",
                origin=self.origin(at),
            )
            if name in process.locations:
                before = process.locations[name].origin
                self.problem(
                    f"the location `{name}` stands here for the second time",
                    self.origin(at, at),
                    f"the first stands at {before.line}:{before.column}",
                    order=self.starts[at],
                )
            process.locations[name] = location

    def _location_labels(self, process: _Process, name: str) -> tuple[Label, ...]:
        """`{ invariant; rate }`, both of which may be missing."""
        if self.texts[self.at] != "{":
            return ()
        opening = self.at
        self._past_brackets()
        closing = self.at - 1
        middle = next(
            (index for index in range(opening, closing) if self.texts[index] == ";"), closing
        )
        where = f"location {name} of {process.name}"
        invariant = self._between(self.ends[opening], self.starts[middle], f"invariant of {where}")
        rate_start = self.ends[middle] if middle < closing else self.starts[closing]
        rate = self._between(rate_start, self.starts[closing], f"exponential rate of {where}")
        labels = (Label("invariant", invariant), Label("exponentialrate", rate))
        return tuple(label for label in labels if label.source.text)

    def _edge(self, process: _Process, source: int) -> int:
        """An edge; returns the index of its source, which the next edge may leave out."""
        first = self.at
        continued = self.texts[self.at] in ("->", "-")
        if not continued:
            source = self._location_name()
        elif source < 0:
            self.expected("the name of a location", hint="only later edges may begin with `->`")
        # `-u->` is an edge of the environment in a game: three tokens for us.
        controllable = self.texts[self.at : self.at + 3] != ["-", "u", "->"]
        self.at += 0 if controllable else 2
        self.expect("->", " and the target of the edge")
        target = self._location_name()
        opening = self.at
        self.expect("{", " and the labels of the edge")
        where = f"edge {self.texts[source]} -> {self.texts[target]} of {process.name}"
        labels = []
        while self.texts[self.at] != "}":
            kind = _EDGE_LABELS.get(self.texts[self.at])
            if kind is None:
                if self.kinds[self.at] == END:
                    self.close(opening)
                self.expected("`select`, `guard`, `sync`, `assign`, `probability` or `}`")
            keyword = self.at
            self.at += 1
            self._label_text()
            end = self.starts[self.at] if self.texts[self.at] else self.ends[self.at]
            text = self._between(self.ends[keyword], end, f"{kind} of {where}")
            self.semicolon(f"`{self.texts[keyword]}`")
            if text.text:
                labels.append(Label(kind, text))
        self.at += 1
        process.edges.append(
            TemplateEdge(
                self.texts[source],
                self.texts[target],
                labels=tuple(labels),
                controllable=controllable,
                origin=self.origin(first),
            )
        )
        process.ends.append((source, target))
        return source

    def _label_text(self) -> None:
        while self.texts[self.at] not in (";", "}", *_EDGE_LABELS, ""):
            if self.texts[self.at] in _OPENING:
                self._past_brackets()
            else:
                self.at += 1

    def _check_names(self, process: _Process) -> None:
        """Everything that names a location must name one that there is."""
        used = [*process.committed.values(), *process.urgent.values()]
        used += [index for ends in process.ends for index in ends]
        if process.initial >= 0:
            used.append(process.initial)
        for index in used:
            name = self.texts[index]
            if name not in process.locations:
                near = get_close_matches(name, process.locations, 1)
                self.problem(
                    f"the process {process.name} has no location `{name}`",
                    self.origin(index, index),
                    f"did you mean `{near[0]}`?" if near else "",
                    order=self.starts[index],
                )


@dataclass(slots=True)
class _Process:
    """What was read of a process; integers are indices of tokens."""

    name: str
    locations: dict[str, TemplateLocation] = field(default_factory=dict)
    urgent: dict[str, int] = field(default_factory=dict)
    committed: dict[str, int] = field(default_factory=dict)
    edges: list[TemplateEdge] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    initial: int = -1


# ------------------------------------------------------------------------------------- writing


def write_xta(document: Document) -> str:
    """The document as an .xta file. Drawings and comments outside of texts have no place there,
    and queries go into a file of their own.

    Locations without a name are named after their identifier.  Raises ValueError for templates of
    a kind that the format does not know.
    """
    parts = []
    if document.declaration is not None and document.declaration.text.strip():
        parts.append(document.declaration.text.strip("\n") + "\n")
    parts.extend(_template_text(template) for template in document.templates)
    if document.instantiation is not None and document.instantiation.text.strip():
        parts.append(document.instantiation.text.strip("\n") + "\n")
    parts.append(document.system.text.strip("\n") + "\n")
    return "\n".join(parts)


def _template_text(template: Template) -> str:
    if template.unsupported:
        raise ValueError(f"the .xta format has no {template.unsupported} templates")
    names = _location_names(template)
    parameters = template.parameters.text.strip() if template.parameters is not None else ""
    lines = [f"process {template.name.text.strip()}({_closed(parameters)}) {{"]
    if template.declaration is not None and template.declaration.text.strip():
        lines.append(template.declaration.text.strip("\n"))
    states = [location for location in template.locations if not location.branchpoint]
    lists = (
        ("state", [names[state.ident] + _location_text(state) for state in states]),
        (
            "branchpoint",
            [names[point.ident] for point in template.locations if point.branchpoint],
        ),
        ("commit", [names[state.ident] for state in states if state.committed]),
        ("urgent", [names[state.ident] for state in states if state.urgent]),
        ("init", [names[template.initial]] if template.initial is not None else []),
        ("trans", [_edge_text(edge, names) for edge in template.edges]),
    )
    for section, items in lists:
        if items and section == "trans":
            lines.append("trans\n    " + ",\n    ".join(items) + ";")
        elif items:
            lines.append(f"{section} {', '.join(items)};")
    return "\n".join((*lines, "}\n"))


def _location_names(template: Template) -> dict[str, str]:
    """A name for each location's identifier: its own, or one that no other has."""
    names: dict[str, str] = {}
    for location in template.locations:
        if location.name is not None and location.name.text.strip():
            names[location.ident] = location.name.text.strip()
    taken = set(names.values()) | KEYWORDS
    for location in template.locations:
        if location.ident not in names:
            name = location.ident if location.ident.isidentifier() else "location"
            while name in taken:
                name += "_"
            taken.add(name)
            names[location.ident] = name
    return names


def _location_text(location: TemplateLocation) -> str:
    texts = {label.kind: label.source.text.strip() for label in location.labels}
    invariant, rate = texts.get("invariant", ""), texts.get("exponentialrate", "")
    if rate:
        return f" {{ {_closed(invariant)}; {_closed(rate)} }}"
    return f" {{ {_closed(invariant)} }}" if invariant else ""


def _edge_text(edge: TemplateEdge, names: dict[str, str]) -> str:
    texts = {label.kind: label.source.text.strip() for label in edge.labels}
    labels = "".join(
        f"{keyword} {_closed(texts[kind])}; "
        for keyword, kind in _EDGE_LABELS.items()
        if texts.get(kind)
    )
    arrow = "->" if edge.controllable else "-u->"
    return f"{names[edge.source]} {arrow} {names[edge.target]} {{ {labels}}}"


def _closed(text: str) -> str:
    """A text behind which other text may stand: not behind a comment that a line end closes."""
    return text + "\n" if "//" in text else text
