"""Suites in the forms of other tools: pytest, Robot Framework, CSV, and C.

The first two have each test's steps in them and let whence judge, with the model beside the system
(:mod:`whence.api.play`).  CSV and C have the outputs that the model's one run expects, with their
latency and tolerance.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence

from whence.expr.ieee import Format, from_ordinal, ordinal_of_text
from whence.formats.c_interface import c_name, header, header_name, prefix
from whence.model.signals import Interface, InterfaceSignal
from whence.model.suite import Expected, Suite, TestCase
from whence.source import Diagnostic, Origin, UnsupportedError

__all__ = ["FORMS", "csv_form", "pytest_form", "rendered", "robot_form"]

#: What can be asked for.
FORMS = ("pytest", "robot", "csv", "c")
_SPECIAL = re.compile(r"([\\$@&%*#=|{}\[\]])")


def rendered(suite: Suite, form: str, interface: Interface) -> dict[str, str]:
    """The files of a form, by name."""
    if form == "pytest":
        return {"test_suite.py": pytest_form(suite)}
    if form == "robot":
        return {"suite.robot": robot_form(suite)}
    if interface.chooses:
        raise UnsupportedError(
            Diagnostic(
                f"the form `{form}` of tests for a system that chooses when a timer elapses",
                Origin(suite.file),
                "it has only one of its reactions; use whence run, pytest or robot",
            )
        )
    if form == "csv":
        return {"suite.csv": csv_form(suite)}
    assert form == "c"
    return {"suite.c": c_form(suite, interface), header_name(interface): header(interface)}


def _dates(test: TestCase) -> list[tuple[int, dict[str, str]]]:
    """Inputs by their dates."""
    found: dict[int, dict[str, str]] = {}
    for one in test.inputs:
        found.setdefault(one.time, {})[one.name] = one.value
    return sorted(found.items())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _python_name(ident: str) -> str:
    name = re.sub(r"\W", "_", ident, flags=re.ASCII)
    return name if name.startswith("test") else f"test_{name}"


def pytest_form(suite: Suite) -> str:
    """A module for pytest. It stands in the suite's folder."""
    lines = [
        '"""Tests that whence made.',
        "",
        "WHENCE_SUT names the system, as whence run --sut does; otherwise it is the model itself.",
        "WHENCE_MODEL names the model, if it is not where it was.",
        '"""',
        "",
        "import os",
        "from pathlib import Path",
        "",
        "import pytest",
        "",
        "from whence.api.play import Player",
        "",
        "",
        '@pytest.fixture(scope="module")',
        "def player():",
        '    system, model = os.environ.get("WHENCE_SUT", "model"), os.environ.get("WHENCE_MODEL")',
        "    with Player(Path(__file__).parent, system, model) as made:",
        "        yield made",
        "",
    ]
    for test in suite.tests:
        lines += ["", f"def {_python_name(test.ident)}(player):"]
        if test.requirements:
            told = _one_line(", ".join(test.requirements)).replace("\\", "\\\\").replace('"', "'")
            lines.append(f'    """{told}"""')
        lines.append(f"    player.begin({test.ident!r})")
        for time, inputs in _dates(test):
            lines.append(f"    player.at({time}, {inputs!r})")
        lines += [f"    player.end({test.end})", ""]
    return "\n".join(lines)


def robot_form(suite: Suite) -> str:
    """A suite of Robot Framework. It stands in the suite's folder."""
    lines = [
        "*** Comments ***",
        "Tests that whence made. ${SUT} names the system, as whence run --sut does; ${MODEL} the",
        "model, if it is not where it was.",
        "",
        "*** Settings ***",
        "Library    whence.api.play.RobotPlayer    ${CURDIR}    ${SUT}    ${MODEL}",
        "",
        "*** Variables ***",
        "${SUT}    model",
        "${MODEL}    ${EMPTY}",
        "",
        "*** Test Cases ***",
    ]
    for test in suite.tests:
        lines.append(test.ident)
        if test.requirements:
            tags = "    ".join(_robot(name) for name in test.requirements)
            lines.append(f"    [Tags]    {tags}")
        lines.append(f"    Begin    {test.ident}")
        for time, inputs in _dates(test):
            said = "    ".join(f"{_robot(name)}={_robot(value)}" for name, value in inputs.items())
            lines.append(f"    At    {time}    {said}")
        lines += [f"    End    {test.end}", ""]
    return "\n".join(lines)


