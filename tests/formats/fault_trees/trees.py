"""Fault trees to write, made by hand: this floor knows no causes."""

from __future__ import annotations

import string

from hypothesis import strategies as st

from whence.model.fault_tree import BasicEvent, FaultTree, Gate, NonOccurrence

#: Cause 1 of figure 6.3 and figure 6.1(c), with shared events and all that events can tell.
RAILROAD = FaultTree(
    name="railroad.xml",
    top="top",
    gates=(
        Gate(
            ident="top", kind="or", inputs=("c1", "c2", "c3"), label="Train & car", probability=1e-3
        ),
        Gate(
            ident="c1",
            kind="inhibit",
            inputs=("g1",),
            conditions=("n1", "n2"),
            label="Cause 1",
            probability=1.5e-4,
            notes=("a -- note",),
        ),
        Gate(ident="g1", kind="pand", inputs=("g2", "tc")),
        Gate(ident="g2", kind="and", inputs=("g3", "ta", "gf")),
        Gate(ident="g3", kind="pand", inputs=("ca", "cc")),
        Gate(ident="c2", kind="pand", inputs=("ca", "cc", "tc"), label="Cause 2"),
        Gate(ident="c3", kind="and", inputs=("ta2",), label="Cause 3"),
    ),
    events=(
        BasicEvent(ident="ca", action="Ca", rate=2.5e-5, component="car"),
        BasicEvent(ident="cc", action="Cc", probability=0.25),
        BasicEvent(ident="ta", action="Ta"),
        BasicEvent(ident="ta2", action="Ta", occurrence=2),
        BasicEvent(ident="gf", action="Gf", failure=True, detected=False, component="gate"),
        BasicEvent(ident="tc", action="train crosses!", failure=True),
    ),
    conditions=(
        NonOccurrence(ident="n1", action="Cl", after="cc", before="tc"),
        NonOccurrence(ident="n2", action="Tl", after=None, before=None),
    ),
    notes=("Probabilities are for a time of 1h.",),
)

_TEXTS = st.text(
    st.sampled_from(string.ascii_letters + string.digits + " _-\"'\\;/<>&#\n\r\tä→\u202e\x00=,"),
    max_size=12,
)
_CHANCES = st.one_of(st.none(), st.floats(0, 1), st.just(1e-300))


@st.composite
def trees(draw: st.DrawFn) -> FaultTree:
    """With hostile names, and gates that share what is below them."""
    events = tuple(
        BasicEvent(
            ident=f"e{n}",
            action=draw(_TEXTS),
            occurrence=draw(st.integers(1, 3)),
            failure=draw(st.booleans()),
            detected=draw(st.sampled_from([None, True, False])),
            probability=draw(_CHANCES),
            rate=draw(_CHANCES),
            component=draw(_TEXTS),
        )
        for n in range(draw(st.integers(1, 4)))
    )
    below = [event.ident for event in events]
    ends = st.one_of(st.none(), st.sampled_from(below))
    conditions = tuple(
        NonOccurrence(ident=f"n{n}", action=draw(_TEXTS), after=draw(ends), before=draw(ends))
        for n in range(2)
    )
    gates: list[Gate] = []
    for n in range(draw(st.integers(1, 5))):
        # Of inner gates, some have neither a label nor a probability.
        kind = draw(st.sampled_from(["or", "and", "pand", "inhibit"]))
        inputs = draw(st.lists(st.sampled_from(below), min_size=1, max_size=3, unique=True))
        gates.append(
            Gate(
                ident=f"g{n}",
                kind=kind,
                inputs=tuple(inputs),
                conditions=("n0", "n1")[: draw(st.integers(0, 2))] if kind == "inhibit" else (),
                label=draw(_TEXTS),
                probability=draw(_CHANCES),
                notes=tuple(draw(st.lists(_TEXTS, max_size=2))),
            )
        )
        below.append(f"g{n}")
    return FaultTree(
        name=draw(_TEXTS),
        top=gates[-1].ident,
        gates=tuple(reversed(gates)),
        events=events,
        conditions=conditions,
        notes=tuple(draw(st.lists(_TEXTS, max_size=1))),
    )
