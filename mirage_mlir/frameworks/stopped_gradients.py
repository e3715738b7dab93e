"""Where a function of torch lets no gradient through, found while it is traced."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

pytree: Any = import_module("torch.utils._pytree")

Line = tuple[str, int, int]
"""File, line and column."""

_LIVE = "_mirage_mlir_live"
"""An attribute of tensors in a trace that may have a gradient; the kernel dialect has none."""


class StoppedGradients:
    """
    Follows what has a gradient through the operators of one trace.

    `line` is that of the first operator that stops one: `detach`, one under `no_grad`, or in the
    `forward` of a `torch.autograd.Function`. None where there is none.
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.line: Line | None = None
        for each in _floating(arguments):
            setattr(each, _LIVE, True)

    def follow(self, func: Any, args: Sequence[Any], kwargs: Any, result: Any, line: Line) -> None:
        """One operator that was called."""
        if not any(map(_is_live, _floating((args, kwargs)))):
            return
        name: str = getattr(func, "__name__", "")
        changed = name == "__setitem__" or (name.endswith("_") and not name.startswith("__"))
        made = [*_floating(result), *_floating(args[:1] if changed else ())]
        if torch.is_grad_enabled() and not name.startswith("detach"):
            for each in made:
                setattr(each, _LIVE, True)
        elif made:
            self.line = self.line or line


def _floating(values: Any) -> Iterator[Any]:
    for each in pytree.tree_leaves(values):
        if isinstance(each, torch.Tensor) and each.is_floating_point():
            yield each


def _is_live(tensor: Any) -> bool:
    return hasattr(tensor, _LIVE) or tensor.requires_grad or isinstance(tensor, torch.nn.Parameter)
