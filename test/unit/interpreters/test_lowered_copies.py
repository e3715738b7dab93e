"""Copies of tiles to shared memory: many pieces of each width, in loops of bounded size."""

from collections import Counter

import lowering_cases as cases
import pytest
from lowered_kernels import check
from lowering_cases import Linear
from xdsl.dialects import scf
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.passes.codegen.copies import MAX_COPIES, MAX_MOVES


def copies_in(op: Operation) -> Counter[type[Operation]]:
    """The operations of an operation's regions, loops inside counted once."""
    return Counter(type(inner) for inner in op.walk())


ODD = {
    # Tiles of 64 x 33: 16 elements for each of 128 threads, and some over.
    "whole": Linear(16, 64, 33, 16, 64, 33),
    "ragged": Linear(16, 150, 99, 16, 64, 33),
    # The second block of columns has none, the last iteration few rows.
    "empty": Linear(5, 70, 35, 5, 64, 34),
}


@pytest.mark.parametrize("name", ODD)
def test_elements_one_by_one(name: str) -> None:
    """Rows of an odd number of f16: each element is loaded and stored by itself."""
    kernels = check(cases.rmsnorm_linear(ODD[name]))
    loops = [op for op in kernels.walk() if isinstance(op, scf.ForOp)]
    moves = [copies_in(loop) for loop in loops if nvvm.MmaSyncOp not in copies_in(loop)]
    assert moves


def test_many_asynchronous_copies_are_a_loop() -> None:
    """A tile of 384 x 128: 48 copies of 16 bytes for each of 128 threads."""
    kernels = check(cases.plain_linear(Linear(16, 384, 128, 16, 384, 128)))
    found = copies_in(kernels)[nvvm.CpAsyncSharedGlobalOp]
    # 16 x 384 are 6 copies for each.
    assert found == MAX_COPIES + 6


def test_few_copies_are_written_out() -> None:
    kernels = check(cases.plain_linear(Linear(16, 64, 64, 16, 64, 64)))
    assert copies_in(kernels)[nvvm.CpAsyncSharedGlobalOp] == 4 + 1
    assert MAX_MOVES < MAX_COPIES
