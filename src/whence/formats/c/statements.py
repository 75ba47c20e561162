"""Statements of C into statements of the core language, one function at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from whence.formats.c.arithmetic import convert, truth, wrapped
from whence.formats.c.expressions import Expressions
from whence.formats.c.for_headers import for_headers
from whence.formats.c.initializers import initial_values, initialise
from whence.formats.c.jumps import Goto, Label, resolve
from whence.formats.c.nodes import Node
from whence.formats.c.types import refuse
from whence.formats.c.unit import Symbols, Unit
from whence.model.program import (
    ArrayType,
    Assign,
    Block,
    Declare,
    Expression,
    Function,
    FunctionType,
    Global,
    If,
    Initial,
    IntConstant,
    IntType,
    Leave,
    Load,
    Loop,
    Next,
    RecordType,
    Return,
    Section,
    Statement,
    Switch,
    Type,
    Variable,
    VariablePlace,
    VoidType,
)
from whence.source import Origin

__all__ = ["read_function", "read_global"]


def read_global(unit: Unit, variable: Variable, cursor: Any, function: str = "") -> None:
    """Reads a definition with its initialiser, if it has one."""
    type = unit.types.of(cursor.type, variable.origin)
    if type != variable.type:
        # An array whose length this declaration tells.
        variable = replace(variable, type=type)
        unit.variables.put(cursor, variable)
    values: tuple[Initial, ...] = ()
    initial = _initial(unit, unit.places.node(cursor))
    if initial is not None:
        reader = Expressions(unit, function or variable.key, constant=True)
        place = VariablePlace(variable, type, variable.origin)
        values = initial_values(reader, place, initial)
    unit.builder.globals[variable.key] = Global(variable, values)


def read_function(unit: Unit, cursor: Any, key: str) -> Function:
    node = unit.places.node(cursor)
    return _Statements(unit, node, key).function_of()


class _Statements(Expressions):
    def __init__(self, unit: Unit, node: Node, key: str) -> None:
        super().__init__(unit, key)
        self.node = node
        self.result: Type = VoidType()
        self.breaks: list[str] = []
        self.continues: list[str] = []
        self._labels = 0
        self._names: dict[str, str] = {}
        self._headers: Symbols | None = None
        #: While a switch with labels inside other statements is read: the jumps to its labels.
        self._cases: list[list[tuple[Node, str]]] = []

    # --- the function as a whole ------------------------------------------------------------

    def function_of(self) -> Function:
        node, unit = self.node, self.unit
        type = unit.types.function(node.type, node.origin)
        self.result = type.result
        parameters = []
        body = node.children[-1]
        self._find_addressed(body)
        nodes = [child for child in node.children if child.kind == "PARM_DECL"]
        declared = tuple(
            self._parameter_type(child, position, type) for position, child in enumerate(nodes)
        )
        prototyped = type.prototyped and type.parameters == declared
        for position, child in enumerate(nodes):
            own = declared[position]
            # An old-style definition: the argument arrives promoted and is then converted.
            arrives = type.parameters[position] if position < len(type.parameters) else own
            name = child.spelling or f"({position + 1})"
            volatile = child.type.is_volatile_qualified()
            if arrives == own:
                variable = self.local(name, own, "parameter", child.origin, volatile)
                self._register(child, variable)
                parameters.append(variable)
                continue
            incoming = self.local(f"{name} (argument)", arrives, "parameter", child.origin)
            parameters.append(incoming)
            variable = self.local(name, own, "local", child.origin, volatile)
            self._register(child, variable)
            self.emit(Declare(0, variable, child.origin))
            value = convert(Load(VariablePlace(incoming, arrives), arrives, child.origin), own)
            self.emit(Assign(0, VariablePlace(variable, own), value, child.origin))
        self.compound(body)
        statements = resolve(self.out, self._flag)
        return Function(
            self.function,
            node.spelling,
            replace(type, parameters=tuple(p.type for p in parameters), prototyped=prototyped)
            if parameters
            else type,
            tuple(parameters),
            tuple(self.locals.values()),
            statements,
            node.cursor.linkage.value == 2,
            node.origin,
        )

    def _parameter_type(self, node: Node, position: int, type: FunctionType) -> Type:
        """A parameter's type; arrays and functions stand for pointers to them."""
        kind = node.type.get_canonical().kind.name
        if kind.endswith("ARRAY") or kind.startswith("FUNCTION"):
            if position < len(type.parameters):
                return type.parameters[position]
            written = self.unit.type(node)
            return self.unit.pointer(written.element if isinstance(written, ArrayType) else written)
        return self.unit.type(node)

    def _register(self, node: Node, variable: Variable) -> None:
        self.symbols.put(node.cursor, variable)
        if variable.name in self._addressed_names:
            self.addressed.add(variable)

    def _find_addressed(self, body: Node) -> None:
        """The names of variables whose address is taken: more than there are, at worst."""
        self._addressed_names: set[str] = set()
        for node in body.walk():
            if node.kind == "UNARY_OPERATOR" and (self.unit.lib.unary_operator(node.cursor) == 5):
                for part in node.walk():
                    if part.kind == "DECL_REF_EXPR":
                        self._addressed_names.add(part.spelling)
            elif node.kind == "VAR_DECL":
                type = node.type.get_canonical().kind.name
                if type in ("RECORD", "CONSTANTARRAY"):
                    self._addressed_names.add(node.spelling)

    def _flag(self, label: str, origin: Origin) -> VariablePlace:
        self._temporaries += 1
        int_type = self.unit.int
        variable = self.local(f"$to {label}", int_type, "temporary", origin)
        return VariablePlace(variable, int_type, origin)

    def _label(self, kind: str) -> str:
        self._labels += 1
        return f"{kind}{self._labels}"

    # --- lists ------------------------------------------------------------------------------

    def add(self, statement: Statement | Goto | Label) -> None:
        # Jumps and labels are taken out again before anybody else sees the list.
        self.out.append(statement)  # type: ignore[arg-type]

    def listed(self, *nodes: Node) -> tuple[Statement, ...]:
        outer, self.out = self.out, []
        try:
            for node in nodes:
                self.statement(node)
            return tuple(self.out)
        finally:
            self.out = outer

    def compound(self, node: Node) -> None:
        for child in node.children:
            self.statement(child)

    # --- statements -------------------------------------------------------------------------

    def statement(self, node: Node) -> None:
        origin, expansion = node.origin, node.expansion
        match node.kind:
            case "COMPOUND_STMT":
                self.compound(node)
            case "DECL_STMT":
                for child in node.children:
                    self._declaration(child)
            case "NULL_STMT":
                pass
            case "IF_STMT":
                self._if(node)
            case "WHILE_STMT":
                condition, body = node.children
                self._loop(node, condition, None, body, "while")
            case "DO_STMT":
                body, condition = node.children
                self._loop(node, condition, None, body, "do")
            case "FOR_STMT":
                self._for(node)
            case "SWITCH_STMT":
                self._switch(node)
            case "CASE_STMT" | "DEFAULT_STMT":
                self._case_inside(node)
            case "BREAK_STMT":
                self.add(Leave(0, self.breaks[-1], origin, expansion))
            case "CONTINUE_STMT":
                self.add(Next(0, self.continues[-1], origin, expansion))
            case "GOTO_STMT":
                self.add(Goto(0, node.children[0].spelling, origin, expansion))
            case "LABEL_STMT":
                self.add(Label(0, node.spelling, origin, expansion))
                for child in node.children:
                    self.statement(child)
            case "RETURN_STMT":
                self._return(node)
            case "ASM_STMT" | "MS_ASM_STMT":
                raise refuse("inline assembly", origin)
            case "INDIRECT_GOTO_STMT":
                raise refuse("`goto` to a computed label", origin)
            case "UNEXPOSED_STMT":
                # An attribute before a statement, such as `fallthrough`.
                for child in node.children:
                    self.statement(child)
            case _ if node.is_expression:
                self.effect(node)
            case _ if node.kind.endswith("_ATTR"):
                pass
            case _:
                raise refuse(f"this statement ({node.kind.lower()})", origin)

    def _return(self, node: Node) -> None:
        origin, expansion = node.origin, node.expansion
        if not node.children:
            self.emit(Return(0, None, origin, expansion))
            return
        child = node.children[0]
        if isinstance(self.result, VoidType):
            self.effect(child)
            self.emit(Return(0, None, origin, expansion))
            return
        value = self.value(child)
        if not isinstance(self.result, RecordType):
            value = convert(value, self.result)
        self.emit(Return(0, value, origin, expansion))

    def _if(self, node: Node) -> None:
        condition_node, then_node, *rest = node.children
        condition = truth(self.value(condition_node))
        then = self.listed(then_node)
        otherwise = self.listed(*rest)
        self.emit(If(0, condition, then, otherwise, _head(node, condition_node), node.expansion))

    # --- loops ------------------------------------------------------------------------------

    def _for(self, node: Node) -> None:
        *parts, body = node.children
        if self._headers is None:
            headers = for_headers(self.unit.lib.pretty(self.node.cursor))
            loops = [part for part in self.node.walk() if part.kind == "FOR_STMT"]
            if len(headers) != len(loops):
                raise refuse("a `for` in this function, which clang prints oddly", node.origin)
            self._headers = Symbols()
            for loop, known in zip(loops, headers, strict=True):
                self._headers.put(loop.cursor, known)
        header: tuple[bool, bool, bool] = self._headers.get(node.cursor)
        if sum(header) != len(parts):
            raise refuse("the header of this `for`", node.origin)
        remaining = iter(parts)
        first, condition, step = (next(remaining) if there else None for there in header)
        if first is not None:
            self.statement(first)
        self._loop(node, condition, step, body, "for")

    def _loop(
        self,
        node: Node,
        condition_node: Node | None,
        step_node: Node | None,
        body_node: Node,
        kind: str,
    ) -> None:
        label = self._label(kind)
        condition: Expression | None = None
        before: list[Statement] = []
        if condition_node is not None:
            condition, before = self.apart(condition_node)
            condition = truth(condition)
            if isinstance(condition, IntConstant) and condition.value != 0:
                condition = None
        step = tuple(self.effects_apart(step_node)) if step_node is not None else ()
        self.breaks.append(label)
        self.continues.append(label)
        body = self.listed(body_node)
        self.breaks.pop()
        self.continues.pop()
        origin = _head(node, condition_node) if kind != "do" else node.origin
        self.emit(
            Loop(
                0,
                label,
                tuple(before),
                condition,
                body,
                step,
                kind == "do",
                origin,
                node.expansion,
            )
        )

    # --- switch -----------------------------------------------------------------------------

    def _switch(self, node: Node) -> None:
        value_node, body = node.children
        value = self.value(value_node)
        label = self._label("switch")
        self.breaks.append(label)
        origin = _head(node, value_node)
        if body.kind == "COMPOUND_STMT" and not _has_cases_inside(body):
            sections = self._sections(body)
            self.emit(Switch(0, label, value, tuple(sections), origin, node.expansion))
        else:
            self._scattered(node, value, body, label, origin)
        self.breaks.pop()

    def _sections(self, body: Node) -> list[Section]:
        sections: list[Section] = []
        outer, self.out = self.out, []
        values: list[tuple[int, int]] = []
        default = False
        origin = body.origin
        started = False
        hoisted: list[Statement] = []
        for child in body.children:
            fresh = child.kind in ("CASE_STMT", "DEFAULT_STMT")
            if fresh:
                if started:
                    sections.append(Section(tuple(values), default, tuple(self.out), origin))
                self.out, values, default, started = [], [], False, True
                origin = child.origin
                inner: Node | None = child
                while inner is not None and inner.kind in ("CASE_STMT", "DEFAULT_STMT"):
                    if inner.kind == "DEFAULT_STMT":
                        default = True
                    else:
                        values.append(self._case_values(inner))
                    inner = inner.children[-1] if inner.children else None
                if inner is not None:
                    self.statement(inner)
                continue
            self.statement(child)
            if child.kind == "DECL_STMT":
                # A case label may jump over the declaration: the variable lives all the same.
                hoisted += [part for part in self.out if isinstance(part, Declare)]
                if not started:
                    # Nothing before the first label is ever executed.
                    self.out = []
        if started:
            sections.append(Section(tuple(values), default, tuple(self.out), origin))
        self.out = outer
        for part in dict.fromkeys(part.variable for part in hoisted if isinstance(part, Declare)):
            self.emit(Declare(0, part, part.origin))
        return sections

    def _case_values(self, node: Node) -> tuple[int, int]:
        bounds = [self._case_value(child) for child in node.children[:-1]]
        return (bounds[0], bounds[-1])

    def _case_value(self, node: Node) -> int:
        value = self.unit.lib.value(node.cursor)
        type = self.unit.type(node)
        if not isinstance(value, int) or not isinstance(type, IntType):
            raise refuse("this `case` label", node.origin)
        return wrapped(value, type)

    def _scattered(
        self, node: Node, value: Expression, body: Node, label: str, origin: Origin
    ) -> None:
        """A switch with labels inside other statements: a block of jumps."""
        self._cases.append([])
        inside = self.listed(body)
        cases = self._cases.pop()
        sections = []
        for case, name in cases:
            values = () if case.kind == "DEFAULT_STMT" else (self._case_values(case),)
            goto = Goto(0, name, case.origin, case.expansion)
            default = case.kind == "DEFAULT_STMT"
            sections.append(
                Section(values, default, (goto,), case.origin)  # type: ignore[arg-type]
            )
        if not any(section.default for section in sections):
            leave = Leave(0, label, origin)
            sections.append(Section((), True, (leave,), origin))
        dispatch = Switch(0, self._label("switch"), value, tuple(sections), origin, node.expansion)
        self.emit(Block(0, label, (dispatch, *inside), node.origin, node.expansion))

    def _case_inside(self, node: Node) -> None:
        if not self._cases:
            raise refuse("a `case` label here", node.origin)
        name = self._label("case")
        self._cases[-1].append((node, name))
        self.add(Label(0, name, node.origin, node.expansion))
        if node.children:
            self.statement(node.children[-1])

    # --- declarations -----------------------------------------------------------------------

    def _declaration(self, node: Node) -> None:
        if node.kind != "VAR_DECL":
            return  # types, prototypes
        cursor = node.cursor
        storage = self.unit.lib.storage_class(cursor)
        if storage == 2:  # extern
            self.symbols.put(cursor, self.unit.global_variable(cursor))
            return
        if storage == 3:  # static
            variable = self.unit.global_variable(cursor, self.function)
            self.symbols.put(cursor, variable)
            read_global(self.unit, variable, cursor, self.function)
            return
        type = self.unit.type(node)
        if isinstance(type, ArrayType) and type.length is None:
            raise refuse("an array without a length", node.origin)
        variable = self.local(
            node.spelling, type, "local", node.origin, node.type.is_volatile_qualified()
        )
        self._register(node, variable)
        self.emit(Declare(0, variable, node.origin, node.expansion))
        initial = _initial(self.unit, node)
        if initial is not None:
            place = VariablePlace(variable, type, node.origin, node.expansion)
            initialise(self, place, initial)


def _initial(unit: Unit, node: Node) -> Node | None:
    """The initialiser among what a declaration consists of."""
    initial = unit.lib.initializer(node.cursor)
    if initial.kind.is_invalid():
        return None
    for child in reversed(node.children):
        if child.cursor == initial:
            return child
    return None


def _has_cases_inside(body: Node) -> bool:
    """Whether a case label stands anywhere but directly in the body of its switch."""
    stack: list[tuple[Node, bool]] = [(child, True) for child in body.children]
    while stack:
        node, direct = stack.pop()
        if node.kind == "SWITCH_STMT":
            continue
        if node.kind in ("CASE_STMT", "DEFAULT_STMT"):
            if not direct:
                return True
            stack += [(child, True) for child in node.children[-1:]]
            continue
        stack += [(child, False) for child in node.children]
    return False


def _head(node: Node, until: Node | None) -> Origin:
    """The place of a decision: from its keyword to the end of its condition, if that is
    known."""
    if until is None or node.expansion is not None or until.origin.file != node.origin.file:
        return node.origin
    return node.origin.to(until.origin)
