"""Persistent kernels compute each tile of the grid once, and copy the next while they store one."""

from collections.abc import Callable
from math import prod

import pytest
from attention_cases import Heads, attention
from few_multiprocessors import lower_for_few
from kernel_kinds import clustered
from lowered_kernels import check
from lowering_cases import Linear, biased_linear, gated_mlp, matmul, total, transposed
from sampling import round_robin
from small_graphs import Program
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.launch import launch_of


@pytest.fixture(autouse=True)
def _few_multiprocessors(monkeypatch: pytest.MonkeyPatch):
    lower_for_few(monkeypatch)


DEEP = Linear(128, 192, 128, 64, 64, 32)
"""Eight tiles, of three iterations each."""


CASES: dict[str, tuple[Callable[[], ModuleOp], int]] = {
    "products": (lambda: biased_linear(DEEP), 3),
    "two products": (lambda: gated_mlp(DEEP), 3),
    "ragged": (lambda: biased_linear(Linear(120, 184, 104, 64, 64, 32)), 3),
    "clusters": (lambda: clustered(biased_linear(DEEP), 2, 1), 2),
    "a tile that all iterations read": (lambda: attention(Heads(5, 64, 192, 64, 64, 64)), 3),
}


@pytest.mark.parametrize("name", list(CASES))
def test_tiles_follow_each_other(name: str):
    make, blocks = CASES[name]
    kernels = check(make())
    launches = [each for op in kernels.walk() if (each := launch_of(op))]
    assert [prod(launch.grid) for launch in launches] == [blocks]


def with_transposed_tile(s: Linear, *, in_loop: bool) -> ModuleOp:
    """`x @ w + c^T`, or with `c^T` added, and the rest cut off below 0, in each iteration."""
    p = Program(s.type_of("mk"), s.type_of("kn"), s.type_of("nm"))
    x, w, c = p.inputs
    with p.graph(s.grid, [s.iterations]) as g:
        tile = transposed(g, g.load(c, (s.columns, s.rows), [0, 1]))
        value = matmul(g, s.left(g, x), s.right(g, w))
        if in_loop:
            value = total(g, g.add(tb.ReluOp(g.add(tb.AddOp(value, tile)))))
        else:
            value = g.add(tb.AddOp(total(g, value), tile))
        s.store(g, value)
    return p.finish(*g.results)


@pytest.mark.parametrize(
    ("case", "in_loop"), round_robin([DEEP, Linear(64, 128, 128, 16, 32, 32)], [False, True])
)
def test_what_threads_read_is_not_copied_over(case: Linear, in_loop: bool):
    """The producer copies a loop-invariant tile of the next tile of the grid: after all reads."""
    check(with_transposed_tile(case, in_loop=in_loop))
