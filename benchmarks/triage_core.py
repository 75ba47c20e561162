"""How fast triage replays, explains and classifies: a generated model and traces of it.

The model has the size of the one in Becker et al., section 7 (12.5k states, 70k transitions), the
traces have its lengths (40 messages on average, up to 2,500). It is a diagnostic server: modes
(session, security level, power), 23 services, responses within P2, or after a pending
response within P2*, a session that ends after S3, a value that is written and read.

Use as a program, from the project's folder::

    python -m benchmarks.triage_core --traces 1000
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.measure import peak_bytes

from whence.model.prd import (
    TRUE,
    Assignment,
    Captured,
    Clock,
    ClockBound,
    Comparison,
    Constant,
    EventPattern,
    EventTrace,
    FieldPattern,
    Guard,
    Initial,
    PrdAutomaton,
    PrdTransition,
    Read,
    State,
    TimedEvent,
    Variable,
)
from whence.triage.classify import classify
from whence.triage.explain import analyse
from whence.triage.localize import localize
from whence.triage.machine import prepared
from whence.triage.results import Explanation

__all__ = ["main", "model", "workload"]

SESSIONS, LEVELS, POWER, SERVICES = 8, 8, 4, 23
P2, P2_EXTENDED, S3 = Fraction(50, 1000), Fraction(5), Fraction(5)
MILLISECOND = Fraction(1, 1000)
#: Services with a meaning; the others just answer.
SESSION, SECURITY, RESET, WRITE, READ = range(5)


@dataclass(frozen=True)
class Mode:
    session: int
    level: int
    power: int

    @property
    def name(self) -> str:
        return f"s{self.session} l{self.level} p{self.power}"


def _modes() -> list[Mode]:
    return [Mode(s, lv, p) for p in range(POWER) for s in range(SESSIONS) for lv in range(LEVELS)]


def _after(mode: Mode, service: int, value: int) -> Mode:
    """The mode after a positive response."""
    if service == SESSION:
        return Mode(value % SESSIONS, 0, mode.power)
    if service == SECURITY:
        return Mode(mode.session, value % LEVELS, mode.power)
    if service == RESET:
        return Mode(0, 0, value % POWER)
    return mode


def _allowed(mode: Mode, service: int) -> bool:
    """Whether the service is there at all in this session."""
    return service < 3 or mode.session != 0 or service % 2 == 0


def _pattern(label: str, service: int, *fields: FieldPattern) -> EventPattern:
    return EventPattern(
        frozenset([label]), (FieldPattern("service", frozenset([service])), *fields)
    )


def model() -> PrdAutomaton:
    """The server."""
    value = FieldPattern("value", capture="value")
    requests = [_pattern("request", s) for s in range(SERVICES)]
    values = [
        [_pattern("positive", s, FieldPattern("value", frozenset([v]))) for v in range(8)]
        for s in range(3)
    ]
    positive = [_pattern("positive", s, value) for s in range(SERVICES)]
    codes = [FieldPattern("code", ranges=(each,)) for each in ((0x10, 0x77), (0x79, 0xFF))]
    negative = [[_pattern("negative", s, code) for code in codes] for s in range(SERVICES)]
    pending = [
        _pattern("negative", s, FieldPattern("code", frozenset([0x78]))) for s in range(SERVICES)
    ]
    in_time: Guard = ClockBound("p2", "<=", P2)
    in_more_time: Guard = ClockBound("p2", "<=", P2_EXTENDED)
    session_over: Guard = ClockBound("s3", ">=", S3)
    session_on: Guard = ClockBound("s3", "<=", S3 + Fraction(1, 10))
    same: Guard = Comparison(Captured("value"), "==", Read("stored"))
    store = (Assignment("stored", Captured("value")),)
    forget = (Assignment("stored", Constant(0)),)
    states: list[State] = []
    transitions: list[PrdTransition] = []

    def add(source: str, target: str, pattern: EventPattern | None, guard: Guard = TRUE,
            assigned: tuple[Assignment, ...] = (), resets: tuple[str, ...] = (),
            requirement: str = "") -> None:  # fmt: skip
        required = (requirement,) if requirement else ()
        transitions.append(
            PrdTransition(source, target, pattern, guard, assigned, resets, required)
        )

    for mode in _modes():
        name = mode.name
        states.append(State(name))
        if mode.session:
            add(name, name, None, session_on)
            lost = Mode(0, 0, mode.power).name
            add(name, lost, None, session_over, requirement="S3")
        else:
            add(name, name, None)
        for service in range(SERVICES):
            first, more = f"{name} {service}", f"{name} {service} …"
            states.append(State(first, f"the response to {service}"))
            states.append(State(more, f"the response to {service}"))
            add(name, first, requests[service], resets=("p2",))
            add(first, first, None, in_time, requirement=f"P2-{service}")
            add(more, more, None, in_more_time, requirement=f"P2*-{service}")
            add(first, more, pending[service], resets=("p2",))
            add(more, more, pending[service], resets=("p2",))
            for state in (first, more):
                for pattern in negative[service]:
                    add(state, name, pattern, resets=("s3",))
                if not _allowed(mode, service):
                    continue
                if service < 3:
                    for v in range(8):
                        after = _after(mode, service, v).name
                        cleared = forget if service == RESET else ()
                        add(
                            state, after, values[service][v], TRUE, cleared, ("s3",), f"R-{service}"
                        )
                else:
                    guard = same if service == READ else TRUE
                    stored = store if service == WRITE else ()
                    add(state, name, positive[service], guard, stored, ("s3",), f"R-{service}")
    return PrdAutomaton(
        name="diagnostic server",
        states=tuple(states),
        initial=(Initial(Mode(0, 0, 0).name, Comparison(Read("stored"), "==", Constant(0))),),
        transitions=tuple(transitions),
        variables=(Variable("stored"),),
        clocks=(Clock("p2"), Clock("s3")),
    )


# ------------------------------------------------------------------------------------- workload

FAULTS = ("late", "value", "unexpected", "reset", "missing", "forbidden")


def _trace(name: str, length: int, faults: list[str], chance: random.Random) -> EventTrace:
    """A conversation of so many messages, with faults at the end or (several) spread out."""
    events: list[TimedEvent] = []
    mode, stored, s3 = Mode(0, 0, 0), 0, Fraction(0)
    now = Fraction(0)

    def tell(label: str, delay: Fraction, **fields: int) -> None:
        nonlocal now
        now += delay
        events.append(TimedEvent(now, label, dict(fields), len(events)))

    places = [
        max(2, (n + 1) * length // (len(faults) + 1) + length // (len(faults) + 2))
        for n in range(len(faults))
    ]
    while len(events) < length:
        pause = chance.randint(1, 400) * MILLISECOND
        if mode.session and now + pause - s3 >= S3:
            mode = Mode(0, 0, mode.power)
        service = chance.randrange(SERVICES)
        fault = faults.pop(0) if places and len(events) >= places[0] else ""
        if fault:
            places.pop(0)
            service = {"value": READ, "reset": RESET, "forbidden": 5}.get(fault, 6)
        if fault == "unexpected":
            tell("positive", pause, service=7, value=1)
            continue
        if fault == "forbidden" and mode.session:
            service = SESSION
        tell("request", pause, service=service)
        if fault == "missing":
            continue
        delay = chance.randint(1, 40) * MILLISECOND
        if chance.random() < 0.1:
            tell("negative", delay, service=service, code=0x78)
            delay = chance.randint(1, 900) * MILLISECOND
            if fault == "late":
                delay = P2_EXTENDED + MILLISECOND
        elif fault == "late":
            delay = P2 + chance.randint(1, 30) * MILLISECOND
        s3 = now + delay
        value = chance.randrange(8)
        if (not _allowed(mode, service) and fault != "forbidden") or chance.random() < 0.1:
            tell("negative", delay, service=service, code=0x31)
            continue
        if service == READ:
            value = (stored + 1) % 8 if fault == "value" else stored
        tell("positive", delay, service=service, value=value)
        if service == WRITE:
            stored = value
        if service == RESET:
            stored = stored if fault == "reset" else 0
        mode = _after(mode, service, value)
    return EventTrace(name, tuple(events), Fraction(0), complete=False)


def workload(count: int, seed: int = 1) -> Iterator[EventTrace]:
    """Traces: a tenth conform, most have one fault, some several; a few are long."""
    chance = random.Random(seed)
    for number in range(count):
        if number % 250 == 7:
            length = 2500
        elif number % 50 == 3:
            length = chance.randint(200, 500)
        else:
            length = chance.randint(4, 35)
        faults = [] if number % 10 == 0 else [chance.choice(FAULTS)]
        if number % 20 == 1:
            faults.append(chance.choice(FAULTS))
        yield _trace(f"trace {number}", length, faults, chance)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    clock = time.perf_counter
    begin = clock()
    automaton = model()
    traces = list(workload(arguments.traces, arguments.seed))
    messages = sum(len(trace.events) for trace in traces)
    print(f"{len(automaton.states)} states, {len(automaton.transitions)} transitions")
    print(f"{len(traces)} traces, {messages} messages, generated in {clock() - begin:.1f} s")
    begin = clock()
    machine = prepared(automaton).machine(traces[0])
    assert machine.within
    print(f"prepared in {clock() - begin:.2f} s")
    begin = clock()
    found = sum(len(localize(automaton, trace).faults) for trace in traces)
    print(f"localized {found} faults in {clock() - begin:.2f} s")
    begin = clock()
    explanations: list[Explanation] = []
    slowest = 0.0, ""
    for trace in traces:
        start = clock()
        for _, each in analyse(automaton, trace):
            explanations += each
        slowest = max(slowest, (clock() - start, f"{trace.name}, {len(trace.events)} messages"))
    taken = clock() - begin
    print(f"analysed: {len(explanations)} explanations in {taken:.2f} s")
    print(f"  {1e6 * taken / messages:.0f} µs a message; slowest {slowest[0]:.2f} s: {slowest[1]}")
    begin = clock()
    classes = classify(explanations)
    coarse = classify(explanations, "events")
    print(f"classified in {clock() - begin:.2f} s: {len(classes.classes)} classes,"
          f" {len(coarse.classes)} by events")  # fmt: skip
    print(f"peak {peak_bytes() >> 20} MB")
    for found_class in coarse.classes[:12]:
        one = explanations[found_class.representative]
        print(
            f"  {found_class.size:4} {one.fault.kind:10} {len(one.events)} events: {one.signature}"
        )


if __name__ == "__main__":
    main()
