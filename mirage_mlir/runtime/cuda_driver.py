"""
The few calls of the CUDA driver that loading and launching need, typed.

The bindings are compiled and untyped, so they stay behind the protocol `Driver`; tests put a fake
in their place.
"""

import ctypes
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from threading import get_ident
from typing import Any, NewType, Protocol

import numpy as np

from mirage_mlir.runtime.arguments import TensorMapArgument
from mirage_mlir.runtime.element_types import ElementType

Module = NewType("Module", object)
Function = NewType("Function", object)


MAP_BYTES = 128
"""Of an encoded tensor map."""

MAP_ALIGNMENT = 16
"""Bytes. What a tensor map covers starts at a multiple of that."""

_MAP_TYPES = {
    ElementType.F16: "FLOAT16",
    ElementType.BF16: "BFLOAT16",
    ElementType.F32: "FLOAT32",
}


class CudaError(Exception):
    """The CUDA driver is missing or refused a call."""


class Driver(Protocol):
    """What the runtime asks of CUDA. Devices are ordinals, streams and pointers are addresses."""

    def capability(self, device: int) -> tuple[int, int]:
        """Compute capability of `device`, such as (9, 0)."""
        ...

    def shared_memory_limit(self, device: int) -> int:
        """Bytes of shared memory that one block may have on `device`."""
        ...

    def current_device(self) -> int | None:
        """The device of the calling thread's current context, None when it has no context."""
        ...

    def use_device(self, device: int) -> AbstractContextManager[object]:
        """Make the primary context of `device` current inside the `with` block."""
        ...

    def load(self, cubin: bytes) -> Module:
        """Load machine code into the current context; safe while a graph is being captured."""
        ...

    def function(self, module: Module, name: str, shared_bytes: int) -> Function:
        """The kernel `name`, allowed `shared_bytes` of dynamic shared memory."""
        ...

    def encode(self, tensor_map: TensorMapArgument, address: int) -> bytes:
        """The `MAP_BYTES` that a kernel takes for a map of a tensor at `address`."""
        ...

    def allocate(self, size: int) -> int:
        """The address of so many bytes in the current context."""
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

    def synchronize(self) -> None:
        """Wait until the device has done all that was asked of it."""
        ...

    def capture(self, stream: int) -> int:
        """The number of the graph that is being captured from `stream`, 0 where none is."""
        ...

    def zeroed(self, size: int) -> int:
        """
        The address of new memory that is 0, on the current context's device and for good.

        It is 0 when the call returns; safe while a graph is being captured.
        """
        ...

    def launch(
        self,
        function: Function,
        grid: tuple[int, int, int],
        threads: int,
        shared_bytes: int,
        stream: int,
        parameters: int,
    ) -> None:
        """Queue a launch; `parameters` is the address of an array of addresses of the arguments."""
        ...

    def launch_early(
        self,
        function: Function,
        grid: tuple[int, int, int],
        threads: int,
        shared_bytes: int,
        stream: int,
        parameters: int,
    ) -> None:
        """The same of a kernel that may start before the previous grid has ended."""
        ...


