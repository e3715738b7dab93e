"""Operands that are views of arguments, each written in two ways, and views of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from program_pairs.draws import Draw
from program_pairs.writer import Build, Ops, Shape


@dataclass(frozen=True)
class View:
    """A value of a certain shape, made of inputs of `shapes`."""

    shapes: tuple[Shape, ...]
    build: Build
    again: Build
    """The same in another way."""


def operand(draw: Draw, shape: Shape, depth: int) -> View:
    """A value of `shape` under `depth` views of arguments."""
    if not depth:
        return View((shape,), _first, _first)
    recipe = draw.random.choice(RECIPES)
    outer = recipe(draw, shape)
    if outer is None:
        return operand(draw, shape, depth - 1)
    inner = [operand(draw, needed, depth - 1) for needed in outer.shapes]
    shapes = tuple(each for view in inner for each in view.shapes)

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return outer.build(ops, _built(ops, inner, values, [view.build for view in inner]))

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return outer.again(ops, _built(ops, inner, values, [view.again for view in inner]))

    return View(shapes, build, again)


def _first(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
    return values[0]


def _built(
    ops: Ops, views: Sequence[View], values: Sequence[SSAValue], builds: Sequence[Build]
) -> list[SSAValue]:
    """What each view makes of its share of `values`."""
    results: list[SSAValue] = []
    used = 0
    for view, build in zip(views, builds, strict=True):
        results.append(build(ops, values[used : used + len(view.shapes)]))
        used += len(view.shapes)
    return results


def _with(shape: Shape, dim: int, size: int) -> Shape:
    return (*shape[:dim], size, *shape[dim + 1 :])


# Recipes: for a shape, a view that has it; None where there is none


def _window(draw: Draw, shape: Shape) -> View | None:
    """Some elements of a longer dimension."""
    dim = draw.random.randrange(len(shape))
    step = draw.random.choice([1, 1, 2, 3]) if 2 * prod(shape) < draw.scale.elements else 1
    first, rest = draw.random.randint(0, 70), draw.random.randint(0, 70)
    count = shape[dim]
    size = first + (count - 1) * step + 1 + rest
    before = draw.random.randint(0, first)

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.slice(values[0], dim, first, count, step)

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        part = ops.slice(values[0], dim, before, size - before)
        return ops.slice(part, dim, first - before, count, step)

    return View((_with(shape, dim, size),), build, again)


def _transposed(draw: Draw, shape: Shape) -> View | None:
    """Dimensions in another order."""
    if len(shape) < 2:
        return None
    permutation = draw.permutation(len(shape))
    source = [0] * len(shape)
    for position, dim in enumerate(permutation):
        source[dim] = shape[position]
    cut = draw.random.randint(1, shape[0] - 1) if shape[0] > 1 else 0

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.transpose(values[0], permutation)

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        if not cut:
            return build(ops, values)
        parts = ops.parts(values[0], permutation[0], [0, cut, shape[0]])
        return ops.concat([ops.transpose(part, permutation) for part in parts], 0)

    return View((tuple(source),), build, again)


def _split_heads(draw: Draw, shape: Shape) -> View | None:
    """Heads next to each other in rows: `(m, h d)` read as `(h, m, d)`."""
    if len(shape) != 3 or shape[0] > 8:
        return None
    heads, rows, depth = shape

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.transpose(ops.reshape(values[0], (rows, heads, depth)), (1, 0, 2))

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        parts = ops.parts(values[0], 1, range(0, heads * depth + 1, depth))
        return ops.concat([ops.reshape(part, (1, rows, depth)) for part in parts], 0)

    return View(((rows, heads * depth),), build, again)


def _merged(draw: Draw, shape: Shape) -> View | None:
    """A dimension that was two; they are exchanged before, where that is drawn."""
    dim = draw.random.randrange(len(shape))
    factors = [f for f in range(2, min(shape[dim], 65)) if shape[dim] % f == 0]
    if not factors or len(shape) > 3:
        return None
    outer = draw.random.choice(factors)
    inner = shape[dim] // outer
    swapped = draw.chance(0.5)
    given = (inner, outer) if swapped else (outer, inner)
    order = [*range(dim), dim + 1, dim, *range(dim + 2, len(shape) + 1)]

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        parted = ops.transpose(values[0], order) if swapped else values[0]
        return ops.reshape(parted, shape)

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        if outer > 8:
            return build(ops, values)
        halves = [
            ops.slice(values[0], dim + 1 if swapped else dim, number, 1) for number in range(outer)
        ]
        return ops.concat([ops.reshape(half, _with(shape, dim, inner)) for half in halves], dim)

    return View(((*shape[:dim], *given, *shape[dim + 1 :]),), build, again)


def _joined(draw: Draw, shape: Shape) -> View | None:
    """Two tensors, one after the other: a cache and what is new."""
    dim = draw.random.randrange(len(shape))
    if shape[dim] < 3:
        return None
    cut = draw.random.choice([1, shape[dim] - 1, draw.random.randint(1, shape[dim] - 1)])
    again_cut = draw.random.randint(0, cut)

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.concat(values, dim)

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        if again_cut in (0, cut):
            return build(ops, values)
        start, rest = ops.parts(values[0], dim, [0, again_cut, cut])
        return ops.concat([start, ops.concat([rest, values[1]], dim)], dim)

    shapes = _with(shape, dim, cut), _with(shape, dim, shape[dim] - cut)
    return View(shapes, build, again)


def _repeated(draw: Draw, shape: Shape) -> View | None:
    """Each element several times, as heads of keys are, or the whole again and again."""
    dim = draw.random.randrange(len(shape))
    counts = [n for n in range(2, 9) if shape[dim] % n == 0 and shape[dim] > n]
    if not counts or len(shape) > 3:
        return None
    times = draw.random.choice(counts)
    kept = shape[dim] // times
    interleaved = draw.chance(0.7)
    given = _with(shape, dim, kept)

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        kind = kernel.RepeatInterleaveOp if interleaved else kernel.RepeatOp
        return ops.add(kind(values[0], dim, times))

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        pair = (kept, times) if interleaved else (times, kept)
        one = (kept, 1) if interleaved else (1, kept)
        parted = ops.reshape(values[0], (*shape[:dim], *one, *shape[dim + 1 :]))
        spread = ops.broadcast(parted, (*shape[:dim], *pair, *shape[dim + 1 :]))
        return ops.reshape(spread, shape)

    return View((given,), build, again)


def _gathered(draw: Draw, shape: Shape) -> View | None:
    """Windows of one dimension in an order of their own."""
    dim = draw.random.randrange(len(shape))
    if shape[dim] < 4:
        return None
    bounds = draw.cuts(shape[dim], draw.random.randint(2, 4))
    order = draw.permutation(len(bounds) - 1)
    first = draw.random.randint(0, 9)
    pieces = [(first + bounds[n], bounds[n + 1] - bounds[n], 1) for n in order]

    def build(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        return ops.pieces(values[0], dim, pieces)

    def again(ops: Ops, values: Sequence[SSAValue]) -> SSAValue:
        start = pieces[:1]
        head = ops.pieces(values[0], dim, start)
        return ops.concat([head, ops.pieces(values[0], dim, pieces[1:])], dim)

    return View((_with(shape, dim, first + shape[dim] + 3),), build, again)


RECIPES: tuple[Callable[[Draw, Shape], View | None], ...] = (
    _window,
    _window,
    _transposed,
    _split_heads,
    _merged,
    _joined,
    _repeated,
    _gathered,
)


# Views of a result


def after(draw: Draw, shape: Shape) -> tuple[Build, Build]:
    """A view of a value of `shape`, in two ways."""
    dim = draw.random.randrange(len(shape))
    size = shape[dim]
    kind = draw.random.randrange(4)
    if kind == 0 or size < 2:
        permutation = draw.permutation(len(shape))
        return _both(lambda ops, values: ops.transpose(values[0], permutation))
    if kind == 1:
        first = draw.random.randint(0, min(64, size - 1))
        count = draw.random.randint(max(1, (size - first) // 2), size - first)
        last = first + count
        middle = draw.random.randint(0, first)
        return (
            lambda ops, values: ops.slice(values[0], dim, first, count),
            lambda ops, values: ops.slice(
                ops.slice(values[0], dim, middle, last - middle), dim, first - middle, count
            ),
        )
    cut = draw.random.choice([size // 2, draw.random.randint(1, size - 1)])
    swapped = [(cut, size - cut, 1), (0, cut, 1)]
    if kind == 2:
        return _both(lambda ops, values: ops.pieces(values[0], dim, swapped))
    flat = (prod(shape),)
    return (
        lambda ops, values: ops.reshape(values[0], flat),
        lambda ops, values: ops.reshape(ops.reshape(values[0], (*shape, 1)), flat),
    )


def _both(build: Build) -> tuple[Build, Build]:
    return build, build
