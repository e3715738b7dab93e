"""Calling a compiled kernel: what is checked before a launch, and what reaches it."""

import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import pytest
from runtime_fakes import (
    FakeDriver,
    FakeTensor,
    FakeTorch,
    Foreign,
    artifact,
    code,
    code_with_packed,
    following,
    with_constant,
)

from mirage_mlir.runtime import tensors
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.runtime.kernel import CompiledKernel, load


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    """A torch that is imported and whose tensors the runtime takes."""
    fake = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(tensors, "_loaded", {})
    return fake


@pytest.fixture
def driver() -> FakeDriver:
    """A driver of two devices of compute capability 9.0."""
    return FakeDriver()


@pytest.fixture
def kernel(torch: FakeTorch, driver: FakeDriver) -> CompiledKernel:
    """Two kernels, no scratch memory."""
    return CompiledKernel(artifact(), driver=lambda: driver)


class Changes(TypedDict, total=False):
    """What a test changes of a tensor that fits."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    strides: tuple[int, ...]
    address: int
    negative: bool


def x(**changes: Unpack[Changes]) -> FakeTensor:
    """A tensor that fits the first input, but for `changes`."""
    fitting: Changes = {"shape": (4, 8), "dtype": "torch.float16", "address": 0x1000}
    fitting.update(changes)
    return FakeTensor(**fitting)


def w(**changes: Unpack[Changes]) -> FakeTensor:
    """A tensor that fits the second input, but for `changes`."""
    fitting: Changes = {"shape": (8, 16), "dtype": "torch.float16", "address": 0x2000}
    fitting.update(changes)
    return FakeTensor(**fitting)


def test_all_ways_to_call(kernel: CompiledKernel, driver: FakeDriver, torch: FakeTorch) -> None:
    first, second = x(), w()
    results = [kernel(first, second), kernel([first, second]), kernel(inputs=(first, second))]
    assert [result.shape for result in results] == [(4, 16)] * 3
    assert results == torch.allocated
    for number, result in enumerate(results):
        one, two = driver.launches[2 * number : 2 * number + 2]
        assert one.arguments == [0x1000, 0x2000, 0x2000]
        assert two.arguments == [result.data_ptr(), 0x1000]
        assert (one.stream, two.stream) == (70, 70)
    assert len(driver.loads) == 1


def test_the_device_of_the_tensors(kernel: CompiledKernel, driver: FakeDriver) -> None:
    result = kernel(x(device="cuda:1"), w(device="cuda:1"))
    assert result.device == "cuda:1"
    assert {(launch.device, launch.stream) for launch in driver.launches} == {(1, 71)}
    assert driver.current == 0


def test_scratch_memory(torch: FakeTorch, driver: FakeDriver) -> None:
    kernel = CompiledKernel(artifact(code(scratch=768)), driver=lambda: driver)
    result = kernel(x(), w())
    output, scratch = torch.allocated
    assert output is result
    assert (scratch.shape, scratch.dtype) == ((768,), "torch.uint8")
    assert driver.launches[0].arguments[2] == scratch.data_ptr() + 512


def test_a_constant_that_was_packed_is_held(torch: FakeTorch) -> None:
    """Else another tensor might come to lie where it lay, and be taken for it."""
    driver = FakeDriver(memory={0x2000: bytes(256), 0x3000: bytes(256)})
    kernel = CompiledKernel(artifact(code_with_packed()), driver=lambda: driver)
    activations, weights = x(), w()
    of_activations, of_weights = weakref.ref(activations), weakref.ref(weights)
    kernel(activations, weights)
    kernel(activations, w(address=0x3000))
    del activations, weights
    assert of_activations() is None
    assert of_weights() is not None
    kernel.release()
    assert of_weights() is None
    assert driver.freed == driver.allocated
    kernel(x(), w())
    assert len(driver.allocated) == 3


def test_a_packed_constant_that_changed_is_packed_anew(torch: FakeTorch) -> None:
    """torch counts changes in place; the copy stays where it is, where CUDA graphs read it."""
    driver = FakeDriver(memory={0x2000: bytes(256)})
    kernel = CompiledKernel(artifact(code_with_packed()), driver=lambda: driver)
    weights = w()
    for value in (0, 1):
        driver.memory[0x2000] = bytes([value] * 256)
        kernel(x(), weights)
        assert set(driver.memory[driver.allocated[0]]) == {0}, "nobody counted a change"
    weights.change()
    kernel(x(), weights)
    (copy,) = driver.allocated
    assert set(driver.memory[copy]) == {1}
    weights.change()
    driver.captures = {70: 1}
    with pytest.raises(CudaError, match="after a change, which cannot be captured"):
        kernel(x(), weights)


def test_an_input_that_requires_a_gradient(kernel: CompiledKernel, torch: FakeTorch) -> None:
    weights = w()
    weights.requires_grad = True
    message = r"input 1 \('w'\) requires a gradient, which a kernel does not record: detach it"
    with pytest.raises(ValueError, match=message):
        kernel(x(), weights)
    torch.grad_enabled = False
    kernel(x(), weights)


def test_given_output(kernel: CompiledKernel, driver: FakeDriver, torch: FakeTorch) -> None:
    out = FakeTensor((4, 16), "torch.float16", address=0x8000)
    assert kernel(x(), w(), out=out) is out
    assert driver.launches[1].arguments[0] == 0x8000
    assert torch.allocated == []


def test_strides_of_dimensions_of_size_one_do_not_matter(driver: FakeDriver) -> None:
    view = FakeTensor((1, 8), "torch.float16", strides=(99, 1))
    spec = tensors.TensorSpec("x", (1, 8), artifact().inputs[0].element_type, (8, 1))
    tensors.check(tensors.TensorView((1, 8), "float16", view.stride(), "cuda:0", 0), spec, "x")


def test_dlpack_goes_in_and_comes_back(kernel: CompiledKernel, driver: FakeDriver) -> None:
    result = kernel(Foreign(x()), Foreign(w()))
    assert isinstance(result, Foreign)
    assert driver.launches[0].arguments == [0x1000, 0x2000, 0x2000]
    assert isinstance(kernel(x(), Foreign(w())), FakeTensor)


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (
            x(dtype="torch.bfloat16"),
            w(),
            TypeError,
            r"input 0 \('x'\) has type bfloat16, not float16",
        ),
        (x(), w(shape=(8, 15)), ValueError, r"input 1 \('w'\) has shape \(8, 15\), not \(8, 16\)"),
        (x(), w(shape=(8, 16, 1)), ValueError, r"has shape \(8, 16, 1\), not \(8, 16\)"),
        (
            x(),
            w(strides=(1, 8)),
            ValueError,
            r"input 1 \('w'\) has strides \(1, 8\), not \(16, 1\): make it contiguous, "
            r"or call the kernel with copy=True",
        ),
        (x(device="cpu"), w(), ValueError, "input 1 is on a device, and input 0 in host"),
        (x(), w(device="cpu"), ValueError, r"input 1 \('w'\) is on cpu"),
        (x(device="meta"), w(), ValueError, r"input 0 \('x'\) is on meta"),
        (x(), w(device="cuda:1"), ValueError, "input 1 is on cuda:1, and input 0 on cuda:0"),
        (x(address=0x1002), w(), ValueError, "0x1002, not at a multiple of 16 bytes: .* copy=True"),
        (x(negative=True), w(), ValueError, "of which the negative is still to be taken: make it"),
        ("x", w(), TypeError, "not str"),
        (x(), 3.0, TypeError, r"input 1 \('w'\) is a float, not a tensor on a device"),
        (x(), None, TypeError, r"input 1 \('w'\) is a NoneType"),
    ],
)
def test_what_does_not_fit_is_not_launched(
    kernel: CompiledKernel,
    driver: FakeDriver,
    first: object,
    second: object,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        kernel(first, second)
    assert driver.launches == []


@pytest.mark.parametrize(
    "second",
    [w(strides=(1, 8)), w(strides=(32, 2)), w(strides=(0, 1)), w(address=0x2002), w(negative=True)],
)
def test_a_copy_on_request(
    kernel: CompiledKernel, driver: FakeDriver, torch: FakeTorch, second: FakeTensor
) -> None:
    """What lies as the kernel needs it is not copied, and the other library's tensors are."""
    first = x()
    for tensors_ in ((first, second), (Foreign(first), Foreign(second))):
        driver.launches.clear()
        torch.allocated.clear()
        kernel(*tensors_, copy=True)
        made, _ = torch.allocated
        assert made.copied is second
        assert made.stride() == (16, 1)
        assert driver.launches[0].arguments[:2] == [0x1000, made.data_ptr()]


