"""Several GPUs in one process: one kernel for tensors of each, from threads, streams and graphs."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import gpu_prepared
import numpy as np
import pytest
from gpu_prepared import Prepared
from gpu_runs import chip_here
from kernel_kinds import CHIPS, KINDS
from numpy_reference import error

import mirage_mlir as mi
from mirage_mlir.frameworks.backend.entry import mirage

NAMES = [
    # Tensor maps; packed constants; counters in device memory; kernels that start early.
    "rmsnorm_linear",
    "packed",
    "split_k",
    "attention_across_many",
    "attention_two_kernels",
    "softmax",
]


@pytest.fixture(autouse=True)
def two_devices(torch: Any, request: pytest.FixtureRequest) -> None:
    """Skip where there are not two that the test's kernel runs on."""
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    if torch.cuda.get_device_capability(0) != torch.cuda.get_device_capability(1):
        pytest.skip("the first two GPUs differ")
    if "chip" in request.fixturenames and request.getfixturevalue("chip") not in {
        "sm_80",
        chip_here(),
    }:
        pytest.skip("an older GPU cannot run it")


def placed(torch: Any, prepared: Prepared, kernel: mi.CompiledKernel, device: int) -> list[Any]:
    """The inputs on a device."""
    return [
        torch.from_numpy(array).to(getattr(torch, spec.element_type.array_name)).to(device)
        for array, spec in zip(prepared.inputs, kernel.artifact.inputs, strict=True)
    ]


def called(kernel: mi.CompiledKernel, given: Sequence[Any]) -> list[Any]:
    """The outputs, always as a list."""
    results = kernel(*given)
    return [results] if hasattr(results, "shape") else list(results)


def right(prepared: Prepared, results: Sequence[Any], device: int) -> bool:
    """Whether results lie on a device and are near those of float64."""
    arrays = [each.double().cpu().numpy() for each in results]
    return all(each.get_device() == device for each in results) and all(
        error(array, wanted) <= limit
        for array, wanted, limit in zip(arrays, prepared.wanted, prepared.limits, strict=True)
    )


def kinds(*names: str) -> pytest.MarkDecorator:
    """Run a test with kernels of these names, for each chip that they are built for."""
    built = [(name, chip) for name in names for chip in CHIPS if KINDS[name].marks_on(chip)]
    return pytest.mark.parametrize(("name", "chip"), built)


of_kind = pytest.mark.prepared(gpu_prepared.kind, "name", "chip")


@of_kind
@kinds(*NAMES)
def test_one_thread(torch: Any, name: str, chip: str, prepared: Prepared) -> None:
    """In turn, whichever is the current device; the same numbers give the same bits."""
    kernel = prepared.kernel()
    given = [placed(torch, prepared, kernel, device) for device in (0, 1)]
    found: list[list[Any]] = []
    for current in (0, 1, 1, 0):
        with torch.cuda.device(current):
            for device in (0, 1):
                results = called(kernel, given[device])
                assert torch.cuda.current_device() == current
                assert right(prepared, results, device)
                found.append([each.cpu() for each in results])
    for results in found[1:]:
        assert all(map(torch.equal, results, found[0]))


@of_kind
@kinds(*NAMES)
def test_threads(torch: Any, name: str, chip: str, prepared: Prepared) -> None:
    """Eight begin at once with a kernel that no device has: on either, on streams or on none."""
    kernel, threads = prepared.kernel(), 8
    barrier = Barrier(threads)

    def call(number: int) -> bool:
        device = number % 2
        given = placed(torch, prepared, kernel, device)
        torch.cuda.synchronize(device)
        barrier.wait()
        if number < threads // 2:
            # The device is not the current one of the thread, and its default stream is used.
            outputs = [called(kernel, given) for _ in range(20)]
        else:
            with torch.cuda.stream(torch.cuda.Stream(device)):
                outputs = [called(kernel, given) for _ in range(20)]
        torch.cuda.synchronize(device)
        return all(right(prepared, results, device) for results in outputs)

    with ThreadPoolExecutor(threads) as pool:
        assert all(pool.map(call, range(threads)))
    assert torch.cuda.current_device() == 0


@of_kind
@kinds("split_k")
def test_graphs(torch: Any, name: str, chip: str, prepared: Prepared) -> None:
    """One of each device, captured as the first call there, replayed at the same time."""
    kernel = prepared.kernel()
    graphs: list[tuple[Any, list[Any]]] = []
    # A graph reads its inputs at each replay: they must live as long as it does.
    inputs = {device: placed(torch, prepared, kernel, device) for device in (1, 0)}
    for device, given in inputs.items():
        with torch.cuda.device(device):
            graph = torch.cuda.CUDAGraph()
            # The stream that torch captures by default is one of the device of the first capture.
            with torch.cuda.graph(graph, stream=torch.cuda.Stream(device)):
                results = called(kernel, given)
        graphs.append((graph, results))
    for _ in range(3):
        for _, results in graphs:
            for each in results:
                each.fill_(float("nan"))
        for device, (graph, _) in zip((1, 0), graphs, strict=True):
            with torch.cuda.device(device):
                graph.replay()
        for device, (_, results) in zip((1, 0), graphs, strict=True):
            torch.cuda.synchronize(device)
            assert right(prepared, results, device)


