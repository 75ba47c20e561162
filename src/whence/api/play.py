"""Suites played step by step by other runners: pytest and Robot Framework."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whence.api.runs import RunOptions, open_suite
from whence.source import UsageError

if TYPE_CHECKING:
    from types import TracebackType

    from whence.model.suite import TestCase
    from whence.testing.execute import Executor
    from whence.testing.session import Session

__all__ = ["Player", "RobotPlayer"]


class Player:
    """`begin` a test of the suite, `at` a date set inputs (first at 0), and `end`.  These raise
    AssertionError as soon as the system does what it should not."""

    def __init__(
        self,
        folder: Path | str,
        system: str = "model",
        model: Path | str | None = None,
        options: RunOptions | None = None,
    ) -> None:
        self._opened = open_suite(folder, model or None)
        self._executor: Executor = self._opened.executor(system, options or RunOptions())
        self._session: Session | None = None

    def begin(self, test: str) -> None:
        """Begin the test of this name: what it expects is judged by what the suite admits."""
        case: TestCase = self._opened.chosen((test,))[0]
        self._executor.release()
        self._session = self._executor.session(case)

    def at(self, time: int, inputs: dict[str, str]) -> None:
        """At so many milliseconds from the start set these inputs, as texts."""
        session = self._playing()
        if time == 0:
            session.start(inputs)
        else:
            session.at(time, inputs)
        self._look()

    def end(self, time: int) -> None:
        """Until then nothing may go wrong."""
        self._playing().end(time)
        self._look()
        self._session = None

    def _playing(self) -> Session:
        if self._session is None:
            raise UsageError("no test has begun: call `begin` first")
        return self._session

    def _look(self) -> None:
        session = self._playing()
        if session.verdict not in (None, "pass"):
            told = f"{session.verdict}: {session.reason}"
            self._executor.release()
            raise AssertionError(told)

    def close(self) -> None:
        """Nothing more will be played."""
        self._executor.close()

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class RobotPlayer:
    """The same as keywords of Robot Framework: `Begin`, `At` with inputs as `name=value`, and
    `End`."""

    ROBOT_LIBRARY_SCOPE = "SUITE"

    def __init__(self, folder: str, system: str = "model", model: str = "") -> None:
        self._player = Player(folder, system, model)
        self.ROBOT_LIBRARY_LISTENER = self

    ROBOT_LISTENER_API_VERSION = 3

    def begin(self, test: str) -> None:
        """Begin the test of this name."""
        self._player.begin(test)

    def at(self, time: str, *inputs: str) -> None:
        """At so many milliseconds from the start set inputs: ``At    340    speed=3``."""
        pairs = [one.partition("=") for one in inputs]
        self._player.at(int(time), {name: value for name, _, value in pairs})

    def end(self, time: str) -> None:
        """Until then nothing may go wrong."""
        self._player.end(int(time))

    def close(self) -> None:
        """Called by the runner when the suite has ended."""
        self._player.close()
