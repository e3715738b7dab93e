"""Every operator of the kernel dialect as PyTorch, as the peers of a benchmark have it."""

from typing import Any

import pytest
from numpy_reference import error
from operators import OPERATORS, Operator
from optional_packages import package
from peers.from_program import torch_text

from mirage_mlir.driver.source import functions

torch: Any = package("torch")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_values_of_torch(operator: Operator) -> None:
    (function,) = functions(operator.graph("f32").to_module())
    inputs = operator.inputs("f32", seed=7)
    # There are GPUs where benchmarks run; here numbers lie in host memory.
    text = torch_text(function, wide=True).replace('device="cuda"', 'device="cpu"')
    names: dict[str, Any] = {"torch": torch, "functional": torch.nn.functional}
    exec(text, names)
    found = names["program"](*(torch.from_numpy(each).double() for each in inputs))
    wanted = operator.wanted(inputs)
    assert found.shape == wanted.shape
    assert error(found.numpy(), wanted) < 1e-6