@of_kind
@kinds("packed")
def test_constants(torch: Any, name: str, chip: str, prepared: Prepared) -> None:
    """A packed constant that changes on one device is what it was on the other."""
    kernel = prepared.kernel()
    given = [placed(torch, prepared, kernel, device) for device in (0, 1)]
    for device in (0, 1):
        assert right(prepared, called(kernel, given[device]), device)
    (constant,) = [n for n, spec in enumerate(kernel.artifact.inputs) if spec.constant]
    given[1][constant].neg_()
    assert right(prepared, called(kernel, given[0]), 0)
    assert right(prepared, [-each for each in called(kernel, given[1])], 1)
    kernel.release()
    assert right(prepared, called(kernel, given[0]), 0)


@of_kind
@kinds("rmsnorm_linear")
def test_mixed(torch: Any, name: str, chip: str, prepared: Prepared) -> None:
    """Tensors of one call lie on one device; the error says which does not."""
    kernel = prepared.kernel()
    given = placed(torch, prepared, kernel, 1)
    with pytest.raises(ValueError, match="input 1 is on cuda:1, and input 0 on cuda:0"):
        kernel(given[0].to(0), given[1])
    out = called(kernel, given)[0].to(0)
    with pytest.raises(ValueError, match="output 1 is on cuda:0, and input 0 on cuda:1"):
        kernel(*given, out=out)
    assert right(prepared, called(kernel, given), 1)


@of_kind
@kinds("rmsnorm_linear")
def test_cupy(cupy: Any, name: str, chip: str, prepared: Prepared) -> None:
    kernel = prepared.kernel()
    with cupy.cuda.Device(1):
        given = [cupy.asarray(array.astype(np.float16)) for array in prepared.inputs]
    result = kernel(*given)
    assert result.device.id == 1
    with cupy.cuda.Device(1):
        cupy.cuda.Device(1).synchronize()
        array = cupy.asnumpy(result).astype(np.float64)
    assert error(array, prepared.wanted[0]) <= prepared.limits[0]


def test_gradients(torch: Any) -> None:
    """autograd goes back in threads of its own, one for each device."""
    from mirage_mlir import torch as ours

    x, g = (torch.randn(64, 1024).half() for _ in range(2))

    def gradients(device: int) -> list[Any]:
        norm = ours.RMSNorm(1024, eps=1e-6, device=device, dtype=torch.float16)
        given = x.to(device).requires_grad_()
        with torch.enable_grad():
            y = norm(given)
            y.backward(g.to(device))
        return [each.detach().cpu() for each in (y, given.grad, norm.weight.grad)]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(gradients, (0, 1))
    exact = x.double().requires_grad_()
    weight = torch.ones(1024, dtype=torch.float64, requires_grad=True)
    with torch.enable_grad():
        y = torch.nn.functional.rms_norm(exact, (1024,), weight, 1e-6)
        y.backward(g.double())
    for one, other, wanted in zip(first, second, (y, exact.grad, weight.grad), strict=True):
        assert torch.equal(one, other)
        assert float((one.double() - wanted).norm() / wanted.norm()) <= 2e-3


class Half:
    """Half of a model, whose weight lies on a device."""

    def __init__(self, torch: Any, device: int) -> None:
        self.silu, self.device = torch.nn.functional.silu, device
        self.weight = torch.randn(256, 256).to(device).half() / 16

    def __call__(self, x: Any) -> Any:
        return self.silu(x.to(self.device)) @ self.weight

    def exact(self, x: Any) -> Any:
        """In float64."""
        return self.silu(x.double().to(self.device)) @ self.weight.double()


def test_compiled_by_torch(torch: Any) -> None:
    """The halves of a model lie on two devices: each is compiled for its own, and both at once."""
    halves = [Half(torch, 0), Half(torch, 1)]

    def model(x: Any) -> Any:
        return halves[1](halves[0](x))

    x = torch.randn(16, 256).half()
    wanted = halves[1].exact(halves[0].exact(x))
    first, second = (torch.compile(half.__call__, backend=mirage) for half in halves)
    for result in (torch.compile(model, backend=mirage)(x.to(0)), second(first(x.to(0)))):
        assert result.get_device() == 1
        assert float((result.double() - wanted).norm() / wanted.norm()) <= 3e-3
