"""ISO-TP: against the reference, against can-isotp, and what becomes of broken messages."""

from __future__ import annotations

import queue

import isotp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference import isotp as reference

from whence.formats.can.addresses import parse_pair
from whence.formats.can.isotp import LogMessage, Reassembly, reassembled
from whence.model.events import Address, AddressPair, CanFrame

SECOND = 1_000_000_000
PAIRS = [AddressPair(Address(0x7E0), Address(0x7E8)), AddressPair(Address(0x641), Address(0x651))]
PARTNER = {0x7E0: 0x7E8, 0x7E8: 0x7E0, 0x641: 0x651, 0x651: 0x641}


def frame(time: int | None, ident: int, data: bytes, record: int = 0) -> CanFrame:
    return CanFrame(time, "can0", ident, False, data, len(data) > 8, record=record)


def found(timed: list[reference.Timed]) -> list[reference.Found]:
    frames = [frame(time, ident, data, at) for at, (time, ident, data) in enumerate(timed)]
    items = [
        reference.Found(
            message.address.ident, message.record, message.payload, message.first, message.last,
            not message.error,
        )
        for message in reassembled(frames, PAIRS)
    ]  # fmt: skip
    return sorted(items, key=lambda item: (item.start, item.address, item.whole))


# ------------------------------------------------------------------------- against the reference

payloads = st.one_of(st.binary(min_size=1, max_size=40), st.binary(min_size=60, max_size=300))
flow_control = st.sampled_from(["300000", "310000", "320000", "330000", "3000"])
stuff = st.one_of(
    st.binary(max_size=8),
    st.sampled_from([bytes([0x20 | n]) + bytes(7) for n in range(16)]),
    flow_control.map(bytes.fromhex),
)


@st.composite
def logs(draw: st.DrawFn) -> list[reference.Timed]:
    """Conversations interleaved, with frames that are lost, repeated, out of order or foreign."""
    queues = []
    for ident in PARTNER:
        frames: list[bytes] = []
        for payload in draw(st.lists(payloads, max_size=3)):
            frames += reference.segments(payload, draw(st.sampled_from([8, 8, 16, 64])))
        for _ in range(draw(st.integers(0, 3)) if frames else 0):
            at = draw(st.integers(0, len(frames) - 1))
            how = draw(st.sampled_from(["lose", "repeat", "swap", "foreign", "shorten"]))
            if how == "lose":
                frames[at : at + 1] = []
            elif how == "repeat":
                frames.insert(at, frames[at])
            elif how == "swap":
                frames[at : at + 2] = frames[at : at + 2][::-1]
            elif how == "foreign":
                frames.insert(at, draw(stuff))
            else:
                frames[at] = frames[at][: draw(st.integers(0, len(frames[at])))]
            if not frames:
                break
        queues.append([(ident, data) for data in frames])
    dated = draw(st.booleans())
    time = 0
    log: list[reference.Timed] = []
    while any(queues):
        waiting = draw(st.sampled_from([waiting for waiting in queues if waiting]))
        ident, data = waiting.pop(0)
        time += draw(st.sampled_from([0, 1, 1000, 999_999_999, SECOND, SECOND + 1]))
        log.append((time if dated else None, ident, data))
    return log


@given(logs())
def test_as_the_reference(log: list[reference.Timed]) -> None:
    assert found(log) == reference.messages(log, PARTNER)


@given(st.lists(st.tuples(st.sampled_from(sorted(PARTNER)), stuff), max_size=25))
def test_as_the_reference_on_anything(items: list[tuple[int, bytes]]) -> None:
    log: list[reference.Timed] = [
        (at * 1000, ident, data) for at, (ident, data) in enumerate(items)
    ]
    assert found(log) == reference.messages(log, PARTNER)


@given(st.binary(min_size=1, max_size=5000), st.sampled_from([8, 12, 16, 20, 24, 32, 48, 64]))
def test_what_is_cut_is_put_together(payload: bytes, size: int) -> None:
    log: list[reference.Timed] = [
        (at, 0x7E0, data) for at, data in enumerate(reference.segments(payload, size))
    ]
    (message,) = found(log)
    assert (message.payload, message.first, message.last) == (payload, 0, len(log) - 1)
    assert message.whole


# ------------------------------------------------------------------------------ against can-isotp

