"""Leaves out what a chart calls but does not define: code of the target, `Led_on()` and the like.

Whether that is right only its author can say, so nobody does it without being asked to.
"""

from __future__ import annotations

import re
from dataclasses import replace

from whence.model.chart import Assign, Chart, Effect
from whence.source import Diagnostic

__all__ = ["without_calls"]

#: A call by itself. Guards that call something are conditions that we cannot know: they stay.
_CALL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)\w+)*\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*;?")


def without_calls(chart: Chart) -> Chart:
    """The chart without effects that are calls, and without activities (`do`) of states; its notes
    tell each of them."""
    left_out: list[Diagnostic] = []

    def note(what: str, effect: Effect, element: str) -> None:
        if isinstance(effect, Assign):
            text = effect.text
            shown, place = text.text.strip(), text.origin(0, max(1, len(text.text)))
        else:
            shown, place = f"send {effect.signal}", effect.origin
        message = f"left out {what}: {shown}"
        left_out.append(Diagnostic(message, place, element=element, severity="note"))

    def kept(effects: tuple[Effect, ...], element: str) -> tuple[Effect, ...]:
        found = []
        for effect in effects:
            if isinstance(effect, Assign) and _CALL.fullmatch(effect.text.text.strip()):
                note("a call", effect, element)
            else:
                found.append(effect)
        return tuple(found)

    def no_activity(effects: tuple[Effect, ...], element: str) -> tuple[Effect, ...]:
        for effect in effects:
            note("an activity", effect, element)
        return ()

    machines = tuple(
        replace(
            machine,
            states=tuple(
                replace(
                    state,
                    entry=kept(state.entry, f"state `{state.ident}` of `{machine.name}`"),
                    exit=kept(state.exit, f"state `{state.ident}` of `{machine.name}`"),
                    do=no_activity(state.do, f"state `{state.ident}` of `{machine.name}`"),
                )
                for state in machine.states
            ),
            transitions=tuple(
                replace(
                    transition,
                    effects=kept(transition.effects, f"a transition of `{machine.name}`"),
                )
                for transition in machine.transitions
            ),
        )
        for machine in chart.machines
    )
    return replace(chart, machines=machines, notes=(*chart.notes, *left_out))
