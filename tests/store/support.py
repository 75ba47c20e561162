"""Logs of the paper's ECU with random times, programs that triage them, and where stores are."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from whence.api.triage import pieces_of
from whence.triage.findings import Triage

ROOT = Path(__file__).resolve().parents[2]
MODEL = str(ROOT / "examples" / "prd_paper.yaml")
LOGS = str(ROOT / "examples" / "prd_paper")


def write_logs(folder: Path, count: int, seed: int = 1) -> list[str]:
    """Some of them right, some wrong in several ways, one of ten no log at all."""
    chance = random.Random(seed)
    folder.mkdir(exist_ok=True)
    names = []
    for number in range(count):
        path = folder / f"log_{number:03d}.events"
        path.write_text("" if number % 10 == 9 else _log(chance))
        names.append(str(path))
    return names


def _log(chance: random.Random) -> str:
    lines, now = ["%unit ms"], 0
    for _ in range(chance.randint(1, 3)):
        value = chance.randint(1, 3)
        now += chance.randint(1, 60)
        lines += [f"{now} req @CTR set value={value}", f"{now + 5} res @CTR ack value={value}"]
        for _ in range(chance.randint(1, 2)):
            now += chance.randint(10, 40)
            seen = chance.choice((0, value, value))
            lines += [f"{now} req @CTR get", f"{now + 3} res @CTR ret value={seen}"]
            now += 3
    return "\n".join(lines) + "\n"


def text_of(found: Triage) -> str:
    return "".join(pieces_of(found, ".json"))


#: Tells how many logs are done, as soon as they are, and stops after so many for a signal.
PROGRAM = """
import sys
from whence.api.triage import triage
def progress(done, all_, faults):
    print(done, flush=True)
triage(sys.argv[1], sys.argv[3:], store=sys.argv[2], progress=progress)
"""


def start(store: str, logs: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, MODEL, store, *logs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**_environment(), "NUMBA_DISABLE_JIT": "1"},
    )


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def is_sound(path: Path) -> bool:
    """What SQLite itself says about the file."""
    connection = sqlite3.connect(path)
    try:
        (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
        return answer == "ok" and not connection.execute("PRAGMA foreign_key_check").fetchall()
    finally:
        connection.close()
