"""Which tests of a program fail: that is found by running them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Outcome
from whence.model.program_test import Expected, Test, Value
from whence.source import Diagnostic, InputError, WhenceError

__all__ = ["Expected", "Ran", "Test", "contradictions", "expect", "run_tests"]


@dataclass(frozen=True, slots=True)
class Ran:
    """A test, what it came to, and why it failed (empty: it passed)."""

    test: Test
    outcome: Outcome
    failure: str


def _run(interpreter: Interpreter, entry: str, test: Test) -> Outcome:
    return interpreter.run(
        entry,
        test.args,
        argv=test.argv,
        stdin=test.stdin,
        globals=test.globals,
        observe=tuple(test.expected.globals),
    )


def run_tests(
    interpreter: Interpreter,
    entry: str,
    tests: Sequence[Test],
    told: Callable[[int], None] | None = None,
) -> tuple[Ran, ...]:
    """Runs all of them. `told` hears how many have run."""
    ran = []
    for number, test in enumerate(tests, 1):
        try:
            outcome = _run(interpreter, entry, test)
        except WhenceError as error:
            # What the test gives does not fit.
            raise InputError(
                replace(each, message=f"test {test.name}: {each.message}", origin=test.origin)
                for each in error.diagnostics
            ) from None
        ran.append(Ran(test, outcome, failure(test, outcome)))
        if told is not None:
            told(number)
    return tuple(ran)


def failure(test: Test, outcome: Outcome) -> str:
    """Why the test fails; empty if it does not."""
    expected = test.expected
    if outcome.end != "exit":
        place = f" ({outcome.origin})" if outcome.origin.line else ""
        return f"{outcome.message}{place}"
    if expected.returned is not None and outcome.value != expected.returned[0]:
        return f"returned {_shown(outcome.value)}, not {_shown(expected.returned[0])}"
    for name, value in expected.globals.items():
        if outcome.observed[name] != value:
            return f"`{name}` is {_shown(outcome.observed[name])}, not {_shown(value)}"
    if expected.stdout is not None and outcome.stdout != expected.stdout:
        return f"printed {_text(outcome.stdout)}, not {_text(expected.stdout)}"
    if expected.exit_code is not None and outcome.exit_code != expected.exit_code:
        return f"exit status {outcome.exit_code}, not {expected.exit_code}"
    return ""


def _shown(value: Value) -> str:
    return "nothing" if value is None else str(value)


def _text(data: bytes) -> str:
    shown = repr(data[:40].decode("utf-8", "replace"))
    return f"{shown}..." if len(data) > 40 else shown


def expect(
    golden: Interpreter, entry: str, tests: Sequence[Test]
) -> tuple[tuple[Test, ...], tuple[Diagnostic, ...]]:
    """The tests, with what a correct program comes to as what they ask for. Tests that it does not
    end properly for are left out, and named."""
    known, notes = [], []
    for test in tests:
        outcome = _run(golden, entry, test)
        if outcome.end != "exit":
            place = f" ({outcome.origin})" if outcome.origin.line else ""
            notes.append(
                Diagnostic(
                    f"test {test.name} is left out: of the golden program, {outcome.message}"
                    f"{place}",
                    test.origin,
                    severity="warning",
                )
            )
            continue
        expected = Expected(
            returned=None if outcome.value is None or entry == "main" else (outcome.value,),
            globals=outcome.observed,
            stdout=outcome.stdout,
            exit_code=outcome.exit_code,
        )
        known.append(replace(test, expected=expected))
    return tuple(known), tuple(notes)


def contradictions(tests: Sequence[Test]) -> tuple[Diagnostic, ...]:
    """Tests with the same input that ask for different things."""
    seen: dict[str, Test] = {}
    found = []
    for test in tests:
        given = repr((test.args, sorted(test.globals.items()), test.argv, test.stdin))
        other = seen.setdefault(given, test)
        if other is not test and _disagree(other.expected, test.expected):
            found.append(
                Diagnostic(
                    f"tests {other.name} and {test.name} have the same input and ask for "
                    "different results",
                    test.origin,
                    hint="no change of the program can make both pass",
                )
            )
    return tuple(found)


def _disagree(one: Expected, other: Expected) -> bool:
    return (
        _differ(one.returned, other.returned)
        or _differ(one.stdout, other.stdout)
        or _differ(one.exit_code, other.exit_code)
        or any(
            name in other.globals and other.globals[name] != value
            for name, value in one.globals.items()
        )
    )


def _differ(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other
