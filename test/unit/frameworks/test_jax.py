"""Kernels under JAX's transformations, and functions of JAX that become kernels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ffi_frames import Frame
from optional_packages import package
from runtime_fakes import (
    FakeDriver,
    artifact,
    code,
    code_with_packed,
    following,
    with_constant,
)

import mirage_mlir as mi
from mirage_mlir.runtime import jax_calls, xla_ffi


@pytest.fixture(scope="module")
def jax() -> Any:
    return package("jax")


@pytest.fixture(scope="module")
def ours(jax: Any) -> Any:
    """The module, which imports JAX."""
    from mirage_mlir import jax as module

    return module


def graph_of_two() -> mi.KernelGraph:
    """RMSNorm and a matmul, and twice the input."""
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 64), dtype=mi.float32, name="x")
    w = graph.new_input(dims=(64, 48), dtype=mi.float32, name="w")
    graph.mark_output(graph.rms_norm(x) @ w, graph.scale(x, 2.0))
    return graph


@pytest.fixture(scope="module")
def kernel() -> mi.CompiledKernel:
    return graph_of_two().superoptimize(compile_for=["sm_90a"])


@pytest.fixture(scope="module")
def tensors(jax: Any) -> tuple[Any, Any]:
    x, w = jax.random.split(jax.random.key(3))
    return jax.random.normal(x, (4, 64)), jax.random.normal(w, (64, 48)) / 8


def same(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-5))


# Calls


def test_jit(jax: Any, kernel: mi.CompiledKernel, tensors: tuple[Any, Any]) -> None:
    """Between other operations, and in a loop; the bits are those of a call outside."""
    x, w = tensors

    def function(x: Any, w: Any) -> Any:
        y, twice = kernel(x + 1, w)
        return y * 2, twice

    y, twice = jax.jit(function)(x, w)
    wanted, _ = kernel(x + 1, w)
    assert np.array_equal(y, wanted * 2)
    assert np.array_equal(twice, 2 * (x + 1))

    def twice_of(carried: Any, _: Any) -> tuple[Any, None]:
        return kernel(carried, w)[1], None

    looped, _ = jax.lax.scan(twice_of, x, None, length=3)
    assert np.array_equal(looped, 8 * x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_element_types(jax: Any, dtype: str) -> None:
    graph = mi.new_kernel_graph()
    x = graph.new_input(dims=(3, 5), dtype=dtype)
    graph.mark_output(graph.exp(x))
    kernel = graph.superoptimize(compile_for=["sm_90a"])
    values = jax.random.normal(jax.random.key(0), (3, 5), dtype)
    found = jax.jit(kernel)(values)
    assert found.dtype == values.dtype
    assert np.array_equal(found, kernel(values))


Call = Callable[[mi.CompiledKernel, Any, Any], Any]

WRONG: list[tuple[Call, type[Exception], str]] = [
    (lambda k, x, w: k(x.T, w), ValueError, r"input 0 \('x'\) has shape \(64, 4\), not \(4, 64\)"),
    (lambda k, x, w: k(x, w.astype("bfloat16")), TypeError, r"input 1 \('w'\) has type bfloat16"),
    (lambda k, x, w: k(x), TypeError, "takes 2 inputs, not 1"),
    (lambda k, x, w: k(x, w, out=x), TypeError, r"out= has no meaning under jax\.jit"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_what_does_not_fit_is_said_while_tracing(
    jax: Any,
    kernel: mi.CompiledKernel,
    tensors: tuple[Any, Any],
    call: Call,
    error: type[Exception],
    message: str,
) -> None:
    def function(x: Any, w: Any) -> Any:
        return call(kernel, x, w)

    with pytest.raises(error, match=message):
        jax.jit(function).trace(*tensors)


def test_batches_are_refused(jax: Any, kernel: mi.CompiledKernel, tensors: tuple[Any, Any]) -> None:
    x, w = tensors

    def first(x: Any) -> Any:
        return kernel(x, w)[0]

    for function in (first, jax.jit(first)):
        with pytest.raises(NotImplementedError, match=r"jax\.vmap asks for 2 calls of a kernel"):
            jax.vmap(function)(jax.numpy.stack([x, x]))


def test_packed_kernels_are_refused(jax: Any) -> None:
    kernel = mi.CompiledKernel(artifact(code_with_packed()))
    like = [jax.ShapeDtypeStruct(shape, "float16") for shape in ((4, 8), (8, 16))]
    with pytest.raises(ValueError, match=r"compile it without pack=True"):
        jax.jit(kernel).trace(*like)


def test_launch(jax: Any) -> None:
    """On a GPU: XLA's stream, device and addresses; scratch memory is one of the results."""
    driver = FakeDriver()
    program = with_constant(artifact(following(code(scratch=1024))))
    kernel = mi.CompiledKernel(program, lambda: driver)
    like = [jax.ShapeDtypeStruct(shape, "float16") for shape in ((4, 8), (8, 16))]
    traced = jax.jit(kernel).trace(*like)
    assert "u8[1024]" in str(traced.jaxpr)

    (number,) = [key for key, each in jax_calls.kernels.items() if each is kernel]
    call = Frame(number, (4096, 8192), (12288, 16384), stream=100, device=1)
    jax_calls.launch(xla_ffi.Call(call.frame))
    first, second = driver.launches
    assert (first.stream, first.device) == (100, 1)
    assert first.arguments == [4096, 8192, 16384 + 768]
    assert second.arguments == [12288, 4096]
    # XLA may compute a constant just before, in the memory that it had in the last call.
    jax_calls.launch(xla_ffi.Call(call.frame))
    assert driver.early == ["f_kernel_1"] * 2


