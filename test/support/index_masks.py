"""Attention whose mask is a formula of indices, as a uGraph and in numpy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.source import parse_program

Array = NDArray[Any]

DEPTH = 16


@dataclass(frozen=True)
class Masked:
    """
    Attention of some queries and keys, in tiles.

    Args:
        queries, keys: how many there are.
        rows, columns: the sizes of tiles.
        seen: lines that make `%seen`, 1 where query `%i` sees key `%j`.
        sees: the same in numpy.
        heads: how often all of it is there.
        fill: the score of keys that are not seen.
    """

    queries: int
    keys: int
    rows: int
    columns: int
    seen: str
    sees: Callable[[Array, Array], Array]
    heads: int = 1
    fill: float = -np.inf

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks along queries and heads."""
        return -(-self.queries // self.rows), self.heads

    @property
    def lowest(self) -> str:
        """`fill` as MLIR has it."""
        return "0xff800000" if self.fill == -np.inf else f"{self.fill:.9e}"

    @property
    def iterations(self) -> int:
        """Of the loop over keys."""
        return -(-self.keys // self.columns)

    def text(self) -> str:
        """The function `masked`, with one kernel."""
        h, q, k, r, c, d = self.heads, self.queries, self.keys, self.rows, self.columns, DEPTH
        size = max(q, k)
        column, row = f"!threadblock.tile<{r}x1xf32>", f"!threadblock.tile<1x{c}xf32>"
        plane = f"!threadblock.tile<{r}x{c}xf32>"
        scores = f"!threadblock.tile<1x{r}x{c}xf32>"
        rowwise = f"!threadblock.tile<1x{r}x1xf32>"
        narrow = f"!threadblock.tile<1x{r}x{c}xf16>"
        result = f"!threadblock.tile<1x{r}x{d}xf32>"
        mask = self.seen.format(column=column, row=row, plane=plane)
        return f"""
func.func @masked(%q: tensor<{h}x{q}x{d}xf16>, %k: tensor<{h}x{d}x{k}xf16>,
                  %v: tensor<{h}x{k}x{d}xf16>) -> tensor<{h}x{q}x{d}xf32> {{
  %n = kernel.iota {{dim = 0 : i64}} : tensor<{size}xf32>
  %a = kernel.slice %n {{offsets = array<i64: 0>, sizes = array<i64: {q}>,
    strides = array<i64: 1>}} : (tensor<{size}xf32>) -> tensor<{q}xf32>
  %b = kernel.slice %n {{offsets = array<i64: 0>, sizes = array<i64: {k}>,
    strides = array<i64: 1>}} : (tensor<{size}xf32>) -> tensor<{k}xf32>
  %x = kernel.reshape %a : (tensor<{q}xf32>) -> tensor<{q}x1xf32>
  %y = kernel.reshape %b : (tensor<{k}xf32>) -> tensor<1x{k}xf32>
  %o = kernel.graph_defined ins(%x, %y, %q, %k, %v) grid [{self.grid[0]}, {h}]
      loop [{self.iterations}] {{
  ^bb0(%0: tensor<{q}x1xf32>, %1: tensor<1x{k}xf32>, %2: tensor<{h}x{q}x{d}xf16>,
       %3: tensor<{h}x{d}x{k}xf16>, %4: tensor<{h}x{k}x{d}xf16>):
    %i = threadblock.load %0 grid_map [0, _] loop_map [_] : (tensor<{q}x1xf32>) -> {column}
    %j = threadblock.load %1 grid_map [_, _] loop_map [1] : (tensor<1x{k}xf32>) -> {row}
    %qt = threadblock.load %2 grid_map [1, 0] loop_map [_]
      : (tensor<{h}x{q}x{d}xf16>) -> !threadblock.tile<1x{r}x{d}xf16>
    %kt = threadblock.load %3 grid_map [_, 0] loop_map [2]
      : (tensor<{h}x{d}x{k}xf16>) -> !threadblock.tile<1x{d}x{c}xf16>
    %vt = threadblock.load %4 grid_map [_, 0] loop_map [1]
      : (tensor<{h}x{k}x{d}xf16>) -> !threadblock.tile<1x{c}x{d}xf16>
    %s = threadblock.matmul %qt, %kt
      : (!threadblock.tile<1x{r}x{d}xf16>, !threadblock.tile<1x{d}x{c}xf16>) -> {scores}
    {mask}
    %low = threadblock.constant {{value = {self.lowest} : f32}} : {scores}
    %m = threadblock.select %seen, %s, %low : ({plane}, {scores}, {scores}) -> {scores}
    %floor = threadblock.constant {{value = -3.0e+38 : f32}} : {scores}
    %bounded = threadblock.max %m, %floor : ({scores}, {scores}) -> {scores}
    %top = threadblock.reduce_max %bounded {{dims = array<i64: 2>}} : ({scores}) -> {rowwise}
    %d = threadblock.sub %m, %top : ({scores}, {rowwise}) -> {scores}
    %e = threadblock.exp %d : ({scores}) -> {scores}
    %t = threadblock.reduce_sum %e {{dims = array<i64: 2>}} : ({scores}) -> {rowwise}
    %p = threadblock.cast %e : ({scores}) -> {narrow}
    %pv = threadblock.matmul %p, %vt
      : ({narrow}, !threadblock.tile<1x{c}x{d}xf16>) -> {result}
    %total = threadblock.accumulate %t rescale %top : ({rowwise}, {rowwise}) -> {rowwise}
    %all = threadblock.accumulate %pv rescale %top : ({result}, {rowwise}) -> {result}
    %r = threadblock.div %all, %total : ({result}, {rowwise}) -> {result}
    threadblock.store %r grid_map [1, 0] : {result}
  }} : (tensor<{q}x1xf32>, tensor<1x{k}xf32>, tensor<{h}x{q}x{d}xf16>, tensor<{h}x{d}x{k}xf16>,
       tensor<{h}x{k}x{d}xf16>) -> tensor<{h}x{q}x{d}xf32>
  func.return %o : tensor<{h}x{q}x{d}xf32>
}}
"""

    def module(self) -> ModuleOp:
        """The uGraph."""
        return parse_program(self.text(), "masked.mlir")

    @property
    def plane(self) -> Array:
        """Whether each query sees each key."""
        return self.sees(np.arange(self.queries)[:, None], np.arange(self.keys)[None, :])

    def inputs(self) -> list[Array]:
        """Queries, keys and values."""
        random = np.random.default_rng(self.queries + self.keys)
        shapes = (self.queries, DEPTH), (DEPTH, self.keys), (self.keys, DEPTH)
        return [random.standard_normal((self.heads, *shape)).astype(np.float16) for shape in shapes]

    def expected(self, inputs: list[Array]) -> Array:
        """Attention in float64."""
        q, k, v = (each.astype(np.float64) for each in inputs)
        scores = np.where(self.plane, q @ k, self.fill)
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ v


COMPARED = '%seen = threadblock.compare %i, %j {{predicate = "ge"}} : ({column}, {row}) -> {plane}'
"""Causal attention."""


def causal(queries: int, keys: int, rows: int, columns: int, heads: int = 1) -> Masked:
    """Query i sees keys up to i."""
    return Masked(queries, keys, rows, columns, COMPARED, lambda i, j: i >= j, heads)


def window(queries: int, keys: int, rows: int, columns: int, width: int) -> Masked:
    """Query i sees the `width` keys up to i."""
    seen = f"""%before = threadblock.compare %i, %j {{{{predicate = "ge"}}}}
      : ({{column}}, {{row}}) -> {{plane}}
    %w = threadblock.constant {{{{value = {width}.0 : f32}}}} : {{row}}
    %last = threadblock.add %j, %w : ({{row}}, {{row}}) -> {{row}}
    %near = threadblock.compare %i, %last {{{{predicate = "lt"}}}}
      : ({{column}}, {{row}}) -> {{plane}}
    %seen = threadblock.mul %before, %near : ({{plane}}, {{plane}}) -> {{plane}}"""
    return Masked(
        queries, keys, rows, columns, seen, lambda i, j: (i >= j) & (i < j + width), heads=2
    )


def not_ahead(queries: int, keys: int, rows: int, columns: int) -> Masked:
    """Causal attention as PyTorch's `~tril` says it: what is compared is compared once more."""
    seen = """%ahead = threadblock.compare %i, %j {{predicate = "lt"}}
      : ({column}, {row}) -> {plane}
    %zero = threadblock.constant {{value = 0.0 : f32}} : {plane}
    %seen = threadblock.compare %ahead, %zero {{predicate = "eq"}}
      : ({plane}, {plane}) -> {plane}"""
    return Masked(queries, keys, rows, columns, seen, lambda i, j: i >= j)


def behind(queries: int, keys: int, rows: int, columns: int) -> Masked:
    """Query i sees the keys from i on: later blocks have shorter loops."""
    seen = COMPARED.replace("ge", "le")
    return Masked(queries, keys, rows, columns, seen, lambda i, j: i <= j)


def padded(queries: int, keys: int, rows: int, columns: int, length: int) -> Masked:
    """All queries see the first keys."""
    seen = f"""%w = threadblock.constant {{{{value = {length}.0 : f32}}}} : {{column}}
    %seen = threadblock.compare %j, %w {{{{predicate = "lt"}}}}
      : ({{row}}, {{column}}) -> {{plane}}"""
    return Masked(queries, keys, rows, columns, seen, lambda i, j: (j < length) | (i < 0))


CASES = {
    "causal": causal(64, 64, 16, 16),
    "causal, large tiles of keys": causal(64, 64, 16, 32, heads=2),
    "causal, large tiles of queries": causal(64, 64, 32, 16),
    "causal, ragged": causal(50, 50, 16, 16),
    "causal, fewer queries than keys": causal(20, 64, 16, 16),
    "causal, fewer keys than queries": causal(64, 40, 16, 16),
    "causal, by what is not seen": not_ahead(64, 64, 16, 16),
    "window": window(96, 96, 16, 16, 20),
    "narrow window": window(64, 64, 16, 16, 1),
    "window, ragged": window(70, 70, 16, 32, 33),
    "keys behind": behind(64, 64, 16, 16),
    "keys behind, ragged": behind(50, 60, 16, 16),
    "first keys": padded(32, 96, 16, 16, 40),
}
"""Small ones, for the simulator."""
