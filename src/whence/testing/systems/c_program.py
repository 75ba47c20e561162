"""Systems in C: compiled with a driver of ours in a temporary folder, and run as a process.

Compiling and running somebody's code is what a user asks for with `c:FILE`, and never done
otherwise.  Both have limits of time and memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from whence.formats.c_interface import driver, header, header_name, values_line
from whence.model.signals import Interface
from whence.source import Diagnostic, InputError, Origin, UsageError
from whence.testing.systems.base import Inputs, Sample, SystemFault, shown
from whence.testing.systems.process import Child

__all__ = ["CProgram", "build"]

_COMPILING = 60.0
_MEMORY = 1024
_SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1"}


def build(
    interface: Interface, sources: Sequence[str], folder: str, sanitize: Sequence[str] = ()
) -> str:
    """Compile with the driver into a folder; the program. Raises InputError with what the
    compiler said."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise UsageError("there is no C compiler: install one, or name it in CC")
    for source in sources:
        if not Path(source).is_file():
            raise InputError(Diagnostic("there is no such file", Origin(source)))
    target = Path(folder)
    (target / header_name(interface)).write_text(header(interface), "utf-8")
    (target / "whence_driver.c").write_text(driver(interface), "utf-8")
    program = target / "system"
    options = ["-std=c11", "-O1", "-g", "-I", folder, "-I", str(Path(sources[0]).parent)]
    if sanitize:
        options += [f"-fsanitize={','.join(sanitize)}", "-fno-sanitize-recover=all"]
    command = [
        *compiler.split(),
        *options,
        *(str(Path(one).resolve()) for one in sources),
        str(target / "whence_driver.c"),
        "-o",
        str(program),
        "-lm",
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_COMPILING, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"the C compiler did not end within {_COMPILING:.0f} s") from None
    except OSError as error:
        raise UsageError(f"the C compiler cannot be started: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "backslashreplace")
        lines = [line for line in said.splitlines() if "error" in line or "undefined" in line]
        hint = "whence run SUITE --c-interface prints the functions that are called"
        raise InputError(
            Diagnostic(
                "this does not compile: " + ("; ".join(lines[:5]) or said.strip())[:1000],
                Origin(sources[0]),
                hint,
            )
        )
    return str(program)


class CProgram:
    """A simulated system. The program is started anew for each test."""

    def __init__(
        self,
        interface: Interface,
        sources: Sequence[str],
        period: int = 1,
        sanitize: Sequence[str] = (),
        program: str | None = None,
    ) -> None:
        self.interface = interface
        self.period = period
        self.held = period == 1
        self.deadline = float("inf")
        self.sanitized = bool(sanitize)
        self._folder: str | None = None
        if program is None:
            self._folder = tempfile.mkdtemp(prefix="whence-")
            try:
                program = build(interface, sources, self._folder, sanitize)
            except BaseException:
                self.dispose()
                raise
        self.program = program
        self._child: Child | None = None

    def reset(self, inputs: Inputs) -> Mapping[str, object]:
        self.close()
        # Sanitizers reserve terabytes of addresses.
        memory = None if self.sanitized else _MEMORY
        self._child = Child((self.program,), memory=memory, environment=_SANITIZERS)
        return self._asked(f"R {self._line(inputs)}")[-1][1]

    def run(self, milliseconds: int, inputs: Inputs) -> Sequence[Sample]:
        return self._asked(f"S {milliseconds} {self.period} {self._line(inputs)}")

    def _line(self, inputs: Inputs) -> str:
        signals = self.interface.inputs
        return values_line(signals, [inputs[one.name] for one in signals])

    def _asked(self, line: str) -> list[Sample]:
        assert self._child is not None
        self._child.say(line)
        found: list[Sample] = []
        while (answer := self._child.hear(self.deadline)) != ".":
            found.append(self._sample(answer))
        if not found:
            raise SystemFault("the system said nothing of its outputs")
        return found

    def _sample(self, line: str) -> Sample:
        time, *values = line.split()
        outputs = self.interface.outputs
        try:
            numbers: list[object] = [
                float.fromhex(text) if one.kind == "real" else int(text)
                for one, text in zip(outputs, values, strict=True)
            ]
            return int(time), {
                one.name: number for one, number in zip(outputs, numbers, strict=True)
            }
        except ValueError:
            raise SystemFault(
                f"the system printed {shown(line)} to its standard output, where its answers go"
            ) from None

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def dispose(self) -> None:
        """Also what was compiled."""
        if self._folder is not None:
            with suppress(OSError):
                shutil.rmtree(self._folder)
            self._folder = None
