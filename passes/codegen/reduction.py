"""Emits reductions over rows or columns: first in a thread, then in a warp, then over warps."""

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.layouts.layout import Position, RegisterLayout, blocked
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.row_digits import Reduced, reduced_from
from mirage_mlir.passes.analysis.tile_attributes import (
    Reduction,
    blocked_run,
    broadcast_sides,
    folding_sides,
    is_folded,
    is_online_maximum,
    reduced_sides,
    registers_of,
)
from mirage_mlir.passes.codegen.access import (
    as_f32,
    combine,
    combined,
    fetch,
)
from mirage_mlir.passes.codegen.addresses import shared_offset
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import scaled_value
from mirage_mlir.passes.codegen.extent import Extents
from mirage_mlir.passes.codegen.online_softmax import LOWEST, OnlineMaximum, scaled, state_key
from mirage_mlir.passes.codegen.single_elements import (
    NEUTRAL,
    exchange,
    kind_of,
    reduce_one_by_one,
)

CHAINS = 4
"""
Sums of a thread's elements under way at once, where all go into one: an addition waits four cycles
for another. On an H200 RMSNorm of rows of 1,024 in f32, and its gradient, took 0.96 of the time of
one chain. Rows of attention are two in a thread anyway; with two chains for each, 64 rows by
256 keys in one warpgroup took 1.08.
"""


def layout_read_by(ctx: KernelContext, value: SSAValue) -> RegisterLayout:
    """The register layout in which an operation reads `value`: its own, or blocked."""
    attribute = layout_of(value)
    if isinstance(attribute, RegistersAttr):
        return attribute.layout
    return blocked(threadblock.shape_of(value), ctx.threads, blocked_run(ctx.graph, value))


def mask(
    ctx: KernelContext,
    slots: list[SSAValue],
    layout: RegisterLayout,
    shape: tuple[int, ...],
    extents: Extents,
    neutral: float,
) -> list[SSAValue]:
    """`slots` in f32, with `neutral` in place of invalid elements."""
    masked: list[SSAValue] = []
    for place, value in zip(layout.offsets, slots, strict=True):
        inside = ctx.inside(layout, shape, extents, place)
        masked.append(ctx.emit.select(inside, as_f32(ctx, value), ctx.emit.f32(neutral)))
    return masked


def extents_along(sides: tuple[bool, bool], extents: Extents) -> Extents:
    """
    The extents of rows and of columns, None where these are not reduced.

    What does not exist there is added to a sum of its own, which does not exist either.
    """
    rows, columns = extents[:-1], extents[-1:]
    kept = [each if sides[0] else None for each in rows]
    return (*kept, *(each if sides[1] else None for each in columns))


def fold(
    ctx: KernelContext,
    slots: list[SSAValue],
    layout: RegisterLayout,
    sides: tuple[bool, bool],
    kind: str,
) -> dict[Position, SSAValue]:
    """Reduce a thread's own elements over rows, columns or both; keys are the kept coordinates."""
    kept = [(0 if sides[0] else row, 0 if sides[1] else column) for row, column in layout.offsets]
    return fold_to(ctx, slots, kept, kind)


def fold_to(
    ctx: KernelContext, slots: list[SSAValue], kept: list[Position], kind: str
) -> dict[Position, SSAValue]:
    """Reduce those of a thread's own elements that have the same `kept` coordinates."""
    chains = CHAINS if len({*kept}) == 1 else 1
    totals: dict[Position, list[SSAValue]] = {place: [] for place in kept}
    for number, (place, value) in enumerate(zip(kept, slots, strict=True)):
        own, chain = totals[place], number % chains
        if chain < len(own):
            own[chain] = add_in(ctx, own[chain], value, kind)
        else:
            own.append(value)
    return {
        place: combined(ctx, [[each] for each in own], kind)[0] for place, own in totals.items()
    }


def add_in(ctx: KernelContext, total: SSAValue, value: SSAValue, kind: str) -> SSAValue:
    """The sum, or the maximum; a product is added by a fused multiply-add."""
    product = value.owner
    if kind == "sum" and isinstance(product, arith.MulfOp) and value.type == f32:
        return ctx.emit.result(math.FmaOp(product.lhs, product.rhs, total))
    return combine(ctx, total, value, kind)


