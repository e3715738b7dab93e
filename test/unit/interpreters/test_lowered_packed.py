"""Kernels that read packed constants compute what those compute that read them as they are."""

from dataclasses import replace

import numpy as np
import pytest
from hand_kernels import set_in_interface
from lowered_kernels import Array, distance, draw, function_of, schedule
from sampling import sampled
from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ArrayAttr

from mirage_mlir.dialects.interface import PackingAttr, PackingFacts, interface_of
from mirage_mlir.driver.source import parse_program
from mirage_mlir.interpreters import run_function
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.interpreters.gpu_simulator.faults import KernelFault
from mirage_mlir.passes.lower_to_nvvm import LowerToNvvmPass
from mirage_mlir.passes.pack_constants import PackConstantsPass


def linear(rows: str, weights: str, view: str = "", tile: str = "32x192", kind: str = "f16") -> str:
    """A matmul of `rows` columns of activations and of weights that are cut into 4 x 6 tiles."""
    depth, width = rows, "768"
    given, seen = (weights.split(" as ") * 2)[:2]
    deep, wide = tile.split("x")
    return f"""
      func.func @linear(
          %x: tensor<16x{depth}x{kind}>, %w: tensor<{given}x{kind}> {{kernel.constant}}
      ) -> tensor<16x{width}x{kind}> {{
        {view}
        %o = kernel.graph_defined ins(%x, %{"v" if view else "w"}) grid [4] loop [6] {{
        ^bb0(%a: tensor<16x{depth}x{kind}>, %b: tensor<{seen}x{kind}>):
          %s = threadblock.load %a grid_map [_] loop_map [1]
              : (tensor<16x{depth}x{kind}>) -> !threadblock.tile<16x{deep}x{kind}>
          %t = threadblock.load %b grid_map [1] loop_map [0]
              : (tensor<{seen}x{kind}>) -> !threadblock.tile<{tile}x{kind}>
          %p = threadblock.matmul %s, %t
              : (!threadblock.tile<16x{deep}x{kind}>, !threadblock.tile<{tile}x{kind}>)
              -> !threadblock.tile<16x{wide}xf32>
          %q = threadblock.accumulate %p
              : (!threadblock.tile<16x{wide}xf32>) -> !threadblock.tile<16x{wide}xf32>
          %c = threadblock.cast %q
              : (!threadblock.tile<16x{wide}xf32>) -> !threadblock.tile<16x{wide}x{kind}>
          threadblock.store %c grid_map [1] : !threadblock.tile<16x{wide}x{kind}>
        }} : (tensor<16x{depth}x{kind}>, tensor<{seen}x{kind}>) -> tensor<16x{width}x{kind}>
        func.return %o : tensor<16x{width}x{kind}>
      }}
    """


TRANSPOSE = """%v = kernel.transpose %w {permutation = array<i64: 1, 0>}
            : (tensor<768x192xf16>) -> tensor<192x768xf16>"""


def with_two_loops(text: str) -> str:
    """The same with a loop in a loop, both of which cut the depth."""
    one = text.replace("loop [6]", "loop [2, 3]")
    return one.replace("loop_map [1]", "loop_map [1, 1]").replace("loop_map [0]", "loop_map [0, 0]")


PROGRAMS = {
    "two loops": with_two_loops(linear("192", "192x768")),
    "three panels of a tile": linear("192", "192x768"),
    "bf16": linear("192", "192x768", kind="bf16"),
    "the last iteration has few rows": linear("168", "168x768"),
    "transposed": linear("192", "768x192 as 192x768", TRANSPOSE),
}


def kernels_of(text: str, *, pack: bool) -> gpu.ModuleOp:
    """The lowered program."""
    module = schedule(parse_program(text, "linear.mlir"), stages=3)
    if pack:
        PackConstantsPass("H200").apply(Context(), module)
    LowerToNvvmPass("H200").apply(Context(), module)
    module.verify()
    (kernels,) = [op for op in module.body.block.ops if isinstance(op, gpu.ModuleOp)]
    return kernels


def packings_of(kernels: gpu.ModuleOp) -> list[PackingFacts]:
    """The packed copies that the kernels read."""
    interface = interface_of(kernels)
    assert interface is not None
    return [attribute.packing for attribute in interface.packings]


def inputs_of(text: str) -> list[Array]:
    """Random ones."""
    return draw(function_of(parse_program(text, "linear.mlir")))


def norm(result: Array) -> float:
    """The length of an array as a vector."""
    return distance(result, np.zeros_like(result))


@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
def test_packed_or_not(name: str) -> None:
    text = PROGRAMS[name]
    plain, packed = (kernels_of(text, pack=pack) for pack in (False, True))
    assert (len(packings_of(plain)), len(packings_of(packed))) == (0, 1)
    inputs = inputs_of(text)
    (one,), (other,) = run_kernels(plain, inputs), run_kernels(packed, inputs)
    np.testing.assert_array_equal(one, other)
    (wanted,) = run_function(function_of(parse_program(text, "linear.mlir")), inputs)
    assert distance(one, wanted) < 0.02 * norm(wanted)


def changed(kernels: gpu.ModuleOp, **numbers: int) -> gpu.ModuleOp:
    """The kernels, told something else of the packing."""
    (packing,) = packings_of(kernels)
    changed = PackingAttr.of(replace(packing, **numbers))
    set_in_interface(kernels, packings=ArrayAttr([changed]))
    return kernels


def test_another_packing_gives_something_else() -> None:
    text = PROGRAMS["three panels of a tile"]
    inputs = inputs_of(text)
    (right,) = run_kernels(kernels_of(text, pack=True), inputs)
    (wrong,) = run_kernels(changed(kernels_of(text, pack=True), panel=32), inputs)
    assert distance(wrong, right) > 0.1 * norm(right)


def test_a_packing_of_more_than_the_input() -> None:
    text = PROGRAMS["three panels of a tile"]
    kernels = changed(kernels_of(text, pack=True), offset=8)
    with pytest.raises(KernelFault, match="packs more than there is"):
        run_kernels(kernels, inputs_of(text))
