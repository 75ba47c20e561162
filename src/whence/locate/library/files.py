"""stdio.h."""

from __future__ import annotations

from whence.locate.library.formats import formatted, scanned
from whence.locate.library.registry import library
from whence.locate.machine import Machine, Stream, Unavailable
from whence.locate.memory import NULL, Pointer, Undefined

__all__: list[str] = []


@library(variadic=True)
def c_printf(machine: Machine, site: int, format: Pointer, list_: Pointer) -> int:
    text = formatted(machine, format, list_, site)
    machine.stdout.put(text)
    return len(text)


@library()
def c_vprintf(machine: Machine, site: int, format: Pointer, list_: Pointer) -> int:
    text = formatted(machine, format, list_, site)
    machine.stdout.put(text)
    return len(text)


@library(variadic=True)
def c_fprintf(machine: Machine, site: int, file: Pointer, format: Pointer, list_: Pointer) -> int:
    return c_vfprintf(machine, site, file, format, list_)  # type: ignore[no-any-return]


@library()
def c_vfprintf(machine: Machine, site: int, file: Pointer, format: Pointer, list_: Pointer) -> int:
    stream = machine.stream(file, site)
    text = formatted(machine, format, list_, site)
    return _put(machine, stream, text)


def _put(machine: Machine, stream: Stream, text: bytes) -> int:
    if not stream.writes:
        stream.error = True
        return -1
    stream.put(text)
    machine.written.add(stream.name)
    return len(text)


@library(variadic=True)
def c_sprintf(machine: Machine, site: int, to: Pointer, format: Pointer, list_: Pointer) -> int:
    return c_vsprintf(machine, site, to, format, list_)  # type: ignore[no-any-return]


@library()
def c_vsprintf(machine: Machine, site: int, to: Pointer, format: Pointer, list_: Pointer) -> int:
    text = formatted(machine, format, list_, site)
    machine.write(to, text + b"\0", site)
    return len(text)


@library(variadic=True)
def c_snprintf(
    machine: Machine, site: int, to: Pointer, size: int, format: Pointer, list_: Pointer
) -> int:
    return c_vsnprintf(machine, site, to, size, format, list_)  # type: ignore[no-any-return]


@library()
def c_vsnprintf(
    machine: Machine, site: int, to: Pointer, size: int, format: Pointer, list_: Pointer
) -> int:
    text = formatted(machine, format, list_, site)
    if size:
        machine.write(to, text[: size - 1] + b"\0", site)
    return len(text)


# --- reading --------------------------------------------------------------------------------


@library(variadic=True)
def c_scanf(machine: Machine, site: int, format: Pointer, list_: Pointer) -> int:
    stream = machine.stdin
    return scanned(machine, stream.get, stream.unget, format, list_, site)


@library(variadic=True)
def c_fscanf(machine: Machine, site: int, file: Pointer, format: Pointer, list_: Pointer) -> int:
    stream = machine.stream(file, site)
    return scanned(machine, stream.get, stream.unget, format, list_, site)


@library(variadic=True)
def c_sscanf(machine: Machine, site: int, text: Pointer, format: Pointer, list_: Pointer) -> int:
    stream = Stream("", machine.text(text, site), True, False)
    return scanned(machine, stream.get, stream.unget, format, list_, site)


@library()
def c_getchar(machine: Machine, site: int) -> int:
    return machine.stdin.get()


@library("getc", "fgetc")
def c_getc(machine: Machine, site: int, file: Pointer) -> int:
    return machine.stream(file, site).get()


@library()
def c_ungetc(machine: Machine, site: int, c: int, file: Pointer) -> int:
    stream = machine.stream(file, site)
    if c == -1:
        return -1
    stream.unget(c & 255)
    return c & 255


@library()
def c_gets(machine: Machine, site: int, to: Pointer) -> Pointer:
    raise Unavailable("`gets` cannot be used safely, and is not modelled: use `fgets`", site)


@library()
def c_fgets(machine: Machine, site: int, to: Pointer, size: int, file: Pointer) -> Pointer:
    stream = machine.stream(file, site)
    if size <= 0:
        return NULL
    line = bytearray()
    while len(line) < size - 1:
        byte = stream.get()
        if byte < 0:
            break
        line.append(byte)
        if byte == 10:
            break
    if not line and size > 1:
        return NULL
    machine.write(to, bytes(line) + b"\0", site)
    return to


