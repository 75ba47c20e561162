"""What `whence locate` costs by the number of tests, and by the size of the program.

    python -m benchmarks.locate_cost

Programs are chains of stages, each of which decides and computes with what the one before has
computed; one constant in the middle is wrong.  Seconds of processor time: of running the tests, and
of encoding with all smallest diagnoses.
"""

from __future__ import annotations

import time
from random import Random

from whence.formats.c.read import read_c
from whence.locate.diagnosis import Diagnoser
from whence.locate.encode import encode_program
from whence.locate.fault_model import FaultModel
from whence.locate.interpreter import Interpreter
from whence.locate.localize import options_for
from whence.locate.observations import expect, run_tests
from whence.model.program_test import Test

__all__ = ["chain", "measure"]


def chain(stages: int, wrong: bool) -> str:
    """A program with so many stages, five lines each."""
    random = Random(stages)
    lines = ["int f(int x, int y)", "{", "    int a = x, b = y;"]
    for stage in range(stages):
        limit, step, other = (random.randrange(1, 90) for _ in range(3))
        if wrong and stage == stages // 2:
            step += 1
        lines += [
            f"    if (a < {limit} && b > -{other})",
            f"        a = a + {step} - (b & 3);",
            "    else",
            f"        a = a - {limit};",
            f"    b = b ^ (a > {other});",
        ]
    return "\n".join([*lines, "    return a;", "}", ""])


def measure(stages: int, count: int) -> tuple[int, int, float, float]:
    """(failing tests, diagnoses, seconds of running, seconds of finding)."""
    random = Random(count)
    model = FaultModel()
    options = options_for(model)
    golden = Interpreter(read_c(["right.c"], text=chain(stages, False)), options)
    cases = [(random.randrange(-100, 100), random.randrange(-9, 9)) for _ in range(count)]
    tests, _ = expect(golden, "f", [Test(str(at), case) for at, case in enumerate(cases)])
    program = read_c(["wrong.c"], text=chain(stages, True))
    began = time.process_time()
    ran = run_tests(Interpreter(program, options), "f", tests)
    running = time.process_time() - began
    failing = [each.test for each in ran if each.failure]
    if not failing:
        return 0, 0, running, 0.0
    began = time.process_time()
    encoded = encode_program(program, "f", failing, model, rounds={})
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        found = diagnoser.diagnose()
    return len(failing), len(found.diagnoses), running, time.process_time() - began


def main() -> None:
    print("| lines | tests | failing | diagnoses | running, s | finding, s |")
    print("| ---: " * 6 + "|")
    pairs = [(20, count) for count in (10, 30, 100, 300, 1_000)]
    pairs += [(stages, 100) for stages in (5, 10, 40)]
    for stages, count in pairs:
        failing, diagnoses, running, finding = measure(stages, count)
        lines = chain(stages, True).count("\n")
        print(
            f"| {lines} | {count} | {failing} | {diagnoses} | {running:.2f} | {finding:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
