"""Every operator alone: a search, a proof, machine code without spills, the right values."""

import numpy as np
import pytest
from numpy_reference import TOLERANCE, error
from operators import OPERATORS, TYPES, Operator

from mirage_mlir.dialects import kernel


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
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


def test_all_operators_are_there() -> None:
    """The list leaves none out but graphs, and names each case once."""
    names = [operator.name for operator in OPERATORS]
    assert len(set(names)) == len(names)
    modules = [operator.graph("f16").to_module() for operator in OPERATORS]
    built = {op.name for module in modules for op in module.walk()}
    defined = {op.name for op in kernel.Kernel.operations}
    assert defined - built == {"kernel.graph_defined"}
