"""Models of timed automata from Python: read one, check it, explain and mend it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast, overload

from whence.formats.uppaal.document import Document, QueryText
from whence.model.layout import Layout, layout_of
from whence.model.network import Network, Query
from whence.model.trace import QueryResult, TimedTrace
from whence.source import (
    Diagnostic,
    InputError,
    Origin,
    SourceText,
    UnsupportedError,
    UsageError,
    WhenceError,
)

if TYPE_CHECKING:
    from typing import Unpack

    from whence.explore.check import Checker, Options
    from whence.explore.replay import Replay
    from whence.explore.search import Budget, Progress
    from whence.expr.tree import Expr
    from whence.timing.model import TimedModel
    from whence.timing.repair import RepairOptions
    from whence.timing.results import Kind, RangesResult, Repair, RepairResult

__all__ = [
    "Limits",
    "Model",
    "Recorded",
    "RepairSettings",
    "Settings",
    "load",
    "load_text",
    "parse_budget",
    "read_document",
    "read_document_text",
    "read_query_file",
    "version",
]

AnyPath = str | PathLike[str]
Json = dict[str, Any]

#: Endings of files in UPPAAL's textual format; all others are read as XML.
TEXTUAL = (".xta", ".ta")


def version() -> str:
    """The version of whence, as results carry it."""
    from importlib import metadata

    try:
        return metadata.version("whence")
    except metadata.PackageNotFoundError:  # run from its sources, without being installed
        return "0"


# ------------------------------------------------------------------------------------- budgets


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search gives up; None is "never". Each query has the whole of it."""

    states: int | None = None
    seconds: float | None = None
    megabytes: int | None = None


_UNITS: dict[str, tuple[Literal["states", "seconds", "megabytes"], float]] = {
    **dict.fromkeys(("state", "states"), ("states", 1.0)),
    **dict.fromkeys(("ms",), ("seconds", 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), ("seconds", 1.0)),
    **dict.fromkeys(("m", "min", "minute", "minutes"), ("seconds", 60.0)),
    **dict.fromkeys(("h", "hour", "hours"), ("seconds", 3600.0)),
    **dict.fromkeys(("mb", "mib"), ("megabytes", 1.0)),
    **dict.fromkeys(("gb", "gib"), ("megabytes", 1024.0)),
}
_LIMIT = re.compile(r"([0-9][0-9_]{0,30}(?:\.[0-9]{1,20})?)\s*([a-z]+)")


def parse_budget(text: str) -> Limits:
    """What `60s`, `2GB` or `1000000 states` allow, also several of them separated by commas."""

    def wrong(message: str) -> UsageError:
        return UsageError(
            Diagnostic(
                f"the budget {text!r}: {message}",
                hint="write for example 60s, 2GB, 1000000 states, or several: 5min, 2GB",
            )
        )

    found: dict[str, float] = {}
    for part in text.split(","):
        match = _LIMIT.fullmatch(part.strip().lower())
        if match is None:
            raise wrong(f"{part.strip()!r} is no number with a unit")
        if match[2] not in _UNITS:
            raise wrong(f"unknown unit {match[2]!r}")
        what, factor = _UNITS[match[2]]
        if what in found:
            raise wrong(f"it limits {what} twice")
        amount = float(match[1]) * factor
        if what == "seconds":
            found[what] = amount
        elif what == "megabytes":
            found[what] = math.ceil(amount)
        elif not amount.is_integer():
            raise wrong("there are no parts of states")
        else:
            found[what] = int(match[1])
        if not found[what]:
            raise wrong("nothing can be done with 0")
    return Limits(
        states=cast("int | None", found.get("states")),
        seconds=found.get("seconds"),
        megabytes=cast("int | None", found.get("megabytes")),
    )


