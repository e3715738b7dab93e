"""Elements that a program names: those at the ends of its slices, and of what it counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from mirage_mlir.equivalence.dependences import operators_before
from mirage_mlir.interpreters.operators import (
    has_exponential,
    integer,
    integers,
    mnemonic,
    shape_of,
)

MOST = 4
"""Elements that are looked at: each is two more runs of the gate."""


@dataclass(frozen=True)
class Named:
    """One index along a dimension of a size, counted from the last: -1."""

    dimension: int
    size: int
    index: int


def named_elements(function: FuncOp) -> list[Named]:
    """The elements that a program names, each once, the first few of them."""
    scores = [op for op in function.body.block.ops if has_exponential(op, expand_sigmoid=True)]
    before = operators_before(value for op in scores for value in op.operands)
    products = [op for op in before if mnemonic(op) == "matmul"]
    # Of what a product makes scores of, no element is all of a row of these.
    multiplied = operators_before(value for op in products for value in op.operands)
    ops = [op for op in function.body.block.ops if op not in multiplied]
    found = [each for op in ops for each in _named(op)]
    return list(dict.fromkeys(found))[:MOST]


def _named(op: Operation) -> Iterator[Named]:
    if mnemonic(op) == "slice":
        yield from _beside_slice(op)
    elif mnemonic(op) == "iota":
        # Comparisons with it select any of them; most select the first or the last.
        shape, dimension = shape_of(op.results[0]), integer(op, "dim")
        size = shape[dimension]
        for index in dict.fromkeys((0, size - 1)):
            yield Named(dimension - len(shape), size, index)


def _beside_slice(op: Operation) -> Iterator[Named]:
    """The elements just outside of a slice, and its first."""
    shape = shape_of(op.operands[0])
    each = (integers(op, name) for name in ("offsets", "sizes", "strides"))
    for dimension, (size, first, count, step) in enumerate(zip(shape, *each, strict=True)):
        if count < size:
            last = first + (count - 1) * step
            for index in (first - 1, first, last + 1):
                if 0 <= index < size:
                    yield Named(dimension - len(shape), size, index)
