# pyright: basic
"""Views of what parts make, beside it: a change in place reaches both, as in torch."""

from collections.abc import Callable
from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

from compiled_models import close, compiled  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo", "programs_run", "all_taken"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

F = torch.nn.functional

VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda y: y.t(),
    "every second column": lambda y: y[:, ::2],
    "repeated": lambda y: y.unsqueeze(0).expand(2, -1, -1),
    "in another shape": lambda y: y.view(2, -1),
    "some rows": lambda y: y[1:],
    "in two steps": lambda y: y.unflatten(1, (2, 3)).transpose(0, 1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_beside_what_it_views(name: str) -> None:
    def several(x: Any, w: Any) -> Any:
        y = F.silu(x @ w)
        view = VIEWS[name](y)
        return y, view, F.softmax(view * 2, -1)

    call, backend = compiled(several)
    x, w = torch.randn(4, 3), torch.randn(3, 6)
    with torch.no_grad():
        found = call(x, w)
        for one, other in zip(found, several(x, w), strict=True):
            assert close(one, other)
            assert one.stride() == other.stride()
        found[0].add_(1.0)
        assert torch.equal(found[1], VIEWS[name](found[0]))
    assert backend.explanation.taken


def test_two_views_without_what_they_view() -> None:
    def several(x: Any, w: Any) -> Any:
        y = F.silu(x @ w)
        one, other = y[1:], y[:3]
        return one, other, F.softmax(one * 2 + other, -1)

    call, backend = compiled(several)
    with torch.no_grad():
        one, other, _ = call(torch.randn(4, 3), torch.randn(3, 6))
        one[0] = 7.0
        assert torch.equal(other[1], torch.full((6,), 7.0))
    assert backend.explanation.taken


def test_half_of_a_result_alone_is_all_that_is_stored() -> None:
    def gated(x: Any, w: Any) -> Any:
        value, gate = (x @ w).chunk(2, -1)
        return value, F.softmax(value * F.silu(gate), -1)

    call, backend = compiled(gated)
    x, w = torch.randn(4, 3), torch.randn(3, 8)
    with torch.no_grad():
        found = call(x, w)
        assert all(close(one, other) for one, other in zip(found, gated(x, w), strict=True))
    assert found[0].untyped_storage().nbytes() == found[0].nbytes
    assert backend.explanation.taken
