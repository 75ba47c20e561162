"""Where tests keep stores: in a file, and in a PostgreSQL server where there is one.

`WHENCE_POSTGRESQL` names a server (a URL whose user may create schemas). Without it, a private one
is started in a temporary folder if PostgreSQL is installed here.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import create_engine, text
from tests.cli.conftest import whence

__all__ = ["new_store", "server", "store", "whence"]

_NUMBERS = count()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a server."""
    named = os.environ.get("WHENCE_POSTGRESQL")
    if named:
        yield named
        return
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed, and WHENCE_POSTGRESQL names no server")
    # Names of sockets have to be short.
    folder = Path(tempfile.mkdtemp(prefix="whence-pg-"))
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    data, settings = folder / "data", f"-c listen_addresses= -c unix_socket_directories={folder}"

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [programs / program, *arguments], user=user, cwd=folder, check=True,
            stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    try:
        run("initdb", "-D", str(data), "-A", "trust", "-U", "whence", "--no-sync")
        run("pg_ctl", "-w", "-D", str(data), "-l", str(folder / "log"), "-o", settings, "start")
        try:
            yield f"postgresql://whence@/postgres?host={quote(str(folder), safe='')}"
        finally:
            run("pg_ctl", "-w", "-m", "immediate", "-D", str(data), "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path | None:
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def _user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    pytest.skip("PostgreSQL does not run as root, and there is nobody else")


@pytest.fixture(params=["sqlite", "postgresql"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Makes names of stores that are not there yet, for each of the databases."""
    if request.param == "sqlite":
        yield lambda: str(tmp_path / f"store-{next(_NUMBERS)}.db")
        return
    server = request.getfixturevalue("server")
    made: list[str] = []
    engine = create_engine(server.replace("postgresql://", "postgresql+psycopg://", 1))

    def new() -> str:
        made.append(f"test_{os.getpid()}_{next(_NUMBERS)}")
        with engine.begin() as connection:
            connection.execute(text(f"CREATE SCHEMA {made[-1]}"))
        sign = "&" if "?" in server else "?"
        return f"{server}{sign}options={quote(f'-csearch_path={made[-1]}')}"

    yield new
    with engine.begin() as connection:
        for name in made:
            connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


@pytest.fixture
def store(new_store: Callable[[], str]) -> str:
    return new_store()
