"""Rules of operations on numbers, vectors and structs."""

from dataclasses import replace

import numpy as np
from xdsl.dialects import arith, llvm, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, bf16
from xdsl.ir import Operation

from mirage_mlir.interpreters.gpu_simulator.encoding import (
    DTYPES,
    POISON,
    Array,
    byte_count,
    decode,
    encode,
    is_known,
    rounded,
)
from mirage_mlir.interpreters.gpu_simulator.faults import unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules
from mirage_mlir.interpreters.gpu_simulator.scalars import FUNCTIONS, function_of
from mirage_mlir.interpreters.gpu_simulator.values import Pending, Value


def require_known(state: Flow, op: Operation) -> None:
    """Operands and results must be of types that lowered kernels compute with."""
    if op in state.prepared.known:
        return
    for value in (*op.operands, *op.results):
        if not is_known(value.type):
            raise unsupported(op, f"has a value of type {value.type}, which no lowered kernel has")
    state.prepared.known.add(op)


def run_function(state: Flow, op: Operation) -> None:
    """A function of numbers, in every thread."""
    require_known(state, op)
    function = function_of(op)
    kind = op.results[0].type
    result = function(*(state.array(value) for value in op.operands))
    exact = result.dtype == DTYPES[kind] and kind != bf16
    state.values[op.results[0]] = result if exact else rounded(result, kind)


def run_rounding(state: Flow, op: Operation) -> None:
    """The same numbers in another float type."""
    require_known(state, op)
    state.values[op.results[0]] = rounded(state.array(op.operands[0]), op.results[0].type)


def run_constant(state: Flow, op: Operation) -> None:
    """One number, for all threads."""
    assert isinstance(op, arith.ConstantOp)
    require_known(state, op)
    if not isinstance(op.value, IntegerAttr | FloatAttr):
        raise unsupported(op, "is no number")
    number = np.full(state.size, op.value.value.data)
    state.values[op.result] = rounded(number, op.result.type)


def run_undefined(state: Flow, op: Operation) -> None:
    """Poison."""
    assert isinstance(op, llvm.UndefOp)
    state.values[op.res] = filled(state, op, POISON)


def run_bitcast(state: Flow, op: Operation) -> None:
    """The same bytes."""
    require_known(state, op)
    source, result = op.operands[0], op.results[0]
    state.values[result] = decode(encode(state.array(source), source.type), result.type)


def position_of(state: Flow, op: vector.ExtractOp | vector.InsertOp) -> int:
    """The element that is read or written."""
    require_known(state, op)
    position = op.static_position.get_values()
    if op.dynamic_position or len(position) != 1:
        raise unsupported(op, "has a position that is not one constant")
    return int(position[0])


def run_extract(state: Flow, op: Operation) -> None:
    """An element of a vector."""
    assert isinstance(op, vector.ExtractOp)
    state.values[op.result] = state.array(op.vector)[:, position_of(state, op)]


def run_insert(state: Flow, op: Operation) -> None:
    """A vector with another element."""
    assert isinstance(op, vector.InsertOp)
    result = state.array(op.dest).copy()
    result[:, position_of(state, op)] = state.array(op.source)
    state.values[op.result] = result


def run_extract_value(state: Flow, op: Operation) -> None:
    """A member of a struct."""
    assert isinstance(op, llvm.ExtractValueOp)
    members, (position,) = state.values[op.container], op.position.get_values()
    if isinstance(members, Pending):
        # To name a register is not to read it.
        assert isinstance(members.value, tuple)
        state.values[op.res] = replace(members, value=members.value[position])
        return
    assert isinstance(members, tuple)
    state.values[op.res] = members[position]


def run_insert_value(state: Flow, op: Operation) -> None:
    """A struct with another member."""
    assert isinstance(op, llvm.InsertValueOp)
    members, (position,) = state.finished(op.container), op.position.get_values()
    assert isinstance(members, tuple)
    state.values[op.res] = (
        *members[:position],
        state.array(op.value),
        *members[position + 1 :],
    )


def run_zero(state: Flow, op: Operation) -> None:
    """Zero, or a struct of zeros."""
    assert isinstance(op, llvm.ZeroOp)
    state.values[op.res] = filled(state, op, 0)


def filled(state: Flow, op: Operation, byte: int) -> Value:
    """A value of the type of the operation's result, or a struct, of these bytes only."""
    kind = op.results[0].type
    members = kind.types.data if isinstance(kind, llvm.LLVMStructType) else [kind]
    values: list[Array] = []
    for member in members:
        if not is_known(member):
            raise unsupported(op, f"has a value of type {member}, which no lowered kernel has")
        data = np.full((state.size, byte_count(member)), byte, np.uint8)
        values.append(decode(data, member))
    return tuple(values) if isinstance(kind, llvm.LLVMStructType) else values[0]


RULES: Rules = {
    **dict.fromkeys((*FUNCTIONS, arith.CmpfOp, arith.CmpiOp, arith.DivfOp), run_function),
    arith.ConstantOp: run_constant,
    arith.ExtFOp: run_rounding,
    arith.TruncFOp: run_rounding,
    llvm.BitcastOp: run_bitcast,
    llvm.ExtractValueOp: run_extract_value,
    llvm.InsertValueOp: run_insert_value,
    llvm.UndefOp: run_undefined,
    llvm.ZeroOp: run_zero,
    vector.ExtractOp: run_extract,
    vector.InsertOp: run_insert,
}
