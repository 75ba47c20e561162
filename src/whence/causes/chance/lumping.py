"""Ordinary lumping: states that lead to each class of states at the same rates are one.

Probabilities of reaching classes are exactly the same in the quotient. Where somebody listens to
what happens (letters other than 0), the rates are compared letter by letter, also those of edges
that stay within the class; other edges within a class do nothing and are not compared.

Rates are compared exactly: each is taken as the simplest fraction that its floating-point number
stands for (0.1 as 1/10), and sums are formed modulo a prime, in which equal fractions are equal
numbers whatever the order of the terms. That different sums could meet in the same number is
excluded by comparing all rates of all states once more at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import sparse

from whence.causes.chance.chain import Chain, Floats, Ints, Marks
from whence.explore.kernels.refine import refine

__all__ = ["Partition", "lump", "quotient"]

#: A Mersenne prime: sums of two residues stay within 64 bits.
MODULUS = (1 << 61) - 1
#: Any number would do; it takes the place of the symbol K in the speeds of instant edges.
INSTANT = 0x0B5A_D4CE_BCE9_8D2F % MODULUS
#: Letter k counts as this to the power of k, so that rates of letters do not mix.
LETTER = 0x1D8A_F066_7D3C_55B1 % MODULUS
#: How far sums of the same rates in another order may be apart, compared with their size.
ROUNDING = 1e-11


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """State s belongs to block `block[s]`, of `blocks`, and `example[b]` is a state of block b."""

    block: Ints
    blocks: int
    example: Ints


def simplest(value: float) -> Fraction:
    """A fraction that rounds to the number: with a small denominator (1/3), else as written."""
    written = Fraction(repr(value))
    small = written.limit_denominator(1000)
    return small if float(small) == value else written


def residues(chain: Chain) -> Ints:
    """The weights of the edges, as numbers of the field of MODULUS elements."""
    values, of_value = np.unique(chain.weight, return_inverse=True)
    kinds = int(chain.letter.max(initial=0) + 1) * 2
    keys = of_value.reshape(-1) * kinds + 2 * chain.letter + chain.instant
    different, which = np.unique(keys, return_inverse=True)
    exact = [simplest(value) for value in values.tolist()]
    of_values = [f.numerator * pow(f.denominator, -1, MODULUS) % MODULUS for f in exact]
    of_kinds = [
        pow(LETTER, kind >> 1, MODULUS) * (INSTANT if kind & 1 else 1) for kind in range(kinds)
    ]
    found = [
        of_values[key // kinds] * of_kinds[key % kinds] % MODULUS for key in different.tolist()
    ]
    weight: Ints = np.array(found, np.int64)[which.reshape(-1)]
    return weight


def _numbered(labels: npt.NDArray[np.generic]) -> tuple[Ints, int, Ints]:
    """Labels as numbers in the order in which they come up, so that results do not depend on how
    a label is encoded; also an example of each."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[which], len(order), first[order].astype(np.int64)


def lump(chain: Chain, labels: npt.NDArray[np.generic]) -> Partition:
    """The coarsest ordinary lumping that keeps states with different labels apart."""
    states = chain.states
    weight = residues(chain)
    # Edges that nobody listens to also count, negatively, as loops: then sums over all states are
    # zero, and the sums into the own block are equal whenever those into the others are.
    quiet = chain.letter == 0
    source = np.concatenate([chain.source, chain.source[quiet]])
    target = np.concatenate([chain.target, chain.source[quiet]])
    weight = np.concatenate([weight, (MODULUS - weight[quiet]) % MODULUS])
    order = np.argsort(target, kind="stable")
    into = np.zeros(states + 1, np.int64)
    np.cumsum(np.bincount(target, minlength=states), out=into[1:])
    block, blocks, _ = _numbered(labels)
    elements = np.argsort(block, kind="stable").astype(np.int64)
    place = np.empty(states, np.int64)
    place[elements] = np.arange(states)
    first, last = np.zeros(states, np.int64), np.zeros(states, np.int64)
    ends = np.cumsum(np.bincount(block, minlength=blocks))
    last[:blocks] = ends
    first[1:blocks] = ends[:-1]
    refine(
        MODULUS,
        into,
        np.ascontiguousarray(source[order]),
        np.ascontiguousarray(weight[order]),
        elements,
        place,
        block,
        first,
        last,
        blocks,
        np.zeros((7, states), np.int64),
    )
    found = Partition(*_numbered(block))
    if _holds(chain, found):
        return found
    # Different sums met in one number, which happens once in 10^18 comparisons.
    every = np.arange(states)
    return Partition(every, states, every)


def _by_block(chain: Chain, partition: Partition, edges: Marks, own: bool) -> sparse.csr_array:
    """The sums of weights from states into blocks; without `own`, not into the own block."""
    into = partition.block[chain.target]
    kept = edges if own else edges & (into != partition.block[chain.source])
    entries = (chain.weight[kept], (chain.source[kept], into[kept]))
    shape = (chain.states, partition.blocks)
    return sparse.csr_array(sparse.coo_array(entries, shape=shape))


def _holds(chain: Chain, partition: Partition) -> bool:
    """Whether all states of a block have, up to rounding, the rates of its example."""
    for letter in np.unique(chain.letter).tolist():
        for instant in (False, True):
            edges = (chain.letter == letter) & (chain.instant == instant)
            sums = _by_block(chain, partition, edges, letter != 0)
            expected = sums[partition.example][partition.block]
            limit = ROUNDING * abs(expected)
            if (abs(sums - expected) > limit).nnz:
                return False
    return True


def quotient(chain: Chain, partition: Partition) -> Chain:
    """The chain between blocks; edges of one kind between two blocks are one."""
    sources: list[Ints] = []
    targets: list[Ints] = []
    letters: list[Ints] = []
    weights: list[Floats] = []
    instants: list[Marks] = []
    is_example = np.zeros(chain.states, bool)
    is_example[partition.example] = True
    rows = chain.only(is_example[chain.source])
    for letter in np.unique(rows.letter).tolist():
        for instant in (False, True):
            edges = (rows.letter == letter) & (rows.instant == instant)
            sums = _by_block(rows, partition, edges, letter != 0).tocoo()
            sources.append(partition.block[sums.coords[0]])
            targets.append(sums.coords[1].astype(np.int64))
            letters.append(np.full(sums.nnz, letter, np.int64))
            weights.append(sums.data)
            instants.append(np.full(sums.nnz, instant))
    if not sources:
        return Chain(
            states=partition.blocks,
            source=rows.source,
            target=rows.target,
            letter=rows.letter,
            weight=rows.weight,
            instant=rows.instant,
        )
    return Chain(
        states=partition.blocks,
        source=np.concatenate(sources),
        target=np.concatenate(targets),
        letter=np.concatenate(letters),
        weight=np.concatenate(weights),
        instant=np.concatenate(instants),
    )
