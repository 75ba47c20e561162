"""Fault localization as a page of HTML; see :mod:`whence.report.page`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whence.locate.fault_model import Place
from whence.locate.localize import Change, Diagnosis, Fix, Localization, Spectrum
from whence.report.locate_words import (
    assumptions,
    fixes_words,
    headline,
    place_words,
    why_empty,
)
from whence.report.page import code, page, tag
from whence.report.story import counted, one_line
from whence.report.svg import escaped

__all__ = ["locate_report"]

Sources = Mapping[str, Sequence[str]]
Spectra = Mapping[tuple[str, int], Spectrum]

#: More failing tests than these are folded away.
_MOST_FAILURES = 20
#: Longer texts of tests are cut off.
_LONGEST = 300


def locate_report(
    found: Localization,
    sources: Sources,
    spectra: Spectra,
    csr: float,
    version: str,
    shown: int = 20,
) -> str:
    """The whole page: the diagnoses, `shown` of them with all that is known, then the source with
    what tests execute of it."""
    title = headline(found)
    files = ", ".join(sources)
    body = [
        tag(
            "header",
            tag("h1", escaped(title)),
            tag("p", code(f"{found.entry}()"), " in ", code(files)),
            class_=f"top {_tone(found)}",
        ),
        _said(found, csr),
    ]
    if found.diagnoses:
        body += [tag("h2", "Where the fault can be"), _summary(found, sources, shown)]
    of_line = _of_line(found, shown)
    for number, (file, lines) in enumerate(sources.items(), 1):
        body += [
            tag("h2", code(file)),
            _source(number, file, lines, spectra, of_line, found, shown),
        ]
    if found.diagnoses:
        body.append(tag("h2", "Each of them"))
    body += [
        _diagnosis(number, each, sources) for number, each in enumerate(found.diagnoses[:shown], 1)
    ]
    if found.failing:
        body.append(_failures(found))
    return page(f"{title} · {files}", body, version, ("locate.css",))


def _tone(found: Localization) -> str:
    if not found.failing:
        return "satisfied"
    return "violated" if found.complete else "unknown"


def _said(found: Localization, csr: float) -> str:
    said = [why_empty(found)]
    if found.lines:
        said.append(
            f"The smallest sets are on {counted(len(found.lines), 'line')}, "
            f"{100 * csr:.1f} % of the code; {counted(found.components, 'place')} could be faulty."
        )
    said.append(fixes_words(found))
    parts = [tag("p", escaped(each)) for each in said if each]
    parts += [tag("p", escaped(f"Assumed: {each}."), class_="quiet") for each in assumptions(found)]
    if not found.complete and found.found is not None:
        parts.append(tag("p", escaped(f"Partial: {found.found.reason}."), class_="partial"))
    return tag("div", "\n".join(parts), class_="words")


def _anchor(files: Sequence[str], place: Place) -> str | None:
    """The line of a place in the page."""
    if place.origin.file not in files or not place.origin.line:
        return None
    return f"#line-{files.index(place.origin.file) + 1}-{place.origin.line}"


# ------------------------------------------------------------------------------------ diagnoses


def _summary(found: Localization, sources: Sources, shown: int) -> str:
    heads = ("", "Places", "", "Score", "Candidate")
    rows = []
    for number, diagnosis in enumerate(found.diagnoses, 1):
        places = ", ".join(_where(place) for place in diagnosis.places)
        link = tag("a", code(places), href=f"#diagnosis-{number}") if number <= shown else None
        badge = tag("span", "passes all tests", class_="badge satisfied")
        rows.append(
            tag(
                "tr",
                tag("td", str(number), class_="n"),
                tag("td", link if link is not None else code(places)),
                tag("td", "<br>".join(_excerpts(diagnosis, sources)), class_="excerpts"),
                tag("td", f"{diagnosis.score:.2f}", class_="n"),
                tag("td", badge if diagnosis.fixes else ""),
            )
        )
    return _table(heads, rows, {0, 3})


def _excerpt(place: Place, sources: Sources) -> list[str]:
    lines = sources.get(place.origin.file, ())
    if not 0 < place.origin.line <= len(lines):
        return []
    return [code(lines[place.origin.line - 1].strip())]


def _excerpts(diagnosis: Diagnosis, sources: Sources) -> list[str]:
    return [text for place in diagnosis.places for text in _excerpt(place, sources)]


def _table(heads: Sequence[str], rows: Sequence[str], numbers: set[int]) -> str:
    cells = [
        tag("th", escaped(head), class_="n" if at in numbers else None)
        for at, head in enumerate(heads)
    ]
    table = tag(
        "table",
        tag("thead", tag("tr", *cells)),
        tag("tbody", "\n", "\n".join(rows), "\n"),
    )
    return tag("div", table, class_="wide", tabindex=0)


def _where(place: Place) -> str:
    words = place_words(place)
    return f"{place.origin}{f' ({words})' if words else ''}"


def _diagnosis(number: int, diagnosis: Diagnosis, sources: Sources) -> str:
    files = list(sources)
    parts = [tag("h3", f"{number}. ", escaped(_title(diagnosis)))]
    for place, spectrum in zip(diagnosis.places, diagnosis.spectra, strict=True):
        anchor = _anchor(files, place)
        where = code(_where(place))
        if anchor is not None:
            where = tag("a", where, href=anchor)
        by = f" · executed by {spectrum.failing} failing and "
        by += f"{counted(spectrum.passing, 'passing test')} · Ochiai {spectrum.ochiai:.2f}"
        parts.append(tag("p", where, tag("span", escaped(by), class_="quiet")))
        parts += [tag("p", text, class_="excerpt") for text in _excerpt(place, sources)]
    rows = [
        _change(witness.test, change, diagnosis)
        for witness in diagnosis.witnesses
        for change in witness.changes
    ]
    if rows:
        heads = ("Failing test", "Place", "What", "Gave", "Would pass")
        parts.append(_table(heads, rows, {3, 4}))
    if diagnosis.fixes:
        first, *others = map(_patch, diagnosis.fixes)
        said = "A candidate: all tests pass with it, which does not prove it right."
        parts += [tag("p", said), first]
        if others:
            summary = tag("summary", f"{counted(len(others), 'candidate')} more")
            parts.append(tag("details", summary, *others))
    return tag("section", "\n".join(parts), class_="diagnosis", id=f"diagnosis-{number}")


def _title(diagnosis: Diagnosis) -> str:
    count = counted(len(diagnosis.places), "place")
    lines = sorted({place.origin.line for place in diagnosis.places})
    on = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    return f"{count} on {on}, score {diagnosis.score:.2f}"


def _change(test: str, change: Change, diagnosis: Diagnosis) -> str:
    gave, wanted = str(change.gave), str(change.wanted)
    if change.decision:
        gave, wanted = ("true", "false") if change.gave else ("false", "true")
    return tag(
        "tr",
        tag("td", escaped(one_line(test))),
        tag("td", code(f"line {change.origin.line}")),
        tag("td", code(change.what) if change.what else ""),
        tag("td", gave, class_="n"),
        tag("td", wanted, class_="n"),
    )


def _patch(fix: Fix) -> str:
    lines = []
    for line in fix.diff.splitlines():
        if line.startswith(("---", "+++", "@@", "\\")):
            lines.append(tag("span", escaped(line), class_="head"))
        elif line.startswith("-"):
            lines.append(tag("del", escaped(line)))
        elif line.startswith("+"):
            lines.append(tag("ins", escaped(line)))
        else:
            lines.append(escaped(line))
    return tag("pre", "\n".join(lines), class_="diff", tabindex=0)


# ---------------------------------------------------------------------------------------- tests


def _failures(found: Localization) -> str:
    rows = []
    for ran in found.failing:
        origin = ran.outcome.origin
        where = code(str(origin)) if origin.line else ""
        reason = one_line(ran.failure)
        if len(reason) > _LONGEST:
            reason = f"{reason[:_LONGEST]}..."
        rows.append(
            tag(
                "tr",
                tag("td", escaped(one_line(ran.test.name))),
                tag("td", escaped(reason)),
                tag("td", where),
            )
        )
    heads = ("Failing test", "Why", "Where")
    table = _table(heads, rows, set())
    if len(rows) > _MOST_FAILURES:
        table = tag("details", tag("summary", f"All {len(rows)}"), table)
    return tag("h2", "Failing tests") + table


# --------------------------------------------------------------------------------------- source


def _of_line(found: Localization, shown: int) -> dict[tuple[str, int], list[tuple[int, Place]]]:
    """The places on each line, with the first diagnosis that each is in."""
    first: dict[Place, int] = {}
    for number, diagnosis in enumerate(found.diagnoses[:shown], 1):
        for place in diagnosis.places:
            first.setdefault(place, number)
    on: dict[tuple[str, int], list[tuple[int, Place]]] = {}
    for place, number in first.items():
        end = max(place.origin.line, place.origin.end_line)
        for line in range(place.origin.line, end + 1):
            on.setdefault((place.origin.file, line), []).append((number, place))
    return on


def _source(
    number: int,
    file: str,
    lines: Sequence[str],
    spectra: Spectra,
    of_line: Mapping[tuple[str, int], list[tuple[int, Place]]],
    found: Localization,
    shown: int,
) -> str:
    rows = []
    for at, line in enumerate(lines, 1):
        here = sorted(of_line.get((file, at), ()), key=lambda pair: pair[0])
        spectrum = spectra.get((file, at))
        links = ", ".join(
            tag("a", str(rank), href=f"#diagnosis-{rank}", aria_label=f"diagnosis {rank}")
            for rank in dict.fromkeys(rank for rank, _ in here)
        )
        gauge = ""
        if spectrum is not None and spectrum.failing:
            percent = round(100 * spectrum.ochiai)
            gauge = tag("span", style=f"width: {max(percent, 2)}%", title=f"Ochiai {percent} %")
        counts = ("", "") if spectrum is None else (str(spectrum.failing), str(spectrum.passing))
        rows.append(
            tag(
                "tr",
                tag("td", str(at), class_="n"),
                tag("td", gauge, class_="gauge"),
                *(tag("td", count, class_="n") for count in counts),
                tag("td", links, class_="n"),
                tag("td", _marked(line, at, here), class_="text"),
                id=f"line-{number}-{at}",
                class_="found" if here else None,
            )
        )
    heads = ("", "Ochiai", "Failing", "Passing", "In", "")
    cells = [tag("th", head, class_=None if head in ("Ochiai", "") else "n") for head in heads]
    table = tag(
        "table",
        tag("thead", tag("tr", *cells)),
        tag("tbody", "\n", "\n".join(rows), "\n"),
    )
    count = len(found.failing)
    said = f"How many of the {counted(count, 'failing test')} and of the {found.passing} passing "
    said += "ones execute a line, and the first diagnosis that it is in"
    said += f", of the first {shown}." if len(found.diagnoses) > shown else "."
    return tag("p", escaped(said), class_="quiet") + tag("div", table, class_="source", tabindex=0)


def _marked(line: str, number: int, here: Sequence[tuple[int, Place]]) -> str:
    """The line, with its places marked."""
    data = line.encode("utf-8", "replace")
    best = [0] * len(data)
    for rank, place in reversed(here):
        origin = place.origin
        start = origin.column - 1 if number == origin.line else 0
        end = origin.end_column - 1 if number == origin.end_line else len(data)
        if number == origin.line and end <= start:
            end = len(data)
        if number != origin.line:
            start = len(data) - len(data.lstrip())
        for at in range(max(start, 0), min(end, len(data))):
            best[at] = rank
    parts = []
    at = 0
    while at < len(data):
        stop = at
        while stop < len(data) and best[stop] == best[at]:
            stop += 1
        text = escaped(data[at:stop].decode("utf-8", "replace"))
        if best[at]:
            text = tag("mark", text, class_="first" if best[at] == 1 else None)
        parts.append(text)
        at = stop
    return "".join(parts)
