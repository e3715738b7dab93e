"""numpy arrays as arguments: what a kernel that is interpreted takes and gives."""

from typing import Any, TypeAlias, cast

import numpy as np

from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.element_types import ElementType, numpy_dtype

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def check_array(array: object, spec: TensorSpec, label: str) -> Array:
    """
    The numpy array `array`, which must be as `spec` says; strides do not matter here.

    bfloat16 is an array of ml_dtypes' type, or of float32.

    Raises:
        TypeError: it is no numpy array, or its element type differs.
        ValueError: its shape differs.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{label} is a {type(array).__qualname__}, not a numpy array")
    found = cast(Array, array)
    wanted = numpy_dtype(spec.element_type)
    is_wide = spec.element_type is ElementType.BF16 and found.dtype == np.float32
    if found.dtype != wanted and not is_wide:
        raise TypeError(f"{label} has type {found.dtype}, not {wanted}")
    if found.shape != spec.shape:
        raise ValueError(f"{label} has shape {found.shape}, not {spec.shape}")
    return found
