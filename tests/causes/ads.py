"""The automated driving system of Koelbl's section 7.4, built by hand: three hardware units, six
software functions on them. A function and a hardware unit start with a transition of their own, as
the state machines of the thesis begin with a pseudostate; that transition has no rate.

An error that the hardware detects reaches the function in no time, and does nothing to one that has
not started or has failed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from whence.model.transitions import Action, TransitionSystem

HARDWARE = {"ADS_primary": 1e-4, "ADS_backup": 1e-4, "X_ECU": 1e-8}
REPAIR = 4e-2
CLASSIFICATION = 1e-4

OFF, WORKS, ERROR, MISJUDGES = range(4)


def functions(variant: int) -> dict[str, str]:
    """What runs where."""
    return {
        "Perception": "ADS_primary",
        "Trajectory": "ADS_primary",
        "PerceptionSafe": "ADS_backup",
        "TrajectorySafe": "ADS_backup",
        "TrajectorySelection": "X_ECU" if variant == 1 else "ADS_backup",
        "MotionControl": "X_ECU",
    }


def ads(
    variant: int,
    detection: Mapping[str, float] | None = None,
    handling: Mapping[str, float] | None = None,
) -> TransitionSystem:
    """`detection`: the part of the faults of a hardware unit that it detects, if not 99%;
    `handling`: the part of the errors that a function survives, if not 90%."""
    runs_on = functions(variant)
    names = [*HARDWARE, *runs_on]
    place = {name: index for index, name in enumerate(names)}
    State = tuple[int, ...]
    numbers: dict[State, int] = {(OFF,) * len(names): 0}
    states = list(numbers)
    actions: dict[str, int] = {}
    rows: list[tuple[int, int, int, float]] = []
    for state in states:

        def move(
            name: str, to: int, event: str, rate: float = np.nan, state: State = state
        ) -> None:
            target = (*state[: place[name]], to, *state[place[name] + 1 :])
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
            action = actions.setdefault(event, len(actions))
            rows.append((numbers[state], action, numbers[target], rate))

        for name in names:
            if state[place[name]] == OFF:
                move(name, WORKS, f"{name}_start")
        for unit, rate in HARDWARE.items():
            if state[place[unit]] != WORKS:
                continue
            detected = (detection or {}).get(unit, 0.99)
            move(unit, ERROR, f"{unit}_undetected", rate * (1 - detected))
            here = [name for name, on in runs_on.items() if on == unit]
            for name in here:
                if state[place[name]] == WORKS:
                    fatal = 1 - (handling or {}).get(name, 0.9)
                    move(name, ERROR, f"{name}_error", rate * detected / len(here) * fatal)
        for name, unit in runs_on.items():
            if state[place[unit]] == ERROR:
                continue
            if state[place[name]] in (ERROR, MISJUDGES):
                move(name, WORKS, f"{name}_repair", REPAIR)
            if state[place[name]] == WORKS and name.startswith("Perception"):
                move(name, MISJUDGES, f"{name}_ClassificationError", CLASSIFICATION)

    table = np.array(states)
    bad = {name: table[:, index] >= ERROR for name, index in place.items()}
    primary = bad["ADS_primary"] | bad["Perception"] | bad["Trajectory"]
    backup = bad["ADS_backup"] | bad["PerceptionSafe"] | bad["TrajectorySafe"]
    selection = bad["TrajectorySelection"] | bad[runs_on["TrajectorySelection"]]
    source, action, target, rate = zip(*rows, strict=True)
    return TransitionSystem(
        states=len(states),
        actions=tuple(Action(name=name) for name in actions),
        source=np.array(source, np.int32),
        action=np.array(action, np.int32),
        target=np.array(target, np.int32),
        initial=(0,),
        propositions={
            "SG1": (primary & backup) | selection | bad["MotionControl"] | bad["X_ECU"],
            "SG2": selection,
            "activation": primary,
            **{f"{name}.bad": marks for name, marks in bad.items()},
        },
        rate=np.array(rate),
    )
