"""Our YAML format of charts: what is read, where it stands, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from whence.formats.charts.texts import cut, read_effects
from whence.formats.charts.write import write_chart
from whence.formats.charts.yaml import read_chart, read_chart_file, schema
from whence.model.chart import Assign, Chart, Send
from whence.source import Diagnostic, InputError, SourceText, UnsupportedError

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))

EVERYTHING = """\
chart: everything
time-unit: minute
signals: [gateClose, gateOpen]
variables:
  count: int[0,3] = 0
  mode: enum {slow, fast} = fast
  limit: {type: uint8, initial: 7, role: constant}
machines:
  Gate:
    queue: {capacity: 3, when-full: lose, unexpected: discard}
    environment: true
    variables: {open: bool = true, "level": "int[-2,2]"}
    initial: {to: closed, do: "count = 1", event: Go, failure: false}
    states:
      closed:
        entry: "open = false; send gateOpen to Train"
        exit: |
          open = true, count += 1;
          send gateOpen
        failure: true
        tags: [error, Zustand]
        satisfies: [REQ-1]
        position: [10, -20]
      Work:
        initial: idle
        states:
          idle:
          busy: {}
      pick: {kind: choice}
      done: {kind: final}
    transitions:
      - closed -> Work
      - from: idle
        to: pick
        on: gateClose
        when: "!open && count < 3"
        do: "count += 1"
        event: Gc
        rate: 1e-4
        failure: true
        detected: false
        priority: 2
        satisfies: [REQ-1]
      - {from: pick, to: Work.busy, when: count == 1}
      - {from: pick, to: done, when: else}
      - {from: busy, internal: true, on: gateOpen, rate: 1/3}
  Train: {initial: out, states: {out: {}}}
hazards:
  accident: Gate.closed && Train.out
  never-late: {ltl: "G !(Gate.closed)"}
requirements:
  REQ-1: "it shall: work"
"""


def plain(value: Any) -> Any:
    """A chart without places: what it says."""
    if isinstance(value, SourceText):
        return value.text
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.compare}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value


def problems_in(text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read_chart(text, "c.yaml")
    return caught.value.render()


MACHINE = """\
machines:
  M:
    initial: a
    states: {a: {}, b: {}}
