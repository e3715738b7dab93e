"""Parts of graphs as registered operators, each with kernels for it, or torch's own operators."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import Any

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.frameworks.fx_graph import FxImporter, unsupported
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.torch import NAMESPACE

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""


@dataclass(frozen=True)
class PartProgram:
    """
    The program of a part.

    Args:
        graph: in the kernel dialect.
        converted: for each input the type that a mask is converted to, or None.
    """

    graph: KernelGraph
    converted: tuple[Any, ...]

    @property
    def key(self) -> str:
        """What is alike in parts that are."""
        masks = ", ".join(map(str, self.converted))
        return sha256(f"{self.graph.to_module()}{masks}".encode()).hexdigest()[:16]


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
    for number, (node, kind) in enumerate(zip(inputs, types, strict=True)):
        if kind is None and not importer.is_mask(node):
            raise unsupported(node, "integers are no inputs of kernels")
        constant = number in constants
        importer.add_input(node, kind or masks_as, f"x{number}", constant=constant)
        converted.append(None if kind else getattr(torch, masks_as.array_name))
    for node in module.graph.nodes:
        importer.run(node)
    for node in results_of(module):
        kind = importer.own_type(node)
        assert kind is not None
        importer.graph.mark_output(importer.tensor(node, kind))
    return PartProgram(importer.graph, tuple(converted))


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

    def __init__(self, program: PartProgram, module: Any, kernel: CompiledKernel) -> None:
        self._program, self._module, self.kernel = program, module, kernel
        self._failed = False
        self.call = self._registered()

    def _registered(self) -> Any:
        text = "".join(code.ugraph for code in self.kernel.artifact.targets)
        name = f"part_{self._program.key}_{sha256(text.encode()).hexdigest()[:8]}"
        known = getattr(torch.ops.mirage_mlir, name, None)
        if known is not None:
            return known.default
        inputs = ", ".join(f"Tensor x{number}" for number in range(len(self._program.converted)))
        results = ["Tensor"] * len(self.kernel.artifact.outputs)
        schema = f"({inputs}) -> ({', '.join(results)})"
        made = torch.library.custom_op(
            f"{NAMESPACE}::{name}", self._run, mutates_args=(), schema=schema
        )
        made.register_fake(self._shapes)
        return getattr(torch.ops.mirage_mlir, name).default

    def _run(self, *tensors: Any) -> Any:
        if not self._failed:
            try:
                return self._by_kernels(tensors)
            except Exception as error:
                self._failed = True
                warnings.warn(
                    f"kernels of a part of the model failed, and torch's operators take their "
                    f"place: {type(error).__name__}: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return self._one_or_all([each.clone() for each in self._module(*tensors)])

    def _by_kernels(self, tensors: Sequence[Any]) -> Any:
        given = [
            (tensor if dtype is None else tensor.to(dtype)).contiguous()
            for tensor, dtype in zip(tensors, self._program.converted, strict=True)
        ]
        return self.kernel(*given)

    def _shapes(self, *tensors: Any) -> Any:
        made = [
            tensors[0].new_empty(spec.shape, dtype=getattr(torch, spec.element_type.array_name))
            for spec in self.kernel.artifact.outputs
        ]
        return self._one_or_all(made)

    def _one_or_all(self, results: Sequence[Any]) -> Any:
        return results[0] if len(results) == 1 else tuple(results)
