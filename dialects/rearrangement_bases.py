"""Operators that repeat, move or join elements, whatever their operands are, tensors or tiles."""

from abc import ABC
from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import prop_def

from mirage_mlir.dialects.bases import InferredShapeOp, shape_of
from mirage_mlir.dialects.common import i64_array, i64_array_parameter, i64_attr, i64_parameter
from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import Shape


class TransposeBase(InferredShapeOp, ABC):
    """Dimension i of the result is dimension `permutation[i]` of the input."""

    permutation = prop_def(i64_array_parameter("permutation"))

    def __init__(
        self, input: SSAValue, permutation: Sequence[int], result_type: Attribute | None = None
    ):
        if result_type is None:
            result_type = self.default_type(shapes.transpose(shape_of(input), permutation), input)
        super().__init__(
            operands=[input],
            properties={"permutation": i64_array(permutation)},
            result_types=[result_type],
        )

    def inferred_shape(self) -> Shape:
        return shapes.transpose(shape_of(self.operands[0]), self.permutation.get_values())


class BroadcastBase(InferredShapeOp, ABC):
    """The input repeated along its dimensions of size 1 and along new leading ones (numpy)."""

    def __init__(self, input: SSAValue, result_type: Attribute):
        super().__init__(operands=[input], result_types=[result_type])

    def inferred_shape(self) -> Shape:
        return shapes.broadcast_to(shape_of(self.operands[0]), shape_of(self.results[0]))


class RepetitionBase(InferredShapeOp, ABC):
    """The input `times` times along `dim`."""

    dim = prop_def(i64_parameter("dim"))
    times = prop_def(i64_parameter("times"))

    def __init__(self, input: SSAValue, dim: int, times: int, result_type: Attribute | None = None):
        if result_type is None:
            result_type = self.default_type(shapes.repeat(shape_of(input), dim, times), input)
        super().__init__(
            operands=[input],
            properties={"dim": i64_attr(dim), "times": i64_attr(times)},
            result_types=[result_type],
        )

    def inferred_shape(self) -> Shape:
        return shapes.repeat(shape_of(self.operands[0]), self.dim.value.data, self.times.value.data)


class SliceBase(InferredShapeOp, ABC):
    """
    Element i of dimension d is element `offsets[d] + i * strides[d]` of the input.

    Dimension d of the result has `sizes[d]` elements.
    """

    offsets = prop_def(i64_array_parameter("offsets"))
    sizes = prop_def(i64_array_parameter("sizes"))
    strides = prop_def(i64_array_parameter("strides"))

    def __init__(
        self,
        input: SSAValue,
        offsets: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int],
        result_type: Attribute | None = None,
    ):
        if result_type is None:
            shape = shapes.slice_(shape_of(input), offsets, sizes, strides)
            result_type = self.default_type(shape, input)
        super().__init__(
            operands=[input],
            properties={
                "offsets": i64_array(offsets),
                "sizes": i64_array(sizes),
                "strides": i64_array(strides),
            },
            result_types=[result_type],
        )

    def inferred_shape(self) -> Shape:
        return shapes.slice_(
            shape_of(self.operands[0]),
            self.offsets.get_values(),
            self.sizes.get_values(),
            self.strides.get_values(),
        )


class ConcatBase(InferredShapeOp, ABC):
    """The inputs one after the other along `dim`."""

    dim = prop_def(i64_parameter("dim"))

    def __init__(self, inputs: Sequence[SSAValue], dim: int, result_type: Attribute | None = None):
        if result_type is None:
            shape = shapes.concat([shape_of(value) for value in inputs], dim)
            result_type = self.default_type(shape, inputs[0])
        super().__init__(
            operands=[inputs], properties={"dim": i64_attr(dim)}, result_types=[result_type]
        )

    def inferred_shape(self) -> Shape:
        return shapes.concat([shape_of(value) for value in self.operands], self.dim.value.data)