MODE = isotp.AddressingMode
ADDRESSES = {
    "normal": (
        isotp.Address(MODE.Normal_11bits, txid=0x7E0, rxid=0x7E8),
        isotp.Address(MODE.Normal_11bits, txid=0x7E8, rxid=0x7E0),
        "7E0:7E8",
    ),
    "fixed": (
        isotp.Address(MODE.NormalFixed_29bits, target_address=0x10, source_address=0xF1),
        isotp.Address(MODE.NormalFixed_29bits, target_address=0xF1, source_address=0x10),
        "18DA10F1:18DAF110",
    ),
    "extended": (
        isotp.Address(
            MODE.Extended_11bits, txid=0x6F1, rxid=0x612, source_address=0xF1, target_address=0x12
        ),
        isotp.Address(
            MODE.Extended_11bits, txid=0x612, rxid=0x6F1, source_address=0x12, target_address=0xF1
        ),
        "6F1/12:612/F1",
    ),
    "mixed": (
        isotp.Address(MODE.Mixed_11bits, txid=0x7E0, rxid=0x7E8, address_extension=0x99),
        isotp.Address(MODE.Mixed_11bits, txid=0x7E8, rxid=0x7E0, address_extension=0x99),
        "7E0/99:7E8/99",
    ),
    "mixed 29": (
        isotp.Address(
            MODE.Mixed_29bits, target_address=0x10, source_address=0xF1, address_extension=0x22
        ),
        isotp.Address(
            MODE.Mixed_29bits, target_address=0xF1, source_address=0x10, address_extension=0x22
        ),
        "18CE10F1/22:18CEF110/22",
    ),
}


def exchanged(mode: str, payload: bytes, size: int, pad: int | None) -> list[CanFrame]:
    """The frames that two stacks of can-isotp exchange over a message."""
    log: list[CanFrame] = []
    queues: list[queue.Queue[isotp.CanMessage]] = [queue.Queue(), queue.Queue()]
    parameters = {
        "tx_data_length": size,
        "can_fd": size > 8,
        "tx_padding": pad,
        "max_frame_size": 5000,
    }

    def stack(own: int) -> isotp.TransportLayerLogic:
        def receive(timeout: float) -> isotp.CanMessage | None:
            return None if queues[own].empty() else queues[own].get()

        def send(message: isotp.CanMessage) -> None:
            log.append(
                CanFrame(
                    len(log), "", message.arbitration_id, message.is_extended_id,
                    bytes(message.data), message.is_fd, record=len(log),
                )
            )  # fmt: skip
            queues[1 - own].put(message)

        return isotp.TransportLayerLogic(
            rxfn=receive, txfn=send, address=ADDRESSES[mode][own], params=parameters
        )

    sender, receiver = stack(0), stack(1)
    sender.send(payload)
    for _ in range(1200):
        sender.process()
        receiver.process()
        if receiver.available():
            break
    assert receiver.recv() == payload
    return log


@pytest.mark.parametrize("mode", ADDRESSES)
@example(payload=bytes(range(256)) * 16 + b"more", size=64, pad=None)
@example(payload=bytes(range(256)) * 16, size=8, pad=0)
@settings(max_examples=20)
@given(
    payload=st.binary(min_size=1, max_size=200),
    size=st.sampled_from([8, 16, 64]),
    pad=st.sampled_from([None, 0, 0xCC]),
)
def test_messages_of_another_stack(mode: str, payload: bytes, size: int, pad: int | None) -> None:
    log = exchanged(mode, payload, size, pad)
    pair = parse_pair(ADDRESSES[mode][2])
    (message,) = reassembled(log, [pair])
    last = [item for item in log if item.ident == pair.request.ident][-1]
    assert message == LogMessage(pair.request, "", payload, 0, last.time, 0)


@given(payload=st.binary(min_size=8, max_size=300), size=st.sampled_from([8, 64]))
def test_another_stack_reads_what_the_reference_cuts(payload: bytes, size: int) -> None:
    """So that the reference is checked, too."""
    frames = reference.segments(payload, size, pad=0xCC)
    layer = isotp.TransportLayerLogic(
        rxfn=lambda timeout: (
            None
            if not frames
            else isotp.CanMessage(arbitration_id=0x7E8, data=frames.pop(0), is_fd=size > 8)
        ),
        txfn=lambda message: None,
        address=ADDRESSES["normal"][0],
    )
    for _ in range(500):
        layer.process()
        if layer.available():
            break
    assert layer.recv() == payload


