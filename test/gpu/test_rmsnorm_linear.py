"""RMSNorm and a linear layer from Python to the GPU: the values are those of float64."""

from typing import Any

import pytest

import mirage_mlir as mi

EPS = 1e-5

TOLERANCE = {"float16": 5e-4, "bfloat16": 4e-3}

SHAPES = [
    (1, 4096, 4096),
    (2, 4096, 6144),
    (8, 4096, 4096),
    (16, 4096, 6144),
    (3, 2560, 1003),
    (1, 896, 4864),
    (16, 4100, 6100),
    (40, 512, 384),
    (5, 7, 9),
]


def compiled(batch: int, depth: int, width: int, dtype: str) -> mi.CompiledKernel:
    """The kernel for X[batch, depth] times W[depth, width]."""
    graph = mi.new_kernel_graph("rmsnorm_linear")
    x = graph.new_input(dims=(batch, depth), dtype=dtype)
    w = graph.new_input(dims=(depth, width), dtype=dtype, constant=True)
    graph.mark_output(graph.matmul(graph.rms_norm(x, eps=EPS), w))
    return graph.superoptimize()


def inputs(torch: Any, batch: int, depth: int, width: int, dtype: str) -> tuple[Any, Any]:
    """Random inputs, whose product is near 1."""
    kind = getattr(torch, dtype)
    x = torch.randn(batch, depth, device="cuda", dtype=kind)
    return x, (torch.randn(depth, width, device="cuda") / depth**0.5).to(kind)


def reference(x: Any, w: Any) -> Any:
    """The program in float64."""
    x, w = x.double(), w.double()
    return x / (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt() @ w


def error(output: Any, wanted: Any) -> float:
    """Relative, in the 2-norm."""
    return float((output.double() - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_values(torch: Any, shape: tuple[int, int, int], dtype: str) -> None:
    kernel = compiled(*shape, dtype)
    batch, _, width = shape
    for _ in range(2):
        x, w = inputs(torch, *shape, dtype)
        out = torch.full((batch, width), float("nan"), dtype=x.dtype, device="cuda")
        assert kernel(x, w, out=out) is out
        assert error(out, reference(x, w)) <= TOLERANCE[dtype]
        # The same inputs give the same bits: a race would show here.
        assert torch.equal(kernel(x, w), out)


def test_large_and_small_values(torch: Any) -> None:
    """Sums of squares beyond f16's range, and a row whose mean square is far below eps."""
    kernel = compiled(16, 4096, 256, "float16")
    x, w = inputs(torch, 16, 4096, 256, "float16")
    x[0] *= 200
    x[1] *= 1e-4
    x[2] = 0
    out = kernel(x, w)
    wanted = reference(x, w)
    assert bool((out[2] == 0).all())
    assert error(out[0], wanted[0]) <= 1e-3
    assert error(out[1], wanted[1]) <= 2e-3


def test_memory_beyond_the_output_is_not_written(torch: Any) -> None:
    """Ragged edges: what lies around a slice of a larger buffer stays as it was."""
    batch, depth, width = 3, 2560, 1003
    kernel = compiled(batch, depth, width, "float16")
    x, w = inputs(torch, batch, depth, width, "float16")
    guard = 4096
    buffer = torch.full((batch * width + 2 * guard,), 7.0, dtype=torch.float16, device="cuda")
    out = buffer[guard : guard + batch * width].view(batch, width)
    kernel(x, w, out=out)
    assert error(out, reference(x, w)) <= TOLERANCE["float16"]
    assert bool((buffer[:guard] == 7).all())
    assert bool((buffer[guard + batch * width :] == 7).all())
