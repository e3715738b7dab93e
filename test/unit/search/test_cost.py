"""The cost model: what it must know of a GPU, whatever its constants."""

import pytest
from search_programs import lora, ntrans, rmsnorm_linear, softmax

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.bounds import least_start, read_bytes
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Memory
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import Limits, search
from mirage_mlir.targets.target import A100, H100, H200, Target, target_named


def best(builder: ProgramBuilder, target: Target = H200) -> BlockGraph:
    return search(resolve(builder), target, Limits(), SearchReport())[0]


def added(size: int) -> ProgramBuilder:
    """The sum of two vectors of f32."""
    b = ProgramBuilder()
    b.output(b.binary(Kind.ADD, b.input((size,), "f32"), b.input((size,), "f32")), "f32")
    return b


def test_weights_are_read_once() -> None:
    """50 MB of weights: no faster than memory, and no slower than the first prototype."""
    seconds = best(rmsnorm_linear()).seconds
    assert 4096 * 6144 * 2 / H200.tma_bandwidth < seconds < 21e-6


def test_small_kernels_cost_their_start() -> None:
    assert least_start(H200) < best(added(64)).seconds < 4e-6
    assert best(lora()).seconds < 8e-6
    assert best(ntrans()).seconds < 8e-6


@pytest.mark.parametrize("size", [1 << 24, 1 << 26, 10_000_019])
def test_streams_run_at_the_speed_of_memory(size: int) -> None:
    least = 3 * 4 * size / H200.dram_bandwidth
    assert least < best(added(size)).seconds < 1.6 * least + 5e-6


def test_parts_of_a_tensor_are_read_once() -> None:
    """Every other element, and those between them: together they are all of it."""
    size = 1 << 24

    def parts(memory: Memory | None) -> ProgramBuilder:
        b = ProgramBuilder()
        even, odd = (b.input((size,), "f32", strides=(2,), memory=memory) for _ in range(2))
        b.output(b.binary(Kind.ADD, even, odd), "f32")
        return b

    together, apart = parts(Memory(0, 2 * 4 * size)), parts(None)
    assert read_bytes(resolve(together)) == read_bytes(resolve(apart)) == 2 * 4 * size
    least = (2 + 1) * 4 * size / H200.dram_bandwidth
    assert least < best(together).seconds < 1.6 * least + 5e-6
    assert best(apart).seconds > best(together).seconds


def test_overlapping_parts_of_a_tensor() -> None:
    """Windows of a row: no more is read than the row has."""
    b = ProgramBuilder()
    row = Memory(0, 4 * 1000)
    total = b.input((998,), "f32", memory=row)
    for _ in range(2):
        total = b.binary(Kind.ADD, total, b.input((998,), "f32", memory=row))
    b.output(total, "f32")
    assert read_bytes(resolve(b)) == row.bytes


def test_more_work_takes_longer() -> None:
    times = [best(rmsnorm_linear(columns=columns)).seconds for columns in (1024, 4096, 16384)]
    assert times == sorted(times)
    assert times[0] < times[-1] / 3


def test_ragged_tiles_cost_their_waste() -> None:
    """One column more than fits takes no less time."""
    assert best(rmsnorm_linear(columns=6145)).seconds >= best(rmsnorm_linear()).seconds * 0.99


@pytest.mark.parametrize("target", [A100, H100], ids=lambda target: target.name)
def test_slower_memory(target: Target) -> None:
    assert best(rmsnorm_linear(), target).seconds > best(rmsnorm_linear()).seconds


@pytest.mark.parametrize("target", [A100, H200], ids=lambda target: target.name)
def test_fits_the_block(target: Target) -> None:
    for builder in (rmsnorm_linear(), lora(), softmax()):
        for graph in search(resolve(builder), target, Limits(), SearchReport()):
            assert graph.model.shared_bytes <= target.shared_memory_per_block
            assert all(graph.blocks[axis] <= target.split_max for axis in graph.across)


def test_rows_that_no_block_holds() -> None:
    """A softmax of rows of a million elements does not fit one block's registers."""
    b = ProgramBuilder()
    x = b.input((4, 1 << 20))
    top = b.reduce(Kind.REDUCE_MAX, x, (1,))
    shifted = b.binary(Kind.SUB, x, top)
    b.output(b.binary(Kind.DIV, shifted, b.reduce(Kind.REDUCE_SUM, shifted, (1,))))
    assert search(resolve(b), H200, Limits(), SearchReport()) == []


def test_targets_by_name() -> None:
    assert target_named("sm_90a") is H200
    assert target_named("sm_80") is A100
    with pytest.raises(
        ValueError, match="unknown target 'H900': it is one of H200, H100, A100, sm"
    ):
        target_named("H900")


def test_one_row_is_multiplied_by_matrix_units() -> None:
    """Threads would read the weights in columns, where the banks of shared memory collide."""
    b = ProgramBuilder()
    x, w = b.input((1, 4096), strides=(4096, 1)), b.input((4096, 4096), strides=(4096, 1))
    b.output(b.matmul(x, w))
    first, *others = search(resolve(b), H200, Limits(), SearchReport())
    assert _multiplies(first)
    by_threads = [graph.seconds for graph in others if not _multiplies(graph)]
    assert by_threads
    assert min(by_threads) > 1.25 * first.seconds


def _multiplies(graph: BlockGraph) -> bool:
    return any(operation.kind is Kind.MATMUL for operation in graph.operations)


@pytest.mark.parametrize("rows", [8, 16])
def test_blocks_with_rows_of_their_own(rows: int) -> None:
    """Four on each multiprocessor take less time than two, and leave few places empty."""
    b = ProgramBuilder()
    x = b.input((rows, 4096), strides=(4096, 1))
    left, right = (b.matmul(x, b.input((4096, 14336), strides=(1, 4096))) for _ in range(2))
    b.output(b.binary(Kind.MUL, b.function(Function("silu"), left), right))
    first, *_ = search(resolve(b), H200, Limits(), SearchReport())
    assert first.blocks == (512,)
    assert first.model.time.blocks_per_sm >= 4
