"""The chain from a model to the faulty lines, for terminals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from whence.campaign.loop.results import Loop
from whence.report.loop_words import answer_words, class_title, headline, why_words

__all__ = ["loop_lines"]

_SHOWN = 3


def loop_lines(found: Loop) -> Iterator[str]:
    yield headline(found)
    covered = found.suite.count("covered")
    yield f"{covered} of {len(found.suite.goals)} goals are covered; {found.run.system}"
    for number, one in enumerate(found.classes, 1):
        yield ""
        yield f"{number}. {class_title(one)}, in {', '.join(one.runs)}"
        yield f"   {answer_words(one)}"
        if one.code is None:
            if one.why:
                yield f"   the code was not looked at: {one.why}"
            continue
        yield f"   {why_words(one)}"
        for each in one.code.found.diagnoses[:_SHOWN]:
            for place in each.places:
                lines = found.sources.get(place.origin.file, ())
                at = place.origin.line
                text = lines[at - 1].strip() if 0 < at <= len(lines) else ""
                yield f"   {Path(place.origin.file).name}:{at}  {text}"
            if each.fixes:
                edit = each.fixes[0].edits[0]
                yield f"      passes all these tests with `{edit.new}` in place of `{edit.old}`"
    for timing in found.timing:
        yield ""
        yield f"{Path(timing.file).name}: violated: {timing.query}"
        for each_range in timing.ranges.ranges:
            yield f"   {each_range}"
        good = [repair for repair in timing.repairs.repairs if repair.admissible]
        for repair in good[:_SHOWN]:
            told = "; ".join(f"{c.element}: {c.before} -> {c.after}" for c in repair.changes)
            yield f"   repair: {told}"
