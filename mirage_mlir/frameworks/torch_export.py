"""A call of a function of torch as a program: exported, and imported into the kernel dialect."""

import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.diagnostics import Diagnostic, Severity, UnsupportedOperation
from mirage_mlir.frameworks.fx_call import HANDLERS
from mirage_mlir.frameworks.fx_graph import FxImporter, unsupported
from mirage_mlir.frameworks.user_lines import LINE, users_line
from mirage_mlir.runtime.element_types import ElementType

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

pytree: Any = import_module("torch.utils._pytree")
symbolic_shapes: Any = import_module("torch.fx.experimental.symbolic_shapes")


class Program(torch.nn.Module):
    """
    A function as a module on the tensors of one call: parameters of modules that it uses are its.

    Args:
        function: a module, a method of one, or a function, which may use modules around it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        torch.nn.Module.__init__(self)
        self._function = (function,)
        self._call: Callable[..., Any] | None = None
        for number, module in enumerate(_modules_of(function)):
            self.add_module(f"module{number}", module)

    def bind(self, call: Callable[..., Any]) -> None:
        """Say what `forward` does: `call` takes the tensors of the call."""
        self._call = call

    def forward(self, *tensors: Any) -> Any:
        """The tensors that the function returns."""
        assert self._call is not None
        return self._call(*tensors)

    def state(self) -> dict[str, Any]:
        """Parameters and buffers, as they are now."""
        return {**dict(self.named_parameters()), **dict(self.named_buffers())}


def _modules_of(function: Callable[..., Any]) -> list[Any]:
    owner = getattr(function, "__self__", function)
    if isinstance(owner, torch.nn.Module):
        return [owner]
    if not inspect.isfunction(function):
        return []
    around = inspect.getclosurevars(function)
    found = (*around.nonlocals.values(), *around.globals.values())
    return [each for each in found if isinstance(each, torch.nn.Module)]


@dataclass(frozen=True)
class Source:
    """Where a tensor comes from: an argument by its number, a parameter by its name, or neither."""

    argument: int | None = None
    parameter: str | None = None
    constant: Any = None

    def find(self, tensors: Sequence[Any], program: Program) -> Any:
        """The tensor in this call."""
        if self.argument is not None:
            return tensors[self.argument]
        if self.parameter is None:
            return self.constant
        owner, _, name = self.parameter.rpartition(".")
        return getattr(program.get_submodule(owner), name)


@dataclass(frozen=True)
class Result:
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
        results: the leaves of what the function returns.
        structure: of what it returns.
    """

    graph: KernelGraph
    inputs: list[tuple[Source, Any]]
    results: list[Result]
    structure: Any


def import_call(program: Program, leaves: Sequence[Any], structure: Any, name: str) -> ImportedCall:
    """
    Export and import one call.

    Args:
        program: of the function.
        leaves: all arguments, those that are no tensors too.
        structure: of the arguments: `(args, kwargs)`.
        name: of the graph.

    Raises:
        UnsupportedOperation: the function does what the kernel dialect has no operator for.
    """
    returned: list[Any] = []

    def call(*tensors: Any) -> Any:
        given = iter(tensors)
        filled = [next(given) if isinstance(each, torch.Tensor) else each for each in leaves]
        args, kwargs = pytree.tree_unflatten(filled, structure)
        (function,) = program._function
        with _Lines():
            returned[:] = pytree.tree_flatten(function(*args, **kwargs))
        return tuple(each for each in returned[0] if isinstance(each, torch.Tensor))

    program.bind(call)
    # Each an object of its own: where two are one in this call, they may differ in the next one.
    tensors = tuple(each.detach() for each in leaves if isinstance(each, torch.Tensor))
    exported = _export(program, tensors)
    values, out_structure = returned
    importer = _CallImporter(
        exported, KernelGraph(name), argument_names(program, leaves, structure)
    )
    results = importer.results(values)
    return ImportedCall(importer.graph, importer.inputs, results, out_structure)


class _Lines(torch.overrides.TorchFunctionMode):
    """Notes the user's line at each operator of a trace; torch keeps those in `forward` alone."""

    last = ("-", 0, 0)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        _Lines.last = users_line()
        with torch.fx.traceback.annotate({LINE: _Lines.last}):
            return func(*args, **(kwargs or {}))


