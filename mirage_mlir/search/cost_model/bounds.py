"""Lower bounds on the modelled time of a program, which need no search."""

from collections.abc import Sequence
from math import prod

from mirage_mlir.search.cost_model.fitted import EARLY_START, IDLE_LATENCY, PIPELINE_LAUNCH
from mirage_mlir.search.cost_model.instantiate import SHARES
from mirage_mlir.search.cost_model.tiling import item_bytes
from mirage_mlir.search.program.program import Axes, Kind, Memory, Program
from mirage_mlir.targets.target import Target


def least_start(target: Target) -> float:
    """The seconds that any kernel takes to start."""
    least = min(-PIPELINE_LAUNCH, IDLE_LATENCY - EARLY_START)
    return target.launch_latency + (least if target.has_tma else IDLE_LATENCY)


def least_reading(target: Target, together: float, alone: float = 0.0) -> float:
    """
    The least seconds to read some bytes: limited by device memory, and by what one block can load.
    """
    rate = max(target.dram_bandwidth, target.tma_bandwidth)
    rate_of_one = max(target.dram_bandwidth_per_sm, target.tma_bandwidth_per_sm)
    return max(together / rate, alone / max(rate_of_one, target.tma_l2_bandwidth_per_sm))


def least_in_one_kernel(program: Program, target: Target) -> float:
    """
    A lower bound on the seconds of one kernel.

    Every byte is read once, and what no block can leave to others is read by each: a grid cuts
    axes that all outputs have, and besides them blocks share a loop. So a matmul whose result
    another one sums over reads all of its matrix in every block.
    """
    written = sum(_bytes(program, output.axes, output.element_type) for output in program.outputs)
    together = read_bytes(program) + written
    shares = max((count for count in SHARES if count <= target.split_max), default=1)
    own = sum(
        _bytes(program, tuple(_walked(program, tensor.node)), tensor.element_type)
        for tensor in program.inputs
        if tensor.indices is None
    )
    # What is on its way when the first answer comes fits into shared memory.
    alone = own / shares - target.shared_memory_per_sm
    return least_start(target) + least_reading(target, together, alone)


def read_bytes(program: Program) -> float:
    """The bytes of all inputs, each counted once; parts of one tensor are at most all of it."""
    whole = {
        tensor.argument: (tensor.memory, _bytes(program, tensor.axes, tensor.element_type))
        for tensor in program.inputs
        if tensor.indices is None
    }
    parts: dict[Memory, float] = {}
    for memory, size in whole.values():
        if memory is not None:
            parts[memory] = min(parts.get(memory, 0.0) + size, memory.bytes)
    return sum(size for memory, size in whole.values() if memory is None) + sum(parts.values())


def _walked(program: Program, node: int) -> Sequence[str]:
    """The axes of an input along which each block, or each cluster, must read all of it."""
    outputs = program.outputs
    cut = [
        axis
        for axis in program.nodes[node].present
        if all(axis in (*output.axes, *output.partial) for output in outputs)
    ]
    return [
        axis
        for axis in program.nodes[node].present
        if axis not in cut or _is_summed(program, node, axis)
    ]


def _is_summed(program: Program, node: int, axis: str) -> bool:
    """Whether a node between `node` and an output sums over all of `axis`."""
    carrying = {node}
    for number, one in enumerate(program.nodes):
        if carrying.isdisjoint(one.operands):
            continue
        if axis in one.reduced:
            if not any(o.node == number and axis in o.partial for o in program.outputs):
                return True
        elif axis in one.axes:
            carrying.add(number)
    return False


def _bytes(program: Program, axes: Axes, element_type: str) -> float:
    """The bytes of a tensor with these axes."""
    return prod(program.shape(axes)) * item_bytes(element_type)


def least_seconds(program: Program, target: Target) -> float:
    """A lower bound on the modelled time of any kernels that compute a program."""
    stored = 0.0
    for output in program.outputs:
        elements = 2.0 ** len(output.partial)
        for axis in output.axes:
            elements *= 1 if axis is None else program.sizes[axis]
        stored += elements * item_bytes(output.element_type)
    bytes_moved = read_bytes(program) + stored
    return least_start(target) + least_reading(target, bytes_moved)


def least_seconds_of_work(program: Program, target: Target) -> float:
    """A lower bound like `least_seconds` that knows of matmuls, too."""
    operations = 0.0
    for node in program.nodes:
        if node.kind is Kind.MATMUL:
            operations += 2.0 * prod(program.sizes[axis] for axis in {*node.present, *node.reduced})
    rate = max(target.mma_throughput, target.wgmma_throughput)
    return max(least_seconds(program, target), operations / rate)


def least_seconds_of_any(target: Target) -> float:
    """A lower bound on the time of any kernel."""
    return least_start(target)
