"""What the kernel of a program takes at least, in the model, known without a search."""

from math import prod

from mirage_mlir.graph.target import Target
from mirage_mlir.search.cost import IDLE_LATENCY
from mirage_mlir.search.instantiate import SHARES
from mirage_mlir.search.program import Input, Program
from mirage_mlir.search.tiling import item_bytes


def least_in_one_kernel(program: Program, target: Target) -> float:
    """
    A lower bound on the seconds of one kernel.

    Every byte is read once, and what no block can leave to others is read by each: a grid cuts
    axes that all outputs have, and besides them a cluster shares a loop. So a matmul whose result
    another one sums over reads all of its matrix in every block.
    """
    cut = {
        axis
        for axis in program.sizes
        if all(axis in (*output.axes, *output.partial) for output in program.outputs)
    }
    whole = {
        tensor.argument: _bytes(program, tensor, tuple(tensor.axes)) for tensor in program.inputs
    }
    written = sum(
        prod(program.shape(output.axes)) * item_bytes(output.element_type)
        for output in program.outputs
    )
    together = (sum(whole.values()) + written) / target.dram_rate
    shares = max((count for count in SHARES if count <= target.cluster_blocks), default=1)
    own = sum(
        _bytes(program, tensor, tuple(axis for axis in tensor.axes if axis not in cut))
        for tensor in program.inputs
    )
    # What is on its way when the first answer comes fits into shared memory.
    alone = (own / shares - target.shared_per_multiprocessor) / target.dram_rate_of_one
    return target.launch + IDLE_LATENCY + max(together, alone)


def _bytes(program: Program, tensor: Input, axes: tuple[str | None, ...]) -> float:
    """The bytes of a tensor along `axes`."""
    return prod(program.shape(axes)) * item_bytes(tensor.element_type)
