"""Whatever has states and events, from Python: charts, networks and plain transition systems, and
what causes a hazard in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from whence.api.models import AnyPath, Limits, Model, load, parse_budget
from whence.model.chart import Chart
from whence.model.transitions import Marks, TransitionSystem
from whence.source import Diagnostic, InputError, SourceText, UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from whence.causes.chance.questions import Probability
    from whence.causes.results import Cause, CausesResult
    from whence.explore.charts import LoweredChart
    from whence.explore.check import Checker
    from whence.explore.event_runs import NameOf
    from whence.explore.search import Budget, Progress
    from whence.expr.tree import Expr
    from whence.model.fault_tree import FaultTree
    from whence.model.trace import TimedTrace, Transition

__all__ = ["CausesSettings", "System", "load_system"]

#: The name that a hazard's states have in systems that we make.
_BAD = "bad"
_PER_HOUR = {"hour": 1, "minute": 60, "second": 3600}


class CausesSettings(TypedDict, total=False):
    """How causes are searched for.

    - `non_occurrence`: how many events that avert the hazard are looked for in one run (0: none).
    - `exact`: split causes whose order admits more than their traces.
    - `depth`: only traces of so many events; `budget`: such as `"60s, 2GB"`.
    - `labels`: of networks: events are `transitions` (the default) or `actions` (channels).
    - `time`: within which probabilities say that the hazard comes about, such as `"1h"`.
    - `default_rate`: transitions without a rate have this one (the thesis says 1), in the model's
      unit of time; None: they are immediate.
    """

    non_occurrence: int
    exact: bool
    depth: int | None
    budget: str | Limits | None
    labels: Literal["transitions", "actions"]
    time: str | None
    default_rate: float | None


@dataclass(frozen=True, slots=True)
class _Explored:
    """A system with the states of a hazard marked `bad`, and what the hazard is called."""

    system: TransitionSystem
    hazard: str


class System:
    """A chart, a network or a plain transition system, of which can be asked what causes a
    hazard. What was explored is kept, so that asking again is quick."""

    def __init__(self, source: Chart | Model | TransitionSystem, file: str = "") -> None:
        self.source = source
        self.file = file
        self._lowered: LoweredChart | None = None
        self._checker: Checker | None = None
        self._explored: dict[object, _Explored] = {}
        #: Of hazards that are conditions on states, by what they are called.
        self._hazard_texts: dict[str, SourceText] = {}

    @property
    def name(self) -> str:
        if isinstance(self.source, Model):
            return self.source.network.name
        return self.source.name

    @property
    def lowered(self) -> LoweredChart | None:
        """Of a chart: the network that it means."""
        if self._lowered is None and isinstance(self.source, Chart):
            from whence.explore.charts import lower

            self._lowered = lower(self.source)
        return self._lowered

    @property
    def hazards(self) -> tuple[str, ...]:
        """The hazards that the model itself names."""
        match self.source:
            case Chart():
                return tuple(hazard.name for hazard in self.source.hazards)
            case TransitionSystem():
                return tuple(self.source.propositions)
            case Model():
                return tuple(
                    query.text
                    for query in self.source.queries
                    if query.kind == "A[]" and query.predicate is not None
                )

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """What was left out or understood in a certain way when the model was read."""
        if not isinstance(self.source, Chart):
            return ()
        from whence.explore.chart_effects import external_signals

        outside = external_signals(self.source)
        if not outside:
            return self.source.notes
        told = ", ".join(f"`{signal}`" for signal in outside)
        note = f"no machine sends {told}: it can come from outside at any time"
        return (*self.source.notes, Diagnostic(note, self.source.origin, severity="note"))

    def error_states(self, how: Literal["any", "all"]) -> str:
        """The hazard of being in the states that a chart marks as errors (Koelbl, section 7.3, step
        2): in any of them, or in one of each machine that has some."""
        if not isinstance(self.source, Chart):
            raise UsageError("only charts mark states as errors")
        machines = []
        for machine in self.source.machines:
            marked = [s for s in machine.states if s.failure or "error" in s.tags]
            if marked:
                machines.append(" || ".join(f"{machine.name}.{s.ident}" for s in marked))
        if not machines:
            raise UsageError(
                Diagnostic(
                    "no state of the model is marked as an error",
                    hint="write `failure: true` or `tags: [error]` at states, or use --hazard",
                )
            )
        return (" || " if how == "any" else " && ").join(f"({marked})" for marked in machines)

    # ------------------------------------------------------------------------------- exploring

    def explored(
        self,
        hazard: str | None = None,
        *,
        ltl: str | None = None,
        labels: Literal["transitions", "actions"] = "transitions",
        depth: int | None = None,
        budget: str | Limits | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[TransitionSystem, str]:
        """(the system, with the proposition `bad` where the hazard is; what the hazard is called).

        `hazard` is the name of one of :attr:`hazards`, or a condition on states; `ltl` is a
        temporal formula instead, a safety property, that should hold.
        """
        if hazard is not None and ltl is not None:
            raise UsageError("a hazard is a condition on states or a temporal formula, not both")
        key = (hazard, ltl, labels, depth, str(budget))
        if key not in self._explored:
            self._explored[key] = self._explore(
                hazard, ltl, labels, depth, _search_budget(budget), progress
            )
        found = self._explored[key]
        return found.system, found.hazard

    def _explore(
        self,
        hazard: str | None,
        ltl: str | None,
        labels: Literal["transitions", "actions"],
        depth: int | None,
        budget: Budget | None,
        progress: Callable[[Progress], None] | None,
    ) -> _Explored:
        name, text, temporal = self._meant(hazard, ltl)
        if temporal:
            return self._temporal(name, text, labels, depth, budget, progress)
        self._hazard_texts[name] = text
        system = self._with_marks({_BAD: text}, labels, depth, budget, progress)
        return _Explored(system, name)

    def _temporal(
        self,
        name: str,
        text: SourceText,
        labels: Literal["transitions", "actions"],
        depth: int | None,
        budget: Budget | None,
        progress: Callable[[Progress], None] | None,
    ) -> _Explored:
        from whence.causes.safety import hazard_states, parse_safety

        prop = parse_safety(text)
        marks = {atom.text: atom for atom in prop.atoms}
        system = self._with_marks(marks, labels, depth, budget, progress)
        return _Explored(hazard_states(system, prop, _BAD), name)

    def _with_marks(
        self,
        texts: Mapping[str, SourceText],
        labels: Literal["transitions", "actions"],
        depth: int | None,
        budget: Budget | None,
        progress: Callable[[Progress], None] | None,
    ) -> TransitionSystem:
        """The system with these propositions."""
        match self.source:
            case TransitionSystem():
                return replace(
                    self.source,
                    propositions={name: self._proposition(text) for name, text in texts.items()},
                )
            case Chart():
                from whence.explore.systems import transition_system

                assert self.lowered is not None
                return transition_system(
                    self.lowered, texts, depth=depth, budget=budget, progress=progress
                )
            case Model():
                from whence.explore.systems import untimed_system

                formulas = {name: self.source.formula(text) for name, text in texts.items()}
                return untimed_system(
                    self.source.checker,
                    formulas,
                    labels=labels,
                    depth=depth,
                    budget=budget,
                    progress=progress,
                )

    def _proposition(self, text: SourceText) -> Marks:
        assert isinstance(self.source, TransitionSystem)
        marks = self.source.propositions.get(text.text.strip())
        if marks is None:
            raise _unknown(text.text.strip(), self.hazards, "proposition", text)
        return marks

    def _meant(self, hazard: str | None, ltl: str | None) -> tuple[str, SourceText, bool]:
        """(name, text, whether it is a temporal formula)"""
        if ltl is not None:
            return ltl, SourceText(ltl, "the formula"), True
        match self.source:
            case Chart(hazards=hazards):
                if hazard is None:
                    hazard = self._only_one([found.name for found in hazards])
                for found in hazards:
                    if found.name == hazard:
                        return found.name, found.text, found.temporal
            case TransitionSystem(propositions=propositions):
                if hazard is None:
                    names = list(propositions)
                    hazard = _BAD if _BAD in propositions else self._only_one(names)
            case Model():
                if hazard is None:
                    # What an `A[]` query forbids.
                    hazard = f"!({self._only_one(self.hazards)[3:].strip()})"
        assert hazard is not None
        return hazard, SourceText(hazard, "the hazard"), False

    def _only_one(self, names: Sequence[str]) -> str:
        if len(names) == 1:
            return names[0]
        if names:
            told = ", ".join(f"`{name}`" for name in names)
            raise UsageError(
                Diagnostic("which hazard?", hint=f"name one with --hazard; there are {told}")
            )
        raise UsageError(
            Diagnostic(
                "the model names no hazard",
                hint="say with --hazard in which states it is, or with --ltl what should hold",
            )
        )

    # ---------------------------------------------------------------------------------- asking

    def causes(
        self,
        hazard: str | None = None,
        *,
        ltl: str | None = None,
        say: Callable[[str], None] | None = None,
        progress: Callable[[Progress], None] | None = None,
        **settings: Unpack[CausesSettings],
    ) -> CausesResult:
        """All causes of a hazard (see :meth:`explored` for what that is), with probabilities if
        there is a `time`."""
        from whence.causes.causality import CausesOptions, causes_of
        from whence.causes.silent import without_silent
        from whence.causes.traces import Stop

        unknown = settings.keys() - CausesSettings.__annotations__.keys()
        if unknown:
            raise UsageError(f"there is no setting `{min(unknown)}`")
        time = settings.get("time")
        hours = self._hours(time) if time is not None else None
        budget = settings.get("budget")
        limits = parse_budget(budget) if isinstance(budget, str) else budget or Limits()
        depth = settings.get("depth")
        system, name = self.explored(
            hazard,
            ltl=ltl,
            labels=settings.get("labels", "transitions"),
            depth=depth,
            budget=budget,
            progress=progress,
        )
        if hours is not None and system.rate is None:
            raise UsageError(
                Diagnostic(
                    "the model has no rates, so that nothing can be said of probabilities",
                    hint="give transitions a `rate`, or leave out the time",
                )
            )
        visible = without_silent(system)
        result = causes_of(
            visible,
            visible.propositions[_BAD],
            CausesOptions(
                non_occurrence=settings.get("non_occurrence", 0),
                exact=settings.get("exact", False),
                stop=Stop(depth, limits.seconds, limits.megabytes),
            ),
            hazard=name,
            say=say,
        )
        result = replace(
            result,
            model=self.file or self.name,
            states=system.states,
            transitions=system.transitions,
        )
        if time is None or hours is None or result.initially:
            return result
        if not system.complete:
            note = "not all states are known, so that there are no probabilities"
            return replace(result, notes=(*result.notes, note))
        return self._with_chances(system, result, time, hours, settings.get("default_rate"), say)

    def _with_chances(
        self,
        system: TransitionSystem,
        result: CausesResult,
        time: str,
        hours: Fraction,
        default_rate: float | None,
        say: Callable[[str], None] | None,
    ) -> CausesResult:
        from whence.causes.chance.questions import cause_probabilities, hazard_probability

        if say is not None:
            say("the probability of the hazard")
        reading = _reading(default_rate)
        whole = hazard_probability(system, _BAD, hours, **reading)
        if say is not None:
            say(f"the probabilities of {len(result.causes)} causes")
        each = cause_probabilities(system, _BAD, result.causes, hours, **reading)
        return replace(
            result,
            probability=whole.value,
            time=time,
            causes=tuple(
                replace(cause, probability=found.value)
                for cause, found in zip(result.causes, each, strict=True)
            ),
        )

    def emergency(
        self,
        activation: str,
        hazard: str | None = None,
        *,
        cycle: str = "1h",
        operation: str = "10s",
        default_rate: float | None = None,
        budget: str | Limits | None = None,
    ) -> Probability:
        """How likely it is that an emergency mode is activated within the `cycle`, and the hazard
        is there within `operation` after that (or already)."""
        from whence.causes.chance.questions import emergency

        name, text, temporal = self._meant(hazard, None)
        if temporal:
            raise UsageError(f"`{name}` is a temporal formula; a condition on states is needed")
        marks = {_BAD: text, "activation": SourceText(activation, "the activation")}
        system = self._with_marks(marks, "transitions", None, _search_budget(budget), None)
        return emergency(
            system,
            _BAD,
            "activation",
            self._hours(cycle),
            self._hours(operation),
            **_reading(default_rate),
        )

    def example_of(self, cause: Cause, result: CausesResult) -> TimedTrace | None:
        """A run of the model along the example of a cause, with the names of events for actions;
        None where the model has no processes, or no such run was found."""
        from whence.explore.event_runs import run_of_events
        from whence.explore.goals import alternatives

        name_of = self._names()
        checker = self.checker
        if checker is None or name_of is None:
            return None
        text = self._hazard_texts.get(result.hazard)
        goals = () if text is None else alternatives(self._formula(text))
        return run_of_events(checker.interpreter, cause.example, name_of, goals)

    @property
    def checker(self) -> Checker | None:
        """What knows the steps of the processes; None where there are none."""
        if isinstance(self.source, Model):
            return self.source.checker
        if self._checker is None and self.lowered is not None:
            from whence.explore.check import Checker

            self._checker = Checker(self.lowered.network)
        return self._checker

    def _formula(self, text: SourceText) -> Expr:
        if isinstance(self.source, Model):
            return self.source.formula(text)
        assert self.lowered is not None
        return self.lowered.formula(text)

    def _names(self) -> NameOf | None:
        """What transitions are called in traces."""
        if isinstance(self.source, Model):
            from whence.explore.labels import label_of

            network = self.source.network
            return lambda transition: label_of(network, transition, "transitions")
        lowered = self.lowered
        if lowered is None:
            return None

        def name_of(transition: Transition) -> str | None:
            use = transition.uses[0]
            action = lowered.actions[lowered.labels[use.process][use.edge].action]
            return None if action.silent else action.name

        return name_of

    def fault_tree(self, result: CausesResult) -> FaultTree:
        """The causes as one fault tree; the rates of events are those of the model, where an
        action always has the same."""
        from whence.causes.fault_tree import fault_tree

        return fault_tree(result, rates=self._rates())

    def prism(self, hazard: str | None = None, *, default_rate: float | None = None) -> str:
        """The system as a program for PRISM, with the hazard as the label `bad`. PRISM knows no
        transitions without a rate: these get the `default_rate`, or are refused."""
        from whence.formats.prism import prism_program

        system, _ = self.explored(hazard)
        return "".join(prism_program(system, default_rate))

    def report(self, result: CausesResult) -> str:
        """A page of HTML that shows the causes, with a run of each on the model's machines."""
        from whence.api.models import version
        from whence.report.causes_html import causes_report

        checker = self.checker
        drawn = None
        if checker is not None:
            runs = {
                cause.ident: run
                for cause in result.causes
                if (run := self.example_of(cause, result)) is not None
            }
            drawn = checker.network, checker.compiled.layout, runs
        return causes_report(result, version(), self._rates(), drawn)

    def _rates(self) -> dict[str, float]:
        lowered = self.lowered
        if lowered is None:
            return {}
        found: dict[str, set[Fraction | None]] = {}
        for labels in lowered.labels:
            for label in labels:
                found.setdefault(lowered.actions[label.action].name, set()).add(label.rate)
        rates = {}
        for name, known in found.items():
            (rate, *others) = known
            if rate is not None and not others:
                rates[name] = float(rate)
        return rates

    def _hours(self, text: str) -> Fraction:
        """A time in the unit that the model's rates count by."""
        from whence.causes.chance.durations import parse_hours

        unit = self.source.time_unit if isinstance(self.source, Chart) else "hour"
        return parse_hours(text) * _PER_HOUR[unit]


