"""Operators of ATen on windows of an image that do not overlap."""

from collections.abc import Callable, Sequence
from math import prod
from operator import mod
from typing import Any

from mirage_mlir.api.tensor import Tensor
from mirage_mlir.frameworks.fx_call import FxCall, handles


@handles("conv1d.default", "conv2d.default", "conv3d.default")
def convolution(
    call: FxCall,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Sequence[int] = (),
    padding: Sequence[int] = (),
    dilation: Sequence[int] = (),
    groups: int = 1,
) -> Tensor:
    """A product of the weight and the windows, which are columns."""
    graph, (channels, _, *sizes) = call.graph, call.shape_of(weight)
    rank = len(sizes)
    if groups != 1:
        raise ValueError(_refusal("groups"))
    _check_apart(sizes, stride or [1] * rank, padding, dilation)
    windows = _windows(call, call.tensor(x), sizes)
    if prod(sizes) > 1:
        first = len(windows.dims) - 2 * rank
        counts, places = range(first, first + 2 * rank, 2), range(first + 1, first + 2 * rank, 2)
        windows = graph.transpose(windows, *range(first), *places, *counts)
    batch, count = call.shape[: -1 - rank], prod(call.shape[-rank:])
    rows = graph.reshape(call.tensor(weight), (channels, -1))
    made = call.shaped(graph.matmul(rows, graph.reshape(windows, (*batch, -1, count))))
    if bias is None:
        return made
    return graph.add(made, graph.reshape(call.tensor(bias), (channels, *[1] * rank)))


@handles("avg_pool2d.default")
def average_pool(
    call: FxCall,
    x: Any,
    sizes: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window."""
    if divisor_override is not None:
        raise ValueError(_refusal("other divisors"))
    _check_apart(sizes, stride or sizes, padding)
    return _pooled(call, call.graph.reduce_mean, x, sizes, ceil_mode)


@handles("max_pool2d.default")
def maximum_pool(
    call: FxCall,
    x: Any,
    sizes: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (),
    dilation: Sequence[int] = (),
    ceil_mode: bool = False,
) -> Tensor:
    """The maximum of each window."""
    _check_apart(sizes, stride or sizes, padding, dilation)
    return _pooled(call, call.graph.reduce_max, x, sizes, ceil_mode)


@handles("_adaptive_avg_pool2d.default")
def adaptive_pool(call: FxCall, x: Any, counts: Sequence[int]) -> Tensor:
    """The mean of each window, by the number of windows."""
    given = call.shape_of(x)[-2:]
    if any(map(mod, given, counts)):
        raise ValueError(_refusal(f"{counts[0]} x {counts[1]} windows of {given[0]} x {given[1]}"))
    sizes = [size // count for size, count in zip(given, counts, strict=True)]
    return _pooled(call, call.graph.reduce_mean, x, sizes)


@handles(*(f"upsample_nearest{rank}d.vec" for rank in (1, 2, 3)))
@handles(*(f"_upsample_nearest_exact{rank}d.vec" for rank in (1, 2, 3)))
def upsample(
    call: FxCall, x: Any, sizes: Sequence[int] | None, factors: Sequence[float] | None
) -> Tensor:
    """Each element several times."""
    made = call.tensor(x)
    for dim, size in enumerate(call.shape[2:], 2):
        times, rest = divmod(size, made.dims[dim])
        if rest or (factors and factors[dim - 2] != times):
            raise ValueError(
                f"{size} of {made.dims[dim]} elements are no whole factor: call it outside"
            )
        made = made if times == 1 else call.graph.repeat_interleave(made, dim, times)
    return made


def _pooled(
    call: FxCall,
    reduce: Callable[[Tensor, list[int]], Tensor],
    x: Any,
    sizes: Sequence[int],
    ceil_mode: bool = False,
) -> Tensor:
    """`reduce` of each window of the last two dimensions."""
    given = call.tensor(x)
    if ceil_mode and any(map(mod, given.dims[-2:], sizes)):
        raise ValueError(_refusal("windows that are cut off"))
    windows = _windows(call, given, sizes)
    rank = len(windows.dims)
    return call.shaped(reduce(windows, [rank - 3, rank - 1]))


def _check_apart(
    sizes: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (),
) -> None:
    if any(padding):
        raise ValueError(_refusal("padding"))
    if any(each != 1 for each in dilation):
        raise ValueError(_refusal("dilation"))
    if [*stride] != [*sizes]:
        raise ValueError(_refusal(f"steps of {[*stride]} for windows of {[*sizes]}"))


def _windows(call: FxCall, x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Each of the last dimensions as two: windows, and places in them. What is left over goes."""
    outer, last = x.dims[: -len(sizes)], x.dims[-len(sizes) :]
    counts = [size // each for size, each in zip(last, sizes, strict=True)]
    whole = [count * each for count, each in zip(counts, sizes, strict=True)]
    if whole != [*last]:
        x = call.graph.slice(x, [0] * len(x.dims), (*outer, *whole))
    pairs = zip(counts, sizes, strict=True)
    return call.graph.reshape(x, (*outer, *(each for pair in pairs for each in pair)))


def _refusal(what: str) -> str:
    return f"windows lie beside each other, without {what}: call it outside"
