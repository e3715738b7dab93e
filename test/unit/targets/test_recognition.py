"""Which row stands for a GPU, by what its vendor calls it."""

from collections.abc import Iterator

import pytest

from mirage_mlir.api.graph import options_of
from mirage_mlir.runtime import present_gpu
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.runtime.present_gpu import present_target
from mirage_mlir.targets.recognition import target_of_gpu


@pytest.mark.parametrize(
    ("name", "major", "target"),
    [
        ("NVIDIA H100 80GB HBM3", 9, "H100"),
        ("NVIDIA H200", 9, "H200"),
        ("NVIDIA A100-SXM4-80GB", 8, "A100"),
        # No rows of their own: a part of a word is no name.
        ("NVIDIA GH200 480GB", 9, "sm_90a"),
        ("NVIDIA A10", 8, "sm_80"),
        # It has a row and no lowering; kernels for it are refused when they run.
        ("NVIDIA B200", 10, "H200"),
        ("Tesla V100-SXM2-16GB", 7, "H200"),
    ],
)
def test_names(name: str, major: int, target: str) -> None:
    assert target_of_gpu(name, major) == target


class OneH100:
    """A driver, as far as it is asked here."""

    def name(self, device: int) -> str:
        return f"NVIDIA H100 80GB HBM{3 + device}"

    def capability(self, device: int) -> tuple[int, int]:
        return 9 + device, 0


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """Which GPU is there is known for good, but for these tests."""
    present_target.cache_clear()
    yield
    present_target.cache_clear()


def test_the_gpu_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(present_gpu, "CudaDriver", OneH100)
    assert options_of(None, {}).target == "H100"
    assert options_of("A100", {}).target == "A100"


def test_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise CudaError("there is none")

    monkeypatch.setattr(present_gpu, "CudaDriver", none)
    assert options_of(None, {}).target == "H200"