class Settings(TypedDict, total=False):
    """How a query is checked.

    - `trace`: none, any (`some`, the default), one with the fewest transitions, or one that is
      there first.
    - `realization`: of all delays along the trace, the `earliest` ones (the default), the
      `latest`, or those half way between.
    - `order`: of the search, `breadth` first (the default) or `depth` first.
    - `budget`: when to give up, such as `"60s, 2GB"`.
    - `verify`: replay the trace on the model, on a road of its own.
    - `progress`: is called now and then with how far the search has come.
    """

    trace: Literal["none", "some", "shortest", "fastest"]
    realization: Literal["earliest", "latest", "middle"]
    order: Literal["breadth", "depth"]
    budget: str | Limits | Budget | None
    verify: bool
    progress: Callable[[Progress], None] | None


class RepairSettings(TypedDict, total=False):
    """How repairs are searched for.

    - `kinds`: of the changes (all, by default); `limit`: so many repairs of each kind (20);
      `max_changes`: so many changes in one repair (3).
    - `test`: of admissibility: `equal` (the default), `nothing lost` or `none`; `labels`: the
      letters of its words: `transitions` (the default) or `actions`.
    - `realization`: of all delays along a trace, which to show.
    - `budget`: of each search in a state space, such as `"60s, 2GB"`; `effort`: of the search
      for repairs, in constraint systems that are solved (20000).
    """

    kinds: Sequence[Kind] | None
    limit: int
    max_changes: int
    test: Literal["equal", "nothing lost", "none"]
    labels: Literal["transitions", "actions"]
    realization: Literal["earliest", "latest", "middle"]
    budget: str | Limits | None
    effort: int


def _budget(budget: str | Limits | None) -> Budget:
    from whence.explore.search import Budget

    if isinstance(budget, str):
        budget = parse_budget(budget)
    return Budget() if budget is None else Budget(budget.states, budget.seconds, budget.megabytes)


def _repair_options(settings: RepairSettings) -> RepairOptions:
    from whence.timing.repair import RepairOptions
    from whence.timing.results import KINDS

    unknown = settings.keys() - RepairSettings.__annotations__.keys()
    if unknown:
        raise UsageError(f"there is no setting `{min(unknown)}`")
    default = RepairOptions()
    return RepairOptions(
        kinds=tuple(settings.get("kinds") or KINDS),
        limit=settings.get("limit", default.limit),
        max_changes=settings.get("max_changes", default.max_changes),
        labels=settings.get("labels", default.labels),
        test=settings.get("test", default.test),
        realization=settings.get("realization", default.realization),
        budget=_budget(settings.get("budget")),
        effort=settings.get("effort", default.effort),
    )


def _options(settings: Settings) -> Options:
    from whence.explore.check import Options
    from whence.explore.search import Budget

    unknown = settings.keys() - Settings.__annotations__.keys()
    if unknown:
        raise UsageError(f"there is no setting `{min(unknown)}`")
    budget = settings.get("budget")
    if isinstance(budget, str):
        budget = parse_budget(budget)
    if isinstance(budget, Limits):
        budget = Budget(budget.states, budget.seconds, budget.megabytes)
    return Options(
        trace=settings.get("trace", "some"),
        realization=settings.get("realization", "earliest"),
        order=settings.get("order", "breadth"),
        budget=budget or Budget(),
    )


