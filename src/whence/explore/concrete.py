"""Networks executed with concrete clock values, written from the definition of their semantics.

This is the judge of what the symbolic exploration claims.  The definition is UPPAAL's
("Semantics" and "Priorities" in its language reference):

* Time may pass while all invariants hold, no process is in an urgent or committed location, and
  no synchronisation on an urgent channel is enabled.  "Enabled" looks at guards only: a
  synchronisation that a target invariant or a priority forbids holds time up all the same.  It
  is required *before* the end of the delay only, so that a synchronisation with a clock guard
  can happen at the very moment when it becomes enabled.
* An action is an internal edge, a pair of a sending and a receiving edge, or a sending edge with
  one receiving edge of every other process that has an enabled one (broadcast).  Guards are
  evaluated before all updates, the sender's updates come first, then those of the receivers in
  the order of processes.
* If some process is in a committed location, an action has to leave a committed location.
* The target invariants must hold after the updates; else there is no such action.
* The priority of an action is that of its channel (internal edges have the default priority),
  then, among equals, the highest priority of its processes.  An action is blocked while one of
  higher priority is possible in the same concrete state.  An action whose updates are a fault of
  the model is possible in this sense, as it is what stops the run.

Guards and invariants are evaluated from left to right with short-circuit; where the left part is
false, faults of the right part do not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from whence.expr.evaluate import Store, apply_updates, holds, place_of, type_of
from whence.expr.faults import EvaluationError
from whence.expr.tree import Expr
from whence.expr.types import ChannelType, ConstraintType
from whence.model.layout import layout_of
from whence.model.network import Edge, Location, Network
from whence.model.trace import EdgeUse, Transition
from whence.source import NOWHERE, Origin

__all__ = ["ConcreteState", "IllegalStep", "Interpreter", "Refusal"]


@dataclass(frozen=True, slots=True)
class ConcreteState:
    """`locations` has a location index a process, `values` an integer a data cell, `clocks` a
    value a clock, the constant zero in front."""

    locations: tuple[int, ...]
    values: tuple[int, ...]
    clocks: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something is not possible in a state, and what in the model forbids it."""

    reason: str
    origin: Origin = NOWHERE


