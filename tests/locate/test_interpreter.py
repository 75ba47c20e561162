"""Undefined behaviour, limits, what runs are given and what they tell."""

from __future__ import annotations

import pytest
from tests.locate.support import parsed, run

from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Event, Options, Outcome
from whence.model.program import Assign, If, Loop, Switch
from whence.model.program_walk import statements
from whence.source import UsageError

HEAD = "#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n#include <limits.h>\n"

# Kind, what stands in the body of a function `int f(int x)`, called with 3, from line 6 on.
UNDEFINED = [
    ("out of bounds", "int a[3] = { 1, 2, 3 }; return a[x];"),
    ("out of bounds", "int a[3][2] = { 0 }; int *p = &a[0][0]; return a[0][x] + *p;"),
    ("out of bounds", "int a[3]; int *p = a; a[0] = 1; p[x] = 1; return *p;"),
    ("out of bounds", "int a[3]; memset(a, 0, 16); return a[0];"),
    ("out of bounds", 'char s[3]; strcpy(s, "abc"); return s[0];'),
    ("out of bounds", "char s[2] = { 'a', 'b' }; return strlen(s);"),
    ("out of bounds", "int *p = malloc(8); p[2] = 1; return 0;"),
    ("out of bounds", "return *(&x - 1);"),
    ("null pointer", "int *p = 0; return *p;"),
    ("null pointer", "struct s { int a, b; } *p = NULL; return p->b;"),
    ("null pointer", "int (*p)(int) = 0; return p(x);"),
    ("null pointer", "return strlen(NULL);"),
    ("invalid pointer", "return *(int *)0x12340;"),
    ("uninitialised", "int y; return x + y;"),
    ("uninitialised", "int y; if (x > 3) y = 1; return y;"),
    ("uninitialised", "int a[4]; a[0] = 1; return a[1];"),
    ("uninitialised", "int *p; return *p;"),
    ("uninitialised", "int *p = malloc(4); return *p;"),
    ("uninitialised", "struct { int a, b; } s; s.a = 1; return s.b;"),
    ("uninitialised", "struct { int a, b; } s, t; s.a = 1; t = s; return t.b;"),
    (
        "uninitialised",
        "int i, s = 0; for (i = 0; i < 2; i++) { int k; if (i == 0) k = 1; s += k; }",
    ),
    ("uninitialised", "switch (x) { int k; case 3: return k; } return 0;"),
    ("overflow", "return INT_MAX - 2 + x;"),
    ("overflow", "return INT_MIN / (2 - x);"),
    ("overflow", "return -(INT_MIN + x - 3);"),
    ("overflow", "x = INT_MAX; x++; return x;"),
    ("overflow", "return abs(INT_MIN);"),
    ("division by zero", "return 5 / (x - 3);"),
    ("division by zero", "return 5 % (x - 3);"),
    ("shift", "return 1 << (x + 29);"),
    ("shift", "return 1 >> -x;"),
    ("conversion", "return (int)(x * 1e10);"),
    ("dangling pointer", "int *p = malloc(4); *p = 1; free(p); return *p;"),
    ("dangling pointer", "int *local(void); return *local();"),
    ("double free", "int *p = malloc(4); free(p); free(p); return 0;"),
    ("invalid free", "free(&x); return 0;"),
    ("invalid free", "int *p = malloc(8); free(p + 1); return 0;"),
    ("missing return value", "int nothing(int); return nothing(x);"),
    ("read-only", 'char *s = "abc"; s[0] = 1; return 0;'),
    ("unrelated pointers", "int a, b; return &a < &b;"),
    ("unrelated pointers", "int a[2], b[2]; return &a[1] - b;"),
    ("call", "int (*p)(double) = (int (*)(double))nothing; return p(1.0);"),
    ("call", "int none(); return none(x, x);"),
    ("overlap", 'char s[8] = "abcdef"; memcpy(s, s + 1, 4); return 0;'),
    ("format", 'printf("%d %d\\n", x); return 0;'),
    ("format", 'printf("%ld\\n", x); return 0;'),
]
TAIL = (
    "\nint nothing(int x) { if (x > 100) return 1; }\n"
    "int *local(void) { int a = 1, *p = &a; return p; }\n"
    "int none(x) int x; { return x; }\n"
)


