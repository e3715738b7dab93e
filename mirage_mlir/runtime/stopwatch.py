"""
Timing kernels on a GPU by CUDA's driver alone: device memory, graphs of launches, events.

A time is that of a replay of a CUDA graph, so that what the host does between two launches does
not count.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from mirage_mlir.runtime.artifact import TargetCode
from mirage_mlir.runtime.cuda_driver import CudaDriver, CudaError
from mirage_mlir.runtime.launch import LoadedCode

Call = Callable[[int], None]
"""Queues kernels on the stream of the given handle."""


class Loaded(Protocol):
    """Machine code that is ready to run."""

    def launch(
        self, inputs: Sequence[int], outputs: Sequence[int], scratch: int, stream: int
    ) -> None:
        """Queue all kernels on `stream`; tensors and scratch memory are device addresses."""
        ...

    def release(self) -> None:
        """Forget constant inputs, which may change now; nothing may be running."""
        ...


class Stopwatch(Protocol):
    """
    A device that runs and times machine code; addresses and sizes are in bytes.

    Every method may raise `CudaError`. After a kernel went wrong all of them do.
    """

    @property
    def name(self) -> str:
        """The device's name."""
        ...

    @property
    def l2_bytes(self) -> int:
        """Its second-level cache."""
        ...

    def load(self, code: TargetCode) -> Loaded:
        """Make `code` ready to run."""
        ...

    def allocate(self, size: int) -> int:
        """The address of new memory."""
        ...

    def free(self, address: int) -> None:
        """Give memory back."""
        ...

    def upload(self, address: int, data: bytes) -> None:
        """Copy `data` to the device."""
        ...

    def download(self, address: int, size: int) -> bytes:
        """What lies at `address`."""
        ...

    def copy(self, source: int, target: int, size: int) -> None:
        """Copy on the device."""
        ...

    def poison(self, address: int, size: int) -> None:
        """Set all bits, which is NaN in every element type."""
        ...

    def run(self, call: Call) -> None:
        """Make a call and wait until it is done."""
        ...

    def times(self, calls: Sequence[Call], rounds: int, replays: int) -> list[list[float]]:
        """Microseconds of each replay of a graph of each call, the graphs in turn each round."""
        ...


class CudaStopwatch:
    """`Stopwatch` over the package cuda-bindings, with a context and a stream of its own."""

    def __init__(self, device: int = 0) -> None:
        """Raises `CudaError` where there is no such GPU."""
        self._driver = CudaDriver()
        # Compiled without types.
        self._cuda: Any = self._driver.bindings
        self._device = device
        # Never left, and kept: the process measures and does nothing else.
        self._context = self._driver.use_device(device)
        self._context.__enter__()
        self._stream = self._call(
            self._cuda.cuStreamCreate, self._cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
        )

    def _call(self, function: Callable[..., tuple[Any, ...]], *arguments: object) -> Any:
        status, *results = function(*arguments)
        if int(status) != 0:
            raise CudaError(f"{function.__name__} failed: {status.name}")
        return results[0] if results else None

    @property
    def name(self) -> str:
        """The device's name."""
        return self._driver.name(self._device)

    @property
    def l2_bytes(self) -> int:
        """Its second-level cache."""
        attribute = self._cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        return self._call(self._cuda.cuDeviceGetAttribute, attribute, self._device)

    def load(self, code: TargetCode) -> Loaded:
        """Make `code` ready to run."""
        return LoadedCode(code, self._driver, self._device)

    def allocate(self, size: int) -> int:
        """The address of new memory."""
        return self._driver.allocate(size)

    def free(self, address: int) -> None:
        """Give memory back."""
        self._driver.free(address)

    def upload(self, address: int, data: bytes) -> None:
        """Copy `data` to the device."""
        self._driver.upload(address, data)

    def download(self, address: int, size: int) -> bytes:
        """What lies at `address`."""
        return self._driver.download(address, size)

    def copy(self, source: int, target: int, size: int) -> None:
        """Copy on the device."""
        self._call(self._cuda.cuMemcpyDtoD, target, source, size)

    def poison(self, address: int, size: int) -> None:
        """Set all bits, which is NaN in every element type."""
        self._call(self._cuda.cuMemsetD8, address, 0xFF, size)

    def run(self, call: Call) -> None:
        """Make a call and wait until it is done."""
        # Copies and poison are on the default stream, which this one does not wait for.
        self._driver.synchronize()
        call(int(self._stream))
        self._call(self._cuda.cuStreamSynchronize, self._stream)

    def times(self, calls: Sequence[Call], rounds: int, replays: int) -> list[list[float]]:
        """Microseconds of each replay of a graph of each call, the graphs in turn each round."""
        graphs = [self._captured(call) for call in calls]
        times: list[list[float]] = [[] for _ in calls]
        for _ in range(rounds):
            for graph, found in zip(graphs, times, strict=True):
                found += self._replays(graph, replays)
        for graph in graphs:
            self._call(self._cuda.cuGraphExecDestroy, graph)
        return times

    def _captured(self, call: Call) -> Any:
        """A graph of what `call` queues, ready to be replayed."""
        # Once outside: what is done at a first launch is no part of a graph.
        self.run(call)
        relaxed = self._cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        self._call(self._cuda.cuStreamBeginCapture, self._stream, relaxed)
        try:
            call(int(self._stream))
        finally:
            graph = self._call(self._cuda.cuStreamEndCapture, self._stream)
        ready = self._call(self._cuda.cuGraphInstantiate, graph, 0)
        self._call(self._cuda.cuGraphDestroy, graph)
        return ready

    def _replays(self, graph: Any, count: int) -> list[float]:
        """Microseconds of each of `count` replays, after one that warms up."""
        cuda = self._cuda
        self._call(cuda.cuGraphLaunch, graph, self._stream)
        events = [
            (self._call(cuda.cuEventCreate, 0), self._call(cuda.cuEventCreate, 0))
            for _ in range(count)
        ]
        for start, end in events:
            self._call(cuda.cuEventRecord, start, self._stream)
            self._call(cuda.cuGraphLaunch, graph, self._stream)
            self._call(cuda.cuEventRecord, end, self._stream)
        self._call(cuda.cuStreamSynchronize, self._stream)
        times = [self._call(cuda.cuEventElapsedTime, *pair) * 1e3 for pair in events]
        for pair in events:
            for event in pair:
                self._call(cuda.cuEventDestroy, event)
        return times
