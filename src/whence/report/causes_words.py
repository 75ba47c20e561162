"""What is said of causes, on the terminal and on pages alike."""

from __future__ import annotations

from collections.abc import Mapping

from whence.causes.cut_sets import SafetySummary
from whence.causes.results import Absent, Cause, CausesResult, Event
from whence.model.transitions import Action
from whence.report.story import counted

__all__ = [
    "absent_words",
    "event_words",
    "headline",
    "how_many",
    "is_partial",
    "limits_words",
    "probability",
    "safety_words",
    "sentences",
]


def headline(result: CausesResult) -> str:
    if result.initially:
        return "The hazard is there from the start"
    if result.verdict == "satisfied":
        return "The hazard cannot come about"
    if not result.causes:
        return "No cause was found"
    return counted(len(result.causes), "cause")


def probability(value: float) -> str:
    """Enough digits to compare models by, and no more than make sense."""
    return f"{value:.6g}" if value == 0 or value >= 1e-3 else f"{value:.5e}"


def how_many(result: CausesResult) -> str:
    """The size of what was looked at."""
    size = f"{result.states:,} states, {result.transitions:,} transitions"
    if not result.causal_traces:
        return size
    return f"{size}, {counted(result.causal_traces, 'causal trace')}"


def sentences(result: CausesResult) -> list[str]:
    """What there is to say of the answer as a whole."""
    said: list[str] = []
    if result.initially:
        said.append(
            "It holds in an initial state, so that no event can be to blame: nothing that happens "
            "could have avoided it."
        )
    elif result.verdict == "satisfied":
        said.append("No run of the model gets there.")
    elif result.deterministic:
        said.append(
            "Each cause says all that matters: whenever its events happen in its order, and what "
            "must not happen does not, the hazard comes about."
        )
    elif result.causes:
        said.append(
            "These are weak causes: without their events in their order the hazard does not come "
            "about, but other events may still avert it."
        )
    if result.probability is not None:
        said.append(
            f"The hazard comes about within {result.time} with probability "
            f"{probability(result.probability)}. A run may have several causes, so that their "
            "probabilities need not add up to it."
        )
    if any(not cause.exact for cause in result.causes):
        said.append(
            "Where an order is not exact, some sequences that keep to it do not lead to the "
            "hazard; --exact splits such causes."
        )
    said += [f"{note[0].upper()}{note[1:]}." for note in result.notes]
    return said


def is_partial(result: CausesResult) -> str:
    if result.complete:
        return ""
    known = ""
    if result.depth is not None:
        known = f" All causes of up to {counted(result.depth, 'event')} are here."
    return f"partial: {result.reason or 'not everything was looked at'}.{known}"


def limits_words(cause: Cause) -> str:
    """How many traces a cause stands for, and whether its order is exact."""
    many = f"{counted(len(cause.events), 'event')} in {counted(cause.traces, 'order')}"
    return many if cause.exact else f"{many} (not exact: the order drawn admits others)"


def event_words(event: Event, actions: Mapping[str, Action]) -> str:
    action = actions.get(event.action)
    if action is None or not action.failure:
        return str(event)
    kind = {None: "failure", True: "detected failure", False: "undetected failure"}
    return f"{event} ({kind[action.detected]})"


def absent_words(absent: Absent) -> str:
    if absent.after is None and absent.before is None:
        return f"no {absent.action} at all"
    parts = [f"no {absent.action}"]
    if absent.after is not None:
        parts.append(f"after {absent.after}")
    parts.append(f"before {absent.before}" if absent.before is not None else "until the hazard")
    return " ".join(parts)


def safety_words(summary: SafetySummary) -> list[str]:
    """The classes of ISO 26262; none where a model tells of no failures."""
    if summary.over != "failures":
        return []
    said = []
    for kind, chance in (
        ("single-point", summary.probability_single_point),
        ("multiple-point", summary.probability_multiple_point),
    ):
        found = summary.of(kind)  # type: ignore[arg-type]
        if found:
            causes = ", ".join(str(one.cause) for one in found)
            more = "" if chance is None else f" (together at most {probability(chance)})"
            plural = "s" if len(found) > 1 else ""
            said.append(f"{kind} failure{plural}: cause{plural} {causes}{more}")
    without = summary.of("none")
    if without:
        causes = ", ".join(str(one.cause) for one in without)
        said.append(f"without any failure, by design: {causes}")
    if summary.undetected:
        causes = ", ".join(str(one.cause) for one in summary.undetected)
        said.append(f"with a failure that nobody detects: {causes}")
    sets = ["{" + ", ".join(str(event) for event in one.events) + "}" for one in summary.cut_sets]
    if sets:
        said.append(f"minimal cut sets of failures: {', '.join(sets)}")
    return said
