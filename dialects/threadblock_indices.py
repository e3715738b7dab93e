"""Indices in the `threadblock` dialect: tiles that are computed from where they lie."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import HasParent, Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import (
    DimMap,
    I64ArrayConstr,
    i64_array,
    i64_attr,
    i64_parameter,
)
from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.threadblock_bases import TileConstr, shape_of, tile_type
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.shapes.shapes import Shape, format_shape


@irdl_op_definition
class IotaOp(IRDLOperation):
    """
    The tile of a tensor of indices that this block, in this iteration, works on; none is loaded.

        %i = threadblock.iota of [2048, 1] strides [1, 0] grid_map [0, _] loop_map [_]
               : !threadblock.tile<128x1xf32>

    Element (i, j, ...) of the tensor, whose sizes come first, is
    `start + i * strides[0] + j * strides[1] + ...`. `grid_map` and `loop_map` cut it as those of
    `threadblock.load` do. No index is negative or above 2^24, to which f32 counts.
    """

    name = "threadblock.iota"

    sizes = prop_def(I64ArrayConstr)
    strides = prop_def(I64ArrayConstr)
    grid_map = prop_def(I64ArrayConstr)
    loop_map = prop_def(I64ArrayConstr, default_value=i64_array(()))
    start = prop_def(i64_parameter("start"), default_value=i64_attr(0))
    result = result_def(TileConstr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure(), HasParent(GraphDefinedOp))
    custom_directives = (DimMap,)
    assembly_format = (
        "`of` custom<DimMap>($sizes) `strides` custom<DimMap>($strides) "
        "`grid_map` custom<DimMap>($grid_map) (`loop_map` custom<DimMap>($loop_map)^)? "
        "attr-dict `:` type($result)"
    )

    def __init__(
        self,
        sizes: Sequence[int],
        strides: Sequence[int],
        start: int,
        grid_map: Sequence[int],
        loop_map: Sequence[int],
        result_type: Attribute,
    ):
        super().__init__(
            properties={
                "sizes": i64_array(sizes),
                "strides": i64_array(strides),
                "start": i64_attr(start),
                "grid_map": i64_array(grid_map),
                "loop_map": i64_array(loop_map),
            },
            result_types=[result_type],
        )

    @property
    def whole(self) -> Shape:
        """The sizes of the tensor."""
        return tuple(self.sizes.get_values())

    def verify_(self) -> None:
        sizes, strides = self.whole, self.strides.get_values()
        if (element := tile_type(self.result).element_type) != f32:
            raise invalid(self, f"computes indices in f32, not {element}")
        if len(sizes) != len(strides):
            raise invalid(self, f"has {len(sizes)} sizes but {len(strides)} strides")
        if len(sizes) != len(tile := shape_of(self.result)):
            raise invalid(
                self, f"cuts a tensor of {format_shape(sizes)} into tiles of {format_shape(tile)}"
            )
        spans = [step * (size - 1) for size, step in zip(sizes, strides, strict=True)]
        least = self.start.value.data + sum(span for span in spans if span < 0)
        most = self.start.value.data + sum(span for span in spans if span > 0)
        limit = FORMATS["f32"].counts_to
        if least < 0 or most > limit:
            raise invalid(self, f"has indices from {least} to {most}; f32 counts from 0 to {limit}")
