"""The tables of Kölbl's evaluation of repairs (tables 10.1 to 10.3): ours, beside his figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.mending import MODELS, JudgedRepair, Mutant, Searched
from benchmarks.tables import Table

from whence.timing.results import SINGLE_KINDS, Kind

__all__ = ["repair_tables"]

_NONE = "–"


@dataclass(frozen=True, slots=True)
class _Published:
    """A column of a table of the thesis; None where the table has no such row. `quantifiers` and
    `search` are its two steps of a search in seconds."""

    seeds: int | None
    traces: int | None
    length: int | None
    repairs: int
    admissible: int
    solved: int
    quantifiers: float
    search: float
    timeouts: int
    judging: float


#: Table 10.1.
_BY_MODEL = {
    "db rep.": _Published(110, 13, 4, 229, 138, 9, 89.346, 0.911, 2, 2.080),
    "csma": _Published(191, 10, 2, 70, 26, 8, 0.049, 0.023, 0, 1.825),
    "elevator": _Published(88, 5, 1, 7, 5, 4, 0.049, 0.020, 0, 1.665),
    "viking": _Published(310, 9, 18, 9, 7, 5, 86.539, 1.436, 21, 1.952),
    "bando": _Published(1955, 40, 279, 4061, 209, 21, 31.555, 4.922, 46, 19.57),
    "Pacemaker": _Published(1187, 12, 9, 62, 19, 10, 0.663, 0.325, 20, 1.994),
    "SBR": _Published(353, 50, 84, 751, 660, 31, 117.057, 2.686, 86, 138.004),
    "FDDI": _Published(314, 36, 11, 166, 105, 34, 29.859, 3.074, 51, 2.241),
}
#: The sums are those of the text (section 10.5.3).
_ALL = _Published(4508, 175, 279, 5355, 1169, 122, 117.057, 4.922, 226, 138.004)
#: Table 10.2.
_BY_KIND: dict[Kind, _Published] = {
    "bound": _Published(None, 175, None, 533, 364, 85, 15.209, 4.922, 8, 138.004),
    "operator": _Published(None, 175, None, 3929, 96, 51, 117.057, 2.686, 44, 59.117),
    "clock": _Published(None, 175, None, 693, 625, 35, 33.282, 3.074, 61, 116.944),
    "reset": _Published(None, 175, None, 45, 37, 13, 89.346, 0.911, 113, 2.051),
    "urgency": _Published(None, 175, None, 155, 47, 37, 0.107, 0.135, 0, 58.551),
}
#: Table 10.3.
_SAME_KIND: dict[Kind, _Published] = {
    "bound": _Published(1385, 60, 279, 314, 226, 53, 15.209, 4.922, 3, 18.045),
    "operator": _Published(1385, 72, 248, 3508, 68, 38, 31.858, 1.436, 8, 52.749),
    "clock": _Published(578, 27, 279, 383, 380, 9, 25.392, 2.525, 10, 116.944),
    "reset": _Published(891, 8, 84, 6, 6, 1, 43.922, 0.558, 7, 2.051),
    "urgency": _Published(269, 8, 18, 11, 2, 1, 0.027, 0.049, 0, 19.570),
}

_TITLES: dict[Kind, str] = {
    "bound": "bound",
    "operator": "operator",
    "clock": "clock ref.",
    "reset": "reset",
    "urgency": "urgency",
    "mixed": "mixed",
}


@dataclass(frozen=True, slots=True)
class _Column:
    """Some mutants with the searches that count for them."""

    title: str
    mutants: tuple[Mutant, ...]
    kinds: tuple[Kind, ...]
    published: _Published | None

    @property
    def traces(self) -> list[Mutant]:
        return [mutant for mutant in self.mutants if mutant.verdict == "violated"]

    @property
    def searches(self) -> list[Searched]:
        return [s for mutant in self.traces for s in mutant.searches if s.kind in self.kinds]

    @property
    def repairs(self) -> list[JudgedRepair]:
        return [repair for search in self.searches for repair in search.repairs]

    @property
    def solved(self) -> int:
        return sum(
            any(search.admissible for search in mutant.searches if search.kind in self.kinds)
            for mutant in self.traces
        )

    @property
    def solved_or_spared(self) -> int:
        """With repairs that are not admissible but take away violations only."""
        return sum(
            any(search.fit for search in mutant.searches if search.kind in self.kinds)
            for mutant in self.traces
        )


def _share(part: int, whole: int | None) -> str:
    return f"{part:,} ({100 * part / whole:.0f} %)" if whole else f"{part:,}"


def _time(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 9.9995 else f"{seconds:.1f}"


def _most(values: Sequence[float]) -> str:
    return f"{_time(max(values))} / {_time(fmean(values))}" if values else _NONE


_Row = tuple[str, Callable[[_Column], str], Callable[[_Published], str] | None]


def _rows(seeds: bool, lengths: bool) -> list[_Row]:
    rows: list[_Row] = []
    if seeds:
        rows += [
            ("seeds", lambda c: f"{len(c.mutants):,}", lambda p: f"{p.seeds:,}"),
            ("… not checked in time", lambda c: _count(c, "unknown"), None),
            ("… without initial state", lambda c: _count(c, "error"), None),
        ]
    rows.append(("TDTs", lambda c: f"{len(c.traces):,}", lambda p: f"{p.traces:,}"))
    if lengths:
        rows.append(
            (
                "longest TDT",
                lambda c: f"{max((m.length for m in c.traces), default=0):,}",
                lambda p: f"{p.length:,}",
            )
        )
    rows += [
        ("repairs", lambda c: f"{len(c.repairs):,}", lambda p: f"{p.repairs:,}"),
        (
            "admissible",
            lambda c: _share(sum(bool(r.admissible) for r in c.repairs), len(c.repairs)),
            lambda p: _share(p.admissible, p.repairs),
        ),
        (
            "… not decided",
            lambda c: f"{sum(r.admissible is None for r in c.repairs):,}",
            None,
        ),
        (
            "TDTs solved",
            lambda c: _share(c.solved, len(c.traces)),
            lambda p: _share(p.solved, p.traces),
        ),
        (
            "repairs that take violations only",
            lambda c: f"{sum(r.violations_only is True for r in c.repairs):,}",
            None,
        ),
        (
            "TDTs solved so or so",
            lambda c: _share(c.solved_or_spared, len(c.traces)),
            None,
        ),
        (
            "repairs that mend the trace",
            lambda c: _share(sum(r.mended for r in c.repairs), len(c.repairs)),
            None,
        ),
        (
            "… and the whole model",
            lambda c: _share(_verdicts(c, "satisfied"), len(c.repairs)),
            None,
        ),
        ("… but another trace violates", lambda c: f"{_verdicts(c, 'violated'):,}", None),
        (
            "… not re-checked in time",
            lambda c: f"{len(c.repairs) - _verdicts(c, 'satisfied') - _verdicts(c, 'violated'):,}",
            None,
        ),
        (
            "search, CPU s (most / mean)",
            lambda c: _most([s.cpu_seconds for s in c.searches]),
            lambda p: f"{_time(p.quantifiers)} + {_time(p.search)}",
        ),
        ("search, wall s (most / mean)", lambda c: _most([s.seconds for s in c.searches]), None),
        (
            "timeouts of searches",
            lambda c: f"{sum(s.cut for s in c.searches):,}",
            lambda p: f"{p.timeouts:,}",
        ),
        (
            "admissibility, s (most / mean)",
            lambda c: _most([r.seconds for r in c.repairs]),
            lambda p: _time(p.judging),
        ),
    ]
    return rows


def _count(column: _Column, verdict: str) -> str:
    return f"{sum(mutant.verdict == verdict for mutant in column.mutants):,}"


def _verdicts(column: _Column, verdict: str) -> int:
    return sum(repair.verdict == verdict for repair in column.repairs)


def _table(
    title: str, columns: Sequence[_Column], rows: Sequence[_Row], notes: Sequence[str]
) -> Table:
    lines: list[tuple[str, ...]] = []
    for name, ours, theirs in rows:
        lines.append((name, *(ours(column) for column in columns)))
        if theirs is not None:
            published = [
                _NONE if column.published is None else theirs(column.published)
                for column in columns
            ]
            lines.append((f"{name}, thesis", *published))
    return Table(title, ("", *(c.title for c in columns)), tuple(lines), tuple(notes))


def repair_tables(
    mutants: Sequence[Mutant], counts: dict[str, int], judged_for: float
) -> list[Table]:
    """Tables 10.1, 10.2 and 10.3. `counts`: how many modifications each model has, of which these
    are some; `judged_for`: the budget of a test of admissibility."""
    names = [case.name for case in MODELS if any(m.model == case.name for m in mutants)]
    by_model = [
        _Column(name, tuple(m for m in mutants if m.model == name), SINGLE_KINDS, _BY_MODEL[name])
        for name in names
    ]
    everything = len(names) == len(MODELS)
    total = _Column("all", tuple(mutants), SINGLE_KINDS, _ALL if everything else None)
    by_kind = [
        _Column(_TITLES[kind], tuple(mutants), (kind,), _BY_KIND[kind] if everything else None)
        for kind in SINGLE_KINDS
    ]
    unsolved = tuple(m for m in mutants if m.search("mixed") is not None)
    by_kind.append(_Column("mixed", unsolved, ("mixed",), None))
    same_kind = [
        _Column(
            _TITLES[kind],
            tuple(m for m in mutants if m.kind == kind),
            (kind,),
            _SAME_KIND[kind] if everything else None,
        )
        for kind in SINGLE_KINDS
    ]
    return [
        _table(
            "Repairs, by model (table 10.1)",
            [*by_model, total],
            _rows(True, True),
            [*_parts(mutants, counts), *_notes(total, unsolved, judged_for)],
        ),
        _table(
            "Repairs, by kind of repair (table 10.2)",
            by_kind,
            _rows(False, False),
            ["Mixed: only for traces that nothing else solves; not in the other tables."],
        ),
        _table(
            "Repairs of the same kind as the seed (table 10.3)", same_kind, _rows(True, True), []
        ),
    ]


def _parts(mutants: Sequence[Mutant], counts: dict[str, int]) -> list[str]:
    """What says that not all modifications were looked at, if so."""
    there = Counter(mutant.model for mutant in mutants)
    partly = [
        f"{there[name]:,} of {count:,} of {name}"
        for name, count in counts.items()
        if 0 < there[name] < count
    ]
    if not partly:
        return []
    return [f"Not all modifications were looked at, but an even sample: {', '.join(partly)}."]


def _notes(total: _Column, unsolved: Sequence[Mutant], judged_for: float) -> list[str]:
    traces = len(total.traces)
    mixed = sum(any(s.admissible for s in m.searches if s.kind == "mixed") for m in unsolved)
    solved = total.solved + mixed
    searches = total.searches
    slow = (
        sum(search.cpu_seconds >= 5 for search in searches),
        sum(search.seconds >= 5 for search in searches),
    )
    wrong = sum(not repair.mended for repair in total.repairs)
    cut = sum(search.cut for search in searches)
    spared = total.solved_or_spared + sum(
        any(s.fit for s in m.searches if s.kind == "mixed")
        and not any(s.fit for s in m.searches if s.kind != "mixed")
        for m in unsolved
    )
    left = [m for m in total.traces if not any(search.admissible for search in m.searches)]
    always = sum(mutant.always for mutant in left)
    stuck = sum(mutant.undone is False and not mutant.always for mutant in left)
    open_ = sum(_undecided(mutant) for mutant in left)
    return [
        "A TDT is solved if at least one repair of one kind is admissible. Mixed repairs solve "
        f"{mixed} more: {_share(solved, traces)} in all. Of the {len(left)} others, {always} are "
        "traces of which every run violates the property, so that the trace must go, which no "
        f"admissible repair can bring about; for {stuck} more it is not even admissible to undo "
        f"the modification; {open_} have repairs that were not decided within the budget "
        f"({judged_for:g} s for each search in a test).",
        "Where a sequence of transitions has none but violating runs, no repair is admissible. "
        "Repairs that take away violations only add no sequence and lose no other than such; with "
        f"them, {_share(spared, traces)} are solved.",
        "Seconds of the thesis: quantifier elimination (most) + search (mean). Its computer was an "
        "i7-6700K with 60 GB.",
        f"Goals: every repair mends its trace: missed by {wrong}; no timeouts in searches: missed "
        f"by {cut}; every search in less than 5 s: missed by {slow[0]} of {len(searches)} "
        f"searches in CPU time, and by {slow[1]} in wall time; 90 % of the TDTs solved: "
        f"{'met' if traces and solved / traces >= 0.9 else 'missed'}.",
    ]


def _undecided(mutant: Mutant) -> bool:
    return any(repair.admissible is None for search in mutant.searches for repair in search.repairs)
