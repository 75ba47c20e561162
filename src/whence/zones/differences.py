"""Systems of difference constraints over many variables: a solution, or why there is none.

A zone keeps all pairs of its clocks tight.  Where the variables are the moments of a long trace
there are hundreds of them, but few constraints for each, and one solution or one contradiction is
all that is asked for: shortest paths in a sparse graph (Bellman and Ford).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from whence.zones.jit import kernel

__all__ = ["Ints", "contradiction", "least_solution", "relax"]

Ints = npt.NDArray[np.int64]

#: No path found yet.
FAR = 2**62


@kernel
def relax(source: Ints, target: Ints, weight: Ints, distance: Ints, parent: Ints) -> int:
    """Shortest distances from node 0 along edges source -> target.

    Post: -1 and all distances (FAR: no path); or the number of an edge that lies on, or is
    reached from, a negative cycle, along which `parent` leads back (by the edge into each node).
    """
    nodes = distance.shape[0]
    edges = source.shape[0]
    for node in range(nodes):
        distance[node] = FAR
        parent[node] = -1
    distance[0] = 0
    for _ in range(nodes + 1):
        changed = -1
        for edge in range(edges):
            at = distance[source[edge]]
            if at != FAR:
                through = at + weight[edge]
                if through < distance[target[edge]]:
                    distance[target[edge]] = through
                    parent[target[edge]] = edge
                    changed = edge
        if changed < 0:
            return -1
    return changed


def least_solution(size: int, a: Ints, b: Ints, weight: Ints) -> tuple[Ints | None, Ints]:
    """The least T with T[0] = 0 and T[a] - T[b] <= weight for every constraint.

    Pre: the constraints bound every T from below by T[0].  Post: (T, parents), or (None,
    parents) where there is no solution; :func:`contradiction` then finds a reason.
    """
    distance = np.empty(size, np.int64)
    parent = np.empty(size, np.int64)
    # With x = -T a constraint reads x[b] - x[a] <= weight; the greatest x are the distances.
    changed: Any = relax(a, b, weight, distance, parent)
    if changed < 0:
        return -distance, parent
    return None, parent


def contradiction(a: Ints, b: Ints, parent: Ints) -> list[int]:
    """The numbers of constraints that cannot hold together: a negative cycle of a system that
    :func:`least_solution` found to have no solution."""
    # Every cycle of parents is negative, and node 0 or a node with such a cycle behind it
    # has one: follow each node back until a node repeats.
    size = len(parent)
    state = [0] * size
    for start in range(size):
        path = []
        node = start
        while state[node] == 0 and parent[node] >= 0:
            state[node] = start + 1
            path.append(node)
            node = int(a[parent[node]])
        if path and state[node] == start + 1:
            cycle = []
            at = node
            while True:
                edge = int(parent[at])
                cycle.append(edge)
                at = int(a[edge])
                if at == node:
                    return cycle
        for visited in path:
            state[visited] = -1
        if state[node] == 0:
            state[node] = -1
    raise AssertionError("a system without a solution has a negative cycle")
