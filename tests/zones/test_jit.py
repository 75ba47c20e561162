"""Compilation: the cache on disk, laziness of imports, and the same code without numba."""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from whence.zones import jit

ROOT = Path(__file__).resolve().parents[2]

TRY_CACHE = """
import numba
before = numba.config.CACHE_DIR
import numpy as np
from whence.zones import dbm, jit
assert numba.config.CACHE_DIR == before
d = np.empty((3, 3), dtype=np.int32)
dbm.universal(d)
dbm.constrain(d, 1, 0, 5)
for kernel in (dbm.universal, dbm.constrain):
    print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))
print(jit.cache_directory())
"""


def python(code: str, **environment: str) -> str:
    """The output of a fresh interpreter that sees the sources of this tree."""
    known = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), *filter(None, [known.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**known, "PYTHONPATH": path, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_process_finds_the_compiled_kernels(tmp_path: Path) -> None:
    expected = str(tmp_path / "kernels" / jit.source_hash())
    first = python(TRY_CACHE, WHENCE_CACHE_DIR=str(tmp_path)).splitlines()
    assert first == ["0 1", "0 1", expected]
    second = python(TRY_CACHE, WHENCE_CACHE_DIR=str(tmp_path)).splitlines()
    assert second == ["1 0", "1 0", expected]


def test_processes_that_fill_the_cache_at_once_do_not_mix_up_types(tmp_path: Path) -> None:
    """Each compiles the same kernel for other argument types; then all must be found."""
    code = """
import numpy as np
from whence.zones import dbm
c = np.{kind}(3)
print(dbm.add_bounds(c, c), sum(dbm.add_bounds.stats.cache_hits.values()))
"""
    kinds = ["int8", "int16", "int32"]
    with ThreadPoolExecutor(len(kinds)) as pool:
        outputs = pool.map(
            lambda kind: python(code.format(kind=kind), WHENCE_CACHE_DIR=str(tmp_path)), kinds
        )
        assert [output.split()[0] for output in outputs] == ["5"] * len(kinds)
    for kind in kinds:
        again = python(code.format(kind=kind), WHENCE_CACHE_DIR=str(tmp_path))
        assert again.split()[0] == "5"
    once_more = python(code.format(kind="int16"), WHENCE_CACHE_DIR=str(tmp_path))
    assert once_more.split() == ["5", "1"]


def test_directories_unused_for_long_are_removed(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    old, recent, foreign = kernels / ("0" * 16), kernels / ("1" * 16), kernels / "notes"
    for directory in (old, recent, foreign):
        directory.mkdir(parents=True)
    for directory in (old, foreign):
        os.utime(directory, (0, 0))
    jit._remove_unused(kernels, jit.source_hash())
    assert not old.exists()
    assert recent.exists()
    assert foreign.exists()


def test_a_place_that_cannot_be_written_falls_back_to_a_private_one(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    code = "from whence.zones import jit; print(jit.cache_directory())"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    place = Path(python(code, WHENCE_CACHE_DIR=str(blocked), TMPDIR=str(temporary)).strip())
    assert temporary in place.parents
    private = temporary / place.relative_to(temporary).parts[0]
    assert private.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no permission bits")
def test_a_temporary_directory_that_others_can_write_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    planted = tmp_path / f"whence-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert jit._private_temporary() != planted
    planted.chmod(0o700)
    assert jit._private_temporary() == planted


def test_the_hash_follows_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "whence"
    monkeypatch.setattr(jit, "__file__", str(package / "zones" / "jit.py"))
    seen = {jit.source_hash()}
    for name in (
        "zones/dbm.py",
        "explore/kernels/search.py",
        "explore/kernels/vm.py",
        "expr/bytecode.py",
        "expr/faults.py",
    ):
        for text in ("x = 1\n", "x = 2\n"):
            path = package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            assert jit.source_hash() == jit.source_hash()
            assert jit.source_hash() not in seen, (name, text)
            seen.add(jit.source_hash())
    # What no kernel depends on must not cost a compilation.
    (package / "expr" / "parser.py").write_text("x = 1\n")
    assert jit.source_hash() in seen


def test_every_constant_of_a_kernel_is_in_the_hash() -> None:
    """Kernel files import from hashed files only, the standard library and numpy aside."""
    package = Path(jit.__file__).resolve().parent.parent
    folders = {f"whence.{folder.replace('/', '.')}" for folder in jit._KERNEL_FOLDERS}
    files = {f"whence.{name.removesuffix('.py').replace('/', '.')}" for name in jit._CONSTANT_FILES}
    for folder in jit._KERNEL_FOLDERS:
        for path in (package / folder).glob("*.py"):
            text = path.read_text(encoding="utf-8")
            if not re.search(r"^@(kernel|internal)\b", text, re.MULTILINE):
                continue
            for module in re.findall(r"^from (whence\.[\w.]+) import", text, re.MULTILINE):
                parent = module.rpartition(".")[0]
                assert module in folders | files or parent in folders, (path.name, module)


def test_importing_the_package_does_not_import_numba() -> None:
    code = (
        "import sys, whence.zones, whence.zones.bounds;"
        "print('numba' in sys.modules, 'numpy' in sys.modules)"
    )
    assert python(code).strip() == "False False"


PLAIN = """
import numpy as np
from hypothesis import settings
settings.register_profile("plain", deadline=None, derandomize=True, max_examples=15, database=None)
settings.load_profile("plain")
from tests.zones import test_dbm, test_extrapolation, test_federation
from whence.zones import dbm
assert not hasattr(dbm.constrain, "py_func")
with np.errstate(all="raise"):
    test_dbm.test_close()
    test_dbm.test_constrain_and_satisfies()
    test_dbm.test_delay_and_past()
    test_dbm.test_assignments()
    test_dbm.test_two_zones()
    test_dbm.test_split_by()
    test_dbm.test_close_reports_a_sum_that_leaves_the_range()
    test_dbm.test_constrain_reports_a_sum_that_leaves_the_range()
    test_dbm.test_assignments_report_overflow()
    test_extrapolation.test_extra_lu_plus()
    test_extrapolation.test_extra_lu()
    test_extrapolation.test_inclusion_in_alu()
    test_federation.test_subtract_into()
d = np.array([[1, 1, -3], [9, 1, 7], [2**31 - 1, 2**31 - 1, 1]], dtype=np.int32)
print(dbm.hash_matrix(d))
"""

HASH = """
import numpy as np
from whence.zones import dbm
d = np.array([[1, 1, -3], [9, 1, 7], [2**31 - 1, 2**31 - 1, 1]], dtype=np.int32)
print(dbm.hash_matrix(d))
"""


def test_kernels_mean_the_same_without_numba() -> None:
    assert python(PLAIN, NUMBA_DISABLE_JIT="1") == python(HASH)
