"""Every operator alone: a search, a proof, machine code without spills, the right values."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy_reference import TOLERANCE, error
from operators import CHAINS, NORMS, OPERATORS, PRODUCTS, SCANS, TYPES, Operator
from xdsl.dialects import gpu
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import alone, compiler_context, functions
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.patterns.decompose import take_apart_unsearched
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.superoptimize import candidates


def cases() -> Iterator[Any]:
    """
    What has code of its own for f32 in that and in f16 or bf16, the others in one of the three.

    f16 and bf16 differ in single instructions, and operators of one kind take turns. The type of an
    elementwise operator, reduction or view matters to its loads and stores alone.
    """
    for number, operator in enumerate(OPERATORS):
        both = operator in [*SCANS, *PRODUCTS, *NORMS, *CHAINS]
        for element_type in [TYPES[number % 2], "f32"] if both else [TYPES[(number + 1) % 3]]:
            yield pytest.param(operator, element_type, id=f"{operator.name}-{element_type}")


@pytest.mark.parametrize(("operator", "element_type"), list(cases()))
def test_operator(operator: Operator, element_type: str) -> None:
    compiled = operator.graph(element_type).superoptimize(compile_for=["sm_90a"])
    (code,) = compiled.artifact.targets
    assert code.resources["spill_bytes"] == 0
    assert code.resources["stack_bytes"] == 0
    inputs = operator.inputs(element_type, seed=2)
    output = compiled(
        [array.astype(np.float16) if element_type == "f16" else array for array in inputs]
    )
    wanted = operator.wanted(inputs)
    assert output.shape == wanted.shape
    (spec,) = compiled.artifact.outputs
    assert error(output, wanted) <= TOLERANCE[spec.element_type.value]


@pytest.mark.parametrize("number", range(len(OPERATORS)), ids=[each.name for each in OPERATORS])
def test_kernels(number: int) -> None:
    """The lowered kernels of two candidates, thread by thread; each operator in one type."""
    operator = OPERATORS[number]
    # Without the tensor core a product takes the interpreter too long.
    element_type = TYPES[number % 2 if operator in PRODUCTS else number % 3]
    (function,) = functions(operator.graph(element_type).to_module())
    inputs = operator.inputs(element_type, seed=3)
    wanted = operator.wanted(inputs)
    result_type = str(kernel.tensor_type(results_of(function)[0]).element_type)
    take_apart_unsearched(function)
    # The second and third are mostly the first one with other sizes of blocks.
    for candidate in islice(candidates(function), 0, 4, 3):
        module = alone(candidate.function)
        for each in lowering_passes("sm_90a"):
            each.apply(compiler_context(), module)
        (kernels,) = [op for op in module.ops if isinstance(op, gpu.ModuleOp)]
        (output,) = run_kernels(kernels, inputs)
        assert error(output, wanted) <= TOLERANCE[result_type]


def results_of(function: FuncOp) -> Sequence[SSAValue]:
    """What a function returns."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last.arguments


def test_all_operators_are_there() -> None:
    """The list leaves none out but graphs, and names each case once."""
    names = [operator.name for operator in OPERATORS]
    assert len(set(names)) == len(names)
    modules = [operator.graph("f16").to_module() for operator in OPERATORS]
    built = {op.name for module in modules for op in module.walk()}
    defined = {op.name for op in kernel.Kernel.operations}
    assert defined - built == {"kernel.graph_defined"}
