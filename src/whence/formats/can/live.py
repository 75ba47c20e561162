"""A bus to talk on, by python-can: a real one, or its virtual ones."""

from __future__ import annotations

import time
from typing import Any

from whence.formats.can.dbc import BusFrame
from whence.source import UsageError

__all__ = ["LiveBus"]


class LiveBus:
    """Raises UsageError where there is no such interface or channel, OSError where it fails."""

    def __init__(self, interface: str, channel: str) -> None:
        try:
            import can
        except ImportError:
            raise UsageError("a CAN bus needs python-can: pip install 'whence[bus]'") from None
        self._can: Any = can
        try:
            self._bus: Any = can.Bus(interface=interface, channel=channel)
        except Exception as error:
            reason = " ".join(str(error).split())[:300]
            raise UsageError(f"the bus {interface}:{channel} cannot be opened: {reason}") from None

    def send(self, frame: BusFrame) -> None:
        message = self._can.Message(
            arbitration_id=frame.ident,
            is_extended_id=frame.extended,
            data=frame.data,
            is_fd=len(frame.data) > 8,
        )
        try:
            self._bus.send(message)
        except self._can.CanError as error:
            raise OSError(f"a frame cannot be sent: {error}") from None

    def receive(self, seconds: float) -> tuple[float, BusFrame] | None:
        """The next frame, with the date on the monotonic clock at which we got it."""
        try:
            message = self._bus.recv(max(0.0, seconds))
        except self._can.CanError as error:
            raise OSError(f"frames cannot be received: {error}") from None
        if message is None or message.is_error_frame or message.is_remote_frame:
            return None
        frame = BusFrame(
            int(message.arbitration_id), bool(message.is_extended_id), bytes(message.data)
        )
        return time.monotonic(), frame

    def close(self) -> None:
        self._bus.shutdown()
