"""
Kernels as operators of PyTorch, with gradients: `operator(graph)`, `rms_norm`, `RMSNorm`.

What is registered here is an operator of `torch.library`: autograd, `torch.compile` and
`torch.export` see through it. Tensors in host memory are interpreted.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from itertools import count
from math import prod
from typing import TYPE_CHECKING, Any, Unpack

from mirage_mlir.api.failures import failures_at_line
from mirage_mlir.api.graph import KernelGraph, SearchOptions
from mirage_mlir.diagnostics import Diagnostic, Severity, UnsupportedOperation
from mirage_mlir.runtime.artifact import TensorSpec
from mirage_mlir.runtime.element_types import element_type_of
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.targets.recognition import target_of_gpu
from mirage_mlir.targets.target import DEFAULT_TARGET, target_named
from mirage_mlir.torch_operator import TorchOperator

if TYPE_CHECKING:
    from mirage_mlir.frameworks.backend.report import ModelExplanation

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

NAMESPACE = "mirage_mlir"
"""Of our operators: `torch.ops.mirage_mlir`."""

MOST_TENSORS = 64
"""That a build of torch lets an operator take by name, or return."""

LIMIT = f"an operator of torch takes and returns at most {MOST_TENSORS}"

_numbers = count()


def operator(
    graph: KernelGraph, target: str | None = None, **options: Unpack[SearchOptions]
) -> Callable[..., Any]:
    """
    A function on tensors that computes what `graph` says, registered with `torch.library`.

    It is called as the kernel is: one tensor for each input, positions only. Tensors that do not
    lie in memory as kernels need them are copied in each call. The kernel of its gradients is
    searched for in the first backward pass.

    Args:
        graph: the program; its inputs that need no gradient may still get one.
        target: the GPU to search for; the one that is there unless given.
        options: as for `KernelGraph.superoptimize`.

    Raises:
        ValueError: no output was marked, or an argument is out of range.
        DiagnosticException: the program cannot be compiled; the message says where and why.
    """
    return RegisteredOperator(graph, target, options).call


class RegisteredOperator:
    """
    An operator, and the one of its gradients; `operator` says of what.

    `call` is the function on tensors, `kernel` what it runs. Where there is a `no_gradient`, a
    backward pass raises that. The `fixed` inputs, by number, get no gradient.
    """

    def __init__(
        self,
        graph: KernelGraph,
        target: str | None,
        options: SearchOptions,
        no_gradient: Diagnostic | None = None,
        fixed: Sequence[int] = (),
    ) -> None:
        if len(graph.inputs) > MOST_TENSORS:
            raise ValueError(f"'{graph.name}' has {len(graph.inputs)} inputs; {LIMIT}")
        self._graph, self._target, self._options = graph, target, options
        self._no_gradient = no_gradient
        with failures_at_line(graph):
            self.kernel = graph.superoptimize(target, **options)
        inputs, outputs = self.kernel.artifact.inputs, self.kernel.artifact.outputs
        if len(outputs) > MOST_TENSORS:
            raise ValueError(f"'{graph.name}' has {len(outputs)} results; {LIMIT}")
        # Two graphs may have one name.
        name = f"{graph.name}_{next(_numbers)}"
        forward, results = _schema(len(inputs)), _schema(len(outputs))
        self.call = _define(name, f"{forward} -> {results}", self._run, inputs, outputs)
        takes = _schema(len(inputs) + len(outputs))
        every = [*range(len(inputs))]
        self._varied = [number for number in every if number not in fixed] or every
        gives = [inputs[number] for number in self._varied]
        schema = f"{takes} -> {_schema(len(gives))}"
        given = [*inputs, *outputs]
        if len(given) > MOST_TENSORS:
            message = f"the gradient of '{graph.name}' takes {len(given)} tensors; {LIMIT}"
            self._no_gradient = no_gradient or Diagnostic(Severity.ERROR, message)
            self.call.differentiate(self._backward, _keep_inputs)
            return
        self._gradient = _define(f"{name}_backward", schema, self._run_backward, given, gives)
        self.call.differentiate(self._backward, _keep_inputs)
        self._gradient.differentiate(_refuse_second)

    @cached_property
    def _backward_kernel(self) -> CompiledKernel:
        with failures_at_line(self._graph, "its gradient"):
            inputs = [self._graph.inputs[number] for number in self._varied]
            return self._graph.backward(*inputs).superoptimize(self._target, **self._options)

    def _run(self, *tensors: Any) -> Any:
        # As torch's operators, which take tensors however these lie.
        return self.kernel(*tensors, copy=True)

    def _run_backward(self, *tensors: Any) -> Any:
        return self._backward_kernel(*tensors, copy=True)

    def _backward(self, ctx: Any, *gradients: Any) -> Any:
        if self._no_gradient is not None:
            raise UnsupportedOperation(self._no_gradient)
        # Once: where a forward pass is checkpointed, torch computes it again to give them.
        inputs = ctx.saved_tensors
        found: Any = self._gradient(*inputs, *gradients)
        listed = (found,) if isinstance(found, torch.Tensor) else found
        of = dict(zip(self._varied, listed, strict=True))
        return tuple(of.get(number) for number in range(len(inputs)))


def _keep_inputs(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _refuse_second(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError(
        "the gradient of a kernel is a kernel that has no gradient itself: for second derivatives "
        "take torch's own operators, or graph.backward() twice as a program of its own"
    )


def _schema(number: int) -> str:
    """Of so many tensors."""
    return f"({', '.join(f'Tensor x{each}' for each in range(number))})"


def _define(
    name: str,
    schema: str,
    run: Callable[..., Any],
    takes: Sequence[TensorSpec],
    results: Sequence[TensorSpec],
) -> TorchOperator:
    """An operator, which takes tensors as `takes` says, and gives some as `results` say."""

    def shapes_only(*tensors: Any) -> Any:
        for number, (tensor, spec) in enumerate(zip(tensors, takes, strict=True)):
            _check(tensor, spec, f"input {number} ('{spec.name}')")
        made = tuple(
            tensors[0].new_empty(spec.shape, dtype=getattr(torch, spec.element_type.array_name))
            for spec in results
        )
        return made[0] if len(made) == 1 else made

    made = TorchOperator(NAMESPACE, name, schema, run)
    made.register_fake(shapes_only)
    return made


def _check(tensor: Any, spec: TensorSpec, label: str) -> None:
    """Raise what a call would raise, while a function is traced."""
    wanted = getattr(torch, spec.element_type.array_name)
    if tensor.dtype is not wanted:
        raise TypeError(f"{label} has type {tensor.dtype}, not {wanted}")
    if tuple(tensor.shape) != spec.shape:
        raise ValueError(f"{label} has shape {tuple(tensor.shape)}, not {spec.shape}")


def explain(
    model: Any,
    *inputs: Any,
    options: Mapping[str, object] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> "ModelExplanation":
    """
    What `torch.compile(model, backend="mirage")` makes of a model, called with `inputs`.

    The model is called once, without gradients, with all that a call changes: statistics of a
    BatchNorm, the state of random numbers. The result prints as a table: which parts kernels take,
    which are left and why, with modelled times. Functions that `torch.compile` compiled before in
    this process are compiled again when they are called next.

    Args:
        model: a module or a function.
        inputs: of one call.
        options: as for the backend.
        kwargs: arguments of that call by their names.

    Raises:
        TypeError, ValueError: an option does not exist, or has another type or value.
    """
    # Above this layer.
    from mirage_mlir.frameworks.backend.entry import Backend

    backend = Backend(options)
    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(model, backend=backend)(*inputs, **(kwargs or {}))
    torch._dynamo.reset()
    return backend.explanation


# RMSNorm


@cache
def _rms_norm_graph(rows: int, columns: int, dtype: str, eps: float) -> KernelGraph:
    graph = KernelGraph("rms_norm")
    x = graph.new_input(dims=(rows, columns), dtype=dtype, name="x")
    weight = graph.new_input(dims=(columns,), dtype=dtype, name="weight")
    graph.mark_output(graph.rms_norm(x, weight, eps=eps))
    return graph


@cache
def _rms_norm_kernel(
    target: str, rows: int, columns: int, dtype: str, eps: float
) -> CompiledKernel:
    graph = _rms_norm_graph(rows, columns, dtype, eps)
    return graph.superoptimize(target, compile_for=[target_named(target).chip])


@cache
def _rms_norm_backward_kernel(
    target: str, rows: int, columns: int, dtype: str, eps: float
) -> CompiledKernel:
    graph = _rms_norm_graph(rows, columns, dtype, eps).backward()
    return graph.superoptimize(target, compile_for=[target_named(target).chip])


def target_of(device: Any) -> str:
    """What kernels for tensors on `device` are searched for; the default on the host."""
    if device.type != "cuda":
        return DEFAULT_TARGET
    major, _ = torch.cuda.get_device_capability(device)
    return target_of_gpu(torch.cuda.get_device_name(device), major)


def _program(x: Any, eps: float) -> tuple[str, int, int, str, float]:
    """What kernels are known by: the tensor's GPU, and the program."""
    columns = x.shape[-1]
    return (
        target_of(x.device),
        prod(x.shape[:-1]),
        columns,
        element_type_of(x.dtype).array_name,
        eps,
    )


