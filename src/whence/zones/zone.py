"""One immutable zone, for code that reads and explains zones rather than explores with them."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from whence.zones.bounds import INFINITY, LE_ZERO, OK, OVERFLOW, ZoneOverflow
from whence.zones.dbm import (
    Matrix,
    constrain,
    copy_clock,
    delay,
    equal,
    free,
    hash_matrix,
    includes,
    intersect,
    past,
    project,
    reset,
    shift,
    universal,
    zero,
)
from whence.zones.federation import canonical, contains

__all__ = ["Zone"]


class Zone:
    """An immutable, possibly empty zone over the clocks ``0 .. dimension - 1``.

    Clock 0 is the constant zero; other clocks are not negative.  Operations return new zones
    and raise :class:`~whence.zones.bounds.ZoneOverflow` if a bound leaves its range.  Zones
    are hashable, and equal if they have the same points.
    """

    __slots__ = ("_dimension", "_matrix")

    _dimension: int
    _matrix: Matrix | None  # canonical; None if the zone is empty

    def __init__(self, matrix: npt.ArrayLike) -> None:
        """The solutions of a square matrix of raw bounds, which need not be canonical.

        Post: the matrix is copied.  Raises ``ValueError`` or ``ZoneOverflow``.
        """
        self._matrix = canonical(matrix)
        self._dimension = len(np.asarray(matrix))

    @classmethod
    def _of(cls, dimension: int, matrix: Matrix | None) -> "Zone":
        self = cls.__new__(cls)
        self._dimension = dimension
        self._matrix = matrix
        return self

    @classmethod
    def universal(cls, n: int) -> "Zone":
        """All valuations of n clocks, counting clock 0.  Pre: ``n >= 1``."""
        if n < 1:
            raise ValueError("a zone has at least the zero clock")
        d = np.empty((n, n), dtype=np.int32)
        universal(d)
        return cls._of(n, d)

    @classmethod
    def zero(cls, n: int) -> "Zone":
        """The valuation in which every clock is zero.  Pre: ``n >= 1``."""
        if n < 1:
            raise ValueError("a zone has at least the zero clock")
        d = np.empty((n, n), dtype=np.int32)
        zero(d)
        return cls._of(n, d)

    @classmethod
    def empty(cls, n: int) -> "Zone":
        """The empty zone.  Pre: ``n >= 1``."""
        if n < 1:
            raise ValueError("a zone has at least the zero clock")
        return cls._of(n, None)

    @property
    def dimension(self) -> int:
        """The number of clocks, including the zero clock."""
        return self._dimension

    @property
    def matrix(self) -> Matrix:
        """The canonical matrix, as a read-only view.  Raises ``ValueError`` if empty."""
        view = self._required().view()
        view.flags.writeable = False
        return view

    @property
    def is_empty(self) -> bool:
        """Whether the zone has no point."""
        return self._matrix is None

    def _required(self) -> Matrix:
        if self._matrix is None:
            raise ValueError("the zone is empty")
        return self._matrix

    def _clock(self, i: int, lowest: int = 0) -> None:
        if not lowest <= i < self._dimension:
            raise IndexError(f"there is no clock {i} in dimension {self._dimension}")

    def _after(self, d: Matrix, status: int) -> "Zone":
        if status == OVERFLOW:
            raise ZoneOverflow("a clock bound left the range of constants that a zone can hold")
        return self._of(self._dimension, d if status == OK else None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Zone):
            return NotImplemented
        if self._dimension != other._dimension:
            return False
        if self._matrix is None or other._matrix is None:
            return self._matrix is other._matrix
        return equal(self._matrix, other._matrix)

    def __hash__(self) -> int:
        return self._dimension if self._matrix is None else hash_matrix(self._matrix)

    def __repr__(self) -> str:
        names = ["0", *(f"x{i}" for i in range(1, self._dimension))]
        return f"<Zone {' && '.join(self.constraints(names)) or 'true'}>"

    def constrain(self, i: int, j: int, raw: int) -> "Zone":
        """The points with ``x_i - x_j ~ c``, given as a raw bound.  Pre: i, j are clocks."""
        self._clock(i)
        self._clock(j)
        if self._matrix is None:
            return self
        d = self._matrix.copy()
        return self._after(d, constrain(d, i, j, raw))

    def delay(self) -> "Zone":
        """{v + t | v in self, t >= 0}."""
        if self._matrix is None:
            return self
        d = self._matrix.copy()
        delay(d)
        return self._of(self._dimension, d)

    def past(self) -> "Zone":
        """{v | v + t in self, t >= 0, v >= 0}."""
        if self._matrix is None:
            return self
        d = self._matrix.copy()
        past(d)
        return self._of(self._dimension, d)

    def reset(self, i: int, value: int = 0) -> "Zone":
        """{v[x_i := value] | v in self}.  Pre: ``i >= 1`` is a clock; ``value >= 0``."""
        self._clock(i, 1)
        if value < 0:
            raise ValueError(f"a clock cannot be set to {value}")
        if self._matrix is None:
            return self
        d = self._matrix.copy()
        return self._after(d, reset(d, i, value))

    def free(self, i: int) -> "Zone":
        """{v[x_i := t] | v in self, t >= 0}.  Pre: ``i >= 1`` is a clock."""
        self._clock(i, 1)
        if self._matrix is None:
            return self
        d = self._matrix.copy()
        free(d, i)
        return self._of(self._dimension, d)

    def shift(self, i: int, amount: int) -> "Zone":
        """{v[x_i := v_i + amount] | v in self, v_i + amount >= 0}.  Pre: ``i >= 1``, a clock."""
        self._clock(i, 1)
        if self._matrix is None:
            return self
        d = self._matrix.copy()
        return self._after(d, shift(d, i, amount))

    def copy_clock(self, i: int, j: int) -> "Zone":
        """{v[x_i := v_j] | v in self}.  Pre: ``i >= 1`` and ``j >= 0`` are clocks."""
        self._clock(i, 1)
        self._clock(j)
        if self._matrix is None:
            return self
        d = self._matrix.copy()
        copy_clock(d, i, j)
        return self._of(self._dimension, d)

    def project(self, keep: Sequence[int]) -> "Zone":
        """Only the clocks ``keep``, in that order.

        Pre: ``keep[0] == 0``; the rest are distinct clocks.  Raises ``ValueError`` otherwise.
        """
        places = list(keep)
        if not places or places[0] != 0 or len(set(places)) != len(places):
            raise ValueError("the clocks to keep are distinct and begin with clock 0")
        for i in places:
            self._clock(i)
        if self._matrix is None:
            return self._of(len(places), None)
        return self._of(len(places), project(self._matrix, places))

    def intersect(self, other: "Zone") -> "Zone":
        """The intersection.  Pre: equal dimensions."""
        self._same(other)
        if self._matrix is None or other._matrix is None:
            return self._of(self._dimension, None)
        d = self._matrix.copy()
        return self._after(d, intersect(d, other._matrix))

    def includes(self, other: "Zone") -> bool:
        """Whether ``other`` is a subset of self.  Pre: equal dimensions."""
        self._same(other)
        if other._matrix is None:
            return True
        return self._matrix is not None and includes(self._matrix, other._matrix)

    def _same(self, other: "Zone") -> None:
        if self._dimension != other._dimension:
            raise ValueError(
                f"zones of different dimensions {self._dimension} and {other._dimension}"
            )

    def difference(self, i: int, j: int) -> tuple[int, bool] | None:
        """The tightest ``(c, strict)`` with ``x_i - x_j < c`` or ``<= c``; None if unbounded.

        Pre: i, j are clocks.  Raises ``ValueError`` if the zone is empty.
        """
        self._clock(i)
        self._clock(j)
        raw = int(self._required()[i, j])
        return None if raw == INFINITY else (raw >> 1, not raw & 1)

    def lower(self, i: int) -> tuple[int, bool]:
        """The greatest ``(c, strict)`` with ``x_i > c`` or ``>= c``; clocks always have one.

        Pre: i is a clock.  Raises ``ValueError`` if the zone is empty.
        """
        self._clock(i)
        raw = int(self._required()[0, i])
        return -(raw >> 1), not raw & 1

    def upper(self, i: int) -> tuple[int, bool] | None:
        """The least ``(c, strict)`` with ``x_i < c`` or ``<= c``; None if unbounded.

        Pre: i is a clock.  Raises ``ValueError`` if the zone is empty.
        """
        return self.difference(i, 0)

    def contains_point(self, valuation: Sequence[Fraction | int]) -> bool:
        """Whether a point is in the zone.  Pre: ``valuation[i]`` for each clock, [0] being 0."""
        if self._matrix is None:
            return False
        return contains(self._matrix, valuation)

    def sample(self) -> tuple[Fraction, ...]:
        """A point of the zone, index i for clock i, preferring small values and integers.

        Raises ``ValueError`` if the zone is empty.  Post: ``contains_point(result)``.
        """
        d = self._required()
        values = [Fraction(0)]
        # In a canonical matrix any choice for the first clocks that satisfies the bounds among
        # them extends to a point, so one pass without backtracking is enough.
        for i in range(1, self._dimension):
            least, open_below = Fraction(0), False
            most: Fraction | None = None
            open_above = False
            for j, value in enumerate(values):
                raw = int(d[j, i])
                if raw != INFINITY:
                    limit, strict = value - (raw >> 1), not raw & 1
                    if limit > least or (limit == least and strict):
                        least, open_below = limit, strict
                raw = int(d[i, j])
                if raw != INFINITY:
                    limit, strict = value + (raw >> 1), not raw & 1
                    if most is None or limit < most or (limit == most and strict):
                        most, open_above = limit, strict
            whole = Fraction(-((-least) // 1))  # the least integer that is not below
            if open_below and whole == least:
                whole += 1
            if most is None or whole < most or (whole == most and not open_above):
                values.append(whole)
            elif not open_below:
                values.append(least)
            elif not open_above:
                values.append(most)
            else:
                values.append((least + most) / 2)
        return tuple(values)

    def constraints(self, names: Sequence[str], direct: bool = False) -> list[str]:
        """A minimal system of readable constraints; that clocks are >= 0 goes without saying.

        The reduced form of Larsen, Larsson, Pettersson & Yi, "Efficient verification of
        real-time systems: compact data structure and state-space reduction" (1997): clocks at a
        fixed distance form a class; one equation ties each to the smallest clock of its class,
        and among these smallest clocks a bound is given iff no path through a third implies it.

        With `direct`, the bounds on single clocks are all there, also those that follow from
        others: people look for `x <= 5`, and not for the two differences that imply it.

        Pre: ``names[i]`` for each clock; ``names[0]`` is not used.
        Post: ``[]`` for the universal zone, ``["false"]`` for the empty one; without `direct`,
        no constraint of the list follows from the others.
        """
        if len(names) != self._dimension:
            raise ValueError(f"{len(names)} names for {self._dimension} clocks")
        if self._matrix is None:
            return ["false"]
        d = self._matrix.tolist()
        n = self._dimension
        wide = self._matrix.astype(np.int64)
        # The smallest clock of each class represents it: then that the others are >= 0 follows.
        # Clock 0 represents its own class, as no clock is below it.
        equal = _sums(wide, wide.T) == LE_ZERO
        representative = np.where(equal, wide.T, INFINITY).argmin(axis=1).tolist()
        kept = [i for i in range(n) if representative[i] == i]
        implied = _implied(wide[np.ix_(kept, kept)])
        if direct:
            implied[0, :] = implied[:, 0] = False
        result: list[str] = []
        for i in range(1, n):
            r = representative[i]
            if r != i:
                distance = d[i][r] >> 1
                if r == 0:
                    result.append(f"{names[i]} == {distance}")
                elif distance == 0:
                    result.append(f"{names[i]} == {names[r]}")
                else:
                    result.append(f"{names[i]} - {names[r]} == {distance}")
        for row, i in enumerate(kept):
            for column in np.flatnonzero(~implied[row]).tolist():
                j = kept[column]
                raw = d[i][j]
                if i == j or raw == INFINITY or (i == 0 and raw == LE_ZERO):
                    continue
                relation, c = ("<=" if raw & 1 else "<"), raw >> 1
                if i == 0:
                    result.append(f"{-c} {relation} {names[j]}")
                elif j == 0:
                    result.append(f"{names[i]} {relation} {c}")
                elif c == 0:
                    result.append(f"{names[i]} {relation} {names[j]}")
                else:
                    result.append(f"{names[i]} - {names[j]} {relation} {c}")
        return result


def _sums(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The sums of raw bounds, see :func:`whence.zones.bounds.add`."""
    endless = (a == INFINITY) | (b == INFINITY)
    return np.where(endless, INFINITY, a + b - ((a | b) & 1))


def _implied(d: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which entries follow from a path through a third clock."""
    implied = np.zeros(d.shape, bool)
    for k in range(len(d)):
        through = _sums(d[:, k, None], d[None, k, :]) <= d
        through[k, :] = False
        through[:, k] = False
        implied |= through
    return implied
