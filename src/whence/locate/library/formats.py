"""The format strings of printf and scanf (C99, 7.19.6)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from whence.locate.arithmetic import single
from whence.locate.library.numbers import floating, integer
from whence.locate.machine import Machine
from whence.locate.memory import NULL, Pointer, Undefined

__all__ = ["formatted", "scanned"]

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|-?\d*))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>[diouxXeEfFgGaAcspn%])"
)


class _Arguments:
    """The arguments of `...`, one after the other; each stands in slots of 8 bytes."""

    def __init__(self, machine: Machine, list_: Pointer, site: int) -> None:
        self.machine = machine
        self.at = list_
        self.site = site

    def take(self, code: str) -> object:
        object, offset = self.at
        if offset + 8 > object.size:
            raise Undefined(
                "format", "the format asks for more arguments than there are", self.site
            )
        try:
            value: object = self.machine.get(self.at, code, self.site)  # type: ignore[valid-type]
        except Undefined as error:
            if error.kind != "uninitialised":
                raise
            raise Undefined(
                "format", "an argument is shorter than the format says", self.site
            ) from None
        self.at = (object, offset + 8)
        return value

    def integer(self, code: str) -> int:
        value = self.take(code)
        assert isinstance(value, int)
        return int(value)

    def pointer(self) -> Pointer:
        value = self.take("p")
        assert isinstance(value, tuple)
        return value


def _bits(machine: Machine, length: bytes) -> int:
    model = machine.model
    match length:
        case b"l":
            return model.long_bits
        case b"ll" | b"j":
            return 64
        case b"z" | b"t":
            return model.pointer_bits
    return model.int_bits


def formatted(machine: Machine, format: Pointer, list_: Pointer, site: int) -> bytes:
    """What printf prints."""
    text = machine.text(format, site)
    arguments = _Arguments(machine, list_, site)
    if b"%" not in text:
        return text
    pieces: list[bytes] = []
    position = 0
    while True:
        percent = text.find(b"%", position)
        if percent < 0:
            pieces.append(text[position:])
            return b"".join(pieces)
        pieces.append(text[position:percent])
        match = _CONVERSION.match(text, percent)
        if match is None:
            shown = text[percent : percent + 8].decode("latin-1")
            raise Undefined("format", f"no conversion of printf: `{shown}`", site)
        position = match.end()
        written = sum(map(len, pieces))
        pieces.append(_converted(machine, match, arguments, written, site))


def _converted(
    machine: Machine, match: re.Match[bytes], arguments: _Arguments, written: int, site: int
) -> bytes:
    kind = match["kind"]
    if kind == b"%":
        return b"%"
    flags = set(match["flags"].decode())
    width = _amount(machine, match["width"], arguments)
    if width is not None and width < 0:
        flags.add("-")
        width = -width
    precision = _amount(machine, match["precision"], arguments)
    if precision is not None and precision < 0:
        precision = None
    length = match["length"] or b""
    if kind in b"di":
        body = _signed(machine, length, flags, precision, arguments)
    elif kind in b"ouxX":
        body = _unsigned(machine, kind.decode(), length, flags, precision, arguments)
    elif kind in b"eEfFgGaA":
        body = _floating(kind.decode(), flags, precision, arguments)
    elif kind == b"c":
        return _padded(bytes([arguments.integer(machine.int_code) & 255]), width, flags - {"0"})
    elif kind == b"s":
        pointer = arguments.pointer()
        # glibc prints null pointers; C does not define it.
        if pointer == NULL:
            raise Undefined("null pointer", "a null pointer for `%s`", site)
        content = machine.text(pointer, site, precision)
        return _padded(content, width, flags - {"0"})
    elif kind == b"p":
        pointer = arguments.pointer()
        shown = "(nil)" if pointer == NULL else hex(machine.memory.address(pointer))
        return _padded(shown.encode(), width, flags - {"0"})
    else:
        pointer = arguments.pointer()
        machine.put(pointer, machine.int_code, written, site)
        return b""
    if precision is not None and kind in b"diouxX":
        flags.discard("0")
    if "n" in body.lower() and kind in b"eEfFgGaA":
        flags.discard("0")
    return _padded(body.encode(), width, flags)


def _amount(machine: Machine, text: bytes | None, arguments: _Arguments) -> int | None:
    if text is None:
        return None
    if text == b"*":
        return arguments.integer(machine.int_code)
    return int(text or b"0")


def _padded(body: bytes, width: int | None, flags: set[str]) -> bytes:
    if width is None or len(body) >= width:
        return body
    if "-" in flags:
        return body.ljust(width)
    if "0" in flags:
        start = 0
        if body[:1] in (b"-", b"+", b" "):
            start = 1
        if body[start : start + 2].lower() == b"0x":
            start += 2
        return body[:start] + body[start:].rjust(width - start, b"0")
    return body.rjust(width)


def _sign(negative: bool, flags: set[str]) -> str:
    if negative:
        return "-"
    return "+" if "+" in flags else " " if " " in flags else ""


def _digits(digits: str, precision: int | None) -> str:
    if precision is None:
        return digits
    if precision == 0 and digits == "0":
        return ""
    return digits.rjust(precision, "0")


def _signed(
    machine: Machine,
    length: bytes,
    flags: set[str],
    precision: int | None,
    arguments: _Arguments,
) -> str:
    value = arguments.integer(f"i{_bits(machine, length)}")
    if length in (b"h", b"hh"):
        bits = 16 if length == b"h" else 8
        value &= (1 << bits) - 1
        value -= (1 << bits) if value >> bits - 1 else 0
    return _sign(value < 0, flags) + _digits(str(abs(value)), precision)


def _unsigned(
    machine: Machine,
    kind: str,
    length: bytes,
    flags: set[str],
    precision: int | None,
    arguments: _Arguments,
) -> str:
    value = arguments.integer(f"u{_bits(machine, length)}")
    if length in (b"h", b"hh"):
        value &= 0xFFFF if length == b"h" else 0xFF
    base = {"o": "o", "u": "d", "x": "x", "X": "X"}[kind]
    digits = _digits(format(value, base), precision)
    if "#" in flags:
        if kind == "o" and not digits.startswith("0"):
            digits = "0" + digits
        elif kind in "xX" and value:
            digits = "0" + kind + digits
    return digits


def _floating(kind: str, flags: set[str], precision: int | None, arguments: _Arguments) -> str:
    value = arguments.take("f64")
    assert isinstance(value, float)
    negative = str(value).startswith("-")
    size = abs(value)
    if size != size or size == float("inf"):
        name = "nan" if size != size else "inf"
        return _sign(negative, flags) + (name.upper() if kind.isupper() else name)
    if kind in "aA":
        shown = _hexadecimal(size, precision)
        return _sign(negative, flags) + (shown.upper() if kind == "A" else shown)
    form = f"{'#' if '#' in flags else ''}.{6 if precision is None else precision}{kind}"
    return _sign(negative, flags) + format(size, form)


def _hexadecimal(size: float, precision: int | None) -> str:
    if precision is not None:
        # Rounded to that many hexadecimal digits.
        mantissa, exponent = size.hex().removeprefix("0x").split("p")
        whole, _, fraction = mantissa.partition(".")
        number = int(whole + fraction, 16)
        drop = 4 * (len(fraction) - precision)
        if drop > 0:
            half = 1 << drop - 1
            low = number & (1 << drop) - 1
            number >>= drop
            number += low > half or (low == half and number & 1)
        else:
            number <<= -drop
        digits = format(number, "x").rjust(precision + 1, "0")
        point = "." if precision else ""
        whole, fraction = digits[: len(digits) - precision], digits[len(digits) - precision :]
        return f"0x{whole}{point}{fraction}p{exponent}"
    mantissa, exponent = size.hex().removeprefix("0x").split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"0x{mantissa}p{exponent}"


# --- scanf ----------------------------------------------------------------------------------

_DIRECTIVE = re.compile(
    rb"%(?P<skip>\*)?(?P<width>\d+)?(?P<length>hh|h|ll|l|j|z|t|L)?"
    rb"(?P<kind>[diouxXeEfFgGaAcspn%]|\[\^?\]?[^\]]*\])"
)
_SPACE = b" \t\n\v\f\r"


@dataclass
class _Source:
    """Characters to scan: one may be looked at and given back."""

    get: Callable[[], int]
    unget: Callable[[int], None]
    taken: int = 0

    def next(self) -> int:
        byte = self.get()
        if byte >= 0:
            self.taken += 1
        return byte

    def back(self, byte: int) -> None:
        if byte >= 0:
            self.taken -= 1
            self.unget(byte)

    def skip_space(self) -> int:
        """The first character that is no space, given back; -1 at the end."""
        while True:
            byte = self.next()
            if byte < 0 or byte not in _SPACE:
                self.back(byte)
                return byte


class _Stop(Exception):
    """The input does not match, or (`at_end`) there is none."""

    def __init__(self, at_end: bool) -> None:
        super().__init__()
        self.at_end = at_end


def scanned(
    machine: Machine,
    get: Callable[[], int],
    unget: Callable[[int], None],
    format: Pointer,
    list_: Pointer,
    site: int,
) -> int:
    """What scanf returns: how many items were assigned, or -1."""
    text = machine.text(format, site)
    arguments = _Arguments(machine, list_, site)
    source = _Source(get, unget)
    assigned = 0
    position = 0
    try:
        while position < len(text):
            byte = text[position]
            if byte in _SPACE:
                source.skip_space()
                position += 1
                continue
            if byte != ord("%"):
                _expect(source, byte)
                position += 1
                continue
            match = _DIRECTIVE.match(text, position)
            if match is None:
                shown = text[position : position + 8].decode("latin-1")
                raise Undefined("format", f"no conversion of scanf: `{shown}`", site)
            position = match.end()
            assigned += _assign(machine, source, match, arguments, site)
    except _Stop as stop:
        return -1 if stop.at_end and assigned == 0 else assigned
    return assigned


def _expect(source: _Source, byte: int) -> None:
    found = source.next()
    if found != byte:
        source.back(found)
        raise _Stop(found < 0)


def _assign(
    machine: Machine, source: _Source, match: re.Match[bytes], arguments: _Arguments, site: int
) -> int:
    kind = match["kind"]
    if kind == b"%":
        source.skip_space()
        _expect(source, ord("%"))
        return 0
    width = int(match["width"]) if match["width"] else None
    length = match["length"] or b""
    skip = match["skip"] is not None
    if kind == b"n":
        if not skip:
            _put_integer(machine, arguments.pointer(), length, source.taken, site)
        return 0
    if kind == b"c" or kind.startswith(b"["):
        return _characters(machine, source, kind, width, skip, arguments, site)
    if source.skip_space() < 0:
        raise _Stop(True)
    if kind == b"s":
        word = _while(source, width, lambda byte: byte not in _SPACE)
        if not skip:
            machine.write(arguments.pointer(), word + b"\0", site)
        return 0 if skip else 1
    if kind in b"eEfFgGaA":
        word = _while_number(source, width, _FLOATING_PREFIX)
        value, used = floating(word)
        if not used:
            raise _Stop(False)
        if not skip:
            machine.put(
                arguments.pointer(),
                "f64" if length == b"l" else "f32",
                _fitted(value, length),
                site,
            )
        return 0 if skip else 1
    base = {b"i": 0, b"o": 8, b"x": 16, b"X": 16, b"p": 16}.get(kind, 10)
    word = _while_number(source, width, _INTEGER_PREFIX[base])
    value_, used, _ = integer(word, base)
    if not used:
        raise _Stop(False)
    if not skip:
        pointer = arguments.pointer()
        if kind == b"p":
            machine.put(pointer, "p", machine.memory.pointer(value_), site)
        else:
            _put_integer(machine, pointer, length, value_, site)
    return 0 if skip else 1


def _fitted(value: float, length: bytes) -> float:
    return value if length == b"l" else single(value)


def _put_integer(machine: Machine, pointer: Pointer, length: bytes, value: int, site: int) -> None:
    bits = {b"hh": 8, b"h": 16}.get(length) or _bits(machine, length)
    machine.put(pointer, f"u{bits}", value & (1 << bits) - 1, site)


def _while(source: _Source, width: int | None, accepts: Callable[[int], bool]) -> bytes:
    word = bytearray()
    while width is None or len(word) < width:
        byte = source.next()
        if byte < 0 or not accepts(byte):
            source.back(byte)
            break
        word.append(byte)
    return bytes(word)


_INTEGER_PREFIX = {
    10: re.compile(rb"[+-]?\d*\Z"),
    8: re.compile(rb"[+-]?[0-7]*\Z"),
    16: re.compile(rb"[+-]?(?:0[xX]?)?[0-9a-fA-F]*\Z"),
    0: re.compile(rb"[+-]?(?:0[xX][0-9a-fA-F]*|0[0-7]*|[1-9]\d*)?\Z"),
}
_FLOATING_PREFIX = re.compile(
    rb"[+-]?(?:\d*\.?\d*|\d+\.?\d*[eE][+-]?\d*|\d*\.\d+[eE][+-]?\d*"
    rb"|[iI][nN]?[fF]?|[nN][aA]?[nN]?)\Z"
)


def _while_number(source: _Source, width: int | None, prefix: re.Pattern[bytes]) -> bytes:
    """The longest input that begins a number."""
    word = bytearray()

    def accepts(byte: int) -> bool:
        if prefix.match(bytes(word) + bytes([byte])) is None:
            return False
        word.append(byte)
        return True

    return _while(source, width, accepts)


def _characters(
    machine: Machine,
    source: _Source,
    kind: bytes,
    width: int | None,
    skip: bool,
    arguments: _Arguments,
    site: int,
) -> int:
    if kind == b"c":
        wanted = width or 1
        word = _while(source, wanted, lambda byte: True)
        if len(word) < wanted:
            raise _Stop(True)
        end = b""
    else:
        accepted = _members(kind)
        word = _while(source, width, lambda byte: byte in accepted)
        if not word:
            byte = source.next()
            source.back(byte)
            raise _Stop(byte < 0)
        end = b"\0"
    if not skip:
        machine.write(arguments.pointer(), word + end, site)
    return 0 if skip else 1


def _members(kind: bytes) -> frozenset[int]:
    """The characters of `[...]`."""
    inner = kind[1:-1]
    negated = inner.startswith(b"^")
    inner = inner[negated:]
    members: set[int] = set()
    index = 0
    while index < len(inner):
        if index + 2 < len(inner) and inner[index + 1] == ord("-"):
            members |= set(range(inner[index], inner[index + 2] + 1))
            index += 3
        else:
            members.add(inner[index])
            index += 1
    return frozenset(set(range(256)) - members if negated else members)
