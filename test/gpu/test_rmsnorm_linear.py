"""RMSNorm and a linear layer from Python to the GPU: the values are those of float64."""

from typing import Any

import gpu_prepared
import pytest
from gpu_prepared import EPS
from gpu_runs import chip_here

import mirage_mlir as mi

TOLERANCE = {"float16": 5e-4, "bfloat16": 4e-3}

TOLERANCE_OF_F32 = 1e-5

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


SHAPE = tuple[int, int, int]


def kernel_of(prepared: bytes) -> mi.CompiledKernel:
    """The kernel in a file."""
    return mi.CompiledKernel(mi.Artifact.from_bytes(prepared))


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


def shaped(*shapes: SHAPE) -> pytest.MarkDecorator:
    """A test for each of some shapes, of batch, depth and width."""
    return pytest.mark.parametrize("shape", shapes, ids=lambda shape: "x".join(map(str, shape)))


@pytest.mark.prepared(gpu_prepared.rmsnorm_linear, "shape", "dtype")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@shaped(*SHAPES)
def test_values(torch: Any, shape: SHAPE, dtype: str, prepared: bytes) -> None:
    kernel = kernel_of(prepared)
    batch, _, width = shape
    for _ in range(2):
        x, w = inputs(torch, *shape, dtype)
        out = torch.full((batch, width), float("nan"), dtype=x.dtype, device="cuda")
        assert kernel(x, w, out=out) is out
        assert error(out, reference(x, w)) <= TOLERANCE[dtype]
        # The same inputs give the same bits: a race would show here.
        assert torch.equal(kernel(x, w), out)


@pytest.mark.prepared(gpu_prepared.rmsnorm_linear, "shape", "dtype", "pack")
@pytest.mark.parametrize("pack", [True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@shaped((1, 4096, 4096), (16, 4096, 6144), (16, 4100, 6100))
def test_packed_weights(torch: Any, shape: SHAPE, dtype: str, pack: bool, prepared: bytes) -> None:
    """Two weights at once, each with a copy of its own; one is known by its address."""
    kernel = kernel_of(prepared)
    if shape[2] % 64 == 0 and chip_here() == "sm_90a":
        assert kernel.artifact.targets[0].packed
    given = [inputs(torch, *shape, dtype) for _ in range(2)]
    for x, w in [*given, *given]:
        out = torch.full((shape[0], shape[2]), float("nan"), dtype=x.dtype, device="cuda")
        kernel(x, w, out=out)
        assert error(out, reference(x, w)) <= TOLERANCE[dtype]
    kernel.release()
    for tensors in given:
        tensors[1].mul_(2)
        assert error(kernel(*tensors), reference(*tensors)) <= TOLERANCE[dtype]


@pytest.mark.prepared(gpu_prepared.linear_f32, "shape", "precision")
@pytest.mark.parametrize(("precision", "limit"), [("tf32", 1e-3), ("3xtf32", 1e-5)])
@shaped((16, 1024, 768), (5, 509, 251))
def test_products_of_f32(
    torch: Any, shape: SHAPE, precision: str, limit: float, prepared: bytes
) -> None:
    """One product of tf32 rounds to 11 bits; three are as near as f32."""
    x, w = inputs(torch, *shape, "float32")
    out = torch.full((shape[0], shape[2]), float("nan"), device="cuda")
    kernel_of(prepared)(x, w, out=out)
    found = error(out, x.double() @ w.double())
    assert found <= limit
    if precision == "tf32":
        assert found > TOLERANCE_OF_F32, "this is no single product of tf32"


@pytest.mark.prepared(gpu_prepared.rmsnorm_linear, "shape", "dtype")
@pytest.mark.parametrize("dtype", ["float16"])
@shaped((16, 4096, 256))
def test_large_and_small_values(torch: Any, shape: SHAPE, dtype: str, prepared: bytes) -> None:
    """Sums of squares beyond f16's range, and a row whose mean square is far below eps."""
    x, w = inputs(torch, *shape, dtype)
    x[0] *= 200
    x[1] *= 1e-4
    x[2] = 0
    out = kernel_of(prepared)(x, w)
    wanted = reference(x, w)
    assert bool((out[2] == 0).all())
    assert error(out[0], wanted[0]) <= 1e-3
    assert error(out[1], wanted[1]) <= 2e-3


@pytest.mark.prepared(gpu_prepared.rmsnorm_linear, "shape", "dtype")
@pytest.mark.parametrize("dtype", ["float16"])
@shaped((3, 2560, 1003))
def test_memory_beyond_the_output_is_not_written(
    torch: Any, shape: SHAPE, dtype: str, prepared: bytes
) -> None:
    """Ragged edges: what lies around a slice of a larger buffer stays as it was."""
    batch, _, width = shape
    x, w = inputs(torch, *shape, dtype)
    guard = 4096
    buffer = torch.full((batch * width + 2 * guard,), 7.0, dtype=torch.float16, device="cuda")
    out = buffer[guard : guard + batch * width].view(batch, width)
    kernel_of(prepared)(x, w, out=out)
    assert error(out, reference(x, w)) <= TOLERANCE[dtype]
    assert bool((buffer[:guard] == 7).all())
    assert bool((buffer[guard + batch * width :] == 7).all())
