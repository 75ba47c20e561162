"""From a document to a network: all names resolved, all templates instantiated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from whence.expr.check import Checker, Declaration, Declarations, builtin_scope, constant_literal
from whence.expr.check_compare import describe, holds_channel, holds_clock, same_type, widened
from whence.expr.check_names import root_symbol
from whence.expr.constants import bounds, default_cells
from whence.expr.parser import parse_declarations, parse_system
from whence.expr.printer import print_expression
from whence.expr.scope import (
    AliasEntry,
    BrokenEntry,
    ConstantEntry,
    Context,
    Domain,
    FamilyEntry,
    Problem,
    ProcessEntry,
    Scope,
    TemplateEntry,
    VariableEntry,
    suggestion,
)
from whence.expr.tree import (
    Expr,
    Field,
    Index,
    Instantiation,
    IntLiteral,
    Name,
    ParameterSyntax,
    Symbol,
    SymbolKind,
    SystemLine,
    SystemSyntax,
)
from whence.expr.types import PLAIN_INT, ArrayType, BoolType, IntType, ScalarType
from whence.formats.uppaal.document import Document, QueryText
from whence.formats.uppaal.elaborate_network import network_of
from whence.formats.uppaal.elaborate_templates import (
    ParsedTemplate,
    check_process,
    is_blank,
    parse_template,
)
from whence.model.network import Network, Process
from whence.source import Origin, SourceText

__all__ = ["Elaborated", "elaborate"]

#: More processes than this is a mistake in a parameter's range.
MAX_PROCESSES = 100_000
#: After so many errors, further instances of a template have nothing new to tell.
MAX_ERRORS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Elaborated:
    """A network with what is needed to check properties of it: the names that they may use."""

    network: Network
    query_texts: tuple[QueryText, ...]
    names: Scope
    context: Context
    #: The processes by name, with the scopes of their own names.
    processes: Mapping[str, ProcessEntry]


def elaborate(document: Document) -> Elaborated:
    """The network that a document describes.

    Raises one :class:`InputError` with all problems that are found; if all of them are about
    constructs that we do not support, it is an :class:`whence.source.UnsupportedError`.
    """
    return _Elaborator(document).run()


@dataclass(frozen=True, slots=True)
class _Partial:
    """`P(int[0,3] i) = T(i, x);`"""

    syntax: Instantiation
    target: _Entity

    @property
    def parameters(self) -> tuple[ParameterSyntax, ...]:
        return self.syntax.parameters


_Entity = ParsedTemplate | _Partial
#: The value of a parameter that is left open, or what was written for it, and where.
_Argument = int | tuple[Expr, Scope]


class _Elaborator:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.context = Context()
        self.problems = self.context.problems
        self.checker = Checker(self.context)
        self.globals = Scope("", builtin_scope(), shared=True)
        # The system's declarations are global too, but templates do not see them.
        self.system = Scope("", self.globals, counter=self.globals.counter, shared=True)
        self.names = Scope("", self.system)
        self.global_parts = Declarations()
        self.process_parts = Declarations()
        self.entities: dict[str, _Entity] = {}
        self.processes: list[Process] = []
        self.process_entries: dict[str, ProcessEntry] = {}
        self.system_line: SystemLine | None = None

    def run(self) -> Elaborated:
        document = self.document
        whole = self._declare_globals(document.declaration)
        templates = [parse_template(template) for template in document.templates]
        for parsed, template in zip(templates, document.templates, strict=True):
            with self.problems.collecting():
                place = template.name.origin(0, len(template.name.text))
                self.entities.setdefault(parsed.name, parsed)
                self.globals.declare(parsed.name, TemplateEntry(parsed.name), place)
        if not whole:
            # Nothing that uses the global names can be judged without them.
            for parsed in templates:
                self._tell(parsed)
            self.problems.raise_any()
        for source in (document.instantiation, document.system):
            if source is not None and not is_blank(source):
                self._read_system(source)
        if self.system_line is None and not self.problems:
            self.problems.add(
                Problem(
                    "there is no line `system …;` that says which processes there are",
                    document.system.origin(0),
                    "expected system P, Q; at the end of the system declaration",
                ),
                document.system.element,
            )
        if self.system_line is not None:
            self._instantiate_all(self.system_line)
        for parsed in templates:
            if not parsed.used:
                self._check_unused(parsed)
        self.problems.raise_any()
        network = network_of(
            document.file, self.global_parts, self.process_parts, self.processes, self.context
        )
        self.problems.raise_any()
        return Elaborated(
            network,
            document.queries,
            self.names,
            self.context,
            MappingProxyType(self.process_entries),
        )

    def _declare_globals(self, source: SourceText | None) -> bool:
        """Whether the global declarations could be read."""
        if source is None or is_blank(source):
            return True
        with self.problems.collecting():
            declarations = parse_declarations(source)
            self.checker.declare(declarations, self.globals, self.global_parts, source.element)
            return True
        return False

    # ------------------------------------------------------------------------------- system

    def _read_system(self, source: SourceText) -> None:
        items: tuple[SystemSyntax, ...] = ()
        with self.problems.collecting():
            items = parse_system(source)
        for item in items:
            with self.problems.collecting(source.element):
                match item:
                    case Instantiation():
                        self._read_instantiation(item)
                    case SystemLine():
                        if self.system_line is not None:
                            raise Problem("a second line `system …;`", item.origin)
                        self.system_line = item
                    case _:
                        self._declare_in_system(item, source.element)

    def _declare_in_system(self, item: SystemSyntax, element: str) -> None:
        name = getattr(item, "name", "")
        if name in self.globals.entries:
            self._twice(name, item.origin)
        assert not isinstance(item, Instantiation | SystemLine)
        self.checker.declare((item,), self.system, self.global_parts, element)

    def _twice(self, name: str, origin: Origin) -> None:
        raise Problem(
            f"`{name}` is declared twice",
            origin,
            f"the first declaration is at {self.globals.places[name]}",
        )

    def _read_instantiation(self, item: Instantiation) -> None:
        target = self.entities.get(item.template)
        if item.name in self.globals.entries:
            self._twice(item.name, item.origin)
        self.system.declare(item.name, TemplateEntry(item.name), item.origin)
        if target is None:
            self.system.entries[item.name] = BrokenEntry()
            raise Problem(
                f"unknown template `{item.template}`",
                item.origin,
                suggestion(item.template, [*self.entities]),
            )
        wanted = len(target.parameters)
        if len(item.arguments) != wanted:
            # Without its arguments, nothing in it can be checked.
            self.system.entries[item.name] = BrokenEntry()
            if not self._use(target).sound:
                # Its parameters may not have been understood.
                return
            raise Problem(
                f"`{item.template}` takes {wanted} argument{'s' * (wanted != 1)}, "
                f"found {len(item.arguments)}",
                item.origin,
            )
        self.entities[item.name] = _Partial(item, target)

    def _instantiate_all(self, line: SystemLine) -> None:
        seen: set[str] = set()
        for priority, group in enumerate(line.groups):
            for item in group:
                with self.problems.collecting(self.document.system.element):
                    if item.name in seen:
                        raise Problem(
                            f"process `{item.name}` is listed twice in the system", item.origin
                        )
                    seen.add(item.name)
                    entity = self.entities.get(item.name)
                    if entity is None:
                        found = self.system.find(item.name)
                        if found is not None and isinstance(found[0], BrokenEntry):
                            continue
                        raise Problem(
                            f"unknown process or template `{item.name}`",
                            item.origin,
                            suggestion(item.name, [*self.entities]),
                        )
                    self._instantiate(entity, item, priority)

    def _instantiate(self, entity: _Entity, item: Name, priority: int) -> None:
        template = self._use(entity)
        if not template.sound:
            return
        if not entity.parameters:
            process = self._process(entity, (), item.name, priority)
            self.names.declare(item.name, process, item.origin)
            return
        members: dict[tuple[int, ...], ProcessEntry] = {}
        domains: list[set[Domain]] = [set() for _ in entity.parameters]
        base = self.globals if isinstance(entity, ParsedTemplate) else self.system
        for values in self._combinations(entity, item, 0, base, domains):
            if len(members) >= MAX_PROCESSES:
                raise Problem(
                    f"`{item.name}` stands for more than {MAX_PROCESSES} processes",
                    item.origin,
                    unsupported=True,
                )
            if len(self.problems) >= MAX_ERRORS:
                break
            text = f"{item.name}({','.join(map(str, values))})"
            members[values] = self._process(entity, values, text, priority)
        rectangular = all(len(found) == 1 for found in domains)
        known = tuple(domain for found in domains for domain in found)
        self.names.declare(
            item.name, FamilyEntry(item.name, known if rectangular else None, members), item.origin
        )

    def _combinations(
        self,
        entity: _Entity,
        item: Name,
        position: int,
        scope: Scope,
        domains: list[set[Domain]],
    ) -> Iterator[tuple[int, ...]]:
        """All values of the parameters that are left open, the last one changing fastest.

        A parameter's range may depend on those before it: `domains` collects all its ranges.
        """
        if position == len(entity.parameters):
            yield ()
            return
        parameter = entity.parameters[position]
        found = self.checker.declared(parameter.type, parameter.dimensions, scope)
        type_ = found.type
        if parameter.reference:
            open_as = "a reference"
        elif type_ == PLAIN_INT:
            open_as = "int without a range"
        else:
            open_as = describe(type_)
        if (
            parameter.reference
            or type_ == PLAIN_INT
            or not isinstance(type_, IntType | ScalarType | BoolType)
        ):
            raise Problem(
                f"parameter `{parameter.name}` of `{item.name}` is left open: expected a range "
                f"of integers or a scalar set, found {open_as}",
                item.origin,
                f"instantiate it: P = {item.name}(…); and list P in the system",
            )
        lo, hi = bounds(type_)
        domains[position].add(type_)
        for value in range(lo, hi + 1):
            inner = Scope("", scope)
            inner.entries[parameter.name] = ConstantEntry(constant_literal(type_, value))
            for rest in self._combinations(entity, item, position + 1, inner, domains):
                yield (value, *rest)

    def _use(self, entity: _Entity) -> ParsedTemplate:
        """The template behind an entity. What was wrong in its texts is told now."""
        while isinstance(entity, _Partial):
            entity = entity.target
        if not entity.used:
            entity.used = True
            self._tell(entity)
        return entity

    def _tell(self, parsed: ParsedTemplate) -> None:
        for error in parsed.found:
            if isinstance(error, Problem):
                self.problems.add(error, f"template {parsed.name}")
            else:
                self.problems.add_error(error)

    # ---------------------------------------------------------------------------- processes

    def _process(
        self, entity: _Entity, values: tuple[int, ...], name: str, priority: int
    ) -> ProcessEntry:
        scope = self.globals.child(name)
        texts: list[tuple[str, str]] = []
        template = self._bind_all(entity, values, scope, texts)
        self.problems.instance = name if template.parameters else ""
        try:
            process = check_process(template, name, scope, self.checker, self.process_parts)
        finally:
            self.problems.instance = ""
        entry = ProcessEntry(len(self.processes), name, template.location_numbers, scope)
        self.processes.append(replace(process, arguments=tuple(texts), priority=priority))
        self.process_entries[name] = entry
        return entry

    def _bind_all(
        self,
        entity: _Entity,
        arguments: tuple[_Argument, ...],
        scope: Scope,
        texts: list[tuple[str, str]],
    ) -> ParsedTemplate:
        """Declare the parameters of the template behind `entity` in the process's `scope`."""
        while isinstance(entity, _Partial):
            inner = Scope(scope.name, self.system, scope.name)
            for parameter, argument in zip(entity.parameters, arguments, strict=True):
                self._bind(parameter, argument, inner, entity.syntax.name)
            arguments = tuple((expr, inner) for expr in entity.syntax.arguments)
            entity = entity.target
        for parameter, argument in zip(entity.parameters, arguments, strict=True):
            text = self._bind(parameter, argument, scope, entity.name)
            texts.append((parameter.name, text))
        return entity

    def _bind(self, parameter: ParameterSyntax, argument: _Argument, scope: Scope, of: str) -> str:
        """Declare one parameter as what is given for it; that, as text."""
        found = self.checker.declared(parameter.type, parameter.dimensions, scope)
        type_, name, origin = found.type, parameter.name, parameter.origin
        what = f"argument `{name}` of `{of}`"
        symbol = Symbol(scope.name, name, SymbolKind.CONSTANT, type_)
        if isinstance(argument, int):
            scope.declare(name, self.checker.constant_entry(symbol, (argument,)), origin)
            return str(argument)
        expr, where = argument
        checked = self.checker.argument(expr, where)
        place = root_symbol(checked)
        variable = place is not None and place.kind is SymbolKind.VARIABLE
        if holds_channel(type_) or (parameter.reference and (not found.const or variable)):
            if not found.const:
                checked = self.checker.reference(expr, where)
            if not same_type(type_, checked.type):
                raise Problem(
                    f"{what} must be {describe(type_)}, found {describe(checked.type)}",
                    checked.origin,
                )
            target = self._fixed(checked, what)
            scope.declare(name, AliasEntry(target, writable=not found.const), origin)
            return print_expression(target)
        if holds_clock(type_):
            raise Problem(
                f"clock parameter `{name}` must be passed by reference",
                origin,
                "write `&` before its name",
            )
        type_ = widened(type_)
        symbol = Symbol(scope.name, name, SymbolKind.CONSTANT, type_)
        values = self.checker.fitting_cells(type_, checked, what)
        entry = self.checker.constant_entry(symbol, values)
        scope.declare(name, entry, origin)
        if isinstance(entry, ConstantEntry):
            return print_expression(entry.literal)
        self.process_parts.constants.append(Declaration(symbol, values, False, origin))
        return print_expression(checked)

    def _fixed(self, target: Expr, what: str) -> Expr:
        """An lvalue whose indices are numbers: an element of an array has to be known."""
        match target:
            case Index(array=array, index=index):
                value = self.checker.constant_cells(index, f"the index in {what}")[0]
                assert isinstance(array.type, ArrayType)
                lo, length = array.type.lo, array.type.length
                if not lo <= value < lo + length:
                    raise Problem(
                        f"index {value} is outside the array (expected {lo} to {lo + length - 1})",
                        index.origin,
                        about_value=True,
                    )
                of_type = IntType(value, value) if isinstance(index.type, IntType) else index.type
                number = IntLiteral(value, type=of_type, origin=index.origin)
                return Index(
                    self._fixed(array, what), number, type=target.type, origin=target.origin
                )
            case Field(record=record, name=name):
                return Field(
                    self._fixed(record, what), name, type=target.type, origin=target.origin
                )
            case _:
                return target

    def _check_unused(self, parsed: ParsedTemplate) -> None:
        """A template without a process: its names and types still have to be right."""
        self.problems.placeholders = True
        self._tell(parsed)
        if parsed.sound:
            scope = self.globals.child(parsed.name)
            with self.problems.collecting(parsed.parameters_element):
                for parameter in parsed.parameters:
                    self._bind_placeholder(parameter, scope)
                check_process(parsed, parsed.name, scope, self.checker, Declarations())
        self.problems.placeholders = False

    def _bind_placeholder(self, parameter: ParameterSyntax, scope: Scope) -> None:
        found = self.checker.declared(parameter.type, parameter.dimensions, scope)
        type_ = found.type
        if parameter.reference or holds_channel(type_) or holds_clock(type_):
            symbol = Symbol(scope.name, parameter.name, SymbolKind.VARIABLE, type_)
            scope.declare(parameter.name, VariableEntry(symbol, not found.const), parameter.origin)
            return
        symbol = Symbol(scope.name, parameter.name, SymbolKind.CONSTANT, type_)
        values = default_cells(type_)
        if isinstance(type_, IntType) and type_ != PLAIN_INT:
            values = (type_.lo,)
        scope.declare(parameter.name, self.checker.constant_entry(symbol, values), parameter.origin)
