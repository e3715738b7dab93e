"""
What a kernel needs of the tensors that it is called with, whatever library they are from.

A library is a `Framework`: torch (`torch_tensors.py`) or cupy (`cupy_tensors.py`). Tensors of
another library come in through DLPack, without a copy.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from mirage_mlir.runtime.artifact import TensorSpec

ALIGNMENT = 16
"""Bytes. Kernels move 16 bytes at a time, so a tensor starts at a multiple of that."""


@dataclass(frozen=True)
class TensorView:
    """A tensor as any library would describe it; strides in elements, `device` as in `cuda:0`."""

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    device: str
    address: int
    pending: str = ""
    """What is still to be done to the elements, `negative` say; empty where nothing is."""


class Framework(Protocol):
    """A library of tensors: it says where they are, allocates them, and has a current stream."""

    def owns(self, tensor: object) -> bool:
        """Whether `tensor` is one of this library's."""
        ...

    def locate(self, tensor: Any, spec: TensorSpec) -> tuple[int, int] | None:
        """Device and address of `tensor`, None where a quick look does not show it to fit."""
        ...

    def view(self, tensor: Any) -> TensorView:
        """All that `check` compares."""
        ...

    def empty(self, spec: TensorSpec, device: int) -> tuple[Any, int]:
        """A new tensor whose elements are not set, and its address."""
        ...

    def fill(self, tensor: Any, source: Any) -> None:
        """Copy the elements of `source`, of the same shape and type, on the current stream."""
        ...

    def scratch(self, size: int, device: int) -> tuple[Any, int]:
        """
        A holder of `size` bytes, and their address.

        The library's allocator keeps freed memory per stream, and hands out memory of the graph
        while one is captured: a holder may be dropped as soon as the launches are queued.
        """
        ...

    def stream(self, device: int) -> int:
        """The handle of the current stream."""
        ...

    def version(self, tensor: Any) -> int:
        """Another number after a change in place, where the library counts these."""
        ...

    def from_dlpack(self, tensor: object) -> Any:
        """Another library's tensor, not copied, as one of this library's."""
        ...


_FRAMEWORKS = {
    "torch": "mirage_mlir.runtime.torch_tensors:TorchTensors",
    "cupy": "mirage_mlir.runtime.cupy_tensors:CupyTensors",
}
"""Package name to `module:class`, in the order of preference for tensors of other libraries."""

_loaded: dict[str, Framework] = {}


def _framework(package: str) -> Framework:
    if package not in _loaded:
        module, _, name = _FRAMEWORKS[package].partition(":")
        _loaded[package] = getattr(import_module(module), name)(import_module(package))
    return _loaded[package]


def framework_of(tensor: object) -> tuple[Framework, bool]:
    """
    The library that runs a call whose first tensor is `tensor`, and whether `tensor` is its own.

    Raises:
        TypeError: `tensor` is no tensor, or no library here can take it.
    """
    # A tensor of a library exists only after the program has imported it.
    for package in _FRAMEWORKS:
        if package in sys.modules and (found := _framework(package)).owns(tensor):
            return found, True
    # What a function is traced with, under jax.jit say, has the one method and not the other.
    if not hasattr(tensor, "__dlpack_device__"):
        raise TypeError(
            f"inputs are tensors of torch, cupy, jax, numpy or another library with DLPack, not "
            f"{type(tensor).__qualname__}"
        )
    for package in _FRAMEWORKS:
        if package in sys.modules or find_spec(package) is not None:
            return _framework(package), False
    raise TypeError(
        f"taking a {type(tensor).__qualname__} needs torch or cupy, and neither is installed"
    )


def check(view: TensorView, spec: TensorSpec, label: str) -> None:
    """
    Check that a copy of the tensor that `view` shows is what a kernel that expects `spec` takes.

    Raises:
        TypeError: the element type differs.
        ValueError: device or shape do not fit.
    """
    if not view.device.startswith("cuda:"):
        raise ValueError(
            f"{label} is on {view.device}; kernels take tensors on a CUDA device, or all of them "
            f"in host memory"
        )
    if view.dtype != spec.element_type.array_name:
        raise TypeError(f"{label} has type {view.dtype}, not {spec.element_type.array_name}")
    if view.shape != spec.shape:
        raise ValueError(f"{label} has shape {view.shape}, not {spec.shape}")


def misplaced(view: TensorView, spec: TensorSpec) -> str | None:
    """What is wrong with how a tensor lies in memory; None where a kernel can work on it."""
    if not same_strides(view.strides, spec):
        return f"has strides {view.strides}, not {spec.strides}"
    if view.address % ALIGNMENT:
        return f"starts at address {view.address:#x}, not at a multiple of {ALIGNMENT} bytes"
    if view.pending:
        return f"has elements of which the {view.pending} is still to be taken"
    return None


def same_strides(strides: Sequence[int], spec: TensorSpec) -> bool:
    """Whether `strides` are those of `spec`; that of a dimension of size 1 does not matter."""
    return all(
        size == 1 or stride == wanted
        for size, stride, wanted in zip(spec.shape, strides, spec.strides, strict=True)
    )
