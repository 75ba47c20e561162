"""Bundles: what compiled code reads through them is what Python sees."""

from typing import Any

import numpy as np
import pytest

from whence.zones import jit
from whence.zones.bundle import Bundle, array

Array = Any


class Sample(Bundle):
    numbers: Array = array("int64", None)
    pairs: Array = array("int32", None, 2)
    blocks: Array = array("int32", None, None, None)


def sample() -> Sample:
    return Sample(
        numbers=np.arange(5, dtype=np.int64),
        pairs=np.arange(6, dtype=np.int32).reshape(3, 2).copy(),
        blocks=np.arange(24, dtype=np.int32).reshape(2, 3, 4),
    )


def digest(bundle: Any) -> tuple[int, int, int, int, int]:
    """Touches all lengths and all cells, and writes one."""
    numbers, pairs, blocks = bundle.numbers, bundle.pairs, bundle.blocks
    total = 0
    for n in range(numbers.shape[0]):
        total += (n + 1) * numbers[n]
    for i in range(pairs.shape[0]):
        for j in range(pairs.shape[1]):
            total += (10 * i + j) * pairs[i, j]
    for i in range(blocks.shape[0]):
        block = blocks[i]
        for j in range(block.shape[0]):
            for k in range(block.shape[1]):
                total += (100 * i + 10 * j + k) * block[j, k]
    bundle.numbers[0] = total
    return numbers.shape[0], pairs.shape[0], blocks.shape[0], numbers.size, total


def both(compiled: Any, bundle: Sample) -> tuple[int, ...]:
    """The digest by machine code, which must be that by Python."""
    first = bundle.numbers[0]
    plain = digest(bundle)
    bundle.numbers[0] = first
    found = compiled(bundle)
    assert found == plain
    assert bundle.numbers[0] == plain[-1]
    return tuple(found)


def test_compiled_code_sees_the_arrays_of_now() -> None:
    compiled = jit.numba.njit(digest)
    bundle = sample()
    assert both(compiled, bundle)[:4] == (5, 3, 2, 5)
    bundle.numbers.resize((70_000,), refcheck=False)
    bundle.pairs.resize((50_000, 2), refcheck=False)
    assert both(compiled, bundle)[:4] == (70_000, 50_000, 2, 70_000)
    bundle.blocks = np.ones((7, 2, 2), np.int32)
    assert both(compiled, bundle)[2] == 7
    assert both(compiled, sample())[0] == 5
    assert len(compiled.signatures) in (0, 1)  # all bundles of a class are of one type


@pytest.mark.parametrize(
    "numbers",
    [
        np.zeros(5, np.int32),
        np.zeros((5, 1), np.int64),
        np.zeros(10, np.int64)[::2],
    ],
)
def test_arrays_of_another_form_are_refused(numbers: Any) -> None:
    good = sample()
    with pytest.raises(TypeError, match="numbers"):
        Sample(numbers=numbers, pairs=good.pairs, blocks=good.blocks)


def test_missing_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="Sample"):
        Sample(numbers=np.zeros(5, np.int64))


def test_somebody_elses_compiled_code_can_call_kernels() -> None:
    """Parts that were compiled by halves for a kernel are complete for others, too."""
    from whence.zones import dbm

    d = np.ones((3, 3), np.int32)
    other = np.ones((3, 3), np.int32)
    dbm.intersect(d, other)  # compiles `constrain` as a part

    @jit.numba.njit  # type: ignore[untyped-decorator]
    def foreign(zone: Any) -> int:
        dbm.delay(zone)
        return int(dbm.constrain(zone, 1, 0, 7))

    assert foreign(d) == 1
    assert d[1, 0] == 7
