"""Difference systems against Floyd and Warshall."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whence.zones.differences import contradiction, least_solution

Constraint = tuple[int, int, int]


@st.composite
def systems(draw: st.DrawFn) -> tuple[int, list[Constraint]]:
    """Constraints T[a] - T[b] <= c, among them that no moment is before the one before it."""
    size = draw(st.integers(2, 6))
    index = st.integers(0, size - 1)
    more = draw(st.lists(st.tuples(index, index, st.integers(-5, 6)), max_size=10))
    return size, [(i, i + 1, 0) for i in range(size - 1)] + [c for c in more if c[0] != c[1]]


@given(systems())
def test_the_least_solution_or_a_contradiction(system: tuple[int, list[Constraint]]) -> None:
    size, constraints = system
    a, b, weight = (np.array(column, np.int64) for column in zip(*constraints, strict=True))
    far = 10**9
    distance = [[0 if i == j else far for j in range(size)] for i in range(size)]
    for x, y, c in constraints:
        distance[x][y] = min(distance[x][y], c)
    for k in range(size):
        for i in range(size):
            for j in range(size):
                distance[i][j] = min(distance[i][j], distance[i][k] + distance[k][j])
    found, parent, last = least_solution(size, a, b, weight)
    if all(distance[i][i] >= 0 for i in range(size)):
        assert found is not None
        assert found.tolist() == [-distance[0][i] for i in range(size)]
        assert all(found[x] - found[y] <= c for x, y, c in constraints)
    else:
        assert found is None
        cycle = contradiction(a, b, parent, last)
        assert sum(int(weight[edge]) for edge in cycle) < 0
        assert sorted(int(a[edge]) for edge in cycle) == sorted(int(b[edge]) for edge in cycle)
