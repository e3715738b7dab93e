"""Calls with tensors of torch and jax in host memory: interpreted, and results of the same kind."""

from typing import Any

import numpy as np
import pytest
from optional_packages import package

import mirage_mlir as mi
from mirage_mlir.runtime.element_types import ElementType

DTYPES = ["float16", "bfloat16", "float32"]

ACCURATE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-5}
"""Relative in the 2-norm: a few roundings of results and operands."""


@pytest.fixture(scope="module")
def torch() -> Any:
    return package("torch")


@pytest.fixture(scope="module")
def jax() -> Any:
    return package("jax")


@pytest.fixture(scope="module", params=DTYPES)
def kernel(request: pytest.FixtureRequest) -> mi.CompiledKernel:
    """RMSNorm and a matmul, small."""
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 64), dtype=request.param, name="x")
    w = graph.new_input(dims=(64, 48), dtype=request.param, name="w")
    graph.mark_output(graph.matmul(graph.rms_norm(x), w))
    return graph.superoptimize()


def dtype_of(kernel: mi.CompiledKernel) -> str:
    return kernel.artifact.inputs[0].element_type.array_name


def torch_inputs(torch: Any, kernel: mi.CompiledKernel) -> tuple[Any, Any]:
    """The second is a view: strides do not matter to the interpreter."""
    generator = torch.Generator().manual_seed(7)
    x, w = (torch.randn(shape, generator=generator) for shape in ((4, 64), (48, 64)))
    dtype = getattr(torch, dtype_of(kernel))
    return x.to(dtype), w.to(dtype).t()


def expected(torch: Any, x: Any, w: Any) -> Any:
    """In float64."""
    return torch.nn.functional.rms_norm(x.double(), (64,), eps=1e-5) @ w.double()


def distance(found: Any, wanted: Any) -> float:
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def test_torch(torch: Any, kernel: mi.CompiledKernel) -> None:
    x, w = torch_inputs(torch, kernel)
    result = kernel(x, w)
    assert isinstance(result, torch.Tensor)
    assert result.dtype is x.dtype
    wanted = expected(torch, x, w)
    assert distance(result.double().numpy(), wanted.numpy()) < ACCURATE[dtype_of(kernel)]
    out = torch.full((4, 48), torch.nan, dtype=x.dtype)
    assert kernel(x, w, out=out) is out
    assert torch.equal(out, result)


def test_jax(torch: Any, jax: Any, kernel: mi.CompiledKernel) -> None:
    tensors = torch_inputs(torch, kernel)
    x, w = (jax.numpy.asarray(each.float().numpy()).astype(dtype_of(kernel)) for each in tensors)
    result = kernel(inputs=[x, w])
    assert isinstance(result, jax.Array)
    assert result.dtype == x.dtype
    found, wanted = np.asarray(result, np.float64), kernel(*tensors).double().numpy()
    assert np.array_equal(found, wanted)
    with pytest.raises(TypeError, match="output 0 is a ArrayImpl that nobody can write to"):
        kernel(x, w, out=result)
    assert np.array_equal(np.asarray(jax.jit(kernel)(x, w), np.float64), wanted)


def test_gradients_are_not_lost(torch: Any, kernel: mi.CompiledKernel) -> None:
    x, w = torch_inputs(torch, kernel)
    w = torch.nn.Parameter(w)
    with pytest.raises(ValueError, match=r"input 1 \('w'\) requires a gradient"):
        kernel(x, w)
    with torch.no_grad():
        assert kernel(x, w).requires_grad is False
    with torch.inference_mode():
        kernel(x, w)


def test_what_does_not_fit(torch: Any, kernel: mi.CompiledKernel) -> None:
    x, w = torch_inputs(torch, kernel)
    with pytest.raises(TypeError, match=r"input 0 \('x'\) has type float64, not"):
        kernel(x.double(), w)
    with pytest.raises(ValueError, match=r"input 1 \('w'\) has shape \(48, 64\)"):
        kernel(x, w.t())
    with pytest.raises(TypeError, match=r"input 1 \('w'\) is a float, not a tensor"):
        kernel(x, 1.0)


def test_every_element_type_is_tried() -> None:
    assert DTYPES == [each.array_name for each in ElementType]


def test_results_of_rank_0(torch: Any) -> None:
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 8), dtype=mi.float32)
    graph.mark_output(graph.reshape(graph.reduce_sum(x, (0, 1)), ()))
    result = graph.superoptimize(compile_for=["sm_90a"])(torch.ones(4, 8))
    assert isinstance(result, torch.Tensor)
    assert result == 32
