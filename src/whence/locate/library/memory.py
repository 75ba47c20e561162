"""malloc and its kin, and the functions of string.h on rows of bytes."""

from __future__ import annotations

from whence.locate.library.registry import library
from whence.locate.machine import Machine
from whence.locate.memory import NULL, Object, Pointer, Undefined

__all__: list[str] = []


@library()
def c_malloc(machine: Machine, site: int, size: int) -> Pointer:
    return machine.allocate(size, f"the block of {size} bytes", False)


@library()
def c_calloc(machine: Machine, site: int, count: int, size: int) -> Pointer:
    return machine.allocate(count * size, f"the block of {count * size} bytes", True)


def _block(machine: Machine, pointer: Pointer, site: int, what: str) -> Object:
    object, offset = pointer
    if object.heap and object.size < 0:
        raise Undefined("double free", f"`{what}` of {object.name}, which was freed before", site)
    if not object.heap or offset != 0:
        raise Undefined("invalid free", f"`{what}` of a pointer that `malloc` did not return", site)
    return object


@library()
def c_free(machine: Machine, site: int, pointer: Pointer) -> None:
    if pointer != NULL:
        machine.memory.end(_block(machine, pointer, site, "free"))


@library()
def c_realloc(machine: Machine, site: int, pointer: Pointer, size: int) -> Pointer:
    if pointer == NULL:
        return _malloc(machine, site, size)
    block = _block(machine, pointer, site, "realloc")
    if size == 0:
        machine.memory.end(block)
        return NULL
    made = _malloc(machine, site, size)
    if made != NULL:
        machine.copy(made, pointer, min(size, block.extent), site)
        machine.memory.end(block)
    return made


def _malloc(machine: Machine, site: int, size: int) -> Pointer:
    return machine.allocate(size, f"the block of {size} bytes", False)


def _apart(to: Pointer, start: Pointer, size: int, name: str, site: int) -> None:
    if to[0] is start[0] and abs(to[1] - start[1]) < size and size:
        raise Undefined("overlap", f"`{name}` between places that overlap", site)


@library("memcpy", "__builtin_memcpy")
def c_memcpy(machine: Machine, site: int, to: Pointer, start: Pointer, size: int) -> Pointer:
    if to != start:
        _apart(to, start, size, "memcpy", site)
    machine.copy(to, start, size, site)
    return to


@library()
def c_memmove(machine: Machine, site: int, to: Pointer, start: Pointer, size: int) -> Pointer:
    machine.copy(to, start, size, site)
    return to


@library("memset", "__builtin_memset")
def c_memset(machine: Machine, site: int, to: Pointer, value: int, size: int) -> Pointer:
    if size:
        machine.memory.check(to, size, site, True)
    machine.write(to, bytes([value & 255]) * size, site)
    return to


@library()
def c_memcmp(machine: Machine, site: int, left: Pointer, right: Pointer, size: int) -> int:
    one, two = machine.read(left, size, site), machine.read(right, size, site)
    return _compared(one, two)


def _compared(one: bytes, two: bytes) -> int:
    """The difference of the first bytes that differ."""
    for a, b in zip(one, two, strict=True):
        if a != b:
            return a - b
    return 0


@library()
def c_memchr(machine: Machine, site: int, start: Pointer, value: int, size: int) -> Pointer:
    position = machine.read(start, size, site).find(bytes([value & 255]))
    return NULL if position < 0 else (start[0], start[1] + position)