@pytest.mark.parametrize(("kind", "body"), UNDEFINED)
@pytest.mark.parametrize("dependences", [False, True])
def test_undefined_behaviour_is_told(kind: str, body: str, dependences: bool) -> None:
    text = f"{HEAD}int nothing(int); int f(int x) {{\n{body}\nreturn 0; }}{TAIL}"
    outcome = run(text, "f", 3, dependences=dependences)
    assert outcome.fault is not None, outcome
    assert (outcome.end, outcome.fault.kind) == ("undefined", kind)
    assert outcome.fault.origin.line == 6, outcome
    assert outcome.value is None


def test_the_place_of_a_fault_is_that_of_the_expression() -> None:
    outcome = run("int f(int x) {\n  int y = x + 1;\n  return y * (10 / x);\n}", "f", 0)
    assert str(outcome.origin) == "test.c:3:15"
    assert outcome.message == "division by zero"
    assert outcome.fault is not None
    assert outcome.fault.statement == outcome.statement


def test_what_options_define() -> None:
    assert run("int f(int x) { return x + 1; }", "f", 2**31 - 1, signed_overflow="wrap").value == -(
        2**31
    )
    text = "int f(void) { int y, a[3]; int *p = &y; return y + a[1] + *p; }"
    assert run(text, "f", uninitialised="zero").value == 0


def test_limits() -> None:
    endless = run("int main(void) {\n  for (;;) ;\n}", steps=1000)
    assert (endless.end, endless.origin.line) == ("limit", 2)
    assert "1000" in endless.message
    deep = run("int f(int x) {\n  return 1 + f(x + 1);\n}", "f", 0, depth=100)
    assert (deep.end, deep.origin.line) == ("limit", 2)
    assert "100 calls" in deep.message
    assert run("int f(int x) { return x ? 1 + f(x - 1) : 0; }", "f", 90, depth=100).value == 90
    # A block that does not fit is refused by malloc; the stack has no such way out.
    text = "#include <stdlib.h>\nint main(void) { return malloc(1 << 20) == NULL; }"
    assert run(text, memory=1000).value == 1
    text = "int f(int x) { char big[400]; big[0] = x; char *p = big; return x ? f(x - 1) : *p; }"
    full = run(text, "f", 5, memory=1000)
    assert (full.end, "memory" in full.message) == ("limit", True)
    assert run(text, "f", 1, memory=1000).value == 0


def test_assertions_say_what_failed() -> None:
    text = "#include <assert.h>\nint f(int x) {\n  assert(x > 3 && x != 5);\n  return x;\n}"
    failed = run(text, "f", 2)
    assert (failed.end, str(failed.origin)) == ("assertion", "test.c:3:3")
    assert failed.message == "assertion `x > 3 && x != 5` failed"
    assert run(text, "f", 4).value == 4
    assert run("#define NDEBUG\n" + text, "f", 2).value == 2


def test_ways_to_end() -> None:
    assert run("#include <stdlib.h>\nint main(void) { exit(300); }").exit_code == 44
    assert run("#include <stdlib.h>\nint main(void) { abort(); }").end == "abort"
    assert run("int main(void) { return -1; }").exit_code == 255
    assert run("int main(void) { }").exit_code == 0


def test_arguments_and_globals() -> None:
    text = """
    struct pair { int a; char b; };
    int total; static short row[3]; char *name; struct pair pair;
    int sum(const int *values, int n) {
        for (int i = 0; i < n; i++) total += values[i];
        return total;
    }
    double mixed(double d, unsigned char c, const char *s, struct pair p, const int *none) {
        return d + c + s[1] + p.a + p.b + (none == 0);
    }
    void move(int *x, struct pair *p) { *x += p->a; p->a = 0; row[1] = pair.b; }
    """
    outcome = run(text, "sum", [1, 2, 3], 3, globals={"total": 10}, observe=["total"])
    assert (outcome.value, outcome.observed) == (16, {"total": 16})
    values = (0.5, 255, b"ab", {"a": 1, "b": 2}, None)
    assert run(text, "mixed", *values).value == 0.5 + 255 + 98 + 3 + 1
    outcome = run(
        text,
        "move",
        [5],
        [{"a": 7}],
        globals={"row": [1, 2, 3], "name": b"x", "pair": {"b": 9}},
        observe=["row", "name", "pair"],
    )
    assert outcome.observed == {"row": [1, 9, 3], "name": b"x", "pair": {"a": 0, "b": 9}}


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"entry": "g"}, "there is no function `g`"),
        ({"args": [1, 2]}, "takes 1 arguments"),
        ({"args": ["x"]}, "no value for `x`"),
        ({"args": [2**31]}, "cannot hold 2147483648"),
        ({"args": [1], "globals": {"h": 1}}, "no global variable `h`"),
        ({"args": [1], "observe": ["h"]}, "no global variable `h`"),
    ],
)
def test_what_makes_no_sense_is_refused(keywords: dict[str, object], message: str) -> None:
    interpreter = Interpreter(parsed("int f(int x) { return x; }"))
    given = {"entry": "f", **keywords}
    with pytest.raises(UsageError, match=message):
        interpreter.run(**given)  # type: ignore[arg-type]


