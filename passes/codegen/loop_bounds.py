"""Emits which iterations of its loop a block runs."""

from collections.abc import Sequence
from math import prod

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.codegen.emitter import Emitter, Index


def iterations_of_block(
    emit: Emitter, graph: kernel.GraphDefinedOp, blocks: Sequence[Index]
) -> tuple[Index, Index]:
    """The first iteration of the block at `blocks` of the grid, and how many it runs."""
    count, bounds = prod(graph.loop_sizes), graph.bounds
    if bounds is None:
        return 0, count
    block = blocks[bounds.axis]
    first: Index = 0
    if bounds.first:
        first = emit.least(value_of_terms(emit, bounds.first, block), count - 1)
    if not bounds.end:
        return first, emit.sub(count, first)
    end = emit.greatest(value_of_terms(emit, bounds.end, block), emit.add(first, 1))
    return first, emit.sub(emit.least(end, count), first)


def value_of_terms(emit: Emitter, terms: Sequence[int], block: Index) -> Index:
    """`floor((s * block + c) / d)`; 0 where it is below, which no bound is."""
    step, start, divisor = terms
    return emit.div(emit.greatest(emit.add(emit.mul(block, step), start), 0), divisor)
