"""The ``kernel`` decorator: numba compilation with an on-disk cache that is never stale.

This module and :mod:`whence.zones.bundle` are the only ones of the package that import numba.

How kernels are compiled: numba would optimise the code of a callee, and make machine code of it,
once for itself and again within every caller, so that a tower of kernels takes a minute.  Here
what a kernel calls is only translated; all of it is optimised once, within the kernel that is
called from Python.

Numba keys the cached code of a function on the file the function is in.  It does not notice
that a *callee* in another file has changed, and the machine code of a callee is baked into that
of its caller.  So the cache directory is named after a hash of the contents of every kernel
source file, of the files of constants that kernels import from elsewhere, and of numba's
version: any edit of any of them starts a fresh directory.

With ``NUMBA_DISABLE_JIT=1`` kernels stay plain Python functions and no directory is touched.
"""

import contextlib
import gc
import hashlib
import importlib
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

# Numba ships no type information.  Importing it by name keeps the type checker's view of this
# module the same whether or not its configuration silences missing stubs.
numba: Any = importlib.import_module("numba")

__all__ = ["cache_directory", "internal", "kernel", "source_hash"]

_F = TypeVar("_F", bound=Callable[..., Any])

#: Kernels allocate nothing, so that reference counting can be left out: it would cost more time,
#: in compiling and in running, than what they compute. Nobody calls them from C.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}

_KERNEL_FOLDERS = ("zones", "explore/kernels")
# Numba also bakes the values of imported constants into machine code.  These files define the
# ones that kernels import from elsewhere; an opcode that is renumbered must not meet old code.
_CONSTANT_FILES = ("expr/bytecode.py", "expr/faults.py")
_UNUSED_SECONDS = 30 * 24 * 3600
_HASH_NAME = re.compile(r"[0-9a-f]{16}")
_lock = threading.Lock()
_directory: str | None = None


