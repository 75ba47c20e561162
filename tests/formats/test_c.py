"""C into the core language: types, conversions, places, macros, units, and what is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from whence.formats.c.compile_commands import read_compile_commands
from whence.formats.c.for_headers import for_headers
from whence.formats.c.read import COptions, read_c
from whence.locate.interpreter import Interpreter
from whence.model.program import (
    ArrayType,
    Assign,
    Binary,
    Cast,
    Field,
    FloatType,
    If,
    IntType,
    Load,
    PointerType,
    Program,
    RecordType,
    Return,
    Variable,
    size_of,
)
from whence.model.program_walk import expressions, statements, subexpressions
from whence.source import InputError, Origin, UnsupportedError, UsageError

INT = IntType(32, True)


def parsed(text: str, **options: object) -> Program:
    return read_c(["test.c"], COptions(**options), text=text)  # type: ignore[arg-type]


def body(text: str, name: str = "f") -> list[object]:
    return list(statements(parsed(text).functions[name].body))


def variable(program: Program, name: str) -> Variable:
    return program.globals[name].variable


# --- types ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "int_bits", "long_bits", "pointer_bits"),
    [("lp64", 32, 64, 64), ("ilp32", 32, 32, 32), ("int16", 16, 32, 16)],
)
def test_data_models(model: str, int_bits: int, long_bits: int, pointer_bits: int) -> None:
    program = parsed("int i; long l; char *p; unsigned short s; long long q;", data_model=model)
    assert variable(program, "i").type == IntType(int_bits, True)
    assert variable(program, "l").type == IntType(long_bits, True)
    assert variable(program, "p").type == PointerType(IntType(8, True), pointer_bits)
    assert variable(program, "s").type == IntType(16, False)
    assert variable(program, "q").type == IntType(64, True)
    found = program.data_model
    assert (found.int_bits, found.long_bits, found.pointer_bits) == (
        int_bits,
        long_bits,
        pointer_bits,
    )


def test_other_targets() -> None:
    arm = parsed("char c; struct { char c; double d; } s;", target="arm-none-eabi")
    assert variable(arm, "c").type == IntType(8, False)
    assert not arm.data_model.char_signed
    assert size_of(variable(arm, "s").type) == 16
    assert (
        size_of(variable(parsed("struct { char c; double d; } s;", data_model="ilp32"), "s").type)
        == 12
    )
    big = parsed(
        "int f(void) { union { int i; char c; } u = { 1 }; return u.c; }",
        target="powerpc-none-eabi",
    )
    assert not big.data_model.little_endian
    assert Interpreter(big).run("f").value == 0
    with pytest.raises(UsageError, match="data model"):
        parsed("int i;", data_model="ilp31")
    with pytest.raises(UsageError, match="target"):
        parsed("int i;", target="nowhere")


def test_layout() -> None:
    program = parsed(
        """struct s { char c; short h; unsigned a : 3, b : 7; int : 0; long long q; char t[]; };
        union u { float f; char b[6]; }; struct __attribute__((packed)) p { char c; int i; };
        struct s s; union u u; struct p p; struct n *next; enum e { A, B = -1 } e; _Bool flag;"""
    )
    record = program.records["struct s"]
    assert record.type == RecordType("struct s", 16, 8)
    named = [part for part in record.fields if part.name]
    assert named[:4] == [
        Field("c", IntType(8, True), 0),
        Field("h", IntType(16, True), 2),
        Field("a", IntType(32, False), 4, 0, 3),
        Field("b", IntType(32, False), 4, 3, 7),
    ]
    assert [part.offset for part in named[4:]] == [8, 16]
    assert program.records["union u"].type == RecordType("union u", 8, 4, True)
    assert [part.offset for part in program.records["struct p"].fields] == [0, 1]
    assert variable(program, "next").type == PointerType(RecordType("struct n", 0, 1), 64)
    assert variable(program, "e").type == INT
    (enumeration,) = program.enumerations
    assert enumeration.constants == (("A", 0), ("B", -1))
    assert variable(program, "flag").type == IntType(8, False, boolean=True)


def test_conversions_are_written_out() -> None:
    (result,) = body("long f(char c, unsigned short s, float x) { return c + s * x; }")
    assert isinstance(result, Return)
    value = result.value
    assert isinstance(value, Cast)
    assert value.type == IntType(64, True)
    addition = value.operand
    assert isinstance(addition, Binary)
    assert addition.type == FloatType(32)
    assert isinstance(addition.left, Cast)
    assert addition.left.type == FloatType(32)
    assert isinstance(addition.left.operand, Cast)
    assert addition.left.operand.type == INT


def test_all_operands_have_the_type_of_the_operation() -> None:
    program = parsed(
        """int f(char c, unsigned u, long l, short s, _Bool b, double d, int *p) {
            c += u; s <<= l; u = c ? l : b; l = u - s > d; b = p; d /= c; p += s; l = p - &c;
            u = -c + ~s + !d; s = u++ + --c; return (c, s) % 3u ^ (b && l); }""".replace(
            "&c", "(int *)&c"
        )
    )
    for statement in statements(program.functions["f"].body):
        if isinstance(statement, Assign):
            assert statement.value.type == statement.target.type
        for expression in expressions(statement):
            for part in subexpressions(expression):
                if isinstance(part, Binary) and part.operator not in ("<<", ">>"):
                    assert part.left.type == part.right.type
                    if part.operator in "+-*/%&|^":
                        assert part.type == part.left.type


# --- places ---------------------------------------------------------------------------------


def test_places() -> None:
    text = "int f(int x)\n{\n  if (x >\n      3)\n    x = x * 2;\n  return x;\n}\n"
    decision, assignment, _ = body(text)
    assert isinstance(decision, If)
    assert isinstance(assignment, Assign)
    assert decision.origin == Origin("test.c", 3, 3, 4, 8)
    assert assignment.origin == Origin("test.c", 5, 5, 5, 14)
    assert assignment.value.origin == Origin("test.c", 5, 9, 5, 14)


def test_macros() -> None:
    text = (
        "#define TWICE(a) ((a) * 2)\n"
        "#define SET(v, a) v = TWICE(a)\n"
        "int f(int x) {\n  SET(x, x + 1);\n  return TWICE(3);\n}\n"
    )
    assignment, result = body(text)
    assert isinstance(assignment, Assign)
    assert assignment.origin == Origin("test.c", 4, 3, 4, 16)
    assert assignment.expansion is not None
    assert assignment.expansion.macro == "SET"
    assert assignment.target.origin == Origin("test.c", 4, 7, 4, 8)
    product = assignment.value
    assert isinstance(product, Binary)
    assert product.expansion is not None
    assert product.expansion.definition == Origin("test.c", 2, 9, 2, 31)
    argument = product.left
    assert isinstance(argument, Binary)
    assert argument.origin == Origin("test.c", 4, 10, 4, 15)
    assert isinstance(result, Return)
    assert result.expansion is None
    assert result.value is not None
    assert result.value.expansion is not None
    assert result.value.expansion.macro == "TWICE"
    assert result.value.expansion.use == Origin("test.c", 5, 10, 5, 18)


def test_numbers_of_statements_ascend() -> None:
    text = (
        "int f(int x) { again: if (x++ < 3) goto again; while (x) { x--; } return x; }"
        "int g(void) { return 1; }"
    )
    program = parsed(text)
    numbers = [
        statement.number
        for function in program.functions.values()
        for statement in statements(function.body)
    ]
    assert numbers == list(range(1, len(numbers) + 1))


def test_left_to_right() -> None:
    text = """int g; int set(int v) { g = v; return v; }
    int f(void) { int a[2] = { 5, 6 }, i = 0, r; g = 1;
      r = g + set(10) + g;
      a[i] = i++ + 7;
      return r * 100 + a[0]; }"""
    # `r` is 1 + 10 + 10; `a[i]` is found before `i` grows, as clang has it.
    assert Interpreter(parsed(text)).run("f").value == 2107


def test_headers_of_loops() -> None:
    text = "for (;;) for (int i = f(\";\", ';'); ; i++) { for (x; y; ) ; } fort(;"
    assert for_headers(text) == [(False, False, False), (True, False, True), (True, True, False)]


# --- several files --------------------------------------------------------------------------


def test_units_with_static_names(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("struct s { int x; }; int g(struct s *); extern int shared;\n")
    (tmp_path / "a.c").write_text(
        '#include "a.h"\nstatic int n = 1; static int h(void) { return n; }\n'
        "int shared = 5;\nint f(void) { struct s s = { 2 }; return g(&s) * 100 + h(); }\n"
    )
    (tmp_path / "b.c").write_text(
        '#include "a.h"\nstatic int n = 7; static int h(void) { return n; }\n'
        "int g(struct s *p) { return h() * 10 + p->x + shared; }\n"
    )
    program = read_c([tmp_path / "a.c", tmp_path / "b.c"])
    assert set(program.functions) == {"f", "h", "g", "b.c:h"}
    assert list(program.records) == ["struct s"]
    assert Interpreter(program).run("f").value == 7701
    assert not program.declared


def test_what_is_defined_twice(tmp_path: Path) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("int f(void) { return 1; }\n")
    with pytest.raises(InputError, match="`f` is defined twice"):
        read_c([tmp_path / "a.c", tmp_path / "b.c"])


def test_options(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "n.h").write_text("#define N 3\n")
    text = "#include <n.h>\nint f(void) { return N * M // no comment in C89\n  * 2;}"
    options = COptions(include=(str(tmp_path / "inc"),), define=("M=5",))
    program = read_c(["test.c"], options, text=text)
    assert Interpreter(program).run("f").value == 30
    with pytest.raises(InputError, match=r"n\.h"):
        parsed(text)
    with pytest.raises(InputError):
        read_c(["test.c"], replace(options, std="c89"), text="inline " + text[15:])


def test_compile_commands(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "n.h").write_text("#define N 4\n")
    (tmp_path / "src" / "a.c").write_text("#include <n.h>\nint f(void) { return N + M; }\n")
    (tmp_path / "src" / "b.c").write_text("int g(void) { return M; }\n")
    database = tmp_path / "compile_commands.json"
    database.write_text(
        json.dumps(
            [
                {
                    "directory": str(tmp_path / "src"),
                    "command": "gcc -O2 -Wall -I../inc -D M=1 -c a.c -o a.o",
                    "file": "a.c",
                },
                {
                    "directory": "src",
                    "arguments": ["cc", "-DM=2", "-std=c99", "-c", "b.c"],
                    "file": "b.c",
                },
                {"directory": ".", "command": "c++ x.cpp", "file": "x.cpp"},
            ]
        )
    )
    paths, options = read_compile_commands(database)
    program = read_c(paths, options)
    assert [Path(path).name for path in paths] == ["a.c", "b.c"]
    assert Interpreter(program).run("f").value == 5
    assert Interpreter(program).run("g").value == 2
    assert len(read_compile_commands(database, only=["b.c"])[0]) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("{}", "a list"),
        ("[1]", "command 1: an object"),
        ('[{"file": "a.c"}]', "command 1: `command`"),
        ('[{"file": "a.c", "command": "gcc \'"}]', "command 1: `command` cannot be split"),
        ("[]", "no C file"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_a_broken_database(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_compile_commands(path)


# --- what is wrong, and what is refused -----------------------------------------------------


def test_errors_of_the_code_are_told_with_their_places() -> None:
    with pytest.raises(InputError) as error:
        parsed("int f(void) {\n  return y;\n}\nint g(void) { int *p = 1.5; return z }\n")
    told = [diagnostic.render() for diagnostic in error.value.diagnostics]
    assert told[0] == "test.c:2:10: error: use of undeclared identifier 'y'"
    assert len(told) >= 3
    assert not isinstance(error.value, UnsupportedError)


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("int f(int n) { int a[n]; return 0; }", "1:16", "variable length"),
        ('int f(int n) {\n  __asm__("nop"); return n; }', "2:3", "inline assembly"),
        ('__asm__("nop");', "1:1", "inline assembly"),
        ("#include <setjmp.h>\njmp_buf b;\nint f(void) { return setjmp(b); }", "3:22", "setjmp"),
        ("#include <setjmp.h>\njmp_buf b;\nvoid f(void) { longjmp(b, 1); }", "3:16", "longjmp"),
        ("void f(void) { double _Complex z; }", "1:16", "complex"),
        ("#include <complex.h>", "", "complex"),
        ("#include <threads.h>", "", "threads"),
        ("int pthread_create(void);\nint f(void) { return pthread_create(); }", "2:22", "threads"),
        ("_Atomic int x;", "1:1", "_Atomic"),
        ("long double x;", "1:1", "long double"),
        ("__int128 x;", "1:1", "128-bit"),
        ("int f(int x) { return ({ x++; x; }); }", "1:23", "statements in expressions"),
        ("void f(void) { void *p = &&l; l: goto *p; }", "1:26", "addresses of labels"),
        ("int f(int x) { return _Generic(x, int: 1); }", "1:23", "_Generic"),
        ("void *f(int n) { return __builtin_alloca(n); }", "1:25", "alloca"),
        ("typedef int v __attribute__((vector_size(16))); v x;", "1:49", "vector"),
    ],
)
def test_refused_by_name_and_place(text: str, place: str, what: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(text)
    (first, *_) = error.value.diagnostics
    assert what in first.message
    if place:
        assert isinstance(error.value, UnsupportedError)
        assert first.message.startswith("not supported")
        assert str(first.origin) == f"test.c:{place}"


def test_everything_that_is_refused_is_told_at_once() -> None:
    text = 'int f(int n) { int a[n]; return 0; }\nlong double x;\nvoid g(void) { __asm__(""); }\n'
    with pytest.raises(UnsupportedError) as error:
        parsed(text)
    assert sorted(str(diagnostic.origin) for diagnostic in error.value.diagnostics) == [
        "test.c:1:16",
        "test.c:2:1",
        "test.c:3:16",
    ]


@pytest.mark.parametrize(
    "text", ["", ";", "int x", "}{", "\x01\x02", "#include", "int f( {" * 2000]
)
def test_no_traceback(text: str) -> None:
    with suppress(InputError):
        parsed(text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_c([tmp_path / "none.c"])
    (tmp_path / "zero.c").write_bytes(b"int x;\0int y;")
    with pytest.raises(InputError, match="zero bytes"):
        read_c([tmp_path / "zero.c"])
    (tmp_path / "folder.c").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        read_c([tmp_path / "folder.c"])


def test_deep_nesting_is_read_or_refused() -> None:
    wide = "int f(int x) { return " + " + ".join(["x"] * 3000) + "; }"
    assert Interpreter(parsed(wide)).run("f", [2]).value == 6000
    chain = (
        "int f(int x) {"
        + "".join(f"if (x == {i}) return {i}; else " for i in range(300))
        + "return -1; }"
    )
    assert Interpreter(parsed(chain)).run("f", [250]).value == 250
    with pytest.raises(InputError):
        parsed("int f(int x) { return " + "(" * 5000 + "x" + ")" * 5000 + "; }")


def test_old_c_is_read_with_warnings() -> None:
    program = parsed("static n; f(c) char c; { return g(c) + n; } g(x) { return x; }")
    assert program.functions["f"].parameters[0].type == INT
    assert any("implicit" in warning.message for warning in program.warnings)
    assert all(warning.severity == "warning" for warning in program.warnings)
    assert Interpreter(program).run("f", [300]).value == 44


def test_strings_in_initialisers() -> None:
    program = parsed('char a[] = "ab\\0\\377\\"\\\\", b[2] = "xy"; const char *p[] = { "x", "x" };')
    assert variable(program, "a").type == ArrayType(IntType(8, True), 7)
    (initial,) = program.globals["a"].initial
    assert isinstance(initial.value, Load)
    outcome = Interpreter(
        parsed('char a[] = "ab\\0\\377\\"\\\\", b[2] = "xy"; int f(void) { return a[3]; }')
    ).run("f", observe=["a", "b"])
    assert outcome.observed == {"a": [97, 98, 0, -1, 34, 92, 0], "b": [120, 121]}
