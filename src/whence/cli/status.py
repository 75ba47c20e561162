"""The exit statuses of every command."""

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.store.runs import RunVerdict


class ExitStatus(IntEnum):
    """What the shell learns from a command. Scripts depend on the numbers."""

    NOTHING_WRONG = 0
    FOUND = 1
    """Something was found: a violated property, a fault, a repair."""
    BAD_INPUT = 2
    """The input or the usage is bad."""
    GAVE_UP = 3
    """The budget ran out; what was found by then is printed and said to be partial."""
    INTERNAL = 70
    """A defect of whence itself (EX_SOFTWARE)."""
    INTERRUPTED = 130
    """As shells report a process ended by SIGINT."""
    BROKEN_PIPE = 141
    """As shells report a process ended by SIGPIPE: whoever read the output stopped reading."""

    @property
    def outcome(self) -> "RunVerdict":
        """As a store of results has it."""
        match self:
            case ExitStatus.NOTHING_WRONG:
                return "nothing"
            case ExitStatus.FOUND:
                return "found"
            case ExitStatus.BAD_INPUT:
                return "bad"
            case ExitStatus.GAVE_UP | ExitStatus.INTERRUPTED:
                return "gave up"
            case _:
                return "defect"
