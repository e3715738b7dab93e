"""Block graphs compute what numpy says, and some indices alone what all of them say."""

from __future__ import annotations

import numpy as np
import pytest
from threadblock_checks import Parse, check, draw, graph

from mirage_mlir.interpreters import NotInterpretable, run_function
from mirage_mlir.interpreters.dims import Dim, dim_of
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.tensors import Tensor

MATMUL = """
%x = load %a0 grid_map [{0}] loop_map [1] : (T{1}) -> {2}
%w = load %a1 grid_map [{3}] loop_map [0] : (T{4}) -> {5}
%p = matmul %x, %w : ({2}, {5}) -> {6}
%s = accumulate %p : ({6}) -> {6}
store %s grid_map [{7}] : {6}
"""


@pytest.mark.parametrize(
    ("m", "k", "n", "grid", "loop", "tile"),
    [
        (4, 8, 6, (2, 3), 4, (2, 2, 2)),
        (5, 7, 9, (2, 2), 2, (3, 4, 5)),
        (3, 10, 7, (1, 4), 3, (3, 4, 2)),
        (1, 5, 3, (1, 2), 3, (4, 3, 4)),
    ],
)
def test_tiled_matmul(
    parse: Parse,
    m: int,
    k: int,
    n: int,
    grid: tuple[int, int],
    loop: int,
    tile: tuple[int, int, int],
) -> None:
    """Tiles that divide, ragged ones, and ones with nothing in them."""
    tm, tk, tn = tile
    body = MATMUL.format(
        "0, _", f"{m}x{k}", f"{tm}x{tk}", "_, 1", f"{k}x{n}", f"{tk}x{tn}", f"{tm}x{tn}", "0, 1"
    )
    head = f"grid [{grid[0]}, {grid[1]}] loop [{loop}]"
    function = graph(parse, f"{m}x{k} {k}x{n}", head, body, f"{m}x{n}")
    x, w = inputs = draw(function)
    check(function, inputs, x @ w)


def test_grid_and_loops_cut_one_dimension(parse: Parse) -> None:
    """Block b, iteration (i, j) has tile (b * 2 + i) * 3 + j of dim 1; the last ones are empty."""
    function = graph(
        parse,
        "2x22",
        "grid [2] loop [2, 3]",
        """
%x = load %a0 grid_map [1] loop_map [1, 1] : (T2x22) -> 2x2
%q = square %x : (2x2) -> 2x2
%s = reduce_sum %q {dims = array<i64: 1>} : (2x2) -> 2x1
%a = accumulate %s : (2x1) -> 2x1
store %a grid_map [1] : 2x1
""",
        "2x2",
    )
    (x,) = inputs = draw(function)
    check(function, inputs, np.stack([(x[:, :12] ** 2).sum(1), (x[:, 12:] ** 2).sum(1)], 1))


def test_accumulated_tiles_may_be_ragged(parse: Parse) -> None:
    """Elements that the last tile does not have add nothing; sums after the loop see all others."""
    function = graph(
        parse,
        "3x10",
        "grid [1] loop [3]",
        """
%x = load %a0 grid_map [_] loop_map [1] : (T3x10) -> 3x4
%e = exp %x : (3x4) -> 3x4
%a = accumulate %e : (3x4) -> 3x4
%m = accumulate %x {kind = "max"} : (3x4) -> 3x4
%s = reduce_sum %a {dims = array<i64: 1>} : (3x4) -> 3x1
%t = reduce_max %m {dims = array<i64: 1>} : (3x4) -> 3x1
%r = add %s, %t : (3x1, 3x1) -> 3x1
store %r grid_map [_] : 3x1
""",
        "3x1",
    )
    (x,) = inputs = draw(function)
    check(function, inputs, np.exp(x).sum(1, keepdims=True) + x.max(1, keepdims=True))


def test_across_a_grid_axis(parse: Parse) -> None:
    """Split-K: each block sums its part, every block sees the total, ragged parts included."""
    function = graph(
        parse,
        "2x11 11x6",
        "grid [3, 2] loop [2]",
        """
%x = load %a0 grid_map [1, _] loop_map [1] : (T2x11) -> 2x2
%w = load %a1 grid_map [0, 1] loop_map [0] : (T11x6) -> 2x3
%p = matmul %x, %w : (2x2, 2x3) -> 2x3
%q = square %x : (2x2) -> 2x2
%s = reduce_sum %q {dims = array<i64: 1>} : (2x2) -> 2x1
%a = accumulate %p across [0] : (2x3) -> 2x3
%b = accumulate %s across [0] : (2x1) -> 2x1
%r = div %a, %b : (2x3, 2x1) -> 2x3
store %r grid_map [_, 1] : 2x3
""",
        "2x6",
    )
    x, w = inputs = draw(function)
    check(function, inputs, x @ w / (x**2).sum(1, keepdims=True))


