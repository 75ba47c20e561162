"""string.h: strings."""

from __future__ import annotations

from whence.locate.library.memory import _apart
from whence.locate.library.registry import library
from whence.locate.machine import Machine
from whence.locate.memory import NULL, Pointer

__all__: list[str] = []


def _moved(pointer: Pointer, by: int) -> Pointer:
    return (pointer[0], pointer[1] + by)


@library("strlen", "__builtin_strlen")
def c_strlen(machine: Machine, site: int, text: Pointer) -> int:
    return len(machine.text(text, site))


@library()
def c_strnlen(machine: Machine, site: int, text: Pointer, limit: int) -> int:
    return len(machine.text(text, site, limit))


@library("strcpy", "__builtin_strcpy")
def c_strcpy(machine: Machine, site: int, to: Pointer, start: Pointer) -> Pointer:
    text = machine.text(start, site)
    _apart(to, start, len(text) + 1, "strcpy", site)
    machine.write(to, text + b"\0", site)
    return to


@library()
def c_strncpy(machine: Machine, site: int, to: Pointer, start: Pointer, count: int) -> Pointer:
    text = machine.text(start, site, count)
    _apart(to, start, len(text), "strncpy", site)
    machine.memory.check(to, count, site, True)
    machine.write(to, text + bytes(count - len(text)), site)
    return to


@library()
def c_strcat(machine: Machine, site: int, to: Pointer, start: Pointer) -> Pointer:
    length = len(machine.text(to, site))
    machine.write(_moved(to, length), machine.text(start, site) + b"\0", site)
    return to


@library()
def c_strncat(machine: Machine, site: int, to: Pointer, start: Pointer, count: int) -> Pointer:
    length = len(machine.text(to, site))
    machine.write(_moved(to, length), machine.text(start, site, count) + b"\0", site)
    return to


def _difference(one: bytes, two: bytes) -> int:
    """The difference of the first bytes that differ; a string ends with a zero."""
    for a, b in zip(one + b"\0", two + b"\0", strict=False):
        if a != b:
            return a - b
    return 0


@library("strcmp", "strcoll", "__builtin_strcmp")
def c_strcmp(machine: Machine, site: int, left: Pointer, right: Pointer) -> int:
    return _difference(machine.text(left, site), machine.text(right, site))


@library()
def c_strncmp(machine: Machine, site: int, left: Pointer, right: Pointer, count: int) -> int:
    return _difference(machine.text(left, site, count), machine.text(right, site, count))


@library()
def c_strcasecmp(machine: Machine, site: int, left: Pointer, right: Pointer) -> int:
    return _difference(machine.text(left, site).lower(), machine.text(right, site).lower())


@library()
def c_strncasecmp(machine: Machine, site: int, left: Pointer, right: Pointer, count: int) -> int:
    one, two = machine.text(left, site, count), machine.text(right, site, count)
    return _difference(one.lower(), two.lower())


@library()
def c_strchr(machine: Machine, site: int, text: Pointer, c: int) -> Pointer:
    position = (machine.text(text, site) + b"\0").find(bytes([c & 255]))
    return NULL if position < 0 else _moved(text, position)


@library()
def c_strrchr(machine: Machine, site: int, text: Pointer, c: int) -> Pointer:
    position = (machine.text(text, site) + b"\0").rfind(bytes([c & 255]))
    return NULL if position < 0 else _moved(text, position)


@library()
def c_strstr(machine: Machine, site: int, text: Pointer, part: Pointer) -> Pointer:
    position = machine.text(text, site).find(machine.text(part, site))
    return NULL if position < 0 else _moved(text, position)


def _span(text: bytes, members: bytes, inside: bool) -> int:
    for position, byte in enumerate(text):
        if (byte in members) != inside:
            return position
    return len(text)


@library()
def c_strspn(machine: Machine, site: int, text: Pointer, members: Pointer) -> int:
    return _span(machine.text(text, site), machine.text(members, site), True)


@library()
def c_strcspn(machine: Machine, site: int, text: Pointer, members: Pointer) -> int:
    return _span(machine.text(text, site), machine.text(members, site), False)


@library()
def c_strpbrk(machine: Machine, site: int, text: Pointer, members: Pointer) -> Pointer:
    content = machine.text(text, site)
    position = _span(content, machine.text(members, site), False)
    return NULL if position == len(content) else _moved(text, position)


@library()
def c_strtok(machine: Machine, site: int, text: Pointer, members: Pointer) -> Pointer:
    separators = machine.text(members, site)
    start = machine.token if text == NULL else text
    if start == NULL:
        return NULL
    content = machine.text(start, site)
    skipped = _span(content, separators, True)
    if skipped == len(content):
        machine.token = NULL
        return NULL
    length = _span(content[skipped:], separators, False)
    found = _moved(start, skipped)
    if skipped + length == len(content):
        machine.token = NULL
    else:
        machine.write(_moved(found, length), b"\0", site)
        machine.token = _moved(found, length + 1)
    return found


@library()
def c_strdup(machine: Machine, site: int, text: Pointer) -> Pointer:
    content = machine.text(text, site) + b"\0"
    made = machine.allocate(len(content), f"the block of {len(content)} bytes", False)
    if made != NULL:
        machine.write(made, content, site)
    return made
