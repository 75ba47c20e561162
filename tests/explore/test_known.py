"""Equal states are found again, however many there are and however the tables have grown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.timing.support import fischer

import whence
from whence.explore.check import Checker
from whence.explore.kernels import tables as t
from whence.explore.search import Search

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def explored(model: whence.Model, cover: int) -> Search:
    compiled = Checker(model.network).compiled
    tables = compiled.search_tables(cover=cover, keep_edges=True, drop_covered=False)
    search = Search(compiled, tables)
    assert search.run().reason == "complete"
    return search


def states_of(search: Search) -> list[tuple[bytes, bytes]]:
    nodes = range(search.node_count)
    return [(search.row_of(n).tobytes(), search.zone_of(n).tobytes()) for n in nodes]


def test_no_state_is_there_twice() -> None:
    search = explored(fischer(5), t.COVER_EQUAL)
    found = states_of(search)
    assert len(found) > 4_096  # so that the table has grown
    assert len(set(found)) == len(found)
    # Each of them was entered along an edge, but the first.
    edges = search.store.edges[: int(search.store.counts[t.COUNT_EDGES])]
    assert set(edges[:, t.KEPT_TARGET].tolist()) | {0} == set(range(len(found)))


@pytest.mark.parametrize("name", ["database.xml", "camel.xml", "train_gate.xml", "fischer.xml"])
def test_every_maximal_zone_is_among_them(name: str) -> None:
    """What a search finds that drops what others include is found by one that drops nothing."""
    model = whence.load(EXAMPLES / name)
    exact = set(states_of(explored(model, t.COVER_EQUAL)))
    assert set(states_of(explored(model, t.COVER_INCLUSION))) <= exact