def _robot(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _one_line(text)) or "${EMPTY}"


def csv_form(suite: Suite) -> str:
    """A row for each input and each expected output, in the order of time."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["test", "time", "kind", "name", "value", "latency", "tolerance"])
    for test in suite.tests:
        rows: list[tuple[int, int, list[object]]] = []
        for one in test.inputs:
            rows.append((one.time, 0, ["input", one.name, one.value, "", ""]))
        for out in test.expected:
            said = ["output", out.name, out.value, out.latency, out.tolerance]
            rows.append((out.time, 1, list(said)))
        for time, _, cells in sorted(rows, key=lambda row: row[:2]):
            writer.writerow([test.ident, time, *cells])
        writer.writerow([test.ident, test.end, "end", "", "", "", ""])
    return stream.getvalue()


# --------------------------------------------------------------------------------------------- C


def c_form(suite: Suite, interface: Interface) -> str:
    """A program that calls the system's functions every millisecond and looks whether its outputs
    are what the model's run expects, no later than their latency. Exit status 1 if one is not."""
    name = prefix(interface)
    if any(one.kind == "real" and not one.bits for one in interface.outputs):
        raise UnsupportedError(
            Diagnostic("fixed-point outputs in C", Origin(suite.file), "use whence run")
        )
    tests = [
        line for number, test in enumerate(suite.tests) for line in _c_test(number, test, interface)
    ]
    table = [
        f'    {{"{test.ident}", {test.end}, inputs_{number}, {len(_dates(test))}, '
        f"outputs_{number}, {len(_outputs(test, interface))}}},"
        for number, test in enumerate(suite.tests)
    ]
    values = [
        f"    case {number}: return out->{c_name(interface, one)};"
        for number, one in enumerate(interface.outputs)
    ]
    names = ", ".join(f'"{c_name(interface, one)}"' for one in interface.outputs)
    type_ = "double" if any(one.bits for one in interface.outputs) else "long"
    return "\n".join(
        (
            "/* Tests that whence made: compile this with the system.",
            " *     cc -std=c11 suite.c system.c -o tests && ./tests",
            " */",
            "#include <stddef.h>",
            "#include <stdio.h>",
            *(["#include <math.h>"] if _has_floats(interface) else []),
            f'#include "{header_name(interface)}"',
            "",
            f"struct input {{ unsigned long time; {name}_inputs values; }};",
            "/* From `time` on, and `latency` ms later at most, output `number` is `value`. */",
            f"struct output {{ unsigned long time; int number; {type_} value; "
            "unsigned long latency;",
            f"    {type_} tolerance; }};",
            "struct test { const char *name; unsigned long end; const struct input *inputs;",
            "    size_t input_count; const struct output *outputs; size_t output_count; };",
            "",
            *tests,
            "static const struct test tests[] = {",
            *table,
            "};",
            f"static const char *const names[] = {{{names or chr(34) * 2}}};",
            f"enum {{ OUTPUTS = {max(len(interface.outputs), 1)}, MOST = 4096 }};",
            "",
            f"static {type_} value_of(const {name}_outputs *out, int number)",
            "{",
            "    switch (number) {",
            *values,
            "    default: return 0;",
            "    }",
            "}",
            "",
            *_judge(type_).replace("NAME", name).splitlines(),
            "",
        )
    )


