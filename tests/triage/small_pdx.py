"""A small ODX database of our own: an ECU with a session, and a lamp that can be set in one of
them. Enough of ISO 22901-1 for `odxtools` to read it."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

__all__ = ["write_pdx"]

_BYTE = (
    '<DIAG-CODED-TYPE BASE-DATA-TYPE="A_UINT32" xsi:type="STANDARD-LENGTH-TYPE">'
    "<BIT-LENGTH>8</BIT-LENGTH></DIAG-CODED-TYPE>"
)


def _constant(name: str, position: int, value: int, semantic: str = "DATA") -> str:
    return (
        f'<PARAM SEMANTIC="{semantic}" xsi:type="CODED-CONST"><SHORT-NAME>{name}</SHORT-NAME>'
        f"<BYTE-POSITION>{position}</BYTE-POSITION><CODED-VALUE>{value}</CODED-VALUE>{_BYTE}</PARAM>"
    )


def _value(name: str, position: int) -> str:
    return (
        f'<PARAM SEMANTIC="DATA" xsi:type="VALUE"><SHORT-NAME>{name}</SHORT-NAME>'
        f'<BYTE-POSITION>{position}</BYTE-POSITION><DOP-REF ID-REF="dop.byte"/></PARAM>'
    )


def _again(name: str, position: int, asked: int, length: int) -> str:
    return (
        f'<PARAM xsi:type="MATCHING-REQUEST-PARAM"><SHORT-NAME>{name}</SHORT-NAME>'
        f"<BYTE-POSITION>{position}</BYTE-POSITION><REQUEST-BYTE-POS>{asked}</REQUEST-BYTE-POS>"
        f"<BYTE-LENGTH>{length}</BYTE-LENGTH></PARAM>"
    )


def _message(tag: str, ident: str, params: Sequence[str]) -> str:
    return (
        f"<{tag} ID={quoteattr(ident)}><SHORT-NAME>{ident.replace('.', '_')}</SHORT-NAME>"
        f"<PARAMS>{''.join(params)}</PARAMS></{tag}>"
    )


class _Service:
    def __init__(
        self,
        name: str,
        request: Sequence[int | str],
        response: Sequence[int | str],
        needs: str = "",
        does: str = "",
    ) -> None:
        self.name, self.needs, self.does = name, needs, does
        self.request = _message(
            "REQUEST", f"rq.{name}",
            [_constant(f"b{n}", n, b, "DATA" if n else "SERVICE-ID") if isinstance(b, int)
             else _value(b, n) for n, b in enumerate(request)],
        )  # fmt: skip
        self.positive = _message(
            "POS-RESPONSE", f"pr.{name}",
            [_constant(f"b{n}", n, b, "DATA" if n else "SERVICE-ID") if isinstance(b, int)
             else _again(b, n, n, 1) if b.startswith("again") else _value(b, n)
             for n, b in enumerate(response)],
        )  # fmt: skip
        self.negative = _message(
            "NEG-RESPONSE", f"nr.{name}",
            [_constant("sid", 0, 0x7F, "SERVICE-ID"), _constant("of", 1, int(request[0])),
             _value("code", 2)],
        )  # fmt: skip

    def text(self) -> str:
        state = ""
        if self.needs:
            ref = f'<PRE-CONDITION-STATE-REF ID-REF="{self.needs}"/>'
            state = f"<PRE-CONDITION-STATE-REFS>{ref}</PRE-CONDITION-STATE-REFS>"
        if self.does:
            ref = f'<STATE-TRANSITION-REF ID-REF="{self.does}"/>'
            state += f"<STATE-TRANSITION-REFS>{ref}</STATE-TRANSITION-REFS>"
        return (
            f'<DIAG-SERVICE ID="ds.{self.name}"><SHORT-NAME>{self.name}</SHORT-NAME>{state}'
            f'<REQUEST-REF ID-REF="rq.{self.name}"/>'
            f'<POS-RESPONSE-REFS><POS-RESPONSE-REF ID-REF="pr.{self.name}"/></POS-RESPONSE-REFS>'
            f'<NEG-RESPONSE-REFS><NEG-RESPONSE-REF ID-REF="nr.{self.name}"/></NEG-RESPONSE-REFS>'
            "</DIAG-SERVICE>"
        )


_SERVICES = (
    _Service("to_extended", (0x10, 0x03), (0x50, 0x03), does="tr.open"),
    _Service("to_default", (0x10, 0x01), (0x50, 0x01), does="tr.close"),
    _Service("present", (0x3E, 0x00), (0x7E, 0x00)),
    _Service("set_lamp", (0x2E, 0x01, "lamp"), (0x6E, 0x01, "again_lamp"), needs="st.extended"),
)

_STATES = """
<STATE-CHARTS><STATE-CHART ID="sc.session"><SHORT-NAME>session</SHORT-NAME>
<SEMANTIC>SESSION</SEMANTIC>
<STATE-TRANSITIONS>
<STATE-TRANSITION ID="tr.open"><SHORT-NAME>open</SHORT-NAME>
<SOURCE-SNREF SHORT-NAME="default"/><TARGET-SNREF SHORT-NAME="extended"/></STATE-TRANSITION>
<STATE-TRANSITION ID="tr.close"><SHORT-NAME>close</SHORT-NAME>
<SOURCE-SNREF SHORT-NAME="extended"/><TARGET-SNREF SHORT-NAME="default"/></STATE-TRANSITION>
</STATE-TRANSITIONS>
<START-STATE-SNREF SHORT-NAME="default"/>
<STATES><STATE ID="st.default"><SHORT-NAME>default</SHORT-NAME></STATE>
<STATE ID="st.extended"><SHORT-NAME>extended</SHORT-NAME></STATE></STATES>
</STATE-CHART></STATE-CHARTS>
"""


def write_pdx(path: Path) -> Path:
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<ODX MODEL-VERSION="2.2.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        '<DIAG-LAYER-CONTAINER ID="dlc"><SHORT-NAME>lamps</SHORT-NAME>'
        '<BASE-VARIANTS><BASE-VARIANT ID="bv"><SHORT-NAME>lamp</SHORT-NAME>'
        "<DIAG-DATA-DICTIONARY-SPEC><DATA-OBJECT-PROPS>"
        '<DATA-OBJECT-PROP ID="dop.byte"><SHORT-NAME>byte</SHORT-NAME>'
        "<COMPU-METHOD><CATEGORY>IDENTICAL</CATEGORY></COMPU-METHOD>"
        f'{_BYTE}<PHYSICAL-TYPE BASE-DATA-TYPE="A_UINT32"/></DATA-OBJECT-PROP>'
        "</DATA-OBJECT-PROPS></DIAG-DATA-DICTIONARY-SPEC>"
        f"<DIAG-COMMS>{''.join(each.text() for each in _SERVICES)}</DIAG-COMMS>"
        f"<REQUESTS>{''.join(each.request for each in _SERVICES)}</REQUESTS>"
        f"<POS-RESPONSES>{''.join(each.positive for each in _SERVICES)}</POS-RESPONSES>"
        f"<NEG-RESPONSES>{''.join(each.negative for each in _SERVICES)}</NEG-RESPONSES>"
        f"{_STATES}"
        "</BASE-VARIANT></BASE-VARIANTS></DIAG-LAYER-CONTAINER></ODX>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "index.xml",
            '<?xml version="1.0" encoding="UTF-8"?>\n<CATALOG><SHORT-NAME>lamps</SHORT-NAME>'
            "<ABLOCKS><ABLOCK><SHORT-NAME>lamps</SHORT-NAME><FILES>"
            '<FILE MIME-TYPE="application/x-asam.odx.odx-d">lamps.odx-d</FILE>'
            "</FILES></ABLOCK></ABLOCKS></CATALOG>",
        )
        archive.writestr("lamps.odx-d", text)
    return path
