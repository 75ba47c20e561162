"""Reads a digraph and makes a transition system of it (see :mod:`whence.formats.dot`)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, NoReturn

import numpy as np

from whence.expr.lexer import Places
from whence.formats.markup import read_bytes
from whence.model.transitions import Action, TransitionSystem
from whence.source import Diagnostic, InputError, SourceText, UnsupportedError

__all__ = ["KEYWORDS", "SILENT_LABELS", "DotSystem", "read_dot", "read_dot_file"]

SILENT_LABELS = ("i", "tau")
_POINTERS = ("point", "none", "plain", "plaintext")
_DOUBLE = ("doublecircle", "doubleoctagon")
KEYWORDS = ("strict", "graph", "digraph", "subgraph", "node", "edge")
_MOST_PROBLEMS = 20

_TOKEN = re.compile(
    r"""(?P<space>(?:\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)+)
    |(?P<id>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*
           |-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![\w.]))
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<op>->|--|[{}\[\]=;,:+])
    |(?P<html><)
    |(?P<bad>.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(r"\\(\"|\r?\n)")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_TRAILING_JUSTIFICATION = re.compile(r"(?<!\\)((?:\\\\)*)(?:\\[lr])+\Z")
_PROPOSITION = re.compile(r"((?:[^,\\]|\\.)*)(,|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False)
class DotSystem:
    """A transition system, and how its states are called."""

    system: TransitionSystem
    names: tuple[str, ...]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Value(NamedTuple):
    """The value of an attribute, as it stands there, but for escaped quotation marks."""

    text: str
    html: bool
    start: int
    end: int


_Attributes = dict[str, _Value]


@dataclass(slots=True)
class _Node:
    name: str
    start: int
    attributes: _Attributes


class _Edge(NamedTuple):
    """`action` None: it has no label."""

    source: int
    target: int
    action: str | None
    rate: float
    start: int
    end: int


@dataclass(slots=True)
class _ActionSays:
    """What is said of an action, and where."""

    start: int
    end: int
    said: dict[str, tuple[bool | str, int]] = field(default_factory=dict)


def read_dot_file(path: Path | str) -> DotSystem:
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        origin = SourceText(before, str(path)).origin(len(before))
        message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        raise InputError(Diagnostic(message, origin, "save the file as UTF-8")) from None
    return read_dot(text, str(path))


def read_dot(text: str, file: str = "") -> DotSystem:
    """The transition system that a digraph is; states are numbered as their nodes come up."""
    reader = _Reader(text, file)
    reader.graph()
    return _Meaning(reader).system()


# ------------------------------------------------------------------------------ syntax


class _Reader:
    """Reads the statements of a graph into nodes and edges."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.places = Places(SourceText(text, file))
        self.problems: list[Diagnostic] = []
        self.tokens = self.cut()
        self.token = next(self.tokens)
        self.name = ""
        self.nodes: list[_Node] = []
        self.numbers: dict[str, int] = {}
        self.edges: list[_Edge] = []
        self.actions: dict[str, _ActionSays] = {}
        self.graph_attributes: _Attributes = {}
        #: In a strict graph, the label of each edge between two nodes.
        self.merged: dict[tuple[int, int], str | None] | None = None

    # -------------------------------------------------------------------------- complaints

    def problem(self, message: str, start: int, end: int, hint: str = "") -> None:
        self.problems.append(Diagnostic(message, self.places.origin(start, end), hint))
        if len(self.problems) >= _MOST_PROBLEMS:
            raise InputError(self.problems)

    def stop(self, message: str, start: int, end: int, hint: str = "") -> NoReturn:
        self.problem(message, start, end, hint)
        raise InputError(self.problems)

    def refuse(self, construct: str, start: int, end: int, hint: str = "") -> NoReturn:
        message = f"{construct} not supported"
        self.problems.append(Diagnostic(message, self.places.origin(start, end), hint))
        raise UnsupportedError(self.problems)

    def expected(self, what: str, hint: str = "") -> NoReturn:
        token = self.token
        found = "the end of the file" if token.kind == "end" else f"`{token.text[:40]}`"
        self.stop(f"expected {what}, found {found}", token.start, token.end, hint)

    # -------------------------------------------------------------------------- tokens

    def cut(self) -> Iterator[_Token]:
        at = last = 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            assert match is not None
            kind, at = match.lastgroup, match.end()
            if kind == "space":
                continue
            start = match.start()
            if kind == "html":
                at = self.end_of_html(start)
            elif kind == "bad":
                self.bad_character(match.group(), start)
            last = at
            assert kind is not None
            yield _Token(kind, self.text[start:at], start, at)
        while True:
            yield _Token("end", "", last, last)

    def end_of_html(self, start: int) -> int:
        depth = 0
        for match in re.compile("[<>]").finditer(self.text, start):
            depth += 1 if match.group() == "<" else -1
            if not depth:
                return match.end()
        self.stop("this `<` is never closed", start, start + 1)

    def bad_character(self, character: str, start: int) -> NoReturn:
        if character == '"':
            self.stop('this `"` is never closed', start, start + 1)
        if self.text.startswith("/*", start):
            self.stop("this comment is never closed", start, start + 2, "close it with `*/`")
        shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
        self.stop(f"unknown character {shown}", start, start + 1, 'put names between `"`')

    def next(self) -> _Token:
        token = self.token
        self.token = next(self.tokens)
        return token

    def accept(self, operator: str) -> bool:
        if self.token.kind == "op" and self.token.text == operator:
            self.next()
            return True
        return False

    def expect(self, operator: str, where: str = "") -> None:
        if not self.accept(operator):
            self.expected(f"`{operator}`{where}")

    def keyword(self) -> str:
        """The keyword that stands here, in small letters; "" if none does."""
        word = self.token.text.lower() if self.token.kind == "id" else ""
        return word if word in KEYWORDS else ""

    def value(self, what: str) -> _Value:
        token = self.token
        if token.kind not in ("id", "string", "html") or self.keyword():
            self.expected(what)
        self.next()
        if token.kind == "html":
            return _Value(token.text[1:-1], True, token.start, token.end)
        if token.kind == "id":
            return _Value(token.text, False, token.start, token.end)
        parts, end = [_unquoted(token.text)], token.end
        while self.accept("+"):
            if self.token.kind != "string":
                self.expected("a quoted text after `+`")
            more = self.next()
            parts.append(_unquoted(more.text))
            end = more.end
        return _Value("".join(parts), False, token.start, end)

    # -------------------------------------------------------------------------- statements

    def graph(self) -> None:
        if self.keyword() == "strict":
            self.next()
            self.merged = {}
        first, kind = self.token, self.keyword()
        if kind == "graph":
            self.refuse("undirected graphs are", first.start, first.end, "write `digraph`")
        if kind != "digraph":
            self.expected("`digraph`", "for example `digraph { s0 -> s1 [label=a] }`")
        self.next()
        if not (self.token.kind == "op" and self.token.text == "{"):
            self.name = self.value("a name or `{`").text
        self.expect("{")
        opened: list[tuple[_Attributes, _Attributes]] = []
        defaults: tuple[_Attributes, _Attributes] = ({}, {})
        while True:
            if self.accept(";"):
                continue
            if self.accept("}"):
                if not opened:
                    break
                defaults = opened.pop()
                self.refuse_subgraph_in_edge(at_end=False)
            elif self.starts_subgraph():
                opened.append(defaults)
                defaults = (dict(defaults[0]), dict(defaults[1]))
            elif self.token.kind == "end":
                self.expected("`}`", "the file may be truncated")
            else:
                self.statement(*defaults)
        if self.token.kind != "end":
            self.expected("the end of the file after the graph")

    def starts_subgraph(self) -> bool:
        if self.keyword() == "subgraph":
            self.next()
            if not (self.token.kind == "op" and self.token.text == "{"):
                self.value("a name or `{`")
            self.expect("{", " after `subgraph`")
            return True
        return self.accept("{")

    def refuse_subgraph_in_edge(self, at_end: bool) -> None:
        token = self.token
        starts = token.text == "{" if token.kind == "op" else self.keyword() == "subgraph"
        leads = token.kind == "op" and token.text in ("->", "--")
        if starts if at_end else leads:
            hint = "write an edge for each of its nodes"
            self.refuse("subgraphs as ends of edges are", token.start, token.end, hint)

    def statement(self, nodes: _Attributes, edges: _Attributes) -> None:
        keyword = self.keyword()
        if keyword in ("graph", "node", "edge"):
            self.next()
            if not (self.token.kind == "op" and self.token.text == "["):
                self.expected(f"`[` after `{keyword}`")
            into = {"graph": self.graph_attributes, "node": nodes, "edge": edges}
            into[keyword].update(self.attributes())
            return
        first = self.value("a statement or `}`")
        if self.accept("="):
            self.graph_attributes[first.text] = self.value("a value after `=`")
            return
        self.port()
        ends = [self.node(first, nodes)]
        while self.token.kind == "op" and self.token.text in ("->", "--"):
            if self.token.text == "--":
                self.expected("`->`", "edges of a digraph have a direction")
            self.next()
            self.refuse_subgraph_in_edge(at_end=True)
            last = self.value("a node after `->`")
            self.port()
            ends.append(self.node(last, nodes))
        attributes = self.attributes()
        if len(ends) == 1:
            self.nodes[ends[0]].attributes.update(attributes)
            return
        said = {**edges, **attributes}
        action, rate = self.action(said, first.start, last.end), self.rate(said)
        for source, target in pairwise(ends):
            self.edge(_Edge(source, target, action, rate, first.start, last.end))

    def node(self, name: _Value, defaults: _Attributes) -> int:
        number = self.numbers.setdefault(name.text, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(_Node(name.text, name.start, dict(defaults)))
        return number

    def port(self) -> None:
        for _ in range(2):
            if self.accept(":"):
                self.value("a port after `:`")

    def attributes(self) -> _Attributes:
        found: _Attributes = {}
        while self.accept("["):
            while not self.accept("]"):
                name = self.value("an attribute or `]`")
                self.expect("=", f" after the attribute `{name.text}`")
                found[name.text] = self.value("a value after `=`")
                if not self.accept(","):
                    self.accept(";")
        return found

    # -------------------------------------------------------------------------- edges

    def edge(self, edge: _Edge) -> None:
        if self.merged is not None:
            before = self.merged.setdefault((edge.source, edge.target), edge.action)
            if before != edge.action:
                self.problem(
                    "a strict graph has one edge between two nodes, but this is a second one",
                    edge.start,
                    edge.end,
                    "write `digraph` without `strict`",
                )
        self.edges.append(edge)

    def action(self, said: _Attributes, start: int, end: int) -> str | None:
        """The name of the action, once what else is said of it is noted."""
        label = said.get("label")
        if label is not None and label.html:
            self.refuse("HTML labels of edges are", label.start, label.end)
        name = None if label is None else self.unescaped(label)
        if not name:
            # An edge without a label can still say that it is silent.
            silent = said.get("silent")
            if silent is None or not self.flag("silent", silent):
                return None
            name = "tau"
        info = self.actions.setdefault(name, _ActionSays(start, end))
        for key in ("failure", "detected", "silent", "component"):
            value = said.get(key)
            if value is None:
                continue
            meant = value.text if key == "component" else self.flag(key, value)
            before, place = info.said.setdefault(key, (meant, value.start))
            if before != meant:
                self.problem(
                    f"`{key}` of the action `{name}` is said in two ways",
                    value.start,
                    value.end,
                    f"compare line {self.places.position(place)[0]}",
                )
        return name

    def unescaped(self, label: _Value) -> str:
        def replaced(match: re.Match[str]) -> str:
            character = match[1]
            if character in "GNETHL":
                construct = f"the escape `\\{character}` in labels of edges is"
                self.refuse(construct, label.start, label.end)
            return "\n" if character in "nlr" else character

        return _ESCAPE.sub(replaced, _TRAILING_JUSTIFICATION.sub(r"\1", label.text))

    def flag(self, key: str, value: _Value) -> bool:
        word = value.text.lower()
        if word in ("true", "yes", "1"):
            return True
        if word not in ("false", "no", "0"):
            message = f"`{key}` is `{value.text[:40]}`, which is neither true nor false"
            self.problem(message, value.start, value.end)
        return False

    def rate(self, said: _Attributes) -> float:
        value = said.get("rate")
        if value is None:
            return math.nan
        try:
            rate = float(value.text)
        except ValueError:
            rate = math.nan
        if not 0 <= rate < math.inf:
            message = f"the rate `{value.text[:40]}` is no number, at least 0"
            self.problem(message, value.start, value.end)
        return rate


def _unquoted(text: str) -> str:
    """Backslashes stay for who reads the value, but before quotation marks and ends of lines. Two
    of them make a pair, so that the second escapes nothing."""
    parts = re.split(r"(\\\\)", text[1:-1])
    return "".join(
        part if part == "\\\\" else _QUOTED.sub(lambda m: '"' * (m[1] == '"'), part)
        for part in parts
    )


# ------------------------------------------------------------------------------ meaning


class _Meaning:
    """Makes a transition system of nodes and edges."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.nodes = reader.nodes
        self.edges = reader.edges

    def system(self) -> DotSystem:
        reader = self.reader
        pointers = self.pointers()
        states = [number for number in range(len(self.nodes)) if number not in pointers]
        numbers = {node: state for state, node in enumerate(states)}
        pointed = {edge.target for edge in self.edges if edge.source in pointers}
        edges = [edge for edge in self.edges if edge.source not in pointers]
        for edge in edges:
            if edge.action is None:
                hint = "write [label=…]; `tau` is a silent action"
                reader.problem("this transition has no action", edge.start, edge.end, hint)
        initial = [
            numbers[node] for node in states if node in pointed or self.says(node, "initial")
        ]
        if not initial:
            end = len(reader.text)
            start = self.nodes[0].start if self.nodes else end
            hint = "give a node the attribute initial=true"
            reader.problem("no state is the initial one", start, start + 1, hint)
        propositions = self.propositions(states)
        if reader.problems:
            raise InputError(reader.problems)
        actions = {name: number for number, name in enumerate(reader.actions)}
        rates = np.array([edge.rate for edge in edges], np.float64)
        system = TransitionSystem(
            states=len(states),
            actions=tuple(self.action(name, says) for name, says in reader.actions.items()),
            source=np.array([numbers[edge.source] for edge in edges], np.int32),
            action=np.array([actions[edge.action or ""] for edge in edges], np.int32),
            target=np.array([numbers[edge.target] for edge in edges], np.int32),
            initial=tuple(initial),
            propositions=propositions,
            rate=None if np.isnan(rates).all() else rates,
            name=reader.name,
        )
        return DotSystem(system, tuple(self.nodes[node].name for node in states))

    def pointers(self) -> set[int]:
        """Nodes that are no states, but point at initial ones."""
        candidates = {edge.source for edge in self.edges if edge.action is None}
        candidates -= {edge.source for edge in self.edges if edge.action is not None}
        candidates -= {edge.target for edge in self.edges}
        return {
            node
            for node in candidates
            if self.text(node, "shape") in _POINTERS or "invis" in self.text(node, "style")
        }

    def text(self, node: int, key: str) -> str:
        value = self.nodes[node].attributes.get(key)
        return "" if value is None else value.text.lower()

    def says(self, node: int, key: str) -> bool:
        value = self.nodes[node].attributes.get(key)
        return value is not None and self.reader.flag(key, value)

    def propositions(self, states: Sequence[int]) -> Mapping[str, np.ndarray]:
        marks: dict[str, np.ndarray] = {"bad": np.zeros(len(states), bool)}

        def names_in(value: _Value | None) -> list[str]:
            names = [] if value is None else _split(value.text)
            for name in names:
                marks.setdefault(name, np.zeros(len(states), bool))
            return names

        names_in(self.reader.graph_attributes.get("props"))
        told = False
        for state, node in enumerate(states):
            attributes = self.nodes[node].attributes
            for name in names_in(attributes.get("props")):
                marks[name][state] = True
                told = told or name == "bad"
            if "bad" in attributes:
                told = True
                marks["bad"][state] |= self.says(node, "bad")
        if not told:
            for state, node in enumerate(states):
                double = self.text(node, "shape") in _DOUBLE
                marks["bad"][state] = double or self.text(node, "peripheries") == "2"
        return MappingProxyType(marks)

    def action(self, name: str, says: _ActionSays) -> Action:
        said = {key: value for key, (value, _) in says.said.items()}
        detected = said.get("detected")
        return Action(
            name=name,
            failure=bool(said.get("failure", False)),
            detected=None if detected is None else bool(detected),
            silent=bool(said.get("silent", name in SILENT_LABELS)),
            component=str(said.get("component", "")),
            origin=self.reader.places.origin(says.start, says.end),
        )


def _split(text: str) -> list[str]:
    """The propositions of a list."""
    parts = [_ESCAPE.sub(r"\1", match[1].strip()) for match in _PROPOSITION.finditer(text)]
    return [part for part in parts if part]
