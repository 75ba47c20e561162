"""What a system under test has to do for us, with the time of a simulation or of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Protocol, TypeAlias

from whence.testing.values import Native

__all__ = ["Inputs", "Polled", "Sample", "Simulated", "Stepper", "SystemFault", "Wired"]

Inputs: TypeAlias = "Mapping[str, Native]"
#: So many milliseconds after the last call these outputs had these values.
Sample: TypeAlias = "tuple[int, Mapping[str, object]]"


class SystemFault(Exception):
    """The system died, hung, or answered what cannot be understood."""


class Simulated(Protocol):
    """A system whose time we control. `held`: between samples, outputs kept their values.
    `deadline` is on the monotonic clock: a call that takes longer raises SystemFault."""

    held: bool
    deadline: float

    def reset(self, inputs: Inputs) -> Mapping[str, object]:
        """Begin at time 0; the outputs then."""

    def run(self, milliseconds: int, inputs: Inputs) -> Sequence[Sample]:
        """Let so much time pass, with the inputs as they are; then set them all. The last sample
        is what the outputs are then."""

    def close(self) -> None:
        """Nothing more will be asked."""


class Wired(Protocol):
    """A system with a time of its own, which takes inputs and tells outputs when it likes.
    Dates are seconds on the monotonic clock."""

    deadline: float

    def start(self, inputs: Inputs) -> None:
        """Begin."""

    def send(self, inputs: Inputs) -> None:
        """Set inputs now. All of them are given."""

    def receive(self, until: float) -> tuple[float, Mapping[str, object]] | None:
        """The next outputs that were told, with their date; None: none came until then."""

    def close(self) -> None:
        """Nothing more will be asked."""


class Stepper(Protocol):
    """What users write: an object, in Python."""

    def reset(self, inputs: dict[str, Native]) -> Mapping[str, object]:
        """Begin at time 0; the outputs then."""

    def step(self, milliseconds: int, inputs: dict[str, Native]) -> Mapping[str, object]:
        """So much time has passed, and these are the inputs now; the outputs then."""


class Polled:
    """A stepper, looked at every `period` milliseconds."""

    def __init__(self, stepper: Stepper, period: int = 1) -> None:
        self.stepper = stepper
        self.period = period
        self.held = period == 1
        self._deadline = float("inf")
        self._inputs: dict[str, Native] = {}
        self._known: dict[str, object] = {}

    @property
    def deadline(self) -> float:
        return self._deadline

    @deadline.setter
    def deadline(self, value: float) -> None:
        self._deadline = value
        if hasattr(self.stepper, "deadline"):
            self.stepper.deadline = value

    def reset(self, inputs: Inputs) -> Mapping[str, object]:
        self._inputs = dict(inputs)
        self._known = {}
        return self._asked(lambda: self.stepper.reset(dict(inputs)))

    def run(self, milliseconds: int, inputs: Inputs) -> Sequence[Sample]:
        passed = 0
        found: list[Sample] = []
        while passed < milliseconds:
            delay = min(self.period, milliseconds - passed)
            passed += delay
            if passed == milliseconds:
                self._inputs = dict(inputs)
            given = dict(self._inputs)
            outputs = self._asked(partial(self.stepper.step, delay, given))
            if monotonic() > self._deadline:
                raise SystemFault("the system hangs: the test's time is over")
            # Of outputs that are looked at all the time, the changes say everything.
            if not self.held or passed == milliseconds or outputs != self._known:
                found.append((passed, outputs))
            self._known = dict(outputs)
        return found

    def _asked(self, call: Callable[[], object]) -> Mapping[str, object]:
        try:
            outputs = call()
        except SystemFault:
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {error}".strip()
            raise SystemFault(f"the system raised {told[:300]}") from None
        if not isinstance(outputs, Mapping):
            raise SystemFault(f"the system answered {shown(outputs)}, not its outputs by name")
        return outputs

    def close(self) -> None:
        close = getattr(self.stepper, "close", None)
        if callable(close):
            close()


def shown(value: object, most: int = 80) -> str:
    """For messages."""
    try:
        text = repr(value)
    except Exception:
        text = f"an object of {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."
