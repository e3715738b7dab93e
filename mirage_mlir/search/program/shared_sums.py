"""
Independent matmuls over axes of one length sum over one axis.

Of `x w + h u` each has a depth of its own. What an axis that is summed over is called does not
matter, and a block has one loop: with one name both matmuls run in it, and their tiles are copied
while others are multiplied. With two names the operands of one would be whole in shared memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from mirage_mlir.search.program.program import Axes, Input, Kind, Node, Output


@dataclass(frozen=True)
class Summed:
    """The nodes and inputs of a program, and the sizes of its axes."""

    nodes: list[Node]
    inputs: list[Input]
    sizes: dict[str, int]


def with_shared_sums(
    nodes: Sequence[Node],
    inputs: Sequence[Input],
    outputs: Sequence[Output],
    sizes: Mapping[str, int],
) -> Summed:
    """The same program, in which independent matmuls share the axes of their sums."""
    found = Summed(list(nodes), list(inputs), dict(sizes))
    kept = {axis for output in outputs for axis in (*output.axes, *output.partial)}
    for a, b in combinations(_summed_by_matmuls(nodes), 2):
        if a in found.sizes and b in found.sizes and not {a, b} & kept and _is_shared(found, a, b):
            _rename(found, b, a)
    return found


def _summed_by_matmuls(nodes: Sequence[Node]) -> list[str]:
    """The axes over which matmuls sum, and nothing else does, in order of appearance."""
    by_matmuls = [axis for node in nodes if node.kind is Kind.MATMUL for axis in node.reduced]
    others = {axis for node in nodes if node.kind is not Kind.MATMUL for axis in node.reduced}
    return [axis for axis in dict.fromkeys(by_matmuls) if axis not in others]


def _is_shared(program: Summed, a: str, b: str) -> bool:
    """Whether the sums over `a` and `b` may be one: as long, and neither needs the other."""
    if program.sizes[a] != program.sizes[b]:
        return False
    if any(each.indices is not None and {a, b} & {*each.axes} for each in program.inputs):
        return False  # What is computed from indices names its axes.
    needs_a, needs_b = _depending(program.nodes, a), _depending(program.nodes, b)
    has_a, has_b = _having(program.nodes, a), _having(program.nodes, b)
    return not (has_a & (has_b | needs_b)) and not (has_b & needs_a)


def _having(nodes: Sequence[Node], axis: str) -> set[int]:
    """The nodes along which an axis runs, or that sum over it."""
    return {n for n, node in enumerate(nodes) if axis in (*node.present, *node.reduced)}


def _depending(nodes: Sequence[Node], axis: str) -> set[int]:
    """The nodes that need a sum over an axis."""
    found: set[int] = set()
    for number, node in enumerate(nodes):
        if any(axis in nodes[each].reduced or each in found for each in node.operands):
            found.add(number)
    return found


def _rename(program: Summed, old: str, new: str) -> None:
    def renamed(axes: Axes) -> Axes:
        return tuple(new if axis == old else axis for axis in axes)

    for number, node in enumerate(program.nodes):
        reduced = tuple(new if axis == old else axis for axis in node.reduced)
        program.nodes[number] = replace(node, axes=renamed(node.axes), reduced=reduced)
    for number, each in enumerate(program.inputs):
        program.inputs[number] = replace(each, axes=renamed(each.axes))
    del program.sizes[old]
