"""Circuits of bit vectors against Python's integers; their clauses against their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import machine_words as reference

from whence.solve import arrays, words
from whence.solve.circuits import FALSE, TRUE, Circuit, Literal
from whence.solve.cnf import encode
from whence.solve.sat import Solver
from whence.solve.words import Word

BINARY: dict[str, Callable[[Circuit, Word, Word], Word]] = {
    "add": words.add,
    "subtract": words.subtract,
    "multiply": words.multiply,
    "and": words.bitwise_and,
    "or": words.bitwise_or,
    "xor": words.bitwise_xor,
    "unsigned_div": lambda c, a, b: words.unsigned_div_rem(c, a, b)[0],
    "unsigned_rem": lambda c, a, b: words.unsigned_div_rem(c, a, b)[1],
    "signed_div": lambda c, a, b: words.signed_div_rem(c, a, b)[0],
    "signed_rem": lambda c, a, b: words.signed_div_rem(c, a, b)[1],
    "shift_left": words.shift_left,
    "shift_right": lambda c, a, b: words.shift_right(c, a, b, signed=False),
    "signed_shift_right": lambda c, a, b: words.shift_right(c, a, b, signed=True),
}
CONDITIONS: dict[str, Callable[[Circuit, Word, Word], Literal]] = {
    "equal": words.equal,
    "less": lambda c, a, b: words.less(c, a, b, signed=False),
    "signed_less": lambda c, a, b: words.less(c, a, b, signed=True),
    "less_equal": lambda c, a, b: words.less_equal(c, a, b, signed=False),
    "signed_less_equal": lambda c, a, b: words.less_equal(c, a, b, signed=True),
    "add_overflows": lambda c, a, b: words.add_overflows(c, a, b, signed=False),
    "signed_add_overflows": lambda c, a, b: words.add_overflows(c, a, b, signed=True),
    "subtract_overflows": lambda c, a, b: words.subtract_overflows(c, a, b, signed=False),
    "signed_subtract_overflows": lambda c, a, b: words.subtract_overflows(c, a, b, signed=True),
    "multiply_overflows": lambda c, a, b: words.multiply_overflows(c, a, b, signed=False),
    "signed_multiply_overflows": lambda c, a, b: words.multiply_overflows(c, a, b, signed=True),
    "division_overflows": words.division_overflows,
    "shifts_too_far": lambda c, a, b: words.shifts_too_far(c, len(a), b, signed=False),
    "signed_shifts_too_far": lambda c, a, b: words.shifts_too_far(c, len(a), b, signed=True),
}


def packed(values: Sequence[int], word: Word) -> dict[int, int]:
    """Inputs for so many cases at once."""
    return {
        bit >> 1: sum((value >> place & 1) << case for case, value in enumerate(values))
        for place, bit in enumerate(word)
    }


def unpacked(bits: Sequence[int], cases: int) -> list[int]:
    return [
        sum((bit >> case & 1) << place for place, bit in enumerate(bits)) for case in range(cases)
    ]


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("name", BINARY)
def test_all_pairs_of_numbers(name: str, width: int) -> None:
    circuit = Circuit()
    a, b = words.fresh(circuit, width), words.fresh(circuit, width)
    result = BINARY[name](circuit, a, b)
    pairs = [(x, y) for x in range(1 << width) for y in range(1 << width)]
    given = packed([x for x, _ in pairs], a) | packed([y for _, y in pairs], b)
    found = unpacked(circuit.values(result, given, width=len(pairs)), len(pairs))
    assert found == [reference.BINARY[name](x, y, width) % (1 << width) for x, y in pairs]


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("name", CONDITIONS)
def test_all_pairs_of_numbers_have_the_condition(name: str, width: int) -> None:
    circuit = Circuit()
    a, b = words.fresh(circuit, width), words.fresh(circuit, width)
    result = CONDITIONS[name](circuit, a, b)
    pairs = [(x, y) for x in range(1 << width) for y in range(1 << width)]
    given = packed([x for x, _ in pairs], a) | packed([y for _, y in pairs], b)
    found = unpacked(circuit.values([result], given, width=len(pairs)), len(pairs))
    assert [bool(each) for each in found] == [
        reference.CONDITIONS[name](x, y, width) for x, y in pairs
    ]


@given(st.data(), st.sampled_from([*BINARY]), st.sampled_from([8, 16, 32, 64]))
def test_wide_and_constant_operands(data: st.DataObject, name: str, width: int) -> None:
    edges = [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    number = st.integers(0, (1 << width) - 1) | st.sampled_from(edges) | st.integers(0, 70)
    x, y = data.draw(number), data.draw(number)
    circuit = Circuit()
    given: dict[int, int] = {}
    operands = []
    for value in (x, y):
        # Bits of which some are known.
        known = data.draw(st.sampled_from([0, (1 << width) - 1]) | number)
        word = tuple(
            value >> place & 1 if known >> place & 1 else circuit.input() for place in range(width)
        )
        given |= {bit >> 1: value >> place & 1 for place, bit in enumerate(word) if bit > 1}
        operands.append(word)
    result = BINARY[name](circuit, *operands)
    expected = reference.BINARY[name](x, y, width) % (1 << width)
    assert words.value_of(circuit.values(result, given)) == expected
    if not given:
        assert words.as_constant(result) == expected


# ------------------------------------------------------------------------------------ expressions


def grown(data: st.DataObject, circuit: Circuit, width: int) -> tuple[list[Word], Word]:
    """A random expression over two inputs: (the inputs, it)."""
    inputs = [words.fresh(circuit, width) for _ in range(2)]
    known = [*inputs, words.constant(data.draw(st.integers(0, (1 << width) - 1)), width)]
    for _ in range(data.draw(st.integers(1, 6))):
        a, b = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(known))
        name = data.draw(st.sampled_from([*BINARY, *CONDITIONS, "choose", "negate"]))
        if name in BINARY:
            known.append(BINARY[name](circuit, a, b))
        elif name in CONDITIONS:
            known.append(words.extend((CONDITIONS[name](circuit, a, b),), width, signed=False))
        elif name == "choose":
            known.append(words.choose(circuit, a[0], b, known[-1]))
        else:
            known.append(words.negate(circuit, a))
    return inputs, known[-1]


@given(st.data(), st.booleans(), st.integers(1, 4))
def test_clauses_say_what_gates_do(data: st.DataObject, polarity: bool, width: int) -> None:
    circuit = Circuit()
    inputs, result = grown(data, circuit, width)
    free = [bit for word in inputs for bit in word]
    with_result = data.draw(st.booleans())
    encoded = encode(circuit, free=[*free, *result] if with_result else free, polarity=polarity)
    if not with_result:
        assert not encoded.clauses
        return
    cases = 1 << len(free)
    given = {
        bit >> 1: sum((case >> place & 1) << case for case in range(cases))
        for place, bit in enumerate(free)
    }
    values = circuit.values(result, given, width=cases)
    with Solver(encoded.clauses) as solver:
        for case in range(cases):
            assumed = [
                encoded.literal(bit ^ 1 ^ (case >> place & 1)) for place, bit in enumerate(free)
            ]
            outcome = [
                encoded.literal(bit ^ 1 ^ (value >> case & 1))
                for bit, value in zip(result, values, strict=True)
            ]
            assert solver.solve(assumed + outcome)
            for literal in outcome:
                assert not solver.solve([*assumed, -literal])


@given(st.data(), st.integers(1, 3))
def test_required_gates_are_satisfiable_where_they_can_be(data: st.DataObject, width: int) -> None:
    circuit = Circuit()
    inputs, result = grown(data, circuit, width)
    wish = data.draw(st.integers(0, (1 << width) - 1))
    circuit.require(words.equal(circuit, result, words.constant(wish, width)))
    free = [bit for word in inputs for bit in word]
    encoded = encode(circuit, free=free)
    with Solver(encoded.clauses) as solver:
        possible = solver.solve()
        found = {bit >> 1: solver.true(encoded.literal(bit)) for bit in free} if possible else {}
    every = {
        words.value_of(
            circuit.values(result, {bit >> 1: case >> place & 1 for place, bit in enumerate(free)})
        )
        for case in range(1 << len(free))
    }
    assert possible == (wish in every)
    if possible:
        assert words.value_of(circuit.values(result, found)) == wish


# ---------------------------------------------------------------------------------------- havocs


@given(st.data(), st.integers(1, 3))
def test_what_is_havoced_is_anything_only_if_it_is_not_healthy(
    data: st.DataObject, width: int
) -> None:
    circuit = Circuit()
    inputs, inner = grown(data, circuit, width)
    healthy = circuit.input()
    doubted = words.havoc(circuit, healthy, inner)
    outer = BINARY[data.draw(st.sampled_from(["add", "xor", "subtract"]))](
        circuit, doubted, inputs[0]
    )
    free = [healthy, *(bit for word in inputs for bit in word)]
    encoded = encode(circuit, free=[*free, *outer])
    case = data.draw(st.integers(0, (1 << 2 * width) - 1))
    given = {bit >> 1: case >> place & 1 for place, bit in enumerate(free[1:])}
    assumed = [encoded.literal(bit ^ 1 ^ (case >> place & 1)) for place, bit in enumerate(free[1:])]
    sound = words.value_of(circuit.values(outer, given | {healthy >> 1: 1}))
    with Solver(encoded.clauses) as solver:
        for wish in range(1 << width):
            outcome = [
                encoded.literal(bit ^ 1 ^ (wish >> place & 1)) for place, bit in enumerate(outer)
            ]
            assert solver.solve([*assumed, *outcome])
            # These operations reach every result.
            chosen = {bit >> 1: solver.true(encoded.literal(bit)) for bit in doubted}
            is_healthy = solver.true(encoded.literal(healthy))
            again = circuit.values(outer, given | {healthy >> 1: is_healthy}, chosen=chosen)
            assert words.value_of(again) == wish
            answer = solver.solve([*assumed, *outcome, encoded.literal(healthy)])
            assert answer == (wish == sound)


def test_each_havoc_is_another_one() -> None:
    circuit = Circuit()
    healthy, value = circuit.inputs(2)
    assert circuit.havoc(healthy, value) != circuit.havoc(healthy, value)
    assert circuit.havoc(TRUE, value) == value
    assert circuit.havoc(FALSE, value) != circuit.havoc(FALSE, value)


# ---------------------------------------------------------------------------------------- arrays


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_arrays_are_read_and_written(count: int) -> None:
    circuit = Circuit()
    width, bits = 3, 4
    elements = [words.fresh(circuit, width) for _ in range(count)]
    at, to, value = words.fresh(circuit, bits), words.fresh(circuit, bits), words.fresh(circuit, 3)
    condition = circuit.input()
    after = arrays.write(circuit, elements, to, value, condition)
    got = arrays.read(circuit, after, at)
    fine = arrays.in_bounds(circuit, count, at, signed=False)
    for place in range(1 << bits):
        for other in range(1 << bits):
            for holds in (0, 1):
                given = {condition >> 1: holds}
                for number, word in enumerate((*elements, value)):
                    given |= packed([number % 7], word)
                given |= packed([place], at) | packed([other], to)
                written = holds and place == other
                expected = (count if written else place) % 7
                *result, inside = circuit.values([*got, fine], given)
                assert inside == (place < count)
                if place < count:
                    assert words.value_of(result) == expected


def test_a_known_place_takes_no_gates() -> None:
    circuit = Circuit()
    elements = [words.fresh(circuit, 8) for _ in range(10)]
    size = len(circuit)
    value = elements[3]
    after = arrays.write(circuit, elements, words.constant(7, 32), value)
    assert after == (*elements[:7], value, *elements[8:])
    assert arrays.read(circuit, after, words.constant(7, 32)) == value
    assert len(circuit) == size


@pytest.mark.parametrize(
    ("signed", "count", "inside"),
    [
        (True, 3, {0, 1, 2}),
        (True, 9, set(range(4))),
        (False, 9, set(range(8))),
        (False, 5, set(range(5))),
    ],
)
def test_bounds_of_narrow_indices(signed: bool, count: int, inside: set[int]) -> None:
    circuit = Circuit()
    index = words.fresh(circuit, 3)
    fine = arrays.in_bounds(circuit, count, index, signed=signed)
    found = {i for i in range(8) if circuit.values([fine], packed([i], index))[0]}
    assert found == inside


def test_a_memory_has_equal_values_at_equal_places() -> None:
    circuit = Circuit()
    memory = arrays.Memory(circuit, 4)
    p, q, value = (words.fresh(circuit, 4) for _ in range(3))
    first, second = memory.read(p), memory.read(q)
    written = circuit.input()
    memory.write(p, value, written)
    third = memory.read(q)
    same = words.equal(circuit, p, q)
    alike = words.equal(circuit, first, second)
    kept = words.equal(circuit, second, third)
    new = words.equal(circuit, value, third)
    encoded = encode(circuit, free=[written, same, alike, kept, new])
    w, s, a, k, n = (encoded.literal(each) for each in (written, same, alike, kept, new))
    with Solver(encoded.clauses) as solver:
        assert not solver.solve([s, -a])
        assert solver.solve([-s, -a])
        assert not solver.solve([s, w, -n])
        assert not solver.solve([-s, -k])
        assert not solver.solve([-w, -k])
        assert solver.solve([s, w, -k])
