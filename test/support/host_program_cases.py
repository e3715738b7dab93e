"""Programs of a host around kernels, and what numpy computes for them in float64."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from host_programs import HostProgram
from numpy.typing import NDArray
from numpy_reference import Array, error, rms_norm, silu

F16, F32 = np.dtype(np.float16), np.dtype(np.float32)

IMPORTED = Path(__file__).parents[1] / "import"

LINALG = ("--convert-linalg-to-kernel",)

Pairs = Sequence[tuple[NDArray[Any], Array]]


@dataclass(frozen=True)
class HostCase:
    """A program, the passes that make kernels of parts of it, and a call with what is right."""

    text: str
    run: Callable[[HostProgram], Pairs]
    """What a function of it computed, and float64."""

    passes: tuple[str, ...] = LINALG
    tolerance: float = 2e-3

    def check(self, program: HostProgram) -> None:
        """Call it, and compare."""
        for found, wanted in self.run(program):
            assert error(found, wanted) <= self.tolerance


def normal(program: HostProgram, shape: Sequence[int], seed: int, scale: float = 1) -> NDArray[Any]:
    """Normal numbers in f32."""
    values = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return program.array(values * np.float32(scale))


def exact(array: NDArray[Any]) -> Array:
    return array.astype(np.float64)


LOOP = """
func.func @step(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>, %n: index) -> tensor<16x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<16x64xf32>) {
    %m = linalg.matmul ins(%a, %w : tensor<16x64xf32>, tensor<64x64xf32>)
      outs(%z : tensor<16x64xf32>) -> tensor<16x64xf32>
    %t = linalg.tanh ins(%m : tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %t : tensor<16x64xf32>
  }
  func.return %r : tensor<16x64xf32>
}
"""


def loop(program: HostProgram) -> Pairs:
    x, w = normal(program, (16, 64), 0), normal(program, (64, 64), 1, 1 / 8)
    wanted = exact(x)
    pairs: list[tuple[NDArray[Any], Array]] = []
    for count in range(4):
        (found,) = program.results("step", [((16, 64), F32)], x, w, ctypes.c_int64(count))
        pairs.append((found, wanted))
        wanted = np.tanh(wanted @ exact(w))
    return pairs


# What has no kernel is computed by the host, of what kernels wrote and before they read it.
MIXED = """
func.func @mixed(%x: tensor<16x40xf32>, %w: tensor<40x16xf32>, %s: f32)
    -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<16x40xf32>, tensor<40x16xf32>)
    outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %t = linalg.tanh ins(%m : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %old = tensor.extract %t[%c0, %c1] : tensor<16x16xf32>
  %new = arith.mulf %old, %s : f32
  %scaled = tensor.insert %new into %t[%c1, %c1] : tensor<16x16xf32>
  %n = linalg.matmul ins(%scaled, %scaled : tensor<16x16xf32>, tensor<16x16xf32>)
    outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %n, %t : tensor<16x16xf32>, tensor<16x16xf32>
}
"""


def mixed(program: HostProgram) -> Pairs:
    x, w = normal(program, (16, 40), 0), normal(program, (40, 16), 1, 1 / 8)
    kinds = [((16, 16), F32)] * 2
    product, tanh = program.results("mixed", kinds, x, w, ctypes.c_float(-3.5))
    wanted = np.tanh(exact(x) @ exact(w))
    scaled = wanted.copy()
    scaled[1, 1] = wanted[0, 1] * -3.5
    return [(product, scaled @ scaled), (tanh, wanted)]


# Two functions of one kernel, called twice; one has a name that host code would take.
CALLS = """
func.func private @norm_launch(%x: tensor<8x48xf16>) -> tensor<8x48xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-5 : f32} : (tensor<8x48xf16>) -> tensor<8x48xf16>
  func.return %y : tensor<8x48xf16>
}
func.func private @norm(%x: tensor<8x48xf16>, %w: tensor<48x48xf16>) -> tensor<8x48xf16> {
  %n = kernel.rms_norm %x {eps = 1.0e-5 : f32} : (tensor<8x48xf16>) -> tensor<8x48xf16>
  %y = kernel.matmul %n, %w : (tensor<8x48xf16>, tensor<48x48xf16>) -> tensor<8x48xf16>
  func.return %y : tensor<8x48xf16>
}
func.func @both(%x: tensor<8x48xf16>, %w: tensor<48x48xf16>, %again: i1) -> tensor<8x48xf16> {
  %a = func.call @norm(%x, %w) : (tensor<8x48xf16>, tensor<48x48xf16>) -> tensor<8x48xf16>
  %b = scf.if %again -> (tensor<8x48xf16>) {
    %c = func.call @norm(%a, %w) : (tensor<8x48xf16>, tensor<48x48xf16>) -> tensor<8x48xf16>
    scf.yield %c : tensor<8x48xf16>
  } else {
    %d = func.call @norm_launch(%a) : (tensor<8x48xf16>) -> tensor<8x48xf16>
    scf.yield %d : tensor<8x48xf16>
  }
  func.return %b : tensor<8x48xf16>
}
"""


def calls(program: HostProgram) -> Pairs:
    x = program.array(normal(program, (8, 48), 0).astype(F16))
    w = program.array(normal(program, (48, 48), 1, 1 / 7).astype(F16))
    once = rms_norm(exact(x), eps=1e-5) @ exact(w)
    pairs: list[tuple[NDArray[Any], Array]] = []
    for again in (True, False):
        (found,) = program.results("both", [((8, 48), F16)], x, w, ctypes.c_bool(again))
        then = rms_norm(once, eps=1e-5)
        pairs.append((found, then @ exact(w) if again else then))
    return pairs


# The host's own buffers, of which it reads one element and writes another.
BUFFERS = """
func.func @rows(%x: memref<32x64xf32>, %w: memref<32x24xf32>, %out: memref<16x24xf32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c40 = arith.constant 40 : index
  %old = memref.load %x[%c0, %c0] : memref<32x64xf32>
  memref.store %old, %x[%c9, %c40] : memref<32x64xf32>
  %all = bufferization.to_tensor %x restrict : memref<32x64xf32> to tensor<32x64xf32>
  %a = tensor.extract_slice %all[8, 32] [16, 32] [1, 1] : tensor<32x64xf32> to tensor<16x32xf32>
  %b = bufferization.to_tensor %w restrict : memref<32x24xf32> to tensor<32x24xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x24xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x24xf32>) -> tensor<16x24xf32>
  %m = linalg.matmul ins(%a, %b : tensor<16x32xf32>, tensor<32x24xf32>)
    outs(%z : tensor<16x24xf32>) -> tensor<16x24xf32>
  bufferization.materialize_in_destination %m in restrict writable %out
    : (tensor<16x24xf32>, memref<16x24xf32>) -> ()
  func.return
}
"""


def buffers(program: HostProgram) -> Pairs:
    x, w = normal(program, (32, 64), 0), normal(program, (32, 24), 1)
    out = program.array(np.full((16, 24), np.nan, np.float32))
    program.call("rows", x, w, out)
    assert x[9, 40] == x[0, 0]
    return [(out, exact(x)[8:24, 32:] @ exact(w))]


def imported(program: HostProgram) -> Pairs:
    """A function of JAX that nobody calls is one on buffers."""
    shapes = (16, 128), (128, 64), (128, 64)
    x, gate, up = (
        program.array(normal(program, shape, seed, shape[0] ** -0.5).astype(F16))
        for seed, shape in enumerate(shapes)
    )
    out = program.array(np.full((16, 64), np.nan, F16))
    program.call("main", x, gate, up, out)
    return [(out, silu(exact(x) @ exact(gate)) * (exact(x) @ exact(up)))]


# Bytes behind the program, numbers in it, and one that a loop begins with.
CONSTANTS = """
func.func @scaled(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %gain = arith.constant dense_resource<gain> : tensor<4x1xf32>
  %bias = arith.constant dense<[[1.0], [-1.0], [0.5], [2.0]]> : tensor<4x1xf32>
  %first = arith.constant dense<[[3.0], [0.0], [-4.0], [1.0]]> : tensor<4x1xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %first) -> (tensor<4x1xf32>) {
    %b = arith.mulf %a, %gain : tensor<4x1xf32>
    %c = arith.addf %b, %bias : tensor<4x1xf32>
    scf.yield %c : tensor<4x1xf32>
  }
  %v = tensor.collapse_shape %s [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
  %w = linalg.broadcast ins(%v : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %y = arith.addf %x, %w : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
{-# dialect_resources: { builtin: {
  gain: "0x040000000000003F000000400000803E000080BF" } } #-}
"""


def constants(program: HostProgram) -> Pairs:
    x = normal(program, (4, 8), 0)
    gain = np.array([[0.5], [2], [0.25], [-1]])
    added = np.array([[3.0], [0], [-4], [1]])
    pairs: list[tuple[NDArray[Any], Array]] = []
    for count in range(3):
        (found,) = program.results("scaled", [((4, 8), F32)], x, ctypes.c_int64(count))
        pairs.append((found, exact(x) + added))
        added = added * gain + np.array([[1], [-1], [0.5], [2]])
    return pairs


# Booleans of the host, one of which it computes itself, and one that it gets of a kernel.
MASKS = """
func.func @masked(%x: tensor<16x24xf32>, %w: tensor<24x8xf32>, %mask: tensor<16x8xi1>,
    %places: tensor<16x8xi32>, %from: i32) -> (tensor<16x8xf32>, tensor<16x8xi1>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %bits = tensor.empty() : tensor<16x8xi1>
  %late = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%places : tensor<16x8xi32>) outs(%bits : tensor<16x8xi1>) {
    ^bb0(%place: i32, %old: i1):
      %is = arith.cmpi sge, %place, %from : i32
      linalg.yield %is : i1
  } -> tensor<16x8xi1>
  %m = linalg.matmul ins(%x, %w : tensor<16x24xf32>, tensor<24x8xf32>)
    outs(%z : tensor<16x8xf32>) -> tensor<16x8xf32>
  %a = arith.select %mask, %m, %z : tensor<16x8xi1>, tensor<16x8xf32>
  %b = arith.select %late, %a, %m : tensor<16x8xi1>, tensor<16x8xf32>
  %above = arith.cmpf ogt, %b, %z : tensor<16x8xf32>
  func.return %b, %above : tensor<16x8xf32>, tensor<16x8xi1>
}
"""


def masks(program: HostProgram) -> Pairs:
    x, w = normal(program, (16, 24), 0), normal(program, (24, 8), 1)
    random = np.random.default_rng(2)
    mask = program.array(random.integers(0, 2, (16, 8)).astype(bool))
    places = program.array(random.integers(0, 9, (16, 8)).astype(np.int32))
    given = x, w, mask, places, ctypes.c_int32(4)
    kinds = [((16, 8), F32), ((16, 8), np.dtype(bool))]
    found, above = program.results("masked", kinds, *given)
    product = exact(x) @ exact(w)
    wanted = np.where(places >= 4, np.where(mask, product, 0), product)
    return [(found, wanted), (above, (found > 0).astype(np.float64))]


HOST_CASES = {
    "loop": HostCase(LOOP, loop),
    "mixed": HostCase(MIXED, mixed),
    "calls": HostCase(CALLS, calls, (), tolerance=4e-3),
    "buffers": HostCase(BUFFERS, buffers),
    "masks": HostCase(MASKS, masks),
    "constants": HostCase(CONSTANTS, constants),
    "imported": HostCase(
        (IMPORTED / "gated_mlp.mlir").read_text(), imported, ("--convert-stablehlo-to-kernel",)
    ),
}
