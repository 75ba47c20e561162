"""Models of the C library: functions of Python on the memory of the machine."""

from whence.locate.library.registry import LIBRARY, Entry

from whence.locate.library import characters, files, mathematics, memory, numbers, text  # isort: skip

__all__ = ["LIBRARY", "Entry"]

_MODULES = (characters, files, mathematics, memory, numbers, text)
