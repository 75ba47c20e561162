"""What a transition waits for: signals, calls, changes and times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from whence.formats.charts.xmi_behaviours import Behaviours, Guard, expression
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_signals import Signals
from whence.formats.charts.xmi_texts import made, words
from whence.formats.charts.xmi_tree import Element
from whence.model.chart import Assign, ChartState, ChartVariable, Effect, VariableType
from whence.source import Origin, SourceText

__all__ = ["Cause", "Events", "reset_of"]

_AFTER = re.compile(r"\s*(?:after\b\s*)?\(?\s*(?P<time>[\w.]+)\s*\)?\s*;?\s*")
_UNIT = re.compile(r"\d+(\.\d+)?[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Cause:
    """What a transition of the chart has for one trigger of a transition of UML. `timer`: one that
    its source has to reset when it is entered."""

    trigger: str | None
    guard: SourceText | None
    otherwise: bool = False
    timer: ChartVariable | None = None


def reset_of(timer: ChartVariable, place: Origin) -> SourceText:
    """The statement that sets a timer to 0."""
    pieces = ((0, place.line, place.column),)
    return SourceText(f"{timer.name}.reset()", place.file, pieces, f"the timer {timer.name}")


@dataclass(slots=True)
class Events:
    problems: Problems
    signals: Signals
    behaviours: Behaviours

    def cause(
        self,
        transition: Element,
        trigger: Element,
        guard: Guard,
        effects: Iterable[Effect],
        source: ChartState,
        kind: str,
    ) -> Cause | None:
        """None if it was refused. `kind` is that of the transition: internal, local, external."""
        event = trigger.target("event", self.problems, f"the event of {transition.shown}")
        if event is None:
            if not trigger.references("event"):
                self.problems.error(
                    f"the trigger of {transition.shown} has no event",
                    trigger.place,
                    "choose a signal event for it",
                )
            return None
        if trigger.references("port"):
            self.problems.note(
                f"{transition.shown} takes the message through whichever port it comes",
                trigger.place,
            )
        match event.kind:
            case "SignalEvent" | "CallEvent" | "Signal":  # Signal: a tool's shortcut
                return self.received(transition, event, guard, effects)
            case "TimeEvent":
                return self.timed(transition, event, guard, source, kind)
            case "ChangeEvent":
                return self.changed(transition, event, guard)
            case other:
                self.problems.refuse(f"{other} as the trigger of {transition.shown}", event.place)
                return None

    def received(
        self, transition: Element, event: Element, guard: Guard, effects: Iterable[Effect]
    ) -> Cause | None:
        which = "operation" if event.kind == "CallEvent" else "signal"
        what: Element | None = event
        if event.kind != "Signal":
            what = event.target(which, self.problems, f"the {which} of {event.shown}")
            if what is None:
                if not event.references(which):
                    self.problems.error(f"{event.shown} has no {which}", event.place)
                return None
        assert what is not None
        if what.ident not in self.signals.names:
            self.problems.error(f"{what.shown} is no {which}", event.place)
            return None
        if event.kind == "CallEvent":
            self.problems.note(
                f"calls of {what.shown} are read as messages: the caller does not wait",
                event.place,
            )
        texts = [one.text for one in effects if isinstance(one, Assign)]
        if guard.text is not None:
            texts.append(guard.text)
        used = self.signals.data.get(what.ident, frozenset()).intersection(
            word for text in texts for word in words(text.text)
        )
        if used:
            self.problems.refuse(
                f"messages with data: {transition.shown} uses `{min(used)}` of {what.shown}",
                transition.place,
                "keep it in a variable that both machines know",
            )
        return Cause(self.signals.names[what.ident], guard.text, guard.otherwise)

    def changed(self, transition: Element, event: Element, guard: Guard) -> Cause | None:
        specification = event.child("changeExpression")
        if specification is None:
            self.problems.error(f"{event.shown} has no change expression", event.place)
            return None
        what = f"the change expression of {transition.shown}"
        text = expression(specification, what, self.problems)
        condition = None if text is None else self.behaviours.condition(text).text
        if condition is None:
            self.problems.error(f"{event.shown} has no change expression", event.place)
            return None
        if guard.otherwise:
            self.problems.refuse(
                f"{transition.shown} has both `else` and an event", transition.place
            )
            return None
        self.problems.note(
            f"{event.shown} is read as a guard: the transition can be taken whenever "
            f"`{condition.text}` is true, and not only when it becomes so",
            event.place,
        )
        if guard.text is None:
            return Cause(None, condition)
        joined = made(f"({condition.text}) && (", guard.text, ")", guard.text.element)
        # The characters of the condition have places too, even if another element's.
        before = ((0, *condition.position(0)), *((1 + at, x, y) for at, x, y in condition.pieces))
        return Cause(None, replace(joined, pieces=(*before, *joined.pieces[1:])))

    def timed(
        self, transition: Element, event: Element, guard: Guard, source: ChartState, kind: str
    ) -> Cause | None:
        """`after d`: a timer of its own that entering the source resets, and a guard that waits
        until it has run for d.  This is exact as long as nothing else keeps the event from being
        taken and the state is left by it."""
        what = f"the time of {event.shown}"
        if not event.flag("isRelative"):
            self.problems.refuse(f"{event.shown} at an absolute time", event.place)
            return None
        if guard.text is not None or guard.otherwise:
            # The event happens once, and is lost if the guard is false then.
            self.problems.refuse(
                f"{transition.shown} has both a time event and a guard",
                transition.place,
                "let it lead to a choice",
            )
            return None
        if kind != "external":
            self.problems.refuse(
                f"{transition.shown} waits for a time, but does not leave its state",
                transition.place,
            )
            return None
        when = event.child("when")
        specification = when.child("expr") if when is not None else None
        specification = specification or when
        text: SourceText | None = None
        if specification is not None:
            text = expression(specification, what, self.problems)
            if text is None and specification.kind == "LiteralInteger":  # 0 is left out
                place = specification.place
                text = SourceText("0", place.file, ((0, place.line, place.column),), what)
        if text is None:
            self.problems.error(f"{event.shown} says no time", event.place)
            return None
        match = _AFTER.fullmatch(text.text)
        if match is None or _UNIT.fullmatch(match["time"]):
            self.problems.refuse(
                f"the time `{text.text}` of {event.shown}",
                text.origin(0, len(text.text)),
                "write a number or a name, without a unit",
            )
            return None
        timer = ChartVariable(
            name=f"after_{source.ident.replace('.', '_')}",
            type=VariableType(kind="timer"),
            origin=event.place,
        )
        place_of_time = (0, *text.position(match.start("time")))
        time = replace(text, text=match["time"], pieces=(place_of_time,))
        return Cause(None, made(f"{timer.name}.elapsed(", time, ")", what), timer=timer)
