"""The keys of a mapping, each read as what it should be, with everything wrong reported."""

from __future__ import annotations

import re
from collections.abc import Iterable

from whence.expr.scope import Problem, Problems, suggestion
from whence.formats.charts.nodes import Mapping, Node, Scalar, Sequence
from whence.formats.charts.texts import NAME, cut, read_declaration, read_effects, read_type
from whence.model.chart import ChartVariable, Effect
from whence.source import SourceText

__all__ = ["Fields"]

_ROLES = ("internal", "input", "output", "constant")
_ROLE = re.compile(r"\s*(internal|input|output|constant)\s+")


class Fields:
    """A mapping whose keys must be among `known`; `what` says in words what it describes."""

    def __init__(
        self, node: Mapping, known: tuple[str, ...], what: str, problems: Problems
    ) -> None:
        self.what = what
        self.origin = node.origin
        self.problems = problems
        self.nodes: dict[str, Node] = {}
        for key, value in node.pairs:
            if key.value in known:
                self.nodes[key.value] = value
            else:
                hint = suggestion(key.value, list(known)) or f"expected {', '.join(known)}"
                problems.add(Problem(f"unknown key `{key.value[:60]}`", key.origin, hint), what)

    def _wrong(self, expected: str, node: Node, hint: str = "") -> None:
        self.problems.add(Problem(f"expected {expected}", node.origin, hint), self.what)

    # ----------------------------------------------------------------------------------- scalars

    def source_of(self, node: Node, what: str) -> SourceText | None:
        """The text of a scalar; `what` is what messages about it call it."""
        if not isinstance(node, Scalar):
            self._wrong("a text", node, "put the whole text into quotes")
            return None
        text = node.text
        return SourceText(text.text, text.file, text.pieces, what)

    def source(self, key: str) -> SourceText | None:
        node = self.nodes.get(key)
        if node is None or (isinstance(node, Scalar) and node.empty):
            return None
        return self.source_of(node, f"{key} of {self.what}")

    def text(self, key: str, default: str) -> str:
        found = self.source(key)
        return default if found is None else found.text

    def optional_text(self, key: str) -> str | None:
        """A text that must say something where it stands."""
        found = self.source(key)
        if found is None:
            return None
        if not found.text.strip() or "\n" in found.text:
            self._wrong(f"a name for `{key}`", self.nodes[key])
            return None
        return found.text.strip()

    def flag(self, key: str) -> bool | None:
        node = self.nodes.get(key)
        if node is None:
            return None
        if isinstance(node, Scalar) and node.plain and node.value in ("true", "false"):
            return node.value == "true"
        self._wrong("true or false", node)
        return None

    def integer(self, key: str, lo: int, hi: int, default: int | None) -> int | None:
        node = self.nodes.get(key)
        if node is None:
            return default
        if isinstance(node, Scalar) and node.plain:
            digits = node.value.removeprefix("-")
            if digits.isascii() and digits.isdigit() and len(digits) < 12:
                value = int(node.value)
                if lo <= value <= hi:
                    return value
        self._wrong(f"a number from {lo} to {hi}", node)
        return default

    def choice(self, key: str, values: tuple[str, ...], default: str) -> str:
        node = self.nodes.get(key)
        if node is None:
            return default
        if isinstance(node, Scalar) and node.value in values:
            return node.value
        near = suggestion(node.value, list(values)) if isinstance(node, Scalar) else ""
        self._wrong(f"{', '.join(values[:-1])} or {values[-1]}", node, near)
        return default

    # --------------------------------------------------------------------------------- compounds

    def mapping(self, key: str) -> Mapping | None:
        node = self.nodes.get(key)
        if node is None or (isinstance(node, Scalar) and node.empty):
            return None
        if not isinstance(node, Mapping):
            self._wrong(f"names with what they stand for under `{key}`", node)
            return None
        return node

    def pairs(self, key: str) -> Iterable[tuple[Scalar, Node]]:
        """The entries of a mapping; unless they are hazards, goals or requirements, their
        keys are names of the expression language."""
        node = self.mapping(key)
        for name, value in () if node is None else node.pairs:
            if key in ("requirements", "hazards", "goals"):
                valid = bool(name.value.strip()) and "\n" not in name.value
            else:
                valid = NAME.fullmatch(name.value) is not None
            if not valid:
                self.problems.add(
                    Problem(
                        f"`{name.value[:60]}` is no name",
                        name.origin,
                        "names are letters, digits and _, and begin with no digit",
                    )
                )
                continue
            yield name, value

    def items(self, key: str) -> tuple[Node, ...]:
        node = self.nodes.get(key)
        if node is None or (isinstance(node, Scalar) and node.empty):
            return ()
        if not isinstance(node, Sequence):
            self._wrong(f"a list under `{key}`", node)
            return ()
        return node.items

    def names(self, key: str) -> tuple[Scalar, ...]:
        """A list of texts."""
        found = []
        for node in self.items(key):
            if isinstance(node, Scalar) and node.value.strip():
                found.append(node)
            else:
                self._wrong("a name", node)
        return tuple(found)

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(node.value for node in self.names(key))

    # --------------------------------------------------------------------------- parts of charts

    def effects(self, key: str) -> tuple[Effect, ...]:
        source = self.source(key)
        if source is not None:
            with self.problems.collecting(source.element):
                return read_effects(source)
        return ()

    def variables(self, key: str) -> tuple[ChartVariable, ...]:
        found = []
        for name, node in self.pairs(key):
            with self.problems.collecting(f"variable {name.value}"):
                found.append(self._variable(name, node))
        return tuple(found)

    def _variable(self, name: Scalar, node: Node) -> ChartVariable:
        what = f"variable {name.value}"
        if isinstance(node, Mapping):
            fields = Fields(node, ("type", "initial", "role"), what, self.problems)
            written = fields.source("type")
            if written is None:
                raise Problem(f"variable `{name.value}` needs a `type`", node.origin)
            type_ = read_type(SourceText(written.text.strip(), written.file, written.pieces, what))
            initial = fields.source("initial")
            role = fields.choice("role", _ROLES, "internal")
        else:
            declared = self.source_of(node, what)
            if declared is None:
                raise Problem("", node.origin)
            word = _ROLE.match(declared.text)
            role = "internal" if word is None else word[1]
            if word is not None:
                declared = cut(declared, word.end(), len(declared.text))
            type_, initial = read_declaration(declared)
        if initial is not None and not initial.text.strip():
            raise Problem("the initial value is missing", initial.origin(0))
        return ChartVariable(
            name=name.value,
            type=type_,
            role=role,  # type: ignore[arg-type]
            initial=initial,
            origin=name.origin,
        )

    def place(self, key: str) -> tuple[int, int] | None:
        nodes = self.items(key)
        if key not in self.nodes:
            return None
        values = [
            int(node.value)
            for node in nodes
            if isinstance(node, Scalar)
            and node.value.lstrip("-").isdecimal()
            and node.value.isascii()
            and len(node.value) < 9
        ]
        if len(values) != 2 or len(nodes) != 2:
            self._wrong("[x, y], two whole numbers", self.nodes[key])
            return None
        return values[0], values[1]
