"""Traces as JSON, exact and readable: by name, with the texts that the model has at each edge.

::

    {
      "network": "gate", "end": "goal", "loop_to": null, "message": "",
      "steps": [
        {"locations": {"Train": "Safe", ...}, "variables": {"len": 0, ...}, "zone": ["x <= 5"]},
        {"action": "appr[1]",
         "edges": [{"process": "Train", "edge": 0, "source": "Safe", "target": "Appr",
                    "guard": "", "sync": "appr[id]!", "update": "x = 0", "selects": {},
                    "file": "gate.xml", "line": 12}, ...],
         "locations": {...}, "variables": {...}, "zone": [...]},
        ...
      ],
      "delays": [0, "7/2", ...]
    }

A step says what happens and the state that it leads to; there are as many delays as states.  When
a trace is read, only `steps`, `delays` and in each edge `process` and `edge` are required (and
`selects` if the edge has any); `source`, `target` and `locations` must fit the network, the texts
are not looked at.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast, get_args

from whence.expr.types import BoolType, IntType, ScalarType
from whence.model.layout import Layout, layout_of
from whence.model.network import Edge, Network, Process
from whence.model.trace import DelayRange, EdgeUse, SymbolicState, TimedTrace, TraceEnd, Transition
from whence.source import Diagnostic, InputError, Origin

__all__ = ["location_names", "trace_from_json", "trace_from_text", "trace_to_json"]

Json = dict[str, Any]

_NUMBER = re.compile(r"-?[0-9]{1,1000}([./][0-9]{1,1000})?")


# ------------------------------------------------------------------------------------------ writing


def trace_to_json(trace: TimedTrace, network: Network) -> Json:
    """A trace as something that `json.dumps` writes. Zones are kept as text only."""
    layout = layout_of(network)
    steps: list[Json] = []
    for number in range(max(len(trace.states), len(trace.transitions) + 1)):
        step: Json = {}
        if number > 0:
            transition = trace.transitions[number - 1]
            step["action"] = transition.action
            step["edges"] = [_edge_to_json(use, network) for use in transition.uses]
        # A step that is an error of the model leads to no state.
        if number < len(trace.states):
            step |= _state_to_json(trace.states[number], network, layout)
        steps.append(step)
    return {
        "network": network.name,
        "end": trace.end,
        "loop_to": trace.loop_to,
        "message": trace.message,
        "steps": steps,
        "delays": [_number_to_json(delay) for delay in trace.delays],
        "delay_ranges": [_range_to_json(found) for found in trace.delay_ranges],
    }


def _range_to_json(found: DelayRange) -> Json:
    upper = None
    if found.upper is not None:
        upper = {"value": str(found.upper), "strict": found.upper_strict}
    return {"lower": {"value": str(found.lower), "strict": found.lower_strict}, "upper": upper}


def _number_to_json(number: Fraction) -> int | str:
    return number.numerator if number.denominator == 1 else str(number)


def location_names(process: Process) -> list[str]:
    """What to call the locations: not all have a name, and not all names are unique."""
    given = Counter(location.name for location in process.locations)
    return [
        location.name
        if location.name and given[location.name] == 1
        else location.ident or f"#{number}"
        for number, location in enumerate(process.locations)
    ]


def _state_to_json(state: SymbolicState, network: Network, layout: Layout) -> Json:
    result: Json = {}
    if state.locations:
        result["locations"] = {
            process.name: location_names(process)[location]
            for process, location in zip(network.processes, state.locations, strict=True)
        }
    if state.values or not layout.data:
        result["variables"] = {
            layout.cells[address].name: state.values[address] for address in _data(layout)
        }
    result["zone"] = list(state.constraints)
    return result


def _data(layout: Layout) -> list[int]:
    """The addresses of integers; a struct of the data part may have clocks in between."""
    return [
        address
        for address in range(layout.data)
        if isinstance(layout.cells[address].type, IntType | BoolType | ScalarType)
    ]


def _edge_to_json(use: EdgeUse, network: Network) -> Json:
    process = network.processes[use.process]
    edge = process.edges[use.edge]
    names = location_names(process)
    return {
        "process": process.name,
        "edge": use.edge,
        "source": names[edge.source],
        "target": names[edge.target],
        "guard": _label(edge, "guard"),
        "sync": _label(edge, "synchronisation"),
        "update": _label(edge, "assignment"),
        "selects": {
            select.symbol.name: value
            for select, value in zip(edge.selects, use.selects, strict=True)
        },
        "file": edge.origin.file,
        "line": edge.origin.line,
    }


def _label(edge: Edge, kind: str) -> str:
    text, _ = edge.drawing.labels.get(kind, ("", None))
    return text


# ------------------------------------------------------------------------------------------ reading


def trace_from_text(text: str, network: Network, file: str = "") -> TimedTrace:
    """A trace from the text of a JSON file; decimal fractions in it are taken exactly."""
    try:
        obj = json.loads(text, parse_float=_exact, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise InputError(
            Diagnostic(
                f"this is not JSON: {error.msg}",
                Origin(file, error.lineno, error.colno),
                element="the trace",
            )
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            Diagnostic(f"this is not JSON: {error}", Origin(file), element="the trace")
        ) from None
    return trace_from_json(obj, network, file)


def _exact(text: str) -> Fraction:
    # An exponent could ask for a number that fills all memory.
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text}: write numbers without exponents")
    return Fraction(text)


def _no_number(text: str) -> Fraction:
    raise ValueError(f"{text} is no number")


def trace_from_json(obj: object, network: Network, file: str = "") -> TimedTrace:
    """A trace from what `json.loads` makes of it."""
    return _Reader(network, file).trace(obj)


class _Reader:
    def __init__(self, network: Network, file: str) -> None:
        self._network = network
        self._layout = layout_of(network)
        self._file = file
        self._processes = {process.name: n for n, process in enumerate(network.processes)}

    # ------------------------------------------------------------------------ pieces of JSON

    def _error(self, where: str, message: str, hint: str = "") -> InputError:
        return InputError(
            Diagnostic(message, Origin(self._file), hint=hint, element=f"the trace, at {where}")
        )

    def _object(self, value: object, where: str) -> Mapping[str, object]:
        if not isinstance(value, dict):
            raise self._error(where, f"expected an object, found {_kind(value)}")
        return cast("dict[str, object]", value)

    def _list(self, value: object, where: str) -> list[object]:
        if not isinstance(value, list):
            raise self._error(where, f"expected a list, found {_kind(value)}")
        return cast("list[object]", value)

    def _string(self, value: object, where: str) -> str:
        if not isinstance(value, str):
            raise self._error(where, f"expected a string, found {_kind(value)}")
        return value

    def _integer(self, value: object, where: str) -> int:
        # For Python, truth values are integers.
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._error(where, f"expected an integer, found {_kind(value)}")
        return value

    def _required(self, value: Mapping[str, object], key: str, where: str) -> object:
        if key not in value:
            raise self._error(where or "its top", f"`{key}` is missing")
        return value[key]

    def _delay(self, value: object, where: str) -> Fraction:
        if isinstance(value, bool | float) or not isinstance(value, int | str | Fraction):
            raise self._error(
                where,
                f"expected a number of time units, found {_kind(value)}",
                hint='write an integer or a fraction in quotes, such as "7/2"',
            )
        try:
            if isinstance(value, str) and not _NUMBER.fullmatch(value):
                raise ValueError
            delay = Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise self._error(where, f"{value!r} is no number") from None
        if delay < 0:
            raise self._error(where, f"a delay cannot be negative: {delay}")
        return delay

    # --------------------------------------------------------------------------------- trace

    def trace(self, obj: object) -> TimedTrace:
        top = self._object(obj, "its top")
        end = self._string(top.get("end", "goal"), "end")
        if end not in get_args(TraceEnd):
            raise self._error(
                "end", f"unknown end {end!r}", hint=f"one of {', '.join(get_args(TraceEnd))}"
            )
        loop = top.get("loop_to")
        loop_to = None if loop is None else self._integer(loop, "loop_to")

        steps = self._list(self._required(top, "steps", ""), "steps")
        if not steps:
            raise self._error("steps", "a trace has at least its initial state")
        states: list[SymbolicState] = []
        transitions: list[Transition] = []
        for number, item in enumerate(steps):
            where = f"steps[{number}]"
            step = self._object(item, where)
            if number > 0:
                transitions.append(self._transition(step, where))
            elif step.get("action") is not None or step.get("edges"):
                raise self._error(where, "the first step is a state, nothing happens before it")
            if not self._is_failing(step, end, number, len(steps)):
                states.append(self._state(step, where))

        listed = self._list(self._required(top, "delays", ""), "delays")
        delays = tuple(self._delay(item, f"delays[{n}]") for n, item in enumerate(listed))
        if len(delays) != len(states):
            raise self._error(
                "delays", f"expected {len(states)} delays, one a state, found {len(delays)}"
            )
        if loop_to is not None and not 0 <= loop_to < len(states):
            raise self._error("loop_to", f"there is no state number {loop_to}")
        return TimedTrace(
            states=tuple(states),
            transitions=tuple(transitions),
            delays=delays,
            end=cast("TraceEnd", end),
            loop_to=loop_to,
            message=self._string(top.get("message", ""), "message"),
        )

    @staticmethod
    def _is_failing(step: Mapping[str, object], end: str, number: int, steps: int) -> bool:
        """Whether a step is the action that an error ends the trace with: it has no state."""
        last = number > 0 and number == steps - 1
        return end == "error" and last and not {"locations", "variables"} & step.keys()

    def _state(self, step: Mapping[str, object], where: str) -> SymbolicState:
        locations: tuple[int, ...] = ()
        values: tuple[int, ...] = ()
        if "locations" in step:
            locations = self._locations(step["locations"], f"{where}.locations")
        if "variables" in step:
            values = self._values(step["variables"], f"{where}.variables")
        zone_at = f"{where}.zone"
        zone = self._list(step.get("zone", []), zone_at)
        constraints = tuple(self._string(item, f"{zone_at}[{n}]") for n, item in enumerate(zone))
        return SymbolicState(locations, values, constraints=constraints)

    def _complete(self, found: Mapping[str, object], names: list[str], what: str, at: str) -> None:
        """Just these names and no others."""
        for name in found:
            if name not in names:
                raise self._error(at, f"unknown {what} {name!r}")
        for name in names:
            if name not in found:
                raise self._error(at, f"{what} {name!r} is missing")

    def _locations(self, value: object, where: str) -> tuple[int, ...]:
        found = self._object(value, where)
        self._complete(found, list(self._processes), "process", where)
        return tuple(
            self._location(process, found[process.name], f"{where}.{process.name}")
            for process in self._network.processes
        )

    def _location(self, process: Process, value: object, where: str) -> int:
        name = self._string(value, where)
        names = location_names(process)
        if name in names:
            return names.index(name)
        raise self._error(where, f"{process.name} has no location {name!r}")

    def _values(self, value: object, where: str) -> tuple[int, ...]:
        found = self._object(value, where)
        addresses = _data(self._layout)
        names = [self._layout.cells[address].name for address in addresses]
        self._complete(found, names, "variable", where)
        values = [0] * self._layout.data
        for address, name in zip(addresses, names, strict=True):
            values[address] = self._integer(found[name], f"{where}.{name}")
        return tuple(values)

    def _transition(self, step: Mapping[str, object], where: str) -> Transition:
        action = self._string(self._required(step, "action", where), f"{where}.action")
        names = {cell.name for cell in self._layout.channels}
        if action != "tau" and action not in names:
            raise self._error(f"{where}.action", f"unknown channel {action!r}")
        edges = self._list(self._required(step, "edges", where), f"{where}.edges")
        return Transition(
            action, tuple(self._use(item, f"{where}.edges[{n}]") for n, item in enumerate(edges))
        )

    def _use(self, value: object, where: str) -> EdgeUse:
        item = self._object(value, where)
        name = self._string(self._required(item, "process", where), f"{where}.process")
        if name not in self._processes:
            raise self._error(f"{where}.process", f"unknown process {name!r}")
        number = self._processes[name]
        process = self._network.processes[number]
        position = self._integer(self._required(item, "edge", where), f"{where}.edge")
        if not 0 <= position < len(process.edges):
            raise self._error(f"{where}.edge", f"{name} has no edge number {position}")
        edge = process.edges[position]
        for key, actual in (("source", edge.source), ("target", edge.target)):
            if key in item and self._location(process, item[key], f"{where}.{key}") != actual:
                raise self._error(
                    f"{where}.{key}",
                    f"the {key} of edge {position} of {name} is {location_names(process)[actual]}",
                )
        selects_at = f"{where}.selects"
        selects = self._object(item.get("selects", {}), selects_at)
        names = [select.symbol.name for select in edge.selects]
        self._complete(selects, names, "select variable", selects_at)
        return EdgeUse(
            number,
            position,
            tuple(self._integer(selects[name], f"{selects_at}.{name}") for name in names),
        )


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float() | Fraction():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
