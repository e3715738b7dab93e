"""Small random programs that one rewrite rule applies to, while they are built."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel

SIZES: Sequence[int] = (2, 3, 4, 5, 7)
"""Of dimensions that run apart; those that run together have one size, so a size is an axis."""


class Instance:
    """Builds one function of one result; leaves are inputs or functions of an input."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.block = Block()
        self.sizes = self.random.sample(SIZES, len(SIZES))

    def add(self, op: kernel.TensorOp) -> SSAValue:
        """The result of an operator."""
        self.block.add_op(op)
        return op.results[0]

    def leaf(self, shape: Sequence[int]) -> SSAValue:
        """A new input of that shape, or a function of one."""
        value = self.block.insert_arg(TensorType(f32, shape), len(self.block.args))
        match self.random.randrange(4):
            case 0:
                return self.add(kernel.SigmoidOp(value))
            case 1:
                return self.add(kernel.ScaleOp(value, 0.5))
            case _:
                return value

    def positive(self, shape: Sequence[int]) -> SSAValue:
        """Something nowhere negative, of which the fields know that: a power of exp."""
        value = self.add(kernel.ExpOp(self.input(shape)))
        return self.add(kernel.SquareOp(value)) if self.random.random() < 0.5 else value

    def input(self, shape: Sequence[int]) -> SSAValue:
        """A new input."""
        return self.block.insert_arg(TensorType(f32, shape), len(self.block.args))

    def shape(self, rank: int) -> list[int]:
        """Different sizes."""
        return self.sizes[:rank]

    def partial(self, shape: Sequence[int], without: Sequence[int] = ()) -> list[int]:
        """A shape that broadcasts to `shape`; the dimensions `without` are missing for sure."""
        kept = [
            1 if dim in without or self.random.random() < 0.3 else size
            for dim, size in enumerate(shape)
        ]
        while kept and kept[0] == 1 and self.random.random() < 0.5:
            kept = kept[1:]
        return kept

    def covering(self, shape: Sequence[int], count: int) -> list[SSAValue]:
        """Leaves that broadcast to `shape`, one of them of that shape."""
        whole = self.random.randrange(count)
        return [self.leaf(shape if i == whole else self.partial(shape)) for i in range(count)]

    def sum_of(self, x: SSAValue, y: SSAValue) -> SSAValue:
        """The sum or difference."""
        return self.add(self.random.choice((kernel.AddOp, kernel.SubOp))(x, y))

    def either(self, kind: type[kernel.MulOp | kernel.AddOp], x: SSAValue, y: SSAValue) -> SSAValue:
        """`x op y` or `y op x`."""
        return self.add(kind(x, y) if self.random.random() < 0.5 else kind(y, x))

    def finish(self, result: SSAValue) -> FuncOp:
        """The function that returns `result`."""
        self.block.add_op(ReturnOp(result))
        types = [argument.type for argument in self.block.args], [result.type]
        return FuncOp("f", types, Region(self.block))
