"""Every operator alone: a search, a proof, machine code without spills, the right values."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from lowered_kernels import Array
from numpy_reference import TOLERANCE, error
from operators import CHAINS, NORMS, OPERATORS, PRODUCTS, TYPES, Operator
from sampling import EVERYTHING, sampled
from xdsl.dialects import gpu

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import compiler_context, parse_program
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.pipelines import lowering_passes


def cases() -> Iterator[Any]:
    """
    What has code of its own for f32 in that, too (samples: a third of it), others in one type.

    f16 and bf16 differ in single instructions, and operators of one kind take turns. The type of an
    elementwise operator, reduction or view matters to its loads and stores alone.
    """
    for number, operator in enumerate(OPERATORS):
        both = operator in [*PRODUCTS, *NORMS, *CHAINS]
        both = both and (EVERYTHING or number % 3 == 0)
        # Also of those that samples have, every third, each type in turn.
        turn = number + number // 3
        first = TYPES[number % 2] if operator in PRODUCTS or both else TYPES[turn % 3]
        for element_type in [first, "f32"] if both else [first]:
            yield pytest.param(operator, element_type, id=f"{operator.name}-{element_type}")


@pytest.mark.parametrize(("operator", "element_type"), sampled(list(cases()), 4))
def test_operator(operator: Operator, element_type: str) -> None:
    compiled = operator.graph(element_type).superoptimize(compile_for=["sm_90a"])
    (code,) = compiled.artifact.targets
    assert code.resources["spill_bytes"] == 0
    assert code.resources["stack_bytes"] == 0
    inputs = operator.inputs(element_type, seed=2)
    wanted = operator.wanted(inputs)
    (spec,) = compiled.artifact.outputs
    output = compiled(
        [array.astype(np.float16) if element_type == "f16" else array for array in inputs]
    )
    assert output.shape == wanted.shape
    assert error(output, wanted) <= TOLERANCE[spec.element_type.value]
    # Without the tensor core a product takes the interpreter of threads too long.
    if operator not in PRODUCTS or element_type != "f32":
        assert (
            error(by_threads(compiled.ugraph, inputs), wanted) <= TOLERANCE[spec.element_type.value]
        )


def by_threads(ugraph: str, inputs: list[Array]) -> Array:
    """What the lowered kernels of a uGraph compute, thread by thread."""
    module = parse_program(ugraph, "ugraph.mlir")
    for each in lowering_passes("sm_90a"):
        each.apply(compiler_context(), module)
    (kernels,) = [op for op in module.ops if isinstance(op, gpu.ModuleOp)]
    (output,) = run_kernels(kernels, inputs)
    return output


def test_all_operators_are_there() -> None:
    """The list leaves none out but graphs, and names each case once."""
    names = [operator.name for operator in OPERATORS]
    assert len(set(names)) == len(names)
    modules = [operator.graph("f16").to_module() for operator in OPERATORS]
    built = {op.name for module in modules for op in module.walk()}
    defined = {op.name for op in kernel.Kernel.operations}
    assert defined - built == {"kernel.graph_defined"}
