"""
Which indices of an argument differ from the others when programs are compared.

A comparison over fields needs few: where no two blocks, iterations or elements are confused with
one special index, none are. The special ones of a dimension are the first indices, those with
which a second iteration and a second block begin, and the last, whose tile may be ragged. All
others are alike and count as often as there are.

A comparison of rounding errors needs all indices of a sum to differ, since errors grow with its
length, and few of the others.
"""

from collections.abc import Sequence
from math import gcd, prod

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.axes import Axis, distinct, make_axis, special
from mirage_mlir.interpreters.cuts import Cuts
from mirage_mlir.interpreters.dimensions import DimensionClass, DimensionClasses, shape_of

Axes = list[tuple[Axis, ...]]
"""The axes of each argument of a function."""

RICHEST = 2
"""The largest level of detail; at level 0 one index of each dimension is special."""

AFFORDABLE_STEPS = 1500
"""
Operators evaluated on tiles that one comparison may cost: about 0.1 s over the fields.

One takes 50 to 100 us, nearly all of it numpy's overhead.
"""

ROUNDING_ELEMENTS = 1 << 18
"""Elements that an argument may have when rounding is measured: some 30 ms in all."""

ROUNDING_STEPS = 4000
"""Operators evaluated on tiles that measuring rounding once may cost: about 0.1 s."""

ROUNDING_FREE = 7
"""Different indices of dimensions that no sum runs over, beside those that are alike."""


def _positions(found: DimensionClass, size: int, level: int) -> list[int]:
    """The special indices of a dimension of `size`."""
    positions = [0]
    for cut in found.cuts:
        if level >= 1 and cut.grid_axis is not None:
            positions.append(cut.steps * cut.tile)
        elif level >= 1 and cut.loops:
            positions.append(cut.tile)
        if level >= RICHEST:
            positions += [1, cut.tile]
    if level >= RICHEST or (level == 1 and not found.cuts):
        positions.append(size - 1)
    return positions


def field_axes(functions: Sequence[FuncOp], classes: DimensionClasses, level: int) -> Axes:
    """The axes of the arguments for a comparison over fields."""
    return [
        tuple(
            special(size, _positions(classes.of((argument, dim)), size, level))
            for dim, size in enumerate(shape_of(argument))
        )
        for argument in functions[0].body.block.args
    ]


def affordable_level(classes: DimensionClasses) -> int:
    """The most detail with which all graphs of the functions are cheap enough to run."""
    for level in range(RICHEST, 0, -1):
        steps = sum(
            _steps(graph, loads, classes, level) for graph, loads in classes.load_cuts.items()
        )
        if steps <= AFFORDABLE_STEPS:
            return level
    return 0


def _steps(
    graph: kernel.GraphDefinedOp,
    loads: Sequence[tuple[SSAValue, Cuts]],
    classes: DimensionClasses,
    level: int,
) -> int:
    """About how many operators run: different blocks times different iterations times operators."""
    blocks = [1] * len(graph.grid_sizes)
    iterations = 1
    for source, cuts in loads:
        for dim, cut in enumerate(cuts.dims):
            size = shape_of(source)[dim]
            positions = _positions(classes.of((source, dim)), size, level)
            if cut.grid_axis is not None:
                axis = cut.grid_axis
                found = _touched(positions, size, cut.steps * cut.tile)
                blocks[axis] = min(max(blocks[axis], found), graph.grid_sizes[axis])
            if cut.loops:
                found = _touched(positions, size, cut.tile)
                iterations = min(max(iterations, found), prod(graph.loop_sizes))
    return prod(blocks) * iterations * len(graph.body.block.ops)


def _touched(positions: Sequence[int], size: int, tile: int) -> int:
    """The parts of `tile` indices that differ: with a special index, ragged, and all others."""
    touched = {position // tile for position in positions if position < size}
    if size % tile:
        touched.add(size // tile)
    return len(touched) + 1


def rounding_axes(functions: Sequence[FuncOp], classes: DimensionClasses) -> Axes:
    """
    The axes of the arguments for a comparison of rounding errors.

    Where an argument would be too large, or too many blocks and iterations differ, the indices of
    long sums repeat after a while; the sums stay as long as they are.
    """
    arguments = functions[0].body.block.args
    longest = max((size for argument in arguments for size in shape_of(argument)), default=1)
    period = 1 << (longest - 1).bit_length()
    while True:
        axes = [
            tuple(
                _rounding_axis(classes.of((argument, dim)), size, period)
                for dim, size in enumerate(shape_of(argument))
            )
            for argument in arguments
        ]
        largest = max((prod(axis.classes for axis in each) for each in axes), default=0)
        steps = sum(
            _rounding_steps(graph, loads, classes, period)
            for graph, loads in classes.load_cuts.items()
        )
        if (largest <= ROUNDING_ELEMENTS and steps <= ROUNDING_STEPS) or period == 1:
            return axes
        period //= 2


def _rounding_axis(found: DimensionClass, size: int, period: int) -> Axis:
    if found.reduced:
        return distinct(size) if period >= size else make_axis(np.arange(size) % period).axis
    tiles = [cut.tile * cut.steps for cut in found.cuts if cut.grid_axis is not None or cut.loops]
    return special(size, range(min([ROUNDING_FREE, *tiles])))


def _rounding_steps(
    graph: kernel.GraphDefinedOp,
    loads: Sequence[tuple[SSAValue, Cuts]],
    classes: DimensionClasses,
    period: int,
) -> int:
    """About how many operators run; see `_steps`."""
    blocks = [1] * len(graph.grid_sizes)
    iterations = 1
    for source, cuts in loads:
        for dim, cut in enumerate(cuts.dims):
            found = classes.of((source, dim))
            if cut.grid_axis is not None:
                axis, part = cut.grid_axis, cut.steps * cut.tile
                count = _starts(graph.grid_sizes[axis], part, period) if found.reduced else 3
                blocks[axis] = max(blocks[axis], count)
            if cut.loops:
                count = _starts(cut.steps, cut.tile, period) if found.reduced else 3
                iterations = max(iterations, count)
    return prod(blocks) * iterations * len(graph.body.block.ops)


def _starts(count: int, part: int, period: int) -> int:
    """How many of `count` parts of a dimension differ when its indices repeat after `period`."""
    return min(count, period // gcd(part, period) + 1)
