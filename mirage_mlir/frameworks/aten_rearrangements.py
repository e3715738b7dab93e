"""Operators of ATen that move, join and repeat elements."""

from typing import Any

from mirage_mlir.api.tensor import Tensor
from mirage_mlir.frameworks.fx_call import FxCall, handles


@handles("view.default", "_unsafe_view.default", "reshape.default", "unsqueeze.default")
@handles("squeeze.default", "squeeze.dim", "squeeze.dims")
def reshape(call: FxCall, x: Any, *how: Any) -> Tensor:
    """The same elements in the shape of the result."""
    return call.graph.reshape(call.tensor(x), call.shape)


@handles("permute.default")
def permute(call: FxCall, x: Any, dims: list[int]) -> Tensor:
    """The dimensions in another order."""
    return call.graph.transpose(call.tensor(x), *dims)


@handles("expand.default")
def expand(call: FxCall, x: Any, shape: list[int], implicit: bool = False) -> Tensor:
    """Repeated along dimensions of size 1, and along new ones."""
    given = call.tensor(x)
    return given if given.dims == call.shape else call.graph.broadcast(given, call.shape)


@handles("select.int")
def select(call: FxCall, x: Any, dim: int, index: int) -> Tensor:
    """One element along `dim`, which goes."""
    given = call.tensor(x)
    index %= given.dims[dim]
    return call.graph.reshape(_along(call, given, dim, index, index + 1), call.shape)


@handles("slice.Tensor")
def slice_(
    call: FxCall,
    x: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """`x[start:end:step]` along `dim`."""
    return _along(call, call.tensor(x), dim, start, end, step)


@handles("split_with_sizes.default")
def split(call: FxCall, x: Any, sizes: list[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Parts along `dim`."""
    given = call.tensor(x)
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    bounds = zip([0, *ends], ends, strict=False)
    return tuple(_along(call, given, dim, start, end) for start, end in bounds)


@handles("split.Tensor")
def split_evenly(call: FxCall, x: Any, size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts of `size` along `dim`; the last may have less."""
    whole = call.shape_of(x)[dim]
    return split(call, x, [min(size, whole - at) for at in range(0, whole, size)], dim)


@handles("unbind.int")
def unbind(call: FxCall, x: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Each element along `dim`, which goes."""
    given = call.tensor(x)
    number = dim % len(given.dims)
    shape = [*given.dims[:number], *given.dims[number + 1 :]]
    parts = [_along(call, given, dim, at, at + 1) for at in range(given.dims[dim])]
    return tuple(call.graph.reshape(part, shape) for part in parts)


@handles("getitem")
def part(call: FxCall, parts: Any, number: int) -> Tensor:
    """One result of an operator that has several."""
    made = call.part(parts, number)
    if made is None:
        raise ValueError(f"result {number} is not supported")
    return made


@handles("cat.default")
def concat(call: FxCall, tensors: list[Any], dim: int = 0) -> Tensor:
    """The tensors one after the other along `dim`."""
    # torch lets an empty vector stand for nothing.
    some = [each for each in tensors if call.shape_of(each) != (0,)]
    return call.graph.concat([call.tensor(each) for each in some], dim)


@handles("slice_scatter.default")
def assign(
    call: FxCall,
    x: Any,
    part: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """`x` with another `x[start:end:step]` along `dim`."""
    given, dim = call.tensor(x), dim % len(call.shape_of(x))
    first, last, _ = slice(start, end).indices(given.dims[dim])
    if step != 1:
        return _every(call, given, call.tensor(part), dim, range(first, last, step))
    return _put(call, given, call.tensor(part), dim, first, max(first, last))


def _put(call: FxCall, x: Tensor, part: Tensor, dim: int, first: int, last: int) -> Tensor:
    """`x` with another `x[first:last]` along `dim`."""
    pieces = [part] if last > first else []
    if first:
        pieces.insert(0, _along(call, x, dim, 0, first))
    if last < x.dims[dim]:
        pieces.append(_along(call, x, dim, last, None))
    return pieces[0] if len(pieces) == 1 else call.graph.concat(pieces, dim)


def _every(call: FxCall, x: Tensor, part: Tensor, dim: int, places: range) -> Tensor:
    """`x` with another element at the same place of each run of `places.step` along `dim`."""
    step, at, size = places.step, places.start, x.dims[dim]
    if size % step or at >= step or len(places) != size // step:
        raise ValueError(f"of parts with steps, those with one of each {step} are assigned")

    def in_runs(tensor: Tensor, length: int) -> Tensor:
        dims = [*tensor.dims]
        return call.graph.reshape(tensor, [*dims[:dim], size // step, length, *dims[dim + 1 :]])

    made = _put(call, in_runs(x, step), in_runs(part, 1), dim + 1, at, at + 1)
    return call.graph.reshape(made, x.dims)


@handles("select_scatter.default")
def assign_one(call: FxCall, x: Any, part: Any, dim: int, index: int) -> Tensor:
    """`x` with another `x[index]` along `dim`."""
    given, dim = call.tensor(x), dim % len(call.shape_of(x))
    at = index % given.dims[dim]
    one = call.graph.reshape(call.tensor(part), [*given.dims[:dim], 1, *given.dims[dim + 1 :]])
    return _put(call, given, one, dim, at, at + 1)


@handles("repeat.default")
def repeat(call: FxCall, x: Any, times: list[int]) -> Tensor:
    """The whole again and again along each dimension."""
    made = call.tensor(x)
    made = call.graph.reshape(made, [1] * (len(times) - len(made.dims)) + [*made.dims])
    for dim, number in enumerate(times):
        made = made if number == 1 else call.graph.repeat(made, dim, number)
    return made


@handles("repeat_interleave.self_int")
def repeat_interleave(
    call: FxCall, x: Any, times: int, dim: int | None = None, output_size: int | None = None
) -> Tensor:
    """Each element several times along `dim`."""
    given = call.tensor(x)
    if dim is None:
        given, dim = call.graph.reshape(given, (-1,)), 0
    return call.graph.repeat_interleave(given, dim, times)


@handles("constant_pad_nd.default")
def pad(call: FxCall, x: Any, pads: list[int], value: float = 0) -> Tensor:
    """A number before and after, for dimensions from the last one on."""
    made = call.tensor(x)
    for number, (before, after) in enumerate(zip(pads[::2], pads[1::2], strict=True)):
        dim = len(made.dims) - 1 - number
        made = _along(call, made, dim, max(-before, 0), made.dims[dim] - max(-after, 0))
        parts = [_filled(call, made, dim, size, value) for size in (before, after)]
        some = [each for each in (parts[0], made, parts[1]) if each is not None]
        made = made if len(some) == 1 else call.graph.concat(some, dim)
    return made


def _filled(call: FxCall, like: Tensor, dim: int, size: int, value: float) -> Tensor | None:
    dims = [*like.dims]
    dims[dim] = size
    return call.graph.constant(float(value), dims, like.dtype) if size > 0 else None


def _along(
    call: FxCall,
    x: Tensor,
    dim: int,
    start: int | None,
    end: int | None,
    step: int = 1,
) -> Tensor:
    """`x[start:end:step]` along `dim`; `x` where this is all of it."""
    range_ = range(*slice(start, end, step).indices(x.dims[dim]))
    if len(range_) == x.dims[dim]:
        return x
    if not range_:
        raise ValueError("tensors without elements are not supported")
    offsets, sizes, strides = [0] * len(x.dims), [*x.dims], [1] * len(x.dims)
    offsets[dim], sizes[dim], strides[dim] = range_.start, len(range_), step
    return call.graph.slice(x, offsets, sizes, strides)
