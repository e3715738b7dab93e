"""
Machine code on one device, ready to launch.

A launch checks nothing, allocates nothing on the device and waits for nothing, so it may be
captured into a CUDA graph; `kernel.py` checks the tensors before.
"""

import ctypes
from collections.abc import Sequence

from mirage_mlir.runtime.artifact import Artifact, Launch, TargetCode
from mirage_mlir.runtime.cuda_driver import Driver

_Frame = list[tuple[ctypes.Array[ctypes.c_uint64], int]]
"""For each launch its argument values and the address of the array of their addresses."""


def choose_target(artifact: Artifact, capability: tuple[int, int]) -> TargetCode:
    """
    The code of `artifact` that runs on a device of `capability`.

    Code for sm_90a runs on 9.0 alone; code for sm_8x runs on 8.x and every later minor of 8.

    Raises:
        ValueError: there is none.
    """
    major, minor = capability
    fitting = [
        (feature, code)
        for code in artifact.targets
        if (feature := _feature(code.target, major, minor)) is not None
    ]
    if not fitting:
        targets = ", ".join(code.target for code in artifact.targets) or "no target"
        raise ValueError(
            f"'{artifact.name}' was compiled for {targets}; the device has compute capability "
            f"{major}.{minor}"
        )
    return max(fitting, key=lambda pair: pair[0])[1]


def can_run(target: str, capability: tuple[int, int]) -> bool:
    """Whether a device of `capability` runs code for the instruction set `target`."""
    return _feature(target, *capability) is not None


def _feature(target: str, major: int, minor: int) -> tuple[int, bool] | None:
    """How well `target` suits the device (larger is better), None where it cannot run."""
    digits = target.removeprefix("sm_")
    specific = digits.endswith("a")
    number = int(digits.removesuffix("a"))
    if number // 10 != major or number % 10 > minor or (specific and number % 10 != minor):
        return None
    return number, specific


class LoadedCode:
    """
    The kernels of one target on one device.

    Args:
        constants: the inputs that never change. A kernel that starts before the one in front has
            ended may read them at once: so not in the first call that has them, since then the
            kernel in front may be the one that writes them.
    """

    def __init__(
        self, code: TargetCode, driver: Driver, device: int, constants: Sequence[int] = ()
    ) -> None:
        self._constants = tuple(constants)
        self._known: set[tuple[int, ...]] = set()
        self.scratch_bytes = code.scratch_bytes
        self._code = code
        self._driver = driver
        self._device = device
        self._check_shared_memory()
        with driver.use_device(device):
            self._module = driver.load(code.cubin)
            self._functions = [
                driver.function(self._module, launch.kernel, launch.shared_bytes)
                for launch in code.launches
            ]
        # Frames not in use. A launch takes one and puts it back; list.pop and list.append are
        # atomic, so threads never share a frame.
        self._frames: list[_Frame] = []

    def _check_shared_memory(self) -> None:
        limit = self._driver.shared_memory_limit(self._device)
        for launch in self._code.launches:
            if launch.shared_bytes > limit:
                raise ValueError(
                    f"kernel {launch.kernel} for {self._code.target} needs {launch.shared_bytes} "
                    f"bytes of shared memory; a block on device {self._device} has {limit}"
                )

    def launch(
        self, inputs: Sequence[int], outputs: Sequence[int], scratch: int, stream: int
    ) -> None:
        """Queue all kernels on `stream`; tensors and scratch memory are device addresses."""
        if self._driver.current_device() == self._device:
            self._launch_all(inputs, outputs, scratch, stream)
            return
        with self._driver.use_device(self._device):
            self._launch_all(inputs, outputs, scratch, stream)

    def _launch_all(
        self, inputs: Sequence[int], outputs: Sequence[int], scratch: int, stream: int
    ) -> None:
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = [_new_arguments(launch) for launch in self._code.launches]
        addresses = {"input": inputs, "output": outputs}
        constants = tuple(inputs[index] for index in self._constants)
        early = not constants or constants in self._known
        for launch, function, (values, parameters) in zip(
            self._code.launches, self._functions, frame, strict=True
        ):
            for position, argument in enumerate(launch.arguments):
                index = argument.index
                values[position] = (
                    scratch + index
                    if argument.kind == "scratch"
                    else addresses[argument.kind][index]
                )
            follows = launch.follows and early
            start = self._driver.launch_early if follows else self._driver.launch
            start(function, launch.grid, launch.threads, launch.shared_bytes, stream, parameters)
            early = True
        self._known.add(constants)
        self._frames.append(frame)


def _new_arguments(launch: Launch) -> tuple[ctypes.Array[ctypes.c_uint64], int]:
    """Room for the argument values, followed in the same buffer by their addresses."""
    count = len(launch.arguments)
    buffer = (ctypes.c_uint64 * (2 * count))()
    start = ctypes.addressof(buffer)
    for position in range(count):
        buffer[count + position] = start + 8 * position
    return buffer, start + 8 * count
