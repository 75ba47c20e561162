"""Goals of tests, which RT-Tester's models have as constraints: `Finally([ … ])`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whence.formats.charts.xmi_behaviours import expression
from whence.formats.charts.xmi_marks import Requirements
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_texts import blanked, replaced, stripped
from whence.formats.charts.xmi_tree import Model
from whence.model.chart import UserGoal
from whence.source import SourceText

__all__ = ["goals_of"]

_GOAL = re.compile(r"\s*(Finally|Globally|Until|Next)\s*[(\[].*[)\]]\s*\Z", re.DOTALL)
_OPERATORS = {"Finally": "F", "Globally": "G", "Next": "X", "Until": "U"}
#: `Finally (`, and the brackets that RT-Tester puts around conditions on states.
_WORDS = re.compile(r"\b(?:Finally|Globally|Next|Until)\b|\[|\]")


def goals_of(model: Model, requirements: Requirements, problems: Problems) -> Iterator[UserGoal]:
    """The constraints that are temporal formulas, in the order of the file."""
    number = 0
    for element in model.everything():
        if element.kind not in ("Constraint", "") or model.is_reference(element.node):
            continue
        specification = element.child("specification")
        if specification is None or specification.kind not in ("LiteralString", "OpaqueExpression"):
            continue
        found = expression(specification, "a goal", problems)
        if found is None or not _GOAL.match(found.text):
            continue
        number += 1
        name = element.name or f"goal {number}"
        text = _formula(found)
        yield UserGoal(
            name=name,
            text=SourceText(text.text, text.file, text.pieces, f"goal {name}"),
            requirements=tuple(ident for client, ident in requirements.links if client is element),
            origin=element.place,
            optional=True,
        )


def _formula(text: SourceText) -> SourceText:
    changes = []
    for match in _WORDS.finditer(blanked(text.text)):
        new = {"[": "(", "]": ")"}.get(match[0]) or _OPERATORS[match[0]]
        changes.append((match.start(), match.end(), new))
    return stripped(replaced(text, changes))
