"""Causal ranges and repairs in words that do not need the definitions.

Names of the model are hostile: whatever comes out of here is one line without control characters,
but it is neither markup nor HTML yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Literal

from whence.model.trace import Verdict
from whence.report.story import Story, counted, one_line
from whence.timing.results import (
    Admissibility,
    CausalRange,
    Change,
    Limit,
    RangesResult,
    Repair,
    RepairResult,
)

__all__ = [
    "admissible_words",
    "before_after",
    "change_place",
    "conclusion",
    "deadlock_words",
    "delays_text",
    "extent",
    "how_complete",
    "is_partial",
    "joined",
    "other_queries_words",
    "property_words",
    "range_words",
    "ranges_headline",
    "repairs_headline",
    "state_words",
    "what_admissible_means",
    "witness_words",
]

#: A state of more processes is told by those that move before or after it.
_FEW = 3


def joined(parts: Sequence[str], last: str = "and") -> str:
    """`a, b and c`"""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


# ---------------------------------------------------------------------------------------- states


def state_words(story: Story, delay: int) -> str:
    """Who is where while a delay passes: `client is in serReceiving and db in reqAwaiting`."""
    here = story.steps[delay].locations
    shown = story.takes_part or story.silent[:_FEW]
    if len(shown) > _FEW:
        shown = tuple(_moving(story, delay)) or shown[:_FEW]
    parts = [
        (one_line(story.process_names[at]), one_line(story.location_names[at][here[at]]))
        for at in shown
    ]
    return joined(
        [f"{name} {'' if number else 'is '}in {at}" for number, (name, at) in enumerate(parts)]
    )


def _moving(story: Story, delay: int) -> list[int]:
    """The processes that move when the wait begins or ends, in their order."""
    around = story.steps[delay : delay + 2]
    return sorted({move.process for step in around for move in step.moves})


# ---------------------------------------------------------------------------------------- ranges


def extent(lower: Limit, upper: Limit | None) -> str:
    """`between 2 and 3`, `more than 2 and at most 3`, `at least 2`, `exactly 2`"""
    low = f"{'more than' if lower.strict else 'at least'} {lower.value}"
    if upper is None:
        return low
    if lower.value == upper.value:
        return f"exactly {lower.value}"
    if not lower.strict and not upper.strict and lower.value:
        return f"between {lower.value} and {upper.value}"
    high = f"{'less than' if upper.strict else 'at most'} {upper.value}"
    return f"{low} and {high}" if lower.value or lower.strict else high


def delays_text(delays: Iterable[Fraction]) -> str:
    return f"({', '.join(map(str, delays))})"


def range_words(found: CausalRange, story: Story) -> tuple[str, str]:
    """What the range says of all runs along the trace, and one run as its evidence."""
    return _rule(found, story), _evidence(found)


def _rule(found: CausalRange, story: Story) -> str:
    long = extent(found.lower, found.upper)
    only = Fraction(1) in (found.lower.value, found.upper.value if found.upper else None)
    units = "time unit" if only and long.endswith(" 1") else "time units"
    waits = [f"while {state_words(story, delay)} (δ{delay})" for delay in found.delays]
    if len(waits) == 1:
        return (
            f"Whenever the system waits {long} {units} {waits[0]}, the property is violated, "
            "whatever the other delays are."
        )
    return (
        f"Whenever the system waits {long} {units} in all {joined(waits)}, the property is "
        "violated, however the time is divided among them and whatever the other delays are."
    )


def _evidence(found: CausalRange) -> str:
    whole: list[str] = []
    partial: list[str] = []
    for delay, delays in zip(found.delays, found.satisfying, strict=False):
        had = f"had δ{delay} been {delays[delay]} instead of {found.violating[delay]}"
        (whole if len(delays) == len(found.violating) else partial).append(had)
    text = f"For example, a run with the delays {delays_text(found.violating)} violates it"
    if whole:
        text += f"; {joined(whole, 'or')}, it would not have"
    if partial:
        text += f"; {joined(partial, 'or')}, the trace could not have gone on"
    return f"{text}."


def ranges_headline(result: RangesResult) -> str:
    if result.verdict == "satisfied":
        return "The property holds"
    if result.trace is None:
        return "The property is undecided"
    if result.ranges:
        return f"{counted(len(result.ranges), 'causal range')} of delays"
    return "No causal range of delays"


def conclusion(result: RangesResult) -> list[str]:
    """What is to be said besides the ranges, a sentence each."""
    if result.verdict == "satisfied":
        return ["The property holds: nothing to explain."]
    if result.trace is None:
        return ["No trace that violates the property is known."]
    said: list[str] = []
    if not result.timed and result.complete:
        return ["The violation does not depend on time: no timed cause exists."]
    if result.always:
        said.append("Every run along this trace violates the property.")
        if result.ranges:
            said.append("To avoid it means that the trace is not completed.")
    if not result.ranges and result.complete:
        said.append("No range of delays is a cause of the violation.")
    return said


# --------------------------------------------------------------------------------------- repairs


def before_after(change: Change) -> tuple[str, str]:
    """Both sides of a change; what was not or will not be there is said to be so."""
    return one_line(change.before) or "(nothing)", one_line(change.after) or "(nothing)"


def change_place(change: Change) -> str:
    """`model.xml:27`; without the column, which moves with every edit."""
    line = f":{change.origin.line}" if change.origin.line else ""
    return f"{one_line(change.origin.file)}{line}"


def property_words(repair: Repair) -> str:
    match repair.verdict:
        case "satisfied":
            return "holds"
        case "violated":
            return "still violated by another trace"
        case "error":
            return "error in the repaired model"
        case "unknown":
            return "unknown"


def admissible_words(found: Admissibility | None) -> str:
    if found is None:
        return "not tested"
    if found.violations_only:
        return "violations only"
    return {True: "yes", False: "no", None: "unknown"}[found.admissible]


_OTHERS: dict[Verdict, str] = {
    "violated": "more violated",
    "error": "more with an error",
    "unknown": "now unknown",
}


def other_queries_words(repair: Repair) -> list[str]:
    """How many of the other queries have another answer than before, and which."""
    changed = [query for query in repair.other_queries if query.before != query.after]
    said = []
    for verdict, words in _OTHERS.items():
        count = sum(query.after == verdict for query in changed)
        if count:
            said.append(f"{count} {words}")
    fixed = sum(query.after == "satisfied" and query.before == "violated" for query in changed)
    decided = sum(query.after == "satisfied" for query in changed) - fixed
    if fixed:
        said.append(f"{fixed} no longer violated")
    if decided:
        said.append(f"{decided} now satisfied")
    return said


def deadlock_words(repair: Repair) -> str:
    """Only what is worth knowing: a deadlock that is new, or might be."""
    if repair.deadlock_before != "satisfied":
        return ""
    return {"violated": "new", "unknown": "unknown"}.get(repair.deadlock_after, "")


def repairs_headline(result: RepairResult) -> str:
    if result.verdict == "satisfied":
        return "The property holds"
    if result.trace is None:
        return "The property is undecided"
    return counted(len(result.repairs), "repair") if result.repairs else "No repairs"


def what_admissible_means(result: RepairResult) -> str:
    """What `admissible` means here."""
    found = next((at.admissibility for at in result.repairs if at.admissibility), None)
    if found is None:
        return "Admissibility was not tested."
    sequences = {
        "transitions": "sequences of transitions",
        "actions": "sequences of actions (channels)",
    }.get(found.labels, f"sequences of {one_line(found.labels)}")
    meaning = {
        "equal": f"the repaired model can do the same {sequences} as the original: none is lost, "
        "and none is new",
        "nothing lost": f"the repaired model can still do all {sequences} that the original can",
    }[found.test]
    said = f'Admissible (test "{found.test}" of {one_line(found.labels)}): time aside, {meaning}.'
    if any(repair.violations_only for repair in result.repairs):
        said += (
            " Violations only: not admissible, but nothing is new, and what is lost violates the "
            "property in every run."
        )
    return said


def witness_words(found: Admissibility) -> str:
    """Introduces the word that only one of the models has."""
    models: dict[Literal["original", "repaired"] | None, str] = {
        "original": "only the original model can do this, and every run that does violates the "
        "property"
        if found.violations_only
        else "only the original model can do this; the repaired one cannot",
        "repaired": "only the repaired model can do this; the original one cannot",
        None: "only one of the models can do this",
    }
    if not found.word:
        return f"{models[found.only_in]} (the empty word)"
    return models[found.only_in]


def how_complete(result: RepairResult) -> Iterator[str]:
    """What the list of repairs is, a sentence each."""
    if result.verdict == "satisfied":
        yield "The property holds: nothing to repair."
        return
    if result.trace is None:
        yield "No trace that violates the property is known."
        return
    if result.always:
        yield (
            "Every run along this trace violates the property, so repairs take the trace itself "
            "away."
        )
    changes = counted(result.complete_to, "change")
    if result.complete_to and result.repairs:
        yield (f"All repairs of up to {changes} are listed, except those that contain another one.")
    elif result.complete_to:
        yield f"There is no repair of up to {changes} of the kinds asked for."
    elif not result.repairs:
        yield "No repair was found."


def is_partial(result: RangesResult | RepairResult) -> str:
    """Why an answer is not the whole one; "" if it is."""
    if result.complete and result.verdict not in ("unknown", "error"):
        return ""
    reason = one_line(result.reason) or "the search was not finished"
    return reason if result.verdict == "error" else f"partial: {reason}"
