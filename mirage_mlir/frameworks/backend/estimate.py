"""
What a part of a graph takes where it is left to inductor, by a simple model.

Products and attention are kernels of a library, one each. What is between them is fused: nodes
that read each other without a product between are one kernel, which reads what it is given and
writes what others read, once. A kernel takes its launch, and the longer of two times: that of its
bytes, and that of its operations.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from math import prod
from typing import Any

from mirage_mlir.frameworks.backend.masked_rows import is_guard
from mirage_mlir.frameworks.backend.nodes import is_attention, is_product, is_view, tensors_of
from mirage_mlir.frameworks.backend.parts import GraphPart
from mirage_mlir.targets.target import Target

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

BANDWIDTH = 0.9
"""Of the target's: 117 MB of weights in 30 us, 1.05 GB in 248 us, with 8 rows on an H200."""

PRODUCT_SECONDS = 3e-6
"""A product's launch, its first loads, and mostly a second kernel that adds partial sums: on an
H200 weights of 8.4 MB take 6.9 us, of 33.6 MB 11.8 to 14.1 us."""

FUSED_SECONDS = 1.2e-6
"""The least that an ordinary launch takes in a CUDA graph: on an H200 small fused kernels took
0.9 to 2.4 us."""

THROUGHPUT = 1.15
"""Of what kernels of ours sustain, for f16: on an H200 cuBLAS takes 78 us for 60 GFLOP (512 rows),
and 208 us for 137 GFLOP, where power limits it. Too little would let parts that are slower than
a library's kernels be taken without being timed."""

LEAST_GAIN = 0.03
"""What kernels of ours must promise, of the time without them: less is within the model's error."""


def inductor_seconds(part: GraphPart, target: Target) -> float:
    """The modelled time of a part that is left to inductor, which needs no guards of rows."""
    part = GraphPart(tuple(node for node in part.nodes if not is_guard(node)))
    kernels = [_Kernel([node], part) for node in part.computing if is_product(node)]
    kernels += [_Kernel(group, part) for group in _fused(part)]
    return sum(kernel.seconds(target) for kernel in kernels)


class _Kernel:
    """Some nodes of a part that are computed together."""

    def __init__(self, nodes: Sequence[Any], part: GraphPart) -> None:
        self._nodes, self._inside = nodes, {*nodes}
        self._part = set(part.nodes)

    def seconds(self, target: Target) -> float:
        """Its modelled time."""
        moved = sum(map(_bytes, self._read())) + sum(map(_bytes, self._written()))
        throughput = max(target.mma_throughput, target.wgmma_throughput)
        work = sum(_operations(node) for node in self._nodes) / (THROUGHPUT * throughput)
        least = PRODUCT_SECONDS if any(map(is_product, self._nodes)) else FUSED_SECONDS
        return least + max(moved / (BANDWIDTH * target.dram_bandwidth), work)

    def _read(self) -> Iterable[Any]:
        """What is made elsewhere: behind views, which are free."""
        found: dict[Any, None] = {}
        waiting = [operand for node in self._nodes for operand in node.all_input_nodes]
        while waiting:
            node = waiting.pop()
            if node in self._part and is_view(node):
                waiting += node.all_input_nodes
            elif node not in self._inside:
                found[node] = None
        return found

    def _written(self) -> Iterable[Any]:
        return [node for node in self._nodes if any(u not in self._inside for u in node.users)]


def _fused(part: GraphPart) -> list[list[Any]]:
    """The nodes of a part that are no products, in groups that read each other."""
    light = [node for node in part.computing if not is_product(node)]
    groups: list[list[Any]] = []
    place: dict[Any, int] = {}
    for node in part.nodes:
        if is_product(node):
            continue
        joined = sorted({place[o] for o in node.all_input_nodes if o in place})
        number = joined[0] if joined else len(groups)
        if not joined:
            groups.append([])
        for other in reversed(joined[1:]):
            groups[number] += groups[other]
            place |= dict.fromkeys([n for n, at in place.items() if at == other], number)
            groups[other] = []
        place[node] = number
        if node in light:
            groups[number].append(node)
    return [group for group in groups if group]


def _bytes(node: Any) -> int:
    return sum(prod(each.shape) * each.dtype.itemsize for each in tensors_of(node))


def _operations(node: Any) -> float:
    """Of a product: two for each element of the result and each term of its sum."""
    if not is_product(node):
        return 0
    # One tensor may be several operands.
    operands = [each for each in node.args if isinstance(each, torch.fx.Node)]
    shapes = [tuple(tensors_of(each)[0].shape) for each in operands]
    matrices = [shape for shape in shapes if len(shape) >= 2]
    if len(matrices) > 2 and is_attention(node):
        query, key, value = matrices[:3]
        return 2.0 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])
    return 2.0 * prod(tensors_of(node)[0].shape) * (matrices[-2][-1] if matrices else 1)
