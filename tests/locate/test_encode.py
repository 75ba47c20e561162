"""What is encoded agrees with the interpreter."""

from __future__ import annotations

import random

import pytest
from tests.locate.encodable import encodable

from whence.formats.c.read import read_c
from whence.locate.diagnosis import Diagnoser
from whence.locate.encode import encode_program
from whence.locate.fault_model import FaultModel
from whence.locate.interpreter import Interpreter
from whence.locate.localize import options_for
from whence.locate.observations import Ran
from whence.locate.outcome import Options
from whence.locate.unrolling import unrolling
from whence.model.program_test import Expected, Test
from whence.source import UnsupportedError

OPTIONS = Options(signed_overflow="wrap")


def agrees(seed: int) -> None:
    """A program in which nothing is suspected can do what it does for inputs that it does not know
    beforehand, and nothing else."""
    text, names = encodable(seed)
    program = read_c(["test.c"], text=text)
    interpreter = Interpreter(program, OPTIONS)
    chance = random.Random(seed)
    right, wrong = [], []
    for number in range(3):
        given = {name: chance.choice([0, 1]) for name in names}
        outcome = interpreter.run("main", globals=given)
        assert outcome.end == "exit"
        out, code = outcome.stdout, outcome.exit_code
        assert code is not None
        # The last digit that is printed, and the exit status.
        changed = out[:-2] + bytes([(out[-2] - 47) % 10 + 48]) + out[-1:]
        right.append((given, Expected(stdout=out, exit_code=code)))
        wrong.append((given, Expected(stdout=out, exit_code=code ^ 1)))
        wrong.append((given, Expected(stdout=changed, exit_code=code)))
        if number == 0:
            wrong.append((given, Expected(stdout=out + b"x", exit_code=code)))
    tests = [
        Test(str(at), globals=one, expected=two) for at, (one, two) in enumerate(right + wrong)
    ]
    ran = [Ran(test, interpreter.run("main", globals=test.globals), "") for test in tests[:3]]
    bounds = unrolling(program, "main", ran, OPTIONS, slack=0)
    model = FaultModel(trusted=frozenset(program.functions), definitions=False)
    encoded = encode_program(
        program, "main", tests, model, rounds=bounds.rounds, depth=bounds.depth
    )
    assert not encoded.places
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        assert diagnoser.failing() == tuple(range(3, len(tests))), seed


@pytest.mark.parametrize("seed", [0, 3, 7, 9])
def test_random_programs(seed: int) -> None:
    agrees(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 60))
def test_many_random_programs(seed: int) -> None:
    agrees(seed)


UNITS = {
    "arithmetic": "int f(int x, int y) { return (x * 3 - y) / 2 + (x & y) + (x ^ ~y) % 5; }",
    "unsigned": "int f(int x, int y) { unsigned a = x; return (a / 3u > 5u) + (int)(a % 7u) - y; }",
    "widths": "int f(int x, int y) { signed char c = x * 9; unsigned short s = y; return c + s; }",
    "wide": "int f(int x, int y) { long long w = x; w = w * 123456789012LL + y; return w >> 7; }",
    "boolean": "int f(int x, int y) { _Bool b = x; b += y; return b + !x + (x && y) + (x || y); }",
    "division": "int f(int x, int y) { return 100 / x + 7 % y; }",
    "shifts": "int f(int x, int y) { return (x << y) + (100 >> y); }",
    "bounds": "int a[3] = { 1, 2, 3 }; int f(int x, int y) { a[x] = 9; return a[y]; }",
    "grid": "int g[2][3] = { 1, 2, 3, 4, 5, 6 }; int f(int x, int y) { return g[x][y]; }",
    "uninitialised": "int f(int x, int y) { int z; if (x > 1) z = y; return z; }",
    "partly": "int f(int x, int y) { int a[3]; a[x & 1] = y; return x > 3 ? a[y & 1] : a[x & 1]; }",
    "pointers": "int f(int x, int y) { int a = 1, b[2] = { 5, 6 }, *p = 0; if (x > 0) p = &a; "
    "if (y > 0) p = b + y - 1; *p += 2; return a + 10 * b[0] + 100 * b[1]; }",
    "compared": "int f(int x, int y) { int a[4] = { 0 }, *p = a + (x & 3), *q = a + (y & 3); "
    "return (p < q) + 2 * (p == q) + 4 * (int)(q - p); }",
    "dangling": "int *h(int x) { int z = 3; static int s = 4; return x > 1 ? &z : &s; } "
    "int f(int x, int y) { return *h(x) + y; }",
    "functions": "int one(int x) { return x + 1; } int two(int x) { return x * 2; } "
    "int f(int x, int y) { int (*p)(int) = x > 1 ? one : two; return p(y); }",
    "records": "struct s { int a; unsigned b : 3; int c : 4; short d[2]; }; "
    "struct s h(struct s q) { q.b++; q.d[1] = 7; return q; } int f(int x, int y) { "
    "struct s q = { x, y, x, { y, y } }, r = h(q); return r.a + r.b + r.c * 3 + r.d[1] + q.b; }",
    "list": "struct n { int v; struct n *next; }; int f(int x, int y) { struct n a = { x, 0 }, "
    "b = { y, &a }, c = { 3, &b }; int s = 0; struct n *p; if (x > 1) a.next = &c; "
    "for (p = &c; p && s < 5; p = p->next) s += p->v + 1; return s; }",
    "loops": "int f(int x, int y) { int s = 0, i; for (i = 0; i < x; i++) { if (i == y) continue; "
    "if (s > 6) break; s += i; } do s++; while (s < y); return s; }",
    "recursion": "int f(int x, int y) { return x <= 0 ? y : f(x - 1, y + x); }",
    "switch": "int f(int x, int y) { int r = 0; switch (x) { case 0: r++; case 1: r += 2; break; "
    "default: r = 9; case 3: case -1: r += y; } return r; }",
    "goto": "int f(int x, int y) { int r = 0; again: r++; if (r < x) goto again; "
    "if (y) goto out; r += 10; out: return r; }",
    "exit": "#include <stdlib.h>\nint f(int x, int y) { if (x > 1) exit(y & 7); return abs(y); }",
    "assert": "#include <assert.h>\nint f(int x, int y) { assert(x != y || x > 1); return x; }",
}


