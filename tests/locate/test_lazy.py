"""The lazy engine: the same diagnoses as by trying all sets of lines, and as by encoding."""

from __future__ import annotations

from random import Random

import pytest
from tests.locate.support import parsed
from tests.reference.faulty_programs import diagnoses, random_program

from whence.locate.fault_model import FaultModel
from whence.locate.interpreter import Interpreter
from whence.locate.lazy import diagnose_lazily
from whence.locate.lazy_run import Effort
from whence.locate.localize import Settings, localize, options_for
from whence.locate.observations import expect, run_tests
from whence.model.program_test import Expected, Test

MODEL = FaultModel("line", definitions=False)
MUCH = Effort(20_000, 2_000_000, 20_000)
LITTLE = Effort(200, 4_000, 100)


def agrees(seed: int) -> bool:
    program = random_program(seed)
    chance = Random(seed)
    cases = [(a, b, chance.random() < 0.5) for a in (False, True) for b in (False, True)]
    tests = [
        Test(str(number), (int(a), int(b)), expected=Expected((int(wanted),)))
        for number, (a, b, wanted) in enumerate(cases)
    ]
    options = options_for(MODEL, 100)
    read = parsed(program.text)
    ran = run_tests(Interpreter(read, options), "f", tests)
    failing = [int(each.test.name) for each in ran if each.failure]
    if not failing:
        return False
    loops = "while" in program.text
    lazily = diagnose_lazily(
        read,
        "f",
        ran,
        MODEL,
        options,
        minimum=False,
        max_size=2,
        tests=10,
        effort=LITTLE if loops else MUCH,
    )
    assert not lazily.found.reason
    found = {
        frozenset(lazily.places[at].origin.line for at in members)
        for members in lazily.found.diagnoses
    }
    expected = diagnoses(program, [cases[number] for number in failing], 2)
    if loops:
        # The reference goes round twice at most, and so excludes more.
        for each in expected:
            assert any(other <= each for other in found), f"{seed}\n{program.text}\n{cases}"
    else:
        assert not lazily.open
        assert found == expected, f"{seed}\n{program.text}\n{cases}"
    return True


def test_random_programs() -> None:
    assert sum(agrees(seed) for seed in range(24)) > 12


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_many_random_programs(start: int) -> None:
    for seed in range(start, start + 100):
        agrees(seed)


QUEUE = """
#include <stdio.h>
#include <stdlib.h>
struct item { int key; double weight; struct item *next; };
struct item *first;
int count;
static void put(int key, double weight)
{
    struct item *made = malloc(sizeof *made), **at = &first;
    made->key = key;
    made->weight = weight * 1.5;
    while (*at && (*at)->key < key)
        at = &(*at)->next;
    made->next = *at;
    *at = made;
    count++;
}
int main(void)
{
    int key;
    double weight, total = 0;
    while (scanf("%d %lf", &key, &weight) == 2)
        put(key, weight);
    for (struct item *at = first; at; at = at->next) {
        printf("%d ", at->key);
        total += at->weight;
    }
    printf("= %d %.1f\\n", count, total);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "certain"),
    [
        ("(*at)->key < key", "(*at)->key > key", 12, True),
        ("count++;", "count += 2;", 16, True),
        ("made->next = *at;", "made->next = first;", 14, True),
        ('printf("%d ", at->key);', 'printf("%d ", count);', 25, True),
        ("made->key = key;", "made->key = key + 1;", 10, True),
        # What is unknown of floating point cannot be followed, and so is never excluded.
        ("weight * 1.5", "weight * 1.25", 11, False),
    ],
)
def test_what_cannot_be_encoded(right: str, wrong: str, line: int, certain: bool) -> None:
    """The heap, floating point and standard input."""
    assert right in QUEUE
    model = FaultModel()
    options = options_for(model)
    given = (b"3 1 1 2 2 0.5", b"5 1 4 1 1 2", b"", b"1 1", b"2 1 1 1", b"7 2 9 1 8 3 2 2")
    tests, _ = expect(
        Interpreter(parsed(QUEUE), options),
        "main",
        [Test(str(at), stdin=each) for at, each in enumerate(given)],
    )
    found = localize(
        parsed(QUEUE.replace(right, wrong)), "main", tests, Settings(model, steps=2_000)
    )
    assert found.engine == "lazy"
    of_line = [each for each in found.diagnoses if each.places[0].origin.line == line]
    assert any(not each.open for each in of_line) == certain
    if certain:
        first = next(each for each in of_line if not each.open)
        # Pointers, and what is printed, are not shown.
        assert bool(first.witnesses[0].changes) == (line in (10, 12, 16))


def test_no_more_is_claimed_than_by_encoding() -> None:
    """What the lazy engine is certain of, explains; what it excludes, does not."""
    text = "int a[3] = {4, 5, 6};\nint f(int x, int y)\n{\n    int i = x % 3, *p = &a[1];\n"
    text += "    if (x < 0)\n        i = -i;\n    *p = y;\n    p = p + i - 1;\n"
    text += "    return *p * 2 + (y & 7);\n}\n"
    model = FaultModel(definitions=False)
    cases = [(1, 3), (2, 9), (-4, 1), (0, 0)]
    golden = Interpreter(parsed(text.replace("& 7", "& 3")), options_for(model))
    tests, _ = expect(golden, "f", [Test(str(case), case) for case in [*cases, (5, 6), (2, 4)]])
    sets = {}
    for engine in ("full", "lazy"):
        found = localize(parsed(text), "f", tests, Settings(model, engine=engine))
        sets[engine] = {each.places for each in found.diagnoses}
        certain = {each.places for each in found.diagnoses if not each.open}
        assert found.engine == engine
    assert sets["full"]
    assert certain <= sets["full"] <= sets["lazy"]


def test_a_condition_can_be_missing() -> None:
    text = "int f(int x)\n{\n    int n = 0;\n    for (;;) {\n        n++;\n"
    text += "        if (n > 9)\n            break;\n    }\n    return n;\n}\n"
    model = FaultModel("line")
    tests = [Test(str(x), (x,), expected=Expected((x,))) for x in (2, 5)]
    for engine in ("full", "lazy"):
        found = localize(parsed(text), "f", tests, Settings(model, engine=engine))
        certain = {each.places[0].origin.line for each in found.diagnoses if not each.open}
        # What decides, or is returned.
        assert {4, 6, 9} <= certain, engine
