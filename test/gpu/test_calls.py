"""How a kernel is called: libraries of tensors, streams, threads, graphs, files."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optional_packages import package

import mirage_mlir as mi

SHAPE = (4, 512, 256)


@pytest.fixture(scope="module")
def artifact() -> mi.Artifact:
    """A small product, which every test loads for itself."""
    graph = mi.new_kernel_graph("linear")
    x = graph.new_input(dims=SHAPE[:2], name="x")
    w = graph.new_input(dims=SHAPE[1:], name="w")
    graph.mark_output(graph.matmul(graph.silu(x), w))
    return graph.superoptimize().artifact


@pytest.fixture
def kernel(artifact: mi.Artifact) -> mi.CompiledKernel:
    """The product, not yet loaded on any device."""
    return mi.CompiledKernel(artifact)


def arrays() -> tuple[Any, Any]:
    """Inputs as numpy arrays."""
    generator = np.random.default_rng()
    x = generator.standard_normal(SHAPE[:2]).astype(np.float16)
    w = generator.standard_normal(SHAPE[1:]) / SHAPE[1] ** 0.5
    return x, w.astype(np.float16)


def close(output: Any, x: Any, w: Any) -> bool:
    """Whether a numpy array is the product in float64."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    wanted = x / (1 + np.exp(-x)) @ w
    norm = np.linalg.norm
    return bool(norm(output.astype(np.float64) - wanted) <= 1e-3 * norm(wanted))


def on_torch(torch: Any, *given: Any) -> list[Any]:
    """numpy arrays as CUDA tensors."""
    return [torch.from_numpy(array).cuda() for array in given]


def test_torch(torch: Any, kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    given = on_torch(torch, x, w)
    for output in (kernel(*given), kernel(given), kernel(inputs=given)):
        assert output.dtype is torch.float16
        assert close(output.cpu().numpy(), x, w)


def test_torch_stream(torch: Any, kernel: mi.CompiledKernel) -> None:
    """A kernel runs after what its stream was given before, on a stream that is kept busy."""
    x, w = arrays()
    given = on_torch(torch, x, w)
    late = torch.zeros_like(given[0])
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        late.copy_(given[0])
        output = kernel(late, given[1])
    stream.synchronize()
    assert close(output.cpu().numpy(), x, w)


def test_graph_capture_as_first_call(torch: Any, kernel: mi.CompiledKernel) -> None:
    """The module is loaded while a graph is captured, and replays read new inputs."""
    x, w = arrays()
    given = on_torch(torch, x, w)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = kernel(*given)
    for _ in range(2):
        x, w = arrays()
        for tensor, array in zip(given, (x, w), strict=True):
            tensor.copy_(torch.from_numpy(array))
        output.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert close(output.cpu().numpy(), x, w)


def test_threads(torch: Any, kernel: mi.CompiledKernel) -> None:
    """Threads that have no CUDA context of their own, all calling one kernel."""

    def call(_: int) -> bool:
        x, w = arrays()
        given = on_torch(torch, x, w)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            outputs = [kernel(*given) for _ in range(20)]
        stream.synchronize()
        return all(close(output.cpu().numpy(), x, w) for output in outputs)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(16)))


