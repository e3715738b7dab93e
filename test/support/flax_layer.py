"""
A decoder layer written with Flax, and its StableHLO in `test/import/flax_decoder_layer.mlir`.

`python test/support/flax_layer.py` prints it again, with the versions that are installed.
"""

from pathlib import Path
from typing import Any

import pytest
from jax_programs import stablehlo

flax: Any = pytest.importorskip("flax")
jax: Any = pytest.importorskip("jax")
nn, jnp = flax.linen, jax.numpy

FILE = Path(__file__).parents[1] / "import" / "flax_decoder_layer.mlir"

TOKENS, HEADS, GROUPS, DEPTH, HIDDEN = 16, 4, 2, 16, 128
WIDTH = HEADS * DEPTH


def rotated(x: Any, cosine: Any, sine: Any) -> Any:
    """Rotary embedding by halves of each head."""
    left, right = jnp.split(x, 2, axis=-1)
    turned = jnp.concatenate([-right, left], axis=-1)
    return x * cosine[:, None] + turned * sine[:, None]


class DecoderLayer(nn.Module):
    """As in LLaMA: grouped heads, rotary embedding, a causal mask, and a gated MLP."""

    @nn.compact
    def __call__(self, x: Any, cosine: Any, sine: Any) -> Any:
        def dense(name: str, size: int) -> Any:
            return nn.Dense(size, use_bias=False, name=name)

        h = nn.RMSNorm(name="attention_norm")(x)
        q = dense("q", WIDTH)(h).reshape(TOKENS, HEADS, DEPTH)
        k = dense("k", GROUPS * DEPTH)(h).reshape(TOKENS, GROUPS, DEPTH)
        v = dense("v", GROUPS * DEPTH)(h).reshape(TOKENS, GROUPS, DEPTH)
        q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        k, v = (jnp.repeat(each, HEADS // GROUPS, axis=1) for each in (k, v))
        mask = nn.make_causal_mask(jnp.ones((TOKENS,)), dtype=bool)
        o = nn.dot_product_attention(q, k, v, mask=mask)
        x = x + dense("o", WIDTH)(o.reshape(TOKENS, WIDTH))
        h = nn.RMSNorm(name="mlp_norm")(x)
        return x + dense("down", WIDTH)(nn.silu(dense("gate", HIDDEN)(h)) * dense("up", HIDDEN)(h))


def layer(parameters: Any, x: Any, cosine: Any, sine: Any) -> Any:
    """The layer as a function of its parameters."""
    return DecoderLayer().apply({"params": parameters}, x, cosine, sine)


def arguments() -> tuple[Any, ...]:
    """Parameters as Flax draws them, tokens, and rotary tables."""
    x = jax.random.normal(jax.random.key(3), (TOKENS, WIDTH), jnp.float32)
    angles = jnp.arange(TOKENS)[:, None] * 1e4 ** (-jnp.arange(DEPTH // 2) / (DEPTH // 2))
    angles = jnp.concatenate([angles, angles], axis=-1)
    cosine, sine = jnp.cos(angles), jnp.sin(angles)
    made = jax.jit(DecoderLayer().init)(jax.random.key(5), x, cosine, sine)["params"]
    return made, x, cosine, sine


def main() -> None:
    """Print the layer again."""
    header = (
        f"// A decoder layer of Flax {flax.__version__} (test/support/flax_layer.py), printed by "
        f"JAX {jax.__version__}.\n"
        "// RUN: mirage-opt --convert-stablehlo-to-kernel %s | filecheck %s\n"
        "// CHECK: func.func public @main(\n"
        "// CHECK-NOT: {{stablehlo\\.|chlo\\.|func.call}}\n"
        "// CHECK: func.return\n"
        "// CHECK-NOT: func.func\n"
    )
    FILE.write_text(header + stablehlo(layer, *arguments()))


if __name__ == "__main__":
    main()
