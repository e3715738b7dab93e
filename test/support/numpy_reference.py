"""Operators in float64 by numpy alone: what results are compared with."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TOLERANCE = {"f16": 5e-4, "bf16": 4e-3, "f32": 1e-5}
"""Relative error in the 2-norm that an output of each type may have: the nearest f16 and bf16 to an
exact result may be 4.9e-4 and 3.9e-3 off, and sums are in f32."""


def error(output: NDArray[Any], wanted: Array) -> float:
    """Relative error in the 2-norm; infinite where `output` is not a number somewhere."""
    distance = np.linalg.norm(output.astype(np.float64) - wanted)
    size = np.linalg.norm(wanted)
    if not math.isfinite(distance):
        return math.inf
    return float(distance / size if size else distance)


def representable(values: NDArray[np.float32], element_type: str) -> NDArray[np.float32]:
    """Numbers near `values` that the element type has."""
    if element_type == "f16":
        return values.astype(np.float16).astype(np.float32)
    if element_type == "bf16":
        # The upper half of an f32 is a bf16.
        return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return values


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def erf(x: Array) -> Array:
    """The error function."""
    values: list[float] = x.ravel().tolist()
    return np.array([math.erf(value) for value in values]).reshape(x.shape)


def gelu(x: Array) -> Array:
    """By the error function."""
    return x * (1 + erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: Array) -> Array:
    """The approximation of Hendrycks and Gimpel, section 2."""
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x: Array, dim: int = -1) -> Array:
    shifted = np.exp(x - x.max(axis=dim, keepdims=True))
    return shifted / shifted.sum(axis=dim, keepdims=True)


def rms_norm(x: Array, weight: Array | float = 1.0, eps: float = 1e-5) -> Array:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def layer_norm(
    x: Array, weight: Array | float = 1.0, bias: Array | float = 0.0, eps: float = 1e-5
) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * weight + bias


def attention(q: Array, k: Array, v: Array, scale: float = 1.0) -> Array:
    """`k` has a column for each key."""
    return softmax(q @ k * scale) @ v


def outputs_of(result: Array | Sequence[Array]) -> list[Array]:
    """The results of a function that gives one array or several."""
    return [result] if isinstance(result, np.ndarray) else list(result)
