"""
Packed copies of constant inputs, made when a kernel is first called with them.

A copy goes over the host and waits for the device: it takes as long as reading the tensor from a
file would. It stays as long as the loaded code; constants are known by their addresses. One that
has changed in place, which torch counts, is packed anew into the same copy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.runtime.arguments import Argument, read_element_type
from mirage_mlir.runtime.cuda_driver import CudaError, Driver
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.manifest import ArtifactError, Fields
from mirage_mlir.runtime.plausible import check_extents


@dataclass(frozen=True)
class PackedInput:
    """A constant input, and how it is packed."""

    tensor: Argument
    element_type: ElementType
    packing: Packing

    def __post_init__(self) -> None:
        if self.tensor.kind != "input":
            raise ArtifactError(f"only inputs are packed, not '{self.tensor}'")
        packing = self.packing
        check_extents("a packed input", packing.shape, packing.strides)
        tiles = [n * size for n, size in zip(packing.counts, packing.tile, strict=True)]
        check_extents("a packed input", tiles, ())

    @property
    def source_bytes(self) -> int:
        """Bytes from the start of the input to the end of what is read of it."""
        return self.packing.end * self.element_type.itemsize

    @property
    def storage_bytes(self) -> int:
        """Bytes of the copy."""
        return self.packing.elements * self.element_type.itemsize

    def pack(self, data: bytes) -> bytes:
        """The copy, of an input that lies in `data`; elements keep their bits."""
        memory = np.frombuffer(data, np.dtype(f"u{self.element_type.itemsize}"))
        return self.packing.pack(memory).tobytes()

    def fields(self) -> dict[str, object]:
        """As JSON has it."""
        packing = self.packing
        return {
            "tensor": str(self.tensor),
            "element_type": self.element_type.value,
            "offset": packing.offset,
            "shape": list(packing.shape),
            "strides": list(packing.strides),
            "tile": list(packing.tile),
            "counts": list(packing.counts),
            "order": list(packing.order),
            "run_dim": packing.run_dim,
            "panel": packing.panel,
        }

    @staticmethod
    def read(fields: Fields) -> "PackedInput":
        """What `fields` gave; raises `ArtifactError` on anything else."""
        try:
            packing = Packing(
                fields.number("offset"),
                fields.numbers("shape"),
                fields.numbers("strides"),
                fields.numbers("tile"),
                fields.numbers("counts"),
                fields.numbers("order"),
                fields.number("run_dim"),
                fields.number("panel"),
            )
        except ArtifactError:
            raise
        except ValueError as error:
            raise ArtifactError(str(error)) from error
        tensor = Argument.parse(fields.text("tensor"))
        return PackedInput(tensor, read_element_type(fields), packing)


class PackedMemory:
    """The copies on one device, whose context is current in all calls."""

    def __init__(self, packed: Sequence[PackedInput], driver: Driver) -> None:
        self._packed = tuple(packed)
        self._driver = driver
        self._copies: Mapping[tuple[int, int], int] = {}
        self._making = Lock()

    def addresses(self, inputs: Sequence[int], stream: int) -> list[int]:
        """
        The addresses of the copies for inputs at these addresses.

        Raises:
            CudaError: one has to be made, and `stream` is being captured.
        """
        keys = [(n, inputs[each.tensor.index]) for n, each in enumerate(self._packed)]
        if not all(key in self._copies for key in keys):
            with self._making:
                self._make(keys, stream)
        return [self._copies[key] for key in keys]

    def _make(self, keys: Sequence[tuple[int, int]], stream: int) -> None:
        self._check_capture(stream)
        # What is still being written to the inputs.
        self._driver.synchronize()
        made = dict(self._copies)
        for number, address in keys:
            if (number, address) not in made:
                made[number, address] = self._copy(self._packed[number], address)
        self._driver.synchronize()
        # At once, as other threads look copies up meanwhile.
        self._copies = made

    def _copy(self, packed: PackedInput, address: int) -> int:
        data = packed.pack(self._driver.download(address, packed.source_bytes))
        copy = self._driver.allocate(len(data))
        self._driver.upload(copy, data)
        return copy

    def refresh(self, index: int, address: int, stream: int) -> None:
        """
        Pack the input `index` at `address` anew, which has changed; its copies stay where they are.

        Raises:
            CudaError: `stream` is being captured.
        """
        with self._making:
            self._check_capture(stream)
            # What is still being written to the input, and what still reads the copies.
            self._driver.synchronize()
            for (number, of), copy in self._copies.items():
                packed = self._packed[number]
                if packed.tensor.index == index and of == address:
                    data = packed.pack(self._driver.download(address, packed.source_bytes))
                    self._driver.upload(copy, data)
            self._driver.synchronize()

    def _check_capture(self, stream: int) -> None:
        if self._driver.capture(stream):
            raise CudaError(
                "constant inputs are packed in the first call that has them and in the first after "
                "a change, which cannot be captured into a CUDA graph: call the kernel with them "
                "once before"
            )

    def release(self) -> None:
        """Give the memory back; nothing that reads it may be running or captured."""
        with self._making:
            copies, self._copies = self._copies, {}
            for address in copies.values():
                self._driver.free(address)
