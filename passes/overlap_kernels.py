"""The `overlap-kernels` pass."""

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from mirage_mlir.decisions.overlap import concurrent_kernels
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.passes.analysis.kernel_groups import overlap_candidates
from mirage_mlir.passes.analysis.tensor_views import VIEWS
from mirage_mlir.targets.target import Target, require_known


@dataclass(frozen=True)
class OverlapKernelsPass(ModulePass):
    """
    Let kernels that do not depend on each other run at the same time.

    Input, two products of a tensor that a kernel makes, one of them in two kernels:
        %n = kernel.graph_defined ins(%x) grid [16] { ... } : ...
        %p = kernel.graph_defined ins(%n, %a) grid [32] loop [8] { ... } : ...
        %k = kernel.graph_defined ins(%p) grid [64] { ... } : ...
        %q = kernel.graph_defined ins(%n, %b) grid [64] loop [32] { ... } : ...

    Output:
        %n = kernel.graph_defined ins(%x) grid [16] { ... } : ...
        %p = kernel.graph_defined ins(%n, %a) grid [32] loop [8] { ... } : ...
        %q = kernel.graph_defined ins(%n, %b) grid [64] loop [32] schedule <beside_previous> { ... }
        %k = kernel.graph_defined ins(%p) grid [64] { ... } : ...

    Kernels that read nothing of each other stand together, and each but the first runs beside the
    previous one. Its blocks start where that leaves room, and no multiprocessor waits for the last
    block of a kernel: what is called horizontal fusion, without the registers, shared memory and
    clusters of one kernel for all. That is so on targets where a kernel may start before the
    previous grid has ended (programmatic dependent launch); for others nothing changes.

    Functions that do more than launch kernels stay as they are.

    Fails on a module for another target.
    """

    name = "overlap-kernels"

    target: str | None = None
    """The GPU, or its instruction set; if not given the module's `kernel.target`, or else H200."""

    def __post_init__(self) -> None:
        require_known(self.target)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Visit every function of the module."""
        target = settle_target(op, self.target, self.name)
        for function in op.walk():
            if isinstance(function, func.FuncOp) and _launches_kernels(function):
                _overlap(function.body.block, target)


def _launches_kernels(function: func.FuncOp) -> bool:
    """Whether a function does nothing but launch several kernels, on views of its tensors."""
    if len(function.body.blocks) != 1:
        return False
    operations = [op for op in function.body.block.ops if not isinstance(op, func.ReturnOp)]
    graphs = [op for op in operations if isinstance(op, kernel.GraphDefinedOp)]
    expected = (kernel.GraphDefinedOp, *VIEWS)
    return len(graphs) > 1 and all(isinstance(op, expected) for op in operations)


def _overlap(block: Block, target: Target) -> None:
    """Bring kernels of `block` that can overlap together, and say which those are."""
    graphs = [op for op in block.ops if isinstance(op, kernel.GraphDefinedOp)]
    ordered: dict[Operation, None] = {}
    for group in concurrent_kernels(overlap_candidates(graphs), target):
        for place, number in enumerate(group):
            _append(graphs[number], ordered)
            if place > 0:
                schedule = graphs[number].schedule
                graphs[number].schedule = replace(schedule, beside_previous=True)
    for op in block.ops:
        _append(op, ordered)
    for op in ordered:
        op.detach()
        block.add_op(op)


def _append(op: Operation, ordered: dict[Operation, None]) -> None:
    """Put `op` behind what is `ordered` already, with the views that it reads in front of it."""
    for operand in op.operands:
        if isinstance(operand.owner, VIEWS):
            _append(operand.owner, ordered)
    ordered.setdefault(op)
