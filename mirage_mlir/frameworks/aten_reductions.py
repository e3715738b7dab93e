"""Sums, maxima, vector norms and softmax of ATen."""

from collections.abc import Callable
from functools import partial
from typing import Any

from mirage_mlir.api.tensor import Tensor
from mirage_mlir.frameworks.fx_call import FxCall, dims_or_all, handles
from mirage_mlir.runtime.element_types import ElementType


def _reduced(call: FxCall, reduce: Callable[..., Tensor], x: Any, dims: Any) -> Tensor:
    given = call.tensor(x, call.widest(x))
    return call.shaped(reduce(given, dims_or_all(call, x, dims)) if given.dims else given)


@handles("sum.default", "sum.dim_IntList")
def reduce_sum(call: FxCall, x: Any, dims: Any = None, keepdim: bool = False) -> Tensor:
    """The sum over `dims`."""
    return _reduced(call, call.graph.reduce_sum, x, dims)


@handles("mean.default", "mean.dim")
def reduce_mean(call: FxCall, x: Any, dims: Any = None, keepdim: bool = False) -> Tensor:
    """The mean over `dims`."""
    return _reduced(call, call.graph.reduce_mean, x, dims)


@handles("smooth_l1_loss.default")
def smooth_l1_loss(
    call: FxCall, x: Any, target: Any, reduction: int = 1, beta: float = 1.0
) -> Tensor:
    """Of the distance: its square over `2 * beta` up to `beta`, then itself less `beta / 2`."""
    return _loss(call, x, target, reduction, beta, 1.0 if beta == 0 else 1 / beta)


@handles("huber_loss.default")
def huber_loss(call: FxCall, x: Any, target: Any, reduction: int = 1, delta: float = 1.0) -> Tensor:
    """`delta` times the same."""
    return _loss(call, x, target, reduction, delta, 1.0)


def _loss(call: FxCall, x: Any, target: Any, reduction: int, limit: float, factor: float) -> Tensor:
    """`factor * (m^2 / 2 + limit * (d - m))` of the distance d; m is d, but `limit` at most."""
    graph, kind = call.graph, ElementType.F32
    distance = graph.abs(graph.sub(call.tensor(x, kind), call.tensor(target, kind)))
    near = graph.min(distance, limit)
    far = graph.scale(graph.sub(distance, near), limit if limit else 1.0)
    each = graph.scale(graph.add(graph.scale(graph.square(near), 0.5), far), factor)
    if reduction == 0 or not each.dims:
        return graph.cast(each, call.dtype)
    reduce = graph.reduce_mean if reduction == 1 else graph.reduce_sum
    made = reduce(each, [*range(len(each.dims))])
    return graph.cast(call.shaped(made), call.dtype)


@handles("amax.default", "max.default")
def reduce_max(call: FxCall, x: Any, dims: Any = None, keepdim: bool = False) -> Tensor:
    """The maximum over `dims`."""
    return _reduced(call, call.graph.reduce_max, x, dims)


@handles("amin.default", "min.default")
def reduce_min(call: FxCall, x: Any, dims: Any = None, keepdim: bool = False) -> Tensor:
    """The minimum over `dims`."""
    return _reduced(call, partial(_minimum, call), x, dims)


def _minimum(call: FxCall, x: Tensor, dims: list[int]) -> Tensor:
    return call.graph.neg(call.graph.reduce_max(call.graph.neg(x), dims))


@handles("any.default", "any.dim", "any.dims")
def any_(call: FxCall, x: Any, dims: Any = None, keepdim: bool = False) -> Tensor:
    """1 where one element is not 0."""
    return call.shaped(call.graph.reduce_max(call.mask(x), dims_or_all(call, x, dims)))


@handles("all.default", "all.dim", "all.dims")
def all_(call: FxCall, x: Any, dims: Any = None, keepdim: bool = False) -> Tensor:
    """1 where no element is 0."""
    return call.shaped(_minimum(call, call.mask(x), dims_or_all(call, x, dims)))


