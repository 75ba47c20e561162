"""From documents to networks."""

from __future__ import annotations

from html import escape
from pathlib import Path
from time import perf_counter

import pytest

from whence.expr.printer import print_expression
from whence.expr.tree import Binary, Call, Expr, InLocation, Name, Quantifier, SymbolKind
from whence.expr.types import CLOCK, CONSTRAINT, DIFFERENCE, BoolType, IntType
from whence.expr.walk import subexpressions
from whence.formats.uppaal.elaborate import Elaborated, elaborate
from whence.formats.uppaal.elaborate_queries import check_query, queries
from whence.formats.uppaal.xml import read_xml, read_xml_file
from whence.model.layout import layout_of
from whence.source import InputError, UnsupportedError

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "uppaal"


def template(
    name: str = "P",
    parameters: str = "",
    declarations: str = "",
    edges: str = "",
    locations: str = '<location id="id0"><name>A</name></location>'
    '<location id="id1"><name>B</name></location>',
    init: str = '<init ref="id0"/>',
) -> str:
    return (
        f"<template><name>{name}</name><parameter>{escape(parameters)}</parameter>"
        f"<declaration>{escape(declarations)}</declaration>{locations}{init}{edges}</template>"
    )


def edge(source: int = 0, target: int = 1, **labels: str) -> str:
    kinds = "".join(f'<label kind="{kind}">{escape(text)}</label>' for kind, text in labels.items())
    return f'<transition><source ref="id{source}"/><target ref="id{target}"/>{kinds}</transition>'


def model(declarations: str, templates: str, system: str, *formulas: str) -> Elaborated:
    asked = "".join(f"<query><formula>{escape(text)}</formula></query>" for text in formulas)
    text = (
        f"<nta><declaration>{escape(declarations)}</declaration>{templates}"
        f"<system>{escape(system)}</system><queries>{asked}</queries></nta>"
    )
    return elaborate(read_xml(text, "m.xml"))


