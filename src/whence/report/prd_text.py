"""A model of requirements on the terminal: what it says, and what is odd about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.text import Text

from whence.model.ecu import Ecu, EcuVariable, Incident, Reaction, Service
from whence.model.prd import Clock, PrdAutomaton, PrdTransition, Variable
from whence.report.prd_words import guard_text, updates_text
from whence.source import Diagnostic, SourceText
from whence.triage.models import PrdModel
from whence.triage.unfold import Unfolded
from whence.triage.words import pattern_text, time_text

__all__ = ["prd_lines"]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def prd_lines(
    model: PrdModel,
    checks: Iterable[Diagnostic] = (),
    unfolded: Unfolded | None = None,
    *,
    transitions: bool = False,
) -> Iterator[Text]:
    """`transitions`: those of the automaton are listed also where it comes from services."""
    automaton = model.automaton
    yield Text(_clean(f"{automaton.name or 'requirements'}"), style="bold")
    if model.file:
        yield Text(_clean(model.file))
    yield from _size(model, unfolded)
    if model.parameters:
        chosen = ", ".join(f"{name} = {value}" for name, value in model.parameters.items())
        yield _line(f"variant: {chosen}")
    if model.ecu is not None:
        yield from _ecu(model.ecu)
    if model.ecu is None or transitions:
        for part in (automaton,) if transitions else model.parts or (automaton,):
            yield from _automaton(part)
    yield from _requirements(model)
    found = [*model.notes, *checks]
    if found:
        yield Text("")
        yield Text("To know", style="bold")
        for diagnostic in found:
            yield from _diagnostic(diagnostic)


def _line(text: str, depth: int = 0) -> Text:
    return Text("  " * depth + _clean(text))


def _clean(text: str) -> str:
    """One line, and nothing in it that would command a terminal."""
    return _CONTROL.sub("\ufffd", " ".join(text.split()))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _size(model: PrdModel, unfolded: Unfolded | None) -> Iterator[Text]:
    automaton = model.automaton
    counts = [
        _count(len(automaton.states), "state"),
        _count(len(automaton.transitions), "transition"),
        _count(len(automaton.variables), "variable"),
        _count(len(automaton.clocks), "clock"),
    ]
    yield _line(", ".join(counts))
    if unfolded is not None:
        more = "" if unfolded.complete else "more than "
        states = _count(unfolded.states, "state")
        yield _line(f"unfolded: {more}{states}, {_count(unfolded.transitions, 'transition')}")


# -------------------------------------------------------------------------------------------- ECU


def _ecu(ecu: Ecu) -> Iterator[Text]:
    times = [
        f"{name} {time_text(value)}"
        for name, value in (("P2", ecu.timing.p2), ("P2*", ecu.timing.p2_star))
        if value is not None
    ]
    if ecu.restart.within:
        times.append(f"restart {_span(ecu.restart.after, ecu.restart.within)}")
    if times:
        yield _line(f"times: {', '.join(times)}")
    if ecu.variables:
        yield Text("")
        yield Text("State", style="bold")
        for variable in ecu.variables:
            yield _line(_variable(variable) + _cited(variable.requirements), 1)
    yield Text("")
    yield Text("Services", style="bold")
    for service in ecu.services:
        yield from _service(service)
    if ecu.unknown is not None:
        yield _line(f"any other request: refused with {_codes(ecu.unknown)}", 1)
    if ecu.reactions:
        yield Text("")
        yield Text("Reactions", style="bold")
        for reaction in ecu.reactions:
            yield from _reaction(reaction, ecu)
    if ecu.incidents:
        yield Text("")
        yield Text("Incidents", style="bold")
        for incident in ecu.incidents:
            yield from _incident(incident)


def _span(after: object, within: object) -> str:
    low, high = time_text(after), time_text(within)  # type: ignore[arg-type]
    return high if low == high else f"{low} to {high}"


def _variable(variable: EcuVariable) -> str:
    values = ", ".join(variable.names) or f"{variable.low}..{variable.high}"
    initial = "not known"
    if variable.initial is not None:
        initial = variable.names[variable.initial] if variable.names else str(variable.initial)
    kept = ", kept over a restart" if variable.keeps else ""
    return f"{variable.name}: {values}; at first {initial}{kept}"


def _service(service: Service) -> Iterator[Text]:
    yield _line(f"{service.name}: {service.request.text}" + _cited(service.requirements), 1)
    if service.only is not None:
        yield _line(f"only if {service.only.text}", 2)
    for need in service.preconditions:
        effects = f", then {need.effects.text}" if need.effects is not None else ""
        if need.condition.text.strip() == "false":
            yield _line(f"refused with {_codes(need.codes)}{effects}{_cited(need.requirements)}", 2)
        else:
            yield _line(
                f"needs {need.condition.text}, else refused with {_codes(need.codes)}{effects}"
                + _cited(need.requirements),
                2,
            )
    if any(need.condition.text.strip() == "false" for need in service.preconditions):
        return
    if not service.answers or service.concurrent:
        yield _line("gets no response" + _then(service.effects), 2)
    elif not service.responses:
        yield _line("any positive response" + _then(service.effects), 2)
    for response in service.responses:
        text = response.text.text if response.text is not None else "any positive response"
        when = f" if {response.condition.text}" if response.condition is not None else ""
        yield _line(
            f"response {text}{when}{_then(service.effects, response.effects)}"
            + _cited(response.requirements),
            2,
        )
    for refusal in service.refusals:
        when = f" if {refusal.condition.text}" if refusal.condition is not None else ""
        yield _line(f"may be refused with {_codes(refusal.codes)}{when}{_then(refusal.effects)}"
                    + _cited(refusal.requirements), 2)  # fmt: skip
    also = [
        text
        for said, text in (
            (service.pending, "the response may be put off"),
            (service.suppressible, "the tester may want no response"),
            (service.concurrent, "may be asked while a response is awaited"),
            (service.restarts, "the ECU restarts"),
        )
        if said
    ]
    if service.timing is not None and service.timing.p2 is not None:
        also.append(f"within {time_text(service.timing.p2)}")
    if also:
        yield _line("; ".join(also), 2)


def _reaction(reaction: Reaction, ecu: Ecu) -> Iterator[Text]:
    when = f"if {reaction.condition.text}: " if reaction.condition is not None else ""
    clock = reaction.clock or ecu.activity
    if reaction.within is None:
        at = f"may, {time_text(reaction.after)} after {clock}" if reaction.after else "may"
    else:
        at = f"{_span(reaction.after, reaction.within)} after {clock}"
    text = f"{reaction.name}: {when}{at}{_then(reaction.effects)}"
    yield _line(text + _cited(reaction.requirements), 1)


def _incident(incident: Incident) -> Iterator[Text]:
    when = f" if {incident.condition.text}" if incident.condition is not None else ""
    restarts = "; the ECU restarts" if incident.restarts else ""
    text = f"{incident.name}: {incident.event.text}{when}{_then(incident.effects)}{restarts}"
    yield _line(text + _cited(incident.requirements), 1)


def _then(*effects: SourceText | None) -> str:
    texts = [each.text.strip() for each in effects if each is not None and each.text.strip()]
    return f", then {'; '.join(texts)}" if texts else ""


def _codes(codes: tuple[int, ...]) -> str:
    return " or ".join(f"0x{code:02X}" for code in codes) or "any code"


def _cited(requirements: tuple[str, ...]) -> str:
    return f"  [{', '.join(requirements)}]" if requirements else ""


# -------------------------------------------------------------------------------------- automaton


def _automaton(automaton: PrdAutomaton) -> Iterator[Text]:
    variables = {variable.name: variable for variable in automaton.variables}
    yield Text("")
    yield Text(_clean(f"Automaton {automaton.name}".strip()), style="bold")
    for variable in automaton.variables:
        yield _line(f"variable {_declared(variable)}", 1)
    for clock in automaton.clocks:
        yield _line(f"clock {_clock(clock)}", 1)
    for initial in automaton.initial:
        guard = guard_text(initial.guard, variables)
        yield _line(f"starts in {initial.state}" + (f" if {guard}" if guard else ""), 1)
    by_source: dict[str, list[PrdTransition]] = {state.name: [] for state in automaton.states}
    for transition in automaton.transitions:
        by_source[transition.source].append(transition)
    for state in automaton.states:
        awaits = f", awaits {state.awaits}" if state.awaits else ""
        yield _line(f"{state.name}{awaits}{_cited(state.requirements)}", 1)
        for transition in by_source[state.name]:
            yield _line(_transition(transition, variables), 2)


def _declared(variable: Variable) -> str:
    values = ", ".join(variable.names) or f"{variable.low}..{variable.high}"
    if variable.initial is None:
        return f"{variable.name}: {values}"
    first = variable.names[variable.initial] if variable.names else str(variable.initial)
    return f"{variable.name}: {values}; at first {first}"


def _clock(clock: Clock) -> str:
    return clock.name + ("" if clock.initial is None else f"; at first {time_text(clock.initial)}")


def _transition(transition: PrdTransition, variables: dict[str, Variable]) -> str:
    what = "time" if transition.pattern is None else pattern_text(transition.pattern)
    guard = guard_text(transition.guard, variables)
    updates = updates_text(transition, variables)
    when = f" if {guard}" if guard else ""
    then = f", then {updates}" if updates else ""
    return f"{what}{when} -> {transition.target}{then}{_cited(transition.requirements)}"


def _requirements(model: PrdModel) -> Iterator[Text]:
    """The texts, and which of them nothing cites."""
    if not model.requirements:
        return
    cited = {name for t in model.automaton.transitions for name in t.requirements}
    cited |= {name for state in model.automaton.states for name in state.requirements}
    if model.ecu is not None:
        cited |= {name for variable in model.ecu.variables for name in variable.requirements}
    yield Text("")
    yield Text("Requirements", style="bold")
    for ident, text in model.requirements.items():
        unused = "" if ident in cited else "  (nothing of this variant cites it)"
        yield _line(f"{ident}: {text}{unused}", 1)


def _diagnostic(diagnostic: Diagnostic) -> Iterator[Text]:
    place = f"line {diagnostic.origin.line}: " if diagnostic.origin.line else ""
    where = f" ({diagnostic.element})" if diagnostic.element else ""
    yield _line(f"{place}{diagnostic.severity}: {diagnostic.message}{where}", 1)
    if diagnostic.hint:
        yield _line(f"hint: {diagnostic.hint}", 2)
