"""
Operations of linalg: a loop nest, how it goes along its operands, and what it does with elements.

MLIR's generic form says all three of named operations, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr
from xdsl.utils.hints import isa

from mirage_mlir.diagnostics import name_of
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.passes.linalg import scalars
from mirage_mlir.passes.linalg.builder import (
    Known,
    Label,
    LinalgBuilder,
    read,
    static_type,
)
from mirage_mlir.passes.linalg.products import product
from mirage_mlir.passes.stablehlo.contractions import REDUCTIONS
from mirage_mlir.passes.stablehlo.rearrangements import part
from mirage_mlir.passes.stablehlo.tensors import MOST_EXACT, Tensor, constant

Coordinate = tuple[Label, int]
"""Where a dimension of an operand is: along a dimension of the nest, or at one index."""


@dataclass(frozen=True)
class Nest:
    """The loops of an operation; `coordinates` has one list for each operand, outputs last."""

    sizes: tuple[int, ...]
    reduced: frozenset[int]
    coordinates: Sequence[Sequence[Coordinate]]


def _integers(op: Operation, name: str) -> tuple[int, ...]:
    found = op.properties.get(name, op.attributes.get(name))
    assert isinstance(found, DenseArrayBase)
    return tuple(int(value) for value in found.iter_values())


def _identity(rank: int) -> list[Coordinate]:
    return [(dim, 0) for dim in range(rank)]


def _along(dims: Sequence[int]) -> list[Coordinate]:
    return [(dim, 0) for dim in dims]


def _coordinates(emit: LinalgBuilder, op: Operation) -> list[list[Coordinate]]:
    """How the nest goes along the operands of `op`."""
    maps = op.properties.get("indexing_maps", op.attributes.get("linalg.memoized_indexing_maps"))
    if isa(maps, ArrayAttr[AffineMapAttr]):
        return [_read_map(emit, each) for each in maps]
    rank, count = len(static_type(emit, op.operands[-1].type).get_shape()), len(op.operands)
    match name_of(op):
        case "linalg.transpose":
            order = _integers(op, "permutation")
            return [_along([order.index(dim) for dim in range(rank)]), _identity(rank)]
        case "linalg.broadcast":
            added = _integers(op, "dimensions")
            return [_along([d for d in range(rank) if d not in added]), _identity(rank)]
        case "linalg.reduce":
            dims, half = _integers(op, "dimensions"), count // 2
            whole = rank + len(dims)
            kept = [dim for dim in range(whole) if dim not in dims]
            return [*([_identity(whole)] * half), *([_along(kept)] * (count - half))]
        case _:
            return [
                _identity(rank) if isa(value.type, TensorType[Attribute]) else []
                for value in op.operands
            ]


def _read_map(emit: LinalgBuilder, attribute: AffineMapAttr) -> list[Coordinate]:
    found: list[Coordinate] = []
    for result in attribute.data.results:
        match result:
            case AffineDimExpr(position=position):
                found.append((position, 0))
            case AffineConstantExpr(value=value):
                found.append((None, value))
            case _:
                emit.fail(f"reads or writes at index {result}; kernels step along dimensions")
    labels = [label for label, _ in found if label is not None]
    if len({*labels}) < len(labels):
        emit.fail(f"goes along a diagonal: {attribute.data}")
    return found


def nest_of(emit: LinalgBuilder, op: Operation) -> Nest:
    """The loops of `op`; fails where kernels have no such loops."""
    coordinates = _coordinates(emit, op)
    sizes: dict[int, int] = {}
    for value, places in zip(op.operands, coordinates, strict=True):
        if not places:
            continue
        shape = static_type(emit, value.type).get_shape()
        for size, (label, _) in zip(shape, places, strict=True):
            if label is not None and sizes.setdefault(label, size) != size:
                emit.fail(f"has sizes {sizes[label]} and {size} along one loop")
    count = max(sizes, default=-1) + 1
    if {*sizes} != {*range(count)}:
        emit.fail("has a loop that goes along none of its operands")
    outputs = coordinates[len(op.operands) - len(op.results) :]
    written = [{label for label, _ in places} for places in outputs]
    reduced = frozenset({*range(count)} - written[0])
    if any(frozenset({*range(count)} - each) != reduced for each in written):
        emit.fail("writes results along different loops")
    return Nest(tuple(sizes[dim] for dim in range(count)), reduced, coordinates)


class Body:
    """What an operation computes of one element of each operand, as tensors over its loops."""

    def __init__(self, emit: LinalgBuilder, op: Operation, nest: Nest, known: Known) -> None:
        self._emit, self._op, self._nest, self._known = emit, op, nest, known
        self.block: Block = op.regions[0].block
        self._values: dict[SSAValue, Tensor] = {}
        self.first_output = len(op.operands) - len(op.results)

    def value(self, value: SSAValue) -> Tensor:
        """The tensor of what an element is, over the loops."""
        if value not in self._values:
            self._values[value] = self._make(value)
        return self._values[value]

    def _make(self, value: SSAValue) -> Tensor:
        if isinstance(value, BlockArgument) and value.block is self.block:
            self._emit.at(self._op)
            return self.operand(value.index)
        owner = value.owner
        if not isinstance(owner, Operation) or owner.parent is not self.block:
            self._emit.at(self._op)
            outer = read(self._emit, self._known, value)
            if outer.number is None:
                self._emit.fail(f"uses a scalar that is no constant, of type {value.type}")
            return constant(self._nest.sizes, outer.element, outer.number)
        if owner.name == "linalg.index":
            self._emit.at(owner)
            return self._index(owner)
        if owner.name == "arith.constant":
            self._emit.at(owner)
            return scalars.number_of(self._emit, owner, self._nest.sizes)
        inputs = [self.value(each) for each in owner.operands]
        self._emit.at(owner)
        if owner.name not in scalars.RULES or len(owner.results) != 1:
            self._emit.fail("has no counterpart among the operators of the kernel dialect")
        return scalars.RULES[owner.name](self._emit, owner, inputs)

    def operand(self, number: int) -> Tensor:
        """An operand over the loops; of those that it does not go along it repeats one element."""
        tensor = read(self._emit, self._known, self._op.operands[number])
        sizes, places = self._nest.sizes, self._nest.coordinates[number]
        if tensor.value is None:
            return tensor.moved(sizes, None)
        starts = [start for _, start in places]
        wanted = [
            1 if label is None else size
            for size, (label, _) in zip(tensor.shape, places, strict=True)
        ]
        tensor = part(self._emit, tensor, starts, wanted, [1] * len(wanted))
        assert tensor.value is not None
        labels = [label for label, _ in places]
        value = self._emit.rearranged(tensor.value, labels, range(len(sizes)))
        return tensor.moved(sizes, value)

    def _index(self, op: Operation) -> Tensor:
        found = op.properties["dim"]
        assert isa(found, IntegerAttr)
        sizes, dim = self._nest.sizes, found.value.data
        if sizes[dim] - 1 > MOST_EXACT:
            self._emit.fail(f"has indices up to {sizes[dim] - 1}; f32 counts to {MOST_EXACT}")
        shape = [size if number == dim else 1 for number, size in enumerate(sizes)]
        self._emit.typed(sizes, i64)
        iota = self._emit.add(kernel.IotaOp(dim, TensorType(f32, shape)))
        return self._emit.result(iota, (0, sizes[dim] - 1))


def convert(emit: LinalgBuilder, op: Operation, known: Known) -> Sequence[Tensor | None]:
    """The results of an operation of linalg; of those that nobody reads None."""
    if not op.results:
        emit.fail("works on buffers; kernels work on tensors")
    if name_of(op) == "linalg.softmax":
        return [_softmax(emit, op, known)]
    if len(op.regions) != 1 or not op.regions[0].blocks:
        emit.fail("does not say what it does with elements; MLIR's generic form does")
    nest = nest_of(emit, op)
    body = Body(emit, op, nest, known)
    last = body.block.last_op
    assert last is not None
    results: list[Tensor | None] = []
    for number, result in enumerate(op.results):
        if result.first_use is None:
            results.append(None)
            continue
        whole = _reduced(emit, body, nest, last.operands[number], number)
        emit.at(op)
        results.append(_written(emit, op, nest, whole, number))
    return results


def _written(emit: LinalgBuilder, op: Operation, nest: Nest, whole: Tensor, number: int) -> Tensor:
    """A tensor over the loops as the operation writes it."""
    kind = static_type(emit, op.results[number].type)
    places = nest.coordinates[len(op.operands) - len(op.results) + number]
    for size, (label, start) in zip(kind.get_shape(), places, strict=True):
        if label is None and (size, start) != (1, 0):
            emit.fail(f"writes at index {start} of a dimension of size {size} alone")
    if whole.value is None:
        return whole.moved(kind.get_shape(), None)
    labels = [label for label, _ in places]
    value = emit.rearranged(whole.value, range(len(nest.sizes)), labels)
    return whole.moved(kind.get_shape(), value)


def _reduced(emit: LinalgBuilder, body: Body, nest: Nest, yielded: SSAValue, number: int) -> Tensor:
    """What is yielded, of all the steps of the loops that reduce."""
    out = body.block.args[body.first_output + number]
    dims = sorted(nest.reduced)
    if all(nest.sizes[dim] == 1 for dim in dims):
        return body.value(yielded)
    combine, step = _combination(emit, body, yielded, out)
    emit.at(combine)
    name = scalars.FLOATS.get(combine.name, "")
    if name not in REDUCTIONS or not isa(out.type, FloatType):
        kind = "of floats by one addition, maximum or minimum"
        emit.fail(f"combines elements of type {out.type} over a loop; kernels reduce {kind}")
    neutral, _ = REDUCTIONS[name]
    value = product(emit, body, nest, step, out.type) if name == "stablehlo.add" else None
    if value is None:
        value = _folded(emit, body.value(step), nest, combine, name)
    emit.at(combine)
    sizes = tuple(1 if dim in dims else size for dim, size in enumerate(nest.sizes))
    total = Tensor(sizes, out.type, value)
    emit.at(body.block.parent_op() or combine)
    initial = body.operand(out.index)
    if initial.number == neutral:
        return total
    emit.at(combine)
    return emit.apply(name, [total, initial.moved(sizes, initial.value)], out.type)


def _folded(
    emit: LinalgBuilder, step: Tensor, nest: Nest, combine: Operation, name: str
) -> SSAValue:
    """A tensor over the loops, reduced along those that reduce."""
    emit.at(combine)
    dims = sorted(nest.reduced)
    value = emit.value(step)
    held = kernel.shape_of(value)
    sizes = [nest.sizes[dim] if dim in dims else held[dim] for dim in range(len(held))]
    return REDUCTIONS[name][1](emit, emit.steps.broadcast(value, sizes), dims)


def _combination(
    emit: LinalgBuilder, body: Body, yielded: SSAValue, out: BlockArgument
) -> tuple[Operation, SSAValue]:
    """The operation that combines what there is so far with a step, and the step."""
    op = yielded.owner
    # Those that other results need, which nobody reads, do not matter.
    users = [use.operation for use in out.uses if use.operation in _needed(body.block, yielded)]
    if not isinstance(op, Operation) or op.parent is not body.block or users != [op]:
        emit.fail("computes each step of a loop of the ones before, and not by one operation")
    if len(op.operands) != 2 or out not in op.operands:
        emit.at(op)
        emit.fail("combines the steps of a loop; kernels combine by one operation of two numbers")
    first, second = op.operands
    return op, second if first is out else first


def _needed(block: Block, value: SSAValue) -> set[Operation]:
    """The operations of a block that a value is computed by."""
    found: set[Operation] = set()
    waiting = [value.owner]
    while waiting:
        op = waiting.pop()
        if isinstance(op, Operation) and op.parent is block and op not in found:
            found.add(op)
            waiting += [operand.owner for operand in op.operands]
    return found


def _softmax(emit: LinalgBuilder, op: Operation, known: Mapping[SSAValue, Tensor | None]) -> Tensor:
    x = read(emit, known, op.operands[0])
    found = op.properties["dimension"]
    assert isa(found, IntegerAttr)
    value = emit.add(kernel.SoftmaxOp(emit.whole(x), found.value.data))
    return Tensor(x.shape, x.element, value)
