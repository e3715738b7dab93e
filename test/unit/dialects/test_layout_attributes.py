"""Layouts as attributes: what the text says is what the lowering had in mind."""

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from mirage_mlir.decisions.wgmma import wgmma_result
from mirage_mlir.dialects import load_dialect
from mirage_mlir.dialects.layout import RegistersAttr, SharedAttr
from mirage_mlir.layouts.banks import candidates
from mirage_mlir.layouts.layout import (
    RegisterLayout,
    blocked,
    mma_result,
    swizzled_tile,
)
from mirage_mlir.layouts.padding import shared_tile

powers = st.sampled_from([1, 2, 4])
sides = st.integers(1, 200)


def reread(attribute: Attribute) -> Attribute:
    """The attribute that its text stands for."""
    context, text = Context(), StringIO()
    context.load_dialect(load_dialect("threadblock"))
    Printer(text).print_attribute(attribute)
    return Parser(context, text.getvalue()).parse_attribute()


def check(layout: RegisterLayout) -> None:
    """The attribute of `layout`, and its text, have all of it."""
    attribute = RegistersAttr.of(layout)
    assert attribute.layout == layout
    assert reread(attribute) == attribute


@given(sides, sides, st.sampled_from([32, 96, 128, 384]), st.booleans(), st.booleans())
def test_blocked_layouts_are_read_back(
    rows: int, columns: int, threads: int, by_rows: bool, by_columns: bool
) -> None:
    layout = blocked((rows, columns), threads)
    check(layout)
    check(layout.transposed())
    check(layout.reduced(by_rows, by_columns))


@given(sides, sides, powers, powers, powers, st.booleans())
def test_results_of_matmuls_are_read_back(
    rows: int, columns: int, down: int, across: int, deep: int, swapped: bool
) -> None:
    check(mma_result(rows, columns, (down, across, deep)))
    check(wgmma_result(rows, columns, (down, across, deep), swapped=swapped))


@given(sides, sides, st.sampled_from([2, 4]), st.booleans(), st.sampled_from([1, 4]))
def test_shared_tiles_are_read_back(
    rows: int, columns: int, item: int, columns_first: bool, copies: int
) -> None:
    room = rows, columns
    for layout in (
        shared_tile(rows, columns, item, columns_first=columns_first, copies=copies),
        *candidates(room, item, columns_first=columns_first, copies=copies),
        *(swizzled_tile(rows, columns, item, each, copies=copies) for each in (32, 64, 128)),
    ):
        attribute = SharedAttr.of(layout)
        assert attribute.layout == layout
        assert reread(attribute) == attribute


def test_runs_keep_their_width() -> None:
    """Four runs of 8 neighbours are not a run of 32; nor are 7 single elements a run of 7."""
    runs = RegisterLayout(((0, 0),) * 5, ((4, 0, 8), (8, 0, 1)))
    assert "register = [[0, 1], [0, 2], [0, 4], 4:[0, 8]]" in str(RegistersAttr.of(runs))
    single = RegisterLayout(((0, 0),) * 5, ((7, 0, 1), (1, 0, 1)))
    assert "register = [1:[0, 1], 7:[0, 1]]" in str(RegistersAttr.of(single))
    assert [runs.vector, single.vector] == [8, 1]


def test_loops_of_one_register_say_nothing() -> None:
    """But inside of a run they keep accesses to one element."""
    lanes = ((0, 2),) * 5
    assert RegisterLayout(lanes, ((1, 64, 0), (2, 0, 1))).slots == ((2, 0, 1),)
    assert RegisterLayout(lanes, ((2, 8, 0), (1, 0, 1))).slots == ((2, 8, 0),)
    assert RegisterLayout(lanes, ((2, 1, 0), (1, 0, 1))).slots == ((2, 1, 0), (1, 0, 1))
