"""The `select-mma` pass."""

from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue

from mirage_mlir.decisions.sharing import split_warps
from mirage_mlir.decisions.threads import elementwise_threads, matrix_threads
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.layout import MMA_DEPTH, MMA_ROWS, WARP_THREADS, ceil_div
from mirage_mlir.passes.analysis.accumulators import fragments_of
from mirage_mlir.passes.analysis.copy_shapes import walks
from mirage_mlir.passes.analysis.row_sums import waiting_bytes
from mirage_mlir.passes.analysis.tile_attributes import (
    has_half_operands,
    item_bytes,
    matmul_sizes,
)
from mirage_mlir.passes.graph_pass import GraphPass
from mirage_mlir.passes.mma.batches import batch_matmuls
from mirage_mlir.passes.mma.chains import (
    Chain,
    Warps,
    find_chains,
    left_layout,
    source_of,
    threads_of_chains,
)
from mirage_mlir.passes.mma.wgmma_split import WgmmaSplit, choose_wgmma
from mirage_mlir.shapes.shapes import format_shape
from mirage_mlir.targets.target import Target

MAX_RESIDENT_FRAGMENTS = 8
"""Left fragments, of four registers each, that a thread may keep through the loop: enough for 16
queries of 128 elements."""

LOWERED = (
    *(threadblock.LoadOp, threadblock.IotaOp, threadblock.StoreOp),
    *(threadblock.MatmulOp, threadblock.AccumulateOp),
    *(threadblock.ReduceSumOp, threadblock.ReduceMaxOp, threadblock.TransposeOp),
    *(threadblock.ConcatOp, thread.GraphOp, StorePartialSumOp),
)
"""The operations that a kernel can have once elementwise ones are in thread graphs."""


