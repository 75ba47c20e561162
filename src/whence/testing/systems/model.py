"""The model itself as the system, or a mutant of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whence.expr.ieee import ordinal, rounded
from whence.testing.model import TimedModel, Variable
from whence.testing.semantics.simulator import Illegal, Simulator, State
from whence.testing.systems.base import Inputs, Sample, SystemFault
from whence.testing.values import Native, as_native

__all__ = ["ModelSystem"]

_ZENO = 1000


class ModelSystem:
    """Inputs that change come together with the timers that elapse then. It tells every change
    with its date. Where it may choose when a timer elapses, it takes the last moment."""

    held = True

    def __init__(self, part: TimedModel, simulator: Simulator | None = None) -> None:
        self.part = part
        self.simulator = simulator or Simulator(part)
        self.inputs = part.having("input")
        self.outputs = [(part.place[v.symbol], v) for v in part.having("output")]
        self.deadline = float("inf")
        self._state: State = ()
        self._free: list[int] = []

    def reset(self, inputs: Inputs) -> Mapping[str, object]:
        self._free = self._numbers(inputs)
        self._state = self.simulator.initial(self._free)
        self._settle()
        return self._shown()

    def run(self, milliseconds: int, inputs: Inputs) -> Sequence[Sample]:
        new = self._numbers(inputs)
        passed = 0
        found: list[Sample] = []
        known = self._values()
        while passed < milliseconds:
            delay = min(self.simulator.limit(self._state), milliseconds - passed)
            passed += delay
            if passed == milliseconds:
                self._free = new
            self._state = self.simulator.wait(self._state, delay, self._free)
            self._settle()
            values = self._values()
            if values != known or passed == milliseconds:
                known = values
                found.append((passed, self._shown()))
        return found

    def _settle(self) -> None:
        try:
            for _ in range(_ZENO):
                after = self.simulator.step(self._state)
                if after is None:
                    return
                self._state = after
        except Illegal as illegal:
            where = f" ({illegal.origin})" if str(illegal.origin) else ""
            raise SystemFault(f"the system's model has no step: {illegal.message}{where}") from None
        raise SystemFault("the steps of the system's model do not end (a Zeno loop)")

    def _numbers(self, inputs: Inputs) -> list[int]:
        free = (v for v in self.part.variables if v.free)
        return [_number(v, inputs) if v.role == "input" else 0 for v in free]

    def _values(self) -> list[int]:
        return [self._state[place] for place, _ in self.outputs]

    def _shown(self) -> dict[str, Native]:
        return {v.name: as_native(v, self._state[place]) for place, v in self.outputs}

    def close(self) -> None:
        pass


def _number(variable: Variable, inputs: Inputs) -> int:
    name = variable.name
    value = inputs.get(name)
    if value is None:
        raise SystemFault(f"the system's model has the input `{name}`, which the tests do not set")
    if variable.ieee is not None:
        return ordinal(rounded(float(value), variable.ieee), variable.ieee)
    if isinstance(value, str):
        if value not in variable.members:
            raise SystemFault(f"the system's model has no value `{value}` of `{name}`")
        return variable.members.index(value)
    if variable.fixed:
        return round(value * variable.scale)
    if variable.real is not None:
        whole = float(value).is_integer()
        return int(2 * value) if whole else 2 * int(value // 1) + 1
    return int(value)
