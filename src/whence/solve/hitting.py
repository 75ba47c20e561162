"""Hitting sets of a family of sets that only grows, the smallest ones first.

A hitting set has an element of each set of the family.  This is the half of the implicit hitting
set dualization that proposes candidates; see `whence.locate.diagnosis` for the other one.

Solutions of clauses are hitting sets: an element is a variable, a set of the family a clause.  A
totalizer counts how many elements are chosen: its output k says that k or more are.  Its clauses
stand for one direction only, and for as many outputs as are needed; with larger hitting sets it
gets more of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from whence.solve.sat import Limit, Solver

__all__ = ["GaveUp", "HittingSets", "minimal_hitting_sets", "minimum_hitting_sets"]

_FIRST_OUTPUTS = 4


class GaveUp(Exception):
    """The limit was reached."""


class HittingSets:
    """Of elements 0 .. count - 1. `hit` and `block` narrow down what `smallest` finds."""

    def __init__(self, count: int, engine: str = "minisat22") -> None:
        self._count = count
        self._solver = Solver(engine=engine)
        self._variable: dict[int, int] = {}
        self._element: dict[int, int] = {}
        self._last = 0
        #: No hitting set has fewer elements.
        self.size = 0
        self._impossible = False
        # The totalizer: its outputs, how many elements and outputs it was made for.
        self._outputs: list[int] = []
        self._counted = 0
        self._made = 0

    def _fresh(self) -> int:
        self._last += 1
        return self._last

    def _of(self, element: int) -> int:
        found = self._variable.get(element)
        if found is None:
            if not 0 <= element < self._count:
                raise ValueError(f"there is no element {element}")
            found = self._variable[element] = self._fresh()
            self._element[found] = element
        return found

    def hit(self, members: Iterable[int]) -> None:
        """Hitting sets have one of these."""
        clause = [self._of(element) for element in members]
        if not clause:
            self._impossible = True
        self._solver.add([clause])

    def block(self, members: Iterable[int]) -> None:
        """Supersets of this are not looked for any more. Pre: hitting sets that are smaller have
        been blocked before."""
        clause = [-self._of(element) for element in members]
        if not clause:
            self._impossible = True
        self._solver.add([clause])

    def smallest(
        self, most: int | None = None, limit: Limit | None = None
    ) -> frozenset[int] | None:
        """One of the smallest hitting sets that are left; None: there is none with at most `most`
        elements. Raises GaveUp if the limit ends the search."""
        while not self._impossible and (most is None or self.size <= most):
            bound = self._at_most(self.size)
            answer = self._solver.solve(bound, limit)
            if answer is None:
                raise GaveUp
            if answer:
                model = self._solver.model()
                return frozenset(
                    element
                    for variable, element in self._element.items()
                    if variable <= len(model) and model[variable - 1] > 0
                )
            if not self._solver.core():
                self._impossible = True
            else:
                self.size += 1
        return None

    # ------------------------------------------------------------------------------ counting

    def _at_most(self, size: int) -> list[int]:
        """Assumptions under which no more elements than that are chosen."""
        known = len(self._variable)
        if size >= known:
            return []
        if self._made <= size or self._counted < known:
            self._count_up(max(_FIRST_OUTPUTS, 2 * size + 2))
        return [-self._outputs[size]]

    def _count_up(self, outputs: int) -> None:
        """Counters of its own for elements that are new; or, with more outputs, for all."""
        variables = list(self._variable.values())
        if outputs > self._made:
            self._outputs, self._counted, self._made = [], 0, outputs
        fresh = [[variable] for variable in variables[self._counted :]]
        while len(fresh) > 1:
            fresh = [
                self._sum(*fresh[at : at + 2]) if at + 1 < len(fresh) else fresh[at]
                for at in range(0, len(fresh), 2)
            ]
        self._outputs = self._sum(self._outputs, fresh[0]) if self._outputs else fresh[0]
        self._counted = len(variables)

    def _sum(self, a: Sequence[int], b: Sequence[int]) -> list[int]:
        outputs = [self._fresh() for _ in range(min(self._made, len(a) + len(b)))]
        clauses = []
        for i in range(len(a) + 1):
            for j in range(len(b) + 1):
                if 0 < i + j <= len(outputs):
                    clause = [outputs[i + j - 1]]
                    if i:
                        clause.append(-a[i - 1])
                    if j:
                        clause.append(-b[j - 1])
                    clauses.append(clause)
        self._solver.add(clauses)
        return outputs

    def close(self) -> None:
        self._solver.close()


def minimal_hitting_sets(
    family: Iterable[Iterable[int]], most: int | None = None
) -> Iterator[frozenset[int]]:
    """All hitting sets without an element that they do not need, with at most `most` elements; by
    size. Pre: no element is negative."""
    sets = [frozenset(members) for members in family]
    count = 1 + max((element for members in sets for element in members), default=-1)
    search = HittingSets(count)
    try:
        for members in sets:
            search.hit(sorted(members))
        while (found := search.smallest(most)) is not None:
            yield found
            search.block(sorted(found))
    finally:
        search.close()


def minimum_hitting_sets(family: Iterable[Iterable[int]]) -> tuple[frozenset[int], ...]:
    """All hitting sets with as few elements as possible."""
    found: list[frozenset[int]] = []
    for members in minimal_hitting_sets(family):
        if found and len(members) > len(found[0]):
            break
        found.append(members)
    return tuple(sorted(found, key=sorted))