def reduce(ctx: KernelContext, op: Reduction) -> None:
    """Reduce; the result stays in registers, or each warp with a partial result writes a copy."""
    sides = reduced_sides(op)
    if sides is None:
        attribute = layout_of(op.input)
        known = reduced_from(op, attribute.layout) if isinstance(attribute, RegistersAttr) else None
        return reduce_one_by_one(ctx, op) if known is None else reduce_digit(ctx, op, known)
    emit, kind = ctx.emit, kind_of(op)
    layout = layout_read_by(ctx, op.input)
    shape = threadblock.shape_of(op.input)
    slots = fetch(ctx, op.input, layout, shape)
    slots, factor = (slots, None) if kind == "sum" else without_factor(slots)
    if not is_folded(op.input):
        extents = extents_along(sides, ctx.extents(op.input))
        slots = mask(ctx, slots, layout, shape, extents, NEUTRAL[kind])
    known = reduced_from(op, layout)
    assert known is not None, "threads reduce over rows and columns of any layout"
    folded = over_lanes(ctx, fold(ctx, slots, layout, sides, kind), known.lanes, kind)
    if factor is not None:
        multiples = scaled(emit, [*folded.values()], [emit.f32(factor)] * len(folded))
        folded = dict(zip(folded, multiples, strict=True))
    if isinstance(layout_of(op.result), RegistersAttr):
        return keep(ctx, op, folded)
    write_copies(ctx, op, folded, known, layout)


def over_lanes(
    ctx: KernelContext, folded: dict[Position, SSAValue], lanes: list[int], kind: str
) -> dict[Position, SSAValue]:
    """What each thread has reduced, reduced over the lanes that differ in the given bits."""
    for bit in lanes:
        folded = {
            place: combine(ctx, value, exchange(ctx, value, 1 << bit), kind)
            for place, value in folded.items()
        }
    return folded


def reduce_digit(ctx: KernelContext, op: Reduction, known: Reduced) -> None:
    """Reduce over a digit of the row number; warps with parts of the result write copies."""
    kind, layout, shape = kind_of(op), registers_of(op.input), threadblock.shape_of(op.input)
    digit, dims = known.digit, op.dims.get_values()
    assert digit is not None, "reductions over rows and columns have no digit"
    all_extents = ctx.extents(op.input)
    extents = tuple(each if dim in dims else None for dim, each in enumerate(all_extents))
    slots = fetch(ctx, op.input, layout, shape)
    slots = mask(ctx, slots, layout, shape, extents, NEUTRAL[kind])
    kept = [(digit.without(row), column) for row, column in layout.offsets]
    folded = over_lanes(ctx, fold_to(ctx, slots, kept, kind), known.lanes, kind)
    if isinstance(layout_of(op.result), RegistersAttr):
        return keep(ctx, op, folded)
    write_copies(ctx, op, folded, known, layout)


def write_copies(
    ctx: KernelContext,
    op: Reduction,
    folded: dict[Position, SSAValue],
    known: Reduced,
    layout: RegisterLayout,
) -> None:
    """Write what each warp has reduced of `layout` to a copy of its own in shared memory."""
    emit, target = ctx.emit, shared_layout(op.result)
    sides = reduced_sides(op)
    copy = ctx.bit_field(known.split)
    with emit.when(ctx.is_first(known.lanes + layout.replica_bits)):
        for place, value in folded.items():
            row, column = (
                ctx.at(known.kept, place)
                if sides is None
                else kept_position(ctx, layout, sides, place)
            )
            offset = shared_offset(ctx, target, byte_width(f32), row, column)
            offset = emit.add(emit.mul(copy, target.size), offset)
            emit.store(emit.pointer(ctx.shared_pointer(op.result), offset, f32), [value])


def without_factor(slots: list[SSAValue]) -> tuple[list[SSAValue], float | None]:
    """
    `slots` that are all the same positive multiple of others: those, and the factor.

    Their maximum is that multiple of the others' maximum: rounding keeps the order.
    """
    found = [scaled_value(value) for value in slots]
    factors = {None if each is None else each[1] for each in found}
    factor = factors.pop() if len(factors) == 1 else None
    if factor is None or factor <= 0:
        return slots, None
    return [each[0] for each in found if each is not None], factor


def keep(ctx: KernelContext, op: Reduction, folded: dict[Position, SSAValue]) -> None:
    """Keep the result of `op` in registers; `folded` has the values by their places."""
    attribute = layout_of(op.result)
    assert isinstance(attribute, RegistersAttr)
    slots = [folded[place] for place in attribute.layout.offsets]
    if is_online_maximum(op.result):
        state = ctx.row_maxima[op.result, attribute.layout]
        state.advance(ctx.emit, slots, weigh=False)
        slots = state.maxima
    ctx.registers[op.result] = slots


