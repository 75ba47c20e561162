"""Finite unions of zones with exact set operations.

Federations are closed under everything a timed automaton needs, including what zones are not
closed under: union, subtraction, complement.  Subtraction cuts a zone along the constraints of
the other one after another (David, Hakansson, Larsen & Pettersson, "Model checking timed
automata with priorities using DBM subtraction", 2006), which gives disjoint pieces.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from whence.zones.bounds import (
    EMPTY,
    FULL,
    INFINITY,
    LE_ZERO,
    MAX_RAW,
    MIN_RAW,
    OK,
    OVERFLOW,
    ZoneOverflow,
)
from whence.zones.dbm import (
    Matrix,
    close,
    constrain,
    copy_clock,
    copy_into,
    delay,
    disjoint,
    free,
    hull_into,
    includes,
    intersect,
    past,
    reset,
    shift,
    universal,
)
from whence.zones.jit import kernel

__all__ = ["Federation", "canonical", "contains", "subtract_into"]


@kernel
def subtract_into(d: Matrix, e: Matrix, out: Matrix, count: int) -> tuple[int, int]:
    """Append disjoint zones whose union is ``d`` minus ``e`` to ``out[:count]``.

    ``out`` is a C-contiguous ``m x n x n`` array of int32; ``out[count]`` and
    ``out[count + 1]`` serve as scratch space too, so that ``n * (n - 1) + 1`` free slots are
    always enough.

    Pre: ``d``, ``e`` canonical of equal shape, not part of ``out[count:]``.
    Post: ``(new count, status)``.  ``OK``: at least one piece, all canonical; ``EMPTY``: none,
    d is a subset of e; ``FULL`` or ``OVERFLOW``: the count is as it was and ``out[count:]`` is
    undefined.
    """
    room = out.shape[0]
    n = d.shape[0]
    if count >= room:
        return count, FULL
    copy_into(d, out[count])
    if disjoint(d, e):
        return count + 1, OK
    status = intersect(out[count], e)
    if status == OVERFLOW:
        return count, OVERFLOW
    copy_into(d, out[count])
    if status == EMPTY:
        return count + 1, OK
    position = count
    # out[position] is what is left of d.  Each constraint of e that cuts it gives one piece.
    # First those that e could not do without: the others mostly do not cut any more after
    # that.  (On a cycle of equalities every constraint follows from the others, hence the
    # second round.)
    for round_ in range(2):
        for i in range(n):
            for j in range(n):
                raw = int(e[i, j])
                if raw >= out[position, i, j]:
                    continue
                if round_ == 0:
                    implied = False
                    for k in range(n):
                        if k != i and k != j:
                            left = int(e[i, k])
                            right = int(e[k, j])
                            if (
                                left != INFINITY
                                and right != INFINITY
                                and left + right - ((left | right) & 1) <= raw
                            ):
                                implied = True
                                break
                    if implied:
                        continue
                if position + 1 >= room:
                    return count, FULL
                copy_into(out[position], out[position + 1])
                # The piece is never empty: what is left is canonical and looser than raw.
                if constrain(out[position], j, i, 1 - raw) == OVERFLOW:
                    return count, OVERFLOW
                position += 1
                # Nor is what remains: it includes the intersection of d and e.
                if constrain(out[position], i, j, raw) == OVERFLOW:
                    return count, OVERFLOW
    if position == count:
        return count, EMPTY
    return position, OK


def _check(status: int) -> bool:
    """Whether a status means a non-empty zone.  Raises ``ZoneOverflow`` for ``OVERFLOW``."""
    if status == OVERFLOW:
        raise ZoneOverflow("a clock bound left the range of constants that a zone can hold")
    return status == OK


def canonical(matrix: npt.ArrayLike) -> Matrix | None:
    """A new canonical matrix with the solutions of a matrix of raw bounds; None if empty.

    Clocks are taken to be non-negative, whatever row 0 says.
    Pre: a square array-like of raw bounds.  Raises ``ValueError`` for another shape, and
    ``ZoneOverflow`` if an entry, or a bound that follows, is out of range.
    """
    wide = np.array(matrix, dtype=np.int64, order="C")
    if wide.ndim != 2 or wide.shape[0] != wide.shape[1] or wide.shape[0] == 0:
        raise ValueError(f"a zone needs a square matrix, not one of shape {wide.shape}")
    if bool(np.any((wide != INFINITY) & ((wide < MIN_RAW) | (wide > MAX_RAW)))):
        raise ZoneOverflow("a clock bound is outside the range of constants a zone can hold")
    wide[0, :] = np.minimum(wide[0, :], LE_ZERO)
    d = np.ascontiguousarray(wide, dtype=np.int32)
    return d if _check(close(d)) else None


def contains(d: Matrix, valuation: Sequence[Fraction | int]) -> bool:
    """Whether a point is in a zone.  ``valuation[i]`` is the value of clock i.

    Pre: as many values as clocks; ``valuation[0] == 0``.  Post: exact.
    Raises ``ValueError`` if the precondition fails.
    """
    n = d.shape[0]
    if len(valuation) != n or valuation[0] != 0:
        raise ValueError(f"a valuation of {n} clocks needs {n} values, the first of them 0")
    for i in range(n):
        for j in range(n):
            raw = int(d[i, j])
            if raw == INFINITY:
                continue
            difference = valuation[i] - valuation[j]
            if difference > raw >> 1 or (difference == raw >> 1 and not raw & 1):
                return False
    return True


def _subtract(d: Matrix, e: Matrix) -> list[Matrix]:
    """Disjoint zones whose union is ``d`` minus ``e``; contract as :func:`subtract_into`."""
    if includes(e, d):
        return []
    n = d.shape[0]
    out = np.empty((n * (n - 1) + 1, n, n), dtype=np.int32)
    count, status = subtract_into(d, e, out, 0)
    _check(status)
    return [piece.copy() for piece in out[:count]]


def _subtract_all(pieces: list[Matrix], others: Iterable[Matrix]) -> list[Matrix]:
    """The union of ``pieces`` minus the union of ``others``; disjoint if the pieces are."""
    for e in others:
        if not pieces:
            break
        pieces = [rest for piece in pieces for rest in _subtract(piece, e)]
    return pieces


def _maximal(members: Iterable[Matrix]) -> list[Matrix]:
    """The members that are not included in another one; of equal ones, the first."""
    kept: list[Matrix] = []
    for d in members:
        if any(includes(e, d) for e in kept):
            continue
        kept = [e for e in kept if not includes(d, e)]
        kept.append(d)
    return kept


class Federation:
    """An immutable finite union of non-empty zones of one dimension.

    The dimension counts the zero clock.  Every operation returns a new federation and is exact.
    Operations raise :class:`ZoneOverflow` if a bound leaves its range.  Members may overlap
    unless a method says otherwise.  ``==`` is identity; use :meth:`equal` for equality of sets.
    """

    __slots__ = ("_dimension", "_members")

    _dimension: int
    # Writable arrays, which nothing ever writes to and which never leave this class: numba
    # compiles a kernel anew for read-only arguments.  ``matrices`` hands out read-only views.
    _members: tuple[Matrix, ...]

    def __init__(self, dimension: int, matrices: Iterable[npt.ArrayLike] = ()) -> None:
        """The union of the solutions of matrices of raw bounds, which need not be canonical.

        Pre: ``dimension >= 1``; each matrix is square of that dimension.  Empty ones are left
        out.  Post: the matrices are copied.  Raises ``ValueError`` or ``ZoneOverflow``.
        """
        if dimension < 1:
            raise ValueError("a federation has at least the zero clock")
        members = [d for d in map(canonical, matrices) if d is not None]
        for d in members:
            if d.shape[0] != dimension:
                raise ValueError(f"a matrix of dimension {d.shape[0]}, not {dimension}")
        self._dimension = dimension
        self._members = tuple(members)

    @classmethod
    def _of(cls, dimension: int, members: Iterable[Matrix]) -> "Federation":
        """Wrap canonical, non-empty matrices that nobody else will write to."""
        self = cls.__new__(cls)
        self._dimension = dimension
        self._members = tuple(members)
        return self

    @classmethod
    def empty(cls, dimension: int) -> "Federation":
        """The empty set.  Pre: ``dimension >= 1``."""
        return cls(dimension)

    @classmethod
    def universal(cls, dimension: int) -> "Federation":
        """All valuations with non-negative clocks.  Pre: ``dimension >= 1``."""
        if dimension < 1:
            raise ValueError("a federation has at least the zero clock")
        d = np.empty((dimension, dimension), dtype=np.int32)
        universal(d)
        return cls._of(dimension, (d,))

    @property
    def dimension(self) -> int:
        """The number of clocks, including the zero clock."""
        return self._dimension

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The canonical matrices of the members, as read-only views."""
        views = []
        for d in self._members:
            view = d.view()
            view.flags.writeable = False
            views.append(view)
        return tuple(views)

    def __len__(self) -> int:
        """The number of members."""
        return len(self._members)

    def __iter__(self) -> Iterator[Matrix]:
        """The matrices of the members, as :attr:`matrices`."""
        return iter(self.matrices)

    def __repr__(self) -> str:
        return f"<Federation of {len(self._members)} zones of dimension {self._dimension}>"

    def _same(self, other: "Federation") -> None:
        if self._dimension != other._dimension:
            raise ValueError(
                f"federations of different dimensions {self._dimension} and {other._dimension}"
            )

    def _clock(self, i: int, lowest: int = 0) -> None:
        if not lowest <= i < self._dimension:
            raise IndexError(f"there is no clock {i} in dimension {self._dimension}")

    def is_empty(self) -> bool:
        """Whether there is no point in the set."""
        return not self._members

    def contains_point(self, valuation: Sequence[Fraction | int]) -> bool:
        """Whether a point is in the set; the valuation as for :func:`contains`."""
        return any(contains(d, valuation) for d in self._members)

    def union(self, other: "Federation") -> "Federation":
        """The union.  Members included in a single other member are left out.

        Pre: equal dimensions.
        """
        self._same(other)
        return self._of(self._dimension, _maximal((*self._members, *other._members)))

    def intersection(self, other: "Federation") -> "Federation":
        """The intersection, member by member.  Pre: equal dimensions."""
        self._same(other)
        found: list[Matrix] = []
        for d in self._members:
            for e in other._members:
                if disjoint(d, e):
                    continue
                common = d.copy()
                if _check(intersect(common, e)):
                    found.append(common)
        return self._of(self._dimension, _maximal(found))

    def subtract(self, other: "Federation") -> "Federation":
        """The points that are not in ``other``.

        Pre: equal dimensions.  Post: the pieces of one member of self are disjoint, and so all
        members of the result are if those of self are.
        """
        self._same(other)
        return self._of(self._dimension, _subtract_all(list(self._members), other._members))

    def complement(self) -> "Federation":
        """All points with non-negative clocks that are not in the set, in disjoint members."""
        return self.universal(self._dimension).subtract(self)

    def includes(self, other: "Federation") -> bool:
        """Whether ``other`` is a subset.  Exact, also if only several members cover one.

        Pre: equal dimensions.
        """
        self._same(other)
        for d in other._members:
            # Most inclusions are in a single member, which needs no subtraction.
            if any(includes(e, d) for e in self._members):
                continue
            if _subtract_all([d], self._members):
                return False
        return True

    def equal(self, other: "Federation") -> bool:
        """Whether the sets of points are equal, however represented.  Pre: equal dimensions."""
        return self.includes(other) and other.includes(self)

    __or__ = union
    __and__ = intersection
    __sub__ = subtract

    def _each(self, operation: Callable[[Matrix], int | None]) -> "Federation":
        """Apply an operation that distributes over union to a copy of each member."""
        found: list[Matrix] = []
        for d in self._members:
            changed = d.copy()
            status = operation(changed)
            if status is None or _check(status):
                found.append(changed)
        return self._of(self._dimension, _maximal(found))

    def constrain(self, i: int, j: int, raw: int) -> "Federation":
        """The points with ``x_i - x_j ~ c``, given as a raw bound.  Pre: i, j are clocks."""
        self._clock(i)
        self._clock(j)
        return self._each(lambda d: constrain(d, i, j, raw))

    def delay(self) -> "Federation":
        """{v + t | v in self, t >= 0}."""
        return self._each(delay)

    def past(self) -> "Federation":
        """{v | v + t in self, t >= 0, v >= 0}."""
        return self._each(past)

    def reset(self, i: int, value: int = 0) -> "Federation":
        """{v[x_i := value] | v in self}.  Pre: ``i >= 1`` is a clock and ``value >= 0``."""
        self._clock(i, 1)
        if value < 0:
            raise ValueError(f"a clock cannot be set to {value}")
        return self._each(lambda d: reset(d, i, value))

    def free(self, i: int) -> "Federation":
        """{v[x_i := t] | v in self, t >= 0}.  Pre: ``i >= 1`` is a clock."""
        self._clock(i, 1)
        return self._each(lambda d: free(d, i))

    def shift(self, i: int, amount: int) -> "Federation":
        """{v[x_i := v_i + amount] | v in self, v_i + amount >= 0}.  Pre: ``i >= 1`` a clock."""
        self._clock(i, 1)
        return self._each(lambda d: shift(d, i, amount))

    def copy_clock(self, i: int, j: int) -> "Federation":
        """{v[x_i := v_j] | v in self}.  Pre: ``i >= 1`` and ``j >= 0`` are clocks."""
        self._clock(i, 1)
        self._clock(j)
        return self._each(lambda d: copy_clock(d, i, j))

    def convex_hull(self) -> "Federation":
        """The smallest single zone that includes the set; empty for the empty set."""
        if not self._members:
            return self
        hull = self._members[0].copy()
        for d in self._members[1:]:
            hull_into(hull, d)
        return self._of(self._dimension, (hull,))

    def reduce(self) -> "Federation":
        """The same set with fewer members.

        Two members are merged when the hull of both lies within the set; members covered by the
        union of the others are dropped.  Post: no member is included in the union of the
        others, and no two members can be merged.  The number of members is not minimal.
        """
        members = _maximal(self._members)
        merged = True
        while merged:
            merged = False
            for a in range(len(members)):
                for b in range(a + 1, len(members)):
                    hull = members[a].copy()
                    hull_into(hull, members[b])
                    if not _subtract_all([hull], members):
                        # The hull may swallow more members than these two.
                        members = [d for d in members if not includes(hull, d)]
                        members.append(hull)
                        merged = True
                        break
                if merged:
                    break
            if not merged:
                # Small members first: large ones are worth keeping.  Dropping never creates a
                # chance to merge, since the set stays the same.
                for d in sorted(members, key=_looseness):
                    others = [e for e in members if e is not d]
                    if not _subtract_all([d], others):
                        members = others
        return self._of(self._dimension, members)


def _looseness(d: Matrix) -> tuple[int, int]:
    """A rough order of zones by size: unlimited bounds first, then the sum of the others."""
    finite = d[d != INFINITY]
    return int(d.size - finite.size), int(finite.sum(dtype=np.int64))
