"""
The `threadblock` dialect: operators on tiles, run by each block of a grid.

    %t = threadblock.load %x grid_map [_] loop_map [1]
           : (tensor<16x4096xf16>) -> !threadblock.tile<16x64xf16>
    %q = threadblock.square %t : (!threadblock.tile<16x64xf16>) -> !threadblock.tile<16x64xf32>
    %a = threadblock.accumulate %q : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
    threadblock.store %a grid_map [0] : !threadblock.tile<16x64xf32>

Every operator computes in f32 and rounds to the element type of its result, which is free. It
ranges over the valid elements of its tiles only: the last tiles of a dimension may be ragged or
empty. Rules that concern a whole graph are in `graph_rules`.

Source: Wu et al., "Mirage: A Multi-Level Superoptimizer for Tensor Programs" (OSDI 2025), whose
block graphs these are; `across`, `rescale`, clusters and ragged tiles are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from xdsl.dialects.builtin import StringAttr, UnitAttr, f32
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    MessageConstraint,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import HasParent, Pure

from mirage_mlir.diagnostics import fail, invalid
from mirage_mlir.dialects.bases import ConstantBase, MatmulBase
from mirage_mlir.dialects.common import (
    ELEMENT_TYPE,
    I64ArrayConstr,
    i64_array,
    i64_array_parameter,
    i64_parameter,
    string_parameter,
)
from mirage_mlir.dialects.elementwise import classes_of_rows
from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.layout import (
    ConvertLayoutOp,
    GlobalAttr,
    IndicesAttr,
    RegistersAttr,
    SharedAttr,
    verify_batched,
)
from mirage_mlir.dialects.loop_bounds import LoopBoundsAttr, UnmaskedAttr
from mirage_mlir.dialects.pipeline import SCHEDULE_OPS
from mirage_mlir.dialects.rearrangement_bases import BroadcastBase, ConcatBase, TransposeBase
from mirage_mlir.dialects.schedule import MemoryAttr, OverlapAttr, ScheduleAttr, SharedBufferAttr
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.dialects.threadblock_bases import (
    BinaryOp,
    ReductionOp,
    TileConstr,
    TileOp,
    TileType,
    UnaryOp,
    ViewOp,
    shape_of,
)
from mirage_mlir.dialects.threadblock_bases import tile_type as tile_type
from mirage_mlir.dialects.threadblock_copies import ASYNC_COPY as ASYNC_COPY
from mirage_mlir.dialects.threadblock_copies import REALIGNED_COPY as REALIGNED_COPY
from mirage_mlir.dialects.threadblock_copies import TENSOR_COPY as TENSOR_COPY
from mirage_mlir.dialects.threadblock_copies import THREAD_COPY as THREAD_COPY
from mirage_mlir.dialects.threadblock_copies import WINDOW_COPY as WINDOW_COPY
from mirage_mlir.dialects.threadblock_copies import LoadOp, StoreOp
from mirage_mlir.dialects.threadblock_copies import is_cut_twice as is_cut_twice
from mirage_mlir.dialects.threadblock_elementwise import (
    AddOp,
    CastOp,
    ClampOp,
    CompareOp,
    DivOp,
    ExpOp,
    GeluOp,
    LogOp,
    MaxOp,
    MinOp,
    MulOp,
    PowOp,
    ReluOp,
    RsqrtOp,
    ScaleOp,
    SelectOp,
    SigmoidOp,
    SiluOp,
    SqrtOp,
    SquareOp,
    SubOp,
    TanhOp,
)
from mirage_mlir.dialects.threadblock_indices import IotaOp
from mirage_mlir.shapes.shapes import format_shape
from mirage_mlir.shapes.tile_extents import REPLICATED


@irdl_op_definition
class AccumulateOp(IRDLOperation):
    """
    The sum of the values of all iterations, and of all blocks along the grid axes `across`.

    With `kind = "max"` it is their maximum.

    Elements that are not valid in an iteration or block add nothing. Every block along `across`
    sees the total. A value from after the loop is only combined across blocks.

    With `rescale` the value of iteration or block i was computed relative to a row
    maximum m_i, and the result is `sum_i value_i * exp(m_i - max_j m_j)`.

    The lowering decides how blocks add up their partial sums: in a cluster, or through a workspace.
    In a workspace, `partial_sum` is the number of the `threadblock.store_partial_sum` that stores
    the block's. A maximum with `state` is the online row maximum of rescaled sums.
    """

    name = "threadblock.accumulate"

    value = operand_def(TileConstr)
    rescale = opt_operand_def(TileConstr)
    kind = prop_def(string_parameter("kind", "max"), default_value=StringAttr("sum"))
    across = prop_def(I64ArrayConstr, default_value=i64_array(()))
    partial_sum = opt_prop_def(i64_parameter("partial_sum"))
    state = opt_prop_def(UnitAttr)
    result = result_def(TileType.constr(MessageConstraint(f32, "accumulators are f32")))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure(), HasParent(GraphDefinedOp))
    assembly_format = (
        "$value (`across` $across^)? (`rescale` $rescale^)? "
        "attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        value: SSAValue,
        kind: str = "sum",
        across: Sequence[int] = (),
        rescale: SSAValue | None = None,
    ):
        super().__init__(
            operands=[value, rescale],
            properties={"kind": StringAttr(kind), "across": i64_array(across)},
            result_types=[TileType(shape_of(value), f32)],
        )

    def verify_(self) -> None:
        if (kind := self.kind.data) not in ("sum", "max"):
            raise invalid(self, f'has kind "{kind}", which is neither "sum" nor "max"')
        if (got := shape_of(self.result)) != (expected := shape_of(self.value)):
            sizes = f"{format_shape(expected)}, got {format_shape(got)}"
            raise invalid(self, f"result shape must be {sizes}")
        if self.state is not None and kind != "max":
            raise invalid(self, 'is the state of an online softmax, which takes kind = "max"')
        if self.partial_sum is not None:
            self._verify_partial_sum(self.partial_sum.value.data)

    def _verify_partial_sum(self, number: int) -> None:
        if not self.across.get_values():
            raise invalid(self, f"is partial sum {number}, and sums across no blocks")
        graph = self.parent_op()
        assert isinstance(graph, GraphDefinedOp), "checked by a trait"
        if not graph.schedule.sums_in_workspace:
            raise invalid(self, f"is partial sum {number} of a graph without sums_in_workspace")
        stores = [op for op in graph.walk() if isinstance(op, StorePartialSumOp)]
        own = [op for op in stores if op.number.value.data == number]
        if len(own) != 1 or not 0 <= number < len(stores):
            raise invalid(self, f"is partial sum {number}, which {len(own)} operations store")
        if tuple(own[0].operands) != tuple(self.operands):
            raise invalid(self, f"is partial sum {number}, and what is stored as that is another")


WGMMA = "wgmma"
"""The `mma` of a matmul that warpgroups compute."""


@irdl_op_definition
class MatmulOp(MatmulBase, TileOp):
    """
    `result[..., i, j] = sum_k lhs[..., i, k] * rhs[..., k, j]`, added up in f32.

    Shapes: lhs `... x M x K`, rhs `... x K x N`, result `... x M x N`; leading dimensions
    broadcast. Both operands have one element type, that of the tensor core.

    The lowering decides how it is computed. `warps` has the numbers of warps along rows, columns
    and depth; with `mma = "wgmma"` these are warpgroups, and with `swapped` they compute the
    transpose, so that columns of the tile are rows of `wgmma`. With `lhs_in_registers` the left
    operand is loop-invariant, and stays in registers through the loop. With `chained` it is
    computed from another matmul's result, in the same registers. Matmuls of one `batched` group are
    one instruction: their left operands share a buffer, each from a line on. The last
    `interleaved_graphs` thread graphs that compute the left operand do not run where they stand:
    each piece of their result is computed while MMAs of the piece before run. A matmul that is
    `deferred` starts one iteration later, where `threadblock.start_deferred` stands.
    """

    name = "threadblock.matmul"

    lhs = operand_def(TileType.constr(ELEMENT_TYPE))
    rhs = operand_def(TileType.constr(ELEMENT_TYPE))
    mma = opt_prop_def(string_parameter("mma", WGMMA))
    warps = opt_prop_def(i64_array_parameter("warps"))
    swapped = opt_prop_def(UnitAttr)
    lhs_in_registers = opt_prop_def(UnitAttr)
    chained = opt_prop_def(UnitAttr)
    batched = opt_prop_def(i64_array_parameter("batched"))
    interleaved_graphs = opt_prop_def(i64_parameter("interleaved_graphs"))
    deferred = opt_prop_def(UnitAttr)
    result = result_def(TileConstr)

    def verify_(self) -> None:
        super().verify_()
        if self.mma is not None and self.mma.data != WGMMA:
            raise invalid(self, f'has mma "{self.mma.data}": "{WGMMA}" is the only one to ask for')
        if self.swapped is not None and self.mma is None:
            raise invalid(self, f'is swapped, which takes mma = "{WGMMA}"')
        if self.interleaved_graphs is not None and self.mma is None:
            raise invalid(self, f'has interleaved graphs, which takes mma = "{WGMMA}"')
        if self.deferred is not None and (self.mma is None or self.chained is None):
            raise invalid(self, f'is deferred, which takes a chained matmul with mma = "{WGMMA}"')
        counts = () if self.warps is None else self.warps.get_values()
        if self.warps is not None and (len(counts) != 3 or min(counts) < 1):
            raise invalid(self, f"has warps {list(counts)}, not counts along rows, columns, depth")
        if self.chained is not None and self.lhs_in_registers is not None:
            raise invalid(self, "is chained, so that its left operand is not loop-invariant")
        if self.batched is not None and self.swapped is None:
            raise invalid(self, "is batched, which takes a matmul that is swapped")
        verify_batched(self, self.batched)

    @property
    def warp_counts(self) -> tuple[int, int, int]:
        """Warps, or warpgroups, along rows, columns and depth; fails before `select-mma`."""
        if self.warps is None:
            fail(self, "has no warps; run select-mma first")
        down, across, deep = self.warps.get_values()
        return down, across, deep


@irdl_op_definition
class ReduceSumOp(ReductionOp):
    """The sum over `dims`."""

    name = "threadblock.reduce_sum"


@irdl_op_definition
class ReduceMaxOp(ReductionOp):
    """
    The maximum over `dims`.

    With `online_maximum`, which the lowering decides, it is the maximum of all iterations so far of
    each warp's elements: only rescaled sums use it, for which any upper bound is right.
    """

    name = "threadblock.reduce_max"

    online_maximum = opt_prop_def(UnitAttr)


@irdl_op_definition
class TransposeOp(TransposeBase, ViewOp):
    """Dimension i of the result is dimension `permutation[i]` of the input."""

    name = "threadblock.transpose"

    input = operand_def(TileConstr)
    result = result_def(TileConstr)


@irdl_op_definition
class BroadcastOp(BroadcastBase, ViewOp):
    """The input repeated along its dimensions of size 1 and along new leading ones (numpy)."""

    name = "threadblock.broadcast"

    input = operand_def(TileConstr)
    result = result_def(TileConstr)


@irdl_op_definition
class ConcatOp(ConcatBase, ViewOp):
    """The inputs one after the other along `dim`."""

    name = "threadblock.concat"

    inputs = var_operand_def(TileConstr)
    result = result_def(TileConstr)


@irdl_op_definition
class ConstantOp(ConstantBase, TileOp):
    """A tile whose elements are all `value`, however many of them are valid where it is used."""

    name = "threadblock.constant"

    result = result_def(TileConstr)


class Stage(Enum):
    """When a block computes a value."""

    INVARIANT = "invariant"
    """Once, before the loop, or in a graph without loops; it can still be used after the loop."""
    LOOP = "loop"
    """In every iteration anew."""
    POST = "post"
    """After the loop."""


def _stage(op: Operation, stages: dict[SSAValue, Stage]) -> Stage:
    """The stage of `op` from those of its operands; raises where these are never there together."""
    if isinstance(op, LoadOp | IotaOp):
        cut = any(dim != REPLICATED for dim in op.loop_map.get_values())
        return Stage.LOOP if cut else Stage.INVARIANT
    if isinstance(op, AccumulateOp):
        return Stage.POST
    found = {stages[value] for value in op.operands if value in stages}
    if {Stage.LOOP, Stage.POST} <= found:
        raise invalid(op, "mixes a value of the loop with one from after it")
    return next((s for s in (Stage.LOOP, Stage.POST) if s in found), Stage.INVARIANT)


def stages(graph: GraphDefinedOp) -> dict[SSAValue, Stage]:
    """
    The stage of every tile in `graph`.

    Raises:
        InvalidOperation: an operation needs values that are never there at the same time.
    """
    found: dict[SSAValue, Stage] = {}
    for op in graph.body.block.ops:
        stage = _stage(op, found)
        found.update((result, stage) for result in op.results)
    return found


GRAPH_OPS = [LoadOp, IotaOp, StoreOp, AccumulateOp]
BINARY_OPS = [AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp, CompareOp]
TERNARY_OPS = [SelectOp]
FUNCTION_OPS = [ExpOp, LogOp, SquareOp, SqrtOp, RsqrtOp, SigmoidOp, SiluOp, ReluOp, TanhOp]
PARAMETRIC_OPS = [GeluOp, ClampOp, PowOp, ScaleOp, CastOp]
ROW_OPS = classes_of_rows("threadblock", UnaryOp, [*FUNCTION_OPS, *PARAMETRIC_OPS])
"""The elementwise operators whose classes are made from their rows, by mnemonic."""
VIEW_OPS = [TransposeOp, BroadcastOp, ConcatOp]

UNARY: dict[str, type[UnaryOp]] = {
    op.name.partition(".")[2]: op for op in (*FUNCTION_OPS, *PARAMETRIC_OPS, *ROW_OPS.values())
}
"""The elementwise operators on one tile, by mnemonic."""

BINARY: dict[str, type[BinaryOp]] = {op.name.partition(".")[2]: op for op in BINARY_OPS}
"""The elementwise operators on two tiles, by mnemonic."""

TERNARY: dict[str, type[SelectOp]] = {op.name.partition(".")[2]: op for op in TERNARY_OPS}
"""The elementwise operators on three tiles, by mnemonic."""

Threadblock = Dialect(
    "threadblock",
    [
        *(*GRAPH_OPS, *BINARY_OPS, *TERNARY_OPS, *FUNCTION_OPS, *PARAMETRIC_OPS),
        *(*ROW_OPS.values(), *VIEW_OPS),
        *(MatmulOp, ReduceSumOp, ReduceMaxOp, ConstantOp, ConvertLayoutOp),
        *(*SCHEDULE_OPS, StorePartialSumOp),
    ],
    [
        *(TileType, RegistersAttr, SharedAttr, GlobalAttr, IndicesAttr),
        *(ScheduleAttr, MemoryAttr, OverlapAttr, SharedBufferAttr, LoopBoundsAttr),
        UnmaskedAttr,
    ],
)
