"""Matmuls that start one iteration after their left operand is computed: results, and mutants."""

from math import prod

import pytest
from attention_cases import Heads, attention
from few_multiprocessors import lower_for_few
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lowered_edits import NOT_FOUND, outcomes
from lowered_kernels import check, draw, function_of, lower, schedule
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.dialects.launch import launch_of
from mirage_mlir.driver.source import parse_program
from mirage_mlir.passes.analysis.tile_attributes import uses_wgmma


def is_deferred(module: ModuleOp, stages: int | None = None) -> bool:
    """Whether a matmul of the module's kernels starts one iteration later."""
    scheduled = schedule(module.clone(), stages)
    return any(isinstance(op, tb.MatmulOp) and op.deferred is not None for op in scheduled.walk())


@settings(max_examples=3)
@given(
    st.sampled_from([32, 64, 128]),
    st.integers(3, 6),
    st.integers(-63, 0),
    st.integers(-11, 0),
    st.sampled_from(["f16", "bf16"]),
)
# As many iterations as buffers; ragged in keys and queries, more iterations than buffers.
@example(64, 3, 0, 0, "f16")
@example(128, 6, -37, -11, "bf16")
def test_values(depth: int, iterations: int, ragged: int, fewer: int, kind: str) -> None:
    keys = 64 * iterations + ragged
    module = attention(Heads(1, 128 + fewer, keys, depth, 128, 64, 1, kind))
    assert is_deferred(module)
    check(module)


def test_order() -> None:
    """Two warpgroups take turns where each has rows of its own; else nothing is deferred."""
    kernels = check(attention(Heads(1, 128, 256, 64, 128, 64)))
    assert [op for op in kernels.walk() if isinstance(op, nvvm.BarrierArriveOp)]
    assert not is_deferred(attention(Heads(1, 64, 256, 64, 64, 64)))


@pytest.mark.parametrize("keys", [260, 700])
def test_across_blocks(keys: int) -> None:
    """Blocks of a cluster add up sums with maxima of their own; the last iteration may be empty."""
    module = attention(Heads(1, 128, keys, 64, 128, 64, 2))
    assert is_deferred(module)
    check(module)


def test_persistent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order goes on from one tile of a block to the next."""
    lower_for_few(monkeypatch)
    module = attention(Heads(4, 128, 250, 64, 128, 64))
    assert is_deferred(module)
    (launch,) = [each for op in check(module).walk() if (each := launch_of(op))]
    assert prod(launch.grid) == 3


def test_mutants() -> None:
    """Each of waits for matmuls and tiles is found: by a fault, or by what it computes."""
    module = attention(Heads(1, 128, 384, 64, 128, 64))
    kernels = lower(module, stages=3)
    names = ("wgmma", "mbarrier", "barrier.arrive")
    found = list(outcomes(kernels, draw(function_of(module)), names))
    assert len(found) > 20
    assert [edit for edit, outcome in found if outcome == NOT_FOUND] == []


def test_with_two_buffers_it_is_not() -> None:
    """The tiles of the next iteration would be late."""
    module = attention(Heads(1, 128, 512, 64, 128, 64))
    assert is_deferred(module)
    assert not is_deferred(module, stages=2)


BEHIND_THE_LOOP = """
func.func @f(%x: tensor<256x64xf16>, %a: tensor<64x128xf16>, %b: tensor<384x64xf16>)
    -> tensor<256x64xf16> {
  %o = kernel.graph_defined ins(%x, %a, %b) grid [2] loop [3] {
  ^bb0(%xa: tensor<256x64xf16>, %aa: tensor<64x128xf16>, %ba: tensor<384x64xf16>):
    %xt = threadblock.load %xa grid_map [0] loop_map [_]
        : (tensor<256x64xf16>) -> !threadblock.tile<128x64xf16>
    %at = threadblock.load %aa grid_map [_] loop_map [_]
        : (tensor<64x128xf16>) -> !threadblock.tile<64x128xf16>
    %bt = threadblock.load %ba grid_map [_] loop_map [0]
        : (tensor<384x64xf16>) -> !threadblock.tile<128x64xf16>
    %s = threadblock.matmul %xt, %at
        : (!threadblock.tile<128x64xf16>, !threadblock.tile<64x128xf16>)
          -> !threadblock.tile<128x128xf32>
    %t = threadblock.tanh %s : (!threadblock.tile<128x128xf32>) -> !threadblock.tile<128x128xf32>
    %c = threadblock.cast %t : (!threadblock.tile<128x128xf32>) -> !threadblock.tile<128x128xf16>
    %u = threadblock.accumulate %bt
        : (!threadblock.tile<128x64xf16>) -> !threadblock.tile<128x64xf32>
    %v = threadblock.cast %u : (!threadblock.tile<128x64xf32>) -> !threadblock.tile<128x64xf16>
    %m = threadblock.matmul %c, %v
        : (!threadblock.tile<128x128xf16>, !threadblock.tile<128x64xf16>)
          -> !threadblock.tile<128x64xf32>
    %r = threadblock.cast %m : (!threadblock.tile<128x64xf32>) -> !threadblock.tile<128x64xf16>
    threadblock.store %r grid_map [0] : !threadblock.tile<128x64xf16>
  } : (tensor<256x64xf16>, tensor<64x128xf16>, tensor<384x64xf16>) -> tensor<256x64xf16>
  func.return %o : tensor<256x64xf16>
}
"""


def test_matmuls_behind_the_loop() -> None:
    """They are of warpgroups, one the left operand of the other, and there is no next iteration."""
    module = parse_program(BEHIND_THE_LOOP, "behind.mlir")
    scheduled = schedule(module.clone(), threads=256)
    matmuls = [op for op in scheduled.walk() if isinstance(op, tb.MatmulOp)]
    assert [uses_wgmma(op) for op in matmuls] == [True, True]
    assert matmuls[1].chained is not None
    assert matmuls[1].deferred is None
    check(module, threads=256)
