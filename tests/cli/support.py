"""Running the command in this process: starting a new one for each test would take too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
DATABASE = str(EXAMPLES / "database.xml")
SHARED = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str

    def check(self) -> Ended:
        """Nothing that happens may look like a defect of whence."""
        for text in (self.out, self.err):
            assert "Traceback" not in text
            assert "internal error" not in text
        return self


Run = Callable[..., Ended]
Json = dict[str, Any]

#: Small enough to read in a test, and with a run for each exit status.
MODEL = """\
clock x;
int[0,3] n = 0;
process P() {
    state A { x <= 2 }, B;
    init A;
    trans A -> B { guard x >= 1; assign n = 3; },
          B -> B { guard x > 5; assign n = n + 1; };
}
system P;
"""
