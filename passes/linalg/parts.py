"""Parts of a host's function as functions of their own, which the host calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from mirage_mlir.diagnostics import Diagnostic, UnsupportedOperation, name_of
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.passes.linalg.conversion import Conversion, is_candidate
from mirage_mlir.passes.linalg.tensors import UNCHANGED

MOVES = ("constant", "reshape", "broadcast", "transpose", "slice", "concat", "cast")
"""Operators that compute nothing: what has no others stays with the host."""


@dataclass
class Refusals:
    """The operations that stay with the host, and why."""

    reasons: dict[Operation, Diagnostic] = field(default_factory=dict[Operation, Diagnostic])

    def note(self, op: Operation, error: UnsupportedOperation) -> None:
        """`op` stays."""
        self.reasons[op] = error.diagnostics[0]


@dataclass(frozen=True)
class Part:
    """Operations that follow one another in a block, and the function that they become."""

    ops: Sequence[Operation]
    inputs: Sequence[SSAValue]
    outputs: Sequence[SSAValue]
    block: Block


def convert_whole(function: FuncOp) -> None:
    """
    Give `function` a body of kernel operators.

    Raises:
        UnsupportedOperation: there is one that cannot be converted.
    """
    old = function.body.block
    block = Block(arg_types=old.arg_types)
    for before, after in zip(old.args, block.args, strict=True):
        after.name_hint, after.location = before.name_hint, before.location
    given = [arg for arg in old.args if _can_be_given(arg)]
    conversion = Conversion(block)
    for value, argument in zip(old.args, block.args, strict=True):
        if value in given:
            conversion.know(value, argument)
    for op in old.ops:
        if isinstance(op, ReturnOp):
            conversion.finish(op, op.operands)
        else:
            conversion.convert(op)
    if len(given) < len(old.args):
        index = next(arg.index for arg in old.args if arg not in given)
        conversion.at(function).fail(
            f"takes {old.args[index].type} as argument {index}; kernels take tensors of floats"
        )
    function.detach_region(function.body)
    function.add_region(Region(block))


def _can_be_given(value: SSAValue) -> bool:
    kind = value.type
    return isa(kind, TensorType[FloatType]) and all(size > 0 for size in kind.get_shape())


def blocks_of(region: Region) -> Iterator[Block]:
    """The blocks in which there may be parts: not those of what may become operators."""
    for block in region.blocks:
        yield block
        for op in block.ops:
            if not is_candidate(op):
                for inner in op.regions:
                    yield from blocks_of(inner)


def parts_of(block: Block, refusals: Refusals) -> list[Part]:
    """What can be converted of a block; what cannot is noted."""
    parts: list[Part] = []
    run: list[Operation] = []
    for op in [*block.ops, None]:
        if op is not None and is_candidate(op) and op not in refusals.reasons:
            run.append(op)
            continue
        parts += _parts_of_run(run, refusals)
        run = []
    return parts


def _parts_of_run(run: Sequence[Operation], refusals: Refusals) -> list[Part]:
    if not run:
        return []
    found = _try(run, refusals)
    if isinstance(found, Part):
        return [found] if _computes(found.block) else []
    at = run.index(found)
    return [*_parts_of_run(run[:at], refusals), *_parts_of_run(run[at + 1 :], refusals)]


def _computes(block: Block) -> bool:
    names = (op.name for op in block.ops if not isinstance(op, ReturnOp))
    return any(name.partition(".")[2] not in MOVES for name in names)


def _try(run: Sequence[Operation], refusals: Refusals) -> Part | Operation:
    """The part that a run becomes, or its first operation that is in the way."""
    block = Block()
    conversion = Conversion(block)
    inputs: list[SSAValue] = []
    inside = {*run}
    for op in run:
        try:
            for value in _read(op):
                _provide(conversion, inputs, value, inside)
            conversion.convert(op)
        except UnsupportedOperation as error:
            refusals.note(op, error)
            return op
    outputs = [value for op in run for value in op.results if _leaves(op, value, inside)]
    for value in outputs:
        owner = value.owner
        assert isinstance(owner, Operation)
        try:
            conversion.check_given(owner, value, owner.results.index(value))
        except UnsupportedOperation as error:
            refusals.note(owner, error)
            return owner
    conversion.finish(run[-1], outputs)
    return _without_unused(Part(run, inputs, outputs, block))


def _read(op: Operation) -> Iterator[SSAValue]:
    """The values that an operation reads, also from within its regions."""
    own = {*op.walk()}
    for each in op.walk():
        for value in each.operands:
            owner = value.owner
            around = owner.parent_op() if isinstance(owner, Block) else owner
            if around not in own:
                yield value


def _leaves(op: Operation, value: SSAValue, inside: set[Operation]) -> bool:
    """Whether a value is read outside of the run, and is no constant, of which the host has one."""
    if name_of(op) in UNCHANGED:
        return False
    return any(not _is_within(use.operation, inside) for use in value.uses)


def _is_within(op: Operation | None, ops: set[Operation]) -> bool:
    while op is not None:
        if op in ops:
            return True
        op = op.parent_op()
    return False


def _provide(
    conversion: Conversion, inputs: list[SSAValue], value: SSAValue, inside: set[Operation]
) -> None:
    """Make `value`, which the host computes, known: anew, or as an argument."""
    if value in conversion.known:
        return
    owner = value.owner
    if isinstance(owner, Operation) and name_of(owner) in UNCHANGED and owner not in inside:
        try:
            for each in _read(owner):
                _provide(conversion, inputs, each, inside)
            conversion.convert(owner)
        except UnsupportedOperation:
            pass
        else:
            return
    if _can_be_given(value):
        argument = conversion.block.insert_arg(value.type, len(conversion.block.args))
        argument.name_hint = value.name_hint
        conversion.know(value, argument)
        inputs.append(value)


def _without_unused(part: Part) -> Part:
    """The part without the arguments that only operators read which are not needed."""
    kept = [number for number, arg in enumerate(part.block.args) if arg.first_use is not None]
    for arg in reversed(part.block.args):
        if arg.first_use is None:
            part.block.erase_arg(arg)
    return Part(part.ops, [part.inputs[number] for number in kept], part.outputs, part.block)


def outline(function: FuncOp, part: Part, name: str, replaced: dict[SSAValue, SSAValue]) -> None:
    """
    Make a function of `part` in front of `function`, and call it in the place of the part.

    `replaced` are values of parts before this one, by what they were in the host.
    """
    inputs = [value.type for value in part.inputs]
    results: list[Attribute] = [value.type for value in part.outputs]
    made = FuncOp(name, (inputs, results), Region(part.block))
    made.location = part.ops[-1].location
    module_block = function.parent
    assert module_block is not None
    module_block.insert_op_before(made, function)
    call = CallOp(name, [replaced.get(value, value) for value in part.inputs], results)
    call.location = part.ops[-1].location
    Rewriter.insert_op(call, InsertPoint.after(part.ops[-1]))
    for before, after in zip(part.outputs, call.results, strict=True):
        after.name_hint = before.name_hint
        before.replace_all_uses_with(after)
        replaced[before] = after
    for op in reversed(part.ops):
        if not any(result.first_use for result in op.results):
            Rewriter.erase_op(op)
