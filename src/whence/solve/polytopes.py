"""Small polytopes, by their half-spaces and their vertices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import gcd

__all__ = ["Polytope", "Vertex"]

#: (numerators, denominator)
Vertex = tuple[tuple[int, ...], int]


class Polytope:
    """The points d of a box that satisfy some weighted sums, k · d >= least, with exact vertices
    (the double description method of Motzkin, Raiffa, Thompson & Thrall 1953)."""

    def __init__(self, limits: Sequence[tuple[int, int]]) -> None:
        """Pre: each limit is (least, greatest)."""
        self._size = len(limits)
        self._sums = 0
        # For each vertex the sums that it satisfies with equality, as bits.
        self._tight: dict[Vertex, int] = {}
        corners: list[list[tuple[int, int]]] = []
        for least, greatest in limits:
            low, high = 1 << self._sums, 2 << self._sums
            self._sums += 2
            same = least == greatest
            corners.append([(least, low | high)] if same else [(least, low), (greatest, high)])
        for corner in product(*corners):
            self._tight[tuple(value for value, _ in corner), 1] = sum(bits for _, bits in corner)

    @property
    def vertices(self) -> list[Vertex]:
        return list(self._tight)

    def cut(self, coefficients: Mapping[int, int], least: int) -> None:
        """Keeps the points with this weighted sum, not all of whose coefficients are 0."""
        bit = 1 << self._sums
        terms = list(coefficients.items())
        slack = {
            vertex: sum(k * vertex[0][number] for number, k in terms) - least * vertex[1]
            for vertex in self._tight
        }
        inside = [vertex for vertex, value in slack.items() if value > 0]
        outside = [vertex for vertex, value in slack.items() if value < 0]
        if not outside:
            return
        self._sums += 1
        tight = {v: self._tight[v] | (0 if slack[v] else bit) for v in slack if slack[v] >= 0}
        for one in inside:
            for other in outside:
                common = self._tight[one] & self._tight[other]
                if self._adjacent(one, other, common):
                    tight[_between(one, slack[one], other, -slack[other])] = common | bit
        self._tight = tight

    def _adjacent(self, one: Vertex, other: Vertex, common: int) -> bool:
        """Whether an edge joins two vertices: no other one satisfies all that they both satisfy
        with equality."""
        return common.bit_count() >= self._size - 1 and not any(
            bits & common == common and vertex not in (one, other)
            for vertex, bits in self._tight.items()
        )


def _between(one: Vertex, slack: int, other: Vertex, missing: int) -> Vertex:
    """The point between two at which a sum is neither larger nor smaller than it must be."""
    numerators = [missing * x + slack * y for x, y in zip(one[0], other[0], strict=True)]
    denominator = missing * one[1] + slack * other[1]
    common = gcd(denominator, *numerators)
    return tuple(value // common for value in numerators), denominator // common
