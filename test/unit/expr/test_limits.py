"""Nothing takes exponential time, and nothing depends on the hash seed."""

import os
import subprocess
import sys
from collections.abc import Callable
from time import thread_time

import pytest

from mirage_mlir.expr.closure import Closure
from mirage_mlir.expr.heads import FULL, Poly
from mirage_mlir.expr.normal_form import NormalForm

SECONDS = 120
"""Of this thread alone. The longest case takes 9 s; what these guard against takes hours."""


def power_of_a_large_sum(nf: NormalForm) -> Poly | None:
    total: Poly | None = nf.input("x0", "i")
    for i in range(1, 24):
        total = nf.add(total, nf.input(f"x{i}", "i"))
    return nf.power(total, 9)


def power_of_a_reduction(nf: NormalForm) -> Poly | None:
    """Nine bound variables of one axis, all alike."""
    return nf.power(nf.bind(nf.input("x", "ik"), "k", FULL), 9)


def chain_of_matmuls(nf: NormalForm) -> Poly | None:
    product: Poly | None = nf.input("w0", "ab")
    for i, axes in enumerate(("bc", "cd", "de", "ef", "fg", "gh", "hi", "ij"), start=1):
        product = nf.bind(nf.mul(product, nf.input(f"w{i}", axes)), axes[0], FULL)
    return product


def one_sum_of_many(nf: NormalForm) -> Poly | None:
    """Eight bound variables in one sum that nothing tells apart but a shared factor."""
    product: Poly | None = nf.constant(1)
    x = nf.input("x", "ik")
    for _ in range(8):
        product = nf.mul(product, nf.bind(x, "k", FULL))
    return nf.bind(product, "i", FULL)


def nested_functions(nf: NormalForm) -> Poly | None:
    value: Poly | None = nf.input("x", "ik")
    for _ in range(12):
        value = nf.function("exp", nf.add(value, nf.function("sqrt", value)))
    return value


def product_of_many_inputs(nf: NormalForm) -> Poly | None:
    product: Poly | None = nf.constant(0.5)
    for i in range(13):
        product = nf.div(nf.mul(product, nf.input(f"x{i}", "i")), nf.input(f"y{i}", "i"))
    return product


def product_of_many_sums(nf: NormalForm) -> Poly | None:
    product: Poly | None = nf.one
    for i in range(9):
        product = nf.mul(product, nf.add(nf.input(f"x{i}", "i"), nf.input(f"y{i}", "i")))
    return product


@pytest.mark.parametrize("cancelling", [True, False])
@pytest.mark.parametrize(
    "program",
    [
        power_of_a_large_sum,
        power_of_a_reduction,
        chain_of_matmuls,
        one_sum_of_many,
        nested_functions,
        product_of_many_inputs,
        product_of_many_sums,
    ],
)
def test_no_hang(program: Callable[[NormalForm], Poly | None], cancelling: bool) -> None:
    start = thread_time()
    nf = NormalForm(expansion_limit=4096 if cancelling else 1, cancelling=cancelling)
    with nf.lowering():
        value = program(nf)
    assert value is not None
    if not cancelling:
        assert Closure(nf, [value]).has(value)
    assert thread_time() - start < SECONDS


SCRIPT = """
from mirage_mlir.expr.closure import Closure
from mirage_mlir.expr.heads import FULL
from mirage_mlir.expr.normal_form import NormalForm

nf = NormalForm()
with nf.lowering():
    x, h, w = nf.input("x", "ik"), nf.input("h", "ik"), nf.input("w", "kj")
    s = nf.add(x, nf.scale(nf.function("silu", h), 0.3))
    mean = nf.mul(nf.bind(nf.mul(s, s), "k", FULL), nf.inverse(nf.size("k")))
    y = nf.div(s, nf.function("sqrt", nf.add(mean, nf.constant(1e-5))))
    target = nf.bind(nf.mul(y, w), "k", FULL)
closure = Closure(nf, [target])
print(nf.show(target), [nf.show(root) for root in closure.roots])
print(closure.functions, closure.constants)
print([[p, nf.show(p), closure.has(p)] for p in range(nf.add(x, h))])
"""


def test_determinism() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    (output,) = outputs
    assert "sqrt" in output
