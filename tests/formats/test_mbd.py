"""Reading and writing systems with observations, and diagnoses of what was read."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import diagnoses as reference

from whence.formats.mbd import read_mbd, read_mbd_file, write_mbd
from whence.locate.diagnosis import diagnose
from whence.model.mbd import Component, Observation, Problem, System
from whence.source import InputError, UnsupportedError

#: Two inverters in a row, as other tools write it.
SAMPLE = """c mutated gates: second
c # observ: 2
o 3 -5 0
o -3
  -5 0
p wcnf 5 6 3
1 1 0
1 2 0
3 -1 3 4 0
3 -1 -3 -4 0
3 -2 4 5 0 3 -2 -4 -5 0
"""


def test_a_file_as_others_write_it(tmp_path: Path) -> None:
    path = tmp_path / "inverters.wcnf"
    path.write_text(SAMPLE)
    problem = read_mbd_file(path)
    assert problem.system == System(
        5,
        ((-1, 3, 4), (-1, -3, -4), (-2, 4, 5), (-2, -4, -5)),
        (Component(1), Component(2)),
    )
    assert problem.observations == (Observation((3, -5)), Observation((-3, -5)))
    assert problem.notes == ("mutated gates: second", "# observ: 2")
    assert str(problem.system.components[1].origin) == f"{path}:8:1"
    assert str(problem.observations[1].origin) == f"{path}:4:1"
    packed = tmp_path / "inverters.wcnf.gz"
    packed.write_bytes(gzip.compress(SAMPLE.encode()))
    assert read_mbd_file(packed) == problem
    assert diagnose(problem.system, problem.observations).diagnoses == ((0,), (1,))


#: A circuit like c17, six NAND gates, of our own numbering: inputs 1 to 5, gates 6 to 11 with the
#: outputs 10 and 11, healthy predicates 12 to 17.
NANDS = ((6, 1, 3), (7, 3, 4), (8, 2, 7), (9, 7, 5), (10, 6, 8), (11, 8, 9))


def small_circuit(stuck: int, value: bool) -> Problem:
    """All inputs for which the circuit with a gate that is stuck at a value has other outputs."""
    clauses: list[tuple[int, ...]] = []
    for number, (gate, a, b) in enumerate(NANDS):
        h = 12 + number
        clauses += [(-h, -gate, -a, -b), (-h, gate, a), (-h, gate, b)]

    def outputs(bits: list[bool], fault: bool) -> list[bool]:
        values = [False, *bits]
        for gate, a, b in NANDS:
            values.append(value if fault and gate == stuck else not (values[a] and values[b]))
        return values[10:12]

    observations = []
    for case in range(32):
        bits = [bool(case >> place & 1) for place in range(5)]
        seen = outputs(bits, True)
        if seen != outputs(bits, False):
            literals = [n if bit else -n for n, bit in enumerate(bits, 1)]
            literals += [n if bit else -n for n, bit in enumerate(seen, 10)]
            observations.append(Observation(tuple(literals), f"inputs {case}"))
    components = tuple(Component(12 + number, f"gate {6 + number}") for number in range(6))
    return Problem(System(17, tuple(clauses), components), tuple(observations), ("stuck",))


@pytest.mark.parametrize("stuck", [gate for gate, _, _ in NANDS])
@pytest.mark.parametrize("value", [False, True])
def test_a_gate_that_is_stuck_is_a_diagnosis(stuck: int, value: bool) -> None:
    problem = read_mbd("".join(write_mbd(small_circuit(stuck, value))))
    assert problem == small_circuit(stuck, value)
    found = diagnose(problem.system, problem.observations, minimum=False)
    assert (stuck - 6,) in found.diagnoses
    assert len(found.failing) == len(problem.observations)
    # By force, of values: with inputs and outputs known, each component is right or is not.
    expected = set()
    for members in range(64):
        if all(explained(members, observation) for observation in problem.observations):
            expected.add(members)
    minimal = {m for m in expected if not any(o != m and o & m == o for o in expected)}
    assert {sum(1 << n for n in each) for each in found.diagnoses} == minimal


def explained(members: int, observation: Observation) -> bool:
    known = {abs(literal): literal > 0 for literal in observation.literals}
    for case in range(16):
        values = known | {gate: bool(case >> gate - 6 & 1) for gate in range(6, 10)}
        if all(
            members >> number & 1 or values[gate] == (not (values[a] and values[b]))
            for number, (gate, a, b) in enumerate(NANDS)
        ):
            return True
    return False


def test_clauses_as_components() -> None:
    """Soft clauses that are no healthy predicates hold if their component is healthy."""
    problem = read_mbd("o 1 0\np wcnf 2 4 9\n1 -1 2 0\n1 -2 0\n1 -2 0\n9 1 2 0\n")
    found = diagnose(problem.system, problem.observations, minimum=False)
    assert found.diagnoses == ((0,), (1, 2))
    # The components' clauses, written as such: each has a healthy variable.
    clauses = [(-1, 2, -3), (-2, -4), (-2, -5), (1, 2)]
    assert reference.all_minimal(5, clauses, [3, 4, 5], [[1]]) == set(
        map(frozenset, found.diagnoses)
    )


def test_without_a_top_weight_every_clause_is_a_component() -> None:
    problem = read_mbd("p wcnf 1 2\n1 1 0\n1 -1 0\n")
    assert diagnose(problem.system, [Observation(())]).diagnoses == ((0,), (1,))


texts = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    variables = draw(st.integers(1, 9))
    literals = st.integers(1, variables).flatmap(lambda v: st.sampled_from([v, -v]))
    clauses = st.lists(literals, max_size=4).map(tuple)
    healthy = draw(st.lists(st.integers(1, variables), unique=True, max_size=3))
    return Problem(
        System(
            variables,
            tuple(draw(st.lists(clauses, max_size=6))),
            tuple(Component(v, draw(st.just("") | texts)) for v in healthy),
        ),
        tuple(
            Observation(each, draw(st.just("") | texts))
            for each in draw(st.lists(clauses, max_size=4))
        ),
        tuple(draw(st.lists(texts, max_size=2))),
    )


@given(problems())
def test_what_was_written_reads_back_the_same(problem: Problem) -> None:
    assert read_mbd("".join(write_mbd(problem)), "x.wcnf") == problem


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: error: there is no line `p wcnf VARIABLES CLAUSES TOP`"),
        ("p cnf 2 1\n1 2 0\n", "f:1:1: error: this is a formula"),
        ("p wcnf 2\n", "f:1:1: error: expected `p wcnf VARIABLES CLAUSES TOP`"),
        ("p wcnf 2 1 x\n", "f:1:1: error: expected `p wcnf"),
        ("p wcnf 2 1 3\np wcnf 2 1 3\n3 1 0\n", "f:2:1: error: this is the second line `p`"),
        ("p wcnf 2 1 3\n3 1 3 0\n", "f:2:5: error: there is no variable 3"),
        ("o 5 0\np wcnf 2 0 3\n", "f:1:3: error: there is no variable 5"),
        ("p wcnf 2 1 3\n3 1 x 0\n", "f:2:5: error: expected a literal or 0, not `x`"),
        ("p wcnf 2 1 3\n3 1 +2 0\n", "f:2:5: error: expected a literal or 0, not `+2`"),
        ("p wcnf 2 1 3\nx 1 0\n", "f:2:1: error: expected the weight of a clause, not `x`"),
        ("p wcnf 2 1 3\n3 1 99999999999 0\n", "f:2:5: error: expected a literal or 0"),
        ("p wcnf 2 1 3\n3 1 2\n", "f:2:1: error: this list of literals does not end with 0"),
        ("p wcnf 2 2 3\n3 1 0\n", "f: error: 2 clauses are announced, and there are 1"),
        ("p wcnf 2 1 3\n3 1 0 3 2 0\n", "f: error: 1 clauses are announced, and there are 2"),
        ("3 1 0\np wcnf 2 1 3\n", "f:1:1: error: a clause before the line `p wcnf`"),
        ("p wcnf 2000000000 1 3\n3 1 0\n", "f: error: 2,000,000,000 variables are announced"),
        ("p wcnf 99999999999 0 3\n", "f:1:1: error: more than 2,147,483,647 variables"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_mbd(text, "f")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p wcnf 2 1 3\n2 1 0\n", "f:2:1: error: a component with the weight 2"),
        ("o 1 0\nh 1 2 0\n1 1 0\n", "f:2:1: error: clauses with `h`"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        read_mbd(text, "f")
    assert message in str(caught.value)


def test_everything_that_is_wrong_is_said_but_not_without_end() -> None:
    with pytest.raises(InputError) as caught:
        read_mbd("p wcnf 2 2 3\n3 5 x 0\n3 6 0\n")
    assert len(caught.value.diagnostics) == 3
    with pytest.raises(InputError) as caught:
        read_mbd("p wcnf 2 9 3\n" + "3 9 0\n" * 1000)
    assert len(caught.value.diagnostics) == 20


@given(st.text("cop wnf0123456789-\n \0é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        read_mbd(text)


def test_damaged_files(tmp_path: Path) -> None:
    packed = gzip.compress(SAMPLE.encode())
    path = tmp_path / "x.wcnf.gz"
    for data, message in (
        (packed[:-20], "the packed file is cut off"),
        (packed[:12] + b"\xff\xff" + packed[14:], "the packed file is damaged"),
        (SAMPLE.encode() + b"\xff 1 0\n", "expected the weight of a clause"),
    ):
        path.write_bytes(data)
        with pytest.raises(InputError, match=message):
            read_mbd_file(path)
    with pytest.raises(InputError, match="there is no such file"):
        read_mbd_file(tmp_path / "y.wcnf")
