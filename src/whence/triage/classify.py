"""Fault classification (Becker, section 5): which explanations are similar?

The relation ~ compares all atomic clock constraints of the common template. What they come to is in
the key of an explanation, so that a class is what has one key, and no two need to be compared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import takewhile

from whence.triage.results import Class, Classes, Explanation, Grouping

__all__ = ["classify", "constraints_of", "key_of"]


def classify(explanations: Iterable[Explanation], grouping: Grouping = "similar") -> Classes:
    """A partition of explanations, with the representatives that keep the fewest events of the
    shortest witnesses.

    `grouping` "events": the same labels of events and the same violated transitions, whatever the
    times and values; "requirements": the same requirements are violated, in the same way."""
    all_ = tuple(explanations)
    members: dict[str, list[int]] = {}
    for number, explanation in enumerate(all_):
        members.setdefault(key_of(explanation, grouping), []).append(number)
    # Equal sizes in the order of their keys, which do not depend on the order of traces.
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    classes = tuple(_class(key, numbers, all_, grouping) for key, numbers in ordered)
    of = [0] * len(all_)
    for number, each in enumerate(classes):
        for member in each.members:
            of[member] = number
    return Classes(grouping, classes, tuple(of))


def key_of(explanation: Explanation, grouping: Grouping) -> str:
    """The same in all runs, and for explanations of one class only."""
    if grouping == "similar":
        return explanation.key
    fault = explanation.fault
    content = json.dumps([fault.kind, fault.requirements])
    if grouping == "events":
        labels = [_label(look) for look in explanation.signature]
        # By what they say: the numbers of transitions change with the model.
        violated = {e.text for e in fault.expected if e.transition in fault.violated}
        content = json.dumps([labels, fault.kind, fault.requirements, sorted(violated)])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _label(look: str) -> str:
    """An event without the values of its fields."""
    return " ".join(takewhile(lambda word: "=" not in word, look.split(" ")))


def _class(
    key: str, members: Sequence[int], all_: Sequence[Explanation], grouping: Grouping
) -> Class:
    def length(number: int) -> tuple[int, int, str, int]:
        fault = all_[number].fault
        seen = (fault.index or 0) - fault.since
        return len(all_[number].events), seen, fault.trace, fault.number

    best = all_[representative := min(members, key=length)]
    requirements = dict.fromkeys(r for n in members for r in all_[n].fault.requirements)
    return Class(
        key=key,
        representative=representative,
        members=tuple(members),
        events=best.signature,
        constraints=constraints_of(best) if grouping == "similar" else (),
        requirements=tuple(requirements),
    )


def constraints_of(explanation: Explanation) -> tuple[str, ...]:
    """The atomic clock constraints of its template, `not` in front of those without a solution."""
    atoms = zip(explanation.template.atoms, explanation.satisfied, strict=True)
    return tuple(f"{'' if holds else 'not '}{atom.text}" for atom, holds in atoms)
