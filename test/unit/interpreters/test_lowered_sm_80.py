"""Kernels for chips without tensor copies and warpgroups: all threads copy, warps multiply."""

from collections.abc import Callable

import lowering_cases as cases
import lowering_tiles as tiles
import pytest
from lowered_kernels import check
from lowering_cases import Linear
from sampling import sampled
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import nvvm

USUAL = Linear(16, 192, 96, 16, 64, 48)
WIDE = Linear(40, 256, 160, 32, 128, 64)
ROWS = Linear(130, 96, 72, 64, 32, 24)

CASES: dict[str, Callable[[], ModuleOp]] = {
    "usual": lambda: cases.rmsnorm_linear(USUAL),
    "wide": lambda: cases.rmsnorm_linear(WIDE),
    "rows": lambda: cases.rmsnorm_linear(ROWS),
    "bf16": lambda: cases.rmsnorm_linear(WIDE._replace(kind="bf16")),
    "f32": lambda: cases.rmsnorm_linear(WIDE._replace(kind="f32")),
    "one-row": lambda: cases.rmsnorm_linear(Linear(1, 256, 64, 1, 128, 32)),
    "three-rows": lambda: cases.biased_linear(Linear(3, 256, 64, 3, 64, 32)),
    "odd": lambda: cases.rmsnorm_linear(Linear(17, 33, 35, 16, 16, 16)),
    "computed": lambda: cases.transposed_linear(WIDE, computed=True, views=False),
    "computed-views": lambda: cases.transposed_linear(WIDE, computed=True, views=True),
    "views": lambda: cases.transposed_linear(WIDE, computed=False, views=True),
    "gated": lambda: cases.gated_mlp(WIDE),
    "attention": lambda: cases.attention(16, 64, 64),
    "softmax": lambda: tiles.softmax(12, 512, 4),
    "layer-norm": lambda: tiles.layer_norm(12, 512, 4, "f16"),
    "transposes": lambda: tiles.transposes(72, 40, (36, 20), "f16"),
    "joined": lambda: tiles.joined_matmul(16, (32, 16), 24, 2),
}


def operations(kernels: gpu.ModuleOp) -> set[str]:
    return {op.name for op in kernels.walk()}


@pytest.mark.parametrize("name", sampled(list(CASES), 4))
def test_kernels(name: str) -> None:
    kernels = check(CASES[name](), target="sm_80")
    assert not any("mbarrier" in each or "wgmma" in each for each in operations(kernels))


def test_copies_are_asynchronous() -> None:
    kernels = check(CASES["usual"](), target="sm_80")
    assert nvvm.CpAsyncSharedGlobalOp.name in operations(kernels)
