"""The `pack-constants` pass."""

from dataclasses import dataclass, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from mirage_mlir.constant_inputs import constant_inputs
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.passes.analysis.buffers import is_staged
from mirage_mlir.passes.analysis.packing import packing_of
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import cut_axes
from mirage_mlir.passes.frontend.check import is_compiled
from mirage_mlir.passes.graph_pass import TargetPass
from mirage_mlir.targets.target import Target


@dataclass(frozen=True)
class PackConstantsPass(TargetPass):
    """
    Let kernels read constant inputs from packed copies, which hold one tile after the other.

    Input, where %w is a constant input and a producer copies the loop's tiles:
        %t = threadblock.load %wa grid_map [1] loop_map [0] {copy = "tensor", ...} : ...

    Output:
        %t = threadblock.load %wa grid_map [1] loop_map [0] {copy = "tensor", packed, ...} : ...

    A call makes the copies, or takes those of an earlier call; the interface of the lowered module
    describes them. Loads of other tiles, and without tensor copies, stay as they are.

    Fails on a module for another target.
    """

    name = "pack-constants"

    def run(self, module: ModuleOp, target: Target) -> None:
        """Visit every function of kernels."""
        for function in module.walk():
            if isinstance(function, func.FuncOp) and is_compiled(function):
                _pack(function)


def _pack(function: func.FuncOp) -> None:
    """Mark the loads of a function's constants; all that a producer makes are tensor copies."""
    arguments = function.body.block.args
    constants = {arguments[number] for number in constant_inputs(function)}
    for graph in function.body.block.ops:
        if isinstance(graph, kernel.GraphDefinedOp) and graph.schedule.producer_warps > 0:
            for op in graph.body.block.ops:
                if is_staged(op) and view_of(op.source).root in constants and packing_of(op):
                    _unshift(graph, op)
                    op.packed = UnitAttr()


def _unshift(graph: kernel.GraphDefinedOp, op: threadblock.LoadOp) -> None:
    """Let tiles of a packed copy, which has zeros behind the tensor, start where they did."""
    cut = cut_axes(op)
    axes = tuple(axis for axis in graph.schedule.shifted_axes if axis not in cut)
    graph.schedule = replace(graph.schedule, shifted_axes=axes)
