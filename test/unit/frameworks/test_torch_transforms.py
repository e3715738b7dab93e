"""Kernels as operators of torch under checkpointing, `torch.func` and forward-mode derivatives."""

import copy
from typing import Any

import pytest
from optional_packages import package

import mirage_mlir as mi

pytestmark = pytest.mark.usefixtures("shared_cache")


@pytest.fixture(scope="module")
def torch() -> Any:
    return package("torch")


@pytest.fixture(scope="module")
def call(torch: Any) -> Any:
    """Two results of two inputs."""
    from mirage_mlir.torch import operator

    graph = mi.new_kernel_graph("transformed")
    x = graph.new_input(dims=(4, 8), dtype=mi.float32, name="x")
    w = graph.new_input(dims=(8, 6), dtype=mi.float32, name="w")
    graph.mark_output(graph.tanh(x @ w), graph.reduce_sum(x * x, 1))
    return operator(graph)


def program(x: Any, w: Any) -> Any:
    return (x @ w).tanh(), (x * x).sum(1, keepdim=True)


@pytest.fixture
def inputs(torch: Any) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(4, 8, generator=generator), torch.randn(8, 6, generator=generator)


def loss(function: Any) -> Any:
    def total(x: Any, w: Any) -> Any:
        first, second = function(x, w)
        return first.square().sum() + second.sum()

    return total


def test_gradients_of_torch_func(torch: Any, call: Any, inputs: tuple[Any, Any]) -> None:
    grad, jacrev = torch.func.grad, torch.func.jacrev
    for found, wanted in [
        (grad(loss(call), (0, 1))(*inputs), grad(loss(program), (0, 1))(*inputs)),
        (jacrev(call)(*inputs), jacrev(program)(*inputs)),
    ]:
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_gradients_by_sample(torch: Any, call: Any, inputs: tuple[Any, Any]) -> None:
    batch = torch.stack([inputs[0], -2 * inputs[0], inputs[0] + 1])
    found, wanted = (
        torch.func.vmap(torch.func.grad(loss(each)), (0, None))(batch, inputs[1])
        for each in (call, program)
    )
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        torch.vmap(call, (0, None))(batch, inputs[1]),
        torch.vmap(program, (0, None))(batch, inputs[1]),
    )


def test_a_pass_that_is_computed_again(torch: Any, call: Any, inputs: tuple[Any, Any]) -> None:
    """As checkpointing does: what was kept is given once."""
    x, w = (each.clone().requires_grad_() for each in inputs)
    result = torch.utils.checkpoint.checkpoint(loss(call), x, w, use_reentrant=False)
    found = torch.autograd.grad(result, (x, w))
    wanted = torch.autograd.grad(loss(program)(x, w), (x, w))
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_tangents_are_refused(torch: Any, call: Any, inputs: tuple[Any, Any]) -> None:
    """Before, they were zeros."""
    x, w = inputs
    forward = torch.autograd.forward_ad
    with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
        torch.func.jvp(call, inputs, inputs)
    with forward.dual_level():
        dual = forward.make_dual(x, x)
        with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
            call(dual, w)
        assert torch.equal(call(x, w)[0], call(forward.unpack_dual(dual).primal, w)[0])


def test_second_derivatives_are_refused(torch: Any, call: Any, inputs: tuple[Any, Any]) -> None:
    x, w = inputs[0].clone().requires_grad_(), inputs[1]
    (first,) = torch.autograd.grad(loss(call)(x, w), x, create_graph=True)
    with pytest.raises(NotImplementedError, match=r"has no gradient itself.*backward\(\) twice"):
        first.sum().backward()


def test_shapes_are_checked_without_values(torch: Any, call: Any, inputs: tuple[Any, Any]) -> None:
    """While a function is traced, as in the call."""
    x, w = (each.to("meta") for each in inputs)
    assert call(x, w)[0].shape == (4, 6)
    with pytest.raises(ValueError, match=r"input 0 \('x'\) has shape \(2, 8\), not \(4, 8\)"):
        call(x[:2], w)
    with pytest.raises(TypeError, match=r"input 1 \('w'\) has type torch.float16, not torch.float"):
        call(x, w.half())


def test_modules_with_an_operator_are_copied(torch: Any, call: Any) -> None:
    layer = torch.nn.Identity()
    layer.call = call
    assert copy.deepcopy(layer).call is call


def test_rms_norm_of_no_weight(torch: Any, inputs: tuple[Any, Any]) -> None:
    from mirage_mlir.torch import rms_norm

    x = inputs[0]
    wanted = torch.nn.functional.rms_norm(x, (8,), eps=1e-5)
    torch.testing.assert_close(rms_norm(x, None), wanted)
    with pytest.raises(ValueError, match="x has no dimension"):
        rms_norm(x[0, 0], None)


def test_compiled_functions(torch: Any, inputs: tuple[Any, Any]) -> None:
    """They are compiled by a call outside, and then as operators are."""
    compiled = mi.compile(program)
    grad = torch.func.grad
    with pytest.raises(mi.UnsupportedOperation, match=r"under a transform of torch.func \(grad"):
        grad(loss(compiled))(*inputs)
    compiled(*inputs)
    found, wanted = (grad(loss(each), (0, 1))(*inputs) for each in (compiled, program))
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError, match=r"arguments are dense tensors, not sparse.*sparse_coo"):
        compiled(inputs[0].to_sparse(), inputs[1])
