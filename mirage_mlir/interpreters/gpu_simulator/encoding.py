"""
Element types: how values of them are computed with, and how they lie in memory.

i1 is bool; bf16 is kept in f32, since numpy has none.
"""

from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerType, VectorType, bf16, f16, f32, i8, i16, i32, i64
from xdsl.ir import Attribute

from mirage_mlir.hints import isa
from mirage_mlir.interpreters.float_domain import round_to_bfloat16

Array = NDArray[Any]

POISON = 0xFF
"""The bytes of memory that nothing wrote: NaN in every float type."""

DTYPES: dict[Attribute, type[np.generic]] = {
    IntegerType(1): np.bool_,
    i8: np.int8,
    i16: np.int16,
    i32: np.int32,
    i64: np.int64,
    f16: np.float16,
    bf16: np.float32,
    f32: np.float32,
}
"""How elements are kept."""

STORED: dict[Attribute, type[np.generic]] = {**DTYPES, bf16: np.uint16}
"""How elements lie in memory."""


@cache
def element_of(kind: Attribute) -> tuple[Attribute, tuple[int, ...]]:
    """The element type and the shape of a scalar or vector type."""
    if isa(kind, VectorType[Attribute]):
        return kind.element_type, kind.get_shape()
    return kind, ()


@cache
def is_known(kind: Attribute) -> bool:
    """Whether values of this type can be computed with."""
    return element_of(kind)[0] in DTYPES


@cache
def byte_count(kind: Attribute) -> int:
    """Bytes of a scalar or vector in memory."""
    element, shape = element_of(kind)
    return prod(shape) * np.dtype(STORED[element]).itemsize


def encode(values: Array, kind: Attribute) -> Array:
    """The bytes of each first-axis element of `values`, which are scalars or vectors."""
    element, _ = element_of(kind)
    stored = np.ascontiguousarray(values)
    if element == bf16:
        stored = (stored.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return stored.reshape(len(values), -1).view(np.uint8)


def decode(data: Array, kind: Attribute) -> Array:
    """Scalars or vectors from n x bytes."""
    element, shape = element_of(kind)
    stored = np.ascontiguousarray(data).view(STORED[element])
    if element == bf16:
        stored = (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return stored.reshape(len(data), *shape)


def rounded(values: Array, kind: Attribute) -> Array:
    """Numbers as an element type holds them."""
    element, _ = element_of(kind)
    if element == bf16:
        return round_to_bfloat16(values.astype(np.float32))
    return values.astype(DTYPES[element])