@library()
def c_fread(machine: Machine, site: int, to: Pointer, size: int, count: int, file: Pointer) -> int:
    stream = machine.stream(file, site)
    data = bytearray()
    while len(data) < size * count:
        byte = stream.get()
        if byte < 0:
            break
        data.append(byte)
    machine.write(to, bytes(data), site)
    return len(data) // size if size else 0


# --- writing --------------------------------------------------------------------------------


@library()
def c_putchar(machine: Machine, site: int, c: int) -> int:
    machine.stdout.put(bytes([c & 255]))
    return c & 255


@library("putc", "fputc")
def c_putc(machine: Machine, site: int, c: int, file: Pointer) -> int:
    return c & 255 if _put(machine, machine.stream(file, site), bytes([c & 255])) == 1 else -1


@library()
def c_puts(machine: Machine, site: int, text: Pointer) -> int:
    content = machine.text(text, site) + b"\n"
    machine.stdout.put(content)
    return len(content)


@library()
def c_fputs(machine: Machine, site: int, text: Pointer, file: Pointer) -> int:
    content = machine.text(text, site)
    return 1 if _put(machine, machine.stream(file, site), content) >= 0 else -1


@library()
def c_fwrite(
    machine: Machine, site: int, start: Pointer, size: int, count: int, file: Pointer
) -> int:
    stream = machine.stream(file, site)
    written = _put(machine, stream, machine.read(start, size * count, site))
    return count if written >= 0 else 0


@library()
def c_perror(machine: Machine, site: int, text: Pointer) -> None:
    raise Unavailable("`perror`: the messages of the system are not modelled", site)


# --- files ----------------------------------------------------------------------------------


@library()
def c_fopen(machine: Machine, site: int, name: Pointer, mode: Pointer) -> Pointer:
    """Finds the files that the options provide, and those that the program wrote."""
    path = machine.text(name, site).decode("utf-8", "surrogateescape")
    how = machine.text(mode, site).decode("latin-1").replace("b", "").replace("t", "")
    if how not in ("r", "w", "a", "r+", "w+", "a+"):
        raise Undefined("call", f"`fopen` with the mode `{how}`", site)
    known = machine.file(path)
    if known is None and how in ("r", "r+"):
        machine.set_errno(2)
        return NULL
    content = b"" if known is None or how[0] == "w" else bytes(known.data)
    stream = Stream(path, content, how != "w" and how != "a", how != "r")
    stream.appends = how[0] == "a"
    machine.files[path] = stream
    if stream.writes and how[0] != "r":
        machine.written.add(path)
    return machine.opened(stream)


@library()
def c_fclose(machine: Machine, site: int, file: Pointer) -> int:
    machine.stream(file, site).open = False
    return 0


@library()
def c_fflush(machine: Machine, site: int, file: Pointer) -> int:
    if file != NULL:
        machine.stream(file, site)
    return 0


@library()
def c_feof(machine: Machine, site: int, file: Pointer) -> int:
    return int(machine.stream(file, site).at_end)


@library()
def c_ferror(machine: Machine, site: int, file: Pointer) -> int:
    return int(machine.stream(file, site).error)


@library()
def c_clearerr(machine: Machine, site: int, file: Pointer) -> None:
    stream = machine.stream(file, site)
    stream.at_end = stream.error = False


@library()
def c_fseek(machine: Machine, site: int, file: Pointer, offset: int, whence: int) -> int:
    stream = machine.stream(file, site)
    start = {0: 0, 1: stream.position - len(stream.pushed), 2: len(stream.data)}.get(whence)
    if start is None or start + offset < 0:
        return -1
    stream.position = start + offset
    if stream.position > len(stream.data) and stream.writes:
        stream.data += bytes(stream.position - len(stream.data))
    stream.pushed.clear()
    stream.at_end = False
    return 0


@library()
def c_ftell(machine: Machine, site: int, file: Pointer) -> int:
    stream = machine.stream(file, site)
    return stream.position - len(stream.pushed)


@library()
def c_rewind(machine: Machine, site: int, file: Pointer) -> None:
    c_fseek(machine, site, file, 0, 0)
    machine.stream(file, site).error = False


@library()
def c_setbuf(machine: Machine, site: int, file: Pointer, buffer: Pointer) -> None:
    machine.stream(file, site)


@library()
def c_setvbuf(
    machine: Machine, site: int, file: Pointer, buffer: Pointer, mode: int, size: int
) -> int:
    machine.stream(file, site)
    return 0


@library()
def c_remove(machine: Machine, site: int, name: Pointer) -> int:
    path = machine.text(name, site).decode("utf-8", "surrogateescape")
    machine.written.discard(path)
    return 0 if machine.remove(path) else -1
