"""
The operators that are not elementwise, one row each: reductions, norms, products and views.

A row says over which dimensions an operator runs and what it does there. Everything that follows
from that alone reads the row: which dimensions may be cut, how many terms are added and so how
much may be lost by rounding, which elements are moved unchanged, which signs are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod

from mirage_mlir.operators.elementwise import Dependence

Integers = Callable[[str], Sequence[int]]
"""The integers of an attribute, by its name."""


class Over(Enum):
    """The dimensions of the first operand that an operator runs over; others go index by index."""

    NONE = "none"
    DIM = "that of the attribute `dim`"
    DIMS = "those of the attribute `dims`"
    LAST = "the last"


class Effect(Enum):
    """What an operator makes of the elements along the dimensions that it runs over."""

    ADDS = "a sum of elements, or of their products"
    SELECTS = "one of the elements"
    NORMALIZES = "each element, changed by sums over all of them"
    MOVES = "the elements of the operands at other places"
    MAKES = "no element is read"


@dataclass(frozen=True, kw_only=True)
class Structured:
    """The row of an operator that is not elementwise."""

    name: str
    """The mnemonic in both dialects."""
    formula: str
    """What the operator computes, in words or as a formula."""
    over: Over
    effect: Effect
    dependence: Dependence
    """As for elementwise operators; `equivalence.exponents` has rules of its own for some."""
    exponential: bool = False
    """Whether exponentials of the operand are part of it."""
    searched: bool = True
    """Whether the search has it inside kernels; without, `kernel-decompose` takes it apart."""

    def runs_over(self, rank: int, integers: Integers) -> tuple[int, ...]:
        """The dimensions of the first operand, which has `rank`, that the operator runs over."""
        match self.over:
            case Over.NONE:
                return ()
            case Over.DIM:
                return tuple(integers("dim"))
            case Over.DIMS:
                return tuple(integers("dims"))
            case Over.LAST:
                return (rank - 1,)

    def terms(self, shape: Sequence[int], integers: Integers) -> int:
        """How many terms an element of the result sums; `shape` is that of the first operand."""
        if self.effect not in (Effect.ADDS, Effect.NORMALIZES):
            return 1
        return prod(shape[dim] for dim in self.runs_over(len(shape), integers))


def _view(name: str, formula: str) -> Structured:
    """The row of an operator that moves elements."""
    return Structured(
        name=name,
        formula=formula,
        over=Over.NONE,
        effect=Effect.MOVES,
        dependence=Dependence.SAME,
    )


_ROWS = (
    Structured(
        name="matmul",
        formula="`result[..., i, j] = sum_k lhs[..., i, k] * rhs[..., k, j]`",
        over=Over.LAST,
        effect=Effect.ADDS,
        dependence=Dependence.PRODUCT,
    ),
    Structured(
        name="reduce_sum",
        formula="The sum over `dims`",
        over=Over.DIMS,
        effect=Effect.ADDS,
        dependence=Dependence.SAME,
    ),
    Structured(
        name="reduce_max",
        formula="The maximum over `dims`",
        over=Over.DIMS,
        effect=Effect.SELECTS,
        dependence=Dependence.NEW,
    ),
    Structured(
        name="reduce_mean",
        formula="The arithmetic mean over `dims`",
        over=Over.DIMS,
        effect=Effect.ADDS,
        dependence=Dependence.SAME,
    ),
    Structured(
        name="cumsum",
        formula="`result[..., i, ...] = sum_{j <= i} input[..., j, ...]` along `dim`",
        over=Over.DIM,
        effect=Effect.ADDS,
        dependence=Dependence.SAME,
        searched=False,
    ),
    Structured(
        name="rms_norm",
        formula="`x / sqrt(mean(x^2) + eps) * weight`",
        over=Over.LAST,
        effect=Effect.NORMALIZES,
        dependence=Dependence.MORE,
    ),
    Structured(
        name="layer_norm",
        formula="`(x - mean(x)) / sqrt(variance(x) + eps) * weight + bias`",
        over=Over.LAST,
        effect=Effect.NORMALIZES,
        dependence=Dependence.MORE,
    ),
    Structured(
        name="softmax",
        formula="`e^x` divided by its sum over `dim`",
        over=Over.DIM,
        effect=Effect.NORMALIZES,
        dependence=Dependence.NEW,
        exponential=True,
    ),
    _view("transpose", "Dimension i of the result is dimension `permutation[i]` of the input"),
    _view("reshape", "The same elements, last dimension running fastest, in another shape"),
    _view("broadcast", "The input repeated along its dimensions of size 1"),
    _view("repeat", "element i along `dim` is element `i mod n` of the input"),
    _view("repeat_interleave", "element i along `dim` is element `i div times` of the input"),
    _view(
        "slice", "Element i of dimension d is element `offsets[d] + i * strides[d]` of the input"
    ),
    _view("concat", "The inputs one after the other along `dim`"),
    Structured(
        name="constant",
        formula="all `value`",
        over=Over.NONE,
        effect=Effect.MAKES,
        dependence=Dependence.SAME,
    ),
    Structured(
        name="iota",
        formula="Each element is its index along `dim`",
        over=Over.DIM,
        effect=Effect.MAKES,
        dependence=Dependence.SAME,
    ),
)

STRUCTURED = {row.name: row for row in _ROWS}
"""The operators that are not elementwise, by mnemonic."""


def with_effect(*effects: Effect) -> frozenset[str]:
    """The mnemonics of the operators with one of these effects."""
    return frozenset(row.name for row in _ROWS if row.effect in effects)
