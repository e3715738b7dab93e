"""The programs of `test/ugraphs` as functions of numpy arrays, and inputs for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from numpy_reference import (
    Array,
    attention,
    gelu_tanh,
    outputs_of,
    representable,
    rms_norm,
    silu,
    softmax,
)

FOLDER = Path(__file__).parents[1] / "ugraphs"

NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir"))

CLUSTERED = {"attention_across", "rmsnorm_linear_split_k"}
"""Those with sums across blocks: of clusters on sm_90a, through device memory on sm_80."""

CHIPS = ("sm_90a", "sm_80")
"""What all can be compiled for."""

DEEP = 1 / 64
"""The scale of a weight of some thousand rows, which keeps products near 1."""


def path_of(name: str) -> Path:
    """The file that holds the uGraph `name`."""
    return FOLDER / f"{name}.mlir"


@dataclass(frozen=True)
class Program:
    """What a uGraph computes, and how large its inputs are."""

    function: Callable[..., Array | tuple[Array, ...]]
    scales: tuple[float, ...]
    """The standard deviation of each input."""

    def outputs(self, inputs: Sequence[NDArray[Any]]) -> list[Array]:
        """The results in float64."""
        return outputs_of(self.function(*(array.astype(np.float64) for array in inputs)))

    def inputs(
        self, shapes: Sequence[tuple[int, ...]], element_types: Sequence[str], seed: int
    ) -> list[NDArray[np.float32]]:
        """Random inputs that the element types have."""
        generator = np.random.default_rng(seed)
        return [
            representable(
                generator.standard_normal(shape, np.float32) * np.float32(scale), element_type
            )
            for scale, shape, element_type in zip(self.scales, shapes, element_types, strict=True)
        ]


def _add_rmsnorm_linear(x: Array, residual: Array, g: Array, w: Array) -> tuple[Array, Array]:
    return x + residual, rms_norm(x + residual, g) @ w


def _attention_decode(q: Array, k: Array, v: Array) -> Array:
    return attention(q, k.transpose(0, 2, 1), v, 0.0883883461)


def _gated_mlp(x: Array, w1: Array, w3: Array) -> Array:
    return silu(x @ w1) * (x @ w3)


def _linear(x: Array, w: Array) -> Array:
    return x @ w


def _linear_bias_gelu(x: Array, w: Array, b: Array) -> Array:
    return gelu_tanh(x @ w + b)


def _linear_transposed_weight(x: Array, w: Array) -> Array:
    return x @ w.T


def _lora(x: Array, w: Array, a: Array, b: Array) -> Array:
    return x @ w + (x @ a) @ b


def _ntrans(h: Array, x: Array, alpha: Array) -> Array:
    return rms_norm(x + alpha * (rms_norm(h) + x))


def _ntrans_subtract(h: Array, x: Array, alpha: Array) -> Array:
    return rms_norm(x + alpha * (rms_norm(h) - x))


def _attention_backward(q: Array, k: Array, v: Array, g: Array) -> tuple[Array, Array, Array]:
    p = softmax(q @ k.transpose(0, 2, 1))
    of_weights = g @ v.transpose(0, 2, 1)
    of_scores = p * (of_weights - (p * of_weights).sum(-1, keepdims=True))
    return of_scores @ k, of_scores.transpose(0, 2, 1) @ q, p.transpose(0, 2, 1) @ g


def _rmsnorm_backward(x: Array, dy: Array, r: Array) -> tuple[Array, Array]:
    n = x * r
    dx = (dy - n * (n * dy).mean(1, keepdims=True)) * r
    return dx, (n * dy).sum(0, keepdims=True)


def _rmsnorm_linear(x: Array, w: Array) -> Array:
    return rms_norm(x) @ w


def _rmsnorm_linear_bf16(x: Array, g: Array, w: Array) -> Array:
    return rms_norm(x, g, 1e-6) @ w


PROGRAMS = {
    "add_rmsnorm_linear": Program(_add_rmsnorm_linear, (1, 1, 1, DEEP)),
    "attention_across": Program(attention, (0.5, 0.5, 1)),
    "attention_backward": Program(_attention_backward, (0.5, 0.5, 1, 1)),
    "attention_decode": Program(_attention_decode, (1, 1, 1)),
    "attention_split_kv": Program(attention, (0.5, 0.5, 1)),
    "gated_mlp": Program(_gated_mlp, (1, DEEP, DEEP)),
    "linear_bias_gelu": Program(_linear_bias_gelu, (1, DEEP, 1)),
    "linear_many_rows": Program(_linear, (1, 4 * DEEP)),
    "linear_transposed_weight": Program(_linear_transposed_weight, (1, DEEP)),
    "lora": Program(_lora, (1, 4 * DEEP, 4 * DEEP, 0.25)),
    "ntrans": Program(_ntrans, (1, 1, 0.5)),
    "ntrans_subtract": Program(_ntrans_subtract, (1, 1, 0.5)),
    "rmsnorm_backward": Program(_rmsnorm_backward, (1, 1, 1)),
    "rmsnorm_linear": Program(_rmsnorm_linear, (1, DEEP)),
    "rmsnorm_linear_bf16": Program(_rmsnorm_linear_bf16, (1, 1, 2 * DEEP)),
    "rmsnorm_linear_ragged": Program(_rmsnorm_linear, (1, 2 * DEEP)),
    "rmsnorm_linear_split_k": Program(_rmsnorm_linear, (1, DEEP)),
    "softmax": Program(softmax, (4,)),
}
"""By the name of the file."""
