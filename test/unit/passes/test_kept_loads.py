"""What L2 keeps of what row kernels read and write, and that they compute the same."""

from dataclasses import replace

import lowering_tiles as tiles
import pytest
from lowered_kernels import check
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects.nvvm_device import is_kept_load, is_kept_store
from mirage_mlir.passes import graph_pass
from mirage_mlir.targets.target import Target


def kept(kernels: gpu.ModuleOp) -> int:
    """Loads with advice for L2."""
    return sum(map(is_kept_load, kernels.walk()))


@pytest.fixture
def small_l2(monkeypatch: pytest.MonkeyPatch) -> None:
    """An H200 whose L2 holds a kilobyte: tensors that the interpreter can take stream through."""
    settle = graph_pass.settle_target

    def settled(module: ModuleOp, asked: str | None, by: str) -> Target:
        found = settle(module, asked, by)
        return replace(found, l2_bytes=1024) if found.name == "H200" else found

    monkeypatch.setattr(graph_pass, "settle_target", settled)


@pytest.mark.usefixtures("small_l2")
@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_rows_that_stream_through(kind: str) -> None:
    """Tiles that blocks read alone, in whole accesses of 16 bytes; not the factors of all rows."""
    assert kept(check(tiles.layer_norm(13, 256, 3, kind))) > 0
    # Of 3 x 256 elements, two or four bytes each, 128 threads read 16 bytes at a time; in f32 they
    # do that in two layouts.
    assert kept(check(tiles.softmax(13, 256, 3, kind))) == (4 if kind == "f32" else 1)
    assert kept(check(tiles.softmax(13, 100, 3, kind), target="A100")) == 0
    assert kept(check(tiles.softmax(13, 101, 3, kind))) == 0
    assert kept(check(tiles.elementwise((70, 256), (40, 256), [0], (256,), kind), threads=32)) == 0


def kept_stores(kernels: gpu.ModuleOp) -> int:
    """Stores with advice for L2."""
    return sum(map(is_kept_store, kernels.walk()))


@pytest.mark.usefixtures("small_l2")
@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_rows_that_loops_store(kind: str) -> None:
    """What the loop stores, in whole accesses of 16 bytes; not the sums behind it."""
    one_row = kept_stores(check(tiles.row_gradients(64, 256, 4, 1, kind)))
    assert one_row == (2 if kind == "f32" else 1)
    assert kept_stores(check(tiles.row_gradients(61, 256, 4, 3, kind))) > one_row
    assert kept_stores(check(tiles.row_gradients(64, 256, 4, 1, kind), target="A100")) == 0
    assert kept_stores(check(tiles.row_gradients(31, 67, 4, 3, kind))) == 0


def test_rows_that_l2_holds() -> None:
    assert kept(check(tiles.softmax(13, 256, 3))) == 0
    assert kept_stores(check(tiles.row_gradients(64, 256, 4, 1, "f16"))) == 0
