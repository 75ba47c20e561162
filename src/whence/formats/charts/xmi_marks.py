"""What people write at elements to say how often something fails and which requirement it meets:
stereotypes, keywords, comments, and SysML's requirements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_texts import cut
from whence.formats.charts.xmi_tree import Element, Model
from whence.model.chart import Requirement
from whence.source import SourceText

__all__ = ["Marks", "Requirements", "identifier", "marks_of", "number", "requirements_of", "unique"]

_TAG = re.compile(r"(?<![\w@.])@(?P<tag>[A-Za-z]\w*)(?:[ \t]*[:=]?[ \t]*(?P<value>[^\s<@]+))?")
_NUMBER = re.compile(
    r"(?P<number>[+-]?(\d+\.?\d*|\.\d+)(?:[eE](?P<exponent>[+-]?\d{1,9}))?)[fFdDlLuU]*"
)
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FAILURES = frozenset(("failure", "failures", "failed", "error", "fault", "hazardous"))
_NEGATIONS = frozenset(("no", "non", "not"))
#: How Eclipse keeps keywords.
_KEYWORDS = "http://www.eclipse.org/uml2/2.0.0/UML"


def identifier(name: str) -> str:
    """A name that expressions can use: what is no letter or digit becomes `_`."""
    result = re.sub(r"\W", "_", name.strip())
    return f"_{result}" if result[:1].isdigit() else result


def unique(name: str, taken: set[str], separator: str = "_") -> str:
    """The name, or the name with a number, that is not yet taken; now it is."""
    result, count = name, 1
    while result in taken:
        count += 1
        result = f"{name}{separator}{count}"
    taken.add(result)
    return result


def number(text: SourceText, what: str, problems: Problems) -> Fraction | None:
    """A number as people write it, exactly."""
    match = _NUMBER.fullmatch(text.text.strip())
    # Exponents beyond those of machine numbers would take all the memory there is.
    if match is None or len(match[0]) > 400 or abs(int(match["exponent"] or 0)) > 400:
        problems.error(
            f"{what} is not a number: `{text.text.strip()[:40]}`",
            text.origin(0, len(text.text)),
            "write it as `0.0001` or `1e-4`",
        )
        return None
    return Fraction(match["number"])


@dataclass(slots=True)
class Marks:
    """What is written at one element."""

    rate: Fraction | None = None
    failure: bool = False
    detected: bool | None = None
    event: str | None = None
    environment: bool = False
    role: str = ""
    range: SourceText | None = None
    tags: list[str] = field(default_factory=list)


def _is_failure(name: str) -> bool:
    parts = {part.lower() for part in _PARTS.findall(name)}
    return bool(parts & _FAILURES) and not parts & _NEGATIONS


def _truth(text: str | None, default: bool | None) -> bool | None:
    low = (text or "").strip().lower()
    return True if low in _TRUE else False if low in _FALSE else default


def marks_of(element: Element, problems: Problems) -> Marks:
    marks = Marks()
    model = element.model
    for application in model.applied(element):
        marks.tags.append(application.name)
        if _is_failure(application.name):
            marks.failure = True
        if application.name.lower() in ("te", "testenvironment", "environment"):
            marks.environment = True
        if application.name.lower() in ("input", "output", "constant"):
            marks.role = application.name.lower()
        rate = application.value("rate", "failurerate")
        if rate is not None and rate.text.strip():
            _set_rate(marks, rate, problems)
        for name in ("failure", "error"):
            flag = application.value(name)
            if flag is not None:
                marks.failure = bool(_truth(flag.text, marks.failure))
        detected = application.value("detected")
        if detected is not None:
            marks.detected = _truth(detected.text, marks.detected)
        event = application.value("event")
        if event is not None and event.text.strip():
            marks.event = event.text.strip()
    for keyword in _keywords(element):
        marks.tags.append(keyword)
        marks.failure = marks.failure or _is_failure(keyword)
    for comment in _comments(element):
        _read_comment(marks, comment, problems)
    return marks


def _keywords(element: Element) -> list[str]:
    return [
        detail.text("key")
        for annotation in element.all("eAnnotations")
        if annotation.text("source") == _KEYWORDS
        for detail in annotation.all("details")
    ]


def _comments(element: Element) -> list[SourceText]:
    """The comments that are attached to an element, or that it owns and that are attached to no
    other."""
    found = []
    for comment in element.model.comments(element):
        body = comment.source("body", f"a comment at {element.shown}")
        if body is not None:
            found.append(body)
    return found


def _read_comment(marks: Marks, body: SourceText, problems: Problems) -> None:
    for match in _TAG.finditer(body.text):
        tag, value = match["tag"].lower(), match["value"]
        match tag:
            case "rate":
                if value is None:
                    problems.error("`@rate` without a number", body.origin(*match.span()))
                else:
                    _set_rate(marks, cut(body, *match.span("value")), problems)
            case "failure" | "error":
                marks.failure = bool(_truth(value, True))
                marks.tags.append(f"@{tag}")
            case "detected":
                marks.detected = _truth(value, True)
            case "event":
                if value is None:
                    problems.error("`@event` without a name", body.origin(*match.span()))
                else:
                    marks.event = value.rstrip(".,;")
            case "environment":
                marks.environment = True
            case "input" | "output" | "constant":
                marks.role = tag
            case "range" if value is not None:
                marks.range = cut(body, *match.span("value"))
            case _:
                marks.tags.append(f"@{match['tag']}")


def _set_rate(marks: Marks, text: SourceText, problems: Problems) -> None:
    rate = number(text, "the rate", problems)
    if rate is None:
        return
    if rate < 0:
        problems.error(f"the rate {text.text.strip()} is negative", text.origin(0, len(text.text)))
    marks.rate = rate


# ---------------------------------------------------------------------------------- requirements


@dataclass(slots=True)
class Requirements:
    #: All of them, in the order of the file.
    all: tuple[Requirement, ...] = ()
    #: What each element satisfies, by the element's identifier in the file.
    of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: The links: (element, requirement).
    links: list[tuple[Element, str]] = field(default_factory=list)

    def at(self, *elements: Element | None) -> tuple[str, ...]:
        """What these elements satisfy, each once."""
        found: dict[str, None] = {}
        for element in elements:
            if element is not None:
                found.update(dict.fromkeys(self.of.get(element.ident, ())))
        return tuple(found)


#: A link from anything else (an entry behaviour, a constraint) belongs to what it stands in.
_HOMES = frozenset(
    (
        "Class",
        "Component",
        "FinalState",
        "Interface",
        "Package",
        "Pseudostate",
        "State",
        "StateMachine",
        "Transition",
    )
)


def requirements_of(model: Model, problems: Problems) -> Requirements:
    """The elements with a stereotype called Requirement (or one that ends so, as
    `functionalRequirement`), and what satisfies them: abstractions stereotyped Satisfy."""
    known: dict[str, Requirement] = {}
    taken: set[str] = set()
    for element in model.everything():
        for application in model.applied(element):
            if not application.name.lower().endswith("requirement") or element.ident in known:
                continue
            ident, text = application.value("id"), application.value("text")
            name = (ident.text.strip() if ident is not None else "") or element.name
            name = name or element.ident
            name = unique(name, taken)
            known[element.ident] = Requirement(
                ident=name, text=text.text.strip() if text is not None else "", origin=element.place
            )
    result = Requirements(tuple(known.values()))
    gathered: dict[str, dict[str, None]] = {}
    for element in model.everything():
        if not model.stereotyped(element, "satisfy"):
            continue
        clients = element.targets("client", problems, "what satisfies a requirement")
        for supplier in element.targets("supplier", problems, "the requirement that is satisfied"):
            requirement = known.get(supplier.ident)
            if requirement is None:
                problems.note(f"{supplier.shown} is satisfied, but no requirement", element.place)
                continue
            for client in clients:
                home: Element | None = client
                while home is not None and home.kind not in _HOMES:
                    home = home.parent
                result.links.append((client, requirement.ident))
                if home is not None:
                    gathered.setdefault(home.ident, {})[requirement.ident] = None
    result.of = {ident: tuple(found) for ident, found in gathered.items()}
    return result
