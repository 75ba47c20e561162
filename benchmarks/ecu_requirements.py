"""The requirements of the ECU that `benchmarks/ecu_simulator.py` simulates: 23 services of UDS."""

from __future__ import annotations

from typing import Final

from whence.model.prd import PrdAutomaton
from whence.triage.services import EcuDescription

__all__ = ["BLOCKS", "LIMITS", "description", "paper_sized", "requirements"]

_SESSION = "session != default else 0x7F"
_EXTENDED = "session == extended else 0x7F"
_PROGRAMMING = "session == programming else 0x7F"
_KEY = "security == unlocked else 0x33"
#: What a change of the session does besides.
_LOCK = "security = locked; transferring = no"


#: With so many limits and numbers of blocks, the model unfolds to about the 12,500 states and
#: 70,000 transitions of the paper's.
LIMITS: Final = 3
BLOCKS: Final = 8


def requirements() -> PrdAutomaton:
    return description().compile()


def paper_sized() -> PrdAutomaton:
    """The requirements of an ECU with few limits and blocks; there are no states of silence."""
    return description(LIMITS, BLOCKS, paper=True).compile()


def description(limits: int = 256, blocks: int = 256, *, paper: bool = False) -> EcuDescription:
    ecu = EcuDescription("simulated", p2="50 ms", p2_star="5 s", activity="s3",
                         unknown=None if paper else [0x11], silences=not paper)  # fmt: skip
    if paper:
        # In place of all unknown services, of whose numbers each would be a value of memory.
        ecu.service("access timing", "83 *", needs=["false else 0x11"])
        ecu.service("background", "3E 80", None, concurrent=True)
        ecu.incident("voltage", "other voltage")
    _state(ecu, limits, blocks)
    _sessions(ecu)
    _data(ecu, limits)
    _access(ecu)
    _routines(ecu)
    _transfer(ecu, blocks)
    return ecu


def _state(ecu: EcuDescription, limits: int, blocks: int) -> None:
    ecu.requirement("SES-1", "Three sessions; programming is entered from another than default.")
    ecu.requirement("SES-2", "5 s after the last request, within 0.5 s, the session ends.")
    ecu.requirement("SEC-1", "A key that fits the seed unlocks until the session changes.")
    ecu.requirement("RST-1", "After a reset the ECU answers within 300 ms, and all is as at first.")
    ecu.requirement("DAT-1", "The limit is read as it was written, and is 0 at first.")
    ecu.requirement("DAT-2", "Unknown identifiers are refused, unless all were asked.")
    ecu.requirement("SUP-1", "If the tester wants no positive response, there is none.")
    ecu.variable("session", ["default", "programming", "extended"], "default",
                 requirements=["SES-1"])  # fmt: skip
    ecu.variable("security", ["locked", "seeded", "unlocked"], "locked", requirements=["SEC-1"])
    ecu.variable("limit", range(limits), 0, requirements=["DAT-1"])
    ecu.variable("transferring", ["no", "yes"], "no")
    ecu.variable("block", range(blocks), 0)
    ecu.restart("200 ms", "300 ms", ["RST-1"])
    ecu.reaction("session timeout", f"session = default; {_LOCK}", when="session != default",
                 after="5 s", within="5.5 s", requirements=["SES-2"])  # fmt: skip


def _sessions(ecu: EcuDescription) -> None:
    for number, name in ((1, "default"), (2, "programming"), (3, "extended")):
        ecu.service(
            f"{name} session", f"10 {number:02X}", f"50 {number:02X} 00 32 01 F4",
            needs=["session != default else 0x22"] if name == "programming" else (),
            effects=f"session = {name}; {_LOCK}", suppressible=True, requirements=["SES-1"],
        )  # fmt: skip
    ecu.service("other session", "10 *", needs=["false else 0x12"], requirements=["SES-1"])
    ecu.service("reset", "11 {01, 02, 03}", "51 ..", restarts=True, suppressible=True,
                requirements=["RST-1"])  # fmt: skip
    ecu.service("other reset", "11 *", needs=["false else 0x12"])
    ecu.service("tester present", "3E 00", "7E 00", suppressible=True, requirements=["SUP-1"])
    ecu.service("other tester present", "3E *", needs=["false else 0x12"])
    ecu.service("communication control", "28 {00, 01, 02, 03}",
                responses=["68 00", "68 01", "68 02", "68 03"], suppressible=True,
                requirements=["SUP-1"])  # fmt: skip
    ecu.service("other communication control", "28 *", needs=["false else 0x12"])
    ecu.service("DTC setting", "85 {01, 02}", "C5 ..", needs=[_EXTENDED], suppressible=True)
    ecu.service("other DTC setting", "85 *", needs=[_EXTENDED, "false else 0x12"])
    ecu.service("link control", "87 {01, 02, 03} *", needs=[_SESSION, "false else 0x22"])
    ecu.service("other link control", "87 *", needs=[_SESSION, "false else 0x12"])