def test_across_after_the_loop(parse: Parse) -> None:
    function = graph(
        parse,
        "4x6",
        "grid [2] loop [3]",
        """
%x = load %a0 grid_map [0] loop_map [1] : (T4x6) -> 2x2
%s = reduce_sum %x {dims = array<i64: 1>} : (2x2) -> 2x1
%a = accumulate %s : (2x1) -> 2x1
%m = reduce_max %a {dims = array<i64: 0>} : (2x1) -> 1x1
%g = accumulate %m across [0] {kind = "max"} : (1x1) -> 1x1
%r = sub %a, %g : (2x1, 1x1) -> 2x1
store %r grid_map [0] : 2x1
""",
        "4x1",
    )
    (x,) = inputs = draw(function)
    check(function, inputs, x.sum(1, keepdims=True) - x.sum(1).max(), closed=False)


ATTENTION = """
%q = load %a0 grid_map [_] loop_map [_] : (T3x4) -> 3x4
%k = load %a1 grid_map [0] loop_map [0] : (T10x4) -> {t}x4
%v = load %a2 grid_map [0] loop_map [0] : (T10x5) -> {t}x5
%kt = transpose %k {{permutation = array<i64: 1, 0>}} : ({t}x4) -> 4x{t}
%s = matmul %q, %kt : (3x4, 4x{t}) -> 3x{t}
%m = reduce_max %s {{dims = array<i64: 1>}} : (3x{t}) -> 3x1
%d = sub %s, %m : (3x{t}, 3x1) -> 3x{t}
%e = exp %d : (3x{t}) -> 3x{t}
%p = matmul %e, %v : (3x{t}, {t}x5) -> 3x5
%l = reduce_sum %e {{dims = array<i64: 1>}} : (3x{t}) -> 3x1
%o = accumulate %p {across} rescale %m : (3x5, 3x1) -> 3x5
%n = accumulate %l {across} rescale %m : (3x1, 3x1) -> 3x1
%r = div %o, %n : (3x5, 3x1) -> 3x5
store %r grid_map [_] : 3x5
"""


@pytest.mark.parametrize(
    ("grid", "loop", "tile", "across"),
    [(1, 5, 2, ""), (1, 3, 4, ""), (2, 2, 3, "across [0]"), (3, 2, 3, "across [0]")],
)
def test_online_softmax(parse: Parse, grid: int, loop: int, tile: int, across: str) -> None:
    """Rescaling, with ragged tiles and with blocks that have no key at all."""
    body = ATTENTION.format(t=tile, across=across)
    head = f"grid [{grid}] loop [{loop}]"
    function = graph(parse, "3x4 10x4 10x5", head, body, "3x5")

    q, k, v = inputs = draw(function)
    weights = np.exp(q @ k.T)
    check(function, inputs, weights @ v / weights.sum(1, keepdims=True))


def test_rescaled_sums_of_ragged_rows(parse: Parse) -> None:
    """A loop that cuts the rows: the last iteration has fewer of them to rescale."""
    function = graph(
        parse,
        "3x4",
        "grid [1] loop [2]",
        """
%x = load %a0 grid_map [_] loop_map [0] : (T3x4) -> 2x4
%m = reduce_max %x {dims = array<i64: 1>} : (2x4) -> 2x1
%d = sub %x, %m : (2x4, 2x1) -> 2x4
%e = exp %d : (2x4) -> 2x4
%s = reduce_sum %e {dims = array<i64: 1>} : (2x4) -> 2x1
%a = accumulate %s rescale %m : (2x1, 2x1) -> 2x1
%g = accumulate %m {kind = "max"} : (2x1) -> 2x1
%f = exp %g : (2x1) -> 2x1
%r = mul %a, %f : (2x1, 2x1) -> 2x1
store %r grid_map [_] : 2x1
""",
        "2x1",
    )
    (x,) = inputs = draw(function)
    rows = np.exp(x).sum(1, keepdims=True)
    check(function, inputs, rows[:2] + np.pad(rows[2:], ((0, 1), (0, 0))))


def test_invariant_tiles_and_views(parse: Parse) -> None:
    """A tile loaded before the loop is used after it; concat, broadcast, constants."""
    function = graph(
        parse,
        "3x4 4x2 2x5",
        "grid [1] loop [2]",
        """
%x = load %a0 grid_map [_] loop_map [1] : (T3x4) -> 3x2
%w = load %a1 grid_map [_] loop_map [0] : (T4x2) -> 2x2
%b = load %a2 grid_map [_] loop_map [_] : (T2x5) -> 2x5
%p = matmul %x, %w : (3x2, 2x2) -> 3x2
%a = accumulate %p : (3x2) -> 3x2
%y = matmul %a, %b : (3x2, 2x5) -> 3x5
%c = constant {value = 2.0 : f32} : 1x5
%s = broadcast %c : (1x5) -> 3x5
%z = mul %y, %s : (3x5, 3x5) -> 3x5
%t = concat %z, %a {dim = 1 : i64} : (3x5, 3x2) -> 3x7
store %t grid_map [_] : 3x7
""",
        "3x7",
    )
    x, w, b = inputs = draw(function)
    check(function, inputs, np.concatenate([2 * (x @ w @ b), x @ w], 1))


