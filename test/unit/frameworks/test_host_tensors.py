"""Calls with tensors of torch and jax in host memory: interpreted, and results of the same kind."""

import copy
import pickle
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


class Flat(np.ndarray[Any, np.dtype[np.float32]]):
    """An array with rules of its own, as numpy.matrix has."""

    def __getitem__(self, index: object) -> Any:
        raise IndexError("of elements alone")


@pytest.fixture(scope="module")
def doubled() -> mi.CompiledKernel:
    graph = mi.new_kernel_graph("doubled")
    x = graph.new_input(dims=(3, 4), dtype=mi.float32, name="x")
    graph.mark_output(x * 2)
    return graph.superoptimize()


def test_outputs_that_overlap_themselves(torch: Any, doubled: mi.CompiledKernel) -> None:
    """Before, the last of the elements that are one was what was left."""
    x = torch.arange(12.0).reshape(3, 4)
    message = "output 0 is expanded: several of its elements are one in memory"
    with pytest.raises(ValueError, match=message):
        doubled(x, out=torch.zeros(1, 4).expand(3, 4))
    # A dimension of size 1 has any stride, and one that is transposed is as good.
    out = torch.zeros(4, 3).t()
    assert torch.equal(doubled(x, out=out), 2 * x)


def test_tensors_with_a_sign_to_come(torch: Any, doubled: mi.CompiledKernel) -> None:
    pairs = torch.arange(24.0).reshape(3, 4, 2)
    negative = torch.view_as_complex(pairs).conj().imag
    assert negative.is_neg()
    assert torch.equal(doubled(negative), 2 * negative.resolve_neg())
    with pytest.raises(TypeError, match="that nobody can write to"):
        doubled(pairs[..., 0].contiguous(), out=negative)


def test_tensors_without_elements(torch: Any, doubled: mi.CompiledKernel) -> None:
    x = torch.eye(4)[:3]
    with pytest.raises(TypeError, match=r"input 0 \('x'\) is sparse \(torch.sparse_coo\)"):
        doubled(x.to_sparse())
    with pytest.raises(ValueError, match="is on meta; kernels take tensors on a CUDA device, or"):
        doubled(x.to("meta"))
    with pytest.raises(TypeError, match=r"transform of torch.func.*mirage_mlir.torch.operator"):
        torch.vmap(doubled)(x[None])


def test_subclasses_of_arrays(doubled: mi.CompiledKernel) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(doubled(x.view(Flat)), 2 * x)


def test_copies_of_kernels(doubled: mi.CompiledKernel) -> None:
    """Of models that have one, and in other processes."""
    x = np.ones((3, 4), np.float32)
    for copied in (copy.deepcopy(doubled), pickle.loads(pickle.dumps(doubled))):
        assert np.array_equal(copied(x), 2 * x)


def test_copies_of_modules(torch: Any) -> None:
    """A method that is compiled is that of the copy."""
    norm = torch.nn.LayerNorm(8)
    norm.forward = mi.compile(norm.forward)
    copied = copy.deepcopy(norm)
    x = torch.arange(16.0).reshape(2, 8)
    with torch.no_grad():
        copied.weight.fill_(3)
        assert torch.allclose(copied(x), 3 * norm(x), atol=1e-6)


def test_gradients_of_a_kernel(jax: Any, doubled: mi.CompiledKernel) -> None:
    x = jax.numpy.ones((3, 4))
    for function in (doubled, jax.jit(doubled)):
        with pytest.raises(NotImplementedError, match=r"mirage_mlir\.jax\.operator"):
            jax.vjp(function, x)
