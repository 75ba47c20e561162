"""What arithmetic in guards and updates gives, wherever it is worked out."""

from __future__ import annotations

from typing import Final

from whence.model.prd import ArithmeticOperator

__all__ = ["calculated"]

#: Longer numbers than that come from no bus, and would only cost time.
_LARGEST: Final = 1 << 256
_LONGEST_SHIFT: Final = 256


def calculated(operator: ArithmeticOperator, left: int, right: int) -> int | None:
    """None: there is no such number, or none that we go on with."""
    found = _unlimited(operator, left, right)
    return None if found is None or abs(found) > _LARGEST else found


def _unlimited(operator: ArithmeticOperator, left: int, right: int) -> int | None:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // right if right else None
        case "%":
            return left % right if right else None
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "<<":
            return left << right if 0 <= right <= _LONGEST_SHIFT else None
        case ">>":
            return left >> right if right >= 0 else None
