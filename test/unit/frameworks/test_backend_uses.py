# pyright: basic
"""How models are used that the backend compiled: breaks, contexts, threads, weights that change."""

import copy
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

from compiled_models import close, compiled, normed_linear  # noqa: E402

from mirage_mlir.frameworks.backend import entry  # noqa: E402
from mirage_mlir.frameworks.backend.entry import Backend  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo", "programs_run"),
    # torch, of itself, while inductor is imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

F = torch.nn.functional

# Where tensors have a device and a shape only.
FakeTensorMode: Any = import_module("torch._subclasses.fake_tensor").FakeTensorMode


def test_graph_breaks() -> None:
    """Each side of a break is a graph; which branch is taken is decided in each call."""
    first, second = normed_linear(), torch.nn.Linear(16, 8)

    def model(x: Any) -> Any:
        y = first(x)
        torch._dynamo.graph_break()
        return second(y).relu() if y.sum() > 0 else second(-y).softmax(-1)

    call, backend = compiled(model)
    x = torch.randn(4, 32)
    signs = [x, x * torch.tensor([-1.0]).expand(4, 32)]
    with torch.no_grad():
        assert {bool(first(each).sum() > 0) for each in signs} == {True, False}
        assert all(close(call(each), model(each)) for each in signs)
    assert backend.explanation.taken >= 2


@pytest.mark.parametrize("captured", [False, True])
def test_shapes_that_data_decides(captured: bool) -> None:
    """What is left of a tensor has another size in each call; what has a fixed size is taken."""
    model = normed_linear()

    def chosen(x: Any) -> Any:
        rows = (x[:, 0] > 0).nonzero().squeeze(1)
        return model(x[rows]), model(x) * x[0, 0].item()

    settings = {"capture_dynamic_output_shape_ops": captured, "capture_scalar_outputs": captured}
    with torch.no_grad(), torch._dynamo.config.patch(**settings):
        call, backend = compiled(chosen)
        for _ in range(3):
            x = torch.randn(6, 32)
            found, wanted = call(x), chosen(x)
            assert found[0].shape == wanted[0].shape
            assert all(close(one, two) for one, two in zip(found, wanted, strict=True))
    assert backend.explanation.taken >= 1


@pytest.mark.parametrize("pack", [False, True])
def test_weights_that_change(pack: bool) -> None:
    """In place, by assignment, and behind torch's back."""
    model, x = normed_linear(), torch.randn(4, 32)
    norm, linear = model
    call, backend = compiled(model, pack=pack)

    def assign() -> None:
        linear.weight = torch.nn.Parameter(torch.randn(16, 32))

    def write_as_numpy() -> None:
        linear.weight.data.numpy()[:] = 3.0

    changes: list[Callable[[], Any]] = [
        lambda: None,
        lambda: linear.weight.mul_(-2),
        lambda: norm.weight.copy_(torch.randn(32)),
        lambda: setattr(linear.weight, "data", torch.randn(16, 32)),
        assign,
        write_as_numpy,
    ]
    with torch.no_grad():
        for change in changes:
            before = model(x)
            change()
            assert close(call(x), model(x))
            assert change is changes[0] or not close(before, model(x))
    assert backend.explanation.taken == 1


def test_a_shared_weight_is_trained() -> None:
    """One tensor is what tokens are looked up in, and what logits are products with."""

    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.middle = torch.nn.Embedding(20, 32), torch.nn.Linear(32, 32)
            self.head = torch.nn.Linear(32, 20, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens: Any) -> Any:
            x = self.embedding(tokens)
            return self.head(x + F.rms_norm(self.middle(x), (32,)))

    models = [Tied()]
    models.append(copy.deepcopy(models[0]))
    call, backend = compiled(models[0])
    tokens = torch.randint(0, 20, (2, 5))
    for model, function in zip(models, (call, models[1]), strict=True):
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            F.cross_entropy(function(tokens).flatten(0, 1), tokens.flatten()).backward()
            optimizer.step()
    pairs = zip(models[0].parameters(), models[1].parameters(), strict=True)
    assert all(close(one, two) for one, two in pairs)
    assert backend.explanation.taken >= 2


