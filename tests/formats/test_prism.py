"""PRISM programs and explicit lists: read back by a reader of their own, and by Storm."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from tests.causes.chance_support import chains, system_of
from tests.reference.chance import Edge

from whence.causes.chance.questions import hazard_probability
from whence.formats.prism import (
    prism_labels,
    prism_program,
    prism_properties,
    prism_states,
    prism_transitions,
)
from whence.source import InputError, UnsupportedError

COMMAND = re.compile(r"^  \[(\w+)\] s=(\d+) -> (\S+) : \(s'=(\d+)\);$", re.MULTILINE)


def test_a_program() -> None:
    edges: list[Edge] = [(0, "a", 1, 1e-4), (1, "b!", 0, None), (1, "init", 3, 0.1)]
    system = replace(system_of(5, edges, {2, 3, 4}), name="small\none")
    marks = {**system.propositions, "A.x && !B.y": np.arange(5) == 1, "init": np.zeros(5, bool)}
    text = "".join(prism_program(replace(system, propositions=marks), 2.5))
    assert text == (
        "ctmc\n"
        "\n"
        "// small one\n"
        "\n"
        "module system_\n"
        "  s : [0..4] init 0;\n"
        "\n"
        "  [a] s=0 -> 0.0001 : (s'=1);\n"
        "  [b] s=1 -> 2.5 : (s'=0);\n"
        "  [init_2] s=1 -> 0.1 : (s'=3);\n"
        "endmodule\n"
        "\n"
        'label "bad" = (s>=2 & s<=4);\n'
        "// A.x && !B.y\n"
        'label "A_x_B_y" = s=1;\n'
        "// init\n"
        'label "init_2" = false;\n'
    )
    assert prism_properties(system, "bad", Fraction(1, 360)) == (
        'const double T = 1/360;\n\nP=? [ F<=T "bad" ]\n'
    )


def test_explicit_lists() -> None:
    edges: list[Edge] = [(1, "b", 0, 0.25), (0, "a", 1, 1.0), (0, "b", 1, 0.5), (0, "c", 2, 0.0)]
    system = system_of(3, edges, {2}, initial=(0, 1))
    assert "".join(prism_transitions(system)) == "3 2\n0 1 1.5\n1 0 0.25\n"
    assert "".join(prism_states(system)) == "(s)\n0:(0)\n1:(1)\n2:(2)\n"
    expected = '0="init" 1="deadlock" 2="bad"\n0: 0\n1: 0\n2: 1 2\n'
    assert "".join(prism_labels(system)) == expected
    assert "init (s>=0 & s<=1) endinit" in "".join(prism_program(system))


@given(chains(immediate=True))
def test_nothing_is_lost(chain: tuple[int, list[Edge], frozenset[int]]) -> None:
    states, edges, bad = chain
    system = system_of(states, edges, bad)
    text = "".join(prism_program(system, 2.0))
    found = [
        (int(source), name, int(target), float(rate))
        for name, source, rate, target in COMMAND.findall(text)
    ]
    assert found == [(s, a, t, 2.0 if rate is None else rate) for s, a, t, rate in edges]
    head, *rows = "".join(prism_transitions(system, 2.0)).splitlines()
    sums = np.zeros((states, states))
    for source, _, target, rate in found:
        sums[source, target] += rate
    assert head == f"{states} {np.count_nonzero(sums)}"
    for row in rows:
        source_text, target_text, rate_text = row.split()
        total = sums[int(source_text), int(target_text)]
        assert float(rate_text) == pytest.approx(total, rel=1e-15)


def test_what_has_no_rate_is_refused() -> None:
    system = system_of(2, [(0, "a", 1, None)], {1})
    with pytest.raises(UnsupportedError, match="`a` has no rate, and PRISM has no transitions"):
        prism_program(system)
    with pytest.raises(InputError, match="which is no rate"):
        prism_transitions(system_of(2, [(0, "a", 1, -1.0)], {1}))


def test_storm_agrees(tmp_path: Path) -> None:
    """Another tool reads the program and computes the same."""
    stormpy = pytest.importorskip("stormpy", minversion="2")
    edges: list[Edge] = [
        (0, "a", 1, 0.01),
        (1, "b", 0, None),
        (1, "c", 2, 0.02),
        (0, "d", 3, 0.001),
        (3, "a", 2, 0.3),
    ]
    system = system_of(4, edges, {2})
    file = tmp_path / "chain.sm"
    file.write_text("".join(prism_program(system, 4.0)), encoding="utf-8")
    program = stormpy.parse_prism_program(str(file), prism_compatibility=True)
    formulas = stormpy.parse_properties('P=? [ F<=1.5 "bad" ]', program)
    model = stormpy.build_model(program, formulas)
    expected = stormpy.model_checking(model, formulas[0]).get_value(model.initial_states[0])
    found = hazard_probability(system, "bad", 1.5, like_thesis=True, default_rate=4.0)
    assert found.value == pytest.approx(expected, rel=1e-5)