def _forward(x: Any, weight: Any, eps: float) -> Any:
    kernel = _rms_norm_kernel(*_program(x, eps))
    flat = x.reshape(-1, x.shape[-1])
    return kernel(flat, weight, copy=True).reshape(x.shape)


def _gradients(x: Any, weight: Any, gradient: Any, eps: float) -> Any:
    kernel = _rms_norm_backward_kernel(*_program(x, eps))
    columns = x.shape[-1]
    rows, gradients = (each.reshape(-1, columns) for each in (x, gradient))
    by_x, by_weight = kernel(rows, weight, gradients, copy=True)
    return by_x.reshape(x.shape), by_weight


_op = TorchOperator(
    NAMESPACE, "rms_norm", "(Tensor x, Tensor weight, float eps) -> Tensor", _forward
)


@_op.register_fake
def _shape(x: Any, weight: Any, eps: float) -> Any:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


_backward_op = TorchOperator(
    NAMESPACE,
    "rms_norm_backward",
    "(Tensor x, Tensor weight, Tensor gradient, float eps) -> (Tensor, Tensor)",
    _gradients,
)


@_backward_op.register_fake
def _shapes(x: Any, weight: Any, gradient: Any, eps: float) -> Any:
    by_weight = torch.empty_like(weight, memory_format=torch.contiguous_format)
    return _shape(x, weight, eps), by_weight


