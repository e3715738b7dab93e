"""`mirage_mlir.torch` on tensors of a GPU: values, gradients, CUDA graphs, weights that change."""

import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rounded_values import close

import mirage_mlir as mi
from mirage_mlir.runtime.present_gpu import present_target


@pytest.fixture(scope="module")
def ours(torch: Any) -> Any:
    """The module, which imports torch."""
    from mirage_mlir import torch as module

    return module


def norm_of(torch: Any, ours: Any, columns: int, dtype: str) -> Any:
    """With a weight that is not one."""
    norm = ours.RMSNorm(columns, eps=1e-6, device="cuda", dtype=getattr(torch, dtype))
    norm.weight.data.normal_()
    return norm


def wanted_of(torch: Any, norm: Any, x: Any) -> Any:
    """torch's own in float64, of what was rounded to the type."""
    rows = x.detach().double()
    return torch.nn.functional.rms_norm(rows, rows.shape[-1:], norm.weight.double(), 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("shape", [(3, 5, 64), (2, 512, 1024), (1000, 4099), (4096, 2048)])
def test_rms_norm(torch: Any, ours: Any, shape: tuple[int, ...], dtype: str) -> None:
    norm = norm_of(torch, ours, shape[-1], dtype)
    x = torch.randn(shape, device="cuda").to(norm.weight.dtype).requires_grad_()
    g = torch.randn_like(x)
    y = norm(x)
    y.backward(g)
    exact = x.detach().double().requires_grad_()
    weight = norm.weight.detach().double().requires_grad_()
    wanted = torch.nn.functional.rms_norm(exact, exact.shape[-1:], weight, 1e-6)
    wanted.backward(g.double())
    assert close(y, wanted, dtype)
    assert close(x.grad, exact.grad, dtype)
    assert close(norm.weight.grad, weight.grad, dtype)


def test_compiled_by_torch(torch: Any, ours: Any) -> None:
    """One graph for torch.compile, which runs our kernel between its own."""
    norm = norm_of(torch, ours, 1024, "float16")
    x = torch.randn(64, 1024, device="cuda", dtype=torch.float16)

    def program(x: Any) -> Any:
        return norm(x * 2).relu()

    compiled = torch.compile(program, backend="aot_eager", fullgraph=True)
    assert close(compiled(x), wanted_of(torch, norm, x * 2).relu(), "float16")


def test_captured(torch: Any, ours: Any) -> None:
    """Forward and backward in a CUDA graph, replayed with new rows."""
    norm = norm_of(torch, ours, 1024, "float16")
    x = torch.randn(64, 1024, device="cuda", dtype=torch.float16, requires_grad=True)
    g = torch.randn_like(x)
    # Loads the kernels and makes the buffers of autograd, on a stream of its own, as torch's
    # documents ask; autograd's nodes that remember that stream are gone before the capture.
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.autograd.grad(norm(x), (x, norm.weight), g)
    torch.cuda.current_stream().wait_stream(side)
    gc.collect()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = norm(x)
        by_x, by_weight = torch.autograd.grad(y, (x, norm.weight), g)
    x.data.normal_()
    for output in (y.detach(), by_x, by_weight):
        output.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    exact = x.detach().double().requires_grad_()
    weight = norm.weight.detach().double().requires_grad_()
    wanted = torch.nn.functional.rms_norm(exact, (1024,), weight, 1e-6)
    gradients = torch.autograd.grad(wanted, (exact, weight), g.double())
    assert close(y, wanted, "float16")
    assert close(by_x, gradients[0], "float16")
    assert close(by_weight, gradients[1], "float16")


def test_any_graph(torch: Any, ours: Any) -> None:
    """A product with its gradients, against torch's in float64."""
    graph = mi.new_kernel_graph("linear")
    x = graph.new_input(dims=(64, 512), name="x")
    w = graph.new_input(dims=(512, 256), name="w")
    graph.mark_output(graph.silu(x @ w))
    call = ours.operator(graph)
    half = {"device": "cuda", "dtype": torch.float16, "requires_grad": True}
    given = torch.randn(64, 512, **half), torch.randn(512, 256, **half)
    y = call(*given)
    g = torch.randn_like(y)
    found = torch.autograd.grad(y, given, g)
    exact = [each.detach().double().requires_grad_() for each in given]
    wanted = torch.nn.functional.silu(exact[0] @ exact[1])
    gradients = torch.autograd.grad(wanted, exact, g.double())
    assert close(y, wanted, "float16")
    assert all(close(*pair, "float16") for pair in zip(found, gradients, strict=True))


def test_a_packed_weight_that_changes(torch: Any) -> None:
    """The copy is made anew, where the kernel captured in a CUDA graph reads it, too."""
    graph = mi.new_kernel_graph("linear")
    x = graph.new_input(dims=(8, 512), name="x")
    w = graph.new_input(dims=(512, 1024), name="w", constant=True)
    graph.mark_output(graph.matmul(graph.silu(x), w))
    kernel = graph.superoptimize(pack=True)
    rows = torch.randn(8, 512, device="cuda", dtype=torch.float16)
    weight = torch.randn(512, 1024, device="cuda", dtype=torch.float16)
    for _ in range(2):
        wanted = torch.nn.functional.silu(rows.double()) @ weight.double()
        assert close(kernel(rows, weight), wanted, "float16")
        weight.normal_()


def test_operators_take_tensors_that_lie_anyhow(torch: Any, ours: Any) -> None:
    """Inputs and gradients that start anywhere, transposed or expanded."""
    graph = mi.new_kernel_graph("square")
    x = graph.new_input(dims=(63, 129), name="x")
    graph.mark_output(graph.silu(graph.square(x)))
    call = ours.operator(graph)
    half = {"device": "cuda", "dtype": torch.float16}
    rows = torch.randn(129, 63, **half).t()
    memory = torch.randn(64 * 129 + 1, **half)
    for given in (rows, memory[1 : 63 * 129 + 1].view(63, 129), memory[:129].expand(63, 129)):
        leaf = given.detach().requires_grad_()
        wide = given.double().requires_grad_()
        wanted = torch.nn.functional.silu(wide**2)
        # The gradient of a part of what is put together starts where that part does.
        torch.cat([memory[:129][None], call(leaf)]).sum().backward()
        wanted.sum().backward()
        assert close(call(given), wanted, "float16")
        assert close(leaf.grad, wide.grad, "float16")


def test_compiled_function(torch: Any) -> None:
    """`mi.compile`: masks, slices of a tensor, a CUDA graph, other shapes."""

    @mi.compile
    def attention(qkv: Any) -> Any:
        q, k, v = qkv.unbind(2)
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        size = (q.shape[-2], k.shape[-2])
        mask = torch.ones(size, dtype=torch.bool, device=qkv.device).tril()
        return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1) @ v

    for tokens in (64, 57):
        memory = torch.randn(2, 4, 3, tokens, 64, device="cuda", dtype=torch.float16)
        q, k, v = memory.double().unbind(2)
        wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        assert close(attention(memory), wanted, "float16")
        assert close(attention(memory.transpose(0, 1)), wanted.transpose(0, 1), "float16")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = attention(memory)
    memory.normal_()
    found.fill_(float("nan"))
    graph.replay()
    torch.cuda.synchronize()
    q, k, v = memory.double().unbind(2)
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert close(found, wanted, "float16")


