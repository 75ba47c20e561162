"""Texts of timed charts, made into what the expression language has."""

from __future__ import annotations

import re

from whence.expr.tree import Expr, Field, Name
from whence.formats.charts.xmi_texts import blanked, replaced
from whence.source import SourceText

__all__ = ["functions", "path_of"]

_METHOD = re.compile(r"\b([A-Za-z_]\w*)\s*\.\s*(elapsed|reset)\s*\(\s*(\))?", re.ASCII)
_DECIMAL = re.compile(
    r"(?<![\w.])(\d{1,9})\.(\d{1,9})(?:[eE]([+-]?\d{1,2}))?([fF]?)(?![\w.])", re.ASCII
)


def functions(text: SourceText) -> SourceText:
    """`t.elapsed(3)` as `elapsed(t, 3)`, `t.reset()` as `reset(t)`, `2.5` as `decimal_(25, 10)`;
    `2.5e1` and `2.5f`, which are floating-point numbers, as `float_(25, 10, exponent, bits)`."""
    changes = []
    for match in _METHOD.finditer(blanked(text.text)):
        timer, function, closed = match.groups()
        new = f"{function}({timer})" if closed else f"{function}({timer}, "
        changes.append((match.start(), match.end(), new))
    for match in _DECIMAL.finditer(blanked(text.text)):
        digits = match[2].rstrip("0")
        top, below = int(match[1] + digits), 10 ** len(digits)
        if match[3] is None and not match[4]:
            new = f"decimal_({top}, {below})"
        else:
            new = f"float_({top}, {below}, {match[3] or 0}, {32 if match[4] else 64})"
        changes.append((match.start(), match.end(), new))
    return replaced(text, sorted(changes)) if changes else text


def path_of(expr: Expr) -> str | None:
    """`a.b.c`, if it is of that form."""
    names: list[str] = []
    while isinstance(expr, Field):
        names.insert(0, expr.name)
        expr = expr.record
    if not isinstance(expr, Name):
        return None
    return ".".join([expr.name, *names])