def kept_position(
    ctx: KernelContext, layout: RegisterLayout, sides: tuple[bool, bool], place: Position
) -> tuple[int | SSAValue, int | SSAValue]:
    """Row and column of a folded value in the reduced tile."""
    row, column = ctx.at(layout, place)
    return (0 if sides[0] else row), (0 if sides[1] else column)


def accumulate(
    ctx: KernelContext, op: threadblock.AccumulateOp, carried: list[SSAValue]
) -> list[SSAValue]:
    """The accumulator of `op` after one more iteration."""
    kind = op.kind.data
    slots = addends(ctx, op)
    if op.rescale is not None:
        carried, slots = rescaled(ctx, op, carried, slots)
    if len(carried) != len(slots):
        fail(op, f"holds {len(carried)} slots a thread, and what it adds up {len(slots)}")
    totals = [add_in(ctx, a, b, kind) for a, b in zip(carried, slots, strict=True)]
    if op.rescale is not None and is_online_maximum(op.rescale):
        return totals
    exists = ctx.exists(op.value)
    return [ctx.emit.select(exists, a, b) for a, b in zip(totals, carried, strict=True)]


def addends(ctx: KernelContext, op: threadblock.AccumulateOp) -> list[SSAValue]:
    """The slots that a thread adds to a sum, in f32; neutral for invalid elements."""
    kind = op.kind.data
    layout = layout_read_by(ctx, op.value)
    shape = threadblock.shape_of(op.value)
    slots = fetch(ctx, op.value, layout, shape)
    sides, extents = folding_sides(op), ctx.extents(op.value)
    masked = op.rescale is not None or bool(op.across.get_values())
    if not masked:
        along = extents_along(sides or (False, False), extents)
        extents = tuple(e if e and e.in_loop else a for e, a in zip(extents, along, strict=True))
    if sides or masked or any(extents):
        slots = mask(ctx, slots, layout, shape, extents, NEUTRAL[kind])
    else:
        slots = [as_f32(ctx, value) for value in slots]
    return list(fold(ctx, slots, layout, sides, kind).values()) if sides else slots


def block_partial_sum(ctx: KernelContext, op: threadblock.AccumulateOp) -> list[SSAValue]:
    """The block's partial sum for a sum across blocks of a value from outside the loop."""
    emit, kind = ctx.emit, op.kind.data
    if op.state is None:
        slots = addends(ctx, op)
    else:
        attribute = layout_of(op.result)
        assert isinstance(attribute, RegistersAttr)
        found = row_maxima_in(ctx, op.value, op.value, attribute.layout)
        slots = [emit.result(arith.MaximumfOp(each, emit.f32(LOWEST))) for each in found]
    exists, neutral = ctx.exists(op.value), emit.f32(NEUTRAL[kind])
    return [emit.select(exists, each, neutral) for each in slots]


def rescaled(
    ctx: KernelContext,
    op: threadblock.AccumulateOp,
    carried: list[SSAValue],
    slots: list[SSAValue],
) -> tuple[list[SSAValue], list[SSAValue]]:
    """The sum so far and an iteration's `slots`, rescaled; `slots` are empty if an MMA adds."""
    attribute = layout_of(op.result)
    assert isinstance(attribute, RegistersAttr)
    state = row_maximum_of(ctx, op)
    factors = state.at(state.factors, attribute.layout)
    carried = scaled(ctx.emit, carried, factors)
    if state.weights and slots:
        slots = scaled(ctx.emit, slots, state.at(state.weights, attribute.layout))
    return carried, slots


def row_maximum_of(ctx: KernelContext, op: threadblock.AccumulateOp) -> OnlineMaximum:
    """The online maximum by which `op` is rescaled, including the present iteration."""
    key = state_key(op)
    state = ctx.row_maxima[key]
    if not state.factors:
        row_maximum, layout = key
        found = row_maxima_in(ctx, row_maximum, op.value, layout)
        state.advance(ctx.emit, found, weigh=True)
    return state


def row_maxima_in(
    ctx: KernelContext, row_maximum: SSAValue, value: SSAValue, layout: RegisterLayout
) -> list[SSAValue]:
    """The row maximum of `value` in f32 in registers of `layout`; -inf for empty rows."""
    shape = threadblock.shape_of(row_maximum)
    extents = ctx.extents(row_maximum)
    if broadcast_sides(shape, threadblock.shape_of(value)) is None:
        shape, extents = threadblock.shape_of(value), ()
    found = fetch(ctx, row_maximum, layout, shape)
    found = mask(ctx, found, layout, shape, extents, NEUTRAL["max"])
    exists, nothing = ctx.exists(row_maximum), ctx.emit.f32(NEUTRAL["max"])
    return [ctx.emit.select(exists, each, nothing) for each in found]