class CudaDriver:
    """`Driver` over the package cuda-bindings."""

    def __init__(self) -> None:
        try:
            # Compiled without types.
            self.bindings: Any = import_module("cuda.bindings.driver")
        except ImportError as error:
            raise CudaError(
                "running kernels needs CUDA's driver bindings: pip install cuda-bindings"
            ) from error
        self._launch: Callable[..., tuple[int]] = self.bindings.cuLaunchKernel
        self._contexts: dict[int, object] = {}
        self._configurations: dict[object, Any] = {}
        try:
            self._call(self.bindings.cuInit, 0)
        # Without the driver's library the bindings raise an error of yet another package.
        except (OSError, RuntimeError) as error:
            raise CudaError(f"there is no usable CUDA driver on this machine: {error}") from error

    def _call(self, function: Callable[..., tuple[Any, ...]], *arguments: object) -> Any:
        status, *results = function(*arguments)
        if int(status) != 0:
            raise CudaError(f"{function.__name__} failed: {self._describe(status)}")
        return results[0] if results else None

    def _describe(self, status: object) -> str:
        texts = [self.bindings.cuGetErrorName(status), self.bindings.cuGetErrorString(status)]
        return ": ".join(text.decode() for error, text in texts if int(error) == 0)

    def _attribute(self, name: str, device: int) -> int:
        attribute = getattr(self.bindings.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return self._call(self.bindings.cuDeviceGetAttribute, attribute, self._device(device))

    def _device(self, device: int) -> object:
        return self._call(self.bindings.cuDeviceGet, device)

    def capability(self, device: int) -> tuple[int, int]:
        """Compute capability of `device`."""
        return (
            self._attribute("COMPUTE_CAPABILITY_MAJOR", device),
            self._attribute("COMPUTE_CAPABILITY_MINOR", device),
        )

    def count(self) -> int:
        """How many devices there are."""
        return int(self._call(self.bindings.cuDeviceGetCount))

    def name(self, device: int) -> str:
        """What the vendor calls `device`."""
        data: bytes = self._call(self.bindings.cuDeviceGetName, 256, self._device(device))
        return data.partition(b"\0")[0].decode()

    def shared_memory_limit(self, device: int) -> int:
        """Bytes of shared memory that one block may have on `device`."""
        return self._attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", device)

    def current_device(self) -> int | None:
        """The device of the calling thread's current context."""
        status, device = self.bindings.cuCtxGetDevice()
        return int(device) if int(status) == 0 else None

    @contextmanager
    def use_device(self, device: int) -> Generator[None]:
        """Make the primary context of `device`, which torch and cupy use too, current."""
        if device not in self._contexts:
            # Never released: it lives as long as the process, as torch's own hold on it does.
            self._contexts[device] = self._call(
                self.bindings.cuDevicePrimaryCtxRetain, self._device(device)
            )
        self._call(self.bindings.cuCtxPushCurrent, self._contexts[device])
        try:
            yield
        finally:
            self._call(self.bindings.cuCtxPopCurrent)

    @contextmanager
    def _capture_allowed(self) -> Generator[None]:
        """Let this thread allocate while a graph is captured: loading does, and harms no graph."""
        relaxed = self.bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        mode = self._call(self.bindings.cuThreadExchangeStreamCaptureMode, relaxed)
        try:
            yield
        finally:
            self._call(self.bindings.cuThreadExchangeStreamCaptureMode, mode)

    def load(self, cubin: bytes) -> Module:
        """Load machine code into the current context."""
        with self._capture_allowed():
            return Module(self._call(self.bindings.cuModuleLoadData, cubin))

    def function(self, module: Module, name: str, shared_bytes: int) -> Function:
        """The kernel `name`, allowed `shared_bytes` of dynamic shared memory."""
        cuda = self.bindings
        limit = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        with self._capture_allowed():
            function = self._call(cuda.cuModuleGetFunction, module, name.encode())
            self._call(cuda.cuFuncSetAttribute, function, limit, shared_bytes)
            # The driver loads kernels when they are first launched, which may be in a capture.
            self._call(cuda.cuFuncLoad, function)
        return Function(function)

    def allocate(self, size: int) -> int:
        """The address of so many bytes in the current context."""
        return int(self._call(self.bindings.cuMemAlloc, size))

    def free(self, address: int) -> None:
        """Give memory back."""
        self._call(self.bindings.cuMemFree, address)

    def upload(self, address: int, data: bytes) -> None:
        """Copy `data` to the device."""
        source = np.frombuffer(data, np.uint8)
        self._call(self.bindings.cuMemcpyHtoD, address, source.ctypes.data, len(data))

    def download(self, address: int, size: int) -> bytes:
        """What lies at `address`."""
        data = np.empty(size, np.uint8)
        self._call(self.bindings.cuMemcpyDtoH, data.ctypes.data, address, size)
        return data.tobytes()

    def synchronize(self) -> None:
        """Wait until the device has done all that was asked of it."""
        self._call(self.bindings.cuCtxSynchronize)

    def encode(self, tensor_map: TensorMapArgument, address: int) -> bytes:
        """
        The `MAP_BYTES` that a kernel takes for a map of a tensor at `address`.

        Raises:
            ValueError: `address` is not a multiple of `MAP_ALIGNMENT`.
            CudaError: the driver is older than CUDA 12.0, or refuses the map.
        """
        start = address + tensor_map.offset
        if start % MAP_ALIGNMENT:
            raise ValueError(
                f"a tensor map of {tensor_map.tensor} starts at address {start:#x}, not at a "
                f"multiple of {MAP_ALIGNMENT} bytes"
            )
        try:
            encoded = self._call(
                self.bindings.cuTensorMapEncodeTiled, *self.map_arguments(tensor_map, start)
            )
        # What the bindings raise where the driver's library has no such function.
        except RuntimeError as error:
            raise CudaError(
                f"kernels with tensor maps need a driver for CUDA 12.0 or later: {error}"
            ) from error
        except CudaError as error:
            raise CudaError(f"{error}; it was asked for {tensor_map}") from error
        return ctypes.string_at(encoded.getPtr(), MAP_BYTES)

    def map_arguments(self, tensor_map: TensorMapArgument, start: int) -> list[object]:
        """What `cuTensorMapEncodeTiled` takes for a map that starts at the address `start`."""
        cuda = self.bindings
        wide: Callable[[int], object] = cuda.cuuint64_t
        narrow: Callable[[int], object] = cuda.cuuint32_t

        def member(group: str, prefix: str, name: str) -> object:
            return getattr(getattr(cuda, f"CUtensorMap{group}"), f"CU_TENSOR_MAP_{prefix}_{name}")

        swizzle = f"{tensor_map.swizzle}B" if tensor_map.swizzle else "NONE"
        return [
            member("DataType", "DATA_TYPE", _MAP_TYPES[tensor_map.element_type]),
            len(tensor_map.dims),
            start,
            [wide(size) for size in tensor_map.dims],
            # Of one dim there are none, but the driver refuses an empty list.
            [wide(stride) for stride in tensor_map.strides or (MAP_ALIGNMENT,)],
            [narrow(size) for size in tensor_map.box],
            # Every element of the box: no steps.
            [narrow(1) for _ in tensor_map.dims],
            member("Interleave", "INTERLEAVE", "NONE"),
            member("Swizzle", "SWIZZLE", swizzle),
            # Only what is asked for: with 256 bytes at a time, of weights of 117 MB, a product took
            # 29.1 us on an H200, so 27.4.
            member("L2promotion", "L2_PROMOTION", "NONE"),
            # Zero outside the tensor.
            member("FloatOOBfill", "FLOAT_OOB_FILL", "NONE"),
        ]

    def capture(self, stream: int) -> int:
        """The number of the graph that is being captured from `stream`, 0 where none is."""
        status, state, number, *_ = self.bindings.cuStreamGetCaptureInfo(stream)
        if int(status) != 0:
            raise CudaError(f"asking for a capture failed: {self._describe(status)}")
        active = self.bindings.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
        return int(number) if state == active else 0

    def zeroed(self, size: int) -> int:
        """The address of new memory that is 0."""
        cuda = self.bindings
        # The stream of its own waits for no other, and no capture sees it.
        apart = cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
        with self._capture_allowed():
            address = self._call(cuda.cuMemAlloc, size)
            stream = self._call(cuda.cuStreamCreate, apart)
            self._call(cuda.cuMemsetD8Async, address, 0, size, stream)
            self._call(cuda.cuStreamSynchronize, stream)
            self._call(cuda.cuStreamDestroy, stream)
        return int(address)

    def launch(
        self,
        function: Function,
        grid: tuple[int, int, int],
        threads: int,
        shared_bytes: int,
        stream: int,
        parameters: int,
    ) -> None:
        """Queue a launch on `stream`."""
        (status,) = self._launch(
            function, *grid, threads, 1, 1, shared_bytes, stream, parameters, 0
        )
        if status:
            raise CudaError(f"launching a kernel failed: {self._describe(status)}")

    def launch_early(
        self,
        function: Function,
        grid: tuple[int, int, int],
        threads: int,
        shared_bytes: int,
        stream: int,
        parameters: int,
    ) -> None:
        """Queue a launch that does not wait for the previous grid on `stream`."""
        # Configurations are made once; threads share none.
        key = (get_ident(), grid, threads, shared_bytes)
        config = self._configurations.get(key)
        if config is None:
            config = self._configurations[key] = self._early(grid, threads, shared_bytes)
        config.hStream = stream
        (status,) = self.bindings.cuLaunchKernelEx(config, function, parameters, 0)
        if status:
            raise CudaError(f"launching a kernel failed: {self._describe(status)}")

    def _early(self, grid: tuple[int, int, int], threads: int, shared_bytes: int) -> Any:
        cuda = self.bindings
        attribute = cuda.CUlaunchAttribute()
        names = cuda.CUlaunchAttributeID
        attribute.id = names.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
        config.sharedMemBytes = shared_bytes
        config.attrs, config.numAttrs = [attribute], 1
        return config


@cache
def cuda_driver() -> Driver:
    """The driver of this machine; raises `CudaError` where there is none."""
    return CudaDriver()
