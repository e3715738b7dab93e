"""Single edits of the hand-written uGraphs: each that changes the function is rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.interpreters import Verdict, check_equivalence
from mirage_mlir.interpreters.operators import integers, mnemonic

Parse = Callable[[str], list[FuncOp]]
Edit = Callable[[Operation], None]

UGRAPHS = sorted((Path(__file__).parents[2] / "ugraphs").glob("*.mlir"))

EXCHANGES: dict[type[Operation], type[threadblock.UnaryOp | threadblock.BinaryOp]] = {
    threadblock.AddOp: threadblock.MulOp,
    threadblock.DivOp: threadblock.MulOp,
    threadblock.ExpOp: threadblock.SquareOp,
    threadblock.MaxOp: threadblock.AddOp,
    threadblock.MulOp: threadblock.AddOp,
    threadblock.SiluOp: threadblock.SigmoidOp,
    threadblock.SqrtOp: threadblock.RsqrtOp,
    threadblock.SquareOp: threadblock.ReluOp,
    threadblock.SubOp: threadblock.AddOp,
}
"""Operators that take the place of another one."""

MOST = 15
"""Mutants of one graph: half a minute for all of them would be too long here."""

EQUIVALENT = {f"swap the operands of {name}" for name in ("add", "mul", "max")}
"""Edits that change nothing."""


def swap(op: Operation) -> None:
    op.operands[0], op.operands[1] = op.operands[1], op.operands[0]


def load_argument(number: int) -> Edit:
    def edit(op: Operation) -> None:
        source = op.operands[0]
        assert isinstance(source, BlockArgument)
        op.operands[0] = source.block.args[number]

    return edit


def set_array(name: str, values: list[int]) -> Edit:
    def edit(op: Operation) -> None:
        op.properties[name] = i64_array(values)

    return edit


def multiply_scalar(name: str, factor: float) -> Edit:
    def edit(op: Operation) -> None:
        old = op.properties[name]
        assert isa(old, FloatAttr)
        op.properties[name] = FloatAttr(old.value.data * factor, f32)

    return edit


def exchange(kind: type[threadblock.UnaryOp | threadblock.BinaryOp]) -> Edit:
    def edit(op: Operation) -> None:
        replace(op, kind.create(operands=op.operands, result_types=[op.results[0].type]))

    return edit


def replace(op: Operation, by: Operation) -> None:
    block = op.parent
    assert block is not None
    block.insert_op_before(by, op)
    op.results[0].replace_all_uses_with(by.results[0])
    block.erase_op(op)


def drop(op: Operation) -> None:
    """Leave out an operator whose result has its operand's shape."""
    block = op.parent
    assert block is not None
    op.results[0].replace_all_uses_with(op.operands[0])
    block.erase_op(op)


def edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    match op:
        case threadblock.LoadOp():
            yield from load_edits(op)
        case threadblock.StoreOp():
            yield from map_edits(op, "grid_map", len(threadblock.shape_of(op.tile)))
        case _:
            yield from operator_edits(op)


def operator_edits(op: Operation) -> Iterator[tuple[str, Edit]]:
    name = mnemonic(op)
    types = [operand.type for operand in op.operands]
    if len(types) == 2 and types[0] == types[1]:
        yield f"swap the operands of {name}", swap
    if (kind := EXCHANGES.get(type(op))) is not None:
        yield f"make {name} a {kind.name}", exchange(kind)
    for scalar in ("value", "factor", "exponent"):
        if scalar in op.properties:
            yield f"another {scalar} of {name}", multiply_scalar(scalar, 1.25)
    if reduced := integers(op, "dims"):
        for dim in range(len(threadblock.shape_of(op.operands[0]))):
            if (dim,) != reduced:
                yield f"{name} dim {dim}", set_array("dims", [dim])
    if types[:1] == [op.results[0].type] and not isinstance(op, threadblock.CastOp):
        yield f"drop {name}", drop


def load_edits(op: threadblock.LoadOp) -> Iterator[tuple[str, Edit]]:
    assert isinstance(op.source, BlockArgument)
    for number, other in enumerate(op.source.block.args):
        if other is not op.source and other.type == op.source.type:
            yield f"load argument {number}", load_argument(number)
    rank = len(threadblock.shape_of(op.result))
    yield from map_edits(op, "grid_map", rank)
    yield from map_edits(op, "loop_map", rank)


def map_edits(op: Operation, name: str, rank: int) -> Iterator[tuple[str, Edit]]:
    old = list(integers(op, name))
    for axis, dim in enumerate(old):
        for other in range(-1, rank):
            if other != dim:
                new = [*old[:axis], other, *old[axis + 1 :]]
                yield f"{name} {new} of {mnemonic(op)}", set_array(name, new)


def mutants(function: FuncOp) -> Iterator[tuple[str, FuncOp]]:
    """All valid programs that one edit makes."""
    for number, op in enumerate(function.walk()):
        if op.dialect_name() != "threadblock":
            continue
        for description, edit in edits(op):
            mutant = function.clone()
            edit(list(mutant.walk())[number])
            try:
                mutant.verify()
            except VerifyException:
                continue
            yield description, mutant


@pytest.mark.parametrize("path", UGRAPHS, ids=lambda path: path.stem)
def test_mutants_are_rejected(parse: Parse, path: Path) -> None:
    reference, candidate, *_ = parse(path.read_text())
    assert check_equivalence(reference, candidate).verdict is Verdict.EQUAL
    accepted: list[str] = []
    rejected = 0
    found = list(mutants(candidate))
    for description, mutant in found[:: len(found) // MOST + 1]:
        if check_equivalence(reference, mutant, tests=1).verdict is Verdict.EQUAL:
            accepted.append(description)
        else:
            rejected += 1
    assert rejected > 0
    assert set(accepted) <= EQUIVALENT
