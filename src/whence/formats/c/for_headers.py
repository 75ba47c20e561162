"""Which parts of `for (first; condition; step)` are there.

libclang lists only the parts that exist, without saying which. clang prints a whole function
with its macros expanded, and there the header of each loop can be read.
"""

from __future__ import annotations

import re

__all__ = ["for_headers"]

_TOKEN = re.compile(
    r"""  "(?:[^"\\]|\\.)*"  |  '(?:[^'\\]|\\.)*'  |  [A-Za-z_$][\w$]*  |  [()\[\]{};]  |  \S """,
    re.VERBOSE,
)


def for_headers(text: str) -> list[tuple[bool, bool, bool]]:
    """For each `for` of a printed function, in order: whether it has a first part, a condition
    and a step."""
    tokens = _TOKEN.findall(text)
    headers: list[tuple[bool, bool, bool]] = []
    for index, token in enumerate(tokens):
        if token == "for" and tokens[index + 1 : index + 2] == ["("]:
            headers.append(_header(tokens, index + 2))
    return headers


def _header(tokens: list[str], index: int) -> tuple[bool, bool, bool]:
    depth = 0
    parts = [False, False, False]
    part = 0
    for token in tokens[index:]:
        if token in "([{":
            depth += 1
        elif token in ")]}":
            if depth == 0:
                break
            depth -= 1
        if token == ";" and depth == 0:
            part += 1
            if part > 2:
                break
        else:
            parts[part] = True
    return (parts[0], parts[1], parts[2])
