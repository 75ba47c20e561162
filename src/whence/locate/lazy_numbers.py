"""Numbers that nobody knows yet, for programs that run as functions of Python.

What a component that is not healthy computes is an unknown number; what is computed from it is a
term.  Where control depends on one, the run asks its path which way it goes; where a number is
needed as such (an index, what the library is given), the path chooses one value after another.

Each knows bounds, and with `hint` what it would be in the run as it was.
"""

from __future__ import annotations

from typing import Any, Protocol

from whence.solve.paths import Condition, PathConditions, Term, choice, opposite

__all__ = ["Number", "Path", "Truth", "Undecided", "wrapped_number"]


class Undecided(Exception):
    """What is unknown is used in a way that is not followed."""


class Path(Protocol):
    conditions: PathConditions

    def decide(self, condition: Condition, hint: bool) -> bool: ...

    def value_of(self, number: Number) -> int: ...


class Number:
    __slots__ = ("greatest", "hint", "least", "path", "term")

    def __init__(self, path: Path, term: Term, least: int, greatest: int, hint: int) -> None:
        self.path = path
        self.term = term
        self.least = least
        self.greatest = greatest
        self.hint = hint

    def _known(self, value: Any) -> Number | None:
        """The other operand as one of these."""
        if isinstance(value, Number):
            return value
        if isinstance(value, int):
            number = int(value)
            return Number(self.path, number, number, number, number)
        return None

    def _made(self, term: Term, least: int, greatest: int, hint: int) -> Number:
        return Number(self.path, term, least, greatest, hint)

    # ------------------------------------------------------------------------------ arithmetic

    def __add__(self, value: Any) -> Any:
        other = self._known(value)
        if other is None:
            raise Undecided
        return self._made(
            self.term + other.term,
            self.least + other.least,
            self.greatest + other.greatest,
            self.hint + other.hint,
        )

    __radd__ = __add__

    def __neg__(self) -> Number:
        return self._made(-self.term, -self.greatest, -self.least, -self.hint)

    def __sub__(self, value: Any) -> Any:
        other = self._known(value)
        if other is None:
            raise Undecided
        return self + -other

    def __rsub__(self, value: Any) -> Any:
        return -self + value

    def __mul__(self, value: Any) -> Any:
        other = self._known(value)
        if other is None:
            raise Undecided
        if other.least != other.greatest and self.least != self.greatest:
            # A product of unknowns is hard: one of them becomes known.
            return self * int(other)
        products = [
            a * b for a in (self.least, self.greatest) for b in (other.least, other.greatest)
        ]
        return self._made(
            self.term * other.term, min(products), max(products), self.hint * other.hint
        )

    __rmul__ = __mul__

    def __floordiv__(self, value: Any) -> Any:
        by = int(value)
        if by <= 0:
            raise Undecided
        # Division of the solver rounds down where the divisor is positive, as that of Python.
        return self._made(self.term / by, self.least // by, self.greatest // by, self.hint // by)

    def __rfloordiv__(self, value: Any) -> Any:
        return value // int(self)

    def __mod__(self, value: Any) -> Any:
        by = int(value)
        if by <= 0:
            raise Undecided
        if self.least >= 0 and self.greatest < by:
            return self
        return self._made(self.term % by, 0, by - 1, self.hint % by)

    def __rmod__(self, value: Any) -> Any:
        return value % int(self)

    def __and__(self, value: Any) -> Any:
        if isinstance(value, int) and value >= 0 and value & (value + 1) == 0:
            return self % (value + 1)
        return int(self) & int(value)

    __rand__ = __and__

    def __or__(self, value: Any) -> int:
        return int(self) | int(value)

    __ror__ = __or__

    def __xor__(self, value: Any) -> int:
        return int(self) ^ int(value)

    __rxor__ = __xor__

    def __lshift__(self, value: Any) -> Any:
        return self * (1 << int(value))

    def __rlshift__(self, value: Any) -> int:
        return int(value) << int(self)

    def __rshift__(self, value: Any) -> Any:
        return self // (1 << int(value))

    def __rrshift__(self, value: Any) -> int:
        return int(value) >> int(self)

    def __abs__(self) -> Number:
        if self.least >= 0:
            return self
        greatest = max(-self.least, self.greatest)
        return self._made(choice(self.term < 0, -self.term, self.term), 0, greatest, abs(self.hint))

    # ----------------------------------------------------------------------------- comparisons

    def __lt__(self, value: Any) -> Any:
        other = self._known(value)
        if other is None:
            raise Undecided
        if self.greatest < other.least:
            return True
        if self.least >= other.greatest:
            return False
        return Truth(self.path, self.term < other.term, self.hint < other.hint)

    def __le__(self, value: Any) -> Any:
        other = self._known(value)
        if other is None:
            raise Undecided
        if self.greatest <= other.least:
            return True
        if self.least > other.greatest:
            return False
        return Truth(self.path, self.term <= other.term, self.hint <= other.hint)

    def __gt__(self, value: Any) -> Any:
        other = self._known(value)
        if other is None:
            raise Undecided
        return other < self

    def __ge__(self, value: Any) -> Any:
        other = self._known(value)
        if other is None:
            raise Undecided
        return other <= self

    def __eq__(self, value: object) -> Any:
        other = self._known(value)
        if other is None:
            return False
        if self.greatest < other.least or other.greatest < self.least:
            return False
        return Truth(self.path, self.term == other.term, self.hint == other.hint)

    def __ne__(self, value: object) -> Any:
        same = self == value
        if isinstance(same, Truth):
            return Truth(self.path, opposite(same.condition), not same.hint)
        return not same

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------------------- as values

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __index__(self) -> int:
        return self.path.value_of(self)

    def __int__(self) -> int:
        return self.path.value_of(self)

    def __float__(self) -> float:
        raise Undecided


class Truth(Number):
    """Whether a condition holds: also the number 0 or 1."""

    __slots__ = ("condition",)

    def __init__(self, path: Path, condition: Condition, hint: bool) -> None:
        one, zero = path.conditions.number(1), path.conditions.number(0)
        super().__init__(path, choice(condition, one, zero), 0, 1, int(hint))
        self.condition = condition

    def __bool__(self) -> bool:
        return self.path.decide(self.condition, bool(self.hint))


def wrapped_number(number: Number, least: int, greatest: int) -> Number:
    """Modulo the size of a type."""
    if least <= number.least and number.greatest <= greatest:
        return number
    size = greatest - least + 1
    hint = (number.hint - least) % size + least
    if number.least >= least - size and number.greatest <= greatest + size:
        term = number.term
        wrapped = choice(term > greatest, term - size, choice(term < least, term + size, term))
    else:
        wrapped = (number.term - least) % size + least
    return Number(number.path, wrapped, least, greatest, hint)
