"""Satisfiability of clauses that only grow, under assumptions that come and go.

Literals are those of DIMACS files: a variable is a positive integer, and -v is its negation.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pysat.solvers import Solver as Engine
from pysolvers import error as EngineError

__all__ = ["ENGINES", "Limit", "Solver"]

#: The first is taken where nothing else is asked for: see `benchmarks/diagnosis.py`.
ENGINES: Final = ("cadical195", "cadical153", "glucose4", "minisat22")

#: Between two looks at the clock.
_FIRST_SLICE = 2_000


@dataclass(frozen=True, slots=True)
class Limit:
    """When to give up: after so many conflicts, or when `time.perf_counter()` has come to
    `deadline`. None: never."""

    conflicts: int | None = None
    deadline: float | None = None


class Solver:
    """The same clauses and questions in the same order have the same answers, unless a deadline
    ends one."""

    def __init__(self, clauses: Iterable[Sequence[int]] = (), engine: str = ENGINES[0]) -> None:
        self._engine: Any = Engine(name=engine)
        self._assumed: Sequence[int] = ()
        self._model: Sequence[int] | None = None
        self._answer: bool | None = None
        self.add(clauses)

    def add(self, clauses: Iterable[Sequence[int]]) -> None:
        """Each clause holds from now on. Pre: no literal is 0."""
        self._forget()
        add_clause = self._alive().add_clause
        for clause in clauses:
            add_clause(clause)

    def prefer(self, literals: Sequence[int]) -> None:
        """Try these values first where there is a choice."""
        self._alive().set_phases(literals=list(literals))

    def solve(self, assumptions: Sequence[int] = (), limit: Limit | None = None) -> bool | None:
        """Whether all clauses and assumptions can hold at once; None: not within the limit."""
        self._forget()
        self._assumed = assumptions = list(assumptions)
        if limit is None or (limit.conflicts is None and limit.deadline is None):
            self._answer = self._run(assumptions, None)
            return self._answer
        left, piece = limit.conflicts, _FIRST_SLICE
        while True:
            if limit.deadline is not None and time.perf_counter() >= limit.deadline:
                return None
            if limit.deadline is None:
                assert left is not None
                piece = left
            elif left is not None:
                piece = min(piece, left)
            self._answer = self._run(assumptions, piece)
            if self._answer is not None:
                return self._answer
            if left is not None:
                left -= piece
                if left <= 0:
                    return None
            piece += piece // 2

    def _run(self, assumptions: Sequence[int], conflicts: int | None) -> bool | None:
        engine = self._alive()
        try:
            if conflicts is None:
                return bool(engine.solve(assumptions=assumptions))
            engine.conf_budget(conflicts)
            answer: bool | None = engine.solve_limited(assumptions=assumptions)
            return answer
        except EngineError as error:
            if "interrupt" not in str(error):
                raise
            # The package leaves its solver in the middle of things when Ctrl-C is pressed. Nothing
            # can be done with it any more, not even freeing its memory.
            inner = engine.solver
            for name in vars(inner):
                setattr(inner, name, None)
            engine.solver = self._engine = None
            raise KeyboardInterrupt from None

    def _alive(self) -> Any:
        if self._engine is None:
            raise RuntimeError("this solver was closed, or interrupted")
        return self._engine

    def _forget(self) -> None:
        self._model = self._answer = None

    def true(self, literal: int) -> bool:
        """Its value in the solution. Pre: the last question was answered with True.

        Variables that no clause mentions are false."""
        model = self.model()
        variable = abs(literal)
        value = variable <= len(model) and model[variable - 1] > 0
        return value if literal > 0 else not value

    def model(self) -> Sequence[int]:
        """The solution: the literal of variable v at v - 1. It may end before the last variable;
        the others are false. Pre: the last question was answered with True."""
        if self._answer is not True:
            raise RuntimeError("there is no solution to look at")
        if self._model is None:
            self._model = self._alive().get_model() or ()
        return self._model

    def core(self) -> tuple[int, ...]:
        """Assumptions that cannot hold at once, in the order in which they were assumed. Pre: the
        last question was answered with False."""
        if self._answer is not False:
            raise RuntimeError("there is no contradiction to look at")
        # None: the clauses alone are a contradiction.
        failed = frozenset(self._alive().get_core() or ())
        return tuple(literal for literal in self._assumed if literal in failed)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.delete()
            self._engine = None

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
