"""
XLA's foreign functions as ctypes sees them: what a handler is given, and how it answers.

Source: XLA's `xla/ffi/api/c_api.h`, major version 0, which jaxlib has among its headers. Structures
begin with their size: what a runtime adds later is behind what is declared here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mirage_mlir.runtime.arrays import Array
from mirage_mlir.runtime.element_types import ElementType, numpy_dtype

METADATA = 1
"""The extension by which XLA asks for the version that a handler was written for."""

INTERNAL, INVALID_ARGUMENT = 13, 3
"""Codes of errors."""

ELEMENT_TYPES = {10: ElementType.F16, 11: ElementType.F32, 16: ElementType.BF16}
"""By their numbers among XLA's types of elements."""


class Extension(ctypes.Structure):
    """What follows a structure, a list of."""

    _fields_ = [("size", c_size_t), ("kind", c_int), ("next", c_void_p)]


class Version(ctypes.Structure):
    """Of the interface."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("major", c_int),
        ("minor", c_int),
    ]


class Metadata(ctypes.Structure):
    """What a handler says of itself."""

    _fields_ = [("size", c_size_t), ("version", Version), ("traits", c_uint32)]


class MetadataExtension(ctypes.Structure):
    """Where it says so."""

    _fields_ = [("base", Extension), ("metadata", POINTER(Metadata))]


class Api(ctypes.Structure):
    """What a handler may call."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("version", Version),
        ("internal", c_void_p),
        ("error_create", c_void_p),
        ("error_get_message", c_void_p),
        ("error_destroy", c_void_p),
        ("handler_register", c_void_p),
        ("stream_get", c_void_p),
        ("rest", c_void_p * 12),
        ("device_ordinal_get", c_void_p),
    ]


class Values(ctypes.Structure):
    """Arguments or results."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("kinds", POINTER(c_int)),
        ("values", POINTER(c_void_p)),
    ]


class Span(ctypes.Structure):
    """A name."""

    _fields_ = [("start", c_void_p), ("length", c_size_t)]


class Attributes(ctypes.Structure):
    """What is fixed when a call is compiled, sorted by name."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("kinds", POINTER(c_int)),
        ("names", POINTER(POINTER(Span))),
        ("values", POINTER(c_void_p)),
    ]


class Scalar(ctypes.Structure):
    """A number among the attributes."""

    _fields_ = [("kind", c_int), ("value", POINTER(c_int64))]


class CallFrame(ctypes.Structure):
    """All that a handler is given."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", POINTER(Extension)),
        ("api", POINTER(Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Values),
        ("results", Values),
        ("attributes", Attributes),
    ]


class RawBuffer(ctypes.Structure):
    """A tensor."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("kind", c_int),
        ("address", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class ErrorArguments(ctypes.Structure):
    """Of `error_create`."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("message", c_char_p),
        ("code", c_int),
    ]


class StreamArguments(ctypes.Structure):
    """Of `stream_get`."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("stream", c_void_p),
    ]


class DeviceArguments(ctypes.Structure):
    """Of `device_ordinal_get`."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("device", c_int32),
    ]


API_FUNCTION = ctypes.CFUNCTYPE(c_void_p, c_void_p)
HANDLER = ctypes.CFUNCTYPE(c_void_p, POINTER(CallFrame))


@dataclass(frozen=True)
class XlaBuffer:
    """A dense tensor of XLA's, the last dimension innermost."""

    address: int
    shape: tuple[int, ...]
    kind: int
    """The number of its element type, one of XLA's."""

    def array(self) -> Array:
        """The elements, of a buffer in host memory; raises `KeyError` on other types."""
        dtype = numpy_dtype(ELEMENT_TYPES[self.kind])
        size = prod(self.shape) * dtype.itemsize
        memory = memoryview((ctypes.c_char * size).from_address(self.address))
        return np.frombuffer(memory, dtype).reshape(self.shape)


class Call:
    """One call of a handler."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._api = frame.api.contents

    @property
    def arguments(self) -> list[XlaBuffer]:
        """What the function reads."""
        return _buffers(self._frame.arguments)

    @property
    def results(self) -> list[XlaBuffer]:
        """What it writes to."""
        return _buffers(self._frame.results)

    def attribute(self, name: str) -> int:
        """A 64-bit integer of the call; raises `KeyError` where there is none of that name."""
        attributes = self._frame.attributes
        for number in range(attributes.count):
            span = attributes.names[number].contents
            if ctypes.string_at(span.start, span.length).decode() == name:
                scalar = ctypes.cast(attributes.values[number], POINTER(Scalar)).contents
                return int(scalar.value.contents.value)
        raise KeyError(name)

    def stream(self) -> int:
        """The handle of the CUDA stream to run on."""
        arguments = StreamArguments(ctypes.sizeof(StreamArguments), None, self._frame.context)
        self._ask(self._api.stream_get, arguments)
        return int(arguments.stream or 0)

    def device(self) -> int:
        """The number of the GPU."""
        arguments = DeviceArguments(ctypes.sizeof(DeviceArguments), None, self._frame.context)
        if self._api.size < ctypes.sizeof(Api):
            raise RuntimeError("this version of jaxlib does not say on which device a kernel runs")
        self._ask(self._api.device_ordinal_get, arguments)
        return int(arguments.device)

    def _ask(self, function: int, arguments: ctypes.Structure) -> None:
        if API_FUNCTION(function)(ctypes.addressof(arguments)):
            raise RuntimeError("XLA does not say on which stream or device a kernel runs")

    def error(self, message: str, code: int) -> int:
        """An error of XLA's, which a handler gives back."""
        arguments = ErrorArguments(
            ctypes.sizeof(ErrorArguments), None, message.encode(errors="replace"), code
        )
        return int(API_FUNCTION(self._api.error_create)(ctypes.addressof(arguments)) or 0)


def _buffers(values: Any) -> list[XlaBuffer]:
    found: list[XlaBuffer] = []
    for number in range(values.count):
        buffer = ctypes.cast(values.values[number], POINTER(RawBuffer)).contents
        shape = tuple(int(buffer.dims[dim]) for dim in range(buffer.rank))
        found.append(XlaBuffer(int(buffer.address or 0), shape, int(buffer.kind)))
    return found


def handler(run: Callable[[Call], None]) -> Any:
    """
    A function pointer that XLA calls; what `run` raises becomes an error of XLA's.

    It is to be kept for as long as it may be called.
    """

    def handle(pointer: Any) -> int | None:
        frame = pointer.contents
        if frame.extension and frame.extension.contents.kind == METADATA:
            _say_version(frame)
            return None
        call = Call(frame)
        try:
            run(call)
        except (TypeError, ValueError) as error:
            return call.error(str(error), INVALID_ARGUMENT)
        except Exception as error:
            return call.error(f"{type(error).__name__}: {error}", INTERNAL)
        return None

    return HANDLER(handle)


def _say_version(frame: Any) -> None:
    """Version 0 of the runtime's own minor version: what is declared here is in all of them."""
    extension = ctypes.cast(frame.extension, POINTER(MetadataExtension)).contents
    metadata = extension.metadata.contents
    metadata.version.size = ctypes.sizeof(Version)
    metadata.version.major = 0
    metadata.version.minor = frame.api.contents.version.minor if frame.api else 0
    metadata.traits = 0
