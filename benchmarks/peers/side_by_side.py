"""
Products of one input as one product, whose weights lie side by side.

So projections are written by hand: weights are put together once, outside of what is timed, and
results are parts of what the product makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from peers.peer import Inputs
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.operators import element_type_of, shape_of


def together(function: FuncOp) -> tuple[FuncOp, list[list[int]]]:
    """
    A copy of the function with such products, and the numbers of the inputs of each.

    The weights of each product are one more input. Where there are none, the list is empty.
    """
    twin = function.clone()
    block = twin.body.block
    found: list[list[int]] = []
    for products in _beside(twin):
        weights = [product.rhs for product in products]
        found.append([block.args.index(weight) for weight in weights])
        widths = [shape_of(weight)[1] for weight in weights]
        depth, element_type = shape_of(weights[0])[0], kernel.tensor_type(weights[0]).element_type
        whole = TensorType(element_type, [depth, sum(widths)])
        joined = kernel.MatmulOp(products[0].lhs, block.insert_arg(whole, len(block.args)))
        block.insert_op_before(joined, products[0])
        rows = shape_of(joined.result)[:-1]
        for product, width, end in zip(products, widths, accumulate(widths), strict=True):
            shape = [*rows, width]
            offsets = [*(0 for _ in rows), end - width]
            part = kernel.SliceOp(joined.result, offsets, shape, [1] * len(shape))
            Rewriter.replace_op(product, part)
    return twin, found


def _beside(function: FuncOp) -> list[list[kernel.MatmulOp]]:
    """Products of one value with inputs of the function that nothing else reads, two or more."""
    groups: dict[SSAValue, list[kernel.MatmulOp]] = {}
    for op in function.body.block.ops:
        if isinstance(op, kernel.MatmulOp) and _is_own(op.rhs) and _keeps_type(op):
            groups.setdefault(op.lhs, []).append(op)
    return [products for products in groups.values() if len(products) > 1]


def _is_own(weight: SSAValue) -> bool:
    return isinstance(weight, BlockArgument) and weight.has_one_use() and len(shape_of(weight)) == 2


def _keeps_type(op: kernel.MatmulOp) -> bool:
    """Whether a product has the element type of its operands."""
    return len({element_type_of(value.type) for value in (*op.operands, op.result)}) == 1


def with_joined(groups: Sequence[Sequence[int]], inputs: Inputs) -> Inputs:
    """The inputs, then the weights of each product side by side."""
    import torch

    joined = [torch.cat([inputs[number] for number in group], 1) for group in groups]
    return [*inputs, *joined]