def test_inference_mode_and_then_gradients() -> None:
    model, x = normed_linear(), torch.randn(4, 32)
    call, backend = compiled(model)
    with torch.inference_mode():
        made_there = torch.randn(4, 32)
        assert all(close(call(each), model(each)) for each in (x, made_there))
    found, wanted = (
        torch.autograd.grad(function(x).square().sum(), list(model.parameters()))
        for function in (call, model)
    )
    assert all(close(one, two) for one, two in zip(found, wanted, strict=True))
    assert backend.explanation.taken >= 2


def test_autocast() -> None:
    """In, out and in again: results have the types that torch gives them, gradients too."""
    model, x = normed_linear(), torch.randn(4, 32)
    call, backend = compiled(model)

    with torch.no_grad():
        for number in range(3):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=number != 1):
                found, wanted = call(x), model(x)
            assert found.dtype == wanted.dtype == (torch.float32, torch.bfloat16)[number != 1]
            assert close(found.float(), wanted.float(), 1e-2)
    gradients = []
    for function in (call, model):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = function(x).float().square().sum()
        gradients.append(torch.autograd.grad(loss, list(model.parameters())))
    assert all(close(one, two, 1e-2) for one, two in zip(*gradients, strict=True))
    assert backend.explanation.taken >= 3


def test_threads() -> None:
    """Two models are compiled and called in five threads at the same time."""
    models = [normed_linear(), torch.nn.Sequential(torch.nn.Linear(48, 24), torch.nn.Softmax(-1))]
    calls = [compiled(model)[0] for model in models]
    outcomes: list[bool] = []

    def run(number: int, rows: int) -> None:
        for _ in range(3):
            x = torch.randn(rows, (32, 48)[number])
            with torch.no_grad():
                outcomes.append(close(calls[number](x), models[number](x)))

    work = ((0, 4), (1, 4), (0, 4), (0, 6), (1, 5))
    threads = [threading.Thread(target=run, args=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 15


def test_models_alike_have_weights_of_their_own() -> None:
    models, x = [normed_linear(), normed_linear()], torch.randn(4, 32)
    calls = [compiled(model)[0] for model in models]
    with torch.no_grad():
        for call, model in [*zip(calls, models, strict=True)] * 2:
            assert close(call(x), model(x))
        assert not close(models[0](x), models[1](x))


def test_a_scalar_of_the_host_before_tensors_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dynamo orders inputs by their first use; the GPU is what is searched for."""
    monkeypatch.setattr(
        entry, "target_of", lambda device: {"cuda": "A100"}.get(device.type, "H200")
    )
    with FakeTensorMode():
        scalar, x = torch.empty(()), torch.empty(4, 32, device="cuda")
    for inputs in ([scalar, x], [x, scalar]):
        assert Backend({})._place(inputs) == ("A100", True)
    assert Backend({})._place([scalar]) == ("H200", False)


SHOWN = """
import torch

model = torch.nn.Sequential(torch.nn.RMSNorm(32), torch.nn.Linear(32, 16, bias=False))
options = {"rest": "eager", "effort": "none"}
with torch.no_grad():
    torch.compile(model, backend="mirage", options=options)(torch.ones(4, 32))
import mirage_mlir as mi

print(mi.torch.explain(model, torch.ones(4, 32), options=options))
"""


def test_logs_of_torch() -> None:
    """The name in the documents is one that torch takes."""
    done = subprocess.run(
        [sys.executable, "-c", SHOWN],
        env=os.environ | {"TORCH_LOGS": "mirage_mlir.frameworks.backend", "MIRAGE_LOG": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "0 parts by kernels for H200" in done.stderr, done.stderr
    assert "no kernels are known, and none were searched" in done.stdout


@pytest.mark.parametrize(("rest", "many_results"), [("eager", False), ("inductor", True)])
def test_more_tensors_than_an_operator_names(rest: str, many_results: bool) -> None:
    """Torch allows 64 arguments, and as many results."""

    def weighed(x: Any, *others: Any) -> Any:
        if many_results:
            weights = F.softmax(x, -1)
            return [weights * other for other in others]
        return [F.softmax(sum(others, x), -1)]

    x, *others = (torch.randn(2, 8) for _ in range(71))
    call, backend = compiled(weighed, rest=rest)
    with torch.no_grad():
        pairs = zip(call(x, *others), weighed(x, *others), strict=True)
    assert all(close(one, two) for one, two in pairs)
    (part,) = (each for each in backend.explanation.parts if each.taken)
    assert len(part.operators) >= 70
