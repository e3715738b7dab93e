"""Chains of matmuls: the accumulators of one are the register operand of the next."""

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.decisions.registers import GROUP_WARPS
from mirage_mlir.decisions.sharing import split_group_chain, split_warp_chain
from mirage_mlir.decisions.threads import MATRIX_THREADS, chain_threads
from mirage_mlir.decisions.wgmma import GROUP_COUNTS, wgmma_result
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.layouts.layout import (
    WARP_THREADS,
    RegisterLayout,
    as_matrix,
    mma_result,
)
from mirage_mlir.passes.analysis.buffers import buffer_of
from mirage_mlir.passes.analysis.tile_attributes import has_half_operands, matmul_sizes
from mirage_mlir.targets.target import Target

Warps = tuple[int, int, int]


@dataclass(frozen=True)
class Chain:
    """
    A matmul `first` from whose result the left operand of others is computed elementwise.

    The C fragments of m16n8k16 are A fragments, so warps that share the columns of the first
    matmul share the depth of the second. The same holds for the 64 rows of warpgroups.

    Args:
        down, across: warps along the rows and the columns of the first matmul.
        groups: whether these are warpgroups.
    """

    down: int
    across: int
    groups: bool = False

    @property
    def first(self) -> Warps:
        """Warps along rows, columns and depth of the first matmul."""
        return self.down, self.across, 1

    @property
    def second(self) -> Warps:
        """Warps along rows, columns and depth of the matmuls that follow."""
        return self.down, 1, self.across


def source_of(value: SSAValue) -> threadblock.MatmulOp | None:
    """The matmul from whose result `value` is computed elementwise; None if there is none."""
    op = value.owner
    if isinstance(op, threadblock.MatmulOp):
        return op if has_half_operands(op) else None
    if not isinstance(op, thread.GraphOp):
        return None
    shape = as_matrix(threadblock.shape_of(value))
    for operand in op.operands:
        if as_matrix(threadblock.shape_of(operand)) == shape:
            found = source_of(operand)
            if found is not None:
                return found
    return None


def find_chains(
    graph: kernel.GraphDefinedOp, warps: int, *, groups: bool = False
) -> dict[threadblock.MatmulOp, Chain]:
    """The chains of `graph` by each of their matmuls; `groups` where warpgroups can multiply."""
    seconds: dict[threadblock.MatmulOp, list[threadblock.MatmulOp]] = {}
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.MatmulOp) and has_half_operands(op):
            first = source_of(op.lhs)
            if first is not None:
                seconds.setdefault(first, []).append(op)
    chains: dict[threadblock.MatmulOp, Chain] = {}
    for first, others in seconds.items():
        if first in chains or any(op in chains or op in seconds for op in others):
            continue
        chain = choose_group_chain(first, others, warps) if groups else None
        if chain is None:
            chain = choose_chain(first, others, warps)
        if chain is not None:
            chains.update(dict.fromkeys([first, *others], chain))
    return chains


def threads_of_chains(graph: kernel.GraphDefinedOp, target: Target) -> int | None:
    """Threads of a block whose matmuls are all in chains; None where some are not."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]

    def chained(warps: int, *, groups: bool) -> bool:
        chains = find_chains(graph, warps, groups=groups)
        return all(op in chains and chains[op].groups == groups for op in matmuls)

    counts = GROUP_COUNTS if target.has_wgmma else ()
    threads = chain_threads(
        max(matmul_sizes(op)[0] for op in matmuls),
        prod(graph.grid_sizes),
        [chained(count * GROUP_WARPS, groups=True) for count in counts],
        chained(MATRIX_THREADS // WARP_THREADS, groups=False),
        target,
    )
    return int(threads) or None


def choose_group_chain(
    first: threadblock.MatmulOp, others: list[threadblock.MatmulOp], warps: int
) -> Chain | None:
    """The split over warpgroups with the fewest parts; None if `wgmma` cannot compute it."""
    rows, keys, depth = matmul_sizes(first)
    widths = [matmul_sizes(op)[1] for op in others]
    operands = [*first.operands, *(op.rhs for op in others)]
    if warps % GROUP_WARPS or not all(may_be_multiplied(value) for value in operands):
        return None
    graph = first.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    looped = bool(graph.loop_sizes)
    split = split_group_chain((rows, keys, depth), widths, warps // GROUP_WARPS, looped=looped)
    return Chain(int(split.down), int(split.across), groups=True) if split.fits else None


def may_be_multiplied(value: SSAValue) -> bool:
    """Whether `wgmma` can read a tile: results of reductions are in f32."""
    return not isinstance(buffer_of(value), threadblock.ReduceSumOp | threadblock.ReduceMaxOp)


def choose_chain(
    first: threadblock.MatmulOp, others: list[threadblock.MatmulOp], warps: int
) -> Chain | None:
    """The split with the least work for a warp; None where none fits in registers."""
    split = split_warp_chain(matmul_sizes(first), [matmul_sizes(op)[1] for op in others], warps)
    return Chain(int(split.down), int(split.across)) if split.fits else None


def left_layout(op: threadblock.MatmulOp, chain: Chain) -> RegisterLayout:
    """The register layout that the left operand of `op`, the second of a chain, must have."""
    rows, _, depth = matmul_sizes(op)
    result = wgmma_result if chain.groups else mma_result
    return result(rows, depth, chain.first)
