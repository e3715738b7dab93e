"""The operations of StableHLO that combine elements by a body."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.bases import shape_of
from mirage_mlir.dialects.stablehlo_bases import DIMS, TENSOR, TensorOp, check_result
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape, ShapeError


@irdl_op_definition
class ReduceOp(TensorOp):
    """
    The inputs combined over `dimensions` by `body`, beginning with `init_values`, in any order.

    `body` takes two scalars for each input, and returns one.
    """

    name = "stablehlo.reduce"

    dimensions = prop_def(DIMS)
    values = var_operand_def(TENSOR)
    """The inputs, then as many initial values."""
    body = region_def("single_block")
    outputs = var_result_def(TENSOR)

    def verify_(self) -> None:
        _check_numbers(self)
        super().verify_()

    def check_shapes(self) -> None:
        dims = self.dimensions.get_values()
        shape = shape_of(self.values[0])
        shapes.check_dims(dims, len(shape))
        check_result(self, tuple(size for dim, size in enumerate(shape) if dim not in dims))


@irdl_op_definition
class ReduceWindowOp(TensorOp):
    """
    The elements of each window combined by `body`, beginning with `init_values`, in any order.

    Windows have `window_dimensions` elements, with `window_dilations` from one to the next, and
    begin `window_strides` apart; `padding` is before and behind. `body` is that of `reduce`.
    """

    name = "stablehlo.reduce_window"

    window_dimensions = prop_def(DIMS)
    window_strides = opt_prop_def(DIMS)
    base_dilations = opt_prop_def(DIMS)
    window_dilations = opt_prop_def(DIMS)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)
    values = var_operand_def(TENSOR)
    """The inputs, then as many initial values."""
    body = region_def("single_block")
    outputs = var_result_def(TENSOR)

    def of(self, name: str) -> tuple[int, ...]:
        """The strides or dilations of that name, one for each dimension."""
        found = self.properties.get(name)
        if not isinstance(found, DenseArrayBase):
            return (1,) * len(self.window_dimensions)
        return tuple(int(each) for each in found.iter_values())

    def rows(self) -> list[tuple[int, int, int, int, int]]:
        """Of each dimension: the window's size, stride and dilation, and padding on both sides."""
        rank = len(self.window_dimensions)
        padded = [0] * (2 * rank)
        if self.padding is not None:
            padded = [int(str(each)) for each in self.padding.get_values()]
            padded *= 2 * rank // max(len(padded), 1)
        fields = (self.of("window_dimensions"), self.of("window_strides"))
        return [*zip(*fields, self.of("window_dilations"), padded[::2], padded[1::2], strict=True)]

    def verify_(self) -> None:
        _check_numbers(self)
        super().verify_()

    def check_shapes(self) -> None:
        shape = shape_of(self.values[0])
        try:
            expected = self._shape(shape)
        except ValueError as error:
            raise ShapeError(f"has fields for another rank than {len(shape)}") from error
        check_result(self, expected)

    def _shape(self, shape: Shape) -> Shape:
        rows = zip(shape, self.of("base_dilations"), self.rows(), strict=True)
        found: list[int] = []
        for size, inside, (window, step, dilation, low, high) in rows:
            if min(window, step, dilation, inside) < 1:
                raise invalid(self, "has sizes, strides and dilations below 1")
            whole = (size - 1) * inside + 1 + low + high
            found.append(max((whole - (window - 1) * dilation - 1) // step + 1, 0))
        return tuple(found)


def _check_numbers(op: ReduceOp | ReduceWindowOp) -> None:
    if len(op.values) != 2 * len(op.outputs) or not op.outputs:
        raise invalid(op, "has an input and an initial value for each result")