@pytest.mark.parametrize("overflow", [False, True])
@pytest.mark.parametrize("name", UNITS)
def test_what_is_undefined_is_the_same(name: str, overflow: bool) -> None:
    """A test fails here if, and only if, it fails when it is run; and there is one result."""
    program = read_c(["test.c"], text=UNITS[name])
    checks = set(FaultModel().checks) | ({"overflow"} if overflow else set())
    model = FaultModel(
        checks=frozenset(checks), trusted=frozenset(program.functions), definitions=False
    )
    options = options_for(model, 1000)
    interpreter = Interpreter(program, options)
    tests, ran, fails = [], [], set()
    values = (-2147483648, -5, -1, 0, 1, 2, 3, 4, 40, 2147483647)
    small = name in ("loops", "recursion", "goto")
    for x in values[1:-2] if small else values:
        for y in values[1:-2] if small else values:
            outcome = interpreter.run("f", [x, y])
            test = Test(f"{x}, {y}", (x, y))
            ran.append(Ran(test, outcome, ""))
            value = outcome.value
            if outcome.end != "exit":
                fails.add(len(tests))
                tests.append(test)
                continue
            expected = Expected(None if value is None else (value,), exit_code=outcome.exit_code)
            tests.append(Test(test.name, test.args, expected=expected))
            # Another result; or any result, where the program was left without one.
            other = value ^ 1 if isinstance(value, int) else 0
            fails.add(len(tests))
            tests.append(Test(test.name, test.args, expected=Expected((other,))))
    bounds = unrolling(program, "f", ran, options, slack=0)
    encoded = encode_program(program, "f", tests, model, rounds=bounds.rounds, depth=bounds.depth)
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        failing = set(diagnoser.failing())
    wrong = [(tests[at].name, tests[at].expected) for at in sorted(failing ^ fails)]
    assert not wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("double f(void) { return 1.5; }", "floating point"),
        ("int f(void) { union { int a; char c; } u; u.a = 1; return u.c; }", "a union"),
        ("int f(void) { int a = 5; return *(char *)&a; }", "an access to `a` as another type"),
        ("#include <stdlib.h>\nint f(void) { int *p = malloc(4); return !p; }", "`malloc`"),
        ("int f(void) { int a; return (long)&a == 3; }", "a pointer to a number"),
        ("int g(int); int f(void) { return g(1); }", "a call of `g`"),
        ("#include <stdio.h>\nint f(void) { return getchar(); }", "`getchar`"),
    ],
)
def test_refused(text: str, said: str) -> None:
    """By name, with the place."""
    program = read_c(["test.c"], text=text)
    with pytest.raises(UnsupportedError) as caught:
        encode_program(program, "f", [Test("1", ())], FaultModel(), rounds={})
    assert said in str(caught.value)
    assert str(caught.value).startswith("test.c:")


def test_inputs_behind_pointers() -> None:
    """Of different lengths, and null; what is behind the end of the shorter one is not there."""
    text = "int f(int *p, int n) { return p ? p[n] + p[0] : -1; }"
    program = read_c(["test.c"], text=text)
    model = FaultModel(trusted=frozenset({"f"}))
    interpreter = Interpreter(program, options_for(model))
    cases = [([1, 2, 3], 2), ([7], 0), (None, 5), ([7], 1), ([1, 2], 2)]
    tests = []
    for values, n in cases:
        outcome = interpreter.run("f", [values, n])
        tests.append(Test("", (values, n), expected=Expected((outcome.value,))))
    encoded = encode_program(program, "f", tests, model, rounds={})
    with Diagnoser(encoded.system, encoded.observations) as diagnoser:
        assert diagnoser.failing() == (3, 4)


def test_pointers_as_inputs_are_refused() -> None:
    program = read_c(["test.c"], text="int *g; int f(void) { return *g; }\n")
    with pytest.raises(UnsupportedError, match="the pointer `g` as an input"):
        encode_program(program, "f", [Test("1", (), {"g": [1]})], FaultModel(), rounds={})


def test_what_is_not_used_is_not_refused() -> None:
    text = "double unused; int big[5000]; int f(int x) { return x; }\n"
    program = read_c(["test.c"], text=text)
    encoded = encode_program(program, "f", [Test("1", (1,))], FaultModel(), rounds={})
    assert encoded.observations
