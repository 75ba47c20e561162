"""Random C programs whose behaviour C defines (with wrapping signed arithmetic).

In the manner of csmith, much smaller: integers of all widths, arrays, structures with bit-fields,
unions of characters and numbers, pointers, calls, all statements. Indices are reduced, divisors
are guarded, shifts are masked, loops are bounded, and no expression has two calls or two effects
whose order C leaves open.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["program"]

TYPES = (
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "_Bool",
)
CONSTANTS = (
    "0", "1", "2", "3", "5", "7", "-1", "-2", "10", "100", "127", "128", "255", "256", "1000",
    "32767", "-32768", "65535", "2147483647", "(-2147483647 - 1)", "4294967295u", "0x80u",
    "123456789012LL", "0xdeadbeefcafeULL", "'a'", "7ul",
)  # fmt: skip


@dataclass
class Scope:
    """What can be named: scalars (name -> type), arrays (name -> length), and so on."""

    scalars: dict[str, str] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)
    grids: dict[str, tuple[int, int]] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)

    def inner(self) -> Scope:
        return Scope(
            dict(self.scalars),
            set(self.constants),
            dict(self.arrays),
            dict(self.grids),
            list(self.records),
            dict(self.pointers),
        )


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0
        self.functions: list[tuple[str, str, list[str]]] = []
        self.loops = 0
        self.labels: list[str] = []
        self.lines: list[str] = []
        self.level = 0
        self.breakable = False
        self.in_loop = False

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def pick(self, items):  # type: ignore[no-untyped-def]
        return self.random.choice(list(items))

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    # --- expressions ------------------------------------------------------------------------

    def index(self, scope: Scope, length: int) -> str:
        return f"(unsigned){self.operand(scope, 1)} % {length}u"

    def place(self, scope: Scope) -> tuple[str, str]:
        """Something to assign to, and its type."""
        kinds = []
        if scope.scalars.keys() - scope.constants:
            kinds += ["scalar"] * 4
        if scope.arrays:
            kinds += ["array"] * 2
        if scope.grids:
            kinds.append("grid")
        if scope.records:
            kinds += ["record"] * 2
        if scope.pointers:
            kinds += ["pointer"] * 2
        match self.pick(kinds):
            case "scalar":
                name = self.pick(sorted(scope.scalars.keys() - scope.constants))
                return name, scope.scalars[name]
            case "array":
                name = self.pick(scope.arrays)
                type, length = scope.arrays[name]
                return f"{name}[{self.index(scope, length)}]", type
            case "grid":
                name = self.pick(scope.grids)
                rows, columns = scope.grids[name]
                one, two = self.index(scope, rows), self.index(scope, columns)
                return f"{name}[{one}][{two}]", "int"
            case "record":
                name = self.pick(scope.records)
                return self.member(scope, name)
            case _:
                name = self.pick(scope.pointers)
                type = scope.pointers[name]
                if type == "struct record":
                    return self.member(scope, name + "->", "")
                return f"*{name}", type

    def member(self, scope: Scope, name: str, dot: str = ".") -> tuple[str, str]:
        member, type = self.pick(
            [
                ("a", "int"),
                ("b", "unsigned char"),
                ("c", "long long"),
                ("f1", "unsigned"),
                ("f2", "int"),
                ("f3", "unsigned"),
                ("u.w", "unsigned"),
                ("row", "short"),
                ("u.y", "unsigned char"),
            ]
        )
        if member == "row":
            return f"{name}{dot}row[{self.index(scope, 3)}]", type
        if member == "u.y":
            return f"{name}{dot}u.y[{self.index(scope, 4)}]", type
        return f"{name}{dot}{member}", type

    def operand(self, scope: Scope, depth: int) -> str:
        if self.chance(30):
            return self.pick(CONSTANTS)
        if depth <= 0:
            names = sorted(scope.scalars)
            return self.pick(names) if names else self.pick(CONSTANTS)
        return self.place(scope)[0]

    def expression(self, scope: Scope, depth: int = 3) -> str:
        if depth <= 0 or self.chance(15):
            return self.operand(scope, depth)
        left = self.expression(scope, depth - 1)
        match self.random.randrange(16):
            case 0:
                return f"{self.pick('-~!+')}({left})"
            case 1:
                return f"({self.pick(TYPES)})({left})"
            case 2:
                right = self.expression(scope, depth - 1)
                return f"({left} {self.pick(['<<', '>>'])} (({right}) & 7))"
            case 3:
                other = self.expression(scope, depth - 1)
                condition = self.expression(scope, depth - 1)
                return f"({condition} ? {left} : {other})"
            case 4 | 5:
                right = self.expression(scope, depth - 1)
                return f"({left} {self.pick(['&&', '||'])} {right})"
            case 6 | 7:
                right = self.expression(scope, depth - 1)
                return f"({left} {self.pick(['<', '>', '<=', '>=', '==', '!='])} {right})"
            case 8:
                right = self.expression(scope, depth - 1)
                return f"{self.pick(['DIV', 'MOD'])}({left}, {right})"
            case 9:
                return f"(int)(({left}) * 0.5 + (double)(signed char)({left}) > 3.25)"
            case _:
                right = self.expression(scope, depth - 1)
                return f"({left} {self.pick(['+', '-', '*', '&', '|', '^'])} {right})"

    def call(self, scope: Scope) -> str | None:
        if not self.functions:
            return None
        name, _, parameters = self.pick(self.functions)
        arguments = []
        for type in parameters:
            if type == "struct record":
                if not scope.records:
                    return None
                arguments.append(self.pick(scope.records))
            elif type.endswith("*"):
                wanted = type[:-2]
                if wanted == "int" and scope.arrays:
                    arrays = [n for n, (t, _) in scope.arrays.items() if t == "int"]
                    if not arrays:
                        return None
                    arguments.append(self.pick(arrays))
                elif wanted == "struct record" and scope.records:
                    arguments.append("&" + self.pick(scope.records))
                else:
                    return None
            else:
                arguments.append(self.expression(scope, 2))
        return f"{name}({', '.join(arguments)})"

    # --- statements -------------------------------------------------------------------------

    def block(self, scope: Scope, size: int, depth: int) -> None:
        inner = scope.inner()
        self.level += 1
        for _ in range(self.random.randrange(3)):
            self.declaration(inner)
        for _ in range(self.random.randrange(1, size + 1)):
            self.statement(inner, depth)
        self.level -= 1

    def declaration(self, scope: Scope) -> None:
        match self.random.randrange(6):
            case 0:
                name, length = self.fresh("a"), self.random.randrange(2, 7)
                type = self.pick(TYPES[:8])
                count = self.random.randrange(1, length + 1)
                values = ", ".join(self.expression(scope, 1) for _ in range(count))
                self.line(f"{type} {name}[{length}] = {{ {values} }};")
                scope.arrays[name] = (type, length)
            case 1:
                name = self.fresh("r")
                if scope.records and self.chance(50):
                    self.line(f"struct record {name} = {self.pick(scope.records)};")
                else:
                    one, two = self.expression(scope, 1), self.expression(scope, 1)
                    self.line(f"struct record {name} = {{ .c = {one}, .row = {{ 1, {two} }} }};")
                scope.records.append(name)
            case 2 if scope.arrays:
                array = self.pick(scope.arrays)
                type, length = scope.arrays[array]
                name = self.fresh("p")
                self.line(f"{type} *{name} = &{array}[{self.index(scope, length)}];")
                scope.pointers[name] = type
            case 3 if scope.records:
                name = self.fresh("p")
                self.line(f"struct record *{name} = &{self.pick(scope.records)};")
                scope.pointers[name] = "struct record"
            case 4 if scope.scalars.keys() - scope.constants:
                target = self.pick(sorted(scope.scalars.keys() - scope.constants))
                name = self.fresh("p")
                self.line(f"{scope.scalars[target]} *{name} = &{target};")
                scope.pointers[name] = scope.scalars[target]
            case _:
                name, type = self.fresh("v"), self.pick(TYPES)
                storage = "static " if self.chance(10) else ""
                value = self.pick(CONSTANTS) if storage else self.expression(scope, 2)
                self.line(f"{storage}{type} {name} = {value};")
                scope.scalars[name] = type

    def statement(self, scope: Scope, depth: int) -> None:
        kind = self.random.randrange(20)
        if depth <= 0:
            kind = min(kind, 8)
        if kind <= 4:
            place, _ = self.place(scope)
            operator = self.pick(["=", "=", "=", "+=", "-=", "*=", "&=", "|=", "^="])
            self.line(f"{place} {operator} {self.expression(scope)};")
        elif kind == 5:
            place, type = self.place(scope)
            operator = self.pick(["++", "--"]) if type != "_Bool" else "++"
            before, after = (operator, "") if self.chance(50) else ("", operator)
            self.line(f"{before}({place}){after};")
        elif kind == 6:
            call = self.call(scope)
            place, _ = self.place(scope)
            if call is None:
                self.line(f"{place} = {self.expression(scope)};")
            elif "[" in place or "->" in place or "*" in place:
                # C does not say whether the place or the call comes first.
                self.line(f"{call};")
            else:
                self.line(f"{place} = {call};")
        elif kind == 7 and len(scope.records) > 1:
            one, two = self.random.sample(scope.records, 2)
            self.line(f"{one} = {two};")
        elif kind <= 8:
            name = self.pick(sorted(scope.scalars.keys() - scope.constants) or ["sink"])
            operator = self.pick(["&&", "||"])
            self.line(f"if ({self.expression(scope, 2)} {operator} {name}++ > 3) sink++;")
        elif kind <= 11:
            self.line(f"if ({self.expression(scope)}) {{")
            self.block(scope, 3, depth - 1)
            if self.chance(60):
                self.line("} else {")
                self.block(scope, 3, depth - 1)
            self.line("}")
        elif kind <= 14 and self.loops < 2:
            self.loop(scope, depth)
        elif kind <= 16:
            self.switch(scope, depth)
        elif kind == 17 and self.in_loop:
            jump = self.pick(["break", "continue"])
            self.line(f"if ({self.expression(scope, 2)}) {jump};")
        elif kind == 18 and self.labels:
            self.line(f"if ({self.expression(scope, 2)}) goto {self.pick(self.labels)};")
        else:
            self.line("{")
            self.block(scope, 3, depth - 1)
            self.line("}")

    def loop(self, scope: Scope, depth: int) -> None:
        name = self.fresh("i")
        count = self.random.randrange(1, 6)
        inner = scope.inner()
        inner.scalars[name] = "int"
        inner.constants.add(name)
        outer = self.in_loop, self.breakable
        self.in_loop = self.breakable = True
        self.loops += 1
        match self.random.randrange(4):
            case 0:
                self.line(f"for (int {name} = 0; {name} < {count}; {name}++) {{")
                self.block(inner, 3, depth - 1)
                self.line("}")
            case 1:
                self.line(f"int {name} = {count};")
                self.line(f"while ({name}-- > 0) {{")
                self.block(inner, 3, depth - 1)
                self.line("}")
            case 2:
                self.line(f"int {name} = 0;")
                self.line("do {")
                self.block(inner, 3, depth - 1)
                self.line(f"}} while (++{name} < {count});")
            case _:
                self.line(f"int {name} = 0;")
                self.line("for (;;) {")
                self.line(f"    if ({name}++ >= {count}) break;")
                self.block(inner, 3, depth - 1)
                self.line("}")
        self.loops -= 1
        self.in_loop, self.breakable = outer

    def switch(self, scope: Scope, depth: int) -> None:
        self.line(f"switch (({self.expression(scope, 2)}) & 7) {{")
        values = self.random.sample(range(8), self.random.randrange(1, 5))
        default = self.random.randrange(len(values) + 1)
        outer, self.in_loop = self.in_loop, False
        for position, value in enumerate(values):
            if position == default:
                self.line("default:")
            self.line(f"case {value}: {{")
            self.block(scope, 2, depth - 1)
            self.line("}")
            if self.chance(60):
                self.line("    break;")
        self.in_loop = outer
        self.line("}")

    # --- the program ------------------------------------------------------------------------

    def function(self, scope: Scope) -> None:
        name = self.fresh("f")
        result = self.pick(TYPES[:9])
        inner = scope.inner()
        types, parameters = [], []
        for _ in range(self.random.randrange(4)):
            parameter = self.fresh("x")
            type = self.pick([*TYPES, "struct record", "int *", "struct record *"])
            if type == "struct record":
                inner.records.append(parameter)
            elif type.endswith("*"):
                inner.pointers[parameter] = type[:-2]
            else:
                inner.scalars[parameter] = type
            types.append(type)
            parameters.append(f"{type}{'' if type.endswith('*') else ' '}{parameter}")
        self.line(f"static {result} {name}({', '.join(parameters) or 'void'})")
        self.line("{")
        label = self.fresh("out")
        self.labels = [label]
        # Declarations come before the first jump over them.
        self.block(inner, 6, 3)
        self.labels = []
        self.line(f"{label}:")
        self.line(f"    return {self.expression(inner, 2)};")
        self.line("}")
        self.functions.append((name, result, types))

    def text(self) -> str:
        scope = Scope()
        self.lines += [
            "#include <stdio.h>",
            "#define DIV(a, b) ((b) == 0 || (b) == -1 ? (a) : (a) / (b))",
            "#define MOD(a, b) ((b) == 0 || (b) == -1 ? (a) : (a) % (b))",
            "struct record { int a; unsigned char b; long long c; unsigned f1 : 3; int f2 : 7;",
            "    unsigned f3 : 20; short row[3]; union { unsigned w; unsigned char y[4]; } u; };",
            "static int sink;",
        ]
        scope.scalars["sink"] = "int"
        for _ in range(self.random.randrange(2, 5)):
            name, type = self.fresh("g"), self.pick(TYPES)
            self.line(f"{self.pick(['', 'static '])}{type} {name} = {self.pick(CONSTANTS)};")
            scope.scalars[name] = type
        for _ in range(self.random.randrange(1, 4)):
            name, length = self.fresh("ga"), self.random.randrange(2, 6)
            type = self.pick(TYPES[:8])
            self.line(f"{type} {name}[{length}] = {{ {self.pick(CONSTANTS)}, 3 }};")
            scope.arrays[name] = (type, length)
        self.line("int gi[4] = { 1, -2, 3 };")
        scope.arrays["gi"] = ("int", 4)
        self.line("static int grid[2][3] = { { 1 }, { 2, 3 } };")
        scope.grids["grid"] = (2, 3)
        for name in ("ra", "rb"):
            self.line(f"struct record {name} = {{ 1, 2, -3, 4, -5, 6, {{ 7, 8 }}, {{ 9 }} }};")
            scope.records.append(name)
        self.line("struct record *gp = &ra;")
        scope.pointers["gp"] = "struct record"
        for _ in range(self.random.randrange(1, 5)):
            self.function(scope)
        self.line("int main(void)")
        self.line("{")
        self.level += 1
        self.line("int round;")
        self.line("for (round = 0; round < 3; round++) {")
        self.block(scope, 8, 3)
        for _ in range(3 * len(self.functions)):
            for _ in range(1):
                call = self.call(scope)
                if call is not None:
                    self.line(f'    printf("%lld\\n", (long long){call});')
                    break
        self.line("}")
        for name in scope.scalars:
            self.line(f'printf("{name} %lld\\n", (long long){name});')
        for name, (_, length) in scope.arrays.items():
            for index in range(length):
                self.line(f'printf("{name} %lld\\n", (long long){name}[{index}]);')
        for name in scope.records:
            self.line(
                f'printf("{name} %d %d %lld %u %d %u %d %d %u\\n", {name}.a, {name}.b, {name}.c, '
                f"{name}.f1, {name}.f2, {name}.f3, {name}.row[0], {name}.row[2], {name}.u.w);"
            )
        self.line('printf("%d %d\\n", grid[0][1], grid[1][2]);')
        self.line("return sink & 127;")
        self.level -= 1
        self.line("}")
        return "\n".join(self.lines) + "\n"


def program(seed: int) -> str:
    return Generator(seed).text()