# ---------------------------------------------------------------------------------- what is broken


def told(*frames: tuple[int | None, int, str]) -> list[tuple[str, str]]:
    """Payload and error of each message."""
    items = [frame(time, ident, bytes.fromhex(data)) for time, ident, data in frames]
    return [(item.payload.hex().upper(), item.error) for item in reassembled(items, PAIRS)]


FIRST = "100A62F190313233"
NEXT = "2134353637AAAAAA"


@pytest.mark.parametrize(
    ("frames", "errors"),
    [
        ([(0, 0x7E8, FIRST), (1, 0x7E8, "2234353637AAAAAA")], ["frame 2 in place of 1: 6 of 10"]),
        ([(0, 0x7E8, FIRST), (1, 0x7E8, "037F2231AAAAAAAA")], ["interrupted by another one", ""]),
        ([(0, 0x7E8, FIRST)], ["the log ends before the message does: 6 of 10 bytes"]),
        ([(0, 0x7E8, FIRST), (SECOND + 1, 0x7E8, NEXT)], ["did not come in time (N_Cr)"]),
        ([(0, 0x7E8, FIRST), (SECOND + 1, 0x7E0, "013E"), (SECOND + 2, 0x7E8, NEXT)],
         ["did not come in time (N_Cr)", ""]),
        ([(0, 0x7E8, FIRST), (SECOND, 0x7E8, NEXT)], [""]),
        ([(None, 0x7E8, FIRST), (None, 0x7E8, NEXT)], [""]),
        ([(0, 0x7E8, FIRST), (SECOND, 0x7E0, "310000"), (2 * SECOND, 0x7E8, NEXT)], [""]),
        ([(0, 0x7E8, FIRST), (1, 0x7E0, "320000"), (2, 0x7E8, NEXT)], ["no room for the message"]),
        ([(0, 0x7E8, NEXT), (1, 0x7E8, NEXT)], ["a consecutive frame without a first frame"]),
        ([(0, 0x7E8, "0000")], ["a single frame of length 0"]),
        ([(0, 0x7E8, "0562F1")], ["announces 5 bytes and has 2"]),
        ([(0, 0x7E8, "")], ["without a protocol byte"]),
        ([(0, 0x7E8, "1007000000000000")], [""]),
        ([(0, 0x7E8, "10060000000000AA")], ["a first frame that announces 6 bytes"]),
        ([(0, 0x7E8, "10000FFFFFFF0000")], ["a first frame that announces 268435455 bytes"]),
        ([(0, 0x7E8, "4000000000000000")], ["protocol byte 0x40 is reserved"]),
        ([(0, 0x123, "4000000000000000")], []),
    ],
)  # fmt: skip
def test_what_is_broken_is_told(
    frames: list[tuple[int | None, int, str]], errors: list[str]
) -> None:
    if frames[0][2] == "1007000000000000":
        frames = [*frames, (1, 0x7E8, "2100")]
    seen = [error for _, error in told(*frames)]
    assert len(seen) == len(errors)
    for error, expected in zip(seen, errors, strict=True):
        assert expected in error
        assert bool(error) == bool(expected)


def test_channels_are_apart() -> None:
    frames = [
        CanFrame(0, "can0", 0x7E8, False, bytes.fromhex(FIRST)),
        CanFrame(0, "can1", 0x7E8, False, bytes.fromhex(FIRST)),
        CanFrame(0, "can0", 0x7E8, False, bytes.fromhex(NEXT)),
    ]
    messages = list(reassembled(frames, PAIRS))
    assert [(message.channel, message.error[:12]) for message in messages] == [
        ("can0", ""),
        ("can1", "the log ends"),
    ]


def test_identifiers_of_other_lengths_are_others() -> None:
    reassembly = Reassembly(PAIRS)
    assert not reassembly.feed(CanFrame(0, "", 0x7E8, True, b"\x01\x3e"))
    assert not reassembly.feed(CanFrame(0, "", 0x7E8, False, b"", kind="remote"))
    assert len(reassembly.feed(CanFrame(0, "", 0x7E8, False, b"\x01\x3e"))) == 1
