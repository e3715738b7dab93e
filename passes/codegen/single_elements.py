"""Emits reductions over some of the dimensions that form the rows, one element after the other."""

from math import ceil, prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import nvvm, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import GlobalAttr, SharedAttr, layout_of
from mirage_mlir.layouts.banks import count
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.passes.analysis.buffers import buffer_element, shared_layout
from mirage_mlir.passes.analysis.tile_attributes import Reduction
from mirage_mlir.passes.codegen.access import as_f32, combine, read_global, read_shared
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index

NEUTRAL = {"sum": 0.0, "max": float("-inf")}
"""The neutral element of a sum and of a maximum."""


def kind_of(op: Reduction) -> str:
    """`sum` or `max`."""
    return "sum" if isinstance(op, threadblock.ReduceSumOp) else "max"


def exchange(ctx: KernelContext, value: SSAValue, distance: int) -> SSAValue:
    """The `value` of the lane at `distance`, a power of two: a butterfly shuffle."""
    emit = ctx.emit
    everyone, clamp = emit.i32(-1), emit.i32(WARP_THREADS - 1)
    return emit.result(nvvm.ShflSyncOp(everyone, value, emit.i32(distance), clamp, "bfly"))


def reduce_one_by_one(ctx: KernelContext, op: Reduction) -> None:
    """
    Compute each element of the result by itself, for dims that are neither side.

    Neighbouring lanes share the terms of an element where there are fewer elements than threads:
    one thread for each took 16 us for 256 partial sums of 16 elements on an H200. Lanes of
    different elements begin at different terms, where those lie in the same banks else.
    """
    emit, kind, shape = ctx.emit, kind_of(op), threadblock.shape_of(op.input)
    dims = op.dims.get_values()
    kept = tuple(1 if dim in dims else size for dim, size in enumerate(shape))
    gone = tuple(size if dim in dims else 1 for dim, size in enumerate(shape))
    elements, terms = prod(kept), prod(gone)
    lanes = lanes_of_an_element(elements, terms, ctx.threads)
    skewed = is_better_skewed(op, kept, gone, lanes)
    part = emit.bits(ctx.thread, lanes - 1)
    together = ctx.threads // lanes
    for first in range(0, elements, together):
        number = emit.add(emit.div(ctx.thread, lanes), first)
        exists = first + together <= elements or emit.less(number, elements)
        # Lanes without an element exchange with others, too.
        place = number if exists is True else emit.least(number, elements - 1)
        corner = ctx.unravel(place, kept)
        start = emit.rem(emit.mul(place, lanes), terms) if skewed else 0

        def iteration(
            step: SSAValue,
            carried: list[SSAValue],
            corner: list[Index] = corner,
            start: Index = start,
        ) -> list[SSAValue]:
            term = emit.add(emit.mul(step, lanes), part)
            inside = terms % lanes == 0 or emit.less(term, terms)
            term = term if inside is True else emit.least(term, terms - 1)
            steps = ctx.unravel(around(ctx, term, start, terms), gone)
            indices = [emit.add(a, b) for a, b in zip(corner, steps, strict=True)]
            value = emit.select(inside, element(ctx, op, indices), emit.f32(NEUTRAL[kind]))
            return [combine(ctx, carried[0], value, kind)]

        (total,) = emit.loop(ceil(terms / lanes), [emit.f32(NEUTRAL[kind])], iteration)
        for bit in range(lanes.bit_length() - 1):
            total = combine(ctx, total, exchange(ctx, total, 1 << bit), kind)
        with emit.when(emit.all([exists, emit.equal(part, 0)])):
            emit.store(emit.pointer(ctx.shared_pointer(op.result), number, f32), [total])


def around(ctx: KernelContext, term: Index, start: Index, terms: int) -> Index:
    """The term that comes so many behind `start`; the first one follows the last."""
    emit, place = ctx.emit, ctx.emit.add(term, start)
    if start == 0:
        return term
    return emit.pick(emit.less(place, terms), place, emit.sub(place, terms))


def is_better_skewed(
    op: Reduction, kept: tuple[int, ...], gone: tuple[int, ...], lanes: int
) -> bool:
    """Whether the banks are asked less often where each element begins at another term."""
    owner = op.input.owner
    if not isinstance(layout_of(op.input), SharedAttr) or not isinstance(owner, Operation):
        return False
    layout, shape = shared_layout(op.input), threadblock.shape_of(op.input)
    item = byte_width(buffer_element(owner))
    lane: NDArray[np.int64] = np.arange(WARP_THREADS)
    number, part = lane // lanes % prod(kept), lane % lanes
    passes: list[int] = []
    for start in (0 * lane, number * lanes):
        places = np.array(np.unravel_index(number, kept))
        places = places + np.array(np.unravel_index((part + start) % prod(gone), gone))
        row = 0 * lane
        for index, size in zip(places[:-1], shape[:-1], strict=True):
            row = row * size + index
        at = layout.offset(row, places[-1], item)
        passes.append(count(at[None, :] * item, item).passes)
    return passes[1] < passes[0]


def lanes_of_an_element(elements: int, terms: int, threads: int) -> int:
    """How many lanes, a power of two, share the terms of each element of a result."""
    lanes = 1
    while 2 * lanes <= min(WARP_THREADS, terms, threads // elements):
        lanes *= 2
    return lanes


def element(ctx: KernelContext, op: Reduction, indices: list[Index]) -> SSAValue:
    """One element of a reduction's input in f32; the neutral one if it is invalid."""
    emit, shape = ctx.emit, threadblock.shape_of(op.input)
    extents = ctx.extents(op.input)
    valid = emit.all(
        [
            emit.less(index, extent.limit)
            for index, extent in zip(indices, extents, strict=True)
            if extent
        ]
    )
    row = ctx.row_of(indices, shape)
    read = read_global if isinstance(layout_of(op.input), GlobalAttr) else read_shared
    value = read(ctx, op.input, shape, row, indices[-1], 1)[0]
    return emit.select(valid, as_f32(ctx, value), emit.f32(NEUTRAL[kind_of(op)]))