@handles("max.dim", "min.dim")
def extremum(call: FxCall, x: Any, dim: int, keepdim: bool = False) -> tuple[Tensor | None, ...]:
    """The extremum along `dim`; where it is has no program."""
    given = call.tensor(x)
    is_max = call.node.target.overloadpacket.__name__ == "max"
    made = call.graph.reduce_max(given, dim) if is_max else _minimum(call, given, [dim])
    shape = tuple(map(int, call.node.meta["val"][0].shape))
    return call.graph.reshape(made, shape), None


@handles("cumsum.default")
def cumsum(call: FxCall, x: Any, dim: int) -> Tensor:
    """Sums of the elements up to each."""
    return call.graph.cumsum(call.tensor(x, call.widest(x)), dim)


@handles("var.correction", "std.correction")
def variance(
    call: FxCall,
    x: Any,
    dims: Any = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Tensor:
    """The variance over `dims`, or its root."""
    made = call.shaped(_variance(call, x, dims_or_all(call, x, dims), correction))
    is_root = call.node.target.overloadpacket.__name__ == "std"
    return call.graph.sqrt(made) if is_root else made


@handles("var_mean.correction")
def variance_and_mean(
    call: FxCall,
    x: Any,
    dims: Any = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, ...]:
    """The variance and the mean over `dims`."""
    over = dims_or_all(call, x, dims)
    mean = call.graph.reduce_mean(call.tensor(x, ElementType.F32), over)
    shape = tuple(map(int, call.node.meta["val"][0].shape))
    made = (_variance(call, x, over, correction), mean)
    return tuple(call.graph.cast(call.graph.reshape(each, shape), call.dtype) for each in made)


def _variance(call: FxCall, x: Any, dims: list[int], correction: float | None) -> Tensor:
    # In f32, as torch has it: differences from the mean are not rounded.
    given, over = call.tensor(x, ElementType.F32), call.graph
    count = 1
    for dim in dims:
        count *= given.dims[dim]
    degrees = count - (1 if correction is None else correction)
    if degrees <= 0:
        raise ValueError(f"a variance of {count} elements with correction {correction} is infinite")
    centred = over.sub(given, over.reduce_mean(given, dims))
    return over.scale(over.reduce_sum(over.square(centred), dims), 1 / degrees)


@handles("linalg_vector_norm.default")
def vector_norm(
    call: FxCall, x: Any, order: float = 2, dims: Any = None, keepdim: bool = False
) -> Tensor:
    """The 1-, the 2- or the maximum norm over `dims`."""
    given, over = call.tensor(x, ElementType.F32), dims_or_all(call, x, dims)
    if order == 2:
        return call.shaped(call.graph.sqrt(call.graph.reduce_sum(call.graph.square(given), over)))
    if order not in (1, float("inf")):
        raise ValueError(f"there are the norms 1, 2 and inf, and none {order}")
    reduce = call.graph.reduce_sum if order == 1 else call.graph.reduce_max
    return call.shaped(reduce(call.graph.abs(given), over))


@handles("_softmax.default")
def softmax(call: FxCall, x: Any, dim: int, half_to_float: bool) -> Tensor:
    """`exp(x)` divided by its sum along `dim`."""
    return call.graph.softmax(call.tensor(x), dim)


@handles("_log_softmax.default")
def log_softmax(call: FxCall, x: Any, dim: int, half_to_float: bool) -> Tensor:
    """The logarithm of the softmax."""
    given = call.tensor(x, ElementType.F32)
    return call.graph.sub(given, _log_sum_exp(call, given, [dim]))


@handles("logsumexp.default")
def log_sum_exp(call: FxCall, x: Any, dims: Any, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of `exp(x)`."""
    given = call.tensor(x, ElementType.F32)
    return call.shaped(_log_sum_exp(call, given, dims_or_all(call, x, dims)))


def _log_sum_exp(call: FxCall, x: Tensor, dims: list[int]) -> Tensor:
    largest = call.graph.reduce_max(x, dims)
    total = call.graph.reduce_sum(call.graph.exp(call.graph.sub(x, largest)), dims)
    return call.graph.add(largest, call.graph.log(total))
