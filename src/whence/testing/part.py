"""The system's part of a model: what judges, and what can stand in for the system.

The environment's machines are left out; the inputs that they set become free, as a test sets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whence.expr.tree import Expr, Name, Symbol
from whence.expr.walk import subexpressions
from whence.source import Diagnostic, Origin, UnsupportedError
from whence.testing.model import TimedMachine, TimedModel, Write

__all__ = ["system_part", "writes_of"]


def system_part(model: TimedModel) -> TimedModel:
    """Raises UnsupportedError where the system reads what only its environment knows."""
    machines = [machine for machine in model.machines if not machine.environment]
    if not machines:
        raise UnsupportedError(
            Diagnostic(
                "all machines of the model are its environment: there is no system to be judged",
                Origin(model.file),
            )
        )
    machines = [replace(machine, number=number) for number, machine in enumerate(machines)]
    outside = {machine.name for machine in model.machines if machine.environment}
    own = {machine.control for machine in machines}
    known = {symbol for machine in machines for symbol, _ in _read(machine)}
    known |= {write.variable for machine in machines for write in writes_of(machine)}
    set_outside = {
        write.variable
        for machine in model.machines
        if machine.environment
        for write in writes_of(machine)
    }
    variables = []
    for variable in model.variables:
        if variable.role == "input":
            variables.append(replace(variable, driven=False))
        elif (
            variable.role == "output" or variable.symbol in known
        ) and variable.symbol.scope not in outside:
            variables.append(variable)
    own |= {variable.symbol for variable in variables}
    for machine in machines:
        for symbol, origin in _read(machine):
            role = model.variable_of[symbol].role if symbol in model.variable_of else ""
            if symbol not in own or (symbol in set_outside and role != "input"):
                raise UnsupportedError(
                    Diagnostic(
                        f"the system's machine `{machine.name}` reads `{symbol}`, which belongs to "
                        "its environment and is no input",
                        origin,
                        "make it an input: what the system reads has to be part of the tests",
                    )
                )
    return replace(
        model,
        machines=tuple(machines),
        variables=tuple(variables),
        elapsed=tuple(one for one in model.elapsed if one.age in own),
    )


def writes_of(machine: TimedMachine) -> Iterator[Write]:
    """All assignments that stand in a machine."""
    for location in machine.locations:
        yield from (*location.entry, *location.do, *location.exit, *location.start_action)
    for transition in machine.transitions:
        yield from transition.action


def _read(machine: TimedMachine) -> Iterator[tuple[Symbol, Origin]]:
    exprs: list[tuple[Expr, Origin]] = [(w.value, w.origin) for w in writes_of(machine)]
    exprs += [(t.guard, t.origin) for t in machine.transitions if t.guard is not None]
    for expr, origin in exprs:
        for part in subexpressions(expr):
            if isinstance(part, Name) and isinstance(part.symbol, Symbol):
                yield part.symbol, part.origin if part.origin.line else origin
