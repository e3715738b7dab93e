"""Single edits of programs: of kernel operators, of graphs over blocks, and of what is returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, UnitAttr, f32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.hints import isa
from mirage_mlir.interpreters.operators import integer, integers, mnemonic, shape_of

Edit = Callable[[Operation], None]

FAMILIES = (
    ("add", "sub", "mul", "div", "max"),
    ("exp", "square", "relu", "sigmoid", "silu", "tanh", "sqrt", "rsqrt", "log"),
    ("reduce_sum", "reduce_max", "reduce_mean"),
    ("repeat", "repeat_interleave"),
)
"""Operators that take each other's place, by mnemonics."""

EXCHANGES = 3
"""How many operators of the family take the place of one."""

FACTORS = (1.25, 0.5, -1.0)
"""What scalars are multiplied by."""

SCALARS = ("eps", "exponent", "factor", "max", "min", "value")
"""Properties that are numbers."""

COMMUTATIVE = ("add", "mul", "max")
"""Operators whose operands can be swapped."""


@dataclass(frozen=True)
class Mutant:
    """A program that differs from another one by one edit."""

    description: str
    operation: str
    function: FuncOp

    @property
    def harmless(self) -> bool:
        """Whether the edit changes nothing by its kind."""
        return self.description in {f"swap the operands of {name}" for name in COMMUTATIVE}


def mutants(function: FuncOp, every: int = 1) -> Iterator[Mutant]:
    """Of all programs that one edit makes every so many-th, those that are valid."""
    edits = (
        (number, op.name, *edit) for number, op in enumerate(function.walk()) for edit in _edits(op)
    )
    for number, name, description, edit in islice(edits, 0, None, every):
        mutant = function.clone()
        target = list(mutant.walk())[number]
        try:
            edit(target)
            mutant.verify()
        except (VerifyException, ValueError):
            continue
        yield Mutant(description, name, mutant)


def _edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    match op:
        case threadblock.LoadOp():
            yield from _load_edits(op)
        case threadblock.StoreOp():
            yield from _map_edits(op, "grid_map", len(shape_of(op.tile)))
            yield from _map_edits(op, "loop_map", len(shape_of(op.tile)))
            yield from _store_edits(op)
        case threadblock.AccumulateOp():
            yield from _accumulate_edits(op)
        case ReturnOp():
            for number in range(len(op.operands) - 1):
                if op.operands[number].type == op.operands[number + 1].type:
                    yield f"swap results {number} and {number + 1}", _swap(number)
        case kernel.GraphDefinedOp():
            yield "let blocks take turns, or no more", _exchange_distribution
        case FuncOp():
            pass
        case _:
            yield from _operator_edits(op)


def _exchange_distribution(op: Operation) -> None:
    assert isinstance(op, kernel.GraphDefinedOp)
    op.cyclic = None if op.is_cyclic else UnitAttr()


# Operators of both dialects


def _operator_edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    name = mnemonic(op)
    types = [operand.type for operand in op.operands]
    if len(types) == 2 and types[0] == types[1] and op.operands[0] is not op.operands[1]:
        yield f"swap the operands of {name}", _swap(0)
    for family in FAMILIES:
        if name in family:
            start = family.index(name)
            others = [*family[start + 1 :], *family[:start]]
            for other in others[:EXCHANGES]:
                yield f"make {name} a {other}", _exchange(other)
    for scalar in SCALARS:
        if isa(op.properties.get(scalar), FloatAttr):
            for factor in FACTORS:
                yield f"{scalar} of {name} times {factor}", _multiply_scalar(scalar, factor)
    yield from _dimension_edits(op)
    if types[:1] == [op.results[0].type] and name not in ("cast", "matmul"):
        yield f"drop {name}", _drop
    if name not in ("constant", "cast"):
        yield f"square after {name}", _insert("square")
        yield f"sigmoid after {name}", _insert("sigmoid")
    yield from _other_operands(op)


def _dimension_edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    name = mnemonic(op)
    if reduced := integers(op, "dims"):
        for dim in range(len(shape_of(op.operands[0]))):
            if (dim,) != reduced:
                yield f"{name} dim {dim}", _set_array("dims", [dim])
    if name == "softmax":
        for dim in range(len(shape_of(op.operands[0]))):
            if dim != integer(op, "dim"):
                yield f"softmax dim {dim}", _set_integer("dim", dim)
    if name == "slice":
        for dim, offset in enumerate(integers(op, "offsets")):
            moved = list(integers(op, "offsets"))
            moved[dim] = offset - 1 if offset else 1
            yield f"slice from {moved}", _set_array("offsets", moved)


def _other_operands(op: Operation) -> Iterator[tuple[str, Edit]]:
    """Each operand replaced by another value of its type that is there: W1 for W2."""
    for number, operand in enumerate(op.operands):
        for place, other in enumerate(_before(op)):
            if other.type == operand.type and other is not operand:
                yield f"value {place} for operand {number} of {mnemonic(op)}", _use(number, place)


def _before(op: Operation) -> list[SSAValue]:
    """The arguments and results before an operation in its block."""
    block = op.parent
    assert block is not None
    found: list[SSAValue] = list(block.args)
    for other in block.ops:
        if other is op:
            break
        found += other.results
    return found


def _swap(first: int) -> Edit:
    def edit(op: Operation) -> None:
        left, right = op.operands[first], op.operands[first + 1]
        op.operands[first], op.operands[first + 1] = right, left

    return edit


def _use(number: int, place: int) -> Edit:
    def edit(op: Operation) -> None:
        op.operands[number] = _before(op)[place]

    return edit


