"""Views inside programs: factors of dimensions, slices and concats."""

from collections.abc import Sequence

import numpy as np
import pytest
from program_values import Array, computed, viewed
from search_programs import stable_softmax

from mirage_mlir.search.program.axes import ViewError, resolve, resolve_views
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Program


def values(b: ProgramBuilder, arrays: Sequence[Array]) -> list[Array]:
    """The results of what was recorded, for these arguments."""
    resolved = resolve_views(b)
    parts = [viewed(arrays[view.argument], view) for view in resolved.arguments]
    outputs = computed(resolved.program, parts)
    results: list[Array] = []
    for result, old in zip(resolved.results, b.outputs, strict=True):
        arrays_of = [(parts if p.passed else outputs)[p.number] for p in result.parts]
        outer = np.prod(b.shape(old.step)) / result.inner / sum(p.size for p in result.parts)
        rows = [
            array.reshape(int(outer), part.size, result.inner)
            for array, part in zip(arrays_of, result.parts, strict=True)
        ]
        results.append(np.concatenate(rows, axis=1).reshape(b.shape(old.step)))
    return results


def drawn(b: ProgramBuilder) -> list[Array]:
    random = np.random.default_rng(0)
    return [random.standard_normal(b.shape(tensor.step)) for tensor in b.inputs]


def axes_of(program: Program) -> list[tuple[str | None, ...]]:
    return [tensor.axes for tensor in program.inputs]


# Factors


def test_heads_of_a_projection() -> None:
    """Columns become heads: W has an axis for each factor, with its own stride."""
    b = ProgramBuilder()
    x, w, k = b.input((16, 64)), b.input((64, 128)), b.input((8, 16, 32))
    heads = b.transpose(b.reshape(b.matmul(x, w), (16, 8, 16)), (1, 0, 2))
    b.output(b.matmul(heads, k))
    program = resolve(b)
    assert axes_of(program) == [("i", "j"), ("j", "k", "l"), ("k", "l", "m")]
    assert program.inputs[1].strides == (128, 16, 1)
    assert program.batch == {"k"}
    assert program.outputs[0].axes == ("k", "i", "m")
    xs, ws, ks = drawn(b)
    wanted = (xs @ ws).reshape(16, 8, 16).transpose(1, 0, 2) @ ks
    assert np.allclose(values(b, [xs, ws, ks])[0], wanted)


def test_contraction_over_two_axes() -> None:
    """Heads are merged again before the output projection, which then sums over both factors."""
    b = ProgramBuilder()
    p, v, w = b.input((4, 8, 32)), b.input((4, 32, 16)), b.input((64, 24))
    heads = b.transpose(b.matmul(p, v), (1, 0, 2))
    b.output(b.matmul(b.reshape(heads, (8, 64)), w))
    program = resolve(b)
    assert program.nodes[program.outputs[0].node].reduced == ("i", "l")
    assert program.inputs[2].axes == ("i", "l", "m")


def test_factors_are_merged_again() -> None:
    """What a reshape takes apart and nothing needs apart is one axis."""
    b = ProgramBuilder()
    x = b.reshape(b.input((6, 10)), (2, 3, 5, 2))
    b.output(b.reshape(b.function(Function("exp"), x), (6, 10)))
    assert resolve(b).sizes == {"i": 60}


def test_later_factors_reach_earlier_steps() -> None:
    """The split comes after the sum that aligned the dimension with another."""
    b = ProgramBuilder()
    x, y = b.input((12, 5)), b.input((12, 5))
    total = b.binary(Kind.ADD, x, y)
    parts = b.reshape(total, (4, 3, 5))
    b.output(b.binary(Kind.MUL, parts, b.input((3, 1))))
    assert axes_of(resolve(b)) == [("i", "j", "k"), ("i", "j", "k"), ("j", None)]


def test_factors_without_common_refinement() -> None:
    b = ProgramBuilder()
    x = b.input((6, 5))
    first = b.binary(Kind.MUL, b.reshape(x, (2, 3, 5)), b.input((2, 1, 1)))
    second = b.binary(Kind.MUL, b.reshape(first, (3, 2, 5)), b.input((3, 1, 1)))
    b.output(second)
    with pytest.raises(ViewError, match="splits a dimension where another cut goes across"):
        resolve(b)


