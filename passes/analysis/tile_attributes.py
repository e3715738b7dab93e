"""Queries about tiles, sums and clusters that the passes of the lowering share."""

from collections.abc import Sequence
from math import prod
from typing import TypeGuard

from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.layout import ConvertLayoutOp, RegistersAttr, layout_of
from mirage_mlir.dialects.loop_bounds import LoopBounds
from mirage_mlir.dialects.pipeline import computing_users
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.digits import stretched_slots
from mirage_mlir.layouts.layout import LANE_BITS, WARP_THREADS, RegisterLayout, as_matrix
from mirage_mlir.passes.analysis.access_widths import aligned_run
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.targets.target import Target

Reduction = threadblock.ReduceSumOp | threadblock.ReduceMaxOp


def maker(value: SSAValue) -> Operation:
    """The operation that defines a tile."""
    assert isinstance(value.owner, Operation)
    return value.owner


def registers_of(value: SSAValue) -> RegisterLayout:
    """The layout of a tile that is in registers; an error where edited text says otherwise."""
    attribute = layout_of(value)
    if not isinstance(attribute, RegistersAttr):
        fail(maker(value), "has a tile that is used in registers, and no such layout")
    return attribute.layout


def has_layouts(graph: kernel.GraphDefinedOp) -> bool:
    """Whether assign-layouts has run on `graph`."""
    return all(layout_of(value) for op in graph.body.block.ops for value in op.results)


def batch_place(op: Operation) -> tuple[int, int] | None:
    """The batch of an operation, and its first line there; None if it is in no batch."""
    if not isinstance(op, threadblock.MatmulOp | ConvertLayoutOp) or op.batched is None:
        return None
    number, start = op.batched.get_values()
    return number, start


def item_bytes(value: SSAValue) -> int:
    """Bytes of one element of a tile."""
    return byte_width(threadblock.tile_type(value).element_type)


WIDEST_RUN_BYTES = 16
"""Bytes of one access to device memory; neighbouring threads access neighbouring runs."""


def widest_run(graph: kernel.GraphDefinedOp) -> int:
    """Contiguous elements of a tile in a thread: one access to the tensor of the narrowest type."""
    tensors = [kernel.tensor_type(value) for value in (*graph.inputs, *graph.outputs)]
    return WIDEST_RUN_BYTES * 8 // min(tensor.element_type.bitwidth for tensor in tensors)


