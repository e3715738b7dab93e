"""The calls of CUDA's driver: what is passed on, and what errors become."""

import ctypes
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from runtime_fakes import map_of

from mirage_mlir.runtime.arguments import Argument, TensorMapArgument
from mirage_mlir.runtime.cuda_driver import CudaDriver, CudaError, Function
from mirage_mlir.runtime.element_types import ElementType

OK, INVALID_CONTEXT = 0, 201


class EncodedMap:
    """As CUtensorMap."""

    def __init__(self) -> None:
        self.memory = ctypes.create_string_buffer(bytes(range(128)), 128)

    def getPtr(self) -> int:  # the name that the bindings give it
        """The address of its 128 bytes."""
        return ctypes.addressof(self.memory)


class Bindings(ModuleType):
    """As cuda.bindings.driver: functions give a status first; every call is noted."""

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR="major",
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR="minor",
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN="shared",
    )
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="dynamic shared"
    )
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED="relaxed")
    CUstreamCaptureStatus = SimpleNamespace(CU_STREAM_CAPTURE_STATUS_ACTIVE="active")
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING="non-blocking")
    CUtensorMapDataType = SimpleNamespace(
        CU_TENSOR_MAP_DATA_TYPE_FLOAT16="f16",
        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16="bf16",
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32="f32",
    )
    CUtensorMapInterleave = SimpleNamespace(CU_TENSOR_MAP_INTERLEAVE_NONE="no interleave")
    CUtensorMapSwizzle = SimpleNamespace(
        CU_TENSOR_MAP_SWIZZLE_NONE="no swizzle",
        CU_TENSOR_MAP_SWIZZLE_32B="32 bytes",
        CU_TENSOR_MAP_SWIZZLE_64B="64 bytes",
        CU_TENSOR_MAP_SWIZZLE_128B="128 bytes",
    )
    CUtensorMapL2promotion = SimpleNamespace(CU_TENSOR_MAP_L2_PROMOTION_NONE="as asked")
    CUtensorMapFloatOOBfill = SimpleNamespace(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE="zeros")
    cuuint64_t = cuuint32_t = int

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self.failing: dict[str, int] = {}
        self.calls: list[tuple[object, ...]] = []
        self.results: dict[str, object] = {
            "cuDeviceGet": "device",
            "cuDevicePrimaryCtxRetain": "context",
            "cuThreadExchangeStreamCaptureMode": "global",
            "cuModuleLoadData": "module",
            "cuModuleGetFunction": "function",
            "cuCtxGetDevice": 1,
            "cuGetErrorName": b"CUDA_ERROR_INVALID_CONTEXT",
            "cuGetErrorString": b"invalid device context",
            "cuCtxPopCurrent": "context",
            "cuTensorMapEncodeTiled": EncodedMap(),
            "cuMemAlloc": 0x7000,
            "cuStreamCreate": "own stream",
            "cuStreamGetCaptureInfo": None,
            "cuStreamSynchronize": None,
        }
        self.attributes = {"major": 9, "minor": 0, "shared": 232448}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*arguments: object) -> tuple[object, ...]:
            self.calls.append((name, *arguments))
            if name in self.failing:
                return (self.failing[name], None)
            if name == "cuDeviceGetAttribute":
                return (OK, self.attributes[str(arguments[0])])
            return (OK, self.results[name]) if name in self.results else (OK,)

        call.__name__ = name
        return call

    def named(self, name: str) -> list[tuple[object, ...]]:
        """The arguments of all calls of one function."""
        return [call[1:] for call in self.calls if call[0] == name]


@pytest.fixture
def bindings(monkeypatch: pytest.MonkeyPatch) -> Bindings:
    """Bindings in the place of the real ones."""
    fake = Bindings()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", fake)
    return fake


def test_what_a_device_is(bindings: Bindings) -> None:
    driver = CudaDriver()
    assert driver.capability(0) == (9, 0)
    assert driver.shared_memory_limit(0) == 232448
    assert driver.current_device() == 1
    assert bindings.calls[0] == ("cuInit", 0)


