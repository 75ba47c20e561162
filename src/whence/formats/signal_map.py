"""Signal maps: a YAML file that says how inputs and outputs are carried and how exact they are.

latency: 50          # how many milliseconds later an output may come
jitter: 2            # how late reactions may be by themselves
dbc: lamps.dbc
signals:
  in_Voltage: {message: Power, signal: Voltage, factor: 1/10}
  out_LampsLeft: {message: Lamps, signal: Left, latency: 30}
  speed: {error: 0.5}
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from whence.expr.scope import Problem, Problems, suggestion
from whence.formats.charts.nodes import Mapping, Node, Scalar, decode, read_nodes
from whence.model.signals import SignalEntry, SignalMap
from whence.source import Diagnostic, InputError, Origin

__all__ = ["check_names", "read_signal_map"]

_LONGEST = 600_000
_TOP = ("latency", "jitter", "dbc", "signals")
_OF_SIGNAL = ("latency", "error", "message", "signal", "factor", "offset")


def read_signal_map(data: bytes, file: str) -> SignalMap:
    """Raises one InputError with all that is wrong."""
    problems = Problems()
    root = read_nodes(decode(data, file), file, problems)
    entries: list[SignalEntry] = []
    found: dict[str, Scalar] = {}
    signals: Node | None = None
    with problems.collecting():
        for key, value in _pairs(root, _TOP):
            if key.value == "signals":
                signals = value
            else:
                found[key.value] = _scalar(value)
    if signals is not None:
        with problems.collecting():
            if not isinstance(signals, Mapping):
                raise Problem("expected signals by name", signals.origin)
            for name, said in signals.pairs:
                with problems.collecting(f"signal {name.value}"):
                    entries.append(_entry(name, said))
    latency = jitter = None
    with problems.collecting():
        latency = _milliseconds(found.get("latency"))
        jitter = _milliseconds(found.get("jitter"))
    problems.raise_any()
    dbc = found.get("dbc")
    return SignalMap(
        entries=tuple(entries),
        latency=latency,
        jitter=jitter,
        dbc="" if dbc is None else dbc.value,
        file=file,
    )


def _pairs(node: Node | None, known: tuple[str, ...]) -> Iterator[tuple[Scalar, Node]]:
    if node is None:
        return
    if not isinstance(node, Mapping):
        raise Problem(f"expected {', '.join(known)}", node.origin)
    for key, value in node.pairs:
        if key.value not in known:
            hint = suggestion(key.value, list(known)) or f"known are {', '.join(known)}"
            raise Problem(f"unknown key `{key.value}`", key.origin, hint)
        yield key, value


def _scalar(node: Node) -> Scalar:
    if not isinstance(node, Scalar):
        raise Problem("expected a text or a number", node.origin)
    return node


def _milliseconds(node: Scalar | None) -> int | None:
    if node is None:
        return None
    text = node.value.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= _LONGEST):
        raise Problem(f"expected milliseconds, from 0 to {_LONGEST}", node.origin)
    return int(text)


def _number(node: Scalar | None, default: Fraction | None) -> Fraction | None:
    if node is None:
        return default
    text = node.value.strip()
    try:
        if len(text) > 60 or "e" in text.lower():
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Problem("expected a number such as 0.1 or 1/3", node.origin) from None


def _entry(name: Scalar, said: Node) -> SignalEntry:
    found = {key.value: _scalar(value) for key, value in _pairs(said, _OF_SIGNAL)}
    error = _number(found.get("error"), None)
    if error is not None and error < 0:
        raise Problem("an error is not negative", found["error"].origin)
    factor = _number(found.get("factor"), Fraction(1))
    offset = _number(found.get("offset"), Fraction(0))
    assert factor is not None
    assert offset is not None
    if factor == 0:
        raise Problem("a factor is not 0", found["factor"].origin)
    if ("message" in found) != ("signal" in found):
        raise Problem("`message` and `signal` go together", name.origin)
    return SignalEntry(
        name=name.value,
        latency=_milliseconds(found.get("latency")),
        error=error,
        message=found["message"].value if "message" in found else "",
        signal=found["signal"].value if "signal" in found else "",
        factor=factor,
        offset=offset,
        origin=name.origin,
    )


def check_names(signals: SignalMap, known: list[str]) -> None:
    """Raises InputError where a name is none of the model's inputs and outputs."""
    wrong = [
        Diagnostic(
            f"`{one.name}` is no input or output of the model",
            one.origin if one.origin.line else Origin(signals.file),
            suggestion(one.name, known) or "",
        )
        for one in signals.entries
        if one.name not in known
    ]
    if wrong:
        raise InputError(wrong)
