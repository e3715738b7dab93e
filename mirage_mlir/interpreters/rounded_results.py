"""Functions of kernel operators in which their own results alone are rounded, or are noisy."""

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from mirage_mlir.interpreters.float_domain import NEIGHBOUR, FloatDomain, Floats, round_to
from mirage_mlir.interpreters.kernel import VIEWS, KernelInterpreter
from mirage_mlir.interpreters.operators import element_type_of, mnemonic
from mirage_mlir.interpreters.tensors import Tensor


def rounds(op: Operation) -> bool:
    """Whether an operator rounds what it computes to a type of less than 32 bits."""
    if mnemonic(op) in VIEWS or len(op.results) != 1:
        return False
    return element_type_of(op.results[0].type) not in ("f32", "f64")


class RoundedResults(KernelInterpreter[Floats]):
    """Runs functions in f64, and rounds what some operators compute to its element type."""

    def __init__(self, rounding: Collection[Operation]) -> None:
        super().__init__(FloatDomain(rounding=False), sparse=True)
        self._rounding = rounding

    def _results(self, op: Operation, operands: list[Tensor[Floats]]) -> list[Tensor[Floats]]:
        found = super()._results(op, operands)
        if op not in self._rounding or not rounds(op):
            return found
        element_type = element_type_of(op.results[0].type)
        with np.errstate(all="ignore"):
            return [each.mapped(partial(round_to, element_type=element_type)) for each in found]


class NoisyResults(KernelInterpreter[Floats]):
    """
    Runs functions as kernels do with luck: what is not exact in f32 becomes a neighbour.

    Before it is rounded to a type of less than 32 bits it is changed by more, `noise`: then it is
    the same number as a rule, and seldom its neighbour.
    """

    def __init__(self, noise: float, seed: Sequence[int]):
        super().__init__(FloatDomain(rounding=True), sparse=True)
        self._noise = noise
        self._random = np.random.default_rng(seed)
        self._exact = KernelInterpreter(FloatDomain(rounding=False), sparse=True)
        self._inexact: set[SSAValue] = set()

    def _result(self, op: Operation, operands: list[Tensor[Floats]]) -> Tensor[Floats]:
        value = super()._result(op, operands)
        before = not self._inexact.isdisjoint(op.operands)
        if mnemonic(op) in VIEWS or not operands:
            self._inexact.update(op.results if before else ())
            return value
        wide = [each.mapped(lambda x: x.astype(np.float64)) for each in operands]
        same = value.array == self._exact._result(op, wide).array
        if not rounds(op):
            self._inexact.update(op.results if before or not same.all() else ())
            changed = self._changed(value.array, NEIGHBOUR)
        else:
            # A number of few bits again, whatever it was.
            changed = self._changed(value.array, self._noise)
            same &= not before
        return Tensor(np.where(same, value.array, changed), value.dims)

    def _changed(self, x: Floats, noise: float) -> Floats:
        factors: NDArray[np.float64] = 1 + noise * self._random.uniform(-1, 1, x.shape)
        with np.errstate(all="ignore"):
            return (x * factors).astype(x.dtype)
