# pyright: basic
"""Random numbers in models by `torch.compile(model, backend="mirage")`: drawn where torch draws."""

from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

from compiled_models import close, compiled  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo", "programs_run"),
    # torch, of itself, while inductor is imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

F = torch.nn.functional


def exponential(x: Any) -> Any:
    return torch.empty_like(x).exponential_()


def normal(x: Any) -> Any:
    return torch.normal(torch.zeros_like(x), torch.ones_like(x))


@torch.library.custom_op("mirage_mlir_test::noise", mutates_args=(), schema="(Tensor x) -> Tensor")
def noise(x: Any) -> Any:
    """Of which nobody says that it draws."""
    return torch.rand_like(x)


noise.register_fake(torch.empty_like)


@pytest.mark.parametrize("draw", [exponential, normal, torch.randn_like, torch.rand_like, noise])
def test_two_draws_beside_a_part_are_two(draw: Any) -> None:
    """Equal calls behind a part are made once; of torch's own list a few draws are missing."""

    def sample(x: Any, w: Any) -> Any:
        y = F.softmax(x @ w, -1)
        return y, draw(x) * 2, draw(x) * 2

    fast, backend = compiled(sample)
    with torch.no_grad():
        _, one, other = fast(torch.ones(8, 16), torch.ones(16, 4))
    assert backend.explanation.taken == 1
    assert not torch.equal(one, other)


def test_dropout_that_a_backward_pass_computes_again() -> None:
    """With `rest="eager"`, too: the same elements are dropped as before."""
    from torch.utils.checkpoint import checkpoint

    w = torch.randn(16, 16, requires_grad=True)

    def block(x: Any) -> Any:
        return F.dropout(F.silu(F.layer_norm(x, (16,)) @ w), 0.5) @ w

    def model(x: Any) -> Any:
        return checkpoint(block, x, use_reentrant=False)

    fast, backend = compiled(model)
    x = torch.randn(8, 16)
    found = []
    for function in (fast, model):
        torch.manual_seed(1)
        y = function(x)
        found.append((y, *torch.autograd.grad(y.square().sum(), w)))
    assert backend.explanation.taken
    assert all(map(close, *found))
