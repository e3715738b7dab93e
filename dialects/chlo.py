"""The operations of the `chlo` dialect that JAX's programs have, beside those of StableHLO."""

from __future__ import annotations

from xdsl.dialects.builtin import I1, IntegerAttr
from xdsl.ir import Dialect
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.bases import shape_of
from mirage_mlir.dialects.stablehlo_bases import INTEGER, TENSOR, TensorOp, UnaryOp, operations
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import ShapeError, format_shape

UNARY = {
    "erf": "The error function, elementwise.",
    "erfc": "`1 - erf(x)`, elementwise.",
    "square": "`x * x`, elementwise.",
}
"""What each operator of one tensor is."""


@irdl_op_definition
class ScanOp(TensorOp):
    """
    `body` for one slice of the inputs after the other along `dimension`, or from the last one on.

    It takes those slices and what it carries, at first `inits`, and returns slices of the outputs
    and what it carries on. JAX writes cumulative sums so from version 0.11 on.
    """

    name = "chlo.scan"
    irdl_options = (
        AttrSizedOperandSegments(as_property=True),
        AttrSizedResultSegments(as_property=True),
    )

    dimension = prop_def(INTEGER)
    is_reverse = opt_prop_def(IntegerAttr[I1])
    is_associative = opt_prop_def(IntegerAttr[I1])
    inputs = var_operand_def(TENSOR)
    inits = var_operand_def(TENSOR)
    body = region_def("single_block")
    outputs = var_result_def(TENSOR)
    carries = var_result_def(TENSOR)

    @property
    def dim(self) -> int:
        """The dimension that is scanned."""
        return self.dimension.value.data

    @property
    def from_behind(self) -> bool:
        """Whether the last slice is the first to be taken."""
        return self.is_reverse is not None and bool(self.is_reverse.value.data)

    def check_shapes(self) -> None:
        whole = [shape_of(value) for value in (*self.inputs, *self.outputs)]
        for shape in whole:
            shapes.check_dims([self.dim], len(shape))
        if len(sizes := {shape[self.dim] for shape in whole}) > 1:
            raise ShapeError(f"takes and gives {sorted(sizes)} slices along dim {self.dim}")
        for init, carry in zip(self.inits, self.carries, strict=False):
            if (got := shape_of(carry)) != (wanted := shape_of(init)):
                said = f"{format_shape(wanted)}, got {format_shape(got)}"
                raise ShapeError(f"what is carried must have shape {said}")

    def verify_(self) -> None:
        if len(self.inits) != len(self.carries) or not self.inputs:
            raise invalid(
                self, "has an initial value for each tensor that it carries, and an input"
            )
        super().verify_()


Chlo = Dialect("chlo", [*operations("chlo", UNARY, UnaryOp), ScanOp])