def _export(program: Program, tensors: tuple[Any, ...]) -> Any:
    """The program in operators that have handlers, as far as torch takes others apart."""
    with warnings.catch_warnings(), torch.fx.traceback.preserve_node_meta():
        # torch copies its own structures in a way that it deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            exported = torch.export.export(program, tensors, strict=False)
        except symbolic_shapes.GuardOnDataDependentSymNode as error:
            message = "the function decides by the values of tensors, which a program does not know"
            raise UnsupportedOperation(Diagnostic(Severity.ERROR, message, *_Lines.last)) from error
        return exported.run_decompositions({**_decompositions()})


@cache
def _decompositions() -> dict[Any, Any]:
    """What torch takes apart: all that it can, but operators that have handlers."""
    table = torch.export.default_decompositions().materialize()
    for name in HANDLERS:
        packet, _, overload = name.partition(".")
        if overload:
            table.pop(getattr(getattr(torch.ops.aten, packet), overload), None)
    return table


def argument_names(program: Program, leaves: Sequence[Any], structure: Any) -> list[str]:
    """What the tensors among the arguments are called, for messages."""
    (function,) = program._function
    args, kwargs = pytree.tree_unflatten(list(leaves), structure)
    target = function.forward if isinstance(function, torch.nn.Module) else function
    try:
        given = dict(inspect.signature(target).bind(*args, **kwargs).arguments)
    except ValueError:
        given = {"args": args, **kwargs}
    named, _ = pytree.tree_flatten_with_path(given)
    return [
        re.sub(r"\W+", "_", pytree.keystr(path)).strip("_")
        for path, leaf in named
        if isinstance(leaf, torch.Tensor)
    ]


class _CallImporter:
    """Reads an exported program: its inputs, its nodes, then its results."""

    def __init__(self, exported: Any, graph: KernelGraph, names: Sequence[str]) -> None:
        self.graph, self.inputs = graph, list[tuple[Source, Any]]()
        self._exported, self._names = exported, names
        self._importer = FxImporter(graph)
        self._nodes = {node.name: node for node in exported.graph.nodes}
        self._sources = self._sources_of_placeholders()
        self._refuse_mutations()
        needed = self._needed()
        self._add_inputs([each for each in self._sources if each in needed])
        for node in exported.graph.nodes:
            if node in needed:
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
            else:
                found[node] = Source(constant=self._exported.constants[spec.target])
        return found

    def _refuse_mutations(self) -> None:
        for spec in self._exported.graph_signature.output_specs:
            if "MUTATION" in spec.kind.name:
                node = self._nodes.get(spec.target)
                name = spec.target if node is None else self._name(node)
                raise unsupported(
                    self._nodes[spec.arg.name],
                    f"'{name}' is changed in place, which a kernel does not do: return the "
                    f"new value instead",
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
            if kind is None and not self._importer.is_mask(node):
                raise _integers(node, name)
            converted = None if kind else getattr(torch, masks_as.array_name)
            constant = source.parameter is not None
            self._importer.add_input(node, kind or masks_as, name, constant=constant)
            self.inputs.append((source, converted))

    def _name(self, node: Any) -> str:
        source = self._sources[node]
        if source.argument is not None:
            return self._names[source.argument]
        # Of a parameter without our name of its module, which comes first.
        path = "constant" if source.parameter is None else source.parameter.partition(".")[2]
        return path.replace(".", "_")

    def results(self, values: Sequence[Any]) -> list[Result]:
        """What the function returns: `values`, whose tensors are those of the trace."""
        nodes = iter(self._outputs())
        places: dict[Any, int] = {}
        found: list[Result] = []
        for value in values:
            if not isinstance(value, torch.Tensor):
                found.append(Result(value=value))
                continue
            node = next(nodes)
            if node in self._sources:
                found.append(Result(source=self._sources[node]))
                continue
            if node not in places:
                places[node] = len(places)
                kind = self._importer.own_type(node) or ElementType.F32
                self.graph.mark_output(self._importer.tensor(node, kind))
            found.append(Result(kernel=places[node], dtype=node.meta["val"].dtype))
        return found


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
        f"kernels take float16, bfloat16, float32 and masks (bool): look up embeddings and indices "
        f"outside",
    )
