"""How many elements of each result the floating-point gate looks at."""

from __future__ import annotations

import pytest
from bodies import compare, programs
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence import Verdict, accuracy
from mirage_mlir.equivalence.accuracy import READ, Accuracy, enough_labels
from mirage_mlir.equivalence.known import Known
from mirage_mlir.equivalence.slabs import find_slabs
from mirage_mlir.equivalence.work import seconds, with_enough_elements

COLUMNS_AND_ROWS = """
%r0 = matmul %0, %1 : 1x512:bf16 512x1024:bf16 -> 1x1024:bf16
%r1 = softmax %2 {dim = 1 : i64} : 8x128:bf16 -> 8x128:bf16
"""


def columns_and_rows() -> FuncOp:
    """A result of 1,024 labels with one element each, and one of 8 with 128 each."""
    inputs = "1x512:bf16 512x1024:bf16 8x128:bf16"
    return programs(inputs, "1x1024:bf16 8x128:bf16", COLUMNS_AND_ROWS)[0]


def test_a_label_may_be_one_element_or_many() -> None:
    function = columns_and_rows()
    slabs = find_slabs(function, function)
    assert [sum(map(len, slab.classes)) for slab in slabs] == [1024, 8]
    assert with_enough_elements(function, slabs, 1, 1) == [1, 1]
    # 64 columns of one result; one row of the other is 128 elements.
    assert with_enough_elements(function, slabs, 1, 64) == [64, 1]
    assert with_enough_elements(function, slabs, 2, 64) == [64, 2]
    assert with_enough_elements(function, slabs, 1, 200) == [256, 2]
    # All, where all are too few.
    assert with_enough_elements(function, slabs, 1, 1 << 20) == [1024, 8]


def test_more_elements_where_they_cost_little() -> None:
    """64 columns of a product are little beside a long row, and rows are much beside others."""
    both = """
    %r0 = matmul %0, %1 : 1x512:bf16 512x1024:bf16 -> 1x1024:bf16
    %r1 = softmax %2 {dim = 1 : i64} : 8x262144:bf16 -> 8x262144:bf16
    """
    inputs = "1x512:bf16 512x1024:bf16 8x262144:bf16"
    (function,) = programs(inputs, "1x1024:bf16 8x262144:bf16", both)
    slabs = find_slabs(function, function)
    assert [sum(map(len, slab.classes)) for slab in slabs] == [1024, 8]
    assert enough_labels(function, slabs, 1) == [64, 1]
    assert enough_labels(function, slabs, 2) == [64, 2]
    # Rows of a sum, each of which is as long: 16 of them are what there is time for.
    total = "%r = reduce_sum %0 {dims = array<i64: 1>} : 512x4096:bf16 -> 512x1:bf16"
    (function,) = programs("512x4096:bf16", "512x1:bf16", total)
    slabs = find_slabs(function, function)
    for labels in (1, 16, 64):
        assert enough_labels(function, slabs, labels) == [labels]


def test_kinds_of_inputs_are_not_fewer_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    function = columns_and_rows()
    slabs = find_slabs(function, function)
    measured = Accuracy(Known(function, 0), function, slabs, exponentials=True)
    measured.wanted = 1.01 * len(measured.kinds) * seconds(function, 1, slabs, [1, 1], READ)
    gates: list[tuple[int, int]] = []
    for more in (1.0, 100.0):
        monkeypatch.setattr(accuracy, "MORE", more)
        monkeypatch.setattr(measured, "known", Known(function, 0))
        gate = measured.gate(slabs, measured.wanted)
        assert gate is not None
        gates.append((gate.dims[1][1].count, len(gate.losses(function))))
    assert gates == [(1, 2 * len(measured.kinds)), (64, 2 * len(measured.kinds))]


F16 = """
%x = cast %0 : 1x16384:bf16 -> 1x16384:f16
%w = cast %1 : 16384x4096:bf16 -> 16384x4096:f16
%p = matmul %x, %w : 1x16384:f16 16384x4096:f16 -> 1x4096:f16
%r = cast %p : 1x4096:f16 -> 1x4096:bf16
"""


def test_large_products_through_f16_are_refused() -> None:
    """They overflow on the largest inputs that the program bears, a kind that few have room for."""
    product = "%r = matmul %0, %1 : 1x16384:bf16 16384x4096:bf16 -> 1x4096:bf16"
    report = compare("1x16384:bf16 16384x4096:bf16", "1x4096:bf16", product, F16)
    assert report.verdict is Verdict.INACCURATE
