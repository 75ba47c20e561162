"""What `whence locate` says, in words: for the terminal, JSON and SARIF alike."""

from __future__ import annotations

from whence.locate.fault_model import Place
from whence.locate.localize import Change, Diagnosis, Localization
from whence.report.story import counted

__all__ = ["assumptions", "change_words", "fixes_words", "headline", "place_words", "why_empty"]


def headline(found: Localization) -> str:
    """The answer in a sentence."""
    count = len(found.ran)
    failing = len(found.failing)
    if not failing:
        return f"All {counted(count, 'test')} pass."
    tests = f"{failing} of {counted(count, 'test')} {'fails' if failing == 1 else 'fail'}"
    if not found.diagnoses:
        return f"{tests}; no place was found."
    sizes = sorted({len(each.places) for each in found.diagnoses})
    ways = counted(len(found.diagnoses), "way")
    places = counted(sizes[0], "place")
    if len(sizes) > 1:
        places = f"{sizes[0]} to {sizes[-1]} places"
    return f"{tests}; {ways} to change {places} could make all of them pass."


def why_empty(found: Localization) -> str:
    """Why there are no diagnoses although tests fail; empty if that is not so."""
    if found.diagnoses or not found.failing or not found.complete:
        return ""
    if found.unexplained:
        names = _names(found.unexplained)
        return (
            f"No change of the places that can be faulty makes these tests pass: {names}. "
            "What they ask for contradicts itself, or what cannot be faulty: assertions, trusted "
            "functions, how far loops are unrolled."
        )
    return "The failures cannot be seen in the encoding of the program."


def _names(names: tuple[str, ...], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def assumptions(found: Localization) -> list[str]:
    """What the answer rests on."""
    said = []
    for loop, rounds in found.unwound:
        said.append(
            f"{loop.origin}: the loop is assumed to end after at most {counted(rounds, 'round')}"
        )
    if found.cut:
        said.append("calls are assumed not to be nested deeper than in the failing tests")
    if found.unseen and found.diagnoses:
        said.append(
            f"tests whose failure the encoding does not show, and which do not count: "
            f"{_names(found.unseen)}"
        )
    return said


def fixes_words(found: Localization) -> str:
    """What came of trying edits; empty if that was not asked for."""
    if found.tried is None or not found.diagnoses:
        return ""
    count = sum(len(each.fixes) for each in found.diagnoses)
    tried = counted(found.tried, "edit")
    if not count:
        return f"None of {tried} that were tried makes all tests pass."
    return (
        f"{counted(count, 'candidate')} of {tried} that were tried: all tests pass with "
        f"{'it' if count == 1 else 'each of them'}, which does not prove "
        f"{'it' if count == 1 else 'them'} right."
    )


def place_words(place: Place) -> str:
    match place.kind:
        case "macro":
            return f"macro `{place.name}`"
        case "constant":
            return f"constant `{place.name}`"
        case "array size":
            return f"the size of `{place.name}`"
        case "initialiser":
            return f"the initialiser of `{place.name}`"
    return ""


def change_words(change: Change, diagnosis: Diagnosis) -> str:
    """Such as "line 63 gave 400, 500 would pass"."""
    line = f"line {change.origin.line}"
    where = line if change.what in ("", "condition") else f"{line}, {change.what},"
    if change.decision:
        came, wanted = ("true", "false") if change.gave else ("false", "true")
        return f"{where} came out {came}, {wanted} would pass"
    return f"{where} gave {change.gave}, {change.wanted} would pass"
