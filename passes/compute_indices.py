"""The `compute-indices` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import dce

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.frontend.normalise import spread_indices
from mirage_mlir.passes.patterns.scalar import RULES


def compute_indices(graph: kernel.GraphDefinedOp) -> None:
    """Replace the loads of indices by `threadblock.iota`, and leave out inputs of indices."""
    for op in list(graph.body.block.ops):
        if isinstance(op, threadblock.LoadOp):
            _compute(op)
    for argument in reversed(graph.body.block.args):
        if not argument.uses and _is_of_indices(argument):
            graph.body.block.erase_arg(argument)
            graph.operands = [v for n, v in enumerate(graph.operands) if n != argument.index]


def _is_of_indices(argument: BlockArgument) -> bool:
    return isinstance(view_of(argument).root.owner, kernel.IotaOp)


def _compute(op: threadblock.LoadOp) -> None:
    """Replace a load of indices; any other stays."""
    view, block = view_of(op.source), op.parent_block()
    if not isinstance(view.root.owner, kernel.IotaOp) or block is None:
        return
    tile = threadblock.tile_type(op.result)
    maps = op.grid_map.get_values(), op.loop_map.get_values()
    indices = threadblock.IotaOp(
        view.shape, view.strides, view.offset, *maps, TileType(tile.get_shape(), f32)
    )
    # Only elementwise code computes indices where it needs them; others read a tile of their own.
    copied = threadblock.BroadcastOp(indices.result, tile)
    for made in (indices, copied):
        made.location = op.location
        block.insert_op_before(made, op)
    exact = tile.element_type == f32
    op.result.replace_uses_with_if(
        indices.result, lambda use: exact and type(use.operation) in RULES
    )
    op.result.replace_all_uses_with(copied.result)
    op.detach()
    op.erase()
    if not copied.result.uses:
        copied.detach()
        copied.erase()


@dataclass(frozen=True)
class ComputeIndicesPass(ModulePass):
    """
    Compute tiles of indices in the kernels that need them, instead of loading them.

    Input:
        %n = kernel.iota {dim = 0 : i64} : tensor<2048xf32>
        %o = kernel.graph_defined ins(%n, %x) grid [16] loop [32] {
        ^bb0(%0: tensor<2048xf32>, %1: tensor<2048xf16>):
          %i = threadblock.load %0 grid_map [_] loop_map [0] : (...) -> !threadblock.tile<64xf32>
          ...
        }

    Output:
        %o = kernel.graph_defined ins(%x) grid [16] loop [32] {
        ^bb0(%1: tensor<2048xf16>):
          %i = threadblock.iota of [2048] strides [1] grid_map [_] loop_map [0]
                 : !threadblock.tile<64xf32>
          ...
        }

    Views of indices are views here, too: their sizes, strides and first element are those of the
    tile. Behind this pass no kernel reads a `kernel.iota`.
    """

    name = "compute-indices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every `kernel.graph_defined` of the module."""
        spread_indices(op)
        graphs = [each for each in op.walk() if isinstance(each, kernel.GraphDefinedOp)]
        for graph in graphs:
            compute_indices(graph)
        dce(op)
