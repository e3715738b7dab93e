"""The `compute-indices` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import dce

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.analysis.index_formulas import (
    FormulaPart,
    IndexSum,
    is_formula,
    part_of,
    parts_of,
    places_of,
)
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.patterns.scalar import RULES
from mirage_mlir.shapes.tile_extents import REPLICATED

OPERATORS = {**threadblock.UNARY, **threadblock.BINARY, **threadblock.TERNARY}
"""The elementwise operators on tiles, by mnemonic."""


def compute_indices(graph: kernel.GraphDefinedOp) -> None:
    """Compute what is loaded of formulas of indices, and leave out the inputs that these are."""
    for op in list(graph.body.block.ops):
        if isinstance(op, threadblock.LoadOp) and is_formula(view_of(op.source).root):
            if not is_formula(_outside(op.source)):
                fail(op, "loads indices in another shape, whose dims are not sums of theirs")
            TileFormula(op).run()
    for argument in reversed(graph.body.block.args):
        if not argument.uses and is_formula(_outside(argument)):
            graph.operands = [v for n, v in enumerate(graph.operands) if n != argument.index]
            graph.body.block.erase_arg(argument)


def _outside(argument: SSAValue) -> SSAValue:
    """The value of the function that an argument of a graph is."""
    assert isinstance(argument, BlockArgument)
    graph = argument.owner.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    return graph.inputs[argument.index]


class TileFormula:
    """Writes what computes the tile of one load, in front of it."""

    def __init__(self, load: threadblock.LoadOp) -> None:
        self.load = load
        self.value = _outside(load.source)
        self.sizes = kernel.shape_of(self.value)
        self.tile = threadblock.shape_of(load.result)

    def run(self) -> None:
        """Put it in the place of the load."""
        load, kind = self.load, threadblock.tile_type(self.load.result)
        whole = part_of(self.value, places_of(self.sizes))
        tiles: dict[FormulaPart, SSAValue] = {}
        for part, operands in parts_of(whole):
            tiles[part] = self.insert(self._tile(part, [tiles[each] for each in operands]))
        made = tiles[whole]
        copied = self.insert(threadblock.BroadcastOp(made, kind))
        # Only elementwise code computes indices where it needs them; others read the copy.
        is_all = threadblock.shape_of(made) == self.tile
        load.result.replace_uses_with_if(made, lambda use: is_all and type(use.operation) in RULES)
        load.result.replace_all_uses_with(copied)
        load.detach()
        load.erase()

    def insert(self, op: Operation) -> SSAValue:
        """Write an operation; its result."""
        block = self.load.parent_block()
        assert block is not None
        op.location = self.load.location
        block.insert_op_before(op, self.load)
        return op.results[0]

    def _tile(self, part: FormulaPart, operands: list[SSAValue]) -> Operation:
        """What makes the tile of a part, along the dimensions of all of the formula."""
        op = part.op
        if isinstance(op, kernel.IotaOp):
            return self._indices(part.places[op.dim.value.data])
        if isinstance(op, kernel.ConstantOp):
            number = TileType([1] * len(self.sizes), f32)
            return threadblock.ConstantOp(op.value.value.data, number)
        shape = tuple(map(max, zip(*map(threadblock.shape_of, operands), strict=True)))
        return OPERATORS[op.name.partition(".")[2]].create(
            operands=operands,
            properties=dict(op.properties),
            result_types=[TileType(shape, f32)],
        )

    def _indices(self, place: IndexSum) -> threadblock.IotaOp:
        """Indices along one dimension of a tensor; along dimensions without a stride there is 1."""
        strides = dict(place.terms)
        used = [strides.get(dim, 0) != 0 for dim in range(len(self.sizes))]
        grid_map, loop_map = (
            [dim if dim < 0 or used[dim] else REPLICATED for dim in each.get_values()]
            for each in (self.load.grid_map, self.load.loop_map)
        )
        return threadblock.IotaOp(
            [size if each else 1 for size, each in zip(self.sizes, used, strict=True)],
            [strides.get(dim, 0) for dim in range(len(self.sizes))],
            place.start,
            grid_map,
            loop_map,
            TileType([n if each else 1 for n, each in zip(self.tile, used, strict=True)], f32),
        )


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

    What is loaded may be a formula: a comparison of indices, a mask that several of them make.
    Its operators then are operators on tiles here, and its views the strides of `threadblock.iota`.
    Behind this pass no kernel reads a tensor that follows from indices alone.
    """

    name = "compute-indices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every `kernel.graph_defined` of the module."""
        for graph in [each for each in op.walk() if isinstance(each, kernel.GraphDefinedOp)]:
            compute_indices(graph)
        dce(op)
