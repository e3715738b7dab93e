"""The `plan-memory` pass."""

from dataclasses import dataclass, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.schedule import MBARRIER_BYTES, mbarrier_bytes
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.launch import Workspace, set_workspace
from mirage_mlir.dialects.layout import ConvertLayoutOp, set_shared_buffer, shared_buffer
from mirage_mlir.dialects.pipeline import (
    EPILOGUE,
    MAIN_LOOP,
    PROLOGUE,
    AwaitTilesOp,
    BarrierOp,
    is_across_blocks,
)
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.layouts.layout import round_up
from mirage_mlir.layouts.memory_plan import Buffer, plan_memory
from mirage_mlir.passes.analysis.buffers import (
    buffer_alignment,
    buffer_bytes,
    buffer_count,
    buffer_element,
    copied_invariant_loads,
    first_line,
    is_delivered,
    is_staged,
    shared_layout,
)
from mirage_mlir.passes.analysis.launch_groups import launches_of
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import (
    batch_place,
    tensor_bytes,
)
from mirage_mlir.passes.codegen.split_k import WORD, partial_sum_bytes, tiles_of
from mirage_mlir.passes.frontend.check import is_compiled
from mirage_mlir.passes.graph_pass import TargetPass
from mirage_mlir.passes.schedule.order import in_shared, spreads
from mirage_mlir.passes.schedule.sections import sections_of
from mirage_mlir.targets.target import Target

COUNTER_ALIGNMENT = 16
"""Bytes that all pointers of a kernel are aligned to."""

SCRATCH_ALIGNMENT = 256
"""What cudaMalloc gives, so that a tensor in scratch is aligned like one of its own."""


@dataclass(frozen=True)
class Times:
    """The time at which a block runs each operation: the number of barriers that precede it."""

    of: dict[Operation, int]
    loop: tuple[int, int]

    def spread(self, op: Operation, in_loop: bool) -> tuple[int, int]:
        """First and last time of `op`; one in the loop happens all through it."""
        return self.loop if in_loop else (self.of[op], self.of[op])


def barrier_times(graph: kernel.GraphDefinedOp) -> Times:
    """Number the intervals between barriers: two tiles share memory only across a barrier."""
    now, of = 0, dict[Operation, int].fromkeys(graph.body.block.ops, 0)
    loop: list[int] = []
    for section, ops in sections_of(graph).items():
        for op in ops:
            now += isinstance(op, BarrierOp) or is_across_blocks(op)
            of[op] = now
            if section == MAIN_LOOP and isinstance(op, BarrierOp | AwaitTilesOp):
                # The wait marks the start of the loop; threads do not synchronize at it.
                loop.append(now)
    return Times(of, (loop[0], loop[-1]) if loop else (0, 0))


def buffers_of(graph: kernel.GraphDefinedOp) -> list[Operation]:
    """
    The operations of `graph` that have memory in shared memory.

    They are in the order in which the memory is first used, which decides between plans of one
    size: the loop's tiles stand where the loop does.
    """
    sections = sections_of(graph)
    loads = [op for op in graph.body.block.ops if isinstance(op, threadblock.LoadOp)]
    ops = [
        *(op for op in loads if not is_staged(op)),
        *sections[PROLOGUE],
        *filter(is_staged, loads),
        *sections[MAIN_LOOP],
        *sections[EPILOGUE],
    ]
    return [
        op
        for op in ops
        if not isinstance(op, threadblock.TransposeOp)
        and any(in_shared(result) for result in op.results)
        and not first_line(op)
    ]


def lifetime(
    op: Operation, graph: kernel.GraphDefinedOp, times: Times, stages: dict[SSAValue, Stage]
) -> Buffer:
    """How much memory `op` needs, and from when to when."""
    count = graph.schedule.stages if is_staged(op) else buffer_count(op)
    first, last = times.spread(op, stages[op.results[0]] == Stage.LOOP)
    if isinstance(op, threadblock.LoadOp) or shared_buffer(op).zero_padding:
        first = 0
    users = [use.operation for use in op.results[0].uses]
    while users:
        user = users.pop()
        if isinstance(user, threadblock.TransposeOp):
            users += [use.operation for use in user.result.uses]
        in_loop = any(stages[result] == Stage.LOOP for result in user.results)
        last = max(last, times.spread(user, in_loop)[1])
    if spreads(op):
        # Other blocks read it until all are done, or write it as soon as they have come so far.
        last = max(times.of.values())
        first = 0 if is_delivered(op) else first
    return Buffer(count * buffer_bytes(op), first, last, buffer_alignment(op))