def _set_array(name: str, values: list[int]) -> Edit:
    def edit(op: Operation) -> None:
        op.properties[name] = i64_array(values)

    return edit


def _set_integer(name: str, value: int) -> Edit:
    def edit(op: Operation) -> None:
        op.properties[name] = IntegerAttr(value, i64)

    return edit


def _multiply_scalar(name: str, factor: float) -> Edit:
    def edit(op: Operation) -> None:
        old = op.properties[name]
        assert isa(old, FloatAttr)
        op.properties[name] = FloatAttr(old.value.data * factor, f32)

    return edit


def _exchange(name: str) -> Edit:
    def edit(op: Operation) -> None:
        by = _kind(op, name).create(
            operands=op.operands, properties=op.properties, result_types=[op.results[0].type]
        )
        _replace(op, by)

    return edit


def _kind(op: Operation, name: str) -> type[Operation]:
    """The operator of a name in the dialect of `op`."""
    dialect = kernel.Kernel if op.name.startswith("kernel.") else threadblock.Threadblock
    for kind in dialect.operations:
        if kind.name.partition(".")[2] == name:
            return kind
    raise ValueError(f"the dialect has no {name}")


def _insert(name: str) -> Edit:
    """A function of the result in its place."""

    def edit(op: Operation) -> None:
        block = op.parent
        assert block is not None
        (result,) = op.results
        new = _kind(op, name).create(operands=[result], result_types=[result.type])
        block.insert_op_after(new, op)
        result.replace_uses_with_if(new.results[0], lambda use: use.operation is not new)

    return edit


def _replace(op: Operation, by: Operation) -> None:
    block = op.parent
    assert block is not None
    block.insert_op_before(by, op)
    op.results[0].replace_all_uses_with(by.results[0])
    block.erase_op(op)


def _drop(op: Operation) -> None:
    """Leave out an operator whose result has its operand's shape."""
    block = op.parent
    assert block is not None
    op.results[0].replace_all_uses_with(op.operands[0])
    block.erase_op(op)


# Loads, stores, accumulators


def _load_edits(op: threadblock.LoadOp) -> Iterator[tuple[str, Edit]]:
    assert isinstance(op.source, BlockArgument)
    for number, other in enumerate(op.source.block.args):
        if other is not op.source and other.type == op.source.type:
            yield f"load argument {number}", _use(0, number)
    rank = len(shape_of(op.result))
    yield from _map_edits(op, "grid_map", rank)
    yield from _map_edits(op, "loop_map", rank)


def _map_edits(op: Operation, name: str, rank: int) -> Iterator[tuple[str, Edit]]:
    old = list(integers(op, name))
    for axis, dim in enumerate(old):
        for other in range(-1, rank):
            if other != dim:
                new = [*old[:axis], other, *old[axis + 1 :]]
                yield f"{name} {new} of {mnemonic(op)}", _set_array(name, new)


def _store_edits(op: threadblock.StoreOp) -> Iterator[tuple[str, Edit]]:
    """Another tile of the same type, which some other store stores."""
    block = op.parent
    assert block is not None
    stores = [other for other in block.ops if isinstance(other, threadblock.StoreOp)]
    for number, other in enumerate(stores):
        if other is not op and other.tile.type == op.tile.type and other.tile is not op.tile:
            yield f"store the tile of store {number}", _store_other(number)


def _store_other(number: int) -> Edit:
    def edit(op: Operation) -> None:
        assert op.parent is not None
        stores = [other for other in op.parent.ops if isinstance(other, threadblock.StoreOp)]
        op.operands[0] = stores[number].tile

    return edit


def _accumulate_edits(op: threadblock.AccumulateOp) -> Iterator[tuple[str, Edit]]:
    if op.value.type == op.result.type:
        yield "drop accumulate", _drop
    if op.rescale is None:
        assert isinstance(op.kind, StringAttr)
        other = "sum" if op.kind.data == "max" else "max"
        yield f"accumulate as {other}", _set_kind(other)
    else:
        yield "accumulate without rescaling", _without_rescaling
    graph = op.parent_op()
    assert isinstance(graph, kernel.GraphDefinedOp)
    across = set(integers(op, "across"))
    for axis in range(len(graph.grid_sizes)):
        changed = sorted(across ^ {axis})
        yield f"accumulate across {changed}", _set_array("across", changed)
    for use in op.result.uses:
        if len(use.operation.operands) == 1 and use.operation.results:
            yield f"{mnemonic(use.operation)} before accumulate", _later
            break


def _set_kind(kind: str) -> Edit:
    def edit(op: Operation) -> None:
        op.properties["kind"] = StringAttr(kind)

    return edit


def _without_rescaling(op: Operation) -> None:
    assert isinstance(op, threadblock.AccumulateOp)
    plain = threadblock.AccumulateOp(op.value, "sum", integers(op, "across"))
    _replace(op, plain)


def _later(op: Operation) -> None:
    """Accumulate what an operator makes of each value: `f(accumulate(x))` as `accumulate(f(x))`."""
    assert isinstance(op, threadblock.AccumulateOp)
    user = next(
        use.operation
        for use in op.result.uses
        if len(use.operation.operands) == 1 and use.operation.results
    )
    block = op.parent
    assert block is not None
    if user.results[0].type != op.result.type:
        raise ValueError("an accumulator holds f32 in the shape of its operand")
    before = user.clone()
    before.operands[0] = op.value
    block.insert_op_before(before, op)
    after = threadblock.AccumulateOp(
        before.results[0], op.kind.data, integers(op, "across"), op.rescale
    )
    block.insert_op_before(after, op)
    user.results[0].replace_all_uses_with(after.result)
    block.erase_op(user)
