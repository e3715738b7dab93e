"""The resources of a kernel as the passes of the lowering have decided them."""

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.decisions.wgmma import (
    COLUMN_STEP,
    GROUP_THREADS,
    MAX_COLUMNS,
    WGMMA_DEPTH,
    WGMMA_ROWS,
)
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.layouts.layout import MMA_COLUMNS, MMA_DEPTH, MMA_ROWS, ceil_div, round_up
from mirage_mlir.passes.analysis.access_widths import WIDEST_ACCESS
from mirage_mlir.passes.analysis.buffers import is_tensor_copy
from mirage_mlir.passes.analysis.copy_shapes import copy_shape
from mirage_mlir.passes.analysis.tile_attributes import (
    batch_place,
    has_half_operands,
    largest_sum,
    matmul_sizes,
    uses_wgmma,
)


@dataclass(frozen=True)
class KernelResources:
    """Threads, memory and instructions of one kernel; sizes are in bytes."""

    grid: tuple[int, ...]
    loop: tuple[int, ...]
    cluster: tuple[int, ...]
    threads: int
    """Threads of a block that compute."""
    producer_warps: int
    """Warps that only start TMA copies."""
    warpgroups: int
    """Warpgroups that multiply; 0 where single warps do."""
    stages: int
    """Buffers of each tile that the loop loads."""
    shared_bytes: int
    mma: tuple[str, ...]
    """The instruction of each matmul, and how warps or warpgroups share it."""
    copies: tuple[str, ...]
    """The distinct ways in which tiles are loaded."""
    multicast: int
    """Blocks of a cluster that copy parts of a tile for each other; 1 where none do."""
    splits: int
    """Blocks that add up their partial sums: split-K."""
    sums_in_workspace: bool
    """Whether these sums go through device memory instead of a cluster's shared memory."""


def resources_of(module: ModuleOp) -> tuple[KernelResources, ...]:
    """The resources of all kernels of a module after plan-memory, in order."""
    graphs = [op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp)]
    return tuple(map(resources_of_kernel, graphs))


def resources_of_kernel(graph: kernel.GraphDefinedOp) -> KernelResources:
    """Those of one of them."""
    ops = list(graph.body.block.ops)
    matmuls = [op for op in ops if isinstance(op, threadblock.MatmulOp)]
    threads = graph.schedule.threads
    loads = [op for op in ops if isinstance(op, threadblock.LoadOp)]
    grouped = any(map(uses_wgmma, matmuls))
    return KernelResources(
        grid=tuple(graph.grid_sizes),
        loop=tuple(graph.loop_sizes),
        cluster=tuple(graph.cluster_sizes) if graph.cluster is not None else (),
        threads=threads,
        producer_warps=graph.schedule.producer_warps,
        warpgroups=threads // GROUP_THREADS if grouped else 0,
        stages=graph.schedule.stages,
        shared_bytes=graph.memory.shared_bytes,
        mma=tuple(map(_instruction, matmuls)),
        copies=tuple(dict.fromkeys(map(_copy, loads))),
        multicast=max((op.sharing_blocks for op in loads), default=1),
        splits=largest_sum(graph),
        sums_in_workspace=graph.schedule.sums_in_workspace,
    )


def _copy(op: threadblock.LoadOp) -> str:
    if op.copy is None:
        return "by threads, to registers"
    if is_tensor_copy(op):
        return "TMA"
    if op.is_window_copy:
        return f"cp.async ({WIDEST_ACCESS} bytes, a window)"
    piece = copy_shape(op).piece * byte_width(kernel.tensor_type(op.source).element_type)
    if op.is_async_copy:
        return f"cp.async ({piece} bytes)"
    shifted = ", shifted" if op.is_realigned_copy else ""
    return f"by threads ({piece} bytes{shifted})"


def _instruction(op: threadblock.MatmulOp) -> str:
    """The shape in PTX's terms, and the warps or warpgroups along rows, columns and depth."""
    warps = op.warp_counts
    shared = "x".join(str(count) for count in warps)
    rows, columns, _ = matmul_sizes(op)
    if uses_wgmma(op):
        swapped = op.swapped is not None
        wide = rows if swapped else columns
        across = int(warps[0 if swapped else 1])
        turned = ", transposed" if swapped else ""
        width = min(MAX_COLUMNS, round_up(ceil_div(wide, across), COLUMN_STEP))
        batched = ", batched along N" if batch_place(op) is not None else ""
        return f"wgmma m{WGMMA_ROWS}n{width}k{WGMMA_DEPTH}{turned}{batched}, {shared} warpgroups"
    depth = MMA_DEPTH if has_half_operands(op) else MMA_DEPTH // 2
    return f"mma.sync m{MMA_ROWS}n{MMA_COLUMNS}k{depth}, {shared} warps"
