"""Element types by all the names that they have."""

from types import SimpleNamespace

import numpy as np
import pytest

import mirage_mlir as mi
from mirage_mlir.runtime.element_types import element_type_of, numpy_dtype


class TorchDtype(SimpleNamespace):
    """Prints as torch's dtypes do."""

    def __str__(self) -> str:
        return "torch.bfloat16"


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (mi.float16, mi.float16),
        ("f16", mi.float16),
        ("float16", mi.float16),
        ("bf16", mi.bfloat16),
        (np.float16, mi.float16),
        (np.dtype("float32"), mi.float32),
        (np.float32, mi.float32),
        (TorchDtype(), mi.bfloat16),
    ],
)
def test_names(dtype: object, wanted: object) -> None:
    assert element_type_of(dtype) is wanted


@pytest.mark.parametrize("dtype", ["float64", np.int32, float, 16, None, np.dtype("int8")])
def test_unsupported(dtype: object) -> None:
    with pytest.raises(TypeError, match="supported are float16, bfloat16, float32"):
        element_type_of(dtype)


def test_as_users_see_them() -> None:
    assert repr(mi.bfloat16) == "mirage_mlir.bfloat16"
    assert (mi.float16.itemsize, mi.float32.itemsize) == (2, 4)
    assert numpy_dtype(mi.float16) == np.float16
    assert numpy_dtype(mi.bfloat16).itemsize in (2, 4)
