"""Causes of the thesis, as values."""

from __future__ import annotations

from whence.causes.results import Absent, Cause, CausesResult, Event
from whence.model.transitions import Action


def event(text: str) -> Event:
    """`a` or `a#2`."""
    action, _, occurrence = text.partition("#")
    return Event(action, int(occurrence or 1))


def cause(
    ident: int,
    events: str,
    order: str = "",
    absent: tuple[tuple[str, str | None, str | None], ...] = (),
    probability: float | None = None,
    exact: bool = True,
) -> Cause:
    """`order` as `a<b b<c`."""
    pairs = [pair.split("<") for pair in order.split()]
    return Cause(
        ident=ident,
        events=tuple(map(event, events.split())),
        order=frozenset((event(first), event(then)) for first, then in pairs),
        traces=1,
        exact=exact,
        absent=tuple(
            Absent(action, after and event(after), before and event(before))  # type: ignore[arg-type]
            for action, after, before in absent
        ),
        probability=probability,
    )


def result(*causes: Cause, actions: tuple[Action, ...] = (), **more: object) -> CausesResult:
    return CausesResult(
        model="model.xml",
        hazard="TrainCarHazard",
        verdict="violated",
        states=1,
        transitions=1,
        causes=causes,
        actions=actions,
        **more,  # type: ignore[arg-type]
    )


#: The crossing without a gate (figure 6.1).
UNGUARDED = cause(1, "Ca Cc Ta Tc", "Ca<Cc Cc<Tc Ta<Tc")

RAILROAD_ACTIONS = (
    *(Action(name=name, component="train") for name in ("Ta", "Tc", "Tl")),
    *(Action(name=name, component="car") for name in ("Ca", "Cc", "Cl")),
    *(Action(name=name, component="gate") for name in ("Gc", "Go")),
    Action(name="Gf", failure=True, detected=False, component="gate"),
)
#: The four causes of figure 6.2 as section 6.3 tells them: 1 and 3 with the gate's failure, the
#: events of 1 among those of 3, and those of 2 among those of 4.
RAILROAD = (
    cause(1, "Ca Cc Ta Tc Gf", "Ca<Cc Ta<Tc Gf<Tc", probability=1.5e-4),
    cause(2, "Ca Cc Ta Gc Tc", "Ca<Cc Cc<Gc Ta<Gc Gc<Tc", probability=2e-3),
    cause(3, "Ta Gc Tc Gf Ca Cc", "Ta<Gc Gc<Tc Tc<Gf Gf<Cc Ca<Cc", probability=1e-6),
    cause(4, "Ta Gc Tc Go Ta#2 Ca Cc", "Ta<Gc Gc<Tc Tc<Go Go<Cc Ca<Cc Ta<Ta#2 Ta#2<Cc"),
)
#: (4.2) and (4.3).
WITH_ABSENCES = (
    cause(1, "Ca Cc Ta Tc Gf", "Ca<Cc Cc<Tc Ta<Tc Gf<Tc", (("Cl", "Cc", "Tc"),)),
    cause(2, "Ca Cc Ta Tc Gf", "Ca<Cc Tc<Cc Ta<Tc Gf<Tc", (("Tl", "Tc", "Cc"),)),
)


def driving(causes: int = 19) -> CausesResult:
    """As large as the automated driving system of chapter 7, with its names for failures."""
    units = ("ADS_primary", "ADS_backup", "X_ECU")
    functions = ("Perception", "Trajectory", "TrajectorySelection", "Emergency")
    actions = [Action(name="start_drive"), Action(name="perceive"), Action(name="plan")]
    actions += [
        Action(name=f"{unit}_undetected", failure=True, detected=False, component=unit)
        for unit in units
    ]
    actions += [
        Action(name=f"{function}_error", failure=True, detected=True, component=function)
        for function in functions
    ]
    actions += [
        Action(name=f"{function}_ClassificationError", failure=True, component=function)
        for function in functions
    ]
    actions.append(Action(name="repair"))
    failures = [action.name for action in actions if action.failure]
    found = []
    for number in range(1, causes + 1):
        one, other = failures[number % 11], failures[(3 * number + 2) % 11]
        chosen = [one] if number % 4 == 0 or one == other else [one, other]
        events = ["start_drive", "perceive", *chosen, "plan"]
        order = "start_drive<perceive " + " ".join(
            f"perceive<{name} {name}<plan" for name in chosen[: 1 + number % 2]
        )
        absent = (("repair", chosen[0], "plan"),) if number % 3 == 0 else ()
        found.append(
            cause(
                number,
                " ".join(events),
                order,
                absent,
                probability=3.0 ** -(number % 7) * 1e-7,
                exact=number % 5 != 0,
            )
        )
    return result(*found, actions=tuple(actions), probability=1.31998187e-8, time="1h")
