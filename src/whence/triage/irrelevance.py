"""Which events of a proof are irrelevant (Becker, section 4).

The events between two gaps g < h may be dropped, so that g and h become one gap, if

* waiting has the same effect: {P} t {R}, with P the assertion at the beginning of gap g, R that at
  the end of gap h and t all the time between. (If it holds for narrower P and R, it holds for
  these, as the times of g and h are steps of the proof.) This rule is tried first: it keeps the
  time, as the paper's example does, which both rules would allow to drop;
* or P ⊑ R, with P at the beginning or the end of gap g and R at the beginning or the end of gap h:
  then only what time of the two gaps is outside stays.

The first assertion of a proof may be narrower than its interpolant: what a trace begins with. With
it as P, what happened before can be seen to be irrelevant where the fault would be one from the
start, too: a variable that a restart has not reset shows in one response that is never right then.

What cannot wait at all satisfies every triple with waiting, but dropping events on that account
would turn the fault into another one, of time. So every state of P has to have configurations that
can wait; and if time is the fault, it has to be stuck in the states where it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from whence.triage.conditions import Condition
from whence.triage.images import post_time
from whence.triage.machine import Machine
from whence.triage.proofs import Assertion, Hidden, Proof, entails, waits, within
from whence.zones.dates import FAR

__all__ = ["Irrelevance", "Jump", "Rule"]

#: Which rule: waiting, or P ⊑ R with P at the beginning (a) or end (b) of its gap, and R likewise.
Rule: TypeAlias = Literal["wait", "ba", "aa", "bb", "ab"]

#: So many inclusions of zones are tried for one fault.
_MOST_CHECKS = 20_000


@dataclass(frozen=True, slots=True)
class Jump:
    """Gap g and gap h become one."""

    start: int
    end: int
    rule: Rule


class Irrelevance:
    """Answers for one proof, each found once."""

    def __init__(self, machine: Machine, proof: Proof, hidden: Hidden) -> None:
        self.machine = machine
        self.proof = proof
        self.hidden = hidden
        self.checks = 0
        self.exhausted = False
        #: The forms of assertions are few, so that most questions come up again.
        self._forms: dict[object, int] = {}
        self._after = [self._form(a) for a in proof.after]
        self._before = [self._form(b) for b in proof.before]
        self._spans = [_span(b.escapes) for b in proof.before]
        self._plain = [all(machine.only_idle[s] for s in a.states) for a in proof.after]
        self._dates = [0]
        for amount in proof.amounts:
            self._dates.append(self._dates[-1] + amount)
        self._entails: dict[tuple[int, int], bool] = {}
        self._waits: dict[tuple[int, int, int], bool] = {}
        self._gaps_with: dict[int, set[int]] = {}
        for gap in range(proof.gaps):
            for state in proof.after[gap].states | proof.before[gap].states:
                self._gaps_with.setdefault(state, set()).add(gap)
        self._possible: dict[tuple[frozenset[int], frozenset[int]], list[int]] = {}

    def _form(self, assertion: Assertion) -> int:
        key = (
            assertion.states,
            tuple(
                (state, tuple(sorted((memory, zone.tobytes()) for memory, zone in cells)))
                for state, cells in sorted(assertion.escapes.items())
            ),
        )
        return self._forms.setdefault(key, len(self._forms))

    def farthest(
        self, start: int, beyond: int, up_to: int, forbidden: Collection[Jump] = ()
    ) -> Jump | None:
        """The jump from a gap that leads farthest, beyond one gap, and up to another."""
        for end in self._candidates(start):
            if end > up_to:
                continue
            if end <= beyond or end <= start:
                return None
            rule = self.rule(start, end, forbidden)
            if rule is not None:
                return Jump(start, end, rule)
        return None

    def _candidates(self, start: int) -> list[int]:
        """Gaps whose states do not exclude a jump, the last first."""
        proof = self.proof
        key = proof.after[start].states, proof.before[start].states
        found = self._possible.get(key)
        if found is None:
            # States that an assertion has to have (all of key[0], or all of key[1]), or that time
            # may lead to, one for each of key[0].
            there = self._gaps_with
            reach = [
                set[int]().union(*(there.get(s, _NO_GAPS) for s in self.machine.reach(state)))
                for state in key[0]
            ]
            gaps = set.intersection(*reach)
            for states in key:
                if states:
                    gaps |= set.intersection(*(there.get(s, _NO_GAPS) for s in states))
            if proof.of_time and key[0] <= proof.after[-1].states:
                gaps.add(proof.gaps - 1)
            found = self._possible[key] = sorted(gaps, reverse=True)
        return found

    def rule(self, start: int, end: int, forbidden: Collection[Jump] = ()) -> Rule | None:
        """A rule by which the events between two gaps are irrelevant."""
        if self._waiting(start, end) and Jump(start, end, "wait") not in forbidden:
            return "wait"
        for rule in _PLAIN:
            if Jump(start, end, rule) in forbidden:
                continue
            mine = self.proof.after if rule[0] == "a" else self.proof.before
            theirs = self.proof.after if rule[1] == "a" else self.proof.before
            if not theirs[end].states or not mine[start].states:
                continue
            forms = (
                (self._after if rule[0] == "a" else self._before)[start],
                (self._after if rule[1] == "a" else self._before)[end],
            )
            known = self._entails.get(forms)
            if known is None:
                if forms[0] == forms[1]:
                    known = True
                elif not mine[start].states <= theirs[end].states:
                    known = False
                elif self._may_check():
                    known = entails(self.machine, mine[start], theirs[end], self.hidden)
                else:
                    return None
                self._entails[forms] = known
            if known:
                return rule
        return self._from_the_start(end, forbidden) if start == 0 else None

    def _from_the_start(self, end: int, forbidden: Collection[Jump]) -> Rule | None:
        """A rule with what the trace begins with as P."""
        if not self.hidden.nothing:
            return None
        proof = self.proof
        start = proof.sp_after[0]
        fault = proof.of_time and end == proof.gaps - 1
        if not fault and Jump(0, end, "wait") not in forbidden and self._may_check():
            waited = post_time(self.machine, start, self._dates[end + 1])
            can_wait = waited and self._can_wait(start, self._dates[end + 1])
            if can_wait and within(waited, proof.before[end]):
                return "wait"
        assertions: tuple[tuple[Rule, Assertion], ...] = (
            ("aa", proof.after[end]),
            ("ab", proof.before[end]),
        )
        for rule, assertion in assertions:
            allowed = assertion.states and Jump(0, end, rule) not in forbidden
            if allowed and self._may_check() and within(start, assertion):
                return rule
        return None

    def _may_check(self) -> bool:
        self.checks += 1
        self.exhausted |= self.checks > _MOST_CHECKS
        return not self.exhausted

    def _waiting(self, start: int, end: int) -> bool:
        proof = self.proof
        one, other = proof.after[start], proof.before[end]
        fault = proof.of_time and end == proof.gaps - 1
        if fault:
            if not one.states <= proof.after[end].states:
                return False
        elif self._plain[start] and not one.states <= other.states:
            return False
        amount = self._dates[end + 1] - self._dates[start]
        # Beyond all bounds of the escapes, more time makes no difference to who waits idly.
        key_amount = min(amount, self._spans[end]) if self._plain[start] else amount
        key = self._after[start], self._before[end], key_amount
        known = self._waits.get(key)
        if known is None:
            if not self._may_check():
                return False
            known = waits(self.machine, one, amount, other, self.hidden)
            self._waits[key] = known
        if not known or fault or self._plain[start]:
            return known
        return self._can_wait(proof.sp_after[start], amount)

    def _can_wait(self, condition: Condition, amount: int) -> bool:
        return all(
            post_time(self.machine, {state: cells}, amount) for state, cells in condition.items()
        )


_NO_GAPS: set[int] = set()
_PLAIN: tuple[Rule, ...] = ("ba", "aa", "bb", "ab")


def _span(escapes: Condition) -> int:
    """An amount of time beyond all bounds on clocks."""
    largest = 0
    for cells in escapes.values():
        for _, zone in cells:
            for raw in _finite(zone[:, 0].tolist() + zone[0, :].tolist()):
                largest = max(largest, abs(raw))
    return (largest >> 1) + 2


def _finite(bounds: list[int]) -> Iterator[int]:
    return (raw for raw in bounds if raw != FAR)
