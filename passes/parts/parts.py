"""Parts of a host's function as functions of their own, which the host calls."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TensorType, UnregisteredOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from mirage_mlir.constant_inputs import constant_mark, is_constant_input
from mirage_mlir.diagnostics import (
    UnsupportedOperation,
    name_of,
    remark,
    remark_of,
)
from mirage_mlir.float_formats import COMPILED
from mirage_mlir.hints import isa
from mirage_mlir.passes.linalg.conversion import Conversion
from mirage_mlir.passes.stablehlo.tensors import given_as

MOVES = ("constant", "reshape", "broadcast", "transpose", "slice", "concat", "cast")
"""Operators that compute nothing."""

HOSTS = (*MOVES, "compare")
"""What has no other operators stays with the host: it would have to read the masks anyway."""


HostCode = Callable[[SSAValue, TensorType[Attribute]], Sequence[Operation]]
"""Operations of which the last one makes a tensor of a type of another one."""


@dataclass(frozen=True)
class Language:
    """Dialects whose operations are converted."""

    conversion: Callable[[Block], Conversion]
    is_candidate: Callable[[Operation], bool]
    """Whether an operation may become operators, as far as its name says."""
    unchanged: Sequence[str]
    """Operations that are made anew wherever they are read, rather than passed on."""
    as_numbers: HostCode
    """Operations of the host of which the last makes zeros and ones, of a type, of booleans."""
    as_booleans: HostCode
    """The opposite."""


@dataclass
class Refusals:
    """The operations that stay with the host, and why."""

    reasons: dict[Operation, UnsupportedOperation] = field(
        default_factory=dict[Operation, UnsupportedOperation]
    )

    def note(self, op: Operation, error: UnsupportedOperation) -> None:
        """`op` stays."""
        self.reasons[op] = error


@dataclass(frozen=True)
class OutlinedPart:
    """Operations that follow one another in a block, and the function that they become."""

    ops: Sequence[Operation]
    inputs: Sequence[SSAValue]
    outputs: Sequence[SSAValue]
    block: Block


def convert_whole(function: FuncOp, language: Language) -> None:
    """
    Give `function` a body of kernel operators.

    Raises:
        UnsupportedOperation: there is one that cannot be converted.
    """
    if len(function.body.blocks) > 1:
        language.conversion(Block()).at(function).fail("has several blocks")
    old = function.body.block
    block = Block(arg_types=[given_as(kind) or kind for kind in old.arg_types])
    for before, after in zip(old.args, block.args, strict=True):
        after.name_hint, after.location = before.name_hint, before.location
    conversion = language.conversion(block)
    for value, argument in zip(old.args, block.args, strict=True):
        if given_as(value.type) is not None:
            conversion.know(value, argument)
    for op in old.ops:
        if isinstance(op, ReturnOp):
            conversion.finish(op, op.operands)
        else:
            conversion.convert(op)
    _require_floats(function, conversion)
    function.detach_region(function.body)
    function.add_region(Region(block))


def _require_floats(function: FuncOp, conversion: Conversion) -> None:
    """Fail where a function takes or gives booleans, of which a caller has no numbers."""
    block = function.body.block
    last = block.last_op
    assert last is not None
    for number, value in enumerate(last.operands):
        if given_as(value.type) != value.type:
            conversion.at(last).fail(
                f"gives {value.type} as result {number}; kernels give {COMPILED}"
            )
    for arg in block.args:
        if given_as(arg.type) != arg.type:
            conversion.at(function).fail(
                f"takes {arg.type} as argument {arg.index}; kernels take tensors of floats"
            )


def blocks_of(region: Region, language: Language) -> Iterator[Block]:
    """
    The blocks in which there may be parts: not those of what may become operators.

    Nor those of an operation that nobody knows: its regions may be no place for calls, as the
    comparator of a sort, and it may be a table of symbols of its own.
    """
    for block in region.blocks:
        yield block
        for op in block.ops:
            if not language.is_candidate(op) and not isinstance(op, UnregisteredOp):
                for inner in op.regions:
                    yield from blocks_of(inner, language)


def parts_of(block: Block, refusals: Refusals, language: Language) -> list[OutlinedPart]:
    """What can be converted of a block; what cannot is noted."""
    parts: list[OutlinedPart] = []
    run: list[Operation] = []
    for op in [*block.ops, None]:
        if op is not None and language.is_candidate(op) and op not in refusals.reasons:
            run.append(op)
            continue
        parts += _parts_of_run(run, refusals, language)
        run = []
    return parts


def _parts_of_run(
    run: Sequence[Operation], refusals: Refusals, language: Language
) -> list[OutlinedPart]:
    if not run:
        return []
    found = _try(run, refusals, language)
    if isinstance(found, OutlinedPart):
        return [found] if _computes(found.block) else []
    at = run.index(found)
    return [
        *_parts_of_run(run[:at], refusals, language),
        *_parts_of_run(run[at + 1 :], refusals, language),
    ]


def _computes(block: Block) -> bool:
    names = (op.name for op in block.ops if not isinstance(op, ReturnOp))
    return any(name.partition(".")[2] not in HOSTS for name in names)


def _try(
    run: Sequence[Operation], refusals: Refusals, language: Language
) -> OutlinedPart | Operation:
    """The part that a run becomes, or its first operation that is in the way."""
    block = Block()
    conversion = language.conversion(block)
    inputs: list[SSAValue] = []
    inside = {*run}
    for op in run:
        try:
            for value in _read(op):
                _provide(conversion, inputs, value, language.unchanged)
            conversion.convert(op)
        except UnsupportedOperation as error:
            refusals.note(op, error)
            return op
    outputs = [value for op in run for value in op.results if _leaves(op, value, inside, language)]
    for value in outputs:
        owner = value.owner
        assert isinstance(owner, Operation)
        try:
            conversion.check_given(owner, value, owner.results.index(value))
        except UnsupportedOperation as error:
            refusals.note(owner, error)
            return owner
    conversion.finish(run[-1], outputs)
    return _without_unused(OutlinedPart(run, inputs, outputs, block))


def _read(op: Operation) -> Iterator[SSAValue]:
    """The values that an operation reads, also from within its regions."""
    own = {*op.walk()}
    for each in op.walk():
        for value in each.operands:
            owner = value.owner
            around = owner.parent_op() if isinstance(owner, Block) else owner
            if around not in own:
                yield value


def _leaves(op: Operation, value: SSAValue, inside: set[Operation], language: Language) -> bool:
    """Whether a value is read outside of the run, and is no constant, of which the host has one."""
    if name_of(op) in language.unchanged:
        return False
    return any(not _is_within(use.operation, inside) for use in value.uses)


def _is_within(op: Operation | None, ops: set[Operation]) -> bool:
    while op is not None:
        if op in ops:
            return True
        op = op.parent_op()
    return False


def _provide(
    conversion: Conversion, inputs: list[SSAValue], value: SSAValue, unchanged: Sequence[str]
) -> None:
    """Make `value`, which the host computes, known: anew, or as an argument."""
    if value in conversion.known:
        return
    owner = value.owner
    if isinstance(owner, Operation) and name_of(owner) in unchanged:
        try:
            for each in _read(owner):
                _provide(conversion, inputs, each, unchanged)
            conversion.convert(owner)
        except UnsupportedOperation:
            pass
        else:
            return
    if (kind := given_as(value.type)) is not None:
        argument = conversion.block.insert_arg(kind, len(conversion.block.args))
        argument.name_hint = value.name_hint
        conversion.know(value, argument)
        inputs.append(value)


def _without_unused(part: OutlinedPart) -> OutlinedPart:
    """The part without the arguments that only operators read which are not needed."""
    kept = [number for number, arg in enumerate(part.block.args) if arg.first_use is not None]
    for arg in reversed(part.block.args):
        if arg.first_use is None:
            part.block.erase_arg(arg)
    return OutlinedPart(
        part.ops, [part.inputs[number] for number in kept], part.outputs, part.block
    )


def _notes_of(value: SSAValue, function: FuncOp) -> DictionaryAttr:
    """What the host says of an argument that it passes on as it is: that it never changes."""
    if (
        isinstance(value, BlockArgument)
        and given_as(value.type) == value.type
        and value.block is function.body.block
        and is_constant_input(function, value.index)
    ):
        return constant_mark()
    return DictionaryAttr({})


def convert(function: FuncOp, language: Language, names: set[str]) -> None:
    """
    Make `function` one of kernel operators, or let it call functions that its parts become.

    What stays is told as a remark. `names` are those of all functions, to which new ones are added.
    """
    try:
        convert_whole(function, language)
        return
    except UnsupportedOperation as error:
        first = error
    refusals, replaced, count = Refusals(), dict[SSAValue, SSAValue](), 0
    for block in [*blocks_of(function.body, language)]:
        for part in parts_of(block, refusals, language):
            outline(function, part, _new_name(function, count, names), replaced, language)
            count += 1
    made = "1 part of it became a function" if count == 1 else f"{count} parts became functions"
    result = f"{made} that it calls" if count else "nothing of it was converted"
    remark(function, f"@{function.sym_name.data} stays a function of the host: {result}")
    remark_of(_in_the_way(function, first, refusals, language))


def _in_the_way(
    function: FuncOp, first: UnsupportedOperation, refusals: Refusals, language: Language
) -> UnsupportedOperation:
    """The first reason that is none of a constant, if there is one: kernels get those as inputs."""
    said = first.diagnostics[0].message
    if not said.startswith(tuple(f"'{name}' op" for name in language.unchanged)):
        return first
    for op in (op for block in function.body.blocks for op in block.ops):
        if name_of(op) in language.unchanged or isinstance(op, CallOp | ReturnOp):
            continue
        if op in refusals.reasons:
            return refusals.reasons[op]
        if not language.is_candidate(op):
            try:
                language.conversion(Block()).convert(op)
            except UnsupportedOperation as error:
                return error
    return first


def _new_name(function: FuncOp, number: int, names: set[str]) -> str:
    """A name that no other function has."""
    base = f"{function.sym_name.data}_part_{number}"
    name, again = base, 0
    while name in names:
        again += 1
        name = f"{base}_{again}"
    names.add(name)
    return name


def outline(
    function: FuncOp,
    part: OutlinedPart,
    name: str,
    replaced: dict[SSAValue, SSAValue],
    language: Language,
) -> None:
    """
    Make a function of `part` in front of `function`, and call it in the place of the part.

    `replaced` are values of parts before this one, by what they were in the host.
    """
    last, module_block = part.block.last_op, function.parent
    assert last is not None
    assert module_block is not None
    inputs = [arg.type for arg in part.block.args]
    results = [value.type for value in last.operands]
    notes = ArrayAttr([_notes_of(value, function) for value in part.inputs])
    made = FuncOp(name, (inputs, results), Region(part.block), arg_attrs=notes)
    made.location = part.ops[-1].location
    module_block.insert_op_before(made, function)
    ops: list[Operation] = []
    given = [
        _as_type(ops, replaced.get(value, value), kind, language.as_numbers)
        for value, kind in zip(part.inputs, inputs, strict=True)
    ]
    call = CallOp(name, given, results)
    ops.append(call)
    got = [
        _as_type(ops, after, before.type, language.as_booleans)
        for before, after in zip(part.outputs, call.results, strict=True)
    ]
    for op in ops:
        op.location = part.ops[-1].location
    Rewriter.insert_op(ops, InsertPoint.after(part.ops[-1]))
    for before, after in zip(part.outputs, got, strict=True):
        after.name_hint = before.name_hint
        before.replace_all_uses_with(after)
        replaced[before] = after
    for op in reversed(part.ops):
        if not any(result.first_use for result in op.results):
            Rewriter.erase_op(op)


def _as_type(ops: list[Operation], value: SSAValue, kind: Attribute, convert: HostCode) -> SSAValue:
    """`value`, or where it has another type what operations make of it, which are appended."""
    if value.type == kind:
        return value
    assert isa(kind, TensorType[Attribute])
    ops += convert(value, kind)
    return ops[-1].results[0]
