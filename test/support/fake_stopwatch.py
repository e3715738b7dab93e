"""
A GPU in host memory whose kernels are interpreted, and whose clock counts blocks.

The functions `make_...` are called in other processes, by their names.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from mirage_mlir.driver.encoding import decode_tensor, encode, size_in_bytes
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.driver.types import element_type_of_attribute
from mirage_mlir.hints import isa
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.runtime.artifact import TargetCode, TensorSpec, row_major
from mirage_mlir.runtime.cuda_driver import CudaError
from mirage_mlir.runtime.stopwatch import Call, Loaded

CHEAPEST = 10.0
"""Microseconds of a kernel of one block; each further block takes one more."""

CRASHES, HANGS, FAILS, LEAVES_OUT = 1, 2, 4, 8
"""Kernels of so many blocks that go wrong on a faulty device: they end the process, never end, are
refused, write nothing."""


@dataclass
class FakeStopwatch:
    """`Stopwatch` without a GPU."""

    faulty: bool = False
    name: str = "a GPU of our own"
    l2_bytes: int = 1 << 15
    memory: bytearray = field(default_factory=bytearray)
    freed: list[int] = field(default_factory=list[int])
    launched: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """Addresses of the inputs of each launch."""
    elapsed: float = 0.0

    def load(self, code: TargetCode) -> Loaded:
        """Interpret the uGraph."""
        return _FakeCode(self, code)

    def allocate(self, size: int) -> int:
        """At the end; address 0 is no memory."""
        address = max(16, -(-len(self.memory) // 16) * 16)
        self.memory.extend(bytes(address + size - len(self.memory)))
        return address

    def free(self, address: int) -> None:
        """Note it."""
        assert address not in self.freed
        self.freed.append(address)

    def upload(self, address: int, data: bytes) -> None:
        """Copy in."""
        self.memory[address : address + len(data)] = data

    def download(self, address: int, size: int) -> bytes:
        """Copy out."""
        assert address + size <= len(self.memory)
        return bytes(self.memory[address : address + size])

    def copy(self, source: int, target: int, size: int) -> None:
        """Within memory that there is."""
        assert max(source, target) + size <= len(self.memory)
        self.upload(target, self.download(source, size))

    def poison(self, address: int, size: int) -> None:
        """All bits."""
        self.upload(address, b"\xff" * size)

    def run(self, call: Call) -> None:
        """At once."""
        call(0)

    def times(self, calls: Sequence[Call], rounds: int, replays: int) -> list[list[float]]:
        """What the launches of each call take."""
        times: list[list[float]] = []
        for call in calls:
            before = self.elapsed
            call(0)
            times.append([self.elapsed - before] * (rounds * replays))
        return times


@dataclass
class _FakeCode:
    watch: FakeStopwatch
    code: TargetCode

    def launch(
        self, inputs: Sequence[int], outputs: Sequence[int], scratch: int, stream: int
    ) -> None:
        """Interpret the uGraph on what lies in memory."""
        watch, blocks = self.watch, self.code.launches[0].grid[0]
        watch.elapsed += CHEAPEST + blocks
        watch.launched.append(tuple(inputs))
        if watch.faulty and _goes_wrong(blocks):
            return
        types = self._function.function_type
        specs = [_spec(type_) for type_ in types.inputs]
        arrays = [
            decode_tensor(watch.download(address, size_in_bytes(spec)), spec)
            for address, spec in zip(inputs, specs, strict=True)
        ]
        results = run_function(self._function, arrays)
        for address, result, type_ in zip(outputs, results, types.outputs, strict=True):
            watch.upload(address, encode(result.astype("float32"), _spec(type_).element_type))

    def release(self) -> None:
        """There is nothing."""

    @cached_property
    def _function(self) -> FuncOp:
        """The uGraph; parsing it takes longer than running it."""
        (function,) = functions(parse_program(self.code.ugraph, "ugraph"))
        return function


def _goes_wrong(blocks: int) -> bool:
    match blocks:
        case 1:
            os._exit(1)
        case 2:
            time.sleep(3600)
        case 4:
            raise CudaError("cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS")
        case _:
            return blocks == LEAVES_OUT
    return False


def _spec(type_: Attribute) -> TensorSpec:
    assert isa(type_, TensorType[Attribute])
    shape = type_.get_shape()
    return TensorSpec("x", shape, element_type_of_attribute(type_.element_type), row_major(shape))


def make_sound() -> FakeStopwatch:
    """A device on which all goes well."""
    return FakeStopwatch()


def make_faulty() -> FakeStopwatch:
    """A device on which some kernels go wrong."""
    return FakeStopwatch(faulty=True)