def source_hash() -> str:
    """16 hexadecimal digits over every kernel source file and numba's version.

    Pre: none; a missing folder or file counts as empty.  Post: differs (up to hash collisions)
    whenever any ``*.py`` file of the kernel folders was added, removed, renamed or edited, or a
    file of constants that kernels import was edited.
    """
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(str(numba.__version__).encode())
    names = [
        f"{folder}/{path.name}"
        for folder in _KERNEL_FOLDERS
        for path in sorted((package / folder).glob("*.py"))
    ]
    for name in (*names, *_CONSTANT_FILES):
        path = package / name
        content = path.read_bytes() if path.is_file() else b""
        # The length separates files, so that text moved between files changes the hash.
        digest.update(f"\0{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    """The place the platform gives a user for files that can be made again."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "whence"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "whence"
    configured = os.environ.get("XDG_CACHE_HOME")
    # The XDG specification says to ignore a relative path.
    if configured and os.path.isabs(configured):
        return Path(configured) / "whence"
    return Path.home() / ".cache" / "whence"


def _writable(directory: Path) -> bool:
    """Whether a file can be made in the directory, which is created if need be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _private_temporary() -> Path:
    """A directory below the system's temporary one that only this user can write to.

    Numba's cache holds pickles, so a directory that somebody else prepared must not be trusted.
    """
    user = os.getuid() if sys.platform != "win32" else 0
    shared = Path(tempfile.gettempdir()) / f"whence-{user}"
    try:
        with contextlib.suppress(FileExistsError):
            shared.mkdir(mode=0o700)
        found = shared.lstat()
        owned = sys.platform == "win32" or (found.st_uid == user and not found.st_mode & 0o077)
        if stat.S_ISDIR(found.st_mode) and owned and _writable(shared):
            return shared
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="whence-"))


def _remove_unused(kernels: Path, current: str) -> None:
    """Remove sibling cache directories that no process has used for a month; best effort."""
    with contextlib.suppress(OSError):
        for sibling in kernels.iterdir():
            if sibling.name == current or not _HASH_NAME.fullmatch(sibling.name):
                continue
            with contextlib.suppress(OSError):
                if sibling.lstat().st_mtime < time.time() - _UNUSED_SECONDS:
                    shutil.rmtree(sibling, ignore_errors=True)


def cache_directory() -> str:
    """The directory that holds the compiled kernels of this version of the sources.

    ``$WHENCE_CACHE_DIR/kernels/<hash>`` if that variable is set, else
    ``<the user's cache>/whence/kernels/<hash>``, else a private temporary directory.
    Pre: none.  Post: exists and is writable.  Computed once per process.
    """
    global _directory
    if _directory is None:
        name = source_hash()
        configured = os.environ.get("WHENCE_CACHE_DIR")
        try:
            base = Path(configured).absolute() if configured else _user_cache()
        except RuntimeError:  # the user has no home directory
            base = _private_temporary()
        if not _writable(base / "kernels" / name):
            base = _private_temporary()
            (base / "kernels" / name).mkdir(parents=True, exist_ok=True)
        directory = base / "kernels" / name
        with contextlib.suppress(OSError):
            os.utime(directory)  # says "in use" to _remove_unused of other versions
        _remove_unused(base / "kernels", name)
        _directory = str(directory)
    return _directory


@contextlib.contextmanager
def _numba_cache_at(directory: str) -> Iterator[None]:
    """Point numba's cache at the directory for the time of one decoration.

    Numba reads the setting when a function is decorated, so that other users of numba in the
    same process keep theirs.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = directory
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _separate_data_files(dispatcher: Any) -> None:
    """Keep two processes that fill the cache at once from writing the same data file.

    Numba replaces its files atomically, but numbers the data files of one function 1, 2, ... by
    what its index holds: two processes that compile the function for *different* argument types
    at once both write number 1, and an index could then name the other's code.  A name that is
    unique to this process removes the clash; the worst that is left is a lost cache entry.
    """
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    pattern = getattr(cache_file, "_data_name_pattern", None)
    if isinstance(pattern, str) and pattern.endswith(".nbc"):
        unique = f"{pattern[: -len('.nbc')]}.{uuid.uuid4().hex[:12]}.nbc"
        cache_file._data_name_pattern = unique  # type: ignore[union-attr]


#: The names of the parts that are being compiled now, the innermost last.
_compiling: list[str] = []


def _finalize(library: Any, original: Callable[[Any], None]) -> None:
    """Numba's `CPUCodeLibrary.finalize`, but for the parts of kernels without the expensive half.

    What is left out, optimising the code and making machine code of it, is done for the whole
    kernel that the part is linked into.
    """
    if not _compiling or library.name != _compiling[-1]:
        original(library)
        return
    library._raise_if_finalized()
    for other in dict.fromkeys(library._linking_libraries):
        library._reload_init.update(other._reload_init)
        library._final_module.link_in(other._get_module_for_linking(), preserve=True)
    library._final_module.verify()
    library._finalize_dynamic_globals()
    library._finalized = True


def _set_environment(codegen: Any, name: str, env: Any, original: Callable[..., None]) -> None:
    """Numba's `JITCPUCodegen.set_env`, but not for parts, which no code in memory belongs to.

    Environments hold what Python objects the code needs: none, for kernels.
    """
    if not _compiling:
        original(codegen, name, env)


#: The types of calls of built-in functions and operators, found out during one compilation.
_call_types: dict[Any, Any] = {}


def _call_type(
    original: Callable[..., Any], function: Any, context: Any, args: Any, kws: Any
) -> Any:
    """Numba's `BaseFunction.get_call_type`, but remembered: it tries all the hundred definitions
    of an operator anew for each place where it is used."""
    key = function, args, tuple(sorted(kws.items()))
    if key not in _call_types:
        _call_types[key] = original(function, context, args, kws)
    return _call_types[key]


@contextlib.contextmanager
def _quickly() -> Iterator[None]:
    """For the time of one compilation: parts are compiled by halves, types of operators are
    remembered, and there is no garbage collection, which would find nothing.

    Under numba's own lock, so that nobody else's compilation is touched.
    """
    codegen = importlib.import_module("numba.core.codegen")
    functions = importlib.import_module("numba.core.types.functions")
    lock = importlib.import_module("numba.core.compiler_lock").global_compiler_lock
    library, machine, builtin = (
        codegen.CPUCodeLibrary,
        codegen.JITCPUCodegen,
        functions.BaseFunction,
    )
    with lock:
        finalize, set_env = library.finalize, machine.set_env
        call_type = builtin.get_call_type
        collecting = gc.isenabled()
        gc.disable()
        library.finalize = lambda self: _finalize(self, finalize)
        machine.set_env = lambda self, name, env: _set_environment(self, name, env, set_env)
        builtin.get_call_type = lambda *arguments: _call_type(call_type, *arguments)
        try:
            yield
        finally:
            library.finalize, machine.set_env = finalize, set_env
            builtin.get_call_type = call_type
            _call_types.clear()
            if collecting:
                gc.enable()


def _part(function: Callable[..., Any]) -> Any:
    """What kernels call when they call `function`."""
    part = numba.njit(no_cpython_wrapper=True, **_OPTIONS)(function)
    compile_part = part.compile

    def compile_by_halves(signature: Any) -> Any:
        _compiling.append(function.__qualname__)
        try:
            return compile_part(signature)
        finally:
            _compiling.pop()

    part.compile = compile_by_halves
    return part


def kernel(function: _F) -> _F:
    """Compile a function with numba in nopython mode, releasing the GIL, with a cache on disk.

    Pre: the function is in one of the kernel folders, and constants that it imports from
    elsewhere are in one of the files of constants, otherwise edits of them would go unnoticed
    by compiled code on disk.  Post: the result can be called from Python
    and from other kernels.  Array indices are not checked, and a division by zero does not
    raise.  Compilation is lazy, one version per tuple of argument types; callers should pass
    plain integers (int64) and writable C-contiguous arrays to keep the number of versions down.
    """
    if numba.config.DISABLE_JIT:
        return function
    with _lock, _numba_cache_at(cache_directory()):
        compiled = numba.njit(cache=True, **_OPTIONS)(function)
    _separate_data_files(compiled)
    compile_fully = compiled.compile

    def compile_quickly(signature: Any) -> Any:
        with _quickly():
            return compile_fully(signature)

    compiled.compile = compile_quickly
    part = _part(function)
    compiled.get_call_template, compiled.get_overload = part.get_call_template, part.get_overload
    return compiled  # type: ignore[no-any-return]


def internal(function: _F) -> _F:
    """A part of kernels: a :func:`kernel` that only other kernels call."""
    if numba.config.DISABLE_JIT:
        return function
    return _part(function)  # type: ignore[no-any-return]
