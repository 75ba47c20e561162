"""Vertices of polytopes, against all intersections of their hyperplanes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from whence.solve.polytopes import Polytope

Row = tuple[tuple[int, ...], int]
Point = tuple[Fraction, ...]


def meeting_point(rows: Sequence[Row]) -> Point | None:
    """The one point on all these hyperplanes; None if there is none, or more than one."""
    size = len(rows)
    matrix = [[Fraction(k) for k in (*coefficients, least)] for coefficients, least in rows]
    for column in range(size):
        pivot = next((n for n in range(column, size) if matrix[n][column]), None)
        if pivot is None:
            return None
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        by = matrix[column][column]
        matrix[column] = [value / by for value in matrix[column]]
        for n in range(size):
            if n != column:
                factor = matrix[n][column]
                matrix[n] = [x - factor * y for x, y in zip(matrix[n], matrix[column], strict=True)]
    return tuple(row[size] for row in matrix)


def vertices(rows: Sequence[Row], size: int) -> set[Point]:
    points = (meeting_point(some) for some in combinations(rows, size))
    return {
        point
        for point in points
        if point is not None
        and all(
            sum(k * x for k, x in zip(coefficients, point, strict=True)) >= least
            for coefficients, least in rows
        )
    }


@st.composite
def polytopes(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[Row]]:
    size = draw(st.sampled_from([1, 2, 2, 3, 3, 4]))
    limits = [(draw(st.integers(-6, 0)), draw(st.integers(0, 6))) for _ in range(size)]
    coefficients = st.tuples(*[st.integers(-3, 3)] * size).filter(any)
    cuts = draw(st.lists(st.tuples(coefficients, st.integers(-9, 5)), max_size=5))
    return limits, cuts


@given(polytopes())
def test_vertices(drawn: tuple[list[tuple[int, int]], list[Row]]) -> None:
    limits, cuts = drawn
    size = len(limits)
    polytope = Polytope(limits)
    rows: list[Row] = []
    for number, (least, greatest) in enumerate(limits):
        rows.append((tuple(int(number == n) for n in range(size)), least))
        rows.append((tuple(-int(number == n) for n in range(size)), -greatest))
    for coefficients, least in cuts:
        polytope.cut(dict(enumerate(coefficients)), least)
        rows.append((coefficients, least))
        found = [tuple(Fraction(n, d) for n in numerators) for numerators, d in polytope.vertices]
        assert len(set(found)) == len(found)
        assert set(found) == vertices(rows, size)
