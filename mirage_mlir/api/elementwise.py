"""Elementwise operators of a graph; shapes broadcast as numpy's do."""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from mirage_mlir.api.arguments import finite, string
from mirage_mlir.api.construction import GraphBuilder
from mirage_mlir.api.tensor import Tensor, dims_of_tensor
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.types import element_attribute
from mirage_mlir.runtime.element_types import element_type_of

ROW_OPS: Mapping[str, Callable[..., Operation]] = kernel.ROW_OPS
"""Builders of operators whose classes are made from their rows: a value, then the parameters."""


class ElementwiseOperators(GraphBuilder):
    """Adds functions of each element of one tensor, or of two."""

    def _binary(
        self, make: type[kernel.BinaryOp], lhs: Tensor | float, rhs: Tensor | float
    ) -> Tensor:
        return self._add(make, self._operand(lhs, rhs), self._operand(rhs, lhs))

    def add(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs + rhs`."""
        return self._binary(kernel.AddOp, lhs, rhs)

    def sub(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs - rhs`."""
        return self._binary(kernel.SubOp, lhs, rhs)

    def mul(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs * rhs`."""
        if isinstance(lhs, Tensor) and not isinstance(rhs, Tensor):
            return self.scale(lhs, rhs)
        if isinstance(rhs, Tensor) and not isinstance(lhs, Tensor):
            return self.scale(rhs, lhs)
        return self._binary(kernel.MulOp, lhs, rhs)

    def div(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs / rhs`."""
        return self._binary(kernel.DivOp, lhs, rhs)

    def max(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """The larger of `lhs` and `rhs`, element by element."""
        return self._binary(kernel.MaxOp, lhs, rhs)

    def min(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """The smaller of `lhs` and `rhs`, element by element."""
        return self._binary(kernel.MinOp, lhs, rhs)

    def neg(self, x: Tensor) -> Tensor:
        """`-x`."""
        return self._add(ROW_OPS["neg"], self._value(x))

    def abs(self, x: Tensor) -> Tensor:
        """The magnitude of each element."""
        return self._add(ROW_OPS["abs"], self._value(x))

    def compare(self, lhs: Tensor | float, rhs: Tensor | float, predicate: str) -> Tensor:
        """1 where `lhs` and `rhs` are as `predicate` says (eq, ne, lt, le, gt, ge), 0 elsewhere."""
        left, right = self._operand(lhs, rhs), self._operand(rhs, lhs)
        return self._add(kernel.CompareOp, left, right, string(predicate, "predicate"))

    def select(self, condition: Tensor, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """
        `lhs` where `condition` is not 0, `rhs` where it is 0.

        One of both may be a number, or -inf: what is masked before a softmax.
        """
        left, right = (self._operand(each, condition, lowest=True) for each in (lhs, rhs))
        return self._add(kernel.SelectOp, self._value(condition), left, right)

    def where(self, condition: Tensor, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """The same as `select`, by numpy's name."""
        return self.select(condition, lhs, rhs)

    def exp(self, x: Tensor) -> Tensor:
        """`e ** x`."""
        return self._add(kernel.ExpOp, self._value(x))

    def log(self, x: Tensor) -> Tensor:
        """The natural logarithm."""
        return self._add(kernel.LogOp, self._value(x))

    def square(self, x: Tensor) -> Tensor:
        """`x * x`."""
        return self._add(kernel.SquareOp, self._value(x))

    def sqrt(self, x: Tensor) -> Tensor:
        """The square root."""
        return self._add(kernel.SqrtOp, self._value(x))

    def rsqrt(self, x: Tensor) -> Tensor:
        """`1 / sqrt(x)`."""
        return self._add(kernel.RsqrtOp, self._value(x))

    def sigmoid(self, x: Tensor) -> Tensor:
        """`1 / (1 + e ** -x)`."""
        return self._add(kernel.SigmoidOp, self._value(x))

    def silu(self, x: Tensor) -> Tensor:
        """`x * sigmoid(x)`."""
        return self._add(kernel.SiluOp, self._value(x))

    def gelu(self, x: Tensor, approximate: str = "none") -> Tensor:
        """`x * Phi(x)`; `approximate="tanh"` is the approximation that PyTorch calls so."""
        return self._add(kernel.GeluOp, self._value(x), string(approximate, "approximate"))

    def relu(self, x: Tensor) -> Tensor:
        """`max(x, 0)`."""
        return self._add(kernel.ReluOp, self._value(x))

    def tanh(self, x: Tensor) -> Tensor:
        """The hyperbolic tangent."""
        return self._add(kernel.TanhOp, self._value(x))

    def erf(self, x: Tensor) -> Tensor:
        """The error function."""
        return self._add(ROW_OPS["erf"], self._value(x))

    def expm1(self, x: Tensor) -> Tensor:
        """`e ** x - 1`, right for small `x` too."""
        return self._add(ROW_OPS["expm1"], self._value(x))

    def log1p(self, x: Tensor) -> Tensor:
        """`log(1 + x)`, right for small `x` too."""
        return self._add(ROW_OPS["log1p"], self._value(x))

    def sin(self, x: Tensor) -> Tensor:
        """The sine, of radians within 2 ** 20 of zero; NaN beyond."""
        return self._add(ROW_OPS["sin"], self._value(x))

    def cos(self, x: Tensor) -> Tensor:
        """The cosine, of radians within 2 ** 20 of zero; NaN beyond."""
        return self._add(ROW_OPS["cos"], self._value(x))

    def floor(self, x: Tensor) -> Tensor:
        """The largest integer that is not above `x`."""
        return self._add(ROW_OPS["floor"], self._value(x))

    def ceil(self, x: Tensor) -> Tensor:
        """The smallest integer that is not below `x`."""
        return self._add(ROW_OPS["ceil"], self._value(x))

    def round(self, x: Tensor) -> Tensor:
        """The integer nearest to `x`; of two, the even one."""
        return self._add(ROW_OPS["round"], self._value(x))

    def softcap(self, x: Tensor, cap: float) -> Tensor:
        """`cap * tanh(x / cap)`, for a `cap` above 0: scores of attention kept within it."""
        return self._add(ROW_OPS["softcap"], self._value(x), finite(cap, "cap"))

    def clamp(self, x: Tensor, min: float, max: float) -> Tensor:
        """`x` moved into `[min, max]`."""
        limits = (finite(min, "min"), finite(max, "max"))
        return self._add(kernel.ClampOp, self._value(x), *limits)

    def pow(self, x: Tensor, exponent: float) -> Tensor:
        """`x ** exponent`."""
        return self._add(kernel.PowOp, self._value(x), finite(exponent, "exponent"))

    def scale(self, x: Tensor, factor: float) -> Tensor:
        """`x * factor`."""
        return self._add(kernel.ScaleOp, self._value(x), finite(factor, "factor"))

    def cast(self, x: Tensor, dtype: object) -> Tensor:
        """`x` with another element type."""
        result = TensorType(element_attribute(element_type_of(dtype)), dims_of_tensor(x))
        return self._add(kernel.CastOp, self._value(x), result)
