"""What several keys of our YAML files about requirements have in common."""

from __future__ import annotations

from fractions import Fraction

from whence.expr.scope import Problem, Problems
from whence.formats.charts.nodes import Mapping, Node, Scalar, Sequence
from whence.formats.charts.structure import Fields
from whence.formats.prd.lexing import UNITS, Tokens, duration
from whence.model.ecu import EcuVariable, Requirement
from whence.source import Origin, SourceText

__all__ = ["PrdFields", "read_requirements", "read_variables", "source_at"]

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


class PrdFields(Fields):
    """The keys of a mapping, with those kinds of values that requirements have."""

    def time(self, key: str, unit: Fraction | None = None) -> Fraction | None:
        source = self.source(key)
        if source is not None:
            with self.problems.collecting(self.what):
                tokens = Tokens(source)
                value = duration(tokens, unit)
                tokens.done()
                return value
        return None

    def unit(self, key: str) -> Fraction | None:
        """The unit of times that are written without one."""
        if key not in self.nodes:
            return None
        return UNITS[self.choice(key, tuple(UNITS), "ms")]

    def codes(self, key: str) -> tuple[int, ...] | None:
        """Codes of negative responses: a number or a list of them. None: the key is missing."""
        node = self.nodes.get(key)
        if node is None:
            return None
        items = node.items if isinstance(node, Sequence) else (node,)
        found = []
        for item in items:
            value = _integer(item)
            if value is None or not 0 <= value <= 255:
                self._wrong("a code from 0x00 to 0xFF, or a list of them", item)
            else:
                found.append(value)
        return tuple(found)

    def texts_or_one(self, key: str) -> tuple[str, ...]:
        """A list of names, or a single one."""
        node = self.nodes.get(key)
        if isinstance(node, Scalar) and node.value.strip():
            return (node.value.strip(),)
        return self.texts(key)

    def entries(self, key: str) -> tuple[tuple[Scalar, Node], ...]:
        """The entries of a mapping with any keys in one line."""
        node = self.mapping(key)
        found = []
        for name, value in () if node is None else node.pairs:
            if name.value.strip() and "\n" not in name.value and len(name.value) <= 200:
                found.append((name, value))
            else:
                self.problems.add(Problem("expected a name of one line", name.origin), self.what)
        return tuple(found)


def read_requirements(fields: PrdFields, key: str = "requirements") -> tuple[Requirement, ...]:
    found = []
    for name, node in fields.entries(key):
        text = fields.source_of(node, f"requirement {name.value}")
        found.append(Requirement(name.value, "" if text is None else text.text, name.origin))
    return tuple(found)


def read_variables(fields: PrdFields, key: str, problems: Problems) -> tuple[EcuVariable, ...]:
    """Variables, each as `0..255`, `[off, on]`, or a mapping with more about it. A value behind
    `=` is the initial one."""
    found = []
    for name, node in fields.pairs(key):
        with problems.collecting(f"variable {name.value}"):
            found.append(_variable(name, node, problems))
    return tuple(found)


def _variable(name: Scalar, node: Node, problems: Problems) -> EcuVariable:
    what = f"variable {name.value}"
    if not isinstance(node, Mapping):
        low, high, names, initial = _values(node, what)
        return EcuVariable(name=name.value, low=low, high=high, names=names,
                           initial=_initial(initial, low, high, names, node.origin),
                           origin=name.origin)  # fmt: skip
    fields = PrdFields(node, ("values", "initial", "keeps", "requirements"), what, problems)
    values = fields.nodes.get("values")
    if values is None:
        raise Problem(
            f"`{name.value}` needs `values:`", node.origin, "such as 0..255, or [off, on]"
        )
    low, high, names, written = _values(values, what)
    initial = fields.text("initial", "") or written
    return EcuVariable(
        name=name.value,
        low=low,
        high=high,
        names=names,
        initial=_initial(initial, low, high, names, node.origin),
        keeps=fields.flag("keeps") or False,
        requirements=fields.texts_or_one("requirements"),
        origin=name.origin,
    )


def _values(node: Node, what: str) -> tuple[int, int, tuple[str, ...], str]:
    """Lowest and highest value, names, and the initial value as it is written."""
    if isinstance(node, Sequence):
        names = []
        for item in node.items:
            if not isinstance(item, Scalar) or not item.value.isidentifier():
                raise Problem("expected a list of names", item.origin)
            if item.value in names:
                raise Problem(f"`{item.value}` stands here twice", item.origin)
            names.append(item.value)
        if not names:
            raise Problem("a variable needs at least one value", node.origin)
        return 0, len(names) - 1, tuple(names), ""
    if not isinstance(node, Scalar):
        raise Problem("expected values, such as 0..255 or [off, on]", node.origin)
    text, _, initial = node.value.partition("=")
    first, dots, second = text.partition("..")
    low, high = _number(first), _number(second)
    if not dots or low is None or high is None:
        raise Problem("expected values, such as 0..255 or [off, on]", node.origin)
    if not _LOWEST <= low <= high <= _HIGHEST:
        raise Problem(f"this range is empty, or too large ({what})", node.origin)
    return low, high, (), initial.strip()


def _initial(text: str, low: int, high: int, names: tuple[str, ...], origin: Origin) -> int | None:
    if not text or text == "any":
        return None
    value = names.index(text) if text in names else None if names else _number(text)
    if value is None or not low <= value <= high:
        has = ", ".join(names) or f"{low} to {high}"
        raise Problem(f"the initial value cannot be {text[:40]}", origin, f"it can be {has}")
    return value


def _number(text: str) -> int | None:
    text = text.strip()
    digits = text.removeprefix("-")
    if not digits.isascii() or len(digits) > 20:
        return None
    try:
        return int(text, 16 if digits[:2] in ("0x", "0X") else 10)
    except ValueError:
        return None


def _integer(node: Node) -> int | None:
    return _number(node.value) if isinstance(node, Scalar) else None


def source_at(node: Node, what: str) -> SourceText:
    """The text of a scalar. Raises Problem where it is none."""
    if not isinstance(node, Scalar):
        raise Problem("expected a text", node.origin, "put the whole text into quotes")
    return SourceText(node.text.text, node.text.file, node.text.pieces, what)
