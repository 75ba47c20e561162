"""Small polytopes, by their half-spaces and their vertices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import gcd, lcm

import numpy as np

__all__ = ["Polytope", "Vertex"]

#: (numerators, denominator)
Vertex = tuple[tuple[int, ...], int]
_Row = tuple[tuple[int, ...], int]

#: How far floating point may be off where exact arithmetic decides afterwards.
_TOLERANCE = 1e-3


class Polytope:
    """The points d of a box that satisfy some weighted sums, k · d >= least.

    `vertices` are exact. Few dimensions and few sums are expected: all intersections of as many
    hyperplanes as there are dimensions are looked at.
    """

    def __init__(self, limits: Sequence[tuple[int, int]]) -> None:
        """Pre: each limit is (least, greatest)."""
        self._rows: list[_Row] = []
        size = len(limits)
        for number, (least, greatest) in enumerate(limits):
            unit = tuple(int(number == other) for other in range(size))
            self._rows.append((unit, least))
            self._rows.append((tuple(-k for k in unit), -greatest))
        corners = product(*(sorted(set(limit)) for limit in limits))
        self.vertices: list[Vertex] = [(corner, 1) for corner in corners]

    def cut(self, coefficients: Mapping[int, int], least: int) -> None:
        """Keeps the points with this weighted sum, not all of whose coefficients are 0."""
        size = len(self._rows[0][0])
        row = tuple(coefficients.get(number, 0) for number in range(size)), least
        kept = [vertex for vertex in self.vertices if _satisfies(vertex, row)]
        if len(kept) == len(self.vertices):
            return
        others, self._rows = self._rows, [*self._rows, row]
        # Where nothing is kept, nothing is on the hyperplane, either.
        if kept:
            known = set(kept)
            kept += [v for v in self._on(row, others) if v not in known]
        self.vertices = kept

    def _on(self, row: _Row, others: Sequence[_Row]) -> list[Vertex]:
        """The vertices on the hyperplane of a row."""
        size = len(row[0])
        systems = [(row, *rest) for rest in combinations(others, size - 1)]
        matrix = np.array([[k for k, _ in system] for system in systems], np.float64)
        right = np.array([[least for _, least in system] for system in systems], np.float64)
        regular = np.flatnonzero(np.abs(np.linalg.det(matrix)) > 0.5)
        points = np.linalg.solve(matrix[regular], right[regular][:, :, None])[:, :, 0]
        normals = np.array([k for k, _ in self._rows], np.float64)
        leasts = np.array([least for _, least in self._rows], np.float64)
        near = (points @ normals.T >= leasts - _TOLERANCE).all(axis=1)
        found: dict[Vertex, None] = {}
        for number in regular[near].tolist():
            vertex = _solved(systems[number])
            if all(_satisfies(vertex, row) for row in self._rows):
                found[vertex] = None
        return list(found)


def _satisfies(vertex: Vertex, row: _Row) -> bool:
    numerators, denominator = vertex
    return sum(k * n for k, n in zip(row[0], numerators, strict=True)) >= row[1] * denominator


def _solved(system: Sequence[_Row]) -> Vertex:
    """The one point on these hyperplanes."""
    size = len(system)
    rows = [[Fraction(k) for k in (*coefficients, least)] for coefficients, least in system]
    for column in range(size):
        pivot = next(number for number in range(column, size) if rows[number][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = rows[column][column]
        rows[column] = [value / scale for value in rows[column]]
        for number in range(size):
            factor = rows[number][column]
            if number != column and factor:
                rows[number] = [
                    x - factor * y for x, y in zip(rows[number], rows[column], strict=True)
                ]
    point = [row[size] for row in rows]
    denominator = lcm(*(value.denominator for value in point))
    numerators = tuple(int(value * denominator) for value in point)
    assert gcd(denominator, *numerators) == 1
    return numerators, denominator
