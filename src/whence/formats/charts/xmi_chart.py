"""Puts a chart together: machines of components, signals, variables that they share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from whence.formats.charts.xmi_components import (
    Components,
    Instance,
    components_of,
    general_classes,
    ports_of,
    regions_of,
)
from whence.formats.charts.xmi_goals import goals_of
from whence.formats.charts.xmi_machines import MachineReader
from whence.formats.charts.xmi_marks import Requirements, identifier, marks_of, requirements_of
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_signals import Signals, read_signals
from whence.formats.charts.xmi_targets import Targets
from whence.formats.charts.xmi_texts import words
from whence.formats.charts.xmi_tree import Element, Model
from whence.formats.charts.xmi_variables import Role, Variables, literal_values
from whence.model.chart import Assign, Chart, ChartVariable, Machine, VariableType
from whence.source import Diagnostic, SourceText

__all__ = ["chart_of"]

_FLOW_TYPES = frozenset(("Class", "Component", "DataType", "Interface", "Signal"))


def chart_of(model: Model, problems: Problems) -> Chart:
    """The chart that a model is; what is wrong goes to `problems`, and then it is of no use."""
    return _Builder(model, problems).build()


@dataclass(slots=True, eq=False)
class _Builder:
    model: Model
    problems: Problems
    components: Components = field(init=False)
    requirements: Requirements = field(init=False)
    variables: Variables = field(init=False)
    signals: Signals = field(init=False)
    #: Variables of the chart by name, with the element that each comes from.
    shared: dict[str, tuple[ChartVariable, Element]] = field(default_factory=dict)
    #: Why an attribute is no variable, by the names that machines may use.
    unusable: dict[str, Diagnostic] = field(default_factory=dict)
    #: What a machine sees only if it uses it.
    offered: dict[str, Element] = field(default_factory=dict)
    #: The attributes that were read: those of interfaces stand behind many ports.
    known: dict[tuple[Element, Role], ChartVariable | Diagnostic] = field(default_factory=dict)

    def build(self) -> Chart:
        self.requirements = requirements_of(self.model, self.problems)
        self.variables = Variables(self.model, self.problems)
        self.components = components_of(self.model, self.problems)
        self.signals = read_signals(self.model, self.problems)
        locals_of = {one: self.own_variables(one) for one in self.components.active}
        for one in self.components.active:
            self.seeports_of(one, locals_of[one])
        machines: list[Machine] = []
        for one in self.components.active:
            machines += self.machines_of(one, locals_of[one])
        used = {word for machine in machines for text in _texts(machine) for word in words(text)}
        self.see_offered(used, machines)
        self.literals(used, machines)
        if not machines and not self.problems.errors:
            self.problems.error(
                "there is no state machine in it",
                self.model.roots[0].place,
                "a class needs a state machine as its classifier behaviour",
            )
        root = self.model.roots[0]
        self.leftover_links()
        return Chart(
            name=root.name or "model",
            machines=tuple(machines),
            variables=tuple(variable for variable, _ in self.shared.values()),
            signals=self.signals.all,
            requirements=self.requirements.all,
            goals=tuple(goals_of(self.model, self.requirements, self.problems)),
            origin=root.place,
        )

    # ---------------------------------------------------------------------------- variables

    def variable(self, attribute: Element, role: Role = "internal") -> ChartVariable | Diagnostic:
        key = (attribute, role)
        if key not in self.known:
            self.known[key] = self.variables.read(attribute, role)
        return self.known[key]

    def own_variables(self, instance: Instance) -> dict[str, ChartVariable]:
        """The attributes of the class, of what it inherits from, and of its machines."""
        owners = [] if instance.type is None else general_classes(instance.type)
        for machine in instance.machines:
            owners += self.with_submachines(machine, [])
        result: dict[str, ChartVariable] = {}
        for owner in owners:
            for attribute in owner.all("ownedAttribute"):
                if attribute.kind != "Port" and self.is_value(attribute):
                    read = self.variable(attribute)
                    if isinstance(read, Diagnostic):
                        self.unusable.setdefault(attribute.name, read)
                    elif attribute.name not in result:
                        result[attribute.name] = read
        return result

    def with_submachines(self, machine: Element, found: list[Element]) -> list[Element]:
        if machine not in found:
            found.append(machine)
            for one in machine.inside():
                if one.kind == "State":
                    for target in map(self.model.find, one.references("submachine")):
                        if target is not None:
                            self.with_submachines(target, found)
        return found

    def is_value(self, attribute: Element) -> bool:
        """Whether it holds a value, and is no reference to another object."""
        if not attribute.name or attribute.text("aggregation") == "composite":
            target, _ = self.variables.declared(attribute)
            return bool(attribute.name) and (target is None or target.kind not in _FLOW_TYPES)
        target, _ = self.variables.declared(attribute)
        return target is None or target.kind not in ("Class", "Component", "Interface", "Actor")

    def seeports_of(self, instance: Instance, own: dict[str, ChartVariable]) -> None:
        """What an instance sees through its ports, and through those of what it stands in."""
        if instance.type is None:
            return
        for port in ports_of(instance.type):
            target, _ = self.variables.declared(port)
            if target is not None and target.kind in _FLOW_TYPES:
                self.see_interface(target)
            elif target is not None or port.references("type"):
                self.see_flow(instance, port, own)
        around = [one for one in instance.type.around() if one.kind in ("Class", "Component")]
        parent = instance.parent
        while parent is not None:
            if parent.type is not None:
                around.append(parent.type)
            parent = parent.parent
        for owner in around:
            for port in ports_of(owner):
                target, _ = self.variables.declared(port)
                if target is not None and target.kind in _FLOW_TYPES:
                    self.see_interface(target)
                elif target is not None:
                    self.offered.setdefault(port.name, port)
            for one in general_classes(owner):
                for attribute in one.all("ownedAttribute"):
                    if attribute.kind != "Port" and self.is_value(attribute):
                        self.offered.setdefault(attribute.name, attribute)

    def see_flow(self, instance: Instance, port: Element, own: dict[str, ChartVariable]) -> None:
        """A port with a type of values is a variable; connected ones are one variable."""
        if not port.name:
            return
        net = self.components.connected(instance, port)
        active = {one for one, _ in net if one.machines}
        read = self.variable(port, self.direction(port) if len(active) == 1 else "internal")
        if isinstance(read, Diagnostic):
            self.unusable.setdefault(port.name, read)
            return
        if len(active) == 1:
            own.setdefault(port.name, read)
            return
        for other, end in net:
            if other.machines and end.name != port.name:
                self.problems.refuse(
                    f"connected ports with different names: `{port.name}` of "
                    f"`{instance.shown}` and `{end.name}` of `{other.shown}`",
                    port.place,
                    "they are one variable; give them one name",
                )
        index = self.components.net_of[(instance, port)]
        first = self.components.nets[index][0][1]
        before = self.shared.get(port.name)
        if before is not None and before[1] is first:
            self.joined(port, read)
            return
        self.share(read, first)

    def joined(self, port: Element, read: ChartVariable) -> None:
        """Another end of the same variable: the types must be one."""
        variable, element = self.shared[port.name]
        if variable.type != read.type:
            self.problems.error(
                f"the connected ports `{port.name}` have different types or ranges",
                port.place,
                f"the other one is at line {element.place.line}",
            )
        elif variable.initial is None and read.initial is not None:
            self.shared[port.name] = (replace(variable, initial=read.initial), element)

    def see_interface(self, interface: Element) -> None:
        """The attributes of an interface are one variable each, wherever ports have it."""
        for one in general_classes(interface):
            for attribute in one.all("ownedAttribute"):
                if attribute.kind == "Port" or not self.is_value(attribute):
                    continue
                before = self.shared.get(attribute.name)
                if before is not None and before[1] is attribute:
                    continue
                read = self.variable(attribute, self.interface_role(interface))
                if isinstance(read, Diagnostic):
                    self.unusable.setdefault(attribute.name, read)
                else:
                    self.share(read, attribute)

    def share(self, variable: ChartVariable, element: Element) -> None:
        before = self.shared.get(variable.name)
        if before is not None:
            self.problems.error(
                f"two variables of the whole model are called `{variable.name}`",
                element.place,
                f"rename one; the other one is at line {before[1].place.line}",
            )
            return
        self.shared[variable.name] = (variable, element)

    def interface_role(self, interface: Element) -> Role:
        """Input or output of the system under test: what RT-Tester's profile says of the
        interface, or else the direction that all flow ports of this type agree on."""
        if self.model.stereotyped(interface, "te2sut"):
            return "input"
        if self.model.stereotyped(interface, "sut2te"):
            return "output"
        roles = {
            self.direction(port)
            for one in self.components.instances
            if one.type is not None and not one.environment
            for owner in (one.type, *one.type.around())
            if owner.kind in ("Class", "Component")
            for port in ports_of(owner)
            if self.variables.declared(port)[0] is interface
        }
        return roles.pop() if len(roles) == 1 else "internal"

    def direction(self, port: Element) -> Role:
        for application in self.model.applied(port):
            given = application.value("direction")
            if application.name.lower() == "flowport" and given is not None:
                way = given.text.strip().lower()
                if port.flag("isConjugated"):
                    way = {"in": "out", "out": "in"}.get(way, way)
                return "input" if way == "in" else "output" if way == "out" else "internal"
        return "internal"

    def see_offered(self, used: set[str], machines: list[Machine]) -> None:
        """Attributes of what machines stand in become variables of all if a machine uses them."""
        own = {variable.name for machine in machines for variable in machine.variables}
        for name, attribute in self.offered.items():
            if name in used and name not in self.shared and name not in own:
                read = self.variable(attribute)
                if isinstance(read, Diagnostic):
                    self.unusable.setdefault(name, read)
                else:
                    self.share(read, attribute)
        for name, why in self.unusable.items():
            if name in used and name not in self.shared and name not in own:
                self.problems.add(why)

    def literals(self, used: set[str], machines: list[Machine]) -> None:
        """Literals of an enumeration that no variable has as its type are constants."""
        variables = [variable for variable, _ in self.shared.values()]
        variables += [variable for machine in machines for variable in machine.variables]
        names = {variable.name for variable in variables}
        names.update(member for variable in variables for member in variable.type.members)
        for enumeration in self.model.everything():
            if enumeration.kind != "Enumeration":
                continue
            literals = {identifier(one.name): one for one in enumeration.all("ownedLiteral")}
            for name, value in literal_values(enumeration):
                if name not in used or name in names:
                    continue
                literal = literals[name]
                place = literal.place
                self.share(
                    ChartVariable(
                        name=name,
                        type=VariableType(kind="int", lo=value, hi=value),
                        role="constant",
                        initial=SourceText(
                            str(value),
                            place.file,
                            ((0, place.line, place.column),),
                            f"the value of {literal.shown}",
                        ),
                        origin=place,
                    ),
                    literal,
                )

    # ----------------------------------------------------------------------------- machines

    def machines_of(self, instance: Instance, own: dict[str, ChartVariable]) -> list[Machine]:
        result: list[Machine] = []
        if len(instance.names) > 1:
            # Several machines of one object: what it has belongs to all of them.
            for name, variable in own.items():
                element = next(
                    element for (element, _), read in self.known.items() if read is variable
                )
                self.share(replace(variable, name=name), element)
            own = {}
        names = iter(instance.names)
        timers = frozenset(
            name
            for name, variable in [
                *own.items(),
                *((name, variable) for name, (variable, _) in self.shared.items()),
            ]
            if variable.type.kind == "timer"
        )
        targets = Targets(self.components, self.signals, self.variables, self.problems, instance)
        for machine in instance.machines:
            regions: list[Element | None] = list(regions_of(machine)) or [None]
            for region in regions:
                reader = MachineReader(
                    self.model,
                    self.problems,
                    self.signals,
                    self.requirements,
                    targets,
                    timers,
                )
                environment = instance.environment
                environment = environment or marks_of(machine, self.problems).environment
                result.append(
                    reader.read(
                        machine,
                        region,
                        next(names),
                        tuple(own.values()),
                        environment,
                        instance.type,
                    )
                )
        return result

    def leftover_links(self) -> None:
        """Requirements that are met by what is not in the chart."""
        owners = {one.type for one in self.components.active}
        machines = {machine for one in self.components.active for machine in one.machines}
        for element, ident in self.requirements.links:
            around = {element, *element.around()}
            inside = any(one.kind == "StateMachine" for one in around)
            if not inside and not around & owners and not around & machines:
                self.problems.note(
                    f"requirement `{ident}` is satisfied by {element.shown}, "
                    "which is no part of the chart",
                    element.place,
                )


def _texts(machine: Machine) -> Iterable[str]:
    for state in machine.states:
        for effect in (*state.entry, *state.exit, *state.do):
            if isinstance(effect, Assign):
                yield effect.text.text
    for transition in machine.transitions:
        if transition.guard is not None:
            yield transition.guard.text
        for effect in transition.effects:
            if isinstance(effect, Assign):
                yield effect.text.text
