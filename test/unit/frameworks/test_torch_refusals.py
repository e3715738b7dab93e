# pyright: basic
"""What a function of torch does that no kernel does: it is refused at its line, never ignored."""

from dataclasses import dataclass

import pytest
from optional_packages import package
from torch_imports import agrees, imported

import mirage_mlir as mi

torch = package("torch")
nn = torch.nn

OPTIONS = {"target": "A100", "compile_for": ["sm_80"]}


class Own(torch.autograd.Function):
    """A function whose gradient is another one's."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 7


def without_gradient(x):
    with torch.no_grad():
        scale = x.abs().amax(-1, keepdim=True)
    return x * scale


def through_a_copy(x):
    copy = torch.zeros_like(x)
    copy[:] = x
    return x * copy.detach()


STOPPED = {
    "detach": lambda x: x * x.detach(),
    "no_grad": without_gradient,
    "Function": lambda x: Own.apply(x),
    "copy": through_a_copy,
}


@pytest.mark.parametrize("name", STOPPED)
def test_stopped(name: str) -> None:
    """A gradient that a function stops is noted at its line; values are there."""
    call, _, _ = imported(STOPPED[name], torch.randn(3, 5))
    assert call.stopped is not None
    assert call.stopped[0] == __file__


def test_goes_on() -> None:
    """What has no gradient may be computed under no_grad, and a whole call may be made there."""

    def masked(x):
        with torch.no_grad():
            steps = torch.arange(5.0) * 2
        return x * steps * (x > 0)

    call, _, _ = imported(masked, torch.randn(3, 5))
    assert call.stopped is None
    with torch.no_grad():
        call, _, _ = imported(lambda x: x * 2, torch.randn(3, 5))
    assert call.stopped is None


def test_asked_for() -> None:
    """Values of a function that stops a gradient; a backward pass is an error."""
    compiled = mi.compile(lambda x: x * x.detach(), **OPTIONS)
    x = torch.randn(3, 5, requires_grad=True)
    made = compiled(x)
    assert torch.allclose(made, x * x)
    with pytest.raises(mi.UnsupportedOperation, match=r"lets none through \(detach") as caught:
        made.sum().backward()
    assert str(caught.value).startswith(f"{__file__}:")


class Counter(nn.Module):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


@dataclass
class Pair:
    """Of tensors; pytree does not know it."""

    x: object


REFUSED = {
    "attribute 'calls' is changed": Counter(),
    "is a number that a tensor has": lambda x: x * x.max().item(),
    "torch.export makes no program": lambda x: x * x.data,
    "a result is a Pair with tensors": lambda x: (x + 1, Pair(x + 1)),
    "a result is a set with tensors": lambda x: (x + 1, {x + 2}),
    "aten.conv1d.default: windows lie beside each other": nn.Conv1d(3, 4, 3),
    "changed in place, which a kernel does not do: call eval": nn.BatchNorm1d(5),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message: str) -> None:
    with pytest.raises(mi.UnsupportedOperation, match=message) as caught:
        imported(REFUSED[message], torch.randn(3, 5))
    # A line of somebody's program, not of text that torch makes.
    assert "<string>" not in str(caught.value)
    assert not str(caught.value).startswith("-")


def test_own_error() -> None:
    """What torch says of the function itself is passed on."""
    with pytest.raises(RuntimeError, match="reduction dim"):
        imported(lambda x: x @ x, torch.randn(3, 5))


def test_numbers_of_modules() -> None:
    """An attribute that changes between calls is another program."""
    from mirage_mlir.frameworks.torch_function import TorchFrontend

    norm = nn.LayerNorm(4)
    frontend = TorchFrontend(norm, None, {})
    before = frontend.key([torch.ones(2, 4)], {})
    norm.eps = 0.5
    assert frontend.key([torch.ones(2, 4)], {}) != before


def test_unverified_mask() -> None:
    """A mask that nobody could verify: the line, and what to take instead of -inf."""

    def masked(x, mask):
        return x.masked_fill(mask, float("-inf")) * x

    mask = torch.rand(4, 4) > 0.5
    with pytest.raises(mi.UnsupportedOperation, match="in the way: take finfo") as caught:
        mi.compile(masked, **OPTIONS)(torch.randn(4, 4), mask)
    assert str(caught.value).startswith(f"{__file__}:")
    assert "verification" in caught.value.__notes__[0]


def test_clamp() -> None:
    """Limits in the wrong order, and gradients at the limits."""
    assert agrees(lambda x: [x.clamp(1, 0), x.clamp(0, 1), x.clamp(0.5)], torch.randn(3, 5))
    x = torch.tensor([[0.0, 1.0, -1.0, 0.5]], requires_grad=True)
    mi.compile(lambda x: x.clamp(0, 1), **OPTIONS)(x).sum().backward()
    assert x.grad.tolist() == [[1, 1, 0, 1]]


def test_rank_0() -> None:
    """A sum of everything may be used again: a loss, a mean in a larger program."""
    compiled = mi.compile(lambda x: (x + x.sum()).mean() * x, **OPTIONS)
    x = torch.randn(3, 5)
    assert torch.allclose(compiled(x), (x + x.sum()).mean() * x, atol=1e-4)


WITHOUT_SIGN = {
    "difference": lambda x: x + (torch.arange(7, dtype=torch.uint8) - 3),
    "cast": lambda x: x + torch.arange(-3, 4).to(torch.uint8),
    "mask": lambda x: torch.where((torch.arange(7, dtype=torch.uint8) - 3) > 0, x, 0),
    "negated": lambda x: x + (-torch.arange(7, dtype=torch.uint8)),
}


@pytest.mark.parametrize("name", WITHOUT_SIGN)
def test_integers_without_a_sign(name: str) -> None:
    """torch wraps them around below 0, where a kernel would go on."""
    with pytest.raises(mi.UnsupportedOperation, match=r"may wrap around in torch\.uint8"):
        imported(WITHOUT_SIGN[name], torch.ones(2, 7))


@pytest.mark.usefixtures("programs_called")
def test_more_tensors_than_an_operator_names():
    """Torch allows 64 arguments; an operator of gradients takes inputs and results."""

    def sum_of(*tensors):
        return torch.softmax(sum(tensors[1:], tensors[0]), -1)

    tensors = [torch.randn(2, 8, requires_grad=True) for _ in range(65)]
    compiled = mi.compile(sum_of)
    limit = "an operator of torch takes and returns at most 64"
    with pytest.raises(ValueError, match=f"'sum_of' has 65 inputs; {limit}"):
        compiled(*tensors)
    found = compiled(*tensors[:64])
    assert torch.allclose(found, sum_of(*tensors[:64]))
    with pytest.raises(
        mi.UnsupportedOperation, match=f"the gradient of 'sum_of' takes 65 tensors; {limit}"
    ):
        found.sum().backward()


NO_PROGRAMS = {
    "inverse": (lambda x: torch.linalg.inv(x), "aten.linalg_inv_ex.default is no operator"),
    "equal": (lambda x: x if torch.equal(x, x * 2) else -x, "decides by the values of tensors"),
    "least squares": (lambda x: torch.linalg.lstsq(x, x).solution, "decides by the values"),
    "tangents": (
        lambda x: torch.func.jvp(lambda a: a @ weight, (x,), (x,)),
        "torch.export makes no program of the function",
    ),
}

weight = torch.randn(4, 4)


@pytest.mark.parametrize("name", NO_PROGRAMS)
def test_torch_goes_on_after_a_refusal(name: str) -> None:
    """Each is refused with a place, and leaves no transform of torch behind."""
    function, reason = NO_PROGRAMS[name]
    with pytest.raises(mi.UnsupportedOperation, match=rf"\.py:\d+:\d+: error: .*{reason}"):
        mi.compile(function)(torch.randn(4, 4))
    assert (torch.randn(3).requires_grad_() * 2).detach().numpy().shape == (3,)
    with torch.autograd.forward_ad.dual_level():
        pass


def test_long_chains_of_operators() -> None:
    """Of which the importer once looked at each again for each."""

    def function(x):
        for _ in range(400):
            x = x * 1.01
        return x

    call, _, _ = imported(function, torch.randn(3, 5))
    assert call.graph is not None
