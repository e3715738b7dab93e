"""Normalizations of ATen."""

from typing import Any

from mirage_mlir.api.tensor import Tensor
from mirage_mlir.frameworks.fx_call import FxCall, handles
from mirage_mlir.runtime.element_types import ElementType

EPSILON = 2.0**-23
"""What torch adds in a norm that is given no number: computed in f32, whatever the type."""


@handles("rms_norm.default")
def rms_norm(
    call: FxCall, x: Any, shape: list[int], weight: Any = None, eps: float | None = None
) -> Tensor:
    """Divided by the root of the mean square over the last dimensions."""
    kind = call.widest(x, weight)
    rows, row_weight = _rows(call, x, len(shape), kind), _row(call, weight, kind)
    made = call.graph.rms_norm(rows, row_weight, eps=EPSILON if eps is None else eps)
    return call.shaped(made)


@handles("layer_norm.default")
def layer_norm(
    call: FxCall,
    x: Any,
    shape: list[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn: bool = True,
) -> Tensor:
    """Less the mean, divided by the standard deviation, over the last dimensions."""
    kind = call.widest(x, weight, bias)
    rows, row_weight = _rows(call, x, len(shape), kind), _row(call, weight, kind)
    row_bias = _row(call, bias, kind)
    if row_weight is None and row_bias is not None:
        return call.shaped(call.graph.add(call.graph.layer_norm(rows, eps=eps), row_bias))
    return call.shaped(call.graph.layer_norm(rows, row_weight, row_bias, eps=eps))


def _rows(call: FxCall, x: Any, dims: int, kind: ElementType) -> Tensor:
    """`x` with its last `dims` dimensions as one."""
    given = call.tensor(x, kind)
    return given if dims == 1 else call.graph.reshape(given, [*given.dims[:-dims], -1])


def _row(call: FxCall, weight: Any, kind: ElementType) -> Tensor | None:
    return None if weight is None else call.graph.reshape(call.tensor(weight, kind), (-1,))


@handles("group_norm.default")
def group_norm(
    call: FxCall,
    x: Any,
    groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn: bool = True,
) -> Tensor:
    """The same over each group of channels and all behind them."""
    given = call.tensor(x, ElementType.F32)
    rows = call.graph.reshape(given, (given.dims[0], groups, -1))
    made = call.graph.reshape(call.graph.layer_norm(rows, eps=eps), given.dims)
    return _weighted(call, made, weight, bias)


@handles("instance_norm.default")
def instance_norm(
    call: FxCall,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn: bool,
) -> Tensor:
    """The same over each channel; or a batch norm, by statistics that are inputs."""
    if not use_input_stats:
        return batch_norm(call, x, weight, bias, mean, variance, momentum, eps)[0]
    if mean is not None:
        raise ValueError("it changes its statistics: call eval() before")
    return group_norm(call, x, call.shape[1], weight, bias, eps)


@handles("_native_batch_norm_legit_no_training.default")
def batch_norm(
    call: FxCall,
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    momentum: float,
    eps: float,
) -> tuple[Tensor, None, None]:
    """By statistics of each channel that are inputs; torch's backward pass reads the rest."""
    given = call.tensor(x, ElementType.F32)
    centred = call.graph.sub(given, _channels(call, mean, given))
    return _divided(call, centred, _channels(call, variance, given), weight, bias, eps)


@handles("_native_batch_norm_legit.no_stats")
def batch_norm_of_batch(
    call: FxCall, x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> tuple[Tensor, None, None]:
    """By statistics of the batch, which nothing keeps."""
    graph, given = call.graph, call.tensor(x, ElementType.F32)
    over = [dim for dim in range(len(given.dims)) if dim != 1]
    centred = graph.sub(given, graph.reduce_mean(given, over))
    variance = graph.reduce_mean(graph.square(centred), over)
    return _divided(call, centred, variance, weight, bias, eps)


def _divided(
    call: FxCall, centred: Tensor, variance: Tensor, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, None, None]:
    root = call.graph.rsqrt(call.graph.add(variance, eps))
    return _weighted(call, call.graph.mul(centred, root), weight, bias), None, None


def _weighted(call: FxCall, made: Tensor, weight: Any, bias: Any) -> Tensor:
    """`made * weight + bias`, each of one number for a channel."""
    if weight is not None:
        made = call.graph.mul(made, _channels(call, weight, made))
    return made if bias is None else call.graph.add(made, _channels(call, bias, made))


def _channels(call: FxCall, vector: Any, like: Tensor) -> Tensor:
    """A number for each channel, which is dimension 1 of `like`."""
    numbers = call.tensor(vector, ElementType.F32)
    return call.graph.reshape(numbers, (-1, *[1] * (len(like.dims) - 2)))
