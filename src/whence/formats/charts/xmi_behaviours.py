"""Guards and behaviours: texts in some language, and activities that send signals.

Texts stay as they are written, but for what surely means the same in the expression language:
blanks, the brackets around a guard, semicolons between statements, OCL's `=` and `<>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from whence.formats.charts.xmi_problems import Problems
from whence.formats.charts.xmi_signals import Signals
from whence.formats.charts.xmi_texts import blanked, cut, replaced, statements, stripped
from whence.formats.charts.xmi_tree import Element, Model
from whence.model.chart import Assign, Effect, Send
from whence.source import Origin, SourceText

__all__ = ["Behaviours", "Guard", "expression"]

_PATH = r"[^\W\d]\w*(?:(?:\.|::|->)[^\W\d]\w*)*"
_NAME = r"[^\W\d]\w*"
_ARGUMENTS = r"(?:\s*\((?P<arguments>.*)\))?"
_SEND = re.compile(
    rf"send\s+(?P<signal>{_NAME}){_ARGUMENTS}(?:\s+to\s+(?P<target>{_PATH}))?", re.DOTALL
)
_CARET = re.compile(rf"\^\s*(?:(?P<target>{_PATH})\.)?(?P<signal>{_NAME}){_ARGUMENTS}", re.DOTALL)
_CALL = re.compile(
    rf"(?:(?P<target>{_PATH})(?:\.|->))?(?P<signal>{_NAME})\s*\((?P<arguments>.*)\)", re.DOTALL
)
_CONTROL = re.compile(r"(if|else|for|while|do|switch|case|return|break|goto|try|throw)\b|\{")
_EQUALS = re.compile(r"<>|(?<![<>=!:])=(?!=)")
_WORD_ELSE = "else"
#: Methods of timers, as RT-Tester's models call them.
_TIMER_CALLS = frozenset(("elapsed", "reset", "start", "stop"))


@dataclass(frozen=True, slots=True)
class Guard:
    """`otherwise`: the guard is `else`. Without a text it is true."""

    text: SourceText | None = None
    otherwise: bool = False


def _normalised(text: SourceText, language: str) -> SourceText:
    """What is surely meant, in the expression language."""
    changes: list[tuple[int, int, str]] = []
    plain = blanked(text.text)
    match language.strip().upper():
        case "OCL" | "OCL2.0":
            changes = [
                (match.start(), match.end(), "!=" if match[0] == "<>" else "==")
                for match in _EQUALS.finditer(plain)
            ]
        case "PYTHON":
            changes = [
                (match.start(), match.end(), match[0].lower())
                for match in re.finditer(r"\b(True|False)\b", plain)
            ]
    return replaced(text, changes) if changes else text


def _unended(text: SourceText) -> SourceText:
    """Without semicolons at its end."""
    plain = blanked(text.text)
    end = len(plain.rstrip("; \t\r\n"))
    return cut(text, 0, end) if end < len(plain) else text


def _bodies(element: Element, what: str) -> Iterator[tuple[SourceText, str]]:
    """The texts of an opaque element with their languages."""
    languages = [source.text for source in element.sources("language", what)]
    for index, body in enumerate(element.sources("body", what)):
        yield body, languages[index] if index < len(languages) else ""


def expression(specification: Element, what: str, problems: Problems) -> SourceText | None:
    """The text of a value specification: a guard, say. None if it is empty, or was refused."""
    match specification.kind:
        case "OpaqueExpression":
            for body, language in _bodies(specification, what):
                if body.text.strip():
                    return stripped(_normalised(stripped(body), language))
            return None
        case "Expression":
            if specification.all("operand"):
                problems.refuse(f"an Expression with operands as {what}", specification.place)
                return None
            found = specification.source("symbol", what)
        case "LiteralBoolean":
            found = specification.source("value", what)
            if found is None:
                place = specification.place
                found = SourceText("false", place.file, ((0, place.line, place.column),), what)
        case "LiteralString" | "LiteralInteger" | "LiteralReal" | "LiteralUnlimitedNatural":
            found = specification.source("value", what)
        case "":
            found = specification.source("body", what) or specification.source("value", what)
        case kind:
            problems.refuse(f"{kind} as {what}", specification.place)
            return None
    return stripped(found) if found is not None and found.text.strip() else None


@dataclass(slots=True)
class Behaviours:
    """Reads the behaviours of one machine. `resolve` tells which machines a target is: it is given
    the target's name, the signal and the place, and reports what it does not know."""

    model: Model
    problems: Problems
    signals: Signals
    resolve: Callable[[str, str, Origin], tuple[str, ...]]
    timers: frozenset[str]

    # ------------------------------------------------------------------------------- guards

    def guard(self, transition: Element) -> Guard:
        what = f"the guard of {transition.shown}"
        constraint = transition.target("guard", self.problems, what)
        if constraint is None:
            return Guard()
        specification = constraint.child("specification")
        if specification is None:
            return Guard()
        text = expression(specification, what, self.problems)
        return Guard() if text is None else self.condition(text)

    def condition(self, text: SourceText) -> Guard:
        text = _unended(text)
        plain = blanked(text.text)
        if plain.startswith("[") and plain.endswith("]"):
            text = _unended(stripped(cut(text, 1, len(plain) - 1)))
        if text.text.strip().lower() == _WORD_ELSE:
            return Guard(otherwise=True)
        return Guard(text) if text.text else Guard()

    # ------------------------------------------------------------------------------ effects

    def effects(self, behaviour: Element | None) -> tuple[Effect, ...]:
        """What a behaviour does."""
        return tuple(self.effects_of(behaviour, ())) if behaviour is not None else ()

    def effects_of(self, behaviour: Element, around: tuple[Element, ...]) -> list[Effect]:
        if behaviour in around:
            self.problems.error(f"{behaviour.shown} calls itself", behaviour.place)
            return []
        what = f"{behaviour.role} {behaviour.shown}"
        match behaviour.kind:
            case "OpaqueBehavior" | "FunctionBehavior" | "":
                return self.opaque(behaviour, what)
            case "Activity":
                return self.activity(behaviour, (*around, behaviour), what)
            case kind:
                self.problems.refuse(f"a {kind} as behaviour", behaviour.place, "", what)
                return []

    def opaque(self, behaviour: Element, what: str) -> list[Effect]:
        for body, language in _bodies(behaviour, what):
            if body.text.strip():
                return self.statements(_normalised(body, language))
        return self.named(behaviour, what)

    def named(self, behaviour: Element, what: str) -> list[Effect]:
        """A behaviour without content: its name says what it does."""
        name = behaviour.source("name", what)
        return [] if name is None or not name.text.strip() else self.statements(name)

    def statements(self, text: SourceText) -> list[Effect]:
        return [effect for part in statements(text) for effect in self.statement(part)]

    def statement(self, text: SourceText) -> list[Effect]:
        plain = blanked(text.text)
        control = _CONTROL.match(plain)
        if control is not None:
            self.problems.refuse(
                f"the statement `{control[0]}`",
                text.origin(control.start(), control.end()),
                "use transitions with guards, or a conditional expression `a ? b : c`",
                text.element,
            )
            return []
        explicit = _SEND.fullmatch(plain) or _CARET.fullmatch(plain)
        match = explicit or _CALL.fullmatch(plain)
        if match is None:
            return [Assign(text)]
        target, signal = match["target"], match["signal"]
        if explicit is None and signal not in self.signals.texts:
            if target is None or (target in self.timers and signal in _TIMER_CALLS):
                return [Assign(text)]
            self.problems.error(
                f"unknown signal `{signal}`",
                text.origin(*match.span("signal")),
                "signals are uml:Signal elements",
                text.element,
            )
            return []
        if match["arguments"] is not None and match["arguments"].strip():
            self.problems.refuse(
                f"messages with data: `{signal}` has arguments",
                text.origin(*match.span("arguments")),
                element=text.element,
            )
            return []
        if signal not in self.signals.texts:
            self.problems.error(
                f"unknown signal `{signal}`",
                text.origin(*match.span("signal")),
                "signals are uml:Signal elements",
                text.element,
            )
            return []
        name = self.signals.texts[signal]
        if name is None:
            self.problems.error(
                f"there are several signals called `{signal}`",
                text.origin(*match.span("signal")),
                "rename all but one, or send it by a SendSignalAction",
                text.element,
            )
            return []
        origin = text.origin(0, len(text.text))
        if target is None:
            return self.send(name, None, origin)
        place = text.origin(*match.span("target"))
        return self.send(name, re.sub("::|->", ".", target), origin, place)

    def send(
        self, signal: str, target: str | None, origin: Origin, place: Origin | None = None
    ) -> list[Effect]:
        """`place` is where the target is named."""
        if target is None:
            return [Send(signal, None, origin)]
        machines = self.resolve(target, signal, place or origin)
        return [Send(signal, machine, origin) for machine in machines]

    # --------------------------------------------------------------------------- activities

    def activity(self, activity: Element, around: tuple[Element, ...], what: str) -> list[Effect]:
        nodes = [node for node in activity.all("node") if not self.model.is_reference(node.node)]
        if not nodes:
            return self.named(activity, what)
        actions = []
        for node in nodes:
            if node.kind in _CONTROL_NODES or node.kind in _VALUE_NODES:
                continue
            if node.kind in _ACTIONS:
                actions.append(node)
            else:
                self.problems.refuse(f"{node.kind} in an activity", node.place, element=what)
                return []
        flows = self.flows(activity)
        effects: list[Effect] = []
        for action in self.ordered(activity, nodes, actions, flows, what):
            effects += self.action(action, around, flows, what)
        return effects

    def flows(self, activity: Element) -> dict[Element, list[tuple[Element, Element, bool]]]:
        """From each node (the owner of the pin): target node, the pin or node itself, and whether
        data flow."""
        result: dict[Element, list[tuple[Element, Element, bool]]] = {}
        for edge in activity.all("edge"):
            source = edge.target("source", self.problems, "the source of a flow")
            target = edge.target("target", self.problems, "the target of a flow")
            if source is not None and target is not None:
                flow = (_node_of(target), target, edge.kind == "ObjectFlow")
                result.setdefault(_node_of(source), []).append(flow)
        return result

    def ordered(
        self,
        activity: Element,
        nodes: list[Element],
        actions: list[Element],
        flows: dict[Element, list[tuple[Element, Element, bool]]],
        what: str,
    ) -> list[Element]:
        """The actions one after the other, if the control flow says in which order."""
        after = {node: [to for to, _, data in flows.get(node, ()) if not data] for node in nodes}
        reached = {to for successors in after.values() for to in successors}
        starts = [node for node in nodes if node.kind == "InitialNode"]
        if not starts:
            starts = [node for node in actions if node not in reached]
        order: list[Element] = []
        at = starts[0] if len(starts) == 1 else None
        while at is not None and at not in order:
            order.append(at)
            successors = after.get(at, [])
            at = successors[0] if len(successors) == 1 else None
        found = [node for node in order if node in actions]
        if len(found) != len(actions):
            self.problems.refuse(
                "an activity whose actions are not in one sequence",
                activity.place,
                "connect them by control flows, one after the other",
                what,
            )
            return []
        return found

    def action(
        self,
        action: Element,
        around: tuple[Element, ...],
        flows: dict[Element, list[tuple[Element, Element, bool]]],
        what: str,
    ) -> list[Effect]:
        match action.kind:
            case "OpaqueAction":
                return self.opaque(action, what)
            case "CallBehaviorAction":
                behaviour = action.target("behavior", self.problems, f"what {action.shown} calls")
                return [] if behaviour is None else self.effects_of(behaviour, around)
        signal = action.target("signal", self.problems, f"the signal of {action.shown}")
        if signal is None:
            if not action.references("signal"):
                self.problems.error(f"{action.shown} has no signal", action.place, element=what)
            return []
        if action.all("argument"):
            self.problems.refuse(
                f"messages with data: {action.shown} has arguments", action.place, element=what
            )
            return []
        name = self.signals.names.get(signal.ident)
        if name is None:
            self.problems.error(f"{signal.shown} is no signal", action.place, element=what)
            return []
        if action.kind == "BroadcastSignalAction":
            return self.send(name, None, action.place)
        port = action.target("onPort", self.problems, f"the port of {action.shown}")
        if port is not None:
            return self.send(name, port.name, action.place)
        return self.send(name, self.receiver(action, flows, what), action.place)

    def receiver(
        self,
        action: Element,
        flows: dict[Element, list[tuple[Element, Element, bool]]],
        what: str,
    ) -> str | None:
        """Whom a SendSignalAction sends to; None if it does not say."""
        pin = action.child("target")
        if pin is None:
            return None
        value = pin.child("value")
        if value is not None:
            if value.kind == "InstanceValue":
                instance = value.target("instance", self.problems, f"the target of {action.shown}")
                return None if instance is None else instance.name
            text = expression(value, f"the target of {action.shown}", self.problems)
            return None if text is None else text.text
        sources = [
            node
            for node, found in flows.items()
            for _, to, _ in found
            if to is pin and node is not action
        ]
        if not sources:
            return None
        match sources[0].kind:
            case "ReadSelfAction":
                return "self"
            case "ReadStructuralFeatureAction":
                feature = sources[0].target(
                    "structuralFeature", self.problems, f"what {sources[0].shown} reads"
                )
                return None if feature is None else feature.name
            case "ValueSpecificationAction":
                value = sources[0].child("value")
                if value is not None:
                    text = expression(value, f"the target of {action.shown}", self.problems)
                    return None if text is None else text.text
        self.problems.refuse(
            f"the target of {action.shown} comes from {sources[0].shown}",
            action.place,
            "read it by a ReadStructuralFeatureAction, or name it in the pin's value",
            what,
        )
        return None


_CONTROL_NODES = frozenset(("InitialNode", "ActivityFinalNode", "FlowFinalNode"))
_VALUE_NODES = frozenset(
    ("ReadSelfAction", "ReadStructuralFeatureAction", "ValueSpecificationAction")
)
_ACTIONS = frozenset(
    ("BroadcastSignalAction", "CallBehaviorAction", "OpaqueAction", "SendSignalAction")
)


def _node_of(element: Element) -> Element:
    """The node that an end of a flow belongs to: pins stand in their actions."""
    at: Element | None = element
    while at is not None and at.role != "node":
        at = at.parent
    return element if at is None else at
