"""ISO 15765-2 in the plainest form: cutting messages into frames, and finding them again.

Addresses are numbers, frames are (time, address, bytes) with the time in nanoseconds or None, in
the order of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Timed = tuple[int | None, int, bytes]


@dataclass(frozen=True)
class Found:
    """`whole`: the payload is that of a message; otherwise what is left of one, or a bad frame.
    `start` is the number of the frame that it begins with."""

    address: int
    start: int
    payload: bytes
    first: int | None
    last: int | None
    whole: bool


def segments(
    payload: bytes, size: int = 8, prefix: bytes = b"", pad: int | None = 0x55
) -> list[bytes]:
    """The frames of a message: of up to `size` bytes, each starting with `prefix`."""
    n, p = len(payload), len(prefix)
    if n <= 7 - p:
        return [_padded(prefix + bytes([n]) + payload, 8, pad)]
    if size > 8 and n <= size - 2 - p:
        return [_padded(prefix + bytes([0, n]) + payload, _fd_size(p + 2 + n), 0xCC)]
    if n <= 0xFFF:
        head = prefix + bytes([0x10 | n >> 8, n & 0xFF])
    else:
        head = prefix + b"\x10\x00" + n.to_bytes(4, "big")
    frames = [head + payload[: size - len(head)]]
    rest = payload[size - len(head) :]
    number = 1
    while rest:
        room = size - p - 1
        frame = prefix + bytes([0x20 | number % 16]) + rest[:room]
        rest = rest[room:]
        number += 1
        if not rest:
            frame = _padded(frame, 8 if size == 8 else _fd_size(len(frame)), pad)
        frames.append(frame)
    return frames


def _fd_size(length: int) -> int:
    return next(size for size in (8, 12, 16, 20, 24, 32, 48, 64) if size >= length)


def _padded(frame: bytes, size: int, pad: int | None) -> bytes:
    if pad is None and len(frame) <= 8:
        return frame
    return frame + bytes([pad or 0]) * (size - len(frame))


def messages(
    frames: Sequence[Timed], partner: dict[int, int], patience: int = 1_000_000_000
) -> list[Found]:
    """All messages of all addresses, each address looked at on its own."""
    found: list[Found] = []
    for address in partner:
        found += _of_address(frames, address, partner[address], patience)
    return sorted(found, key=lambda item: (item.start, item.address, item.whole))


def _of_address(frames: Sequence[Timed], address: int, partner: int, patience: int) -> list[Found]:
    found: list[Found] = []
    for number, (time, source, data) in enumerate(frames):
        if source != address:
            continue
        kind = data[0] >> 4 if data else -1
        bad = Found(address, number, data, time, time, False)
        single = _single(data)
        if single is not None:
            found.append(Found(address, number, single, time, time, True))
        elif _begins(data):
            found.append(_follow(frames, number, partner, patience)[0])
        elif kind == 2:
            if _is_stray(frames, number, partner, patience):
                found.append(bad)
        elif not (kind == 3 and len(data) >= 3 and data[0] % 16 <= 2):
            found.append(bad)
    return found


def _single(data: bytes) -> bytes | None:
    """The payload, if this is a single frame."""
    if not data or data[0] >> 4 != 0:
        return None
    if len(data) <= 8:
        length, start = data[0] % 16, 1
    elif data[0] == 0:
        length, start = data[1], 2
    else:
        return None
    return data[start : start + length] if 0 < length <= len(data) - start else None


def _first(data: bytes) -> tuple[int, bytes]:
    """What a first frame announces, and the start of it that it has."""
    length = (data[0] % 16) * 256 + data[1]
    if length == 0:
        return int.from_bytes(data[2:6], "big"), data[6:]
    return length, data[2:]


def _begins(data: bytes) -> bool:
    if len(data) < 8 or data[0] >> 4 != 1:
        return False
    length, there = _first(data)
    return len(there) < length <= 2**26


def _follow(
    frames: Sequence[Timed], begin: int, partner: int, patience: int
) -> tuple[Found, set[int]]:
    """What becomes of the message that begins there, and the consecutive frames that were looked
    at for it: those it took, and the one that was wrong."""
    start, address, head = frames[begin]
    length, payload = _first(head)
    last = timer = start
    used: set[int] = set()
    expected = 1
    whole = False
    for number in range(begin + 1, len(frames)):
        time, source, data = frames[number]
        if source not in (address, partner):
            continue
        if timer is not None and time is not None and time - timer > patience:
            break
        kind = data[0] >> 4 if data else -1
        if source == partner:
            if kind == 3 and len(data) >= 3 and data[0] % 16 == 2:
                break
            if kind == 3 and len(data) >= 3 and data[0] % 16 < 2:
                timer = time
        elif kind == 2:
            used.add(number)
            missing = length - len(payload)
            if data[0] % 16 != expected % 16:
                break
            if len(data) - 1 < missing and len(data) != len(head):
                break
            payload += data[1 : 1 + missing]
            last = timer = time
            expected += 1
            if len(payload) == length:
                whole = True
                break
        elif _single(data) is not None or _begins(data):
            break
    return Found(address, begin, payload, start, last, whole), used


def _is_stray(frames: Sequence[Timed], number: int, partner: int, patience: int) -> bool:
    """Whether a consecutive frame is the first since the last beginning of a message (or of the
    log) that belongs to none: not to a whole one, and not to one that was given up."""
    address = frames[number][1]
    own = [at for at in range(number) if frames[at][1] == address]
    beginnings = [at for at in own if _single(frames[at][2]) is not None or _begins(frames[at][2])]
    since = beginnings[-1] if beginnings else -1
    used: set[int] = set()
    if beginnings and _begins(frames[since][2]):
        message, used = _follow(frames, since, partner, patience)
        if not message.whole:
            return False
    earlier = [at for at in own if at > since and frames[at][2][:1] and frames[at][2][0] >> 4 == 2]
    return number not in used and all(at in used for at in earlier)
