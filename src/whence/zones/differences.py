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

__all__ = ["FAR", "Ints", "contradiction", "least_solution", "relax"]

Ints = npt.NDArray[np.int64]

#: No path found yet; as a weight, no edge.
FAR = 2**62


@kernel
def relax(
    source: Ints, target: Ints, weight: Ints, distance: Ints, parent: Ints, mark: Ints
) -> int:
    """Shortest distances from node 0 along edges source -> target; `mark` is room for it.

    Post: -1 and all distances (FAR: no path); or the number of an edge into a node from which
    `parent` (the edge into each node) leads back to a negative cycle.
    """
    nodes = distance.shape[0]
    edges = source.shape[0]
    for node in range(nodes):
        distance[node] = FAR
        parent[node] = -1
    distance[0] = 0
    look = 2
    for passed in range(nodes + 1):
        changed = -1
        for edge in range(edges):
            at = distance[source[edge]]
            if at != FAR and weight[edge] != FAR:
                through = at + weight[edge]
                if through < distance[target[edge]]:
                    distance[target[edge]] = through
                    parent[target[edge]] = edge
                    changed = edge
        if changed < 0:
            return -1
        if passed == look:
            # A cycle of parents is negative, and there is one long before the last pass.
            look += 2 + look // 4
            for node in range(nodes):
                mark[node] = -1
            for start in range(nodes):
                node = start
                while mark[node] < 0 and parent[node] >= 0:
                    mark[node] = start
                    node = source[parent[node]]
                if mark[node] == start and parent[node] >= 0:
                    return int(parent[node])
                mark[node] = start
    return changed


def least_solution(size: int, a: Ints, b: Ints, weight: Ints) -> tuple[Ints | None, Ints, int]:
    """The least T with T[0] = 0 and T[a] - T[b] <= weight for every constraint.

    Pre: the constraints bound every T from below by T[0].  Post: (T, parents, -1), or (None,
    parents, the number of a constraint) where there is no solution; :func:`contradiction` then
    finds a reason.
    """
    distance = np.empty(size, np.int64)
    parent = np.empty(size, np.int64)
    # With x = -T a constraint reads x[b] - x[a] <= weight; the greatest x are the distances.
    changed: Any = relax(a, b, weight, distance, parent, np.empty(size, np.int64))
    if changed < 0:
        return -distance, parent, -1
    return None, parent, int(changed)


def contradiction(a: Ints, b: Ints, parent: Ints, last: int) -> list[int]:
    """The numbers of constraints that cannot hold together: a negative cycle of a system that
    :func:`least_solution` found to have no solution."""
    back, before = parent.tolist(), a.tolist()
    seen: set[int] = set()
    node = int(b[last])
    while node not in seen:
        seen.add(node)
        node = before[back[node]]
    cycle = [back[node]]
    at = before[cycle[0]]
    while at != node:
        cycle.append(back[at])
        at = before[back[at]]
    return cycle