def _keep_norm(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


def _norm_backward(ctx: Any, gradient: Any) -> Any:
    return *_backward_op(*ctx.saved_tensors, gradient, ctx.eps), None


_op.differentiate(_norm_backward, _keep_norm)
_backward_op.differentiate(_refuse_second)


def rms_norm(x: Any, weight: Any, eps: float = 1e-5) -> Any:
    """
    `x / sqrt(mean(x ** 2) + eps) * weight` over the last dimension, with gradients.

    Kernels are searched for once for each number of rows, element type and eps. Rows are all
    dimensions of `x` but the last.

    Args:
        x: a tensor of f16, bf16 or f32 with one dimension or more.
        weight: a vector as long as the rows, of the same type; None is one of ones.
        eps: above or at 0.

    Raises:
        TypeError: the types are other ones, or differ.
        ValueError: the weight has another shape.
    """
    if x.dim() < 1:
        raise ValueError("x has no dimension, and rows are along the last one")
    if weight is None:
        weight = x.new_ones(x.shape[-1:])
    if weight.dtype != x.dtype:
        raise TypeError(f"weight has type {weight.dtype}, and x {x.dtype}")
    if tuple(weight.shape) != tuple(x.shape[-1:]):
        raise ValueError(f"weight has shape {tuple(weight.shape)}; rows are {tuple(x.shape[-1:])}")
    element_type_of(x.dtype)
    return _op(x, weight, eps)


class RMSNorm(torch.nn.Module):
    """
    `torch.nn.RMSNorm` over one dimension, by our kernels.

    Args:
        normalized_shape: the size of the last dimension, or a sequence of it.
        eps: as in `rms_norm`.
        device, dtype: of the weight, which begins as ones.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        torch.nn.Module.__init__(self)
        sizes = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        if len(sizes) != 1:
            raise ValueError(f"normalized_shape has one dimension here, not {tuple(sizes)}")
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(*sizes, device=device, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """`rms_norm(x, weight, eps)`."""
        return rms_norm(x, self.weight, self.eps)

    def extra_repr(self) -> str:
        """As torch's own prints."""
        return f"{tuple(self.weight.shape)}, eps={self.eps}"
