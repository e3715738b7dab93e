"""Random functions of kernel operators on small tensors."""

from collections.abc import Callable, Sequence
from random import Random

from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType

SIZES = (1, 1, 2, 3, 4, 5, 8, 17)

UNARY: Sequence[type[kernel.UnaryOp]] = (
    kernel.SquareOp,
    kernel.SigmoidOp,
    kernel.SiluOp,
    kernel.TanhOp,
    kernel.ReluOp,
    kernel.GeluOp,
)

BINARY: Sequence[type[kernel.BinaryOp]] = (
    kernel.AddOp,
    kernel.SubOp,
    kernel.MulOp,
    kernel.MaxOp,
)

REDUCTIONS: Sequence[type[kernel.ReductionOp]] = (
    kernel.ReduceSumOp,
    kernel.ReduceMaxOp,
    kernel.ReduceMeanOp,
)


class FunctionMaker:
    """Makes one function; the same seed makes the same."""

    def __init__(self, seed: int, *, views: bool = True, element_type: FloatType = f32) -> None:
        self.random = Random(seed)
        self.element_type = element_type
        self.block = Block()
        self.values: list[SSAValue] = []
        self.makers: list[Callable[[], Operation | None]] = [
            self.unary,
            self.scaled,
            self.binary,
            self.binary,
            self.reduction,
            self.matmul,
            self.matmul,
            self.normalised,
        ]
        if views:
            self.makers += [self.transposed, self.reshaped, self.sliced, self.repeated]
            self.makers += [self.concatenated, self.broadcast]

    def make(self, operators: int = 6) -> FuncOp:
        """A function of about so many operators that returns its last values."""
        for _ in range(self.random.randint(1, 3)):
            rank = self.random.randint(1, 4)
            self.input([self.random.choice(SIZES) for _ in range(rank)])
        while operators:
            op = self.random.choice(self.makers)()
            if op is not None:
                self.block.add_op(op)
                self.values.append(op.results[0])
                operators -= 1
        results = self.values[-self.random.randint(1, 2) :]
        self.block.add_op(ReturnOp(*results))
        types = [arg.type for arg in self.block.args], [value.type for value in results]
        return FuncOp("random", types, Region(self.block))

    def input(self, shape: Sequence[int]) -> SSAValue:
        """A new argument."""
        value = self.block.insert_arg(TensorType(self.element_type, shape), len(self.block.args))
        self.values.append(value)
        return value

    def any(self) -> SSAValue:
        """Some value, a late one rather than an early one."""
        return self.values[-1 - int(self.random.random() ** 2 * len(self.values))]

    # Operators, None where the value does not allow one

    def unary(self) -> Operation:
        """A function of each element."""
        return self.random.choice(UNARY)(self.any())

    def scaled(self) -> Operation:
        """A multiple."""
        return kernel.ScaleOp(self.any(), self.random.choice([0.5, -2.0, 0.1, 3.0]))

    def binary(self) -> Operation:
        """Two tensors, the second often a new one of a shape that broadcasts."""
        lhs = self.any()
        shape = kernel.shape_of(lhs)
        fitting = [
            value for value in self.values if self._broadcasts(kernel.shape_of(value), shape)
        ]
        if len(fitting) > 1 and self.random.random() < 0.6:
            rhs = self.random.choice(fitting)
        else:
            kept = shape[self.random.randint(0, len(shape)) :]
            rhs = self.input([n if self.random.random() < 0.7 else 1 for n in kept] or [1])
        operands = (lhs, rhs) if self.random.random() < 0.7 else (rhs, lhs)
        return self.random.choice(BINARY)(*operands)

    def _broadcasts(self, a: Sequence[int], b: Sequence[int]) -> bool:
        return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))

    def reduction(self) -> Operation:
        """Over some dimensions."""
        value = self.any()
        rank = len(kernel.shape_of(value))
        dims = self.random.sample(range(rank), self.random.randint(1, rank))
        return self.random.choice(REDUCTIONS)(value, sorted(dims))

    def matmul(self) -> Operation | None:
        """With a new tensor of weights, or a tensor with its own transpose."""
        lhs = self.any()
        shape = kernel.shape_of(lhs)
        if len(shape) < 2:
            return None
        if self.random.random() < 0.2:
            swapped = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
            transposed = kernel.TransposeOp(lhs, swapped)
            self.block.add_op(transposed)
            return kernel.MatmulOp(lhs, transposed.result)
        leading = shape[:-2] if self.random.random() < 0.5 else ()
        rhs = self.input([*leading, shape[-1], self.random.choice(SIZES)])
        return kernel.MatmulOp(lhs, rhs)

    def normalised(self) -> Operation:
        """A norm or softmax."""
        value = self.any()
        last = kernel.shape_of(value)[-1]
        kind = self.random.randint(0, 2)
        if kind == 0:
            return kernel.SoftmaxOp(value, self.random.randrange(len(kernel.shape_of(value))))
        weight = self.input([last]) if self.random.random() < 0.5 else None
        if kind == 1:
            return kernel.RmsNormOp(value, weight, 1e-2)
        return kernel.LayerNormOp(value, weight, None, 1e-2)

    def transposed(self) -> Operation:
        """Dimensions in another order."""
        value = self.any()
        rank = len(kernel.shape_of(value))
        return kernel.TransposeOp(value, self.random.sample(range(rank), rank))

    def reshaped(self) -> Operation:
        """All dimensions but one merged, or one of size 1 put in."""
        value = self.any()
        shape = list(kernel.shape_of(value))
        if self.random.random() < 0.5 or len(shape) > 3:
            merged = 1
            for size in shape[:-1]:
                merged *= size
            new = [merged, shape[-1]]
        else:
            new = list(shape)
            new.insert(self.random.randint(0, len(shape)), 1)
        return kernel.ReshapeOp(value, TensorType(self.element_type, new))

    def sliced(self) -> Operation:
        """Every element, or every second one, of a part."""
        value = self.any()
        offsets: list[int] = []
        sizes: list[int] = []
        strides: list[int] = []
        for size in kernel.shape_of(value):
            offset = self.random.randrange(size)
            stride = self.random.choice([1, 1, 2])
            offsets.append(offset)
            strides.append(stride)
            sizes.append((size - offset - 1) // stride + 1)
        return kernel.SliceOp(value, offsets, sizes, strides)

    def repeated(self) -> Operation:
        """Each element, or the whole, twice."""
        value = self.any()
        dim = self.random.randrange(len(kernel.shape_of(value)))
        kind = self.random.choice([kernel.RepeatOp, kernel.RepeatInterleaveOp])
        return kind(value, dim, 2)

    def concatenated(self) -> Operation:
        """With itself or a new tensor."""
        value = self.any()
        shape = list(kernel.shape_of(value))
        dim = self.random.randrange(len(shape))
        if self.random.random() < 0.5:
            return kernel.ConcatOp([value, value], dim)
        shape[dim] = self.random.choice(SIZES)
        return kernel.ConcatOp([self.input(shape), value], dim)

    def broadcast(self) -> Operation:
        """Along a new leading dimension."""
        value = self.any()
        shape = kernel.shape_of(value)
        if len(shape) > 3:
            return kernel.CastOp(value, TensorType(self.element_type, shape))
        return kernel.BroadcastOp(
            value, TensorType(self.element_type, [self.random.choice(SIZES), *shape])
        )
