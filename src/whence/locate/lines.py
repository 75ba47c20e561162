"""What tests execute, by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whence.locate.localize import Spectrum, spectrum
from whence.locate.observations import Ran
from whence.model.program import Block, Declare, Leave, Next, Program
from whence.model.program_walk import statements

__all__ = ["line_spectra"]


def line_spectra(program: Program, ran: Sequence[Ran]) -> Mapping[tuple[str, int], Spectrum]:
    """For each line on which a statement begins, how many tests execute one of these."""
    on_line: dict[tuple[str, int], set[int]] = {}
    for function in program.functions.values():
        for statement in statements(function.body):
            origin = statement.origin
            # What only gives others their place is executed with them.
            if origin.line and not isinstance(statement, (Declare, Block, Leave, Next)):
                on_line.setdefault((origin.file, origin.line), set()).add(statement.number)
    failing = [_executed(each) for each in ran if each.failure]
    passing = [_executed(each) for each in ran if not each.failure]
    return {
        place: spectrum(
            sum(bool(numbers & run) for run in failing),
            sum(bool(numbers & run) for run in passing),
            len(failing),
        )
        for place, numbers in sorted(on_line.items())
    }


def _executed(ran: Ran) -> frozenset[int]:
    covered = ran.outcome.coverage
    return frozenset(covered.statements) if covered is not None else frozenset()
