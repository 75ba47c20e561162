"""Random formulas of event order logic, and the same as the references know them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from whence.causes.eol import (
    After,
    And,
    Before,
    Between,
    Formula,
    Not,
    Or,
    Ordered,
    Variable,
)

ACTIONS = ("a", "b", "c")

VARIABLES = st.builds(Variable, st.sampled_from(ACTIONS), st.sampled_from([None, None, None, 1, 2]))
TRACES = st.lists(st.sampled_from([*ACTIONS, "x"]), max_size=6)


def _several(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[tuple[Formula, ...]]:
    return st.lists(parts, min_size=2, max_size=3).map(tuple)


SIMPLE: st.SearchStrategy[Formula] = st.recursive(
    VARIABLES,
    lambda parts: st.one_of(
        st.builds(Not, parts), st.builds(And, _several(parts)), st.builds(Or, _several(parts))
    ),
    max_leaves=4,
)


def _complex(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return st.one_of(
        st.builds(And, _several(parts)),
        st.builds(Or, _several(parts)),
        st.builds(Ordered, _several(parts)),
        st.builds(Ordered, _several(parts)),
        st.builds(After, parts, SIMPLE),
        st.builds(Before, SIMPLE, parts),
        st.builds(Between, parts, SIMPLE, parts),
    )


FORMULAS: st.SearchStrategy[Formula] = st.recursive(SIMPLE, _complex, max_leaves=6)

LITERALS: st.SearchStrategy[Formula] = st.one_of(VARIABLES, VARIABLES, VARIABLES.map(Not))
CHAINS: st.SearchStrategy[Formula] = st.lists(LITERALS, min_size=1, max_size=4).map(
    lambda links: links[0] if len(links) == 1 else Ordered(tuple(links))
)
CONJUNCTIONS: st.SearchStrategy[Formula] = st.lists(CHAINS, min_size=1, max_size=3).map(
    lambda chains: chains[0] if len(chains) == 1 else And(tuple(chains))
)
#: Orders alone, also of conjunctions.
POSITIVE: st.SearchStrategy[Formula] = st.recursive(
    VARIABLES,
    lambda parts: st.one_of(st.builds(And, _several(parts)), st.builds(Ordered, _several(parts))),
    max_leaves=7,
)


def plain(formula: Formula) -> Any:
    """For tests.reference.eol, whose operators have two operands."""
    match formula:
        case Variable():
            return ("var", formula.action, formula.occurrence)
        case Not():
            return ("not", plain(formula.operand))
        case After():
            return ("after", plain(formula.first), plain(formula.always))
        case Before():
            return ("before", plain(formula.always), plain(formula.last))
        case Between():
            return ("between", *map(plain, (formula.first, formula.always, formula.last)))
    kind = {And: "and", Or: "or", Ordered: "ordered"}[type(formula)]
    result = plain(formula.operands[0])
    for operand in formula.operands[1:]:
        result = (kind, result, plain(operand))
    return result


def plain_chains(formula: Formula) -> list[list[tuple[str, int | None, bool]]]:
    """Of what CONJUNCTIONS makes."""
    chains = formula.operands if isinstance(formula, And) else (formula,)
    rows = [chain.operands if isinstance(chain, Ordered) else (chain,) for chain in chains]
    return [
        [
            (link.operand.action, link.operand.occurrence, False)  # type: ignore[union-attr]
            if isinstance(link, Not)
            else (link.action, link.occurrence, True)  # type: ignore[union-attr]
            for link in row
        ]
        for row in rows
    ]
