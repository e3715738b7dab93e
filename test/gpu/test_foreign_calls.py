"""
Kernels as foreign functions of XLA, on a GPU.

The frames of calls are made by hand, so that no JAX for GPUs is needed: the handler is what
`jax.jit` calls. The last test calls through JAX itself, where there is one.
"""

from ctypes import byref
from dataclasses import dataclass
from typing import Any

import pytest
from ffi_frames import Frame
from optional_packages import package

import mirage_mlir as mi
from mirage_mlir.runtime import jax_calls, xla_ffi

NUMBER = 7
"""Of the kernel."""


@dataclass
class Foreign:
    """A kernel, and tensors that are XLA's: inputs, output and scratch memory."""

    torch: Any
    kernel: mi.CompiledKernel

    def __post_init__(self) -> None:
        torch = self.torch
        half = {"dtype": torch.float16, "device": "cuda"}
        self.x, self.w = torch.randn(8, 4096, **half), torch.randn(4096, 256, **half) / 64
        self.y = torch.full((8, 256), float("nan"), **half)
        size = max(code.scratch_bytes for code in self.kernel.artifact.targets)
        self.scratch = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        jax_calls.kernels[NUMBER] = self.kernel
        torch.cuda.synchronize()

    def call(self, stream: Any, x: Any = None) -> None:
        """As XLA calls it."""
        read = [(self.x if x is None else x).data_ptr(), self.w.data_ptr()]
        written = [self.y.data_ptr(), self.scratch.data_ptr()]
        made = Frame(NUMBER, read, written, stream.cuda_stream, 0)
        assert not xla_ffi.handler(jax_calls.launch)(byref(made.frame))

    def is_right(self, y: Any = None) -> bool:
        """Whether the output is that of the program in float64."""
        rows, found = self.x.double(), (self.y if y is None else y).double()
        wanted = self.torch.nn.functional.rms_norm(rows, (4096,), eps=1e-5) @ self.w.double()
        return bool((found - wanted).norm() <= 1e-3 * wanted.norm())


@pytest.fixture(scope="module")
def kernel() -> mi.CompiledKernel:
    """An RMSNorm and a product."""
    graph = mi.new_kernel_graph("foreign")
    x = graph.new_input(dims=(8, 4096), name="x")
    w = graph.new_input(dims=(4096, 256), name="w")
    graph.mark_output(graph.matmul(graph.rms_norm(x), w))
    return graph.superoptimize()


@pytest.fixture
def foreign(torch: Any, kernel: mi.CompiledKernel) -> Foreign:
    return Foreign(torch, kernel)


def test_the_stream_that_xla_says(torch: Any, foreign: Foreign) -> None:
    """A kernel runs behind what its stream has to do still, whatever the current stream is."""
    stream = torch.cuda.Stream()
    for _ in range(2):
        late = torch.zeros_like(foreign.x)
        foreign.y.fill_(float("nan"))
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            late.copy_(foreign.x)
        foreign.call(stream, late)
        stream.synchronize()
        assert foreign.is_right()


def test_in_a_graph(torch: Any, foreign: Foreign) -> None:
    """XLA captures command buffers of its stream: replays read new inputs."""
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        foreign.call(stream)
    for _ in range(2):
        foreign.x.normal_()
        foreign.y.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        assert foreign.is_right()


def test_jax_jit(monkeypatch: pytest.MonkeyPatch, torch: Any, foreign: Foreign) -> None:
    """Through JAX itself, between other operations."""
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = package("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("jax has no GPU here")

    def program(x: Any, w: Any) -> Any:
        return foreign.kernel(x + x, w) * 2

    given = [jax.numpy.asarray(each.cpu().numpy()) for each in (foreign.x, foreign.w)]
    found = torch.from_numpy(jax.device_get(jax.jit(program)(*given))).cuda()
    # RMSNorm does not see the factor of its rows.
    assert foreign.is_right(found / 2)