def _c_test(number: int, test: TestCase, interface: Interface) -> list[str]:
    lines = [f"static const struct input inputs_{number}[] = {{"]
    known: dict[str, str] = {}
    for time, inputs in _dates(test):
        known |= inputs
        cells = ", ".join(_c_value(one, known[one.name]) for one in interface.inputs)
        lines.append(f"    {{{time}, {{{cells or 0}}}}},")
    lines += ["};", f"static const struct output outputs_{number}[] = {{"]
    for out, at in _outputs(test, interface):
        value = _c_value(interface.outputs[at], out.value)
        exact = interface.outputs[at].bits
        tolerance = float(out.tolerance).hex() if exact else int(float(out.tolerance))
        lines.append(f"    {{{out.time}, {at}, {value}, {out.latency}, {tolerance}}},")
    return [*lines, "};", ""]


def _outputs(test: TestCase, interface: Interface) -> Sequence[tuple[Expected, int]]:
    numbers = {one.name: number for number, one in enumerate(interface.outputs)}
    return [(one, numbers[one.name]) for one in test.expected]


def _c_value(one: InterfaceSignal, text: str) -> str:
    if one.kind == "enum":
        return str(one.members.index(text))
    if one.bits:
        format_: Format = 32 if one.bits == 32 else 64
        value = from_ordinal(ordinal_of_text(text, format_), format_)
        if value != value:
            return "NAN"
        return value.hex() if math.isfinite(value) else f"{'-' * (value < 0)}INFINITY"
    if one.kind == "real":
        numerator, _, denominator = text.partition("/")
        return f"{numerator}.0 / {denominator or 1}.0"
    return text


def _has_floats(interface: Interface) -> bool:
    return any(one.bits for one in (*interface.inputs, *interface.outputs))


def _judge(type_: str) -> str:
    """For floating-point numbers, what is no number is as expected if nothing else was."""
    if type_ == "long":
        return _C_JUDGE
    changes = (
        (
            "long off = value_of(&out, one) - o->value;",
            "double seen = value_of(&out, one), off = seen - o->value;\n"
            "                int same = seen == o->value ||\n"
            "                    (seen != seen && o->value != o->value);",
        ),
        (
            "(off < 0 ? -off : off) <= o->tolerance",
            "(same || (off < 0 ? -off : off) <= o->tolerance)",
        ),
        ("is %ld at", "is %.17g at"),
        ("expected %ld since", "expected %.17g since"),
    )
    text = _C_JUDGE
    for before, after in changes:
        text = text.replace(before, after)
    return text


_C_JUDGE = r"""
/* Each output shows what was expected at most its latency ago, and never goes back. */
static int run(const struct test *test)
{
    static size_t now[OUTPUTS];
    NAME_outputs out;
    size_t next = 1;

    for (int one = 0; one < OUTPUTS; one++)
        now[one] = test->output_count;
    for (unsigned long time = 0; time <= test->end; time++) {
        if (time == 0) {
            NAME_reset(&test->inputs[0].values, &out);
        } else {
            if (next < test->input_count && test->inputs[next].time == time)
                next++;
            NAME_step(1, &test->inputs[next - 1].values, &out);
        }
        for (int one = 0; one < OUTPUTS; one++) {
            size_t found = test->output_count, last = test->output_count;
            for (size_t at = 0; at < test->output_count; at++) {
                const struct output *o = &test->outputs[at];
                const struct output *after = NULL;
                if (o->number != one || o->time > time)
                    continue;
                last = at;
                if (now[one] < test->output_count && at < now[one])
                    continue;
                for (size_t k = at + 1; k < test->output_count && !after; k++)
                    if (test->outputs[k].number == one)
                        after = &test->outputs[k];
                if (after && after->time + o->latency <= time)
                    continue;
                long off = value_of(&out, one) - o->value;
                if (found == test->output_count && (off < 0 ? -off : off) <= o->tolerance)
                    found = at;
            }
            if (last < test->output_count && found == test->output_count) {
                printf("fail %s: %s is %ld at %lu ms; expected %ld since %lu ms\n", test->name,
                    names[one], value_of(&out, one), time, test->outputs[last].value,
                    test->outputs[last].time);
                return 1;
            }
            now[one] = found;
        }
    }
    printf("pass %s\n", test->name);
    return 0;
}

int main(void)
{
    int failed = 0;

    for (size_t one = 0; one < sizeof tests / sizeof *tests; one++)
        failed |= run(&tests[one]);
    return failed;
}
"""
