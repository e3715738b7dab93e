# pyright: basic
"""Rules of differentiation that functions of JAX bring along."""

import pytest
from optional_packages import package

import mirage_mlir as mi

jax = package("jax")
jnp = jax.numpy

OPTIONS = {"target": "A100", "compile_for": ["sm_80"]}


@jax.custom_vjp
def reversed_rule(x):
    return x * 2


reversed_rule.defvjp(lambda x: (reversed_rule(x), None), lambda _, g: (g * 7,))


@jax.custom_jvp
def forward_rule(x):
    return x * 2


forward_rule.defjvp(lambda x, t: (forward_rule(*x), t[0] * 9))

FUNCTIONS = {
    "stop_gradient": lambda x: x * jax.lax.stop_gradient(x),
    "custom_vjp": reversed_rule,
    "custom_jvp": lambda x: forward_rule(x) * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_own_rules(name: str) -> None:
    """Gradients are those that JAX gives, by the user's rules."""
    function = FUNCTIONS[name]
    x = jax.random.normal(jax.random.key(1), (3, 5))
    found = jax.grad(lambda x: mi.compile(function, **OPTIONS)(x).sum())(x)
    assert jnp.allclose(found, jax.grad(lambda x: function(x).sum())(x), atol=1e-5)


def test_of_jax() -> None:
    """Rules of JAX's own functions say what the program says, where a user's are told apart."""
    from mirage_mlir.frameworks.jax_rules import has_rules

    def own(x):
        return jax.nn.softmax(jax.nn.relu(x)), jax.nn.logsumexp(x), jax.nn.silu(x)

    x = jnp.ones(4)
    assert not has_rules(jax.make_jaxpr(own)(x).jaxpr)
    inside = jax.jit(lambda x: jax.nn.relu(forward_rule(x)))
    assert has_rules(jax.make_jaxpr(inside)(x).jaxpr)


def test_names_of_callees() -> None:
    """A function may have the name of one that it calls."""
    x = jnp.asarray([[-1.0, 2.0]])
    assert mi.compile(jax.nn.relu, **OPTIONS)(x).tolist() == [[0, 2]]


def test_random_numbers() -> None:
    """They have a key, of integers, on which JAX says how it is sharded."""
    key = jax.random.key(0)
    with pytest.raises(mi.UnsupportedOperation, match="takes tensor<2xui32> as argument 1"):
        mi.compile(lambda x, k: x + jax.random.normal(k, x.shape), **OPTIONS)(jnp.ones((3, 5)), key)