class IllegalStep(Exception):
    """A step that the semantics does not allow was asked for."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.reason)


@dataclass(frozen=True, slots=True)
class _Offer:
    """An edge with an enabled guard, and the channel it synchronises on (None: internal)."""

    use: EdgeUse
    edge: Edge
    channel: int | None


class Interpreter:
    """Executes one network. States are values; nothing of a run is kept here."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.layout = layout_of(network)
        self._constants = {variable.symbol: variable.initial for variable in network.constants}
        self._channel_number = {cell.name: at for at, cell in enumerate(self.layout.channels)}
        #: Where the evaluator notes when comparisons of clocks change, while we look ahead.
        self._changes: set[Fraction] | None = None

    # --------------------------------------------------------------------------------- states

    def initial(self) -> ConcreteState:
        """The initial state; not a legal one if an invariant does not hold there."""
        state = ConcreteState(
            tuple(process.initial for process in self.network.processes),
            self.layout.initial,
            (Fraction(0),) * len(self.layout.clocks),
        )
        self._require(self.broken_invariant(state))
        return state

    def holds(self, state: ConcreteState, formula: Expr) -> bool:
        """Whether a state formula is true in a state; `deadlock` may occur in it."""
        store = self._store(state)
        store.deadlock = lambda: self.deadlocked(state)
        return holds(formula, store)

    def broken_invariant(self, state: ConcreteState) -> Refusal | None:
        """The first location whose invariant does not hold."""
        return self._broken_invariant(self._store(state))

    def _broken_invariant(self, store: Store) -> Refusal | None:
        for process, at in zip(self.network.processes, store.locations, strict=True):
            location = process.locations[at]
            if location.invariant is not None and not holds(location.invariant, store):
                return Refusal(
                    f"the invariant of location {process.name}.{location.name} does not hold",
                    location.invariant.origin,
                )
        return None

    def _store(self, state: ConcreteState) -> Store:
        return Store(
            data=list(state.values),
            address=self.layout.address,
            clocks=list(state.clocks),
            clock_of=self.layout.clock_of,
            locations=state.locations,
            constants=self._constants,
            functions=self.network.functions,
            changes=self._changes,
        )

    def _current(self, state: ConcreteState) -> Iterator[tuple[int, Location]]:
        for number, process in enumerate(self.network.processes):
            yield number, process.locations[state.locations[number]]

    @staticmethod
    def _require(refusal: Refusal | None) -> None:
        if refusal is not None:
            raise IllegalStep(refusal)

    # ---------------------------------------------------------------------------------- delay

    def delay(self, state: ConcreteState, duration: Fraction | int) -> ConcreteState:
        """The state after some time; raises :class:`IllegalStep` if it may not pass."""
        self._require(self.refuses_delay(state, Fraction(duration)))
        return _later(state, Fraction(duration))

    def refuses_delay(self, state: ConcreteState, duration: Fraction) -> Refusal | None:
        if duration < 0:
            return Refusal(f"time cannot pass backwards ({duration})")
        if duration == 0:
            return None
        for number, location in self._current(state):
            if location.kind != "normal":
                name = f"{self.network.processes[number].name}.{location.name}"
                return Refusal(
                    f"time passes ({duration}) in the {location.kind} location {name}",
                    location.origin,
                )
        # Invariants are convex in time: what holds at both ends holds in between.
        for moment, words in ((Fraction(0), "before"), (duration, "after")):
            broken = self.broken_invariant(_later(state, moment))
            if broken is not None:
                return Refusal(f"{broken.reason} {words} a delay of {duration}", broken.origin)
        return self._urgent_during(state, duration)

    def _urgent_during(self, state: ConcreteState, duration: Fraction) -> Refusal | None:
        moment: Fraction | None = Fraction(0)
        if not self._urgency_depends_on_time(state):
            urgent = self._urgent(state)
        else:
            moment = self._first_moment(
                state, lambda later: None if self._urgent(later) is None else True, duration
            )
            urgent = None if moment is None else self._urgent(_later(state, moment))
        if urgent is None:
            return None
        return Refusal(
            f"time passes ({duration}) while the urgent channel {urgent.action} is enabled",
            self._edge(urgent.uses[0]).origin,
        )

    def _urgency_depends_on_time(self, state: ConcreteState) -> bool:
        return any(
            _is_urgent(edge) and edge.guard is not None and _has_clocks(edge.guard)
            for number, process in enumerate(self.network.processes)
            for edge in process.edges
            if edge.source == state.locations[number]
        )

    def _urgent(self, state: ConcreteState) -> Transition | None:
        """An enabled synchronisation on an urgent channel."""
        return next(self._combined(list(self._offers(state, _is_urgent))), None)

    def deadlocked(self, state: ConcreteState) -> bool:
        """Whether no action is possible, neither now nor after any delay."""
        if self.enabled(state):
            return False
        if any(location.kind != "normal" for _, location in self._current(state)):
            return True

        def probe(later: ConcreteState) -> bool | None:
            if self.broken_invariant(later) is not None:
                return False
            if self.enabled(later):
                return True
            return None if self._urgent(later) is None else False

        return self._first_moment(state, probe, None) is None

    def can_wait_for_ever(self, state: ConcreteState) -> bool:
        """Whether time can pass without bound."""
        if any(location.kind != "normal" for _, location in self._current(state)):
            return False

        def stops(later: ConcreteState) -> bool | None:
            held_up = self.broken_invariant(later) is not None or self._urgent(later) is not None
            return True if held_up else None

        return self._first_moment(state, stops, None) is None

    def _first_moment(
        self,
        state: ConcreteState,
        probe: Callable[[ConcreteState], bool | None],
        before: Fraction | None,
    ) -> Fraction | None:
        """The first delay, or one in the first open interval of delays, at which `probe` is true.

        `probe` is asked along the way, and False ends the search, as does the delay `before`.
        It can only change its answer where a comparison of clocks changes its outcome, and the
        evaluator notes those moments.
        """
        moment = Fraction(0)
        while True:
            answer, changes = self._probe(state, moment, probe)
            if answer is not None:
                return moment if answer else None
            later = [change for change in changes if change > moment]
            # Now the open interval until the next change.  The comparisons made inside may be
            # others than before, so it may turn out to be shorter.
            end = min(later, default=before if before is not None else moment + 2)
            while True:
                if before is not None:
                    end = min(end, before)
                middle = (moment + end) / 2
                answer, changes = self._probe(state, middle, probe)
                inside = [change for change in changes if moment < change <= middle]
                if not inside:
                    break
                end = min(inside)
            if answer is not None:
                return middle if answer else None
            following = min((change for change in changes if change > middle), default=None)
            if following is None or (before is not None and following >= before):
                return None
            moment = following

    def _probe(
        self, state: ConcreteState, moment: Fraction, probe: Callable[[ConcreteState], bool | None]
    ) -> tuple[bool | None, list[Fraction]]:
        """The answer after a delay, and all delays at which a comparison made for it changes."""
        outer, self._changes = self._changes, set()
        try:
            answer = probe(_later(state, moment))
            return answer, [moment + change for change in self._changes]
        finally:
            self._changes = outer

    # -------------------------------------------------------------------------------- actions

    def enabled(self, state: ConcreteState) -> list[Transition]:
        """All actions that are possible now, those included whose updates are a fault."""
        possible = [
            transition
            for transition in self._combined(list(self._offers(state)))
            if self._refuses_commitment(state, transition) is None
            and self._refuses_target(state, transition) is None
        ]
        if not self.network.has_priorities or not possible:
            return possible
        highest = max(map(self._priority, possible))
        return [transition for transition in possible if self._priority(transition) == highest]

    def fire(self, state: ConcreteState, transition: Transition) -> ConcreteState:
        """The state after an action. Raises :class:`IllegalStep` if it is not possible, and
        :class:`EvaluationError` if it is a fault of the model."""
        self._require(self.refuses(state, transition))
        store = self._after(state, transition)
        # Only for the fault that evaluating an invariant may be.
        self._require(self._broken_invariant(store))
        assert store.clocks is not None
        return ConcreteState(tuple(store.locations), tuple(store.data), tuple(store.clocks))

    def refuses(self, state: ConcreteState, transition: Transition) -> Refusal | None:
        """Why an action is not possible, looking at no more of the model than needed."""
        return (
            self._refuses_edges(state, transition)
            or self._refuses_synchronisation(state, transition)
            or self._refuses_commitment(state, transition)
            or self._refuses_target(state, transition)
            or self._refuses_priority(state, transition)
        )

    def _edge(self, use: EdgeUse) -> Edge:
        return self.network.processes[use.process].edges[use.edge]

    def _with_selects(self, state: ConcreteState, use: EdgeUse) -> Store:
        store = self._store(state)
        for select, value in zip(self._edge(use).selects, use.selects, strict=True):
            store.bind(select.symbol, value)
        return store

    def _channel(self, state: ConcreteState, use: EdgeUse) -> int | None:
        synchronisation = self._edge(use).synchronisation
        if synchronisation is None:
            return None
        place = place_of(synchronisation.channel, self._with_selects(state, use))
        return self.layout.channel_of[place.address]

    def _is_enabled(self, state: ConcreteState, use: EdgeUse) -> bool:
        guard = self._edge(use).guard
        return guard is None or holds(guard, self._with_selects(state, use))

    def _offers(
        self, state: ConcreteState, wanted: Callable[[Edge], bool] = lambda edge: True
    ) -> Iterator[_Offer]:
        for number, process in enumerate(self.network.processes):
            for position, edge in enumerate(process.edges):
                if edge.source != state.locations[number] or not wanted(edge):
                    continue
                domains = [range(select.lo, select.hi + 1) for select in edge.selects]
                for selects in product(*domains):
                    use = EdgeUse(number, position, selects)
                    if self._is_enabled(state, use):
                        yield _Offer(use, edge, self._channel(state, use))

    def _combined(self, offers: Sequence[_Offer]) -> Iterator[Transition]:
        """The actions that edges with enabled guards form together."""
        for offer in offers:
            if offer.channel is None:
                yield Transition("tau", (offer.use,))
                continue
            if _direction(offer.edge) == "?":
                continue
            receivers = [
                other
                for other in offers
                if other.channel == offer.channel
                and _direction(other.edge) == "?"
                and other.use.process != offer.use.process
            ]
            action = self.layout.channels[offer.channel].name
            if not self._is_broadcast(offer.channel):
                for receiver in receivers:
                    yield Transition(action, (offer.use, receiver.use))
                continue
            ready = sorted({receiver.use.process for receiver in receivers})
            choices = [
                [receiver.use for receiver in receivers if receiver.use.process == process]
                for process in ready
            ]
            for chosen in product(*choices):
                yield Transition(action, (offer.use, *chosen))

    def _is_broadcast(self, channel: int) -> bool:
        type_ = self.layout.channels[channel].type
        return isinstance(type_, ChannelType) and type_.broadcast

    def _after(self, state: ConcreteState, transition: Transition) -> Store:
        """The store after the updates of an action, with the new locations."""
        store = self._store(state)
        locations = list(state.locations)
        for use in transition.uses:
            edge = self._edge(use)
            store.frame.clear()
            for select, value in zip(edge.selects, use.selects, strict=True):
                store.bind(select.symbol, value)
            apply_updates(edge.updates, store)
            locations[use.process] = edge.target
        store.frame.clear()
        store.locations = locations
        return store

    def _priority(self, transition: Transition) -> tuple[int, int]:
        channel = self.network.default_priority
        if self._edge(transition.uses[0]).synchronisation is not None:
            number = self._channel_number[transition.action]
            channel = self.network.channel_priorities.get(number, channel)
        return channel, max(self.network.processes[use.process].priority for use in transition.uses)

    # ------------------------------------------------------------------------------- refusals

    def _edge_name(self, use: EdgeUse) -> str:
        process = self.network.processes[use.process]
        edge = process.edges[use.edge]
        source, target = process.locations[edge.source].name, process.locations[edge.target].name
        return f"edge {use.edge} of {process.name} ({source} -> {target})"

    def _refuses_edges(self, state: ConcreteState, transition: Transition) -> Refusal | None:
        """Edges that do not exist, do not start here, or whose guards do not hold."""
        if not transition.uses:
            return Refusal("no process takes part")
        taking_part = [use.process for use in transition.uses]
        if len(set(taking_part)) < len(taking_part):
            return Refusal("a process takes part twice")
        for use in transition.uses:
            if not 0 <= use.process < len(self.network.processes):
                return Refusal(f"there is no process number {use.process}")
            process = self.network.processes[use.process]
            if not 0 <= use.edge < len(process.edges):
                return Refusal(f"{process.name} has no edge number {use.edge}", process.origin)
            edge, name = process.edges[use.edge], self._edge_name(use)
            if edge.source != state.locations[use.process]:
                here = process.locations[state.locations[use.process]].name
                return Refusal(f"{name} does not start in {here}, where {process.name} is")
            if len(use.selects) != len(edge.selects) or any(
                not select.lo <= value <= select.hi
                for select, value in zip(edge.selects, use.selects, strict=True)
            ):
                return Refusal(f"{name} has no such select values: {use.selects}", edge.origin)
            if not self._is_enabled(state, use):
                assert edge.guard is not None
                return Refusal(f"the guard of {name} does not hold", edge.guard.origin)
        return None

    def _refuses_synchronisation(
        self, state: ConcreteState, transition: Transition
    ) -> Refusal | None:
        sender, *receivers = transition.uses
        edge, name = self._edge(sender), self._edge_name(sender)
        channel = self._channel(state, sender)
        if channel is None:
            if receivers:
                return Refusal(f"{name} is internal, so nobody else takes part", edge.origin)
            if transition.action != "tau":
                return Refusal(f"{name} is internal, it is not {transition.action}", edge.origin)
            return None
        action = self.layout.channels[channel].name
        if _direction(edge) != "!":
            return Refusal(f"{name} receives {action}, it does not send it", edge.origin)
        if transition.action != action:
            return Refusal(f"{name} sends {action}, not {transition.action}", edge.origin)
        for use in receivers:
            if _direction(self._edge(use)) != "?" or self._channel(state, use) != channel:
                return Refusal(
                    f"{self._edge_name(use)} does not receive {action}", self._edge(use).origin
                )
        if not self._is_broadcast(channel):
            if len(receivers) != 1:
                return Refusal(f"{action} has exactly one receiver, not {len(receivers)}")
            return None
        numbers = [use.process for use in receivers]
        if numbers != sorted(numbers):
            return Refusal(f"the receivers of {action} are not in the order of processes")
        for offer in self._offers(state, lambda edge: _direction(edge) == "?"):
            process = offer.use.process
            if offer.channel == channel and process not in (sender.process, *numbers):
                return Refusal(
                    f"{self.network.processes[process].name} can receive the broadcast {action}, "
                    "so it has to take part",
                    offer.edge.origin,
                )
        return None

    def _refuses_commitment(self, state: ConcreteState, transition: Transition) -> Refusal | None:
        committed = [
            number for number, location in self._current(state) if location.kind == "committed"
        ]
        if not committed or any(use.process in committed for use in transition.uses):
            return None
        name = self.network.processes[committed[0]].name
        return Refusal(f"{name} is in a committed location, but no committed location is left")

    def _refuses_target(self, state: ConcreteState, transition: Transition) -> Refusal | None:
        try:
            return self._broken_invariant(self._after(state, transition))
        except EvaluationError:
            # A possible step, into an error.
            return None

    def _refuses_priority(self, state: ConcreteState, transition: Transition) -> Refusal | None:
        if not self.network.has_priorities:
            return None
        own = self._priority(transition)
        for other in self.enabled(state):
            if self._priority(other) > own:
                return Refusal(f"{other.action} has a higher priority and is enabled")
        return None


def _later(state: ConcreteState, duration: Fraction) -> ConcreteState:
    zero, *clocks = state.clocks
    return ConcreteState(
        state.locations, state.values, (zero, *(clock + duration for clock in clocks))
    )


def _direction(edge: Edge) -> str:
    return "" if edge.synchronisation is None else edge.synchronisation.direction


def _is_urgent(edge: Edge) -> bool:
    if edge.synchronisation is None:
        return False
    type_ = type_of(edge.synchronisation.channel)
    return isinstance(type_, ChannelType) and type_.urgent


def _has_clocks(guard: Expr) -> bool:
    return isinstance(type_of(guard), ConstraintType)
