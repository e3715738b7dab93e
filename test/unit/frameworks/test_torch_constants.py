"""What functions of torch make from no input, integers that become f32, masks of -inf, losses."""

from collections.abc import Callable
from typing import Any

import pytest
from optional_packages import package
from sampling import EVERYTHING, sampled
from torch_imports import agrees, imported

import mirage_mlir as mi

torch: Any = package("torch")
functional: Any = torch.nn.functional

Function = Callable[..., Any]


def inputs(*shapes: tuple[int, ...]) -> list[Any]:
    """Of normal numbers, the same each time."""
    torch.manual_seed(0)
    return [torch.randn(shape) for shape in shapes]


def close(found: Any, wanted: Any) -> bool:
    return bool((found.double() - wanted).norm() <= 2e-6 * wanted.norm())


def filled(scores: Any) -> Any:
    keep = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return scores.masked_fill(~keep, float("-inf"))


def chosen(scores: Any) -> Any:
    i = torch.arange(scores.shape[-1])
    near = (i[:, None] >= i) & (i[:, None] - i < 5)
    return torch.where(near, scores, float("-inf"))


def biased(scores: Any) -> Any:
    i = torch.arange(scores.shape[-1])
    slopes = 2.0 ** -torch.arange(1, 1 + scores.shape[0])[:, None, None]
    return filled(scores + slopes * (i - i[:, None]))


@pytest.mark.parametrize("mask", [chosen, biased])
def test_masks_are_in_the_kernel_of_attention(mask: Function) -> None:
    """As people write them: proved, and one kernel."""

    def attention(q: Any, k: Any, v: Any) -> Any:
        return torch.softmax(mask(q @ k.mT * q.shape[-1] ** -0.5), -1) @ v

    given = inputs(*[(2, 12, 8)] * 3)
    compiled = mi.compile(attention)
    found = compiled(*given)
    assert close(found, attention(*(each.double() for each in given)))
    assert "proved" in compiled.report()
    assert compiled.kernel.ugraph.count("kernel.graph_defined") == 1


@pytest.mark.usefixtures("programs_called")
def test_gradients_behind_a_mask() -> None:
    """Of what is masked, and none of the mask."""
    (x,) = inputs((5, 5))
    wide = x.double().requires_grad_()
    x.requires_grad_()

    def weights(x: Any) -> Any:
        return torch.softmax(filled(x * x), -1)

    mi.compile(weights)(x).square().sum().backward()
    weights(wide).square().sum().backward()
    assert close(x.grad, wide.grad)


def test_causal_attention_of_torch() -> None:
    given = inputs((1, 2, 8, 16), (1, 2, 12, 16), (1, 2, 12, 16))
    compiled = mi.compile(functional.scaled_dot_product_attention)
    found = compiled(*given, is_causal=True)
    wide = [each.double() for each in given]
    assert close(found, functional.scaled_dot_product_attention(*wide, is_causal=True))
    assert compiled.kernel.ugraph.count("kernel.graph_defined") == 1


@pytest.mark.usefixtures("programs_called")
def test_a_mask_that_is_returned_is_no_sum() -> None:
    """There the gradient of what is masked is 0, whatever comes back."""
    (x,) = inputs((3, 3))
    x.requires_grad_()
    mi.compile(filled)(x).backward(torch.ones(3, 3))
    assert torch.equal(x.grad, torch.ones(3, 3).tril())


def rotated(x: Any, positions: Any = None) -> Any:
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half) / half)
    at = torch.arange(x.shape[-2]) if positions is None else positions
    angles = at[:, None].float() * rates
    one, other = x[..., :half], x[..., half:]
    first = one * angles.cos() - other * angles.sin()
    return torch.cat([first, other * angles.cos() + one * angles.sin()], -1)


def test_a_rotary_embedding() -> None:
    """Its table is made once; or it is made of positions, integers, in the kernel."""
    (x,) = inputs((2, 7, 16))
    compiled = mi.compile(rotated)
    assert close(compiled(x), rotated(x.double()))
    assert "cos" not in compiled.kernel.ugraph
    positions = torch.tensor([5, 0, 3, 900, 1, 1, 70000])
    assert close(compiled(x, positions), rotated(x.double(), positions))
    assert "threadblock.cos" in compiled.kernel.ugraph


