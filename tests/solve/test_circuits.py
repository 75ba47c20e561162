"""Gates against truth tables: that hashing and propagation change no value."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.solve.circuits import FALSE, TRUE, Circuit, Literal
from whence.solve.cnf import encode
from whence.solve.sat import Solver

INPUTS = 4
ONES = (1 << (1 << INPUTS)) - 1
#: The truth tables of the inputs: bit k is the value in case k.
TABLES = [
    sum((case >> place & 1) << case for case in range(1 << INPUTS)) for place in range(INPUTS)
]
OPERATIONS: dict[str, tuple[int, Callable[..., int]]] = {
    "and_": (2, lambda a, b: a & b),
    "or_": (2, lambda a, b: a | b),
    "xor": (2, lambda a, b: a ^ b),
    "iff": (2, lambda a, b: ~(a ^ b)),
    "implies": (2, lambda a, b: ~a | b),
    "ite": (3, lambda c, t, e: (c & t) | (~c & e)),
    "majority": (3, lambda a, b, c: (a & b) | (a & c) | (b & c)),
}


def grown(seed: int, gates: int) -> tuple[Circuit, list[Literal], dict[Literal, int]]:
    """Random gates, mostly of recent ones, so that the same operands meet: (the circuit, its
    inputs, the truth tables of literals)."""
    rng = Random(seed)
    circuit = Circuit()
    inputs = list(circuit.inputs(INPUTS))
    table = dict(zip(inputs, TABLES, strict=True)) | {FALSE: 0}
    known = [*inputs, FALSE]

    def value(literal: Literal) -> int:
        return ONES ^ table[literal & ~1] if literal & 1 else table[literal & ~1]

    for _ in range(gates):
        name = rng.choice([*OPERATIONS, "ite", "ite"])
        count, meaning = OPERATIONS[name]
        pool = known[-6:] if rng.random() < 0.6 else known
        operands = [rng.choice(pool) ^ rng.getrandbits(1) for _ in range(count)]
        result = getattr(circuit, name)(*operands)
        expected = meaning(*map(value, operands)) & ONES
        if result & 1:
            expected ^= ONES
        gate = result & ~1
        assert table.setdefault(gate, expected) == expected, (name, operands)
        known.append(gate)
    return circuit, inputs, table


@given(st.integers(0, 2**32))
def test_gates_have_the_values_that_they_should(seed: int) -> None:
    circuit, inputs, table = grown(seed, 150)
    given = {literal >> 1: value for literal, value in zip(inputs, TABLES, strict=True)}
    wanted = list(table)
    assert circuit.values(wanted, given, width=1 << INPUTS) == tuple(table.values())


@given(st.integers(0, 2**32))
def test_no_gate_is_made_twice_or_trivial(seed: int) -> None:
    circuit, _, _ = grown(seed, 150)
    gates = circuit.gates[INPUTS + 1 :]
    assert len(set(gates)) == len(gates)
    for number, (_, *operands) in enumerate(circuit.gates):
        assert all(operand >> 1 < max(number, 1) for operand in operands)
    for kind, a, b, c in gates:
        used = [a, b, c] if kind >= 4 else [a, b]
        assert min(used) > TRUE
        assert len({operand >> 1 for operand in used}) == len(used)


@given(st.integers(0, 2**32), st.booleans())
def test_clauses_of_gates(seed: int, polarity: bool) -> None:
    """What is asked for has the right value in each case; what may only be true can be true in
    the right cases, and no others."""
    circuit, inputs, table = grown(seed, 30)
    rng = Random(seed)
    asked, positive = (rng.choice(list(table)) ^ rng.getrandbits(1) for _ in range(2))
    encoded = encode(circuit, free=[*inputs, asked], positive=[positive], polarity=polarity)
    with Solver(encoded.clauses) as solver:
        for case in range(1 << INPUTS):
            assumed = [
                encoded.literal(literal ^ 1 ^ (case >> place & 1))
                for place, literal in enumerate(inputs)
            ]
            expected = table[asked & ~1] >> case & 1 ^ asked & 1
            assert solver.solve([*assumed, encoded.literal(asked ^ 1 ^ expected)])
            assert not solver.solve([*assumed, encoded.literal(asked ^ expected)])
            if positive > TRUE:
                holds = bool(table[positive & ~1] >> case & 1 ^ positive & 1)
                assert solver.solve([*assumed, encoded.literal(positive)]) == holds


@given(st.integers(0, 2**32))
def test_havocs_whose_healthy_predicate_is_a_gate(seed: int) -> None:
    circuit, inputs, table = grown(seed, 12)
    rng = Random(seed)
    healthy, value = (rng.choice(list(table)) ^ rng.getrandbits(1) for _ in range(2))
    doubted = circuit.havoc(healthy, value)
    encoded = encode(circuit, free=[*inputs, doubted])
    with Solver(encoded.clauses) as solver:
        for case in range(1 << INPUTS):
            assumed = [
                encoded.literal(literal ^ 1 ^ (case >> place & 1))
                for place, literal in enumerate(inputs)
            ]
            is_healthy = table[healthy & ~1] >> case & 1 ^ healthy & 1
            right = table[value & ~1] >> case & 1 ^ value & 1
            for wish in (0, 1):
                possible = solver.solve([*assumed, encoded.literal(doubted ^ 1 ^ wish)])
                assert possible == (not is_healthy or wish == right)


def test_equal_gates_are_one() -> None:
    circuit = Circuit()
    a, b, c = circuit.inputs(3)
    assert circuit.majority(a, b ^ 1, c ^ 1) == circuit.majority(a ^ 1, c, b) ^ 1
    assert circuit.ite(c, a, b) == circuit.ite(c ^ 1, b, a)
    assert circuit.ite(c, a ^ 1, b) == circuit.ite(c, a, b ^ 1) ^ 1
    assert circuit.xor(a, b ^ 1) == circuit.xor(b, a) ^ 1
    assert circuit.ite(c, circuit.ite(c, a, b) ^ 1, b) == circuit.ite(c, a ^ 1, b)
    assert len(circuit) == 1 + 3 + 4


def test_what_is_required_and_constant() -> None:
    circuit = Circuit()
    a = circuit.input()
    circuit.require(TRUE)
    assert circuit.required == []
    encoded = encode(circuit, free=[a, TRUE])
    with Solver(encoded.clauses) as solver:
        assert solver.solve([encoded.literal(TRUE)])
        assert not solver.solve([encoded.literal(FALSE)])
    assert encoded.literal(a) == 1
    with pytest.raises(ValueError, match="does not have this gate"):
        encode(circuit).literal(a)
    circuit.require(FALSE)
    with Solver(encode(circuit).clauses) as solver:
        assert not solver.solve()


def test_many_operands() -> None:
    circuit = Circuit()
    inputs = circuit.inputs(9)
    every, some = circuit.all_(inputs), circuit.any_(inputs)
    for case in (0, 1, 256, 511):
        given = {literal >> 1: case >> place & 1 for place, literal in enumerate(inputs)}
        assert circuit.values([every, some], given) == (case == 511, case > 0)
    assert (circuit.all_([]), circuit.any_([])) == (TRUE, FALSE)
    # One clause of ten literals, and nine of two.
    encoded = encode(circuit, free=[every])
    assert sorted(map(len, encoded.clauses)) == [2] * 9 + [10]
