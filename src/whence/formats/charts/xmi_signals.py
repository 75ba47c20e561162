"""The kinds of messages: signals, and operations that are called."""

from __future__ import annotations

from dataclasses import dataclass, field

from whence.formats.charts.xmi_marks import identifier
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_tree import Element, Model
from whence.model.chart import Signal

__all__ = ["Signals", "read_signals"]


@dataclass(slots=True)
class Signals:
    model: Model
    all: tuple[Signal, ...] = ()
    #: What the chart calls them, by the identifier of the signal or operation in the file.
    names: dict[str, str] = field(default_factory=dict)
    #: By what texts call them; None where that is not unique.
    texts: dict[str, str | None] = field(default_factory=dict)
    #: The names of their attributes, whose values no message carries here, by identifier.
    data: dict[str, frozenset[str]] = field(default_factory=dict)
    #: By machine or region: the signals that it takes.
    taken: dict[Element, frozenset[str]] = field(default_factory=dict)

    def takes(self, element: Element, around: tuple[Element, ...] = ()) -> frozenset[str]:
        """The signals that a machine or a region takes, as the chart calls them."""
        if element in around:
            return frozenset()
        found = self.taken.get(element)
        if found is None:
            names: set[str] = set()
            for one in element.inside():
                if one.kind == "Trigger":
                    for event in map(self.model.find, one.references("event")):
                        if event is not None:
                            for which in ("signal", "operation"):
                                for reference in event.references(which):
                                    names.add(self.names.get(reference.ident, ""))
                elif one.kind == "State":
                    for target in map(self.model.find, one.references("submachine")):
                        if target is not None:
                            names |= self.takes(target, (*around, element))
            found = frozenset(names)
            if not around:
                self.taken[element] = found
        return found


def read_signals(model: Model, problems: Problems) -> Signals:
    """Names for signals, and for the operations that somebody waits for a call of."""
    signals = Signals(model)
    events = {"SignalEvent": "signal", "CallEvent": "operation"}
    mentioned: set[str] = set()
    called: list[Element] = []
    for element in model.everything():
        for kind, name in events.items():
            if element.kind == kind:
                for reference in element.references(name):
                    mentioned.add(reference.ident)
                    target = model.find(reference)
                    if kind == "CallEvent" and target is not None and target not in called:
                        called.append(target)
        if element.kind in ("SendSignalAction", "BroadcastSignalAction"):
            mentioned.update(one.ident for one in element.references("signal"))
    groups: dict[str, list[Element]] = {}
    found = [
        one
        for one in model.everything()
        if one.kind == "Signal" and not model.is_reference(one.node)
    ]
    for element in [*found, *called]:
        groups.setdefault(identifier(element.name) or element.ident, []).append(element)
    result: list[Signal] = []
    for name, elements in groups.items():
        chosen = [one for one in elements if one.ident in mentioned] or elements[:1]
        for other in elements:
            if other not in chosen:
                problems.note(
                    f"{other.shown} is used nowhere, and another one has its name: left out",
                    other.place,
                )
        signals.texts[name] = name if len(chosen) == 1 else None
        for element in chosen:
            longer = name
            if len(chosen) > 1:
                around = next((one.name for one in element.around() if one.name), "")
                longer = f"{identifier(around)}_{name}"
                while any(signal.name == longer for signal in result):
                    longer += "_"
            signals.names[element.ident] = longer
            signals.data[element.ident] = frozenset(
                one.name for one in element.all("ownedAttribute") if one.name
            )
            result.append(Signal(name=longer, origin=element.place))
    signals.all = tuple(result)
    return signals
