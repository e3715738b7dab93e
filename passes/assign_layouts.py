"""The `assign-layouts` pass."""

from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import dce

from mirage_mlir.decisions.threads import (
    elementwise_threads,
    matrix_threads,
)
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.layouts.layout import (
    WARP_THREADS,
    RegisterLayout,
)
from mirage_mlir.passes.analysis.tensor_loads import use_tensor_copies
from mirage_mlir.passes.analysis.tile_attributes import (
    cluster_sizes,
    ends_in_stores,
    fits_cluster,
    largest_sum,
    matmul_sizes,
    stores_apart,
    sums_across,
)
from mirage_mlir.passes.layouts.assignment import LayoutAssignment
from mirage_mlir.passes.layouts.batched_matmuls import batch_matmuls
from mirage_mlir.passes.layouts.chains import (
    find_chains,
    threads_of_chains,
)
from mirage_mlir.passes.layouts.places import (
    NoCommonMaximum,
)
from mirage_mlir.passes.layouts.register_layouts import (
    RegisterLayouts,
)
from mirage_mlir.passes.layouts.tile_layouts import TileLayouts
from mirage_mlir.passes.layouts.wgmma_selection import swizzle_operands
from mirage_mlir.targets.target import Target, require_known


def choose_threads(graph: kernel.GraphDefinedOp, target: Target) -> int:
    """Threads of the block: by accumulators where there are matmuls, else by elements."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    if matmuls:
        threads = threads_of_chains(graph, target)
        if threads is not None:
            return threads
        return int(matrix_threads([matmul_sizes(op)[:2] for op in matmuls]))
    largest = max(
        prod(threadblock.shape_of(value))
        for op in graph.body.block.ops
        for value in (*op.operands, *op.results)
        if isinstance(value.type, threadblock.TileType)
    )
    return int(elementwise_threads(largest))


def assign(graph: kernel.GraphDefinedOp, target: Target) -> None:
    """Give `graph` its threads and each of its operations a layout."""
    if not (graph.schedule.sums_in_workspace or fits_cluster(graph, target)):
        fail(
            sums_across(graph)[0],
            f"sums across {largest_sum(graph)} blocks, which are no cluster",
            note="run split-cross-block-sums first",
        )
    threads = graph.schedule.threads or choose_threads(graph, target)
    graph.schedule = replace(graph.schedule, threads=threads)
    cluster = prod(cluster_sizes(graph))
    shares = cluster > 1 and not stores_apart(graph)
    shares = shares and ends_in_stores(graph, threadblock.stages(graph))
    if shares:
        graph.schedule = replace(graph.schedule, cluster_reduction=True)
    sharing = cluster if shares else 1
    before = graph.body.clone()
    assignment = assign_given(graph, threads, target, sharing, {})
    tiles = TileLayouts(graph, threadblock.stages(graph))
    better = RegisterLayouts(graph, tiles, assignment.free).better()
    if better:
        given = {assignment.numbers[op]: layout for op, layout in better.items()}
        graph.detach_region(0)
        graph.add_region(before)
        assign_given(graph, threads, target, sharing, given)
        tiles = TileLayouts(graph, threadblock.stages(graph))
    tiles.run()


def assign_given(
    graph: kernel.GraphDefinedOp,
    threads: int,
    target: Target,
    sharing: int,
    given: dict[int, RegisterLayout],
) -> LayoutAssignment:
    """Give the operations of `graph` layouts: those `given`, by their numbers, to thread graphs."""
    common: set[int] = set()
    while True:
        assignment = try_assign(graph, threads, target, sharing, common, given)
        if assignment is not None:
            break
    if target.has_tma:
        use_tensor_copies(graph)
    swizzle_operands(graph)
    batch_matmuls(graph)
    return assignment


def try_assign(
    graph: kernel.GraphDefinedOp,
    threads: int,
    target: Target,
    sharing: int,
    common: set[int],
    given: dict[int, RegisterLayout],
) -> LayoutAssignment | None:
    """
    Give the operations of `graph` layouts, the `common` ones of them one for all warps.

    Where one more must be common, add its number and leave `graph` as it is.
    """
    before = graph.body.clone()
    ops = list(graph.body.block.ops)
    assignment = LayoutAssignment(
        graph,
        threads,
        threadblock.stages(graph),
        target,
        sharing,
        find_chains(graph, threads // WARP_THREADS, groups=target.has_wgmma),
        {ops[number] for number in common},
        given,
    )
    try:
        assignment.run()
    except NoCommonMaximum as error:
        common.add(error.row_maximum)
        graph.detach_region(0)
        graph.add_region(before)
        return None
    return assignment


@dataclass(frozen=True)
class AssignLayoutsPass(ModulePass):
    """
    Say where each tile lives, and insert the conversions that this takes.

    Input:
        %p = threadblock.matmul %x, %w : (...) -> !threadblock.tile<16x48xf32>
        %a = threadblock.accumulate %p : (...) -> !threadblock.tile<16x48xf32>

    Output (types left out); each of four warps has a part of the sum, which a reader adds up:
        #acc = #threadblock.registers<{register = [[0, 1], [8, 0], 6:[0, 8]],
                                       lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                                       warp = [partial, partial]}>
        #parts = #threadblock.shared<{shape = [16, 56], order = [1, 0], copies = 4}>
        %p = threadblock.matmul %x, %w {warps = array<i64: 1, 1, 4>, layout = #acc}
        %a = threadblock.accumulate %p {layout = #acc}
        %s = threadblock.convert_layout %a {layout = #parts}

    A matmul whose left side is worked on element by element from another matmul's result takes
    it from registers, where it lies already. Reductions stay in registers where one warp has all
    that they take. Rescaled sums keep the maxima of the iterations so far; where nothing else asks
    for the maximum of an iteration (see `row_maxima`), each warp has maxima of its own, and sums
    are brought together after the loop.

    The layouts of tiles in shared memory (which side the run is, padding, swizzle), and of threads
    that no matmul and no other tile decides, cost the least together: conflicts of banks in all
    accesses are counted, and what is asked of device memory (see `tile_layouts` and
    `register_layouts`). Fixed here: warps share a matmul by least instructions, split along its
    depth only where the sum is accumulated.

    On a chip with tensor copies these fetch the loop's tiles where alignment allows (`copy =
    "tensor"`); such tiles have no padding. On one with matmuls of warpgroups (`wgmma`) four warps
    multiply tiles of 64 rows (`mma = "wgmma"`; `warps` counts groups then), or of few rows and 64
    columns (`swapped`), straight from swizzled tiles in shared memory; what they take from another
    matmul stays in registers. Several such matmuls of few rows with one right side, whose left
    sides threads write, are computed as one (`batched`).

    Fails on a number of `threads` that is no multiple of 32, on an operation that has no place in a
    kernel, such as a matmul of several matrices, on sums that split-cross-block-sums has to split,
    and on a module for another target.
    """

    name = "assign-layouts"

    target: str | None = None
    """The GPU, or its instruction set; if not given the module's `kernel.target`, or else H200."""

    def __post_init__(self) -> None:
        require_known(self.target)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Visit every `kernel.graph_defined` of the module."""
        target = settle_target(op, self.target, self.name)
        for graph in [g for g in op.walk() if isinstance(g, kernel.GraphDefinedOp)]:
            assign(graph, target)
        dce(op)