def test_runs_do_not_see_each_other() -> None:
    text = """#include <stdio.h>
    int n = 1; int a[2] = { 1, 2 }; static char s[4] = "ab"; int *p = a;
    int main(void) { static int k = 5; char *q = s; n++; a[1]++; p++; k++; q[0]++;
        printf("%d %d %d %d %s", n, a[1], *p, k, s); return 0; }"""
    interpreter = Interpreter(parsed(text))
    assert interpreter.run().stdout == interpreter.run().stdout == b"2 3 3 6 bb"


def test_unknown_functions() -> None:
    text = (
        "int read_sensor(int channel); double scale(void);\n"
        "int f(void) { return read_sensor(2) * scale(); }"
    )
    outcome = run(text, "f")
    assert (outcome.end, str(outcome.origin)) == ("unknown", "test.c:2:22")
    assert "`read_sensor`" in outcome.message
    asked = []

    def unknown(name: str, arguments: tuple[int | float | None, ...]) -> float:
        asked.append((name, arguments))
        return 7 if name == "read_sensor" else 0.5

    assert run(text, "f", unknown=unknown).value == 3
    assert asked == [("read_sensor", (2,)), ("scale", ())]
    outcome = run("extern int port;\nint f(void) { return port; }", "f")
    assert "`port`, which is declared and nowhere defined" in outcome.message
    assert (
        run("extern int port;\nint f(void) { return port; }", "f", globals={"port": 3}).value == 3
    )
    assert run("#include <stdio.h>\nint f(void) { char a[9]; gets(a); return 1; }", "f").end == (
        "unknown"
    )


def test_files() -> None:
    text = """#include <stdio.h>
    int main(void) { FILE *in = fopen("in.txt", "r"), *out = fopen("out.txt", "w"); int c;
        if (fopen("none", "r")) return 9;
        while ((c = getc(in)) != EOF) { if (c == 'b') ungetc('B', in); else putc(c, out); }
        fprintf(out, "%d", 5); fclose(in); fclose(out); return feof(in); }"""
    outcome = run(text, files={"in.txt": b"abc"})
    assert outcome.files == {"out.txt": b"aBc5"}
    assert (outcome.fault and outcome.fault.kind) == "dangling pointer"


# --- what was executed ----------------------------------------------------------------------

COVERED = """#include <stdlib.h>
int f(int n) {
    int i, s = 0;
    for (i = 0; i < n; i++) {
        if (i == 1)
            s += 10;
        else if (i == 2)
            s += 100;
        else if (i == 7)
            s += 1;
        switch (i) {
        case 0: s++;
        case 1: s++; break;
        case 9: exit(1);
        }
    }
    if (n > 3) {
        s /= n - 4;
        s++;
    }
    return s;
}
"""


@pytest.mark.parametrize("dependences", [False, True])
def test_coverage(dependences: bool) -> None:
    program = parsed(COVERED)
    outcome = Interpreter(program, Options(dependences=dependences)).run("f", [3])
    assert outcome.value == 113
    coverage = outcome.coverage
    assert coverage is not None
    lines: dict[int, list[int]] = {}
    for statement in statements(program.functions["f"].body):
        count = coverage.statements.get(statement.number, 0)
        lines.setdefault(statement.origin.line, []).append(count)
    assert lines[5] == [3]
    assert lines[6] == [1]
    assert lines[7] == [2]
    assert lines[8] == [1]
    assert lines[9] == [1]
    assert lines[10] == [0]
    assert lines[12] == [1]
    assert lines[13] == [2, 2]
    assert lines[18] == [0]
    found = {
        type(statement): statement.number
        for statement in statements(program.functions["f"].body)
        if isinstance(statement, (Loop, Switch))
    }
    loop, switch = found[Loop], found[Switch]
    assert coverage.loops == {loop: 3}
    assert {k: v for k, v in coverage.branches.items() if k[0] == loop} == {
        (loop, 1): 3,
        (loop, 0): 1,
    }
    chosen = {k[1]: v for k, v in coverage.branches.items() if k[0] == switch}
    assert chosen == {0: 1, 1: 1, -1: 1} or chosen == {0: 1, 1: 1, 3: 1}
    second = [s for s in statements(program.functions["f"].body) if isinstance(s, If)]
    assert [coverage.branches.get((s.number, 0), 0) for s in second] == [2, 1, 1, 1]
    assert [coverage.branches.get((s.number, 1), 0) for s in second] == [1, 1, 0, 0]


