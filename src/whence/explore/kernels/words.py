"""Kernels over transition systems as arrays: signatures of states, and predecessors of sets."""

from __future__ import annotations

from typing import Any

from whence.zones.jit import internal, kernel

__all__ = ["add_sources", "differing", "extensions", "number_signatures", "signatures"]

# Constants of two multiplicative hashes; a collision is found out (see `differing`).
_FIRST = 0x9E3779B97F4A7C15 - 2**64
_SECOND = 0xC2B2AE3D27D4EB4F - 2**64


@internal
def _sort(keys: Any, count: int) -> None:
    """Shell's sort: lists of keys are short."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, count):
            key = keys[at]
            back = at
            while back >= gap and keys[back - gap] > key:
                keys[back] = keys[back - gap]
                back -= gap
            keys[back] = key
        gap //= 3


@internal
def _keys_of(
    state: int,
    start: Any,
    action: Any,
    target: Any,
    block: Any,
    blocks: int,
    inner: bool,
    keys: Any,
) -> int:
    """The different (action, block of target) pairs of a state, sorted: how many. Unless
    `inner`, transitions within the state's own block are left out."""
    count = 0
    own = block[state]
    for edge in range(start[state], start[state + 1]):
        other = block[target[edge]]
        if inner or other != own:
            keys[count] = action[edge] * blocks + other
            count += 1
    _sort(keys, count)
    different = 0
    for at in range(count):
        if at == 0 or keys[at] != keys[at - 1]:
            keys[different] = keys[at]
            different += 1
    return different


@kernel
def signatures(
    start: Any,
    action: Any,
    target: Any,
    block: Any,
    blocks: int,
    inner: bool,
    keys: Any,
    first: Any,
    second: Any,
) -> None:
    """Two hashes of each state's block and signature. `keys` has room for the largest degree."""
    for state in range(start.shape[0] - 1):
        count = _keys_of(state, start, action, target, block, blocks, inner, keys)
        one = (block[state] + 1) * _FIRST
        two = (block[state] + 7) * _SECOND
        for at in range(count):
            one = (one ^ (one >> 29)) * _SECOND + keys[at] * _FIRST
            two = (two ^ (two >> 31)) * _FIRST + (keys[at] + 1) * _SECOND
        first[state] = one ^ (one >> 32)
        second[state] = two ^ (two >> 27)


@kernel
def number_signatures(first: Any, second: Any, slots: Any, block: Any, example: Any) -> int:
    """Numbers equal pairs of hashes in order of appearance: how many there are. `example` gets
    the first state of each. Pre: `slots` is full of -1, and its length a power of two above the
    number of states."""
    mask = slots.shape[0] - 1
    count = 0
    for state in range(first.shape[0]):
        slot = first[state] & mask
        while True:
            other = slots[slot]
            if other < 0:
                slots[slot] = state
                block[state] = count
                example[count] = state
                count += 1
                break
            if first[other] == first[state] and second[other] == second[state]:
                block[state] = block[other]
                break
            slot = (slot + 1) & mask
    return count


@kernel
def differing(
    start: Any,
    action: Any,
    target: Any,
    block: Any,
    blocks: int,
    inner: bool,
    example: Any,
    coarse: Any,
    keys: Any,
    others: Any,
) -> int:
    """A state whose signature is not that of the example of its block, or -1."""
    for state in range(start.shape[0] - 1):
        other = example[block[state]]
        if other == state:
            continue
        if coarse[other] != coarse[state]:
            return state
        count = _keys_of(state, start, action, target, block, blocks, inner, keys)
        if _keys_of(other, start, action, target, block, blocks, inner, others) != count:
            return state
        for at in range(count):
            if keys[at] != others[at]:
                return state
    return -1


@kernel
def extensions(
    members: Any,
    reached: Any,
    minimal: Any,
    into_start: Any,
    into_source: Any,
    into_action: Any,
    start: Any,
    action: Any,
    target: Any,
    found: Any,
) -> int:
    """Fills `found` with the (action, state) pairs of states outside `reached` with a transition
    into `minimal` (whose members are listed) and none of the same action into the rest of
    `reached`: how many; negative: so much room is needed. Transitions of a state are sorted by
    action."""
    count = 0
    for at in range(members.shape[0]):
        member = members[at]
        for edge in range(into_start[member], into_start[member + 1]):
            state = into_source[edge]
            if reached[state]:
                continue
            letter = into_action[edge]
            fine = True
            for other in range(start[state], start[state + 1]):
                if action[other] != letter:
                    continue
                goal = target[other]
                if not reached[goal]:
                    continue
                # Of several ways into `minimal`, one is enough: the one to the first member.
                if not minimal[goal] or (goal < member):
                    fine = False
                    break
            if fine:
                if count < found.shape[0]:
                    found[count, 0] = letter
                    found[count, 1] = state
                count += 1
    return count if count <= found.shape[0] else -count


@kernel
def add_sources(source: Any, target: Any, begin: int, end: int, reached: Any, result: Any) -> None:
    """Adds the sources of transitions `begin .. end - 1` whose targets are in `reached`."""
    for edge in range(begin, end):
        if reached[target[edge]]:
            result[source[edge]] = True