def test_thread_graph(parse: Parse) -> None:
    """Scalars broadcast to the tile, ragged tiles included."""
    (function,) = parse("""
func.func @f(%x: tensor<5x3xf32>, %y: tensor<5x1xf32>) -> tensor<5x3xf32> {
  %r = kernel.graph_defined ins(%x, %y) grid [2] {
  ^bb0(%a: tensor<5x3xf32>, %b: tensor<5x1xf32>):
    %s = threadblock.load %a grid_map [0] : (tensor<5x3xf32>) -> !threadblock.tile<4x3xf32>
    %t = threadblock.load %b grid_map [0] : (tensor<5x1xf32>) -> !threadblock.tile<4x1xf32>
    %u, %v = thread.graph ins(%s, %t) {
    ^bb0(%p: f32, %q: f32):
      %one = arith.constant 1.0 : f32
      %n = arith.negf %p : f32
      %e = math.exp %n : f32
      %d = arith.addf %one, %e : f32
      %g = arith.divf %one, %d : f32
      %m = arith.mulf %g, %q : f32
      thread.store %m : f32
      thread.store %one : f32
    } : (!threadblock.tile<4x3xf32>, !threadblock.tile<4x1xf32>)
      -> (!threadblock.tile<4x3xf32>, !threadblock.tile<4x3xf32>)
    %w = threadblock.add %u, %v : (!threadblock.tile<4x3xf32>, !threadblock.tile<4x3xf32>)
      -> !threadblock.tile<4x3xf32>
    threadblock.store %w grid_map [0] : !threadblock.tile<4x3xf32>
  } : (tensor<5x3xf32>, tensor<5x1xf32>) -> tensor<5x3xf32>
  func.return %r : tensor<5x3xf32>
}""")
    x, y = inputs = draw(function)
    check(function, inputs, y / (1 + np.exp(-x)) + 1)


def test_tiles_round_to_their_types(parse: Parse) -> None:
    (function,) = parse("""
func.func @f(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %r = kernel.graph_defined ins(%x) grid [1] {
  ^bb0(%a: tensor<1x2xf32>):
    %s = threadblock.load %a grid_map [_] : (tensor<1x2xf32>) -> !threadblock.tile<1x2xf32>
    %h = threadblock.cast %s : (!threadblock.tile<1x2xf32>) -> !threadblock.tile<1x2xf16>
    %q = threadblock.square %h : (!threadblock.tile<1x2xf16>) -> !threadblock.tile<1x2xf32>
    threadblock.store %q grid_map [_] : !threadblock.tile<1x2xf32>
  } : (tensor<1x2xf32>) -> tensor<1x2xf32>
  func.return %r : tensor<1x2xf32>
}""")
    (result,) = run_function(function, [np.array([[0.1, 300.0]])])
    assert result.tolist() == [[np.float32(np.float16(0.1)) ** 2, 90000.0]]
    (exact,) = run_function(function, [np.array([[0.5, 300.0]])], rounding=False)
    assert exact.tolist() == [[0.25, 90000.0]]


def test_maximum_over_no_element(parse: Parse) -> None:
    """Block 2 has nothing to take a maximum of, and a place in the result for it."""
    function = graph(
        parse,
        "1x4",
        "grid [3]",
        """
%x = load %a0 grid_map [1] : (T1x4) -> 1x2
%m = reduce_max %x {dims = array<i64: 1>} : (1x2) -> 1x1
%e = exp %m : (1x1) -> 1x1
store %e grid_map [1] : 1x1
""",
        "1x3",
    )
    with pytest.raises(NotInterpretable, match="stores a maximum over no element"):
        run_function(function, draw(function))


def test_some_rows_and_columns_of_many_blocks(parse: Parse) -> None:
    """A product of 4096 x 4096 on 4096 blocks, whose other elements would take minutes."""
    body = MATMUL.format(
        "0, _", "4096x4096", "64x64", "_, 1", "4096x4096", "64x64", "64x64", "0, 1"
    )
    function = graph(parse, "4096x4096 4096x4096", "grid [64, 64] loop [64]", body, "4096x4096")
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    some = dim_of(4096, np.array([0, 63, 64, 4095]))
    x, w = draw_some((some, Dim(4096))), draw_some((Dim(4096), some))
    (result,) = interpreter.run(function, [x, w])
    assert result.shape == (4096, 4096)
    assert result.dims == (some, some)
    assert np.allclose(result.array[0], x.array[0] @ w.array[0], rtol=1e-10)


def draw_some(dims: tuple[Dim, ...]) -> Tensor[Floats]:
    random = np.random.default_rng(len(dims[0].indices))
    return Tensor(random.standard_normal((1, *(dim.count for dim in dims))), dims)
