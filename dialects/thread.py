"""
The `thread` dialect: chains of elementwise operators that each thread runs in its registers.

    %y = thread.graph ins(%a, %b) {
    ^bb0(%x: f32, %z: f16):
      %w = arith.extf %z : f16 to f32
      %s = arith.addf %x, %w : f32
      thread.store %s : f32
    } : (!threadblock.tile<16x48xf32>, !threadblock.tile<1x48xf16>) -> !threadblock.tile<16x48xf32>

Source: Wu et al., "Mirage: A Multi-Level Superoptimizer for Tensor Programs" (OSDI 2025), whose
thread graphs these are.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasParent, IsolatedFromAbove, MemoryWriteEffect, NoTerminator, Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import FloatConstr, i64_array_parameter
from mirage_mlir.dialects.threadblock import TileConstr, shape_of, tile_type
from mirage_mlir.shapes.shapes import ShapeError, broadcast_to, format_shape

SCALAR_DIALECTS = ("arith", "math")
"""Whose operations a thread graph may hold."""


@irdl_op_definition
class GraphOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    The function of scalars in `body`, for each element of the results.

    Block argument i is an element of operand i, in its element type; operands broadcast to the
    results, which have one shape. `thread.store` number i makes result i.

    With `merges` the lowering has inserted it: it rescales partial sums of warps, relative to row
    maxima of their own, to the row maxima of the block. `stream` is a number and a count: thread
    graphs of one stream, and the stores of their results, are computed together, so many elements
    of a thread at a time.
    """

    name = "thread.graph"

    inputs = var_operand_def(TileConstr)
    merges = opt_prop_def(UnitAttr)
    stream = opt_prop_def(i64_array_parameter("stream"))
    body = region_def("single_block")
    outputs = var_result_def(TileConstr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure(), NoTerminator(), IsolatedFromAbove())
    assembly_format = (
        "`ins` `(` $inputs `)` attr-dict-with-keyword $body `:` functional-type($inputs, $outputs)"
    )

    def __init__(self, inputs: Sequence[SSAValue], result_types: Sequence[Attribute], body: Region):
        super().__init__(operands=[inputs], result_types=[result_types], regions=[body])

    @property
    def stores(self) -> tuple[StoreOp, ...]:
        """The operations that make the results, in their order."""
        return tuple(op for op in self.body.block.ops if isinstance(op, StoreOp))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from mirage_mlir.passes.patterns.thread import DropIdentityGraph

        return (DropIdentityGraph(),)

    def verify_(self) -> None:
        self._verify_shapes()
        self._verify_arguments()
        for op in self.body.block.ops:
            self._verify_body_op(op)
        self._verify_stores()
        if self.stream is not None:
            numbers = self.stream.get_values()
            if len(numbers) != 2 or numbers[0] < 0 or numbers[1] < 1:
                raise invalid(self, f"has stream {list(numbers)}, not its number and a count")

    def _verify_shapes(self) -> None:
        if not self.outputs:
            raise invalid(self, "has no result")
        shape = shape_of(self.outputs[0])
        for index, output in enumerate(self.outputs):
            if (got := shape_of(output)) != shape:
                sizes = f"{format_shape(got)}, result 0 {format_shape(shape)}"
                raise invalid(self, f"result {index} has shape {sizes}")
        for index, value in enumerate(self.inputs):
            try:
                broadcast_to(shape_of(value), shape)
            except ShapeError as error:
                raise invalid(self, f"operand {index}: {error}") from error

    def _verify_arguments(self) -> None:
        args = self.body.block.args
        if len(args) != len(self.inputs):
            raise invalid(self, f"has {len(self.inputs)} operands but {len(args)} block arguments")
        for index, (arg, value) in enumerate(zip(args, self.inputs, strict=True)):
            if arg.type != (expected := tile_type(value).element_type):
                raise invalid(
                    self,
                    f"block argument {index} must be {expected} like operand {index}, "
                    f"got {arg.type}",
                )

    def _verify_body_op(self, op: Operation) -> None:
        if not isinstance(op, StoreOp) and op.dialect_name() not in SCALAR_DIALECTS:
            raise invalid(op, "is not an operation on scalars of a thread graph")

    def _verify_stores(self) -> None:
        if len(self.stores) != len(self.outputs):
            raise invalid(
                self, f"has {len(self.outputs)} results but stores {len(self.stores)} values"
            )
        for index, (store, output) in enumerate(zip(self.stores, self.outputs, strict=True)):
            if store.value.type != (expected := tile_type(output).element_type):
                raise invalid(
                    store, f"stores {store.value.type} to result {index} of {expected} elements"
                )


@irdl_op_definition
class StoreOp(IRDLOperation):
    """The element of a result: store number i makes result i."""

    name = "thread.store"

    value = operand_def(FloatConstr)

    # No terminator and never dead: it is what a thread graph computes.
    traits = lazy_traits_def(lambda: (MemoryWriteEffect(), HasParent(GraphOp)))
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])


Thread = Dialect("thread", [GraphOp, StoreOp])
