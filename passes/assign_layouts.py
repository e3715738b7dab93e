"""The `assign-layouts` pass."""

from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region
from xdsl.transforms.dead_code_elimination import dce

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.tensor_loads import lay_out_boxes
from mirage_mlir.passes.analysis.tile_attributes import (
    cluster_sizes,
    ends_in_stores,
    largest_sum,
    shares_tiles,
    stores_apart,
    sums_across,
    waits_for_split,
)
from mirage_mlir.passes.graph_pass import GraphPass
from mirage_mlir.passes.layouts.assignment import LayoutAssignment
from mirage_mlir.passes.layouts.batched_matmuls import share_buffers
from mirage_mlir.passes.layouts.permuted_reads import (
    is_permuted,
    loads_in_place,
    read_permuted_apart,
    read_reduced_in_registers,
)
from mirage_mlir.passes.layouts.places import NoCommonMaximum
from mirage_mlir.passes.layouts.register_layouts import RegisterLayouts
from mirage_mlir.passes.layouts.tile_layouts import TileLayouts
from mirage_mlir.passes.layouts.wgmma_operands import swizzle_operands
from mirage_mlir.targets.target import Target

LEAST_SAVED = 0.14
"""
The part of the cost that reading tiles apart must save; a conversion waits for all threads.

On an H200 LayerNorm over 192 channels in f16 took 1.07 of the time with 0.12 saved. GELU and a sum
took 0.96 with 0.15 saved, LayerNorm in f32 0.86 with 0.19, a softmax 0.92 with 0.26, and where rows
are odd 0.66 to 0.83 with 0.29 to 0.62.
"""


def assign(graph: kernel.GraphDefinedOp, target: Target) -> None:
    """Give each operation of `graph` a layout."""
    if waits_for_split(graph, target):
        fail(
            sums_across(graph)[0],
            f"sums across {largest_sum(graph)} blocks, which are no cluster",
            note="run split-cross-block-sums first",
        )
    if not graph.schedule.threads:
        fail(graph, "has no threads; run select-mma first")
    cluster = prod(cluster_sizes(graph))
    shares = cluster > 1 and not shares_tiles(graph) and not stores_apart(graph)
    shares = shares and ends_in_stores(graph, threadblock.stages(graph))
    if shares:
        graph.schedule = replace(graph.schedule, cluster_reduction=True)
    sharing = cluster if shares else 1
    read_reduced_in_registers(graph)
    plan = plan_layouts(graph, sharing)
    apart = plan_read_apart(graph, sharing, plan)
    if apart is not None and apart.cost < (1 - LEAST_SAVED) * plan.cost:
        plan = apart
    if apart is not None or plan.given:
        put_body(graph, plan.body)
        assign_given(graph, sharing, plan.given)
    TileLayouts(graph, threadblock.stages(graph)).run()


class LayoutPlan(NamedTuple):
    """
    A graph, and the layouts that some of its thread graphs should have.

    Args:
        body: the graph without layouts.
        given: layouts of thread graphs, by number.
        cost: of all layouts.
    """

    body: Region
    given: dict[int, RegisterLayout]
    cost: int


def plan_layouts(graph: kernel.GraphDefinedOp, sharing: int) -> LayoutPlan:
    """The best layouts of free thread graphs; `graph` gets what they have without a choice."""
    before = graph.body.clone()
    assignment = assign_given(graph, sharing, {})
    tiles = TileLayouts(graph, threadblock.stages(graph))
    better = RegisterLayouts(graph, tiles, assignment.free).better()
    given = {assignment.numbers[op]: layout for op, layout in better.layouts.items()}
    return LayoutPlan(before, given, better.cost)


def plan_read_apart(
    graph: kernel.GraphDefinedOp, sharing: int, plan: LayoutPlan
) -> LayoutPlan | None:
    """The plan with tiles read apart, which threads pass on; None where there are no such tiles."""
    if not any(map(is_permuted, loads_in_place(graph))):
        return None
    put_body(graph, plan.body.clone())
    read_permuted_apart(graph)
    return plan_layouts(graph, sharing)


def put_body(graph: kernel.GraphDefinedOp, body: Region) -> None:
    """Replace the operations of a graph."""
    graph.detach_region(0)
    graph.add_region(body)


def assign_given(
    graph: kernel.GraphDefinedOp,
    sharing: int,
    given: dict[int, RegisterLayout],
) -> LayoutAssignment:
    """Give the operations of `graph` layouts; `given` has some of thread graphs, by number."""
    common: set[int] = set()
    while True:
        assignment = try_assign(graph, sharing, common, given)
        if assignment is not None:
            break
    lay_out_boxes(graph)
    swizzle_operands(graph)
    share_buffers(graph)
    return assignment


def try_assign(
    graph: kernel.GraphDefinedOp,
    sharing: int,
    common: set[int],
    given: dict[int, RegisterLayout],
) -> LayoutAssignment | None:
    """
    Give the operations of `graph` layouts; row maxima in `common` are the same in all warps.

    Where one more row maximum must be common, add its number to `common`, leave `graph` as it was,
    and return None.
    """
    before = graph.body.clone()
    ops = list(graph.body.block.ops)
    assignment = LayoutAssignment(
        graph,
        graph.schedule.threads,
        threadblock.stages(graph),
        sharing,
        {ops[number] for number in common},
        given,
    )
    try:
        assignment.run()
    except NoCommonMaximum as error:
        common.add(error.row_maximum)
        put_body(graph, before)
        return None
    return assignment


@dataclass(frozen=True)
class AssignLayoutsPass(GraphPass):
    """
    Give each tile a layout in registers, shared or device memory, and insert layout conversions.

    Input:
        %p = threadblock.matmul %x, %w {warps = array<i64: 1, 1, 4>} : (...)
        %a = threadblock.accumulate %p : (...) -> !threadblock.tile<16x48xf32>

    Output (types left out); each of four warps has a partial sum, and a reader adds them up:
        #acc = #threadblock.registers<{register = [[0, 1], [8, 0], 6:[0, 8]],
                                       lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                                       warp = [partial, partial]}>
        #parts = #threadblock.shared<{shape = [16, 56], order = [1, 0], copies = 4}>
        %p = threadblock.matmul %x, %w {warps = array<i64: 1, 1, 4>, layout = #acc}
        %a = threadblock.accumulate %p {layout = #acc}
        %s = threadblock.convert_layout %a {layout = #parts}

    The result of a reduction stays in registers where one warp holds all of the input. Rescaled
    sums are relative to the row maximum of all iterations so far (`online_maximum`). Where nothing
    else needs the exact maximum of an iteration (see `row_maxima`), each warp keeps maxima of its
    own, and a thread graph rescales the warps' partial sums after the loop (`merges`).

    Two kinds of layouts are free: those of tiles in shared memory (order, padding, swizzle), and
    those of thread graphs that no matmul and no other tile determines. They are chosen together, at
    the least cost of bank conflicts and of sectors of device memory over all accesses (see
    `tile_layouts` and `register_layouts`). Operands of warpgroup matmuls are swizzled as `wgmma`
    reads them, and tiles that tensor copies fetch have no padding.

    Where only elementwise work and stores follow the sums of a cluster, each of its blocks goes on
    with a share of the sums (`cluster_reduction` in the schedule).

    Fails on a graph without threads or warps (see select-mma), on tiles of the loop without copies
    (see select-copies), on sums that split-cross-block-sums has to split, on an operation that has
    no lowering, and on a module for another target.
    """

    name = "assign-layouts"

    def visit(self, graph: kernel.GraphDefinedOp, target: Target) -> None:
        assign(graph, target)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        dce(op)
