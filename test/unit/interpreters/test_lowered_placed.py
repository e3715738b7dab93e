"""Results that are views of what kernels store: each row is stored where the result has it."""

from collections.abc import Callable

import pytest
from interpreted_launches import superoptimized
from lowered_kernels import check
from small_graphs import Program, size, tensor
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.interface import interface_of
from mirage_mlir.passes.analysis.tensor_views import dense_strides

View = Callable[[SSAValue], Operation]


def transposed(*order: int) -> View:
    return lambda x: kernel.TransposeOp(x, order)


def reshaped(*sizes: int) -> View:
    return lambda x: kernel.ReshapeOp(x, tensor(f"{size(sizes)}xf16"))


DENSE: dict[str, tuple[tuple[int, ...], tuple[View, ...]]] = {
    "heads side by side": ((3, 5, 16), (transposed(1, 0, 2),)),
    "heads side by side, as one row": ((3, 5, 16), (transposed(1, 0, 2), reshaped(5, 48))),
    "heads of several sequences": ((2, 2, 10, 16), (transposed(0, 2, 1, 3), reshaped(2, 10, 32))),
    "odd rows": ((3, 5, 17), (reshaped(1, 3, 5, 17), transposed(0, 2, 1, 3))),
    "a row of one head": ((1, 6, 24), (transposed(1, 0, 2),)),
}
"""Shapes that are stored, and what is done to them."""

KEPT: dict[str, tuple[tuple[int, ...], tuple[View, ...]]] = {
    "rows that become columns": ((6, 20), (transposed(1, 0),)),
    "rows of less than a sector": ((3, 5, 8), (transposed(1, 0, 2),)),
    "columns in front": ((3, 5, 16), (transposed(2, 0, 1),)),
    "heads and sequences in one": ((4, 10, 8), (reshaped(2, 2, 10, 8), transposed(0, 2, 1, 3))),
}


def doubled(shape: tuple[int, ...], views: tuple[View, ...], *others: View) -> ModuleOp:
    """A kernel whose result is seen through `views`; other kernels read it through `others`."""
    p = Program(f"{size(shape)}xf16")
    tile = [-(-shape[0] // 2), *shape[1:]]
    with p.graph([2]) as g:
        g.store(g.add(tb.TanhOp(g.load(p.inputs[0], tile, [0]))), f"{size(shape)}xf16", [0])
    (made,) = g.results
    results: list[SSAValue] = []
    for other in others:
        seen = p.view(other(made))
        sizes = kernel.shape_of(seen)
        with p.graph([1]) as h:
            read = h.load(seen, sizes, [-1])
            h.store(h.add(tb.SquareOp(read)), f"{size(sizes)}xf16", [-1])
        results += h.results
    for view in views:
        made = p.view(view(made))
    return p.finish(made, *results)


def strides_of(kernels: gpu.ModuleOp) -> tuple[int, ...]:
    """Those of the first result."""
    interface = interface_of(kernels)
    assert interface is not None
    return tuple(interface.strides.data[0].get_values())


def shape_of(kernels: gpu.ModuleOp) -> tuple[int, ...]:
    interface = interface_of(kernels)
    assert interface is not None
    return tuple(interface.outputs.data[0].get_shape())


@pytest.mark.parametrize("target", ["H200", "A100"])
@pytest.mark.parametrize("name", DENSE)
def test_rows_are_stored_where_the_result_has_them(name: str, target: str) -> None:
    kernels = check(doubled(*DENSE[name]), target=target)
    assert strides_of(kernels) == dense_strides(shape_of(kernels))


@pytest.mark.parametrize("name", KEPT)
def test_rows_stay_rows(name: str) -> None:
    kernels = check(doubled(*KEPT[name]))
    assert strides_of(kernels) != dense_strides(shape_of(kernels))


def test_other_kernels_read_it_there() -> None:
    """As it is stored, and through views of their own."""
    others = transposed(0, 2, 1), reshaped(3, 5, 2, 8)
    kernels = check(doubled((3, 5, 16), (transposed(1, 0, 2),), *others))
    assert strides_of(kernels) == dense_strides(shape_of(kernels))


def test_what_strides_cannot_express_is_read_as_it_was() -> None:
    """A kernel reads rows of several heads as one: they stay together, and the result is a view."""
    kernels = check(doubled((3, 5, 16), (transposed(1, 0, 2),), reshaped(15, 16)))
    assert strides_of(kernels) == (16, 80, 1)


@pytest.mark.parametrize("target", ["H200", "A100"])
def test_attention_of_heads_side_by_side(target: str) -> None:
    """Found by the search, in blocks of several rows, with products for tensor cores."""
    heads, split, all_of = "tensor<2x40x16xf16>", "tensor<2x16x40xf16>", "tensor<2x40x40xf16>"
    result = "tensor<40x2x16xf16>"
    text = f"""
func.func @f(%q: {heads}, %k: {heads}, %v: {heads}) -> {result} {{
  %t = kernel.transpose %k {{permutation = array<i64: 0, 2, 1>}} : ({heads}) -> {split}
  %s = kernel.matmul %q, %t : ({heads}, {split}) -> {all_of}
  %p = kernel.softmax %s {{dim = 2 : i64}} : ({all_of}) -> {all_of}
  %o = kernel.matmul %p, %v : ({all_of}, {heads}) -> {heads}
  %y = kernel.transpose %o {{permutation = array<i64: 1, 0, 2>}} : ({heads}) -> {result}
  func.return %y : {result}
}}
"""
    kernels = check(superoptimized(text, target), target=target)
    assert strides_of(kernels) == (32, 16, 1)