"""


class TestReading:
    chart: Chart = read_chart(EVERYTHING, "e.yaml")

    def test_parts(self) -> None:
        chart = self.chart
        assert (chart.name, chart.time_unit) == ("everything", "minute")
        assert [signal.name for signal in chart.signals] == ["gateClose", "gateOpen"]
        count, mode, limit = chart.variables
        assert (count.type.lo, count.type.hi, count.type.wrap) == (0, 3, False)
        assert mode.type.members == ("slow", "fast")
        assert (limit.role, limit.type.wrap, limit.type.hi) == ("constant", True, 255)
        gate = chart.machines[0]
        assert (gate.capacity, gate.when_full, gate.unexpected) == (3, "lose", "discard")
        assert gate.environment
        states = {state.ident: state for state in gate.states}
        assert list(states) == [
            *("(initial)", "closed", "Work", "Work.(initial)", "Work.idle", "Work.busy"),
            *("pick", "done"),
        ]
        assert states["Work.idle"].parent == "Work"
        assert states["closed"].failure
        assert states["closed"].position == (10, -20)
        first, work, *rest = gate.transitions
        assert (first.source, first.target, first.event) == ("(initial)", "closed", "Go")
        assert (work.source, work.target) == ("Work.(initial)", "Work.idle")
        _, trigger, to_busy, otherwise, internal = rest
        assert trigger.rate == Fraction(1, 10000)
        assert (trigger.source, trigger.trigger, trigger.priority) == ("Work.idle", "gateClose", 2)
        assert (trigger.failure, trigger.detected) == (True, False)
        assert to_busy.target == "Work.busy"
        assert otherwise.otherwise
        assert otherwise.guard is None
        assert (internal.internal, internal.target) == (True, "Work.busy")
        assert internal.rate == Fraction(1, 3)
        accident, late = chart.hazards
        assert (accident.temporal, late.temporal) == (False, True)
        assert late.text.text == "G !(Gate.closed)"

    def test_places(self) -> None:
        """Each text knows the line and column of its characters, however it is written."""
        lines = EVERYTHING.splitlines()
        gate = self.chart.machines[0]
        closed = gate.states[1]
        assert str(closed.origin) == "e.yaml:15:7"
        texts = [
            (closed.entry[0], "open = false"),
            (closed.exit[0], "open = true, count += 1"),
            (gate.transitions[3].effects[0], "count += 1"),
        ]
        for effect, written in texts:
            assert isinstance(effect, Assign)
            line, column = effect.text.position(0)
            assert lines[line - 1][column - 1 :].startswith(written)
        for send in (closed.entry[1], closed.exit[1]):
            assert isinstance(send, Send)
            origin = send.origin
            assert lines[origin.line - 1][origin.column - 1 :].startswith("send gateOpen")
        guard = gate.transitions[3].guard
        assert guard is not None
        assert guard.position(1) == (36, 17)
        late = self.chart.hazards[1].text
        assert lines[late.position(3)[0] - 1][late.position(3)[1] - 1 :].startswith("(Gate")

    def test_inferred_signals(self) -> None:
        chart = read_chart(
            MACHINE + "    transitions: [{from: a, to: b, on: go}, {from: b, to: a, do: send x}]"
        )
        assert [signal.name for signal in chart.signals] == ["go", "x"]

    def test_yes_and_on_are_names(self) -> None:
        chart = read_chart("machines: {M: {initial: yes, states: {yes: {}, no: {}, on: null}}}")
        assert [s.name for s in chart.machines[0].states] == ["initial", "yes", "no", "on"]


@pytest.mark.parametrize(
    ("written", "where"),
    [
        ('"x &&\n    y"', {"x": (1, 2), "y": (2, 5)}),
        ('"\\x78 \\\n   y"', {"x": (1, 2), "y": (2, 4)}),
        ("'it''s x'", {"x": (1, 8)}),
        ("|2\n   x = 1;\n   y", {"x": (2, 4), "y": (3, 4)}),
        (">-\n  x\n  y", {"x": (2, 3), "y": (3, 3)}),
        ("x = 1\n  + y", {"x": (1, 1), "y": (2, 5)}),
        ('"\\t\\u0078 = \\"y"', {"x": (1, 4), "y": (1, 15)}),
    ],
)
def test_places_in_scalars(written: str, where: dict[str, tuple[int, int]]) -> None:
    from whence.expr.scope import Problems
    from whence.formats.charts.nodes import Scalar, read_nodes

    node = read_nodes(written, "s", Problems())
    assert isinstance(node, Scalar)
    found = {char: node.text.position(node.value.index(char)) for char in where}
    assert found == where


def test_cut_keeps_places() -> None:
    source = SourceText("ab cd\nef", "f", ((0, 3, 7), (3, 5, 1)))
    part = cut(source, 4, 8)
    assert [part.position(n) for n in range(4)] == [source.position(n) for n in range(4, 8)]


# -------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["c.yaml:1:1: error: expected a chart"]),
        ("- a", ["expected a chart"]),
        ("chart: x", ["a chart needs `machines:`"]),
        ("machines: {M: {}}", ["machine `M` has no states"]),
        ("machines: {M: {states: {a: {}}}}", ["needs `initial:`"]),
        (
            MACHINE.replace("initial", "initail"),
            ["c.yaml:3:5: error: unknown key `initail`", "did you mean `initial`?"],
        ),
        (
            MACHINE + "    transitions: [a -> c, b -> B, {from: a}, {to: b}, a - b]",
            [
                "c.yaml:5:24: error: machine `M` has no state `c`",
                "c.yaml:5:32: error: machine `M` has no state `B`",
                "did you mean `b`?",
                "a transition needs `to:`",
                "a transition needs `from:`",
                "expected `state -> state`",
            ],
        ),
        (
            "signals: [gateClose]\n"
            + MACHINE
            + "    transitions: [{from: a, to: b, on: gateclose, do: send gateCloze to M}]",
            ["unknown signal `gateclose`", "did you mean `gateClose`?", "unknown signal `gateC"],
        ),
        (MACHINE + "    transitions: [{from: a, to: b, do: send x to N}]", ["unknown machine `N`"]),
        (MACHINE + "    transitions: [{from: a, to: b, do: send x, y = 1}]", ["c.yaml:5"]),
        (MACHINE + "    transitions: [{from: a, to: b, do: 'send to x'}]", ["`send SIGNAL to MAC"]),
        (
            MACHINE + "    queue: {capacity: 0, when-full: wait}",
            ["number from 1 to 64", "block or"],
        ),
        (MACHINE + "    environment: yes", ["expected true or false"]),
        (MACHINE + "    initial: b", ["`initial` stands here twice", "the first is at c.yaml:3:5"]),
        (MACHINE + "variables: {x: int8 = }", ["missing"]),
        (
            MACHINE + 'variables: {y: "int[3,1]", z: flaot, t: int32}',
            ["is empty", "flaot", "int32"],
        ),
        (MACHINE + "variables: {M: bool}", ["`M` is a machine and a variable"]),
        (MACHINE + "hazards: {h: }", ["the hazard `h` says nothing"]),
        (MACHINE + "hazards: {h: {ctl: x}}", ["unknown key `ctl`"]),
        (
            MACHINE.replace("a: {}", "a: {satisfies: [R1]}") + "requirements: {R2: x}",
            ["unknown requirement `R1`"],
        ),
        (MACHINE.replace("a: {}", "1a: {}"), ["`1a` is no name"]),
        (
            MACHINE.replace("a: {}", "a: {kind: history, entry: x = 1}"),
            ["a history has no `entry`"],
        ),
        (MACHINE.replace("a: {}", "a: {initial: b}"), ["`initial` without `states`"]),
        (MACHINE.replace("a: {}", "a: {regions: [{}]}"), ["not supported: orthogonal regions"]),
    ],
)
def test_mistakes(text: str, messages: list[str]) -> None:
    found = problems_in(text)
    for message in messages:
        assert message in found


@pytest.mark.parametrize(
    ("rate", "ok"),
    [
        *(("1e-4", True), ("0.495e-4", True), ("1 / 3", True), ("'2'", True)),
        *(("0", False), ("-1", False), (".nan", False), ("nan", False), (".inf", False)),
        *(("1e999", False), ("1/0", False), ("1e-999", False), ("0x10", False), ("1_0", False)),
        *(("1e99999999999", False), ("9" * 5000, False), ("often", False)),
    ],
)
def test_rates(rate: str, ok: bool) -> None:
    text = MACHINE + f"    transitions: [{{from: a, to: b, rate: {rate}}}]"
    if ok:
        found = read_chart(text).machines[0].transitions[1].rate
        assert found == Fraction(rate.strip("'").replace(" ", ""))
    else:
        assert re.search(r"c.yaml:5:\d+: error: .*rate", problems_in(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"machines: \xff", "c.yaml:1:11: error: this is not UTF-8 text"),
        ("machines:\n\tM: {}", "c.yaml:2:1: error: this is no YAML"),
        ("machines: {M: {when: !open }}", "not supported: tags (`!open`)"),
        ("machines: {M: {when: !open}}", "if `!` is part of the text"),
        ("machines: {M: {when: ! open}}", "not supported: tags (`!`)"),
        ("a: &x [1]\nmachines: *x", "not supported: anchors"),
        ("machines: *x", "not supported: aliases"),
        ("machines: {M: {when: x: y}}", "this is no YAML"),
        ("--- a\n--- b", "not supported: several documents"),
        ("machines: {M: int[0,3]}", "put the whole text into quotes"),
        ("a: \x00", "character 0x0"),
        ('a: "\\U99999999"', "no character has this number"),
        ('a: "\\ud800"', "half a character"),
        ("? [a]\n: b", "expected a name as key"),
        ("[" * 100_000, "nested more than 100 levels deep"),
        ("".join(" " * n + "a:\n" for n in range(300)), "levels deep"),
        ('a: "', "this is no YAML"),
    ],
)
def test_hostile_files(text: str | bytes, message: str) -> None:
    assert message in problems_in(text)


def test_a_negation_without_quotes_says_what_to_do() -> None:
    found = problems_in(MACHINE + "    transitions: [{from: a, to: b, when: !b}]")
    assert "if `!` is part of the text, put the whole text into quotes" in found


def test_only_refusals_are_unsupported() -> None:
    with pytest.raises(UnsupportedError):
        read_chart(MACHINE.replace("a: {}", "a: {regions: [{}]}"))


def test_byte_order_mark() -> None:
    chart = read_chart(b"\xef\xbb\xbf" + MACHINE.encode(), "b.yaml")
    assert str(chart.machines[0].origin) == "b.yaml:2:3"


@given(st.text(max_size=60), st.integers(0, len(EVERYTHING)), st.integers(0, 40))
def test_damaged_files(noise: str, at: int, left_out: int) -> None:
    """Whatever is in a file, it is read or refused with places."""
    text = EVERYTHING[:at] + noise + EVERYTHING[at + left_out :]
    found: tuple[Diagnostic, ...] = ()
    try:
        read_chart(text, "d.yaml")
    except InputError as error:
        found = error.diagnostics
    assert all(str(diagnostic.origin).startswith("d.yaml") for diagnostic in found)


# ------------------------------------------------------------------------------ writing, schema


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_read_back(path: Path) -> None:
    chart = read_chart_file(path)
    assert plain(read_chart(write_chart(chart))) == plain(chart)


def test_everything_reads_back() -> None:
    chart = read_chart(EVERYTHING)
    written = write_chart(chart)
    assert plain(read_chart(written)) == plain(chart)
    assert write_chart(read_chart(written)) == written


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20))
def test_any_text_reads_back(text: str) -> None:
    chart = read_chart(MACHINE + "requirements: {R: x}")
    (requirement,) = chart.requirements
    from dataclasses import replace

    chart = replace(chart, requirements=(replace(requirement, text=text),))
    assert read_chart(write_chart(chart)).requirements[0].text == text


def test_writing_refuses_what_has_no_form() -> None:
    from dataclasses import replace

    chart = read_chart(MACHINE)
    machine = chart.machines[0]
    odd = replace(machine, states=(*machine.states[:-1], replace(machine.states[-1], name="a b")))
    with pytest.raises(InputError, match="`a b` is no name"):
        write_chart(replace(chart, machines=(odd,)))


class Core(yaml.SafeLoader):
    """YAML 1.2, as editors read it: `on` and `yes` are texts."""


Core.yaml_implicit_resolvers = {
    start: [(tag, pattern) for tag, pattern in resolvers if not (tag.endswith("bool"))]
    for start, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Core.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), list("tf"))
Core.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+"),
    list("0123456789"),
)


def valid(text: str) -> bool:
    validator = jsonschema.Draft202012Validator(schema())
    return validator.is_valid(yaml.load(text, Core))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_fit_the_schema(path: Path) -> None:
    assert valid(path.read_text("utf-8"))


def test_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert valid(EVERYTHING)
    assert valid(write_chart(read_chart(EVERYTHING)))
    assert not valid(EVERYTHING.replace("time-unit: minute", "time-unit: year"))
    assert not valid(EVERYTHING.replace("capacity: 3", "capacity: 0"))
    assert not valid(EVERYTHING.replace("rate: 1e-4", "rate: -1"))
    assert not valid(EVERYTHING.replace("    initial: idle\n", "    initail: idle\n"))
    assert not valid(EVERYTHING.replace("from: busy, internal: true", "from: busy"))


def test_effects() -> None:
    found = read_effects(SourceText("a = 1, b += 2 ; send x ;; send y to M;"))
    assert [e.text.text if isinstance(e, Assign) else (e.signal, e.target) for e in found] == [
        "a = 1, b += 2",
        ("x", None),
        ("y", "M"),
    ]


class TestGoals:
    TEXT = MACHINE + (
        "variables:\n"
        "  lever: input int[0,2] = 1\n"
        "  voltage: {type: 'float[0,12.5]', role: input}\n"
        "  t: timer\n"
        "requirements: {R: text}\n"
        "goals:\n"
        "  reach b: F M.b\n"
        "  later: {ltl: F (M.a && (M.a U M.b)), satisfies: [R]}\n"
    )

    def test_are_read_with_what_they_satisfy(self) -> None:
        chart = read_chart(self.TEXT, "g.yaml")
        assert [(g.name, g.text.text, g.requirements) for g in chart.goals] == [
            ("reach b", "F M.b", ()),
            ("later", "F (M.a && (M.a U M.b))", ("R",)),
        ]
        assert str(chart.goals[0].text.origin(2)) == "g.yaml:11:14"
        jsonschema.validate(yaml.safe_load(self.TEXT), schema())

    def test_roles_can_stand_before_the_type(self) -> None:
        lever, voltage, timer = read_chart(self.TEXT).variables
        assert (lever.role, lever.type.hi, lever.initial and lever.initial.text) == (
            "input",
            2,
            "1",
        )
        assert voltage.type.bounds == (0, Fraction(25, 2))
        assert timer.type.kind == "timer"

    def test_what_was_written_reads_back_equal(self) -> None:
        chart = read_chart(self.TEXT)
        assert plain(read_chart(write_chart(chart))) == plain(chart)

    def test_unknown_requirements_are_mistakes(self) -> None:
        wrong = problems_in(self.TEXT.replace("[R]", "[S]"))
        assert "g.yaml" not in wrong
        assert "unknown requirement `S`" in wrong
        assert "the goal `reach b` says nothing" in problems_in(
            self.TEXT.replace("F M.b\n", "''\n")
        )
