"""Whom a message is for."""

from __future__ import annotations

from dataclasses import dataclass

from whence.formats.charts.xmi_components import (
    Components,
    Instance,
    general_classes,
    ports_of,
    regions_of,
)
from whence.formats.charts.xmi_marks import identifier
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_signals import Signals
from whence.formats.charts.xmi_tree import Element
from whence.formats.charts.xmi_variables import Variables
from whence.source import Origin

__all__ = ["Targets"]


@dataclass(slots=True)
class Targets:
    """Says which machines a text or an action of an instance means by a target."""

    components: Components
    signals: Signals
    variables: Variables
    problems: Problems
    instance: Instance

    def __call__(self, target: str, signal: str, origin: Origin) -> tuple[str, ...]:
        found = self.instances(target)
        machines = list(
            dict.fromkeys(name for one in found for name in self.addressed(one, signal))
        )
        if not machines:
            machines = [
                name
                for one in self.components.active
                for name in one.names
                if name == identifier(target)
            ]
        if not machines:
            self.problems.error(
                f"unknown target `{target}`",
                origin,
                "a target is `self`, a part, a port, a class or a state machine",
            )
        elif len(found) > 1 and not self.is_port(target):
            self.problems.error(
                f"`{target}` may be any of {', '.join(f'`{one.shown}`' for one in found)}",
                origin,
                "send to a part or to a port, or without a target to all who take the signal",
            )
            return ()
        return tuple(machines)

    def instances(self, target: str) -> list[Instance]:
        if target in ("self", "this"):
            return [self.instance]
        first, _, rest = target.partition(".")
        found = self.near(first)
        while rest and found:
            first, _, rest = rest.partition(".")
            found = [
                child for one in found for part, child in one.children.items() if part.name == first
            ]
        return [one for one in found if one.machines]

    def near(self, name: str) -> list[Instance]:
        """The instances that a name means here: the nearest that there is."""
        at: Instance | None = self.instance
        while at is not None:
            for part, child in at.children.items():
                if part.name == name:
                    return [child]
            if at.type is not None:
                for one in general_classes(at.type):
                    for attribute in one.all("ownedAttribute"):
                        if attribute.name != name:
                            continue
                        if attribute.kind == "Port":
                            return self.behind(at, attribute)
                        found = self.of_type(attribute)
                        if found:
                            return found
            at = at.parent
        classes = [
            one for one in self.components.active if one.type is not None and one.type.name == name
        ]
        if classes:
            return classes
        return [
            one
            for one in self.components.active
            if any(machine.name == name for machine in one.machines)
        ]

    def is_port(self, target: str) -> bool:
        at = self.instance.type
        return at is not None and any(port.name == target for port in ports_of(at))

    def behind(self, instance: Instance, port: Element) -> list[Instance]:
        """Who is connected to a port."""
        result = []
        for other, _ in self.components.connected(instance, port):
            if other is not instance and other.machines and other not in result:
                result.append(other)
        return result

    def of_type(self, attribute: Element) -> list[Instance]:
        target, _ = self.variables.declared(attribute)
        if target is None:
            return []
        return [
            one
            for one in self.components.active
            if one.type is not None and target in general_classes(one.type)
        ]

    def addressed(self, instance: Instance, signal: str) -> tuple[str, ...]:
        """The machines of an instance that a signal to it is for: its regions are machines here,
        and each of them gets it."""
        if len(instance.names) <= 1:
            return tuple(instance.names)
        parts = [
            region for machine in instance.machines for region in regions_of(machine) or [machine]
        ]
        chosen = [
            name
            for name, part in zip(instance.names, parts, strict=True)
            if signal in self.signals.takes(part)
        ]
        return tuple(chosen or instance.names[:1])
