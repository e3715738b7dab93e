"""
Programs that people write in JAX, and `test/import`, which has what JAX printed of them.

`python test/support/jax_programs.py` prints them again, with the version of JAX that is installed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

jax: Any = pytest.importorskip("jax")
jnp = jax.numpy

FOLDER = Path(__file__).parents[1] / "import"


def rmsnorm_linear(x: Any, gain: Any, weight: Any) -> Any:
    """RMSNorm, its mean in f32, then a linear layer."""
    mean = jnp.mean(jnp.square(x.astype(jnp.float32)), axis=-1, keepdims=True)
    return (x * jax.lax.rsqrt(mean + 1e-5).astype(x.dtype) * gain) @ weight


def gated_mlp(x: Any, gate: Any, up: Any) -> Any:
    """SwiGLU without the last layer."""
    return jax.nn.silu(x @ gate) * (x @ up)


def attention(q: Any, k: Any, v: Any) -> Any:
    """Causal attention, two queries for each head of keys."""
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def lora(x: Any, weight: Any, down: Any, up: Any) -> Any:
    """A linear layer with an adapter of low rank."""
    return x @ weight + (x @ down) @ up


def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
    """LayerNorm in f32."""
    wide = x.astype(jnp.float32)
    mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(variance + 1e-5)).astype(x.dtype) * gain + bias


@dataclass(frozen=True)
class JaxProgram:
    """A function, and the shapes of its arguments, which are f16."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def name(self) -> str:
        """Of the function."""
        return self.function.__name__

    @property
    def path(self) -> Path:
        """Where its text is."""
        return FOLDER / f"{self.name}.mlir"

    def inputs(self) -> list[Any]:
        """Random ones; products of matrices stay near 1."""
        keys = jax.random.split(jax.random.key(7), len(self.shapes))
        scales = [1.0, *(shape[0] ** -0.5 for shape in self.shapes[1:])]
        return [
            jax.random.normal(key, shape, jnp.float16) * jnp.float16(scale)
            for key, shape, scale in zip(keys, self.shapes, scales, strict=True)
        ]


PROGRAMS = [
    JaxProgram(rmsnorm_linear, ((16, 128), (128,), (128, 64))),
    JaxProgram(gated_mlp, ((16, 128), (128, 64), (128, 64))),
    JaxProgram(attention, ((1, 16, 4, 16), (1, 16, 2, 16), (1, 16, 2, 16))),
    JaxProgram(lora, ((16, 128), (128, 64), (128, 8), (8, 64))),
    JaxProgram(layer_norm, ((16, 128), (128,), (128,))),
]


def stablehlo(function: Callable[..., Any], *like: Any) -> str:
    """The generic form of what JAX makes of a function for a GPU."""
    text = StringIO()
    traced = jax.jit(function).trace(*like)
    module = traced.lower(lowering_platforms=("cuda",)).compiler_ir("stablehlo")
    module.operation.print(file=text, print_generic_op_form=True)
    return text.getvalue()


def header(program: JaxProgram) -> str:
    """What stands above the text: where it is from, and how lit runs it."""
    return (
        f"// `{program.name}` of test/support/jax_programs.py, printed by JAX {jax.__version__}.\n"
        "// RUN: mirage-opt --convert-stablehlo-to-kernel %s | filecheck %s\n"
        "// CHECK: func.func public @main(\n"
        "// CHECK-NOT: {{stablehlo\\.|chlo\\.|func.call}}\n"
        "// CHECK: func.return\n"
        "// CHECK-NOT: func.func\n"
    )


def main() -> None:
    """Print all programs again."""
    for program in PROGRAMS:
        like = [jax.ShapeDtypeStruct(shape, jnp.float16) for shape in program.shapes]
        program.path.write_text(header(program) + stablehlo(program.function, *like))


if __name__ == "__main__":
    main()
