"""What holds whenever a model has settled: no discrete step is due.

Settled states follow each other by a wait and the discrete steps behind it.  Several models can run
side by side with the same inputs; who has settled waits for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from random import Random

from whence.expr.tree import Expr, Symbol, SymbolKind
from whence.expr.types import BOOL
from whence.solve.frames import AllOf, Answer, AnyOf, Claim, Frames, Holds, Selector
from whence.testing.inputs import interesting
from whence.testing.logic import both, compare, either, negation, number, read, within
from whence.testing.model import TimedModel
from whence.testing.semantics.abstract import AbstractInterpreter, admitted
from whence.testing.semantics.relation import Relation
from whence.testing.semantics.simulator import Illegal, Simulator, State

__all__ = ["Settled", "settled_invariants"]

#: So many discrete steps are looked at behind a wait at most; proofs fail where there are more.
_MOST = 12
#: That discrete steps are taken, and no time passes.
_MICRO = Symbol("", "discrete steps", SymbolKind.VARIABLE, BOOL)


class Settled:
    """Frame 0 is settled, or the start; frame `last` is behind a wait and its discrete steps, of
    which there may be `steps`."""

    def __init__(self, relations: Sequence[Relation], budget: int, steps: int) -> None:
        self.relations = relations
        self.last = min(steps, _MOST) + 1
        self.budget = budget
        self.state = tuple(dict.fromkeys(s for one in relations for s in one.state))
        self._primes = {
            symbol: primed
            for one in relations
            for symbol, primed in zip(one.state, one.primed, strict=True)
        }
        self.frames = Frames(
            self.state,
            tuple(self._primes[symbol] for symbol in self.state),
            (*(s for one in relations for s in one.auxiliary), _MICRO),
            [expr for one in relations for expr in one.definitions],
            list(self._step()),
        )
        for _ in range(self.last + 1):
            self.frames.extend()
        self.start = self.frames.selector()
        self.inside = self.frames.selector()
        self._wild = self.frames.selector()
        self._prepare()

    def _step(self) -> Iterable[Expr]:
        micro = read(_MICRO)
        for one in self.relations:
            discrete = read(one.discrete)
            same = both(
                compare("==", read(self._primes[symbol]), read(symbol)) for symbol in one.state
            )
            # In discrete steps, who has none stays; in a wait, nobody has one.
            yield either((negation(micro), discrete, same))
            yield either((both((micro, negation(discrete))), both(one.step)))
            yield either((micro, negation(discrete)))
        first, *others = self.relations
        for other in others:
            yield either((micro, compare("==", read(first.delay), read(other.delay))))

    def _prepare(self) -> None:
        frames = self.frames
        for one in self.relations:
            for expr in one.initial:
                frames.require(Holds(expr, 0), self.start)
            bounds = AbstractInterpreter(one.model).invariant()
            for expr in admitted(one.model, bounds):
                frames.require(Holds(expr, 0), self.inside)
        frames.require(self._micro(0), self.start)
        frames.require(Holds(negation(read(_MICRO)), 0), self.inside)
        frames.require(self._micro(1), self.inside)
        # Runs that do not settle in time must not be overlooked.
        unsettled = either(read(one.discrete) for one in self.relations)
        frames.require(Holds(unsettled, self.last), self._wild)

    def _micro(self, first: int) -> Claim:
        return AllOf(tuple(Holds(read(_MICRO), n) for n in range(first, self.last + 1)))

    # ---------------------------------------------------------------------------------- questions

    def ask(self, selectors: Sequence[Selector]) -> Answer:
        return self.frames.ask(selectors, self.last + 1, self.budget)

    def assume(self, claims: Iterable[Expr]) -> Selector:
        """For questions that begin in a settled state."""
        chosen = self.frames.selector()
        self.frames.require(AllOf(tuple(Holds(expr, 0) for expr in claims)), chosen)
        return chosen

    def require_inside(self, expr: Expr) -> None:
        """What is known of all settled states."""
        self.frames.require(Holds(expr, 0), self.inside)

    def kept(self, claims: Sequence[Expr], begin: Sequence[Selector]) -> list[Expr] | None:
        """Those that hold behind the steps, whatever happens; None where that is not known."""
        left = list(claims)
        while left:
            broken = self.frames.selector()
            self.frames.require(
                AnyOf(tuple(Holds(negation(expr), self.last) for expr in left)), broken
            )
            answer = self.ask((*begin, broken))
            if answer is Answer.IMPOSSIBLE:
                return left
            if answer is Answer.UNKNOWN:
                return None
            values = dict(zip(self.state, self.frames.state(self.last), strict=True))
            left = [expr for expr in left if truth(expr, values)]
        return left

    def settles(self, begin: Sequence[Selector]) -> bool:
        """Whether all discrete steps are looked at."""
        return self.ask((*begin, self._wild)) is Answer.IMPOSSIBLE

    def greatest(self, claims: Sequence[Expr]) -> list[Expr]:
        """The greatest set of these claims that holds in all settled states, by induction; none
        where that is not known."""
        left = self.kept(claims, (self.start,))
        if left is None or not self.settles((self.start,)):
            return []
        while left:
            assumed = self.assume(left)
            after = self.kept(left, (self.inside, assumed))
            if after is None:
                return []
            if len(after) == len(left):
                return left if self.settles((self.inside, assumed)) else []
            left = after
        return []


def truth(expr: Expr, values: dict[Symbol, int]) -> bool:
    """Of claims as we make them, in a state."""
    from whence.testing.semantics.python import NAMESPACE, Fault, compiled, truth_source

    names = {symbol: f"state[{n}]" for n, symbol in enumerate(values)}
    source = truth_source(expr, names)
    try:
        state = list(values.values())
        return bool(eval(compiled(source, "a claim", "eval"), {**NAMESPACE, "state": state}))
    except Fault:
        return False


# ------------------------------------------------------------------------------------- invariants


def settled_invariants(model: TimedModel, budget: int, seed: int = 0) -> tuple[list[Expr], int]:
    """What relates control states and variables in all settled states: guessed from random runs,
    and proved.  And how many discrete steps such runs had at one date."""
    samples, steps = _samples(model, Random(seed))
    claims = _claims(model, samples) if len(samples) >= 50 else []
    if not claims:
        return [], steps
    return Settled((Relation(model),), budget, steps + 1).greatest(claims), steps


def _samples(model: TimedModel, random: Random) -> tuple[list[State], int]:
    simulator = Simulator(model)
    free = [v for v in model.variables if v.free]
    values = [interesting(model, v) for v in free]
    found: dict[State, None] = {}
    most = steps = 0
    for _ in range(60):
        state = simulator.initial([random.choice(options) for options in values])
        try:
            for _ in range(400):
                after = simulator.step(state)
                steps += 1
                most = max(most, steps)
                if after is None:
                    steps = 0
                    found[state] = None
                    limit = simulator.limit(state)
                    delay = limit if random.random() < 0.6 else random.randint(1, limit)
                    now = [
                        random.choice(options) if random.random() < 0.3 else state[place]
                        for options, place in zip(values, simulator.free, strict=True)
                    ]
                    after = simulator.wait(state, delay, now)
                state = after
        except Illegal:
            steps = 0
    return list(found), most


def _claims(model: TimedModel, samples: Sequence[State]) -> list[Expr]:
    """In a control state: bounds of variables, and which of them are equal."""
    small = [v for v in model.variables if v.role not in ("timer", "choice") and v.real is None]
    found: list[Expr] = []
    for number_, machine in enumerate(model.machines):
        for basic in machine.basics:
            here = [state for state in samples if state[number_] == basic.first]
            if len(here) < 10:
                continue
            outside = negation(within(machine.control, basic.first, basic.first))
            for v in small:
                if v.free:
                    continue
                seen = {state[model.place[v.symbol]] for state in here}
                low, high = min(seen), max(seen)
                if (low, high) != v.limits:
                    bounds = both(
                        (
                            compare(">=", read(v.symbol), number(low)),
                            compare("<=", read(v.symbol), number(high)),
                        )
                    )
                    found.append(either((outside, bounds)))
            for one, other in combinations(small, 2):
                if one.free and other.free:
                    continue
                a, b = model.place[one.symbol], model.place[other.symbol]
                if one.boolean == other.boolean and all(s[a] == s[b] for s in here):
                    same = compare("==", read(one.symbol), read(other.symbol))
                    found.append(either((outside, same)))
            for place, other_machine in enumerate(model.machines):
                if place == number_:
                    continue
                there = {state[place] for state in here}
                for never in other_machine.basics:
                    if never.first not in there and place > number_:
                        absent = negation(within(other_machine.control, never.first, never.first))
                        found.append(either((outside, absent)))
    return found
