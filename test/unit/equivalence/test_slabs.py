"""Slabs stand for all elements, or are none: labels that meet, wrong rows, ragged tiles."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import compare, graph, programs, slice_of

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict, comparison
from mirage_mlir.equivalence.slabs import Slab, find_slabs

ROWS = "4096x64"
SILU = f"%r = silu %0 : {ROWS} -> {ROWS}"


@pytest.fixture(autouse=True)
def one_label(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each class one label is computed, however small the functions are."""
    monkeypatch.setattr(comparison, "AT_ONCE", 0.0)


def slabs(inputs: str, result: str, *bodies: str) -> list[Slab]:
    """The slab axes of two functions, or of one and itself."""
    found = programs(inputs, result, *bodies)
    return find_slabs(found[0], found[-1])


def dimensions(found: list[Slab]) -> list[list[tuple[int, int]]]:
    """The arguments' dimensions that have labels, for each slab axis."""
    return [sorted(slab.arguments) for slab in found]


SLABS: dict[str, tuple[str, str, str, list[list[tuple[int, int]]]]] = {
    "elementwise": ("8x4", "8x4", "%r = exp %0 : 8x4 -> 8x4", [[(0, 0)], [(0, 1)]]),
    "rows of a norm": (
        "8x4",
        "8x4",
        "%r = rms_norm %0 {eps = 1.0e-05 : f32} : 8x4 -> 8x4",
        [[(0, 0)]],
    ),
    "columns of a softmax over rows": (
        "8x4",
        "8x4",
        "%r = softmax %0 {dim = 0 : i64} : 8x4 -> 8x4",
        [[(0, 1)]],
    ),
    "rows and columns of a product": (
        "8x4 4x6",
        "8x6",
        "%r = matmul %0, %1 : 8x4 4x6 -> 8x6",
        [[(0, 0)], [(1, 1)]],
    ),
    "heads": (
        "2x8x4 2x4x6",
        "2x8x6",
        "%r = matmul %0, %1 : 2x8x4 2x4x6 -> 2x8x6",
        [[(0, 0), (1, 0)], [(0, 1)], [(1, 2)]],
    ),
    "rows that meet rows": (
        "8x4 8x4",
        "8x4",
        "%r = add %0, %1 : 8x4 8x4 -> 8x4",
        [[(0, 0), (1, 0)], [(0, 1), (1, 1)]],
    ),
    "a maximum over everything": (
        "8x4",
        "1x1",
        "%r = reduce_max %0 {dims = array<i64: 0, 1>} : 8x4 -> 1x1",
        [],
    ),
    "x times the transpose of x": (
        "8x4",
        "8x8",
        "%t = transpose %0 {permutation = array<i64: 1, 0>} : 8x4 -> 4x8\n"
        "%r = matmul %0, %t : 8x4 4x8 -> 8x8",
        [],
    ),
    "x plus the transpose of x": (
        "8x8",
        "8x8",
        "%t = transpose %0 {permutation = array<i64: 1, 0>} : 8x8 -> 8x8\n"
        "%r = add %0, %t : 8x8 8x8 -> 8x8",
        [],
    ),
    "rows in another order": (
        "8x4",
        "8x4",
        f"%a = slice %0 {slice_of('4 0', '4 4')} : 8x4 -> 4x4\n"
        f"%b = slice %0 {slice_of('0 0', '4 4')} : 8x4 -> 4x4\n"
        "%c = concat %a, %b {dim = 0 : i64} : 4x4 4x4 -> 8x4\n"
        "%r = add %0, %c : 8x4 8x4 -> 8x4",
        [[(0, 1)]],
    ),
    "neighbours": (
        "8x4",
        "7x4",
        f"%a = slice %0 {slice_of('1 0', '7 4')} : 8x4 -> 7x4\n"
        f"%b = slice %0 {slice_of('0 0', '7 4')} : 8x4 -> 7x4\n"
        "%r = sub %a, %b : 7x4 7x4 -> 7x4",
        [[(0, 1)]],
    ),
    "scaled by a constant for each row": (
        "8x4 8x1",
        "8x4",
        "%r = mul %0, %1 : 8x4 8x1 -> 8x4",
        [[(0, 0), (1, 0)], [(0, 1)]],
    ),
}


