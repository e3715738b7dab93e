"""Operators of ATen that take elements at indices which are the same in each call."""

from collections.abc import Iterable, Sequence
from typing import Any

from mirage_mlir.api.tensor import Tensor
from mirage_mlir.frameworks.fx_call import FxCall, handles

LARGEST = 8
"""Parts that a tensor is made of: each is read by a copy of its own."""


@handles("roll.default")
def roll(call: FxCall, x: Any, shifts: list[int], dims: Sequence[int] = ()) -> Tensor:
    """Elements moved on along `dims`, or all as one vector; those at the end go first."""
    given = call.tensor(x)
    made = given if dims else call.graph.reshape(given, (-1,))
    for shift, dim in zip(shifts, dims or [0], strict=True):
        size = made.dims[dim]
        made = _taken(call, made, dim, ((at - shift) % size for at in range(size)))
    return call.shaped(made)


@handles("flip.default", "prims.rev.default")
def flip(call: FxCall, x: Any, dims: list[int]) -> Tensor:
    """The last element along `dims` first."""
    made = call.tensor(x)
    for dim in dims:
        made = _taken(call, made, dim, reversed(range(made.dims[dim])))
    return made


@handles(*(f"reflection_pad{rank}d.default" for rank in (1, 2, 3)))
@handles(*(f"replication_pad{rank}d.default" for rank in (1, 2, 3)))
def pad(call: FxCall, x: Any, pads: list[int]) -> Tensor:
    """Elements before and after, mirrored or those at the edges, from the last dimension on."""
    made = call.tensor(x)
    mirrored = call.node.target.overloadpacket.__name__.startswith("reflection")
    for number, (before, after) in enumerate(zip(pads[::2], pads[1::2], strict=True)):
        dim = len(made.dims) - 1 - number
        last = made.dims[dim] - 1
        places = range(-before, last + 1 + after)
        if mirrored:
            made = _taken(call, made, dim, (last - abs(last - abs(at)) for at in places))
        else:
            made = _taken(call, made, dim, (min(max(at, 0), last) for at in places))
    return made


@handles("index_select.default")
def index_select(call: FxCall, x: Any, dim: int, indices: Any) -> Tensor:
    """The elements at `indices` along `dim`."""
    return index(call, x, [*[None] * (dim % len(call.shape_of(x))), indices])


@handles("index.Tensor")
def index(call: FxCall, x: Any, indices: list[Any]) -> Tensor:
    """The elements at indices along one dimension; whole dimensions have None."""
    given = call.tensor(x)
    dims = [dim for dim, each in enumerate(indices) if each is not None]
    if not all(isinstance(indices[dim], list) for dim in dims):
        raise ValueError("indices from tensors are for torch: call it outside")
    if len(dims) != 1:
        raise ValueError("indices along several dimensions are not supported: one after the other")
    made = _taken(call, given, dims[0], indices[dims[0]])
    # Indices may be a tensor of any rank.
    return call.shaped(made)


def _taken(call: FxCall, x: Tensor, dim: int, indices: Iterable[int]) -> Tensor:
    """The elements of `x` at `indices` along `dim`, as few slices as they are."""
    size = x.dims[dim]
    runs = _runs([at + size if at < 0 else at for at in indices])
    if len(runs) > LARGEST:
        raise ValueError(
            f"elements are taken from {len(runs)} places of dimension {dim}, each a slice of its "
            f"own; supported are {LARGEST}: call it outside"
        )
    slices: list[Tensor] = []
    for run in runs:
        offsets, sizes, strides = [0] * len(x.dims), [*x.dims], [1] * len(x.dims)
        offsets[dim], sizes[dim], strides[dim] = run.start, len(run), run.step
        slices.append(x if run == range(size) else call.graph.slice(x, offsets, sizes, strides))
    return slices[0] if len(slices) == 1 else call.graph.concat(slices, dim)


def _runs(indices: Sequence[int]) -> list[range]:
    """Indices as ranges, one after the other, each with a step above 0."""
    runs: list[range] = []
    for at in indices:
        last = runs[-1] if runs else range(0)
        step = at - last[-1] if last else 0
        if step > 0 and (len(last) == 1 or step == last.step):
            runs[-1] = range(last.start, at + 1, step)
        else:
            runs.append(range(at, at + 1))
    return runs