def plan_shared(graph: kernel.GraphDefinedOp, limit: int) -> None:
    """Write the offset of each buffer, and the bytes of all together."""
    buffers, times = buffers_of(graph), barrier_times(graph)
    stages = threadblock.stages(graph)
    plan = plan_memory([lifetime(op, graph, times, stages) for op in buffers], alignment=128)
    count, size, mbarriers, arrival = graph.schedule.stages, plan.size, 0, 0
    if graph.schedule.producer_warps > 0:
        # Barriers of the pipeline are in use all the time.
        mbarriers = round_up(size, MBARRIER_BYTES)
        invariant = len(copied_invariant_loads(graph)) * MBARRIER_BYTES
        size = mbarriers + mbarrier_bytes(count) + invariant
    if graph.schedule.sums_in_workspace:
        arrival = round_up(size, WORD)
        size = arrival + WORD
    if size > limit:
        fail(graph, f"needs {size} bytes of shared memory, a block has at most {limit}")
    for op, offset in zip(buffers, plan.offsets, strict=True):
        set_shared_buffer(op, replace(shared_buffer(op), offset=offset))
    for op in graph.body.block.ops:
        if isinstance(op, ConvertLayoutOp) and first_line(op):
            place = offset_in(op, buffers)
            set_shared_buffer(op, replace(shared_buffer(op), offset=place))
    graph.memory = replace(
        graph.memory, shared_bytes=size, mbarrier_offset=mbarriers, arrival_offset=arrival
    )


def offset_in(op: Operation, buffers: list[Operation]) -> int:
    """The offset of a tile of a batch, whose buffer is that of the first tile of the batch."""
    place = batch_place(op)
    assert place is not None
    owner = next(each for each in buffers if batch_place(each) == (place[0], 0))
    line = max(shared_layout(op.results[0]).row, shared_layout(op.results[0]).column)
    size = byte_width(buffer_element(op))
    return shared_buffer(owner).offset + place[1] * line * size


def returned(function: func.FuncOp) -> list[SSAValue]:
    """The tensors whose memory holds the results of `function`."""
    last = function.body.block.last_op
    assert isinstance(last, func.ReturnOp)
    return [view_of(value).root for value in last.arguments]


def plan_scratch(function: func.FuncOp) -> None:
    """Place the tensors that pass from kernel to kernel, and are no result, in one allocation."""
    graphs = [op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    # The kernels of a launch run at the same time.
    times = [time for time, launch in enumerate(launches_of(graphs)) for _ in launch]
    outputs = returned(function)
    buffers: dict[SSAValue, Buffer] = {}
    for number, graph in zip(times, graphs, strict=True):
        for result in graph.outputs:
            if result not in outputs:
                buffers[result] = Buffer(tensor_bytes(result), number, number)
        for root in (view_of(value).root for value in graph.inputs):
            if root in buffers:
                buffers[root] = Buffer(buffers[root].size, buffers[root].first, number)
    sums = [number for number, graph in enumerate(graphs) if graph.schedule.sums_in_workspace]
    parts = [
        Buffer(partial_sum_bytes(graphs[number]), times[number], times[number]) for number in sums
    ]
    plan = plan_memory([*buffers.values(), *parts], SCRATCH_ALIGNMENT)
    offsets = dict(zip(buffers, plan.offsets, strict=False))
    for graph in graphs:
        places = tuple(offsets.get(result, -1) for result in graph.outputs)
        graph.memory = replace(graph.memory, results=places)
    counters = 0
    for number, place in zip(sums, plan.offsets[len(buffers) :], strict=True):
        graph = graphs[number]
        # Kernels do not share counters: the next one may start before this one has ended.
        graph.memory = replace(graph.memory, partial_sums_offset=place, counters_offset=counters)
        counters += round_up(tiles_of(graph) * WORD, COUNTER_ALIGNMENT)
    set_workspace(function, Workspace(plan.size, counters))


@dataclass(frozen=True)
class PlanMemoryPass(TargetPass):
    """
    Place tiles in shared memory, and tensors between kernels in device memory.

    Input, a graph with a schedule:
        %x = threadblock.load %a grid_map [_] loop_map [1] {layout = #threadblock.shared<...>} : ...

    Output, where the graph gets a `memory <shared_bytes = 16384, results = [-1]>`:
        %x = threadblock.load %a grid_map [_] loop_map [1]
               {layout = #threadblock.shared<...>, buffer = #threadblock.buffer<offset = 0>} : ...

    Tiles share memory when a barrier lies between the last use of one and the first use of the
    other. Tensors between kernels share scratch memory when no kernel uses both. Split-K partial
    sums lie in scratch, too; their counters lie in memory that is 0 between calls. The function
    gets `kernel.workspace = #kernel.workspace<scratch_bytes = 40960, counter_bytes = 16>`. The
    mbarriers of tensor copies follow the tiles. A plan is the smallest one, unless the search for
    it takes too long (see `mirage_mlir.layouts.memory_plan`).

    Fails where a block would need more shared memory than the target has, on what is no kernel or
    view beside kernels, and on a module for another target.
    """

    name = "plan-memory"

    def run(self, module: ModuleOp, target: Target) -> None:
        """Visit every kernel and every function of the module."""
        for inner in list(module.walk()):
            if isinstance(inner, kernel.GraphDefinedOp):
                plan_shared(inner, target.shared_memory_per_block)
            elif isinstance(inner, func.FuncOp) and is_compiled(inner):
                plan_scratch(inner)
