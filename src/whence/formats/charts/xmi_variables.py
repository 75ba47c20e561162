"""Attributes as variables: their types, ranges and initial values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from whence.formats.charts.xmi_marks import Marks, identifier, marks_of, number
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_texts import stripped
from whence.formats.charts.xmi_tree import Element, Model, Reference
from whence.model.chart import ChartVariable, VariableType
from whence.source import Diagnostic, SourceText

__all__ = ["Role", "Variables", "literal_values"]

Role = Literal["internal", "input", "output", "constant"]

_INT = (-(2**31), 2**31 - 1)
#: What primitive types are called; where sizes differ between compilers, those of 32-bit machines.
_INTEGERS = {
    "byte": (-(2**7), 2**7 - 1),
    "char": (-(2**7), 2**7 - 1),
    "count": (0, 2**31 - 1),
    "int": _INT,
    "int16": (-(2**15), 2**15 - 1),
    "int32": _INT,
    "int8": (-(2**7), 2**7 - 1),
    "integer": _INT,
    "long": _INT,
    "natural": (0, 2**31 - 1),
    "nonnegativeinteger": (0, 2**31 - 1),
    "positiveinteger": (1, 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "uint": (0, 2**32 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint8": (0, 2**8 - 1),
    "unlimitednatural": (0, 2**31 - 1),
    "unsigned": (0, 2**32 - 1),
    "unsignedbyte": (0, 2**8 - 1),
    "unsignedchar": (0, 2**8 - 1),
    "unsignedint": (0, 2**32 - 1),
    "unsignedinteger": (0, 2**32 - 1),
    "unsignedlong": (0, 2**32 - 1),
    "unsignedshort": (0, 2**16 - 1),
}
_BOOLEANS = frozenset(("bool", "boolean"))
_FLOATS: dict[str, Literal[0, 32, 64]] = {
    "double": 64,
    "float": 0,
    "float32": 32,
    "float64": 64,
    "real": 64,
}
_TIMERS = frozenset(("clock", "timer"))
_LOWS = ("minimumvalue", "minvalue", "minimum", "min", "lowerbound", "lower", "lo", "low")
_HIGHS = ("maximumvalue", "maxvalue", "maximum", "max", "upperbound", "upper", "hi", "high")
_NUMBER = r"([+-]?\d+(?:\.\d+)?)"
_INTERVAL = re.compile(rf"(?:\w+\s*(?:in|:)\s*)?\[?\s*{_NUMBER}\s*(?:\.\.+|,)\s*{_NUMBER}\s*\]?")
_BOTH = re.compile(rf"{_NUMBER}\s*<=\s*(\w+)\s*(?:(?:&&|and)\s*(\w+)\s*)?<=\s*{_NUMBER}")
_FALLING = re.compile(rf"(\w+)\s*>=\s*{_NUMBER}\s*(?:&&|and)\s*(\w+)\s*<=\s*{_NUMBER}")
_CLASSES = frozenset(("Class", "Component", "Interface", "DataType", "Signal", "Actor", "Node"))


def literal_values(enumeration: Element) -> list[tuple[str, int]]:
    """The literals of an enumeration with their numbers: their places in it, if it gives none."""
    result = []
    for place, literal in enumerate(enumeration.all("ownedLiteral")):
        value: int | None = None
        for application in literal.model.applied(literal):
            given = application.value("value")
            if given is not None and re.fullmatch(r"[+-]?\d{1,18}", given.text.strip()):
                value = int(given.text)
        specification = literal.child("specification")
        if value is None and specification is not None and specification.kind == "LiteralInteger":
            # Eclipse leaves a 0 out.
            text = specification.text("value", "0").strip()
            value = int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else None
        result.append((identifier(literal.name), place if value is None else value))
    return result


@dataclass(slots=True)
class Variables:
    """Makes variables of attributes. An attribute that can be none is an error only where it is
    used, so the reasons are kept for later."""

    model: Model
    problems: Problems

    def read(self, attribute: Element, role: Role = "internal") -> ChartVariable | Diagnostic:
        """The variable, or why there is none."""
        marks = marks_of(attribute, self.problems)
        kind = self.type_of(attribute, marks)
        if isinstance(kind, Diagnostic):
            return kind
        for bound, shown in (("lowerValue", "lower"), ("upperValue", "upper")):
            given = attribute.child(bound)
            if given is not None:
                # In Eclipse's files a natural number without a value is 0.
                value = given.text("value", "0" if given.kind.startswith("Literal") else "1")
                if value.strip() != "1":
                    return Diagnostic(
                        f"not supported: {attribute.shown} has the {shown} multiplicity {value}",
                        given.place,
                        "a variable holds one value",
                    )
        if attribute.flag("isDerived"):
            return Diagnostic(f"not supported: {attribute.shown} is derived", attribute.place)
        if marks.role:
            role = _role(marks.role)
        elif attribute.flag("isReadOnly"):
            role = "constant"
        else:
            for application in self.model.applied(attribute):
                direction = application.value("direction")
                if direction is not None and application.name.lower() == "flowproperty":
                    role = _role({"in": "input", "out": "output"}.get(direction.text, role))
        return ChartVariable(
            name=attribute.name,
            type=kind,
            role=role,
            initial=self.initial(attribute),
            origin=attribute.place,
        )

    # -------------------------------------------------------------------------------- types

    def declared(self, attribute: Element) -> tuple[Element | None, str]:
        """The type of an attribute, if it is in this file, and what it is called."""
        contained = next(
            (one for one in attribute.all("type") if not self.model.is_reference(one.node)), None
        )
        if contained is not None:
            return contained, contained.name
        for reference in attribute.references("type"):
            target = self.model.find(reference)
            if target is not None:
                return target, target.name
            if reference.file or reference.path:
                return None, _external(reference)
            self.problems.error(
                f"the type of {attribute.shown} is unknown: "
                f"there is no element `{reference.ident}`",
                reference.origin,
            )
        return None, ""

    def type_of(self, attribute: Element, marks: Marks) -> VariableType | Diagnostic:
        target, name = self.declared(attribute)
        if target is not None and target.kind == "Enumeration":
            return self.enumeration(target, attribute)
        base = self.primitive(target, name)
        place = attribute.place
        if base is None:
            if not name:
                return Diagnostic(
                    f"{attribute.shown} has no type", place, "give it bool, int or an enumeration"
                )
            return Diagnostic(
                f"not supported: {attribute.shown} of type `{name}`",
                place,
                "variables are boolean, integer, enumerations, floating-point numbers or timers",
            )
        return self.restricted(base, attribute, target, marks)

    def primitive(self, target: Element | None, name: str) -> VariableType | None:
        """The type that has this name, or whose special case it is."""
        seen: set[str] = set()
        while True:
            key = re.sub(r"[\s_]", "", name).lower()
            key = key.removeprefix("signed")
            if key.endswith("t") and key[:-1] in _INTEGERS and key != "int":
                key = key[:-1]  # uint8_t
            if key in _BOOLEANS:
                return VariableType(kind="bool", lo=0, hi=1)
            if key in _INTEGERS:
                lo, hi = _INTEGERS[key]
                return VariableType(kind="int", lo=lo, hi=hi)
            if key in _FLOATS:
                return VariableType(kind="float", bits=_FLOATS[key])
            if key in _TIMERS:
                return VariableType(kind="timer")
            if target is None or target.ident in seen or target.kind in ("Class", "Interface"):
                return None
            seen.add(target.ident)
            references = [
                reference
                for generalization in target.all("generalization")
                for reference in generalization.references("general")
            ]
            if not references:
                return None
            target = self.model.find(references[0])
            name = target.name if target is not None else _external(references[0])

    def enumeration(self, target: Element, attribute: Element) -> VariableType | Diagnostic:
        values = literal_values(target)
        if not values:
            return Diagnostic(
                f"the type of {attribute.shown} has no literals: enumeration `{target.name}`",
                target.place,
            )
        values.sort(key=lambda one: one[1])
        if [value for _, value in values] != list(range(len(values))):
            return Diagnostic(
                f"not supported: the literals of enumeration `{target.name}` are not numbered "
                f"from 0 to {len(values) - 1}",
                target.place,
            )
        members = tuple(name for name, _ in values)
        if len(set(members)) != len(members):
            return Diagnostic(f"enumeration `{target.name}` names a literal twice", target.place)
        return VariableType(
            kind="enum", lo=0, hi=len(members) - 1, members=members, name=identifier(target.name)
        )

    def restricted(
        self, base: VariableType, attribute: Element, target: Element | None, marks: Marks
    ) -> VariableType | Diagnostic:
        """The type within the range that stereotypes, comments or constraints give it."""
        if base.kind not in ("int", "float"):
            return base
        found = self.range_of(attribute, marks)
        if found is None and target is not None:
            found = self.range_of(target, marks_of(target, self.problems))
        if found is None:
            return base
        low, high = found
        if low > high:
            return Diagnostic(
                f"{attribute.shown} has an empty range: {low} is more than {high}", attribute.place
            )
        if base.kind == "float":
            return VariableType(kind="float", bounds=(low, high), bits=base.bits)
        if low.denominator != 1 or high.denominator != 1:
            return Diagnostic(
                f"{attribute.shown} is an integer, but its range is {low} to {high}",
                attribute.place,
            )
        return VariableType(kind="int", lo=int(low), hi=int(high))

    def range_of(self, element: Element, marks: Marks) -> tuple[Fraction, Fraction] | None:
        for application in self.model.applied(element):
            low, high = application.value(*_LOWS), application.value(*_HIGHS)
            if low is not None and high is not None and low.text.strip() and high.text.strip():
                first = number(low, f"the minimum of {element.shown}", self.problems)
                last = number(high, f"the maximum of {element.shown}", self.problems)
                return None if first is None or last is None else (first, last)
        if marks.range is not None:
            match = _INTERVAL.fullmatch(marks.range.text)
            if match is None:
                self.problems.error(
                    f"this is no range: `{marks.range.text}`",
                    marks.range.origin(0, len(marks.range.text)),
                    "write `@range 0..5`",
                )
                return None
            return Fraction(match[1]), Fraction(match[2])
        for rule in self.constraints(element):
            for text in rule:
                found = _interval(text, element.name)
                if found is not None:
                    return found
        return None

    def constraints(self, element: Element) -> list[list[str]]:
        """The texts of the constraints that an element owns, or that are about it and stand beside
        it."""
        rules = list(element.all("ownedRule"))
        if element.parent is not None:
            rules += [
                rule
                for rule in element.parent.all("ownedRule")
                if element.ident in [one.ident for one in rule.references("constrainedElement")]
            ]
        return [
            [
                source.text
                for name in ("body", "value", "symbol")
                for source in specification.sources(name, "")
            ]
            for rule in rules
            for specification in rule.all("specification")
        ]

    # ------------------------------------------------------------------------ initial values

    def initial(self, attribute: Element) -> SourceText | None:
        default = attribute.child("defaultValue")
        if default is None:
            plain = attribute.source("default", f"the default of {attribute.shown}")
            return plain if plain is not None and plain.text.strip() else None
        what = f"the default of {attribute.shown}"
        match default.kind:
            case "LiteralBoolean" | "LiteralInteger" | "LiteralReal" | "LiteralUnlimitedNatural":
                found = default.source("value", what)
                if found is None:  # left out where it is the type's own default
                    zero = "false" if default.kind == "LiteralBoolean" else "0"
                    place = default.place
                    found = SourceText(zero, place.file, ((0, place.line, place.column),), what)
            case "LiteralString":
                found = default.source("value", what)
            case "Expression":
                found = default.source("symbol", what)
            case "InstanceValue":
                literal = default.target("instance", self.problems, what)
                if literal is None:
                    return None
                place = default.place
                found = SourceText(
                    identifier(literal.name), place.file, ((0, place.line, place.column),), what
                )
            case "LiteralNull":
                return None
            case "OpaqueExpression":
                found = next((one for one in default.sources("body", what)), None)
            case _:
                self.problems.refuse(f"a {default.kind} as {what}", default.place)
                return None
        if found is None or not found.text.strip():
            return None
        return stripped(found)


def _role(text: str) -> Role:
    match text:
        case "input" | "output" | "constant":
            return text
        case _:
            return "internal"


def _external(reference: Reference) -> str:
    """What a type of another file is called: `…#Integer`, or MagicDraw's path of it."""
    return reference.path.rpartition("::")[2] or reference.ident


def _interval(text: str, name: str) -> tuple[Fraction, Fraction] | None:
    plain = text.strip()
    match = _INTERVAL.fullmatch(plain)
    if match is not None:
        return Fraction(match[1]), Fraction(match[2])
    match = _BOTH.fullmatch(plain)
    if match is not None and {match[2], match[3] or match[2]} == {name}:
        return Fraction(match[1]), Fraction(match[4])
    match = _FALLING.fullmatch(plain)
    if match is not None and match[1] == match[3] == name:
        return Fraction(match[2]), Fraction(match[4])
    return None
