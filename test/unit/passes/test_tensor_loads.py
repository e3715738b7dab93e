"""Which tiles tensor copies fetch."""

import pytest
from lowered_kernels import check
from small_graphs import ALL, Program
from xdsl.dialects.builtin import TensorType, f16

from mirage_mlir.dialects import kernel, nvvm_hopper
from mirage_mlir.dialects import threadblock as tb


@pytest.mark.parametrize(("blocks", "copied"), [(4, True), (5, False)])
def test_what_is_repeated_ends_nowhere(blocks: int, *, copied: bool) -> None:
    """A fifth block has no row: a copy of the row that all share would not give it zeros."""
    p = Program("1x64xf16", "64x16xf16")
    x, w = p.inputs
    rows = p.view(kernel.BroadcastOp(x, TensorType(f16, [4, 64])))
    with p.graph([blocks], [2]) as g:
        xt = g.load(rows, (1, 32), [0], [1])
        product = g.add(tb.MatmulOp(xt, g.load(w, (32, 16), [ALL], [0])))
        g.store(g.add(tb.AccumulateOp(product)), "4x16xf32", [0])
    kernels = check(p.finish(*g.results))
    copies = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.CpAsyncBulkTensorLoadOp)]
    assert bool(copies) == copied
