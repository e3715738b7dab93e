"""
Machine code on one device, ready to launch.

A launch checks nothing, allocates nothing on the device and waits for nothing, so it may be
captured into a CUDA graph; `kernel.py` checks the tensors before. Only the first one on a stream,
or in a graph, gets counters where kernels have some.
"""

import ctypes
from collections.abc import Mapping, Sequence
from threading import get_ident

from mirage_mlir.runtime.arguments import COUNTERS, MAP, PACKED, Argument
from mirage_mlir.runtime.artifact import Artifact, Launch, TargetCode
from mirage_mlir.runtime.cuda_driver import Driver
from mirage_mlir.runtime.packed import PackedMemory

MAP_PARAMETER_ALIGNMENT = 64
"""Bytes, of a tensor map as the driver declares it."""

PER_THREAD_STREAM = 2
"""The handle that stands for another stream in each thread (`CU_STREAM_PER_THREAD`)."""

MOST_MAPS = 4096
"""Encoded maps that are kept, half a megabyte: tensors that a program made anew for each call would
fill the memory otherwise. Encoding one takes a few microseconds."""


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
        constants: the inputs that never change. A kernel that starts before the previous grid has
            ended may read them at once: so not in the first call that has them, nor in the first
            after a change, since then the previous grid may be the one that writes them.
    """

    def __init__(
        self, code: TargetCode, driver: Driver, device: int, constants: Sequence[int] = ()
    ) -> None:
        self.constants = tuple(constants)
        # Their versions in the last call, by their addresses.
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}
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
        # Frames not in use, in lists of one for each launch. A call takes such a list and puts it
        # back; list.pop and list.append are atomic, so threads never share a frame.
        self._frames: list[list[_Frame]] = []
        self._packed = PackedMemory(code.packed, driver) if code.packed else None
        self.packed_inputs = tuple(each.tensor.index for each in code.packed)
        """The inputs that the first call with them packs, and that may not change or move then."""
        # Counters of blocks, by stream and capture: kernels that run at the same time share none.
        self._counters: dict[tuple[int, int, int], int] = {}
        # Encoded tensor maps, by their number and the address of the tensor.
        self._maps: dict[tuple[int, int], _EncodedMap] = {}

    def _check_shared_memory(self) -> None:
        limit = self._driver.shared_memory_limit(self._device)
        for launch in self._code.launches:
            if launch.shared_bytes > limit:
                raise ValueError(
                    f"kernel {launch.kernel} for {self._code.target} needs {launch.shared_bytes} "
                    f"bytes of shared memory; a block on device {self._device} has {limit}"
                )

    def launch(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        scratch: int,
        stream: int,
        versions: tuple[int, ...] | None = (),
    ) -> None:
        """
        Queue all kernels on `stream`; tensors and scratch memory are device addresses.

        `versions` are those of the constants, others after a change in place; None where some may
        have been written since the last call, whatever it was.
        """
        if self._driver.current_device() == self._device:
            self._launch_all(inputs, outputs, scratch, stream, versions)
            return
        with self._driver.use_device(self._device):
            self._launch_all(inputs, outputs, scratch, stream, versions)

    def refresh(self, index: int, address: int, stream: int) -> None:
        """Pack the input `index` at `address` anew: it was changed since."""
        if self._packed is not None:
            with self._driver.use_device(self._device):
                self._packed.refresh(index, address, stream)

    def release(self) -> None:
        """Give back the memory of packed inputs, which may change now; nothing may be running."""
        if self._packed is not None:
            with self._driver.use_device(self._device):
                self._packed.release()

    def _launch_all(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        scratch: int,
        stream: int,
        versions: tuple[int, ...] | None,
    ) -> None:
        addresses: dict[str, Sequence[int]] = {"input": inputs, "output": outputs}
        if self._packed is not None:
            addresses[PACKED] = self._packed.addresses(inputs, stream)
        if self._code.counter_bytes:
            addresses[COUNTERS] = (self._counters_on(stream),)
        try:
            frames = self._frames.pop()
        except IndexError:
            frames = [_Frame(launch) for launch in self._code.launches]
        early = self._are_settled(inputs, versions)
        for launch, function, frame in zip(
            self._code.launches, self._functions, frames, strict=True
        ):
            for position, argument in enumerate(launch.arguments):
                if argument.kind == MAP:
                    frame.set_map(position, self._map(argument.index, addresses, scratch))
                else:
                    frame.values[position] = _address(argument, addresses, scratch)
            follows = launch.follows and early
            start = self._driver.launch_early if follows else self._driver.launch
            start(
                function,
                launch.grid,
                launch.threads,
                launch.shared_bytes,
                stream,
                frame.parameters,
            )
            early = True
        self._frames.append(frames)

    def _are_settled(self, inputs: Sequence[int], versions: tuple[int, ...] | None) -> bool:
        """Whether a call before had these constants as they are; they are remembered."""
        if not self.constants:
            return True
        constants = tuple(inputs[index] for index in self.constants)
        if versions is None:
            self._known.pop(constants, None)
            return False
        known = self._known.get(constants)
        self._known[constants] = versions
        return known == versions

    def _counters_on(self, stream: int) -> int:
        """
        The counters for what runs on `stream` now.

        A captured graph runs on any stream later, so it has its own.
        """
        thread = get_ident() if stream == PER_THREAD_STREAM else 0
        key = stream, thread, self._driver.capture(stream)
        found = self._counters.get(key)
        if found is None:
            # Two threads may both get some: of those that are kept both take one.
            new = self._driver.zeroed(self._code.counter_bytes)
            found = self._counters.setdefault(key, new)
        return found

    def _map(
        self, number: int, addresses: Mapping[str, Sequence[int]], scratch: int
    ) -> "_EncodedMap":
        """The tensor map `number` for tensors at these addresses."""
        tensor_map = self._code.tensor_maps[number]
        address = _address(tensor_map.tensor, addresses, scratch)
        found = self._maps.get((number, address))
        if found is None:
            found = _EncodedMap(self._driver.encode(tensor_map, address))
            if len(self._maps) >= MOST_MAPS:
                # One atomic step, as other threads look maps up meanwhile; frames hold theirs.
                self._maps.clear()
            self._maps[number, address] = found
        return found


def _address(argument: Argument, addresses: Mapping[str, Sequence[int]], scratch: int) -> int:
    """The device address that a pointer is."""
    if argument.kind == "scratch":
        return scratch + argument.index
    if argument.kind == COUNTERS:
        return addresses[COUNTERS][0] + argument.index
    return addresses[argument.kind][argument.index]


class _EncodedMap:
    """A tensor map in host memory, aligned as the driver's own are."""

    def __init__(self, data: bytes) -> None:
        self._memory = ctypes.create_string_buffer(len(data) + MAP_PARAMETER_ALIGNMENT)
        start = ctypes.addressof(self._memory)
        self.address = start + -start % MAP_PARAMETER_ALIGNMENT
        ctypes.memmove(self.address, data, len(data))


class _Frame:
    """
    The arguments of one launch: the values of its pointers and, behind them, an array of addresses.

    `parameters` is the address of that array: each of its entries is the address of a value, or of
    a tensor map, which the launch copies.
    """

    def __init__(self, launch: Launch) -> None:
        self._count = count = len(launch.arguments)
        self.values = (ctypes.c_uint64 * (2 * count))()
        start = ctypes.addressof(self.values)
        for position in range(count):
            self.values[count + position] = start + 8 * position
        self.parameters = start + 8 * count
        # Held until the next launch takes others: CUDA reads them.
        self._maps: dict[int, _EncodedMap] = {}

    def set_map(self, position: int, encoded: _EncodedMap) -> None:
        """Make an argument a tensor map."""
        self._maps[position] = encoded
        self.values[self._count + position] = encoded.address
