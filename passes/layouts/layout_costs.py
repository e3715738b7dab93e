"""The costs of accesses from registers and of conversions, in which layouts are compared."""

from dataclasses import replace
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.layouts.banks import GROUP_BYTES, WORD_BYTES, Spread
from mirage_mlir.layouts.layout import RegisterLayout, ceil_div
from mirage_mlir.layouts.sectors import DeviceTile, device_traffic
from mirage_mlir.passes.analysis.access_widths import aligned_run, in_order_of_access, row_dim
from mirage_mlir.passes.analysis.tensor_views import TensorView
from mirage_mlir.passes.analysis.tile_attributes import item_bytes
from mirage_mlir.passes.layouts.tile_layouts import PASS_COST

SECTOR_COST, LINE_COST = 4, 16
"""The costs of a sector (32 bytes; a multiprocessor reads 64 bytes a cycle from its cache), and of
each line of 128 bytes that an instruction touches, which is one request. Bytes of device memory are
not counted: each comes once in any layout."""

INSTRUCTION_COST = 2
"""The cost of an instruction of a warp; four are issued in a cycle."""

BARRIER_COST = 30 * PASS_COST
"""The cost of a barrier between writes and reads of shared memory."""


def device_cost(
    spread: Spread, shape: tuple[int, ...], own: tuple[int, ...], view: TensorView, item: int
) -> int:
    """The cost of accessing a tile of shape `own` in device memory, broadcast to `shape`."""
    missing = len(shape) - len(own)
    strides = tuple(
        view.strides[dim - missing] if dim >= missing and own[dim - missing] > 1 else 0
        for dim in range(len(shape))
    )
    spread = replace(spread, layout=in_order_of_access(spread.layout, view, own, shape))
    dim = -1
    if spread.layout.down > 1:
        dim, spread = row_dim(shape), spread.exchanged
    together = aligned_run(view, own, spread.width, dim) if strides[dim] else 1
    asked = device_traffic(spread, DeviceTile(shape, strides, item, together, dim))
    cost = asked.sectors * SECTOR_COST + asked.lines * LINE_COST
    return cost + asked.instructions * INSTRUCTION_COST


def conversion_cost(
    value: SSAValue, maker: RegisterLayout | None = None, reader: RegisterLayout | None = None
) -> int:
    """
    The cost of moving a tile through shared memory to other threads.

    Where both layouts are given, single elements of f16 count: in a pass of the banks lanes write
    or read half as many bytes. The tile may have the order of the runs of either side.
    """
    item = item_bytes(value)
    passes = ceil_div(item * prod(threadblock.shape_of(value)), GROUP_BYTES)
    times = 2
    if maker is not None and reader is not None:
        sides = ([each.vector for each in (maker, reader)], [each.down for each in (maker, reader)])
        times = min(sum(max(1, WORD_BYTES // (item * run)) for run in runs) for runs in sides)
    return BARRIER_COST + times * passes * PASS_COST
