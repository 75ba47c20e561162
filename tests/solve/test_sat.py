"""The face of the SAT solver against truth tables; hitting sets against all subsets."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.solve.hitting import (
    GaveUp,
    HittingSets,
    minimal_hitting_sets,
    minimum_hitting_sets,
)
from whence.solve.sat import ENGINES, Limit, Solver

VARIABLES = 5
literals = st.integers(1, VARIABLES).flatmap(lambda v: st.sampled_from([v, -v]))
clauses = st.lists(st.lists(literals, max_size=4), max_size=12)


def holds(clause: Sequence[int], values: Sequence[bool]) -> bool:
    return any(values[abs(literal) - 1] == (literal > 0) for literal in clause)


def truth_table(formula: Sequence[Sequence[int]]) -> list[tuple[bool, ...]]:
    return [
        values
        for values in product([False, True], repeat=VARIABLES)
        if all(holds(clause, values) for clause in formula)
    ]


def pigeons(count: int) -> list[list[int]]:
    """So many pigeons in one hole fewer: easy to say, hard to refute."""
    holes = range(count - 1)
    formula = [[1 + bird * count + hole for hole in holes] for bird in range(count)]
    for hole in holes:
        for one, other in combinations(range(count), 2):
            formula.append([-1 - one * count - hole, -1 - other * count - hole])
    return formula


@pytest.mark.parametrize("engine", ENGINES)
@given(clauses, clauses, st.lists(st.lists(literals, max_size=4), max_size=4))
def test_answers_solutions_and_cores(
    engine: str,
    first: list[list[int]],
    second: list[list[int]],
    questions: list[list[int]],
) -> None:
    with Solver(first, engine=engine) as solver:
        for formula in (first, first + second):
            for assumed in questions:
                answer = solver.solve(assumed)
                assert answer == bool(truth_table([*formula, *([each] for each in assumed)]))
                if answer:
                    values = [solver.true(v) for v in range(1, VARIABLES + 1)]
                    assert all(holds(c, values) for c in [*formula, *([a] for a in assumed)])
                    assert all(solver.true(-v) != solver.true(v) for v in range(1, VARIABLES + 1))
                else:
                    core = solver.core()
                    assert set(core) <= set(assumed)
                    assert not truth_table([*formula, *([each] for each in core)])
            if formula is first:
                solver.add(second)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_core_has_what_matters(engine: str) -> None:
    with Solver([[-1, -4], [2, 3]], engine=engine) as solver:
        assert not solver.solve([5, 4, 3, 1, 2])
        assert solver.core() == (4, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_preferred_values_are_tried_first(engine: str) -> None:
    for wish in (1, -1):
        with Solver([[1, 2, 3], [-1, -2, -3]], engine=engine) as solver:
            solver.prefer([wish * 1, -wish * 2])
            assert solver.solve()
            assert solver.true(wish)


def test_the_same_questions_have_the_same_answers() -> None:
    def models() -> list[list[int]]:
        with Solver(pigeons(6)[2:]) as solver:
            found = []
            for variable in (1, 8, 15):
                solver.solve([variable])
                found.append(list(solver.model()))
        return found

    assert models() == models()


@pytest.mark.parametrize("engine", ENGINES)
def test_limits(engine: str) -> None:
    with Solver(pigeons(11), engine=engine) as solver:
        assert solver.solve(limit=Limit(conflicts=50)) is None
        with pytest.raises(RuntimeError, match="no solution"):
            solver.true(1)
        with pytest.raises(RuntimeError, match="no contradiction"):
            solver.core()
        began = time.perf_counter()
        assert solver.solve(limit=Limit(deadline=began + 0.05)) is None
        assert time.perf_counter() - began < 2
        assert solver.solve(limit=Limit(conflicts=50, deadline=began + 60)) is None
    with Solver(pigeons(5), engine=engine) as solver:
        assert solver.solve(limit=Limit(conflicts=100_000)) is False
        assert solver.core() == ()


def test_a_solver_that_was_interrupted_says_so() -> None:
    solver = Solver(pigeons(12))
    # Another process: while the solver works, no other thread of this one does.
    other = subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -INT {os.getpid()}"])
    with pytest.raises(KeyboardInterrupt):
        solver.solve()
    other.wait()
    with pytest.raises(RuntimeError, match="interrupted"):
        solver.solve()
    solver.close()


# ----------------------------------------------------------------------------------- hitting sets

families = st.lists(st.frozensets(st.integers(0, 6), max_size=5), max_size=8)


def hitting_by_force(family: Sequence[frozenset[int]]) -> set[frozenset[int]]:
    """All minimal ones, from the definition."""
    every = [
        frozenset(members)
        for size in range(8)
        for members in combinations(range(7), size)
        if all(set(members) & each for each in family)
    ]
    return {one for one in every if not any(other < one for other in every)}


@given(families, st.none() | st.integers(0, 4))
def test_hitting_sets_are_all_there_and_minimal(
    family: list[frozenset[int]], most: int | None
) -> None:
    expected = hitting_by_force(family)
    found = list(minimal_hitting_sets(family, most))
    assert len(set(found)) == len(found)
    assert set(found) == {each for each in expected if most is None or len(each) <= most}
    assert [len(each) for each in found] == sorted(len(each) for each in found)
    least = min(map(len, expected), default=0)
    assert minimum_hitting_sets(family) == tuple(
        sorted((each for each in expected if len(each) == least), key=sorted)
    )


@given(st.integers(0, 2**32))
def test_a_family_may_grow_while_its_hitting_sets_are_found(seed: int) -> None:
    rng = Random(seed)
    family = [frozenset(rng.sample(range(7), rng.randint(1, 4))) for _ in range(rng.randint(1, 9))]
    search = HittingSets(7)
    found: list[frozenset[int]] = []
    while (candidate := search.smallest()) is not None:
        missed = next((each for each in family if not each & candidate), None)
        if missed is not None:
            search.hit(missed)
        else:
            found.append(candidate)
            search.block(candidate)
    search.close()
    assert set(found) == hitting_by_force(family)
    assert [len(each) for each in found] == sorted(len(each) for each in found)


def test_large_hitting_sets_need_longer_counters() -> None:
    family = [{3 * number, 3 * number + 1} for number in range(12)]
    assert len(minimum_hitting_sets(family)) == 2**12
    assert next(minimal_hitting_sets(family, 11), None) is None


def test_what_cannot_be_hit() -> None:
    assert list(minimal_hitting_sets([{1}, set()])) == []
    assert list(minimal_hitting_sets([])) == [frozenset()]
    with pytest.raises(ValueError, match="no element 5"):
        HittingSets(5).hit([5])
    search = HittingSets(40)
    for one, other in combinations(range(40), 2):
        search.hit([one, other])
    with pytest.raises(GaveUp):
        search.smallest(limit=Limit(deadline=time.perf_counter()))
