"""Functions of torch as programs of `torch.export`, in operators that have handlers."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, cast

from mirage_mlir.diagnostics import Diagnostic, Severity, UnsupportedOperation
from mirage_mlir.frameworks.fx_call import HANDLERS
from mirage_mlir.frameworks.stopped_gradients import StoppedGradients
from mirage_mlir.frameworks.surroundings import NUMBERS, OF_MODULES, Surroundings
from mirage_mlir.frameworks.user_lines import LINE, users_line

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

pytree: Any = import_module("torch.utils._pytree")
symbolic_shapes: Any = import_module("torch.fx.experimental.symbolic_shapes")
forward_ad: Any = import_module("torch.autograd.forward_ad")
_fake_tensors: Any = import_module("torch._subclasses.fake_tensor")

_OF_VALUES = (_fake_tensors.DataDependentOutputException, _fake_tensors.DynamicOutputShapeException)
"""What torch raises where a program depends on the values of tensors."""

_TransformType: Any = torch._C._functorch.TransformType

_BACKWARD = {torch.autograd.grad, torch.autograd.backward, torch.Tensor.backward}

_REFUSED_BY_NAME = ("isfinite.default", "nan_to_num.default")
"""Operators that stay, as those with handlers do: errors name them, and not their parts."""

DEPENDS_ON_VALUES = "the function decides by the values of tensors, which a program does not know"

_MADE_WHOLE = ("linspace.default", "logspace.default")
"""Operators that stay, since the parts that torch takes them apart into round otherwise."""

AROUND = "around "
"""How the names of variables around a function begin here; attributes have names without spaces."""


class TracedFunction(torch.nn.Module):
    """
    A function as a module on the tensors of one call: parameters of modules that it uses are its.

    Args:
        function: a module, a method of one, or a function, which may use modules around it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        torch.nn.Module.__init__(self)
        # In a list: a module would be the owner of parameters by this name, too.
        self.functions = [function]
        self.call: Callable[..., Any] | None = None
        self._surroundings = Surroundings(function)
        self.around: dict[str, Any] = {}
        self.look_around()

    def look_around(self) -> None:
        """Take the variables around the function as they are now."""
        self.around = self._surroundings.values()
        owner: Any = getattr(self.functions[0], "__self__", self.functions[0])
        used = [each for each in self.around.values() if isinstance(each, torch.nn.Module)]
        if isinstance(owner, torch.nn.Module):
            own = {id(each) for each in owner.modules()}
            used = [owner, *(each for each in used if id(each) not in own)]
        # All at once: another thread may be in a call.
        self.__dict__["_modules"] = {f"module{number}": each for number, each in enumerate(used)}

    def tensors(self) -> dict[str, Any]:
        """The tensors around the function, by name; one of several names where they are one."""
        every = [each for each in self.around.items() if isinstance(each[1], torch.Tensor)]
        own = {id(each) for each in self.state().values()} if every else set[int]()
        found: dict[int, tuple[str, Any]] = {}
        for name, value in every:
            if id(value) not in own:
                found.setdefault(id(value), (AROUND + name, value))
        return dict(found.values())

    def forward(self, *tensors: Any) -> Any:
        """The tensors that the function returns, while it is traced."""
        assert self.call is not None
        return self.call(*tensors)

    def state(self) -> dict[str, Any]:
        """Parameters and buffers, as they are now."""
        return {**dict(self.named_parameters()), **dict(self.named_buffers())}

    def helpers(self) -> dict[str, "Same"]:
        """The functions and classes around the function, by name, and what is None."""
        return {
            name: Same(each)
            for name, each in self.around.items()
            if each is None
            or (callable(each) and not isinstance(each, torch.nn.Module | torch.Tensor))
        }

    def numbers(self) -> dict[str, Any]:
        """
        Numbers, strings and truth values that are attributes of modules, as they are now, and
        around the function, as they were when it was looked at; types of modules.
        """
        found: dict[str, Any] = {
            AROUND + name: value
            for name, value in self.around.items()
            if isinstance(value, NUMBERS)
        }
        for path, module in self.named_modules():
            found[f"{path} type"] = type(module)
            for name, value in cast(dict[str, Any], vars(module)).items():
                if name not in OF_MODULES and isinstance(value, NUMBERS):
                    found[f"{path}.{name}".removeprefix(".")] = value
        return found


@dataclass(frozen=True, eq=False)
class Same:
    """An object that equals itself alone; some cannot be hashed, or equal others."""

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True)
class Trace:
    """
    A function, traced for one call.

    Args:
        exported: the program, on the tensors among the arguments.
        names: what these tensors are called, for messages.
        values: the leaves of what the function returns; tensors are those of the trace.
        structure: of what it returns.
        stopped: the line of the first operator that lets no gradient through, or None.
    """

    exported: Any
    names: list[str]
    values: list[Any]
    structure: Any
    stopped: tuple[str, int, int] | None


