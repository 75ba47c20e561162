"""A trace told step by step: who moves, what changes, when. All renderings start from this."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from whence.explore.trace_json import location_names
from whence.expr.types import BoolType, ClockType
from whence.model.layout import Layout
from whence.model.network import Edge, Network
from whence.model.trace import EdgeUse, QueryResult, Supremum, TimedTrace
from whence.report.svg import clean

__all__ = [
    "Change",
    "Move",
    "Step",
    "Story",
    "answer",
    "counted",
    "one_line",
    "seconds",
    "tell",
    "title",
]


@dataclass(frozen=True, slots=True)
class Move:
    """One process that takes part in a step."""

    process: int
    name: str
    edge: int
    source: str
    target: str
    target_index: int
    #: `i = 2` for each select variable.
    selects: tuple[str, ...]

    def __str__(self) -> str:
        chosen = f" ({', '.join(self.selects)})" if self.selects else ""
        return f"{self.name}: {self.source} -> {self.target}{chosen}"


@dataclass(frozen=True, slots=True)
class Change:
    name: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Step:
    """What leads to state `number`, and that state; number 0 is the start.

    `delay` passes in the state before, so that the step happens at `time`.  A step that `failed`
    is an error of the model: it leads to no state.
    """

    number: int
    delay: Fraction | None
    time: Fraction
    action: str
    internal: bool
    moves: tuple[Move, ...]
    changes: tuple[Change, ...]
    locations: tuple[int, ...]
    constraints: tuple[str, ...]
    #: Why no time can pass in the state, if so: `urgent` or `committed`.
    hurry: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """`rest` passes in the last state. `takes_part` are the processes that ever move, `silent`
    the others; `initial_values` are the variables that change later, as they are at first."""

    steps: tuple[Step, ...]
    rest: Fraction
    duration: Fraction
    end: str
    takes_part: tuple[int, ...]
    silent: tuple[int, ...]
    initial_values: tuple[tuple[str, str], ...]
    process_names: tuple[str, ...]
    location_names: tuple[tuple[str, ...], ...]
    #: False where the model has no clocks, so that times mean nothing.
    timed: bool = True


def tell(trace: TimedTrace, network: Network, layout: Layout) -> Story:
    names = tuple(tuple(location_names(process)) for process in network.processes)
    steps: list[Step] = []
    time = Fraction(0)
    locations = tuple(process.initial for process in network.processes)
    values = layout.initial
    changing: dict[int, None] = {}
    moving: set[int] = set()
    for number in range(max(len(trace.states), len(trace.transitions) + 1)):
        state = trace.states[number] if number < len(trace.states) else None
        moves: tuple[Move, ...] = ()
        action, internal, delay = "", True, None
        if number > 0:
            transition = trace.transitions[number - 1]
            action = transition.action
            edges = [network.processes[use.process].edges[use.edge] for use in transition.uses]
            internal = not edges or edges[0].synchronisation is None
            moves = tuple(
                _move(use, edge, network, names)
                for use, edge in zip(transition.uses, edges, strict=True)
            )
            moving.update(move.process for move in moves)
            delay = trace.delays[number - 1] if number <= len(trace.delays) else Fraction(0)
            time += delay
            # A trace need not repeat what the edges say.
            targets = {move.process: move.target_index for move in moves}
            if state is not None:
                locations = tuple(targets.get(at, here) for at, here in enumerate(locations))
        changes: list[Change] = []
        if state is not None:
            locations = state.locations or locations
            if state.values:
                for address in _different(values, state.values, layout):
                    if number > 0:
                        changing[address] = None
                    changes.append(_change(address, values, state.values, layout))
                values = state.values
        steps.append(
            Step(
                number=number,
                delay=delay,
                time=time,
                action=action,
                internal=internal,
                moves=moves,
                changes=tuple(changes) if number > 0 else (),
                locations=locations,
                constraints=state.constraints if state is not None else (),
                hurry=_hurry(network, locations) if state is not None else "",
                failed=state is None,
            )
        )
    first = (trace.states[0].values if trace.states else ()) or layout.initial
    return Story(
        steps=tuple(steps),
        rest=trace.delays[-1] if len(trace.delays) == len(steps) else Fraction(0),
        duration=trace.duration,
        end=_end(trace),
        takes_part=tuple(at for at in range(len(network.processes)) if at in moving),
        silent=tuple(at for at in range(len(network.processes)) if at not in moving),
        initial_values=tuple(
            (layout.cells[address].name, _value(address, first, layout))
            for address in sorted(changing)
        ),
        process_names=tuple(process.name for process in network.processes),
        location_names=names,
        timed=len(layout.clocks) > 1,
    )


def _move(use: EdgeUse, edge: Edge, network: Network, names: tuple[tuple[str, ...], ...]) -> Move:
    return Move(
        process=use.process,
        name=network.processes[use.process].name,
        edge=use.edge,
        source=names[use.process][edge.source],
        target=names[use.process][edge.target],
        target_index=edge.target,
        # A select variable that is missing in the trace is no reason to show nothing.
        selects=tuple(
            f"{select.symbol.name} = {value}"
            for select, value in zip(edge.selects, use.selects, strict=False)
        ),
    )


def _different(before: tuple[int, ...], after: tuple[int, ...], layout: Layout) -> list[int]:
    return [
        address
        for address, (old, new) in enumerate(zip(before, after, strict=True))
        if old != new and not isinstance(layout.cells[address].type, ClockType)
    ]


def _change(
    address: int, before: tuple[int, ...], after: tuple[int, ...], layout: Layout
) -> Change:
    return Change(
        layout.cells[address].name,
        _value(address, before, layout),
        _value(address, after, layout),
    )


def _value(address: int, values: tuple[int, ...], layout: Layout) -> str:
    value = values[address]
    if isinstance(layout.cells[address].type, BoolType):
        return "true" if value else "false"
    return str(value)


def _hurry(network: Network, locations: tuple[int, ...]) -> str:
    kinds = Counter(
        process.locations[at].kind for process, at in zip(network.processes, locations, strict=True)
    )
    return "committed" if kinds["committed"] else "urgent" if kinds["urgent"] else ""


def _end(trace: TimedTrace) -> str:
    match trace.end:
        case "goal":
            return "goal reached: this state decides the query"
        case "lasso":
            return f"loops back to step {trace.loop_to}: from here it can go on for ever"
        case "deadlock":
            return "deadlock: nothing can happen any more"
        case "divergence":
            return "time can diverge: from here the run can wait for ever"
        case "error":
            return f"error: {one_line(trace.message) or 'the model does something undefined'}"


# ------------------------------------------------------------------------------------- results


def one_line(text: str) -> str:
    """A text as written, without the line breaks and indentation of its file."""
    return " ".join(clean(text).split())


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def seconds(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def answer(result: QueryResult) -> tuple[str, ...]:
    """The verdict in words, one line for each expression that the query asks for."""
    if result.verdict != "satisfied" or not result.suprema:
        return (result.verdict,)
    relation = ">" if result.query.split("{")[0].strip().startswith("inf") else "<"
    return tuple(_bound(supremum, relation) for supremum in result.suprema)


def _bound(supremum: Supremum, relation: str) -> str:
    expression = one_line(supremum.expression)
    if supremum.value is None:
        return f"{expression}: unbounded"
    return f"{expression} {relation}{'' if supremum.strict else '='} {supremum.value}"


def title(result: QueryResult) -> str:
    """What the trace of a result is."""
    if result.verdict == "violated":
        return "Counterexample"
    return "Run into the error" if result.verdict == "error" else "Witness"
