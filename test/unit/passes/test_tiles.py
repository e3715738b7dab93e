"""Positions for tiles over named axes."""

import pytest
from xdsl.dialects.builtin import TensorType, f16, f32
from xdsl.ir import Block

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.passes.frontend.tile_positions import Tile, TileBuilder
from mirage_mlir.search.program.positions import Positions, aligned
from mirage_mlir.search.program.program import Axes

EXTENTS = {"b": 1, "i": 8, "j": 16, "k": 32}


@pytest.fixture
def builder() -> TileBuilder:
    return TileBuilder(EXTENTS, Positions(("b", "i", "j", "k"), frozenset("b")))


def tile(builder: TileBuilder, *axes: str | None) -> Tile:
    """A loaded tile over `axes`."""
    shape = builder.shape(axes)
    source = Block(arg_types=[TensorType(f16, shape)]).args[0]
    load = threadblock.LoadOp(source, (-1,), (), TileType(shape, f16))
    return Tile(load.result, axes)


def names(builder: TileBuilder) -> list[str]:
    return [op.name.removeprefix("threadblock.") for op in builder.operations]


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (("i", "j"), ("j",), ("i", "j")),
        (("i", None), ("i", "j"), ("i", "j")),
        (("i",), ("j",), None),
        (("i", "j"), ("j", "i"), None),
        # One axis may not be at two places of the result.
        (("i", None), ("i",), None),
        ((), ("i",), ("i",)),
    ],
)
def test_aligned(a: Axes, b: Axes, result: Axes | None) -> None:
    assert aligned(a, b) == result
    assert aligned(b, a) == result


def test_nothing_to_do(builder: TileBuilder) -> None:
    a, b, axes = builder.together(tile(builder, "i", "j"), tile(builder, "j"))
    assert axes == ("i", "j")
    assert (a.axes, b.axes) == (("i", "j"), ("j",))
    assert not builder.operations


def test_transposed_operand(builder: TileBuilder) -> None:
    _, b, axes = builder.together(tile(builder, "i", "j"), tile(builder, "j", "i"))
    assert axes == b.axes == ("i", "j")
    assert names(builder) == ["transpose"]
    assert threadblock.shape_of(b.value) == (8, 16)


def test_outer_sum(builder: TileBuilder) -> None:
    """A column out of a vector takes a dimension in front and a transpose."""
    a, b, axes = builder.together(tile(builder, "i"), tile(builder, "j"))
    assert axes == ("i", "j")
    assert threadblock.shape_of(a.value) == (8, 1)
    assert aligned(a.axes, b.axes) == axes
    assert names(builder)[:2] == ["broadcast", "transpose"]


def test_dimensions_in_front_come_last(builder: TileBuilder) -> None:
    """So that a loaded tile is transposed, which is another view of it and no copy."""
    made = builder.arrange(tile(builder, "i", "j"), (None, "j", "i"))
    assert names(builder) == ["transpose", "broadcast"]
    assert threadblock.shape_of(made.value) == (1, 16, 8)


def test_broadcast(builder: TileBuilder) -> None:
    wide = builder.broadcast(tile(builder, "j"), ("i", "j"))
    assert wide.axes == ("i", "j")
    assert threadblock.shape_of(wide.value) == (8, 16)


def test_cast(builder: TileBuilder) -> None:
    loaded = tile(builder, "i")
    assert builder.cast(loaded, f16) is loaded
    assert builder.cast(loaded, f32).element_type == f32
    assert names(builder) == ["cast"]


@pytest.mark.parametrize(
    ("a", "b", "operations"),
    [
        (("i", "k"), ("k", "j"), []),
        (("k", "j"), ("i", "k"), []),
        (("j", "k"), ("k", "i"), []),
        (("k", "i"), ("k", "j"), ["transpose"]),
        (("i", "k"), ("j", "k"), ["transpose"]),
        (("b", "i", "k"), ("k", "j"), []),
        (("b", "i", "k"), ("b", "k", "j"), []),
        (("k",), ("k", "j"), ["broadcast"]),
        (("i", "b", "k"), ("b", "k", "j"), ["transpose"]),
    ],
)
def test_matrices(builder: TileBuilder, a: Axes, b: Axes, operations: list[str]) -> None:
    """Rows, then columns; transposes only where neither order of the operands is natural."""
    left, right, axes = builder.matrices(tile(builder, *a), tile(builder, *b), "k")
    assert left.axes[-1] == right.axes[-2] == "k"
    assert axes[-2:] == (left.axes[-2], right.axes[-1])
    assert names(builder) == operations
    product = threadblock.MatmulOp(left.value, right.value)
    assert threadblock.shape_of(product.result) == builder.shape(axes)
