"""The terminal's tables: what they say, and that nothing in a model can break them."""

import io
from dataclasses import replace

import pytest
from rich.console import Console, RenderableType
from tests.report.support import EVIL, database, database_trace, strange, strange_trace

from whence.model.layout import layout_of
from whence.model.trace import QueryResult, Supremum, TraceEnd
from whence.report.text import trace_table, verdict_table


def shown(renderable: RenderableType, width: int, colour: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=colour, legacy_windows=False)
    console.print(renderable)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


RESULTS = [
    QueryResult("A[] not client.serReceiving\n\t\t or (x <= 4)", "violated", 12, 34, 0.1234),
    QueryResult("E<> x[red] > 2", "unknown", 10**6, 2 * 10**6, 62.25, reason="out of time"),
    QueryResult("E<> p", "error", 1, 2, 0.0, reason="division by zero"),
    QueryResult(
        "sup{client.reqSent}: x, y",
        "satisfied",
        5,
        6,
        1.0,
        None,
        (Supremum("x", 5), Supremum("y", 7, True)),
    ),
    QueryResult("inf: x", "satisfied", 5, 6, 1.0, None, (Supremum("x", 3),)),
    QueryResult("sup: z", "satisfied", 5, 6, 1.0, None, (Supremum("z", None),)),
]


def test_verdicts() -> None:
    assert shown(verdict_table(RESULTS, database()), 80).splitlines() == [
        "query                             verdict         states   transitions   seconds",
        "────────────────────────────────────────────────────────────────────────────────",
        "A[] not client.serReceiving or    violated            12            34     0.123",
        "(x <= 4)",
        "E<> x[red] > 2                    unknown        1000000       2000000      62.2",
        "out of time",
        "E<> p                             error                1             2     0.000",
        "division by zero",
        "sup{client.reqSent}: x, y         x <= 5               5             6     1.000",
        "                                  y < 7",
        "inf: x                            x >= 3               5             6     1.000",
        "sup: z                            z: unbounded         5             6     1.000",
    ]


def test_a_trace_on_a_narrow_terminal() -> None:
    network = database()
    table = trace_table(database_trace(), network, layout_of(network))
    assert shown(table, 80).splitlines() == [
        "#   delay   time   action    what happens",
        "────────────────────────────────────────────────────────────────",
        "0              0   (start)   client: initial",
        "                             db: waiting",
        "                             (2 more processes do not take part)",
        "                             sent = 0",
        "                             busy = false",
        "                             x == y",
        "1       2      2   tau       client: initial -> reqCreate",
        "                             x == 0",
        "2       0      2   req       client: reqCreate -> reqSent",
        "                             db: waiting -> working",
        "                             sent: 0 -> 1",
        "                             busy: false -> true",
        "                             y <= 2, x == y",
        "3     3/2    7/2   ser       db: working -> waiting",
        "                             client: reqSent -> serReceiving",
        "                             x <= 5, y - x <= 0",
        "",
        "time 9/2 (after another 1): goal reached: this state decides the query",
    ]


def test_a_trace_on_a_wide_terminal_has_a_column_for_each_thing() -> None:
    network = database()
    lines = shown(trace_table(database_trace(), network, layout_of(network)), 200).splitlines()
    assert lines[0].split("  ")[0] == "#"
    assert "processes" in lines[0]
    assert "changes" in lines[0]
    assert "clocks, delay included" in lines[0]
    row = next(line for line in lines if line.startswith("2"))
    assert "sent: 0 -> 1" in row
    assert "y <= 2, x == y" in row


@pytest.mark.parametrize("width", [40, 80, 100, 200])
@pytest.mark.parametrize("end", ["goal", "lasso", "error"])
def test_no_name_can_break_the_table(width: int, end: str) -> None:
    network = strange()
    result = QueryResult(EVIL, "error", 1, 2, 0.5, strange_trace(network, end), reason=EVIL)
    assert result.trace is not None
    text = shown(verdict_table([result], network), width)
    text += "\n" + shown(trace_table(result.trace, network, layout_of(network)), width)
    assert not {"\x1b", "\x00", "\u202e"} & set(text)
    assert max(map(len, text.splitlines())) <= width
    if width >= 100:
        assert "[red]" in text  # no markup


def test_colours_only_on_a_terminal() -> None:
    table = verdict_table(RESULTS, database())
    assert "\x1b" in shown(table, 100, colour=True)
    assert "\x1b" not in shown(table, 100)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("goal", "goal reached"),
        ("lasso", "loops back to step 2"),
        ("error", "error: division in chan"),
    ],
)
def test_the_last_line_says_why_the_trace_ends(end: str, said: str) -> None:
    network = strange("chan")
    table = trace_table(strange_trace(network, end), network, layout_of(network))
    assert said in shown(table, 100).splitlines()[-1]


@pytest.mark.parametrize(
    ("end", "said"), [("deadlock", "deadlock: nothing"), ("divergence", "time can diverge")]
)
def test_other_ends(end: TraceEnd, said: str) -> None:
    network = database()
    table = trace_table(replace(database_trace(), end=end), network, layout_of(network))
    assert said in shown(table, 100).splitlines()[-1]


def test_of_many_constraints_only_new_ones_are_shown() -> None:
    network = strange("c")
    table = trace_table(strange_trace(network, "goal"), network, layout_of(network))
    text = shown(table, 100)
    assert text.count("c <= 5") == 1
    assert "(9 as before)" in text
