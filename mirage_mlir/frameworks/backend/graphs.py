"""An ATen graph with kernels in the place of the parts where they pay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from operator import getitem
from time import perf_counter
from typing import Any

from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.diagnostics import UnsupportedOperation
from mirage_mlir.frameworks.backend.estimate import LEAST_GAIN, inductor_seconds
from mirage_mlir.frameworks.backend.nodes import (
    Support,
    has_fixed_shapes,
    is_call,
    is_ours,
    is_view,
    message_of,
    stem_of,
)
from mirage_mlir.frameworks.backend.operators import (
    PartOperator,
    PartProgram,
    program_of,
)
from mirage_mlir.frameworks.backend.parts import Part, parts_of, split_readers
from mirage_mlir.frameworks.backend.report import Explanation, PartReport
from mirage_mlir.runtime.artifact import MODELLED
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.targets.target import Target

fuser: Any = import_module("torch.fx.passes.utils.fuser_utils")
tools: Any = import_module("torch.fx.passes.tools_common")

Search = Callable[[PartProgram], CompiledKernel | None]
"""Finds the kernels of a part; None where none are to be searched."""


@dataclass
class GraphCompiler:
    """
    Puts kernels in the place of parts of graphs; parts that are alike are searched once.

    Args:
        search: finds kernels.
        target: the GPU.
        explanation: where to say what became of each sort of part.
    """

    search: Search
    target: Target
    explanation: Explanation = field(default_factory=Explanation)
    _known: dict[str, tuple[PartOperator | None, int]] = field(
        default_factory=dict[str, tuple[PartOperator | None, int]]
    )
    """By the key of a program: its operator, and where the table has it."""

    def rewrite(self, module: Any, constants: frozenset[Any] = frozenset()) -> int:
        """
        Change a graph module in place; how many parts kernels took.

        Args:
            module: in operators of ATen, functional but for the last copies.
            constants: inputs that do not change between calls.
        """
        if not has_fixed_shapes(module.graph.nodes):
            self._outside("its shapes are not fixed", 1)
            return 0
        support = Support()
        split_readers(module.graph, support)
        parts = parts_of(module.graph, support)
        taken = sum(self._take(module, part, constants) for part in parts)
        inside = {node for part in parts for node in part.nodes}
        for node in module.graph.nodes:
            left = is_call(node) and node not in inside and not is_ours(node)
            if left and (why := support.refusal(node)):
                self._outside(why, 1)
        if taken:
            tools.stable_topological_sort(module)
            module.graph.eliminate_dead_code()
            module.graph.lint()
            module.recompile()
        return taken

    def _outside(self, why: str, number: int) -> None:
        self.explanation.outside[why] = self.explanation.outside.get(why, 0) + number

    def _take(self, module: Any, part: Part, constants: frozenset[Any]) -> bool:
        if why := part.promises():
            self._left(part, why)
            return False
        taken, inputs, outputs = fuser.fuse_as_graphmodule(
            module, list(part.nodes), "part", always_return_tuple=True
        )
        fixed = frozenset(number for number, node in enumerate(inputs) if node in constants)
        try:
            program = program_of(taken, fixed)
        except UnsupportedOperation as error:
            self._left(part, message_of(error))
            return False
        operator = self._operator(program, part, taken)
        if operator is not None:
            _replace(module, operator.call, part, inputs, outputs)
            for node in reversed(part.nodes):
                module.graph.erase_node(node)
        return operator is not None

    def _operator(self, program: PartProgram, part: Part, module: Any) -> PartOperator | None:
        """The operator of a part, that of one that is alike where there is one."""
        key = program.key
        if key in self._known:
            operator, row = self._known[key]
            self._again(row)
            return operator
        start = perf_counter()
        without = inductor_seconds(part, self.target)
        try:
            kernel = self.search(program)
        except DiagnosticException as error:
            kernel, why = None, str(error).partition("\n")[0]
        else:
            why = "no kernels are known, and none were searched" if kernel is None else ""
        seconds = None if kernel is None else modelled_seconds(kernel)
        if seconds is not None:
            why = f"{seconds / without:.2f} of the time without"
        pays = seconds is not None and seconds <= (1 - LEAST_GAIN) * without
        operator = PartOperator(program, module, kernel) if kernel is not None and pays else None
        row = PartReport(
            names_of(part), 1, operator is not None, why, seconds, without, perf_counter() - start
        )
        self._known[key] = operator, self._note(row)
        return operator

    def _left(self, part: Part, why: str) -> None:
        row = PartReport(names_of(part), 1, False, why)
        for number, known in enumerate(self.explanation.parts):
            if (known.operators, known.why) == (row.operators, row.why):
                self._again(number)
                return
        self._note(row)

    def _note(self, row: PartReport) -> int:
        self.explanation.add(row)
        return len(self.explanation.parts) - 1

    def _again(self, number: int) -> None:
        self.explanation.repeat(number)


def names_of(part: Part) -> tuple[str, ...]:
    """Of a part's operators, without those that move nothing."""
    return tuple(stem_of(node) for node in part.nodes if not is_view(node))


def modelled_seconds(kernel: CompiledKernel) -> float:
    """The time of a kernel in the cost model, on the GPU that it is for."""
    (code, *_) = kernel.artifact.targets
    return code.resources.get(MODELLED, 0) * 1e-12


def _replace(
    module: Any, call: Any, part: Part, inputs: Sequence[Any], outputs: Sequence[Any]
) -> None:
    """Let a call of an operator make what others read of a part."""
    graph = module.graph
    # As early as can be: at the end of the graph are copies into the inputs of the model.
    with graph.inserting_before(part.nodes[0]):
        made = graph.call_function(call, tuple(inputs))
        values = [node.meta["val"] for node in outputs]
        made.meta["val"] = values[0] if len(values) == 1 else tuple(values)
        results = [made] if len(values) == 1 else []
        for number, value in enumerate(values if len(values) > 1 else []):
            each = graph.call_function(getitem, (made, number))
            each.meta["val"] = value
            results.append(each)
    for node, result in zip(outputs, results, strict=True):
        node.replace_all_uses_with(result)
