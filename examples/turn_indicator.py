"""The turn indicators of examples/turn_indicator.yaml in Python, as three kinds of system:

    whence run suite --sut python:examples/turn_indicator.py:TurnIndicator
    whence run suite --sut "process:python examples/turn_indicator.py"
    whence run suite --sut can:virtual:demo --signals examples/turn_indicator_signals.yaml \
        --start examples/turn_indicator.py:node
"""

import json
import sys

FLASHES = 3
LEFT, RIGHT, BOTH = 1, 2, 3


class TurnIndicator:
    """`reset` and `step` take all inputs by name, and return all outputs."""

    on_time, off_time = 340, 320

    def reset(self, inputs):
        self.emergency = self.overridden = False
        self.flashing = self.lit = False
        self.lever = self.command = self.shown = self.flashes = self.timer = 0
        return self.update(inputs)

    def step(self, milliseconds, inputs):
        self.timer += milliseconds
        return self.update(inputs)

    def update(self, inputs):
        self.command = self.standard(inputs) or self.special(inputs)
        self.lamps(100 <= inputs["in_Voltage"] < 150)
        on = self.shown if self.flashing and self.lit else 0
        return {"out_LampsLeft": bool(on & LEFT), "out_LampsRight": bool(on & RIGHT)}

    def standard(self, inputs):
        lever = inputs["in_TurnIndLvr"]
        before, self.emergency = self.emergency, inputs["in_EmSwitch"]
        if not self.emergency:
            return lever
        if not before or lever == 0:
            self.overridden, self.lever = False, lever
        elif lever != self.lever:
            self.overridden = True
        return lever if self.overridden else BOTH

    def special(self, inputs):
        lever = inputs["in_TurnIndLvrSPV"]
        return BOTH if inputs["in_EmSwitchSPV"] and lever == 0 else lever

    def lamps(self, powered):
        if not powered:
            self.flashing = False
        elif self.command and (not self.flashing or self.command != self.shown):
            self.flashing = self.lit = True
            self.shown, self.flashes, self.timer = self.command, 0, 0
        if self.flashing and self.timer >= (self.on_time if self.lit else self.off_time):
            if self.lit:
                self.flashes += 1
            self.lit, self.timer = not self.lit, 0
        if self.flashing and not self.command and (self.flashes >= FLASHES or self.shown == BOTH):
            self.flashing = False


class Faulty(TurnIndicator):
    """Its lamps are off for too short a time: a test finds that."""

    off_time = 200


def node(interface, channel, stop):
    """The same on a CAN bus, until `stop` is set."""
    import time

    import can

    lamps = None
    system = TurnIndicator()
    inputs = {}
    with can.Bus(interface=interface, channel=channel) as bus:
        before = None
        while not stop.is_set():
            message = bus.recv(0.002)
            while message is not None:
                data = message.data
                if message.arbitration_id == 0x100:
                    inputs["in_TurnIndLvr"] = data[0] & 3
                    inputs["in_EmSwitch"] = bool(data[0] & 4)
                elif message.arbitration_id == 0x101:
                    inputs["in_TurnIndLvrSPV"] = data[0] & 3
                    inputs["in_EmSwitchSPV"] = bool(data[0] & 4)
                elif message.arbitration_id == 0x102:
                    inputs["in_Voltage"] = data[0]
                message = bus.recv(0)
            if len(inputs) < 5:
                continue
            now = time.monotonic()
            if before is None:
                outputs, before = system.reset(inputs), now
            else:
                passed = int((now - before) * 1000)
                outputs = system.step(passed, inputs)
                before += passed / 1000
            if outputs != lamps:
                lamps = outputs
                data = outputs["out_LampsLeft"] | outputs["out_LampsRight"] << 1
                bus.send(can.Message(arbitration_id=0x200, data=[data], is_extended_id=False))


def main():
    """Questions on standard input, answers on standard output, an object of JSON a line."""
    system = TurnIndicator()
    for line in sys.stdin:
        question = json.loads(line)
        if "reset" in question:
            outputs = system.reset(question["reset"])
        else:
            outputs = system.step(question["step"], question["inputs"])
        print(json.dumps({"outputs": outputs}), flush=True)


if __name__ == "__main__":
    main()
