"""Output files are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from whence.files import check_writable, write_atomically
from whence.source import InputError


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    plain = tmp_path / "plain.txt"
    plain.touch()
    write_atomically(path, "größer\n")
    assert path.read_bytes() == "größer\n".encode()
    assert path.stat().st_mode == plain.stat().st_mode


def test_replaced_files_keep_theirs(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before", encoding="utf-8")
    path.chmod(0o640)
    write_atomically(path, "after")
    assert path.read_text(encoding="utf-8") == "after"
    assert path.stat().st_mode & 0o777 == 0o640


def test_links_stay_links(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before", encoding="utf-8")
    link.symlink_to(target)
    write_atomically(link, "after")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "after"


@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "os.chmod"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_failures_leave_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before", encoding="utf-8")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(step, fail)
    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_atomically(path, "after")
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "where", "", "x\0y"):
        with pytest.raises(InputError):
            check_writable(path)
        with pytest.raises(InputError):
            write_atomically(path, "text")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match="permission denied"):
            check_writable(tmp_path / "out.txt")
        with pytest.raises(InputError, match="permission denied"):
            write_atomically(tmp_path / "out.txt", "text")
    finally:
        tmp_path.chmod(0o700)


def test_devices_are_written_to(tmp_path: Path) -> None:
    check_writable("/dev/null")
    write_atomically("/dev/null", "text")
    assert Path("/dev/null").is_char_device()
