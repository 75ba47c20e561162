"""What a store says of a triage is what the triage has answered."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.support import LOGS, MODEL, text_of, write_logs

from whence.api.store import history, stored
from whence.api.triage import save_classes, triage
from whence.campaign import triage as campaign
from whence.campaign.memory import Piece
from whence.store.runs import About
from whence.store.store import open_store
from whence.store.triage import StoredTriage, triage_head
from whence.triage.findings import FoundTrace, LogFindings, Triage
from whence.triage.models import load_prd
from whence.triage.one_log import Judged
from whence.triage.results import GROUPINGS

NewStore = Callable[[], str]


def same(one: object, other: object) -> None:
    assert isinstance(one, Triage)
    assert isinstance(other, Triage)
    assert one == other
    assert text_of(one) == text_of(other)


def test_what_is_stored_is_what_was_answered(store: str, tmp_path: Path) -> None:
    """In each grouping, from nothing and from what earlier runs have found, compared with classes
    of an earlier run, and with proofs checked."""
    logs = write_logs(tmp_path / "logs", 14)
    number = 0
    for grouping in GROUPINGS:
        plain = triage(MODEL, logs, group=grouping)
        for _ in range(2):
            number += 1
            same(triage(MODEL, logs, group=grouping, store=store), plain)
            same(stored(store, number), plain)
    known = tmp_path / "known.json"
    save_classes(triage(MODEL, logs[:9]), known)
    plain = triage(MODEL, logs[5:], known=known)
    assert {each.status for each in plain.classes} == {"new", "known"}
    assert plain.gone
    same(triage(MODEL, logs[5:], known=known, store=store), plain)
    same(stored(store, number + 1), plain)
    plain = triage(MODEL, logs[:9], verify=True)
    same(triage(MODEL, logs[:9], verify=True, store=store), plain)
    same(stored(store, number + 2), plain)


def test_several_workers(store: str, tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs", 6)
    plain = triage(MODEL, logs)
    same(triage(MODEL, logs, store=store, workers=2), plain)
    same(stored(store, 1), plain)


def test_nothing_is_done_again(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the same logs, nor those that have moved, but for representatives."""
    logs = write_logs(tmp_path / "logs", 20)
    triage(MODEL, logs, store=store)
    looked: list[str] = []
    real = campaign.triage_log

    def noting(automaton: object, path: str, *others: object) -> Judged:
        looked.append(path)
        return real(automaton, path, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(campaign, "triage_log", noting)
    triage(MODEL, logs, store=store)
    assert not looked
    more = [*logs[3:], *write_logs(tmp_path / "new", 1, seed=7)]
    found = triage(MODEL, more, store=store)
    assert more[-1] in looked
    assert len(looked) <= 1 + len(found.classes)
    looked.clear()
    shutil.copytree(tmp_path / "logs", tmp_path / "moved")
    moved = [path.replace("/logs/", "/moved/") for path in logs]
    plain = triage(MODEL, moved)
    looked.clear()
    same(triage(MODEL, moved, store=store), plain)
    assert not looked
    same(stored(store, 4), plain)
    # What was told before of the same logs still stands where it did.
    assert {each.file for each in stored(store, 1).traces} == set(logs)  # type: ignore[union-attr]
    triage(MODEL, logs, store=store, errors=False)
    assert {*logs} <= {*looked}


def test_the_same_log_twice(store: str, tmp_path: Path) -> None:
    (first,) = write_logs(tmp_path / "logs", 1)
    shutil.copytree(tmp_path / "logs", tmp_path / "copy")
    logs = [first, str(tmp_path / "copy" / Path(first).name)]
    plain = triage(MODEL, logs)
    same(triage(MODEL, logs, store=store), plain)
    same(stored(store, 1), plain)
    same(triage(MODEL, logs, store=store), plain)


def test_who_is_interrupted_keeps_what_was_done(store: str, tmp_path: Path) -> None:
    logs = write_logs(tmp_path / "logs", 10)

    def enough(done: int, _all: int, _faults: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    found = triage(MODEL, logs, store=store, progress=enough)
    assert (found.complete, len(found.traces)) == (False, 4)
    same(stored(store, 1), found)
    (run,) = history(store).runs
    assert (run.run.complete, run.run.verdict, run.done, run.run.planned) == (
        False, "gave up", 4, 10,
    )  # fmt: skip
    assert run.run.ended is not None
    same(triage(MODEL, logs, store=store), triage(MODEL, logs))


def test_a_run_that_has_not_ended(store: str, tmp_path: Path) -> None:
    """As a killed process leaves it, which took half of its logs from an earlier run, and has not
    come to explaining them again."""
    logs = write_logs(tmp_path / "logs", 8)

    class Killed(BaseException):
        pass

    def killed(done: int, _all: int, _faults: int) -> None:
        if done == 6:
            raise Killed

    triage(MODEL, logs[:4], store=store)
    with pytest.raises(Killed):
        triage(MODEL, logs[2:], store=store, progress=killed)
    found = stored(store, 2)
    assert isinstance(found, Triage)
    plain = triage(MODEL, logs[2:])
    assert found.traces == plain.traces[: len(found.traces)]
    assert len(found.traces) == 6
    assert {each.ident for each in found.classes} <= {each.ident for each in plain.classes}
    run = history(store).runs[1]
    assert (run.run.complete, run.run.ended, run.run.verdict) == (False, None, "")


def test_defects_are_stored_and_not_remembered(store: str) -> None:
    model = load_prd(MODEL)
    trace = FoundTrace("a", "/x/a", "broken", reason="the process \0 was ended \udcff \x1b")
    judged = Judged(LogFindings((trace,), defect=True))
    about = About(
        command="triage", model=MODEL, model_name="CTR", whence="0", grouping="similar", planned=1,
        head=triage_head(model.requirements, (), None, False),
    )  # fmt: skip
    with open_store(store, to_write=True) as opened:
        run = StoredTriage(opened, about, "similar")
        piece = Piece(0, "/x/a", "c" * 64, "k" * 64)
        run.keep(piece, judged)
        again = StoredTriage(opened, about, "similar")
        assert not [*again.recall([piece])]
        again.keep(piece, Judged(LogFindings((trace,))))
        third = StoredTriage(opened, about, "similar")
        assert [*third.recall([piece])] == [(piece, Judged(LogFindings((trace,))))]
    found = stored(store, 1)
    assert isinstance(found, Triage)
    assert (found.traces, found.defects) == ((trace,), 1)


def test_a_model_that_is_no_file(store: str) -> None:
    model = load_prd(MODEL)
    plain = triage(model, [LOGS])
    for number in (1, 2):
        same(triage(model, [LOGS], store=store), plain)
        same(stored(store, number), plain)
