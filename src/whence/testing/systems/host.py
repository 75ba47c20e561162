"""The process that a Python system runs in: `python -m whence.testing.systems.host PLACE`.

PLACE is `module:name` or `file.py:name`. The name is a class or function that makes an object with
`reset` and `step`, or such an object.  Whatever the system prints goes to standard error.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from whence.testing.systems.base import Polled, Stepper, SystemFault

__all__ = ["load", "main"]


def load(place: str) -> Any:
    """What a place names. Raises SystemFault."""
    module_name, _, name = place.rpartition(":")
    if not module_name or not name:
        raise SystemFault(f"`{place}` is no place: expected module:name or file.py:name")
    try:
        if module_name.endswith(".py"):
            path = Path(module_name)
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None or not path.is_file():
                raise SystemFault(f"there is no file {module_name}")
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
        else:
            sys.path.insert(0, os.getcwd())
            try:
                module = importlib.import_module(module_name)
            finally:
                sys.path.remove(os.getcwd())
    except SystemFault:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"[:300]
        raise SystemFault(f"{module_name} cannot be imported: {told}") from None
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise SystemFault(f"{module_name} has no `{name}`")
        found = getattr(found, part)
    return found


def stepper(place: str) -> Stepper:
    found = load(place)
    if isinstance(found, type) or not hasattr(found, "step"):
        if not callable(found):
            raise SystemFault(f"`{place}` has no methods `reset` and `step`, and cannot be called")
        try:
            found = found()
        except Exception as error:
            told = f"{type(error).__name__}: {error}"[:300]
            raise SystemFault(f"`{place}` raised {told}") from None
    for method in ("reset", "step"):
        if not callable(getattr(found, method, None)):
            raise SystemFault(f"what `{place}` makes has no method `{method}`")
    made: Stepper = found
    return made


def main(place: str) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def answer(told: object) -> None:
        try:
            line = json.dumps(told)
        except (TypeError, ValueError) as error:
            line = json.dumps({"error": f"the system's outputs are no plain values: {error}"})
        answers.write(line + "\n")
        answers.flush()

    polled: Polled | None = None
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if "reset" in question:
                if polled is None:
                    polled = Polled(stepper(place), question["period"])
                answer({"outputs": dict(polled.reset(question["reset"]))})
            elif polled is not None:
                samples = polled.run(question["run"], question["inputs"])
                answer({"samples": [(time, dict(outputs)) for time, outputs in samples]})
        except SystemFault as fault:
            answer({"error": str(fault)})


if __name__ == "__main__":
    main(sys.argv[1])
