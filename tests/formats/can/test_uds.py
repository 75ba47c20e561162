"""Events out of messages, and who talks to whom."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tests.formats.can.support import EXAMPLES, shared

from whence.formats.can.addresses import parse_pair, surveyed
from whence.formats.can.fields import negative_fields, request_fields, response_fields
from whence.formats.can.isotp import LogMessage
from whence.formats.can.uds import Matcher
from whence.formats.logs import read_trace
from whence.model.events import Address, AddressPair, BusEvent, CanFrame
from whence.source import InputError, UsageError


def events(pairs: list[str], *messages: str) -> list[BusEvent]:
    """Of messages such as `7E0 1003`, a millisecond apart."""
    matcher = Matcher(map(parse_pair, pairs))
    found = []
    for at, message in enumerate(messages):
        ident, data = message.split()
        address = Address(int(ident, 16))
        time = at * 1_000_000
        found.append(matcher.event(LogMessage(address, "", bytes.fromhex(data), time, time, at)))
    return found


def told(pairs: list[str], *messages: str) -> list[tuple[str, int | None]]:
    return [(event.kind, event.answers) for event in events(pairs, *messages)]


ONE = ["7E0:7E8"]
TWO = ["7E0:7E8", "7E1:7E9", "7DF:"]


@pytest.mark.parametrize(
    ("pairs", "messages", "expected"),
    [
        (ONE, ["7E0 1003", "7E8 5003003201F4"], [("request", None), ("positive", 0)]),
        (ONE, ["7E0 31010203", "7E8 7F3178", "7E8 7F3178", "7E8 71010203", "7E8 71010203"],
         [("request", None), ("pending", 0), ("pending", 0), ("positive", 0), ("positive", None)]),
        (ONE, ["7E0 31010203", "7E8 7F3178", "7E8 7F3122"],
         [("request", None), ("pending", 0), ("negative", 0)]),
        # Nobody waits for these.
        (ONE, ["7E8 62F190", "7E8 7F2231"], [("positive", None), ("negative", None)]),
        # Another service than the one that was asked for last: the answer is late.
        (ONE, ["7E0 22F190", "7E0 3E00", "7E8 62F19031", "7E8 7E00"],
         [("request", None), ("request", None), ("positive", 0), ("positive", 1)]),
        # Of two with the same service, the one whose identifier is repeated.
        (ONE, ["7E0 22F190", "7E0 22F18C", "7E8 62F19031", "7E8 62F18C31"],
         [("request", None), ("request", None), ("positive", 0), ("positive", 1)]),
        # An ECU answers in order: what was asked before gets no answer any more.
        (ONE, ["7E0 22F190", "7E0 22F18C", "7E8 62F18C31", "7E8 62F19031"],
         [("request", None), ("request", None), ("positive", 1), ("positive", None)]),
        # The response does not repeat the bit that would suppress it.
        (ONE, ["7E0 1081", "7E8 7F1078", "7E8 5001003201F4"],
         [("request", None), ("pending", 0), ("positive", 0)]),
        # To all, and each answers; what one ECU was asked alone is not mixed up with it.
        (TWO, ["7DF 3E00", "7E8 7E00", "7E9 7E00", "7E1 22F190", "7E8 7F2211", "7E9 62F19031"],
         [("request", None), ("positive", 0), ("positive", 0), ("request", None),
          ("negative", None), ("positive", 3)]),
        (ONE, ["7E0 7F1011", "7E8 1003", "7E8 7F10"],
         [("other", None), ("other", None), ("other", None)]),
        # Services of a manufacturer.
        (ONE, ["7E0 BA0003", "7E8 FA0003"], [("request", None), ("positive", 0)]),
        (["7C0:7C8"], ["7C0 1381", "7C8 53"], [("request", None), ("positive", 0)]),
    ],
)  # fmt: skip
def test_answers(
    pairs: list[str], messages: list[str], expected: list[tuple[str, int | None]]
) -> None:
    assert told(pairs, *messages) == expected


def test_a_functional_request_is_answered_by_pairs_of_its_own() -> None:
    found = events(TWO, "7DF 3E00", "7E9 7E00")
    assert [event.ecu for event in found] == ["7DF:", "7DF:7E9"]
    assert found[1].pair == AddressPair(Address(0x7DF), Address(0x7E9))


def fields(data: str) -> str:
    payload = bytes.fromhex(data)
    if payload[0] == 0x7F:
        found = negative_fields(payload)
    else:
        found = (response_fields if payload[0] & 0x40 else request_fields)(payload)
    return " ".join(
        f"{field.name}={field.value}" + (f"({field.text})" if field.text else "") for field in found
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("1003", "sub_function=3(extended)"),
        ("1083", "sub_function=3(extended) suppress_response=1(yes)"),
        ("5003003201F4",
         "sub_function=3(extended) p2_server_max=50 p2_star_server_max=500"),
        ("1101", "sub_function=1(hardReset)"),
        ("14FFFFFF", "group=16777215"),
        ("1902FF", "sub_function=2(reportDTCByStatusMask) status_mask=255"),
        ("5902FF0123452F", "sub_function=2(reportDTCByStatusMask) status_availability_mask=255 "
         "dtc=74565 status=47"),
        ("22F190F18C", "did=61840(VIN) did=61836(ECUSerialNumber)"),
        ("62F1905748", "did=61840(VIN) data=5748"),
        ("2342000010001000",
         "address_and_length_format=66 memory_address=0 memory_size=268439552"),
        ("2701", "sub_function=1(requestSeed)"),
        ("6701A1B2", "sub_function=1(requestSeed) seed=A1B2"),
        ("27025E4D", "sub_function=2(sendKey) key=5E4D"),
        ("2E0101AB", "did=257 data=AB"),
        ("2FF03803", "did=61496 control=3(shortTermAdjustment)"),
        ("3101FF000105", "sub_function=1(startRoutine) routine=65280 record=0105"),
        ("3400410A00000100",
         "data_format=0 address_and_length_format=65 memory_address=10 memory_size=256"),
        ("74200FF9", "length_format=32 max_block_length=4089"),
        ("3601AABB", "block=1 data=AABB"),
        ("3E80", "sub_function=0(zeroSubFunction) suppress_response=1(yes)"),
        ("7F2231", "code=49(requestOutOfRange)"),
        ("7F22F0", "code=240"),
        ("010C0D", "pid=12 pid=13"),
        ("410C1AF8", "pid=12 data=1AF8"),
        ("BA0102", "data=0102"),
        ("10", ""),
        ("22F1", "data=F1"),
    ],
)  # fmt: skip
def test_parameters(data: str, expected: str) -> None:
    assert fields(data) == expected


# --------------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7E0:7E8", "7E0:7E8"),
        ("0x7e0:0x7e8", "7E0:7E8"),
        ("18DA10F1:18daf110", "18DA10F1:18DAF110"),
        ("123x:456x", "00000123:00000456"),
        ("6F1/12:612/F1", "6F1/12:612/F1"),
        ("7DF:", "7DF:"),
    ],
)
def test_pairs_are_read(text: str, expected: str) -> None:
    assert str(parse_pair(text)) == expected


@pytest.mark.parametrize(
    "text", ["", "7E0", ":7E8", "7E0:7E0", "XYZ:7E8", "20000000:7E8", "7E0/123:7E8", "7E0:7E8:7E9"]
)
def test_what_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a pair of addresses"):
        parse_pair(text)


def frames(*texts: str) -> list[CanFrame]:
    found = []
    for at, text in enumerate(texts):
        ident, data = text.split("#")
        extended = len(ident) > 3
        found.append(CanFrame(at, "", int(ident, 16), extended, bytes.fromhex(data)))
    return found


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # By convention, also where nobody answers.
        (["7E0#0322F190"], ["7E0:7E8"]),
        (["7E9#0462F19031"], ["7E1:7E9"]),
        (["7DF#020100"], ["7DF:"]),
        (["18DA10F1#0322F190"], ["18DA10F1:18DAF110"]),
        (["18DAF110#03410000"], ["18DA10F1:18DAF110"]),
        (["18DB33F1#020100"], ["18DB33F1:"]),
        (["18CE10F1#220322F190"], ["18CE10F1/22:18CEF110/22"]),
        # Learned: what is asked and what is answered fit.
        (["680#0322F190", "690#0462F19031"], ["680:690"]),
        (["680#0322F190", "690#0462F18C31"], []),
        (["680#0322F190", "690#037F2231"], ["680:690"]),
        (["680#0322F190", "690#037F1031"], []),
        (["680#0322F190", "690#101462F190313233", "680#300000", "690#2134353637"], ["680:690"]),
        (["641#0322F190", "710#0322F18C", "651#0462F19031", "77A#0462F18C31"],
         ["641:651", "710:77A"]),
        # What mostly is something else takes no part.
        (["680#0322F190", "690#0462F19031"] + ["690#FF01020304"] * 4, []),
        (["680#0322F190", "690#0462F19031"] + ["690#FF01020304"] * 2, []),
        (["7E0#0322F190"] + ["7E0#FF01020304"] * 4, []),
        # A convention is not overruled.
        (["7E0#0322F190", "7E9#0462F19031"], ["7E0:7E8", "7E1:7E9"]),
    ],
)  # fmt: skip
def test_conversations_are_found(texts: list[str], expected: list[str]) -> None:
    assert [str(pair) for pair in surveyed(frames(*texts))] == expected


# -------------------------------------------------------------------------------------- whole logs


def test_the_example() -> None:
    trace = read_trace(str(EXAMPLES / "ecu.log"))
    assert [str(pair) for pair in trace.pairs] == ["7E0:7E8", "7DF:"]
    vin = trace.events[7]
    assert vin.payload == b"\x62\xf1\x90WHENCE00DOOR00123"
    assert (vin.first, vin.last) == (Fraction("1700000000.1541"), Fraction("1700000000.1565"))
    assert (vin.answers, vin.origin.line) == (6, 12)
    (verdict,) = [mark for mark in trace.annotations if mark.kind == "verdict"]
    assert (verdict.verdict, trace.events[verdict.position - 1].kind) == ("fail", "negative")


def test_raw_frames() -> None:
    trace = read_trace(str(EXAMPLES / "ecu.log"), raw=True)
    assert len(trace.events) == trace.frames == 31
    assert (trace.events[1].ecu, trace.events[1].payload[:3]) == ("7E0", b"\x02\x10\x03")


# --------------------------------------------------------------------------------------------- ODX


def odx_log(tmp_path: Path, *texts: str) -> str:
    path = tmp_path / "odx.log"
    path.write_text("".join(f"({at}.5) can0 {text}\n" for at, text in enumerate(texts)))
    return str(path)


def test_names_of_an_odx_database(tmp_path: Path) -> None:
    """The values are in somersault.pdx: grudging_forward answers 0xBA with 0xFA."""
    pytest.importorskip("odxtools")
    from whence.formats.can.odx import read_pdx

    database = read_pdx(str(shared("somersault.pdx")))
    assert [str(pair) for pair in database.pairs] == ["07B:1C8"]
    log = odx_log(
        tmp_path, "07B#03100005", "1C8#025000", "07B#03BA0003", "1C8#03FA0003", "07B#02FF00",
        "1C8#037F1012",
    )  # fmt: skip
    trace = read_trace(log, (), database)
    assert [str(pair) for pair in trace.pairs] == ["07B:1C8"]
    names = [(event.kind, event.name) for event in trace.events]
    assert names[:4] == [
        ("request", "session_start"),
        ("positive", "session_start"),
        ("request", "do_forward_flips"),
        ("positive", "do_forward_flips"),
    ]
    assert names[4] == ("other", "")
    assert trace.events[0].fields[-1].name == "bribe"
    flips = {field.name: field.value for field in trace.events[2].fields}
    assert flips["num_flips"] == 3
    assert flips["forward_soberness_check"] == 0


def test_what_is_no_odx_database_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("odxtools")
    import zipfile

    from whence.formats.can.odx import read_pdx

    path = tmp_path / "x.pdx"
    with pytest.raises(InputError, match="no such file"):
        read_pdx(str(path))
    path.write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(InputError, match="not a PDX database"):
        read_pdx(str(path))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.odx-d", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(InputError, match="entities"):
        read_pdx(str(path))
