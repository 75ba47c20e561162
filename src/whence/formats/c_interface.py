"""The C interface between tests and a system: a header, and programs that drive what implements it.

typedef struct { … } NAME_inputs;
typedef struct { … } NAME_outputs;
void NAME_reset(const NAME_inputs *inputs, NAME_outputs *outputs);
void NAME_step(uint32_t milliseconds, const NAME_inputs *inputs, NAME_outputs *outputs);
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from whence.model.signals import Interface, InterfaceSignal
from whence.source import Diagnostic, Origin, UnsupportedError

__all__ = ["driver", "header", "header_name", "prefix"]

_KEYWORDS = frozenset(
    (
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "bool",
        "true",
        "false",
        "main",
    )
)
_TYPES = {"bool": "bool", "int": "int32_t", "enum": "int32_t", "real": "double"}


def prefix(interface: Interface) -> str:
    """What names in C begin with: the model's name, as far as C can have it."""
    name = re.sub(r"\W", "_", interface.name, flags=re.ASCII) or "system"
    return f"_{name}" if name[0].isdigit() else name


def header_name(interface: Interface) -> str:
    return f"{prefix(interface)}.h"


def header(interface: Interface) -> str:
    """The header. Raises UnsupportedError where a name of the model cannot be one of C."""
    name = prefix(interface)
    guard = f"{name.upper()}_H"
    fields = {
        "inputs": [_field(interface, one) for one in interface.inputs] or ["char unused;"],
        "outputs": [_field(interface, one) for one in interface.outputs] or ["char unused;"],
    }
    lines = [
        f"/* The interface of `{_comment(interface.name)}`: what goes in, and what comes out. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdbool.h>",
        "#include <stdint.h>",
        "",
        *_members(name, (*interface.inputs, *interface.outputs)),
    ]
    for kind, members in fields.items():
        lines += ["typedef struct {", *(f"    {one}" for one in members), f"}} {name}_{kind};", ""]
    lines += [
        "/* Begin at time 0 with these inputs; say what the outputs are then. */",
        f"void {name}_reset(const {name}_inputs *inputs, {name}_outputs *outputs);",
        "",
        "/* So many milliseconds have passed since the last call, with the inputs of that call.",
        " * These are the inputs now; say what the outputs are now. */",
        f"void {name}_step(uint32_t milliseconds, const {name}_inputs *inputs,",
        f"    {name}_outputs *outputs);",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _members(name: str, signals: Iterable[InterfaceSignal]) -> list[str]:
    found: dict[str, int] = {}
    for one in signals:
        for number, member in enumerate(one.members):
            found[f"{name}_{member}"] = number
    lines = [f"#define {member} {number}" for member, number in found.items()]
    return [*lines, ""] if lines else []


def _field(interface: Interface, one: InterfaceSignal) -> str:
    type_ = "float" if one.bits == 32 else _TYPES[one.kind]
    return f"{type_} {c_name(interface, one)};{_remark(one)}"


def _remark(one: InterfaceSignal) -> str:
    if one.kind == "int" or one.kind == "real":
        return f" /* {one.low} to {one.high} */"
    return f" /* {', '.join(one.members)} */" if one.members else ""


def c_name(interface: Interface, one: InterfaceSignal) -> str:
    """A field's name: `Machine.x` becomes `Machine_x`."""
    name = one.name.replace(".", "_")
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in _KEYWORDS:
        raise UnsupportedError(
            Diagnostic(f"`{one.name}` is no name in C", Origin(interface.file), "rename it")
        )
    return name


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def driver(interface: Interface) -> str:
    """A program that is asked on its standard input, in numbers, and answers on its standard
    output: `R values…` resets; `S milliseconds period values…` lets time pass and then sets all
    inputs.  An answer is a line `milliseconds values…` a sample, and a line with a dot."""
    name = prefix(interface)
    read = []
    for one in interface.inputs:
        field = c_name(interface, one)
        call = "strtod(at, &end)" if one.kind == "real" else "strtol(at, &end, 10)"
        convert = {"bool": "0 != ", "real": "(float)" if one.bits == 32 else ""}.get(
            one.kind, "(int32_t)"
        )
        read.append(f"    in->{field} = {convert}{call}; if (end == at) return 0; at = end;")
    show = [
        f'    printf(" %a", (double)out->{c_name(interface, one)});'
        if one.kind == "real"
        else f'    printf(" %ld", (long)out->{c_name(interface, one)});'
        for one in interface.outputs
    ]
    return "\n".join(
        (
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "#include <string.h>",
            f'#include "{header_name(interface)}"',
            "",
            f"static int whence_read(char *at, {name}_inputs *in)",
            "{",
            "    char *end = at;",
            "    (void)in; (void)end;",
            *read,
            "    return 1;",
            "}",
            "",
            f"static void whence_show(unsigned long time, const {name}_outputs *out)",
            "{",
            "    (void)out;",
            '    printf("%lu", time);',
            *show,
            '    printf("\\n");',
            "}",
            "",
            "int main(void)",
            "{",
            "    static char line[1 << 16];",
            f"    static {name}_inputs now, next;",
            f"    static {name}_outputs out, known;",
            "    while (fgets(line, sizeof line, stdin)) {",
            "        if (line[0] == 'R') {",
            "            if (!whence_read(line + 1, &now)) return 3;",
            f"            {name}_reset(&now, &out);",
            "            whence_show(0, &out);",
            "        } else if (line[0] == 'S') {",
            "            char *at = line + 1;",
            "            unsigned long all = strtoul(at, &at, 10);",
            "            unsigned long period = strtoul(at, &at, 10);",
            "            unsigned long passed = 0;",
            "            if (!period || !whence_read(at, &next)) return 3;",
            "            while (passed < all) {",
            "                unsigned long delay = all - passed < period ? all - passed : period;",
            "                passed += delay;",
            "                if (passed == all) now = next;",
            f"                {name}_step((uint32_t)delay, &now, &out);",
            "                if (period > 1 || passed == all || memcmp(&out, &known, sizeof out))",
            "                    whence_show(passed, &out);",
            "                known = out;",
            "            }",
            "        } else return 3;",
            '        printf(".\\n");',
            "        fflush(stdout);",
            "    }",
            "    return 0;",
            "}",
            "",
        )
    )


def values_line(signals: Sequence[InterfaceSignal], values: Sequence[object]) -> str:
    """Inputs as the driver reads them."""
    found = []
    for one, value in zip(signals, values, strict=True):
        if isinstance(value, str):
            found.append(str(one.members.index(value)))
        elif isinstance(value, float):
            found.append(value.hex())
        else:
            assert isinstance(value, int)
            found.append(str(int(value)))
    return " ".join(found)
