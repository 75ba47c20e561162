"""From the description of an ECU to a PRD automaton.

Control states are those of the conversation, everything else is memory: so that an explanation need
not tell what led to a session unless the fault depends on the session. For each service there are

- `await S`: a request was understood, and a response has to come, within P2;
- `pending S`: the ECU put it off; the response has to come within P2* of the last time;
- `refuse S …`: a precondition did not hold at the end of the request; a refusal has to come;
- `silent S`: nothing has to come, and nothing may, because the tester wanted no response or asked
  all; after P2 this is over. It is a control state of its own, so that what comes nevertheless is
  explained by its request. (Without `Ecu.silences`, there is only `idle`.)

Besides, there are `idle` and `restarting`. Requests are accepted in `idle` and `silent`; reactions
happen there. Only one request is open at a time, apart from concurrent ones, which get no
response. That a response comes too late, or never, is seen where it, or the next event, comes: all
waiting states let time pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from whence.expr.scope import Problem, Problems
from whence.formats.prd.expressions import Updates
from whence.formats.prd.patterns import captures, parse_pattern, without
from whence.model.ecu import Ecu, Precondition, Reaction, ServiceResponse
from whence.model.prd import (
    TRUE,
    Assignment,
    Clock,
    ClockBound,
    Constant,
    EventPattern,
    Guard,
    Initial,
    PrdAutomaton,
    PrdTransition,
    State,
)
from whence.source import Origin, SourceText
from whence.triage.ecu_meaning import Entry, Meaning, parameters_of
from whence.triage.folding import FALSE, all_of, any_of, negated
from whence.triage.messages import (
    TO_ALL,
    both,
    codes_text,
    pending,
    positive,
    response,
    silent_to_all,
)

__all__ = ["IDLE", "P2_CLOCK", "RESTARTING", "RESTART_CLOCK", "compile_ecu"]

IDLE = "idle"
RESTARTING = "restarting"
#: Since the end of the last request, or the last response that put off another.
P2_CLOCK = "p2"
RESTART_CLOCK = "restart"
_RESERVED = (P2_CLOCK, RESTART_CLOCK)
_NOTHING = Updates()


def compile_ecu(ecu: Ecu, parameters: Mapping[str, str | int] | None = None) -> PrdAutomaton:
    """The automaton of this variant. Raises one InputError with all that is wrong."""
    values = parameters_of(ecu, parameters or {})
    problems = Problems()
    meaning = Meaning(ecu, values, problems)
    _check_names(meaning)
    problems.raise_any()
    automaton = _Compiler(meaning).automaton()
    problems.raise_any()
    return automaton


def _check_names(meaning: Meaning) -> None:
    ecu = meaning.ecu
    names: dict[str, Origin] = dict.fromkeys(_RESERVED, ecu.origin)
    for name, origin in (
        *((variable.name, variable.origin) for variable in ecu.variables),
        *((parameter.name, parameter.origin) for parameter in ecu.parameters),
        *((clock, ecu.origin) for clock in meaning.clocks),
    ):
        if name in names:
            hint = "p2 and restart are clocks that each model has" if name in _RESERVED else ""
            meaning.problems.add(Problem(f"the name `{name}` is used twice", origin, hint))
        names[name] = origin
    for variable in ecu.variables if meaning.restarts() else ():
        if variable.initial is None and not variable.keeps:
            meaning.problems.add(
                Problem(
                    f"after a restart nobody knows what `{variable.name}` is",
                    variable.origin,
                    "give it an initial value, or say that it keeps its value",
                )
            )


class _Compiler:
    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self.ecu = meaning.ecu
        self.states: dict[str, State] = {}
        self.transitions: list[PrdTransition] = []
        #: Of each silent state, how long it lasts.
        self.silences: dict[str, Fraction] = {}

    def automaton(self) -> PrdAutomaton:
        meaning, ecu = self.meaning, self.ecu
        self._state(IDLE)
        self._requests(IDLE)
        for entry in meaning.entries:
            self._responses(entry)
        for state in [*self.silences]:
            self._requests(state)
        if meaning.restarts():
            self._restarting()
        for state in (IDLE, *self.silences):
            self._time(state)
        for state in [*self.states]:
            self._incidents(state)
        zero = Fraction(0) if ecu.start == "power-on" else None
        clocks = [*meaning.clocks, P2_CLOCK, *((RESTART_CLOCK,) if meaning.restarts() else ())]
        kept = (variable for entry in meaning.entries for variable in entry.kept.values())
        return PrdAutomaton(
            name=ecu.name,
            states=tuple(self.states.values()),
            initial=(Initial(IDLE),),
            transitions=tuple(self.transitions),
            variables=(*meaning.variables.values(), *kept),
            clocks=tuple(Clock(name, zero) for name in clocks),
            origin=ecu.origin,
        )

    def _state(self, name: str, awaits: str = "", requirements: Iterable[str] = (),
               origin: Origin | None = None) -> str:  # fmt: skip
        known = tuple(dict.fromkeys(requirements))
        self.states.setdefault(name, State(name, awaits, known, origin or self.ecu.origin))
        return name

    def _add(
        self,
        source: str,
        target: str,
        pattern: EventPattern | None,
        guard: Guard = TRUE,
        updates: Updates = _NOTHING,
        requirements: Iterable[str] = (),
        name: str = "",
        origin: Origin | None = None,
    ) -> None:
        if guard == FALSE:
            return
        self.transitions.append(
            PrdTransition(
                source,
                target,
                pattern,
                guard,
                updates.assignments,
                tuple(dict.fromkeys(updates.resets)),
                tuple(dict.fromkeys(requirements)),
                name,
                origin or self.ecu.origin,
            )
        )

    # ----------------------------------------------------------------------------------- requests

    def _requests(self, state: str) -> None:
        """What can be asked in this state."""
        for entry in self.meaning.entries:
            self._request(state, entry, entry.plain, False)
            if entry.quiet is not None:
                self._request(state, entry, entry.quiet, True)

    def _request(self, state: str, entry: Entry, pattern: EventPattern, quiet: bool) -> None:
        meaning, service = self.meaning, entry.service
        scope = meaning.scope(captured=entry.request.ranges)
        so_far: Guard = TRUE
        for condition in service.preconditions:
            holds = meaning.guard(condition.condition, scope)
            self._refused(state, entry, pattern, all_of(so_far, negated(holds)), condition)
            so_far = all_of(so_far, holds)
        if so_far == FALSE:
            return
        if service.concurrent or not service.answers:
            self._ask(state, IDLE, entry, pattern, so_far, meaning.updates(scope, service.effects))
        elif quiet:
            effects = (service.effects, *self._suppressed_effects(entry))
            updates = meaning.updates(scope, *effects)
            target = RESTARTING if service.restarts else self._silent(entry)
            self._ask(state, target, entry, pattern, so_far, updates)
            if service.refusals:
                target = self._refusing(entry, None, ())
                self._ask(state, target, entry, pattern, so_far)
        else:
            self._ask(state, self._awaiting(entry), entry, pattern, so_far)

    def _suppressed_effects(self, entry: Entry) -> tuple[SourceText, ...]:
        """Those of the response that would have come, if it is certain which one."""
        responses = entry.service.responses
        effects = tuple(item.effects for item in responses if item.effects is not None)
        if effects and len(responses) > 1:
            self.meaning.problems.add(
                Problem(
                    "which of the responses is it whose effects a request has that suppresses it?",
                    responses[0].origin,
                    "write the effects at the service",
                ),
                f"service {entry.name}",
            )
        return effects[:1]

    def _refused(self, state: str, entry: Entry, pattern: EventPattern, guard: Guard,
                 condition: Precondition) -> None:  # fmt: skip
        """A precondition does not hold."""
        if guard == FALSE:
            return
        target = self._refusing(entry, condition, condition.codes)
        silence, loud = silent_to_all(condition.codes, self.ecu.silent)
        if not silence:
            self._ask(state, target, entry, pattern, guard, requirements=condition.requirements)
            return
        self._ask(state, target, entry, without(pattern, TO_ALL), guard,
                  requirements=condition.requirements)  # fmt: skip
        everybody = both(pattern, TO_ALL)
        effects = self.meaning.updates(self.meaning.scope(), condition.effects)
        self._ask(state, self._silent(entry), entry, everybody, guard, effects,
                  condition.requirements)  # fmt: skip
        if loud or not condition.codes:
            target = self._refusing(entry, condition, loud)
            self._ask(state, target, entry, everybody, guard, requirements=condition.requirements)

    def _ask(
        self,
        state: str,
        target: str,
        entry: Entry,
        pattern: EventPattern,
        guard: Guard,
        updates: Updates = _NOTHING,
        requirements: tuple[str, ...] = (),
    ) -> None:
        assignments: tuple[Assignment, ...] = ()
        if target == RESTARTING or self._is_idle(target):
            updates = self._settled(target, updates)
        else:
            assignments = entry.remembering()
        self._add(
            state,
            target,
            pattern,
            guard,
            Updates((*updates.assignments, *assignments), (P2_CLOCK, *updates.resets)),
            (*entry.service.requirements, *requirements),
            f"request {entry.name}",
            entry.service.origin,
        )

    def _is_idle(self, state: str) -> bool:
        return state == IDLE or state in self.silences

    def _settled(self, target: str, updates: Updates, entry: Entry | None = None) -> Updates:
        """What happens besides when the ECU comes to rest, or restarts: variables get their
        initial values, and what was remembered of the request is forgotten."""
        assignments = {done.variable: done for done in updates.assignments}
        for variable in entry.kept.values() if entry is not None else ():
            assignments[variable.name] = Assignment(variable.name, Constant(0))
        if target != RESTARTING:
            activity = (self.ecu.activity,) if self.ecu.activity else ()
            return Updates(tuple(assignments.values()), (*updates.resets, *activity))
        for own in self.ecu.variables:
            if not own.keeps and own.initial is not None:
                assignments[own.name] = Assignment(own.name, Constant(own.initial))
        return Updates(tuple(assignments.values()), (*updates.resets, RESTART_CLOCK))

    # ------------------------------------------------------------------------------------- states

    def _awaiting(self, entry: Entry) -> str:
        service = entry.service
        return self._state(f"await {entry.name}", f"the response to {entry.name}",
                           service.requirements, service.origin)  # fmt: skip

    def _refusing(self, entry: Entry, condition: Precondition | None,
                  codes: tuple[int, ...]) -> str:  # fmt: skip
        """The state in which a refusal has to come: because of a precondition or, if it is None,
        because the ECU may refuse at any time."""
        service = entry.service
        number = -1 if condition is None else service.preconditions.index(condition)
        shown = codes_text(codes) if codes else "any"
        name = f"refuse {entry.name} {shown}" if condition is not None else f"refuse {entry.name}"
        twins = [c.codes for c in service.preconditions[: max(0, number)]]
        if condition is not None and condition.codes in twins:
            name = f"{name} ({number + 1})"
        if name in self.states:
            return name
        requirements = (*service.requirements, *(condition.requirements if condition else ()))
        self._state(name, f"the refusal of {entry.name}", requirements, service.origin)
        self._waiting(name, entry)
        effects = None if condition is None else condition.effects
        if condition is not None:
            self._negative(name, entry, entry.timing.p2, codes, None, effects, requirements)
        self._refusals(name, entry, entry.timing.p2)
        self._put_off(name, entry, condition, codes)
        return name

    def _put_off(self, state: str, entry: Entry, condition: Precondition | None,
                 codes: tuple[int, ...]) -> None:  # fmt: skip
        """A refusal can be put off, too."""
        if not entry.service.pending:
            return
        service, later = entry.service, entry.timing.p2_star
        name = self._state(f"{state}, pending", f"the refusal of {entry.name}",
                           service.requirements, service.origin)  # fmt: skip
        self._pending(state, name, entry, entry.timing.p2)
        self._pending(name, name, entry, later)
        self._waiting(name, entry)
        if condition is not None:
            self._negative(name, entry, later, codes, None, condition.effects,
                           condition.requirements)  # fmt: skip
        self._refusals(name, entry, later)

    def _silent(self, entry: Entry) -> str:
        p2 = entry.timing.p2
        if p2 is None or not self.ecu.silences:
            return IDLE
        service = entry.service
        name = self._state(f"silent {entry.name}", "", service.requirements, service.origin)
        self.silences.setdefault(name, p2)
        return name

    # ---------------------------------------------------------------------------------- responses

    def _responses(self, entry: Entry) -> None:
        name = f"await {entry.name}"
        if name not in self.states:
            return
        self._waiting(name, entry)
        self._answers(name, entry, entry.timing.p2)
        if entry.service.pending:
            later = self._state(f"pending {entry.name}", f"the response to {entry.name}",
                                entry.service.requirements, entry.service.origin)  # fmt: skip
            self._pending(name, later, entry, entry.timing.p2)
            self._pending(later, later, entry, entry.timing.p2_star)
            self._waiting(later, entry)
            self._answers(later, entry, entry.timing.p2_star)

    def _answers(self, state: str, entry: Entry, within: Fraction | None) -> None:
        service = entry.service
        for item in service.responses or (ServiceResponse(origin=service.origin),):
            with self.meaning.problems.collecting(f"service {entry.name}"):
                self._positive(state, entry, within, item)
        self._refusals(state, entry, within)

    def _positive(self, state: str, entry: Entry, within: Fraction | None,
                  item: ServiceResponse) -> None:  # fmt: skip
        service = entry.service
        pattern = positive(entry.request) if item.text is None else response(item.text)
        scope = self.meaning.scope(entry.kept, captures(pattern))
        target = RESTARTING if service.restarts else IDLE
        updates = self.meaning.updates(scope, service.effects, item.effects)
        self._add(
            state,
            target,
            pattern,
            all_of(self.meaning.guard(item.condition, scope), _in_time(within)),
            self._settled(target, updates, entry),
            (*service.requirements, *item.requirements),
            f"response {entry.name}",
            item.origin,
        )

    def _refusals(self, state: str, entry: Entry, within: Fraction | None) -> None:
        """Those that are possible at any time."""
        for refusal in entry.service.refusals:
            requirements = (*entry.service.requirements, *refusal.requirements)
            self._negative(state, entry, within, refusal.codes, refusal.condition, refusal.effects,
                           requirements)  # fmt: skip

    def _negative(
        self,
        state: str,
        entry: Entry,
        within: Fraction | None,
        codes: tuple[int, ...],
        condition: SourceText | None,
        effects: SourceText | None,
        requirements: tuple[str, ...],
    ) -> None:
        pattern, named = entry.negative(codes)
        scope = self.meaning.scope(entry.kept)
        updates = self.meaning.updates(scope, effects)
        guard = all_of(self.meaning.guard(condition, scope), named, _in_time(within))
        self._add(state, IDLE, pattern, guard, self._settled(IDLE, updates, entry), requirements,
                  f"refusal {entry.name}", entry.service.origin)  # fmt: skip

    def _pending(self, state: str, target: str, entry: Entry, within: Fraction | None) -> None:
        self._add(state, target, pending(entry.request), _in_time(within),
                  Updates((), (P2_CLOCK,)), entry.service.requirements, f"pending {entry.name}",
                  entry.service.origin)  # fmt: skip

    def _waiting(self, state: str, entry: Entry) -> None:
        """Time passes, and concurrent requests are no matter."""
        self._add(state, state, None, name="waiting", origin=entry.service.origin)
        for other in self.meaning.entries:
            if other.service.concurrent and other is not entry:
                for pattern in (other.plain, other.quiet):
                    if pattern is not None:
                        self._add(state, state, pattern, TRUE, _NOTHING,
                                  other.service.requirements, f"request {other.name}",
                                  other.service.origin)  # fmt: skip

    # --------------------------------------------------------------------------------------- time

    def _restarting(self) -> None:
        restart = self.ecu.restart
        self._state(RESTARTING, "", restart.requirements)
        bounds = ClockBound(RESTART_CLOCK, "<=", restart.within)
        self._add(RESTARTING, RESTARTING, None, bounds, name="restarting")
        ready = all_of(ClockBound(RESTART_CLOCK, ">=", restart.after), bounds)
        self._add(RESTARTING, IDLE, None, ready, self._settled(IDLE, _NOTHING),
                  restart.requirements, "ready")  # fmt: skip
        for entry in self.meaning.entries:
            for pattern in (entry.plain, entry.quiet):
                if pattern is not None:
                    self._add(RESTARTING, RESTARTING, pattern, TRUE, _NOTHING,
                              restart.requirements, f"request {entry.name}",
                              entry.service.origin)  # fmt: skip

    def _time(self, state: str) -> None:
        """Time in `idle` and in silent states: reactions happen before their last date."""
        meaning = self.meaning
        over = self.silences.get(state)
        due: list[Guard] = []
        possible: list[tuple[Reaction, Guard]] = []
        for reaction in meaning.reactions:
            clock = self._clock_of(reaction)
            if over is not None and clock == self.ecu.activity and reaction.after > over:
                # Silence is over before, and begins with the clock at 0.
                continue
            condition = meaning.guard(reaction.condition, meaning.scope())
            start = ClockBound(clock, ">=", reaction.after) if reaction.after else TRUE
            possible.append((reaction, all_of(condition, start)))
            if reaction.within is not None:
                last = ClockBound(clock, "<=", reaction.within)
                due.append(any_of(negated(condition), last))
        calm = all_of(*due)
        if over is None:
            self._add(state, state, None, calm, name="waiting")
        else:
            still = ClockBound(P2_CLOCK, "<=", over)
            self._add(state, state, None, all_of(still, calm), name="waiting")
            past = ClockBound(P2_CLOCK, ">=", over)
            self._add(state, IDLE, None, all_of(past, calm), name="no response")
        for reaction, guard in possible:
            updates = meaning.updates(meaning.scope(), reaction.effects)
            self._add(state, state, None, all_of(guard, calm), updates,
                      reaction.requirements, reaction.name, reaction.origin)  # fmt: skip

    def _clock_of(self, reaction: Reaction) -> str:
        clock = reaction.clock or self.ecu.activity
        timed = reaction.after or reaction.within is not None
        if timed and clock not in self.meaning.clocks:
            self.meaning.problems.add(
                Problem(
                    f"`{clock}` is no clock of this model" if clock else "which clock is this?",
                    reaction.origin,
                    f"it has {', '.join(self.meaning.clocks) or 'none'}",
                ),
                f"reaction {reaction.name}",
            )
        return clock

    def _incidents(self, state: str) -> None:
        meaning = self.meaning
        for incident in meaning.incidents:
            with meaning.problems.collecting(f"incident {incident.name}"):
                pattern = parse_pattern(incident.event)
                scope = meaning.scope(captured=captures(pattern))
                updates = meaning.updates(scope, incident.effects)
                target = RESTARTING if incident.restarts else state
                if incident.restarts:
                    updates = self._settled(target, updates)
                guard = meaning.guard(incident.condition, scope)
                self._add(state, target, pattern, guard, updates, incident.requirements,
                          incident.name, incident.origin)  # fmt: skip


def _in_time(within: Fraction | None) -> Guard:
    return TRUE if within is None else ClockBound(P2_CLOCK, "<=", within)
