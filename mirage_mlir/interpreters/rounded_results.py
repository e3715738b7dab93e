"""Functions in f64 in which nothing but the narrow results of operators is rounded."""

from collections.abc import Collection

import numpy as np
from xdsl.ir import Operation, OpResult

from mirage_mlir.interpreters.float_domain import FloatDomain, Floats, round_to
from mirage_mlir.interpreters.kernel import VIEWS, KernelInterpreter
from mirage_mlir.interpreters.operators import element_type_of, mnemonic
from mirage_mlir.interpreters.tensors import Tensor


def rounds(op: Operation) -> bool:
    """Whether an operator rounds what it computes to a type of less than 32 bits."""
    return mnemonic(op) not in VIEWS and any(map(_is_narrow, op.results))


def _is_narrow(value: OpResult) -> bool:
    return element_type_of(value.type) not in ("f32", "f64")


class RoundedResults(KernelInterpreter[Floats]):
    """Runs functions of kernel operators in f64 with the rounding of results, but for some."""

    def __init__(self, without: Collection[Operation] = ()):
        super().__init__(FloatDomain(rounding=False), sparse=True)
        self._without = without
        self.values: dict[OpResult, Tensor[Floats]] = {}
        """What was computed."""

    def _results(self, op: Operation, operands: list[Tensor[Floats]]) -> list[Tensor[Floats]]:
        found = super()._results(op, operands)
        if rounds(op) and op not in self._without:
            found = [_rounded(*each) for each in zip(found, op.results, strict=True)]
        self.values.update(zip(op.results, found, strict=True))
        return found


def _rounded(x: Tensor[Floats], value: OpResult) -> Tensor[Floats]:
    element_type = element_type_of(value.type)
    with np.errstate(all="ignore"):
        return x.mapped(lambda array: round_to(array, element_type))