def test_no_early_start_behind_what_writes_a_constant(torch: FakeTorch) -> None:
    """An early kernel reads constants at once, also those that were just copied or changed."""
    driver, weights = FakeDriver(), w()
    kernel = CompiledKernel(with_constant(artifact(following(code()))), driver=lambda: driver)

    def starts_early(second: FakeTensor) -> bool:
        # Memory of earlier calls is there again, as from torch's caching allocator.
        torch.allocated.clear()
        driver.early.clear()
        kernel(x(), second, copy=True)
        return "f_kernel_0" in driver.early

    strided = w(strides=(1, 8))
    assert [starts_early(each) for each in (weights, weights, strided, strided)] == [
        *(False, True),
        *(False, False),
    ]
    # Memory of a copy, which the next call may have for something else.
    assert not starts_early(w(address=0x100000))
    assert starts_early(weights)
    weights.change()
    assert [starts_early(weights), starts_early(weights)] == [False, True]


def test_no_copy_of_what_does_not_fit(kernel: CompiledKernel, torch: FakeTorch) -> None:
    with pytest.raises(ValueError, match=r"has shape \(8, 15\), not \(8, 16\)"):
        kernel(x(), w(shape=(8, 15)), copy=True)
    with pytest.raises(ValueError, match="input 1 is on cuda:1, and input 0 on cuda:0"):
        kernel(x(), w(device="cuda:1", strides=(1, 8)), copy=True)
    with pytest.raises(ValueError, match=r"output 0 .* has strides .*: give another one"):
        kernel(x(), w(), out=FakeTensor((4, 16), strides=(1, 4)), copy=True)


