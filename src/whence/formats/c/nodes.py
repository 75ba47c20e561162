"""clang's syntax tree, copied into plain nodes with places.

The Python binding of libclang is thin and slow, and lacks some of the library's C functions. A
node is asked for once; what it says about itself (operators, values of literals, places in files
and in macros) is what later modules work with.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from whence.model.program import Expansion
from whence.source import NOWHERE, Diagnostic, Origin, UsageError

__all__ = ["Library", "Node", "Places", "library"]


class _String(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("flags", ctypes.c_uint))


class Library:
    """libclang: the Python binding, and the C functions it lacks."""

    def __init__(self) -> None:
        try:
            import clang.cindex as binding

            path = binding.conf.get_filename()
            self.binding: Any = binding
            native: Any = ctypes.CDLL(path)
            binding.conf.get_cindex_library()
        except (ImportError, OSError) as error:
            raise _missing(str(error)) from None
        except Exception as error:
            # The binding has an error class of its own, which derives from nothing better.
            raise _missing(str(error)) from None
        cursor = binding.Cursor
        self._native = native
        try:
            self.binary_operator = self._function("clang_getCursorBinaryOperatorKind", [cursor])
            self.unary_operator = self._function("clang_getCursorUnaryOperatorKind", [cursor])
            self._spelling = self._function("clang_getCursorSpelling", [cursor], _String)
            self._pretty = self._function(
                "clang_getCursorPrettyPrinted", [cursor, ctypes.c_void_p], _String
            )
        except AttributeError:
            raise _missing("the library is older than version 17") from None
        self._c_string = self._function("clang_getCString", [_String], ctypes.c_char_p)
        self._dispose_string = self._function("clang_disposeString", [_String], None)
        self._evaluate = self._function("clang_Cursor_Evaluate", [cursor], ctypes.c_void_p)
        self._kind = self._function("clang_EvalResult_getKind", [ctypes.c_void_p])
        self._integer = self._function(
            "clang_EvalResult_getAsLongLong", [ctypes.c_void_p], ctypes.c_longlong
        )
        self._double = self._function(
            "clang_EvalResult_getAsDouble", [ctypes.c_void_p], ctypes.c_double
        )
        self._dispose_result = self._function("clang_EvalResult_dispose", [ctypes.c_void_p], None)
        self.field_offset = self._function(
            "clang_Cursor_getOffsetOfField", [cursor], ctypes.c_longlong
        )
        location = binding.SourceLocation
        places = [location] + [ctypes.c_void_p] + [ctypes.POINTER(ctypes.c_uint)] * 3
        self._file_location = self._function("clang_getFileLocation", places, None)
        self._expansion_location = self._function("clang_getExpansionLocation", places, None)
        self._file_name = self._function("clang_getFileName", [ctypes.c_void_p], _String)
        self.storage_class = self._function("clang_Cursor_getStorageClass", [cursor])
        self.initializer = self._function(
            "clang_Cursor_getVarDeclInitializer", [cursor], binding.Cursor
        )
        self.inlined = self._function("clang_Cursor_isFunctionInlined", [cursor], ctypes.c_uint)
        self._names: dict[int, str] = {}

    def _function(self, name: str, arguments: list[Any], result: Any = ctypes.c_int) -> Any:
        function = getattr(self._native, name)
        function.argtypes = arguments
        function.restype = result
        return function

    def _text(self, string: _String) -> bytes:
        data: bytes = self._c_string(string) or b""
        self._dispose_string(string)
        return data

    def spelling(self, cursor: Any) -> bytes:
        return self._text(self._spelling(cursor))

    def pretty(self, cursor: Any) -> str:
        """The declaration as clang prints it: macros expanded, one statement a line."""
        return self._text(self._pretty(cursor, None)).decode("utf-8", "replace")

    def value(self, cursor: Any) -> int | float | None:
        """The value of a constant expression of arithmetic type. Not for anything else: the
        library crashes on some."""
        result = self._evaluate(cursor)
        if not result:
            return None
        try:
            match self._kind(result):
                case 1:
                    return int(self._integer(result))
                case 2:
                    return float(self._double(result))
                case _:
                    return None
        finally:
            self._dispose_result(result)

    def file(self, location: Any) -> tuple[str, int, int, int]:
        """(file, line, column, offset), seen from where arguments of macros are written."""
        return self._place(self._file_location, location)

    def expanded(self, location: Any) -> tuple[str, int, int, int]:
        return self._place(self._expansion_location, location)

    def _place(self, function: Any, location: Any) -> tuple[str, int, int, int]:
        file = ctypes.c_void_p()
        line, column, offset = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        function(
            location,
            ctypes.byref(file),
            ctypes.byref(line),
            ctypes.byref(column),
            ctypes.byref(offset),
        )
        if not file.value:
            return ("", 0, 0, 0)
        return (self._name(file.value), line.value, column.value, offset.value)

    def _name(self, file: int) -> str:
        # A file is an address, which another translation unit may use again for another file;
        # `forget` is called between them.
        if file not in self._names:
            name = self._text(self._file_name(ctypes.c_void_p(file)))
            self._names[file] = name.decode("utf-8", "surrogateescape")
        return self._names[file]

    def forget(self) -> None:
        self._names.clear()


def _missing(reason: str) -> UsageError:
    return UsageError(
        Diagnostic(
            f"C cannot be read: libclang is not usable ({reason})",
            hint="install it: pip install 'whence[c]'",
        )
    )


@cache
def library() -> Library:
    return Library()


@dataclass(slots=True)
class Node:
    """A cursor of clang. `kind` is its name without `CursorKind.`."""

    kind: str
    cursor: Any
    origin: Origin
    expansion: Expansion | None
    children: list[Node] = field(default_factory=list)

    @property
    def type(self) -> Any:
        return self.cursor.type

    @property
    def spelling(self) -> str:
        return library().spelling(self.cursor).decode("utf-8", "replace")

    def expressions(self) -> list[Node]:
        return [child for child in self.children if child.is_expression]

    @property
    def is_expression(self) -> bool:
        # Of the references only DECL_REF_EXPR and MEMBER_REF_EXPR are expressions.
        return bool(self.cursor.kind.is_expression())

    def walk(self) -> Iterator[Node]:
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class Places:
    """The places of one translation unit, with the macros that were used there."""

    def __init__(self, unit: Any) -> None:
        self.lib = library()
        self.lib.forget()
        self.uses: dict[str, list[tuple[int, int, Expansion]]] = {}
        kind = self.lib.binding.CursorKind.MACRO_INSTANTIATION
        for cursor in unit.cursor.get_children():
            if cursor.kind == kind:
                use, start, end = self._extent(cursor)
                definition = cursor.referenced
                defined = NOWHERE if definition is None else self._extent(definition)[0]
                entry = (start, end, Expansion(cursor.spelling, use, defined))
                self.uses.setdefault(use.file, []).append(entry)
        for uses in self.uses.values():
            # Uses within arguments of other uses come after these: the outermost counts.
            uses.sort(key=lambda use: (use[0], -use[1]))
            outermost: list[tuple[int, int, Expansion]] = []
            for entry in uses:
                if not outermost or entry[0] >= outermost[-1][1]:
                    outermost.append(entry)
            uses[:] = outermost

    def _extent(self, cursor: Any) -> tuple[Origin, int, int]:
        extent = cursor.extent
        file, line, column, start = self.lib.expanded(extent.start)
        _, end_line, end_column, end = self.lib.expanded(extent.end)
        return Origin(file, line, column, end_line, end_column), start, end

    def where(self, extent: Any) -> tuple[Origin, Expansion | None]:
        start, end = extent.start, extent.end
        file, line, column, offset = self.lib.expanded(start)
        if not file:
            return NOWHERE, None
        uses = self.uses.get(file, [])
        index = bisect_right(uses, offset, key=lambda use: use[0]) - 1
        inside = index >= 0 and offset < uses[index][1]
        _, end_line, end_column, end_offset = self.lib.expanded(end)
        if not inside:
            return Origin(file, line, column, end_line, end_column), None
        _, stop, expansion = uses[index]
        use = expansion.use
        written = self._stretch(self.lib.file(start), self.lib.file(end))
        if end_offset > stop:
            # It begins with the macro and goes on behind it: the macro did not write all of it.
            return Origin(file, line, column, max(end_line, line), end_column), None
        argument = (
            written.file == file
            and written.line > 0
            and (written.line, written.column) > (use.line, use.column)
            # What ends with the macro does not end within an argument.
            and (written.end_line, written.end_column) < (use.end_line, use.end_column)
        )
        return written if argument else use, expansion

    @staticmethod
    def _stretch(start: tuple[str, int, int, int], end: tuple[str, int, int, int]) -> Origin:
        if start[0] != end[0] or end[3] < start[3]:
            return Origin(start[0], start[1], start[2], start[1], start[2])
        return Origin(start[0], start[1], start[2], end[1], end[2])

    def node(self, cursor: Any) -> Node:
        """The tree under a cursor. Not recursive: sources nest deeper than Python's stack."""
        root = self._one(cursor)
        pending = [root]
        while pending:
            node = pending.pop()
            node.children = [self._one(child) for child in node.cursor.get_children()]
            pending.extend(node.children)
        return root

    def _one(self, cursor: Any) -> Node:
        origin, expansion = self.where(cursor.extent)
        return Node(cursor.kind.name, cursor, origin, expansion)
