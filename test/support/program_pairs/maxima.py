"""Maxima that lack an element, and sums rescaled by what is not their maximum."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from program_pairs.changes import Change, Site, Values, before, chosen, integers, of_kind, replace
from program_pairs.draws import Draw
from program_pairs.writer import shape_of


def one_element_less(function: FuncOp, draw: Draw, values: Values) -> Change | None:
    """
    A maximum over all elements but one, which is left out or is another one's copy.

    It is an element that is the largest somewhere on the oracle's inputs: float64 would not see
    that any other one is missing.
    """
    choices = _maxima(function)
    pairs = [op for op in of_kind(function, kernel.MaxOp) if op.lhs.type == op.rhs.type]
    if pairs and (not choices or draw.chance(0.2)):
        op = draw.random.choice(pairs)
        replace(op, draw.random.choice([op.lhs, op.rhs]))
        return Change("one operand of a maximum", max(shape_of(op.lhs)))
    if (found := chosen(draw, choices)) is None:
        return None
    site, dim = found
    size = shape_of(site.value)[dim]
    elements = values()[site.value]
    places = np.argmax(elements, axis=dim).ravel()
    lost = int(places[draw.random.randrange(places.size)])
    rest = (lost + 1, size - lost - 1, 1)
    copied = draw.chance(0.4)
    middle = ((lost + 1) % size, int(copied), 1)
    site.cut(dim, [(0, lost, 1), middle, rest])
    return Change(f"a maximum without element {lost} of dim {dim}", size)


def _maxima(function: FuncOp) -> list[tuple[Site, int]]:
    """Operands of maxima, and of uGraphs that have maxima, with the dimension that is reduced."""
    found: list[tuple[Site, int]] = []
    for op in function.body.block.ops:
        if isinstance(op, kernel.ReduceMaxOp):
            found += [(Site(op, 0), dim) for dim in op.dims.get_values()]
        elif isinstance(op, kernel.GraphDefinedOp):
            for inner in of_kind(function, tb.ReduceMaxOp):
                if inner.parent_op() is op:
                    dims = integers(inner, "dims")
                    found += [(Site(op, 0), dim) for dim in dims if dim < _rank(op)]
    return [each for each in found if shape_of(each[0].value)[each[1]] > 1]


def _rank(graph: kernel.GraphDefinedOp) -> int:
    return len(shape_of(graph.inputs[0]))


def wrong_maximum(function: FuncOp, draw: Draw, _: Values) -> Change | None:
    """One use of a maximum, as a factor or to rescale, takes another number."""
    rescaled = [op for op in of_kind(function, tb.AccumulateOp) if op.rescale is not None]
    if rescaled and draw.chance(0.7):
        return _rescaled_wrong(draw, draw.random.choice(rescaled))
    choices: list[Site] = []
    for op in (*of_kind(function, kernel.ReduceMaxOp), *of_kind(function, kernel.MaxOp)):
        choices += [
            Site(use.operation, use.index)
            for use in op.result.uses
            if isinstance(use.operation, kernel.SubOp)
        ]
    if (site := chosen(draw, choices)) is None:
        return None
    shape = shape_of(site.value)
    ops = site.ops
    dims = [dim for dim, size in enumerate(shape) if size > 1]
    op = site.value.owner
    if isinstance(op, kernel.MaxOp) and draw.chance(0.5):
        site.replace(draw.random.choice([op.lhs, op.rhs]))
    elif dims and draw.chance(0.7):
        dim = draw.random.choice(dims)
        site.cut(dim, [(1, shape[dim] - 1, 1), (0, 1, 1)])
    else:
        site.replace(ops.add(kernel.ScaleOp(site.value, 0.5)))
    return Change("another maximum is subtracted", max(shape))


def _rescaled_wrong(draw: Draw, op: tb.AccumulateOp) -> Change:
    """Rescaled by half the maximum, by the maximum and 0, by what one more is, or not at all."""
    assert op.rescale is not None
    size = max(tb.shape_of(op.value))
    kind = draw.random.randrange(4)
    axes = op.across.get_values()
    ops = before(op)
    if kind == 0:
        replace(op, ops.add(tb.AccumulateOp(op.value, "sum", axes)))
        return Change("a sum that is not rescaled", size)
    wrong: SSAValue
    if kind == 1:
        wrong = ops.add(tb.ScaleOp(op.rescale, 0.5))
    elif kind == 2:
        wrong = ops.add(tb.ReluOp(op.rescale))
    else:
        square = ops.add(tb.SquareOp(op.rescale))
        wrong = ops.add(tb.AddOp(op.rescale, square, tb.TileType(tb.shape_of(square), f32)))
    replace(op, ops.add(tb.AccumulateOp(op.value, "sum", axes, wrong)))
    return Change("a sum rescaled by the wrong maximum", size)
