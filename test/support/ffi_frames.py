"""Calls of XLA's foreign functions, made by hand: what a handler is given where there is no XLA."""

from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, addressof, c_char_p, c_int64, c_void_p, cast, pointer, sizeof
from typing import Any

from mirage_mlir.runtime import xla_ffi
from mirage_mlir.runtime.jax_calls import NUMBER


class Frame:
    """
    The frame of one call, and all that it points to.

    Args:
        kernel: the number of the kernel that is called.
        inputs: addresses of what it reads.
        results: addresses of what it writes to.
        stream: the handle of the stream to run on.
        device: the number of the GPU.
    """

    def __init__(
        self, kernel: int, inputs: Sequence[int], results: Sequence[int], stream: int, device: int
    ) -> None:
        @CFUNCTYPE(c_void_p, POINTER(xla_ffi.StreamArguments))
        def say_stream(arguments: Any) -> None:
            assert arguments.contents.context == id(self)
            arguments.contents.stream = stream

        @CFUNCTYPE(c_void_p, POINTER(xla_ffi.DeviceArguments))
        def say_device(arguments: Any) -> None:
            arguments.contents.device = device

        pointers = [cast(each, c_void_p).value for each in (say_stream, say_device)]
        api = xla_ffi.Api(
            sizeof(xla_ffi.Api), stream_get=pointers[0], device_ordinal_get=pointers[1]
        )
        name, scalar = xla_ffi.Span(cast(c_char_p(NUMBER.encode()), c_void_p), len(NUMBER)), kernel
        number = c_int64(scalar)
        value = xla_ffi.Scalar(5, pointer(number))
        names = (POINTER(xla_ffi.Span) * 1)(pointer(name))
        values = (c_void_p * 1)(addressof(value))
        read, written = _Buffers(inputs), _Buffers(results)
        self.frame = xla_ffi.CallFrame(
            api=pointer(api),
            context=id(self),
            arguments=read.values,
            results=written.values,
            attributes=xla_ffi.Attributes(
                count=1,
                names=cast(names, POINTER(POINTER(xla_ffi.Span))),
                values=cast(values, POINTER(c_void_p)),
            ),
        )
        self._kept = say_stream, say_device, api, name, number, value, names, values, read, written


class _Buffers:
    """Tensors at some addresses, of which only these are asked for."""

    def __init__(self, addresses: Sequence[int]) -> None:
        self._buffers = [xla_ffi.RawBuffer(address=address) for address in addresses]
        self._pointers = (c_void_p * len(addresses))(*map(addressof, self._buffers))
        pointers = cast(self._pointers, POINTER(c_void_p))
        self.values = xla_ffi.Values(count=len(addresses), values=pointers)
