"""Timed diagnostic traces (Koelbl, section 8.2): how a network gets from its start to a state
that a property speaks about.

A trace is symbolic and concrete at once: each state carries the zone of all clock values that
some run along these transitions can have there, delay included; `delays` is one such run.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

__all__ = [
    "DelayRange",
    "EdgeUse",
    "QueryResult",
    "Supremum",
    "SymbolicState",
    "TimedTrace",
    "Transition",
    "Verdict",
]


@dataclass(frozen=True, slots=True)
class EdgeUse:
    """One edge that takes part in a transition, with the values of its select variables."""

    process: int
    edge: int
    selects: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Transition:
    """`uses` holds the sender first, then the receivers in order of their processes.

    `action` is the channel as displayed (`req`, `go[2]`), or `tau` for an internal step.
    """

    action: str
    uses: tuple[EdgeUse, ...]


@dataclass(frozen=True, slots=True)
class SymbolicState:
    """`locations` has a location index a process, `values` one integer a data cell.

    `zone` is the canonical difference-bound matrix over (0, clocks...), delay included: entry
    (i, j) bounds clock i - clock j by 2c+1 for `<= c`, 2c for `< c`, 2**31-1 for no bound.
    `constraints` says the same in words, without what is redundant.
    """

    locations: tuple[int, ...]
    values: tuple[int, ...]
    zone: tuple[tuple[int, ...], ...] = ()
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DelayRange:
    """Which values a delay can have in the runs along a trace; `upper` None: any from `lower`."""

    lower: int
    lower_strict: bool
    upper: int | None
    upper_strict: bool

    def __str__(self) -> str:
        left = "(" if self.lower_strict else "["
        if self.upper is None:
            return f"{left}{self.lower}, \N{INFINITY})"
        return f"{left}{self.lower}, {self.upper}{')' if self.upper_strict else ']'}"


TraceEnd = Literal["goal", "lasso", "deadlock", "divergence", "error"]


@dataclass(frozen=True, slots=True)
class TimedTrace:
    """`states` is one longer than `transitions`, and `delays` as long as `states`: time passes
    in each state, also in the last, before the property is decided there.

    `end` says why the trace stops: the state formula holds (`goal`), the last state repeats
    state number `loop_to` (`lasso`), nothing more can happen (`deadlock`), time can pass for
    ever (`divergence`), or the next step is an error of the model (`error`, told in `message`;
    the last of `transitions` is then the one that fails and has no state after it).
    """

    states: tuple[SymbolicState, ...]
    transitions: tuple[Transition, ...]
    delays: tuple[Fraction, ...]
    end: TraceEnd = "goal"
    loop_to: int | None = None
    message: str = ""
    #: One a delay, over all runs along these transitions (whether or not they end as this one
    #: does); empty where nobody worked them out.
    delay_ranges: tuple[DelayRange, ...] = ()

    @property
    def duration(self) -> Fraction:
        return sum(self.delays, Fraction(0))


Verdict = Literal["satisfied", "violated", "unknown", "error"]


@dataclass(frozen=True, slots=True)
class Supremum:
    """The answer to `sup`/`inf` for one expression: `value` is None where there is no bound."""

    expression: str
    value: int | None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What became of one query.

    `trace` witnesses a satisfied `E<>`/`E[]` or refutes an `A[]`/`A<>`/`-->`.  `reason` says why
    a verdict is `unknown` (which budget ran out) or `error` (what the model did wrong).
    """

    query: str
    verdict: Verdict
    states: int
    transitions: int
    seconds: float
    trace: TimedTrace | None = None
    suprema: tuple[Supremum, ...] = ()
    reason: str = ""
    stored: int = 0
    peak_bytes: int = 0
