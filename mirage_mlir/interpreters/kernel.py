"""
What functions of the kernel dialect compute.

Operators are interpreted one by one, in order, each as its definition says; `graph_defined` runs
its blocks (see `threadblock`). A result is rounded to its element type once, when it is complete.
"""

from collections.abc import Callable, Sequence
from typing import Generic

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters import views
from mirage_mlir.interpreters.dims import complete
from mirage_mlir.interpreters.domain import A, Domain, NotInterpretable
from mirage_mlir.interpreters.operators import (
    as_multiplied,
    constant,
    element_type_of,
    elementwise,
    integer,
    integers,
    mnemonic,
    number,
    shape_of,
)
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.interpreters.threadblock import run_graph
from mirage_mlir.operators.structured import Effect, with_effect

VIEWS = with_effect(Effect.MOVES)
"""Mnemonics of operators that move elements and compute nothing."""


class KernelInterpreter(Generic[A]):
    """Runs functions over one domain; see `TensorDomain` for `sparse`."""

    def __init__(self, numbers: Domain[A], *, sparse: bool = False):
        self.domain = TensorDomain(numbers, sparse=sparse)
        self._operators: dict[str, Callable[[Operation, list[Tensor[A]]], Tensor[A]]] = {
            "broadcast": self._broadcast,
            "concat": self._concat,
            "constant": self._constant,
            "cumsum": self._cumsum,
            "iota": self._iota,
            "layer_norm": self._layer_norm,
            "matmul": self._matmul,
            "reduce_max": self._reduce_max,
            "reduce_mean": self._reduce_mean,
            "reduce_sum": self._reduce_sum,
            "repeat": self._repeat,
            "repeat_interleave": self._repeat_interleave,
            "reshape": self._reshape,
            "rms_norm": self._rms_norm,
            "slice": self._slice,
            "softmax": self._softmax,
            "transpose": self._transpose,
        }

    def run(self, function: FuncOp, arguments: Sequence[Tensor[A]]) -> list[Tensor[A]]:
        """
        The values that a function returns.

        Raises:
            NotInterpretable: an operation has no meaning in this domain; a note says which.
        """
        block = function.body.block
        values: dict[SSAValue, Tensor[A]] = dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, ReturnOp):
                return operands
            values.update(zip(op.results, self._results(op, operands), strict=True))
        raise NotInterpretable("has no return")

    def _results(self, op: Operation, operands: list[Tensor[A]]) -> list[Tensor[A]]:
        if isinstance(op, kernel.GraphDefinedOp):
            return run_graph(self.domain, op, operands)
        (result,) = op.results
        value = self._result(op, operands)
        if mnemonic(op) in VIEWS:
            # Elements of the same type are moved. (And arguments stay unmade.)
            return [value]
        return [self.domain.rounded(value, element_type_of(result.type))]

    def _result(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        name = mnemonic(op)
        if (operator := self._operators.get(name)) is not None:
            return operator(op, operands)
        if (result := elementwise(self.domain, op, operands)) is not None:
            return result
        raise NotInterpretable(f"'{op.name}' has no interpretation")

    # Arithmetic

    def _matmul(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        left, right = as_multiplied(self.domain, op, operands)
        return self.domain.matmul(left, right)

    def _reduce_sum(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return self.domain.total(operands[0], integers(op, "dims"))

    def _reduce_mean(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return self.domain.mean(operands[0], integers(op, "dims"))

    def _reduce_max(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return self._largest(operands[0], integers(op, "dims"))

    def _cumsum(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        """Sums of up to 1, 2, 4, ... elements that end at each index."""
        (x,), dim = operands, integer(op, "dim")
        complete(x.dims[dim], "a prefix sum")
        size, reach = x.dims[dim].size, 1
        while reach < size:
            first, rest = self.domain.part(x, dim, 0, reach), self.domain.part(x, dim, reach, size)
            before = self.domain.part(x, dim, 0, size - reach)
            total = self.domain.as_sums(self.domain.add(rest, before))
            x = views.concatenate(self.domain, [first, total], dim)
            reach *= 2
        return x

    def _rms_norm(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        """`x / sqrt(mean(x^2) + eps) * weight`."""
        return self._scaled_to_unit(op, operands[0], operands[1:])

    def _layer_norm(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        """`(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight + bias`."""
        x, *parameters = operands
        centred = self.domain.subtract(x, self.domain.mean(x, [len(x.dims) - 1]))
        result = self._scaled_to_unit(op, centred, parameters[:1])
        for bias in parameters[1:]:
            result = self.domain.add(result, bias)
        return result

    def _scaled_to_unit(
        self, op: Operation, x: Tensor[A], weights: Sequence[Tensor[A]]
    ) -> Tensor[A]:
        domain, rank = self.domain, len(x.dims)
        square = domain.mean(domain.multiply(x, x), [rank - 1])
        eps = domain.constant(number(op, "eps"), (1,) * rank)
        result = domain.divide(x, domain.function("sqrt", domain.add(square, eps)))
        for weight in weights:
            result = domain.multiply(result, weight)
        return result

    def _softmax(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        """`exp(x - max(x)) / sum(exp(x - max(x)))`."""
        (x,), dim = operands, integer(op, "dim")
        shifted = self.domain.subtract(x, self._largest(x, [dim]))
        weights = self.domain.function("exp", shifted)
        return self.domain.divide(weights, self.domain.total(weights, [dim]))

    def _largest(self, x: Tensor[A], dims: Sequence[int]) -> Tensor[A]:
        result = self.domain.largest(x, dims)
        assert result is not None, "tensors are not empty"
        return result

    def _constant(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return constant(self.domain, op, _result_shape(op))

    def _iota(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return self.domain.iota(_result_shape(op), integer(op, "dim"))

    # Views

    def _transpose(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return views.transpose(self.domain, operands[0], integers(op, "permutation"))

    def _reshape(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return views.reshape(self.domain, operands[0], _result_shape(op))

    def _broadcast(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return views.broadcast(self.domain, operands[0], _result_shape(op))

    def _repeat(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return views.repeat(self.domain, operands[0], integer(op, "dim"), integer(op, "times"))

    def _repeat_interleave(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        dim, times = integer(op, "dim"), integer(op, "times")
        return views.repeat_interleave(self.domain, operands[0], dim, times)

    def _slice(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        result = operands[0]
        bounds = zip(*(integers(op, name) for name in ("offsets", "sizes", "strides")), strict=True)
        for dim, (offset, size, stride) in enumerate(bounds):
            stop = offset + (size - 1) * stride + 1
            result = self.domain.part(result, dim, offset, stop, stride)
        return result

    def _concat(self, op: Operation, operands: list[Tensor[A]]) -> Tensor[A]:
        return views.concatenate(self.domain, operands, integer(op, "dim"))


def _result_shape(op: Operation) -> tuple[int, ...]:
    return shape_of(op.results[0])
