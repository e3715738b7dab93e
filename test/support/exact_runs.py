"""Functions of kernel operators in float64, on inputs that nothing rounds."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.float_domain import FloatDomain
from mirage_mlir.interpreters.kernel import KernelInterpreter

Array = NDArray[np.float64]


def exact_run(function: FuncOp, inputs: Sequence[Array]) -> list[Array]:
    """What `function` returns for inputs of the shapes of its arguments."""
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    tensors = [interpreter.domain.literal(array[None]) for array in inputs]
    results = interpreter.run(function, tensors)
    return [interpreter.domain.expanded(result)[0].astype(np.float64) for result in results]
