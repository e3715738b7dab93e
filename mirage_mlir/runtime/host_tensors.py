"""Tensors in host memory, of any library, as numpy arrays that share their memory, and back."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from mirage_mlir.runtime.arrays import Array, check_array
from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.element_types import ElementType, numpy_dtype

CPU = 1
"""`kDLCPU`, DLPack's number for host memory."""


def is_on_host(tensor: Any) -> bool:
    """Whether `tensor` lies in host memory; False for what is no tensor."""
    if isinstance(tensor, np.ndarray):
        return True
    if _is_torch(tensor):
        return tensor.is_cpu
    if not hasattr(tensor, "__dlpack_device__"):
        return False
    return tensor.__dlpack_device__()[0] == CPU


def as_array(tensor: Any, label: str) -> Array:
    """
    The elements of a tensor on the host; not copied, but for torch's bfloat16 without ml_dtypes.

    Raises:
        TypeError: numpy cannot see them.
    """
    if isinstance(tensor, np.ndarray):
        # A subclass, numpy.matrix say, may have other rules of indexing.
        return np.asarray(cast(Array, tensor))
    if _is_torch(tensor):
        _refuse_without_memory(tensor, label)
        return _of_torch(tensor.detach().resolve_neg())
    if not hasattr(tensor, "__array__") and not hasattr(tensor, "__dlpack__"):
        raise TypeError(f"{label} is a {type(tensor).__qualname__}, not a tensor")
    if hasattr(tensor, "__array__"):
        # jax's own, which knows bfloat16; where it shares memory the array is read-only.
        return np.asarray(tensor)
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"{label} cannot be read by numpy: {error}") from error


def _refuse_without_memory(tensor: Any, label: str) -> None:
    """Raise `TypeError` where a tensor of torch has no elements that lie in memory by strides."""
    torch = cast(Any, sys.modules["torch"])
    if tensor.layout is not torch.strided:
        raise TypeError(f"{label} is sparse ({tensor.layout}): kernels take dense tensors")
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise TypeError(
            f"{label} is a tensor under a transform of torch.func (vmap, grad), which a kernel "
            f"does not see through: take mirage_mlir.torch.operator(graph)"
        )


def arrays_of(tensors: Sequence[Any], specs: Sequence[TensorSpec], what: str) -> list[Array]:
    """
    The elements of tensors on the host, which must be as `specs` say.

    Args:
        tensors: of any libraries.
        specs: element type and shape of each; strides do not matter.
        what: they are, "input" or "output"; outputs must be such that one can write to them.

    Raises:
        TypeError: kind or element type of a tensor does not fit, or nobody can write to it.
        ValueError: a shape does not fit, a tensor is on a device, or needs a gradient.
    """
    arrays: list[Array] = []
    for number, tensor in enumerate(tensors):
        if not is_on_host(tensor) and hasattr(tensor, "__dlpack_device__"):
            raise ValueError(f"{what} {number} is on a device, and input 0 in host memory")
    for number, (tensor, spec) in enumerate(zip(tensors, specs, strict=True)):
        label = f"{what} {number} ('{spec.name}')" if what == "input" else f"{what} {number}"
        refuse_gradient(tensor, label)
        array = check_array(as_array(tensor, label), spec, label)
        if what == "output":
            _check_output(array, tensor, label)
        arrays.append(array)
    return arrays


def _check_output(array: Array, tensor: Any, label: str) -> None:
    """Raise where what is written to `array` does not reach `tensor`, or overwrites itself."""
    if not array.flags.writeable or not np.shares_memory(array, as_array(tensor, label)):
        raise TypeError(f"{label} is a {type(tensor).__qualname__} that nobody can write to")
    steps = zip(array.shape, array.strides, strict=True)
    if any(size > 1 and not step for size, step in steps):
        raise ValueError(f"{label} is expanded: several of its elements are one in memory")


def refuse_gradient(tensor: Any, label: str) -> None:
    """Raise `ValueError` where torch would lose a gradient: kernels record none."""
    if not _is_torch(tensor) or not tensor.requires_grad:
        return
    if sys.modules["torch"].is_grad_enabled():
        raise ValueError(
            f"{label} requires a gradient, which a kernel does not record: detach it, or call the "
            f"kernel under torch.no_grad()"
        )


def results_like(sample: Any, results: Sequence[Array], specs: Sequence[TensorSpec]) -> list[Any]:
    """`results`, which are as `specs` say, as tensors of the library of `sample`."""
    if _is_torch(sample):
        return [_as_torch(*result) for result in zip(results, specs, strict=True)]
    if isinstance(sample, np.ndarray) or not hasattr(sample, "__array_namespace__"):
        return list(results)
    space = sample.__array_namespace__()
    return [space.asarray(result) for result in results]


def _is_torch(tensor: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(tensor, torch.Tensor)


def _of_torch(tensor: Any) -> Array:
    torch = sys.modules["torch"]
    if tensor.dtype is not torch.bfloat16:
        return tensor.numpy()
    if find_spec("ml_dtypes") is None:
        return tensor.float().numpy()
    # The same bits: neither library knows the other's type.
    return tensor.view(torch.int16).numpy().view(numpy_dtype(ElementType.BF16))


def _as_torch(array: Array, spec: TensorSpec) -> Any:
    torch = sys.modules["torch"]
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array).to(getattr(torch, spec.element_type.array_name))
