"""Functions in f64 whose casts round: what is left of rounding where a program asks for it."""

from collections.abc import Collection

import numpy as np
from xdsl.ir import Operation, OpResult

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats, round_to
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import element_type_of
from mirage_mlir.interpreters.tensors import Tensor


def rounds(op: Operation) -> bool:
    """Whether an operator is a cast to a type with fewer numbers, or with others."""
    if not isinstance(op, kernel.CastOp):
        return False
    before, after = (element_type_of(value.type) for value in (op.input, op.result))
    return before != after and after != "f32"


class RoundedCasts(KernelInterpreter[Floats]):
    """Runs functions of kernel operators in f64, with the rounding of their casts but for some."""

    def __init__(self, without: Collection[Operation] = ()):
        super().__init__(FloatDomain(rounding=False), sparse=True)
        self._without = without
        self.values: dict[OpResult, Tensor[Floats]] = {}
        """What was computed."""

    def _results(self, op: Operation, operands: list[Tensor[Floats]]) -> list[Tensor[Floats]]:
        found = super()._results(op, operands)
        if rounds(op) and op not in self._without:
            found = [_rounded(each, op.results[0]) for each in found]
        self.values.update(zip(op.results, found, strict=True))
        return found


def _rounded(x: Tensor[Floats], value: OpResult) -> Tensor[Floats]:
    element_type = element_type_of(value.type)
    with np.errstate(all="ignore"):
        return x.mapped(lambda array: round_to(array, element_type))
