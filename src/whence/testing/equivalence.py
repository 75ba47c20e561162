"""Proofs that a mutant behaves as its model does.

Both run side by side, with the same inputs (:mod:`whence.testing.settled`).  We look for a set of
symbols that are equal in both whenever they have settled, and that has all outputs: equal at the
start, and kept by each wait with the steps behind it.  It is the greatest such set: begin with all
symbols, and leave out what is not kept (Houdini).  Nobody can tell the mutant from the model then,
as what happens at one date is seen as its result.  What no proof is found for may still be
equivalent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from whence.expr.tree import Expr, Symbol
from whence.source import WhenceError
from whence.testing.checks import check_model
from whence.testing.cone import same_within
from whence.testing.logic import compare, read
from whence.testing.model import TimedModel
from whence.testing.renaming import renamed
from whence.testing.semantics.relation import Relation
from whence.testing.settled import Settled, settled_invariants

__all__ = ["Equivalence"]


@dataclass(eq=False)
class Equivalence:
    """`budget`: of the solver, for one question; with 0 nothing is proved."""

    part: TimedModel
    budget: int
    _invariants: tuple[list[Expr], int] | None = field(default=None, init=False)

    def proof(self, mutant: TimedModel) -> str:
        """Why a mutant is equivalent, or "" where that is not known."""
        if not self.budget:
            return ""
        try:
            # A mutant without a step somewhere is another model, and a step is looked for here
            # only where there is one.
            if any(one.severity == "error" for one in check_model(mutant)):
                return ""
            outputs = [v.symbol for v in self.part.having("output")]
            if same_within(self.part, mutant, outputs):
                return "cone of influence: no output depends on what was changed"
            return self._proved(mutant)
        except WhenceError:
            return ""

    def _known(self) -> tuple[list[Expr], int]:
        if self._invariants is None:
            self._invariants = settled_invariants(self.part, 10 * self.budget)
        return self._invariants

    def _proved(self, model: TimedModel) -> str:
        theirs = {
            symbol: Symbol(f"mutant {symbol.scope}", symbol.name, symbol.kind, symbol.type)
            for symbol in model.symbols
            if not _free(model, symbol)
        }
        mutant = renamed(model, theirs, lambda name: f"mutant {name}")
        equal = {
            ours: compare("==", read(ours), read(theirs[symbol]))
            for ours, symbol in zip(self.part.symbols, model.symbols, strict=True)
            if symbol in theirs
        }
        invariants, steps = self._known()
        relations = (Relation(self.part), Relation(mutant, "mutant"))
        # It may need some more.
        run = Settled(relations, self.budget, steps + 1)
        for invariant in invariants:
            run.require_inside(invariant)
        kept = run.greatest(list(equal.values()))
        outputs = {equal[v.symbol] for v in self.part.having("output")}
        if not outputs <= set(kept):
            return ""
        return (
            f"induction: {len(kept)} of {len(equal)} symbols, all outputs among them, are equal "
            "whenever model and mutant have settled"
        )


def _free(model: TimedModel, symbol: Symbol) -> bool:
    variable = model.variable_of.get(symbol)
    return variable is not None and variable.free
