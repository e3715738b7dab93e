"""The `fuse-horizontally` pass."""

from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from mirage_mlir.decisions.horizontal_fusion import joint_launches
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.launch_groups import fusion_candidates
from mirage_mlir.passes.analysis.tensor_views import VIEWS
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes
from mirage_mlir.passes.graph_pass import TargetPass
from mirage_mlir.passes.schedule.block_resources import has_producer, launched_threads
from mirage_mlir.targets.target import Target


@dataclass(frozen=True)
class FuseHorizontallyPass(TargetPass):
    """
    Launch kernels that do not depend on each other as one grid (horizontal fusion).

    Input, two products of a tensor that a kernel makes, one of them in two kernels:
        %n = kernel.graph_defined ins(%x) grid [16] { ... } : ...
        %p = kernel.graph_defined ins(%n, %a) grid [32] loop [8] { ... } : ...
        %k = kernel.graph_defined ins(%p) grid [64] { ... } : ...
        %q = kernel.graph_defined ins(%n, %b) grid [64] loop [32] { ... } : ...

    Output:
        %n = kernel.graph_defined ins(%x) grid [16] { ... } : ...
        %p = kernel.graph_defined ins(%n, %a) grid [32] loop [8] { ... } : ...
        %q = kernel.graph_defined ins(%n, %b) grid [64] loop [32] schedule <joins_launch> { ... }
        %k = kernel.graph_defined ins(%p) grid [64] { ... } : ...

    Each block of a launch belongs to one of its kernels; those have as many threads and clusters of
    the same size, and together few enough blocks to share the multiprocessors. What stays small
    alone, such as projections of few columns, then costs no launch of its own.

    Functions that do more than launch kernels stay as they are.

    Fails on a module for another target, and on a graph without layouts.
    """

    name = "fuse-horizontally"

    def run(self, module: ModuleOp, target: Target) -> None:
        """Visit every function of the module."""
        for function in module.walk():
            if isinstance(function, func.FuncOp) and _launches_kernels(function):
                _fuse(function.body.block, target)


def _launches_kernels(function: func.FuncOp) -> bool:
    """Whether a function does nothing but launch several kernels, on views of its tensors."""
    if len(function.body.blocks) != 1:
        return False
    operations = [op for op in function.body.block.ops if not isinstance(op, func.ReturnOp)]
    graphs = [op for op in operations if isinstance(op, kernel.GraphDefinedOp)]
    expected = (kernel.GraphDefinedOp, *VIEWS)
    return len(graphs) > 1 and all(isinstance(op, expected) for op in operations)


def _fuse(block: Block, target: Target) -> None:
    """Bring kernels of `block` that share a launch together, and say which those are."""
    graphs = [op for op in block.ops if isinstance(op, kernel.GraphDefinedOp)]
    candidates = fusion_candidates(graphs, [_common(graph, target) for graph in graphs])
    ordered: dict[Operation, None] = {}
    for launch in joint_launches(candidates, target):
        for place, number in enumerate(launch):
            _append(graphs[number], ordered)
            if place > 0:
                schedule = graphs[number].schedule
                graphs[number].schedule = replace(schedule, joins_launch=True)
    for op in block.ops:
        _append(op, ordered)
    for op in ordered:
        op.detach()
        block.add_op(op)


def _common(graph: kernel.GraphDefinedOp, target: Target) -> tuple[int, int, bool]:
    """What all blocks of a launch have in common: threads, blocks of a cluster, producers."""
    threads = launched_threads(graph, target)
    return threads, prod(cluster_sizes(graph)), has_producer(graph, target)


def _append(op: Operation, ordered: dict[Operation, None]) -> None:
    """Put `op` behind what is `ordered` already, with the views that it reads in front of it."""
    for operand in op.operands:
        if isinstance(operand.owner, VIEWS):
            _append(operand.owner, ordered)
    ordered.setdefault(op)
