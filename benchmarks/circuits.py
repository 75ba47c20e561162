"""How large circuits of bit vectors are, and how long they take: ours, and z3's bit-blaster.

Use as a program, from the project's folder::

    python benchmarks/circuits.py                # all formulas
    python benchmarks/circuits.py --markdown     # and rewrite the table in README.md

Each formula is built twice, ready to be solved by the same solver: by `whence.solve.circuits` and
`whence.solve.cnf`, and by z3 (`simplify`, `fpa2bv`, `bit-blast`, `tseitin-cnf`; clauses from its
DIMACS text).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import z3

ROOT: Final = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from whence.solve import floats, words
from whence.solve.circuits import Circuit, Literal
from whence.solve.cnf import encode
from whence.solve.floats import Format
from whence.solve.sat import Limit, Solver
from whence.solve.words import Word

_BEGIN: Final = "<!-- circuits -->"
_END: Final = "<!-- /circuits -->"
SECONDS: Final = 30.0


@dataclass(frozen=True)
class Case:
    """The same formula twice; `values`: whether it can be true."""

    ours: Callable[[Circuit], Literal]
    theirs: Callable[[], Any]
    satisfiable: bool


def _bits(name: str, width: int) -> Any:
    return z3.BitVec(name, width)


def _distributive(width: int) -> Case:
    def ours(c: Circuit) -> Literal:
        x, y, z = (words.fresh(c, width) for _ in range(3))
        left = words.multiply(c, words.add(c, x, y), z)
        right = words.add(c, words.multiply(c, x, z), words.multiply(c, y, z))
        return words.equal(c, left, right) ^ 1

    def theirs() -> Any:
        x, y, z = (_bits(name, width) for name in "xyz")
        return (x + y) * z != x * z + y * z

    return Case(ours, theirs, False)


def _factors(number: int, width: int) -> Case:
    def ours(c: Circuit) -> Literal:
        x, y = (words.fresh(c, width) for _ in range(2))
        wide = [words.extend(word, 2 * width, signed=False) for word in (x, y)]
        one = words.constant(1, width)
        return c.all_(
            [
                words.equal(c, words.multiply(c, *wide), words.constant(number, 2 * width)),
                words.less(c, one, x, signed=False),
                words.less(c, one, y, signed=False),
            ]
        )

    def theirs() -> Any:
        x, y = (_bits(name, width) for name in "xy")
        wide = [z3.ZeroExt(width, word) for word in (x, y)]
        return z3.And(wide[0] * wide[1] == number, z3.UGT(x, 1), z3.UGT(y, 1))

    return Case(ours, theirs, True)


def _division(width: int) -> Case:
    def ours(c: Circuit) -> Literal:
        x, y = (words.fresh(c, width) for _ in range(2))
        q, r = words.signed_div_rem(c, x, y)
        return words.equal(c, words.add(c, words.multiply(c, q, y), r), x) ^ 1

    def theirs() -> Any:
        x, y = (_bits(name, width) for name in "xy")
        return (x / y) * y + z3.SRem(x, y) != x

    return Case(ours, theirs, False)


def _sorting(width: int, count: int) -> Case:
    """A bubble sort; can the first two of its results be out of order?"""

    def ours(c: Circuit) -> Literal:
        values = [words.fresh(c, width) for _ in range(count)]
        for last in range(count - 1, 0, -1):
            for at in range(last):
                a, b = values[at], values[at + 1]
                swap = words.less(c, b, a, signed=True)
                values[at] = words.choose(c, swap, b, a)
                values[at + 1] = words.choose(c, swap, a, b)
        return words.less(c, values[1], values[0], signed=True)

    def theirs() -> Any:
        values = [_bits(f"v{at}", width) for at in range(count)]
        for last in range(count - 1, 0, -1):
            for at in range(last):
                a, b = values[at], values[at + 1]
                swap = b < a
                values[at] = z3.If(swap, b, a)
                values[at + 1] = z3.If(swap, a, b)
        return values[1] < values[0]

    return Case(ours, theirs, False)


def _shifts(width: int) -> Case:
    """Rotating left and then right by the same amount."""

    def ours(c: Circuit) -> Literal:
        x, n = (words.fresh(c, width) for _ in range(2))
        n = words.bitwise_and(c, n, words.constant(width - 1, width))
        m = words.bitwise_and(c, words.negate(c, n), words.constant(width - 1, width))

        def rotated(value: Word, left: Word, right: Word) -> Word:
            return words.bitwise_or(
                c,
                words.shift_left(c, value, left),
                words.shift_right(c, value, right, signed=False),
            )

        return words.equal(c, rotated(rotated(x, n, m), m, n), x) ^ 1

    def theirs() -> Any:
        x, n = (_bits(name, width) for name in "xn")
        n = n & (width - 1)
        m = -n & (width - 1)

        def rotated(value: Any, left: Any, right: Any) -> Any:
            return (value << left) | z3.LShR(value, right)

        return rotated(rotated(x, n, m), m, n) != x

    return Case(ours, theirs, False)


def _polynomial(terms: int) -> Case:
    """Straight-line arithmetic with comparisons, as programs have it."""

    def ours(c: Circuit) -> Literal:
        x, y = (words.fresh(c, 32) for _ in range(2))
        total = x
        for number in range(terms):
            step = words.add(c, words.multiply(c, total, words.constant(3, 32)), y)
            small = words.less(c, step, words.constant(1000 * number, 32), signed=True)
            total = words.choose(
                c, small, words.subtract(c, step, x), words.bitwise_xor(c, step, y)
            )
        return words.equal(c, total, words.constant(123_456, 32))

    def theirs() -> Any:
        x, y = (_bits(name, 32) for name in "xy")
        total = x
        for number in range(terms):
            step = total * 3 + y
            total = z3.If(step < 1000 * number, step - x, step ^ y)
        return total == 123_456

    return Case(ours, theirs, True)


def _float(form: Format, sort: Callable[[], Any], operation: str) -> Case:
    """Some a op b = 1 with a and b of which the bits are mostly free."""

    def ours(c: Circuit) -> Literal:
        a, b = (words.fresh(c, form.width) for _ in range(2))
        run = {"+": floats.float_add, "*": floats.float_multiply, "/": floats.float_divide}
        one = floats.float_constant(1.0, form)
        result = run[operation](c, a, b, form)
        small = floats.float_less(c, a, floats.float_constant(0.75, form), form)
        positive = floats.float_less(c, floats.float_constant(0.5, form), a, form)
        return c.all_([floats.float_equal(c, result, one, form), small, positive])

    def theirs() -> Any:
        a, b = z3.FP("a", sort()), z3.FP("b", sort())
        run = {"+": z3.fpAdd, "*": z3.fpMul, "/": z3.fpDiv}
        result = run[operation](z3.RNE(), a, b)
        return z3.And(z3.fpEQ(result, z3.FPVal(1.0, sort())), z3.fpLT(a, 0.75), z3.fpGT(a, 0.5))

    return Case(ours, theirs, True)


CASES: Final[dict[str, Case]] = {
    "(x + y) z = x z + y z, 6 bits": _distributive(6),
    "factors of 3,215,031,751, 32 bits": _factors(3_215_031_751, 32),
    "x = (x / y) y + x % y, 5 bits": _division(5),
    "bubble sort, 6 of 32 bits": _sorting(32, 6),
    "rotations, 32 bits": _shifts(32),
    "arithmetic and choices, 32 bits, 10": _polynomial(10),
    "arithmetic and choices, 32 bits, 300": _polynomial(300),
    "a + b = 1, single": _float(floats.SINGLE, z3.Float32, "+"),
    "a b = 1, single": _float(floats.SINGLE, z3.Float32, "*"),
    "a / b = 1, single": _float(floats.SINGLE, z3.Float32, "/"),
    "a + b = 1, double": _float(floats.DOUBLE, z3.Float64, "+"),
    "a b = 1, double": _float(floats.DOUBLE, z3.Float64, "*"),
}


@dataclass(frozen=True)
class Size:
    variables: int
    clauses: int
    literals: int
    building: float
    solving: float | None


def ours(case: Case, polarity: bool = True) -> Size:
    began = time.perf_counter()
    circuit = Circuit()
    circuit.require(case.ours(circuit))
    encoded = encode(circuit, polarity=polarity)
    building = time.perf_counter() - began
    return _solved(case, encoded.variables, encoded.clauses, building)


def theirs(case: Case) -> Size:
    began = time.perf_counter()
    goal = z3.Goal()
    goal.add(case.theirs())
    done = z3.Then("simplify", "fpa2bv", "simplify", "bit-blast", "tseitin-cnf")(goal)[0]
    clauses = []
    variables = 0
    for line in done.dimacs(include_names=False).splitlines():
        if line.startswith("p"):
            variables = int(line.split()[2])
        elif line and line[0] in "-0123456789":
            clauses.append([int(literal) for literal in line.split()[:-1]])
    building = time.perf_counter() - began
    return _solved(case, variables, clauses, building)


def _solved(case: Case, variables: int, clauses: Sequence[Sequence[int]], building: float) -> Size:
    began = time.perf_counter()
    with Solver(clauses) as solver:
        answer = solver.solve(limit=Limit(deadline=began + SECONDS))
    solving = None if answer is None else time.perf_counter() - began
    if answer not in (None, case.satisfiable):
        raise AssertionError("a wrong answer")
    return Size(variables, len(clauses), sum(map(len, clauses)), building, solving)


def table() -> str:
    lines = [
        "| formula | variables | z3 | clauses | z3 | ratio | built, s | z3 | ratio "
        "| solved, s | z3 | ratio |",
        "| --- |" + " ---: |" * 11,
    ]
    for name, case in CASES.items():
        mine, other = ours(case), theirs(case)
        solved = [
            f"> {SECONDS:g}" if each.solving is None else f"{each.solving:.3f}"
            for each in (mine, other)
        ]
        a, b = mine.solving, other.solving
        ratio = "–" if a is None or b is None else f"{a / b:.2f}"
        lines.append(
            f"| {name} | {mine.variables:,} | {other.variables:,} | {mine.clauses:,} "
            f"| {other.clauses:,} | {mine.clauses / other.clauses:.2f} | {mine.building:.3f} "
            f"| {other.building:.3f} | {mine.building / other.building:.2f} | {solved[0]} "
            f"| {solved[1]} | {ratio} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    text = table()
    print(text)
    if arguments.markdown:
        readme = ROOT / "benchmarks" / "README.md"
        before, _, rest = readme.read_text().partition(_BEGIN)
        _, _, after = rest.partition(_END)
        readme.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}")


if __name__ == "__main__":
    main()
