"""Watching long work, and ending it early: a line on the terminal, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whence.explore.search import Progress

__all__ = ["Interruption", "Watch", "noticing_interruption", "watching"]


@dataclass
class Interruption:
    """Whether the user wants to stop. The search ends by itself then, with what it has."""

    happened: bool = False


@contextmanager
def noticing_interruption() -> Iterator[Interruption]:
    """Notes Ctrl-C besides raising KeyboardInterrupt: what catches it need not tell us."""
    interruption = Interruption()

    def note(_number: int, _frame: FrameType | None) -> None:
        interruption.happened = True
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield interruption  # only the main thread may ask for signals
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)


class Watch:
    """Shows how far the search for one query has come; does nothing without a terminal."""

    def __init__(self, show: Callable[[str], None] | None) -> None:
        self._show = show
        self._what = ""

    def begin(self, number: int, count: int, text: str) -> None:
        of = f"query {number} of {count}" if count > 1 else "query"
        self._what = f"{of}: {text[:50]}"
        self._say("preparing the search (the first run compiles it, which takes a while)")

    @property
    def progress(self) -> Callable[[Progress], None] | None:
        return None if self._show is None else self._update

    @property
    def stage(self) -> Callable[[str], None] | None:
        """For work in stages, each told in a line."""
        return None if self._show is None else self._say

    def _update(self, progress: Progress) -> None:
        states, waiting = (
            f"{count:,}".replace(",", " ") for count in (progress.states, progress.waiting)
        )
        self._say(f"{states} states, {waiting} waiting, {progress.seconds:.0f} s")

    def _say(self, text: str) -> None:
        if self._show is not None:
            self._show(f"{self._what}  {text}")


@contextmanager
def watching(wanted: bool) -> Iterator[Watch]:
    """A line on standard error that is gone in the end; none if nobody would see it."""
    if not wanted or not sys.stderr.isatty():
        yield Watch(None)
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn
    from rich.text import Text

    class Plain(TextColumn):
        """Queries are not markup."""

        def render(self, task: object) -> Text:
            return Text(getattr(task, "description", ""), overflow="ellipsis", no_wrap=True)

    console = Console(stderr=True)
    with Progress(SpinnerColumn(), Plain(""), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield Watch(lambda text: bar.update(task, description=text))
