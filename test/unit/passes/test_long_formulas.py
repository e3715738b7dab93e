"""Formulas of indices with many operators are looked at once for each, whatever shares them."""

import numpy as np
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.index_formulas import part_of, parts_of, places_of
from mirage_mlir.passes.frontend.index_samples import samples_of

SIZE = 8


def indices() -> SSAValue:
    return kernel.IotaOp(0, TensorType(f32, [SIZE])).result


def test_shared_parts_are_computed_once() -> None:
    """Each operator has its operand twice: paths through them double with each."""
    count = 100
    value = indices()
    for _ in range(count):
        value = kernel.MaxOp(value, value).result
    assert len(list(parts_of(part_of(value, places_of([SIZE]))))) == count + 1
    np.testing.assert_array_equal(samples_of(value).elements, np.arange(SIZE))


def test_long_chains_are_followed() -> None:
    count = 3000
    first = value = indices()
    for _ in range(count):
        value = kernel.AddOp(value, first).result
    np.testing.assert_array_equal(samples_of(value).elements, np.arange(SIZE) * (count + 1))
