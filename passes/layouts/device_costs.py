"""The costs of accesses to device memory from registers, in which layouts are compared."""

from dataclasses import replace

from mirage_mlir.layouts.banks import Spread
from mirage_mlir.layouts.sectors import DeviceTile, device_traffic
from mirage_mlir.passes.analysis.access_widths import aligned_run, in_order_of_access, row_dim
from mirage_mlir.passes.analysis.tensor_views import TensorView

SECTOR_COST, LINE_COST = 4, 16
"""The costs of a sector (32 bytes; a multiprocessor reads 64 bytes a cycle from its cache), and of
each line of 128 bytes that an instruction touches, which is one request. Bytes of device memory are
not counted: each comes once in any layout."""

INSTRUCTION_COST = 2
"""The cost of an instruction of a warp; four are issued in a cycle."""


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
