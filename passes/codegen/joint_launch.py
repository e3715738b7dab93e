"""
Functions of kernels that share a launch, as one: each block runs the body of one of them.

Blocks of the first kernel come first, those of a cluster side by side along x. Sources: horizontal
fusion of kernels, as in Li et al., "Automatic Horizontal Fusion
for GPU Kernels", CGO 2022.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.launch import KernelLaunch
from mirage_mlir.passes.codegen.cta_rasterization import BLOCK_IDS
from mirage_mlir.passes.codegen.emitter import Condition, Emitter, Index

Kernel = tuple[llvm.FuncOp, KernelLaunch]
"""A function, which is taken apart, and its launch."""


def joint_kernel(kernels: Sequence[Kernel]) -> Kernel:
    """
    One function for several, and its launch.

    They have as many threads, clusters of as many blocks, and start when the same grid has ended.
    """
    if len(kernels) == 1:
        return kernels[0]
    arguments = _Arguments(kernels)
    entry = Block(arg_types=arguments.types)
    emit = Emitter(entry)
    emit.location = kernels[0][0].location
    block = emit.result(nvvm.BlockIdXOp())
    first = 0
    for number, (function, launch) in enumerate(kernels):
        size = prod(launch.grid)
        with emit.when(_is_within(emit, block, first, size, last=number == len(kernels) - 1)):
            place = emit.sub(block, first) if first else block
            _inline(emit, function, launch, place, arguments.values(number, entry))
        first += size
    emit.insert(llvm.ReturnOp())
    function = llvm.FuncOp(
        kernels[0][0].sym_name,
        llvm.LLVMFunctionType(arguments.types),
        linkage=llvm.LinkageAttr("external"),
        body=Region(entry),
        other_props={"arg_attrs": ArrayAttr(arguments.attributes)},
        extra_attrs=_attributes([function for function, _ in kernels]),
    )
    function.location = kernels[0][0].location
    launch = replace(
        kernels[0][1],
        grid=(first, 1, 1),
        shared_bytes=max(launch.shared_bytes for _, launch in kernels),
        arguments=tuple(arguments.texts),
    )
    return function, launch


class _Arguments:
    """The arguments of all functions, those that are the same once; tensor maps behind pointers."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        described = [
            list(zip(launch.arguments, _notes(function), function.body.block.args, strict=True))
            for function, launch in kernels
        ]
        ordered = sorted(
            (argument for each in described for argument in each),
            key=lambda argument: argument[0].startswith("map:"),
        )
        places: dict[tuple[str, DictionaryAttr], int] = {}
        self.types: list[Attribute] = []
        for text, known, value in ordered:
            if places.setdefault((text, known), len(places)) == len(self.types):
                self.types.append(value.type)
        self.texts = [text for text, _ in places]
        self.attributes = [known for _, known in places]
        self._places = [[places[text, known] for text, known, _ in each] for each in described]

    def values(self, number: int, entry: Block) -> list[SSAValue]:
        """What the arguments of function `number` are in the joint one."""
        return [entry.args[place] for place in self._places[number]]


def _notes(function: llvm.FuncOp) -> list[DictionaryAttr]:
    """What is known of each argument."""
    assert function.arg_attrs is not None
    return [*function.arg_attrs]


def _is_within(emit: Emitter, block: SSAValue, first: int, size: int, *, last: bool) -> Condition:
    """Whether a block is one of a kernel, of which the launch has those from `first` on."""
    behind = emit.negate(emit.less(block, first)) if first else True
    return behind if last else emit.both(behind, emit.less(block, first + size))


def _inline(
    emit: Emitter, function: llvm.FuncOp, launch: KernelLaunch, place: Index, given: list[SSAValue]
) -> None:
    """Move the body of a function to where `emit` is; `place` is the block's number in it."""
    body = function.body.block
    indices = _block_indices(emit, place, launch.grid, _cluster(function))
    for argument, value in zip(body.args, given, strict=True):
        argument.replace_all_uses_with(value)
    for op in [*body.walk()]:
        if isinstance(op, BLOCK_IDS):
            op.res.replace_all_uses_with(emit.i32(indices[BLOCK_IDS.index(type(op))]))
            op.detach()
            op.erase()
    for op in [*body.ops]:
        op.detach()
        if not isinstance(op, llvm.ReturnOp):
            emit.builder.insert(op)


def _block_indices(
    emit: Emitter, place: Index, grid: Sequence[int], cluster: Sequence[int]
) -> list[Index]:
    """The indices along x, y and z of a block in a grid whose clusters are numbered one by one."""
    rank, number = emit.rem(place, prod(cluster)), emit.div(place, prod(cluster))
    indices: list[Index] = []
    for blocks, size in zip(grid, cluster, strict=True):
        clusters = blocks // size
        inside, outside = emit.rem(rank, size), emit.rem(number, clusters)
        indices.append(emit.add(emit.mul(outside, size), inside))
        rank, number = emit.div(rank, size), emit.div(number, clusters)
    return indices


def _cluster(function: llvm.FuncOp) -> tuple[int, ...]:
    """The blocks of a cluster along x, y and z."""
    sizes = function.attributes.get("nvvm.cluster_dim")
    return tuple(sizes.get_values()) if isinstance(sizes, DenseArrayBase) else (1, 1, 1)


def _attributes(functions: Sequence[llvm.FuncOp]) -> dict[str, Attribute]:
    """What the assembler is told: enough registers for each, clusters along x."""
    attributes = dict(functions[0].attributes)
    limits = [function.attributes.get("nvvm.maxnreg") for function in functions]
    known = [limit.value.data for limit in limits if isinstance(limit, IntegerAttr)]
    attributes.pop("nvvm.maxnreg", None)
    attributes.pop("nvvm.minctasm", None)
    if len(known) == len(functions):
        attributes["nvvm.maxnreg"] = IntegerAttr(max(known), i32)
    elif known or any("nvvm.minctasm" in function.attributes for function in functions):
        attributes["nvvm.minctasm"] = IntegerAttr(1, i32)
    if (blocks := prod(_cluster(functions[0]))) > 1:
        attributes["nvvm.cluster_dim"] = DenseArrayBase.from_list(i32, [blocks, 1, 1])
    return attributes
