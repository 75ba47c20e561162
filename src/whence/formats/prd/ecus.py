"""Descriptions of ECUs in YAML: services, conditions, times, effects (docs/prd.md)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from whence.expr.scope import Problem, Problems, suggestion
from whence.formats.charts.nodes import Mapping, Node, Scalar, Sequence
from whence.formats.prd.fields import PrdFields, read_requirements, read_variables, source_at
from whence.formats.prd.lexing import stretch
from whence.model.ecu import (
    SILENT,
    Ecu,
    Incident,
    Parameter,
    Precondition,
    Reaction,
    Refusal,
    Restart,
    Service,
    ServiceResponse,
    Timing,
)
from whence.source import SourceText

__all__ = ["ECU_KEYS", "precondition", "read_ecu"]

ECU_KEYS = (
    "ecu", "parameters", "variables", "clocks", "activity", "timing", "restart", "silent",
    "unknown", "silences", "start", "services", "reactions", "incidents", "requirements",
)  # fmt: skip
_SERVICE_KEYS = (
    "request", "response", "responses", "needs", "refusals", "effects", "p2", "p2-star",
    "pending", "suppressible", "concurrent", "restarts", "only", "requirements",
)  # fmt: skip
_REACTION_KEYS = ("when", "clock", "after", "within", "effects", "only", "requirements")
_INCIDENT_KEYS = ("event", "when", "effects", "restarts", "only", "requirements")
#: More values than this are not listed one by one.
_MANY_VALUES = 10_000


def read_ecu(root: Mapping, problems: Problems) -> Ecu:
    return _EcuReader(root, problems).read()


class _EcuReader:
    def __init__(self, root: Mapping, problems: Problems) -> None:
        self.problems = problems
        self.fields = PrdFields(root, ECU_KEYS, "an ECU", problems)
        #: None: requirements are only mentioned, and not listed.
        self.known: set[str] | None = None

    def read(self) -> Ecu:
        fields = self.fields
        requirements = read_requirements(fields)
        if "requirements" in fields.nodes:
            self.known = {requirement.ident for requirement in requirements}
        if "services" not in fields.nodes:
            self.problems.add(Problem("an ECU needs `services:`", fields.origin))
        timing = Timing()
        inner = self._inner("timing", ("p2", "p2-star"))
        if inner is not None:
            timing = Timing(p2=inner.time("p2"), p2_star=inner.time("p2-star"))
        silent = fields.codes("silent")
        return Ecu(
            name=fields.text("ecu", ""),
            services=tuple(self._services(timing)),
            variables=read_variables(fields, "variables", self.problems),
            clocks=fields.texts("clocks"),
            activity=fields.optional_text("activity") or "",
            parameters=tuple(self._parameters()),
            reactions=tuple(self._reactions()),
            incidents=tuple(self._incidents()),
            restart=self._restart(),
            timing=timing,
            silent=SILENT if silent is None else silent,
            unknown=fields.codes("unknown"),
            silences=fields.flag("silences") is not False,
            start=fields.choice("start", ("power-on", "any"), "power-on"),  # type: ignore[arg-type]
            requirements=requirements,
            origin=fields.origin,
        )

    def _inner(self, key: str, keys: tuple[str, ...]) -> PrdFields | None:
        node = self.fields.mapping(key)
        return None if node is None else PrdFields(node, keys, key, self.problems)

    def _requirements(self, fields: PrdFields) -> tuple[str, ...]:
        found = fields.texts_or_one("requirements")
        for name in found:
            if self.known is not None and name not in self.known:
                origin = fields.nodes["requirements"].origin
                hint = suggestion(name, sorted(self.known))
                self.problems.add(Problem(f"unknown requirement `{name[:60]}`", origin, hint))
        return found

    def _restart(self) -> Restart:
        inner = self._inner("restart", ("after", "within", "requirements"))
        if inner is None:
            return Restart()
        after, within = inner.time("after"), inner.time("within")
        found = Restart(
            after=after or Fraction(0),
            within=(within if within is not None else after) or Fraction(0),
            requirements=self._requirements(inner),
        )
        if found.within < found.after:
            self.problems.add(Problem("`within` is before `after`", inner.origin), "restart")
        return found

    def _parameters(self) -> Iterable[Parameter]:
        for name, node in self.fields.pairs("parameters"):
            with self.problems.collecting(f"parameter {name.value}"):
                yield _parameter(name, node)

    # ----------------------------------------------------------------------------------- services

    def _services(self, timing: Timing) -> Iterable[Service]:
        for name, node in self.fields.entries("services"):
            what = f"service {name.value}"
            with self.problems.collecting(what):
                if not isinstance(node, Mapping):
                    raise Problem("a service needs `request:`", node.origin)
                fields = PrdFields(node, _SERVICE_KEYS, what, self.problems)
                yield self._service(name, fields, timing)

    def _service(self, name: Scalar, fields: PrdFields, timing: Timing) -> Service:
        request = fields.source("request")
        if request is None:
            raise Problem("a service needs `request:`", fields.origin,
                          "its bytes, such as 22 F1 90, or its name and fields")  # fmt: skip
        short = fields.source("response")
        if short is not None and "responses" in fields.nodes:
            raise Problem("there is `response` and `responses`", fields.origin)
        answers = short is None or short.text.strip() != "none"
        responses = tuple(self._responses(fields))
        if short is not None and answers and short.text.strip() != "any":
            responses = (ServiceResponse(text=short, origin=short.origin(0)),)
        own = None
        if "p2" in fields.nodes or "p2-star" in fields.nodes:
            p2, star = fields.time("p2"), fields.time("p2-star")
            own = Timing(p2=timing.p2 if p2 is None else p2,
                         p2_star=timing.p2_star if star is None else star)  # fmt: skip
        return Service(
            name=name.value.strip(),
            request=request,
            answers=answers,
            responses=responses,
            preconditions=tuple(self._needs(fields)),
            refusals=tuple(self._refusals(fields)),
            effects=fields.source("effects"),
            timing=own,
            pending=fields.flag("pending") or False,
            suppressible=fields.flag("suppressible") or False,
            concurrent=fields.flag("concurrent") or False,
            restarts=fields.flag("restarts") or False,
            only=fields.source("only"),
            requirements=self._requirements(fields),
            origin=name.origin,
        )

    def _responses(self, fields: PrdFields) -> Iterable[ServiceResponse]:
        for node in fields.items("responses"):
            with self.problems.collecting(fields.what):
                if isinstance(node, Scalar):
                    yield ServiceResponse(text=source_at(node, f"response of {fields.what}"),
                                          origin=node.origin)  # fmt: skip
                    continue
                if not isinstance(node, Mapping):
                    raise Problem("expected a response", node.origin)
                keys = ("message", "when", "effects", "requirements")
                inner = PrdFields(node, keys, fields.what, self.problems)
                yield ServiceResponse(
                    text=inner.source("message"),
                    condition=inner.source("when"),
                    effects=inner.source("effects"),
                    requirements=self._requirements(inner),
                    origin=node.origin,
                )

    def _needs(self, fields: PrdFields) -> Iterable[Precondition]:
        node = fields.nodes.get("needs")
        nodes = (node,) if isinstance(node, Scalar) and not node.empty else fields.items("needs")
        for item in nodes:
            with self.problems.collecting(fields.what):
                if isinstance(item, Mapping):
                    keys = ("condition", "else", "effects", "requirements")
                    inner = PrdFields(item, keys, fields.what, self.problems)
                    condition = inner.source("condition")
                    if condition is None:
                        raise Problem("what is needed? `condition:` is missing", item.origin)
                    yield Precondition(
                        condition=condition,
                        codes=inner.codes("else") or (),
                        effects=inner.source("effects"),
                        requirements=self._requirements(inner),
                        origin=item.origin,
                    )
                else:
                    yield precondition(source_at(item, f"needs of {fields.what}"))

    def _refusals(self, fields: PrdFields) -> Iterable[Refusal]:
        node = fields.nodes.get("refusals")
        if node is None:
            return
        items = node.items if isinstance(node, Sequence) else (node,)
        plain = [item for item in items if not isinstance(item, Mapping)]
        if plain:
            # Codes alone: they are possible at any time.
            codes = PrdFields(
                Mapping(((_key("code", plain[0]), Sequence(tuple(plain), node.origin)),),
                        node.origin),
                ("code",), fields.what, self.problems,
            ).codes("code")  # fmt: skip
            yield Refusal(codes=codes or (), origin=node.origin)
        for item in items:
            if isinstance(item, Mapping):
                keys = ("code", "when", "effects", "requirements")
                inner = PrdFields(item, keys, fields.what, self.problems)
                yield Refusal(
                    codes=inner.codes("code") or (),
                    condition=inner.source("when"),
                    effects=inner.source("effects"),
                    requirements=self._requirements(inner),
                    origin=item.origin,
                )

    # ------------------------------------------------------------------------------------- others

    def _reactions(self) -> Iterable[Reaction]:
        for name, node in self.fields.entries("reactions"):
            what = f"reaction {name.value}"
            with self.problems.collecting(what):
                if not isinstance(node, Mapping):
                    raise Problem("a reaction needs `effects:`", node.origin)
                fields = PrdFields(node, _REACTION_KEYS, what, self.problems)
                effects = fields.source("effects")
                if effects is None:
                    raise Problem("a reaction needs `effects:`", node.origin)
                after, within = fields.time("after"), fields.time("within")
                if after is not None and within is not None and within < after:
                    raise Problem("`within` is before `after`", node.origin)
                yield Reaction(
                    name=name.value,
                    condition=fields.source("when"),
                    clock=fields.optional_text("clock") or "",
                    after=after or Fraction(0),
                    within=within,
                    effects=effects,
                    only=fields.source("only"),
                    requirements=self._requirements(fields),
                    origin=name.origin,
                )

    def _incidents(self) -> Iterable[Incident]:
        for name, node in self.fields.entries("incidents"):
            what = f"incident {name.value}"
            with self.problems.collecting(what):
                if not isinstance(node, Mapping):
                    raise Problem("an incident needs `event:`", node.origin)
                fields = PrdFields(node, _INCIDENT_KEYS, what, self.problems)
                event = fields.source("event")
                if event is None:
                    raise Problem("an incident needs `event:`", node.origin)
                yield Incident(
                    name=name.value,
                    event=event,
                    condition=fields.source("when"),
                    effects=fields.source("effects"),
                    restarts=fields.flag("restarts") or False,
                    only=fields.source("only"),
                    requirements=self._requirements(fields),
                    origin=name.origin,
                )


def precondition(source: SourceText) -> Precondition:
    """`CONDITION else CODE, CODE`; without `else`, any refusal is right. Raises Problem."""
    text = source.text
    at = text.rfind(" else ")
    origin = source.origin(0, max(1, len(text)))
    if at < 0:
        return Precondition(condition=source, origin=origin)
    codes = []
    for word in text[at + 6 :].split(","):
        value = word.strip()
        if value[:2] not in ("0x", "0X") or len(value) > 4:
            raise Problem("expected a code behind `else`, such as 0x7F", source.origin(at + 6),
                          "the codes are hexadecimal, with 0x")  # fmt: skip
        try:
            codes.append(int(value, 16))
        except ValueError:
            raise Problem("this is no code, such as 0x7F", source.origin(at + 6)) from None
    return Precondition(condition=stretch(source, 0, at), codes=tuple(codes), origin=origin)


def _parameter(name: Scalar, node: Node) -> Parameter:
    if isinstance(node, Sequence):
        values = []
        for item in node.items:
            if not isinstance(item, Scalar) or not item.value.isidentifier():
                raise Problem("expected a list of names", item.origin,
                              "numbers are written as a range: 1..9 = 3")  # fmt: skip
            values.append(item.value)
        if not values or len(set(values)) < len(values):
            raise Problem("expected different names", node.origin)
        return Parameter(name=name.value, values=tuple(values), default=values[0],
                         origin=name.origin)  # fmt: skip
    if not isinstance(node, Scalar):
        raise Problem("expected values, such as [base, sport] or 1..9 = 3", node.origin)
    written, _, default = node.value.partition("=")
    low, dots, high = (part.strip() for part in written.partition(".."))
    if not (dots and _is_count(low) and _is_count(high) and int(low) <= int(high)):
        raise Problem("expected values, such as [base, sport] or 1..9 = 3", node.origin)
    if int(high) - int(low) >= _MANY_VALUES:
        raise Problem(f"a parameter has at most {_MANY_VALUES} values", node.origin)
    default = default.strip() or low
    if not _is_count(default) or not int(low) <= int(default) <= int(high):
        raise Problem(f"the parameter cannot be {default[:40]} by default", node.origin)
    return Parameter(name=name.value, values=tuple(range(int(low), int(high) + 1)),
                     default=int(default), origin=name.origin)  # fmt: skip


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _key(text: str, node: Node) -> Scalar:
    return Scalar(SourceText(text), node.origin, True)
