"""Systems and observations as the HSD tool reads them: the WCNF format of MaxSAT with observations.

::

    c any remark
    o 1 -2 16 0
    p wcnf 17 22 7
    1 9 0
    7 -9 8 3 0

A line `o` is an observation: literals that were all true.  `p wcnf` has the number of variables,
the number of clauses, and the weight that clauses have which always hold; without it, none does.
Each other clause is a component, in their order, and holds if the component is healthy.  Mostly it
is one literal, the component's healthy predicate; any other clause gets a variable for it.
Components have the weight 1: others are refused, for then it would matter which components a
diagnosis has, and not only how many.

Lists of literals end with 0, and may go on in the next line.  Two remarks of ours mean something:
`c component 3 NAME` and `c observation 1 NAME` give names (numbers count from 1).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from whence.formats.markup import MAX_BYTES, read_bytes
from whence.model.mbd import Clause, Component, Observation, Problem, System
from whence.source import Diagnostic, InputError, Origin, UnsupportedError

__all__ = ["read_mbd", "read_mbd_file", "write_mbd"]

#: Numbers of variables are kept in 31 bits by solvers.
_MOST = 2**31 - 1
#: So many variables more than there are literals are taken for a mistake: solvers keep something
#: for each variable.
_SPARE_VARIABLES = 1_000_000
_MOST_PROBLEMS = 20

_NUMBER = re.compile(r"-?[0-9]{1,10}")
_WEIGHT = re.compile(r"[0-9]{1,19}")
_NAMED = re.compile(r"c[ \t]+(component|observation)[ \t]+([0-9]{1,9})[ \t]+(\S.*)")
#: What most lines are.
_PLAIN = re.compile(r"[ \t]*[0-9]{1,18}(?:[ \t]+-?[1-9][0-9]{0,8})*[ \t]+0[ \t\r]*")
_GZIP = b"\x1f\x8b"


def read_mbd_file(path: Path | str) -> Problem:
    """A file, which may be packed with gzip."""
    data = read_bytes(path)
    if data.startswith(_GZIP):
        data = _unpacked(data, str(path))
    return read_mbd(data, str(path))


def _unpacked(data: bytes, file: str) -> bytes:
    unpack = zlib.decompressobj(wbits=31)
    try:
        text = unpack.decompress(data, MAX_BYTES + 1)
    except zlib.error:
        raise InputError(Diagnostic("the packed file is damaged", Origin(file))) from None
    if len(text) > MAX_BYTES:
        limit = f"{MAX_BYTES // 2**20} MiB, our limit"
        raise InputError(Diagnostic(f"the file is larger than {limit}", Origin(file)))
    if not unpack.eof:
        raise InputError(Diagnostic("the packed file is cut off", Origin(file)))
    return text


def read_mbd(text: bytes | str, file: str = "") -> Problem:
    """Raises InputError with all that is wrong."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return _Reader(file).read(text)


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[Diagnostic] = []
        self._variables: int | None = None
        self._count = 0
        self._top: int | None = None
        self._seen = 0
        self._literals = 0
        self._notes: list[str] = []
        self._names: dict[tuple[str, int], str] = {}
        self._hard: list[Clause] = []
        self._soft: list[tuple[Clause, Origin]] = []
        self._observed: list[tuple[tuple[int, ...], Origin]] = []
        # Literals that stand before `p`, which says whether there are such variables.
        self._early: list[tuple[int, Origin]] = []
        self._open: list[int] | None = None
        self._weight: int | None = None
        self._began = Origin(file)

    def _wrong(
        self, message: str, origin: Origin, hint: str = "", kind: type[InputError] = InputError
    ) -> None:
        self._problems.append(Diagnostic(message, origin, hint))
        if kind is not InputError or len(self._problems) >= _MOST_PROBLEMS:
            raise kind(self._problems)

    def read(self, text: str) -> Problem:
        for number, line in enumerate(text.splitlines(), 1):
            if self._open is None and self._variables is not None and _PLAIN.fullmatch(line):
                weight, *literals = map(int, line.split())
                literals.pop()
                if max(map(abs, literals), default=0) <= self._variables:
                    self._weight, self._open = weight, literals
                    self._began = Origin(self._file, number, 1, number, len(line) + 1)
                    self._literals += len(literals)
                    self._close()
                    continue
            words = line.split()
            if not words:
                continue
            if self._open is None and words[0][0] == "c":
                self._remark(line)
            elif self._open is None and words[0] == "p":
                self._header(words, Origin(self._file, number, 1))
            else:
                self._list(words, line, number)
        if self._open is not None:
            self._wrong("this list of literals does not end with 0", self._began)
        if self._variables is None:
            self._wrong("there is no line `p wcnf VARIABLES CLAUSES TOP`", Origin(self._file))
        elif self._seen != self._count:
            self._wrong(
                f"{self._count:,} clauses are announced, and there are {self._seen:,}",
                Origin(self._file),
                "was the file cut off?" if self._seen < self._count else "",
            )
        if self._problems:
            raise InputError(self._problems)
        return self._problem()

    def _remark(self, line: str) -> None:
        named = _NAMED.fullmatch(line.strip())
        if named:
            self._names[named[1], int(named[2])] = named[3]
        else:
            self._notes.append(line.strip()[1:].strip())

    def _header(self, words: list[str], origin: Origin) -> None:
        if self._variables is not None:
            self._wrong("this is the second line `p`", origin)
            return
        self._variables = 0
        if words[1:2] == ["cnf"]:
            hint = "plain formulas have no components; the format is WCNF"
            self._wrong("this is a formula, and no system of components", origin, hint)
            return
        if (
            words[1:2] != ["wcnf"]
            or len(words) not in (4, 5)
            or not all(map(_WEIGHT.fullmatch, words[2:]))
        ):
            self._wrong("expected `p wcnf VARIABLES CLAUSES TOP`", origin)
            return
        self._variables, self._count = int(words[2]), int(words[3])
        self._top = int(words[4]) if len(words) == 5 else None
        if self._variables > _MOST:
            self._wrong(f"more than {_MOST:,} variables", origin)
        for literal, place in self._early:
            self._check(literal, place)

    def _list(self, words: list[str], line: str, number: int) -> None:
        column = 0
        for word in words:
            column = line.index(word, column)
            origin = Origin(self._file, number, column + 1, number, column + 1 + len(word))
            column += len(word)
            if self._open is None:
                self._open = []
                self._began = origin
                if word == "o":
                    self._weight = None
                    continue
                if word == "h":
                    self._wrong(
                        "clauses with `h`, and no line `p`: the newer form of WCNF has no "
                        "observations",
                        origin,
                        "write `p wcnf VARIABLES CLAUSES TOP`, and the weight TOP for `h`",
                        UnsupportedError,
                    )
                if self._variables is None:
                    self._wrong("a clause before the line `p wcnf`", origin, kind=InputError)
                    self._variables, self._count = _MOST, -1
                if not _WEIGHT.fullmatch(word):
                    self._wrong(f"expected the weight of a clause, not `{word[:40]}`", origin)
                    self._weight = 1
                else:
                    self._weight = int(word)
                continue
            if not _NUMBER.fullmatch(word) or abs(int(word)) > _MOST:
                self._wrong(f"expected a literal or 0, not `{word[:40]}`", origin)
                continue
            literal = int(word)
            if literal:
                self._open.append(literal)
                self._literals += 1
                if self._variables is None:
                    self._early.append((literal, origin))
                elif abs(literal) > self._variables:
                    self._check(literal, origin)
            else:
                self._close()

    def _check(self, literal: int, origin: Origin) -> None:
        if self._variables is not None and abs(literal) > self._variables:
            self._wrong(
                f"there is no variable {abs(literal)}: `p wcnf` announces {self._variables:,}",
                origin,
            )

    def _close(self) -> None:
        literals = tuple(self._open or ())
        self._open = None
        if self._weight is None:
            self._observed.append((literals, self._began))
            return
        self._seen += 1
        if self._top is not None and self._weight >= self._top:
            self._hard.append(literals)
            return
        if self._weight != 1:
            self._wrong(
                f"a component with the weight {self._weight}: all components count the same here",
                self._began,
                "give it the weight 1",
                UnsupportedError,
            )
        self._soft.append((literals, self._began))

    def _problem(self) -> Problem:
        variables = self._variables or 0
        if variables > self._literals + _SPARE_VARIABLES:
            raise InputError(
                Diagnostic(
                    f"{variables:,} variables are announced, and there are only "
                    f"{self._literals:,} literals",
                    Origin(self._file),
                )
            )
        components = []
        used: set[int] = set()
        clauses = self._hard
        for number, (clause, origin) in enumerate(self._soft, 1):
            if len(clause) == 1 and abs(clause[0]) not in used:
                healthy = clause[0]
            else:
                variables += 1
                healthy = variables
                clauses.append((*clause, -healthy))
            used.add(abs(healthy))
            name = self._names.get(("component", number), "")
            components.append(Component(healthy, name, origin))
        observations = [
            Observation(literals, self._names.get(("observation", number), ""), origin)
            for number, (literals, origin) in enumerate(self._observed, 1)
        ]
        return Problem(
            System(variables, tuple(clauses), tuple(components)),
            tuple(observations),
            tuple(self._notes),
        )


def write_mbd(problem: Problem) -> Iterator[str]:
    """The file, in pieces of text. What was written reads back the same."""
    system = problem.system
    for note in problem.notes:
        yield f"c {' '.join(note.split())}\n"
    names = [("component", [each.name for each in system.components])]
    names.append(("observation", [each.name for each in problem.observations]))
    for kind, those in names:
        for number, name in enumerate(those, 1):
            if name.strip():
                yield f"c {kind} {number} {' '.join(name.split())}\n"
    for observation in problem.observations:
        yield f"o {_list(observation.literals)}\n"
    count = len(system.clauses) + len(system.components)
    top = len(system.components) + 1
    yield f"p wcnf {system.variables} {count} {top}\n"
    for component in system.components:
        yield f"1 {component.healthy} 0\n"
    for clause in system.clauses:
        yield f"{top} {_list(clause)}\n"


def _list(literals: Clause) -> str:
    return " ".join(map(str, (*literals, 0)))
