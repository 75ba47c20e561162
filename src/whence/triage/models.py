"""Models of requirements from files: YAML of an ECU or of automata, or an ODX database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from whence.formats.prd.odx import read_odx
from whence.formats.prd.yaml import read_prd_file
from whence.model.ecu import Ecu, PrdSystem, Requirement, Timing
from whence.model.prd import PrdAutomaton
from whence.source import Diagnostic, InputError, Origin, UsageError
from whence.triage.checks import check_automaton
from whence.triage.ecu_automaton import compile_ecu
from whence.triage.ecu_meaning import parameters_of
from whence.triage.product import product

__all__ = ["PrdModel", "load_prd", "model_of", "parse_parameters"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrdModel:
    """An automaton and what it was made of. `requirements`: texts by number. `parameters`: which
    variant it is. `notes`: what the source says and the automaton does not."""

    automaton: PrdAutomaton
    file: str = ""
    ecu: Ecu | None = None
    parts: tuple[PrdAutomaton, ...] = ()
    requirements: Mapping[str, str]
    parameters: Mapping[str, str | int]
    notes: tuple[Diagnostic, ...] = ()

    def checks(self) -> tuple[Diagnostic, ...]:
        """What is odd about it (see :func:`whence.triage.checks.check_automaton`). Of a product,
        the parts are looked at: they are what people wrote."""
        return tuple(
            dict.fromkeys(
                diagnostic
                for part in self.parts or (self.automaton,)
                for diagnostic in check_automaton(part)
            )
        )


def load_prd(
    path: str,
    parameters: Mapping[str, str | int] | None = None,
    timing: Timing | None = None,
) -> PrdModel:
    """The model in a file, for the variant that the parameters choose. An ODX database has the
    parameter `variant`; `timing` takes the place of its times. Raises InputError."""
    chosen = dict(parameters or {})
    if _is_archive(path):
        found = read_odx(path, str(chosen.get("variant", "")), timing)
        return replace(model_of(found.ecu, chosen), file=path, notes=found.notes)
    source = read_prd_file(path)
    if timing is not None and isinstance(source, Ecu):
        source = replace(source, timing=timing)
    return replace(model_of(source, chosen), file=path)


def model_of(
    source: Ecu | PrdSystem, parameters: Mapping[str, str | int] | None = None
) -> PrdModel:
    """The model of a description, for the variant that the parameters choose."""
    if isinstance(source, Ecu):
        return PrdModel(
            automaton=_checked(compile_ecu(source, parameters)),
            ecu=source,
            requirements=_texts(source.requirements),
            parameters=parameters_of(source, parameters or {}),
        )
    if parameters:
        names = ", ".join(parameters)
        raise InputError(
            Diagnostic(f"a plain automaton has no parameters ({names})", source.origin)
        )
    for part in source.parts:
        _checked(part)
    whole = product(*source.parts)
    return PrdModel(
        automaton=replace(whole, name=source.name or whole.name),
        parts=source.parts if len(source.parts) > 1 else (),
        requirements=_texts(source.requirements),
        parameters={},
    )


def _checked(automaton: PrdAutomaton) -> PrdAutomaton:
    """Raises InputError if it has errors."""
    errors = check_automaton(automaton, thorough=False)
    if errors:
        raise InputError(errors)
    return automaton


def _texts(requirements: tuple[Requirement, ...]) -> dict[str, str]:
    return {requirement.ident: requirement.text for requirement in requirements}


def _is_archive(path: str) -> bool:
    """PDX files are ZIP archives."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(2) == b"PK"
    except OSError as error:
        raise InputError(
            Diagnostic(f"cannot be read: {error.strerror or error}", Origin(path))
        ) from None


def parse_parameters(texts: Iterable[str]) -> dict[str, str | int]:
    """`NAME=VALUE` as people write it on a command line. Raises UsageError."""
    found: dict[str, str | int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(Diagnostic(f"`{text}` is not of the form NAME=VALUE"))
        if name.strip() in found:
            raise UsageError(
                Diagnostic(
                    f"`{name.strip()}` is given twice: one variant at a time",
                    hint="triage the logs of each variant in a run of its own",
                )
            )
        value = value.strip()
        number = value.isascii() and value.isdigit() and len(value) < 10
        found[name.strip()] = int(value) if number else value
    return found
