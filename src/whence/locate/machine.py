"""What a running program stands on: memory, streams, and ways to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whence.locate.memory import NULL, Memory, Object, Pointer, Undefined
from whence.locate.outcome import Options
from whence.locate.trace import Trace
from whence.model.program import DataModel

__all__ = ["Abort", "Exit", "Machine", "Stream", "Unavailable"]


class Exit(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Abort(Exception):
    pass


class Unavailable(Exception):
    """Something that is not there was needed: a function, a variable, a file system."""

    def __init__(self, message: str, site: int) -> None:
        super().__init__(message)
        self.message = message
        self.site = site


class Stream:
    """A file that is open. What is written is kept in `data` too, except of stdout and stderr,
    which are only written."""

    def __init__(self, name: str, data: bytes, reads: bool, writes: bool) -> None:
        self.name = name
        self.data = bytearray(data)
        self.position = 0
        self.reads = reads
        self.writes = writes
        self.appends = False
        self.open = True
        self.at_end = False
        self.error = False
        self.pushed: list[int] = []

    def get(self) -> int:
        """The next byte, or -1."""
        if self.pushed:
            return self.pushed.pop()
        if not self.reads:
            self.error = True
            return -1
        if self.position >= len(self.data):
            self.at_end = True
            return -1
        byte = self.data[self.position]
        self.position += 1
        return byte

    def unget(self, byte: int) -> None:
        if self.position > 0 and not self.pushed and self.data[self.position - 1] == byte:
            self.position -= 1
        else:
            self.pushed.append(byte)
        self.at_end = False

    def put(self, data: bytes) -> None:
        if not self.writes:
            self.error = True
            return
        if self.appends:
            self.position = len(self.data)
        if self.position == len(self.data):
            self.data += data
        else:
            self.data[self.position : self.position + len(data)] = data
        self.position += len(data)


class Machine:
    """The same for all runs of a program; `begin` makes it as new."""

    def __init__(self, model: DataModel, options: Options) -> None:
        self.model = model
        self.options = options
        self.memory = Memory(model, options.uninitialised == "zero")
        self.int_code = f"i{model.int_bits}"
        self.trace = Trace(self.memory) if options.dependences else None
        #: Files that were opened, by name; `file` finds the others.
        self.files: dict[str, Stream] = {}
        self.removed: set[str] = set()
        self.random: list[int] = []
        self.token: Pointer = NULL
        self.at_exit: list[Pointer] = []
        self.errno: Object | None = None
        #: How the program calls functions through pointers.
        self.indirect: Callable[..., Any] = _nothing
        self.standard: dict[str, Pointer] = {}
        for name in ("stdin", "stdout", "stderr"):
            self.standard[name] = (self._file_object(name), 0)

    def _file_object(self, name: str) -> Object:
        made = self.memory.static(8, name)
        made.size = -1
        return made

    def begin(self, stdin: bytes) -> None:
        self.memory.begin(self.options.memory)
        # There may be thousands, of which a run opens one.
        self.files = {}
        self.removed = set()
        self.written: set[str] = set()
        self.random = []
        self.token = NULL
        self.at_exit = []
        streams = {
            "stdin": Stream("stdin", stdin, True, False),
            "stdout": Stream("stdout", b"", False, True),
            "stderr": Stream("stderr", b"", False, True),
        }
        for name, (file, _) in self.standard.items():
            file.stream = streams[name]
        self.stdin, self.stdout, self.stderr = streams.values()
        if self.errno is not None:
            self.errno.data[:] = bytes(len(self.errno.data))
        if self.trace is not None:
            self.trace.begin()

    # --- memory, for the library ------------------------------------------------------------

    def get(self, pointer: Pointer, code: str, site: int) -> Any:
        return self.memory.loads[code](pointer[0], pointer[1], site)

    def put(self, pointer: Pointer, code: str, value: Any, site: int) -> None:
        self.memory.stores[code](pointer[0], pointer[1], value, site)

    def text(self, pointer: Pointer, site: int, limit: int | None = None) -> bytes:
        found = self.memory.text(pointer, site, limit)
        if self.trace is not None:
            self.trace.used(pointer[0], pointer[1], len(found) + 1)
        return found

    def read(self, pointer: Pointer, size: int, site: int) -> bytes:
        found = self.memory.read(pointer, size, site)
        if self.trace is not None:
            self.trace.used(pointer[0], pointer[1], size)
        return found

    def write(self, pointer: Pointer, data: bytes, site: int) -> None:
        self.memory.write(pointer, data, site)
        if self.trace is not None:
            self.trace.wrote(pointer[0], pointer[1], len(data))

    def copy(self, to: Pointer, start: Pointer, size: int, site: int) -> None:
        """Bytes as they are, with the pointers among them."""
        if size == 0:
            return
        value = self.memory.snapshot(start[0], start[1], size, site)
        if self.trace is not None:
            self.trace.used(start[0], start[1], size)
        self.memory.put(to[0], to[1], value, site)
        if self.trace is not None:
            self.trace.wrote(to[0], to[1], size)

    def allocate(self, size: int, name: str, zero: bool) -> Pointer:
        if self.memory.used + size > self.memory.limit:
            return NULL
        made = self.memory.new(size, name, zero)
        made.heap = True
        if self.trace is not None:
            made.defs = [0] * size
        return (made, 0)

    def set_errno(self, value: int) -> None:
        if self.errno is not None:
            size = self.model.int_bits // 8
            self.errno.data[:] = value.to_bytes(size, self.memory.byteorder)

    # --- streams ----------------------------------------------------------------------------

    def stream(self, pointer: Pointer, site: int) -> Stream:
        stream = pointer[0].stream
        if isinstance(stream, Stream) and pointer[1] == 0:
            if not stream.open:
                raise Undefined("dangling pointer", f"use of the closed file {stream.name}", site)
            return stream
        if pointer == NULL:
            raise Undefined("null pointer", "a null pointer as a file", site)
        raise Undefined("invalid pointer", "a pointer that is no file", site)

    def file(self, name: str) -> Stream | None:
        """The file of this name, if there is one."""
        known = self.files.get(name)
        if known is None and name not in self.removed and name in self.options.files:
            known = self.files[name] = Stream(name, self.options.files[name], True, True)
        return known

    def remove(self, name: str) -> bool:
        """Whether there was such a file."""
        known = self.file(name)
        self.files.pop(name, None)
        self.removed.add(name)
        return known is not None

    def opened(self, stream: Stream) -> Pointer:
        made = self.memory.new(8, f"file {stream.name}", True)
        made.size = -1
        made.stream = stream
        return (made, 0)

    # --- calls ------------------------------------------------------------------------------

    def call(
        self,
        function: Pointer,
        arguments: Sequence[Any],
        codes: Sequence[str],
        result: str,
        site: int,
    ) -> Any:
        return self.indirect(function, tuple(arguments), tuple(codes), result, site)


def _nothing(*_: Any) -> Any:
    raise AssertionError("the machine has no program")
