"""Parts of graphs as registered operators, each with kernels for it, or torch's own operators."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from typing import Any

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.frameworks.backend.part_names import name_of_part
from mirage_mlir.frameworks.fx_graph import FxImporter, inverse_of, unsupported
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.torch import MOST_TENSORS, NAMESPACE

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

DENSE = {"memory_format": torch.contiguous_format}
"""Of copies: row by row, whatever the strides of what is copied."""


@dataclass(frozen=True)
class PartProgram:
    """
    The program of a part.

    Args:
        graph: in the kernel dialect.
        converted: for each input the type that a mask is converted to, or None.
        input_orders: for each input the dimensions of the part's own in the order in which they lie
            in memory, outermost first: that is how the program has them, and nobody has to copy.
        result_orders: the same for each result.
    """

    graph: KernelGraph
    converted: tuple[Any, ...]
    input_orders: tuple[tuple[int, ...], ...]
    result_orders: tuple[tuple[int, ...], ...]

    @cached_property
    def key(self) -> str:
        """What is alike in parts that are."""
        masks = ", ".join(map(str, self.converted))
        return sha256(f"{self.graph.to_module()}{masks}".encode()).hexdigest()[:16]

    @cached_property
    def call_form(self) -> "CallForm":
        """How the program is called."""
        name = f"{self.graph.name}_{self.key}"
        return CallForm(name, self.converted, self.input_orders, self.result_orders)


@dataclass(frozen=True)
class CallForm:
    """
    What the operator of a part knows of its program.

    Args:
        name: of what it does, and equal for equal programs alone.
        converted, input_orders, result_orders: as the program has them.
    """

    name: str
    converted: tuple[Any, ...]
    input_orders: tuple[tuple[int, ...], ...]
    result_orders: tuple[tuple[int, ...], ...]


def program_of(module: Any, constants: frozenset[int]) -> PartProgram:
    """
    The program of a part that was taken out of its graph.

    Args:
        module: a graph module, whose results are tensors.
        constants: inputs, by number, that do not change between calls.

    Raises:
        UnsupportedOperation: the kernel dialect has no operator for something.
    """
    importer = FxImporter(KernelGraph("part"))
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    types = [importer.own_type(node) for node in inputs]
    masks_as = next((kind for kind in types if kind is not None), ElementType.F32)
    converted: list[Any] = []
    results = results_of(module)
    input_orders, result_orders = (
        tuple(order_of(node.meta["val"]) for node in nodes) for nodes in (inputs, results)
    )
    for number, (node, kind) in enumerate(zip(inputs, types, strict=True)):
        if kind is None and not importer.is_mask(node):
            raise unsupported(node, "integers are no inputs of kernels")
        importer.add_input(
            node,
            kind or masks_as,
            f"x{number}",
            constant=number in constants,
            order=input_orders[number],
        )
        converted.append(None if kind else getattr(torch, masks_as.array_name))
    for node in module.graph.nodes:
        importer.run(node)
    for node, order in zip(results, result_orders, strict=True):
        kind = importer.own_type(node)
        assert kind is not None
        importer.graph.mark_output(importer.in_order(importer.tensor(node, kind), order))
    importer.graph.name = name_of_part(importer.graph)
    return PartProgram(importer.graph, tuple(converted), input_orders, result_orders)


def order_of(tensor: Any) -> tuple[int, ...]:
    """
    The dimensions of a tensor, the outermost in memory first; of size 1 they stay in place.

    All stay where elements are left out or repeated: such a tensor is copied in any order.
    """
    wide = [dim for dim, size in enumerate(tensor.shape) if size > 1]
    ordered = iter(sorted(wide, key=lambda dim: -tensor.stride(dim)))
    order = tuple(next(ordered) if dim in wide else dim for dim in range(tensor.dim()))
    return order if tensor.permute(order).is_contiguous() else tuple(range(tensor.dim()))


def results_of(module: Any) -> tuple[Any, ...]:
    """The nodes whose values a part gives."""
    (output,) = (node for node in module.graph.nodes if node.op == "output")
    return tuple(output.args[0])


class PartOperator:
    """
    An operator of torch that runs the kernels of a part, and torch's operators where they fail.

    `call` is registered under a name that says what it computes, so that no other process takes
    one for another.
    """

    def __init__(self, form: CallForm, module: Any, kernel: CompiledKernel) -> None:
        self.form, self.module, self.kernel = form, _of_any_strides(module), kernel
        self._failed = False
        self.call = self._registered()

    def _registered(self) -> Any:
        text = "".join(code.ugraph for code in self.kernel.artifact.targets)
        digest = sha256(text.encode()).hexdigest()[:8]
        name = f"{self.form.name}_{digest}"
        known = getattr(torch.ops.mirage_mlir, name, None)
        if known is not None:
            return known.default
        inputs = ", ".join(f"Tensor x{number}" for number in range(len(self.form.converted)))
        results = f"({', '.join(['Tensor'] * len(self.kernel.artifact.outputs))})"
        if self._takes_list:
            inputs = "Tensor[] x"
        if len(self.kernel.artifact.outputs) > MOST_TENSORS:
            results = "Tensor[]"
        run = _of_list(self._run) if self._takes_list else self._run
        shapes = _of_list(self._shapes) if self._takes_list else self._shapes
        made = torch.library.custom_op(
            f"{NAMESPACE}::{name}", run, mutates_args=(), schema=f"({inputs}) -> {results}"
        )
        made.register_fake(shapes)
        call = getattr(torch.ops.mirage_mlir, name).default
        _know_to_inductor(call)
        return call

    @property
    def _takes_list(self) -> bool:
        return len(self.form.converted) > MOST_TENSORS

    def arguments(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """What `call` takes for the tensors of a part, in the order of memory."""
        return ([*tensors],) if self._takes_list else tuple(tensors)

    def _run(self, *tensors: Any) -> Any:
        if not self._failed:
            try:
                return self._by_kernels(tensors)
            except Exception as error:
                self._failed = True
                warnings.warn(
                    f"kernels of a part of the model failed, {self.form.name}, and torch's "
                    f"operators take their place: {type(error).__name__}: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
        given = zip(tensors, self.form.input_orders, strict=True)
        results = self.module(*[each.permute(inverse_of(order)) for each, order in given])
        made = zip(results, self.form.result_orders, strict=True)
        return self._one_or_all([each.permute(order).clone(**DENSE) for each, order in made])

    def of_part(self, *tensors: Any) -> Any:
        """What `call` gives for inputs that the part has, which are not in the order of memory."""
        given = zip(tensors, self.form.input_orders, strict=True)
        return self.call(*self.arguments([each.permute(order) for each, order in given]))

    def _by_kernels(self, tensors: Sequence[Any]) -> Any:
        given = [
            tensor if dtype is None else tensor.to(dtype)
            for tensor, dtype in zip(tensors, self.form.converted, strict=True)
        ]
        made: Any = self.kernel(*given, copy=True)
        # A result may be a view of what the kernel stores.
        results = (made,) if isinstance(made, torch.Tensor) else made
        return self._one_or_all([each.contiguous() for each in results])

    def _shapes(self, *tensors: Any) -> Any:
        made = [
            tensors[0].new_empty(spec.shape, dtype=getattr(torch, spec.element_type.array_name))
            for spec in self.kernel.artifact.outputs
        ]
        return self._one_or_all(made)

    def _one_or_all(self, results: Sequence[Any]) -> Any:
        if len(results) > MOST_TENSORS:
            return list(results)
        return results[0] if len(results) == 1 else tuple(results)


def _of_list(function: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
    """The function of one list of what `function` takes."""

    def call(tensors: Sequence[Any]) -> Any:
        return function(*tensors)

    return call


def _of_any_strides(module: Any) -> Any:
    """
    Let a part take inputs as they lie: changes it in place.

    Views are of the strides that were traced. Inductor gives dense tensors, and all parts with one
    program share an operator.
    """
    aten = torch.ops.aten
    for node in module.graph.nodes:
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
    module.recompile()
    return module


def _know_to_inductor(call: Any) -> None:
    """
    Tell inductor that it is to call an operator as it is, on dense tensors.

    It finds that out itself, but torch 2.11 then writes the text of all that the operator reads,
    which doubles with each layer of a model: of 32 layers it does not end.
    """
    lowering: Any = import_module("torch._inductor.lowering")
    lowering.make_fallback(call, layout_constraint=lowering.require_contiguous, warn=False)
