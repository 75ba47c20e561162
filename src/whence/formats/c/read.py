"""C files into a program (`read_c`), and the options they are read with."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from whence.formats.c.nodes import Places, library
from whence.formats.c.numbering import numbered
from whence.formats.c.statements import read_function, read_global
from whence.formats.c.types import Types, refuse
from whence.formats.c.unit import Builder, Unit
from whence.model.program import DataModel, Program
from whence.source import Diagnostic, InputError, Origin, UsageError, WhenceError

__all__ = ["DATA_MODELS", "COptions", "read_c"]

#: What clang is told to compile for. `target` in the options chooses any other machine.
DATA_MODELS: Mapping[str, str] = MappingProxyType(
    {
        "lp64": "x86_64-unknown-linux-gnu",
        "ilp32": "i686-unknown-linux-gnu",
        "int16": "msp430-none-elf",
    }
)

_HEADERS = Path(__file__).with_name("include")

# What older C allowed, and compilers of embedded systems still do, is a warning.
_LENIENT = (
    "implicit-int",
    "implicit-function-declaration",
    "int-conversion",
    "incompatible-function-pointer-types",
    "return-type",
    "return-mismatch",
    "reserved-user-defined-literal",
)
# Warnings that say nothing about what the code does.
_QUIET = (
    "deprecated-non-prototype",
    "strict-prototypes",
    "unknown-warning-option",
    "unused-command-line-argument",
    "unknown-attributes",
    "ignored-attributes",
    "unknown-pragmas",
)


@dataclass(frozen=True, slots=True)
class COptions:
    """How C is read. `units` gives single files options of their own, after the common ones: what
    `compile_commands.json` says."""

    data_model: str = "lp64"
    #: A clang target triple; overrules `data_model`.
    target: str = ""
    std: str = "gnu99"
    include: tuple[str, ...] = ()
    #: `NAME` or `NAME=VALUE`.
    define: tuple[str, ...] = ()
    undefine: tuple[str, ...] = ()
    #: Further options for clang, such as `-funsigned-char`.
    extra: tuple[str, ...] = ()
    units: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


def read_c(
    paths: Sequence[Path | str],
    options: COptions | None = None,
    *,
    text: str | None = None,
    texts: Mapping[str, str] | None = None,
) -> Program:
    """The program that the translation units are together. With `text`, that is what stands in
    the only file, which need not exist; `texts` are what is to be read instead of what stands in
    files, headers among them, by the names that origins have.

    Raises InputError with what clang says about code that is wrong, UnsupportedError for what the
    core language cannot say, by name and place.
    """
    options = options or COptions()
    if not paths:
        raise UsageError("no C file was named")
    if text is not None and len(paths) != 1:
        raise UsageError("a text belongs to exactly one file")
    with _room():
        model = _data_model(str(paths[0]), options)
        unsaved = dict(texts or {})
        if text is not None:
            unsaved[str(paths[0])] = text
        parsed = [_parse(str(path), options, unsaved) for path in paths]
        return _Reader(model).read([str(path) for path in paths], parsed)


@contextmanager
def _room() -> Iterator[None]:
    """Expressions and statements nest deeper than Python's usual limit allows."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _arguments(path: str, options: COptions) -> list[str]:
    target = options.target or DATA_MODELS.get(options.data_model, "")
    if not target:
        known = ", ".join(DATA_MODELS)
        raise UsageError(
            Diagnostic(f"unknown data model `{options.data_model}`", hint=f"known are: {known}")
        )
    arguments = ["-x", "c", "-target", target, f"-std={options.std}", "-ferror-limit=0"]
    arguments += [f"-I{folder}" for folder in options.include]
    arguments += [f"-D{definition}" for definition in options.define]
    arguments += [f"-U{name}" for name in options.undefine]
    arguments += options.extra
    arguments += options.units.get(path, ())
    # Our own headers come last, so that a project may bring its own.
    arguments += ["-nostdinc", "-isystem", str(_HEADERS)]
    arguments += [f"-Wno-error={name}" for name in _LENIENT]
    arguments += [f"-Wno-{name}" for name in _QUIET]
    return arguments


@dataclass(slots=True)
class _Parsed:
    unit: Any
    warnings: tuple[Diagnostic, ...]


def _parse(path: str, options: COptions, texts: Mapping[str, str]) -> _Parsed:
    lib = library()
    if path not in texts:
        try:
            content = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise InputError(
                Diagnostic(f"the file cannot be read: {reason}", Origin(path))
            ) from None
        if b"\0" in content:
            raise InputError(Diagnostic("this is no C source: it holds zero bytes", Origin(path)))
    detailed = lib.binding.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    try:
        unit = lib.binding.Index.create().parse(
            path,
            args=_arguments(path, options),
            unsaved_files=list(texts.items()) or None,
            options=detailed,
        )
    except lib.binding.TranslationUnitLoadError:
        raise InputError(Diagnostic("clang cannot read this file", Origin(path))) from None
    errors = []
    warnings = []
    for diagnostic in unit.diagnostics:
        found = _diagnostic(diagnostic, path)
        if diagnostic.severity >= lib.binding.Diagnostic.Error:
            errors.append(found)
        elif diagnostic.severity == lib.binding.Diagnostic.Warning:
            warnings.append(replace(found, severity="warning"))
    if errors:
        raise InputError(errors[:50])
    return _Parsed(unit, tuple(warnings))