def test_no_copy_of_what_is_packed(torch: FakeTorch) -> None:
    """Packed copies are known by the addresses of their inputs: each call would pack anew."""
    kernel = CompiledKernel(artifact(code_with_packed()), driver=FakeDriver)
    with pytest.raises(
        ValueError, match=r"input 1 \('w'\) .*, and is packed: make it contiguous once"
    ):
        kernel(x(), w(strides=(1, 8)), copy=True)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (
            FakeTensor((4, 15), "torch.float16"),
            r"output 0 \('out0'\) has shape \(4, 15\), not \(4, 16\)",
        ),
        (FakeTensor((4, 16), "torch.float16", "cuda:1"), "output 1 is on cuda:1"),
        (FakeTensor((4, 16), "torch.float16", address=0x1010), "output 0 shares memory"),
        (FakeTensor((4, 16), "torch.float16", address=0xFF0), "output 0 shares memory"),
    ],
)
def test_outputs_that_do_not_fit(
    kernel: CompiledKernel, driver: FakeDriver, out: FakeTensor, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        kernel(x(), w(), out=out)
    assert driver.launches == []


def test_wrong_counts(kernel: CompiledKernel) -> None:
    signature = r"f\(x: 4x8xf16, w: 8x16xf16\) -> 4x16xf16"
    with pytest.raises(TypeError, match=f"{signature} takes 2 inputs, not 1"):
        kernel(x())
    with pytest.raises(TypeError, match="takes 2 inputs, not 3"):
        kernel([x(), w(), w()])
    with pytest.raises(TypeError, match="given twice"):
        kernel(x(), inputs=[x(), w()])
    with pytest.raises(TypeError, match="writes 1 outputs, not 2"):
        kernel(x(), w(), out=[x(), w()])


def test_a_device_without_code(torch: FakeTorch) -> None:
    driver = FakeDriver(capabilities=((10, 0),))
    kernel = CompiledKernel(artifact(), driver=lambda: driver)
    with pytest.raises(ValueError, match=r"compiled for sm_90a, sm_80; .* 10\.0"):
        kernel(x(), w())


def test_several_outputs_are_a_tuple(torch: FakeTorch, driver: FakeDriver) -> None:
    program = artifact()
    both = replace(program, outputs=program.outputs * 2)
    results = CompiledKernel(both, driver=lambda: driver)(x(), w())
    assert isinstance(results, tuple)
    assert results == tuple(torch.allocated)


def test_save_and_load(kernel: CompiledKernel, tmp_path: Path) -> None:
    kernel.save(tmp_path / "f.mirage")
    loaded = load(tmp_path / "f.mirage")
    assert loaded.artifact == kernel.artifact
    assert (loaded.ugraph, loaded.report) == ("// the uGraph\n", "searched\n")
    assert repr(loaded) == (
        "<CompiledKernel f(x: 4x8xf16, w: 8x16xf16) -> 4x16xf16 for sm_90a, sm_80>"
    )


def test_numpy_beside_device_tensors(kernel: CompiledKernel) -> None:
    with pytest.raises(ValueError, match="input 1 is on a device, and input 0 in host memory"):
        kernel(np.zeros((4, 8), np.float16), w())