def choose_threads(graph: kernel.GraphDefinedOp, target: Target) -> int:
    """Threads of the block: by accumulators where there are matmuls, else by elements."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    if matmuls:
        threads = threads_of_chains(graph, target)
        if threads is not None:
            return threads
        halves = all(has_half_operands(op) for op in matmuls)
        sides = [matmul_sizes(op)[:2] for op in matmuls]
        return int(matrix_threads(sides, grouped=target.has_wgmma and halves))
    largest = max(
        prod(threadblock.shape_of(value))
        for op in graph.body.block.ops
        for value in (*op.operands, *op.results)
        if isinstance(value.type, threadblock.TileType)
    )
    loads = [op for op in graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    item = max((item_bytes(load.result) for load in loads), default=1)
    blocks, looped = prod(graph.grid_sizes), prod(graph.loop_sizes) > 1
    waiting = waiting_bytes(graph)
    return int(elementwise_threads(largest, blocks, looped, walks(graph), waiting, item, target))


@dataclass(frozen=True)
class MmaSelection:
    """
    Selects the instruction and the warps of each matmul of one graph.

    Args:
        warps: the number of warps of a block.
        chains: matmuls whose left operand is another matmul's result in registers.
        stages: when each tile is computed.
    """

    target: Target
    warps: int
    chains: dict[threadblock.MatmulOp, Chain]
    stages: dict[SSAValue, Stage]

    def select(self, op: threadblock.MatmulOp) -> None:
        """Decide how `op` is computed; the matmuls before it have been decided."""
        if prod(threadblock.shape_of(op.rhs)[:-2]) > 1:
            shape = format_shape(threadblock.shape_of(op.rhs))
            fail(op, f"has several matrices on its right side ({shape}): a block multiplies by one")
        chain = self.chains.get(op)
        chained = chain is not None and self.is_chained(op, chain)
        split = self.wgmma_split(op, chain, chained)
        if split is None:
            warps = self.warp_split(op, chain, chained)
            op.warps = i64_array(warps)
            if not chained and self.stays_in_registers(op, warps):
                op.lhs_in_registers = UnitAttr()
        else:
            op.mma = StringAttr(threadblock.WGMMA)
            op.warps = i64_array(split.groups)
            op.swapped = UnitAttr() if split.swapped else None
        op.chained = UnitAttr() if chained else None

    def is_chained(self, op: threadblock.MatmulOp, chain: Chain) -> bool:
        """Whether the left operand of `op` lies in registers as the instruction takes it."""
        source = source_of(op.lhs)
        # The first matmul of a chain may follow one that is in none, and lies as if it were.
        if source is None or self.chains.get(source) is not chain:
            return False
        return fragments_of(op.lhs) == left_layout(op, chain)

    def wgmma_split(
        self, op: threadblock.MatmulOp, chain: Chain | None, chained: bool
    ) -> WgmmaSplit | None:
        """How warpgroups compute `op`; None where single warps do."""
        if not self.target.has_wgmma:
            return None
        if chain is None or (not chained and source_of(op.lhs) in self.chains):
            return choose_wgmma(op, self.warps, is_summed(op))
        groups = chain.second if chained else chain.first
        return WgmmaSplit(groups, swapped=False) if chain.groups else None

    def warp_split(self, op: threadblock.MatmulOp, chain: Chain | None, chained: bool) -> Warps:
        """Warps along rows, columns and depth that compute `op` by `mma.sync`."""
        if chain is not None and chained:
            return chain.second
        if chain is not None and source_of(op.lhs) not in self.chains:
            return chain.first
        split = split_warps(*matmul_sizes(op), self.warps, may_split=is_summed(op))
        return int(split.down), int(split.across), int(split.deep)

    def stays_in_registers(self, op: threadblock.MatmulOp, warps: Warps) -> bool:
        """Whether threads keep the left operand, a loop-invariant one, through the loop."""
        rows, _, depth = matmul_sizes(op)
        fragments = ceil_div(ceil_div(rows, MMA_ROWS), warps[0]) * ceil_div(depth, MMA_DEPTH)
        return (
            has_half_operands(op)
            and self.stages[op.lhs] == Stage.INVARIANT
            and self.stages[op.result] == Stage.LOOP
            and fragments // warps[2] <= MAX_RESIDENT_FRAGMENTS
        )


def is_summed(op: threadblock.MatmulOp) -> bool:
    """Whether the result of `op` is only added up, so that warps may split its depth."""
    users = [use.operation for use in op.result.uses]
    return all(
        isinstance(user, StorePartialSumOp)
        or (isinstance(user, threadblock.AccumulateOp) and user.kind.data == "sum")
        for user in users
    )


def select(graph: kernel.GraphDefinedOp, target: Target) -> None:
    """Select the number of threads, and the warps and the instruction of each matmul."""
    ops = list(graph.body.block.ops)
    for op in ops:
        if not isinstance(op, LOWERED):
            fail(op, "has no lowering; run fuse-thread-graphs first")
    threads = graph.schedule.threads or choose_threads(graph, target)
    graph.schedule = replace(graph.schedule, threads=threads)
    warps = threads // WARP_THREADS
    chains = find_chains(graph, warps, groups=target.has_wgmma)
    selection = MmaSelection(target, warps, chains, threadblock.stages(graph))
    for op in ops:
        if isinstance(op, threadblock.MatmulOp):
            selection.select(op)
    batch_matmuls(graph)


@dataclass(frozen=True)
class SelectMmaPass(GraphPass):
    """
    Select the threads of a block, and the instruction and the warps that compute each matmul.

    Input (on an H200):
        %p = threadblock.matmul %x, %w : (...) -> !threadblock.tile<64x128xf32>

    Output (the graph gets `schedule <threads = 128>`):
        %p = threadblock.matmul %x, %w {mma = "wgmma", warps = array<i64: 1, 1, 1>} : (...)

    `warps` has the numbers of warps along rows, columns and depth of the tile. The split is that of
    the fewest instructions for a warp; depth is split only where the result is added up. With
    `mma.sync` each warp multiplies tiles of 16 rows. On a target that has `wgmma`, warpgroups
    multiply tiles of 64 rows, and `warps` counts warpgroups. They compute the transpose (`swapped`)
    of tiles of few rows and at least 64 columns, and where that reads less from shared memory.

    A matmul whose left operand is computed element by element from another matmul's result takes it
    from the registers of that result (`chained`). A small loop-invariant left operand stays in
    registers through the loop (`lhs_in_registers`). Several swapped matmuls with the same right
    operand, whose left operands are written by threads, are computed by one instruction
    (`batched = array<i64: group, first line>`).

    The number of threads may be given, `schedule <threads = 256>`. Fails on a number that is no
    multiple of 32, on operations that fuse-thread-graphs has to put in thread graphs, on a matmul
    of several matrices, and on a module for another target.
    """

    name = "select-mma"

    def visit(self, graph: kernel.GraphDefinedOp, target: Target) -> None:
        select(graph, target)