# Operators with gradients


def test_operator(jax: Any, ours: Any, tensors: tuple[Any, Any]) -> None:
    """Values and gradients, with and without `jax.jit`."""
    graph = mi.new_kernel_graph("f")
    a, b = (graph.new_input(dims=each.shape, dtype=mi.float32) for each in tensors)
    graph.mark_output(graph.tanh(a @ b), graph.scale(a, 2.0))
    made = ours.operator(graph, compile_for=["sm_90a"])

    def ours_of(x: Any, w: Any) -> Any:
        y, twice = made(x, w)
        return (y * y).sum() + twice.sum()

    def theirs(x: Any, w: Any) -> Any:
        y = jax.numpy.tanh(x @ w)
        return (y * y).sum() + 2 * x.sum()

    wanted = jax.value_and_grad(theirs, (0, 1))(*tensors)
    gradient = jax.value_and_grad(ours_of, (0, 1))
    for found in (gradient(*tensors), jax.jit(gradient)(*tensors)):
        assert all(jax.tree.leaves(jax.tree.map(same, found, wanted)))


# Functions


def layer(jax: Any, weight: Any) -> Callable[..., Any]:
    def layer(parameters: Any, x: Any, *, activation: str = "tanh") -> Any:
        """A layer."""
        y = (x * parameters["gain"]) @ weight
        return {"y": getattr(jax.nn, activation)(y), "more": (x + 1,)}

    return layer


def test_function(jax: Any, tensors: tuple[Any, Any], tmp_path: Path) -> None:
    """Containers in and out, arrays from outside, options, `jax.jit`, `jax.grad`, files."""
    x, weight = tensors
    parameters = {"gain": jax.numpy.full((64,), 1.5)}
    theirs = layer(jax, weight)
    found = mi.compile(theirs, compile_for=["sm_90a"])
    assert found.__doc__ == "A layer."
    wanted = theirs(parameters, x)
    assert all(jax.tree.leaves(jax.tree.map(same, found(parameters, x), wanted)))
    assert all(jax.tree.leaves(jax.tree.map(same, jax.jit(found)(parameters, x), wanted)))

    def total(parameters: Any, function: Callable[..., Any]) -> Any:
        return function(parameters, x)["y"].sum()

    gradients = jax.grad(total)(parameters, found)
    exact = jax.grad(total)(parameters, theirs)
    assert same(gradients["gain"], exact["gain"])

    inputs = found.kernel.artifact.inputs
    assert [each.name for each in inputs] == ["parameters_gain", "x", "captured0"]
    assert [each.constant for each in inputs] == [False, False, True]
    assert "proved: the normal forms are equal" in found.report()
    assert found.explain()
    found.save(tmp_path / "layer.mirage")
    # In the order of jax.tree.leaves, by the keys.
    _, y = mi.load(tmp_path / "layer.mirage")(parameters["gain"], x, weight)
    assert np.array_equal(y, found(parameters, x)["y"])

    other = found(parameters, x, activation="relu")["y"]
    assert same(other, theirs(parameters, x, activation="relu")["y"])
    assert repr(found) == "<CompiledFunction layer, 2 specializations>"


def test_masks(jax: Any, tensors: tuple[Any, Any]) -> None:
    """Booleans come in, from outside too, and go out."""
    x, _ = tensors
    outside = jax.numpy.arange(64) > 9

    def theirs(x: Any, mask: Any) -> Any:
        return jax.numpy.where(mask & outside, x, 0), x > 1

    found = mi.compile(theirs, compile_for=["sm_90a"])(x, x > 0)
    wanted = theirs(x, x > 0)
    assert found[1].dtype == bool
    assert np.array_equal(found[0], wanted[0])
    assert np.array_equal(found[1], wanted[1])


def test_functions_that_are_no_programs(jax: Any, tensors: tuple[Any, Any]) -> None:
    """The line of Python, or the argument, is named."""
    x, _ = tensors

    def root_of(x: Any) -> Any:
        return jax.numpy.cbrt(x) + 1

    def product(x: Any, ids: Any) -> Any:
        return x * ids

    root = mi.compile(root_of)
    with pytest.raises(
        mi.UnsupportedOperation, match=r"test_jax.py:\d+:\d+: error: 'stablehlo.cbrt"
    ):
        root(x)
    with pytest.raises(ValueError, match="is not compiled yet"):
        root.report()
    ids = mi.compile(product)
    with pytest.raises(
        mi.UnsupportedOperation,
        match=r"test_jax.py:\d+:1: error: .*takes tensor<64xi32> as argument 1 \(%ids\)",
    ):
        ids(x, jax.numpy.arange(64))
    with pytest.raises(TypeError, match="arguments are arrays or constants"):
        ids(x, {1, 2})
    with pytest.raises(
        mi.UnsupportedOperation, match=r"input 'x': dims are positive, not \(0, 8\)"
    ):
        mi.compile(root_of)(jax.numpy.ones((0, 8)))