def _diagnostic(diagnostic: Any, path: str) -> Diagnostic:
    location = diagnostic.location
    if location.file is None:
        return Diagnostic(diagnostic.spelling, Origin(path))
    line, column = location.line, location.column
    origin = Origin(location.file.name, line, column, line, column)
    message = diagnostic.spelling
    hint = ""
    if "file not found" in message:
        hint = "-I names folders to look in; of the system's headers only those of C are there"
    return Diagnostic(message, origin, hint)


class _Reader:
    """Several parsed units become one program."""

    def __init__(self, model: DataModel) -> None:
        self.model = model
        self.errors: list[Diagnostic] = []

    def read(self, paths: list[str], parsed: list[_Parsed]) -> Program:
        model = self.model
        builder = Builder(model, Types(model.pointer_bits))
        for one in parsed:
            builder.external |= _external_names(one.unit)
        for path, one in zip(paths, parsed, strict=True):
            builder.types.begin_unit()
            unit = Unit(builder, Places(one.unit), Path(path).name)
            self._unit(unit, one.unit)
        if self.errors:
            kind: type[WhenceError] = self._kind
            raise kind(self.errors[:50])
        declared = {
            key: type for key, type in builder.declared.items() if key not in builder.functions
        }
        return Program(
            MappingProxyType(numbered(builder.functions)),
            MappingProxyType(builder.globals),
            MappingProxyType(builder.types.records),
            model,
            MappingProxyType(declared),
            tuple(builder.types.enumerations.values()),
            tuple(paths),
            tuple(warning for one in parsed for warning in one.warnings),
        )

    _kind: type[WhenceError] = InputError

    def _note(self, error: WhenceError) -> None:
        """Goes on, so that everything that is wrong is said at once."""
        if not self.errors:
            self._kind = type(error)
        elif not isinstance(error, self._kind):
            self._kind = InputError
        self.errors += error.diagnostics

    def _unit(self, unit: Unit, parsed: Any) -> None:
        definitions = []
        for cursor in parsed.cursor.get_children():
            match cursor.kind.name:
                case "FUNCTION_DECL":
                    if cursor.is_definition():
                        definitions.append(cursor)
                case "VAR_DECL":
                    try:
                        self._variable(unit, cursor)
                    except WhenceError as error:
                        self._note(error)
                case "UNEXPOSED_DECL" if _is_assembly(unit, cursor):
                    origin, _ = unit.places.where(cursor.extent)
                    self._note(refuse("inline assembly", origin))
        for cursor in definitions:
            try:
                self._function(unit, cursor)
            except WhenceError as error:
                self._note(error)

    def _variable(self, unit: Unit, cursor: Any) -> None:
        storage = unit.lib.storage_class(cursor)
        variable = unit.global_variable(cursor)
        has_value = not unit.lib.initializer(cursor).kind.is_invalid()
        if storage == 2 and not has_value:
            return  # only a declaration
        entry = unit.builder.globals[variable.key]
        if entry.initial and has_value:
            raise InputError(
                Diagnostic(
                    f"`{variable.name}` is defined twice", unit.places.where(cursor.extent)[0]
                )
            )
        if has_value or not entry.defined:
            read_global(unit, entry.variable, cursor)

    def _function(self, unit: Unit, cursor: Any) -> None:
        origin, _ = unit.places.where(cursor.extent)
        key = unit.function_key(cursor, origin)
        if key in unit.builder.functions:
            if _inline_elsewhere(cursor):
                return
            first = unit.builder.functions[key].origin
            raise InputError(
                Diagnostic(f"`{cursor.spelling}` is defined twice, first at {first}", origin)
            )
        unit.builder.functions[key] = read_function(unit, cursor, key)


def _inline_elsewhere(cursor: Any) -> bool:
    """An inline function may be defined in each file that uses it."""
    return bool(library().inlined(cursor))


def _is_assembly(unit: Unit, cursor: Any) -> bool:
    tokens = [token.spelling for token in cursor.get_tokens()][:1]
    return tokens in (["asm"], ["__asm__"], ["__asm"])


def _external_names(unit: Any) -> set[str]:
    return {
        cursor.spelling
        for cursor in unit.cursor.get_children()
        if cursor.kind.name in ("FUNCTION_DECL", "VAR_DECL") and cursor.linkage.value == 4
    }


def _data_model(path: str, options: COptions) -> DataModel:
    """Asks clang itself what the target's types are like."""
    text = (
        "int i; long l; void *p; char c = (char)-1 < 0;"
        "int e = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;"
    )
    lib = library()
    arguments = _arguments(path, options)
    triple = options.target or DATA_MODELS[options.data_model]
    unknown = UsageError(f"clang does not know the target `{triple}`")
    try:
        probe = lib.binding.Index.create().parse(
            "(model).c", args=arguments, unsaved_files=[("(model).c", text)]
        )
    except lib.binding.TranslationUnitLoadError:
        raise unknown from None
    sizes: dict[str, int] = {}
    values: dict[str, Any] = {}
    for cursor in probe.cursor.get_children():
        if cursor.kind.name == "VAR_DECL":
            sizes[cursor.spelling] = cursor.type.get_size() * 8
            values[cursor.spelling] = lib.value(cursor)
    if not sizes or sizes.get("i", 0) <= 0:
        raise unknown
    return DataModel(
        options.target or options.data_model,
        triple,
        sizes["i"],
        sizes["l"],
        sizes["p"],
        values["c"] == 1,
        values["e"] == 1,
    )
