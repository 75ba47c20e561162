"""Reading and writing transition systems as DOT digraphs."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.formats.dot import DotSystem, read_dot, read_dot_file, write_dot
from whence.model.transitions import Action, TransitionSystem
from whence.source import InputError, UnsupportedError, UsageError

SAMPLE = """// a crossing
digraph "the crossing" {
    rankdir=LR; graph [fontsize=10] node [shape=circle]
    start [shape=point]; start -> idle;
# line 1 "from a preprocessor"
    idle -> "car in" -> idle [label=go color="red"];
    "car in" -> crash [label="Tc", rate=0.01; failure=true][detected=no];  /* the
    end */
    crash [bad=true, props="Train.Tc, Car.Cc"];
    crash:n -> crash:port:sw [label="\\"quoted\\" " + "\\\\n"]
}
"""


def edges(found: DotSystem) -> list[tuple[str, str, str]]:
    system, names = found.system, found.names
    return [
        (names[s], system.actions[a].name, names[t])
        for s, a, t in zip(
            system.source.tolist(), system.action.tolist(), system.target.tolist(), strict=True
        )
    ]


def holding(found: DotSystem, proposition: str) -> list[str]:
    marks = found.system.propositions[proposition]
    return [found.names[state] for state in np.flatnonzero(marks)]


def test_a_file_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "crossing.dot"
    path.write_text(SAMPLE)
    found = read_dot_file(path)
    assert found.names == ("idle", "car in", "crash")
    assert edges(found) == [
        ("idle", "go", "car in"),
        ("car in", "go", "idle"),
        ("car in", "Tc", "crash"),
        ("crash", '"quoted" \\n', "crash"),
    ]
    assert found.system.initial == (0,)
    assert found.system.name == "the crossing"
    assert holding(found, "bad") == holding(found, "Train.Tc") == holding(found, "Car.Cc")
    assert holding(found, "bad") == ["crash"]
    assert found.system.rate is not None
    assert np.array_equal(found.system.rate, [np.nan, np.nan, 0.01, np.nan], equal_nan=True)
    go, crash, _ = found.system.actions
    assert (go.failure, go.detected) == (False, None)
    assert (crash.failure, crash.detected) == (True, False)
    assert str(crash.origin) == f"{path}:7:5"


@pytest.mark.parametrize(
    ("statements", "initial"),
    [
        ("a [initial=true]; a -> b [label=x]", ["a"]),
        ("node [initial=true] a; node [initial=false] b -> a [label=x]", ["a"]),
        ("{ node [shape=none label=``] i j } a -> b [label=x]; i -> a; j -> b", ["a", "b"]),
        ("i [style=invis]; i -> b; b -> a [label=x]", ["b"]),
        # Something leads to `i`, or from it with a label: then it is a state.
        ("i [shape=point initial=1]; i -> a [label=y]", ["i"]),
        ("i [shape=point]; a [initial=yes]; a -> i [label=y]", ["a"]),
    ],
)
def test_initial_states(statements: str, initial: list[str]) -> None:
    found = read_dot("digraph {" + statements.replace("``", '""') + "}")
    assert [found.names[state] for state in found.system.initial] == initial


@pytest.mark.parametrize(
    ("statements", "bad"),
    [
        ("b [shape=doublecircle]", ["b"]),
        ("c [peripheries=2]", ["c"]),
        ("b [shape=doublecircle]; c [bad=true]", ["c"]),
        ("b [shape=doublecircle]; c [bad=false]", []),
        ("b [shape=doublecircle]; c [props=bad]", ["c"]),
        ("subgraph cluster_1 { node [bad=1]; c; subgraph { b } } a", ["c", "b"]),
        ("", []),
    ],
)
def test_bad_states(statements: str, bad: list[str]) -> None:
    found = read_dot("digraph {" + statements + "; a [initial=true]; a -> b -> c [label=x] }")
    assert sorted(holding(found, "bad")) == sorted(bad)


def test_labels() -> None:
    text = r'digraph { a [initial=1]; a -> a [label="one\ntwo\\\l"]; a -> a [label="x\
y"]; edge [label=z] a -> a; a -> a [label="" silent=true] }'
    found = read_dot(text)
    assert [e[1] for e in edges(found)] == ["one\ntwo\\", "xy", "z", "tau"]


def test_silence() -> None:
    text = "a -> a [label=x silent=true]; a -> a [label=i]; a -> a [label=tau silent=0] }"
    found = read_dot(BEGIN + text)
    assert [action.silent for action in found.system.actions] == [True, True, False]


def test_strict_graphs() -> None:
    found = read_dot("strict digraph { a [initial=1]; a -> b [label=x]; b -> a [label=y] }")
    assert len(edges(found)) == 2
    with pytest.raises(InputError, match=r"2:1: .*one edge between two nodes"):
        read_dot("strict digraph { a [initial=1]; a -> b [label=x];\na -> b [label=y] }")


BEGIN = "digraph { a [initial=true]; "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: .*expected `digraph`, found the end of the file"),
        ("graph { a -- b }", "1:1: .*undirected graphs are not supported"),
        ("digraph a b { }", r"1:11: .*expected `\{`, found `b`"),
        ("digraph { a", r"1:12: .*expected `\}`, found the end of the file"),
        ("digraph { } digraph { }", "1:13: .*expected the end of the file after the graph"),
        (BEGIN + "a -- b }", "1:31: .*expected `->`, found `--`"),
        (BEGIN + "a -> }", r"1:34: .*expected a node after `->`, found `\}`"),
        (BEGIN + "a -> { b c } }", "1:34: .*subgraphs as ends of edges are not supported"),
        (BEGIN + "{ b c } -> a }", "1:37: .*subgraphs as ends of edges are not supported"),
        (BEGIN + "a -> subgraph x { b } }", "1:34: .*subgraphs as ends"),
        (BEGIN + "a -> b [label=<b>] }", "1:43: .*HTML labels of edges are not supported"),
        (BEGIN + "a -> b [label=<b }", "1:43: .*this `<` is never closed"),
        (BEGIN + 'a -> b [label="b] }', '1:43: .*this `"` is never closed'),
        (BEGIN + "a -> b [label=x }", r"1:45: .*expected an attribute or `\]`, found `\}`"),
        (BEGIN + "a -> b [label] }", "1:42: .*expected `=` after the attribute `label`"),
        (BEGIN + "node }", r"1:34: .*expected `\[` after `node`"),
        (BEGIN + "a /* }", r"1:31: .*comment is never closed"),
        (BEGIN + "a-b }", "1:30: .*unknown character `-`"),
        (BEGIN + "1a -> b }", "1:29: .*unknown character `1`"),
        (BEGIN + "a -> b }", "1:29: .*this transition has no action"),
        (BEGIN + 'a -> b [label="\\E"] }', r"1:43: .*the escape `\\E`"),
        (BEGIN + "a -> b [label=x rate=fast] }", "1:50: .*the rate `fast` is no number"),
        (BEGIN + "a -> b [label=x rate=-1] }", "1:50: .*the rate `-1` is no number, at least 0"),
        (BEGIN + "a -> b [label=x failure=maybe] }", "1:53: .*`failure` is `maybe`"),
        (
            BEGIN + "a -> b [label=x failure=1] b -> a [label=x failure=0] }",
            "1:80: .*`failure` of the action `x` is said in two ways",
        ),
        ("digraph { a -> b [label=x] }", "1:11: .*no state is the initial one"),
        ("digraph { }", "1:12: .*no state is the initial one"),
        (BEGIN + 'a [x="a" + b] }', "1:40: .*expected a quoted text after `.`"),
    ],
)
def test_what_is_wrong_with_a_file(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_dot(text, "x.dot")


def test_what_is_refused_is_unsupported() -> None:
    for text in ("graph { }", BEGIN + "{ b } -> a }"):
        with pytest.raises(UnsupportedError):
            read_dot(text)


def test_several_problems_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_dot("digraph { a -> b; b -> c [label=x rate=y]; c -> a }")
    assert len(caught.value.diagnostics) == 4
    path = tmp_path / "x.dot"
    path.write_bytes(b"digraph {\n a\xff }")
    with pytest.raises(InputError, match=r"2:3: .*byte 0xff is not UTF-8"):
        read_dot_file(path)


def test_deep_and_long_files_are_no_problem() -> None:
    deep = "digraph {" + "{" * 5000 + "a [initial=true]" + "}" * 5000 + "}"
    assert read_dot(deep).names == ("a",)
    chain = "digraph { s0 [initial=1]; " + " -> ".join(f"s{n}" for n in range(20_000))
    assert read_dot(chain + " [label=x] }").system.transitions == 19_999
    with pytest.raises(InputError, match="never closed"):
        read_dot("digraph {" + "<" * 100_000)


# ---------------------------------------------------------------------------------- both ways

texts = st.one_of(
    st.sampled_from(
        ["a", "node", "Graph", "1", "01", "-1.5", "é", 'q"', "a,b", "<b>", "", " ", "//"]
    ),
    st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs"]), max_size=5),
)
actions = st.one_of(
    st.sampled_from(["\\", "\\\\", '\\"', "\n", "\\n", "a\\l", "i", "tau", "\\\n", "\r\n"]),
    texts.filter(bool),
    st.text(st.sampled_from('\\"nlr\n,'), min_size=1, max_size=6),
)
propositions = st.one_of(
    st.sampled_from(["p", "a,b", "\\", "\\,", 'x == "q"', ",", "a\\\n b", "bad"]),
    st.text(st.sampled_from('\\",x \n'), min_size=1, max_size=5),
).filter(lambda name: name == name.strip() and bool(name))


@st.composite
def systems(draw: st.DrawFn) -> tuple[TransitionSystem, list[str] | None]:
    states = draw(st.integers(1, 5))
    infos = tuple(
        Action(
            name=name,
            failure=draw(st.booleans()),
            detected=draw(st.sampled_from([None, True, False])),
            silent=draw(st.booleans()),
            component=draw(texts),
        )
        for name in draw(st.lists(actions, max_size=3, unique=True))
    )
    state = st.integers(0, states - 1)
    rows = []
    if infos:
        rows = draw(st.lists(st.tuples(state, st.integers(0, len(infos) - 1), state), max_size=6))
    table = np.array(rows, np.int32).reshape(-1, 3)
    rate = None
    if draw(st.booleans()):
        values = st.one_of(st.just(np.nan), st.floats(0, 1e300))
        rate = np.array([draw(values) for _ in rows], np.float64)
    marks = st.lists(st.booleans(), min_size=states, max_size=states)
    system = TransitionSystem(
        states=states,
        actions=infos,
        source=table[:, 0],
        action=table[:, 1],
        target=table[:, 2],
        initial=tuple(sorted(draw(st.sets(state, min_size=1, max_size=3)))),
        propositions=MappingProxyType(
            {
                name: np.array(draw(marks), bool)
                for name in ["bad", *draw(st.lists(propositions, max_size=2))]
            }
        ),
        rate=rate,
        name=draw(texts),
    )
    names = st.lists(texts, min_size=states, max_size=states, unique=True)
    return system, draw(st.none() | names)


@given(systems())
def test_what_was_written_reads_back_equal(
    given: tuple[TransitionSystem, list[str] | None],
) -> None:
    system, names = given
    found = read_dot(write_dot(system, names))
    again = found.system
    expected = names or [str(state) for state in range(system.states)]
    assert list(found.names) == expected
    assert edges(found) == edges(DotSystem(system, tuple(expected)))
    assert again.initial == system.initial
    assert again.name == system.name
    assert again.propositions.keys() == system.propositions.keys()
    for name, marks in system.propositions.items():
        assert (again.propositions[name] == marks).all()
    used = {system.actions[number] for number in system.action.tolist()}
    assert set(again.actions) == used
    if system.rate is None or np.isnan(system.rate).all():
        assert again.rate is None
    else:
        assert again.rate is not None
        assert np.array_equal(again.rate, system.rate, equal_nan=True)


def test_what_cannot_be_written() -> None:
    system = TransitionSystem.from_edges([(0, "a", 1)], 0)
    for wrong, message in (
        (replace(system, name="a\\b"), "has a backslash"),
        (replace(system, actions=(Action(name=""),)), "without a name"),
        (replace(system, actions=(Action(name="a", component="\\"),)), "has a backslash"),
        (replace(system, propositions={" p": np.zeros(2, bool)}), "begins or ends blank"),
    ):
        with pytest.raises(UsageError, match=re.escape(message)):
            write_dot(wrong)
    with pytest.raises(UsageError, match="2 states need as many different names"):
        write_dot(system, ["a", "a"])


PARTS = ["digraph", "{", "}", "[", "]", "=", "->", "--", ";", ",", "+", ":", "<", ">", '"', "\\"]
PARTS += ["a", "b", "label", "initial", "true", "subgraph", "node", "1.", "/*", "\n#", "shape=none"]


@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_nonsense_is_told_or_read(parts: list[str]) -> None:
    for text in (" ".join(parts), BEGIN + "".join(parts) + "}"):
        with suppress(InputError):
            assert read_dot(text).system.initial
