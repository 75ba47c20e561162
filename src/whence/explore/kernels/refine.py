"""Partition refinement with weights, in O(m log² n) (after Valmari and Franceschinis, 2010).

The coarsest partition that refines a given one, and in which all states of a block have the same
sum of weights into each block, their own included. Weights are integers modulo `modulus`, so that
sums do not depend on the order of their terms.
"""

from __future__ import annotations

from typing import Any

from whence.zones.jit import internal, kernel

__all__ = ["refine"]

Array = Any


@internal
def _sink(elements: Array, key: Array, start: int, root: int, size: int) -> None:
    """Restore the heap `elements[start : start + size]`, largest key first, below `root`."""
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        if child + 1 < size:
            if key[elements[start + child]] < key[elements[start + child + 1]]:
                child += 1
        if key[elements[start + root]] >= key[elements[start + child]]:
            return
        other = elements[start + root]
        elements[start + root] = elements[start + child]
        elements[start + child] = other
        root = child


@internal
def _sort(elements: Array, key: Array, start: int, size: int) -> None:
    """Heap sort: in place, as kernels allocate nothing."""
    for root in range(size // 2 - 1, -1, -1):
        _sink(elements, key, start, root, size)
    for last in range(size - 1, 0, -1):
        other = elements[start]
        elements[start] = elements[start + last]
        elements[start + last] = other
        _sink(elements, key, start, 0, last)


@kernel
def refine(
    modulus: int,
    into: Array,  # the edges into state s are numbers into[s] .. into[s + 1]
    source: Array,
    weight: Array,
    elements: Array,  # the states, those of a block side by side
    place: Array,  # where in `elements` a state stands
    block: Array,
    first: Array,  # of a block: its states stand at first .. last in `elements`
    last: Array,
    blocks: int,
    work: Array,  # 7 rows of as many numbers as there are states
) -> int:
    """Refine the partition in `elements`, `block`, `first` and `last`; the number of blocks.

    Pre: `first` and `last` have room for a block per state. Post: the partition is the coarsest
    stable one that refines the given one.
    """
    total = work[0]
    touched = work[1]
    seen = work[2]
    marked = work[3]
    split = work[4]
    waiting = work[5]
    is_waiting = work[6]
    for state in range(elements.shape[0]):
        seen[state] = 0
        marked[state] = 0
        is_waiting[state] = 0
    for number in range(blocks):
        waiting[number] = number
        is_waiting[number] = 1
    to_do = blocks
    while to_do > 0:
        to_do -= 1
        splitter = waiting[to_do]
        is_waiting[splitter] = 0
        touches = 0
        for at in range(first[splitter], last[splitter]):
            state = elements[at]
            for edge in range(into[state], into[state + 1]):
                origin = source[edge]
                if seen[origin] == 0:
                    seen[origin] = 1
                    total[origin] = 0
                    touched[touches] = origin
                    touches += 1
                more = total[origin] + weight[edge]
                if more >= modulus:
                    more -= modulus
                total[origin] = more
        # The states with a weight into the splitter go to the front of their blocks.
        splits = 0
        for number in range(touches):
            origin = touched[number]
            seen[origin] = 0
            if total[origin] == 0:
                continue
            mine = block[origin]
            if marked[mine] == 0:
                split[splits] = mine
                splits += 1
            here = place[origin]
            there = first[mine] + marked[mine]
            other = elements[there]
            elements[there] = origin
            elements[here] = other
            place[origin] = there
            place[other] = here
            marked[mine] += 1
        for number in range(splits):
            mine = split[number]
            start = first[mine]
            end = last[mine]
            middle = start + marked[mine]
            marked[mine] = 0
            same = True
            for at in range(start + 1, middle):
                if total[elements[at]] != total[elements[start]]:
                    same = False
            if same:
                if middle == end:
                    continue
            else:
                _sort(elements, total, start, middle - start)
                for at in range(start, middle):
                    place[elements[at]] = at
            # Groups of one total each; the rest, of total 0, is a group too. The largest keeps
            # the name of the block: where the sums into the old block are equal, and into all
            # other groups, then so are those into the largest, which need not be looked at.
            best = start
            best_end = start
            at = start
            while at < end:
                to = at + 1
                if at >= middle:
                    to = end
                else:
                    while to < middle and total[elements[to]] == total[elements[at]]:
                        to += 1
                if to - at > best_end - best:
                    best = at
                    best_end = to
                at = to
            at = start
            while at < end:
                to = at + 1
                if at >= middle:
                    to = end
                else:
                    while to < middle and total[elements[to]] == total[elements[at]]:
                        to += 1
                if at != best:
                    first[blocks] = at
                    last[blocks] = to
                    for index in range(at, to):
                        block[elements[index]] = blocks
                    waiting[to_do] = blocks
                    is_waiting[blocks] = 1
                    to_do += 1
                    blocks += 1
                at = to
            first[mine] = best
            last[mine] = best_end
    return blocks
