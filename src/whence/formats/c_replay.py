"""A C function that replays tests of a system behind the C interface, for who runs or reasons about
the code: `whence_replay`, which returns 0 if all that is asked for comes out, otherwise the number
of the first step at which it does not (from 1).  Its arguments are arrays with a value a step.

And one that lets a system run until an output changes: `whence_reset`, `whence_run`.
"""

from __future__ import annotations

from typing import Final

from whence.formats.c_interface import c_name, header_name, prefix
from whence.model.signals import Interface
from whence.source import Diagnostic, Origin, UnsupportedError

__all__ = ["REPLAY", "RESET", "RUN", "replay_source"]

REPLAY: Final = "whence_replay"
RESET: Final = "whence_reset"
RUN: Final = "whence_run"


def replay_source(interface: Interface) -> str:
    """Raises UnsupportedError for floating-point inputs and outputs."""
    system = prefix(interface)
    for one in (*interface.inputs, *interface.outputs):
        if one.kind == "real":
            raise UnsupportedError(
                Diagnostic(
                    f"not supported: to replay tests of a system with the floating-point signal "
                    f"`{one.name}` in C",
                    Origin(interface.file),
                )
            )
    inputs = [c_name(interface, one) for one in interface.inputs]
    outputs = [c_name(interface, one) for one in interface.outputs]
    arguments = ["int32_t steps", "const uint32_t *delay"]
    arguments += [f"const int32_t *{one}" for one in inputs]
    arguments += [f"const int32_t *asked_{one}" for one in outputs]
    arguments += [f"const int32_t *{one}" for one in outputs]
    lines = [
        f'#include "{header_name(interface)}"',
        "",
        f"{system}_inputs whence_in;",
        f"{system}_outputs whence_out;",
        "",
        f"int32_t {REPLAY}({', '.join(arguments)})",
        "{",
        "    int32_t wrong = 0;",
        "    for (int32_t i = 0; i < steps; i++) {",
        *(f"        whence_in.{one} = {one}[i];" for one in inputs),
        "        if (i == 0) {",
        f"            {system}_reset(&whence_in, &whence_out);",
        "        } else {",
        f"            {system}_step(delay[i], &whence_in, &whence_out);",
        "        }",
    ]
    for name in outputs:
        lines += [
            f"        if (wrong == 0 && asked_{name}[i] != 0 && whence_out.{name} != {name}[i]) {{",
            "            wrong = i + 1;",
            "        }",
        ]
    lines += [
        "    }",
        "    return wrong;",
        "}",
        "",
        f"void {RESET}(void)",
        "{",
        f"    {system}_reset(&whence_in, &whence_out);",
        "}",
        "",
        "/* Steps of a period until an output changes, or `most` are made; how many were made. */",
        f"uint32_t {RUN}(uint32_t period, uint32_t most)",
        "{",
        f"    {system}_outputs known = whence_out;",
        "    uint32_t made = 0;",
        "    while (made < most) {",
        f"        {system}_step(period, &whence_in, &whence_out);",
        "        made++;",
        *(f"        if (whence_out.{one} != known.{one}) return made;" for one in outputs),
        "    }",
        "    return made;",
        "}",
        "",
    ]
    return "\n".join(lines)
