"""Functions as text of Python that runs with numbers which nobody knows yet.

Statements of components that are in doubt compute anything: the value that they would have is what
they are tried with first.
"""

from __future__ import annotations

from typing import Final

from whence.locate.code_statements import FunctionCode
from whence.locate.layout import is_scalar
from whence.locate.library import LIBRARY
from whence.locate.memory import code_of
from whence.model.program import (
    Assign,
    Call,
    Expression,
    IntConstant,
    IntType,
    Loop,
    PointerType,
    Return,
    Statement,
    Switch,
    Type,
    VoidType,
    size_of,
)
from whence.source import Origin

__all__ = ["PRINTING", "LazyCode"]

PRINTING: Final = frozenset(("printf", "fprintf", "putchar", "putc", "fputc", "puts", "fputs"))


class LazyCode(FunctionCode):
    def _doubted(self, statement: Statement) -> bool:
        return statement.number in self.names.doubted

    def _free(self, code: str, type: Type) -> str:
        """Anything of the type."""
        if not is_scalar(type):
            return f"free_other(lambda: {code})"
        stride = size_of(type.target) if isinstance(type, PointerType) else 0
        least, greatest = (type.least, type.greatest) if isinstance(type, IntType) else (0, 0)
        return f"free({code_of(type)!r}, lambda: {code}, {least}, {greatest}, {stride})"

    # ------------------------------------------------------------------------------ statements

    def _assign(self, statement: Assign) -> None:
        if not self._doubted(statement):
            super()._assign(statement)
            return
        value = self._free(self.value(statement.value), statement.target.type)
        self._anywhere(self.store(statement.target, value, statement.origin))
        self._has_value(statement.target)

    def _anywhere(self, line: str) -> None:
        """A write that goes nowhere if its place is none (decisions 2.b and 5.b)."""
        self.line("try:")
        self.level += 1
        self.line(line)
        self.level -= 1
        self.line("except Undefined: pass")

    def _call(self, statement: Call) -> None:
        result = statement.result
        if not self._doubted(statement) or result is None:
            super()._call(statement)
            return
        code, checks = self.called(statement)
        if checks:
            site = self.site(statement.origin)
            temporary = self.fresh()
            code = f"({temporary} if ({temporary} := {code}) is not None else no_value({site}))"
        # A call is not made anew when its result is tried: it may do more than return.
        held = self.fresh()
        self.line(f"{held} = {code}")
        place_is_named = getattr(result, "variable", None)
        if place_is_named is not None and place_is_named.storage == "temporary":
            self.line(self.store(result, held, statement.origin))
        else:
            self._anywhere(self.store(result, self._free(held, result.type), statement.origin))
        self._has_value(result)

    def _foreign_call(self, statement: Call, callee: str, site: int) -> str:
        code = super()._foreign_call(statement, callee, site)
        if not self._doubted(statement):
            return code
        if callee in PRINTING:
            return f"free_print(lambda: {code})"
        entry = LIBRARY.get(callee)
        arguments = statement.arguments
        if entry is None or entry.variadic or entry.calls_back or len(arguments) != entry.fixed:
            return f"free_other(lambda: {code})"
        given = [str(site), *(self._free(self.value(each), each.type) for each in arguments)]
        return f"library_{callee}({', '.join(given)})"

    def _argument(self, statement: Call, value: Expression) -> str:
        code = super()._argument(statement, value)
        defined = isinstance(statement.callee, str) and statement.callee in self.program.functions
        return self._free(code, value.type) if defined and self._doubted(statement) else code

    def _decided(self, statement: Statement, condition: Expression) -> str:
        code = super()._decided(statement, condition)
        return f"free_way(lambda: {code})" if self._doubted(statement) else code

    def _test(self, statement: Loop) -> None:
        super()._test(statement)
        if statement.condition is None and self._doubted(statement):
            # Where no condition stands, one can be missing.
            self.exits.setdefault(statement.label, []).append(
                None if self.defined is None else set(self.defined)
            )
            self.line("if not free_way(lambda: True): break")

    def _selected(self, statement: Switch, value: str) -> str:
        value = super()._selected(statement, value)
        return self._free(value, statement.value.type) if self._doubted(statement) else value

    def _return(self, statement: Return) -> None:
        if statement.value is None or not self._doubted(statement):
            super()._return(statement)
            return
        type = self.function.type.result
        assert not isinstance(type, VoidType)
        self.line(f"value = {self._free(self.value(statement.value), type)}")
        self._end()
        self.line("return value")

    # ----------------------------------------------------------------------------- expressions

    def value(self, expression: Expression) -> str:
        expansion = expression.expansion
        if (
            isinstance(expression, IntConstant)
            and expansion is not None
            and expansion.definition in self.names.doubted_definitions
            and isinstance(expression.type, IntType)
        ):
            type = expression.type
            key = (str(expansion.definition), expression.value, type.bits)
            return f"free_constant({key!r}, {expression.value}, {type.least}, {type.greatest})"
        return super().value(expression)

    def within(self, code: str, type: IntType, least: int, greatest: int, origin: Origin) -> str:
        if type.least <= least and greatest <= type.greatest:
            return f"({code})"
        if self.wraps or not type.signed:
            return f"fitted({code}, {type.least}, {type.greatest})"
        site = self.site(origin)
        return f"checked({code}, {type.least}, {type.greatest}, {type.bits}, {site})"

    @staticmethod
    def wrap(code: str, type: IntType) -> str:
        return f"fitted({code}, {type.least}, {type.greatest})"
