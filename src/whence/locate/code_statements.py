"""Functions of the core language as functions of Python, text for text.

Jumps out of several loops at once go through a variable (`jump`): each loop on the way is left
with `break` and looks at it afterwards.
"""

from __future__ import annotations

from whence.locate.code_simple import Counter, Frame, SimpleCode
from whence.locate.flow import ends_always, joined, only_tail, written
from whence.locate.layout import is_scalar
from whence.locate.memory import code_of
from whence.model.program import (
    Assert,
    Assign,
    Block,
    Call,
    Clear,
    Declare,
    Evaluate,
    If,
    IntType,
    Leave,
    Loop,
    Next,
    Return,
    Statement,
    Switch,
    Variable,
    size_of,
)
from whence.model.program_walk import statements
from whence.source import Diagnostic, UnsupportedError

__all__ = ["FunctionCode"]

#: Python allows 20 loops in each other.
_LOOPS = 19


class FunctionCode(SimpleCode):
    """Writes one function."""

    # --- text -------------------------------------------------------------------------------

    def text(self) -> list[str]:
        """The lines of the function."""
        function = self.function
        parameters = []
        for variable in function.parameters:
            name = self.names.variable(variable)
            if self.layout.in_memory(variable):
                parameters.append(f"a{name}")
            else:
                parameters.append(name)
        if function.type.variadic:
            parameters.append("rest=None")
        prologue = self._prologue()
        self.statement = function.body[0].number if function.body else 0
        self._body()
        for index, name in self.emptied:
            if name not in self.checked:
                self.lines[index] = self.lines[index].replace(f"{name} = None", "pass")
        head = [f"def {self.names.functions[function.key]}({', '.join(parameters)}):"]
        stored = sorted(
            {
                self.names.variable(v)
                for v in written(function)
                if v.lasting and not self.layout.in_memory(v) and is_scalar(v.type)
            }
        )
        head.append("    global " + ", ".join(["steps", *stored]))
        head.append("    steps -= 1")
        head.append("    if steps < 0: out_of_steps()")
        missing = [
            f"    {self.names.variable(v)} = new({size_of(v.type)}, {v.name!r})"
            for v in function.variables
            if v.key in self.undeclared
        ]
        empty = sorted(self.checked)
        head += prologue
        if empty:
            head.append(f"    {' = '.join(empty)} = None")
        head += missing
        if self.jumps:
            head.append("    jump = 0")
        self.numbers = [self.statement_of_head()] * len(head) + self.numbers
        return head + self.lines

    def statement_of_head(self) -> int:
        return self.function.body[0].number if self.function.body else 0

    def _prologue(self) -> list[str]:
        """Arguments of parameters that are in memory get their objects."""
        lines = []
        if self.traces and self.function.parameters:
            lines.append(f"    arrived = trace.arrive({len(self.function.parameters)})")
        for position, variable in enumerate(self.function.parameters):
            if not self.layout.in_memory(variable):
                continue
            name = self.names.variable(variable)
            self.objects.append(name)
            site = self.site(variable.origin)
            size = size_of(variable.type)
            lines.append(f"    {name} = new({size}, {variable.name!r})")
            if is_scalar(variable.type):
                code = code_of(variable.type)
                lines.append(f"    store_{code}({name}, 0, a{name}, {site})")
            else:
                lines.append(f"    put({name}, 0, a{name}, {site})")
            if self.traces:
                lines.append(f"    trace.parameter({name}, arrived[{position}])")
        return lines

    def _body(self) -> None:
        for variable in self.function.variables:
            if variable.storage in ("local", "temporary") and self.layout.in_memory(variable):
                self.objects.append(self.names.variable(variable))
        self.undeclared = {v.key for v in self.function.variables if self._local_object(v)}
        for variable in self.function.variables:
            # Lists exist from the start; `Declare` empties them.
            if not self.layout.in_memory(variable) and not is_scalar(variable.type):
                count = len(self.layout.leaves(variable.type))
                empty = "0" if self.zeroed else "None"
                self.line(f"{self.names.variable(variable)} = [{empty}] * {count}")
        self.listed(self.function.body)
        if self.defined is not None:
            self._end()
            if self.function.name == "main" and isinstance(self.function.type.result, IntType):
                self.line("return 0")
            elif not self.objects:
                self.line("return None")

    def _local_object(self, variable: Variable) -> bool:
        return variable.storage != "parameter" and self.layout.in_memory(variable)

    # --- lists ------------------------------------------------------------------------------

    def listed(self, body: tuple[Statement, ...]) -> None:
        tails, self.tails = self.tails, set()
        for index, statement in enumerate(body):
            if self.defined is None:
                # Nothing comes here.
                break
            last = index == len(body) - 1
            self.tails = tails if last else set()
            self.statement = statement.number
            self.counted(statement)
            following = None if last else body[index + 1]
            self.one(statement, following)
        self.tails = tails

    def indented(self, body: tuple[Statement, ...], branch: tuple[int, int] | None = None) -> None:
        """A list of its own, as a block of Python."""
        self.level += 1
        before = len(self.lines)
        self.segment = None
        if branch is not None and self.covers:
            self.segment = self.count(branch)
        self.listed(body)
        if len(self.lines) == before:
            self.line("pass")
        self.segment = None
        self.level -= 1

    # --- statements -------------------------------------------------------------------------

    def one(self, statement: Statement, following: Statement | None) -> None:
        match statement:
            case Declare():
                self._declare(statement, following)
            case Clear():
                self._clear(statement)
            case Assign():
                self._assign(statement)
            case Call():
                self._call(statement)
                self.segment = None
            case Evaluate():
                self.line(self.value(statement.value))
            case Assert():
                site = self.site(statement.origin)
                condition = self._decided(statement, statement.condition)
                self.line(f"if not {condition}: failed({statement.text!r}, {site})")
            case If():
                self._if(statement)
                self.segment = None
            case Loop():
                self._loop(statement)
                self.segment = None
            case Switch():
                self._switch(statement)
                self.segment = None
            case Block():
                self._block(statement)
                self.segment = None
            case Leave():
                self._leave(statement)
                self.defined = None
            case Next():
                self._next(statement)
                self.defined = None
            case Return():
                self._return(statement)
                self.defined = None

    # --- decisions --------------------------------------------------------------------------

    def _if(self, statement: If) -> None:
        kept = self._keep_control()
        word = "if"
        ends: list[set[str] | None] = []
        while True:
            number = statement.number
            self.statement = number
            self.line(f"{word} {self._decided(statement, statement.condition)}:")
            before = None if self.defined is None else set(self.defined)
            self.indented(statement.then, (number, 1))
            ends.append(self.defined)
            self.defined = before
            rest = statement.otherwise
            if not rest:
                ends.append(self.defined)
                break
            if len(rest) == 1 and isinstance(rest[0], If) and not self.traces:
                # `elif`: how often it was reached follows from the decision above.
                self.names.chained.append((rest[0].number, statement.number))
                statement = rest[0]
                word = "elif"
                continue
            self.line("else:")
            self.indented(rest)
            ends.append(self.defined)
            break
        self.defined = joined(ends)
        self._restore(kept)

    def _loop(self, statement: Loop) -> None:
        kept = self._keep_control()
        for inner in statements((*statement.before, *statement.body, *statement.step)):
            if isinstance(inner, Declare) and self.defined is not None:
                self.defined.discard(self.names.variable(inner.variable))
        entry = None if self.defined is None else set(self.defined)
        condition = statement.condition
        frame = self._enter(statement.label, statement)
        simple = condition is not None and not statement.before and not statement.tests_last
        if simple:
            assert condition is not None
            self.line(f"while {self._decided(statement, condition)}:")
        else:
            self.line("while True:")
        self.level += 1
        self.segment = None
        if not simple and not statement.tests_last:
            self._test(statement)
        self.segment = self.count((statement.number, 1)) if self.covers else None
        self.statement = statement.number
        self.line("steps -= 1")
        self.line("if steps < 0: out_of_steps()")
        tails, self.tails = self.tails, set()
        self.listed(statement.body)
        if self.defined is not None:
            self.segment = None
            self._tail(statement, at_end=True)
        self.tails = tails
        self.level -= 1
        if simple and self.covers:
            self.line("else:")
            self.level += 1
            self.count((statement.number, 0))
            self.level -= 1
        self.frames.pop()
        ends = self.exits.get(statement.label, [])
        self.defined = joined([*ends, entry] if simple else ends)
        self._after(frame)
        self._restore(kept)

    def _test(self, statement: Loop) -> None:
        """`before` and the test, in a loop that is endless otherwise."""
        self.listed(statement.before)
        self.statement = statement.number
        if statement.condition is None:
            return
        condition = self._decided(statement, statement.condition)
        self.exits.setdefault(statement.label, []).append(
            None if self.defined is None else set(self.defined)
        )
        self.line(f"if not {condition}:")
        self.level += 1
        if self.covers:
            self.count((statement.number, 0))
        self.line("break")
        self.level -= 1

    def _tail(self, statement: Loop, at_end: bool) -> None:
        """What comes between the body and the next round."""
        tails, self.tails = self.tails, set()
        self.segment = None
        self.listed(statement.step)
        if statement.tests_last and self.defined is not None:
            self.segment = None
            self._test(statement)
        if not at_end:
            self.line("continue")
        self.tails = tails
        self.segment = None

    def _block(self, statement: Block) -> None:
        tails = self.tails
        self.tails = tails | {statement.label}
        if only_tail(statement.body, statement.label):
            self.segment = None
            self.listed(statement.body)
            self.tails = tails
            self.defined = joined([self.defined, *self.exits.get(statement.label, [])])
            return
        frame = self._enter(statement.label, None)
        self.line("while True:")
        self.indented(statement.body)
        self.tails = tails
        self.level += 1
        self.line("break")
        self.level -= 1
        self.frames.pop()
        self.defined = joined([self.defined, *self.exits.get(statement.label, [])])
        self._after(frame)

    def _switch(self, statement: Switch) -> None:
        kept = self._keep_control()
        value = self.value(statement.value)
        name = self.fresh()
        self.line(f"{name} = {self._selected(statement, value)}")
        separate = all(
            index == len(statement.sections) - 1 or ends_always(section.body)
            for index, section in enumerate(statement.sections)
        )
        only_tails = all(only_tail(section.body, statement.label) for section in statement.sections)
        entry = None if self.defined is None else set(self.defined)
        frame = None
        if not (separate and only_tails):
            frame = self._enter(statement.label, None)
            self.line("while True:")
            self.level += 1
        ends = self._sections(statement, name, separate, only_tails, entry)
        if frame is not None:
            self.line("break")
            self.level -= 1
            self.frames.pop()
        self.defined = joined([*ends, *self.exits.get(statement.label, [])])
        if frame is not None:
            self._after(frame)
        self._restore(kept)

    def _selected(self, statement: Switch, value: str) -> str:
        return f"trace.select({statement.number}, {value})" if self.traces else value

    def _sections(
        self,
        statement: Switch,
        name: str,
        separate: bool,
        only_tails: bool,
        entry: set[str] | None,
    ) -> list[set[str] | None]:
        sections = statement.sections
        default = next((i for i, section in enumerate(sections) if section.default), -1)
        ends: list[set[str] | None] = []
        tails = self.tails
        inside = {statement.label} | tails if separate and only_tails else set()
        if separate:
            word = "if"
            for index, section in enumerate(sections):
                if section.default:
                    continue
                self.line(f"{word} {_chosen(name, section.values)}:")
                self.defined = None if entry is None else set(entry)
                self.tails = inside
                self.indented(section.body, (statement.number, index))
                ends.append(self.defined)
                word = "elif"
            self.defined = None if entry is None else set(entry)
            body = sections[default].body if default >= 0 else ()
            if word == "elif":
                self.line("else:")
                self.tails = inside
                self.indented(body, (statement.number, default))
            else:
                self.tails = inside
                self.level -= 1
                self.indented(body, (statement.number, default))
                self.level += 1
            ends.append(self.defined)
            self.tails = tails
            return ends
        # Falling through: first the position of the section, then all from there on.
        position = self.fresh()
        word = "if"
        for index, section in enumerate(sections):
            if section.default:
                continue
            self.line(f"{word} {_chosen(name, section.values)}: {position} = {index}")
            word = "elif"
        missing = default if default >= 0 else len(sections)
        self.line(f"else: {position} = {missing}" if word == "elif" else f"{position} = {missing}")
        if self.covers:
            first = len(self.counters)
            for index in range(len(sections)):
                self.counters.append(Counter(branch=(statement.number, index)))
            self.counters.append(Counter(branch=(statement.number, -1)))
            self.line(f"counts[{first} + {position}] += 1")
        self.tails = set()
        for index, section in enumerate(sections):
            self.defined = None if entry is None else set(entry)
            self.line(f"if {position} <= {index}:")
            self.indented(section.body)
        self.tails = tails
        # Whatever falls out of the last section may have entered there; so may what no section
        # is for.
        ends.append(None if entry is None else set(entry))
        return ends

    # --- jumps ------------------------------------------------------------------------------

    def _enter(self, label: str, loop: Loop | None) -> Frame:
        if len(self.frames) >= _LOOPS:
            raise UnsupportedError(
                Diagnostic("loops nest too deep to be executed", self.function.origin)
            )
        frame = Frame(label, loop)
        self.frames.append(frame)
        return frame

    def _number(self, label: str, kind: str) -> int:
        return self.jumps.setdefault((label, kind), len(self.jumps) + 1)

    def _leave(self, statement: Leave) -> None:
        self.exits.setdefault(statement.label, []).append(self.defined)
        if statement.label in self.tails:
            self.line("pass")
            return
        if self.frames[-1].label == statement.label:
            self.line("break")
            return
        self.line(f"jump = {self._number(statement.label, 'leave')}")
        self.line("break")
        self.frames[-1].outward.add((statement.label, "leave"))

    def _next(self, statement: Next) -> None:
        frame = self.frames[-1]
        if frame.label == statement.label:
            assert frame.loop is not None
            self._tail(frame.loop, at_end=False)
            return
        self.line(f"jump = {self._number(statement.label, 'next')}")
        self.line("break")
        frame.outward.add((statement.label, "next"))

    def _after(self, frame: Frame) -> None:
        """Behind a loop: jumps that passed through it go on."""
        for label, kind in sorted(frame.outward):
            outer = self.frames[-1]
            number = self._number(label, kind)
            self.line(f"if jump == {number}:")
            self.level += 1
            if outer.label != label:
                self.line("break")
                outer.outward.add((label, kind))
            else:
                self.line("jump = 0")
                if kind == "leave":
                    self.line("break")
                else:
                    assert outer.loop is not None
                    defined = self.defined
                    self.defined = set() if defined is None else set(defined)
                    self._tail(outer.loop, at_end=False)
                    self.defined = defined
            self.level -= 1


def _chosen(name: str, values: tuple[tuple[int, int], ...]) -> str:
    single = [low for low, high in values if low == high]
    tests = [f"{low} <= {name} <= {high}" for low, high in values if low != high]
    if len(single) == 1:
        tests.insert(0, f"{name} == {single[0]}")
    elif single:
        tests.insert(0, f"{name} in ({', '.join(map(str, single))})")
    return " or ".join(tests) if tests else "False"
