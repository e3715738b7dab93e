# pyright: basic
"""`mi.compile` on functions and modules of torch: what is searched for, and when."""

from pathlib import Path

import pytest
from optional_packages import package

import mirage_mlir as mi
import mirage_mlir.api.compile as compile_module

torch = package("torch")

OPTIONS = {"target": "A100", "compile_for": ["sm_80"]}
"""One target is enough: half the time."""


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs that are searched for, which is not done: they are as written."""
    from mirage_mlir.frameworks import torch_function

    class AsWritten:
        def __init__(self, graph: mi.KernelGraph, *_: object, **named: object) -> None:
            found.append(graph.name)
            self.kernel, self.call = None, lambda *tensors: tensors[0] * 2

    found: list[str] = []
    monkeypatch.setattr(torch_function, "RegisteredOperator", AsWritten)
    return found


def rms(x, eps: float = 1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def test_module(tmp_path: Path) -> None:
    """Values, gradients, changes of parameters, what is said of it, and the artifact."""
    torch.manual_seed(0)
    linear = torch.nn.Linear(32, 16)

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = linear

        def forward(self, x, *, again: bool = False):
            return {"y": self.linear(rms(x)), "x": x, "again": again}

    layer = Layer()
    compiled = mi.compile(layer, **OPTIONS)
    with pytest.raises(ValueError, match="Layer is not compiled yet: call it"):
        _ = compiled.kernel
    x = torch.randn(2, 3, 32, requires_grad=True)
    found = compiled(x, again=True)
    assert found["x"] is x
    assert found["again"] is True
    wanted = layer(x)["y"]
    assert torch.allclose(found["y"], wanted, rtol=1e-4, atol=1e-5)

    tensors = [x, *linear.parameters()]
    direction = torch.randn(2, 3, 16)
    gradients = torch.autograd.grad((found["y"] * direction).sum(), tensors)
    exact = torch.autograd.grad((wanted * direction).sum(), tensors)
    for one, other in zip(gradients, exact, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)

    kernel = compiled.kernel
    with torch.no_grad():
        linear.weight.mul_(-1)
        linear.weight = torch.nn.Parameter(linear.weight * 2)
        assert torch.allclose(compiled(x, again=True)["y"], layer(x)["y"], rtol=1e-4, atol=1e-5)
    assert compiled.kernel is kernel

    assert "proved" in compiled.report()
    assert "modelled" in compiled.explain()
    assert "kernel.rsqrt" in repr(compiled.graph)
    compiled.save(tmp_path / "layer.mirage")
    loaded = mi.load(tmp_path / "layer.mirage")
    assert [spec.name for spec in loaded.artifact.inputs] == ["linear_weight", "linear_bias", "x"]
    assert [spec.constant for spec in loaded.artifact.inputs] == [True, True, False]


def test_shapes_types_and_numbers_are_specialized(searches: list[str]) -> None:
    compiled = mi.compile(rms)
    x = torch.randn(4, 8)
    for args in ([x], [x], [x + 1], [x[:2]], [x.half()], [x, 1e-5], [x, 1e-5], [x[:2]]):
        compiled(*args)
    assert searches == ["rms"] * 4
    assert "4 specializations" in repr(compiled)
    assert compiled.compile(torch.randn(3, 8)) is compiled
    assert len(searches) == 5


def test_training_and_types_of_parameters_are_specialized(searches: list[str]) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5))
    compiled = mi.compile(module)
    with pytest.raises(mi.UnsupportedOperation, match=r"call eval\(\) before"):
        compiled(torch.randn(4, 8))
    module.eval()
    compiled(torch.randn(4, 8))
    module.half()
    compiled(torch.randn(4, 8).half())
    assert len(searches) == 2


def test_tensors_around_a_function(searches: list[str]) -> None:
    """Constants of the trace, and modules, are inputs: changes in place are seen."""
    linear, factor = torch.nn.Linear(8, 8), torch.randn(8)

    def function(x):
        return linear(x) * factor

    compiled = mi.compile(function, example_inputs=[torch.randn(4, 8)])
    names = [argument.name_hint for argument in _arguments(compiled)]
    assert set(names) == {"constant", "weight", "bias", "x"}
    assert searches == ["function"]


def _arguments(compiled: mi.CompiledFunction):
    (function,) = compiled.graph.to_module().ops
    return function.regions[0].block.args


def test_equal_arguments_may_differ_later(searches: list[str]) -> None:
    x = torch.randn(4, 8)
    compiled = mi.compile(lambda a, b: a @ b.mT).compile(x, x)
    assert len(_arguments(compiled)) == 2


def test_inputs_have_the_names_of_arguments(searches: list[str]) -> None:
    x = torch.randn(8)

    def function(a, *rest, b, **others):
        return a["one"] + a["two"] + rest[0] + b + others["c"][1]

    compiled = mi.compile(function).compile({"one": x, "two": x}, x, c=[1, x], b=x)
    names = [argument.name_hint for argument in _arguments(compiled)]
    # Numbers at the end are left out of hints.
    assert names == ["a_one", "a_two", "input", "c", "b"]


def test_decorator_of_a_method(searches: list[str]) -> None:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(8))

        @mi.compile(target="A100")
        def forward(self, x):
            return rms(x) * self.weight

    one, other = Layer(), Layer()
    for layer in (one, one, other):
        layer(torch.randn(4, 8))
    assert searches == ["forward", "forward"]
    assert {each.name_hint for each in _arguments(one.forward)} == {"weight", "x"}


def test_too_many_shapes(searches: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_module, "SPECIALIZATIONS", 2)
    compiled = mi.compile(rms)
    for rows in (1, 2, 1):
        compiled(torch.randn(rows, 8))
    with pytest.raises(ValueError, match="rms is compiled for 2 lists of shapes"):
        compiled(torch.randn(3, 8))


def test_what_cannot_be_compiled(searches: list[str]) -> None:
    with pytest.raises(TypeError, match="unknown option 'time_limt'"):
        mi.compile(rms, time_limt=3)  # pyright: ignore[reportCallIssue]
    with pytest.raises(ValueError, match="H300"):
        mi.compile(rms, target="H300")
    with pytest.raises(TypeError, match="takes a function or a module, not <class"):
        mi.compile(torch.nn.Linear)
    with pytest.raises(TypeError, match="rms is called without a tensor of torch or jax"):
        mi.compile(rms)(3)
    with pytest.raises(TypeError, match="tensors, numbers and strings, not object"):
        mi.compile(rms)(torch.randn(4, 8), object())
    with pytest.raises(mi.UnsupportedOperation, match="computes nothing from tensors"):
        mi.compile(lambda x: torch.ones(3) + 1)(torch.randn(3))
    with pytest.raises(mi.UnsupportedOperation, match="input 'x': dims are positive"):
        mi.compile(lambda x: x + 1)(torch.randn(0, 3))
    # What is wrong with the function itself is torch's to say.
    with pytest.raises(RuntimeError, match="same reduction dim"):
        mi.compile(lambda x: x @ x)(torch.randn(3, 4))
    assert searches == []
