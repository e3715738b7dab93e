"""Operators of `torch.library` whose gradients `torch.func` sees, too."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

forward_ad: Any = import_module("torch.autograd.forward_ad")


class TorchOperator(torch.library.CustomOpDef):
    """
    What `torch.library.custom_op` makes, of a function that changes no argument.

    torch's own has no gradients under `torch.func.grad` and the like, and under forward-mode
    differentiation a tangent of zeros. Here the one works, and the other is an error.
    """

    def __init__(self, namespace: str, name: str, schema: str, run: Callable[..., Any]) -> None:
        torch.library.CustomOpDef.__init__(self, namespace, name, schema, run)
        self.register_kernel(None)(_without_tangents(run))
        self._function: Any = None

    def differentiate(
        self, backward: Callable[..., Any], setup_context: Callable[..., None] | None = None
    ) -> None:
        """Gradients by `backward`; the arguments are those of `torch.library.register_autograd`."""
        self.register_autograd(backward, setup_context=setup_context)
        keep = setup_context or _keep_nothing
        members = {
            "forward": staticmethod(self._opoverload),
            "setup_context": staticmethod(keep),
            "backward": staticmethod(backward),
            "jvp": staticmethod(_refuse_tangents),
            "vmap": staticmethod(self._vmap),
        }
        self._function = type(self._name, (torch.autograd.Function,), members)

    def __call__(self, *args: Any) -> Any:
        """The function, which transforms of `torch.func` see through."""
        if torch.compiler.is_compiling() or self._function is None:
            return self._opoverload(*args)
        if torch._C._functorch.peek_interpreter_stack() is None:
            return self._opoverload(*args)
        return self._function.apply(*args)

    def __deepcopy__(self, memo: object) -> "TorchOperator":
        """The same: it is registered by its name, and modules that have one are copied."""
        return self

    def _vmap(self, info: Any, dims: Sequence[int | None], *args: Any) -> Any:
        """One call after the other: the shapes of kernels are fixed."""
        found: list[Any] = []
        for index in range(info.batch_size):
            pairs = zip(args, dims, strict=True)
            given = [each if dim is None else each.select(dim, index) for each, dim in pairs]
            found.append(self(*given))
        if isinstance(found[0], torch.Tensor):
            return torch.stack(found), 0
        stacked = [torch.stack(each) for each in zip(*found, strict=True)]
        return (*stacked,), (0,) * len(stacked)


def _keep_nothing(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    """Where the gradient is an error."""


def _refuse_tangents(ctx: Any, *tangents: Any) -> Any:
    raise NotImplementedError(
        "kernels have no forward-mode derivatives (torch.func.jvp, jacfwd): take those of reverse "
        "mode (torch.autograd, torch.func.vjp, jacrev)"
    )


def _without_tangents(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, where no argument has a tangent, which would be lost."""

    def checked(*args: Any) -> Any:
        if forward_ad._current_level >= 0:
            tensors = [each for each in args if isinstance(each, torch.Tensor)]
            if any(forward_ad.unpack_dual(each).tangent is not None for each in tensors):
                _refuse_tangents(None)
        return run(*args)

    return checked
