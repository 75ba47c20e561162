"""Statements of the core language as circuits: paths part and meet (Graussam, section 3.2.3), loops
are unrolled (3.2.4).

Only decisions, assigned values, arguments and returned values are anything where a component is not
healthy; how paths meet is never in doubt (equation 4.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from whence.locate.encode_expressions import Expressions
from whence.locate.encode_places import Location
from whence.locate.symbolic import (
    Aggregate,
    Cell,
    Leaf,
    Object,
    State,
    Value,
    choose_cell,
    leaves_of,
    merge,
    merge_two,
    point,
    refuse,
)
from whence.model.program import (
    Assert,
    Assign,
    Block,
    Call,
    Clear,
    Declare,
    Dereference,
    Element,
    Evaluate,
    If,
    IntType,
    Leave,
    Load,
    Loop,
    Member,
    Next,
    PointerAdd,
    PointerType,
    Return,
    Statement,
    Switch,
    Type,
    VariablePlace,
)
from whence.model.program import Place as CPlace
from whence.solve import words
from whence.solve.circuits import FALSE, TRUE, Literal
from whence.source import Origin

__all__ = ["Statements"]

Paths = list[tuple[Literal, State]]


@dataclass
class Statements(Expressions):
    #: How often the bodies of loops run at most, by number.
    rounds: Mapping[int, int] = field(default_factory=dict)
    #: Loops of which it was assumed that they end by then.
    unwound: dict[int, Loop] = field(default_factory=dict)
    returned: Object | None = None
    #: More than so many gates, which take about a gigabyte, are too many.
    most_gates: int = 4_000_000
    _leaves: dict[str, Paths] = field(default_factory=dict)
    _nexts: dict[str, Paths] = field(default_factory=dict)
    _returns: Paths = field(default_factory=list)

    def body(self, body: Iterable[Statement]) -> None:
        for statement in body:
            if self.guard == FALSE:
                return
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        self.place = self.suspects.of_statement.get(statement.number)
        if len(self.circuit) > self.most_gates:
            raise refuse(
                f"a program that takes more than {self.most_gates:,} gates",
                statement.origin,
                "bound its loops, or leave out tests with long runs",
            )
        match statement:
            case Declare():
                self.declare(self.object(statement.variable))
            case Clear():
                location = self.locate(statement.place)
                for leaf in leaves_of(self.program, location.type, statement.origin):
                    self._store_leaf(location, leaf, self.zero(leaf), statement.origin)
            case Assign():
                value = self.expression(statement.value)
                self.assign(statement.target, value, "", statement.origin)
            case Call():
                self.call(statement)
            case Evaluate():
                self.expression(statement.value)
            case Assert():
                holds = self.condition(statement.condition)
                self.circuit.require(self.circuit.implies(self.guard, holds))
            case If():
                self._if(statement)
            case Loop():
                self._loop(statement)
            case Switch():
                self._switch(statement)
            case Block():
                self._leaves[statement.label] = []
                self.body(statement.body)
                self.meet(self._leaves.pop(statement.label))
            case Leave():
                self._leaves[statement.label].append((self.guard, self.state))
                self.end()
            case Next():
                self._nexts[statement.label].append((self.guard, self.state))
                self.end()
            case Return():
                self._return(statement)

    def call(self, statement: Call) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """The path ends here."""
        self.guard = FALSE
        self.state = {}

    def meet(self, others: Paths) -> None:
        """This path and the others go on together."""
        if not others:
            return
        met = merge(self.circuit, [*others, (self.guard, self.state)])
        if met is None:
            self.end()
        else:
            self.guard, state = met
            self.state = dict(state)

    # ---------------------------------------------------------------------------------- writing

    def declare(self, made: Object) -> None:
        for at, leaf in enumerate(made.leaves):
            self.state[made, at] = self.undefined(leaf)

    def assign(self, place: CPlace, value: Value, what: str, origin: Origin) -> None:
        """Writes what the component makes of the value."""
        self.writing = True
        location = self.locate(place)
        name = what or _name(place)
        decisions = self.model.decisions
        exact = {
            "pointer": decisions.exact_dereference,
            "index": decisions.exact_index,
        }.get(location.via, True)
        if exact:
            value = self.havoc(self.place, value, location.type, name, origin)
        self.store(location, value, origin)
        if not exact and self.place is not None:
            self._havoc_all(location, name, origin)
        self.writing = False

    def _havoc_all(self, location: Location, what: str, origin: Origin) -> None:
        """All that could have been written to is anything: decisions 3.a and 6.a."""
        for leaf in leaves_of(self.program, location.type, origin):
            for _, made, at in self.candidates(location, leaf, origin):
                cell = self.state[made, at]
                value = self.havoc(self.place, cell.value, made.leaves[at].type, what, origin)
                assert not isinstance(value, Aggregate)
                defined = self.circuit.or_(cell.defined, self.healthy(self.place) ^ 1)
                self.state[made, at] = Cell(value, defined)

    def store(self, location: Location, value: Value, origin: Origin) -> None:
        if isinstance(value, Aggregate):
            for leaf, cell in value.cells:
                self._store_leaf(location, leaf, cell, origin)
            return
        assert isinstance(location.type, (IntType, PointerType))
        leaf = Leaf(0, location.type, location.bit, location.width)
        if isinstance(value, tuple):
            value = words.truncate(value, leaf.bits)
        self._store_leaf(location, leaf, Cell(value, TRUE), origin)

    def _store_leaf(self, location: Location, leaf: Leaf, cell: Cell, origin: Origin) -> None:
        circuit = self.circuit
        found = self.candidates(location, leaf, origin)
        if location.via == "pointer":
            self.check("pointers", circuit.any_(when for when, _, _ in found))
        for when, made, at in found:
            if made.constant:
                self.check("pointers", when ^ 1)
                continue
            before = self.state.get((made, at))
            if before is None:
                before = self.undefined(made.leaves[at])
            self.state[made, at] = choose_cell(circuit, when, cell, before)

    def _return(self, statement: Return) -> None:
        made = self.returned
        if statement.value is not None and made is not None:
            value = self.expression(statement.value)
            value = self.havoc(self.place, value, made.type, "", statement.origin)
            alternatives = self._whole(made, made.type)
            self.store(alternatives, value, statement.origin)
        self._returns.append((self.guard, self.state))
        self.end()

    def _whole(self, made: Object, type: Type) -> Location:
        return Location(point(made).alternatives, type)

    # ------------------------------------------------------------------------------------ paths

    def _if(self, statement: If) -> None:
        circuit = self.circuit
        c = self.condition(statement.condition)
        c = self.havoc_bit(self.place, c, "condition", statement.condition.origin)
        if c in (FALSE, TRUE):
            self.body(statement.then if c else statement.otherwise)
            return
        guard, before = self.guard, self.state
        taken, passed = circuit.and_(guard, c), circuit.and_(guard, c ^ 1)
        self.guard, self.state = taken, dict(before)
        self.body(statement.then)
        then = (self.guard, self.state)
        self.guard, self.state = passed, before if not statement.otherwise else dict(before)
        self.body(statement.otherwise)
        if then[0] == taken and self.guard == passed:
            self.guard, self.state = guard, merge_two(circuit, c, then[1], self.state)
            self.state = dict(self.state)
        else:
            self.meet([then])

    def _loop(self, statement: Loop) -> None:
        circuit, label = self.circuit, statement.label
        left: Paths = []
        self._leaves[label] = left
        most = self.rounds.get(statement.number, 0)
        for done in range(most + 1):
            if not (statement.tests_last and done == 0):
                self.body(statement.before)
                if self.guard == FALSE:
                    break
                # Where no condition stands, one can be missing.
                self.place = self.suspects.of_statement.get(statement.number)
                c, where = TRUE, statement.origin
                if statement.condition is not None:
                    c, where = self.condition(statement.condition), statement.condition.origin
                c = self.havoc_bit(self.place, c, "condition", where)
                if c != TRUE:
                    left.append((circuit.and_(self.guard, c ^ 1), dict(self.state)))
                    self.guard = circuit.and_(self.guard, c)
            if self.guard == FALSE:
                break
            if done == most:
                # The unwinding assumption.
                circuit.require(self.guard ^ 1)
                self.unwound[statement.number] = statement
                break
            self._nexts[label] = []
            self.body(statement.body)
            self.meet(self._nexts.pop(label))
            if self.guard == FALSE:
                break
            self.body(statement.step)
            if self.guard == FALSE:
                break
        self.end()
        self._leaves.pop(label)
        self.meet(left)

    def _switch(self, statement: Switch) -> None:
        circuit = self.circuit
        value = self.expression(statement.value)
        value = self.havoc(
            self.place, value, statement.value.type, "switch", statement.value.origin
        )
        assert isinstance(value, tuple)
        assert isinstance(statement.value.type, IntType)
        signed, bits = statement.value.type.signed, len(value)
        enters: list[Literal] = []
        for section in statement.sections:
            cases = []
            for low, high in section.values:
                least = words.constant(low, bits)
                most = words.constant(high, bits)
                if low == high:
                    cases.append(words.equal(circuit, value, least))
                else:
                    cases.append(
                        circuit.and_(
                            words.less_equal(circuit, least, value, signed=signed),
                            words.less_equal(circuit, value, most, signed=signed),
                        )
                    )
            enters.append(circuit.any_(cases))
        other = circuit.any_(enters) ^ 1
        guard, before = self.guard, self.state
        left: Paths = []
        self._leaves[statement.label] = left
        if not any(section.default for section in statement.sections):
            left.append((circuit.and_(guard, other), dict(before)))
        self.end()
        for section, enter in zip(statement.sections, enters, strict=True):
            chosen = circuit.or_(enter, other) if section.default else enter
            entering = circuit.and_(guard, chosen)
            if entering != FALSE:
                if self.guard == FALSE:
                    self.guard, self.state = entering, dict(before)
                else:
                    self.meet([(entering, before)])
            self.body(section.body)
        self._leaves.pop(statement.label)
        self.meet(left)


def _name(place: CPlace) -> str:
    """What the place is called."""
    match place:
        case VariablePlace():
            return "" if place.variable.storage == "temporary" else place.variable.name
        case Member():
            return f"{_name(place.record)}.{place.field.name}"
        case Element():
            return f"{_name(place.array)}[...]"
        case Dereference():
            pointer = place.pointer
            if isinstance(pointer, Load):
                return f"*{_name(pointer.place)}"
            if isinstance(pointer, PointerAdd) and isinstance(pointer.pointer, Load):
                return f"{_name(pointer.pointer.place)}[...]"
            return "*(...)"