def trace(program: TracedFunction, leaves: Sequence[Any], structure: Any) -> Trace:
    """
    The trace of one call.

    Args:
        program: of the function.
        leaves: all arguments, those that are no tensors too.
        structure: of the arguments: `(args, kwargs)`.

    Raises:
        UnsupportedOperation: what the function does depends on values of tensors, or torch
            has no program of it.
    """
    returned: list[Any] = []
    stopped: list[StoppedGradients] = []

    def call(*tensors: Any) -> Any:
        given = iter(tensors)
        filled = [next(given) if isinstance(each, torch.Tensor) else each for each in leaves]
        args, kwargs = pytree.tree_unflatten(filled, structure)
        stopped[:] = [StoppedGradients(tensors)]
        before = program.numbers()
        with _Lines(stopped[0]):
            returned[:] = pytree.tree_flatten(program.functions[0](*args, **kwargs))
        program.look_around()
        _refuse_changes(before, program.numbers())
        return tuple(each for each in returned[0] if isinstance(each, torch.Tensor))

    # Each an object of its own: where two are one in this call, they may differ in the next one.
    tensors = tuple(each.detach() for each in leaves if isinstance(each, torch.Tensor))
    program.call = call
    try:
        exported = _export(program, tensors)
    except Exception as error:
        _leave_transforms()
        by_values = isinstance(error, _OF_VALUES)
        if isinstance(error, UnsupportedOperation) or not (returned or by_values):
            raise  # By the function itself: what torch says is for the user.
        raise _refusal(DEPENDS_ON_VALUES if by_values else _reason_of(error)) from error
    finally:
        # It has the tensors of this call.
        program.call = None
    names = [*_argument_names(program.functions[0], leaves, structure)]
    values, made = returned
    return Trace(exported, names, values, made, stopped[0].line)


def _reason_of(error: Exception) -> str:
    (reason, *_) = str(error).splitlines() or [""]
    reason = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    return f"torch.export makes no program of the function: {reason}"


class _Lines(torch.overrides.TorchFunctionMode):
    """Notes the user's line at each operator of a trace; torch keeps those in `forward` alone."""

    last = ("-", 0, 0)

    def __init__(self, stopped: StoppedGradients) -> None:
        torch.overrides.TorchFunctionMode.__init__(self)
        self._stopped = stopped

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        _Lines.last = users_line()
        _refuse_gradients(func, args)
        with torch.fx.traceback.annotate({LINE: _Lines.last}):
            result = func(*args, **(kwargs or {}))
        self._stopped.follow(func, args, kwargs, result, _Lines.last)
        return result


def _refuse_gradients(func: Any, args: Sequence[Any]) -> None:
    """Of gradients that the function itself asks for, torch.export makes no program."""
    interpreter = torch._C._functorch.peek_interpreter_stack()
    transformed = interpreter is not None and interpreter.key() == _TransformType.Grad
    # Where an argument was made to require one, autograd's formulas are traced as all else is.
    backward = func in _BACKWARD and not any(
        each.requires_grad for each in pytree.tree_leaves(args[:1]) if each is not None
    )
    if transformed or backward:
        raise _refusal(
            "the function asks for a gradient itself (torch.func.grad or vjp, torch.autograd): "
            "compile what it is the gradient of, and ask for it outside; its program is "
            "graph.backward()"
        )


def _leave_transforms() -> None:
    """Leave what a program entered that torch could not make to the end; no call is in any."""
    leave = {
        _TransformType.Jvp: torch._C._functorch._jvp_decrement_nesting,
        _TransformType.Vmap: torch._C._functorch._vmap_decrement_nesting,
        _TransformType.Grad: torch._C._functorch._grad_decrement_nesting,
    }
    while (interpreter := torch._C._functorch.peek_interpreter_stack()) is not None:
        leave[interpreter.key()]()
    while (level := forward_ad._current_level) >= 0:
        forward_ad.exit_dual_level(level=level)
    # A program enters it below Python, which does not say so; there is one level.
    try:
        level = torch._C._enter_dual_level()
    except RuntimeError:
        level = 0
    torch._C._exit_dual_level(level=level)


def _refuse_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for path, value in after.items():
        if before.get(path) is not value and before.get(path) != value:
            what = f"attribute '{path.partition('.')[2]}'"
            if path.startswith(AROUND):
                what = f"variable '{path.removeprefix(AROUND)}'"
            raise _refusal(
                f"{what} is changed, which would be done once, while the program is made: change "
                f"it outside, or use a tensor that is returned"
            )


def _refusal(message: str) -> UnsupportedOperation:
    return UnsupportedOperation(Diagnostic(Severity.ERROR, message, *_Lines.last))


def _export(program: TracedFunction, tensors: tuple[Any, ...]) -> Any:
    """The program in operators that have handlers, as far as torch takes others apart."""
    # Under `no_grad` the program is the same; and what lets no gradient through is seen.
    with warnings.catch_warnings(), torch.fx.traceback.preserve_node_meta(), torch.enable_grad():
        # torch copies its own structures in a way that it deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            exported = torch.export.export(program, tensors, strict=False)
        except symbolic_shapes.GuardOnDataDependentSymNode as error:
            raise _refusal(DEPENDS_ON_VALUES) from error
        return exported.run_decompositions({**_decompositions()})


@cache
def _decompositions() -> dict[Any, Any]:
    """What torch takes apart: all that it can, but operators that have handlers."""
    table = torch.export.default_decompositions().materialize()
    for name in (*HANDLERS, *_REFUSED_BY_NAME, *_MADE_WHOLE):
        packet, _, overload = name.partition(".")
        # Those of prims are what others are taken apart into.
        if overload and packet != "prims":
            table.pop(getattr(getattr(torch.ops.aten, packet), overload), None)
    return table


def _argument_names(function: Any, leaves: Sequence[Any], structure: Any) -> Iterator[str]:
    target = function.forward if isinstance(function, torch.nn.Module) else function
    positional: list[str] = []
    # What is written in C may say nothing of its arguments.
    with suppress(ValueError):
        for parameter in inspect.signature(target).parameters.values():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                positional.append(parameter.name)
    named, _ = pytree.tree_flatten_with_path(pytree.tree_unflatten([*leaves], structure))
    for (kind, first, *path), leaf in named:
        if isinstance(leaf, torch.Tensor):
            root: str = pytree.keystr((first,))
            if kind.idx == 0 and first.idx < len(positional):
                root = positional[int(first.idx)]
            yield re.sub(r"\W+", "_", root + pytree.keystr(path)).strip("_")
