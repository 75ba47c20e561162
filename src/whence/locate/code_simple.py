"""Statements without others in them, as text of Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from whence.locate.code_calls import CallCode
from whence.locate.code_expressions import Names
from whence.locate.flow import mentions
from whence.locate.layout import is_scalar
from whence.model.program import (
    Assign,
    Call,
    Clear,
    Declare,
    Expression,
    FloatType,
    Function,
    Loop,
    PointerType,
    Program,
    Return,
    Statement,
    VariablePlace,
    size_of,
)
from whence.model.program_walk import root
from whence.source import Diagnostic, UnsupportedError

__all__ = ["Counter", "Frame", "SimpleCode"]

#: Python allows 100 levels of indentation.
_LEVELS = 90


@dataclass
class Counter:
    """What one place in the list of counters counts: executions of these statements, and of a
    branch of a decision."""

    statements: list[int] = field(default_factory=list)
    branch: tuple[int, int] | None = None


@dataclass
class Frame:
    """A loop of Python: for a `Loop`, a `Block`, or a `Switch` that needs one."""

    label: str
    loop: Loop | None
    #: Jumps out of this one that must go on outside.
    outward: set[tuple[str, Literal["leave", "next"]]] = field(default_factory=set)


class SimpleCode(CallCode):
    """Writes the statements without statements in them, and counts all."""

    def __init__(
        self,
        names: Names,
        program: Program,
        function: Function,
        counters: list[Counter],
        fall_off: frozenset[str],
    ) -> None:
        super().__init__(names, program, function, fall_off)
        self.counters = counters
        self.covers = names.options.coverage
        self.lines: list[str] = []
        #: For each line the statement that it belongs to.
        self.numbers: list[int] = []
        self.level = 1
        self.frames: list[Frame] = []
        self.tails: set[str] = set()
        self.segment: Counter | None = None
        self.jumps: dict[tuple[str, str], int] = {}
        #: What has a value where control leaves a label.
        self.exits: dict[str, list[set[str] | None]] = {}
        self.objects: list[str] = []
        #: Lines that take a value away: needed only where somebody looks whether there is one.
        self.emptied: list[tuple[int, str]] = []

    def line(self, text: str) -> None:
        if self.level > _LEVELS:
            raise UnsupportedError(
                Diagnostic("statements nest too deep to be executed", self.function.origin)
            )
        self.lines.append("    " * self.level + text)
        self.numbers.append(self.statement)

    def _end(self) -> None:
        """The objects of the function end."""
        if self.objects:
            names = ", ".join(self.objects)
            self.line(f"end({names})" if len(self.objects) == 1 else f"end_all({names})")

    def count(self, branch: tuple[int, int] | None = None) -> Counter:
        counter = Counter(branch=branch)
        self.counters.append(counter)
        if self.covers:
            self.line(f"counts[{len(self.counters) - 1}] += 1")
        return counter

    def counted(self, statement: Statement) -> None:
        if self.covers:
            if self.segment is None:
                self.segment = self.count()
            self.segment.statements.append(statement.number)

    def _decided(self, statement: Statement, condition: Expression) -> str:
        code = self.condition(condition)
        return f"trace.decide({statement.number}, {code})" if self.traces else code

    def _declare(self, statement: Declare, following: Statement | None) -> None:
        variable = statement.variable
        name = self.names.variable(variable)
        if self.layout.in_memory(variable):
            size = size_of(variable.type)
            # Objects exist from the start of the function: control may jump over a declaration.
            # Where it comes by again, there is a new one.
            if any(frame.loop is not None for frame in self.frames):
                self.line(f"end({name})")
                self.line(f"{name} = new({size}, {variable.name!r})")
            return
        if not is_scalar(variable.type):
            count = len(self.layout.leaves(variable.type))
            empty = "0" if self.zeroed else "None"
            self.line(f"{name}[:] = [{empty}] * {count}")
            return
        if self.defined is not None:
            self.defined.discard(name)
        if (
            isinstance(following, Assign)
            and isinstance(following.target, VariablePlace)
            and following.target.variable == variable
            and not mentions(following.value, variable)
        ):
            return
        self.emptied.append((len(self.lines), name))
        self.line(f"{name} = None")

    def _clear(self, statement: Clear) -> None:
        place = statement.place
        variable = root(place)
        if (
            isinstance(place, VariablePlace)
            and variable is not None
            and not self.layout.in_memory(variable)
        ):
            name = self.names.variable(variable)
            leaves = self.layout.leaves(variable.type)
            if is_scalar(variable.type):
                self.line(f"{name} = {self.zero(variable)}")
                if self.defined is not None:
                    self.defined.add(name)
                return
            zeros = [_zero(leaf) for leaf in leaves]
            if len(set(zeros)) == 1:
                self.line(f"{name}[:] = [{zeros[0]}] * {len(zeros)}")
            else:
                self.line(f"{name}[:] = [{', '.join(zeros)}]")
            return
        spot = self.spot(place)
        size = size_of(place.type)
        self._event(statement)
        self.line(f"clear({self.base(spot)}, {size}, {self.site(statement.origin)})")

    def _event(self, statement: Statement) -> None:
        """What the next write is part of."""
        if self.traces:
            self.line(f"trace.at = {statement.number}")

    def _assign(self, statement: Assign) -> None:
        self._event(statement)
        value = self.value(statement.value)
        self.line(self.store(statement.target, value, statement.origin))
        self._has_value(statement.target)

    def _has_value(self, place: object) -> None:
        if isinstance(place, VariablePlace) and self.defined is not None:
            self.defined.add(self.names.variable(place.variable))

    def _call(self, statement: Call) -> None:
        code, checks = self.called(statement)
        site = self.site(statement.origin)
        if self.traces:
            self.line("control = trace.control")
        if statement.result is None:
            self.line(code)
            if self.traces:
                self.line("trace.control = control")
            return
        if checks:
            temporary = self.fresh()
            code = f"({temporary} if ({temporary} := {code}) is not None else no_value({site}))"
        if self.traces:
            self.line(f"result = {code}")
            self.line("trace.control = control")
            self.line(f"trace.take({statement.number})")
            code = "result"
        self.line(self.store(statement.result, code, statement.origin))
        self._has_value(statement.result)

    def _keep_control(self) -> str:
        if not self.traces:
            return ""
        name = self.fresh().replace("t", "c")
        self.line(f"{name} = trace.control")
        return name

    def _restore(self, name: str) -> None:
        if name and self.defined is not None:
            self.line(f"trace.control = {name}")

    def _return(self, statement: Return) -> None:
        if statement.value is None:
            self._end()
            if self.traces:
                self.line("trace.returned = -1")
            self.line("return None")
            return
        value = self.value(statement.value)
        if self.traces:
            value = f"trace.give({statement.number}, {value})"
        if self.objects:
            self.line(f"value = {value}")
            self._end()
            value = "value"
        self.line(f"return {value}")


def _zero(type: object) -> str:
    if isinstance(type, PointerType):
        return "NULL"
    return "0.0" if isinstance(type, FloatType) else "0"
