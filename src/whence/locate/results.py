"""What diagnosis finds: values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Conflict", "Diagnoses", "Progress", "Stop", "Told"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Components that cannot all be healthy, given an observation: an explanation of its failure.
    Both by their numbers."""

    components: frozenset[int]
    observation: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it has come. All diagnoses with fewer than `size` components are known."""

    size: int
    conflicts: int
    diagnoses: int
    checks: int
    seconds: float


Told = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Stop:
    """When to give up; None: never. `checks` are questions to the solver."""

    seconds: float | None = None
    checks: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnoses:
    """Sets of components (by their numbers, ascending) that explain all observations if nothing is
    known of what they do (Graussam, equation 5.3), none of them a superset of another; by size,
    then by numbers.

    All with fewer than `below` components are there; None: all there are, or, with `minimum`, all
    that have as few components as possible. Where that is not all that was asked for, `reason` says
    why.

    `failing` are the observations that contradict a healthy system. `unexplained` are those that
    contradict it even if no component is healthy: then there are no diagnoses. `conflicts` are why
    smaller sets will not do: a diagnosis has a component of each.
    """

    diagnoses: tuple[tuple[int, ...], ...]
    minimum: bool
    below: int | None
    reason: str
    failing: tuple[int, ...]
    unexplained: tuple[int, ...]
    conflicts: tuple[Conflict, ...]
    checks: int
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether all that was asked for was found."""
        return not self.reason

    @property
    def components(self) -> tuple[int, ...]:
        """Those of any diagnosis (Graussam, section 6.1)."""
        return tuple(sorted({number for members in self.diagnoses for number in members}))
