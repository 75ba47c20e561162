"""When is an observation admitted? From the definition, date by date.

`expected[t]` and `seen[t]` are values at the dates 0, 1, …  There has to be a date τ(t) for each t,
never going back, with t - latency <= τ(t) <= t and a value at τ(t) that is the one seen at t.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["admitted"]


def admitted(expected: Sequence[int], seen: Sequence[int], latency: int, error: int = 0) -> bool:
    possible = {0}
    for t, value in enumerate(seen):
        possible = {
            later
            for before in possible
            for later in range(max(before, t - latency, 0), t + 1)
            if abs(expected[later] - value) <= error
        }
        if not possible:
            return False
    return True