def _data(ecu: EcuDescription, limits: int) -> None:
    ecu.service("clear DTCs", "14 FF FF FF", "54")
    ecu.service("clear others", "14 *", needs=["false else 0x31"])
    ecu.service("read DTCs", "19 02 ..", "59 02 *")
    ecu.service("other DTCs", "19 *", needs=["false else 0x12"])
    ecu.service("read identification", "22 F1 90", "62 F1 90 *")
    ecu.service("read serial number", "22 F1 8C", "62 F1 8C *")
    ecu.service(
        "read session", "22 F1 86", requirements=["SES-1"],
        responses=[
            {"message": "62 F1 86 01", "when": "session == default"},
            {"message": "62 F1 86 02", "when": "session == programming"},
            {"message": "62 F1 86 03", "when": "session == extended"},
        ],
    )  # fmt: skip
    ecu.service("read limit", "22 01 01", requirements=["DAT-1"],
                responses=[{"message": "62 01 01 <value>", "when": "value == limit"}])  # fmt: skip
    ecu.service("read sensor", "22 01 02", "62 01 02 ..",
                needs=["session == extended else 0x31"], requirements=["DAT-2"])  # fmt: skip
    ecu.service("read others", "22 *", needs=["false else 0x31"], requirements=["DAT-2"])
    written = f"2E 01 01 <value:00-{limits - 1:02X}>"
    ecu.service("write limit", written, "6E 01 01", needs=[_EXTENDED, _KEY],
                effects="limit = value", requirements=["DAT-1"])  # fmt: skip
    ecu.service("write others", "2E *", needs=[_EXTENDED, "false else 0x31"])
    ecu.service("read memory", "23 *", "63 *", needs=[_SESSION, _KEY])
    ecu.service("write memory", "3D *", "7D *", needs=[_SESSION, _KEY])
    ecu.service("read scaling", "24 .. ..", "64 *")
    ecu.service("periodic data", "2A *", "6A", needs=[_EXTENDED])
    ecu.service("define data", "2C *", "6C *", needs=[_EXTENDED])
    ecu.service("control", "2F *", "6F *", needs=[_EXTENDED])


def _access(ecu: EcuDescription) -> None:
    ecu.service(
        "request seed", "27 01", requirements=["SEC-1"], needs=[_SESSION],
        responses=[
            {"message": "67 01 .. .. .. ..", "when": "security == locked",
             "effects": "security = seeded"},
            {"message": "67 01 .. .. .. ..", "when": "security != locked"},
        ],
    )  # fmt: skip
    key = "27 02 CA FE BA BE"
    order = "security != locked else 0x24"
    ecu.service("send key", key, "67 02", effects="security = unlocked", needs=[_SESSION, order],
                requirements=["SEC-1"])  # fmt: skip
    wrong = {"condition": "false", "else": 0x35, "effects": "security = locked"}
    ecu.service("send wrong key", "27 02 *", needs=[_SESSION, order, wrong],
                requirements=["SEC-1"])  # fmt: skip
    ecu.service("other security access", "27 *", needs=[_SESSION, "false else 0x12"])
    ecu.service("authentication", "29 08", "69 08 *")
    ecu.service("other authentication", "29 *", needs=["false else 0x12"])


def _routines(ecu: EcuDescription) -> None:
    ecu.service("erase", "31 01 FF 00", "71 01 FF 00", needs=[_SESSION, _KEY], pending=True)
    ecu.service("self test", "31 01 02 03", "71 01 02 03")
    ecu.service("other routines", "31 01 *", needs=["false else 0x31"])
    ecu.service("other routine controls", "31 *", needs=["false else 0x12"])


def _transfer(ecu: EcuDescription, blocks: int) -> None:
    for name, number in (("download", 0x34), ("upload", 0x35)):
        ecu.service(f"request {name}", f"{number:02X} *", f"{number + 0x40:02X} *",
                    effects="transferring = yes; block = 1",
                    needs=[_PROGRAMMING, _KEY])  # fmt: skip
    ecu.service(
        "transfer data", "36 <number> *", "76 ..", effects=f"block = (block + 1) % {blocks}",
        needs=[_PROGRAMMING, "transferring == yes else 0x24", "number == block else 0x73"],
    )  # fmt: skip
    ecu.service("transfer exit", "37", "77", effects="transferring = no",
                needs=[_PROGRAMMING, "transferring == yes else 0x24"])  # fmt: skip
