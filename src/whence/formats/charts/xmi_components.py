"""Which state machines a model runs: classes as components, parts as instances of them, and what
their ports are connected to.

A class is active if it has a state machine: its classifier behaviour or, in exports without one,
each state machine that it owns and that is no submachine of another.  Every composite part whose
type is a class stands for an instance.  A class that is the type of no part has one instance, as
has a state machine that belongs to no class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from whence.formats.charts.xmi_marks import identifier, marks_of, unique
from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_tree import Element, Model
from whence.source import Diagnostic, InputError

__all__ = ["Components", "Instance", "components_of", "general_classes", "ports_of", "regions_of"]

#: So many instances at most: parts of parts of parts multiply.
_MOST_INSTANCES = 10_000
_CLASSES = frozenset(("Class", "Component", "Node", "Device", "Actor", "AssociationClass"))
_PROFILES = frozenset(("Profile", "Stereotype"))


@dataclass(slots=True, eq=False)
class Instance:
    """A component: `type` is None for state machines that belong to no class."""

    type: Element | None
    parent: Instance | None = None
    part: Element | None = None
    environment: bool = False
    machines: list[Element] = field(default_factory=list)
    children: dict[Element, Instance] = field(default_factory=dict)
    #: The names of its machines in the chart.
    names: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        if self.type is None:
            return self.machines[0].name
        if self.part is None or self.parent is None:
            return self.type.name
        return f"{self.parent.shown}.{self.part.name}"

    def inside(self) -> Iterator[Instance]:
        yield self
        for child in self.children.values():
            yield from child.inside()


@dataclass(slots=True)
class Components:
    """All instances, and the ports that are one: each set has (instance, port)."""

    instances: list[Instance] = field(default_factory=list)
    nets: list[list[tuple[Instance, Element]]] = field(default_factory=list)
    net_of: dict[tuple[Instance, Element], int] = field(default_factory=dict)

    @property
    def active(self) -> list[Instance]:
        return [one for one in self.instances if one.machines]

    def connected(self, instance: Instance, port: Element) -> list[tuple[Instance, Element]]:
        net = self.net_of.get((instance, port))
        return [(instance, port)] if net is None else self.nets[net]


def general_classes(element: Element) -> list[Element]:
    """The class and the classes that it inherits from, the nearest first."""
    found = [element]
    for one in found:
        for generalization in one.all("generalization"):
            for reference in generalization.references("general"):
                general = element.model.find(reference)
                if general is not None and general not in found:
                    found.append(general)
    return found


def ports_of(owner: Element) -> Iterator[Element]:
    """The ports of a class, inherited ones included."""
    for one in general_classes(owner):
        for attribute in one.all("ownedAttribute") + one.all("ownedPort"):
            if attribute.kind == "Port":
                yield attribute


def components_of(model: Model, problems: Problems) -> Components:
    return _Builder(model, problems).build()


class _Builder:
    def __init__(self, model: Model, problems: Problems) -> None:
        self.model = model
        self.problems = problems
        self.components = Components()
        self.count = 0
        #: The state machines that others contain, as submachines or as what they do in a state.
        self.contained: set[Element] = set()
        #: The submachines in each state machine.
        self.inner: dict[Element | None, list[Element]] = {}
        self.behaviours: dict[Element, list[Element]] = {}
        self.leading: dict[Element, bool] = {}

    def build(self) -> Components:
        elements = [
            one
            for one in self.model.everything()
            if not any(around.kind in _PROFILES for around in (one, *one.around()))
            and not self.model.is_reference(one.node)
        ]
        for element in elements:
            if element.kind == "State":
                target = element.target(
                    "submachine", self.problems, f"the submachine of {element.shown}"
                )
                if target is not None and target not in element.around():
                    self.contained.add(target)
                    self.inner.setdefault(_machine_of(element), []).append(target)
            elif element.kind == "StateMachine" and element.role in ("doActivity", "entry", "exit"):
                self.contained.add(element)
        classes = [
            one for one in elements if one.kind in _CLASSES and not _is_requirement(self.model, one)
        ]
        typed: set[Element] = set()
        for one in classes:
            typed.update(target for _, target in self.parts(one))
        roots = [one for one in classes if one not in typed]
        roots = [one for one in roots if self.leads(one)]
        made: list[Instance] = []
        for root in roots:
            if root.flag("isAbstract"):
                if self.machines(root):
                    self.problems.note(
                        f"{root.shown} is abstract, and no part has it as its type: left out",
                        root.place,
                    )
                continue
            instance = self.instance(root, None, None, ())
            if instance is not None:
                made.append(instance)
        reached = {one.type for top in made for one in top.inside()}
        for one in classes:
            if one in typed and one not in reached and self.machines(one) and one.name:
                self.problems.error(
                    f"{one.shown} is a part of itself, or of a part of itself",
                    one.place,
                    "one of these classes has to stand in no other",
                )
        for element in elements:
            if (
                element.kind == "StateMachine"
                and element not in self.contained
                and (element.parent is None or element.parent.kind not in _CLASSES)
                and element.role in ("packagedElement", "StateMachine", "ownedMember", "")
            ):
                made.append(Instance(None, machines=[element]))
            elif element.kind == "ProtocolStateMachine":
                self.problems.note(
                    f"{element.shown} says what may happen and not what does: left out",
                    element.place,
                )
        self.check_cycles(made)
        self.components.instances = [one for top in made for one in top.inside()]
        self.connect()
        self.name()
        return self.components

    def check_cycles(self, made: list[Instance]) -> None:
        """Reports submachines that contain each other, and that nothing else leads to: they would
        be missing without a word."""
        used = self.reachable(
            machine for top in made for one in top.inside() for machine in one.machines
        )
        for machine in self.contained - used:
            if machine in self.reachable(self.inner.get(machine, ())):
                self.problems.error(
                    f"{machine.shown} contains itself as a submachine", machine.place
                )

    def reachable(self, machines: Iterable[Element]) -> set[Element]:
        found = list(machines)
        seen = set(found)
        for machine in found:
            for target in self.inner.get(machine, ()):
                if target not in seen:
                    seen.add(target)
                    found.append(target)
        return seen

    # ------------------------------------------------------------------------------ classes

    def machines(self, owner: Element) -> list[Element]:
        """The state machines that run in an instance of the class."""
        if owner not in self.behaviours:
            self.behaviours[owner] = []
            for one in general_classes(owner):
                found = self.own_machines(one)
                if found:
                    self.behaviours[owner] = found
                    break
        return self.behaviours[owner]

    def own_machines(self, owner: Element) -> list[Element]:
        owned = [
            one
            for one in owner.all("ownedBehavior") + owner.all("nestedClassifier")
            if one.kind == "StateMachine" and not one.text("specification")
        ]
        if owner.references("classifierBehavior") or owner.all("classifierBehavior"):
            target = owner.target(
                "classifierBehavior", self.problems, f"the classifier behaviour of {owner.shown}"
            )
            if target is None:
                return []
            if target.kind != "StateMachine":
                self.problems.note(
                    f"{owner.shown} behaves by a {target.kind} and not by a state machine: "
                    f"left out",
                    target.place,
                )
                return []
            for one in owned:
                if one is not target and one not in self.contained:
                    self.problems.note(
                        f"{one.shown} is not what the class does, which is `{target.name}`: "
                        f"left out",
                        one.place,
                    )
            return [target]
        return [one for one in owned if one not in self.contained]

    def parts(self, owner: Element) -> list[tuple[Element, Element]]:
        """The composite parts of a class, with their types."""
        result = []
        for one in general_classes(owner):
            for attribute in one.all("ownedAttribute"):
                if attribute.kind == "Port" or attribute.text("aggregation") != "composite":
                    continue
                for reference in attribute.references("type"):
                    target = self.model.find(reference)
                    if target is not None and target.kind in _CLASSES:
                        result.append((attribute, target))
        return result

    def leads(self, owner: Element) -> bool:
        """Whether there is a state machine in an instance of the class."""
        if owner not in self.leading:
            self.leading[owner] = bool(self.machines(owner))  # also ends cycles
            if not self.leading[owner]:
                self.leading[owner] = any(self.leads(target) for _, target in self.parts(owner))
        return self.leading[owner]

    def instance(
        self,
        owner: Element,
        parent: Instance | None,
        part: Element | None,
        around: tuple[Element, ...],
    ) -> Instance | None:
        if owner in around:
            assert part is not None
            self.problems.error(
                f"{owner.shown} is a part of itself, or of a part of itself", part.place
            )
            return None
        self.count += 1
        if self.count > _MOST_INSTANCES:
            raise InputError(
                Diagnostic(
                    f"there are more than {_MOST_INSTANCES} parts of parts, our limit", owner.place
                )
            )
        said = [owner, *owner.around(), *([part] if part is not None else [])]
        environment = (parent is not None and parent.environment) or any(
            marks_of(one, self.problems).environment for one in said
        )
        result = Instance(owner, parent, part, environment, list(self.machines(owner)))
        for attribute, target in self.parts(owner):
            if not self.leads(target):
                continue
            upper = attribute.child("upperValue")
            if upper is not None and upper.text("value", "0").strip() != "1":
                self.problems.refuse(
                    f"{attribute.shown} stands for several parts",
                    attribute.place,
                    "write one part for each",
                )
            child = self.instance(target, result, attribute, (*around, owner))
            if child is not None:
                result.children[attribute] = child
        return result

    # -------------------------------------------------------------------------- connections

    def connect(self) -> None:
        """Joins the ports that connectors join."""
        leader: dict[tuple[Instance, Element], tuple[Instance, Element]] = {}

        def find(key: tuple[Instance, Element]) -> tuple[Instance, Element]:
            while leader.setdefault(key, key) != key:
                leader[key] = leader[leader[key]]
                key = leader[key]
            return key

        implicit: dict[Element, list[Instance]] = {}
        for one in self.components.instances:
            if one.type is not None:
                implicit.setdefault(one.type, []).append(one)
        owners: list[Instance] = list(self.components.instances)
        # A passive class without composite parts may still connect what its attributes refer to.
        for element in self.model.everything():
            if (
                element.kind in _CLASSES
                and element not in implicit
                and element.all("ownedConnector")
            ):
                owners.append(Instance(element))
        for owner in owners:
            if owner.type is None:
                continue
            for general in general_classes(owner.type):
                for connector in general.all("ownedConnector"):
                    ends = [
                        key
                        for end in connector.all("end")
                        for key in (self.end(owner, end, implicit),)
                        if key is not None
                    ]
                    for key in ends[1:]:
                        leader[find(key)] = find(ends[0])
        nets: dict[tuple[Instance, Element], list[tuple[Instance, Element]]] = {}
        for key in list(leader):
            nets.setdefault(find(key), []).append(key)
        self.components.nets = list(nets.values())
        self.components.net_of = {
            key: index for index, net in enumerate(self.components.nets) for key in net
        }

    def end(
        self, owner: Instance, end: Element, implicit: dict[Element, list[Instance]]
    ) -> tuple[Instance, Element] | None:
        role = end.target("role", self.problems, "an end of a connector")
        if role is None:
            return None
        references = end.references("partWithPort")
        part = self.model.find(references[0]) if references else None
        if part is None:
            return (owner, role)
        child = owner.children.get(part)
        if child is None:
            # A reference to a class that has one instance.
            for reference in part.references("type"):
                target = self.model.find(reference)
                found = implicit.get(target, []) if target is not None else []
                if len(found) == 1:
                    child = found[0]
        return None if child is None else (child, role)

    # -------------------------------------------------------------------------------- names

    def name(self) -> None:
        """Names the machines after their classes, and longer where that is ambiguous."""
        entries: list[tuple[Instance, list[str]]] = []
        for instance in self.components.active:
            for name in self.plain_names(instance):
                entries.append((instance, [*self.path(instance), name]))
        level = [1] * len(entries)

        def current(index: int) -> str:
            instance, path = entries[index]
            if level[index] == 1 or instance.part is None:
                return "_".join(path[-level[index] :])
            # A part says more than the name of its class.
            own = self.plain_names(instance)
            parts = path[:-1] + ([path[-1]] if len(own) > 1 else [])
            return "_".join(parts[-(level[index] - 1) :])

        for _ in range(70):
            names = [current(index) for index in range(len(entries))]
            often = Counter(names)
            clashes = {
                index
                for index, name in enumerate(names)
                if often[name] > 1 and level[index] <= len(entries[index][1])
            }
            if not clashes:
                break
            for index in clashes:
                level[index] += 1
        taken: set[str] = set()
        for index, (instance, _) in enumerate(entries):
            instance.names.append(unique(current(index), taken))

    @staticmethod
    def plain_names(instance: Instance) -> list[str]:
        """The names of an instance's machines: one for each region of each of them."""
        result = []
        for machine in instance.machines:
            base = identifier(machine.name) or "machine"
            if instance.type is not None:
                owner = identifier(instance.type.name) or base
                base = owner if len(instance.machines) == 1 else f"{owner}_{base}"
            regions = regions_of(machine)
            if len(regions) <= 1:
                result.append(base)
            else:
                taken: set[str] = set()
                for number, region in enumerate(regions, 1):
                    name = identifier(region.name) or str(number)
                    result.append(unique(f"{base}_{name}", taken))
        return result

    @staticmethod
    def path(instance: Instance) -> list[str]:
        """The names around an instance, the outermost first: parts, or packages and classes."""
        if instance.part is not None and instance.parent is not None:
            before = _Builder.path(instance.parent)
            if instance.parent.part is None and instance.parent.type is not None:
                before = [*before, identifier(instance.parent.type.name)]
            return [*before, identifier(instance.part.name)]
        element = instance.type or instance.machines[0]
        return [identifier(one.name) for one in element.around() if one.name][::-1]


def _machine_of(element: Element) -> Element | None:
    """The state machine that an element is in; one that a state does belongs to the outer one."""
    found = [one for one in element.around() if one.kind == "StateMachine"]
    return found[-1] if found else None


def regions_of(machine: Element) -> list[Element]:
    """The regions that have something in them."""
    return [one for one in machine.all("region") if one.all("subvertex")]


def _is_requirement(model: Model, element: Element) -> bool:
    return any(one.name.lower().endswith("requirement") for one in model.applied(element))
