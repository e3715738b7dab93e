"""Random programs of all kernel operators, with sizes, types and views that no model has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random

from program_pairs.writer import Ops, element_of, shape_of
from xdsl.dialects.builtin import TensorType, bf16, f16, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType

SIZES = (1, 1, 2, 3, 5, 7, 8, 16, 17, 31, 32, 48, 64, 96, 100, 127, 128, 192, 256, 300)

ELEMENTS = 1 << 16
"""Of one tensor, at most."""

PRODUCTS = 1 << 22
"""Multiplications of one product, at most."""

TYPES: Sequence[FloatType] = (f16, bf16, f32)

FUNCTIONS: Sequence[Callable[[SSAValue], kernel.TensorOp]] = (
    kernel.SquareOp,
    kernel.SigmoidOp,
    kernel.SiluOp,
    kernel.ReluOp,
    kernel.TanhOp,
    kernel.GeluOp,
    lambda x: kernel.GeluOp(x, "tanh"),
    lambda x: kernel.ClampOp(x, -0.75, 1.25),
    lambda x: kernel.PowOp(x, 3.0),
    lambda x: kernel.ScaleOp(x, -0.3),
    lambda x: kernel.ScaleOp(x, 0.125),
)

OF_POSITIVE: Sequence[Callable[[SSAValue], kernel.TensorOp]] = (
    kernel.LogOp,
    kernel.SqrtOp,
    kernel.RsqrtOp,
    lambda x: kernel.PowOp(x, -1.0),
    lambda x: kernel.PowOp(x, 0.75),
)

BINARY: Sequence[type[kernel.BinaryOp]] = (
    kernel.AddOp,
    kernel.SubOp,
    kernel.MulOp,
    kernel.MulOp,
    kernel.MaxOp,
)

REDUCTIONS: Sequence[type[kernel.ReductionOp]] = (
    kernel.ReduceSumOp,
    kernel.ReduceMaxOp,
    kernel.ReduceMeanOp,
)


class OddProgram:
    """Makes one function; the same seed makes the same."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"odd {seed}")
        self.block = Block()
        self.ops = Ops(self.block.add_op)
        self.element_type = self.random.choice(TYPES)
        self.values: list[SSAValue] = []
        self.makers: Sequence[Callable[[], SSAValue | None]] = (
            *(self.function, self.function, self.of_positive, self.power),
            *(self.binary, self.binary, self.binary, self.divided, self.with_constant),
            *(self.reduced, self.reduced, self.matmul, self.matmul, self.matmul, self.attention),
            *(self.normalised, self.normalised, self.transposed, self.reshaped, self.sliced),
            *(self.repeated, self.repeated, self.joined, self.broadcast, self.cast),
        )

    def make(self) -> FuncOp:
        """The function, of two to nine operators and up to three results."""
        for _ in range(self.random.randint(1, 2)):
            self.input(self._shape(self.random.randint(1, 4)))
        wanted = self.random.randint(2, 9)
        while wanted:
            value = self.random.choice(self.makers)()
            if value is not None:
                self.values.append(value)
                wanted -= 1
        unused = [v for v in self.values if not v.uses and not v.owner == self.block]
        results = unused[-self.random.randint(1, 3) :]
        self.block.add_op(ReturnOp(*results))
        types = [arg.type for arg in self.block.args], [value.type for value in results]
        return _tidy(FuncOp("odd", types, Region(self.block)))

    def _shape(self, rank: int) -> list[int]:
        while True:
            shape = [self.random.choice(SIZES) for _ in range(rank)]
            if prod(shape) <= ELEMENTS:
                return shape

    def input(self, shape: Sequence[int], like: SSAValue | None = None) -> SSAValue:
        """A new argument, of the element type of `like`."""
        kind = self.element_type if like is None else element_of(like)
        value = self.block.insert_arg(TensorType(kind, shape), len(self.block.args))
        self.values.append(value)
        return value

    def any(self) -> SSAValue:
        """Some value, a late one rather than an early one."""
        return self.values[-1 - int(self.random.random() ** 2 * len(self.values))]

    # Operators; None where the value does not allow one

    def function(self) -> SSAValue:
        """A function of each element."""
        return self.ops.add(self.random.choice(FUNCTIONS)(self.any()))

    def power(self) -> SSAValue:
        """An exp of something small."""
        return self.ops.add(kernel.ExpOp(self.ops.add(kernel.TanhOp(self.any()))))

    def positive(self, x: SSAValue) -> SSAValue:
        """Something above zero."""
        if self.random.random() < 0.5:
            return self.ops.add(kernel.ExpOp(self.ops.add(kernel.TanhOp(x))))
        shift = self.ops.constant(0.5, x, shape_of(x))
        return self.ops.add(kernel.AddOp(self.ops.add(kernel.SquareOp(x)), shift))

    def of_positive(self) -> SSAValue:
        """A function that needs numbers above zero."""
        return self.ops.add(self.random.choice(OF_POSITIVE)(self.positive(self.any())))

    def other(self, lhs: SSAValue) -> SSAValue:
        """A second operand: a value whose shape broadcasts, or a new tensor."""
        shape = shape_of(lhs)
        fitting = [value for value in self.values if self._broadcasts(value, lhs)]
        if len(fitting) > 1 and self.random.random() < 0.5:
            return self._typed(self.random.choice(fitting), element_of(lhs))
        kept = shape[self.random.randint(0, len(shape)) :]
        return self.input([n if self.random.random() < 0.7 else 1 for n in kept] or [1], lhs)

    def _broadcasts(self, a: SSAValue, b: SSAValue) -> bool:
        pairs = zip(reversed(shape_of(a)), reversed(shape_of(b)), strict=False)
        return all(x == y or x == 1 for x, y in pairs) and len(shape_of(a)) <= len(shape_of(b))

    def _typed(self, value: SSAValue, kind: FloatType) -> SSAValue:
        if element_of(value) == kind:
            return value
        return self.ops.add(kernel.CastOp(value, TensorType(kind, shape_of(value))))

    def binary(self) -> SSAValue:
        """Two tensors in any order."""
        lhs = self.any()
        rhs = self.other(lhs)
        operands = (lhs, rhs) if self.random.random() < 0.7 else (rhs, lhs)
        return self.ops.add(self.random.choice(BINARY)(*operands))

    def divided(self) -> SSAValue:
        """By something above zero."""
        lhs = self.any()
        return self.ops.add(kernel.DivOp(lhs, self.positive(self.other(lhs))))

    def with_constant(self) -> SSAValue:
        """A constant beside a tensor."""
        x = self.any()
        constant = self.ops.constant(self.random.choice([1.0, -0.5, 0.1]), x, [1])
        return self.ops.add(self.random.choice(BINARY)(x, constant))

    def reduced(self) -> SSAValue:
        """Over some dimensions."""
        x = self.any()
        rank = len(shape_of(x))
        dims = self.random.sample(range(rank), self.random.randint(1, rank))
        return self.ops.add(self.random.choice(REDUCTIONS)(x, sorted(dims)))

    def matmul(self) -> SSAValue | None:
        """With weights, or with its own transpose."""
        x = self.any()
        shape = shape_of(x)
        if len(shape) < 2:
            return None
        columns = self.random.choice(SIZES)
        if self.random.random() < 0.2:
            columns = shape[-2]
        if prod(shape) * columns > PRODUCTS or prod(shape[:-1]) * columns > ELEMENTS:
            return None
        if columns == shape[-2] and self.random.random() < 0.5:
            return self.ops.matmul(x, self.ops.swap(x))
        leading = shape[:-2] if self.random.random() < 0.4 else ()
        if shape[-1] * columns * prod(leading) > ELEMENTS:
            return None
        if self.random.random() < 0.3:
            weight = self.ops.swap(self.input([*leading, columns, shape[-1]], x))
        else:
            weight = self.input([*leading, shape[-1], columns], x)
        return self.ops.matmul(x, weight)

    def attention(self) -> SSAValue | None:
        """Softmax of products with keys, times values."""
        x = self.any()
        *leading, queries, depth = (1, *shape_of(x))
        keys = self.random.choice(SIZES)
        if len(shape_of(x)) < 2 or prod(leading) * keys * max(queries, depth) > ELEMENTS:
            return None
        cache = [*shape_of(x)[:-2], keys, depth]
        scores = self.ops.matmul(x, self.ops.swap(self.input(cache, x)))
        if self.random.random() < 0.8:
            scores = self.ops.add(kernel.ScaleOp(scores, depth**-0.5))
        weights = self.ops.add(kernel.SoftmaxOp(scores, len(shape_of(x)) - 1))
        return self.ops.matmul(weights, self.input(cache, x))

    def normalised(self) -> SSAValue:
        """A norm or softmax."""
        x = self.any()
        last = shape_of(x)[-1]
        kind = self.random.randrange(3)
        if kind == 0:
            return self.ops.add(kernel.SoftmaxOp(x, self.random.randrange(len(shape_of(x)))))
        weight = self.input([last], x) if self.random.random() < 0.5 else None
        if kind == 1:
            return self.ops.add(kernel.RmsNormOp(x, weight, 1e-5))
        bias = self.input([last], x) if weight is not None and self.random.random() < 0.5 else None
        return self.ops.add(kernel.LayerNormOp(x, weight, bias, 1e-5))

    def transposed(self) -> SSAValue:
        """Dimensions in another order."""
        x = self.any()
        rank = len(shape_of(x))
        return self.ops.transpose(x, self.random.sample(range(rank), rank))

    def reshaped(self) -> SSAValue:
        """Neighbours merged, one dimension split, or one of size 1 put in."""
        x = self.any()
        shape = list(shape_of(x))
        dim = self.random.randrange(len(shape))
        factors = [n for n in range(2, shape[dim]) if shape[dim] % n == 0]
        if len(shape) > 1 and self.random.random() < 0.4:
            dim = self.random.randrange(len(shape) - 1)
            shape[dim : dim + 2] = [shape[dim] * shape[dim + 1]]
        elif factors and len(shape) < 5:
            outer = self.random.choice(factors)
            shape[dim : dim + 1] = [outer, shape[dim] // outer]
        else:
            shape.insert(dim, 1)
        return self.ops.reshape(x, shape)

    def sliced(self) -> SSAValue:
        """A window of a dimension, or every second or third element of it."""
        x = self.any()
        dim = self.random.randrange(len(shape_of(x)))
        size = shape_of(x)[dim]
        first = self.random.randrange(size)
        step = self.random.choice([1, 1, 1, 2, 3])
        most = (size - first - 1) // step + 1
        return self.ops.slice(x, dim, first, self.random.randint(1, most), step)

    def repeated(self) -> SSAValue | None:
        """Each element, or the whole, several times."""
        x = self.any()
        times = self.random.choice([2, 3, 4])
        if prod(shape_of(x)) * times > ELEMENTS:
            return None
        kind = self.random.choice([kernel.RepeatOp, kernel.RepeatInterleaveOp])
        return self.ops.add(kind(x, self.random.randrange(len(shape_of(x))), times))

    def joined(self) -> SSAValue | None:
        """With itself, with a new tensor, or its own parts in another order."""
        x = self.any()
        shape = list(shape_of(x))
        dim = self.random.randrange(len(shape))
        if 2 * prod(shape) > ELEMENTS:
            return None
        if shape[dim] > 1 and self.random.random() < 0.5:
            cut = self.random.randint(1, shape[dim] - 1)
            return self.ops.pieces(x, dim, [(cut, shape[dim] - cut, 1), (0, cut, 1)])
        shape[dim] = self.random.choice([1, 2, shape[dim]])
        other = self.input(shape, x)
        return self.ops.concat([other, x] if self.random.random() < 0.5 else [x, other], dim)

    def broadcast(self) -> SSAValue | None:
        """Along a new leading dimension."""
        x = self.any()
        count = self.random.choice(SIZES[:8])
        if len(shape_of(x)) > 4 or prod(shape_of(x)) * count > ELEMENTS:
            return None
        return self.ops.broadcast(x, [count, *shape_of(x)])

    def cast(self) -> SSAValue | None:
        """In another element type."""
        x = self.any()
        kind = self.random.choice(TYPES)
        return None if kind == element_of(x) else self._typed(x, kind)


def without(function: FuncOp, number: int) -> FuncOp | None:
    """The function with an argument instead of the result of operation `number`."""
    copy = function.clone()
    block = copy.body.block
    op = list(block.ops)[number]
    if isinstance(op, ReturnOp) or len(op.results) != 1 or not op.results[0].uses:
        return None
    argument = block.insert_arg(op.results[0].type, len(block.args))
    op.results[0].replace_all_uses_with(argument)
    return _tidy(copy)


def returning(function: FuncOp, number: int) -> FuncOp:
    """The function with result `number` alone."""
    copy = function.clone()
    last = copy.body.block.last_op
    assert isinstance(last, ReturnOp)
    last.operands = [last.operands[number]]
    return _tidy(copy)


def _tidy(function: FuncOp) -> FuncOp:
    """Without what is not used; the types say so."""
    block = function.body.block
    for op in reversed(list(block.ops)):
        if not isinstance(op, ReturnOp) and not any(result.uses for result in op.results):
            block.erase_op(op)
    for argument in reversed(block.args):
        if not argument.uses:
            block.erase_arg(argument)
    function.update_function_type()
    return function


def smallest(function: FuncOp, fails: Callable[[FuncOp], bool], tries: int) -> FuncOp:
    """A part of a function that still fails; `tries` limits how many are tried."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    parts = [returning(function, number) for number in range(len(last.operands))]
    if len(parts) > 1:
        tries -= len(parts)
        function = next((part for part in parts if fails(part)), function)
    number = 0
    while tries > 0 and number < len(function.body.block.ops):
        smaller = without(function, number)
        if smaller is not None:
            tries -= 1
            if fails(smaller):
                function, number = smaller, 0
                continue
        number += 1
    return function