def test_a_thread_without_a_context(torch: Any, kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    given = on_torch(torch, x, w)
    out = torch.empty(SHAPE[0], SHAPE[2], dtype=torch.float16, device="cuda")
    torch.cuda.synchronize()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(kernel, *given, out=out).result()
    torch.cuda.synchronize()
    assert close(out.cpu().numpy(), x, w)


def test_second_device(torch: Any, kernel: mi.CompiledKernel) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    x, w = arrays()
    given = [tensor.to("cuda:1") for tensor in on_torch(torch, x, w)]
    output = kernel(*given)
    assert str(output.device) == "cuda:1"
    assert torch.cuda.current_device() == 0
    assert close(output.cpu().numpy(), x, w)


def test_tensors_that_nobody_keeps(torch: Any, kernel: mi.CompiledKernel) -> None:
    """Inputs and outputs are given up while the stream is busy; what comes then may lie there."""
    x, w = arrays()
    given = on_torch(torch, x, w)
    kernel(*given)
    torch.cuda._sleep(50_000_000)
    kept: list[Any] = []
    for number in range(40):
        output = kernel(given[0] * 1, given[1] * 1)
        if number % 8 == 0:
            kept.append(output)
        del output
        torch.empty_like(given[1]).fill_(float("nan"))
    assert all(close(output.cpu().numpy(), x, w) for output in kept)


def test_every_element_is_written(torch: Any, kernel: mi.CompiledKernel) -> None:
    """Whatever the output held before: not a number, or infinity."""
    x, w = arrays()
    given = on_torch(torch, x, w)
    for poison in (float("nan"), float("inf"), -0.0):
        out = torch.full((SHAPE[0], SHAPE[2]), poison, dtype=torch.float16, device="cuda")
        assert kernel(*given, out=out) is out
        assert close(out.cpu().numpy(), x, w)


def test_cupy(cupy: Any, kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    output = kernel(cupy.asarray(x), cupy.asarray(w))
    assert isinstance(output, cupy.ndarray)
    assert close(cupy.asnumpy(output), x, w)


def test_cupy_stream(cupy: Any, kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        output = kernel(cupy.asarray(x), cupy.asarray(w))
        stream.synchronize()
        assert close(cupy.asnumpy(output), x, w)


def test_cupy_beside_torch(torch: Any, cupy: Any, kernel: mi.CompiledKernel) -> None:
    """The first tensor's library decides; the other comes in through DLPack."""
    x, w = arrays()
    second = cupy.asarray(w)
    cupy.cuda.get_current_stream().synchronize()
    output = kernel(torch.from_numpy(x).cuda(), second)
    assert isinstance(output, torch.Tensor)
    assert close(output.cpu().numpy(), x, w)


def test_jax(monkeypatch: pytest.MonkeyPatch, kernel: mi.CompiledKernel) -> None:
    """Tensors of a library that we do not know come in, and go back, through DLPack."""
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = package("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("jax has no GPU here")
    x, w = arrays()
    given = [jax.block_until_ready(jax.numpy.asarray(array)) for array in (x, w)]
    output = kernel(*given)
    assert isinstance(output, jax.Array)
    assert close(np.asarray(output), x, w)


def test_numpy_is_interpreted(kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    output = kernel(x, w)
    assert output.dtype == np.float16
    assert close(output, x, w)


def test_saved_and_loaded(torch: Any, kernel: mi.CompiledKernel, tmp_path: Path) -> None:
    kernel.save(tmp_path / "linear.mirage")
    x, w = arrays()
    output = mi.load(tmp_path / "linear.mirage")(*on_torch(torch, x, w))
    assert close(output.cpu().numpy(), x, w)


def test_errors_come_before_the_launch(torch: Any, kernel: mi.CompiledKernel) -> None:
    x, w = on_torch(torch, *arrays())
    transposed = w.t().contiguous().t()
    with pytest.raises(ValueError, match=r"has strides \(1, 512\), not \(256, 1\)"):
        kernel(x, transposed)
    with pytest.raises(TypeError, match="has type bfloat16, not float16"):
        kernel(x.bfloat16(), w)
    with pytest.raises(ValueError, match="input 1 is on a device, and input 0 in host memory"):
        kernel(x.cpu(), w)
    with pytest.raises(ValueError, match=r"has shape \(3, 512\), not \(4, 512\)"):
        kernel(x[:3], w)
    with pytest.raises(ValueError, match="not at a multiple of 16 bytes"):
        kernel(shifted(torch, x), w)
    with pytest.raises(ValueError, match="shares memory"):
        kernel(x, w, out=w.view(-1)[: 4 * 256].view(4, 256))
    torch.cuda.synchronize()


def shifted(torch: Any, tensor: Any) -> Any:
    """The same elements, from an address that is no multiple of 16 bytes."""
    memory = torch.empty(tensor.numel() + 1, dtype=tensor.dtype, device="cuda")
    return memory[1:].view(tensor.shape).copy_(tensor)


def laid_out(torch: Any, tensor: Any) -> list[Any]:
    """The same elements, as they may lie in memory."""
    rows, columns = tensor.shape
    wide = torch.zeros(rows, 3 * columns, dtype=tensor.dtype, device="cuda")
    wide[:, 1 : 2 * columns + 1 : 2] = tensor
    slices = torch.zeros(rows, columns + 24, dtype=tensor.dtype, device="cuda")
    slices[:, 8 : columns + 8] = tensor
    return [
        tensor.t().contiguous().t(),
        wide[:, 1 : 2 * columns + 1 : 2],
        slices[:, 8 : columns + 8],
        shifted(torch, tensor),
        tensor[:, None].to(memory_format=torch.contiguous_format)[:, 0],
        torch._neg_view(-tensor),
    ]


def test_a_copy_on_request(torch: Any, kernel: mi.CompiledKernel) -> None:
    """However tensors lie in memory: what is not as the kernel needs it is copied, or refused."""
    x, w = arrays()
    given = on_torch(torch, x, w)
    for number, tensor in enumerate(given):
        for other in laid_out(torch, tensor):
            assert torch.equal(other, tensor)
            tensors = [*given[:number], other, *given[number + 1 :]]
            assert close(kernel(*tensors, copy=True).cpu().numpy(), x, w)
            with suppress(ValueError):
                assert close(kernel(*tensors).cpu().numpy(), x, w)


def test_constants_that_the_previous_grid_writes(torch: Any) -> None:
    """A copy for the call, in memory that the call before had; and a change in place."""
    graph = mi.new_kernel_graph("constant_linear")
    x, w = (
        graph.new_input(dims=dims, constant=bool(number))
        for number, dims in enumerate((SHAPE[:2], SHAPE[1:]))
    )
    graph.mark_output(graph.matmul(graph.silu(x), w))
    kernel = graph.superoptimize()
    given = [arrays() for _ in range(40)]
    tensors = [on_torch(torch, x, w) for x, w in given]
    strided = [w.t().contiguous().t() for _, w in tensors]
    (own,) = on_torch(torch, given[0][1])
    results: list[Any] = []
    for (x, w), other in zip(tensors, strided, strict=True):
        results.append(kernel(x, other, copy=True))
        own.copy_(w)
        results.append(kernel(x, own))
    for number, result in enumerate(results):
        assert close(result.cpu().numpy(), *given[number // 2]), number


def test_a_row_that_is_expanded(torch: Any, kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    x[:] = x[0]
    row, weight = on_torch(torch, x[:1], w)
    with pytest.raises(
        ValueError, match=r"has strides \(0, 1\), not \(512, 1\): make it contiguous"
    ):
        kernel(row.expand(4, 512), weight)
    assert close(kernel(row.expand(4, 512), weight, copy=True).cpu().numpy(), x, w)


def test_a_copy_in_a_graph(torch: Any, kernel: mi.CompiledKernel) -> None:
    """The copy is captured with the kernel."""
    x, w = arrays()
    given = on_torch(torch, x, w)
    columns = given[1].t().contiguous()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = kernel(given[0], columns.t(), copy=True)
    for _ in range(2):
        x, w = arrays()
        given[0].copy_(torch.from_numpy(x))
        columns.copy_(torch.from_numpy(w).t())
        output.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert close(output.cpu().numpy(), x, w)


def test_cupy_copies(cupy: Any, kernel: mi.CompiledKernel) -> None:
    x, w = arrays()
    columns = cupy.asfortranarray(cupy.asarray(w))
    with pytest.raises(ValueError, match="copy=True"):
        kernel(cupy.asarray(x), columns)
    assert close(cupy.asnumpy(kernel(cupy.asarray(x), columns, copy=True)), x, w)
    backwards = cupy.asarray(w[::-1].copy())[::-1]
    assert close(cupy.asnumpy(kernel(cupy.asarray(x), backwards, copy=True)), x, w)
