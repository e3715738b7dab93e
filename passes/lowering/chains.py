"""Products of which one takes the other's result as it lies in registers."""

from dataclasses import dataclass
from itertools import product

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.graph.layout import (
    MMA_COLUMNS,
    MMA_DEPTH,
    MMA_ROWS,
    RegisterLayout,
    as_matrix,
    ceil_div,
    mma_result,
)
from mirage_mlir.graph.schedule import MAX_EXCHANGE_BYTES
from mirage_mlir.passes.lowering.tiles import has_half_operands, matmul_sizes

Warps = tuple[int, int, int]

MAX_FRAGMENT_REGISTERS = 144
"""Registers of a thread for the results of both products; the rest of 255 holds operands,
addresses and copies of elements that are worked on."""


@dataclass(frozen=True)
class Chain:
    """
    A product `first` whose result, worked on element by element, is the left side of others.

    The C fragments of m16n8k16 are A fragments, so warps that share the columns of the first
    product share the depth of the second.
    """

    down: int
    across: int

    @property
    def first(self) -> Warps:
        """Warps along rows, columns and depth of the first product."""
        return self.down, self.across, 1

    @property
    def second(self) -> Warps:
        """The same of those that follow."""
        return self.down, 1, self.across


def source_of(value: SSAValue) -> threadblock.MatmulOp | None:
    """The product of the same stage that `value` is computed from, element by element."""
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


def find_chains(graph: kernel.GraphDefinedOp, warps: int) -> dict[threadblock.MatmulOp, Chain]:
    """The chains of `graph` by each of their products."""
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
        chain = choose_chain(first, others, warps)
        if chain is not None:
            chains.update(dict.fromkeys([first, *others], chain))
    return chains


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
            continue  # Warps without rows; each product alone would give them work.
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
    return mma_result(rows, depth, chain.first)
