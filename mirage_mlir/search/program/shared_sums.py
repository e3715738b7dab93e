"""
Independent matmuls over axes of one length sum over one axis.

Of `x w + h u` each has a depth of its own. What an axis that is summed over is called does not
matter, and a block has one loop: with one name both matmuls run in it, and their tiles are copied
while others are multiplied. With two names the operands of one would be whole in shared memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from mirage_mlir.search.program.program import Axes, Kind, Node, Program


def with_shared_sums(program: Program) -> Program:
    """The same program, in which independent matmuls share the axes of their sums."""
    kept = {axis for output in program.outputs for axis in (*output.axes, *output.partial)}
    for a, b in combinations(_summed_by_matmuls(program.nodes), 2):
        if {a, b} <= program.sizes.keys() - kept and _is_shared(program, a, b):
            program = _renamed(program, {b: a})
    return program


def _summed_by_matmuls(nodes: Sequence[Node]) -> list[str]:
    """The axes over which matmuls sum, and nothing else does, in order of appearance."""
    by_matmuls = [axis for node in nodes if node.kind is Kind.MATMUL for axis in node.reduced]
    others = {axis for node in nodes if node.kind is not Kind.MATMUL for axis in node.reduced}
    return [axis for axis in dict.fromkeys(by_matmuls) if axis not in others]


def _is_shared(program: Program, a: str, b: str) -> bool:
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


def _renamed(program: Program, names: Mapping[str, str]) -> Program:
    """The program with other names for axes, of which no output has one."""

    def over(axes: Axes) -> Axes:
        return tuple(axis if axis is None else names.get(axis, axis) for axis in axes)

    nodes = tuple(
        replace(
            node,
            axes=over(node.axes),
            reduced=tuple(names.get(axis, axis) for axis in node.reduced),
        )
        for node in program.nodes
    )
    return replace(
        program,
        nodes=nodes,
        inputs=tuple(replace(each, axes=over(each.axes)) for each in program.inputs),
        sizes={axis: size for axis, size in program.sizes.items() if axis not in names},
        batch=frozenset(names.get(axis, axis) for axis in program.batch),
    )
