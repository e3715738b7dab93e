# pyright: basic
"""Softmaxes, as inductor rewrites them before a graph is cut in two."""

from collections.abc import Callable
from typing import Any

import pytest
from compiled_models import close, compiled
from optional_packages import package

torch: Any = package("torch")

from mirage_mlir.frameworks.backend.scaled_softmax import restore_softmax  # noqa: E402

pytestmark = [pytest.mark.usefixtures("fresh_dynamo", "programs_run")]

SCALED: dict[str, Callable[[Any], Any]] = {
    "divided": lambda s: (s / 3).softmax(-1),
    "multiplied": lambda s: (s * 3).softmax(-1),
    "the other way": lambda s: (-0.5 * s).softmax(-1),
    "cast": lambda s: (s.bfloat16() * 0.25).softmax(-1, dtype=torch.float32),
    "by a tensor": lambda s: (s / s.detach().abs().amax()).softmax(-1),
}


def test_scaled_scores() -> None:
    """Torch 2.13 asks whether rows are finite, which no kernel does: one part all the same."""
    x, w = torch.randn(12, 8), torch.randn(8, 8)

    def model(x: Any, w: Any) -> Any:
        return [scaled(x @ w) for scaled in SCALED.values()]

    call, backend = compiled(model)
    with torch.no_grad():
        pairs = zip(call(x, w), model(x, w), strict=True)
        assert all(close(found, wanted, 1e-2) for found, wanted in pairs)
    assert backend.explanation.taken
    assert "finite" not in str([part.why for part in backend.explanation.parts])
    assert not any("where" in part.operators for part in backend.explanation.parts)


def guarded(x: Any, shifted: Any, asked: Any, factor: float = 3) -> Any:
    s = x * 3
    f = asked(x, s)
    finite = (f == f) * (f.abs() != float("inf"))
    condition = torch.any(finite.logical_not(), dim=[-1], keepdim=True).logical_not()
    return torch.where(condition, shifted(x * 1, s) * factor, s - s.amax(-1, keepdim=True))


OTHERS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "of another tensor": (lambda x, s: x - x.amax(-1, keepdim=True), lambda x, s: x * 5),
    "another result": (lambda x, s: x - x.amin(-1, keepdim=True), lambda x, s: s),
    "the maximum of columns": (lambda x, s: x - x.amax(0, keepdim=True), lambda x, s: s),
    "with another factor": (lambda x, s: x - x.amax(-1, keepdim=True), lambda x, s: s),
    "of what is no product": (lambda x, s: s.exp() - s.exp().amax(-1, True), lambda x, s: s),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_looks_alike_is_left(name: str) -> None:
    """Only inductor's own form is two ways to one number."""
    shifted, asked = OTHERS[name]
    factor = 5 if name == "with another factor" else 3
    traced = torch.fx.experimental.proxy_tensor.make_fx(
        lambda x: guarded(x, shifted, asked, factor)
    )
    module = traced(torch.randn(2, 4))
    before = str(module.graph)
    restore_softmax(module.graph)
    assert str(module.graph) == before
    same = torch.fx.experimental.proxy_tensor.make_fx(
        lambda x: guarded(x, lambda x, s: x - x.amax(-1, keepdim=True), lambda x, s: s)
    )(torch.randn(2, 4))
    restore_softmax(same.graph)
    assert "where" not in str(same.graph)


def test_a_graph_out_of_order() -> None:
    """Attention becomes one operator in it, and what follows stands behind its readers."""

    def model(q: Any, k: Any, v: Any) -> Any:
        return (torch.softmax(q @ k.mT / 8**0.5, -1) @ v).transpose(1, 2).reshape(2, 5, 32)

    inputs = [torch.randn(2, 4, 5, 8, requires_grad=True) for _ in range(3)]
    call, _ = compiled(model)
    found, wanted = (
        torch.autograd.grad(each(*inputs).square().sum(), inputs) for each in (call, model)
    )
    assert all(close(*pair) for pair in zip(found, wanted, strict=True))


def test_gradients_are_one_part() -> None:
    """Inductor has a product and a sum in one operator there, which parts were cut at."""
    x, w = torch.randn(4, 8, requires_grad=True), torch.randn(8, 6, requires_grad=True)
    call, backend = compiled(lambda x, w: (x @ w).softmax(-1))
    found, wanted = (
        torch.autograd.grad(each(x, w).square().sum(), (x, w))
        for each in (call, lambda x, w: (x @ w).softmax(-1))
    )
    assert all(close(*pair) for pair in zip(found, wanted, strict=True))
    taken = [" ".join(part.operators) for part in backend.explanation.parts if part.taken]
    assert any("mul sum" in each and "mm" in each for each in taken)
    assert not any("fma" in why for why in backend.explanation.outside)


def test_numbers_in_place_of_tensors() -> None:
    """Inductor makes `fma(y * z, 3, x)` of it."""
    x, y, w = torch.randn(4, 8), torch.randn(4, 8), torch.randn(8, 8)

    def model(x: Any, y: Any, w: Any) -> Any:
        return (x @ w).addcmul_(y, y, value=3).addcdiv_(y, y.exp(), value=-0.5)

    call, backend = compiled(model)
    with torch.no_grad():
        assert close(call(x, y, w), model(x, y, w))
    assert backend.explanation.taken


def test_a_mask_that_no_kernel_has_costs_no_product() -> None:
    """What asks for infinity is left alone, not with all that is beside it."""
    x, w = torch.randn(12, 8), torch.randn(8, 8)

    def model(x: Any, w: Any) -> Any:
        y = (x @ w).relu()
        return torch.where(y == float("inf"), 0.0, y * 2)

    call, backend = compiled(model)
    with torch.no_grad():
        assert close(call(x, w), model(x, w))
    assert backend.explanation.taken
    assert any("finite number" in why for why in backend.explanation.outside)
