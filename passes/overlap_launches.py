"""The `overlap-launches` pass."""

from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.constant_inputs import constant_inputs
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.overlap import OVERLAP_OPS
from mirage_mlir.passes.analysis.launch_groups import launches_of
from mirage_mlir.passes.frontend.check import is_compiled
from mirage_mlir.passes.graph_pass import TargetPass
from mirage_mlir.passes.schedule.dependent_launches import DependentLaunches
from mirage_mlir.passes.schedule.overlap import OverlapWriter
from mirage_mlir.targets.target import Target


@dataclass(frozen=True)
class OverlapLaunchesPass(TargetPass):
    """
    Let kernels start before the previous grid has ended (programmatic dependent launch).

    Input, the last kernel of a function, where %w is a constant input:
        %o = kernel.graph_defined ins(%y, %w) grid [4] loop [2] schedule <...> memory <...> {
          %t = threadblock.load %ya grid_map [0] loop_map [1] {layout = #tile, ...} : ...
          %u = threadblock.load %wa grid_map [0] loop_map [1] {layout = #tile, ...} : ...
          threadblock.section "prologue"
          threadblock.issue_copies iteration 0 %t, %u : ...

    Output, with `overlap <starts_early, available = [1]>` behind the memory plan:
          threadblock.section "prologue"
          threadblock.launch_dependents
          threadblock.issue_copies iteration 0 uncommitted %u : ...
          threadblock.await_previous_grid
          threadblock.issue_copies iteration 0 %t : ...

    A launch starts early where it gains by that: where its blocks read little, or are spread evenly
    whenever they are placed. Until the previous grid has ended it reads only what is available, and
    writes nothing. Available are constant inputs; behind the first launch often all inputs. Tiles
    that must wait are prefetched into L2 (`prefetch`), unless a producer copies large ones. Where
    some of a producer's tiles are available it copies these, a few iterations at first, and one
    consumer thread copies the others (`one_thread`), which then need not queue.

    The next launch may start (`launch_dependents`) when this one has waited for the previous grid,
    so that all grids before that have ended; or at once, where it does not matter to the next one.
    Behind the last launch of a function that is one of another call, of whichever function.
    A launch asks for so much shared memory that its blocks are spread evenly over multiprocessors
    (`occupancy_limit_bytes`).

    On a GPU without programmatic dependent launch kernels stay as they are.

    Fails on kernels without a memory plan, on what overlaps already, and on a module for another
    target.
    """

    name = "overlap-launches"

    def run(self, module: ModuleOp, target: Target) -> None:
        """Visit every function of kernels."""
        for function in module.walk():
            if isinstance(function, func.FuncOp) and is_compiled(function):
                _overlap(function, target)


def _overlap(function: func.FuncOp, target: Target) -> None:
    """Decide for all launches of a function, then write it on each of their kernels."""
    graphs = [op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    for graph in graphs:
        _require_planned(graph)
    launches = launches_of(graphs)
    inputs = function.body.block.args
    constants = [inputs[number] for number in constant_inputs(function)]
    dependent = DependentLaunches(launches, inputs, constants, target)
    decided = [dependent.overlap(number) for number in range(len(launches))]
    for launch, overlap in zip(launches, decided, strict=True):
        for graph in launch:
            OverlapWriter(graph, overlap, target).write()


def _require_planned(graph: kernel.GraphDefinedOp) -> None:
    """Fail before `plan-memory`, and at a kernel that has been here before."""
    if not graph.memory.results:
        fail(graph, "has no memory plan; run plan-memory first")
    if graph.overlap_attr or any(isinstance(op, OVERLAP_OPS) for op in graph.body.block.ops):
        fail(graph, "overlaps with the previous grid already")