@pytest.mark.parametrize("name", SLABS)
def test_slab_axes(name: str) -> None:
    """Where labels meet there is none."""
    inputs, result, body, expected = SLABS[name]
    assert dimensions(slabs(inputs, result, body)) == expected


def test_histories_tell_labels_apart() -> None:
    """Half of the columns come through another operator: two classes, and both are computed."""
    body = (
        f"%a = slice %0 {slice_of('0 0', '8 3')} : 8x6 -> 8x3\n"
        f"%b = slice %0 {slice_of('0 3', '8 3')} : 8x6 -> 8x3\n"
        "%n = scale %b {factor = -1.0 : f32} : 8x3 -> 8x3\n"
        "%r = concat %a, %n {dim = 1 : i64} : 8x3 8x3 -> 8x6"
    )
    rows, columns = slabs("8x6", "8x6", body)
    assert [each.tolist() for each in rows.classes] == [list(range(8))]
    assert sorted(each.tolist() for each in columns.classes) == [[0, 1, 2], [3, 4, 5]]


def moved(first: int, second: int, count: int = 1, size: int = 4096) -> str:
    """A body that exchanges rows of its argument before silu: a concat of five slices."""
    bounds = [
        (0, first),
        (second, count),
        (first + count, second - first - count),
        (first, count),
        (second + count, size - second - count),
    ]
    parts = [(number, *each) for number, each in enumerate(bounds) if each[1]]
    lines = [
        f"%s{number} = slice %0 {slice_of(f'{start} 0', f'{rows} 64')} : {ROWS} -> {rows}x64"
        for number, start, rows in parts
    ]
    names = ", ".join(f"%s{number}" for number, _, _ in parts)
    types = " ".join(f"{rows}x64" for _, _, rows in parts)
    lines.append(f"%c = concat {names} {{dim = 0 : i64}} : {types} -> {ROWS}")
    return "\n".join([*lines, f"%r = silu %c : {ROWS} -> {ROWS}"])


@pytest.mark.parametrize("row", [0, 1, 1717, 2047, 2048, 4094])
def test_exchanged_rows(row: int) -> None:
    """Rows k and k + 1, wherever they are, of 4096 of which one would be computed."""
    report = compare(ROWS, ROWS, SILU, moved(row, row + 1), seed=row)
    assert report.verdict is Verdict.DIFFERENT, str(report)
    assert report.witness is not None
    assert report.witness.floats is not None
    assert report.witness.floats.element[0] in (row, row + 1)


def test_exchanged_blocks() -> None:
    report = compare(ROWS, ROWS, SILU, moved(32, 48, 16))
    assert report.verdict is Verdict.DIFFERENT, str(report)


@pytest.mark.parametrize("seed", range(4))
def test_one_wrong_row(seed: int) -> None:
    """One row of 4096 is scaled, which random labels would hardly ever meet."""
    factors = (
        "%a = constant {value = 1.0 : f32} : 2900x1\n%b = constant {value = 1.125 : f32} : 1x1\n"
        "%c = constant {value = 1.0 : f32} : 1195x1\n"
        "%f = concat %a, %b, %c {dim = 0 : i64} : 2900x1 1x1 1195x1 -> 4096x1\n"
        f"%x = mul %0, %f : {ROWS} 4096x1 -> {ROWS}\n%r = silu %x : {ROWS} -> {ROWS}"
    )
    report = compare(ROWS, ROWS, SILU, factors, seed=seed)
    assert report.verdict is Verdict.DIFFERENT, str(report)
    assert report.witness is not None
    assert report.witness.floats is not None
    assert report.witness.floats.element[0] == 2900


def rows_of(tile: int) -> str:
    return f"""
%t = load %a0 grid_map [0] : T4096x64 -> {tile}x64
%s = silu %t : {tile}x64 -> {tile}x64
store %s grid_map [0] : {tile}x64
"""


