"""Systems in C that need no compiler: the interpreter of `whence locate` runs them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic

from whence.formats.c.read import COptions, read_c
from whence.formats.c_interface import c_name, header, header_name
from whence.formats.c_replay import RESET, RUN, replay_source
from whence.locate.interpreter import Interpreter
from whence.locate.outcome import Options, Outcome
from whence.model.program import Program
from whence.model.program_test import Value
from whence.model.signals import Interface
from whence.source import Diagnostic, InputError, Origin
from whence.testing.systems.base import Inputs, Sample, SystemFault

__all__ = ["InterpretedSystem", "read_system"]

#: So many steps are made before the clock is looked at.
_STRETCH = 2000


def read_system(
    interface: Interface,
    sources: Sequence[str],
    options: COptions | None = None,
    texts: Mapping[str, str] | None = None,
) -> tuple[Program, str]:
    """The sources with the replay functions (`formats.c_replay`), and the file that these are in.
    Generated files are given to the reader and not written."""
    for source in sources:
        if not Path(source).is_file():
            raise InputError(Diagnostic("there is no such file", Origin(source)))
    chosen = options or COptions()
    with tempfile.TemporaryDirectory(prefix="whence-") as folder:
        (Path(folder) / header_name(interface)).write_text(header(interface), "utf-8")
        harness = str(Path(folder) / "whence_replay.c")
        Path(harness).write_text(replay_source(interface), "utf-8")
        include = (folder, str(Path(sources[0]).parent), *chosen.include)
        seen = COptions(
            data_model=chosen.data_model,
            target=chosen.target,
            std=chosen.std,
            include=include,
            define=chosen.define,
            undefine=chosen.undefine,
            extra=chosen.extra,
            units=chosen.units,
        )
        return read_c([*sources, harness], seen, texts=texts), harness


class InterpretedSystem:
    """A simulated system. Undefined behaviour ends a test, with its place."""

    def __init__(self, interface: Interface, sources: Sequence[str], period: int = 1) -> None:
        self.interface = interface
        self.period = period
        self.held = period == 1
        self.deadline = float("inf")
        program, _ = read_system(interface, sources)
        options = Options(signed_overflow="wrap", coverage=False, steps=50_000_000)
        self._interpreter = Interpreter(program, options)
        self._outputs: dict[str, object] = {}

    def reset(self, inputs: Inputs) -> Mapping[str, object]:
        return self._called(RESET, [], inputs, fresh=True)[1]

    def run(self, milliseconds: int, inputs: Inputs) -> Sequence[Sample]:
        """All steps but the last with the inputs as they were."""
        found: list[Sample] = []
        last = milliseconds % self.period or self.period
        last = min(last, milliseconds)
        passed, before = 0, milliseconds - last
        while passed < before:
            if monotonic() > self.deadline:
                raise SystemFault("the system hangs: the test's time is over")
            most = 1 if not self.held else min(_STRETCH, (before - passed) // self.period)
            known = self._outputs
            made, outputs = self._called(RUN, [self.period, most])
            passed += made * self.period
            if not self.held or outputs != known:
                found.append((passed, outputs))
        _, outputs = self._called(RUN, [last, 1], inputs)
        found.append((milliseconds, outputs))
        return found

    def _called(
        self, entry: str, arguments: list[int], inputs: Inputs | None = None, fresh: bool = False
    ) -> tuple[int, dict[str, object]]:
        given: dict[str, Value] = {}
        if inputs is not None:
            given["whence_in"] = self._given(inputs)
        outcome = self._interpreter.run(
            entry, list(arguments), globals=given, observe=("whence_out",), fresh=fresh
        )
        if outcome.end != "exit":
            raise SystemFault(_why(outcome))
        told = outcome.observed["whence_out"]
        assert isinstance(told, dict)
        self._outputs = {
            one.name: told[c_name(self.interface, one)] for one in self.interface.outputs
        }
        made = outcome.value if isinstance(outcome.value, int) else 0
        return made, self._outputs

    def _given(self, inputs: Inputs) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for one in self.interface.inputs:
            value = inputs[one.name]
            if isinstance(value, str):
                value = one.members.index(value)
            found[c_name(self.interface, one)] = int(value)
        return found

    def close(self) -> None:
        """Nothing is open."""


def _why(outcome: Outcome) -> str:
    fault = outcome.fault
    if fault is None:
        return f"the system ended: {outcome.message or outcome.end}"
    return f"the system went wrong: {fault.message} ({fault.origin})"
