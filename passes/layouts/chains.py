"""Chains of matmuls: the accumulators of one are the register operand of the next."""

from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.decisions.schedule import (
    GROUP_WARPS,
    MATRIX_THREADS,
    MAX_EXCHANGE_BYTES,
    MAX_FRAGMENT_REGISTERS,
)
from mirage_mlir.decisions.sharing import split_group_chain
from mirage_mlir.decisions.wgmma import (
    GROUP_COUNTS,
    GROUP_THREADS,
    GROUPS_IN_FLIGHT,
    WGMMA_ROWS,
    wgmma_result,
)
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.layouts.layout import (
    MMA_COLUMNS,
    MMA_DEPTH,
    MMA_ROWS,
    WARP_THREADS,
    RegisterLayout,
    as_matrix,
    ceil_div,
    mma_result,
)
from mirage_mlir.passes.analysis.buffers import buffer_of
from mirage_mlir.passes.analysis.tile_attributes import has_half_operands, matmul_sizes
from mirage_mlir.targets.target import Target

Warps = tuple[int, int, int]


@dataclass(frozen=True)
class Chain:
    """
    A matmul `first` whose result, worked on element by element, is the left side of others.

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
        """The same of those that follow."""
        return self.down, 1, self.across


def source_of(value: SSAValue) -> threadblock.MatmulOp | None:
    """The matmul of the same stage that `value` is computed from, element by element."""
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
    """
    Threads of a block whose matmuls are all in chains; None where some are not.

    Warps have as many rows as they can: so they read the right sides less often. Warpgroups have
    64 where a block has more: theirs are one matmul, and each leaves registers to the others.
    """
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    if target.has_wgmma:
        wanted = max(matmul_sizes(op)[0] // WGMMA_ROWS for op in matmuls)
        if prod(graph.grid_sizes) <= target.sm_count:
            wanted = max(wanted, GROUPS_IN_FLIGHT)
        fitting: list[int] = []
        for count in GROUP_COUNTS:
            chains = find_chains(graph, count * GROUP_WARPS, groups=True)
            if all(op in chains and chains[op].groups for op in matmuls):
                fitting.append(count * GROUP_THREADS)
        if fitting:
            return next((n for n in fitting if n >= wanted * GROUP_THREADS), fitting[-1])
    chains = find_chains(graph, MATRIX_THREADS // WARP_THREADS)
    return MATRIX_THREADS if all(op in chains for op in matmuls) else None


def choose_group_chain(
    first: threadblock.MatmulOp, others: list[threadblock.MatmulOp], warps: int
) -> Chain | None:
    """The split over warpgroups with the fewest parts; None where they cannot multiply so."""
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
    """Whether a tile is one that warpgroups can read: reductions are kept in f32."""
    return not isinstance(buffer_of(value), threadblock.ReduceSumOp | threadblock.ReduceMaxOp)


def choose_chain(
    first: threadblock.MatmulOp, others: list[threadblock.MatmulOp], warps: int
) -> Chain | None:
    """The split with the least work for a warp; None where none fits in registers."""
    rows, keys, depth = matmul_sizes(first)
    row_tiles = ceil_div(rows, MMA_ROWS)
    widths = [ceil_div(matmul_sizes(op)[1], MMA_COLUMNS) for op in others]
    best: tuple[tuple[int, int], Chain] | None = None
    powers = [1 << k for k in range(warps.bit_length())]
    for down, across in product(powers, powers):
        if down * across != warps or (across > 1 and keys % (MMA_DEPTH * across)):
            continue
        if down > row_tiles:
            continue  # Warps without rows; each matmul alone would give them work.
        tiles, columns = ceil_div(row_tiles, down), ceil_div(ceil_div(keys, MMA_COLUMNS), across)
        registers = 4 * tiles * (columns + sum(widths))
        parts = warps * tiles * max(widths) * MMA_ROWS * MMA_COLUMNS * 4
        if registers > MAX_FRAGMENT_REGISTERS or (across > 1 and parts > 2 * MAX_EXCHANGE_BYTES):
            continue
        steps = ceil_div(depth, MMA_DEPTH)
        # Fewer warps along the columns have fewer parts to bring together after the loop.
        key = (tiles * (columns * steps + sum(widths) * ceil_div(columns, 2)), across)
        if best is None or key < best[0]:
            best = (key, Chain(down, across))
    return None if best is None else best[1]


def left_layout(op: threadblock.MatmulOp, chain: Chain) -> RegisterLayout:
    """Where the left side of `op`, the second of a chain, must lie."""
    rows, _, depth = matmul_sizes(op)
    result = wgmma_result if chain.groups else mma_result
    return result(rows, depth, chain.first)
