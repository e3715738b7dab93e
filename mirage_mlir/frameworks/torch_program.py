"""A call of a function of torch as a program of the kernel dialect, and how it is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.diagnostics import UnsupportedOperation
from mirage_mlir.frameworks.fx_broadcasts import skip_expansions
from mirage_mlir.frameworks.fx_constants import add_masks, constants_of, list_indices
from mirage_mlir.frameworks.fx_graph import FxImporter, only_become_f32, unsupported
from mirage_mlir.frameworks.torch_trace import Trace, TracedFunction, pytree, trace
from mirage_mlir.runtime.element_types import ElementType

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""


@dataclass(frozen=True)
class Source:
    """
    Where a tensor comes from: an argument by its number, a parameter or a variable around the
    function by its name, or what torch made before.
    """

    argument: int | None = None
    parameter: str | None = None
    variable: str | None = None
    constant: Any = None

    def find(self, tensors: Sequence[Any], program: TracedFunction) -> Any:
        """The tensor in this call."""
        if self.argument is not None:
            return tensors[self.argument]
        if self.variable is not None:
            return program.tensors()[self.variable]
        if self.parameter is None:
            return self.constant
        owner, _, name = self.parameter.rpartition(".")
        return getattr(program.get_submodule(owner), name)


@dataclass(frozen=True)
class ImportedResult:
    """One leaf of what a function returns: a result of the kernel, an input, or a value."""

    kernel: int | None = None
    source: Source | None = None
    value: Any = None
    dtype: Any = None


@dataclass(frozen=True)
class ImportedCall:
    """
    A program, and how it is called.

    Args:
        graph: the program in the kernel dialect.
        inputs: what its inputs are, each with the type that masks are converted to, or None.
        fixed: the inputs, by number, that never get a gradient: masks, and what torch made before.
        results: the leaves of what the function returns.
        structure: of what it returns.
        stopped: the line of the first operator that lets no gradient through, or None.
    """

    graph: KernelGraph
    inputs: list[tuple[Source, Any]]
    fixed: tuple[int, ...]
    results: list[ImportedResult]
    structure: Any
    stopped: tuple[str, int, int] | None


def import_call(
    program: TracedFunction, leaves: Sequence[Any], structure: Any, name: str
) -> ImportedCall:
    """
    Trace and import one call.

    Args:
        program: of the function.
        leaves: all arguments, those that are no tensors too.
        structure: of the arguments: `(args, kwargs)`.
        name: of the graph.

    Raises:
        UnsupportedOperation: the function does what the kernel dialect has no operator for.
    """
    traced = trace(program, leaves, structure)
    importer = _CallImporter(traced, KernelGraph(name), program.tensors())
    results = importer.results(traced.values)
    return ImportedCall(
        importer.graph,
        importer.inputs,
        tuple(importer.fixed),
        results,
        traced.structure,
        traced.stopped,
    )


class _CallImporter:
    """Reads an exported program: its inputs, its nodes, then its results."""

    def __init__(self, traced: Trace, graph: KernelGraph, variables: Mapping[str, Any]) -> None:
        self.graph, self.inputs = graph, list[tuple[Source, Any]]()
        self.fixed: list[int] = []
        self._exported, self._names, self._variables = traced.exported, traced.names, variables
        self._importer = FxImporter(graph)
        self._nodes = {node.name: node for node in self._exported.graph.nodes}
        self._sources = self._sources_of_placeholders()
        self._refuse_mutations()
        add_masks(self._exported.graph)
        made = constants_of(self._exported.graph)
        self._sources |= {node: Source(constant=value) for node, value in made.items()}
        self._made = frozenset(made)
        fixed = {node: each.constant for node, each in self._sources.items()}
        list_indices(
            self._exported.graph, {node: each for node, each in fixed.items() if each is not None}
        )
        skip_expansions(self._exported.graph)
        needed = self._needed()
        self._add_inputs([each for each in self._sources if each in needed])
        for node in self._exported.graph.nodes:
            if node in needed and node not in self._sources:
                self._importer.run(node)

    def _sources_of_placeholders(self) -> dict[Any, Source]:
        found: dict[Any, Source] = {}
        arguments = iter(range(len(self._names)))
        for spec in self._exported.graph_signature.input_specs:
            node = self._nodes[spec.arg.name]
            if spec.kind.name == "USER_INPUT":
                found[node] = Source(argument=next(arguments))
            elif spec.kind.name in ("PARAMETER", "BUFFER"):
                found[node] = Source(parameter=spec.target)
            elif spec.target in self._exported.constants:
                found[node] = self._around(self._exported.constants[spec.target])
        return found

    def _around(self, constant: Any) -> Source:
        """Where a tensor that the function did not take, and has not made, comes from."""
        for name, tensor in self._variables.items():
            if tensor is constant or _is_parameter(tensor, constant):
                return Source(variable=name)
        return Source(constant=constant)

    def _refuse_mutations(self) -> None:
        for spec in self._exported.graph_signature.output_specs:
            if "MUTATION" in spec.kind.name:
                node = self._nodes.get(spec.target)
                name = spec.target if node is None else self._name(node)
                changed = self._nodes[spec.arg.name]
                counts = any("batch_norm" in str(each.target) for each in changed.all_input_nodes)
                instead = "call eval() before" if counts else "return the new value instead"
                raise unsupported(
                    changed,
                    f"'{name}' is changed in place, which a kernel does not do: {instead}",
                )

    def _outputs(self) -> list[Any]:
        (output,) = (node for node in self._exported.graph.nodes if node.op == "output")
        return list(output.args[0])

    def _needed(self) -> set[Any]:
        """The nodes that results depend on; not inputs that are returned as they are."""
        found: set[Any] = set()
        waiting = [node for node in self._outputs() if node not in self._sources]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                if node not in self._sources:
                    waiting.extend(node.all_input_nodes)
        return found

    def _add_inputs(self, nodes: Sequence[Any]) -> None:
        # Masks come as numbers, of the type that most is computed in.
        types = [self._importer.own_type(node) for node in nodes]
        masks_as = next((kind for kind in types if kind is not None), ElementType.F32)
        used: set[str] = set()
        for node, kind in zip(nodes, types, strict=True):
            source = self._sources[node]
            name = _unique(self._name(node), used)
            stored = kind or masks_as
            if kind is None and not self._importer.is_mask(node):
                if not only_become_f32(node):
                    raise _integers(node, name)
                stored = ElementType.F32
            converted = None if kind else getattr(torch, stored.array_name)
            constant = source.parameter is not None
            self._importer.add_input(node, stored, name, constant=constant)
            if converted is not None or node in self._made:
                self.fixed.append(len(self.inputs))
            self.inputs.append((source, converted))

    def _name(self, node: Any) -> str:
        source = self._sources[node]
        if source.argument is not None:
            return self._names[source.argument]
        # Of a parameter without our name of its module, which comes first.
        path = "constant" if source.parameter is None else source.parameter.partition(".")[2]
        return path.replace(".", "_")

    def results(self, values: Sequence[Any]) -> list[ImportedResult]:
        """What the function returns: `values`, whose tensors are those of the trace."""
        nodes = iter(self._outputs())
        *_, last, _ = self._exported.graph.nodes
        places: dict[Any, int] = {}
        found: list[ImportedResult] = []
        for value in values:
            if not isinstance(value, torch.Tensor):
                _refuse_hidden(value, last)
                found.append(ImportedResult(value=value))
                continue
            node = next(nodes)
            if node in self._sources:
                found.append(ImportedResult(source=self._sources[node]))
                continue
            if node not in places:
                places[node] = len(places)
                kind = self._importer.own_type(node) or ElementType.F32
                self.graph.mark_output(self._importer.tensor(node, kind))
            found.append(ImportedResult(kernel=places[node], dtype=node.meta["val"].dtype))
        return found


def _is_parameter(tensor: Any, constant: Any) -> bool:
    """Whether a constant of a program is a parameter, of which torch takes a view."""
    parameter = isinstance(tensor, torch.nn.Parameter) and tensor.shape == constant.shape
    return parameter and tensor.data_ptr() == constant.data_ptr() != 0


def _refuse_hidden(value: Any, last: Any) -> None:
    """Refuse a result with tensors where `pytree` does not look: they are those of the trace."""
    kind: str = value.__class__.__qualname__
    inside: Any = getattr(value, "__dict__", {})
    if isinstance(value, set | frozenset):
        inside = [*cast(Any, value)]
    if any(isinstance(each, torch.Tensor) for each in pytree.tree_leaves(inside)):
        message = (
            f"a result is a {kind} with tensors, which is no container that "
            f"torch.utils._pytree knows: return a tuple, a list or a dict"
        )
        raise unsupported(last, message)


def _unique(name: str, used: set[str]) -> str:
    """A name for an input that no other has; a graph takes identifiers."""
    plain = name if name and not name[0].isdigit() else f"input_{name}"
    number = 1
    while (made := plain if number == 1 else f"{plain}_{number}") in used:
        number += 1
    used.add(made)
    return made


def _integers(node: Any, name: str) -> UnsupportedOperation:
    users = sorted({str(user.target) for user in node.users})
    return unsupported(
        next(iter(node.users)),
        f"input '{name}' has element type {node.meta['val'].dtype}, for {', '.join(users)}; "
        f"kernels take float16, bfloat16, float32, masks (bool), and integers that become "
        f"float32: look up embeddings and indices outside",
    )
