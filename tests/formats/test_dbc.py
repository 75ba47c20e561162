"""Databases of CAN buses and buses themselves, as far as tests of systems need them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cantools")
pytest.importorskip("can")

from whence.formats.can.dbc import BusFrame, read_database
from whence.formats.can.live import LiveBus
from whence.formats.signal_map import read_signal_map
from whence.model.signals import Interface, InterfaceSignal
from whence.source import InputError, UsageError
from whence.testing.systems.base import SystemFault
from whence.testing.systems.bus import BusSystem, check_map

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DBC = EXAMPLES / "turn_indicator.dbc"
MAP = """\
signals:
  v: {message: Power, signal: Voltage, factor: 1/10}
  l: {message: Lamps, signal: Left}
"""
INTERFACE = Interface(
    "m", (InterfaceSignal("v", "int", "0", "240"),), (InterfaceSignal("l", "bool"),)
)


def test_bits_are_where_the_database_says() -> None:
    """By hand: the lever has bits 0 and 1, the switch bit 2; 12 volts are 120 tenths."""
    database = read_database(DBC)
    frame = database.encode("Standard", {"Lever": 2, "Emergency": 1})
    assert (frame.ident, frame.extended, frame.data) == (0x100, False, b"\x06")
    assert database.encode("Power", {"Voltage": 12}).data == b"\x78"
    assert database.decode(BusFrame(0x200, False, b"\x02")) == ("Lamps", {"Left": 0, "Right": 1})
    assert database.decode(BusFrame(0x201, False, b"\x02")) is None
    assert database.decode(BusFrame(0x200, True, b"\x02")) is None
    with pytest.raises(ValueError, match="message Lamps"):
        database.decode(BusFrame(0x200, False, b""))
    with pytest.raises(ValueError, match="message Power"):
        database.encode("Power", {"Voltage": 3000})


@pytest.mark.parametrize("data", [b"nonsense", b"\xff\xfe\x00", b'VERSION "'])
def test_what_is_no_database_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.dbc"
    path.write_bytes(data)
    with pytest.raises(InputError, match="no DBC database"):
        read_database(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_database(tmp_path / "none.dbc")


def test_there_is_no_such_bus() -> None:
    with pytest.raises(UsageError, match="cannot be opened"):
        LiveBus("no-such-interface", "x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("signals: {l: {message: Lamps, signal: Left}}", "which message carries `v`"),
        (MAP.replace("Power", "Pover"), "no message `Pover`"),
        (MAP.replace("Voltage", "Current"), "has no signal `Current`"),
        (MAP.replace(", factor: 1/10", ", factor: 0"), "a factor is not 0"),
    ],
)
def test_maps_that_do_not_fit_the_bus(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_map(INTERFACE, read_signal_map(text.encode(), "map.yaml"), read_database(DBC))


def test_a_node_that_falls_over_is_told() -> None:
    def node(_interface: str, _channel: str, _stop: object) -> None:
        raise RuntimeError("no power")

    signals = read_signal_map(MAP.encode(), "map.yaml")
    bus = ("virtual", "whence-node")
    system = BusSystem(INTERFACE, signals, read_database(DBC), bus, node)
    system.start({"v": 120})
    try:
        with pytest.raises(SystemFault, match="the node raised RuntimeError: no power"):
            system.receive(1e12)
    finally:
        system.close()


def test_what_is_sent_and_received() -> None:
    signals = read_signal_map(MAP.encode(), "map.yaml")
    system = BusSystem(INTERFACE, signals, read_database(DBC), ("virtual", "whence-bus"))
    other = LiveBus("virtual", "whence-bus")
    try:
        system.start({"v": 120})
        heard = other.receive(2.0)
        assert heard is not None
        assert heard[1] == BusFrame(0x102, False, b"\x78")
        # Nothing has changed: nothing is sent.
        system.send({"v": 120})
        assert other.receive(0.05) is None
        other.send(BusFrame(0x111, False, b"\x01"))
        other.send(BusFrame(0x200, False, b"\x01"))
        told = system.receive(heard[0] + 5)
        assert told is not None
        assert told[1] == {"l": True}
        other.send(BusFrame(0x200, False, b""))
        with pytest.raises(SystemFault, match="what is no message"):
            system.receive(heard[0] + 5)
    finally:
        system.close()
        other.close()
