"""Which matmuls `wgmma` computes, and how warpgroups share them."""

from dataclasses import dataclass

from xdsl.ir import SSAValue

from mirage_mlir.decisions.registers import GROUP_WARPS
from mirage_mlir.decisions.sharing import Lines, split_groups
from mirage_mlir.decisions.wgmma import ITEM_BYTES, WGMMA_DEPTH, Groups
from mirage_mlir.dialects import threadblock
from mirage_mlir.layouts.layout import as_matrix
from mirage_mlir.passes.analysis.buffers import buffer_of, has_rows_along
from mirage_mlir.passes.analysis.tile_attributes import (
    Reduction,
    exchanges_sides,
    has_half_operands,
    matmul_sizes,
)
from mirage_mlir.targets.tensor_map import widest_swizzle


@dataclass(frozen=True)
class WgmmaSplit:
    """
    How warpgroups share a matmul.

    Args:
        groups: along rows, columns and depth of the tile.
        swapped: whether the tile's columns are the rows of the instruction.
    """

    groups: Groups
    swapped: bool


def choose_wgmma(op: threadblock.MatmulOp, warps: int, summed: bool) -> WgmmaSplit | None:
    """
    How warpgroups compute a matmul of tiles in shared memory; None if `mma.sync` computes it.

    Where the transposed matmul reads less, or only that fits, it is computed.
    """
    sizes = matmul_sizes(op)
    if warps % GROUP_WARPS or sizes[2] % WGMMA_DEPTH or not has_half_operands(op):
        return None
    first, second = (lines_of(op, index) for index in (0, 1))
    if first is None or second is None:
        return None
    split, swapped = split_groups(sizes, (first, second), warps // GROUP_WARPS, summed)
    if not split.fits:
        return None
    down, across, deep = int(split.down), int(split.across), int(split.deep)
    return WgmmaSplit((across, down, deep) if swapped else (down, across, deep), bool(swapped))


def lines_of(op: threadblock.MatmulOp, index: int) -> Lines | None:
    """How `wgmma` would read operand `index` (0: left) of a matmul, None where it cannot."""
    buffer = buffer_of(op.operands[index])
    if isinstance(buffer, Reduction):
        return None  # Results of reductions are in f32.
    rows, columns = as_matrix(threadblock.shape_of(buffer.results[0]))
    columns_first = has_rows_along(buffer)
    swizzle = widest_swizzle(rows if columns_first else columns, ITEM_BYTES)
    along_rows = columns_first != is_transposed(op.operands[index])
    return Lines(swizzle // ITEM_BYTES, along_rows != (index == 0)) if swizzle else None


def is_transposed(value: SSAValue) -> bool:
    """Whether rows of a tile's matrix are columns of that of the buffer in which it lies."""
    op = value.owner
    if not isinstance(op, threadblock.TransposeOp):
        return False
    shape = threadblock.shape_of(op.input)
    exchanged = bool(exchanges_sides(shape, list(op.permutation.get_values())))
    return is_transposed(op.input) != exchanged
