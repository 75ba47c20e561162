"""How good a suite is: what became of mutants of its model."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from whence.model.suite import TestCase
from whence.source import NOWHERE, Origin

__all__ = ["MutantResult", "MutantStatus", "Mutation"]

MutantStatus = Literal["killed", "survived", "equivalent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantResult:
    """`text` says what was changed. `test` kills it; of a survivor, a test of the suite's
    extension would (`would`). `reason`: how the test sees it, or why it is equivalent."""

    ident: str
    operator: str
    text: str
    status: MutantStatus
    test: str | None = None
    reason: str = ""
    would: bool = False
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """`tests` are those that were generated to kill survivors, not part of the suite."""

    mutants: tuple[MutantResult, ...]
    tests: tuple[TestCase, ...] = ()
    complete: bool = True
    seconds: float = 0.0

    def count(self, status: MutantStatus) -> int:
        return sum(mutant.status == status for mutant in self.mutants)

    @property
    def score(self) -> Fraction | None:
        """The part of the mutants that are not known to be equivalent which the suite kills."""
        alive = len(self.mutants) - self.count("equivalent")
        return Fraction(self.count("killed"), alive) if alive else None