HALVES = """
func.func @halves(%x: tensor<64x512xf32>, %w: tensor<512x96xbf16>) -> tensor<64x96xf32> {
  %h = kernel.cast %x : (tensor<64x512xf32>) -> tensor<64x512xbf16>
  %k = kernel.cast %h : (tensor<64x512xbf16>) -> tensor<64x512xf32>
  %r = kernel.sub %x, %k : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %l = kernel.cast %r : (tensor<64x512xf32>) -> tensor<64x512xbf16>
  %a = kernel.matmul %h, %w : (tensor<64x512xbf16>, tensor<512x96xbf16>) -> tensor<64x96xf32>
  %b = kernel.matmul %l, %w : (tensor<64x512xbf16>, tensor<512x96xbf16>) -> tensor<64x96xf32>
  %o = kernel.add %a, %b : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  func.return %o : tensor<64x96xf32>
}
"""


def test_a_product_of_halves(torch: Any, tmp_path: Path) -> None:
    """Bits that the first half loses are in the second."""
    (tmp_path / "halves.mlir").write_text(HALVES)
    kernel = mi.superoptimize_file(tmp_path / "halves.mlir")
    x, w = torch.randn(64, 512, device="cuda"), torch.randn(512, 96, device="cuda").bfloat16()
    found, wanted = kernel(x, w).double(), x.double() @ w.double()
    assert (found - wanted).norm() <= 2e-5 * wanted.norm()


def test_what_rounding_takes_away(torch: Any) -> None:
    """A compensated sum, to the bit."""

    def compensated(weight: Any, carried: Any, step: Any) -> Any:
        whole = carried + step
        moved = weight + whole
        return moved, whole + (weight - moved)

    arrays = [torch.randn(511, 1000, device="cuda").bfloat16() * each for each in (1, 1e-3, 1e-2)]
    found, rest = mi.compile(compensated)(*arrays)
    wanted, left = compensated(*arrays)
    assert torch.equal(found, wanted)
    assert torch.equal(rest, left)
    assert left.abs().max() > 0


def test_the_target_is_this_gpu(torch: Any, ours: Any) -> None:
    """Its own row where it has one, for its tensors and where there are none."""
    target = present_target()
    assert target in (*re.split(r"\W+", torch.cuda.get_device_name(0)), "sm_90a", "sm_80")
    assert ours.target_of(torch.device("cuda", 0)) == target


def test_a_graph_that_another_process_compiled(tmp_path: Path) -> None:
    """It is given back with its kernels, for training, too."""
    folders = {"TORCHINDUCTOR_CACHE_DIR": "torch", "MIRAGE_CACHE_DIR": "mirage"}
    kept = {name: str(tmp_path / folder) for name, folder in folders.items()}
    path = os.pathsep.join(each for each in sys.path if each)
    program = Path(__file__).parents[1] / "support" / "kept_graph_program.py"
    found = [
        json.loads(
            subprocess.run(
                [sys.executable, "-W", "error::RuntimeWarning", str(program), "cuda", "train"],
                env={**os.environ, **kept, "PYTHONPATH": path},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout.splitlines()[-1]
        )
        for _ in range(2)
    ]
    assert [each["asked"] for each in found] == [2, 0]
    assert found[0]["rows"] == found[1]["rows"]
    assert any(taken for _, _, taken, _ in found[1]["rows"])
    assert max(found[1]["errors"]) < 1e-3
