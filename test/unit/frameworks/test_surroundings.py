"""What is around a compiled function of torch is as it is now, not as it was in the first call."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from optional_packages import package

import mirage_mlir as mi

pytestmark = pytest.mark.usefixtures("shared_cache")

torch: Any = package("torch")

gain: Any = torch.arange(8.0)
factor = 2.0
offsets: list[Any] = [torch.ones(8)]
counter = 0


def shifted(x: Any) -> Any:
    return x + offsets[0]


def otherwise_shifted(x: Any) -> Any:
    return x - offsets[0]


def program(x: Any) -> Any:
    return shifted(x * gain) * factor


def counting(x: Any) -> Any:
    global counter
    counter += 1
    return x * 2


class Owner:
    """An object whose method is compiled."""

    def __init__(self) -> None:
        self.scale: Any = torch.ones(8)
        self.power = 1

    def method(self, x: Any) -> Any:
        return (x * self.scale) ** self.power

    def __call__(self, x: Any) -> Any:
        return self.method(x) * factor


@pytest.fixture
def x() -> Any:
    return torch.linspace(-1, 1, 32).reshape(4, 8)


def same(compiled: Any, function: Callable[..., Any], x: Any) -> bool:
    return bool(torch.allclose(compiled(x), function(x), atol=1e-6))


def test_global_variables(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tensors are inputs, which takes no other program; other numbers and functions do."""
    compiled = mi.compile(program)
    assert same(compiled, program, x)
    module = program.__globals__
    others: list[tuple[str, Any, int]] = [
        ("gain", torch.linspace(2, 3, 8), 1),
        ("offsets", [torch.linspace(5, 6, 8)], 1),
        ("factor", 3.0, 2),
        ("shifted", otherwise_shifted, 3),
    ]
    for name, value, programs in others:
        monkeypatch.setitem(module, name, value)
        assert same(compiled, program, x), name
        assert f"{programs} specializations" in repr(compiled)
    module["gain"].mul_(2)
    assert same(compiled, program, x)
    # One tensor under two names, then two again.
    monkeypatch.setitem(module, "gain", offsets[0])
    assert same(compiled, program, x)
    monkeypatch.setitem(module, "gain", offsets[0] + 1)
    assert same(compiled, program, x)


def test_gradients_of_another_tensor(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = mi.compile(program)
    compiled(x)
    other = torch.ones(8, requires_grad=True)
    monkeypatch.setitem(program.__globals__, "gain", other)
    (found,) = torch.autograd.grad(compiled(x).square().sum(), other)
    (wanted,) = torch.autograd.grad(program(x).square().sum(), other)
    assert torch.allclose(found, wanted, rtol=1e-4)


def test_variables_of_enclosing_functions(x: Any) -> None:
    weight = torch.ones(8)

    def inner(x: Any) -> Any:
        # Named in a function inside of it.
        return (lambda: x * weight)()

    compiled = mi.compile(inner)
    assert same(compiled, inner, x)
    weight = torch.linspace(1, 2, 8)
    assert same(compiled, inner, x)


def test_modules(x: Any) -> None:
    """Another module, and one of another type in a module."""
    layer: Any = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())

    def inner(x: Any) -> Any:
        return layer(x)

    compiled = mi.compile(inner)
    with torch.no_grad():
        assert same(compiled, inner, x)
        layer = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
        assert same(compiled, inner, x)
        layer[1] = torch.nn.Tanh()
        assert same(compiled, inner, x)


@pytest.mark.parametrize("called", [False, True])
def test_attributes_of_an_object(x: Any, called: bool) -> None:
    """Of which a method is compiled, or which is called itself."""
    owner = Owner()
    function = owner if called else owner.method
    compiled = mi.compile(function)
    assert same(compiled, function, x)
    owner.scale, owner.power = torch.linspace(1, 2, 8), 2
    assert same(compiled, function, x)


def test_partial_functions(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function = partial(program)
    compiled = mi.compile(function)
    assert same(compiled, function, x)
    monkeypatch.setitem(program.__globals__, "factor", 5.0)
    assert same(compiled, function, x)


def test_a_variable_that_a_function_changes(x: Any) -> None:
    with pytest.raises(
        mi.UnsupportedOperation, match="variable 'counter' is changed, which would be done"
    ):
        mi.compile(counting)(x)
