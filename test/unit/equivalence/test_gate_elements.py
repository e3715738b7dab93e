"""How many elements of each result the floating-point gate looks at."""

from __future__ import annotations

import pytest
from bodies import programs
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence import accuracy
from mirage_mlir.equivalence.accuracy import FEWEST_KINDS, READ, Accuracy
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


def test_rather_fewer_kinds_than_too_few_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    function = columns_and_rows()
    slabs = find_slabs(function, function)
    one, enough = (seconds(function, 1, slabs, [n, 1], READ) for n in (1, 64))
    assert one < enough / 2
    monkeypatch.setattr(accuracy, "GATE_LABELS", (1,))
    measured = Accuracy(Known(function, 0), function, slabs, exponentials=True)
    kinds = len(measured.kinds)
    assert kinds > FEWEST_KINDS
    # What is wanted is all kinds of inputs on one element, or three of them on enough.
    measured.wanted = 1.01 * max(one * kinds, enough * FEWEST_KINDS)
    assert measured.wanted < enough * kinds
    found = {most: measured.gate(slabs, most) for most in (measured.wanted, 0.99 * one)}
    gate = found[measured.wanted]
    assert gate is not None
    assert gate.dims[1][1].count == 64
    assert found[0.99 * one] is None
    # Where there is no time for that, one element.
    assert measured.labels(slabs, 2.9 * enough)[0] == [1, 1]