RAMPS: dict[str, tuple[Callable[[], Any], bool]] = {
    "numbers": (lambda: torch.arange(8.0), True),
    "half": (lambda: torch.arange(8, dtype=torch.float16)[:, None] - 3.5, True),
    "long": (lambda: torch.arange(-4000, 4000, 1000, dtype=torch.float16), True),
    "truth": (lambda: torch.arange(8).bool()[:, None], True),
    "quotients": (lambda: (torch.arange(8) + 1) / 4 - 0.5, True),
    "rounded quotients": (lambda: (torch.arange(8) + 1) / 3 - 0.5, False),
    "whole quotients": (lambda: torch.arange(8.0) // 3, False),
    "products": (lambda: (torch.arange(8) * torch.arange(8)).float(), False),
    "large": (lambda: (torch.arange(8) * 10**8).float() / 1e8, False),
    "f64": (lambda: (torch.arange(8, dtype=torch.float64) / 3).float(), False),
}


@pytest.mark.parametrize("name", RAMPS)
def test_numbers_in_even_steps(name: str) -> None:
    """They are computed; others, which kernels compute otherwise, torch makes."""
    make, computed = RAMPS[name]
    (x,) = inputs((8, 8))

    def scaled(x: Any) -> list[Any]:
        return [x * make()]

    _, given, op = imported(scaled, x)
    assert ("kernel.iota" in str(op), len(given)) == ((True, 1) if computed else (False, 2))
    assert agrees(scaled, x)


def test_what_is_random_is_made_in_no_constant() -> None:
    def noisy(x: Any) -> Any:
        return x + torch.rand(4)

    with pytest.raises(mi.UnsupportedOperation, match="there are no random numbers"):
        mi.compile(noisy)(*inputs((4,)))


def test_integers_of_other_uses_are_refused() -> None:
    def above(x: Any, i: Any) -> Any:
        return x * (i > 2)

    with pytest.raises(mi.UnsupportedOperation, match=r"input 'i' has element type torch\.int64"):
        mi.compile(above)(*inputs((4,)), torch.arange(4))


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "smooth": lambda a, b: functional.smooth_l1_loss(a, b, beta=0.7),
    "smooth, each": lambda a, b: functional.smooth_l1_loss(a, b, reduction="none"),
    "huber": lambda a, b: functional.huber_loss(a, b, delta=0.6, reduction="sum"),
    "divergence": lambda a, b: functional.kl_div(
        a.log_softmax(-1), b.softmax(-1), reduction="batchmean"
    ),
    "logits": lambda a, b: functional.binary_cross_entropy_with_logits(a, b.sigmoid()),
    "softplus": lambda a, b: functional.softplus(a, beta=2.0) * functional.logsigmoid(b),
    "elu": lambda a, b: functional.elu(a, 0.5) + functional.selu(b) + functional.celu(a, 1.5),
    "mish": lambda a, b: functional.mish(a) * torch.log1p(b.abs()) + torch.expm1(a),
    "powers": lambda a, b: 3.0**a + 2 ** (-b),
    "leaky mean": lambda a, b: torch.where(a > 0, a, 0.2 * b).mean(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_activations(name: str) -> None:
    """Their programs, which are interpreted."""

    def loss(a: Any, b: Any) -> list[Any]:
        return [LOSSES[name](a, b)]

    assert agrees(loss, *inputs((8, 16), (8, 16)))


@pytest.mark.parametrize("name", LOSSES if EVERYTHING else ["mish"])
def test_kernels_of_losses_and_activations(name: str) -> None:
    given = inputs((8, 16), (8, 16))
    found = mi.compile(LOSSES[name])(*given)
    assert close(found, LOSSES[name](*(each.double() for each in given)))


@pytest.mark.parametrize("number", sampled([32**0.5, 24**0.5, 0.07, 7.1], 2))
def test_division_by_a_number(number: float) -> None:
    """Whatever number an f32 of it, and of its inverse, stands for."""
    graph = mi.new_kernel_graph("scores")
    x = graph.new_input(dims=(16, 32), dtype=mi.float32)
    w = graph.new_input(dims=(32, 16), dtype=mi.float32)
    graph.mark_output(graph.softmax((x @ w) / number))
    x, w = inputs((16, 32), (32, 16))
    found = graph.superoptimize(compile_for=["sm_90a"])(x, w)
    assert close(found, torch.softmax(x.double() @ w.double() / number, -1))


@pytest.mark.parametrize("steps", [(-1, 1, 21), (0, 1, 100), (-3, 1e4, 77)])
def test_points_of_a_linspace(steps: tuple[float, float, int]) -> None:
    """They are those that torch makes, to the last bit: comparisons with them do not change."""

    def function(x: Any) -> Any:
        return x + torch.linspace(*steps)

    zeros = torch.zeros(2, steps[2])
    assert torch.equal(mi.compile(function)(zeros), function(zeros))
