"""Rescaled sums, lowered and executed: they compute what their uGraphs do, without a fault."""

import attention_cases as cases
import pytest
from attention_cases import Heads
from lowered_kernels import check, lower
from lowering_cases import Linear
from random_attention import AttentionMaker
from sampling import sampled
from xdsl.dialects.builtin import FloatAttr, f32

from mirage_mlir.dialects import threadblock as tb

HEADS = {
    "one-tile": Heads(1, 16, 64, 16, 16, 64),
    "iterations": Heads(2, 16, 192, 32, 16, 64),
    "decode": Heads(2, 8, 256, 16, 8, 128),
    "one-query": Heads(1, 1, 100, 16, 1, 64),
    "ragged": Heads(1, 13, 150, 24, 13, 64),
    "odd-everything": Heads(2, 5, 41, 9, 3, 7),
    "rows-over-warps": Heads(1, 64, 96, 16, 64, 48),
    "both-over-warps": Heads(1, 30, 96, 16, 32, 32),
    "short-iterations": Heads(1, 16, 40, 16, 16, 8),
    "bf16": Heads(1, 8, 100, 16, 8, 32, 1, "bf16"),
    "f32": Heads(1, 3, 20, 8, 3, 8, 1, "f32"),
}

ACROSS = {
    "usual": Heads(1, 16, 256, 16, 16, 64, 2),
    "ragged": Heads(1, 6, 150, 16, 8, 32, 3),
    "empty-blocks": Heads(1, 8, 70, 16, 8, 32, 4),
    "empty-iterations": Heads(1, 8, 70, 16, 8, 16, 2),
    "three-blocks": Heads(1, 16, 60, 40, 16, 32, 3),
    "f32": Heads(1, 3, 30, 8, 3, 8, 2, "f32"),
    # Warps of a block have maxima of their own, and then blocks.
    "groups": Heads(1, 64, 500, 64, 64, 128, 2),
    "warps": Heads(1, 30, 200, 16, 32, 32, 2),
}


@pytest.mark.parametrize("name", sampled(list(HEADS), 2))
def test_attention(name: str) -> None:
    check(cases.attention(HEADS[name]))


@pytest.mark.parametrize("name", sampled(list(ACROSS), 2))
def test_attention_over_the_blocks_of_a_cluster(name: str) -> None:
    check(cases.attention(ACROSS[name]))


@pytest.mark.parametrize(
    "name", ["iterations", "ragged", "odd-everything", "f32", "rows-over-warps"]
)
def test_the_maximum_of_a_iteration_may_be_asked_for(name: str) -> None:
    check(cases.observed_attention(HEADS[name]))


@pytest.mark.parametrize("name", ["usual", "ragged", "empty-iterations", "f32"])
def test_the_maximum_of_a_iteration_of_a_cluster(name: str) -> None:
    check(cases.observed_attention(ACROSS[name]))


@pytest.mark.parametrize("name", ["usual", "ragged", "empty-iterations"])
def test_two_kernels(name: str) -> None:
    check(cases.split_attention(ACROSS[name]))


@pytest.mark.parametrize(
    "sizes", sampled([(4, 64, 16), (5, 33, 7), (3, 100, 64), (40, 12, 3), (1, 300, 256)], 2)
)
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_softmax_sums(sizes: tuple[int, int, int], kind: str) -> None:
    check(cases.softmax_sums(*sizes, kind))


@pytest.mark.parametrize(
    "s",
    sampled(
        [
            HEADS["iterations"],
            HEADS["odd-everything"],
            HEADS["f32"],
            ACROSS["usual"],
            ACROSS["f32"],
        ],
        2,
    ),
)
def test_one_maximum_for_two_sorts_of_scores(s: Heads) -> None:
    check(cases.jointly_shifted(s))


@pytest.mark.parametrize("s", [Heads(1, 8, 20, 16, 8, 8, 4), Heads(1, 5, 3, 16, 8, 1, 2)])
def test_a_maximum_in_which_some_iterations_have_no_part(s: Heads) -> None:
    check(cases.maximum_with_nothing(s))


@pytest.mark.parametrize("columns", [16, 5])
@pytest.mark.parametrize("s", [Heads(2, 8, 0, 16, 1, 0, 16), Heads(1, 6, 0, 10, 3, 0, 5)])
def test_merging_by_hand(s: Heads, columns: int) -> None:
    check(cases.merged_at_once(s, columns))


@pytest.mark.parametrize(
    "s",
    [
        Heads(1, 8, 128, 16, 8, 64, 2),
        Heads(2, 5, 100, 9, 5, 40, 3),
        Heads(1, 8, 60, 16, 8, 16, 5),
        Heads(1, 8, 60, 16, 8, 16, 6),
    ],
)
def test_blocks_without_a_loop(s: Heads) -> None:
    check(cases.attention_without_loop(s))


@pytest.mark.parametrize(
    ("s", "blocks"),
    [
        (Linear(16, 128, 64, 16, 32, 16), 4),
        (Linear(5, 40, 50, 5, 16, 20), 3),
        (Linear(5, 40, 50, 5, 16, 20, "f32"), 3),
    ],
)
def test_sums_of_what_follows_the_loop(s: Linear, blocks: int) -> None:
    check(cases.sums_after_the_loop(s, blocks))


@pytest.mark.parametrize("seed", sampled([*range(9), 11, 13, 14, 26, 37, 47, 52], 4))
def test_random_attention(seed: int) -> None:
    made = AttentionMaker(seed).make()
    check(made, stages=(None, 2, 3)[seed % 3], threads=(None, 64)[seed % 2])


@pytest.mark.parametrize("factor", [3e38, -3e38])
def test_scales_whose_multiples_overflow(factor: float) -> None:
    """Found by an attack: a factor times log2 e is no f32."""
    module = cases.attention(Heads(1, 128, 256, 64, 128, 64))
    for op in module.walk():
        if isinstance(op, tb.ScaleOp):
            op.factor = FloatAttr(factor, f32)
    lower(module)