def test_what_comes_after_a_fault_is_not_covered() -> None:
    program = parsed(COVERED)
    outcome = Interpreter(program).run("f", [4])
    assert outcome.fault is not None
    assert outcome.coverage is not None
    covered = {
        statement.origin.line
        for statement in statements(program.functions["f"].body)
        if statement.number in outcome.coverage.statements
    }
    assert 18 in covered
    assert not covered & {19, 21}


def test_a_decision_that_fails_reaches_nothing() -> None:
    text = "int f(int x) {\n  if (10 / x > 3)\n    return 1;\n  else if (x)\n    return 2;\n}"
    outcome = run(text, "f", 0)
    assert outcome.coverage is not None
    assert len(outcome.coverage.statements) == 1
    assert not outcome.coverage.branches


# --- dependences ----------------------------------------------------------------------------


def statements_behind(outcome: Outcome, event: Event) -> set[int]:
    """The statements whose results an event used, through others too."""
    found = set()
    pending = list(event.uses)
    while pending:
        earlier = outcome.events[pending.pop()]
        found.add(earlier.statement)
        pending += earlier.uses
    return found


def test_dependences() -> None:
    """The slice of the result, worked out by hand: `c` is written and overwritten in vain."""
    text = """int g;
int twice(int v) {
    return v * 2;
}
int f(int x, int y) {
    int a = x + 1;
    int b = 5;
    int c = a * 100;
    int r[2];
    int *p = &b;
    *p = twice(a);
    if (b > 3)
        r[1] = b + y;
    c = 7;
    r[0] = c;
    g = r[1];
    return g;
}
"""
    program = parsed(text)
    outcome = Interpreter(program, Options(dependences=True)).run("f", [1, 2])
    assert outcome.value == 6
    origins = {
        statement.number: statement.origin.line
        for function in program.functions.values()
        for statement in statements(function.body)
    }
    lines: set[int] = set()
    pending = [len(outcome.events) - 1]
    seen = set()
    while pending:
        index = pending.pop()
        if index in seen or index < 0:
            continue
        seen.add(index)
        event = outcome.events[index]
        lines.add(origins[event.statement])
        pending += [*event.uses, event.control]
    # Line 10 says where `p` points, which the write through it uses.
    assert lines == {3, 6, 10, 11, 12, 13, 16, 17} or lines == {3, 6, 11, 12, 13, 16, 17}
    assert all(use < index for index, event in enumerate(outcome.events) for use in event.uses)


def test_all_that_the_library_writes_depends_on_what_it_read() -> None:
    text = """#include <stdio.h>
int f(const char *s) {
    char copy[8];
    int a, b;
    sprintf(copy, "%s", s);
    sscanf(copy, "%d,%d", &a, &b);
    return b;
}
"""
    outcome = Interpreter(parsed(text), Options(dependences=True)).run("f", [b"3,4"])
    assert outcome.value == 4
    assert len(statements_behind(outcome, outcome.events[-1])) == 2


def test_dependences_through_the_library() -> None:
    text = """#include <string.h>
#include <stdlib.h>
int f(const char *s) {
    char a[8];
    char b[8];
    strcpy(a, s);
    strcpy(b, a);
    int unused = strlen(s);
    int n = atoi(b);
    return n + 1;
}
"""
    program = parsed(text)
    outcome = Interpreter(program, Options(dependences=True)).run("f", [b"41"])
    assert outcome.value == 42
    numbers = {
        statement.origin.line: statement.number
        for statement in statements(program.functions["f"].body)
        if isinstance(statement, Assign) or type(statement).__name__ in ("Call", "Return")
    }

    def used_lines(line: int) -> set[int]:
        (last,) = [e for e in outcome.events if e.statement == numbers[line]][-1:]
        found = statements_behind(outcome, last)
        return {number for number, n in numbers.items() if n in found}

    assert used_lines(10) >= {9, 7, 6}
    assert 8 not in used_lines(10)


def test_what_is_written_only_where_nothing_comes() -> None:
    """Behind a loop without an end, a global variable that is named nowhere else."""
    text = "int c; int f(int x) { while (1) { if (x) return 3; } c = x; return c; }"
    assert run(text, "f", 1).value == 3
