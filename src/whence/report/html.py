"""The report of a check as one HTML file (see :mod:`whence.report.page`).

Without scripts it is complete; the script adds going through a trace step by step.
"""

from __future__ import annotations

from collections.abc import Sequence

from whence.model.layout import Layout
from whence.model.network import Network
from whence.model.trace import QueryResult, TimedTrace, Verdict
from whence.report.automaton import automaton_diagram, highlights
from whence.report.page import badge, code, figure, items, page, tag
from whence.report.sequence import Band, draw_sequence
from whence.report.story import Step, Story, answer, counted, one_line, seconds, tell, title
from whence.report.svg import escaped

__all__ = ["check_report", "trace_diagram", "trace_view"]

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
    body = [
        _headline(network, results, file),
        _query_table(results),
        *(
            _trace_section(number, result, result.trace, network, layout)
            for number, result in enumerate(results, 1)
            if result.trace is not None
        ),
    ]
    return page(f"{_summary(results)} · {file}", body, version)


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
    return tag(
        "header",
        tag("h1", escaped(_summary(results))),
        tag("p", code(file), tag("span", f" · {' · '.join(counts)}", class_="quiet")),
        class_=f"top {_worst(results)}",
    )


def _query_table(results: Sequence[QueryResult]) -> str:
    rows = []
    for number, result in enumerate(results, 1):
        answers = answer(result)
        verdict = items(answers) if answers != (result.verdict,) else badge(result.verdict)
        reason = ""
        if result.reason:
            reason = tag("p", escaped(one_line(result.reason)), class_="quiet")
        link = ""
        if result.trace is not None:
            link = tag("a", escaped(title(result).lower()), href=f"#query-{number}")
        rows.append(
            tag(
                "tr",
                tag("td", str(number), class_="n"),
                tag("td", code(one_line(result.query)), reason),
                tag("td", verdict),
                tag("td", link),
                tag("td", str(result.states), class_="n"),
                tag("td", str(result.transitions), class_="n"),
                tag("td", seconds(result.seconds), class_="n"),
            )
        )
    heads = [
        tag("th", "", class_="n"),
        *(tag("th", text) for text in ("Query", "Verdict", "Trace")),
        *(tag("th", text, class_="n") for text in ("States", "Transitions", "Seconds")),
    ]
    return "\n".join(
        (
            tag("h2", "Queries"),
            tag(
                "div",
                tag(
                    "table",
                    tag("thead", tag("tr", *heads)),
                    tag("tbody", "\n", "\n".join(rows), "\n"),
                ),
                class_="wide",
            ),
        )
    )


# ------------------------------------------------------------------------------------ one trace


def _trace_section(
    number: int, result: QueryResult, trace: TimedTrace, network: Network, layout: Layout
) -> str:
    return "\n".join(
        (
            f'<section class="trace" id="query-{number}">',
            tag("h2", f"{title(result)} for query {number}"),
            tag(
                "p",
                code(one_line(result.query)),
                " ",
                badge(result.verdict),
            ),
            *trace_view(tell(trace, network, layout), trace, network),
            "</section>",
        )
    )


def trace_view(
    story: Story, trace: TimedTrace, network: Network, bands: Sequence[Band] = ()
) -> list[str]:
    """A trace to go through: its diagram, the automata and a table of its steps. The section
    around it has the class `trace`."""
    steps = counted(len(story.steps) - 1, "step")
    units = "time unit" if story.duration == 1 else "time units"
    duration = f" in {story.duration} {units}" if story.timed else ""
    panes = tag(
        "div",
        trace_diagram(story, trace, bands),
        "\n",
        tag("div", "\n".join(_moving_automata(story, network)), class_="automata"),
        class_="panes",
    )
    return [
        tag("p", f"{steps}{duration}; {escaped(story.end)}."),
        _controls(len(story.steps) - 1),
        panes,
        _still_automata(story, network),
        _step_table(story),
    ]


def trace_diagram(story: Story, trace: TimedTrace, bands: Sequence[Band] = ()) -> str:
    """The sequence diagram in a frame of its own, where the names stay in view."""
    ranges = [str(found) for found in trace.delay_ranges] if story.timed else None
    diagram = draw_sequence(story, trace, ranges, bands)
    return tag(
        "div",
        tag(
            "div",
            tag("div", diagram.head, class_="pinned"),
            "\n",
            diagram.body,
            class_="scroll",
            tabindex=0,
        ),
        class_="diagram",
    )


