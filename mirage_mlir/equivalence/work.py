"""
Estimates the time of an evaluation from shapes alone, so that what is run does not depend on a
clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.sample import Dims
from mirage_mlir.equivalence.slabs import Slab
from mirage_mlir.interpreters.operators import mnemonic, shape_of

SECONDS_PER_ELEMENT = 2e-8
"""An operator on one element in one lane: one core of an EPYC 9B14 took 1 to 4e-8 s."""

SECONDS_PER_INPUT = 5e-9
"""One element of an argument that is made for a matmul, in one lane."""

SECONDS_PER_MULTIPLICATION = 3e-10
"""One multiplication of a matmul in one lane, in two limbs."""


def seconds(
    function: FuncOp,
    lanes: int,
    slabs: Sequence[Slab],
    labels: int | Sequence[int],
    read: float = SECONDS_PER_INPUT,
) -> float:
    """
    About how long a function of kernel operators takes.

    Args:
        function: what is evaluated.
        lanes: how many residues a number has.
        slabs: the slab axes of which some labels are computed; none: all is computed.
        labels: how many labels of each class of them, or for each slab axis how many.
        read: what an element of an argument takes to be made for a matmul.
    """
    parts = _parts(slabs, labels)
    total = 0.0
    for op in function.body.block.ops:
        for result in op.results:
            elements = prod(shape_of(result)) * parts.get(result, 1.0)
            total += elements * SECONDS_PER_ELEMENT
            if mnemonic(op) == "matmul":
                inner = shape_of(op.operands[0])[-1]
                total += elements * inner * SECONDS_PER_MULTIPLICATION
                total += sum(
                    prod(shape_of(operand)) * parts.get(operand, 1.0) * read
                    for operand in op.operands
                )
    return total * lanes


def most_elements(function: FuncOp, slabs: Sequence[Slab], labels: int | Sequence[int]) -> float:
    """The elements of the largest value that an evaluation keeps whole: matmuls read panels."""
    parts = _parts(slabs, labels)
    values = [result for op in function.body.block.ops for result in op.results]
    values += [
        argument
        for argument in function.body.block.args
        if any(mnemonic(use.operation) != "matmul" for use in argument.uses)
    ]
    return max((prod(shape_of(value)) * parts.get(value, 1.0) for value in values), default=0.0)


def elements_of_window(function: FuncOp, dims: Dims) -> int:
    """
    The elements of the largest value that elementwise operators compute of parts of arguments.

    A dimension that comes from no argument, as one that is broadcast or counted, is computed whole.
    A constant is one number beside others.
    """
    sizes: dict[SSAValue, tuple[int, ...]] = {
        argument: tuple(dim.count for dim in each)
        for argument, each in zip(function.body.block.args, dims, strict=True)
    }
    for op in function.body.block.ops:
        if not isinstance(op, kernel.ConstantOp):
            for result in op.results:
                sizes[result] = _sizes_of_window(result, op.operands, sizes)
    last = function.body.block.last_op
    assert last is not None, "a function returns"
    constants = [prod(shape_of(value)) for value in last.operands if value not in sizes]
    return max([*map(prod, sizes.values()), *constants], default=0)


def _sizes_of_window(
    result: SSAValue, operands: Sequence[SSAValue], sizes: dict[SSAValue, tuple[int, ...]]
) -> tuple[int, ...]:
    """What is computed of each dimension of a result: what all operands that have it have of it."""
    found: list[int] = []
    shape = shape_of(result)
    for place, size in enumerate(reversed(shape), start=1):
        parts = [
            sizes[operand][-place]
            for operand in operands
            if operand in sizes
            and place <= len(sizes[operand])
            and shape_of(operand)[-place] == size
        ]
        found.insert(0, min(parts, default=size))
    return tuple(found)


def most_blocks(function: FuncOp) -> int:
    """The blocks of the largest grid."""
    graphs = [op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    return max((prod(graph.grid_sizes) for graph in graphs), default=1)


def with_enough_elements(
    function: FuncOp, slabs: Sequence[Slab], labels: int, fewest: int
) -> list[int]:
    """
    As many labels of each slab axis, or more where a result would have fewer elements than that.

    Where all of a result are fewer, all of it.
    """
    found = [labels] * len(slabs)
    last = function.body.block.last_op
    assert last is not None, "a function returns"
    for value in last.operands:
        own = [number for number, slab in enumerate(slabs) if value in slab.located]
        while _elements(value, slabs, found) < fewest:
            more = [n for n in own if found[n] < max(map(len, slabs[n].classes))]
            if not more:
                break
            found[min(more, key=lambda n: found[n])] *= 2
    return found


def _elements(value: SSAValue, slabs: Sequence[Slab], labels: Sequence[int]) -> float:
    return prod(shape_of(value)) * _parts(slabs, labels).get(value, 1.0)


def _parts(slabs: Sequence[Slab], labels: int | Sequence[int]) -> dict[SSAValue, float]:
    """The share of each value's elements that is computed."""
    parts: dict[SSAValue, float] = {}
    of_each = [labels] * len(slabs) if isinstance(labels, int) else labels
    for slab, most in zip(slabs, of_each, strict=True):
        count = sum(len(each) for each in slab.classes)
        kept = sum(min(most, len(each)) for each in slab.classes)
        for value in slab.located:
            parts[value] = parts.get(value, 1.0) * kept / count
    return parts