# -------------------------------------------------------------------------------------- models


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace from a file. `query` is the query that it answers, as text; "" if not known.

    `number` counts the queries of its file from 1; 0 if the file is a single trace.
    """

    trace: TimedTrace
    query: str = ""
    number: int = 0


@dataclass(slots=True, eq=False)
class Model:
    """A model that was read and understood.

    - `document`: the file as it was written.
    - `network`: what it means, all names resolved and all templates instantiated.
    - `queries`: the properties in the file that were understood.
    - `refused`: the others, each with what is wrong with it.
    """

    document: Document
    network: Network = field(init=False)
    queries: tuple[Query, ...] = field(init=False)
    refused: tuple[tuple[QueryText, InputError], ...] = field(init=False)
    _asked: tuple[tuple[QueryText, Query | InputError], ...] = field(init=False, repr=False)
    _elaborated: Any = field(init=False, repr=False)
    _layout: Layout | None = field(default=None, init=False, repr=False)
    _checker: Checker | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        from whence.formats.uppaal.elaborate import elaborate
        from whence.formats.uppaal.elaborate_queries import queries

        self._elaborated = elaborate(self.document)
        self.network = self._elaborated.network
        self._asked = queries(self._elaborated)
        self.queries = tuple(query for _, query in self._asked if isinstance(query, Query))
        self.refused = tuple(
            (text, error) for text, error in self._asked if isinstance(error, InputError)
        )

    @property
    def file(self) -> str:
        """The name of the file that the model was read from."""
        return self.document.file

    @property
    def layout(self) -> Layout:
        """Where each variable has its place, and the names of the clocks."""
        if self._layout is None:
            self._layout = layout_of(self.network)
        return self._layout

    @property
    def asked(self) -> tuple[tuple[QueryText, Query | InputError], ...]:
        """All queries of the file in their order, each with what it means or what is wrong."""
        return self._asked

    # --------------------------------------------------------------------------------- checking

    @property
    def checker(self) -> Checker:
        """What searches the model's states; made when it is first needed."""
        if self._checker is None:
            from whence.explore.check import Checker

            self._checker = Checker(self.network)
        return self._checker

    def formula(self, text: str | SourceText) -> Expr:
        """A state formula of this model, such as what a query says of states."""
        from whence.formats.uppaal.elaborate_queries import check_formula

        if isinstance(text, str):
            text = SourceText(text, element="the formula")
        return check_formula(self._elaborated, text)

    def query(self, query: str | QueryText | SourceText) -> Query:
        """The property that a text means. Raises InputError if it is none of this model."""
        from whence.formats.uppaal.elaborate_queries import check_query

        if isinstance(query, str):
            query = SourceText(query, "query")
        return check_query(self._elaborated, query)

    @overload
    def check(self, query: str | Query, **settings: Unpack[Settings]) -> QueryResult: ...

    @overload
    def check(self, query: None = None, **settings: Unpack[Settings]) -> list[QueryResult]: ...

    def check(
        self, query: str | Query | None = None, **settings: Unpack[Settings]
    ) -> QueryResult | list[QueryResult]:
        """The verdict on a query; without one, the verdicts on all queries of the file."""
        if query is None:
            return self.check_all(**settings)
        if isinstance(query, str):
            query = self.query(query)
        options = _options(settings)
        result = self.checker.check(query, options, settings.get("progress"))
        if settings.get("verify") and result.trace is not None:
            replayed = self.confirm(query, result.trace)
            if not replayed.ok:
                # Not the user's fault: search and replay disagree on the same model.
                raise AssertionError(
                    f"the trace found for {query.text!r} does not replay: "
                    f"step {replayed.step}: {replayed.reason}"
                )
        return result

    def check_all(self, **settings: Unpack[Settings]) -> list[QueryResult]:
        """The verdicts on all queries of the file.

        Raises InputError if one of them was refused: nothing is left out silently. To leave it
        out, go through `queries` yourself.
        """
        if self.refused:
            raise InputError(
                diagnostic for _, error in self.refused for diagnostic in error.diagnostics
            )
        return [self.check(query, **settings) for query in self.queries]

    # ----------------------------------------------------------------------------------- traces

    def replay(self, trace: TimedTrace) -> Replay:
        """Execute a trace step by step with exact numbers: is it a run of this model?"""
        from whence.explore.replay import replay

        return replay(self.network, trace)

    def confirm(self, query: Query, trace: TimedTrace) -> Replay:
        """Like `replay`, but also: does the run show what it was found for?

        At the end of a run for `E<> p`, p must hold; at the end of one against `A[] p`, it must
        not. For queries about whole runs, the end that the trace announces (a loop, say) is
        checked, but not what holds on the way.
        """
        from whence.explore.concrete import Interpreter

        replayed = self.replay(trace)
        reaches = query.kind in ("E<>", "A[]") and trace.end == "goal"
        if not replayed.ok or not reaches or query.predicate is None:
            return replayed
        holds = Interpreter(self.network).holds(replayed.states[-1], query.predicate)
        if holds is (query.kind == "E<>"):
            return replayed
        says = "does not hold" if query.kind == "E<>" else "holds, which is no violation,"
        return replace(
            replayed,
            ok=False,
            step=len(trace.states) - 1,
            reason=f"the state formula of `{query.text}` {says} at the end",
            origin=query.origin,
        )

    def traces(self, path: AnyPath) -> list[Recorded]:
        """The traces in a file: JSON that whence wrote, or a symbolic trace of UPPAAL in XML.

        A symbolic trace tells no delays; the earliest possible ones are found for it. Of a
        `check/1` document, the traces of all queries are read that have one.
        """
        from whence.formats.uppaal.xml import read_bytes

        file = str(path)
        data = read_bytes(file)
        if _looks_like_xml(data):
            from whence.formats.uppaal.traces import match, read_trace

            trace = match(read_trace(data, file), self.network, self.layout)
            return [Recorded(self._with_delays(trace, file))]
        return self._traces_of_json(_parse_json(_text(data, file), file), file)

    def _traces_of_json(self, obj: object, file: str) -> list[Recorded]:
        from whence.explore.trace_json import trace_from_json

        if not isinstance(obj, dict) or "queries" not in obj:
            trace = trace_from_json(obj, self.network, file)
            query = obj.get("query", "") if isinstance(obj, dict) else ""
            return [Recorded(trace, query if isinstance(query, str) else "")]
        schema = obj.get("schema", "check/1")
        if schema != "check/1":
            raise UnsupportedError(
                Diagnostic(
                    f"results with the schema {schema!r} cannot be replayed",
                    Origin(file),
                    "expected check/1, as `whence check --format json` writes it",
                )
            )
        queries = obj["queries"]
        if not isinstance(queries, list) or not all(isinstance(item, dict) for item in queries):
            raise InputError(Diagnostic("`queries` is no list of objects", Origin(file)))
        found = []
        for number, item in enumerate(queries, 1):
            if item.get("trace") is None:
                continue
            text = item.get("query", "")
            try:
                trace = trace_from_json(item["trace"], self.network, file)
            except InputError as error:
                raise InputError(
                    replace(diagnostic, element=f"query {number}, {diagnostic.element}")
                    for diagnostic in error.diagnostics
                ) from None
            found.append(Recorded(trace, text if isinstance(text, str) else "", number))
        return found

    def _with_delays(self, trace: TimedTrace, file: str) -> TimedTrace:
        """A symbolic trace with the earliest delays that lead along it into its last zone."""
        from whence.explore.traces import with_delays

        found = with_delays(self.checker.interpreter, trace)
        if found is not None:
            # Its own zones stay: the replay is to check them.
            return replace(trace, delays=found.delays, delay_ranges=found.delay_ranges)
        raise InputError(
            Diagnostic(
                "no delays make a run of this model out of this symbolic trace",
                Origin(file),
                "was it made with this version of the model?",
            )
        )

    # --------------------------------------------------------------- why, and what to change

    def safety_query(self, query: str | Query | None = None) -> Query:
        """The query that is meant: the one given, or the only `A[]` query of the model."""
        if isinstance(query, str):
            return self.query(query)
        if query is not None:
            return query
        found = [query for query in self.queries if query.kind == "A[]"]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(
                Diagnostic(
                    "the model has no `A[]` query",
                    Origin(self.file),
                    "give one with --query 'A[] not (...)'",
                )
            )
        listed = "; ".join(" ".join(query.text.split()) for query in found)
        raise UsageError(
            Diagnostic(
                f"the model has {len(found)} `A[]` queries: {listed}",
                Origin(self.file),
                "choose one with --query",
            )
        )

    def ranges(
        self,
        query: str | Query | None = None,
        *,
        trace: TimedTrace | None = None,
        realization: Literal["earliest", "latest", "middle"] = "earliest",
        budget: str | Limits | None = None,
        max_size: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> RangesResult:
        """Which delays make a run violate an `A[]` query: the causal ranges of `trace`, or of a
        shortest run that violates it. `max_size`: no sums of more delays."""
        from whence.timing.ranges import ranges

        return ranges(
            self._timed(),
            self.safety_query(query),
            None if trace is None else trace.transitions,
            realization,
            _budget(budget),
            max_size,
            progress,
        )

    def repair(
        self,
        query: str | Query | None = None,
        *,
        progress: Callable[[str], None] | None = None,
        trace: TimedTrace | None = None,
        **settings: Unpack[RepairSettings],
    ) -> RepairResult:
        """Which changes of the model mend an `A[]` query: the minimal repairs of `trace`, or of
        a shortest run that violates it, each judged on the whole model."""
        from whence.timing.repair import repair

        return repair(
            self._timed(),
            self.safety_query(query),
            None if trace is None else trace.transitions,
            _repair_options(settings),
            progress,
        )

    def repaired(self, repair: Repair) -> Model:
        """The model with the changes of a repair made; the layout of its file is kept."""
        from whence.timing.repair import repaired

        return Model(repaired(self.document, repair.changes))

    def iterate(
        self,
        query: str | Query | None = None,
        *,
        progress: Callable[[str], None] | None = None,
        **settings: Unpack[RepairSettings],
    ) -> list[tuple[RepairResult, Repair | None]]:
        """Repairs one run after the other until the query holds (the last result's verdict is
        then `satisfied`) or there is no repair to choose: an admissible one, or one that takes
        away violations only. Each round has the repair it made;
        :meth:`repaired` makes them, one after the other."""
        from whence.timing.repair import iterate

        rounds = iterate(
            self._timed(), self.safety_query(query), _repair_options(settings), progress
        )
        return [(done.result, done.chosen) for done in rounds]

    def save_model(self, path: AnyPath) -> None:
        """Write the model as UPPAAL's XML."""
        from whence.files import write_atomically
        from whence.formats.uppaal.write import write_xml

        write_atomically(str(path), write_xml(self.document), self.document.encoding)

    def _timed(self) -> TimedModel:
        from whence.timing.model import TimedModel

        return TimedModel(self.document, self._elaborated)

    # ---------------------------------------------------------------------------------- results

    def to_json(self, results: Sequence[QueryResult]) -> Json:
        """What `whence check --format json` prints (docs/json.md), for `json.dumps`."""
        from whence.report.json import check_document

        return check_document(self.file, self.network, self.layout, results, version())

    def report(self, results: Sequence[QueryResult]) -> str:
        """A page of HTML that shows these results; it needs no other file."""
        from whence.report.html import check_report

        return check_report(self.network, self.layout, results, self.file, version())

    def save_report(self, results: Sequence[QueryResult], path: AnyPath) -> None:
        """Write the page that `report` makes."""
        from whence.files import write_atomically

        write_atomically(str(path), self.report(results))

    def save_trace(self, trace: TimedTrace, path: AnyPath, query: str = "") -> None:
        """Write a trace: as UPPAAL's symbolic trace if `path` ends in `.xml`, otherwise as JSON."""
        from whence.explore.trace_json import trace_to_json
        from whence.files import write_atomically
        from whence.formats.uppaal.traces import write_trace

        if str(path).lower().endswith(".xml"):
            text = write_trace(trace, self.network, self.layout)
        else:
            head = {"whence": version(), "schema": "trace/1", "file": self.file, "query": query}
            text = to_text(head | trace_to_json(trace, self.network))
        write_atomically(str(path), text)


def to_text(obj: Json) -> str:
    """JSON as it is printed. Only ASCII, so that no terminal and no pipe can spoil it."""
    return json.dumps(obj, indent=2, ensure_ascii=True) + "\n"


# ------------------------------------------------------------------------------------- reading


def load(path: AnyPath, queries: AnyPath | None = None) -> Model:
    """The model in a file: UPPAAL's XML, or its textual format (`.xta`, `.ta`).

    If the model asks nothing itself, a file of the same name that ends in `.q` is read for its
    queries. `queries` names another one, which then replaces those of the model.

    Raises InputError with everything that is wrong with the model.
    """
    return Model(read_document(path, queries))


def load_text(text: str | bytes, name: str = "model.xml", queries: AnyPath | None = None) -> Model:
    """The model in a text. `name` is what messages call it; its ending tells the format."""
    return Model(read_document_text(text, name, queries))


def read_document(path: AnyPath, queries: AnyPath | None = None) -> Document:
    """A model's file as it is written, with the queries that belong to it; see `load`."""
    from whence.formats.uppaal.queries import says_nothing
    from whence.formats.uppaal.xml import read_bytes

    document = _document(read_bytes(str(path)), str(path))
    if queries is None and all(says_nothing(query.formula) for query in document.queries):
        beside = Path(path).with_suffix(".q")
        queries = beside if beside.is_file() else None
    if queries is None:
        return document
    # The raw text is that of a file without these queries: nobody may take it for the whole.
    return replace(document, queries=read_query_file(queries), raw=None)


def read_document_text(
    text: str | bytes, name: str = "model.xml", queries: AnyPath | None = None
) -> Document:
    """A model's text as it is written; see `load_text`."""
    document = _document(text, name)
    if queries is None:
        return document
    return replace(document, queries=read_query_file(queries), raw=None)


def read_query_file(path: AnyPath) -> tuple[QueryText, ...]:
    """The queries in a file of UPPAAL's (`.q`)."""
    from whence.formats.uppaal.queries import read_queries
    from whence.formats.uppaal.xml import read_bytes

    return read_queries(SourceText(_text(read_bytes(str(path)), str(path)), str(path)))


def _document(data: bytes | str, name: str) -> Document:
    if name.lower().endswith(TEXTUAL):
        from whence.formats.uppaal.xta import read_xta

        text = data if isinstance(data, str) else _text(data, name)
        return read_xta(SourceText(text, name))
    from whence.formats.uppaal.xml import read_xml

    return read_xml(data, name)


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise InputError(
            Diagnostic(
                f"byte 0x{data[error.start]:02x} is not UTF-8 text",
                Origin(file, line, column, line, column + 1),
                "save the file as UTF-8",
            )
        ) from None


def _looks_like_xml(data: bytes) -> bool:
    """XML starts with `<`, in whatever encoding; no JSON does."""
    start = data[:64].lstrip(b"\xef\xbb\xbf\xfe\xff\0 \t\r\n")
    return start.startswith(b"<")


def _parse_json(text: str, file: str) -> object:
    try:
        return json.loads(text, parse_float=_number)
    except json.JSONDecodeError as error:
        raise InputError(
            Diagnostic(
                f"this is not JSON: {error.msg}",
                Origin(file, error.lineno, error.colno),
                "expected a trace: JSON that `whence check` wrote, or XML that UPPAAL wrote",
            )
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(Diagnostic(f"this is not JSON: {error}", Origin(file))) from None


def _number(text: str) -> Fraction | float:
    # Seconds may have exponents. Delays may not: as floats they will be refused, not rounded.
    return float(text) if "e" in text.lower() or len(text) > 1000 else Fraction(text)


def raise_all(errors: Sequence[WhenceError]) -> None:
    """Raise several errors as one, if there are any."""
    if errors:
        raise InputError(diagnostic for error in errors for diagnostic in error.diagnostics)


def fields(diagnostic: Diagnostic) -> Mapping[str, object]:
    """What is wrong, as JSON documents say it."""
    return {
        "message": diagnostic.message,
        "file": diagnostic.origin.file,
        "line": diagnostic.origin.line,
        "column": diagnostic.origin.column,
        "element": diagnostic.element,
        "hint": diagnostic.hint,
    }
