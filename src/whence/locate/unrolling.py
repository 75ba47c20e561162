"""How far loops and calls are unrolled: as far as the failing tests go, and a little further
(Graussam, section 3.2.4).

That no run goes further is assumed in diagnosis: a change that needs more rounds is not found.  A
failing test often leaves a loop too early, so that passing tests are listened to as well, as long
as they do not go very much further.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType

from whence.locate.interpreter import COMPILED, Interpreter
from whence.locate.observations import Ran, Test
from whence.locate.outcome import Options, Outcome
from whence.model.program import Call, Loop, Program
from whence.model.program_walk import statements

__all__ = ["Unrolling", "unrolling"]

#: So many rounds further, if tests that pass need them; and how many of these are traced.
_FURTHER = 16
_TRACED = 10
#: Of a loop that did not end: how many rounds are looked at.
_ENDLESS = 8
_DEEPEST = 200
#: So many passing tests say how deep calls go.
_PROBED = 100


@dataclass(frozen=True, slots=True)
class Unrolling:
    """`rounds`: how often the bodies of loops run at most, each time that control comes to them,
    by number. `depth`: how many calls are open at most."""

    rounds: Mapping[int, int]
    depth: int


def unrolling(
    program: Program,
    entry: str,
    ran: Sequence[Ran],
    options: Options,
    *,
    slack: int = 1,
    most: int | None = None,
) -> Unrolling:
    """With `slack` more rounds than in any run, and never more than `most`."""
    loops = [
        statement
        for function in program.functions.values()
        for statement in statements(function.body)
        if isinstance(statement, Loop)
    ]
    traced = Interpreter(program, replace(options, dependences=True, coverage=False))
    failing = [each for each in ran if each.failure]
    rounds = _rounds(traced, entry, loops, failing, len(failing))
    passing = _rounds(traced, entry, loops, [each for each in ran if not each.failure], _TRACED)
    for number, needed in passing.items():
        rounds[number] = max(rounds[number], min(needed, rounds[number] + _FURTHER))
    bounds = {number: known + slack for number, known in rounds.items()}
    if most is not None:
        bounds = {number: min(known, most) for number, known in bounds.items()}
    return Unrolling(bounds, _depth(program, entry, ran, options) + slack)


def _rounds(
    traced: Interpreter, entry: str, loops: Sequence[Loop], ran: Sequence[Ran], most: int
) -> dict[int, int]:
    """The most rounds of each loop. Of runs that have to be traced, only `most`: those in which
    loops run most often."""
    seen = {loop.number: 0 for loop in loops}
    # Loops that no condition ends leave no decisions in a trace: their sum has to do.
    deciding = {loop.number for loop in loops if loop.condition is not None}
    again: list[tuple[int, Test]] = []
    for each in ran:
        covered = each.outcome.coverage
        if covered is None:
            raise ValueError("the tests were run without coverage")
        repeated = 0
        for number, total in covered.loops.items():
            if covered.statements.get(number, 0) > 1 and number in deciding:
                # A sum over all times that control came by: the run has to say more.
                repeated += total
            else:
                seen[number] = max(seen[number], _ended(total, each.outcome))
        if repeated:
            again.append((repeated, each.test))
    again.sort(key=lambda pair: -pair[0])
    for _, test in again[:most]:
        outcome = _run(traced, entry, test)
        for number, stretch in _longest(outcome, seen).items():
            seen[number] = max(seen[number], _ended(stretch, outcome))
    # A loop that tests last has gone through its body once before it is decided.
    return {loop.number: seen[loop.number] + loop.tests_last for loop in loops}


def _ended(rounds: int, outcome: Outcome) -> int:
    return min(rounds, _ENDLESS) if outcome.end == "limit" else rounds


def _run(interpreter: Interpreter, entry: str, test: Test) -> Outcome:
    return interpreter.run(entry, test.args, argv=test.argv, stdin=test.stdin, globals=test.globals)


def _longest(outcome: Outcome, loops: Mapping[int, int]) -> dict[int, int]:
    """The longest stretch of rounds of each loop. Where a loop is left in the middle, two stretches
    count as one: it may be too many, never too few."""
    running: dict[int, int] = {}
    longest: dict[int, int] = {}
    for event in outcome.events:
        if event.statement not in loops or event.decision is None:
            continue
        if event.decision:
            count = running.get(event.statement, 0) + 1
            running[event.statement] = count
            if count > longest.get(event.statement, 0):
                longest[event.statement] = count
        else:
            running[event.statement] = 0
    return longest


def _depth(program: Program, entry: str, runs: Sequence[Ran], options: Options) -> int:
    """How many calls are open at once. Where no function can call itself, all of them."""
    if not _recursive(program):
        return len(program.functions) + 1
    plain = Interpreter(program, replace(options, coverage=False))
    passing = [each for each in runs if not each.failure]
    deepest = 1
    for each in [each for each in runs if each.failure] + passing[:_PROBED]:
        if each.outcome.end != "limit":
            deepest = max(deepest, _open_calls(plain, entry, each.test))
    return min(deepest, _DEEPEST)


def _open_calls(interpreter: Interpreter, entry: str, test: Test) -> int:
    """How many calls of the program's functions are open at once: each is one of Python."""
    depth = deepest = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal depth, deepest
        if frame.f_code.co_filename == COMPILED:
            if event == "call":
                depth += 1
                deepest = max(deepest, depth)
            elif event == "return":
                depth -= 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        _run(interpreter, entry, test)
    finally:
        sys.setprofile(before)
    return deepest


def _recursive(program: Program) -> bool:
    calls: dict[str, set[str]] = {}
    for key, function in program.functions.items():
        called = calls.setdefault(key, set())
        for statement in statements(function.body):
            if isinstance(statement, Call):
                if isinstance(statement.callee, str):
                    called.add(statement.callee)
                else:
                    called |= program.functions.keys()
    finished: set[str] = set()
    while True:
        more = {key for key, called in calls.items() if called & calls.keys() <= finished}
        if more <= finished:
            return finished != calls.keys()
        finished |= more
