"""
The `kernel` dialect: operators on tensors in device memory, and those defined by a block graph.

    %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x4096xf16>) -> tensor<16x4096xf16>
    %o = kernel.matmul %y, %w : (tensor<16x4096xf16>, tensor<4096x64xf16>) -> tensor<16x64xf16>

Tensors have static shapes and elements of type f16, bf16 or f32 (`cast` takes f8E4M3FN and f8E5M2
too); an operator has one element type, except `cast` and the result of `matmul`. A function
argument with the attribute `kernel.constant` never changes between calls. The attribute
`kernel.target` of a module names the GPU (see `target`), `kernel.implements` of a function the
program that it claims to compute (see `candidate`).

Source: Wu et al., "Mirage: A Multi-Level Superoptimizer for Tensor Programs" (OSDI 2025), whose
kernel graphs these are.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Dialect, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.bases import ConstantBase, MatmulBase, verify_static
from mirage_mlir.dialects.candidate import AlternativeAttr, CandidateAttr, UnverifiedAttr
from mirage_mlir.dialects.common import (
    ELEMENT_TYPE,
    I64ArrayConstr,
    i64_array,
    i64_attr,
    i64_parameter,
)
from mirage_mlir.dialects.elementwise import classes_of_rows
from mirage_mlir.dialects.interface import InterfaceAttr, PackingAttr, TensorMapAttr
from mirage_mlir.dialects.kernel_bases import (
    AlongDimOp,
    InputOp,
    ReductionOp,
    TensorConstr,
    TensorOp,
    UnaryOp,
    shape_of,
)
from mirage_mlir.dialects.kernel_bases import BinaryOp as BinaryOp
from mirage_mlir.dialects.kernel_bases import tensor_type as tensor_type
from mirage_mlir.dialects.kernel_elementwise import (
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
from mirage_mlir.dialects.kernel_norms import LayerNormOp, RmsNormOp
from mirage_mlir.dialects.kernel_norms import NormOp as NormOp
from mirage_mlir.dialects.launch import LaunchAttr, WorkspaceAttr
from mirage_mlir.dialects.rearrangement_bases import (
    BroadcastBase,
    ConcatBase,
    RepetitionBase,
    SliceBase,
    TransposeBase,
)
from mirage_mlir.dialects.schedule import BlockMemory, MemoryAttr, Schedule, ScheduleAttr
from mirage_mlir.dialects.target_attribute import TargetAttr
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape

CONSTANT = "kernel.constant"
"""The attribute of a function argument that never changes between calls."""


@irdl_op_definition
class MatmulOp(MatmulBase, TensorOp):
    """
    `result[..., i, j] = sum_k lhs[..., i, k] * rhs[..., k, j]`; the leading dimensions broadcast.

    Shapes: lhs `... x M x K`, rhs `... x K x N`, result `... x M x N`. The result may have another
    element type than the operands.
    """

    name = "kernel.matmul"

    lhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    rhs = operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorConstr)


@irdl_op_definition
class ReduceSumOp(ReductionOp):
    """The sum over `dims`."""

    name = "kernel.reduce_sum"


@irdl_op_definition
class ReduceMaxOp(ReductionOp):
    """The maximum over `dims`."""

    name = "kernel.reduce_max"


@irdl_op_definition
class ReduceMeanOp(ReductionOp):
    """The arithmetic mean over `dims`."""

    name = "kernel.reduce_mean"


@irdl_op_definition
class CumsumOp(AlongDimOp):
    """
    `result[..., i, ...] = sum_{j <= i} input[..., j, ...]` along `dim`: inclusive prefix sums.

    Sums are in f32, and rounded to the element type once.
    """

    name = "kernel.cumsum"


@irdl_op_definition
class SoftmaxOp(AlongDimOp):
    """`e^x` divided by its sum over `dim`."""

    name = "kernel.softmax"


@irdl_op_definition
class TransposeOp(TransposeBase, InputOp):
    """Dimension i of the result is dimension `permutation[i]` of the input."""

    name = "kernel.transpose"


@irdl_op_definition
class ReshapeOp(InputOp):
    """The same elements, last dimension running fastest, in another shape."""

    name = "kernel.reshape"

    def __init__(self, input: SSAValue, result_type: Attribute):
        super().__init__(operands=[input], result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shapes.reshape(shape_of(self.input), shape_of(self.result))


@irdl_op_definition
class BroadcastOp(BroadcastBase, InputOp):
    """The input repeated along its dimensions of size 1 and along new leading ones (numpy)."""

    name = "kernel.broadcast"


class RepetitionOp(RepetitionBase, InputOp, ABC):
    """The input `times` times along `dim`."""


@irdl_op_definition
class RepeatOp(RepetitionOp):
    """The whole again and again: element i along `dim` is element `i mod n` of the input."""

    name = "kernel.repeat"


@irdl_op_definition
class RepeatInterleaveOp(RepetitionOp):
    """Each element several times: element i along `dim` is element `i div times` of the input."""

    name = "kernel.repeat_interleave"


@irdl_op_definition
class SliceOp(SliceBase, InputOp):
    """
    Element i of dimension d is element `offsets[d] + i * strides[d]` of the input.

    Dimension d of the result has `sizes[d]` elements.
    """

    name = "kernel.slice"


@irdl_op_definition
class ConcatOp(ConcatBase, TensorOp):
    """The inputs one after the other along `dim`."""

    name = "kernel.concat"

    inputs = var_operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorType.constr(ELEMENT_TYPE))


@irdl_op_definition
class ConstantOp(ConstantBase, TensorOp):
    """A tensor whose elements are all `value`, a number or -inf, which is `0xFF800000 : f32`."""

    name = "kernel.constant"

    result = result_def(TensorConstr)


@irdl_op_definition
class IotaOp(TensorOp):
    """
    Each element is its index along `dim`, a number of the element type.

    An iota whose largest index the element type cannot represent is refused: f16 has whole numbers
    up to 2048, bf16 up to 256, f32 up to 2^24.
    """

    name = "kernel.iota"

    dim = prop_def(i64_parameter("dim"))
    result = result_def(TensorConstr)

    assembly_format = "attr-dict `:` type(results)"

    def __init__(self, dim: int, result_type: Attribute):
        super().__init__(properties={"dim": i64_attr(dim)}, result_types=[result_type])

    def inferred_shape(self) -> Shape:
        shape = shape_of(self.result)
        shapes.check_dim(self.dim.value.data, len(shape))
        return shape

    def verify_(self) -> None:
        super().verify_()
        element = tensor_type(self.result).element_type
        most = 1 << (FORMATS[element.name].mantissa_bits + 1)
        if (size := shape_of(self.result)[self.dim.value.data]) - 1 > most:
            raise invalid(self, f"has indices up to {size - 1}, and {element} counts to {most}")


@irdl_op_definition
class GraphDefinedOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    One kernel: the threadblock graph in `body`, run by each block of a grid.

    `grid` has the blocks along x, y, z; `loop` the iterations of up to two nested loops, outermost
    first; `cluster` the blocks along each axis that may see each other's shared memory. `schedule`
    and `memory` are decisions of the passes of the lowering. The block arguments are the inputs;
    `threadblock.store` number i writes result i.

        %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
        ^bb0(%a: tensor<64x64xf16>):
          ...
        } : (tensor<64x64xf16>) -> tensor<64x1xf32>
    """

    name = "kernel.graph_defined"

    inputs = var_operand_def(TensorConstr)
    grid = prop_def(I64ArrayConstr)
    cluster = opt_prop_def(I64ArrayConstr)
    loop = opt_prop_def(I64ArrayConstr)
    schedule_attr = opt_prop_def(ScheduleAttr, prop_name="schedule")
    memory_attr = opt_prop_def(MemoryAttr, prop_name="memory")
    body = region_def("single_block")
    outputs = var_result_def(TensorConstr)

    traits = traits_def(Pure(), NoTerminator(), IsolatedFromAbove())
    assembly_format = (
        "`ins` `(` $inputs `)` `grid` $grid (`cluster` $cluster^)? (`loop` $loop^)? "
        "(`schedule` $schedule^)? (`memory` $memory^)? "
        "attr-dict-with-keyword $body `:` functional-type($inputs, $outputs)"
    )

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        grid: Sequence[int],
        loop: Sequence[int],
        result_types: Sequence[Attribute],
        body: Region,
        cluster: Sequence[int] = (),
    ):
        properties: dict[str, Attribute] = {"grid": i64_array(grid)}
        if loop:
            properties["loop"] = i64_array(loop)
        if cluster:
            properties["cluster"] = i64_array(cluster)
        super().__init__(
            operands=[inputs], properties=properties, result_types=[result_types], regions=[body]
        )

    @property
    def grid_sizes(self) -> tuple[int, ...]:
        """The blocks along each axis of the grid."""
        return self.grid.get_values()

    @property
    def cluster_sizes(self) -> tuple[int, ...]:
        """The blocks of a cluster along each axis of the grid; empty without clusters."""
        return () if self.cluster is None else self.cluster.get_values()

    @property
    def loop_sizes(self) -> tuple[int, ...]:
        """The iterations of each loop, outermost first; empty without a loop."""
        return () if self.loop is None else self.loop.get_values()

    @property
    def schedule(self) -> Schedule:
        """How a block runs the kernel, as far as passes have decided that."""
        return Schedule() if self.schedule_attr is None else self.schedule_attr.schedule

    @schedule.setter
    def schedule(self, schedule: Schedule) -> None:
        self.schedule_attr = ScheduleAttr.of(schedule)

    @property
    def memory(self) -> BlockMemory:
        """Where the kernel's memory lies, once `plan-memory` has placed it."""
        return BlockMemory() if self.memory_attr is None else self.memory_attr.plan

    @memory.setter
    def memory(self, plan: BlockMemory) -> None:
        self.memory_attr = MemoryAttr.of(plan)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from mirage_mlir.passes.patterns.kernel import DropUnusedInputs

        return (DropUnusedInputs(),)

    def verify_(self) -> None:
        from mirage_mlir.dialects.graph_rules import verify_graph

        verify_static(self)
        verify_graph(self)


