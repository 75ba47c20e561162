"""Hash tables of what a search has seen: discrete states, and nodes that are equal.

Both are arrays whose places hold a fingerprint and a number, a power of two of them, probed one
after the other. They are enlarged from outside, by :func:`rehash` and :func:`rehash_nodes`.
"""

from __future__ import annotations

from typing import Any

from whence.explore.kernels.tables import COUNT_ROWS, NODE_ROW
from whence.zones import dbm
from whence.zones.jit import internal, kernel

__all__ = ["intern_row", "rehash", "rehash_nodes", "remember", "twin_of"]

_FINGERPRINT = 0xFFFFFFFF
#: Below 2**31, so that its product with the number of a row fits.
_ROW_MULTIPLIER = 0x51ED270B


# ------------------------------------------------------------------------------ discrete states


@internal
def _hash_row(row: Any, width: int) -> int:
    h = 0x2545F4914F6CDD1D
    # Two cells at a time: each fits into 32 bits, and the products are what takes time.
    for n in range(0, width - 1, 2):
        h = (h ^ int(row[n]) ^ (int(row[n + 1]) << 32)) * 0x5851F42D4C957F2D
        h = (h ^ (h >> 29)) & 0x7FFFFFFFFFFFFFFF
    if width & 1:
        h = (h ^ int(row[width - 1])) * 0x5851F42D4C957F2D
        h = (h ^ (h >> 29)) & 0x7FFFFFFFFFFFFFFF
    h = (h * 0x2127599BF4325C37) & 0x7FFFFFFFFFFFFFFF
    return h ^ (h >> 32)


@kernel
def rehash(rows: Any, slots: Any, count: int) -> None:
    """Fills an empty, larger hash table."""
    mask = slots.shape[0] - 1
    width = rows.shape[1]
    for row in range(count):
        h = _hash_row(rows[row], width)
        at = h & mask
        while slots[at] != 0:
            at = (at + 1) & mask
        slots[at] = ((h >> 20) & 0x7FFFFFFF) << 32 | (row + 1)


@internal
def intern_row(store: Any, memory: Any, width: int) -> int:
    """The number of the discrete state in memory, made if new; -1 where there is no room."""
    rows, slots, counts = store.rows, store.slots, store.counts
    mask = slots.shape[0] - 1
    h = _hash_row(memory, width)
    fingerprint = (h >> 20) & 0x7FFFFFFF
    at = h & mask
    while True:
        slot = slots[at]
        if slot == 0:
            break
        if slot >> 32 == fingerprint:
            row = (slot & _FINGERPRINT) - 1
            same = True
            for n in range(width):
                if rows[row, n] != memory[n]:
                    same = False
                    break
            if same:
                return int(row)
        at = (at + 1) & mask
    row = counts[COUNT_ROWS]
    if row >= rows.shape[0] or 5 * row >= 3 * slots.shape[0]:
        return -1
    for n in range(width):
        rows[row, n] = memory[n]
    slots[at] = fingerprint << 32 | (row + 1)
    store.head[row] = -1
    counts[COUNT_ROWS] = row + 1
    return int(row)


# ------------------------------------------------------------------------------------ equal nodes


@internal
def _hash_node(row: int, zone: Any) -> int:
    h = dbm.hash_matrix(zone) ^ (row * _ROW_MULTIPLIER)
    return int(h ^ (h >> 29))


@kernel
def rehash_nodes(nodes: Any, zones: Any, twins: Any, count: int) -> None:
    """Fills an empty, larger hash table."""
    mask = twins.shape[0] - 1
    for node in range(count):
        h = _hash_node(nodes[node, NODE_ROW], zones[node])
        at = h & mask
        while twins[at] != 0:
            at = (at + 1) & mask
        twins[at] = ((h >> 20) & 0x7FFFFFFF) << 32 | (node + 1)


@internal
def twin_of(store: Any, row: int, zone: Any) -> int:
    """The node that has this discrete state and this zone; if there is none, -1 less the place of
    the hash table where it belongs."""
    twins = store.twins
    mask = twins.shape[0] - 1
    h = _hash_node(row, zone)
    fingerprint = (h >> 20) & 0x7FFFFFFF
    at = h & mask
    while twins[at] != 0:
        if twins[at] >> 32 == fingerprint:
            node = (twins[at] & _FINGERPRINT) - 1
            if store.nodes[node, NODE_ROW] == row and dbm.equal(store.zones[node], zone):
                return int(node)
        at = (at + 1) & mask
    return int(-1 - at)


@internal
def remember(store: Any, row: int, zone: Any, node: int, place: int) -> None:
    h = _hash_node(row, zone)
    store.twins[place] = ((h >> 20) & 0x7FFFFFFF) << 32 | (node + 1)