@pytest.mark.parametrize("interleaved", [True, False])
def test_repeated_heads(interleaved: bool) -> None:
    """Keys lack the axis of the group; it is a row axis of the queries, no batch."""
    b = ProgramBuilder()
    q, k = b.input((8, 3, 16)), b.input((2, 5, 16))
    repeat = b.repeat_interleave if interleaved else b.repeat
    repeated = repeat(k, 0, 4)
    b.output(b.matmul(q, b.transpose(repeated, (0, 2, 1))))
    program = resolve(b)
    (carried,) = program.batch
    assert program.sizes[carried] == 2
    assert carried in program.inputs[1].axes
    assert program.shape(program.inputs[1].axes) == (2, 5, 16)
    qs, ks = drawn(b)
    heads = np.repeat(ks, 4, axis=0) if interleaved else np.tile(ks, (4, 1, 1))
    assert np.allclose(values(b, [qs, ks])[0], qs @ heads.transpose(0, 2, 1))


def test_broadcast_view_of_an_argument() -> None:
    """Stride 0 is no axis: the argument is read at one index."""
    b = ProgramBuilder()
    x, y = b.input((4, 8)), b.input((4, 8), strides=(0, 1))
    b.output(b.binary(Kind.MUL, x, y))
    program = resolve(b)
    assert axes_of(program) == [("i", "j"), (None, "j")]
    assert resolve_views(b).arguments[program.inputs[1].argument].cuts[0].size == 1


# Slices


def test_slices_of_columns() -> None:
    """One matrix for queries and keys: each is a product with a part of it."""
    b = ProgramBuilder()
    x, w = b.input((8, 64)), b.input((64, 96))
    product = b.matmul(x, w)
    q = b.slice(product, (0, 0), (8, 64), (1, 1))
    k = b.slice(product, (0, 64), (8, 32), (1, 1))
    b.output(b.reshape(q, (8, 4, 16)))
    b.output(k)
    resolved = resolve_views(b)
    assert sum(node.kind is Kind.MATMUL for node in resolved.program.nodes) == 2
    cuts = [view.cuts[0] for view in resolved.arguments if view.cuts]
    assert sorted((cut.offset, cut.size) for cut in cuts) == [(0, 64), (64, 32)]
    xs, ws = drawn(b)
    wanted = xs @ ws
    got = values(b, [xs, ws])
    assert np.allclose(got[0].reshape(8, 64), wanted[:, :64])
    assert np.allclose(got[1], wanted[:, 64:])


def test_slice_of_a_softmax() -> None:
    """The sum is over all, the slice over some: the operand is computed in two roles."""
    b = ProgramBuilder()
    p = stable_softmax(b, b.input((4, 10)))
    b.output(b.slice(p, (1, 3), (2, 4), (2, 2)))
    (xs,) = drawn(b)
    powers = np.exp(xs)
    wanted = (powers / powers.sum(axis=1, keepdims=True))[1::2, 3::2]
    assert np.allclose(values(b, [xs])[0], wanted)


def test_slice_of_both_roles() -> None:
    """Rows and columns of X Xᵀ are cut in ways of their own."""
    b = ProgramBuilder()
    x = b.input((9, 5))
    gram = b.matmul(x, b.transpose(x, (1, 0)))
    b.output(b.slice(gram, (2, 8), (3, 1), (2, 1)))
    (xs,) = drawn(b)
    assert np.allclose(values(b, [xs])[0], (xs @ xs.T)[2:7:2, 8:])


def test_slice_across_factors() -> None:
    b = ProgramBuilder()
    x = b.binary(Kind.MUL, b.input((4, 6)), b.input((6,)))
    b.output(b.slice(b.reshape(x, (24,)), (3,), (9,), (1,)))
    with pytest.raises(ViewError, match="cuts dim 0 across the parts"):
        resolve(b)


# Concats


