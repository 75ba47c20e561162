"""What can go wrong when an expression is evaluated: errors of the user's model at run time.

Every interpretation that computes values (the plain evaluator, the exploration kernel) raises
the same faults in the same situations; they become a verdict of their own, with the trace that
leads there.
"""

from __future__ import annotations

from enum import IntEnum

from whence.source import NOWHERE, Origin

__all__ = ["CALL_DEPTH", "LOOP_STEPS", "EvaluationError", "Fault"]

#: How deep calls may nest before we call it unbounded recursion.
CALL_DEPTH = 256
#: How many loop iterations one evaluation may take before we call it endless.
LOOP_STEPS = 10_000_000


class Fault(IntEnum):
    NONE = 0
    DIVISION_BY_ZERO = 1
    OUT_OF_RANGE = 2
    BAD_INDEX = 3
    OVERFLOW = 4
    BAD_SHIFT = 5
    RECURSION = 6
    ENDLESS_LOOP = 7
    NO_RETURN = 8
    NEGATIVE_CLOCK = 9

    @property
    def text(self) -> str:
        return _TEXTS[self]


_TEXTS = {
    Fault.NONE: "no fault",
    Fault.DIVISION_BY_ZERO: "division by zero",
    Fault.OUT_OF_RANGE: "a value outside the range of its variable",
    Fault.BAD_INDEX: "an array index outside the array",
    Fault.OVERFLOW: "an integer that does not fit into 32 bits",
    Fault.BAD_SHIFT: "a shift by a negative amount or by more than 31",
    Fault.RECURSION: f"calls nested deeper than {CALL_DEPTH}: unbounded recursion?",
    Fault.ENDLESS_LOOP: f"more than {LOOP_STEPS} loop iterations: an endless loop?",
    Fault.NO_RETURN: "a function that ended without returning a value",
    Fault.NEGATIVE_CLOCK: "a clock set to a negative value",
}


class EvaluationError(Exception):
    """A fault of the model, at the place in the model where it happened."""

    def __init__(self, fault: Fault, origin: Origin = NOWHERE, detail: str = "") -> None:
        self.fault = fault
        self.origin = origin
        self.detail = detail
        super().__init__(fault.text + (f" ({detail})" if detail else ""))
