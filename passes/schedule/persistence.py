"""Which kernels with producers are persistent, and with how many blocks."""

from math import prod

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.persistence import persistent_blocks
from mirage_mlir.decisions.schedule import mbarrier_bytes
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.passes.analysis.buffers import is_invariant_load, is_staged, is_tensor_copy
from mirage_mlir.passes.analysis.launch_groups import launch_of
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes, summed_axes, uses_wgmma
from mirage_mlir.passes.schedule.block_resources import iteration_bytes, other_bytes
from mirage_mlir.passes.schedule.order import in_shared
from mirage_mlir.targets.target import Target


def persistent_blocks_of(graph: kernel.GraphDefinedOp, stages: int, target: Target) -> int:
    """
    The blocks with which a kernel that has producers is launched; 0 for one for each tile.

    Args:
        graph: a kernel with layouts.
        stages: buffers of each tile that its loop loads.
        target: the GPU.
    """
    # Which of its buffers a tile begins with would depend on the lengths of all loops before it.
    if (
        graph.bounds is not None
        or summed_axes(graph)
        or len(launch_of(graph)) > 1
        or not keeps_to_pipeline(graph)
    ):
        return 0
    shared = stages * iteration_bytes(graph) + other_bytes(graph) + mbarrier_bytes(stages)
    cluster = prod(cluster_sizes(graph))
    return persistent_blocks(prod(graph.grid_sizes), cluster, shared, target)


def keeps_to_pipeline(graph: kernel.GraphDefinedOp) -> bool:
    """
    Whether all that is in shared memory is what producers copy, and is read by the end of the loop.

    Then the release of the last iteration says that all of it may be overwritten. It says so of
    loop-invariant tiles only where warpgroup matmuls of the loop read them: it may stand in front
    of what else reads these, and has no fence between reads of threads and the next copies.
    """
    stages = threadblock.stages(graph)
    for op in graph.body.block.ops:
        if is_invariant_load(op) and is_tensor_copy(op):
            for reader in readers_of(op.result):
                if not uses_wgmma(reader) or stages[reader.results[0]] != Stage.LOOP:
                    return False
        elif not is_staged(op) and not isinstance(op, threadblock.TransposeOp):
            if any(in_shared(result) for result in op.results):
                return False
    return True


def readers_of(tile: SSAValue) -> list[Operation]:
    """The operations that read a tile's buffer: a transpose is another name of it."""
    readers: list[Operation] = []
    for user in [use.operation for use in tile.uses]:
        is_view = isinstance(user, threadblock.TransposeOp)
        readers += readers_of(user.result) if is_view else [user]
    return readers
