"""Finds row maxima that any upper bound may replace, because the rescaled result cancels them."""

from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.tile_attributes import (
    broadcast_sides,
    is_online_maximum,
    registers_of,
)


@dataclass(frozen=True)
class Dependence:
    """
    A value depends on a row maximum m as `(a + shift m) exp(degree m)`, where a does not.

    Either `shift` or `degree` is 0.
    """

    shift: float = 0.0
    degree: float = 0.0


FREE = Dependence()
"""A value that does not depend on the row maximum."""


class Unknown(Exception):
    """A value depends on the row maximum in a way that `Dependence` cannot express."""


def _scalar(op: Operation, known: dict[SSAValue, Dependence]) -> Dependence:
    """The dependence of the result of one operation of a thread graph."""
    found = [known[value] for value in op.operands]
    if all(each == FREE for each in found):
        return FREE
    match op:
        case arith.AddfOp() | arith.SubfOp() if all(each.degree == 0 for each in found):
            sign = -1 if isinstance(op, arith.SubfOp) else 1
            return Dependence(found[0].shift + sign * found[1].shift)
        case arith.AddfOp() | arith.SubfOp() if found[0] == found[1] and found[0].shift == 0:
            return found[0]
        case math.ExpOp() if found[0].degree == 0:
            return Dependence(0.0, found[0].shift)
        case arith.MulfOp() if all(each.shift == 0 for each in found):
            return Dependence(0.0, found[0].degree + found[1].degree)
        case arith.MulfOp() if all(each.degree == 0 for each in found):
            return _scaled(op, found)
        case arith.ExtFOp() | arith.TruncFOp():
            return found[0]
        case _:
            raise Unknown


def _scaled(op: arith.MulfOp, found: list[Dependence]) -> Dependence:
    """The dependence of a value times a constant."""
    for value, other in zip(op.operands, reversed(found), strict=True):
        if isinstance(value.owner, arith.ConstantOp):
            attribute = value.owner.value
            if isinstance(attribute, FloatAttr):
                return Dependence(other.shift * attribute.value.data)
    raise Unknown


def _thread_graph(op: thread.GraphOp, known: dict[SSAValue, Dependence]) -> Dependence:
    """The dependence that all results of a thread graph share."""
    scalars: dict[SSAValue, Dependence] = {
        argument: known.get(value, FREE)
        for argument, value in zip(op.body.block.args, op.operands, strict=True)
    }
    stored: set[Dependence] = set()
    for inner in op.body.block.ops:
        if isinstance(inner, thread.StoreOp):
            stored.add(scalars[inner.value])
        else:
            scalars[inner.results[0]] = _scalar(inner, scalars)
    if len(stored) != 1:
        raise Unknown
    return stored.pop()


def _of(op: Operation, m: SSAValue, known: dict[SSAValue, Dependence]) -> Dependence:
    """The dependence of the result of an operation on tiles that depends on `m`."""
    found = [known.get(value, FREE) for value in op.operands]
    match op:
        case thread.GraphOp():
            return _thread_graph(op, known)
        case threadblock.AccumulateOp() if op.rescale is m:
            if op.kind.data == "sum" and found[0] == Dependence(0.0, -1.0):
                return FREE
        case threadblock.AccumulateOp() if op.value is m and op.kind.data == "max":
            return FREE
        case threadblock.MatmulOp() if all(each.shift == 0 for each in found):
            return Dependence(0.0, found[0].degree + found[1].degree)
        case threadblock.ReduceSumOp() | threadblock.TransposeOp() if found[0].shift == 0:
            return found[0]
        case _:
            pass
    raise Unknown


def is_free(m: SSAValue) -> bool:
    """
    Whether any upper bound may replace the row maximum `m`.

    It may if `m` is only subtracted in exponents whose values are added up with `rescale %m`: a
    value `v exp(-m)` is added, and rescaling multiplies by `exp(m)`.
    """
    op = m.owner
    if not isinstance(op, threadblock.ReduceMaxOp):
        return False
    graph = op.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    known: dict[SSAValue, Dependence] = {m: Dependence(1.0)}
    try:
        for user in graph.body.block.ops:
            if any(known.get(value, FREE) != FREE for value in user.operands):
                found = _of(user, m, known)
                known.update((result, found) for result in user.results)
    except Unknown:
        return False
    return True


def rescaled_with(m: SSAValue) -> list[threadblock.AccumulateOp]:
    """The sums whose row maximum is `m`."""
    users = [use.operation for use in m.uses]
    return [op for op in users if isinstance(op, threadblock.AccumulateOp) and op.rescale is m]


def have_maxima(maxima: SSAValue, value: SSAValue) -> bool:
    """Whether each row of `value`, or all of it, has one of the `maxima`, or each element has."""
    return broadcast_sides(threadblock.shape_of(maxima), threadblock.shape_of(value)) is not None


def check_rows(op: threadblock.AccumulateOp) -> None:
    """Fail where blocks of a cluster cannot bring a sum to common maxima: these are of no rows."""
    assert op.rescale is not None
    if op.across.get_values() and not have_maxima(op.rescale, op.value):
        shapes = [threadblock.shape_of(value) for value in (op.value, op.rescale)]
        summed, maxima = ("x".join(map(str, shape)) for shape in shapes)
        fail(
            op,
            f"adds up tiles of {summed} across the blocks of a cluster, relative to maxima of "
            f"{maxima}: along a dimension between others",
            note="reduce each tile before it is accumulated",
        )


def state_layout(row_maximum: SSAValue, value: SSAValue, layout: RegisterLayout) -> RegisterLayout:
    """The register layout of the row maxima for sums of `value` in `layout`."""
    if is_online_maximum(row_maximum):
        return registers_of(row_maximum)
    sides = broadcast_sides(threadblock.shape_of(row_maximum), threadblock.shape_of(value))
    return layout.reduced(*sides) if sides else layout
