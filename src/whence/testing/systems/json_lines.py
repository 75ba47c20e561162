"""Processes that speak JSON, an object a line.

Simulated time: `{"reset": {inputs}}`, then `{"step": milliseconds, "inputs": {inputs}}`; each is
answered with `{"outputs": {outputs}}`.  Real time: `{"reset": {inputs}}` and
`{"inputs": {inputs}}`, which nobody answers; `{"outputs": {outputs}}` is said whenever one changes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from whence.testing.systems.base import Inputs, Polled, Sample, SystemFault, shown
from whence.testing.systems.process import Child
from whence.testing.values import Native

__all__ = ["JsonLines", "JsonWire", "PythonProcess", "json_system"]


def json_system(command: Sequence[str], period: int) -> Polled:
    return Polled(JsonLines(command), period)


def _object(line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise SystemFault(f"the system said {shown(line)}, which is no JSON") from None
    if not isinstance(found, dict):
        raise SystemFault(f"the system said {shown(line)}, which is no JSON object")
    if "error" in found:
        raise SystemFault(f"the system says: {str(found['error'])[:300]}")
    return found


def _outputs(line: str) -> Mapping[str, object]:
    outputs = _object(line).get("outputs")
    if not isinstance(outputs, dict):
        raise SystemFault(f"the system said {shown(line)}, without an object `outputs`")
    return outputs


class JsonLines:
    """A stepper. The process is started anew with each reset, so that nothing is left over."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.deadline = float("inf")
        self._child: Child | None = None

    def reset(self, inputs: dict[str, Native]) -> Mapping[str, object]:
        self.close()
        self._child = Child(self.command)
        return self._asked({"reset": inputs})

    def step(self, milliseconds: int, inputs: dict[str, Native]) -> Mapping[str, object]:
        return self._asked({"step": milliseconds, "inputs": inputs})

    def _asked(self, question: object) -> Mapping[str, object]:
        assert self._child is not None
        self._child.say(json.dumps(question))
        return _outputs(self._child.hear(self.deadline))

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


class JsonWire:
    """The same in real time."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.deadline = float("inf")
        self._child: Child | None = None

    def start(self, inputs: Inputs) -> None:
        self.close()
        self._child = Child(self.command)
        self._child.say(json.dumps({"reset": dict(inputs)}))

    def send(self, inputs: Inputs) -> None:
        assert self._child is not None
        self._child.say(json.dumps({"inputs": dict(inputs)}))

    def receive(self, until: float) -> tuple[float, Mapping[str, object]] | None:
        assert self._child is not None
        heard = self._child.listen(until)
        return None if heard is None else (heard[0], _outputs(heard[1]))

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


class PythonProcess:
    """A Python object in a process of its own (:mod:`whence.testing.systems.host`), which is looked
    at there, so that a line does for any stretch of time."""

    def __init__(self, place: str, period: int = 1) -> None:
        self.place = place
        self.period = period
        self.held = period == 1
        self.deadline = float("inf")
        self._child: Child | None = None

    def reset(self, inputs: Inputs) -> Mapping[str, object]:
        if self._child is None:
            command = (sys.executable, "-m", "whence.testing.systems.host", self.place)
            self._child = Child(command)
        return _outputs(self._asked({"reset": dict(inputs), "period": self.period}))

    def run(self, milliseconds: int, inputs: Inputs) -> Sequence[Sample]:
        line = self._asked({"run": milliseconds, "inputs": dict(inputs)})
        samples = _object(line).get("samples")
        assert isinstance(samples, list)
        return [(time, outputs) for time, outputs in samples]

    def _asked(self, question: object) -> str:
        assert self._child is not None
        self._child.say(json.dumps(question))
        return self._child.hear(self.deadline)

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None
