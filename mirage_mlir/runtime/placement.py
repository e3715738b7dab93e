"""Where the tensors of a call are, and whether kernels can work on them there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mirage_mlir.runtime.artifact import Artifact, TensorSpec
from mirage_mlir.runtime.host_tensors import refuse_gradient
from mirage_mlir.runtime.tensors import Framework, check, misplaced

Place = tuple[int, int]
"""The number of a device, and an address there."""


def place_inputs(
    framework: Framework, given: list[Any], artifact: Artifact, *, copy: bool
) -> list[Place]:
    """
    Where each input is.

    Args:
        framework: the library that runs the call.
        given: the inputs; with `copy`, a copy takes the place of what does not lie as is needed.
        artifact: of the kernels.
        copy: whether to copy; an error otherwise.

    Raises:
        TypeError: kind of tensor or element type do not fit.
        ValueError: device, shape, strides or alignment do not fit.
    """
    places: list[Place] = []
    for number, spec in enumerate(artifact.inputs):
        tensor = given[number]
        place = framework.locate(tensor, spec) if framework.owns(tensor) else None
        if place is None:
            label = f"input {number} ('{spec.name}')"
            tensor, place, wrong = _look_at(framework, tensor, spec, label)
            if wrong is not None:
                _refuse_copy(artifact, number, f"{label} {wrong}", copy=copy)
                made, address = framework.empty(spec, place[0])
                framework.fill(made, tensor)
                given[number], place = made, (place[0], address)
        places.append(place)
    _same_device(places, "input")
    return places


def _refuse_copy(artifact: Artifact, number: int, problem: str, *, copy: bool) -> None:
    """Raise `ValueError` where no copy of an input is to be made."""
    if any(each.tensor.index == number for code in artifact.targets for each in code.packed):
        # Packed copies are known by the addresses of their inputs.
        raise ValueError(f"{problem}, and is packed: make it contiguous once, for all calls")
    if not copy:
        raise ValueError(f"{problem}: make it contiguous, or call the kernel with copy=True")


def place_outputs(
    framework: Framework, results: Sequence[Any], artifact: Artifact, inputs: Sequence[Place]
) -> list[int]:
    """
    The addresses of the outputs that the caller gave.

    Args:
        framework: the library that runs the call.
        results: the outputs.
        artifact: of the kernels.
        inputs: where these are.

    Raises:
        TypeError, ValueError: as for inputs; or an output shares memory with another tensor.
    """
    found = [
        _place_output(framework, tensor, spec, f"output {number} ('{spec.name}')")
        for number, (tensor, spec) in enumerate(zip(results, artifact.outputs, strict=True))
    ]
    _same_device([inputs[0], *found], "output")
    # A kernel may read an input again after it has written an output.
    read = [_span(place, spec) for place, spec in zip(inputs, artifact.inputs, strict=True)]
    written = [_span(place, spec) for place, spec in zip(found, artifact.outputs, strict=True)]
    for number, span in enumerate(written):
        if any(_overlap(span, other) for other in (*read, *written[:number])):
            raise ValueError(f"output {number} shares memory with an input or another output")
    return [address for _, address in found]


def _place_output(framework: Framework, tensor: Any, spec: TensorSpec, label: str) -> Place:
    place = framework.locate(tensor, spec) if framework.owns(tensor) else None
    if place is None:
        _, place, wrong = _look_at(framework, tensor, spec, label)
        if wrong is not None:
            raise ValueError(f"{label} {wrong}: give another one")
    return place


def _look_at(
    framework: Framework, tensor: Any, spec: TensorSpec, label: str
) -> tuple[Any, Place, str | None]:
    """A tensor as one of `framework`, where it is, and what is wrong with how it lies there."""
    refuse_gradient(tensor, label)
    if not framework.owns(tensor):
        if isinstance(tensor, np.ndarray):
            raise ValueError(f"{label} is in host memory, and input 0 on a device")
        if not hasattr(tensor, "__dlpack_device__"):
            raise TypeError(f"{label} is a {type(tensor).__qualname__}, not a tensor on a device")
        tensor = framework.from_dlpack(tensor)
    view = framework.view(tensor)
    check(view, spec, label)
    device = int(view.device.removeprefix("cuda:"))
    return tensor, (device, view.address), misplaced(view, spec)


def _same_device(places: Sequence[Place], what: str) -> None:
    for number, (device, _) in enumerate(places):
        if device != places[0][0]:
            raise ValueError(
                f"{what} {number} is on cuda:{device}, and input 0 on cuda:{places[0][0]}"
            )


def _span(place: Place, spec: TensorSpec) -> Place:
    """The first address of a tensor and the one after its last."""
    return place[1], place[1] + spec.storage_bytes


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]
