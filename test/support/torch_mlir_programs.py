"""
Functions of PyTorch of which `test/import` has what torch-mlir prints.

`python test/support/torch_mlir_programs.py FOLDER` prints them anew, where torch-mlir is installed.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

HALF = torch.float16


def rmsnorm_linear(x: Tensor, gain: Tensor, w: Tensor) -> Tensor:
    """RMSNorm with a gain, then a linear layer."""
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
    return (x * scale * gain) @ w


def rmsnorm_linear_f16(x: Tensor, w: Tensor) -> Tensor:
    """As LLaMA has it: the norm in f32, the product in f16."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(HALF) @ w


def gated_mlp(x: Tensor, gate: Tensor, up: Tensor) -> Tensor:
    """The first half of a gated MLP."""
    return functional.silu(x @ gate) * (x @ up)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of several heads."""
    return torch.softmax(q @ k.transpose(-1, -2) / 8.0, -1) @ v


def masked_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same, causal."""
    scores = q @ k.transpose(-1, -2) / 8.0
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~mask, -1e4), -1) @ v


def linear_gelu(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """A linear layer with a bias, and GELU."""
    return functional.gelu(functional.linear(x, w, b))


PROGRAMS: Mapping[str, tuple[Callable[..., Tensor], torch.dtype, tuple[tuple[int, ...], ...]]] = {
    "rmsnorm_linear": (rmsnorm_linear, torch.float32, ((16, 128), (128,), (128, 64))),
    "rmsnorm_linear_f16": (rmsnorm_linear_f16, HALF, ((16, 128), (128, 64))),
    "gated_mlp": (gated_mlp, HALF, ((16, 128), (128, 64), (128, 64))),
    "attention": (attention, HALF, ((2, 16, 64), (2, 64, 64), (2, 64, 64))),
    "masked_attention": (masked_attention, torch.float32, ((2, 16, 64), (2, 16, 64), (2, 16, 64))),
    "linear_gelu": (linear_gelu, torch.float32, ((16, 64), (32, 64), (32,))),
}
"""Function, element type, shapes of the inputs."""

IN_STABLEHLO = ("masked_attention",)
"""Those that are printed in StableHLO, too."""


def inputs_of(name: str) -> list[Tensor]:
    """Random inputs, of which weights keep the size of what they are multiplied with."""
    _, kind, shapes = PROGRAMS[name]
    generator = torch.Generator().manual_seed(0)
    return [
        (torch.randn(shape, generator=generator) / (shape[0] ** 0.5 if n else 1)).to(kind)
        for n, shape in enumerate(shapes)
    ]


def printed(name: str, output: str = "linalg-on-tensors") -> str:
    """The program as torch-mlir prints it."""
    function = PROGRAMS[name][0]

    class Module(torch.nn.Module):
        """What is exported."""

        def forward(self, *inputs: Tensor) -> Tensor:
            return function(*inputs)

    fx: Any = import_module("torch_mlir.fx")
    module = fx.export_and_import(Module(), *inputs_of(name), output_type=output, func_name=name)
    return str(module)


def head_of(name: str, language: str) -> str:
    """What makes a lit test of the program."""
    return f"""\
// `{name}` of test/support/torch_mlir_programs.py, printed by torch-mlir 20261001.
// RUN: mirage-opt --convert-{language}-to-kernel %s --verify-diagnostics | filecheck %s
// CHECK: func.func @{name}(
// CHECK-NOT: {{{{{language}\\.|tensor\\.|arith\\.|math\\.|func.call}}}}
// CHECK: func.return
// CHECK-NOT: func.func
"""


def main(folder: str) -> None:
    """Write a lit test for each program."""
    for name in PROGRAMS:
        text = head_of(name, "linalg") + printed(name)
        Path(folder, f"torch_{name}.mlir").write_text(text)
    for name in IN_STABLEHLO:
        text = head_of(name, "stablehlo") + printed(name, "stablehlo")
        Path(folder, f"torch_{name}_stablehlo.mlir").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
