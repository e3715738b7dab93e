"""Kernels as operators of torch: values and gradients against torch's own, in one process."""

from typing import Any

import pytest
from exact_runs import exact_run
from optional_packages import package
from sampling import sampled
from xdsl.dialects.func import FuncOp

import mirage_mlir as mi
from mirage_mlir.passes.gradients.backward import backward

pytestmark = pytest.mark.usefixtures("shared_cache")

DTYPES = ["float16", "bfloat16", "float32"]

ACCURATE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5}
"""Relative in the 2-norm: of gradients, which have a few roundings."""


@pytest.fixture(scope="module")
def torch() -> Any:
    return package("torch")


@pytest.fixture(scope="module")
def ours(torch: Any) -> Any:
    """The module, which imports torch."""
    from mirage_mlir import torch as module

    return module


def close(torch: Any, found: Any, wanted: Any, dtype: str) -> bool:
    found, wanted = found.detach().double(), wanted.detach().double()
    return bool(torch.dist(found, wanted) <= ACCURATE[dtype] * wanted.norm())


@pytest.mark.parametrize("dtype", sampled(list(DTYPES), 3))
def test_rms_norm(torch: Any, ours: Any, dtype: str) -> None:
    generator = torch.Generator().manual_seed(1)
    kind = getattr(torch, dtype)
    x, g = (torch.randn(2, 3, 64, generator=generator).to(kind) for _ in range(2))
    norm = ours.RMSNorm(64, dtype=kind)
    norm.weight.data.copy_(torch.randn(64, generator=generator))
    x.requires_grad_()
    y = norm(x)
    y.backward(g)
    # torch's own in float64: of what was rounded to the type.
    exact = x.detach().double().requires_grad_()
    weight = norm.weight.detach().double().requires_grad_()
    wanted = torch.nn.functional.rms_norm(exact, (64,), weight, 1e-5)
    wanted.backward(g.double())
    assert y.dtype is x.grad.dtype is norm.weight.grad.dtype is kind
    assert close(torch, y, wanted, dtype)
    assert close(torch, x.grad, exact.grad, dtype)
    assert close(torch, norm.weight.grad, weight.grad, dtype)


def test_torch_sees_through(torch: Any, ours: Any) -> None:
    """By torch's own checks of operators, by torch.compile and by torch.export."""
    x, weight = torch.randn(2, 3, 64, requires_grad=True), torch.randn(64, requires_grad=True)
    torch.library.opcheck(torch.ops.mirage_mlir.rms_norm.default, (x, weight, 1e-5))
    norm = ours.RMSNorm(64)

    def program(x: Any) -> Any:
        return norm(x).relu()

    compiled = torch.compile(program, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(x), norm(x).relu())
    compiled(x).sum().backward()
    assert x.grad is not None
    exported = torch.export.export(norm, (x.detach(),))
    assert torch.equal(exported.module()(x), norm(x))


def test_what_does_not_fit(torch: Any, ours: Any) -> None:
    with pytest.raises(TypeError, match=r"weight has type torch\.float16, and x torch\.float32"):
        ours.rms_norm(torch.zeros(2, 4), torch.zeros(4).half())
    with pytest.raises(ValueError, match=r"weight has shape \(3,\); rows are \(4,\)"):
        ours.rms_norm(torch.zeros(2, 4), torch.zeros(3))
    with pytest.raises(TypeError, match="float64 is not supported"):
        ours.rms_norm(torch.zeros(2, 4).double(), torch.zeros(4).double())
    with pytest.raises(ValueError, match="normalized_shape has one dimension here"):
        ours.RMSNorm((2, 4))


def graph_of_two_results() -> mi.KernelGraph:
    graph = mi.new_kernel_graph("two")
    x = graph.new_input(dims=(4, 8), dtype=mi.float32)
    w = graph.new_input(dims=(8, 6), dtype=mi.float32)
    product = x @ w
    graph.mark_output(graph.silu(product), graph.exp(product))
    return graph


@pytest.mark.usefixtures("programs_called")
def test_any_graph(torch: Any, ours: Any) -> None:
    """Also where a result is not used, and its gradient is none."""
    call = ours.operator(graph_of_two_results())
    x, w = torch.randn(4, 8, requires_grad=True), torch.randn(8, 6, requires_grad=True)
    torch.library.opcheck(call, (x, w))
    one, _ = call(x, w)
    found = torch.autograd.grad(one.square().sum(), (x, w))
    product = torch.nn.functional.silu(x @ w)
    wanted = torch.autograd.grad(product.square().sum(), (x, w))
    assert all(close(torch, *pair, "float32") for pair in zip(found, wanted, strict=True))


def test_gradcheck(torch: Any) -> None:
    """By torch's differences in float64, of programs that are interpreted without rounding."""
    graph = mi.new_kernel_graph("f")
    x, w, v = (graph.new_input(dims=dims, dtype=mi.float32) for dims in ((3, 4), (4,), (4, 2)))
    graph.mark_output(graph.softmax(graph.rms_norm(x, w) @ v))
    function = graph.to_module().body.block.first_op
    assert isinstance(function, FuncOp)
    gradient = backward(function, range(3))

    class Program(torch.autograd.Function):
        """The program, and its gradient program."""

        @staticmethod
        def forward(ctx: Any, *tensors: Any) -> Any:
            ctx.save_for_backward(*tensors)
            return torch.from_numpy(exact_run(function, [each.numpy() for each in tensors])[0])

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            given = [each.numpy() for each in (*ctx.saved_tensors, *gradients)]
            return tuple(torch.from_numpy(each) for each in exact_run(gradient, given))

    generator = torch.Generator().manual_seed(0)
    inputs = [
        torch.randn(*dims, generator=generator, dtype=torch.float64, requires_grad=True)
        for dims in ((3, 4), (4,), (4, 2))
    ]
    assert torch.autograd.gradcheck(Program.apply, inputs)
