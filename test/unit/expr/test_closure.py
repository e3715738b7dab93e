"""The closure on whole programs: complete, closed downwards, finite, without cycles."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import product
from typing import Any

import pytest
from closure_programs import PROGRAMS, Builder, Value, lora
from label_free import LabelFree
from sampling import sampled

from mirage_mlir.expr.closure import Closure
from mirage_mlir.expr.heads import FULL, GRID, LOOP, TILE, Poly
from mirage_mlir.expr.normal_form import NormalForm


@dataclass(frozen=True)
class Step:
    """How a value is computed from others; `detail` are the arguments that are no values."""

    op: str
    operands: tuple[Poly, ...]
    detail: tuple[Any, ...] = ()


def read(name: str, **variant: Any) -> tuple[Builder, Closure]:
    builder = Builder(NormalForm(**variant))
    with builder.nf.lowering():
        target = PROGRAMS[name](builder)
    return builder, Closure(builder.nf, [target])


def saturate(builder: Builder, closure: Closure) -> dict[Poly, list[Step]]:
    """All values of the closure that can be computed, each with all steps that give it."""
    nf = builder.nf
    steps: dict[Poly, list[Step]] = {p: [] for p in builder.inputs.values()}
    steps |= {constant.poly: [] for constant in closure.constants}
    waiting = list(steps)

    def offer(op: str, operands: tuple[Poly, ...], *detail: Any) -> None:
        # A function's name comes before its argument, an axis after it.
        arguments = (*detail, *operands) if op == "function" else (*operands, *detail)
        value: Value = getattr(nf, op)(*arguments)
        if value is not None and closure.has(value):
            if value not in steps:
                steps[value] = []
                waiting.append(value)
            steps[value].append(Step(op, operands, detail))

    done: list[Poly] = []
    while waiting:
        value = waiting.pop(0)
        done.append(value)
        for name, argument in closure.functions:
            if argument == value:
                offer("function", (value,), name)
        for axis, free in nf.free(value).items():
            bits = next(b for b in (TILE, LOOP, GRID) if free & b)
            offer("bind", (value,), axis, bits)
            offer("bind_max", (value,), axis, bits)
        for other in done:
            for op in ("add", "sub", "mul", "div", "maximum"):
                offer(op, (value, other))
                offer(op, (other, value))
    return steps


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_of_the_program(name: str) -> None:
    """Else the program itself would be pruned."""
    builder, closure = read(name)
    for value in (*builder.inputs.values(), *builder.values):
        assert closure.has(value), builder.nf.show(value)


@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
def test_saturation_ends_at_the_target(name: str) -> None:
    """There are finitely many values, the target among them, and none is made of itself."""
    builder, closure = read(name)
    steps = saturate(builder, closure)
    assert builder.values[-1] in steps
    assert len(steps) < 500
    graph = {v: {o for step in made for o in step.operands} for v, made in steps.items()}
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
@pytest.mark.parametrize("expansion_limit", [1, 4])
def test_closed_downwards(name: str, expansion_limit: int) -> None:
    """What is in the closure can only be made of what is in it: pruning loses nothing."""
    builder, closure = read(name, expansion_limit=expansion_limit)
    nf, rng = builder.nf, random.Random(7)
    pool = [*builder.inputs.values(), *builder.values, *(c.poly for c in closure.constants)]
    found = 0
    for _ in range(1500):
        a, b = rng.choice(pool), rng.choice(pool)
        op = rng.choice(("add", "sub", "mul", "div", "bind"))
        if op == "bind":
            axis = rng.choice([*nf.free(a), "i"])
            value, operands = nf.bind(a, axis, rng.choice((TILE, LOOP, GRID, FULL))), [a]
        else:
            value, operands = getattr(nf, op)(a, b), [a, b]
        if value is None or len(nf.monomials(value)) > 6:
            continue
        if closure.has(value):
            found += 1
            assert all(map(closure.has, operands)), f"{nf.show(value)} by {op}"
        if closure.has(value) or rng.random() < 0.03:
            pool.append(value)
    assert found > 5


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("expansion_limit", [1, 4])
def test_sums_that_are_ruled_out_at_a_glance(name: str, expansion_limit: int) -> None:
    """None of them is in the closure; of those that are not, most are seen to be at once."""
    builder, closure = read(name, expansion_limit=expansion_limit)
    nf = builder.nf
    pool = [*builder.inputs.values(), *builder.values, *(c.poly for c in closure.constants)]
    products = [nf.mul(a, b) for a, b in product(pool, repeat=2)]
    values = list(dict.fromkeys([*pool, *filter(closure.has, products)]))
    outside = ruled_out = 0
    for a, b in product([value for value in values if value is not None], repeat=2):
        for sign, value in ((1, nf.add(a, b)), (-1, nf.sub(a, b))):
            if closure.has(value):
                assert closure.may_add(a, b, sign)
            else:
                outside += 1
                ruled_out += not closure.may_add(a, b, sign)
    assert ruled_out > outside // 2


def test_rejects() -> None:
    builder, closure = read("rms_norm_linear")
    nf = builder.nf
    x, w = builder.inputs["X"], builder.inputs["W"]
    for value in (nf.add(x, x), nf.add(x, w), nf.bind(w, "k", FULL), nf.function("exp", x)):
        assert not closure.has(value)
    assert not closure.has(None)
    assert not closure.has(nf.bind(x, "i", TILE))


def test_two_loops_of_one_accumulator() -> None:
    """LoRA: partial sums over k and over r may be added before one accumulator sums both."""
    builder, closure = read("lora")
    nf, inputs = builder.nf, builder.inputs
    left = nf.bind(nf.mul(inputs["X"], inputs["W"]), "k", TILE)
    inner = nf.bind(nf.mul(inputs["X"], inputs["A"]), "k", FULL)
    right = nf.bind(nf.mul(inner, inputs["B"]), "r", TILE)
    both = nf.add(left, right)
    assert closure.has(both)
    accumulated = nf.bind_one_of(both, ("k", "r"), LOOP)
    assert closure.has(accumulated)
    assert nf.bind_one_of(accumulated, ("k", "r"), GRID) == builder.values[-1]


def test_several_targets() -> None:
    builder = Builder(NormalForm())
    with builder.nf.lowering():
        product = lora(builder)
        other = builder.apply("function", "tanh", builder.input("Y", "i"))
    closure = Closure(builder.nf, [product, other])
    assert closure.has(product)
    assert closure.has(other)
    assert closure.has(builder.inputs["Y"])
    assert closure.roots[:2] == [product, other]
    assert closure.functions == [("tanh", builder.inputs["Y"])]


def test_constants() -> None:
    builder, closure = read("rms_norm_linear")
    assert [(c.value, c.axis, c.exponent) for c in closure.constants] == [
        (builder.nf.constant_value(builder.nf.constant(1e-5)), None, 1),
        (None, "k", -1),
    ]


def test_factors_after_a_sum() -> None:
    """A sum over k may be multiplied by what has k; what is summed may not be, before that."""
    builder, closure = read("scaled_by_a_sum_of_sums")
    nf = builder.nf
    x, w, y = builder.inputs.values()
    for bits in (TILE, LOOP):
        assert closure.has(nf.bind(nf.add(x, w), "k", bits))
    assert closure.has(nf.mul(y, nf.bind(w, "k", FULL)))
    assert not closure.has(nf.mul(x, y))
    assert not closure.has(nf.mul(nf.add(x, w), y))
    assert not closure.has(nf.add(nf.mul(y, nf.bind(w, "k", FULL)), x))


@pytest.mark.parametrize("op", ["add", "sub"])
def test_sums_over_what_a_term_lacks(op: str) -> None:
    """`sum_k (x[k] + y)` is `sum_k x[k] + |k| y`, and x + y is on the way to it."""
    builder = Builder(NormalForm(size_algebra=True))
    nf = builder.nf
    with nf.lowering():
        x, y = builder.input("X", "ik"), builder.input("Y", "i")
        inside = builder.apply(op, x, y)
        target = builder.apply("bind", inside, "k", FULL)
    closure = Closure(nf, [target])
    assert closure.has(inside)
    assert nf.bind(inside, "k", FULL) == target
    assert closure.has(nf.mul(y, nf.size("k")))
    wrong = "sub" if op == "add" else "add"
    assert not closure.has(getattr(nf, wrong)(x, y))
    assert not closure.has(getattr(nf, op)(nf.bind(x, "k", FULL), y))
    assert not closure.has(getattr(nf, op)(x, nf.mul(y, nf.size("k"))))


def test_terms_that_lack_one_of_two_axes() -> None:
    """`sum_ik (x[i, k] + y[k])`: y is counted along one axis and summed along the other."""
    nf = NormalForm(size_algebra=True)
    with nf.lowering():
        x, y = nf.input("X", "ik"), nf.input("Y", "k")
        inside = nf.add(x, y)
        target = nf.bind(nf.bind(inside, "i", FULL), "k", FULL)
    assert target is not None
    closure = Closure(nf, [target])
    assert closure.has(inside)
    assert closure.has(nf.bind(inside, "i", FULL))
    assert closure.has(nf.bind(inside, "k", FULL))


def test_maxima_under_way() -> None:
    nf = NormalForm()
    with nf.lowering():
        x, y = nf.input("x", "ik"), nf.input("y", "i")
        whole = nf.bind_max(x, "k", FULL)
        target = nf.maximum(whole, y)
    assert target is not None
    closure = Closure(nf, [target])
    tile = nf.bind_max(x, "k", TILE)
    loop = nf.bind_max(tile, "k", LOOP)
    assert closure.has_maximum
    assert all(map(closure.has, (x, y, tile, loop, whole)))
    assert nf.maximum(nf.bind_max(loop, "k", GRID), y) == target
    assert not closure.has(nf.bind_max(x, "i", TILE))
    # The maximum over k of the maximum of both is the target, too.
    assert closure.has(nf.maximum(x, y))
    assert not closure.has(nf.maximum(nf.input("z", "i"), y))


EGG_SIZES = {TILE: 2, LOOP: 2, GRID: 2, FULL: 8}


def without_indices(step: Step, operands: Sequence[str]) -> str:
    """A step as an expression of the oracle."""
    match step.op:
        case "bind":
            return f"(Sum {EGG_SIZES[step.detail[1]]} {operands[0]})"
        case "function":
            return f'(Fn "{step.detail[0]}" {operands[0]})'
        case _:
            return f"({step.op.capitalize()} {' '.join(operands)})"


@pytest.mark.parametrize("name", ["rms_norm_linear", "lora", "attention"])
def test_egglog_agrees(name: str) -> None:
    """
    Every value that the closure admits is a sub-expression by the axioms without indices.

    And all the ways to compute it are equal by them: the form with indices is a refinement.
    """
    builder, closure = read(name)
    steps = saturate(builder, closure)
    texts = {poly: f'(In "{input_}")' for input_, poly in builder.inputs.items()}
    texts |= {c.poly: f'(In "{builder.nf.show(c.poly)}")' for c in closure.constants}
    pairs: list[tuple[str, str]] = []
    graph = {v: {o for step in made for o in step.operands} for v, made in steps.items()}
    for value in TopologicalSorter(graph).static_order():
        for step in steps[value]:
            text = without_indices(step, [texts[o] for o in step.operands])
            known = texts.setdefault(value, text)
            pairs += [(known, text)] if known != text else []
    assert len(pairs) + len(texts) >= 50
    oracle = LabelFree([texts[builder.values[-1]]], texts.values())
    for known, text in pairs:
        assert oracle.equal(known, text)
    for text in texts.values():
        assert oracle.holds(f"(Below {text})")
