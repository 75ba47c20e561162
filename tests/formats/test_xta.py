"""The textual formats: outlines, places in the file, and query files."""

import pytest

from whence.expr.parser import (
    parse_declarations,
    parse_expression,
    parse_parameters,
    parse_selects,
    parse_synchronisation,
    parse_system,
    parse_updates,
)
from whence.formats.uppaal.document import Document, QueryText, Template
from whence.formats.uppaal.queries import read_queries, says_nothing, write_queries
from whence.formats.uppaal.xta import read_xta, write_xta
from whence.source import InputError, SourceText

TRAIN = """// The train gate.
const int N = 6;
typedef int[0,N-1] id_t;
chan appr[N];
int f(int x) { if (x) { return 1; } return 2; }

process Train(const id_t id, int &n) {
    clock x;   // local
    urgent chan c;
    void g() { x = 0; }
state
    Safe,
    Cross { x <= 5 },
    Stop { x <= 3 && n > 0; 2 : 3 },
    Appr { ; 1 };
branchpoint b;
commit Stop;
urgent Appr, Cross;
init Safe;
trans
    Safe -> Appr { select i : id_t, j : int[0,1]; guard n < 3;
                   sync appr[id]!; assign x = 0, g(); },
    -> Cross { },
    Appr -u-> b { guard x >= 2; },
    b -> Stop { assign n = { 1 } [0]; probability 3; };
}

// Instances
T1 = Train(1, k);
int k;
process Idle() { state A; init A; }
Q(int[0,3] i) = Train(i, k);
system T1, Q < Idle;
query { E<> T1.Cross }
query {
  A[] not deadlock
}
"""


def read(text: str) -> Document:
    return read_xta(SourceText(text, "m.xta"))


def texts(template: Template) -> list[tuple[str, str, dict[str, str]]]:
    return [
        (edge.source, edge.target, {label.kind: label.source.text for label in edge.labels})
        for edge in template.edges
    ]


def test_the_outline() -> None:
    document = read(TRAIN)
    assert document.file == "m.xta"
    assert [template.name.text for template in document.templates] == ["Train", "Idle"]
    train, idle = document.templates
    assert train.parameters is not None
    assert train.parameters.text == "const id_t id, int &n"
    assert train.declaration is not None
    assert " ".join(train.declaration.text.split()) == (
        "clock x; // local urgent chan c; void g() { x = 0; }"
    )
    assert [
        (location.ident, location.urgent, location.committed, location.branchpoint)
        for location in train.locations
    ] == [
        ("Safe", False, False, False),
        ("Cross", True, False, False),
        ("Stop", False, True, False),
        ("Appr", True, False, False),
        ("b", False, False, True),
    ]
    assert [
        [(label.kind, label.source.text) for label in location.labels]
        for location in train.locations
    ] == [
        [],
        [("invariant", "x <= 5")],
        [("invariant", "x <= 3 && n > 0"), ("exponentialrate", "2 : 3")],
        [("exponentialrate", "1")],
        [],
    ]
    assert train.initial == "Safe"
    assert str(train.initial_origin) == "m.xta:19:6"
    assert texts(train) == [
        (
            "Safe",
            "Appr",
            {
                "select": "i : id_t, j : int[0,1]",
                "guard": "n < 3",
                "synchronisation": "appr[id]!",
                "assignment": "x = 0, g()",
            },
        ),
        ("Safe", "Cross", {}),
        ("Appr", "b", {"guard": "x >= 2"}),
        ("b", "Stop", {"assignment": "n = { 1 } [0]", "probability": "3"}),
    ]
    assert [edge.controllable for edge in train.edges] == [True, True, False, True]
    assert idle.parameters is None
    assert idle.declaration is None
    assert idle.initial == "A"
    assert [query.formula.text for query in document.queries] == [
        "E<> T1.Cross",
        "A[] not deadlock",
    ]


def test_declarations_and_the_system_are_told_apart() -> None:
    document = read(TRAIN)
    assert document.declaration is not None
    names = [item.name for item in parse_declarations(document.declaration)]  # type: ignore[union-attr]
    assert names == ["N", "id_t", "appr", "f", "k"]
    items = parse_system(document.system)
    assert [type(item).__name__ for item in items] == [
        "Instantiation",
        "Instantiation",
        "SystemLine",
    ]


