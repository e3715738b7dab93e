"""Operations of the tensor dialect, and constants, in the kernel dialect."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from mirage_mlir.dialects import stablehlo_rearrangements as moves
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.hints import isa
from mirage_mlir.passes.linalg.builder import Known, LinalgBuilder, read, static_type, statics
from mirage_mlir.passes.linalg.insertions import insert_slice
from mirage_mlir.passes.stablehlo import rearrangements
from mirage_mlir.passes.stablehlo.rearrangements import joined, part
from mirage_mlir.passes.stablehlo.tensors import Tensor

Rule: TypeAlias = Callable[[LinalgBuilder, Operation, Known], Tensor | None]

_RESHAPE = rearrangements.RULES["stablehlo.reshape"]
_PAD = rearrangements.RULES["stablehlo.pad"]


def _typed(emit: LinalgBuilder, op: Operation) -> None:
    kind = static_type(emit, op.results[0].type)
    emit.typed(kind.get_shape(), kind.element_type)


def _expect(emit: LinalgBuilder, op: Operation, sizes: Sequence[int]) -> None:
    """Fail where the result of `op` has other sizes."""
    found = static_type(emit, op.results[0].type).get_shape()
    if found != sizes:
        emit.fail(f"has a result of sizes {list(found)}, where it makes {list(sizes)}")


def _reshaped(emit: LinalgBuilder, op: Operation, tensor: Tensor) -> Tensor:
    _typed(emit, op)
    return _RESHAPE(emit, emit.op, [tensor])


def _reshape(emit: LinalgBuilder, op: Operation, known: Known) -> Tensor:
    return _reshaped(emit, op, read(emit, known, op.operands[0]))


def _empty(emit: LinalgBuilder, op: Operation, known: Known) -> None:
    static_type(emit, op.results[0].type)


def _extract_slice(emit: LinalgBuilder, op: Operation, known: Known) -> Tensor:
    tensor = read(emit, known, op.operands[0])
    names = ("static_offsets", "static_sizes", "static_strides")
    offsets, sizes, strides = (statics(emit, op, name) for name in names)
    emit.typed(sizes, tensor.element)
    if any(stride < 1 for stride in strides):
        emit.fail("has strides that are not positive")
    return _reshaped(emit, op, part(emit, tensor, offsets, sizes, strides))


def _pad(emit: LinalgBuilder, op: Operation, known: Known) -> Tensor:
    tensor = read(emit, known, op.operands[0])
    low, high = (statics(emit, op, name) for name in ("static_low", "static_high"))
    last = op.regions[0].block.last_op
    assert last is not None
    (value,) = last.operands
    if value not in known:
        emit.fail("pads with what is computed for each element")
    padding = read(emit, known, value)
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    amounts = zip(names, (low, high, [0] * len(low)), strict=True)
    _typed(emit, op)
    sizes = tuple(map(sum, zip(low, tensor.shape, high, strict=True)))
    _expect(emit, op, sizes)
    standing = moves.PadOp.create(
        properties={name: i64_array(each) for name, each in amounts},
        result_types=[emit.op.results[0].type],
    )
    return _PAD(emit, standing, [tensor, padding])


def _concat(emit: LinalgBuilder, op: Operation, known: Known) -> Tensor:
    tensors = [read(emit, known, value) for value in op.operands]
    dim = op.properties["dim"]
    assert isa(dim, IntegerAttr)
    _typed(emit, op)
    sizes = [*tensors[0].shape]
    sizes[dim.value.data] = sum(each.shape[dim.value.data] for each in tensors)
    _expect(emit, op, tuple(sizes))
    return joined(emit, tensors, dim.value.data)


def _splat(emit: LinalgBuilder, op: Operation, known: Known) -> Tensor:
    scalar = read(emit, known, op.operands[0])
    if scalar.number is None:
        emit.fail("repeats a scalar that is no constant")
    return scalar.moved(static_type(emit, op.results[0].type).get_shape(), None)


def _cast(emit: LinalgBuilder, op: Operation, known: Known) -> Tensor:
    static_type(emit, op.results[0].type)
    return read(emit, known, op.operands[0])


RULES: Mapping[str, Rule] = {
    "tensor.cast": _cast,
    "tensor.collapse_shape": _reshape,
    "tensor.concat": _concat,
    "tensor.empty": _empty,
    "tensor.expand_shape": _reshape,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": insert_slice,
    "tensor.pad": _pad,
    "tensor.splat": _splat,
}
"""By the name of the operation."""

UNCHANGED: Sequence[str] = ("arith.constant", "tensor.empty", "linalg.fill", "tensor.splat")
"""What is made anew wherever it is read, rather than passed on."""
