"""Charts as networks: state machines that are interleaved and send each other messages (Koelbl,
section 3.1).

Each machine becomes a process and each state without states inside a location
(:mod:`whence.explore.chart_structure`).  What a step is:

- One machine takes one compound transition (:mod:`whence.explore.chart_paths`), with all of its
  effects, in one step.  Which machine that is, and which of its transitions, is open.
- A transition with a trigger needs a message of that signal at the head of the machine's queue, and
  takes it.  Without a trigger, it can be taken whenever its guard holds: nothing has to be
  completed before, and nothing makes it wait.
- For the same trigger, transitions of inner states go before those of the states around them, and
  of the transitions of one state that have priorities, the smaller number first.  What decides is
  whether the other transition's guards hold, not whether its messages fit into their queues.
- A message is appended to the receiver's queue.  If that is full, it is lost (`lose`), or the
  transition that sends it has to wait (`block`): all messages of a transition must fit.
- A message at the head that no transition of the present state would take stays there (`keep`),
  or is dropped in a step of its own, which is silent (`discard`).

Guards and effects are put together as expressions, so that the search runs charts as it runs
everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from whence.explore.chart_actions import ActionTable
from whence.explore.chart_effects import (
    Texts,
    conjunction,
    external_signals,
    negation,
    queues_of,
)
from whence.explore.chart_names import ChartNames, joined
from whence.explore.chart_paths import Compound, compounds_from, starts, transition_text
from whence.explore.chart_structure import MachineStructure, structure_of
from whence.expr.evaluate import Store, apply_updates, holds
from whence.expr.faults import EvaluationError
from whence.expr.scope import Problem, Problems
from whence.expr.tree import BoolLiteral, Expr, InLocation
from whence.expr.types import BOOL
from whence.expr.walk import subexpressions
from whence.model.chart import Chart, Send
from whence.model.layout import layout_of
from whence.model.network import Drawing, Edge, Location, Network, Process, Variable
from whence.model.transitions import Action
from whence.source import Origin, SourceText

__all__ = ["EdgeLabel", "LoweredChart", "lower"]


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """What an edge of the network is in the chart: the number of its action, its rate, and the
    transitions of the machine that it takes (none where a message is discarded)."""

    action: int
    rate: Fraction | None = None
    transitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LoweredChart:
    """A chart as a network. `labels` has what each edge of each process is in the chart."""

    chart: Chart
    network: Network
    actions: tuple[Action, ...]
    labels: tuple[tuple[EdgeLabel, ...], ...]
    names: ChartNames

    def formula(self, text: SourceText) -> Expr:
        """A condition on the states of the chart, checked: `Machine.State` and
        `Machine.variable`. Raises InputError where it is none."""
        problems = Problems()
        found: Expr = BoolLiteral(False, type=BOOL)
        with problems.collecting(text.element):
            found = self.names.formula(text)
        problems.raise_any()
        return found


def lower(chart: Chart) -> LoweredChart:
    """The network that a chart means. Raises one InputError with all that is wrong in the chart;
    it is an UnsupportedError if all of that are things that we refuse."""
    return _Lowering(chart).run()


@dataclass(slots=True)
class _Wanted:
    """An edge that is yet without its action's number."""

    edge: Edge
    action: int
    rate: Fraction | None
    transitions: tuple[str, ...]


