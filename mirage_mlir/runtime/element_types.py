"""Element types of tensors, and what numpy, torch and cupy call them."""

from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mirage_mlir.float_formats import FORMATS


class ElementType(Enum):
    """The type of a tensor's elements; the value is its spelling in MLIR."""

    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return FORMATS[self.value].bytes

    @property
    def array_name(self) -> str:
        """The name in numpy, torch and cupy, such as `float16`."""
        return FORMATS[self.value].array_name

    def __repr__(self) -> str:
        return f"mirage_mlir.{self.array_name}"


float16 = ElementType.F16
bfloat16 = ElementType.BF16
float32 = ElementType.F32

_BY_NAME = {
    **{element_type.value: element_type for element_type in ElementType},
    **{element_type.array_name: element_type for element_type in ElementType},
}


def element_type_of(dtype: object) -> ElementType:
    """
    The element type that `dtype` names: one of ours, a string, or a dtype of numpy, torch or cupy.

    Raises:
        TypeError: it is none that kernels work on.
    """
    if isinstance(dtype, ElementType):
        return dtype
    name = dtype if isinstance(dtype, str) else _dtype_name(dtype)
    if (element_type := _BY_NAME.get(name)) is None:
        known = ", ".join(each.array_name for each in ElementType)
        raise TypeError(f"element type {dtype!r} is not supported; supported are {known}")
    return element_type


def _dtype_name(dtype: object) -> str:
    if isinstance(dtype, type):  # numpy's scalar classes
        return dtype.__name__
    # torch prints `torch.float16`, numpy and cupy the bare name.
    return str(dtype).removeprefix("torch.")


def numpy_dtype(element_type: ElementType) -> np.dtype[Any]:
    """
    The numpy dtype that holds `element_type`.

    numpy has no bfloat16 of its own: it is that of ml_dtypes where this is installed, and float32
    (whose values contain all of bfloat16) elsewhere.
    """
    if element_type is not ElementType.BF16:
        return np.dtype(element_type.array_name)
    if find_spec("ml_dtypes") is None:
        return np.dtype(np.float32)
    return np.dtype(import_module("ml_dtypes").bfloat16)
