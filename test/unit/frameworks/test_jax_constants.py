"""What a function of JAX computes from no input is a constant; masks stay formulas of indices."""

from typing import Any

import pytest
from optional_packages import package

import mirage_mlir as mi

pytestmark = pytest.mark.usefixtures("shared_cache")


@pytest.fixture(scope="module")
def jax() -> Any:
    return package("jax")


def folded(jax: Any, function: Any, *inputs: Any) -> Any:
    """What the frontend makes of it, which computes the same."""
    from mirage_mlir.frameworks.jax_constants import with_constants

    traced = jax.make_jaxpr(function)(*inputs)
    made = with_constants(traced)
    (found,) = jax.core.eval_jaxpr(made.jaxpr, made.consts, *inputs)
    assert jax.numpy.allclose(found, function(*inputs), atol=1e-6)
    return made


def rotated(jax: Any, x: Any) -> Any:
    """A rotary embedding, whose angles are computed."""
    positions, width = x.shape[-2:]
    frequencies = 10000.0 ** (-jax.numpy.arange(0, width, 2) / width)
    angles = jax.numpy.arange(positions)[:, None] * frequencies
    cos, sin = jax.numpy.cos(angles), jax.numpy.sin(angles)
    a, b = x[..., ::2], x[..., 1::2]
    return jax.numpy.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


@pytest.fixture
def x(jax: Any) -> Any:
    return jax.random.normal(jax.random.key(0), (2, 4, 6))


@pytest.mark.parametrize("nested", [False, True])
def test_tables(jax: Any, x: Any, nested: bool) -> None:
    """Those of a rotary embedding, once each, also in a function that is compiled by itself."""

    def program(x: Any) -> Any:
        return rotated(jax, x)

    made = folded(jax, jax.jit(program) if nested else program, x)
    assert [each.shape for each in made.consts] == [(1, 4, 3), (1, 4, 3)]
    assert {"iota", "cos", "sin", "pow"}.isdisjoint(each.primitive.name for each in made.eqns)


def test_masks_stay_formulas(jax: Any, x: Any) -> None:
    """Also where the numbers that are compared are a table; -inf is no number of a table."""

    def masked(x: Any) -> Any:
        index = jax.numpy.arange(6.0)
        low = jax.numpy.where(index < 4, 0, -jax.numpy.inf)
        return jax.numpy.where(index[:4, None] >= index, x * 2, -jax.numpy.inf) + low

    traced = jax.make_jaxpr(masked)(x)
    from mirage_mlir.frameworks.jax_constants import with_constants

    assert with_constants(traced) is traced


def local(jax: Any, q: Any, k: Any, v: Any) -> Any:
    """Attention of the last eight keys, with the lowest number in place of others."""
    index = jax.numpy.arange(q.shape[0])
    seen = (index[:, None] >= index) & (index[:, None] - 8 < index)
    scores = jax.numpy.where(seen, q @ k.T, jax.numpy.finfo(q.dtype).min)
    return jax.nn.softmax(scores) @ v


@pytest.mark.parametrize("kind", ["causal", "local"])
def test_masks_of_large_numbers_are_infinite(jax: Any, kind: str) -> None:
    """So that blocks leave out keys of which they see nothing."""
    shape = (32, 16) if kind == "local" else (1, 32, 2, 16)
    q, k, v = jax.random.normal(jax.random.key(2), (3, *shape))

    def attention(q: Any, k: Any, v: Any) -> Any:
        if kind == "local":
            return local(jax, q, k, v)
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    compiled = mi.compile(attention, compile_for=["sm_90a"], max_kernels=1)
    assert jax.numpy.allclose(compiled(q, k, v), attention(q, k, v), atol=1e-3)
    assert "value = 0xff800000" in compiled.kernel.ugraph
    assert "threadblock.transpose" not in compiled.kernel.ugraph, "probabilities stay in registers"


def test_what_has_one_value_stays(jax: Any, x: Any) -> None:
    def program(x: Any) -> Any:
        return x + jax.numpy.ones((4, 6)) * 2 + jax.numpy.arange(3)[1]

    assert not folded(jax, program, x).consts


def test_compiled(jax: Any, x: Any) -> None:
    """With its gradient, and while another function is traced."""

    def program(x: Any) -> Any:
        return x * jax.numpy.sin(jax.numpy.arange(6.0)) + jax.random.normal(jax.random.key(1), (6,))

    compiled = mi.compile(program)
    found, back = jax.vjp(compiled, x)
    wanted, exact = jax.vjp(program, x)
    assert jax.numpy.allclose(found, wanted, atol=1e-6)
    assert jax.numpy.allclose(back(found)[0], exact(found)[0], atol=1e-6)
    assert jax.numpy.allclose(jax.jit(mi.compile(program))(x), wanted, atol=1e-6)