def test_every_text_knows_its_place() -> None:
    document = read(TRAIN)
    assert document.declaration is not None
    *_, f, k = parse_declarations(document.declaration)
    assert str(f.origin) == "m.xta:5:1"
    assert str(k.origin) == "m.xta:30:5"
    instances = parse_system(document.system)
    assert [str(item.origin) for item in instances] == ["m.xta:29:1", "m.xta:32:1", "m.xta:33:1"]
    train = document.templates[0]
    assert train.parameters is not None
    assert str(parse_parameters(train.parameters)[1].origin) == "m.xta:7:30"
    assert train.declaration is not None
    assert str(parse_declarations(train.declaration)[2].origin) == "m.xta:10:5"
    assert str(train.name.origin(0)) == "m.xta:7:9"
    cross = train.locations[1]
    assert str(cross.origin) == "m.xta:13:5"
    assert str(parse_expression(cross.labels[0].source).origin) == "m.xta:13:13"
    edge = train.edges[0]
    assert str(edge.origin) == "m.xta:21:5"
    select, guard, synchronisation, update = (label.source for label in edge.labels)
    assert str(parse_selects(select)[1].origin) == "m.xta:21:37"
    assert str(parse_expression(guard).origin) == "m.xta:21:57"
    assert str(parse_synchronisation(synchronisation)[0].origin) == "m.xta:22:25"
    assert str(parse_updates(update)[1].origin) == "m.xta:22:50"
    assert guard.element == "guard of edge Safe -> Appr of Train"
    with pytest.raises(InputError) as caught:
        parse_expression(
            read(TRAIN.replace("n < 3", "n = 3")).templates[0].edges[0].labels[1].source
        )
    assert str(caught.value.diagnostics[0].origin) == "m.xta:21:59"


