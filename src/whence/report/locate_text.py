"""Fault localization on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from whence.locate.fault_model import Place
from whence.locate.localize import Change, Diagnosis, Localization, Witness
from whence.report.locate_words import (
    assumptions,
    change_words,
    fixes_words,
    headline,
    place_words,
    why_empty,
)

__all__ = ["locate_text"]

Sources = Mapping[str, Sequence[str]]
_MOST_FAILURES = 3
_MOST_FIXES = 3


def locate_text(
    found: Localization, sources: Sources, csr: float, shown: int = 20, quiet: bool = False
) -> list[Text]:
    """The ranked diagnoses, `shown` of them, with excerpts and what would pass; line by line."""
    parts: list[Text] = [Text(headline(found), style="bold", overflow="fold")]
    empty = why_empty(found)
    if empty:
        parts.append(Text(empty, style="yellow", overflow="fold"))
    if not quiet:
        for ran in found.failing[:_MOST_FAILURES]:
            parts.append(Text(f"  test {ran.test.name}: {ran.failure}", "dim", overflow="fold"))
        if len(found.failing) > _MOST_FAILURES:
            parts.append(Text(f"  and {len(found.failing) - _MOST_FAILURES} more", "dim"))
    for number, diagnosis in enumerate(found.diagnoses[:shown], 1):
        parts += _diagnosis(number, diagnosis, sources, quiet)
    if len(found.diagnoses) > shown:
        parts += [Text(""), Text(f"and {len(found.diagnoses) - shown} more (--top)", "dim")]
    if found.lines:
        total = f"{len(found.lines)} lines, {100 * csr:.1f} % of the code"
        parts += [Text(""), Text(total.replace("1 lines", "1 line", 1), "dim")]
    said = fixes_words(found)
    if said:
        parts.append(Text(said, "dim", overflow="fold"))
    for said in assumptions(found):
        parts.append(Text(said, "dim", overflow="fold"))
    if not found.complete:
        reason = found.found.reason if found.found is not None else ""
        parts += [Text(""), Text(f"Partial: {reason}.", "yellow", overflow="fold")]
    return parts


def _diagnosis(number: int, diagnosis: Diagnosis, sources: Sources, quiet: bool) -> list[Text]:
    lines: list[Text] = [Text("")]
    head = Text(f"{number}. ", style="bold")
    head.append(", ".join(map(_where, diagnosis.places)))
    head.append(f"  (score {diagnosis.score:.2f})", "dim")
    head.overflow = "fold"
    lines.append(head)
    for place in diagnosis.places:
        excerpt = _excerpt(place, sources)
        if excerpt is not None:
            lines.append(excerpt)
    if not quiet:
        for witness in diagnosis.witnesses:
            said = "; ".join(change_words(change, diagnosis) for change in _first(witness))
            if said:
                lines.append(Text(f"   test {witness.test}: {said}", "green", overflow="fold"))
    for fix in diagnosis.fixes[: 1 if quiet else _MOST_FIXES]:
        lines.append(Text("   candidate: all tests pass with", style="bold"))
        lines += [_patch_line(line) for line in fix.diff.splitlines()]
    return lines


def _patch_line(line: str) -> Text:
    style = "dim"
    if line[:1] in "+-" and line[:3] not in ("+++", "---"):
        style = "green" if line[0] == "+" else "red"
    return Text(f"   {line.rstrip()}".rstrip(), style, overflow="fold")


def _first(witness: Witness) -> list[Change]:
    """The first change of each place."""
    found: dict[Place, Change] = {}
    for change in witness.changes:
        found.setdefault(change.place, change)
    return list(found.values())


def _where(place: Place) -> str:
    words = place_words(place)
    return f"{place.origin}{f' ({words})' if words else ''}"


def _excerpt(place: Place, sources: Sources) -> Text | None:
    lines = sources.get(place.origin.file, ())
    if not 0 < place.origin.line <= len(lines):
        return None
    line = lines[place.origin.line - 1].expandtabs(4).rstrip()
    text = Text(overflow="fold")
    text.append(f"   {place.origin.line:5} | ", "dim")
    text.append(line)
    return text
