"""Systems for model-based diagnosis with several observations (Graussam, sections 4.1 and 5).

A system consists of components.  A component that is healthy does what its description says; what
another one does is not known.  An observation says what was seen, of inputs and outputs say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from whence.source import NOWHERE, Origin

__all__ = ["Clause", "Component", "Observation", "Problem", "System"]

#: Literals as in DIMACS files: a variable (1, 2, …), or minus a variable. At least one is true.
Clause = Sequence[int]


@dataclass(frozen=True, slots=True)
class Component:
    """`healthy` is a literal, the predicate h(c)."""

    healthy: int
    name: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class System:
    """The system description SD in conjunctive normal form (Graussam, equation 4.5): clauses that
    always hold, and clauses that hold if a component is healthy, which have a negated healthy
    literal among theirs."""

    variables: int
    clauses: tuple[Clause, ...]
    components: tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """OBS: literals that were all true."""

    literals: tuple[int, ...]
    name: str = ""
    origin: Origin = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a file has: a system, and what was observed of it. `notes` are its comments."""

    system: System
    observations: tuple[Observation, ...]
    notes: tuple[str, ...] = ()