class _Reading(TypedDict):
    like_thesis: bool
    default_rate: float


def _reading(default_rate: float | None) -> _Reading:
    """What transitions without a rate are taken for."""
    if default_rate is None:
        return {"like_thesis": False, "default_rate": 1.0}
    if not 0 < default_rate < math.inf:
        raise UsageError(f"a rate of {default_rate} is none: it must be positive")
    return {"like_thesis": True, "default_rate": default_rate}


def _search_budget(budget: str | Limits | None) -> Budget | None:
    from whence.explore.search import Budget

    if isinstance(budget, str):
        budget = parse_budget(budget)
    if budget is None:
        return None
    return Budget(budget.states, budget.seconds, budget.megabytes)


def _unknown(name: str, known: Sequence[str], what: str, text: SourceText) -> InputError:
    told = ", ".join(f"`{one}`" for one in known)
    return InputError(
        Diagnostic(
            f"unknown {what} `{name}`",
            text.origin(0, len(text.text)),
            f"known are {told}" if known else f"the system has no {what}s",
        )
    )


# --------------------------------------------------------------------------------------- reading

#: Endings of files, and what reads them.
_CHARTS = (".yaml", ".yml")
_XMI = (".uml", ".xmi", ".mdzip")


def load_system(
    path: AnyPath,
    *,
    bad_states: Sequence[int] = (),
    bad_actions: Sequence[str] = (),
    ignore_calls: bool = False,
) -> System:
    """What is in a file: a chart (`.yaml`, or UML and SysML as XMI), a network of timed automata
    (UPPAAL's formats), or a plain transition system (`.aut`, `.dot`).

    An `.aut` file does not say which states are bad: `bad_states` does, by their numbers, or
    `bad_actions`: the states that these lead to. With `ignore_calls`, what a chart calls but does
    not define is left out, and told in its notes.
    """
    found = _read(path, bad_states, bad_actions)
    if ignore_calls and isinstance(found.source, Chart):
        from whence.formats.charts.opaque import without_calls

        return System(without_calls(found.source), found.file)
    return found


def _read(path: AnyPath, bad_states: Sequence[int], bad_actions: Sequence[str]) -> System:
    name = str(path)
    ending = Path(path).suffix.lower()
    if ending in _CHARTS:
        from whence.formats.charts.yaml import read_chart_file

        return System(read_chart_file(name), name)
    if ending == ".aut":
        from whence.formats.aldebaran import read_aldebaran_file

        found = read_aldebaran_file(name, bad=bad_states, bad_labels=bad_actions)
        return System(found, name)
    if ending in (".dot", ".gv"):
        from whence.formats.dot import read_dot_file

        return System(read_dot_file(name).system, name)
    if ending == ".scxml":
        from whence.formats.charts.scxml import read_scxml
        from whence.formats.markup import read_bytes

        return System(read_scxml(read_bytes(name), name), name)
    if ending in _XMI or _is_xmi(name):
        from whence.formats.charts.xmi import read_xmi_file

        return System(read_xmi_file(name), name)
    return System(load(path), name)


def _is_xmi(name: str) -> bool:
    if not name.lower().endswith(".xml"):
        return False
    from whence.formats.charts.xmi import looks_like_xmi

    try:
        with open(name, "rb") as file:
            return looks_like_xmi(file.read(1 << 16))
    except OSError:
        return False
