"""What is in a store, in words: runs and classes."""

from __future__ import annotations

from typing import Final

from whence.report.triage_words import KIND_WORDS, clean, count
from whence.store.compare import Change, Comparison
from whence.store.history import ClassWords, History, RunSummary
from whence.store.runs import Run

__all__ = [
    "change_words",
    "class_title",
    "comparison_headline",
    "found_words",
    "history_headline",
    "moment",
    "run_state",
]

_KINDS: Final[dict[str, str]] = dict[str, str](KIND_WORDS.items())


def history_headline(told: History) -> str:
    runs = count(len(told.runs), "run")
    return f"{clean(told.store)}: {runs}, {count(len(told.classes), 'class')} of faults."


def moment(date: str) -> str:
    """A date of ISO 8601 to the second: all are in UTC."""
    return clean(date[:19].replace("T", " "))


def run_state(run: Run) -> str:
    """What is to be said of a run that has not done all it should; else nothing."""
    if run.complete:
        return ""
    return "not ended" if run.ended is None else "partial"


def found_words(told: RunSummary) -> str:
    """The verdicts of its traces or results."""
    parts = [f"{number:,} {clean(verdict)}" for verdict, number in told.verdicts.items()]
    return ", ".join(parts) or "–"


def class_title(words: ClassWords) -> str:
    """What a class is about."""
    kind = _KINDS.get(words.kind, words.kind)
    about = f" ({', '.join(words.requirements)})" if words.requirements else ""
    return clean(f"{kind}{about}: {words.observed or 'the trace ends'}")


def comparison_headline(found: Comparison) -> str:
    runs = f"Run {found.before.ident} and run {found.after.ident}"
    if not found.differ:
        return f"{runs}: nothing is different."
    parts = []
    if found.new or found.gone or found.still:
        parts.append(
            f"{count(len(found.new), 'new class')}, {len(found.gone):,} gone, "
            f"{len(found.still):,} still there"
        )
    if found.changes:
        parts.append(f"{count(len(found.changes), 'other verdict')}")
    return f"{runs}: {'; '.join(parts)}."


def change_words(change: Change) -> str:
    before = "not there" if change.before is None else change.before
    after = "not there" if change.after is None else change.after
    return clean(f"{before} → {after}")
