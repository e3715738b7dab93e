# pyright: basic
"""Odd models by `torch.compile(model, backend="mirage")`, against torch."""

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
from optional_packages import package
from sampling import sampled

torch: Any = package("torch")

from compiled_models import close, compiled, normed_linear  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo", "shared_cache"),
    # torch, of itself, while inductor is imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

F = torch.nn.functional


def _odd_models() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    class TwoResults(torch.nn.Module):
        def forward(self, x: Any, w: Any) -> Any:
            y = F.softmax(x @ w, -1)
            return {"y": y, "again": y, "view": y.transpose(0, 1), "x": x, "number": 3}

    class InPlace(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x: Any, w: Any) -> Any:
            y = x @ w
            y += 1
            y[0] *= 2
            self.count.add_(1)
            x.mul_(0.5)
            return F.relu(y).sum(-1), self.count * 2

    class Masked(torch.nn.Module):
        def forward(self, x: Any, lengths: Any) -> Any:
            seen = torch.arange(6)[None, :] < lengths[:, None]
            causal = torch.tril(torch.ones(6, 6, dtype=torch.bool))
            scores = (x @ x.transpose(-1, -2)).masked_fill(~causal, float("-inf"))
            return F.softmax(scores, -1) @ x * seen[..., None], scores.argmax(-1)

    class Convolution(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.nn.Conv1d(4, 4, 3, padding=1)
            self.norm, self.linear = torch.nn.BatchNorm1d(4), torch.nn.Linear(6, 3)

        def forward(self, x: Any) -> Any:
            return F.gelu(self.linear(self.norm(self.convolution(x)))).mean(1)

    class Doubles(torch.nn.Module):
        def forward(self, x: Any, w: Any) -> Any:
            return F.softmax(x.double() @ w.double(), -1), (x.half() @ w.half()).sum()

    class OneTensor(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return F.scaled_dot_product_attention(x, x, x, is_causal=True) @ x.mT @ x

    x, w = torch.randn(4, 8), torch.randn(8, 5)
    return {
        "two results": (TwoResults(), (x, w)),
        "in place": (InPlace(), (torch.randn(4, 8), torch.randn(8, 3))),
        "masked": (Masked(), (torch.randn(2, 6, 4), torch.tensor([6, 3]))),
        "convolution": (Convolution().eval(), (torch.randn(2, 4, 6),)),
        "doubles": (Doubles(), (x, w)),
        "embedding": (
            torch.nn.Sequential(
                torch.nn.Embedding(7, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 4)
            ),
            (torch.tensor([[1, 2], [6, 0]]),),
        ),
        "one tensor": (OneTensor(), (torch.randn(1, 2, 5, 8),)),
        "strided": (normed_linear(), (torch.randn(32, 4).t(),)),
        "dropout": (
            torch.nn.Sequential(normed_linear(), torch.nn.Dropout(0.0)),
            (torch.randn(4, 32),),
        ),
    }


def as_by_torch(name: str) -> None:
    """What is returned, and what is changed."""
    model, inputs = _odd_models()[name]
    other = copy.deepcopy(model)
    given, same = ([each.clone() for each in inputs] for _ in range(2))
    call, _ = compiled(model)
    with torch.no_grad():
        found, wanted = call(*given), other(*same)
    leaves = torch.utils._pytree.tree_leaves
    for one, two in zip(leaves((found, given)), leaves((wanted, same)), strict=True):
        if isinstance(one, torch.Tensor):
            assert (one.shape, one.dtype, one.stride()) == (two.shape, two.dtype, two.stride())
            assert close(one.double(), two.double(), 1e-2 if one.dtype == torch.half else 1e-4)
        else:
            assert one == two
    for one, two in zip(model.buffers(), other.buffers(), strict=True):
        assert close(one.double(), two.double())


@pytest.mark.usefixtures("programs_run")
@pytest.mark.parametrize("name", _odd_models())
def test_odd_models(name: str) -> None:
    as_by_torch(name)


@pytest.mark.usefixtures("all_taken")
@pytest.mark.parametrize("name", ["two results", "strided"])
def test_kernels_of_odd_models(name: str) -> None:
    """Results that are views of what a kernel stores; inputs that it takes copies of."""
    as_by_torch(name)


MASKS = {
    "times an integer": lambda y, a, b: y * (a * 3),
    "minus one": lambda y, a, b: y * (a * 2 - 1),
    "one or three": lambda y, a, b: y * torch.where(a, 3, 1),
    "added up": lambda y, a, b: y * (a + b),
    "wrapping": lambda y, a, b: y * (a * torch.full((32,), 200, dtype=torch.uint8) * 2),
    "five that is true": lambda y, a, b: y + torch.full((32,), 5, dtype=torch.bool),
    "integers of fractions": lambda y, a, b: y + torch.full((32,), 2.7, dtype=torch.int64),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_as_numbers(name: str) -> None:
    """A part that begins at a mask has no tensor of numbers to read; truth values are no sums."""
    torch.manual_seed(0)
    x, w = torch.randn(16, 64), torch.randn(64, 32)
    a, b = torch.rand(16, 32) > 0.5, torch.rand(16, 32) > 0.5

    def model(x: Any, w: Any, a: Any, b: Any) -> Any:
        return MASKS[name]((x @ w).relu(), a, b)

    with torch.no_grad():
        found = compiled(model)[0](x, w, a, b)
        # Another order of the product's sums, times 400 that wrap around to 144.
        torch.testing.assert_close(found, model(x, w, a, b), rtol=1e-4, atol=1e-2)


MAXIMA: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "amax": lambda y: y().amax(-1),
    "absmax scaled": lambda y: y() / y().abs().amax(-1, keepdim=True),
    # Its gradient takes absolute values a second time.
    "norm scaled": lambda y: y() / torch.linalg.vector_norm(y(), math.inf, -1, keepdim=True),
}


@pytest.mark.parametrize("name", sampled(list(MAXIMA), 2))
def test_gradients_of_maxima(name: str) -> None:
    """A maximum and what it is of come from one kernel: the backward pass asks which are equal."""
    torch.manual_seed(1)
    inputs = torch.randn(16, 256), torch.randn(256, 256) / 16, torch.rand(256) + 0.5

    def model(x: Any, w: Any, gain: Any) -> Any:
        def normed() -> Any:
            y = x @ w
            return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-3) * gain

        return MAXIMA[name](normed)

    call, backend = compiled(model)
    found, wanted = (
        torch.autograd.grad(function(*given).square().sum(), given)
        for function, given in (
            (each, [tensor.clone().requires_grad_() for tensor in inputs]) for each in (call, model)
        )
    )
    assert backend.explanation.taken
    for one, two in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("several", [False, True])
def test_passes_of_the_user_run_too(several: bool) -> None:
    seen: list[Any] = []
    patch = torch._inductor.config.patch(
        joint_custom_post_pass=[seen.append] if several else seen.append
    )
    with patch, torch.no_grad():
        compiled(normed_linear())[0](torch.randn(4, 32))
    assert len(seen) == 1


def test_a_part_of_constants_is_left() -> None:
    """Nothing says on which device it would be, and it is computed once."""

    def model(x: Any) -> Any:
        return torch.atan((torch.ones(16, 64) @ torch.full((64, 32), 0.25)).relu()) + x

    x = torch.randn(16, 32)
    call, backend = compiled(model)
    with torch.no_grad():
        torch.testing.assert_close(call(x), model(x))
    assert any(each.why == "reads no tensor" for each in backend.explanation.parts)


def test_parts_of_unrolled_loops() -> None:
    """A search for hundreds of operators takes minutes: they are left before it."""

    def unrolled(x: Any, w: Any) -> Any:
        y = x @ w
        for step in range(200):
            y = torch.tanh(y + step) * y
        return y.sum(-1)

    x, w = torch.randn(4, 8), torch.randn(8, 5) / 100
    call, backend = compiled(unrolled)
    assert close(call(x, w), unrolled(x, w))
    (part,) = backend.explanation.parts
    assert not part.taken
    assert part.why.startswith("602 operators, more than 512")
