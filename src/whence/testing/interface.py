"""The inputs and outputs of a model's system, for those who build one."""

from __future__ import annotations

from whence.model.signals import Interface, InterfaceSignal
from whence.testing.model import TimedModel, Variable

__all__ = ["interface_of"]


def interface_of(part: TimedModel) -> Interface:
    return Interface(
        name=part.name or "system",
        inputs=tuple(_signal(v) for v in part.having("input")),
        outputs=tuple(_signal(v) for v in part.having("output")),
        file=part.file,
        chooses=bool(part.having("choice")),
    )


def _signal(variable: Variable) -> InterfaceSignal:
    if variable.members:
        return InterfaceSignal(variable.name, "enum", members=variable.members)
    if variable.boolean:
        return InterfaceSignal(variable.name, "bool")
    if variable.ieee is not None:
        least, most = map(variable.shown, variable.limits)
        return InterfaceSignal(variable.name, "real", least, most, bits=variable.ieee)
    if variable.real is not None:
        least, most = map(str, variable.real)
        return InterfaceSignal(variable.name, "real", least, most)
    low, high = variable.limits
    return InterfaceSignal(variable.name, "int", str(low), str(high))
