"""
Which indices of an argument differ from the others when programs are compared.

A comparison over fields needs few different ones, if they are spread well: an index is a block, an
iteration and an element within a tile, and each of these numbers gets one of two or three kinds at
random. Then two blocks that are confused, two iterations or two elements nearly always differ
somewhere, and yet only two kinds of block and of iteration have to run, besides ragged ones.

A comparison of rounding errors needs all indices of a sum to differ, since errors grow with its
length, and few of the others.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.interpreters.axes import Axis, distinct, make_axis, merge, special
from mirage_mlir.interpreters.cuts import Cuts
from mirage_mlir.interpreters.dimensions import DimensionClass, DimensionClasses
from mirage_mlir.interpreters.operators import shape_of

Axes = list[tuple[Axis, ...]]
"""The axes of each argument of a function."""

RICHEST = 2
"""
The largest level of detail: three kinds of element. At level 1 there are two; at level 0 the first
index alone differs from the others, which is least where square roots are many.
"""

ROUNDING_ELEMENTS = 1 << 16
"""Elements that a tensor may have when rounding is measured: some 10 ms for a candidate."""

ROUNDING_FREE = 7
"""Different indices of dimensions that no sum runs over, beside those that are alike."""


def field_axes(
    functions: Sequence[FuncOp], classes: DimensionClasses, level: int, seed: int
) -> Axes:
    """The axes of the arguments for a comparison over fields."""
    random = np.random.default_rng([seed, level])
    axes: dict[tuple[int, int], Axis] = {}

    def axis(found: DimensionClass, size: int) -> Axis:
        # Dimensions that run together share an axis, so that few classes meet in an operator.
        key = (id(found), size)
        if key not in axes:
            if size == prod(size for _, size in found.factors) > 1:
                axes[key] = merge(tuple(axis(factor, size) for factor, size in found.factors)).axis
            else:
                axes[key] = _field_axis(found, size, level, random)
        return axes[key]

    return [
        tuple(
            axis(classes.of((argument, dim)), size) for dim, size in enumerate(shape_of(argument))
        )
        for argument in functions[0].body.block.args
    ]


def _field_axis(found: DimensionClass, size: int, level: int, random: np.random.Generator) -> Axis:
    if level == 0:
        return special(size, [0])
    parts = sorted(part for part in found.parts if part < size)
    labels = np.zeros(size, np.int64)
    if any(larger % smaller for smaller, larger in pairwise(parts)):
        # Tiles that do not fit into each other look the same only in steps of what divides all;
        # the first index and the last tell blocks and iterations apart.
        parts = [gcd(*parts)]
        labels[0], labels[-1] = 1, 2
        kinds_of_parts = 1
    else:
        kinds_of_parts = 2
    index, inner, kinds = np.arange(size), 1, 1 + level
    for part in [*parts, size]:
        digits = -(-part // inner)
        labels = 3 * labels + _kinds(digits, kinds, random)[index % part // inner]
        inner, kinds = part, kinds_of_parts
    return make_axis(labels).axis


def _kinds(count: int, kinds: int, random: np.random.Generator) -> NDArray[np.int64]:
    """A kind for each of `count` numbers, all kinds at the beginning and then at random."""
    found = random.integers(0, kinds, count)
    found[:kinds] = np.arange(min(kinds, count))
    return found


def rounding_axes(functions: Sequence[FuncOp], classes: DimensionClasses) -> Axes:
    """
    The axes of the arguments for a comparison of rounding errors.

    Where a value would be too large, the indices of long sums repeat after a while; the sums stay
    as long as they are.
    """
    arguments = functions[0].body.block.args
    longest = max((size for argument in arguments for size in shape_of(argument)), default=1)
    period = 1 << (longest - 1).bit_length()
    while period > 1 and _largest_volume(functions, classes, period) > ROUNDING_ELEMENTS:
        period //= 2
    return [
        tuple(
            _rounding_axis(classes.of((argument, dim)), size, period)
            for dim, size in enumerate(shape_of(argument))
        )
        for argument in arguments
    ]


def _largest_volume(functions: Sequence[FuncOp], classes: DimensionClasses, period: int) -> int:
    """
    About how many elements differ of one tensor, or of all tiles that are loaded of it.

    The indices of sums repeat after `period`.
    """

    def volume(value: SSAValue, cuts: Cuts | None = None) -> int:
        product = 1
        for dim, size in enumerate(shape_of(value)):
            if not classes.of((value, dim)).reduced:
                product *= min(size, ROUNDING_FREE + 1)
                continue
            held = period
            if cuts is not None:
                # Tiles begin at multiples of what divides both their size and the period.
                tile = cuts.dims[dim].tile
                held = min(tile, period) * (period // gcd(tile, period))
            product *= min(size, held)
        return product

    blocks = [function.body.block for function in functions]
    values = [value for block in blocks for value in block.args]
    values += [result for block in blocks for op in block.ops for result in op.results]
    loads = [load for graph in classes.load_cuts.values() for load in graph]
    return max([*map(volume, values), *(volume(*load) for load in loads)], default=0)


def _rounding_axis(found: DimensionClass, size: int, period: int) -> Axis:
    if found.reduced:
        return distinct(size) if period >= size else make_axis(np.arange(size) % period).axis
    return special(size, range(ROUNDING_FREE))
