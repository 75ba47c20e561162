"""Random zones for the tests of ``whence.zones``, and comparison with the slow reference."""

from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from tests.reference import rational_zones as ref

from whence.zones import bounds, dbm

Matrix = npt.NDArray[np.int32]


def raw_bounds(low: int = -6, high: int = 8) -> st.SearchStrategy[int]:
    """Finite raw bounds with small constants."""
    return st.integers(2 * low, 2 * high + 1)


@st.composite
def systems(draw: st.DrawFn, n: int | None = None, low: int = -6) -> Matrix:
    """Matrices of bounds that need be neither canonical nor satisfiable."""
    n = draw(st.integers(2, 4)) if n is None else n
    matrix = np.empty((n, n), dtype=np.int32)
    dbm.universal(matrix)
    for _ in range(draw(st.integers(0, 2 * n))):
        i = draw(st.integers(0, n - 1))
        j = draw(st.integers(0, n - 1))
        raw = draw(raw_bounds(low))
        matrix[i, j] = min(int(matrix[i, j]), raw)
    return matrix


@st.composite
def zones(draw: st.DrawFn, n: int | None = None, largest: int = 6) -> Matrix:
    """Canonical matrices of non-empty zones: bounds drawn around a point of thirds."""
    n = draw(st.integers(2, 4)) if n is None else n
    matrix = np.empty((n, n), dtype=np.int32)
    dbm.universal(matrix)
    point = [Fraction(0)]
    point += [Fraction(draw(st.integers(0, 3 * largest)), 3) for _ in range(n - 1)]
    for _ in range(draw(st.integers(0, 2 * n))):
        i = draw(st.integers(0, n - 1))
        j = draw(st.sampled_from([k for k in range(n) if k != i]))
        c = ceil(point[i] - point[j]) + draw(st.sampled_from([0, 0, 0, 1, 2, 4]))
        strict = c > point[i] - point[j] and draw(st.booleans())
        matrix[i, j] = min(int(matrix[i, j]), 2 * c + (0 if strict else 1))
    assert dbm.close(matrix) == bounds.OK
    return matrix


@st.composite
def zone_lists(draw: st.DrawFn, n: int, most: int = 3) -> list[Matrix]:
    """Zones of one dimension."""
    return [draw(zones(n, largest=4)) for _ in range(draw(st.integers(0, most)))]


def polyhedron(matrix: Matrix) -> ref.Polyhedron:
    """The reference's view of a matrix."""
    return ref.from_matrix(matrix.tolist())


def assert_is(status: int, matrix: Matrix, expected: ref.Polyhedron) -> None:
    """The kernel's result has exactly the points of the reference's, in canonical form."""
    tightest = ref.tightest(expected)
    if tightest is None:
        assert status == bounds.EMPTY
        assert dbm.is_empty(matrix)
    else:
        assert status == bounds.OK
        assert not dbm.is_empty(matrix)
        assert matrix.tolist() == tightest
