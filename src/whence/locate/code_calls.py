"""Calls as text of Python."""

from __future__ import annotations

from whence.locate.code_expressions import ExpressionCode, Names
from whence.locate.layout import is_scalar
from whence.locate.library import LIBRARY
from whence.locate.memory import code_of
from whence.model.program import (
    Call,
    Cast,
    Expression,
    FloatType,
    Function,
    IntType,
    PointerType,
    Program,
    VoidType,
)

__all__ = ["CallCode"]


class CallCode(ExpressionCode):
    """Writes the calls of one function."""

    def __init__(
        self, names: Names, program: Program, function: Function, fall_off: frozenset[str]
    ) -> None:
        super().__init__(names)
        self.program = program
        self.function = function
        self.fall_off = fall_off
        self.traces = names.options.dependences

    def called(self, statement: Call) -> tuple[str, bool]:
        """The call, and whether its result may be missing."""
        site = self.site(statement.origin)
        callee = statement.callee
        if isinstance(callee, str):
            if callee in self.program.functions:
                return self._defined_call(statement, self.program.functions[callee], site)
            return self._foreign_call(statement, callee, site), False
        # Through a pointer: the function that is there decides how it takes the arguments.
        pointer = self.value(callee)
        values = [self._argument(statement, value) for value in statement.arguments]
        codes = [value_code(value) for value in statement.arguments]
        result = (
            "" if isinstance(statement.type.result, VoidType) else type_code(statement.type.result)
        )
        arguments = f"({', '.join(values)}{',' if len(values) == 1 else ''})"
        return f"indirect({pointer}, {arguments}, {codes!r}, {result!r}, {site})", True

    def _argument(self, statement: Call, value: Expression) -> str:
        code = self.value(value)
        return f"trace.argument({statement.number}, {code})" if self.traces else code

    def _defined_call(self, statement: Call, function: Function, site: int) -> tuple[str, bool]:
        name = self.names.functions[function.key]
        given = list(statement.arguments)
        wanted = function.type.parameters
        if len(given) < len(wanted) or (len(given) > len(wanted) and not function.type.variadic):
            message = (
                f"`{function.name}` takes {len(wanted)} arguments and is called with {len(given)}"
            )
            return f"miscalled({message!r}, {site})", False
        arguments = []
        for value, type in zip(given, wanted, strict=False):
            if is_scalar(type) and is_scalar(value.type) and value.type != type:
                if isinstance(value.type, FloatType) != isinstance(type, FloatType):
                    message = f"an argument of `{function.name}` has the wrong type"
                    return f"miscalled({message!r}, {site})", False
                value = Cast(value, type, value.origin, value.expansion)
            arguments.append(self._argument(statement, value))
        if function.type.variadic:
            arguments.append(self._rest(statement, given[len(wanted) :]))
        code = f"{name}({', '.join(arguments)})"
        return code, function.key in self.fall_off

    def _rest(self, statement: Call, values: list[Expression]) -> str:
        """The arguments of `...`, in one object."""
        items = ", ".join(f"({self.value(value)}, {value_code(value)!r})" for value in values)
        code = f"arguments([{items}])"
        return f"trace.rest({statement.number}, lambda: {code})" if self.traces else code

    def _foreign_call(self, statement: Call, callee: str, site: int) -> str:
        arguments = [self.value(value) for value in statement.arguments]
        entry = LIBRARY.get(callee)
        before = "trace.enter_library" if self.traces else ""
        if callee == "__whence_va_start":
            return "rest" if self.function.type.variadic else f"miscalled('va_start', {site})"
        if entry is None:
            joined = ", ".join(arguments)
            result = type_code(statement.type.result)
            return f"unknown({callee!r}, ({joined}{',' if arguments else ''}), {result!r}, {site})"
        fixed = entry.fixed
        if len(arguments) < fixed or (len(arguments) > fixed and not entry.variadic):
            message = f"`{callee}` takes {fixed} arguments and is called with {len(arguments)}"
            return f"miscalled({message!r}, {site})"
        given = [str(site), *arguments[:fixed]]
        if entry.variadic:
            items = ", ".join(
                f"({code}, {value_code(value)!r})"
                for code, value in zip(arguments[fixed:], statement.arguments[fixed:], strict=True)
            )
            given.append(f"arguments([{items}])")
        code = f"library_{callee}({', '.join(given)})"
        return f"{before}({statement.number}, lambda: {code})" if before else code


def type_code(type: object) -> str:
    if isinstance(type, (IntType, FloatType, PointerType)):
        return code_of(type)
    return "v" if isinstance(type, VoidType) else "r"


def value_code(value: Expression) -> str:
    return type_code(value.type)