def test_old_systems_without_templates() -> None:
    document = read(
        "clock c; const N 3;\n"
        "process P { state a, b; init a; trans a -> b { guard c<N, c>1; sync go!; }; }\n"
        "system P;"
    )
    (template,) = document.templates
    assert template.parameters is None
    assert texts(template) == [("a", "b", {"guard": "c<N, c>1", "synchronisation": "go!"})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int x;", "1:7 expected the line `system …;`, found the end of the text"),
        (
            "process P() { state a; trans a -> b { }; init a; } system P;",
            "1:35 the process P has no location `b`",
        ),
        (
            "process P() { state alpha; init alhpa; } system P;",
            "1:33 the process P has no location `alhpa` (did you mean `alpha`?)",
        ),
        (
            "process P() { state a, b, a; init a; } system P;",
            "1:27 the location `a` stands here for the second time (the first stands at 1:21)",
        ),
        (
            "process P() { state a; } system P;",
            "1:9 the process P has no initial location (write `init …;` behind its locations)",
        ),
        (
            "process P() { state a init a; } system P;",
            "1:23 expected `;` after the list of `state`, found `init`",
        ),
        (
            "process P() { state a\n; init a\n} system P;",
            "2:9 `;` is missing after the list of `init`",
        ),
        (
            "process P() { state a; init a; trans a -> a { gaurd x; }; } system P;",
            "1:47 expected `select`, `guard`, `sync`, `assign`, `probability` or `}`, "
            "found `gaurd` (did you mean `guard`?)",
        ),
        (
            "process P() { state a; init a; trans a -> a { guard x }; } system P;",
            "1:55 expected `;` after `guard`, found `}`",
        ),
        (
            "process P() { state a; init a; trans -> a { }; } system P;",
            "1:38 expected the name of a location, found `->` "
            "(only later edges may begin with `->`)",
        ),
        (
            "process P() { state a; init a; trans a b { }; } system P;",
            "1:40 expected `->` and the target of the edge, found `b`",
        ),
        (
            "process P() { state a { x <= (3 }; init a; } system P;",
            "1:30 this `(` is not closed: found `}` where `)` was expected",
        ),
        (
            "process P() { state a; init a;\nsystem P;",
            "2:1 expected `state`, `branchpoint`, `commit`, `urgent`, `init`, `trans` or `}`, "
            "found `system`",
        ),
        (
            "process P(int x { } system P;",
            "1:10 this `(` is not closed: found the end of the text where `)` was expected",
        ),
        ("process 1 { }\nsystem P;", "1:9 expected the name of the process, found `1`"),
        ("int x; /* never\nsystem P;", "1:8 this comment is never closed (close it with `*/`)"),
    ],
)
def test_what_is_wrong_with_an_outline(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    first = caught.value.diagnostics[0]
    found = f"{first.origin.line}:{first.origin.column} {first.message}"
    assert found + (f" ({first.hint})" if first.hint else "") == expected


def test_several_errors_of_one_file() -> None:
    text = """process P() { state a, ; init a; trans a b { }; }
process Q() { state a; init a; trans a -> c { }, a -> a { gaurd x; }; }
system P;
"""
    with pytest.raises(InputError) as caught:
        read(text)
    assert [
        (diagnostic.origin.line, diagnostic.origin.column)
        for diagnostic in caught.value.diagnostics
        if "expected" in diagnostic.message
    ] == [(1, 24), (1, 42), (2, 59)]


def everything(document: Document) -> object:
    """What a document says, without its places and layout."""
    return (
        parse_declarations(document.declaration) if document.declaration else (),
        parse_system(document.system),
        [
            (
                template.name.text,
                template.initial,
                parse_parameters(template.parameters) if template.parameters else (),
                parse_declarations(template.declaration) if template.declaration else (),
                [
                    (
                        location.ident,
                        location.urgent,
                        location.committed,
                        location.branchpoint,
                        [(label.kind, label.source.text) for label in location.labels],
                    )
                    for location in template.locations
                ],
                texts(template),
                [edge.controllable for edge in template.edges],
            )
            for template in document.templates
        ],
    )


def test_a_written_document_reads_as_itself() -> None:
    document = read(TRAIN)
    again = read(write_xta(document))
    assert everything(again) == everything(document)


def test_comments_at_the_end_of_a_label_stay_harmless() -> None:
    document = read(TRAIN.replace("guard n < 3;", "guard n < 3 // why\n;"))
    assert everything(read(write_xta(document))) == everything(document)


# ---------------------------------------------------------------------------------- query files

QUERIES = """//This file was generated by hand

/*
The bridge
  is safe.
*/
A[] forall (i : id_t) forall (j : id_t) \\
    Train(i).Cross && Train(j).Cross imply i == j

/* A heading */
//NO_QUERY

E<> Train(0).Cross // reachable
A[] /* inside,
 over two lines */ not deadlock;
"""


def test_query_files() -> None:
    queries = read_queries(SourceText(QUERIES, "m.q"))
    assert [query.formula.text for query in queries] == [
        "A[] forall (i : id_t) forall (j : id_t) \\\n"
        "    Train(i).Cross && Train(j).Cross imply i == j",
        "E<> Train(0).Cross",
        "A[] /* inside,\n over two lines */ not deadlock;",
    ]
    assert [query.comment for query in queries] == ["The bridge\nis safe.", "", ""]
    assert [str(query.formula.origin(0)) for query in queries] == [
        "m.q:7:1",
        "m.q:13:1",
        "m.q:14:1",
    ]
    assert str(queries[0].formula.origin(queries[0].formula.text.index("Train"))) == "m.q:8:5"


def test_written_queries_read_as_themselves() -> None:
    queries = read_queries(SourceText(QUERIES))
    again = read_queries(SourceText(write_queries(queries)))
    assert [query.comment for query in again] == [query.comment for query in queries]
    first = [query.formula.text.split() for query in queries]
    assert [query.formula.text.split() for query in again][:2] == first[:2]


def test_queries_over_several_lines_are_written_with_backslashes() -> None:
    query = QueryText(SourceText("E<> a &&\n  b"))
    (again,) = read_queries(SourceText(write_queries((query,))))
    assert again.formula.text == "E<> a && \\\n  b"


def test_a_comment_in_a_query_file_must_end() -> None:
    with pytest.raises(InputError) as caught:
        read_queries(SourceText("E<> x\n /* oh", "m.q"))
    assert str(caught.value.diagnostics[0].origin) == "m.q:2:2"


@pytest.mark.parametrize(
    ("text", "nothing"),
    [("", True), ("// a\n /* b */ \\\n", True), ("// a\n E<> x", False), ("/* a", False)],
)
def test_queries_that_say_nothing(text: str, nothing: bool) -> None:
    assert says_nothing(SourceText(text)) is nothing
