"""What is measured, what comes out of it, and what TChecker says about the same models.

Nothing here imports whence: the process that starts the others stays small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

__all__ = [
    "INSTANCES",
    "METHODS",
    "TCHECKER",
    "TCHECKER_SOURCE",
    "Instance",
    "Method",
    "Reference",
    "Run",
    "instance_named",
]

#: ``alu``: whence as it is: Extra+_LU, and a zone is dropped if it is in the abstraction a_LU of
#: another. ``lu``: the same, but dropped only if included in the other zone itself. ``global``:
#: Extra+_M with one constant for each clock, the largest in the model, and inclusion of zones.
Method = Literal["alu", "lu", "global"]
METHODS: Final[tuple[Method, ...]] = get_args(Method)


@dataclass(frozen=True, slots=True)
class Instance:
    """A model of `benchmarks/models.py` of one size: its generator and what that is called with.

    `large` ones can be left out, and are not explored by the methods for comparison.
    """

    family: str
    arguments: tuple[int, ...]
    large: bool = False

    @property
    def name(self) -> str:
        return f"{self.family}-{'/'.join(map(str, self.arguments))}"


@dataclass(frozen=True, slots=True)
class Reference:
    """What another checker reports; `stored` None where it does not drop covered states."""

    visited: int
    stored: int | None
    transitions: int
    seconds: float
    mebibytes: float


@dataclass(frozen=True, slots=True)
class Run:
    """What one search found and took.

    `visited` symbolic states were expanded, of which and of the waiting ones `stored` are covered
    by no other at the end. `control_states` are the discrete ones. `base_bytes` is the peak of the
    process before the search, `search_bytes` what the search itself counts as its states.
    """

    instance: str
    method: Method
    reason: str
    visited: int
    stored: int
    control_states: int
    transitions: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    base_bytes: int
    search_bytes: int


INSTANCES: Final[tuple[Instance, ...]] = (
    *(Instance("fischer", (n,)) for n in range(4, 9)),
    *(Instance("csma_cd", (n,)) for n in range(4, 10)),
    *(Instance("fddi", (n,)) for n in range(4, 11)),
    *(Instance("train_gate", (n,)) for n in range(4, 7)),
    Instance("discrete", (4, 9)),
    Instance("discrete", (4, 17), large=True),
)

TCHECKER_SOURCE: Final = (
    "TChecker 0.8 (commit d711ace9), `tck-reach -a covreach` with default options "
    "(`-a reach` for `discrete`), on the same machine, median of 3"
)

TCHECKER: Final[dict[str, Reference]] = {
    "fischer-4": Reference(268, 220, 552, 0.00171, 9),
    "fischer-5": Reference(977, 727, 2_290, 0.00950, 12),
    "fischer-6": Reference(3_458, 2_378, 9_132, 0.0451, 15),
    "fischer-7": Reference(11_951, 7_737, 35_266, 0.227, 20),
    "fischer-8": Reference(40_536, 25_080, 132_592, 1.12, 28),
    "csma_cd-4": Reference(258, 258, 583, 0.00274, 9),
    "csma_cd-5": Reference(850, 850, 1_977, 0.0120, 12),
    "csma_cd-6": Reference(2_594, 2_594, 6_081, 0.0458, 16),
    "csma_cd-7": Reference(7_490, 7_490, 17_511, 0.164, 22),
    "csma_cd-8": Reference(20_738, 20_738, 48_091, 0.560, 27),
    "csma_cd-9": Reference(55_554, 55_554, 127_437, 1.93, 42),
    "fddi-4": Reference(175, 93, 228, 0.00269, 9),
    "fddi-5": Reference(352, 140, 465, 0.00788, 10),
    "fddi-6": Reference(691, 197, 924, 0.0224, 15),
    "fddi-7": Reference(1_348, 264, 1_821, 0.0624, 23),
    "fddi-8": Reference(2_635, 341, 3_588, 0.166, 35),
    "fddi-9": Reference(5_176, 428, 7_089, 0.441, 53),
    "fddi-10": Reference(10_219, 525, 14_052, 1.19, 78),
    "discrete-4/9": Reference(960_000, None, 3_872_000, 8.73, 293),
}


def instance_named(name: str) -> Instance:
    """The instance that :attr:`Instance.name` calls `name`, listed or not; or `ValueError`."""
    family, _, numbers = name.rpartition("-")
    if family not in {instance.family for instance in INSTANCES}:
        raise ValueError(f"no such instance: {name}")
    try:
        return Instance(family, tuple(int(number) for number in numbers.split("/")))
    except ValueError:
        raise ValueError(f"no such instance: {name}") from None
