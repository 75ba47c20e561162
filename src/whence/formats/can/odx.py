"""Names and parameters of an ECU's messages from its ODX database (PDX), read by odxtools.

A message of a pair is looked up in the layers (ECU variants) with the same CAN identifiers; if no
layer has those of any pair, in all. The first that decodes it without a contradiction is taken.
"""

from __future__ import annotations

import importlib.util
import io
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from defusedxml import DefusedXmlException
from defusedxml import ElementTree as SafeElementTree

from whence.formats.can.uds import Decoded
from whence.model.events import Address, AddressPair, Field
from whence.source import Diagnostic, InputError, Origin

__all__ = ["Database", "read_pdx"]

#: Unpacked, all files together.
_LARGEST: Final = 1 << 28
#: The kinds of layers, those that say most about an ECU first.
_KINDS: Final = ("EcuVariant", "BaseVariant")


class Database:
    """The ECUs of a PDX file."""

    def __init__(self, file: str, database: Any) -> None:
        self.file = file
        #: The parts of the database only refer to each other weakly: this keeps them.
        self.whole = database
        layers = [
            layer
            for kind in _KINDS
            for layer in database.diag_layers
            if type(layer).__name__ == kind
        ]
        self.layers = [_Layer(layer) for layer in layers]
        #: The address pairs that the file names, each once.
        self.pairs = tuple(
            dict.fromkeys(layer.pair for layer in self.layers if layer.pair is not None)
        )

    def names(self, pairs: Iterable[AddressPair]) -> _Names:
        """Looks messages of these pairs up."""
        return _Names(self.layers, {*pairs} & {*self.pairs})

    def describes(self, pairs: Iterable[AddressPair]) -> bool:
        return bool({*pairs} & {*self.pairs})


class _Names:
    def __init__(self, layers: list[_Layer], known: set[AddressPair]) -> None:
        self.layers = layers
        self.known = known

    def __call__(self, pair: AddressPair, payload: bytes, request: bytes | None) -> Decoded | None:
        for layer in self.layers:
            if self.known and layer.pair != pair:
                continue
            found = layer.decoded(payload, request)
            if found is not None:
                return found
        return None


class _Layer:
    def __init__(self, layer: Any) -> None:
        receive, send = (_ident(layer, name) for name in ("get_can_receive_id", "get_can_send_id"))
        self.pair = None if receive is None or send is None else AddressPair(receive, send)
        self.services = [
            service for service in layer.services if getattr(service, "request", None) is not None
        ]

    def decoded(self, payload: bytes, request: bytes | None) -> Decoded | None:
        if request is None:
            for service in self._services(payload):
                values = _values(service.request, payload)
                if values is not None:
                    return Decoded(service.short_name, _fields(values))
            return None
        for service in self._services(request) if request else ():
            for response in (*service.positive_responses, *service.negative_responses):
                values = _values(response, payload)
                if values is not None:
                    return Decoded(service.short_name, _fields(values))
        return None

    def _services(self, request: bytes) -> list[Any]:
        """Those whose requests start like this, the most specific first."""
        fitting = []
        for service in self.services:
            prefix = bytes(service.request.coded_const_prefix())
            if prefix and request.startswith(prefix):
                fitting.append((len(prefix), service))
        return [service for _, service in sorted(fitting, key=lambda found: -found[0])]


def _ident(layer: Any, name: str) -> Address | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ident = getattr(layer, name)()
    except Exception:  # odxtools raises what it likes where a parameter is missing
        return None
    if not isinstance(ident, int) or not 0 <= ident <= 0x1FFFFFFF:
        return None
    return Address(ident, ident > 0x7FF)


def _values(coding: Any, payload: bytes) -> Mapping[str, Any] | None:
    """The parameters, or None if the message contradicts the database."""
    try:
        with warnings.catch_warnings():
            # odxtools only warns where a constant is another one.
            warnings.simplefilter("error")
            values: Mapping[str, Any] = coding.decode(payload)
    except (Exception, RecursionError):
        return None
    return values


def _fields(values: Mapping[str, Any]) -> tuple[Field, ...]:
    return tuple(_flattened("", values))


def _flattened(name: str, value: Any) -> Iterator[Field]:
    """Structures have dotted names, elements of lists have their number in brackets."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flattened(f"{name}.{key}" if name else str(key), part)
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _flattened(f"{name}[{number}]", part)
    elif isinstance(value, bool | int):
        yield Field(name, int(value))
    elif isinstance(value, bytes | bytearray):
        yield Field(name, value.hex().upper())
    else:
        text = getattr(value, "short_name", None)
        yield Field(name, str(value if text is None else text))


def read_pdx(path: str) -> Database:
    origin = Origin(path)
    if importlib.util.find_spec("odxtools") is None:
        raise InputError(
            Diagnostic("ODX databases need another library", origin, "pip install 'whence[odx]'")
        )
    data = _checked(path, origin)
    from odxtools.database import Database as OdxDatabase

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            database = OdxDatabase()
            database.add_pdx_file(io.BytesIO(data))
            database.refresh()
            return Database(path, database)
    except (Exception, RecursionError) as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(Diagnostic(f"not a PDX database: {why}", origin)) from None


def _checked(path: str, origin: Origin) -> bytes:
    """The file, unless it would do harm: an archive that unpacks without end, XML with entities."""
    try:
        if not Path(path).is_file():
            raise InputError(Diagnostic("there is no such file", origin))
        data = Path(path).read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _LARGEST:
                limit = f"the database unpacks to more than {_LARGEST >> 20} MiB, our limit"
                raise InputError(Diagnostic(limit, origin))
            for member in archive.infolist():
                if ".odx" in member.filename.lower() or member.filename.lower().endswith(".xml"):
                    SafeElementTree.fromstring(archive.read(member))
        return data
    except DefusedXmlException as error:
        why = f"XML with entities is not read ({type(error).__name__})"
        raise InputError(Diagnostic(why, origin)) from None
    except InputError:
        raise
    except (Exception, RecursionError) as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(Diagnostic(f"not a PDX database: {why}", origin)) from None
