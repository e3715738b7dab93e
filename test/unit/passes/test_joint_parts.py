"""Parts of a program that was cut, which share a launch where they do not depend on each other."""

from collections.abc import Sequence

import pytest

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.passes.frontend.from_ir import Piece, read_piece
from mirage_mlir.passes.frontend.joint_launches import with_launches_of_parts
from mirage_mlir.passes.frontend.optimizer import Optimizer
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, PlannedKernel
from mirage_mlir.search.cost_model.joint_launch import common_of
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200

PRODUCTS = """
func.func @f(%x: tensor<16x4096xf16>, %a: tensor<4096x4096xf16>, %b: tensor<4096x1024xf16>,
    %c: tensor<4096x1024xf16>, %d: tensor<1024x64xf16>)
    -> (tensor<16x4096xf16>, tensor<16x1024xf16>, tensor<16x64xf16>) {
  %p = kernel.matmul %x, %a : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16>
  %q = kernel.matmul %x, %b : (tensor<16x4096xf16>, tensor<4096x1024xf16>) -> tensor<16x1024xf16>
  %r = kernel.matmul %x, %c : (tensor<16x4096xf16>, tensor<4096x1024xf16>) -> tensor<16x1024xf16>
  %s = kernel.matmul %r, %d : (tensor<16x1024xf16>, tensor<1024x64xf16>) -> tensor<16x64xf16>
  func.return %p, %q, %s : tensor<16x4096xf16>, tensor<16x1024xf16>, tensor<16x64xf16>
}
"""


@pytest.fixture(scope="module")
def optimizer() -> Optimizer:
    (function,) = functions(parse_program(PRODUCTS, "products.mlir"))
    return Optimizer(function, H200, Limits(), SearchReport())


@pytest.fixture(scope="module")
def alone(optimizer: Optimizer) -> Plan:
    """Each operator, as it is fastest by itself."""
    values = [op.results[0] for op in optimizer.function.body.block.ops if op.results]
    pieces = [optimizer.pieces.operator(piece_of(optimizer, value.name_hint)) for value in values]
    return Plan(optimizer.function, tuple(piece for piece in pieces if piece is not None))


def piece_of(optimizer: Optimizer, name: str | None) -> Piece:
    """The operator that makes a value, by its name."""
    for op in optimizer.function.body.block.ops:
        if op.results and op.results[0].name_hint == name:
            return read_piece([op], [*op.results])
    raise AssertionError(name)


def unlike(optimizer: Optimizer, part: PlannedKernel, most: float) -> Sequence[PlannedKernel]:
    """Kernels of a part with blocks of each kind."""
    return optimizer.pieces.unlike(piece_of(optimizer, part.results[0].name_hint), most)


def test_products_share_a_launch(optimizer: Optimizer, alone: Plan) -> None:
    """Three that read one input; the fourth reads a result and stays as it is."""
    found = with_launches_of_parts(
        alone, H200, lambda part, most: unlike(optimizer, part, most), lambda part: True
    )
    assert found.saved > 0
    assert found.seconds < alone.seconds
    *three, last = found.kernels
    blocks = {common_of(each.plan.kernels[0].graph, H200) for each in three if each.plan}
    assert len(blocks) == 1
    assert last is alone.kernels[-1]
    writer = FunctionWriter(found)
    writer.write()
    assert len(writer.launched) == 4


def test_what_is_not_proved_is_not_taken(optimizer: Optimizer, alone: Plan) -> None:
    found = with_launches_of_parts(
        alone, H200, lambda part, most: unlike(optimizer, part, most), lambda part: False
    )
    assert found == alone


def test_parts_without_offers_stay(alone: Plan) -> None:
    assert with_launches_of_parts(alone, H200, lambda part, most: [], lambda part: True) == alone


def test_constants_have_no_launch() -> None:
    """One of minus infinity is computed where it is read, and so in no launch of its own."""
    kind = "tensor<64xf32>"
    text = f"""
func.func @f(%x: {kind}) -> {kind} {{
  %z = kernel.constant {{value = 0xFF800000 : f32}} : {kind}
  %i = kernel.iota {{dim = 0 : i64}} : {kind}
  %m = kernel.max %i, %z : ({kind}, {kind}) -> {kind}
  %f = kernel.floor %m : ({kind}) -> {kind}
  %o = kernel.mul %f, %x : ({kind}, {kind}) -> {kind}
  func.return %o : {kind}
}}
"""
    (function,) = functions(parse_program(text, "constant.mlir"))
    assert [*Optimizer(function, H200, Limits(), SearchReport()).plans()]
