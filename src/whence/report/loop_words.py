"""The chain from a model to the faulty lines in words."""

from __future__ import annotations

from whence.campaign.loop.results import BugClass, Loop
from whence.report.story import counted
from whence.report.triage_words import title

__all__ = ["answer_words", "class_title", "headline", "why_words"]


def headline(found: Loop) -> str:
    failing = sum(run.verdict != "pass" for run in found.run.runs)
    tests = counted(len(found.run.runs), "test")
    said = f"all {tests} pass"
    if failing:
        said = f"{failing} of {tests} fail"
        if found.triage is not None and found.triage.faults:
            bugs = counted(len(found.classes), "bug")
            said += f": {counted(len(found.triage.faults), 'fault')}, {bugs}"
    if found.timing:
        said += f"; {counted(len(found.timing), 'property', 'properties')} of times violated"
    return said[0].upper() + said[1:]


def class_title(one: BugClass) -> str:
    return title(one.what)


def answer_words(one: BugClass) -> str:
    return f"Observed {one.what.observed}; expected {one.what.expected}."


def why_words(one: BugClass) -> str:
    """What the diagnoses mean."""
    assert one.code is not None
    found = one.code.found
    tests = f"{counted(one.code.failing, 'failing test')} and {one.code.passing} that pass"
    if not found.diagnoses:
        return f"No change of one place makes these tests pass ({tests})."
    places = len(found.diagnoses[0].places)
    said = f"A change of {counted(places, 'place')} can make all of them pass ({tests})"
    count = counted(len(found.diagnoses), "way")
    said += f": {count}, on {counted(len(found.lines), 'line')}."
    if not found.complete:
        said += " The search was ended by its budget: there may be more."
    return said
