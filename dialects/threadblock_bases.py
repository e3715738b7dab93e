"""What the operators of the `threadblock` dialect derive from: tiles, and classes of operators."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    ContainerType,
    IntegerAttr,
    ShapedType,
    f32,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrConstraint,
    IRDLAttrConstraint,
    ParamAttrConstraint,
    irdl_attr_definition,
    operand_def,
    param_def,
    result_def,
)
from xdsl.parser import AttrParser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.dialects.bases import BinaryBase, InferredShapeOp, ReductionBase, UnaryBase
from mirage_mlir.dialects.common import FloatConstr, FloatType, i64_attr
from mirage_mlir.shapes.shapes import Shape


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[FloatType]):
    """
    The part of a tensor that one block holds at a time, in shared memory or registers.

        !threadblock.tile<64x48xf16>      as !threadblock.tile<[64, 48], f16>
    """

    name = "threadblock.tile"

    shape: ArrayAttr[IntegerAttr[I64]]
    element_type: FloatType = param_def(FloatConstr)

    def __init__(self, shape: Sequence[int], element_type: FloatType):
        super().__init__(ArrayAttr([i64_attr(size) for size in shape]), element_type)

    def verify(self) -> None:
        if any(size < 1 for size in self.get_shape()):
            sizes = ["?" if size == DYNAMIC_INDEX else size for size in self.get_shape()]
            raise VerifyException(f"a tile has known sizes from 1 up, not {sizes}")

    def get_num_dims(self) -> int:
        """The rank."""
        return len(self.shape)

    def get_shape(self) -> Shape:
        """The size of each dimension, outermost first."""
        return tuple(size.value.data for size in self.shape)

    def get_element_type(self) -> FloatType:
        """The type of an element."""
        return self.element_type

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            # The plain form, which is how tools that know us only through IRDL print it.
            plain = parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_attribute
            )
            if plain is not None:
                parser.parse_punctuation(",")
                return (ArrayAttr(plain), parser.parse_type())
            sizes, element_type = parser.parse_ranked_shape()
        return (ArrayAttr([i64_attr(size) for size in sizes]), element_type)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for size in self.get_shape():
                printer.print_string(f"{size}x")
            printer.print_attribute(self.element_type)

    @staticmethod
    def constr(element_type: IRDLAttrConstraint | None = None) -> AttrConstraint[TileType]:
        """The tiles whose element type obeys `element_type`."""
        return ParamAttrConstraint.get(TileType, None, element_type)


TileConstr = TileType.constr()


def tile_type(value: SSAValue) -> TileType:
    """The type of `value`, which its operation's constraints make a tile."""
    assert isinstance(value.type, TileType)
    return value.type


def shape_of(value: SSAValue) -> Shape:
    """The shape of `value`, which its operation's constraints make a tile."""
    return tile_type(value).get_shape()


class TileOp(InferredShapeOp, ABC):
    """An operator on tiles with one result, by default in f32."""

    @classmethod
    def default_type(cls, shape: Shape, operand: SSAValue) -> TileType:
        return TileType(shape, f32)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from mirage_mlir.passes.patterns.threadblock import canonicalization_patterns

        return canonicalization_patterns(cls)


class BinaryOp(BinaryBase, TileOp, ABC):
    """An elementwise operator on two tiles, which broadcast as in numpy."""

    lhs = operand_def(TileConstr)
    rhs = operand_def(TileConstr)
    result = result_def(TileConstr)


class UnaryOp(UnaryBase, TileOp, ABC):
    """An elementwise function of one tile."""

    input = operand_def(TileConstr)
    result = result_def(TileConstr)


class ReductionOp(ReductionBase, TileOp, ABC):
    """An operator that reduces `dims` of a tile, which stay with size 1."""

    input = operand_def(TileConstr)
    result = result_def(TileConstr)


class ViewOp(TileOp, ABC):
    """A rearrangement of the elements of tiles, by default in the element type of the operands."""

    @classmethod
    def default_type(cls, shape: Shape, operand: SSAValue) -> TileType:
        return TileType(shape, tile_type(operand).element_type)
