"""Reads tiles from registers, shared or device memory into registers, and writes them to memory."""

from math import gcd, prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import nvvm_hopper, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import GlobalAttr, RegistersAttr, layout_of
from mirage_mlir.dialects.threadblock_copies import EVICT_FIRST, EVICT_LAST
from mirage_mlir.layouts.layout import RegisterLayout, as_matrix
from mirage_mlir.passes.analysis.access_widths import (
    WIDEST_ACCESS,
    aligned_run,
    covers,
    in_order_of_access,
    is_repeated,
    row_dim,
    shared_width,
)
from mirage_mlir.passes.analysis.buffers import (
    buffer_element,
    buffer_of,
    cuts,
    is_delivered,
    maxima_of,
    shared_layout,
    window_of,
)
from mirage_mlir.passes.analysis.tile_attributes import resident_slots
from mirage_mlir.passes.codegen.addresses import shared_place
from mirage_mlir.passes.codegen.computed_indices import computed_indices
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.extent import Extent, Extents
from mirage_mlir.passes.codegen.online_softmax import exp_of_difference, scaled
from mirage_mlir.passes.codegen.tile_origins import origin_of, shifted_dims, unshifted_origin
from mirage_mlir.passes.codegen.window_copies import line_start

CACHE_POLICIES = {EVICT_FIRST: 0x12F0000000000000, EVICT_LAST: 0x14F0000000000000}
"""
The L2 cache policy of each eviction priority.

PTX calls the number opaque; these are what `createpolicy.fractional.L2` returns for the two.
"""


def fetch(
    ctx: KernelContext, value: SSAValue, layout: RegisterLayout, shape: tuple[int, ...]
) -> list[SSAValue]:
    """
    The elements of tile `value`, broadcast to `shape`, for the slots of `layout`.

    A slot past the edge of the tile gets the value of a valid element; operations for which that
    would be wrong mask it.
    """
    if (value, layout, shape) in ctx.fetched:
        return ctx.fetched[value, layout, shape]
    attribute = layout_of(value)
    if isinstance(value.owner, threadblock.IotaOp):
        return computed_indices(ctx, value.owner, layout, shape)
    if isinstance(attribute, RegistersAttr):
        slots_held = resident_slots(value, layout, shape)
        if slots_held is None:
            assert isinstance(value.owner, Operation), "arguments are in memory"
            fail(value.owner, "has a layout of which threads that use its result hold other slots")
        return [ctx.registers[value][slot] for slot in slots_held]
    order = order_of_access(ctx, value, layout, shape)
    if order != layout:
        read = fetch(ctx, value, order, shape)
        return [read[slot] for slot in order.places_of(layout)]
    return fetch_in_order(ctx, value, layout, shape)


def order_of_access(
    ctx: KernelContext, value: SSAValue, layout: RegisterLayout, shape: tuple[int, ...]
) -> RegisterLayout:
    """A layout of the same elements as `layout`, in the order in which they are read."""
    if not isinstance(layout_of(value), GlobalAttr):
        return layout
    assert isinstance(value.owner, threadblock.LoadOp)
    view = ctx.view(value.owner)
    return in_order_of_access(layout, view, threadblock.shape_of(value), shape)


