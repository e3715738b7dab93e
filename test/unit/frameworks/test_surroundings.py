"""What is around a compiled function of torch is as it is now, not as it was in the first call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import copysign, nan
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from optional_packages import package

import mirage_mlir as mi
from mirage_mlir.frameworks.torch_function import TorchFrontend

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


class Layer(torch.nn.Module):
    """A module with what is no parameter, buffer, module or number."""

    def __init__(self) -> None:
        torch.nn.Module.__init__(self)
        self.table: Any = torch.ones(8)
        self.tables: Any = [torch.ones(8)]
        self.activation = torch.relu
        self.sizes = [2.0]
        self.settings = {"scale": 2.0}
        self.config = SimpleNamespace(scale=2.0)
        self.half = np.float32(0.5)
        self.inner = torch.nn.Identity()
        self.last = Hidden()

    def forward(self, x: Any) -> Any:
        x = self.last(x)
        y = self.activation(self.inner(x * self.table + self.tables[0])) * self.sizes[0]
        return y * self.settings["scale"] * self.config.scale * float(self.half)


class Hidden(torch.nn.Module):
    """A module that reads a global variable, in a module."""

    def __init__(self) -> None:
        torch.nn.Module.__init__(self)
        self._scale = 2.0

    def forward(self, x: Any) -> Any:
        return x * self._scale * factor


class Settings:
    """Numbers of a class."""

    scale = 2.0


namespace = SimpleNamespace(scale=2.0, table=torch.ones(8))
library = ModuleType("library")
vars(library)["width"] = 2.0
scalar: Any = np.float32(2)


def helped(x: Any, *, by: float = 2.0) -> Any:
    return x * by


def of_others(x: Any) -> Any:
    y = helped(x * namespace.table) * namespace.scale * Settings.scale
    return y * vars(library)["width"] * library.width * float(scalar)


def tripled(module: Any, given: Any, result: Any) -> Any:
    return result * 3


CHANGES: dict[str, Callable[[Any, pytest.MonkeyPatch], object]] = {
    "function": lambda m, _: setattr(m, "activation", torch.tanh),
    "list": lambda m, _: m.sizes.__setitem__(0, 7.0),
    "dict": lambda m, _: m.settings.__setitem__("scale", 7.0),
    "object": lambda m, _: setattr(m.config, "scale", 7.0),
    "numpy": lambda m, _: setattr(m, "half", np.float32(7)),
    "hook": lambda m, _: m.inner.register_forward_hook(tripled),
    "global object": lambda _, patch: patch.setattr(namespace, "scale", 7.0),
    "class": lambda _, patch: patch.setattr(Settings, "scale", 7.0),
    "library": lambda _, patch: patch.setattr(library, "width", 7.0),
    "global numpy": lambda _, patch: patch.setitem(of_others.__globals__, "scalar", np.float32(7)),
    "hidden": lambda m, _: setattr(m.last, "_scale", 7.0),
    "global of a module": lambda _, patch: patch.setitem(of_others.__globals__, "factor", 7.0),
    "default": lambda _, patch: patch.setattr(helped, "__kwdefaults__", {"by": 7.0}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_another_program(what: str, x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Layer()
    frontends = [TorchFrontend(each, None, {}) for each in (layer, of_others)]
    before = [each.key((x,), {}) for each in frontends]
    assert before == [each.key((x,), {}) for each in frontends]
    CHANGES[what](layer, monkeypatch)
    after = [each.key((x,), {}) for each in frontends]
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_other_tensors_of_objects(x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attributes of a module and of a global object, and elements of a list: no new program."""
    layer = Layer()

    def function(x: Any) -> Any:
        return layer(x) * namespace.table

    compiled = mi.compile(function)
    assert same(compiled, function, x)
    layer.table, layer.tables[0] = torch.linspace(1, 2, 8), torch.linspace(3, 4, 8)
    monkeypatch.setattr(namespace, "table", torch.linspace(5, 6, 8))
    assert same(compiled, function, x)
    assert "1 specialization" in repr(compiled)


def signed(x: Any, number: float) -> Any:
    if number != number:
        return x * 8
    return x * 2 if copysign(1, number) < 0 else x * 4


def test_numbers_that_are_equal(x: Any) -> None:
    """Zero and minus zero are two; one NaN is another."""
    frontend = TorchFrontend(signed, None, {})
    keys = [frontend.key((x, number), {}) for number in (0.0, -0.0, 0, False, nan, nan)]
    assert len(set(keys)) == 5
    assert keys[4] == keys[5]


class Trainer:
    """An object that counts its steps, which its method does not read."""

    def __init__(self) -> None:
        self.scale, self.step, self.history = 2.0, 0, list[float]()

    def loss(self, x: Any) -> Any:
        return x * self.scale


def test_counters_that_are_not_read(x: Any) -> None:
    trainer = Trainer()
    frontend = TorchFrontend(trainer.loss, None, {})
    keys: set[object] = set()
    for _ in range(3):
        keys.add(frontend.key((x,), {}))
        trainer.step += 1
        trainer.history.append(0.5)
    assert len(keys) == 1
    trainer.scale = 3.0
    assert frontend.key((x,), {}) not in keys


def test_a_parameter_that_is_a_variable(x: Any) -> None:
    """It gets its gradient, and another one in its place is seen."""
    parameter = torch.nn.Parameter(torch.ones(8))

    def inner(x: Any) -> Any:
        return x * parameter

    compiled = mi.compile(inner)
    compiled(x).sum().backward()
    assert torch.allclose(parameter.grad, x.sum(0), atol=1e-6)
    parameter = torch.nn.Parameter(torch.linspace(1, 2, 8))
    assert same(compiled, inner, x)


@dataclass(frozen=True)
class Scaled:
    """Equal to others with another number, and of no hash where that is a list."""

    name: str
    by: Any = field(compare=False)

    @mi.compile
    def method(self, x: Any) -> Any:
        return x * self.by[0]


def test_methods_of_equal_objects(x: Any) -> None:
    one, other = Scaled("n", [2.0]), Scaled("n", [5.0])
    assert one == other
    for each in (one, other):
        assert torch.allclose(each.method(x), x * each.by[0])