def test_a_thread_without_a_context(bindings: Bindings) -> None:
    bindings.failing["cuCtxGetDevice"] = INVALID_CONTEXT
    assert CudaDriver().current_device() is None


def test_the_context_is_left_even_after_an_error(bindings: Bindings) -> None:
    driver = CudaDriver()

    def fail_inside() -> None:
        with driver.use_device(1):
            raise ValueError("inside")

    for _ in range(2):
        with pytest.raises(ValueError, match="inside"):
            fail_inside()
    assert bindings.named("cuCtxPushCurrent") == [("context",)] * 2
    assert len(bindings.named("cuCtxPopCurrent")) == 2
    assert len(bindings.named("cuDevicePrimaryCtxRetain")) == 1


def test_loading_opts_out_of_a_capture_and_back(bindings: Bindings) -> None:
    driver = CudaDriver()
    module = driver.load(b"cubin")
    assert bindings.named("cuThreadExchangeStreamCaptureMode") == [("relaxed",), ("global",)]
    driver.function(module, "f_kernel_0", 75776)
    assert bindings.named("cuModuleGetFunction") == [("module", b"f_kernel_0")]
    assert bindings.named("cuFuncSetAttribute") == [("function", "dynamic shared", 75776)]
    assert bindings.named("cuFuncLoad") == [("function",)]
    bindings.failing["cuModuleLoadData"] = INVALID_CONTEXT
    with pytest.raises(CudaError, match="cuModuleLoadData failed"):
        driver.load(b"cubin")
    assert bindings.named("cuThreadExchangeStreamCaptureMode")[-1] == ("global",)


def test_launch(bindings: Bindings) -> None:
    driver = CudaDriver()
    driver.launch(Function("function"), (128, 2, 1), 256, 1024, 77, 0x5000)
    assert bindings.named("cuLaunchKernel") == [
        ("function", 128, 2, 1, 256, 1, 1, 1024, 77, 0x5000, 0)
    ]


