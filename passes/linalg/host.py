"""Operations of linalg that a host runs for the kernels it calls."""

from collections.abc import Sequence

from xdsl.dialects.arith import CmpfOp, ConstantOp, UIToFPOp
from xdsl.dialects.builtin import AffineMapAttr, FloatAttr, TensorType, f32, i1
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap


def booleans_as_numbers(value: SSAValue, kind: TensorType[Attribute]) -> Sequence[Operation]:
    """Operations of which the last one makes zeros and ones in f32 of a tensor of booleans."""
    block = Block(arg_types=[i1, f32])
    number = UIToFPOp(block.args[0], f32)
    block.add_ops([number, YieldOp(number)])
    return _elementwise(value, kind, block)


def numbers_as_booleans(value: SSAValue, kind: TensorType[Attribute]) -> Sequence[Operation]:
    """Operations of which the last one makes booleans of zeros and ones in f32."""
    block = Block(arg_types=[f32, i1])
    zero = ConstantOp(FloatAttr(0.0, f32))
    differs = CmpfOp(block.args[0], zero.result, "une")
    block.add_ops([zero, differs, YieldOp(differs)])
    return _elementwise(value, kind, block)


def _elementwise(value: SSAValue, kind: TensorType[Attribute], block: Block) -> Sequence[Operation]:
    """A tensor of the type `kind`, each element of which is what `block` yields."""
    empty = EmptyOp([], kind)
    rank = len(kind.get_shape())
    same = AffineMapAttr(AffineMap.identity(rank))
    loop = GenericOp(
        [value],
        [empty.tensor],
        Region(block),
        [same, same],
        [IteratorTypeAttr.parallel()] * rank,
        [kind],
    )
    return [empty, loop]
