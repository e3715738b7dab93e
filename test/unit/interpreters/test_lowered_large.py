"""What large matmuls need: wide stores of their sums, and an order of blocks."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from lowered_kernels import check
from lowering_cases import Linear, biased_linear, gated_mlp, matmul, plain_linear, total
from small_graphs import ALL, Program
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.llvm import StoreOp
from xdsl.ir import Operation

from mirage_mlir.dialects.launch import launch_of
from mirage_mlir.dialects.nvvm import ShflSyncOp
from mirage_mlir.passes import graph_pass
from mirage_mlir.targets.target import H200, Target


def stores_of(kernels: Operation) -> list[int | None]:
    """The bytes to which each store is aligned."""
    return [
        None if op.alignment is None else op.alignment.value.data
        for op in kernels.walk()
        if isinstance(op, StoreOp)
    ]


@pytest.mark.parametrize(
    ("make", "target", "width"),
    [
        (lambda: plain_linear(Linear(64, 64, 64, 64, 64, 32)), "sm_90a", 16),
        (lambda: plain_linear(Linear(64, 64, 96, 64, 64, 96, "bf16")), "sm_90a", 16),
        (lambda: gated_mlp(Linear(64, 64, 64, 64, 32, 32)), "sm_90a", 16),
        (lambda: plain_linear(Linear(16, 64, 128, 16, 64, 128, "bf16")), "sm_80", 16),
        # Rows that tiles do not divide, and columns of which some do not exist.
        (lambda: biased_linear(Linear(50, 64, 104, 64, 32, 64)), "sm_90a", 16),
        (lambda: plain_linear(Linear(21, 64, 104, 16, 64, 128)), "sm_80", 16),
        # Two tiles of 8 columns, and six.
        (lambda: plain_linear(Linear(64, 64, 64, 64, 64, 16)), "sm_90a", 8),
        (lambda: plain_linear(Linear(64, 64, 96, 64, 32, 48, "bf16")), "sm_90a", 8),
        (lambda: plain_linear(Linear(16, 64, 128, 16, 64, 64)), "sm_80", 8),
        # Rows of 200 bytes are aligned to 8; rows and columns end inside tiles.
        (lambda: plain_linear(Linear(50, 64, 100, 64, 32, 32)), "sm_90a", 8),
    ],
)
def test_lanes_exchange_for_wider_stores(
    make: Callable[[], ModuleOp], target: str, width: int
) -> None:
    kernels = check(make(), target=target)
    assert any(isinstance(op, ShflSyncOp) for op in kernels.walk())
    assert set(stores_of(kernels)) == {width}


@pytest.mark.parametrize(
    "make",
    [
        # Rows of 36 bytes are not aligned to 16; three tiles of 8 columns are not four.
        lambda: plain_linear(Linear(16, 64, 18, 16, 64, 18)),
        lambda: plain_linear(Linear(64, 64, 24, 64, 64, 24)),
    ],
)
def test_others_store_as_they_are(make: Callable[[], ModuleOp]):
    kernels = check(make())
    assert not any(isinstance(op, ShflSyncOp) for op in kernels.walk())


def linear_of_parts(batch: int, s: Linear) -> ModuleOp:
    """A matmul of each of several matrices, which are the last axis of the grid."""
    p = Program(f"{batch}x{s.type_of('mk')}", f"{batch}x{s.type_of('kn')}")
    x, w = p.inputs
    with p.graph([*s.grid, batch], [s.iterations]) as g:
        xt = g.load(x, (1, s.rows, s.depth), [ALL, 1, 0], [2])
        wt = g.load(w, (1, s.depth, s.columns), [2, ALL, 0], [1])
        g.store(total(g, matmul(g, xt, wt)), f"{batch}x{s.type_of('mn')}", [2, 1, 0])
    return p.finish(*g.results)


@pytest.mark.parametrize(
    ("make", "launched"),
    [
        (lambda: biased_linear(Linear(48, 32, 64, 16, 16, 16)), [2, 3, 2]),
        (lambda: linear_of_parts(2, Linear(48, 32, 64, 16, 16, 16)), [2, 3, 4]),
    ],
)
def test_blocks_start_in_bands_of_the_raster(
    make: Callable[[], ModuleOp], launched: list[int], monkeypatch: pytest.MonkeyPatch
):
    few = replace(H200, sm_count=4)

    def settled(module: ModuleOp, asked: str | None, by: str) -> Target:
        return few

    monkeypatch.setattr(graph_pass, "settle_target", settled)
    kernels = check(make())
    (launch,) = (each for op in kernels.walk() if (each := launch_of(op)))
    assert list(launch.grid) == launched