def rotated(b: ProgramBuilder, x: int, cos: int, sin: int) -> int:
    """`x * cos + concat(-x2, x1) * sin`, as models write the rotary embedding."""
    *outer, size = b.shape(x)
    half, ones, zeros = (*outer, size // 2), (1,) * (len(outer) + 1), (0,) * len(outer)
    first = b.slice(x, (*zeros, 0), half, ones)
    second = b.slice(x, (*zeros, size // 2), half, ones)
    turned = b.concat((b.binary(Kind.MUL, second, b.constant(-1)), first), len(outer))
    return b.binary(Kind.ADD, b.binary(Kind.MUL, x, cos), b.binary(Kind.MUL, turned, sin))


def test_rotary_embedding_before_scores() -> None:
    """Halves of the contracted axis are summed; each half of X is read once."""
    b = ProgramBuilder()
    x, cos, sin, k = b.input((4, 16)), b.input((4, 16)), b.input((4, 16)), b.input((16, 8))
    b.output(b.matmul(rotated(b, x, cos, sin), k))
    program = resolve(b)
    assert sorted(program.sizes.values()) == [4, 8, 8]
    assert len(program.inputs) == 8
    xs, cs, ss, ks = drawn(b)
    turned = np.concatenate([-xs[:, 8:], xs[:, :8]], axis=1)
    assert np.allclose(values(b, [xs, cs, ss, ks])[0], (xs * cs + turned * ss) @ ks)


def test_rotary_embedding_as_a_result() -> None:
    """Two halves side by side."""
    b = ProgramBuilder()
    x, cos, sin = b.input((4, 16)), b.input((4, 16)), b.input((4, 16))
    b.output(rotated(b, x, cos, sin))
    (result,) = resolve_views(b).results
    assert [part.size for part in result.parts] == [8, 8]
    xs, cs, ss = drawn(b)
    turned = np.concatenate([-xs[:, 8:], xs[:, :8]], axis=1)
    assert np.allclose(values(b, [xs, cs, ss])[0], xs * cs + turned * ss)


def test_attention_over_a_cache() -> None:
    """A key and a value behind those of a cache: maxima and sums of two parts."""
    b = ProgramBuilder()
    q, keys, values_of = b.input((4, 16)), b.input((10, 16)), b.input((10, 8))
    key, value = b.input((1, 16)), b.input((1, 8))
    scores = b.matmul(q, b.transpose(b.concat((keys, key), 0), (1, 0)))
    b.output(b.matmul(stable_softmax(b, scores), b.concat((values_of, value), 0)))
    program = resolve(b)
    assert 11 not in program.sizes.values()
    qs, ks, vs, k, v = arrays = drawn(b)
    powers = np.exp(qs @ np.concatenate([ks, k]).T)
    wanted = powers / powers.sum(axis=1, keepdims=True) @ np.concatenate([vs, v])
    assert np.allclose(values(b, arrays)[0], wanted)


def test_parts_that_are_cut_differently() -> None:
    """Where parts overlap, an operation is done for each overlap."""
    b = ProgramBuilder()
    x, y, z, w = b.input((3,)), b.input((5,)), b.input((6,)), b.input((2,))
    total = b.binary(Kind.MUL, b.concat((x, y), 0), b.concat((z, w), 0))
    b.output(b.reduce(Kind.REDUCE_MAX, total, (0,)))
    xs, ys, zs, ws = arrays = drawn(b)
    wanted = np.max(np.concatenate([xs, ys]) * np.concatenate([zs, ws]))
    assert np.allclose(values(b, arrays)[0], wanted)


def test_outer_product_of_joined_tensors() -> None:
    """Parts share an axis with what they are multiplied by; it is renamed."""
    b = ProgramBuilder()
    x, y = b.input((4, 1)), b.input((1, 4))
    both = b.concat((x, b.function(Function("exp"), x)), 0)
    b.output(b.reduce(Kind.REDUCE_SUM, b.binary(Kind.MUL, both, b.transpose(x, (1, 0))), (0,)))
    b.output(b.binary(Kind.ADD, y, y))
    xs, ys = arrays = drawn(b)
    wanted = np.sum(np.concatenate([xs, np.exp(xs)]) * xs.T, axis=0, keepdims=True)
    got = values(b, arrays)
    assert np.allclose(got[0], wanted)
    assert np.allclose(got[1], 2 * ys)


def test_part_that_is_an_argument() -> None:
    """It is passed on, not copied by the program."""
    b = ProgramBuilder()
    x, y = b.input((4, 8)), b.input((2, 8))
    b.output(b.concat((x, b.function(Function("exp"), y)), 0))
    resolved = resolve_views(b)
    (result,) = resolved.results
    assert [(part.passed, part.size) for part in result.parts] == [(True, 4), (False, 2)]
    assert len(resolved.program.outputs) == 1
    xs, ys = arrays = drawn(b)
    assert np.allclose(values(b, arrays)[0], np.concatenate([xs, np.exp(ys)]))


def test_nothing_but_a_concat() -> None:
    """That is a kernel of its own."""
    b = ProgramBuilder()
    b.output(b.concat((b.input((4, 8)), b.input((2, 8))), 0))
    with pytest.raises(ViewError, match="joins tensors along a dimension of a result"):
        resolve(b)