def blocked_run(graph: kernel.GraphDefinedOp, value: SSAValue) -> int:
    """
    `widest_run` of a tile in shared memory, where two accesses for a run would conflict in banks.

    Of a tile that is read in place, whose rows may be misaligned, it is what one access takes:
    else neighbouring threads would not read neighbours.
    """
    run = min(widest_run(graph), WIDEST_RUN_BYTES // item_bytes(value))
    if isinstance(load := value.owner, threadblock.LoadOp) and load.copy is None:
        return aligned_run(view_of(load.source), threadblock.shape_of(value), run)
    return run


def stored_run(op: thread.GraphOp) -> int | None:
    """Contiguous elements of one access to a result that is only stored; else None."""
    (result,) = op.results[:1]
    if all(isinstance(use.operation, threadblock.StoreOp) for use in result.uses):
        return WIDEST_RUN_BYTES // item_bytes(result)
    return None


def has_half_operands(op: threadblock.MatmulOp) -> bool:
    """Whether the operands are f16 or bf16."""
    return item_bytes(op.lhs) == 2


def matmul_sizes(op: threadblock.MatmulOp) -> tuple[int, int, int]:
    """Rows, columns and depth of one tile's matmul."""
    rows, depth = as_matrix(threadblock.shape_of(op.lhs))
    return rows, threadblock.shape_of(op.rhs)[-1], depth


def blocks_across(op: Operation | Block) -> int:
    """The number of blocks across which an accumulation sums; 1 for any other operation."""
    if not isinstance(op, threadblock.AccumulateOp):
        return 1
    graph = op.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    if graph.schedule.sums_in_workspace:
        return 1
    return prod(graph.grid_sizes[axis] for axis in op.across.get_values())


def summed_axes(graph: kernel.GraphDefinedOp) -> tuple[int, ...]:
    """The grid axes across which the graph sums, which are the same for all such sums."""
    axes: set[int] = set()
    for op in sums_across(graph):
        across = op.across.get_values()
        if axes and axes != set(across):
            fail(op, f"sums across grid axes {list(across)}, an earlier one {sorted(axes)}")
        axes = set(across)
    return tuple(sorted(axes))


def largest_sum(graph: kernel.GraphDefinedOp) -> int:
    """The number of blocks across which the graph sums; 1 without such sums."""
    return prod(graph.grid_sizes[axis] for axis in summed_axes(graph))


def waits_for_split(graph: kernel.GraphDefinedOp, target: Target) -> bool:
    """Whether split-cross-block-sums has to split the sums of `graph`, and has not done so."""
    in_cluster = largest_sum(graph) <= max(1, target.cluster_max)
    whole = any(op.partial_sum is None for op in sums_across(graph))
    return whole and (graph.schedule.sums_in_workspace or not in_cluster)


def sums_across(graph: kernel.GraphDefinedOp) -> list[threadblock.AccumulateOp]:
    """The sums across blocks, in program order."""
    ops = graph.body.block.ops
    return [op for op in ops if isinstance(op, threadblock.AccumulateOp) and op.across.get_values()]


def stores_along(op: threadblock.StoreOp, axes: Sequence[int]) -> bool:
    """Whether the blocks along some of the grid `axes` store tiles of their own."""
    return any(op.grid_map.get_values()[axis] >= 0 for axis in axes)


def users_of_sum(op: threadblock.AccumulateOp) -> list[Operation]:
    """The users of a sum, or of the thread graph that rescales it to a common row maximum."""
    users = computing_users(op.result)
    if len(users) == 1 and is_merge(users[0]):
        return computing_users(users[0].results[0])
    return users


def accumulator_of(value: SSAValue) -> Operation | Block:
    """The operation that defines `value`; for the result of a merge, the sum that was merged."""
    op = value.owner
    return op.operands[0].owner if is_merge(op) else op


def is_merge(op: Operation | Block) -> TypeGuard[thread.GraphOp]:
    """Whether `op` rescales partial sums to their common row maximum."""
    return isinstance(op, thread.GraphOp) and op.merges is not None


def folding_sides(op: threadblock.AccumulateOp) -> tuple[bool, bool] | None:
    """The sides over which each thread may reduce its slots of `op`: those of its only user."""
    users = users_of_sum(op)
    if len(users) != 1:
        return None
    user = users[0]
    if not isinstance(user, threadblock.ReduceSumOp | threadblock.ReduceMaxOp):
        return None
    kind = "sum" if isinstance(user, threadblock.ReduceSumOp) else "max"
    return reduced_sides(user) if kind == op.kind.data else None


def is_folded(value: SSAValue) -> bool:
    """Whether `value` is an accumulator whose slots each thread has reduced already."""
    op = accumulator_of(value)
    return isinstance(op, threadblock.AccumulateOp) and folding_sides(op) is not None


def adds_into(value: SSAValue) -> bool:
    """Whether the only user of a matmul's result is one accumulator of sums, of a loop."""
    users = computing_users(value)
    return (
        isinstance(value.owner, threadblock.MatmulOp)
        and len(users) == 1
        and isinstance(users[0], threadblock.AccumulateOp)
        and users[0].kind.data == "sum"
        and not is_folded(users[0].result)
        and (users[0].rescale is None or is_online_maximum(users[0].rescale))
        and _is_in_loop(value)
    )


def _is_in_loop(value: SSAValue) -> bool:
    """Whether each iteration computes a tile of a graph."""
    op = value.owner
    graph = op.parent_op() if isinstance(op, Operation) else None
    if not isinstance(graph, kernel.GraphDefinedOp):
        return False
    return threadblock.stages(graph)[value] == Stage.LOOP


def is_online_maximum(row_maximum: SSAValue) -> bool:
    """Whether the maximum that sums are rescaled by is that of all iterations so far."""
    op = row_maximum.owner
    return isinstance(op, threadblock.ReduceMaxOp) and op.online_maximum is not None


def broadcast_sides(shape: Sequence[int], to: Sequence[int]) -> tuple[bool, bool] | None:
    """
    Whether a tile of `shape` broadcasts along the rows, and along the columns, of `to`.

    None where it broadcasts along only some of the dimensions that form the rows.
    """
    if len(shape) > len(to):
        # The additional leading dimensions have size 1.
        shape = shape[len(shape) - len(to) :]
    padded = (1,) * (len(to) - len(shape)) + tuple(shape)
    columns = padded[-1] == 1 and to[-1] > 1
    if padded[:-1] == tuple(to[:-1]):
        return False, columns
    return (True, columns) if prod(padded[:-1]) == 1 else None


def exchanges_sides(shape: Sequence[int], permutation: Sequence[int]) -> bool | None:
    """
    Whether permuting the dimensions of a tile transposes its matrix.

    False if the matrix stays as it is, None for any other permutation. Dimensions of size 1 do not
    matter.
    """
    last = len(shape) - 1
    rows = [dim for dim in range(last) if shape[dim] > 1]
    columns = [last] if shape[last] > 1 else []
    new_rows = [dim for dim in permutation[:-1] if shape[dim] > 1]
    new_columns = [permutation[-1]] if shape[permutation[-1]] > 1 else []
    if (new_rows, new_columns) == (rows, columns):
        return False
    return True if (new_rows, new_columns) == (columns, rows) else None


def reduced_sides(
    op: threadblock.ReduceSumOp | threadblock.ReduceMaxOp,
) -> tuple[bool, bool] | None:
    """
    Whether the reduction runs over the rows, and over the columns, of the tile's matrix.

    None where it reduces only some of the dimensions that form the rows.
    """
    shape = threadblock.shape_of(op.input)
    dims = {dim for dim in op.dims.get_values() if shape[dim] > 1}
    leading = {dim for dim in range(len(shape) - 1) if shape[dim] > 1}
    if dims & leading and not leading <= dims:
        return None
    return bool(dims & leading), len(shape) - 1 in dims


def split_warp_bits(layout: RegisterLayout, rows: bool, columns: bool) -> list[int]:
    """The bits of the thread index along which warps hold partial results of a reduction."""
    lanes = WARP_THREADS.bit_length() - 1
    return [
        bit
        for bit, (row, column) in enumerate(layout.threads)
        if bit >= lanes and ((rows and row > 0) or (columns and column > 0))
    ]


def reduced_lane_bits(layout: RegisterLayout, sides: tuple[bool, bool]) -> list[int]:
    """The bits of the lane along which lanes hold partial results of a reduction."""
    return [
        bit
        for bit, (row, column) in enumerate(layout.threads[:LANE_BITS])
        if (sides[0] and row) or (sides[1] and column)
    ]


def cut_axes(op: threadblock.LoadOp) -> tuple[int, ...]:
    """The grid axes on which the tile of a load depends."""
    return tuple(axis for axis, dim in enumerate(op.grid_map.get_values()) if dim >= 0)


def cluster_sizes(graph: kernel.GraphDefinedOp) -> tuple[int, ...]:
    """
    Blocks of a cluster along each grid axis.

    They are all blocks of an axis across which the graph sums, or blocks that multicast tiles.
    """
    if shares_tiles(graph):
        return graph.cluster_sizes
    axes = () if graph.schedule.sums_in_workspace else summed_axes(graph)
    return tuple(n if axis in axes else 1 for axis, n in enumerate(graph.grid_sizes))


def shares_tiles(graph: kernel.GraphDefinedOp) -> bool:
    """Whether blocks of a cluster multicast tiles."""
    loads = [op for op in graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    return any(op.multicast is not None for op in loads)


def stores_apart(graph: kernel.GraphDefinedOp) -> bool:
    """Whether each block of a cluster stores a tile of its own, computed from the sums."""
    axes = [axis for axis, blocks in enumerate(cluster_sizes(graph)) if blocks > 1]
    return any(
        stores_along(op, axes) for op in graph.body.block.ops if isinstance(op, threadblock.StoreOp)
    )


def ends_in_stores(graph: kernel.GraphDefinedOp, stages: dict[SSAValue, Stage]) -> bool:
    """
    Whether only elementwise work and stores follow the sums across blocks.

    Then the threads of the whole cluster can share that work without exchanging elements.
    """
    after = [
        op for op in graph.body.block.ops if op.results and stages[op.results[0]] == Stage.POST
    ]
    return all(_keeps_to_itself(op, stages) for op in after)


def _keeps_to_itself(op: Operation, stages: dict[SSAValue, Stage]) -> bool:
    """Whether each thread computes its elements of `op` after the loop from its own elements."""
    match op:
        case threadblock.AccumulateOp():
            return bool(op.across.get_values())
        case thread.GraphOp():
            shape = threadblock.shape_of(op.results[0])
            computed = [
                value
                for value in op.operands
                if isinstance(value.owner, thread.GraphOp) and stages[value] == Stage.POST
            ]
            # Tiles of another shape have another layout.
            return all(threadblock.shape_of(value) == shape for value in computed)
        case threadblock.ReduceSumOp() | threadblock.ReduceMaxOp():
            total = op.input.owner
            # Partial sums of a matmul's warps are added up before it is reduced.
            return is_folded(op.input) and not (
                isinstance(total, threadblock.AccumulateOp)
                and isinstance(total.value.owner, threadblock.MatmulOp)
            )
        case _:
            return False


def resident_slots(
    value: SSAValue, layout: RegisterLayout, shape: tuple[int, ...]
) -> list[int] | None:
    """
    The register of `value`, broadcast to `shape`, for each slot of `layout`.

    None if another thread holds an element that a thread needs, or `value` is not in registers.
    """
    attribute, own = layout_of(value), threadblock.shape_of(value)
    if not isinstance(attribute, RegistersAttr):
        return None
    if (sides := broadcast_sides(own, shape)) is None:
        return stretched_slots(own, attribute.layout, layout, shape)
    return layout.slots_in(attribute.layout, *sides)


def uses_wgmma(op: Operation) -> bool:
    """Whether `op` is a warpgroup matmul."""
    return isinstance(op, threadblock.MatmulOp) and op.mma is not None


def tensor_bytes(value: SSAValue) -> int:
    """Bytes of a whole tensor."""
    return prod(kernel.shape_of(value)) * byte_width(kernel.tensor_type(value).element_type)


def lengths_of(graph: kernel.GraphDefinedOp, bounds: LoopBounds) -> list[int]:
    """The iterations that each block along the axis of its loop's `bounds` runs."""
    blocks, count = graph.grid_sizes[bounds.axis], prod(graph.loop_sizes)
    return [len(bounds.iterations(block, count)) for block in range(blocks)]
