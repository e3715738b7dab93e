"""Numbers as they lie in a tensor's memory, without a library of tensors."""

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.interpreters.float_domain import round_to_bfloat16
from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.element_types import ElementType


def size_in_bytes(spec: TensorSpec) -> int:
    """What a tensor takes in memory."""
    return spec.storage_bytes


def encode(values: NDArray[np.float32], element_type: ElementType) -> bytes:
    """`values` one after the other, each rounded to `element_type`."""
    if element_type is ElementType.F32:
        return values.astype(np.float32).tobytes()
    if element_type is ElementType.F16:
        return values.astype(np.float16).tobytes()
    bits = np.ascontiguousarray(round_to_bfloat16(values.astype(np.float32))).view(np.uint32)
    return (bits >> 16).astype(np.uint16).tobytes()


def decode(data: bytes, element_type: ElementType) -> NDArray[np.float32]:
    """The numbers in `data`, one after the other."""
    if element_type is ElementType.F32:
        return np.frombuffer(data, np.float32)
    if element_type is ElementType.F16:
        return np.frombuffer(data, np.float16).astype(np.float32)
    bits = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32)


def decode_tensor(data: bytes, spec: TensorSpec) -> NDArray[np.float32]:
    """The tensor that lies in `data`, which starts with its first element."""
    flat = decode(data, spec.element_type)
    strides = [stride * flat.itemsize for stride in spec.strides]
    return np.lib.stride_tricks.as_strided(flat, spec.shape, strides, writeable=False)
