"""Programs and rewrites of them: equal ones, ones that lose accuracy, and different ones."""

from __future__ import annotations

from pathlib import Path

UGRAPHS = Path(__file__).parents[1] / "ugraphs"

EQUAL: dict[str, tuple[str, str, str, str]] = {
    "a norm below a matmul": (
        "16x4096 4096x64",
        "16x64",
        "%n = rms_norm %0 {eps = 1.0e-05 : f32} : 16x4096 -> 16x4096\n"
        "%r = matmul %n, %1 : 16x4096 4096x64 -> 16x64",
        "%p = matmul %0, %1 : 16x4096 4096x64 -> 16x64\n"
        "%s = square %0 : 16x4096 -> 16x4096\n"
        "%m = reduce_mean %s {dims = array<i64: 1>} : 16x4096 -> 16x1\n"
        "%e = constant {value = 1.0e-05 : f32} : 16x1\n"
        "%d = add %m, %e : 16x1 16x1 -> 16x1\n"
        "%t = rsqrt %d : 16x1 -> 16x1\n"
        "%r = mul %p, %t : 16x64 16x1 -> 16x64",
    ),
    "associativity and distribution": (
        "8x16 16x4 4x24 16x24",
        "8x24",
        "%p = matmul %1, %2 : 16x4 4x24 -> 16x24\n%s = add %p, %3 : 16x24 16x24 -> 16x24\n"
        "%r = matmul %0, %s : 8x16 16x24 -> 8x24",
        "%p = matmul %0, %1 : 8x16 16x4 -> 8x4\n%q = matmul %p, %2 : 8x4 4x24 -> 8x24\n"
        "%s = matmul %0, %3 : 8x16 16x24 -> 8x24\n%r = add %q, %s : 8x24 8x24 -> 8x24",
    ),
    "views": (
        "4x12",
        "12x4",
        "%r = transpose %0 {permutation = array<i64: 1, 0>} : 4x12 -> 12x4",
        "%a = reshape %0 : 4x12 -> 4x3x4\n"
        "%b = transpose %a {permutation = array<i64: 1, 2, 0>} : 4x3x4 -> 3x4x4\n"
        "%r = reshape %b : 3x4x4 -> 12x4",
    ),
    "relu twice": (
        "4x8",
        "4x8",
        "%r = relu %0 : 4x8 -> 4x8",
        "%s = relu %0 : 4x8 -> 4x8\n%r = relu %s : 4x8 -> 4x8",
    ),
}


INACCURATE: dict[str, tuple[str, str, str, str]] = {
    "softmax without a shift": (
        "4x8",
        "4x8",
        "%r = softmax %0 {dim = 1 : i64} : 4x8 -> 4x8",
        "%s = exp %0 : 4x8 -> 4x8\n%t = reduce_sum %s {dims = array<i64: 1>} : 4x8 -> 4x1\n"
        "%r = div %s, %t : 4x8 4x1 -> 4x8",
    ),
    "softmax with any shift of rows": (
        "4x8 4x1",
        "4x8",
        "%r = softmax %0 {dim = 1 : i64} : 4x8 -> 4x8",
        "%c = sub %0, %1 : 4x8 4x1 -> 4x8\n%r = softmax %c {dim = 1 : i64} : 4x8 -> 4x8",
    ),
}
"""What is equal, but only numbers near zero survive."""


DIFFERENT: dict[str, tuple[str, str, str, str]] = {
    "another epsilon": (
        "16x4096",
        "16x4096",
        "%r = rms_norm %0 {eps = 1.0e-05 : f32} : 16x4096 -> 16x4096",
        "%r = rms_norm %0 {eps = 1.0e-06 : f32} : 16x4096 -> 16x4096",
    ),
    "a sum for a mean": (
        "4x6",
        "4x1",
        "%r = reduce_mean %0 {dims = array<i64: 1>} : 4x6 -> 4x1",
        "%r = reduce_sum %0 {dims = array<i64: 1>} : 4x6 -> 4x1",
    ),
    "another dimension": (
        "8x8",
        "8x8",
        "%r = softmax %0 {dim = 0 : i64} : 8x8 -> 8x8",
        "%r = softmax %0 {dim = 1 : i64} : 8x8 -> 8x8",
    ),
    "silu of silu": (
        "4x8",
        "4x8",
        "%s = silu %0 : 4x8 -> 4x8\n%r = silu %s : 4x8 -> 4x8",
        "%s = silu %0 : 4x8 -> 4x8\n%r = square %s : 4x8 -> 4x8",
    ),
    "bounds of a clamp": (
        "4x8",
        "4x8",
        "%r = clamp %0 {min = -1.0 : f32, max = 1.0 : f32} : 4x8 -> 4x8",
        "%r = clamp %0 {min = -1.0 : f32, max = 5.0e-01 : f32} : 4x8 -> 4x8",
    ),
    "a transposed square matrix": (
        "8x8 8x8",
        "8x8",
        "%r = matmul %0, %1 : 8x8 8x8 -> 8x8",
        "%t = transpose %1 {permutation = array<i64: 1, 0>} : 8x8 -> 8x8\n"
        "%r = matmul %0, %t : 8x8 8x8 -> 8x8",
    ),
    "repeat for repeat_interleave": (
        "4x8",
        "8x8",
        "%r = repeat %0 {dim = 0 : i64, times = 2 : i64} : 4x8 -> 8x8",
        "%r = repeat_interleave %0 {dim = 0 : i64, times = 2 : i64} : 4x8 -> 8x8",
    ),
    "a slice moved by one in a long dimension": (
        "4x4096",
        "4x100",
        "%r = slice %0 {offsets = array<i64: 0, 1000>, sizes = array<i64: 4, 100>, "
        "strides = array<i64: 1, 1>} : 4x4096 -> 4x100",
        "%r = slice %0 {offsets = array<i64: 0, 1001>, sizes = array<i64: 4, 100>, "
        "strides = array<i64: 1, 1>} : 4x4096 -> 4x100",
    ),
    "another order of heads": (
        "4x4096",
        "4x4096",
        "%a = reshape %0 : 4x4096 -> 4x32x128\n"
        "%b = transpose %a {permutation = array<i64: 0, 2, 1>} : 4x32x128 -> 4x128x32\n"
        "%r = reshape %b : 4x128x32 -> 4x4096",
        "%a = reshape %0 : 4x4096 -> 4x128x32\n"
        "%b = transpose %a {permutation = array<i64: 0, 2, 1>} : 4x128x32 -> 4x32x128\n"
        "%r = reshape %b : 4x32x128 -> 4x4096",
    ),
    "gelu and its approximation": (
        "4x8",
        "4x8",
        "%r = gelu %0 : 4x8 -> 4x8",
        '%r = gelu %0 {approximate = "tanh"} : 4x8 -> 4x8',
    ),
    "a softmax without its normaliser": (
        "4x8 4x1",
        "4x8",
        "%r = exp %0 : 4x8 -> 4x8",
        "%c = sub %0, %1 : 4x8 4x1 -> 4x8\n%r = exp %c : 4x8 -> 4x8",
    ),
}
