"""Running compiled kernels on a GPU between guards: what lies around inputs and outputs."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.runtime.artifact import Artifact, TensorSpec
from mirage_mlir.runtime.cuda_driver import cuda_driver

GUARD = 4096
"""Elements before and after each tensor; a multiple of 16 bytes."""

UNTOUCHED = 7.0
"""What guards of outputs hold."""


class Runnable(Protocol):
    """What is called as a `CompiledKernel` is."""

    artifact: Artifact

    def __call__(self, *inputs: Any, out: Any) -> Any:
        """Compute the outputs, on torch's current stream."""
        ...


def chip_here() -> str:
    """The instruction set to compile for."""
    return "sm_90a" if cuda_driver().capability(0) == (9, 0) else "sm_80"


def _between_guards(torch: Any, spec: TensorSpec, guard: float) -> tuple[Any, Any]:
    """Memory filled with `guard`, and a tensor in its middle."""
    dtype = getattr(torch, spec.element_type.array_name)
    size = spec.storage_elements
    memory = torch.full((size + 2 * GUARD,), guard, dtype=dtype, device="cuda")
    return memory, memory.as_strided(spec.shape, spec.strides, GUARD)


def run_guarded(
    torch: Any, kernel: Runnable, inputs: Sequence[NDArray[np.float32]]
) -> list[NDArray[np.float64]]:
    """
    The outputs of `kernel`, the same in two runs.

    Outputs hold NaN before, and inputs lie between NaN: an element that was not written, and one
    that was read beyond an edge, are seen in the result. Fails where a kernel writes beyond one.
    """
    tensors: list[Any] = []
    for array, spec in zip(inputs, kernel.artifact.inputs, strict=True):
        _, tensor = _between_guards(torch, spec, float("nan"))
        tensor.copy_(torch.from_numpy(array))
        tensors.append(tensor)
    first = _run_into_poison(torch, kernel, tensors)
    second = _run_into_poison(torch, kernel, tensors)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other, "two runs on the same inputs differ")
    return first


def _run_into_poison(
    torch: Any, kernel: Runnable, tensors: Sequence[Any]
) -> list[NDArray[np.float64]]:
    """The outputs, which were NaN before; what is around them must be as it was."""
    placed = [_between_guards(torch, spec, UNTOUCHED) for spec in kernel.artifact.outputs]
    outputs = [tensor.fill_(float("nan")) for _, tensor in placed]
    kernel(*tensors, out=outputs)
    torch.cuda.synchronize()
    for memory, _ in placed:
        guards = torch.cat([memory[:GUARD], memory[-GUARD:]])
        assert bool((guards == UNTOUCHED).all()), "something was written beyond an output"
    return [tensor.double().cpu().numpy() for tensor in outputs]