def _controls(last: int) -> str:
    return tag(
        "div",
        tag("button", "◀", type="button", data_go="-1", aria_label="previous step"),
        f'<input type="range" min="0" max="{last}" value="0" aria-label="step">',
        tag("button", "▶", type="button", data_go="1", aria_label="next step"),
        tag("output"),
        class_="controls",
    )


def _step_table(story: Story) -> str:
    numbers = ("Step", "Delay before", "Time") if story.timed else ("Step",)
    heads = [tag("th", text, class_="n") for text in numbers]
    clocks = ("Clocks, delay included",) if story.timed else ()
    heads += [tag("th", text) for text in ("Action", "Processes", "Changes", *clocks)]
    rows = "\n".join(_step_row(story, step) for step in story.steps)
    after = f" after another {story.rest}" if story.rest else ""
    end = f"Time {story.duration}{after}: {escaped(story.end)}."
    if not story.timed:
        end = f"{escaped(story.end[:1].upper() + story.end[1:])}."
    return tag(
        "div",
        tag(
            "table",
            tag("thead", tag("tr", *heads)),
            tag("tbody", "\n", rows, "\n"),
            tag("tfoot", tag("tr", tag("td", end, colspan=len(heads)))),
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
        action = tag("span", "start", class_="quiet")
        label = "Start"
    else:
        moves = [_arrows(str(move)) for move in step.moves]
        changes = [_arrows(str(change)) for change in step.changes]
        action = code(one_line(step.action))
        at_time = f" at time {step.time}" if story.timed else ""
        label = f"Step {step.number} of {len(story.steps) - 1}{at_time}: "
        label += f"{one_line(step.action)} · {' · '.join(moves)}"
    return tag(
        "tr",
        tag("td", str(step.number), class_="n"),
        *_times(story, step),
        tag("td", action),
        tag("td", items(moves)),
        tag("td", items(changes)),
        *([tag("td", _constraints(step.constraints))] if story.timed else []),
        class_="failed" if step.failed else None,
        data_step=step.number,
        data_label=label,
        data_locations=" ".join(f"{at}:{step.locations[at]}" for at in story.takes_part),
        data_edges=" ".join(f"{move.process}:{move.edge}" for move in step.moves),
    )


def _times(story: Story, step: Step) -> list[str]:
    if not story.timed:
        return []
    delay = "" if step.delay is None else str(step.delay)
    return [tag("td", text, class_="n") for text in (delay, str(step.time))]


def _arrows(text: str) -> str:
    return text.replace(" -> ", " → ")


def _constraints(constraints: Sequence[str]) -> str:
    if len(constraints) <= _MANY:
        return items(map(one_line, constraints))
    summary = tag("summary", f"{len(constraints)} constraints")
    return tag("details", summary, items(map(one_line, constraints)))


# ------------------------------------------------------------------------------------- automata


def _moving_automata(story: Story, network: Network) -> list[str]:
    figures = []
    for at, highlight in highlights(story).items():
        process = network.processes[at]
        arguments = ", ".join(f"{name} = {value}" for name, value in process.arguments)
        of = process.template if process.template != process.name else ""
        if arguments:
            of = f"{of or process.template}({arguments})"
        told = tag("span", f" {escaped(of)}", class_="quiet") if of else ""
        caption = tag("h4", escaped(process.name), told)
        figures.append(figure(caption, automaton_diagram(process, highlight, at)))
    if figures:
        figures.insert(
            0,
            tag(
                "p",
                tag("b", "●", class_="trail"),
                " visited by the trace ",
                tag("b", "◎", class_="here"),
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
            figure(tag("h4", escaped(names)), automaton_diagram(network.processes[numbers[0]]))
        )
    names = ", ".join(network.processes[at].name for at in story.silent)
    those = "process that takes" if len(story.silent) == 1 else "processes that take"
    summary = f"{len(story.silent)} {those} no part: {escaped(names)}"
    return tag(
        "details",
        tag("summary", summary),
        tag("div", "\n".join(figures), class_="automata"),
    )
