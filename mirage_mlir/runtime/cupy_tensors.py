"""cupy's arrays, on cupy's current stream."""

from types import ModuleType
from typing import Any

from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.element_types import numpy_dtype
from mirage_mlir.runtime.tensors import ALIGNMENT, TensorView


class CupyTensors:
    """`Framework` over cupy. cupy is untyped here, since it is an optional dependency."""

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._array: type = cupy.ndarray

    def owns(self, tensor: object) -> bool:
        """Whether `tensor` is a cupy array."""
        return isinstance(tensor, self._array)

    def locate(self, tensor: Any, spec: TensorSpec) -> tuple[int, int] | None:
        """Device and address of `tensor`, where it is dense and as `spec` says."""
        if not (
            tensor.dtype.name == spec.element_type.array_name
            and tensor.shape == spec.shape
            and tensor.flags.c_contiguous
            and spec.dense
        ):
            return None
        address: int = tensor.data.ptr
        return None if address % ALIGNMENT else (tensor.data.device_id, address)

    def view(self, tensor: Any) -> TensorView:
        """All that `check` compares."""
        return TensorView(
            shape=tensor.shape,
            dtype=tensor.dtype.name,
            strides=tuple(stride // tensor.itemsize for stride in tensor.strides),
            device=f"cuda:{tensor.data.device_id}",
            address=tensor.data.ptr,
        )

    def empty(self, spec: TensorSpec, device: int) -> tuple[Any, int]:
        """A new array from cupy's memory pool, and its address."""
        dtype = numpy_dtype(spec.element_type)
        with self._cupy.cuda.Device(device):
            array = self._cupy.empty(spec.storage_elements, dtype)
        if spec.dense:
            return array.reshape(spec.shape), array.data.ptr
        strides = [stride * dtype.itemsize for stride in spec.strides]
        return self._cupy.lib.stride_tricks.as_strided(array, spec.shape, strides), array.data.ptr

    def fill(self, tensor: Any, source: Any) -> None:
        """Copy the elements of `source`, on the current stream."""
        tensor[...] = source

    def scratch(self, size: int, device: int) -> tuple[Any, int]:
        """A holder of `size` bytes, and their address."""
        with self._cupy.cuda.Device(device):
            memory = self._cupy.empty(size, "uint8")
        return memory, memory.data.ptr

    def stream(self, device: int) -> int:
        """The handle of the current stream."""
        return self._cupy.cuda.get_current_stream(device).ptr

    def version(self, tensor: Any) -> int:
        """Always the same: cupy does not count changes."""
        return 0

    def from_dlpack(self, tensor: object) -> Any:
        """Another library's tensor as cupy's."""
        return self._cupy.from_dlpack(tensor)