def test_ragged_last_tile() -> None:
    """84 tiles of 49 rows, of which the last one has 29."""
    whole = graph(ROWS, ROWS, "grid [84]", rows_of(49))
    report = compare(ROWS, ROWS, SILU, whole)
    assert report.verdict is Verdict.EQUAL, str(report)
    assert "which stand for all elements" in report.tests.scope
    # The last rows are those before them: 4094 and 4095 come from 4092 and 4093.
    parts = (
        f"%h = slice %0 {slice_of('0 0', '4094 64')} : {ROWS} -> 4094x64\n"
        f"%l = slice %0 {slice_of('4092 0', '2 64')} : {ROWS} -> 2x64\n"
        f"%c = concat %h, %l {{dim = 0 : i64}} : 4094x64 2x64 -> {ROWS}\n"
    )
    wrong = parts + whole.replace("ins(%0)", "ins(%c)")
    report = compare(ROWS, ROWS, SILU, wrong)
    assert report.verdict is Verdict.DIFFERENT, str(report)
    assert report.witness is not None
    assert report.witness.floats is not None
    assert report.witness.floats.element[0] in (4094, 4095)


def test_blocks_that_load_something_else() -> None:
    """A grid axis that cuts rows must not choose other columns of the weights along with them."""
    inputs, result = "256x64 64x256", "256x256"
    body = """
%x = load %a0 grid_map [0, _] : T256x64 -> 64x64
%w = load %a1 grid_map [{w}] : T64x256 -> 64x64
%p = matmul %x, %w : 64x64 64x64 -> 64x64
store %p grid_map [0, 1] : 64x64
"""
    product = "%r = matmul %0, %1 : 256x64 64x256 -> 256x256"
    right, wrong = (
        graph(inputs, result, "grid [4, 4]", body.format(w=w)) for w in ("_, 1", "1, _")
    )
    assert len(slabs(inputs, result, product, right)) == 2
    assert slabs(inputs, result, product, wrong) == []
    assert compare(inputs, result, product, right).verdict is Verdict.EQUAL
    assert compare(inputs, result, product, wrong).verdict is Verdict.DIFFERENT


def test_labels_are_as_often_as_others() -> None:
    """Copies give a label two places; of a ragged repeat some labels have more than others."""
    (rows, columns) = slabs(
        "6x4", "12x4", "%r = repeat %0 {dim = 0 : i64, times = 2 : i64} : 6x4 -> 12x4"
    )
    assert {len(each) for each in rows.classes + columns.classes} == {6, 4}
    body = (
        f"%s = slice %0 {slice_of('0 0', '2 4')} : 6x4 -> 2x4\n"
        "%r = concat %0, %s {dim = 0 : i64} : 6x4 2x4 -> 8x4"
    )
    assert dimensions(slabs("6x4", "8x4", body)) == [[(0, 1)]]


def test_labels_that_a_reshape_leaves_out() -> None:
    body = (
        f"%s = slice %0 {slice_of('0 2', '6 1')} : 6x3 -> 6x1\n"
        "%a = reshape %s : 6x1 -> 6\n%r = exp %a : 6 -> 6"
    )
    assert dimensions(slabs("6x3", "6", body)) == [[(0, 0)]]


def test_slabs_are_what_is_computed() -> None:
    """The scope says how many labels of each axis are computed."""
    report = compare("4096x512", "4096x512", *["%r = silu %0 : 4096x512 -> 4096x512"] * 2)
    assert report.tests.counts
    assert report.tests.scope.startswith("slabs (1 of 4096, 1 of 512)"), report.tests.scope
    assert np.isfinite(report.tests.bound)


def test_many_products_of_one_input() -> None:
    """The columns of each are an axis of their own, and so are the rows of all."""
    count, rows = 40, "tensor<4x64xf16>"
    products = "\n".join(
        f"%y{n} = kernel.matmul %x, %w{n} : ({rows}, tensor<64x{32 + n}xf16>) "
        f"-> tensor<4x{32 + n}xf16>"
        for n in range(count)
    )
    weights = ", ".join(f"%w{n}: tensor<64x{32 + n}xf16>" for n in range(count))
    types = ", ".join(f"tensor<4x{32 + n}xf16>" for n in range(count))
    results = ", ".join(f"%y{n}" for n in range(count))
    text = f"func.func @f(%x: {rows}, {weights}) -> ({types}) {{\n{products}\n"
    (function,) = functions(parse_program(f"{text}func.return {results} : {types}\n}}", "wide"))
    assert len(find_slabs(function, function)) == count + 1
