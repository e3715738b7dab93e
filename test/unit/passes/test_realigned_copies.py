"""
Tiles whose rows start at no multiples of 16 bytes: aligned pieces that threads shift into place.

Results are compared with those of the uGraph in f64, and no access is out of bounds.
"""

from collections.abc import Callable
from functools import partial

import lowering_cases as cases
import lowering_tiles as tiles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowered_kernels import check, schedule
from lowering_cases import Linear
from sampling import round_robin
from small_graphs import ALL, Program
from xdsl.dialects import llvm, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from mirage_mlir.decisions.copies import are_fetched, fetched_words, is_realigned, loop_stages
from mirage_mlir.decisions.schedule import copy_stages
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.fetched_tiles import FetchTilesOp

KIND = "f16"


def copies_of(module: ModuleOp, target: str = "H200") -> list[str | None]:
    """How the loads of a module are copied."""
    scheduled = schedule(module.clone(), target=target)
    loads = [op for op in scheduled.walk() if isinstance(op, threadblock.LoadOp)]
    return [None if op.copy is None else op.copy.data for op in loads]


def fetches(module: ModuleOp) -> bool:
    """Whether tiles of an iteration are fetched in the one before."""
    return any(isinstance(op, FetchTilesOp) for op in schedule(module.clone()).walk())


def sliced(offset: int, width: int, pitch: int, kind: str = KIND) -> ModuleOp:
    """`2 x`, summed over steps of 16 columns, for columns of a wider tensor of 5 rows."""
    p = Program(f"5x{pitch}x{kind}")
    (x,) = p.inputs
    view = p.view(kernel.SliceOp(x, [0, offset], [5, width], [1, 1]))
    with p.graph([1], [-(-width // 16)]) as g:
        doubled = g.add(threadblock.ScaleOp(g.load(view, (5, 16), [ALL], [1]), 2.0))
        g.store(cases.total(g, doubled), "5x16xf32", [ALL])
    return p.finish(*g.results)


PRODUCTS: dict[str, Callable[[], ModuleOp]] = {
    "odd": partial(cases.linear_in, None, Linear(17, 211, 67, 17, 32, 64, KIND)),
    "more threads than pieces": partial(cases.linear_in, None, Linear(5, 33, 7, 5, 16, 8, KIND)),
    "bf16": partial(cases.linear_in, None, Linear(64, 93, 35, 64, 32, 32, "bf16")),
    "rows that end early": partial(cases.linear_in, None, Linear(130, 77, 61, 64, 32, 32, KIND)),
    "whole pieces in all": partial(cases.linear_in, None, Linear(8, 95, 32, 8, 32, 32, KIND)),
    "batch": partial(cases.batched_linear, 3, Linear(19, 71, 41, 16, 32, 32, KIND)),
    "columns in memory": partial(
        cases.transposed_linear, Linear(16, 91, 24, 16, 32, 24), computed=False, views=True
    ),
    "gated": partial(cases.gated_mlp, Linear(7, 133, 65, 8, 64, 64, KIND)),
    "one of two": partial(cases.linear_in, None, Linear(16, 128, 67, 16, 32, 64, KIND)),
    "split": partial(cases.split_linear, Linear(9, 515, 33, 9, 32, 32), 4, more=False),
}


@pytest.mark.parametrize(("name", "target"), round_robin(list(PRODUCTS), ["H200", "A100"]))
def test_products(name: str, target: str) -> None:
    module = PRODUCTS[name]()
    assert "realigned" in copies_of(module, target)
    check(module, target=target)


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_stages(stages: int) -> None:
    """With more buffers a tile is stored more iterations before it is read."""
    check(PRODUCTS["odd"](), stages=stages)
    check(PRODUCTS["one of two"](), stages=stages)


def test_without_registers() -> None:
    """Sums that leave too few: threads wait for what they load."""
    module = cases.linear_in(None, Linear(128, 97, 129, 128, 32, 256, KIND))
    assert "realigned" in copies_of(module)
    assert not fetches(module)
    check(module)


def test_without_a_loop() -> None:
    module = cases.plain_linear(Linear(19, 64, 45, 19, 64, 48, KIND))
    assert "realigned" in copies_of(module)
    assert not fetches(module)
    check(module)


def test_rows() -> None:
    """Maxima and sums of rows that steps of a loop cut."""
    for kinds in (("max", "max"), ("sum", "sum")):
        module = tiles.looped_reduction((7, 203), 32, 1, [1], kinds)
        assert fetches(module)
        check(module)


@settings(max_examples=25, deadline=None)
@given(offset=st.integers(0, 9), width=st.integers(16, 60), rest=st.integers(0, 9))
def test_slices(offset: int, width: int, rest: int) -> None:
    """A slice starts anywhere; what is beside it adds nothing."""
    check(sliced(offset, width, offset + width + rest))


def test_loads_in_the_loop() -> None:
    """Of a whole window, all before the first store that waits for one of the next iteration."""
    kernels = check(PRODUCTS["odd"]())
    (loop,) = [op for op in kernels.walk() if isinstance(op, scf.ForOp) and is_outermost(op)]
    loads = [op for op in loop.body.block.ops if isinstance(op, llvm.LoadOp)]
    # 17 lines of 4 pieces, 32 of 8, by 128 threads.
    assert len(loads) == 2 * (1 + 2)
    assert {str(op.dereferenced_value.type) for op in loads} == {"vector<4xi32>"}


def is_outermost(op: Operation) -> bool:
    """Whether a loop multiplies: others patch single elements."""
    return any(isinstance(each, scf.YieldOp) and len(each.operands) > 8 for each in op.walk())


def test_decisions() -> None:
    # `cp.async` takes 4 bytes; lines of 24 bytes are no whole pieces.
    assert [bool(is_realigned(run, piece)) for run, piece in [(64, 2), (64, 4), (24, 2)]] == [
        *(True, False, False)
    ]
    # 1,016 pieces of 128 rows less one, by 256 threads: four each, two windows of four words.
    assert fetched_words(127 * 64 * 2, 256) == 32
    assert [bool(are_fetched(words, 96)) for words in (0, 64, 72)] == [False, True, False]
    assert loop_stages(32768, 11, all_fetched=True) == 2
    assert loop_stages(32768, 1, all_fetched=True) == 1
    assert loop_stages(32768, 11, all_fetched=False) == copy_stages(32768, 11)


def test_blocks_side_by_side_share_what_is_in_flight() -> None:
    """48 KB ahead of what is read, by one block, two or three; more count as four."""
    found = [int(loop_stages(16384, 40, all_fetched=False, share=n)) for n in (1, 2, 3, 4, 9)]
    assert found == [4, 3, 2, 2, 2]
    assert int(copy_stages(4096, 40, 9)) == int(copy_stages(4096, 40, 4))
