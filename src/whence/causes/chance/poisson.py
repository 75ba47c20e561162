"""The tails of a Poisson distribution, to full relative precision.

As Fox and Glynn do (1988), the probabilities are built from the largest one outwards, by ratios,
and scaled in the end: nothing overflows, nothing is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence.causes.chance.chain import Floats

__all__ = ["Tails", "tails"]


@dataclass(frozen=True, slots=True, eq=False)
class Tails:
    """`P(N >= k)`: 1 for k <= `start` (but for a part of 1e-18), then `values[k - start - 1]`,
    then next to nothing."""

    start: int
    values: Floats

    @property
    def end(self) -> int:
        """The last k with a tail that is kept."""
        return self.start + len(self.values)

    def __getitem__(self, k: int) -> float:
        if k <= self.start:
            return 1.0
        return float(self.values[k - self.start - 1]) if k <= self.end else 0.0

    def geometric(self, k: int, ratio: float) -> float:
        """The sum of `P(N >= k + j) * ratio**j` over j = 1, 2, …"""
        total = 0.0
        ones = max(0, self.start - k)
        if ones:
            short = 1.0 - ratio
            if short == 0:
                total = float(ones)
            else:
                with np.errstate(over="ignore"):
                    total = ratio * float(-np.expm1(ones * np.log1p(-short))) / short
        at = max(0, k - self.start)
        rest = self.values[at:]
        with np.errstate(over="ignore", under="ignore"):
            powers = np.exp(np.log(ratio) * np.arange(ones + 1, ones + 1 + len(rest)))
            return total + float(powers @ rest)


def tails(mean: float) -> Tails:
    """Of the Poisson distribution with this mean, down to 1e-290 of the largest probability."""
    mode = int(mean)
    # exp(-x²/2(mean + x/3)) bounds the upper tail at distance x, exp(-x²/2mean) the lower one.
    reach = 450 + int(np.sqrt(2 * 670 * mean))
    upper = mode + reach
    lower = max(0, mode - int(np.sqrt(2 * 45 * mean)) - 2)
    with np.errstate(under="ignore"):
        up = np.cumprod(mean / np.arange(mode + 1, upper + 1))
        down = np.cumprod(np.arange(mode, lower, -1) / mean) if mode > lower else np.zeros(0)
        weights = np.concatenate([down[::-1], [1.0], up])
        # From the small end, so that the sum of each tail is right to its last places.
        summed = np.cumsum(weights[::-1])[::-1]
        if lower == 0:
            # Scaled by the known first probability where it is not tiny: it has no rounding.
            scale = np.exp(-mean) / weights[0] if mean < 600 else 1 / summed[0]
        else:
            scale = 1 / summed[0]
        found = summed * scale
    found = found[found > 0]
    return Tails(start=lower, values=found[1:])
