"""Bus maps: a YAML file that says which messages the values of inputs and outputs are.

channel: can0
tester: 7E0
ecu: 7E8
requests:
  signal: in_Request
  idle: none
  messages:
    get: 22 01 01
    set: 2E 01 01 <in_Value>
answers:
  signal: out_Answer
  idle: silent
  messages:
    done: {set: 6E 01 01}            # the answer `done` to the request `set`
    locked: 7F <service> 33          # to any request
comments:
  in_Power: {"false": power off}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from whence.expr.scope import Problem, Problems, suggestion
from whence.formats.charts.nodes import Mapping, Node, Scalar, decode, read_nodes
from whence.model.bus_map import SERVICE, BusMap, Field, Payload, Spoken
from whence.model.signals import Interface
from whence.source import Origin

__all__ = ["check_bus_map", "read_bus_map"]

_TOP: Final = ("channel", "tester", "ecu", "requests", "answers", "comments")
_SPOKEN: Final = ("signal", "idle", "messages")
_IDENT: Final = re.compile(r"(0[xX])?([0-9A-Fa-f]{1,8})")
_FIELD: Final = re.compile(r"<\s*([A-Za-z_][\w.]*)\s*(?::\s*([1-8])\s*)?>", re.ASCII)
_BYTE: Final = re.compile(r"[0-9A-Fa-f]{2}", re.ASCII)
_LONGEST: Final = 4095


def read_bus_map(data: bytes, file: str) -> BusMap:
    """Raises one InputError with all that is wrong."""
    problems = Problems()
    root = read_nodes(decode(data, file), file, problems)
    fields: dict[str, Node] = {}
    with problems.collecting():
        fields = dict(_pairs(root, _TOP, Origin(file)))
        for key in _TOP[:5]:
            if key not in fields and key != "channel":
                raise Problem(f"`{key}:` is missing", Origin(file, 1, 1))
    problems.raise_any()
    tester = ecu = 0
    with problems.collecting():
        tester = _ident(fields["tester"])
    with problems.collecting():
        ecu = _ident(fields["ecu"])
    requests = answers = None
    with problems.collecting("requests"):
        requests = _spoken(fields["requests"], problems, nested=False)
    with problems.collecting("answers"):
        answers = _spoken(fields["answers"], problems, nested=True)
    comments: dict[str, dict[str, str]] = {}
    with problems.collecting("comments"):
        for name, said in _entries(fields.get("comments"), "inputs"):
            comments[name.value] = {
                value.value: " ".join(_scalar(text).value.split())
                for value, text in _entries(said, "values with their comments")
            }
    channel = "can0"
    with problems.collecting():
        if "channel" in fields:
            channel = _scalar(fields["channel"]).value.strip()
            if not re.fullmatch(r"[A-Za-z0-9_.-]{1,32}", channel):
                raise Problem("this is no name of a channel", fields["channel"].origin)
    problems.raise_any()
    assert requests is not None
    assert answers is not None
    return BusMap(
        channel=channel,
        tester=tester,
        ecu=ecu,
        requests=requests,
        answers=answers,
        extended=max(tester, ecu) > 0x7FF,
        comments=comments,
        file=file,
    )


def _pairs(node: Node | None, known: tuple[str, ...], origin: Origin) -> Iterator[tuple[str, Node]]:
    if not isinstance(node, Mapping):
        raise Problem(f"expected {', '.join(known)}", origin if node is None else node.origin)
    for key, value in node.pairs:
        if key.value not in known:
            hint = suggestion(key.value, list(known)) or f"known are {', '.join(known)}"
            raise Problem(f"unknown key `{key.value[:60]}`", key.origin, hint)
        yield key.value, value


def _entries(node: Node | None, what: str) -> Iterable[tuple[Scalar, Node]]:
    if node is None:
        return ()
    if not isinstance(node, Mapping):
        raise Problem(f"expected {what}", node.origin)
    return node.pairs


def _scalar(node: Node) -> Scalar:
    if not isinstance(node, Scalar):
        raise Problem("expected a text or a number", node.origin)
    return node


def _ident(node: Node) -> int:
    found = _IDENT.fullmatch(_scalar(node).value.strip())
    if found is None or int(found[2], 16) > 0x1FFFFFFF:
        raise Problem("expected an identifier in hexadecimal, such as 7E0", node.origin)
    return int(found[2], 16)


def _spoken(node: Node, problems: Problems, *, nested: bool) -> Spoken:
    fields = dict(_pairs(node, _SPOKEN, node.origin))
    for key in _SPOKEN:
        if key not in fields:
            raise Problem(f"`{key}:` is missing", node.origin)
    messages: dict[tuple[str, str], Payload] = {}
    for value, said in _entries(fields["messages"], "values with their messages"):
        with problems.collecting(f"message {value.value[:60]}"):
            if nested and isinstance(said, Mapping):
                for request, text in said.pairs:
                    messages[value.value, request.value] = _payload(_scalar(text))
            else:
                messages[value.value, ""] = _payload(_scalar(said))
    return Spoken(
        signal=_scalar(fields["signal"]).value,
        idle=_scalar(fields["idle"]).value,
        messages=messages,
        origin=node.origin,
    )


def _payload(node: Scalar) -> Payload:
    found: list[int | Field] = []
    text, at = node.value.strip(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = _BYTE.match(text, at)
        if match is not None:
            found.append(int(match[0], 16))
        else:
            match = _FIELD.match(text, at)
            if match is None:
                raise Problem(
                    "expected bytes in hexadecimal, or <NAME> for a value",
                    node.origin,
                    "such as 2E 01 01 <in_Value:2>",
                )
            found.append(Field(match[1], int(match[2] or 1)))
        at = match.end()
    size = sum(one.bytes if isinstance(one, Field) else 1 for one in found)
    if not 1 <= size <= _LONGEST:
        raise Problem(f"a message has 1 to {_LONGEST} bytes", node.origin)
    return tuple(found)


def check_bus_map(map_: BusMap, interface: Interface) -> None:
    """Raises one InputError if the map and the system do not fit."""
    problems = Problems()
    inputs = {one.name: one for one in interface.inputs}
    outputs = {one.name: one for one in interface.outputs}
    for spoken, own, what in (
        (map_.requests, inputs, "input"),
        (map_.answers, outputs, "output"),
    ):
        signal = own.get(spoken.signal)
        if signal is None:
            hint = suggestion(spoken.signal, sorted(own))
            problems.add(
                Problem(f"the model has no {what} `{spoken.signal[:60]}`", spoken.origin, hint)
            )
            continue
        asked = inputs.get(map_.requests.signal)
        requests = () if asked is None else asked.members
        for value, request in (*spoken.messages, (spoken.idle, "")):
            _check_value(problems, value, signal.members, spoken, signal.name)
            if request:
                _check_value(problems, request, requests, spoken, map_.requests.signal)
        known = inputs if spoken is map_.requests else {**inputs, **outputs}
        for payload in spoken.messages.values():
            for part in payload:
                if not isinstance(part, Field):
                    continue
                if part.name == SERVICE and spoken is map_.answers:
                    continue
                found = known.get(part.name)
                if found is None or found.kind == "real":
                    problems.add(
                        Problem(
                            f"`<{part.name[:60]}>` is no value that a message can have here",
                            spoken.origin,
                            f"known are {', '.join(sorted(known))}",
                        )
                    )
    for name in map_.comments:
        if name not in inputs:
            hint = suggestion(name, sorted(inputs))
            problems.add(Problem(f"the model has no input `{name[:60]}`", Origin(map_.file), hint))
    problems.raise_any()


def _check_value(
    problems: Problems, value: str, members: tuple[str, ...], spoken: Spoken, name: str
) -> None:
    if members and value not in members:
        hint = suggestion(value, list(members)) or f"it has {', '.join(members)}"
        problems.add(Problem(f"`{name}` has no value `{value[:60]}`", spoken.origin, hint))