BINARY_OPS = [AddOp, SubOp, MulOp, DivOp, MaxOp, MinOp, CompareOp]
TERNARY_OPS = [SelectOp]
FUNCTION_OPS = [ExpOp, LogOp, SquareOp, SqrtOp, RsqrtOp, SigmoidOp, SiluOp, ReluOp, TanhOp]
PARAMETRIC_OPS = [GeluOp, ClampOp, PowOp, ScaleOp, CastOp]
ROW_OPS = classes_of_rows("kernel", UnaryOp, [*FUNCTION_OPS, *PARAMETRIC_OPS])
"""The elementwise operators whose classes are made from their rows, by mnemonic."""
REDUCTION_OPS = [ReduceSumOp, ReduceMaxOp, ReduceMeanOp, CumsumOp]
NORM_OPS = [RmsNormOp, LayerNormOp, SoftmaxOp]
REPETITION_OPS = [BroadcastOp, RepeatOp, RepeatInterleaveOp]
REARRANGING_OPS = [TransposeOp, ReshapeOp, SliceOp, ConcatOp]

Kernel = Dialect(
    "kernel",
    [
        *(*BINARY_OPS, *TERNARY_OPS, *FUNCTION_OPS, *PARAMETRIC_OPS, *ROW_OPS.values()),
        *(*REDUCTION_OPS, *NORM_OPS),
        *(*REPETITION_OPS, *REARRANGING_OPS),
        *(MatmulOp, ConstantOp, IotaOp, GraphDefinedOp),
    ],
    [
        *(TargetAttr, CandidateAttr, AlternativeAttr, UnverifiedAttr),
        *(LaunchAttr, WorkspaceAttr, InterfaceAttr, TensorMapAttr, PackingAttr),
    ],
)
