"""torch's CUDA tensors, on torch's current stream."""

from types import ModuleType
from typing import Any

from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.tensors import ALIGNMENT, TensorView


class TorchTensors:
    """`Framework` over torch. torch is untyped here, since it is an optional dependency."""

    def __init__(self, torch: ModuleType) -> None:
        self._torch = torch
        self._tensor: type = torch.Tensor
        self._dtypes = {item: getattr(torch, item.array_name) for item in ElementType}
        self._records_gradients = torch.is_grad_enabled
        self._devices: dict[int, Any] = {}
        # The public way makes a Stream object, which costs as much as the launch itself.
        self._raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", self._public_stream)

    def owns(self, tensor: object) -> bool:
        """Whether `tensor` is a torch tensor."""
        return isinstance(tensor, self._tensor)

    def locate(self, tensor: Any, spec: TensorSpec) -> tuple[int, int] | None:
        """Device and address of `tensor`, where it is on CUDA, dense and as `spec` says."""
        if not (
            tensor.is_cuda
            and tensor.dtype is self._dtypes[spec.element_type]
            and tensor.shape == spec.shape
            and tensor.is_contiguous()
            and spec.dense
            and not tensor.is_neg()
            and not (tensor.requires_grad and self._records_gradients())
        ):
            return None
        address: int = tensor.data_ptr()
        return None if address % ALIGNMENT else (tensor.get_device(), address)

    def view(self, tensor: Any) -> TensorView:
        """All that `check` compares."""
        device = tensor.device
        return TensorView(
            shape=tuple(tensor.shape),
            dtype=str(tensor.dtype).removeprefix("torch."),
            strides=tuple(tensor.stride()),
            device=str(device),
            address=tensor.data_ptr() if tensor.is_cuda else 0,
            pending="negative" if tensor.is_neg() else "",
        )

    def _device(self, device: int) -> Any:
        if device not in self._devices:
            self._devices[device] = self._torch.device("cuda", device)
        return self._devices[device]

    def empty(self, spec: TensorSpec, device: int) -> tuple[Any, int]:
        """A new tensor from torch's caching allocator, and its address."""
        tensor = self._torch.empty_strided(
            spec.shape,
            spec.strides,
            dtype=self._dtypes[spec.element_type],
            device=self._device(device),
        )
        return tensor, tensor.data_ptr()

    def fill(self, tensor: Any, source: Any) -> None:
        """Copy the elements of `source`, on the current stream."""
        tensor.copy_(source)

    def scratch(self, size: int, device: int) -> tuple[Any, int]:
        """A holder of `size` bytes, and their address."""
        memory = self._torch.empty(size, dtype=self._torch.uint8, device=self._device(device))
        return memory, memory.data_ptr()

    def stream(self, device: int) -> int:
        """The handle of the current stream."""
        return self._raw_stream(device)

    def _public_stream(self, device: int) -> int:
        return self._torch.cuda.current_stream(self._device(device)).cuda_stream

    def version(self, tensor: Any) -> int:
        """How often `tensor`, or what it is a view of, was changed in place."""
        # torch counts no changes of tensors that inference mode made.
        return 0 if tensor.is_inference() else tensor._version

    def from_dlpack(self, tensor: object) -> Any:
        """Another library's tensor as torch's."""
        return self._torch.from_dlpack(tensor)