def problems(declarations: str, templates: str, system: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        model(declarations, templates, system)
    for item in caught.value.diagnostics:
        assert item.origin.file == "m.xml"
        assert item.origin.line
    return [item.message for item in caught.value.diagnostics]


TRAIN = template(
    "Train",
    "const id_t id",
    "clock x; int n = id;",
    edge(guard="x >= id && id > 0", synchronisation="go[id]!", assignment="last = id, x = 0")
    + edge(1, 0, select="k : id_t", guard="k != id", assignment="last = k"),
)
TRAINS = "typedef int[0,2] id_t; chan go[id_t]; id_t last;"


def test_one_process_for_each_value() -> None:
    network = model(TRAINS, TRAIN, "system Train;").network
    assert [process.name for process in network.processes] == ["Train(0)", "Train(1)", "Train(2)"]
    assert [process.arguments for process in network.processes] == [
        (("id", str(number)),) for number in range(3)
    ]
    assert [str(variable.symbol) for variable in network.variables][:4] == [
        "go", "last", "Train(0).x", "Train(0).n",
    ]  # fmt: skip
    assert [v.initial for v in network.variables if v.symbol.name == "n"] == [(0,), (1,), (2,)]
    first, second = network.processes[1].edges
    assert first.guard is not None
    assert print_expression(first.guard) == "x >= 1 && 1 > 0"
    assert first.synchronisation is not None
    assert print_expression(first.synchronisation.channel) == "go[1]"
    assert second.selects[0].symbol.scope == "Train(1)#1"
    assert second.selects[0].symbol.kind is SymbolKind.SELECT
    assert (second.selects[0].lo, second.selects[0].hi) == (0, 2)


def test_instances_and_references() -> None:
    network = model(
        "clock g, gs[3]; int v; const int C[2] = {4, 5};",
        template(
            "T", "int k, clock &c, int &w, const int a[2]",
            edges=edge(guard="c < k + a[1]", assignment="w = k, c = 0"),
        ),
        "P = T(2, gs[1], v, C); Q(const int[1,2] i) = T(i, gs[i - 1], v, C); system P < Q;",
    ).network  # fmt: skip
    assert [process.name for process in network.processes] == ["P", "Q(1)", "Q(2)"]
    assert [process.priority for process in network.processes] == [0, 1, 1]
    assert network.processes[2].arguments == (
        ("k", "2"), ("c", "gs[1]"), ("w", "v"), ("a", "C"),
    )  # fmt: skip
    guard = network.processes[1].edges[0].guard
    assert guard is not None
    assert print_expression(guard) == "gs[0] < 1 + a[1]"
    assert {str(constant.symbol) for constant in network.constants} == {
        "C", "P.a", "Q(1).a", "Q(2).a",
    }  # fmt: skip


def test_instances_of_instances() -> None:
    network = model(
        "int v;",
        template("T", "int &w, const int k, const int m", edges=edge(assignment="w = k + m")),
        "Q(const int z, const int m) = T(v, z, m); R(int[1,2] z) = Q(z, z + 1); system R;",
    ).network
    assert [(process.name, process.arguments) for process in network.processes] == [
        ("R(1)", (("w", "v"), ("k", "1"), ("m", "2"))),
        ("R(2)", (("w", "v"), ("k", "2"), ("m", "3"))),
    ]
    assert print_expression(network.processes[1].edges[0].updates[0]) == "v = 2 + 3"


def test_scalar_sets() -> None:
    elaborated = model(
        "typedef scalar[3] S; S cur; int n[S]; chan c[S];",
        template(
            "T", "const S id",
            edges=edge(guard="cur == id && n[id] > 0", synchronisation="c[id]!",
                       assignment="cur = id, n[id]++"),
        ),
        "system T;",
    )  # fmt: skip
    assert [process.name for process in elaborated.network.processes] == ["T(0)", "T(1)", "T(2)"]
    query = check_query(elaborated, "A[] forall (i : S) T(i).A imply n[i] == 0")
    assert query.predicate is not None
    assert print_expression(query.predicate) == "forall (i : S) T(i).A imply n[i] == 0"
    with pytest.raises(InputError, match="must be of scalar set S"):
        check_query(elaborated, "A[] T(1).A")


def test_ranges_may_depend_on_earlier_parameters() -> None:
    elaborated = model("", template("T", "int[0,2] a, int[0,a] b"), "system T;")
    names = [process.name for process in elaborated.network.processes]
    assert names == ["T(0,0)", "T(1,0)", "T(1,1)", "T(2,0)", "T(2,1)", "T(2,2)"]
    assert check_query(elaborated, "E<> T(2,1).B").predicate is not None
    query = check_query(elaborated, "E<> exists (i : int[0,2]) T(i, i).B")
    assert query.predicate is not None
    assert print_expression(query.predicate) == "T(0, 0).B || T(1, 1).B || T(2, 2).B"


def test_functions_belong_to_processes() -> None:
    network = model(
        "int g; void f() { g = 1; }",
        template("T", "const int[0,1] i", "int l; void set() { l = i; f(); }",
                 edge(assignment="set()")),
        "system T;",
    ).network  # fmt: skip
    assert {str(symbol) for symbol in network.functions} == {"f", "T(0).set", "T(1).set"}


def test_drawing_and_names() -> None:
    network = model(
        "clock x;",
        template(
            locations='<location id="id7" x="3" y="-4" color="#ff0000">'
            '<label kind="invariant" x="1" y="2">x &lt;= 3</label><committed/></location>',
            init='<init ref="id7"/>',
        ),
        "system P;",
    ).network
    (location,) = network.processes[0].locations
    assert (location.name, location.ident, location.kind) == ("id7", "id7", "committed")
    assert location.drawing.position == (3, -4)
    assert location.drawing.colour == "#ff0000"
    assert location.drawing.labels["invariant"] == ("x <= 3", (1, 2))


def test_parameters_may_keep_faults_away() -> None:
    # Process 0 never reads flag[-1]: its guard says so.
    model(
        "int flag[3];",
        template("T", "const int[0,2] i", "int prev() { return flag[i - 1]; }",
                 edge(guard="i > 0 && flag[i - 1] == 1") + edge(assignment="flag[i - 1] = 0")),
        "system T;",
    )  # fmt: skip


def test_channel_priorities() -> None:
    declarations = "int a; chan c, d[2]; clock x; chan e; chan priority c, d[0] < default < e;"
    network = model(declarations, template(), "system P;").network
    names = [cell.name for cell in layout_of(network).channels]
    found = {names[number]: level for number, level in network.channel_priorities.items()}
    assert found == {"c": 0, "d[0]": 0, "e": 2}
    assert network.default_priority == 1


@pytest.mark.parametrize(
    ("templates", "system", "message"),
    [
        (template(), "P1 = P();", "there is no line `system …;` that says which processes "
         "there are"),
        (template(init=""), "system P;", "template `P` has no initial location"),
        (template(init='<init ref="id9"/>'), "system P;",
         "the initial location `id9` does not exist"),
        (template(edges=edge(0, 5)), "system P;",
         "an edge from or to `id5`, which is no location of its template"),
        (template(locations='<location id="id0"><name>A</name></location>'
                  '<location id="id1"><name>A</name></location>'), "system P;",
         "two locations are called `A`"),
        (template() + template(), "system P;", "`P` is declared twice in the same scope"),
        (template(), "system P, P;", "process `P` is listed twice in the system"),
        (template(), "system Q;", "unknown process or template `Q`"),
        (template(), "Q = R(); system Q;", "unknown template `R`"),
        (template(), "Q = P(1); system Q;", "`P` takes 0 arguments, found 1"),
        (template(parameters="int &v"), "system P;",
         "parameter `v` of `P` is left open: expected a range of integers or a scalar set, "
         "found a reference"),
        (template(parameters="int v"), "system P;",
         "parameter `v` of `P` is left open: expected a range of integers or a scalar set, "
         "found int without a range"),
        (template(parameters="int[0,3] v"), "Q = P(4); system Q;",
         "argument `v` of `P` is 4, outside the range 0 to 3"),
        (template(parameters="clock &v"), "Q = P(g); system Q;",
         "argument `v` of `P` must be a clock, found an integer"),
        (template(parameters="int v"), "Q = P(g); system Q;",
         "argument `v` of `P` must be a constant"),
        (template(edges=edge(synchronisation="g!")), "system P;",
         "expected a channel, found an integer"),
        (template(edges=edge(select="i : int[0,1]", assignment="i = 0")), "system P;",
         "an assignment cannot change `i`, which is a select variable"),
        (template(edges=edge(guard="zz > 1")), "Q = P(); system Q;", "unknown name `zz`"),
        (template() + template("Unused", edges=edge(guard="zz > 1")), "system P;",
         "unknown name `zz`"),
    ],
)  # fmt: skip
def test_wrong(templates: str, system: str, message: str) -> None:
    assert problems("int g;", templates, system) == [message]


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        (template(edges=edge(guard="x > 1", synchronisation="u!")),
         "not supported: clock guard on an urgent channel"),
        (template(edges=edge(probability="3")), "not supported: probabilistic weights of edges"),
        (template(locations='<location id="id0"/><branchpoint id="id1"/>'),
         "not supported: branchpoints (probabilistic choice)"),
        (template(edges=edge(guard="x != 1")),
         "not supported: `!=` between a clock and a number in a guard"),
    ],
)  # fmt: skip
def test_refused(templates: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        model("clock x; urgent chan u;", templates, "system P;")
    assert [item.message for item in caught.value.diagnostics] == [message]
    # The same in a template that nobody uses harms nobody.
    model(
        "clock x; urgent chan u;",
        templates + template("Q"),
        "system Q;",
    )


def test_clock_guards_of_broadcast_receivers() -> None:
    model("clock x; broadcast chan c;",
          template(edges=edge(guard="x > 1", synchronisation="c?")), "system P;")  # fmt: skip


def test_errors_are_told_once_for_all_instances() -> None:
    found = problems(
        "int g;",
        template("T", "const int[0,2] i", edges=edge(guard="zz > 1", assignment="yy = 1, g = 2")),
        "system T;",
    )
    assert found == ["unknown name `zz`", "unknown name `yy`"]


# ------------------------------------------------------------------------------------ queries


@pytest.fixture(scope="module")
def trains() -> Elaborated:
    gate = template("Gate", declarations="int A; int len;")
    wide = template("Wide", "const int[1,2] a, const id_t b")
    return model(TRAINS + " clock gx;", gate + wide + TRAIN, "system Gate, Wide, Train;")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("E<> Train(1).B", "Train(1).B"),
        ("A[] Gate.A imply Gate.len < 3 && gx <= 4", "Gate.A imply len < 3 && gx <= 4"),
        ("A[] forall (i : id_t) Train(i).x >= 1",
         "(x >= 1 && x >= 1) && x >= 1"),
        ("A[] forall (i : id_t) forall (j : id_t) Train(i).n == i && Train(j).A",
         None),
        ("A[] not deadlock", "!deadlock"),
    ],
)  # fmt: skip
def test_queries(trains: Elaborated, text: str, printed: str | None) -> None:
    query = check_query(trains, text)
    assert query.predicate is not None
    if printed is not None:
        shown = print_expression(query.predicate)
        assert shown.replace("(", "").replace(")", "") == printed.replace("(", "").replace(")", "")
    assert query.text == text


