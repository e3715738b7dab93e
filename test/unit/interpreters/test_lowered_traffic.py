"""What kernels ask of memory, counted while they run."""

import attention_cases
import lowering_cases as cases
import lowering_tiles as tiles
import numpy as np
from lowered_kernels import lower
from lowering_cases import Linear
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects.nvvm_attributes import CLUSTER_SHARED
from mirage_mlir.interpreters.gpu_simulator import random_inputs, run_kernels
from mirage_mlir.interpreters.gpu_simulator.accesses import Access
from mirage_mlir.interpreters.gpu_simulator.traffic import REMOTE, Asked, TrafficWatcher


def asked(module: ModuleOp, target: str = "H200") -> dict[str, Asked]:
    """What the kernels of a module ask for."""
    kernels, watcher = lower(module, target=target), TrafficWatcher()
    run_kernels(kernels, random_inputs(kernels), checker=watcher)
    return watcher.kernels


def test_whole_sectors() -> None:
    """8 x 512 elements of f32 in two blocks, 16 bytes a thread: 16384 bytes each way."""
    module = tiles.elementwise((8, 512), (4, 512), [0], (1, 1), "f32")
    (found,) = asked(module).values()
    assert (found.sectors["store"], found.fewest["store"]) == (512, 512)
    # The other operand is one number, which every warp reads.
    assert found.sectors["load"] - 512 == found.fewest["load"] - 512 > 0
    assert not found.passes


def test_columns_written_one_by_one() -> None:
    """Neighbouring lanes write elements that lie a line of 24 or 40 f16 apart."""
    (found,) = asked(tiles.transposes(40, 24, (20, 12), "f16")).values()
    assert found.sectors["store"] > found.fewest["store"]
    assert found.passes["load"] >= found.least["load"] > 0


def test_matrix_loads_have_no_conflicts() -> None:
    (found,) = asked(cases.plain_linear(Linear(16, 64, 64, 16, 64, 32)), "A100").values()
    # Four warps: of each 4 steps of 16 deep, one load of four matrices for each side, 8 rows each.
    assert found.passes["ldmatrix"] == found.least["ldmatrix"] == 4 * found.instructions["ldmatrix"]
    assert found.passes["cp.async"] == found.least["cp.async"] > 0


def test_other_blocks() -> None:
    """Parts of sums are read from the blocks of the cluster, and from device memory without one."""
    module = cases.split_linear(Linear(16, 256, 64, 16, 32, 64), 2, more=False)
    (cluster,) = asked(module).values()
    (apart,) = asked(module, "A100").values()
    assert cluster.passes[REMOTE] > 0 == apart.passes[REMOTE]
    assert apart.sectors["load"] > cluster.sectors["load"]


def test_reads_of_another_block() -> None:
    """Threads 0 to 31 are of block 0: what they read of block 1 asks nothing of its own banks."""
    kernels = lower(cases.split_linear(Linear(16, 256, 64, 16, 32, 64), 2, more=False))
    loads = [op for op in kernels.walk() if isinstance(op, llvm.LoadOp)]
    load = next(op for op in loads if op.ptr.type == CLUSTER_SHARED)
    threads, watcher = np.arange(32), TrafficWatcher()
    for block, passes in ((1, 0), (0, 1)):
        access = Access(load, threads, 4 * threads, 4, 4, np.full(32, block))
        watcher.see(access)
        (found,) = watcher.kernels.values()
        assert found.passes[REMOTE] == passes


def test_kernels_are_counted_apart() -> None:
    found = asked(tiles.chain(16, 64, 32, "f16"))
    assert len(found) == 5
    (last,) = [each for name, each in found.items() if name.endswith("4")]
    assert "ldmatrix" not in last.passes, "it adds two tensors"


def test_parts_in_f32_fill_their_sectors() -> None:
    """Inputs are f16, of which a thread has eight neighbours; of f32 it stores four."""
    heads = attention_cases.Heads(1, 16, 512, 64, 16, 256)
    first, _ = asked(attention_cases.split_attention(heads)).values()
    assert first.sectors["store"] == first.fewest["store"]
    assert first.passes["load"] == first.least["load"]
