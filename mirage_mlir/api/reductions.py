"""Products, reductions and norms of a graph; reduced dimensions stay, with size 1."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mirage_mlir.api.arguments import dims_of, finite, integers, string
from mirage_mlir.api.rearrangements import Rearrangements
from mirage_mlir.api.tensor import Tensor, dim_of_tensor, dims_of_tensor
from mirage_mlir.dialects import kernel


class Reductions(Rearrangements):
    """Adds operators that bring elements together; norms reshape their weights."""

    def matmul(self, lhs: Tensor, rhs: Tensor, precision: str | None = None) -> Tensor:
        """
        The product of the last two dimensions; those before broadcast.

        With `precision="tf32"` the operands, in float32, may be rounded to tf32.
        """
        operands = self._value(lhs), self._value(rhs)
        if precision is not None:
            string(precision, "precision")
        return self._add(kernel.MatmulOp, *operands, precision=precision)

    def reduction(self, x: Tensor, dim: int | Sequence[int]) -> Tensor:
        """The sum over `dim`; the same as `reduce_sum`."""
        return self.reduce_sum(x, dim)

    def reduce_sum(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        """The sum over `dims`."""
        return self._add(kernel.ReduceSumOp, self._value(x), dims_of(dims_of_tensor(x), dims))

    def reduce_max(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        """The maximum over `dims`."""
        return self._add(kernel.ReduceMaxOp, self._value(x), dims_of(dims_of_tensor(x), dims))

    def reduce_mean(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        """The mean over `dims`."""
        return self._add(kernel.ReduceMeanOp, self._value(x), dims_of(dims_of_tensor(x), dims))

    def cumsum(self, x: Tensor, dim: int) -> Tensor:
        """
        Inclusive prefix sums: element i along `dim` is the sum of the elements up to i.

        The result has the shape and the element type of `x`; sums are in float32.

        Raises:
            ValueError: `x` has no dimension `dim` (negative ones count from the last).
        """
        return self._add(kernel.CumsumOp, self._value(x), dim_of_tensor(x, dim))

    def rms_norm(
        self,
        x: Tensor,
        weight: Tensor | None = None,
        *,
        normalized_shape: Sequence[int] | None = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """
        `x / sqrt(mean(x ** 2) + eps) * weight` over the last dimension.

        `normalized_shape`, as PyTorch has it, is checked when given. The weight is a vector;
        leading dimensions of size 1 are dropped.
        """
        self._check_normalized(x, normalized_shape)
        return self._add(kernel.RmsNormOp, self._value(x), self._vector(weight), finite(eps, "eps"))

    def layer_norm(
        self,
        x: Tensor,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        *,
        normalized_shape: Sequence[int] | None = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """`(x - mean(x)) / sqrt(var(x) + eps) * weight + bias` over the last dimension."""
        self._check_normalized(x, normalized_shape)
        return self._add(
            kernel.LayerNormOp,
            self._value(x),
            self._vector(weight),
            self._vector(bias),
            finite(eps, "eps"),
        )

    def softmax(self, x: Tensor, dim: int = -1) -> Tensor:
        """`exp(x) / sum(exp(x))` along `dim`."""
        return self._add(kernel.SoftmaxOp, self._value(x), dim_of_tensor(x, dim))

    def _check_normalized(self, x: Tensor, normalized_shape: Sequence[int] | None) -> None:
        if normalized_shape is None:
            return
        if (shape := tuple(integers(normalized_shape, "normalized_shape"))) != dims_of_tensor(x)[
            -1:
        ]:
            raise ValueError(
                f"normalized_shape is {shape}; norms are over the last dimension, "
                f"{dims_of_tensor(x)[-1:]} here"
            )

    def _vector(self, tensor: Tensor | None) -> SSAValue | None:
        if tensor is None:
            return None
        if len(dims_of_tensor(tensor)) > 1 and dims_of_tensor(tensor)[:-1] == (1,) * (
            len(dims_of_tensor(tensor)) - 1
        ):
            tensor = self.reshape(tensor, dims_of_tensor(tensor)[-1:])
        return self._value(tensor)