def test_location_of_a_bound_process(trains: Elaborated) -> None:
    query = check_query(trains, "E<> exists (i : id_t) exists (k : int[1,2]) Wide(k, i).B")
    inner = query.predicate.body.body  # type: ignore[union-attr]
    assert isinstance(inner, InLocation)
    assert inner.text == "Wide(k, i).B"
    assert inner.location == 1
    # Gate is process 0, Wide(1,0) is 1, and three values of b make one step of a.
    assert print_expression(inner.process) == "k * 3 + i - 2"


def test_location_of_a_computed_process(trains: Elaborated) -> None:
    query = check_query(trains, "E<> Train(last).B")
    assert isinstance(query.predicate, InLocation)
    assert print_expression(query.predicate.process) == "last + 7"
    query = check_query(trains, "E<> Train(last + 1).B")
    assert isinstance(query.predicate, InLocation)
    assert "-1" in print_expression(query.predicate.process)


def test_a_location_hides_a_variable(trains: Elaborated) -> None:
    assert isinstance(check_query(trains, "E<> Gate.A").predicate, InLocation)


def test_sup_and_leads_to(trains: Elaborated) -> None:
    query = check_query(trains, "sup{Gate.A}: Gate.len, Train(0).x")
    assert len(query.expressions) == 2
    assert isinstance(query.expressions[1], Name)
    assert check_query(trains, "Gate.A --> Gate.B").second is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("E<> Trian(1).B", "unknown process `Trian`"),
        ("E<> Train(3).B", "there is no process Train(3)"),
        ("E<> Train.B", "`Train` stands for 3 processes"),
        ("E<> Gate.C", "process `Gate` has no location or variable `C`"),
        ("E<> Gate(1).A", "process `Gate` has no parameters left"),
        ("E<> Train(last).n == 1",
         "not supported: a variable of a process that is not known before the system runs "
         "(Train(last))"),
        ("E<> last++ > 0", "`++` is not allowed in a property"),
        ("sup: Train(0).x - gx",
         "not supported: reading the value of a clock (what `sup` and `inf` ask for)"),
        ("A[] forall (i : int[0,9]) Train(i).n == 0", "there is no process Train(3)"),
        ("A[] forall (a : int[0,400]) forall (b : int[0,400]) Train((a + b) % 3).n > 0",
         "not supported: a property of more than 100000 nodes when its quantifiers are written "
         "out"),
    ],
)  # fmt: skip
def test_wrong_queries(trains: Elaborated, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        check_query(trains, text)
    assert [item.message for item in caught.value.diagnostics] == [message]


def test_a_bad_query_does_not_stop_the_others() -> None:
    found = queries(model("", template(), "system P;", "E<> P.A", "E<> P.Z", "", "A[] P.B"))
    assert [isinstance(outcome, InputError) for _, outcome in found] == [False, True, False]


# ---------------------------------------------------------------------------------- many files


def test_many_instances_are_quick() -> None:
    text = "".join(
        edge(n % 2, 1 - n % 2, guard=f"x >= {n} && id > {n}", assignment="last = id, x = 0")
        for n in range(5)
    )
    start = perf_counter()
    network = model(
        "typedef int[0,1999] id_t; id_t last;",
        template("T", "const id_t id", "clock x; int n;", text),
        "system T;",
    ).network
    assert len(network.processes) == 2000
    assert network.processes[-1].arguments == (("id", "1999"),)
    assert network.variables[-1].symbol.type == IntType(-32768, 32767)
    # Three seconds are asked for; the margin is for busy machines.
    assert perf_counter() - start < 15


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no models in {DATA}")
def test_collected_models_elaborate_or_are_refused_by_name() -> None:
    refused: list[str] = []
    wrong: list[str] = []
    paths = sorted(DATA.glob("**/*.xml"))
    for path in paths:
        try:
            elaborated = elaborate(read_xml_file(path))
        except InputError as error:
            unsupported = isinstance(error, UnsupportedError)
            if unsupported and not all("not supported: " in d.message for d in error.diagnostics):
                wrong.append(f"{path.name}: {error}")
            (refused if unsupported else wrong).append(path.name.rpartition("__")[2])
            continue
        network = elaborated.network
        assert network.processes
        layout_of(network)
        for process in network.processes:
            for location in process.locations:
                assert_typed(location.invariant, conjunction=True)
            for one in process.edges:
                assert_typed(one.guard, conjunction=True)
                for update in one.updates:
                    assert_typed(update)
        for _, outcome in queries(elaborated):
            if isinstance(outcome, InputError):
                assert outcome.diagnostics[0].origin.line
            else:
                assert_typed(outcome.predicate)
    # These files are wrong: a template that does not exist, and variables that do not.
    assert wrong == ["BallX.xml", "train-gate-controller.xml"]
    assert len(refused) <= len(paths) // 3


def assert_typed(expr: Expr | None, *, conjunction: bool = False) -> None:
    """Every node has a type, and clocks are compared in the one form that is promised."""
    if expr is None:
        return
    for node in subexpressions(expr):
        assert node.type is not None
        assert not isinstance(node, Name | Call | Quantifier) or node.symbol is not None
    if conjunction and expr.type == CONSTRAINT:
        assert_conjunction(expr)


def assert_conjunction(expr: Expr) -> None:
    match expr:
        case Binary(op="&&", left=left, right=right):
            sides = [left, right]
        case Binary(op="||" | "imply", left=left, right=right):
            assert left.type != CONSTRAINT
            sides = [right]
        case Quantifier(kind="forall", body=body):
            sides = [body]
        case Binary(left=left, right=right):
            assert expr.op in ("<", "<=", ">", ">=", "==")
            subject = left.type
            if subject == DIFFERENCE:
                assert isinstance(left, Binary)
                assert (left.op, left.left.type, left.right.type) == ("-", CLOCK, CLOCK)
            else:
                assert subject == CLOCK
            assert isinstance(right.type, IntType | BoolType)
            return
        case _:
            raise AssertionError(expr)
    for side in sides:
        if side.type == CONSTRAINT:
            assert_conjunction(side)