def test_a_refused_launch(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> tuple[int]:
        return (INVALID_CONTEXT,)

    monkeypatch.setattr(bindings, "cuLaunchKernel", refuse, raising=False)
    message = "CUDA_ERROR_INVALID_CONTEXT: invalid device context"
    with pytest.raises(CudaError, match=message):
        CudaDriver().launch(Function("function"), (1, 1, 1), 32, 0, 0, 0)


def captures(monkeypatch: pytest.MonkeyPatch, bindings: Bindings, *info: object) -> None:
    """Let `info` be what CUDA says of the stream 77."""

    def answer(stream: int) -> tuple[object, ...]:
        assert stream == 77
        return info

    monkeypatch.setattr(bindings, "cuStreamGetCaptureInfo", answer, raising=False)


@pytest.mark.parametrize(("state", "number"), [("active", 5), ("none", 0)])
def test_which_graph_is_captured(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, state: str, number: int
) -> None:
    captures(monkeypatch, bindings, OK, state, 5, "graph", [], 0)
    assert CudaDriver().capture(77) == number


def test_a_capture_that_cannot_be_asked_for(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    captures(monkeypatch, bindings, INVALID_CONTEXT, None, None, None, None, None)
    with pytest.raises(CudaError, match="asking for a capture failed"):
        CudaDriver().capture(77)


def test_zeroed_memory(bindings: Bindings) -> None:
    """It is zero when the call returns, and no capture notices."""
    assert CudaDriver().zeroed(64) == 0x7000
    assert bindings.named("cuMemsetD8Async") == [(0x7000, 0, 64, "own stream")]
    calls = [str(name) for name, *_ in bindings.calls]
    assert calls.index("cuMemsetD8Async") < calls.index("cuStreamSynchronize")
    assert bindings.named("cuThreadExchangeStreamCaptureMode") == [("relaxed",), ("global",)]


def test_memory(bindings: Bindings) -> None:
    driver = CudaDriver()
    assert driver.allocate(256) == 0x7000
    driver.upload(0x7000, b"abc")
    assert len(driver.download(0x7000, 16)) == 16
    driver.free(0x7000)
    driver.synchronize()
    assert bindings.named("cuMemAlloc") == [(256,)]
    ((target, _, size),) = bindings.named("cuMemcpyHtoD")
    assert (target, size) == (0x7000, 3)
    ((_, source, size),) = bindings.named("cuMemcpyDtoH")
    assert (source, size) == (0x7000, 16)
    assert bindings.named("cuMemFree") == [(0x7000,)]
    assert len(bindings.named("cuCtxSynchronize")) == 1


@pytest.mark.parametrize(
    ("element_type", "swizzle", "named"),
    [
        (ElementType.F16, 128, ("f16", "128 bytes")),
        (ElementType.BF16, 64, ("bf16", "64 bytes")),
        (ElementType.F32, 32, ("f32", "32 bytes")),
        (ElementType.F32, 0, ("f32", "no swizzle")),
    ],
)
def test_encode(
    bindings: Bindings, element_type: ElementType, swizzle: int, named: tuple[str, str]
) -> None:
    tensor_map = TensorMapArgument(
        Argument("input", 1), 32, (4096, 16), (8192,), (64, 16), swizzle, element_type
    )
    assert CudaDriver().encode(tensor_map, 0x7000) == bytes(range(128))
    sizes = ([4096, 16], [8192], [64, 16], [1, 1])
    assert bindings.named("cuTensorMapEncodeTiled") == [
        (named[0], 2, 0x7020, *sizes, "no interleave", named[1], "as asked", "zeros")
    ]


def test_one_dim_has_a_stride_that_nobody_reads(bindings: Bindings) -> None:
    tensor_map = TensorMapArgument(Argument("input", 0), 0, (4096,), (), (64,), 0, ElementType.F16)
    CudaDriver().encode(tensor_map, 0x7000)
    ((_, rank, _, dims, strides, *_),) = bindings.named("cuTensorMapEncodeTiled")
    assert (rank, dims, strides) == (1, [4096], [16])


def test_encoding_at_a_wrong_address(bindings: Bindings) -> None:
    message = "a tensor map of input:0 starts at address 0x7008, not at a multiple of 16 bytes"
    with pytest.raises(ValueError, match=message):
        CudaDriver().encode(map_of("input:0"), 0x7008)
    assert not bindings.named("cuTensorMapEncodeTiled")


def test_a_map_that_cuda_refuses(bindings: Bindings) -> None:
    bindings.failing["cuTensorMapEncodeTiled"] = 1
    with pytest.raises(CudaError, match=r"cuTensorMapEncodeTiled failed: .*box=\(8, 2\)"):
        CudaDriver().encode(map_of("input:0"), 0x7000)


def test_a_driver_without_tensor_maps(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise RuntimeError('Function "cuTensorMapEncodeTiled" not found')

    monkeypatch.setattr(bindings, "cuTensorMapEncodeTiled", missing, raising=False)
    with pytest.raises(CudaError, match=r"need a driver for CUDA 12\.0 or later"):
        CudaDriver().encode(map_of("input:0"), 0x7000)


def test_no_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    # None in sys.modules makes an import fail.
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    with pytest.raises(CudaError, match="pip install cuda-bindings"):
        CudaDriver()


def test_no_driver(bindings: Bindings) -> None:
    bindings.failing["cuInit"] = 100
    with pytest.raises(CudaError, match="cuInit failed"):
        CudaDriver()


def test_the_real_bindings_have_all_of_it() -> None:
    """The names that the fake stands for; without a GPU nothing more can be asked of them."""
    real = import_module("cuda.bindings.driver") if _installed() else None
    if real is None:
        pytest.skip("cuda-bindings is not installed")
    for name in (*Bindings().results, "cuInit", "cuLaunchKernel", "cuFuncLoad"):
        assert callable(getattr(real, name))
    for group in [name for name in vars(Bindings) if name.startswith("CU")]:
        members: dict[str, object] = getattr(Bindings, group).__dict__
        assert all(hasattr(getattr(real, group), name) for name in members)
    assert ctypes.sizeof(ctypes.c_void_p) == 8


def _installed() -> bool:
    try:
        import_module("cuda.bindings")
    except ImportError:
        return False
    return True
