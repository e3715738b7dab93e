"""Merges operations that compute the same (common subexpression elimination)."""

from collections.abc import Mapping

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter


def left_of(value: SSAValue, merged: Mapping[Operation, Operation]) -> SSAValue:
    """The value that replaces a merged one."""
    if isinstance(value, OpResult) and value.op in merged:
        return merged[value.op].results[value.index]
    return value


def merge_equal(block: Block) -> dict[Operation, Operation]:
    """Merges equal operations; returns for each the one that is left."""
    known: dict[object, Operation] = {}
    merged: dict[Operation, Operation] = {}
    for op in list(block.ops):
        if op.regions or isinstance(op, ReturnOp):
            continue
        types = tuple(result.type for result in op.results)
        key = op.name, tuple(op.operands), tuple(sorted_items(op)), types
        first = known.setdefault(key, op)
        if first is not op:
            merged[op] = first
            Rewriter.replace_op(op, [], first.results)
    return merged


def sorted_items(op: Operation) -> list[tuple[str, object]]:
    """Properties and attributes of an operation, by name."""
    return sorted({**op.properties, **op.attributes}.items(), key=lambda item: item[0])
