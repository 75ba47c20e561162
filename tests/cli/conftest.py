from __future__ import annotations

import pytest
from tests.cli.support import Ended, Run

from whence.cli import main


@pytest.fixture
def whence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["whence", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "100")
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err).check()

    return run
