"""Initialisers (C99, 6.7.8): what stands where, with braces left out and designators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.formats.c.arithmetic import convert
from whence.formats.c.nodes import Node
from whence.formats.c.types import refuse
from whence.model.program import (
    ArrayType,
    Assign,
    Clear,
    Element,
    Expression,
    Initial,
    IntConstant,
    IntType,
    Load,
    Member,
    Place,
    RecordType,
    Type,
    size_of,
)
from whence.source import Origin

if TYPE_CHECKING:
    from whence.formats.c.expressions import Expressions

__all__ = ["initial_values", "initialise"]

_Put = Callable[[Place, Node], None]


def initialise(reader: Expressions, place: Place, node: Node) -> None:
    """Writes the statements that initialise a local variable or a compound literal."""
    inner = reader.bare(node)
    string = _string(reader, place.type, inner)
    if string is None and inner.kind != "INIT_LIST_EXPR":
        _put(reader, place, node)
        return
    if isinstance(place.type, (ArrayType, RecordType)):
        if string is not None and _is_whole(reader, place.type, string):
            value = reader.place(string)
            load = Load(value, value.type, node.origin, node.expansion)
            reader.emit(Assign(0, place, load, node.origin, node.expansion))
            return
        if inner.kind == "INIT_LIST_EXPR" and not _complete(reader, place.type, inner):
            reader.emit(Clear(0, place, node.origin, node.expansion))
    _Walk(reader, lambda at, what: _put(reader, at, what)).start(place, node)


def _put(reader: Expressions, place: Place, node: Node) -> None:
    string = _string(reader, place.type, reader.bare(node))
    if string is not None:
        value = reader.place(string)
        load = Load(value, value.type, node.origin, node.expansion)
        reader.emit(Assign(0, place, load, node.origin, node.expansion))
        return
    call = reader.bare(node)
    if call.kind == "CALL_EXPR" and reader.plain_call(call, place):
        return
    value_of = reader.value(node)
    if not isinstance(place.type, RecordType):
        value_of = convert(value_of, place.type)
    reader.emit(Assign(0, place, value_of, node.origin, node.expansion))


def initial_values(reader: Expressions, place: Place, node: Node) -> tuple[Initial, ...]:
    """What a global variable starts with. Raises where that is no constant."""
    values: dict[tuple[object, ...], Initial] = {}

    def put(at: Place, what: Node) -> None:
        string = _string(reader, at.type, reader.bare(what))
        value: Expression
        if string is not None:
            source = reader.place(string)
            value = Load(source, source.type, what.origin, what.expansion)
        else:
            value = reader.value(what)
            if not isinstance(at.type, RecordType):
                value = convert(value, at.type)
        # A later initialiser of the same place takes the place of an earlier one.
        path = _path(at)
        for known in [known for known in values if known[: len(path)] == path]:
            del values[known]
        values[path] = Initial(at, value)

    _Walk(reader, put).start(place, node)
    return tuple(values.values())


def _path(place: Place) -> tuple[object, ...]:
    match place:
        case Element(index=IntConstant(value=value)):
            return (*_path(place.array), value)
        case Member():
            return (*_path(place.record), (place.field.offset, place.field.bit, place.field.name))
    return ()


def _string(reader: Expressions, type: Type, node: Node) -> Node | None:
    """The string literal that initialises an array of characters, in braces or not."""
    if not isinstance(type, ArrayType) or not isinstance(type.element, IntType):
        return None
    if node.kind == "INIT_LIST_EXPR" and len(node.expressions()) == 1:
        node = reader.bare(node.expressions()[0])
    return node if node.kind == "STRING_LITERAL" else None


def _is_whole(reader: Expressions, type: Type, string: Node) -> bool:
    return size_of(reader.unit.type(string)) == size_of(type)


def _complete(reader: Expressions, type: Type, node: Node) -> bool:
    """Whether a flat list names each part of an array or structure, so that no part is left to
    be 0."""
    items = node.expressions()
    if any(item.kind in ("INIT_LIST_EXPR", "STRING_LITERAL") for item in items):
        return False
    if any(_is_designated(item) for item in items):
        return False
    match type:
        case ArrayType():
            return not isinstance(type.element, (ArrayType, RecordType)) and (
                len(items) == type.length
            )
        case RecordType():
            fields = reader.unit.types.records[type.name].fields
            return (
                not type.union
                and len(items) == len(fields)
                and not any(isinstance(field.type, (ArrayType, RecordType)) for field in fields)
                and not any(field.name == "" for field in fields)
            )
    return False


def _is_designated(node: Node) -> bool:
    """Whether an item of a list is `.member = value` or `[index] = value`. clang gives such an
    item the type `void`, which nothing else in a list has."""
    return node.kind == "UNEXPOSED_EXPR" and node.type.kind.name == "VOID"


@dataclass
class _Step:
    """How far an aggregate has been filled: the position of its next part."""

    place: Place
    next: int = 0


class _Walk:
    """Goes through an initialiser and says which part each expression is for."""

    def __init__(self, reader: Expressions, put: _Put) -> None:
        self.reader = reader
        self.put = put

    def start(self, place: Place, node: Node) -> None:
        self._fill(place, node)

    def _fill(self, place: Place, node: Node) -> None:
        bare = self.reader.bare(node)
        if bare.kind != "INIT_LIST_EXPR" or _string(self.reader, place.type, bare) is not None:
            self.put(place, node)
            return
        items = bare.expressions()
        if not isinstance(place.type, (ArrayType, RecordType)):
            # A scalar in braces.
            if items:
                self._fill(place, items[0])
            return
        self._list(place, items)

    def _list(self, place: Place, items: list[Node]) -> None:
        """`stack` is the way down to the aggregate that takes the next item: with braces left
        out, an aggregate inside takes items until it is full."""
        stack = [_Step(place)]
        for item in items:
            if _is_designated(item):
                value, stack = self._designated(place, item)
                target = self._part(stack[-1], item.origin)
                assert target is not None
                stack[-1].next += 1
                self._fill(target, value)
                continue
            while True:
                target = self._part(stack[-1], item.origin)
                if target is not None:
                    break
                stack.pop()
                if not stack:
                    return  # more items than parts: clang has warned
                # The aggregate that was filled is one part of the one around it.
            stack[-1].next += 1
            while self._descends(target, item):
                stack.append(_Step(target, 0))
                inner = self._part(stack[-1], item.origin)
                if inner is None:
                    stack.pop()
                    break
                stack[-1].next += 1
                target = inner
            self._fill(target, item)

    def _descends(self, target: Place, item: Node) -> bool:
        """Whether the item is for the first part of `target`, not for all of it."""
        if not isinstance(target.type, (ArrayType, RecordType)):
            return False
        bare = self.reader.bare(item)
        if bare.kind == "INIT_LIST_EXPR" or _string(self.reader, target.type, bare) is not None:
            return False
        if isinstance(target.type, RecordType):
            kind = item.type.get_canonical().kind.name
            return not (kind == "RECORD" and self.reader.unit.type(item) == target.type)
        return True

    def _part(self, step: _Step, origin: Origin) -> Place | None:
        """The next part of an aggregate; None where it is full."""
        place = step.place
        match place.type:
            case ArrayType(element=element, length=length):
                if length is None:
                    raise refuse("an initialiser of an array without a length", origin)
                if step.next >= length:
                    return None
                index = IntConstant(step.next, self.reader.unit.int, origin)
                return Element(place, index, element, False, origin)
            case RecordType(name=name, union=union):
                fields = self.reader.unit.types.records[name].fields
                while step.next < len(fields):
                    field = fields[step.next]
                    # Bit-fields without a name only fill room.
                    if field.name == "" and not isinstance(field.type, RecordType):
                        step.next += 1
                        continue
                    if union and step.next > 0 and not self._chosen(step):
                        return None
                    return Member(place, field, field.type, origin)
                return None
        raise AssertionError(place.type)

    @staticmethod
    def _chosen(step: _Step) -> bool:
        return isinstance(step, _Chosen)

    def _designated(self, place: Place, item: Node) -> tuple[Node, list[_Step]]:
        """The value of a designated item, and the way to its part."""
        *designators, value = item.children
        stack: list[_Step] = []
        current = place
        for designator in designators:
            match current.type:
                case ArrayType():
                    index = self.reader.unit.lib.value(designator.cursor)
                    if not isinstance(index, int):
                        raise refuse("this designator", item.origin)
                    stack.append(_Step(current, index))
                case RecordType(name=name):
                    (wanted, *_) = self.reader.path(
                        current.type, designator.cursor.referenced, item.origin
                    )
                    fields = self.reader.unit.types.records[name].fields
                    stack.append(_Chosen(current, fields.index(wanted)))
                case _:
                    raise refuse("this designator", item.origin)
            part = self._part(stack[-1], item.origin)
            if part is None:
                raise refuse("this designator", item.origin)
            current = part
            if designator is not designators[-1]:
                stack[-1].next += 1
        return value, stack


class _Chosen(_Step):
    """A union of which a designator has chosen the member."""
