"""Running a function of our dialects on numpy arrays."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from mirage_mlir.interpreters.domain import AnyArray
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats, round_to
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import element_type_of, shape_of

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
"""numpy has no bf16 and no 8-bit floats: such a result is an f32 array that holds their values."""


def run_function(
    function: FuncOp, inputs: Sequence[AnyArray], *, rounding: bool = True
) -> list[AnyArray]:
    """
    What a function returns for numpy inputs, every block and every iteration run literally.

    Args:
        function: a function of kernel operators and graphs.
        inputs: one array per argument, of its shape; elements are rounded to the argument's type.
        rounding: compute in f32 and round results to their element types, as a kernel does;
            without, compute in f64, round nothing, and return f64.

    Raises:
        ValueError: the number of inputs or a shape is wrong.
        NotInterpretable: an operation has no interpretation.
    """
    arguments = function.body.block.args
    if len(inputs) != len(arguments):
        name = function.sym_name.data
        raise ValueError(f"@{name} takes {len(arguments)} inputs, got {len(inputs)}")
    interpreter = KernelInterpreter(FloatDomain(rounding=rounding))
    tensors = [
        interpreter.domain.literal(_input(array, argument, number, rounding))
        for number, (array, argument) in enumerate(zip(inputs, arguments, strict=True))
    ]
    results = interpreter.run(function, tensors)
    outputs = function.body.block.last_op
    assert isinstance(outputs, ReturnOp)
    return [
        # A copy that one may write to, and an array for rank 0, too.
        np.array(interpreter.domain.expanded(result)[0], _dtype(value) if rounding else np.float64)
        for result, value in zip(results, outputs.operands, strict=True)
    ]


def _dtype(value: SSAValue) -> type[np.floating]:
    return DTYPES.get(element_type_of(value.type), np.float32)


def _input(array: AnyArray, argument: SSAValue, number: int, rounding: bool) -> Floats:
    """An input as the domain takes it, with one run, and rounded to its element type."""
    shape = shape_of(argument)
    if array.shape != shape:
        raise ValueError(f"input {number} has shape {array.shape}, expected {shape}")
    element_type = element_type_of(argument.type)
    exact = array.astype(np.float32 if rounding else np.float64)[None]
    with np.errstate(over="ignore"):
        return round_to(exact, element_type)
