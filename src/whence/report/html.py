"""The report as one HTML file that needs nothing else: no network, no fonts, no other files.

Without scripts it is complete; the script adds going through a trace step by step.  Names and
texts of the model are hostile: all of them go through :func:`whence.report.svg.escaped`, none of
them gets into the script, and the page's own security policy lets no other script run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence

from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import QueryResult, TimedTrace, Verdict
from whence.report.automaton import automaton_diagram, highlights
from whence.report.sequence import draw_sequence
from whence.report.story import Step, Story, answer, counted, one_line, seconds, tell, title
from whence.report.svg import Attribute, asset, attributes, escaped

__all__ = ["check_report"]

#: A step with more constraints folds them away.
_MANY = 6
#: From the worst to the best.
_VERDICTS: tuple[Verdict, ...] = ("violated", "error", "unknown", "satisfied")
_ADJECTIVES: dict[Verdict, str] = {
    "violated": "violated",
    "error": "stopped by an error",
    "unknown": "undecided",
    "satisfied": "satisfied",
}


def check_report(
    network: Network,
    layout: Layout,
    results: Sequence[QueryResult],
    file: str,
    version: str,
) -> str:
    """The whole page."""
    script = asset("report.js")
    # With its hash in the policy this script runs, and no other.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    body = [
        _headline(network, results, file),
        _query_table(results),
        *(
            _trace_section(number, result, result.trace, network, layout)
            for number, result in enumerate(results, 1)
            if result.trace is not None
        ),
        _tag("footer", f"Written by whence {escaped(version)}."),
    ]
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        _tag("title", escaped(f"{_summary(results)} · {file}")),
        _tag("style", "\n", asset("diagram.css"), asset("report.css")),
    ]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            _tag("head", "\n", "\n".join(head), "\n"),
            _tag("body", "\n", "\n".join(body), "\n", _tag("script", script), "\n"),
            "</html>",
            "",
        )
    )


def _tag(name: str, *content: str, **values: Attribute) -> str:
    """An element with an end tag, which HTML needs where XML does not."""
    return f"<{name}{attributes(values)}>{''.join(content)}</{name}>"


def _code(text: str) -> str:
    return _tag("code", escaped(text))


def _items(texts: Iterable[str]) -> str:
    items = [_tag("li", _code(text)) for text in texts]
    return _tag("ul", *items) if items else ""


def _badge(verdict: Verdict) -> str:
    return _tag("span", verdict, class_=f"badge {verdict}")


# ---------------------------------------------------------------------------------- the verdicts


def _worst(results: Sequence[QueryResult]) -> Verdict:
    verdicts = {result.verdict for result in results}
    return next((verdict for verdict in _VERDICTS if verdict in verdicts), "satisfied")


def _summary(results: Sequence[QueryResult]) -> str:
    if not results:
        return "No queries"
    total = len(results)
    parts: list[str] = []
    for verdict in _VERDICTS:
        count = sum(result.verdict == verdict for result in results)
        if count == total:
            those = "The query is" if total == 1 else f"All {total} queries are"
            return f"{those} {_ADJECTIVES[verdict]}"
        # Of what is as it should be, nobody has to be told first.
        if count and verdict != "satisfied":
            of = "" if parts else f" of {total} queries"
            parts.append(f"{count}{of} {'is' if count == 1 else 'are'} {_ADJECTIVES[verdict]}")
    return ", ".join(parts)


def _headline(network: Network, results: Sequence[QueryResult], file: str) -> str:
    counts = [
        counted(len(network.processes), "process", "processes"),
        counted(sum(len(process.locations) for process in network.processes), "location"),
    ]
    return _tag(
        "header",
        _tag("h1", escaped(_summary(results))),
        _tag("p", _code(file), _tag("span", f" · {' · '.join(counts)}", class_="quiet")),
        class_=f"top {_worst(results)}",
    )


def _query_table(results: Sequence[QueryResult]) -> str:
    rows = []
    for number, result in enumerate(results, 1):
        answers = answer(result)
        verdict = _items(answers) if answers != (result.verdict,) else _badge(result.verdict)
        reason = ""
        if result.reason:
            reason = _tag("p", escaped(one_line(result.reason)), class_="quiet")
        link = ""
        if result.trace is not None:
            link = _tag("a", escaped(title(result).lower()), href=f"#query-{number}")
        rows.append(
            _tag(
                "tr",
                _tag("td", str(number), class_="n"),
                _tag("td", _code(one_line(result.query)), reason),
                _tag("td", verdict),
                _tag("td", link),
                _tag("td", str(result.states), class_="n"),
                _tag("td", str(result.transitions), class_="n"),
                _tag("td", seconds(result.seconds), class_="n"),
            )
        )
    heads = [
        _tag("th", "", class_="n"),
        *(_tag("th", text) for text in ("Query", "Verdict", "Trace")),
        *(_tag("th", text, class_="n") for text in ("States", "Transitions", "Seconds")),
    ]
    return "\n".join(
        (
            _tag("h2", "Queries"),
            _tag(
                "div",
                _tag(
                    "table",
                    _tag("thead", _tag("tr", *heads)),
                    _tag("tbody", "\n", "\n".join(rows), "\n"),
                ),
                class_="wide",
            ),
        )
    )


# ------------------------------------------------------------------------------------ one trace


def _trace_section(
    number: int, result: QueryResult, trace: TimedTrace, network: Network, layout: Layout
) -> str:
    story = tell(trace, network, layout)
    ranges = [str(found) for found in trace.delay_ranges] or None
    diagram = draw_sequence(story, trace, ranges)
    steps = counted(len(story.steps) - 1, "step")
    units = "time unit" if story.duration == 1 else "time units"
    panes = _tag(
        "div",
        _tag(
            "div",
            _tag(
                "div",
                _tag("div", diagram.head, class_="pinned"),
                "\n",
                diagram.body,
                class_="scroll",
                tabindex=0,
            ),
            class_="diagram",
        ),
        "\n",
        _tag("div", "\n".join(_moving_automata(story, network)), class_="automata"),
        class_="panes",
    )
    return "\n".join(
        (
            f'<section class="trace" id="query-{number}">',
            _tag("h2", f"{title(result)} for query {number}"),
            _tag(
                "p",
                _code(one_line(result.query)),
                " ",
                _badge(result.verdict),
            ),
            _tag("p", f"{steps} in {story.duration} {units}; {escaped(story.end)}."),
            _controls(len(story.steps) - 1),
            panes,
            _still_automata(story, network),
            _step_table(story),
            "</section>",
        )
    )


def _controls(last: int) -> str:
    return _tag(
        "div",
        _tag("button", "◀", type="button", data_go="-1", aria_label="previous step"),
        f'<input type="range" min="0" max="{last}" value="0" aria-label="step">',
        _tag("button", "▶", type="button", data_go="1", aria_label="next step"),
        _tag("output"),
        class_="controls",
    )


def _step_table(story: Story) -> str:
    heads = [_tag("th", text, class_="n") for text in ("Step", "Delay before", "Time")]
    heads += [
        _tag("th", text) for text in ("Action", "Processes", "Changes", "Clocks, delay included")
    ]
    rows = "\n".join(_step_row(story, step) for step in story.steps)
    after = f" after another {story.rest}" if story.rest else ""
    end = f"Time {story.duration}{after}: {escaped(story.end)}."
    return _tag(
        "div",
        _tag(
            "table",
            _tag("thead", _tag("tr", *heads)),
            _tag("tbody", "\n", rows, "\n"),
            _tag("tfoot", _tag("tr", _tag("td", end, colspan=7))),
        ),
        class_="wide steps",
    )


def _step_row(story: Story, step: Step) -> str:
    if step.number == 0:
        moves = [
            f"{story.process_names[at]}: {story.location_names[at][step.locations[at]]}"
            for at in story.takes_part or story.silent[:_MANY]
        ]
        changes = [f"{name} = {value}" for name, value in story.initial_values]
        action = _tag("span", "start", class_="quiet")
        label = "Start"
    else:
        moves = [_arrows(str(move)) for move in step.moves]
        changes = [_arrows(str(change)) for change in step.changes]
        action = _code(one_line(step.action))
        label = f"Step {step.number} of {len(story.steps) - 1} at time {step.time}: "
        label += f"{one_line(step.action)} · {' · '.join(moves)}"
    return _tag(
        "tr",
        _tag("td", str(step.number), class_="n"),
        _tag("td", "" if step.delay is None else str(step.delay), class_="n"),
        _tag("td", str(step.time), class_="n"),
        _tag("td", action),
        _tag("td", _items(moves)),
        _tag("td", _items(changes)),
        _tag("td", _constraints(step.constraints)),
        class_="failed" if step.failed else None,
        data_step=step.number,
        data_label=label,
        data_locations=" ".join(f"{at}:{step.locations[at]}" for at in story.takes_part),
        data_edges=" ".join(f"{move.process}:{move.edge}" for move in step.moves),
    )


def _arrows(text: str) -> str:
    return text.replace(" -> ", " → ")


def _constraints(constraints: Sequence[str]) -> str:
    if len(constraints) <= _MANY:
        return _items(map(one_line, constraints))
    summary = _tag("summary", f"{len(constraints)} constraints")
    return _tag("details", summary, _items(map(one_line, constraints)))


# ------------------------------------------------------------------------------------- automata


def _moving_automata(story: Story, network: Network) -> list[str]:
    figures = []
    for at, highlight in highlights(story).items():
        process = network.processes[at]
        arguments = ", ".join(f"{name} = {value}" for name, value in process.arguments)
        of = process.template if process.template != process.name else ""
        if arguments:
            of = f"{of or process.template}({arguments})"
        told = _tag("span", f" {escaped(of)}", class_="quiet") if of else ""
        caption = _tag("h4", escaped(process.name), told)
        figures.append(_figure(caption, automaton_diagram(process, highlight, at)))
    if figures:
        figures.insert(
            0,
            _tag(
                "p",
                _tag("b", "●", class_="trail"),
                " visited by the trace ",
                _tag("b", "◎", class_="here"),
                " where it is at the step shown",
                class_="key",
            ),
        )
    return figures


def _still_automata(story: Story, network: Network) -> str:
    """The others, folded away. They stay where they are, so that one picture does for all
    processes of a template."""
    of_template: dict[str, list[int]] = {}
    for at in story.silent:
        of_template.setdefault(network.processes[at].template, []).append(at)
    if not of_template:
        return ""
    figures = []
    for numbers in of_template.values():
        names = ", ".join(network.processes[at].name for at in numbers)
        figures.append(
            _figure(_tag("h4", escaped(names)), automaton_diagram(network.processes[numbers[0]]))
        )
    names = ", ".join(network.processes[at].name for at in story.silent)
    those = "process that takes" if len(story.silent) == 1 else "processes that take"
    summary = f"{len(story.silent)} {those} no part: {escaped(names)}"
    return _tag(
        "details",
        _tag("summary", summary),
        _tag("div", "\n".join(figures), class_="automata"),
    )


def _figure(caption: str, drawing: str) -> str:
    return _tag(
        "figure",
        _tag("figcaption", caption),
        "\n",
        _tag("div", drawing, class_="canvas", tabindex=0),
    )
