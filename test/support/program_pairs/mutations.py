"""Index maps that are not what they should be: one change of a function each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from program_pairs import kernels, maxima
from program_pairs.changes import (
    Change,
    Site,
    Values,
    before,
    chosen,
    dimension,
    integers,
    of_kind,
    replace,
    set_integers,
    sites,
    sums,
)
from program_pairs.draws import Draw
from program_pairs.writer import Piece, shape_of

Mutation = Callable[[FuncOp, Draw, Values], Change | None]
"""Changes a function in place; None where it has no place for that."""

FARTHEST = 64
"""How far windows move."""


def rows_swapped(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """Two indices of a dimension take each other's place."""
    if (found := dimension(draw, sites(function), 2)) is None:
        return None
    site, dim, size = found
    a, b = sorted(draw.random.sample(range(size), 2))
    if draw.chance(0.2):
        b = a + 1 if a + 1 < size else a
    pieces = [(0, a, 1), (b, 1, 1), (a + 1, b - a - 1, 1), (a, 1, 1), (b + 1, size - b - 1, 1)]
    site.cut(dim, pieces if a != b else [(size - 1, 1, 1), (1, size - 1, 1)])
    return Change(f"swap {a} and {b} of dim {dim}, {site}", size)


def another_row(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """One index of a dimension stands where another one should."""
    slices = [op for op in of_kind(function, kernel.SliceOp) if 1 in integers(op, "sizes")]
    if (op := chosen(draw, slices)) is not None and draw.chance(0.5):
        return _moved_slice(draw, op, shape_of(op.input)[0])
    if (found := dimension(draw, sites(function), 2)) is None:
        return None
    site, dim, size = found
    a, b = draw.random.sample(range(size), 2)
    site.cut(dim, [(0, a, 1), (b, 1, 1), (a + 1, size - a - 1, 1)])
    return Change(f"{b} instead of {a} of dim {dim}, {site}", size)


def window_moved(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A window of a dimension begins up to 64 elements earlier or later."""
    op = chosen(draw, of_kind(function, kernel.SliceOp))
    if op is not None and draw.chance(0.7):
        return _moved_slice(draw, op, FARTHEST)
    if (found := dimension(draw, sites(function), 2)) is None:
        return None
    site, dim, size = found
    by = draw.random.randint(1, min(FARTHEST, size - 1))
    wrapped = draw.chance(0.5)
    rest = (0, by, 1) if wrapped else (size - by, by, 1)
    site.cut(dim, [(by, size - by, 1), rest])
    return Change(f"dim {dim} moved by {by}, {site}", size)


def off_by_one(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A slice begins one too early or too late, or a sum lacks its first or last element."""
    op = chosen(draw, of_kind(function, kernel.SliceOp))
    if op is not None and draw.chance(0.7):
        return _moved_slice(draw, op, 1)
    if (one := chosen(draw, sums(function))) is None:
        return None
    one.cut([(draw.random.choice([0, 1]), one.size - 1, 1)])
    return Change(f"one element less in {one.op.name}", one.size)


def _moved_slice(draw: Draw, op: kernel.SliceOp, most: int) -> Change | None:
    """Another offset in one dimension."""
    offsets, sizes, strides = (integers(op, name) for name in ("offsets", "sizes", "strides"))
    choices: list[tuple[int, int]] = []
    for dim, whole in enumerate(shape_of(op.input)):
        room = whole - (offsets[dim] + (sizes[dim] - 1) * strides[dim] + 1)
        choices += [(dim, by) for by in range(-min(most, offsets[dim]), 0)]
        choices += [(dim, by) for by in range(1, min(most, room) + 1)]
    if (found := chosen(draw, choices)) is None:
        return None
    dim, by = found
    set_integers(op, "offsets", [*offsets[:dim], offsets[dim] + by, *offsets[dim + 1 :]])
    return Change(f"offset of dim {dim} of a slice moved by {by}", shape_of(op.input)[dim])


def stride_changed(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A slice takes every element instead of every second, or a dimension is read by strides."""
    op = chosen(draw, of_kind(function, kernel.SliceOp))
    if op is not None and draw.chance(0.5) and (change := _restrided(draw, op)) is not None:
        return change
    if (found := dimension(draw, sites(function), 4)) is None:
        return None
    site, dim, size = found
    factors = [f for f in range(2, min(size, 65)) if size % f == 0]
    step = draw.random.choice(factors) if factors else draw.random.randint(2, min(size - 1, 9))
    site.cut(dim, [(first, -(-(size - first) // step), step) for first in range(step)])
    return Change(f"dim {dim} read with stride {step}, {site}", size)


def _restrided(draw: Draw, op: kernel.SliceOp) -> Change | None:
    offsets, sizes, strides = (integers(op, name) for name in ("offsets", "sizes", "strides"))
    choices = [
        (dim, other)
        for dim, whole in enumerate(shape_of(op.input))
        for other in (1, 2, 3)
        if other != strides[dim] and sizes[dim] > 1
        if offsets[dim] + (sizes[dim] - 1) * other < whole
    ]
    if (found := chosen(draw, choices)) is None:
        return None
    dim, other = found
    set_integers(op, "strides", [*strides[:dim], other, *strides[dim + 1 :]])
    return Change(f"stride {other} instead of {strides[dim]}", shape_of(op.input)[dim])


# Tiles


def chunks(draw: Draw, size: int, tile: int) -> list[Piece]:
    """A dimension in tiles of some size, the last of them ragged where it must be."""
    if tile >= size:
        tile = draw.random.choice([t for t in (1, 2, 3, 7, 16, 32, 64, 128) if t < size])
    return [(first, min(tile, size - first), 1) for first in range(0, size, tile)]


def permuted(draw: Draw, pieces: Sequence[Piece]) -> list[Piece]:
    """Two of them swapped, all reversed, or all one further."""
    found = list(pieces)
    kind = draw.random.randrange(3)
    if kind == 0 or len(found) > 40:
        a, b = draw.random.sample(range(len(found)), 2)
        found[a], found[b] = found[b], found[a]
        return found
    return found[::-1] if kind == 1 else [*found[1:], found[0]]


def blocks_permuted(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """Tiles of a result, or of what an operator takes, are in another order."""
    stored = kernels.stored_dimensions(function)
    if (one := chosen(draw, stored)) is not None:
        pieces = chunks(draw, one.size, one.tile)
        one.cut(permuted(draw, pieces))
        return Change(f"blocks of dim {one.dim} of a result permuted", one.size)
    if (found := dimension(draw, sites(function), 4)) is None:
        return None
    site, dim, size = found
    site.cut(dim, permuted(draw, chunks(draw, size, size)))
    return Change(f"tiles of dim {dim} permuted, {site}", size)


def iterations_permuted(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """One operand of a sum of products comes in another order than the others."""
    several = [one for one in sums(function) if len(one.operands) > 1]
    if (one := chosen(draw, several)) is None:
        return None
    site, dim = draw.random.choice(one.operands)
    site.cut(dim, permuted(draw, chunks(draw, one.size, one.tile)))
    return Change(f"iterations permuted in {site}", one.size)


def last_tile_missed(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A sum ends before its last tile, or a result has the tile before it twice."""
    return _last_tile(function, draw, doubled=False)


def last_tile_doubled(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A sum has its last tile twice, or a result has it in the place of the one before it."""
    return _last_tile(function, draw, doubled=True)


def _last_tile(function: FuncOp, draw: Draw, *, doubled: bool) -> Change | None:
    stored = kernels.stored_dimensions(function)
    if stored and draw.chance(0.4):
        return _last_stored(draw.random.choice(stored), draw, doubled=doubled)
    if (one := chosen(draw, sums(function))) is None:
        return None
    last = chunks(draw, one.size, one.tile)[-1]
    one.cut([(0, one.size, 1), last] if doubled else [(0, last[0], 1)])
    return Change(f"last tile of {last[1]} in {one.op.name}", one.size)


def _last_stored(one: kernels.Stored, draw: Draw, *, doubled: bool) -> Change | None:
    first, count, _ = chunks(draw, one.size, one.tile)[-1]
    start = first - count
    if start < 0:
        return None
    kept = (first, count, 1) if doubled else (start, count, 1)
    one.cut([(0, start, 1), kept, kept])
    return Change(f"last tile of {count} of dim {one.dim} of a result", one.size)


def part_missing(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A sum lacks one of its parts, or an addition one of its operands."""
    return _part(function, draw, doubled=False)


def part_doubled(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A sum has one of its parts twice, in the place of another one or besides."""
    return _part(function, draw, doubled=True)


def _part(function: FuncOp, draw: Draw, *, doubled: bool) -> Change | None:
    additions = [op for op in of_kind(function, kernel.AddOp) if op.lhs.type == op.rhs.type]
    if (op := chosen(draw, additions)) is not None and draw.chance(0.5):
        kept, lost = draw.random.sample([0, 1], 2)
        if doubled:
            op.operands[lost] = op.operands[kept]
        else:
            replace(op, op.operands[kept])
        return Change(f"operand {lost} of an addition", shape_of(op.operands[kept])[0])
    if (one := chosen(draw, sums(function))) is None:
        return None
    pieces = chunks(draw, one.size, one.tile)
    if len(pieces) < 2:
        return None
    lost, other = draw.random.sample(range(len(pieces)), 2)
    start, count, _ = pieces[lost]
    kept = [(0, start, 1), (start + count, one.size - start - count, 1)]
    if doubled and pieces[other][1] == count and draw.chance(0.7):
        kept.insert(1, pieces[other])
    elif doubled:
        kept = [(0, start + count, 1), (start, one.size - start, 1)]
    one.cut(kept)
    return Change(f"part {lost} of {len(pieces)} in {one.op.name}", one.size)


# Views


def heads_in_wrong_order(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """The whole again and again instead of each element several times, or the other way."""
    choices = [op for op in of_kind(function, kernel.RepeatOp)]
    others = [op for op in of_kind(function, kernel.RepeatInterleaveOp)]
    if (op := chosen(draw, [*choices, *others])) is None:
        return None
    dim, times = op.dim.value.data, op.times.value.data
    kind = kernel.RepeatInterleaveOp if isinstance(op, kernel.RepeatOp) else kernel.RepeatOp
    replace(op, before(op).add(kind(op.input, dim, times)))
    return Change(f"{kind.name} instead of {op.name}", shape_of(op.input)[dim] * times)


def reshape_swapped(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """Two dimensions that a reshape makes, or joins, are exchanged."""
    op = chosen(draw, of_kind(function, kernel.ReshapeOp))
    if op is None:
        return None
    ends = [("result", op.result), ("operand", op.input)]
    name, value = draw.random.choice(ends)
    shape = shape_of(value)
    dims = [d for d in range(len(shape) - 1) if shape[d] > 1 and shape[d + 1] > 1]
    if (dim := chosen(draw, dims)) is None:
        return None
    order = [*range(dim), dim + 1, dim, *range(dim + 2, len(shape))]
    swapped = [shape[d] for d in order]
    ops = before(op)
    if name == "result":
        replace(op, ops.transpose(ops.reshape(op.input, swapped), order))
    else:
        wrong = ops.reshape(ops.transpose(op.input, order), shape_of(op.result))
        replace(op, wrong)
    return Change(f"dims {dim} and {dim + 1} of the {name} of a reshape", max(shape))


def transposed(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """Two dimensions of one size exchanged."""
    choices: list[tuple[Site, Sequence[int]]] = []
    for site in sites(function):
        shape = shape_of(site.value)
        for b in range(1, len(shape)):
            for a in range(b):
                if shape[a] == shape[b] > 1:
                    order = list(range(len(shape)))
                    order[a], order[b] = b, a
                    choices.append((site, order))
    if (found := chosen(draw, choices)) is None:
        return None
    site, order = found
    site.replace(site.ops.transpose(site.value, order))
    return Change(f"transposed to {order}, {site}", max(shape_of(site.value)))


def concat_swapped(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """Two parts of a concat in the wrong order."""
    kinds = [*of_kind(function, kernel.ConcatOp), *of_kind(function, tb.ConcatOp)]
    if (op := chosen(draw, [op for op in kinds if len(op.operands) > 1])) is None:
        return None
    a, b = draw.random.sample(range(len(op.operands)), 2)
    parts = list(op.operands)
    parts[a], parts[b] = parts[b], parts[a]
    op.operands = parts
    return Change(f"parts {a} and {b} of {op.name}", max(shape_of(op.results[0])))


def another_dimension(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """A softmax over another dimension, or a reduction over another one of the same size."""
    if (one := chosen(draw, of_kind(function, kernel.SoftmaxOp))) is not None:
        shape, old = shape_of(one.input), one.dim.value.data
        new = draw.random.choice([dim for dim in range(len(shape)) if dim != old])
        replace(one, before(one).add(kernel.SoftmaxOp(one.input, new)))
        return Change(f"softmax of dim {new} instead of {old}", shape[old])
    choices = [
        (op, old, new)
        for op in of_kind(function, kernel.ReductionOp)
        for old in op.dims.get_values()
        for new, size in enumerate(shape_of(op.input))
        if new not in op.dims.get_values() and size == shape_of(op.input)[old]
    ]
    if (found := chosen(draw, choices)) is None:
        return None
    op, old, new = found
    ops, shape = before(op), shape_of(op.input)
    order = list(range(len(shape)))
    order[old], order[new] = new, old
    dims = sorted({*op.dims.get_values(), new} - {old})
    replace(op, ops.transpose(ops.add(type(op)(op.input, dims)), order))
    return Change(f"dim {new} instead of {old} of {op.name}", shape[old])


KINDS: dict[str, Mutation] = {
    "rows swapped": rows_swapped,
    "another row": another_row,
    "window moved": window_moved,
    "off by one": off_by_one,
    "stride changed": stride_changed,
    "blocks permuted": blocks_permuted,
    "iterations permuted": iterations_permuted,
    "last tile missed": last_tile_missed,
    "last tile doubled": last_tile_doubled,
    "part of a sum missing": part_missing,
    "part of a sum doubled": part_doubled,
    "heads in the wrong order": heads_in_wrong_order,
    "dimensions of a reshape swapped": reshape_swapped,
    "transposed": transposed,
    "parts of a concat swapped": concat_swapped,
    "another dimension": another_dimension,
    "maximum with one element less": maxima.one_element_less,
    "rescaled by the wrong maximum": maxima.wrong_maximum,
    "load map of another axis": kernels.load_map,
    "store map permuted": kernels.store_map,
}
"""By what is wrong."""
