"""
Operations of linalg: a loop nest, how it goes along its operands, and what it does with elements.

MLIR's generic form says all three of named operations, too.
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    IntegerAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from mirage_mlir.diagnostics import name_of
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.hints import isa
from mirage_mlir.passes.linalg import scalars
from mirage_mlir.passes.linalg.builder import (
    Known,
    LinalgBuilder,
    read,
    static_type,
)
from mirage_mlir.passes.linalg.nests import Nest, Place, nests_of
from mirage_mlir.passes.linalg.products import product
from mirage_mlir.passes.stablehlo.contractions import REDUCTIONS
from mirage_mlir.passes.stablehlo.rearrangements import part
from mirage_mlir.passes.stablehlo.tensors import MOST_EXACT, Tensor, constant


class Body:
    """What an operation computes of one element of each operand, as tensors over its loops."""

    def __init__(
        self,
        emit: LinalgBuilder,
        op: Operation,
        nest: Nest,
        known: Known,
        before: Sequence[Tensor | None],
    ) -> None:
        self._emit, self._op, self._nest, self._known = emit, op, nest, known
        self.block: Block = op.regions[0].block
        self._values: dict[SSAValue, Tensor] = {}
        self.first_output = len(op.operands) - len(op.results)
        # What earlier nests have computed is there in the place of what the outputs begin with.
        outputs = self.block.args[self.first_output :]
        for argument, tensor in zip(outputs, before, strict=True):
            if tensor is not None:
                self._values[argument] = tensor

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
        sizes, places = self._nest.sizes, self._nest.places[number]
        if tensor.value is None:
            return tensor.moved(sizes, None)
        wanted = [1 if place.label is None else sizes[place.label] for place in places]
        starts, steps = [place.start for place in places], [place.step for place in places]
        for place, count, size in zip(places, wanted, tensor.shape, strict=True):
            if not 0 <= place.start <= place.start + (count - 1) * place.step < size:
                self._emit.fail(f"reads beyond the {size} elements of operand {number}")
        tensor = part(self._emit, tensor, starts, wanted, steps)
        assert tensor.value is not None
        labels = [place.label for place in places]
        value = self._emit.rearranged(tensor.value, labels, range(len(sizes)))
        return tensor.moved(sizes, value)

    def _index(self, op: Operation) -> Tensor:
        found = op.properties["dim"]
        assert isa(found, IntegerAttr)
        sizes, dim = self._nest.sizes, found.value.data
        if dim in self._nest.steps:
            return constant(sizes, i64, self._nest.steps[dim])
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
    nests = [*nests_of(emit, op)]
    whole: list[Tensor | None] = [None] * len(op.results)
    for nest in nests:
        whole = _run(emit, Body(emit, op, nest, known, whole), nest)
        emit.at(op)
    return [
        None if each is None else _written(emit, op, nests[-1], each, number)
        for number, each in enumerate(whole)
    ]


def _run(emit: LinalgBuilder, body: Body, nest: Nest) -> list[Tensor | None]:
    """What a nest computes, as tensors over its loops; None of what nobody reads."""
    last, op = body.block.last_op, body.block.parent_op()
    assert last is not None
    assert op is not None
    return [
        _reduced(emit, body, nest, last.operands[number], number) if result.first_use else None
        for number, result in enumerate(op.results)
    ]


def _written(emit: LinalgBuilder, op: Operation, nest: Nest, whole: Tensor, number: int) -> Tensor:
    """A tensor over the loops as the operation writes it."""
    kind = static_type(emit, op.results[number].type)
    places = nest.places[len(op.operands) - len(op.results) + number]
    for size, place in zip(kind.get_shape(), places, strict=True):
        if place.label is None and (size, place.start) != (1, 0):
            emit.fail(f"writes at index {place.start} of a dimension of size {size} alone")
        if place.label is not None and place != Place(place.label):
            emit.fail("writes not all elements of a result")
    if whole.value is None:
        return whole.moved(kind.get_shape(), None)
    labels = [place.label for place in places]
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
    initial = body.value(out)
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