class _Lowering:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        problems = Problems()
        seen: dict[str, Origin] = {}
        for machine in chart.machines:
            if machine.name in seen:
                problems.add(Problem(f"two machines are called `{machine.name}`", machine.origin))
            seen[machine.name] = machine.origin
        if not chart.machines:
            problems.add(Problem("the chart has no machines", chart.origin))
        self.structures = [
            structure_of(machine, number, problems) for number, machine in enumerate(chart.machines)
        ]
        problems.raise_any()
        self.names = ChartNames(chart, self.structures)
        self.problems = self.names.context.problems
        with self.problems.collecting():
            self.queues = queues_of(chart)
        self.external = frozenset(external_signals(chart))
        self.problems.raise_any()
        self.texts = Texts(chart, self.names, self.queues)
        self.actions = ActionTable()

    def run(self) -> LoweredChart:
        wanted = [self._edges(structure) for structure in self.structures]
        for hazard in self.chart.hazards:
            if not hazard.temporal:
                with self.problems.collecting(f"hazard {hazard.name}"):
                    self.names.formula(hazard.text)
        self.problems.raise_any()
        with self.problems.collecting():
            actions = self.actions.named()
        self.problems.raise_any()
        variables = [*self.names.variables, *(queue.variable for queue in self.queues.values())]
        processes = tuple(
            self._process(structure, [item.edge for item in edges])
            for structure, edges in zip(self.structures, wanted, strict=True)
        )
        network = Network(self.chart.name, tuple(variables), processes, origin=self.chart.origin)
        with self.problems.collecting():
            network = self._started(network)
        self.problems.raise_any()
        labels = tuple(
            tuple(EdgeLabel(item.action, item.rate, item.transitions) for item in edges)
            for edges in wanted
        )
        return LoweredChart(self.chart, network, actions, labels, self.names)

    def _process(self, structure: MachineStructure, edges: Sequence[Edge]) -> Process:
        locations = tuple(
            Location(ident, ident=ident, origin=structure.states[ident].origin)
            for ident in structure.locations
        )
        initial = structure.locations.get(structure.initial[None], 0)
        machine = structure.machine
        return Process(
            machine.name, machine.name, locations, tuple(edges), initial, origin=machine.origin
        )

    # ------------------------------------------------------------------------------------- edges

    def _edges(self, structure: MachineStructure) -> list[_Wanted]:
        found: list[_Wanted] = []
        for location in structure.locations:
            compounds: list[Compound] = []
            with self.problems.collecting(f"machine {structure.machine.name}"):
                compounds = list(compounds_from(structure, location))
            conditions: list[tuple[Compound, Expr | None]] = []
            for compound in compounds:
                with self.problems.collecting(f"machine {structure.machine.name}"):
                    # Everything is read before anything is left out, so that all is checked.
                    self.texts.updates(structure.machine.name, compound.effects)
                    conditions.append((compound, self.texts.condition(structure, compound)))
            for compound, condition in conditions:
                with self.problems.collecting(f"machine {structure.machine.name}"):
                    found.extend(self._edge(structure, compound, condition, conditions))
            with self.problems.collecting(f"machine {structure.machine.name}"):
                found.extend(self._discards(structure, location, conditions))
        return found

    def _edge(
        self,
        structure: MachineStructure,
        compound: Compound,
        condition: Expr | None,
        others: Sequence[tuple[Compound, Expr | None]],
    ) -> Iterator[_Wanted]:
        machine, first = structure.machine, compound.first
        rates = [s.rate for s in compound.segments if s.rate is not None]
        if len(rates) > 1:
            raise Problem(
                "rates on several transitions that are taken as one", first.origin, unsupported=True
            )
        action = self.actions.add(structure, compound)
        queue = self.queues.get(machine.name)
        parts: list[Expr] = []
        updates: list[Expr] = []
        if first.trigger is not None and first.trigger not in self.external:
            if queue is None or first.trigger not in queue.received:
                return  # it is sent to others only
            parts.append(queue.head_is(first.trigger, first.origin))
            updates.extend(queue.pop(first.origin))
        if condition is not None:
            parts.append(condition)
        for other, its_condition in others:
            if self._precedes(structure, other, compound):
                if its_condition is None:
                    return  # the other one can always be taken instead
                parts.append(negation(its_condition))
        room = self.texts.has_room(machine.name, compound)
        if room is not None:
            parts.append(room)
        updates.extend(self.texts.updates(machine.name, compound.effects))
        yield _Wanted(
            Edge(
                structure.locations[compound.source],
                structure.locations[compound.target],
                guard=conjunction(parts),
                updates=tuple(updates),
                ident=first.ident,
                drawing=Drawing(labels={"transition": (transition_text(compound), None)}),
                origin=first.origin,
            ),
            action,
            rates[0] if rates else None,
            tuple(segment.ident for segment in compound.segments),
        )

    @staticmethod
    def _precedes(structure: MachineStructure, other: Compound, compound: Compound) -> bool:
        """Whether `other`, where its guards hold, keeps `compound` from being taken."""
        mine, its = compound.first, other.first
        if mine.trigger != its.trigger or mine.ident == its.ident:
            return False
        if mine.source == its.source:
            return (
                mine.priority is not None
                and its.priority is not None
                and its.priority < mine.priority
            )
        return mine.trigger is not None and mine.source in structure.around[its.source]

    def _discards(
        self,
        structure: MachineStructure,
        location: str,
        conditions: Sequence[tuple[Compound, Expr | None]],
    ) -> Iterator[_Wanted]:
        machine = structure.machine
        queue = self.queues.get(machine.name)
        if queue is None or machine.unexpected != "discard":
            return
        number = structure.locations[location]
        for signal in queue.received:
            taking = [c for compound, c in conditions if compound.first.trigger == signal]
            if None in taking:
                continue
            parts = [queue.head_is(signal, machine.origin)]
            either = joined("||", [condition for condition in taking if condition is not None])
            if either is not None:
                parts.append(negation(either))
            action = self.actions.add_silent(machine, f"{machine.name} discards {signal}")
            yield _Wanted(
                Edge(
                    number,
                    number,
                    guard=conjunction(parts),
                    updates=queue.pop(machine.origin),
                    ident=f"discard {signal}",
                    drawing=Drawing(labels={"transition": (f"{signal} is dropped", None)}),
                    origin=machine.origin,
                ),
                action,
                None,
                (),
            )

    # ------------------------------------------------------------------------------------- start

    def _started(self, network: Network) -> Network:
        """The network after all machines have come to their first locations, in the order in
        which they stand in the chart."""
        layout = layout_of(network)
        locations = [process.initial for process in network.processes]
        store = Store(data=list(layout.initial), address=layout.address, locations=locations)
        for structure in self.structures:
            machine = structure.machine
            found: list[Compound] = []
            for compound in starts(structure):
                condition = self.texts.condition(structure, compound)
                self._check_start(condition)
                if condition is None or self._evaluated(condition, store):
                    found.append(compound)
            initial = structure.states[structure.initial[None]]
            if len(found) != 1:
                raise Problem(
                    f"machine `{machine.name}` starts in {len(found) or 'no'} states: "
                    f"its choice at the start has {len(found) or 'no'} ways",
                    initial.origin,
                    "give the initial transition an `event`" if found else "",
                    unsupported=bool(found),
                )
            (compound,) = found
            room = self.texts.has_room(machine.name, compound)
            if room is not None and not self._evaluated(room, store):
                send = next(e for e in compound.effects if isinstance(e, Send))
                raise Problem(
                    "a message sent at the start does not fit into its queue", send.origin
                )
            try:
                apply_updates(self.texts.updates(machine.name, compound.effects), store)
            except EvaluationError as error:
                raise Problem(f"at the start: {error}", error.origin) from None
            locations[structure.number] = structure.locations[compound.target]
        variables = []
        for variable in network.variables:
            at = layout.address[variable.symbol]
            cells = tuple(store.data[at : at + len(variable.initial)])
            variables.append(Variable(variable.symbol, cells, origin=variable.origin))
        processes = tuple(
            Process(p.name, p.template, p.locations, p.edges, initial, origin=p.origin)
            for p, initial in zip(network.processes, locations, strict=True)
        )
        return Network(network.name, tuple(variables), processes, origin=network.origin)

    @staticmethod
    def _evaluated(condition: Expr, store: Store) -> bool:
        try:
            return holds(condition, store)
        except EvaluationError as error:
            raise Problem(f"at the start: {error}", error.origin) from None

    @staticmethod
    def _check_start(condition: Expr | None) -> None:
        for part in () if condition is None else subexpressions(condition):
            if isinstance(part, InLocation):
                raise Problem(
                    "a choice by the states of machines at the start, before they are in any",
                    part.origin,
                    unsupported=True,
                )
