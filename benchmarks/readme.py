"""Tables in benchmarks/README.md, and what the numbers in them depend on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Final

__all__ = ["README", "MissingMarkers", "facts", "machine", "split"]

README: Final = Path(__file__).resolve().parent / "README.md"


class MissingMarkers(Exception):
    """A file does not say where tables go."""


def machine() -> dict[str, str]:
    """What the numbers depend on, without names of hosts, users or folders."""
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    facts = {
        "processor": processor or platform.machine(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    return facts | {name: importlib.metadata.version(name) for name in ("numba", "numpy", "whence")}


def facts(machine: dict[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in machine.items())


def split(file: Path, mark: str) -> tuple[str, str]:
    """What stands before and after the tables that are marked so in a Markdown file, markers
    included."""
    opening, closing = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    text = file.read_text(encoding="utf-8")
    before, begin, rest = text.partition(opening)
    _, end, after = rest.partition(closing)
    if not begin or not end:
        raise MissingMarkers(
            f"{file}: the tables go between {opening} and {closing}; add these lines"
        )
    return before + begin, end + after
