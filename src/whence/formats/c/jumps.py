"""`goto` without `goto`: labelled blocks that are left, labelled loops that are gone around.

A jump forward to a label of an enclosing list leaves a block that ends before the label; a jump
backward goes around a loop that begins there. A jump into a statement becomes a jump to the place
just before it, with a flag that leads control on to the label (after Erosa and Hendren, "Taming
control flow", 1994).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from whence.formats.c.types import refuse
from whence.model.program import (
    Assign,
    Block,
    Expansion,
    If,
    IntConstant,
    Leave,
    Load,
    Logical,
    Loop,
    Next,
    Section,
    Statement,
    Switch,
    Unary,
    VariablePlace,
)
from whence.source import Origin

__all__ = ["Goto", "Label", "resolve"]


@dataclass(frozen=True, slots=True)
class Goto:
    """Not of the core language: it is there only while a function is read."""

    number: int
    label: str
    origin: Origin
    expansion: Expansion | None = None


@dataclass(frozen=True, slots=True)
class Label:
    number: int
    label: str
    origin: Origin
    expansion: Expansion | None = None


_Any: TypeAlias = Statement | Goto | Label
_List: TypeAlias = tuple[_Any, ...]


def _lists(statement: _Any) -> list[_List]:
    """The lists of statements inside one."""
    match statement:
        case If():
            return [statement.then, statement.otherwise]
        case Loop():
            return [statement.before, statement.body, statement.step]
        case Switch():
            return [section.body for section in statement.sections]
        case Block():
            return [statement.body]
    return []


def _gotos(statement: _Any) -> set[str]:
    if isinstance(statement, Goto):
        return {statement.label}
    found: set[str] = set()
    for body in _lists(statement):
        for part in body:
            found |= _gotos(part)
    return found


def _labels(statement: _Any) -> set[str]:
    if isinstance(statement, Label):
        return {statement.label}
    found: set[str] = set()
    for body in _lists(statement):
        for part in body:
            found |= _labels(part)
    return found


def _mapped(statement: _Any, change: Callable[[_List], _List]) -> _Any:
    """The statement with each of its lists changed."""
    match statement:
        case If():
            return replace(
                statement,
                then=change(statement.then),  # type: ignore[arg-type]
                otherwise=change(statement.otherwise),  # type: ignore[arg-type]
            )
        case Loop():
            return replace(
                statement,
                before=change(statement.before),  # type: ignore[arg-type]
                body=change(statement.body),  # type: ignore[arg-type]
                step=change(statement.step),  # type: ignore[arg-type]
            )
        case Switch():
            return replace(
                statement,
                sections=tuple(
                    replace(section, body=change(section.body))  # type: ignore[arg-type]
                    for section in statement.sections
                ),
            )
        case Block():
            return replace(statement, body=change(statement.body))  # type: ignore[arg-type]
    return statement


def _redirected(body: _List, label: str, to: Callable[[Goto], _List]) -> _List:
    """The list with jumps to `label` replaced."""
    result: list[_Any] = []
    for statement in body:
        if isinstance(statement, Goto) and statement.label == label:
            result += to(statement)
        elif label in _gotos(statement):
            result.append(_mapped(statement, lambda inner: _redirected(inner, label, to)))
        else:
            result.append(statement)
    return tuple(result)


class _Resolver:
    def __init__(self, flag: Callable[[str, Origin], VariablePlace]) -> None:
        self.flag = flag
        self.flags: list[VariablePlace] = []
        self.counter = 0

    def name(self, label: str, kind: str) -> str:
        self.counter += 1
        return f"{label}:{kind}{self.counter}"

    # --- jumps into statements --------------------------------------------------------------

    def outward(self, body: _List) -> _List:
        """Jumps into a statement of the list from outside it become jumps to before it."""
        changed = True
        while changed:
            changed = False
            everything = [(_gotos(statement), _labels(statement)) for statement in body]
            for index, statement in enumerate(body):
                if isinstance(statement, Label):
                    continue
                elsewhere = _between(statement)
                for other, (gotos, _) in enumerate(everything):
                    if other != index:
                        elsewhere |= gotos
                entered = sorted(everything[index][1] & elsewhere)
                if entered:
                    body = self._enter(body, index, entered[0])
                    changed = True
                    break
        return tuple(
            _mapped(statement, self.outward) if _lists(statement) else statement
            for statement in body
        )

    def _enter(self, body: _List, index: int, label: str) -> _List:
        """Lead jumps to `label`, which is inside `body[index]`, through the front door."""
        statement = body[index]
        place = self._flag(label, statement.origin)
        entry = self.name(label, "entry")

        def redirected(inner: _List) -> _List:
            if any(label in _labels(part) for part in inner):
                return inner
            return _redirected(inner, label, self._jump(place, entry))

        # A branch may jump into the other branch, out of the statement and in again.
        opened = self._opened(_mapped(statement, redirected), label, place)
        opened = _reset(opened, label, _set(place, 0, statement.origin))
        before = _redirected(body[:index], label, self._jump(place, entry))
        after = _redirected(body[index + 1 :], label, self._jump(place, entry))
        return (*before, Label(0, entry, statement.origin), opened, *after)

    def _flag(self, label: str, origin: Origin) -> VariablePlace:
        place = self.flag(label, origin)
        self.flags.append(place)
        return place

    @staticmethod
    def _jump(place: VariablePlace, entry: str) -> Callable[[Goto], _List]:
        """A jump to `entry` with the flag up."""
        return lambda goto: (
            _set(place, 1, goto.origin),
            Goto(0, entry, goto.origin, goto.expansion),
        )

    def _opened(self, statement: _Any, label: str, place: VariablePlace) -> _Any:
        """The statement, which goes to `label` inside it if the flag is set."""
        flag = Load(place, place.type, statement.origin)
        int_type = place.type
        goto = Goto(0, label, statement.origin)

        def led(inner: _List) -> _List:
            test = If(0, flag, (goto,), (), statement.origin)  # type: ignore[arg-type]
            return (test, *inner)

        def contains(inner: _List) -> bool:
            return any(label in _labels(part) for part in inner)

        match statement:
            case If():
                if contains(statement.then):
                    return replace(
                        statement,
                        condition=Logical("||", flag, statement.condition, int_type),
                        then=led(statement.then),  # type: ignore[arg-type]
                    )
                return replace(
                    statement,
                    condition=Logical(
                        "&&", Unary("!", flag, int_type), statement.condition, int_type
                    ),
                    otherwise=led(statement.otherwise),  # type: ignore[arg-type]
                )
            case Loop() if contains(statement.body):
                condition = statement.condition
                if condition is not None and not statement.tests_last:
                    condition = Logical("||", flag, condition, int_type)
                    if statement.before:
                        # What comes before the test must not happen on the way in.
                        guarded = If(
                            0, Unary("!", flag, int_type), statement.before, (), statement.origin
                        )
                        return replace(
                            statement,
                            before=(guarded,),
                            condition=condition,
                            body=led(statement.body),  # type: ignore[arg-type]
                        )
                return replace(statement, condition=condition, body=led(statement.body))  # type: ignore[arg-type]
            case Block():
                return replace(statement, body=led(statement.body))  # type: ignore[arg-type]
            case Switch():
                return self._opened_switch(statement, led)
        raise refuse(f"a jump to the label `{label}` in this statement", statement.origin)

    def _opened_switch(
        self,
        statement: Switch,
        led: Callable[[_List], _List],
    ) -> _Any:
        """A switch that is entered at a label is a block whose sections are tried by goto."""
        body: list[_Any] = []
        dispatch: _List = (_dispatch(statement, self.name),)
        names = [part.label for part in _case_labels(dispatch)]
        body += dispatch
        for section, name in zip(statement.sections, names, strict=True):
            body.append(Label(0, name, section.origin))
            body += section.body
        return replace_switch(statement, led(tuple(body)))

    # --- jumps within lists -----------------------------------------------------------------

    def structured(self, body: _List) -> tuple[Statement, ...]:
        """A list without jumps into its statements, as the core language has it."""
        body = tuple(
            _mapped(statement, self.structured) if _lists(statement) else statement
            for statement in body
        )
        while True:
            position = next(
                (i for i, statement in enumerate(body) if isinstance(statement, Label)), None
            )
            if position is None:
                return body  # type: ignore[return-value]
            body = self._remove_label(body)

    def _remove_label(self, body: _List) -> _List:
        """One label less. Backward jumps first, the innermost loop first; then forward ones."""
        labels = {
            statement.label: index
            for index, statement in enumerate(body)
            if isinstance(statement, Label)
        }
        uses: dict[str, list[int]] = {label: [] for label in labels}
        for index, statement in enumerate(body):
            for label in _gotos(statement) & labels.keys():
                uses[label].append(index)
        # Labels that nobody jumps to vanish.
        for label, index in labels.items():
            if not uses[label]:
                return body[:index] + body[index + 1 :]
        loops = []
        for label, index in labels.items():
            last = max(uses[label])
            if last > index:
                loops.append((index, last, label))
        if loops:
            return self._loop(body, labels, uses, max(loops))
        # Only forward jumps are left: the first label first, so that blocks nest to the left.
        label, index = min(labels.items(), key=lambda item: item[1])
        first = min(uses[label])
        name = self.name(label, "block")
        inside = _redirected(
            body[first:index], label, lambda goto: (Leave(0, name, goto.origin, goto.expansion),)
        )
        block = Block(0, name, inside, body[index].origin)  # type: ignore[arg-type]
        return (*body[:first], block, *body[index + 1 :])

    def _loop(
        self,
        body: _List,
        labels: dict[str, int],
        uses: dict[str, list[int]],
        last: tuple[int, int, str],
    ) -> _List:
        """Make the backward jumps to the last such label a loop."""
        start, end, label = last
        # Labels in the loop that are jumped to from outside would make it one with two entries.
        for other, index in labels.items():
            if start < index <= end and any(not start <= use <= end for use in uses[other]):
                return self._second_entry(body, start, end, label, other)
        name = self.name(label, "loop")
        inside = _redirected(
            body[start + 1 : end + 1],
            label,
            lambda goto: (Next(0, name, goto.origin, goto.expansion),),
        )
        origin = body[start].origin
        closing: _List = (*inside, Leave(0, name, origin))
        loop = Loop(0, name, (), None, self.structured(closing), (), False, origin)
        before = body[:start]
        if any(use < start for use in uses[label]):
            # Jumps forward to the label still need it.
            return (*before, body[start], loop, *body[end + 1 :])
        return (*before, loop, *body[end + 1 :])

    def _second_entry(self, body: _List, start: int, end: int, head: str, label: str) -> _List:
        """Jumps from outside the loop start..end to a label in it go to its head, which leads
        them on."""
        origin = body[start].origin
        place = self._flag(label, origin)
        jump = self._jump(place, head)
        flag = Load(place, place.type, origin)
        lead: _List = (_set(place, 0, origin), Goto(0, label, origin))
        led = If(0, flag, lead, (), origin)  # type: ignore[arg-type]
        return (
            *_redirected(body[:start], label, jump),
            body[start],
            led,
            *body[start + 1 : end + 1],
            *_redirected(body[end + 1 :], label, jump),
        )


def _set(place: VariablePlace, value: int, origin: Origin) -> Assign:
    return Assign(0, place, IntConstant(value, place.type, origin), origin)


def _between(statement: _Any) -> set[str]:
    """The labels in one list of a statement that another of its lists jumps to."""
    lists = _lists(statement)
    found: set[str] = set()
    for one in lists:
        gotos = {label for part in one for label in _gotos(part)}
        for other in lists:
            if other is not one:
                found |= gotos & {label for part in other for label in _labels(part)}
    return found


def _reset(statement: _Any, label: str, assign: Assign) -> _Any:
    """The flag goes down where the label is reached."""

    def change(body: _List) -> _List:
        result: list[_Any] = []
        for part in body:
            if isinstance(part, Label) and part.label == label:
                result += (part, assign)
            elif label in _labels(part):
                result.append(_mapped(part, change))
            else:
                result.append(part)
        return tuple(result)

    return _mapped(statement, change)


def _dispatch(statement: Switch, name: Callable[[str, str], str]) -> _Any:
    """A switch that only jumps: one section a section of the original."""
    sections = tuple(
        Section(
            section.values,
            section.default,
            (Goto(0, name("case", "section"), section.origin),),  # type: ignore[arg-type]
            section.origin,
        )
        for section in statement.sections
    )
    if not any(section.default for section in sections):
        leave = Leave(0, statement.label, statement.origin)
        sections += (Section((), True, (leave,), statement.origin),)
    # Its own label must differ: `Leave` of the original leaves the block around both.
    return replace(statement, label=name(statement.label, "dispatch"), sections=sections)


def _case_labels(dispatch: Sequence[_Any]) -> list[Goto]:
    found: list[Goto] = []
    for statement in dispatch:
        for inner in _lists(statement):
            found += [part for part in inner if isinstance(part, Goto)]
    return found


def replace_switch(statement: Switch, body: _List) -> Block:
    """The block that stands where the switch stood."""
    return Block(0, statement.label, body, statement.origin, statement.expansion)  # type: ignore[arg-type]


def resolve(
    statements: Sequence[_Any], flag: Callable[[str, Origin], VariablePlace]
) -> tuple[Statement, ...]:
    """The body of a function without `Goto` and `Label`. `flag` makes a variable."""
    statements = tuple(statements)
    if not any(_gotos(statement) or _labels(statement) for statement in statements):
        return statements  # type: ignore[return-value]
    resolver = _Resolver(flag)
    body = resolver.structured(resolver.outward(statements))
    return (*(_set(place, 0, place.origin) for place in resolver.flags), *body)