def fetch_in_order(
    ctx: KernelContext, value: SSAValue, layout: RegisterLayout, shape: tuple[int, ...]
) -> list[SSAValue]:
    """`fetch` of a tile in memory."""
    attribute = layout_of(value)
    # An access of several elements must not reach past the end of a row or column.
    rows, columns = as_matrix(shape)
    down = gcd(layout.down, shape[row_dim(shape)]) if len(shape) > 1 else 1
    width = down if down > 1 else gcd(layout.vector, columns)
    places = layout.offsets
    slots: list[SSAValue] = []
    spans = ctx.spans(layout)
    own = threadblock.shape_of(value)
    read: dict[tuple[Index, ...], list[SSAValue]] = {}
    for first in range(0, len(places), width):
        row, column = ctx.at(layout, places[first])
        if spans[0] > rows:
            row = ctx.row_digits.at_most(row, rows, down)
        if spans[1] > columns:
            column = ctx.emit.least(column, columns - width // down)
        key = tuple(ctx.indices(shape, row, column, own))
        if key not in read:
            from_memory = read_global if isinstance(attribute, GlobalAttr) else read_shared
            read[key] = from_memory(ctx, value, shape, row, column, width, down=down > 1)
        slots += read[key]
    return slots


def read_shared(
    ctx: KernelContext,
    value: SSAValue,
    shape: tuple[int, ...],
    row: Index,
    column: Index,
    width: int,
    *,
    down: bool = False,
) -> list[SSAValue]:
    """Read `width` neighbours (along a column where `down`) of a tile, and combine its copies."""
    kind = shared_layout(value).combine
    parts = read_blocks(ctx, value, shape, row, column, width, down=down)
    maxima = maxima_of(value)
    if maxima is not None:
        tops = read_blocks(ctx, maxima, shape, row, column, width, down=down)
        parts = weighed(ctx, parts, tops)
    return combined(ctx, parts, kind)


def read_blocks(
    ctx: KernelContext,
    value: SSAValue,
    shape: tuple[int, ...],
    row: Index,
    column: Index,
    width: int,
    *,
    down: bool,
) -> list[list[SSAValue]]:
    """The operands of `read_shared`'s combination over blocks: each block's copies combined."""
    emit = ctx.emit
    own = threadblock.shape_of(value)
    layout = shared_layout(value)
    indices = ctx.indices(shape, row, column, own)
    at = (ctx.row_of(indices, own), indices[-1])
    element = buffer_element(buffer_of(value))
    item = byte_width(element)
    together = shared_width(layout, own, width, item, down=down)
    if window_of(value):
        # It starts anywhere.
        together = 1
    count = 1 if is_repeated(own, shape, down=down) else width
    blocks: list[list[SSAValue]] = []
    for base in cluster_pointers(ctx, value, layout.blocks):
        parts: list[list[SSAValue]] = []
        for copy in range(layout.copies):
            parts.append([])
            for start in range(0, count, together):
                more = (start, 0) if down else (0, start)
                offset, plus = shared_place(ctx, layout, item, at, more)
                pointer = emit.pointer(base, offset, element, plus + copy * layout.size)
                parts[-1] += emit.load(pointer, element, together)
        blocks.append(combined(ctx, parts, layout.combine) * (width // count))
    return blocks


def combined(ctx: KernelContext, parts: list[list[SSAValue]], kind: str) -> list[SSAValue]:
    """The elementwise sum, or maximum, of the parts, pairwise: few additions wait for others."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [
            *([combine(ctx, a, b, kind) for a, b in zip(*pair, strict=True)] for pair in pairs),
            *odd,
        ]
    return parts[0]


def weighed(
    ctx: KernelContext, parts: list[list[SSAValue]], maxima: list[list[SSAValue]]
) -> list[list[SSAValue]]:
    """The blocks' partial sums, rescaled from the row maximum of each to the largest of these."""
    tops: dict[tuple[SSAValue, ...], SSAValue] = {}
    factors: dict[tuple[SSAValue, SSAValue], SSAValue] = {}
    result: list[list[SSAValue]] = [[] for _ in parts]
    for values, own in zip(zip(*parts, strict=True), zip(*maxima, strict=True), strict=True):
        # Neighbours usually share a row maximum, and with it the rescaling factor.
        if own not in tops:
            (tops[own],) = combined(ctx, [[each] for each in own], "max")
        for block, (value, maximum) in enumerate(zip(values, own, strict=True)):
            pair = (maximum, tops[own])
            if pair not in factors:
                factors[pair] = exp_of_difference(ctx.emit, *pair)
            result[block] += scaled(ctx.emit, [value], [factors[pair]])
    return result


def cluster_pointers(ctx: KernelContext, value: SSAValue, blocks: int) -> list[SSAValue]:
    """The address of each block's part of a tile: in its memory, or where it delivered it."""
    window = window_of(value)
    own = line_start(ctx, window) if window else ctx.shared_pointer(value)
    if blocks == 1:
        return [own]
    if is_delivered(buffer_of(value)):
        size, element = shared_layout(value).size, buffer_element(buffer_of(value))
        return [ctx.emit.pointer(own, rank * size, element) for rank in range(blocks)]
    return mapped(ctx, own, blocks)


def mapped(ctx: KernelContext, own: SSAValue, blocks: int) -> list[SSAValue]:
    """An address in the shared memory of each block of the cluster."""
    ranks = [ctx.emit.i32(rank) for rank in range(blocks)]
    return [ctx.emit.result(nvvm_hopper.MapClusterAddressOp(own, rank)) for rank in ranks]


def combine(ctx: KernelContext, lhs: SSAValue, rhs: SSAValue, kind: str) -> SSAValue:
    """The sum, or the maximum, of two f32 values."""
    operation = arith.AddfOp if kind == "sum" else arith.MaximumfOp
    return ctx.emit.result(operation(lhs, rhs))


def clamp(
    ctx: KernelContext, indices: list[Index], extents: Extents, width: int, dim: int = -1
) -> list[Index]:
    """`indices` moved back to where `width` neighbours along a dim exist."""
    widths = [1] * len(indices)
    widths[dim] = width
    return [
        ctx.emit.least(index, ctx.emit.sub(extent.limit, size)) if extent else index
        for index, extent, size in zip(indices, extents, widths, strict=True)
    ]


def read_global(
    ctx: KernelContext,
    value: SSAValue,
    shape: tuple[int, ...],
    row: Index,
    column: Index,
    width: int,
    *,
    down: bool = False,
) -> list[SSAValue]:
    """Read `width` neighbours (along a column where `down`) of a tile in device memory."""
    op = value.owner
    assert isinstance(op, threadblock.LoadOp)
    emit, view = ctx.emit, ctx.view(op)
    own = threadblock.shape_of(value)
    element = threadblock.tile_type(value).element_type
    base = ctx.tile_pointer(op, ctx.iterations)
    extents = ctx.extents(value)
    count = 1 if is_repeated(own, shape, down=down) else width
    # A tile that is broadcast may have no dimension of rows.
    down = down and count > 1
    dim = row_dim(shape) if down else -1
    together = aligned_run(view, own, count, dim)
    read: list[SSAValue] = []
    for start in range(0, count, together):
        more = (start, 0) if down else (0, start)
        place = (emit.add(row, more[0]), emit.add(column, more[1]))
        indices = ctx.indices(shape, *place, own)
        indices = clamp(ctx, indices, extents, together, dim)
        offset: Index = 0
        for index, stride in zip(indices, view.strides, strict=True):
            offset = emit.add(offset, emit.mul(index, stride))
        pointer = emit.pointer(base, offset, element)
        if together * byte_width(element) == WIDEST_ACCESS and op.eviction_priority is not None:
            policy = CACHE_POLICIES[op.eviction_priority.data]
            read += emit.load_kept(pointer, element, policy)
        else:
            read += emit.load(pointer, element, together)
    return read * (width // count)


def write_shared(
    ctx: KernelContext,
    slots: list[SSAValue],
    layout: RegisterLayout,
    shape: tuple[int, ...],
    buffer: SSAValue,
    part: tuple[int, int] | None = None,
    *,
    delivered: bool = False,
) -> None:
    """
    Write a tile of `shape` from registers into `buffer`.

    Each group of warps with a partial sum writes a copy of its own; where several threads hold the
    same element, one of them writes. `part` is the dimension and the index at which the tile starts
    if it is only a part of the buffer's tile. What is `delivered` is this block's copy in all
    blocks of the cluster.
    """
    emit, shared = ctx.emit, shared_layout(buffer)
    element = buffer_element(buffer_of(buffer))
    start = emit.mul(ctx.bit_field(layout.part_bits), shared.size)
    others: list[SSAValue] = []
    if delivered:
        assert layout.partial == 1, "the block's partial sums are added up before"
        start = emit.mul(emit.result(nvvm_hopper.ClusterBlockRankOp()), shared.size)
        others = mapped(ctx, ctx.shared_pointer(buffer), shared.blocks)
    whole = threadblock.shape_of(buffer)
    fits = covers(shared, layout) and part is None
    # An access of several elements must stay inside the tile, unless the buffer has padding for it.
    width = layout.vector if fits else gcd(layout.vector, shape[-1])
    item = byte_width(element)
    together = shared_width(shared, whole, width, item)
    if part is not None and part[0] == len(whole) - 1:
        together = gcd(together, part[1])
    nowhere: Extents = (None,) * len(shape)
    with emit.when(ctx.is_first(layout.replica_bits)):
        for first in range(0, len(slots), width):
            place = layout.offsets[first]
            row, column = ctx.at(layout, place)
            if part is not None:
                indices = [*ctx.unravel(row, shape[:-1]), column]
                indices[part[0]] = emit.add(indices[part[0]], part[1])
                row, column = ctx.row_of(indices, whole), indices[-1]
            with emit.when(fits or ctx.inside(layout, shape, nowhere, place)):
                for piece in range(0, width, together):
                    offset, plus = shared_place(ctx, shared, item, (row, column), (0, piece))
                    for base in others or [ctx.shared_pointer(buffer)]:
                        pointer = emit.pointer(base, emit.add(start, offset), element, plus)
                        emit.store(pointer, slots[first + piece : first + piece + together])


def write_global(
    ctx: KernelContext, op: threadblock.StoreOp, slots: list[SSAValue], layout: RegisterLayout
) -> None:
    """Write the valid elements of a tile to its tensor."""
    emit, view = ctx.emit, ctx.view(op)
    shape = threadblock.shape_of(op.tile)
    element = threadblock.tile_type(op.tile).element_type
    base = ctx.tile_pointer(op, ctx.iterations)
    extents = store_extents(ctx, op)
    order = in_order_of_access(layout, view, shape, shape)
    slots, layout = [slots[slot] for slot in layout.places_of(order)], order
    dim = row_dim(shape) if layout.down > 1 else -1
    together = aligned_run(view, shape, max(layout.down, layout.vector), dim)
    with emit.when(ctx.is_first(layout.replica_bits)):
        for first in range(0, len(slots), together):
            place = layout.offsets[first]
            row, column = ctx.at(layout, place)
            with emit.when(ctx.inside(layout, shape, extents, place)):
                offset: Index = 0
                indices = ctx.indices(shape, row, column, shape)
                for index, stride in zip(indices, view.strides, strict=True):
                    offset = emit.add(offset, emit.mul(index, stride))
                pointer, run = emit.pointer(base, offset, element), slots[first : first + together]
                if together * byte_width(element) == WIDEST_ACCESS and op.eviction_priority:
                    emit.store_kept(pointer, run, CACHE_POLICIES[op.eviction_priority.data])
                else:
                    emit.store(pointer, run)


def store_extents(ctx: KernelContext, op: threadblock.StoreOp) -> Extents:
    """Which elements of a stored tile lie inside its tensor."""
    shape, sizes = threadblock.shape_of(op.tile), ctx.view(op).shape
    origin, shifted = origin_of(ctx, op, ctx.iterations), shifted_dims(ctx.graph, op)
    unshifted = unshifted_origin(ctx, op, ctx.iterations)
    extents: list[Extent | None] = []
    for dim, size in enumerate(sizes):
        if dim in shifted:
            own = ctx.emit.sub(unshifted[dim], origin[dim])
            extents.append(Extent(shape[dim], in_loop=False, first=own))
            continue
        grid, loops = cuts(op, dim)
        blocks = ctx.graph.grid_sizes[grid] if grid is not None else 1
        iterations = prod(ctx.graph.loop_sizes[loop] for loop in loops)
        if blocks * iterations * shape[dim] == size:
            extents.append(None)
        else:
            extents.append(Extent(ctx.emit.sub(size, origin[dim]), bool(loops)))
    return tuple(extents)


def as_f32(ctx: KernelContext, value: SSAValue) -> SSAValue:
    """`value` in f32."""
    return value if value.type == f32 else ctx.emit.result(arith.ExtFOp(value, f32))


def global_width(
    ctx: KernelContext, op: threadblock.LoadOp | threadblock.StoreOp, width: int
) -> int:
    """Columns of one access to device memory: aligned, and all inside the tensor or all outside."""
    value = op.result if isinstance(op, threadblock.LoadOp) else op.tile
    return aligned_run(ctx.view(op), threadblock.shape_of(value), width)
