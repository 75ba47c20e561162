"""Zones the slow and obvious way, to test ``whence.zones`` against.

A set of clock valuations is a conjunction of linear inequalities over the rationals; existential
quantification is Fourier-Motzkin elimination; a set is empty if eliminating every variable
leaves a contradiction.  Each operation is written down from its definition as a set of points.
Nothing here knows about difference-bound matrices but :func:`from_matrix` and :func:`tightest`,
which decode and encode the raw bounds of one; no code is shared with the package.

Clocks are numbered as in the package: clock 0 is the constant zero, clocks 1 .. n-1 are the
variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd

INFINITE = 2**31 - 1
"""The raw bound without a constant, as specified."""


@dataclass(frozen=True)
class Row:
    """``sum(coefficients[k] * variable_k) < constant``, or ``<=`` if not strict."""

    coefficients: tuple[int, ...]
    constant: Fraction
    strict: bool

    def negated(self) -> Row:
        return Row(tuple(-a for a in self.coefficients), -self.constant, not self.strict)

    def holds(self, values: Sequence[Fraction | int]) -> bool:
        total = sum((a * v for a, v in zip(self.coefficients, values, strict=True)), Fraction(0))
        return total < self.constant or (total == self.constant and not self.strict)


@dataclass(frozen=True)
class Polyhedron:
    """The points that satisfy every row.  ``width`` is the number of variables."""

    width: int
    rows: tuple[Row, ...]


def polyhedron(width: int, rows: Iterable[Row]) -> Polyhedron:
    """Rows divided by their common factor, of parallel ones the tightest, without trivial ones."""
    tightest_rows: dict[tuple[int, ...], Row] = {}
    for row in rows:
        divisor = gcd(*row.coefficients) or 1
        scaled = Row(
            tuple(a // divisor for a in row.coefficients), row.constant / divisor, row.strict
        )
        if not any(scaled.coefficients) and scaled.holds([0] * width):
            continue
        known = tightest_rows.get(scaled.coefficients)
        if known is None or (scaled.constant, not scaled.strict) < (
            known.constant,
            not known.strict,
        ):
            tightest_rows[scaled.coefficients] = scaled
    return Polyhedron(width, tuple(tightest_rows.values()))


def eliminate(p: Polyhedron, k: int) -> Polyhedron:
    """The points that are in p for some value of variable k (Fourier-Motzkin)."""
    rows = [row for row in p.rows if row.coefficients[k] == 0]
    above = [row for row in p.rows if row.coefficients[k] > 0]
    below = [row for row in p.rows if row.coefficients[k] < 0]
    for a, b in product(above, below):
        fa, fb = -b.coefficients[k], a.coefficients[k]
        rows.append(
            Row(
                tuple(fa * x + fb * y for x, y in zip(a.coefficients, b.coefficients, strict=True)),
                fa * a.constant + fb * b.constant,
                a.strict or b.strict,
            )
        )
    return polyhedron(p.width, rows)


def is_empty(p: Polyhedron) -> bool:
    for k in range(p.width):
        p = eliminate(p, k)
    return bool(p.rows)  # a row without variables that does not hold


def conjunction(p: Polyhedron, rows: Iterable[Row]) -> Polyhedron:
    return polyhedron(p.width, (*p.rows, *rows))


def difference_row(n: int, i: int, j: int, c: Fraction | int, strict: bool) -> Row:
    """``x_i - x_j < c`` or ``<= c`` over the clocks 1 .. n-1."""
    coefficients = [0] * n
    coefficients[i] += 1
    coefficients[j] -= 1
    return Row(tuple(coefficients[1:]), Fraction(c), strict)


def raw_row(n: int, i: int, j: int, raw: int) -> Row:
    """A raw bound: odd is weak, even is strict, the constant is half of it."""
    return difference_row(n, i, j, raw // 2, raw % 2 == 0)


def not_negative(n: int) -> list[Row]:
    return [difference_row(n, 0, i, 0, False) for i in range(1, n)]


def from_matrix(matrix: Sequence[Sequence[int]]) -> Polyhedron:
    """The points with non-negative clocks that satisfy every bound of a matrix."""
    n = len(matrix)
    rows = [
        raw_row(n, i, j, int(matrix[i][j]))
        for i in range(n)
        for j in range(n)
        if matrix[i][j] != INFINITE
    ]
    return polyhedron(n - 1, rows + not_negative(n))


def supremum(p: Polyhedron, i: int, j: int) -> tuple[Fraction, bool] | None:
    """The least ``(c, strict)`` such that ``x_i - x_j < c`` or ``<= c`` holds in p."""
    extra = p.width
    wide = [Row((*row.coefficients, 0), row.constant, row.strict) for row in p.rows]
    link = [0] * (p.width + 2)  # y - x_i + x_j = 0, with index 0 for clock 0
    link[extra + 1] += 1
    link[i] -= 1
    link[j] += 1
    equation = Row(tuple(link[1:]), Fraction(0), False)
    opposite = Row(tuple(-a for a in link[1:]), Fraction(0), False)
    q = polyhedron(p.width + 1, (*wide, equation, opposite))
    for k in range(p.width):
        q = eliminate(q, k)
    for row in q.rows:
        if row.coefficients[extra] > 0:
            return row.constant / row.coefficients[extra], row.strict
    return None


def tightest(p: Polyhedron) -> list[list[int]] | None:
    """The matrix of tightest raw bounds on all differences; None if p is empty."""
    if is_empty(p):
        return None
    n = p.width + 1
    result = [[INFINITE] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            bound = (Fraction(0), False) if i == j else supremum(p, i, j)
            if bound is not None:
                assert bound[0].denominator == 1
                result[i][j] = 2 * int(bound[0]) + (0 if bound[1] else 1)
    return result


def contains(p: Polyhedron, clocks: Sequence[Fraction | int]) -> bool:
    """Whether a point is in p; ``clocks[i]`` is the value of clock i, ``clocks[0]`` zero."""
    return all(row.holds(clocks[1:]) for row in p.rows)


# --- the operations of timed automata, each from its definition as a set -----------------------


def _later(p: Polyhedron, direction: int) -> Polyhedron:
    """{w | w - direction*t in p for some t >= 0}."""
    rows = [
        Row((*row.coefficients, -direction * sum(row.coefficients)), row.constant, row.strict)
        for row in p.rows
    ]
    rows.append(Row((*[0] * p.width, -1), Fraction(0), False))
    q = eliminate(polyhedron(p.width + 1, rows), p.width)
    return polyhedron(
        p.width, [Row(row.coefficients[:-1], row.constant, row.strict) for row in q.rows]
    )


def delay(p: Polyhedron) -> Polyhedron:
    """{v + t | v in p, t >= 0}."""
    return _later(p, 1)


def past(p: Polyhedron) -> Polyhedron:
    """{v | v + t in p, t >= 0, v >= 0}."""
    return conjunction(_later(p, -1), not_negative(p.width + 1))


def free(p: Polyhedron, i: int) -> Polyhedron:
    return conjunction(eliminate(p, i - 1), not_negative(p.width + 1))


def assign(p: Polyhedron, i: int, j: int, c: int) -> Polyhedron:
    """x_i := x_j + c for another clock j (0 for a reset)."""
    n = p.width + 1
    return conjunction(
        eliminate(p, i - 1),
        [difference_row(n, i, j, c, False), difference_row(n, j, i, -c, False)],
    )


def shift(p: Polyhedron, i: int, amount: int) -> Polyhedron:
    """x_i := x_i + amount, where that is not negative."""
    moved = [
        Row(row.coefficients, row.constant + row.coefficients[i - 1] * amount, row.strict)
        for row in p.rows
    ]
    return polyhedron(p.width, moved + not_negative(p.width + 1))


def project(p: Polyhedron, keep: Sequence[int]) -> Polyhedron:
    for i in range(1, p.width + 1):
        if i not in keep:
            p = eliminate(p, i - 1)
    return polyhedron(
        len(keep) - 1,
        [
            Row(tuple(row.coefficients[i - 1] for i in keep[1:]), row.constant, row.strict)
            for row in p.rows
        ],
    )


def embed(p: Polyhedron, places: Sequence[int], n: int) -> Polyhedron:
    rows = []
    for row in p.rows:
        coefficients = [0] * n
        for k, a in enumerate(row.coefficients, start=1):
            coefficients[places[k]] = a
        rows.append(Row(tuple(coefficients[1:]), row.constant, row.strict))
    return polyhedron(n - 1, rows + not_negative(n))


# --- sets: finite unions ------------------------------------------------------------------------


def includes(p: Polyhedron, q: Polyhedron) -> bool:
    """Whether q is a subset of p."""
    return all(is_empty(conjunction(q, [row.negated()])) for row in p.rows)


def covered(p: Polyhedron, others: Sequence[Polyhedron]) -> bool:
    """Whether p is a subset of the union of the others."""
    if is_empty(p):
        return True
    if not others:
        return False
    first, rest = others[0], others[1:]
    if is_empty(conjunction(p, first.rows)):
        return covered(p, rest)
    for row in first.rows:
        if not covered(conjunction(p, [row.negated()]), rest):
            return False
        p = conjunction(p, [row])
    return True


def same_union(left: Sequence[Polyhedron], right: Sequence[Polyhedron]) -> bool:
    return all(covered(p, right) for p in left) and all(covered(p, left) for p in right)


def difference(left: Sequence[Polyhedron], right: Sequence[Polyhedron]) -> list[Polyhedron]:
    """The points of the union on the left that are not in the union on the right."""
    pieces = list(left)
    for q in right:
        remaining = []
        for p in pieces:
            for row in q.rows:
                remaining.append(conjunction(p, [row.negated()]))
                p = conjunction(p, [row])
        pieces = [p for p in remaining if not is_empty(p)]
    return pieces


# --- abstractions -------------------------------------------------------------------------------

MINUS_INFINITY = Fraction(-(10**9))
PLUS_INFINITY = Fraction(10**9)


def _from_table(n: int, table: dict[tuple[int, int], tuple[Fraction, bool] | None]) -> Polyhedron:
    """The points with non-negative clocks and ``x_i - x_j`` bounded by ``table[i, j]``."""
    rows = [
        difference_row(n, i, j, bound[0], bound[1])
        for (i, j), bound in table.items()
        if bound is not None and bound[0] < PLUS_INFINITY
    ]
    return polyhedron(n - 1, rows + not_negative(n))


def extra_lu(p: Polyhedron, low: Sequence[Fraction], up: Sequence[Fraction]) -> Polyhedron:
    """Extra_LU of Behrmann et al. 2006, by the letter.  low and up may be infinite."""
    n = p.width + 1
    table: dict[tuple[int, int], tuple[Fraction, bool] | None] = {}
    for i, j in product(range(n), repeat=2):
        c = None if i == j else supremum(p, i, j)
        if i == j or c is None or c[0] > low[i]:
            table[i, j] = None
        elif -c[0] > up[j]:
            table[i, j] = (-up[j], True)
        else:
            table[i, j] = c
    return _from_table(n, table)


def extra_lu_plus(p: Polyhedron, low: Sequence[Fraction], up: Sequence[Fraction]) -> Polyhedron:
    """Extra+_LU of Behrmann et al. 2006, by the letter.  low and up may be infinite."""
    n = p.width + 1
    least: list[Fraction] = [Fraction(0)]
    for i in range(1, n):
        lowest = supremum(p, 0, i)
        assert lowest is not None
        least.append(-lowest[0])
    table: dict[tuple[int, int], tuple[Fraction, bool] | None] = {}
    for i, j in product(range(n), repeat=2):
        c = None if i == j else supremum(p, i, j)
        if (
            i == j
            or c is None
            or c[0] > low[i]
            or least[i] > low[i]
            or (least[j] > up[j] and i != 0)
        ):
            table[i, j] = None
        elif least[j] > up[j]:
            table[i, j] = (-up[j], True)
        else:
            table[i, j] = c
    return _from_table(n, table)


def alu(p: Polyhedron, low: Sequence[Fraction], up: Sequence[Fraction]) -> list[Polyhedron]:
    """a_LU(p) = {v | some w in p has, for each clock x, w(x) = v(x), or L(x) < w(x) < v(x), or
    U(x) < v(x) < w(x)}: one polyhedron for each choice among the three per clock.

    Since the choices are independent they are made one clock at a time: w agrees with v on the
    clocks not yet treated.
    """
    result = [p]
    for x in range(1, p.width + 1):
        result = [r for q in result for r in _alu_clock(q, x, low[x], up[x]) if not is_empty(r)]
    return result


def _alu_clock(p: Polyhedron, x: int, low: Fraction, up: Fraction) -> list[Polyhedron]:
    width = p.width

    def unit(v: int, w: int) -> tuple[int, ...]:
        """Coefficients for v(x) and w(x); w(x) is an extra variable, v(x) in its place."""
        coefficients = [0] * (width + 1)
        coefficients[x - 1], coefficients[width] = v, w
        return tuple(coefficients)

    def moved(extra: list[Row]) -> Polyhedron:
        rows = []
        for row in p.rows:
            coefficients = list(row.coefficients)
            a, coefficients[x - 1] = coefficients[x - 1], 0
            rows.append(Row((*coefficients, a), row.constant, row.strict))
        q = eliminate(polyhedron(width + 1, rows + extra), width)
        kept = [Row(row.coefficients[:-1], row.constant, row.strict) for row in q.rows]
        return polyhedron(width, kept + not_negative(width + 1))

    result = [p]
    if low < PLUS_INFINITY:
        result.append(moved([Row(unit(0, -1), -low, True), Row(unit(-1, 1), Fraction(0), True)]))
    if up < PLUS_INFINITY:
        result.append(moved([Row(unit(-1, 0), -up, True), Row(unit(1, -1), Fraction(0), True)]))
    return result
