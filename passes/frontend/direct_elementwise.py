"""Kernels of comparisons and selections by themselves, which no search is needed for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.graph_rules import MAX_GRID_AXES
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.frontend import direct
from mirage_mlir.passes.frontend.plan import PlannedKernel
from mirage_mlir.passes.frontend.strided_views import strides_of
from mirage_mlir.passes.frontend.to_ir import Kernel, reshaped
from mirage_mlir.shapes.tile_extents import REPLICATED
from mirage_mlir.targets.target import Target

OPERATORS = {**threadblock.BINARY, **threadblock.TERNARY}


@dataclass(frozen=True)
class BroadcastGroup:
    """Neighbouring dimensions of a result along which each operand is whole, or has size 1."""

    size: int
    whole: tuple[bool, ...]
    """For each operand."""


def groups_of(
    shape: Sequence[int], operands: Sequence[Sequence[int]], strides: Sequence[Sequence[int]]
) -> list[BroadcastGroup]:
    """
    The dimensions of a result in groups as large as can be; those of size 1 are left out.

    Args:
        shape: of the result.
        operands: their shapes.
        strides: of the operands: dimensions of a group lie in memory as one dimension would.
    """
    padded = [(1,) * (len(shape) - len(each)) + tuple(each) for each in operands]
    steps = [(0,) * (len(shape) - len(each)) + tuple(each) for each in strides]
    found: list[BroadcastGroup] = []
    last = 0
    for dim, size in enumerate(shape):
        whole = tuple(each[dim] == size for each in padded)
        if size == 1:
            continue
        dense = all(
            each[last] == each[dim] * size
            for each, is_whole in zip(steps, whole, strict=True)
            if is_whole
        )
        if found and found[-1].whole == whole and dense:
            found[-1] = BroadcastGroup(found[-1].size * size, whole)
        else:
            found.append(BroadcastGroup(size, whole))
        last = dim
    return found or [BroadcastGroup(1, (True,) * len(operands))]


def elementwise(op: Operation, target: Target) -> PlannedKernel:
    """A kernel of one operator, which reads its operands once in each block that needs them."""
    (result,) = op.results
    tensor = kernel.tensor_type(result)
    operands = [kernel.shape_of(each) for each in op.operands]
    groups = groups_of(tensor.get_shape(), operands, [*map(strides_of, op.operands)])
    largest = sorted(range(len(groups)), key=lambda number: -groups[number].size)
    cut, whole = largest[:MAX_GRID_AXES], largest[MAX_GRID_AXES:]
    if prod(groups[number].size for number in whole) > direct.TILE_ELEMENTS:
        fail(op, f"broadcasts along {len(groups)} groups of dims that are too large for one tile")
    tile = _tile([group.size for group in groups], whole)
    blocks = [-(-group.size // extent) for group, extent in zip(groups, tile, strict=True)]
    # The x axis of a grid may have by far the most blocks.
    axes = sorted(cut, key=lambda number: -blocks[number])

    def write(arguments: Sequence[SSAValue]) -> Kernel:
        operations: list[Operation] = []
        shapes = [
            [group.size if group.whole[n] else 1 for group in groups] for n in range(len(arguments))
        ]
        inputs = [
            reshaped(value, TensorType(kernel.tensor_type(value).element_type, shape), operations)
            for value, shape in zip(arguments, shapes, strict=True)
        ]
        block = Block(arg_types=[value.type for value in inputs])
        loads = [
            threadblock.LoadOp(
                argument,
                [axis if groups[axis].whole[n] else REPLICATED for axis in axes],
                (),
                TileType(
                    [extent if g.whole[n] else 1 for g, extent in zip(groups, tile, strict=True)],
                    kernel.tensor_type(argument).element_type,
                ),
            )
            for n, argument in enumerate(block.args)
        ]
        computed = OPERATORS[op.name.partition(".")[2]].create(
            operands=[load.result for load in loads],
            properties=dict(op.properties),
            result_types=[TileType(tile, tensor.element_type)],
        )
        block.add_ops([*loads, computed, threadblock.StoreOp(computed.results[0], axes)])
        flat = TensorType(tensor.element_type, [group.size for group in groups])
        grid = [blocks[axis] for axis in axes]
        graph = kernel.GraphDefinedOp(inputs, grid, (), (flat,), Region(block))
        operations.append(graph)
        shaped = reshaped(graph.outputs[0], tensor, operations)
        return Kernel(tuple(operations), (shaped,))

    moved = direct.seconds(target, [*op.operands, result])
    return PlannedKernel(tuple(op.operands), (result,), write, moved)


def _tile(sizes: Sequence[int], whole: Sequence[int]) -> list[int]:
    """Extents of a tile, the last ones as large as can be, and some of them whole."""
    tile = [size if number in whole else 1 for number, size in enumerate(sizes)]
    for number in reversed(range(len(sizes))):
        if number not in whole:
            tile[number] = min(sizes[number], max(1, direct.TILE_ELEMENTS // prod(tile)))
    return tile
