"""An ATen graph with kernels in the place of the parts where they pay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import inf
from operator import getitem
from typing import Any

from mirage_mlir.diagnostics import UnsupportedOperation
from mirage_mlir.frameworks.backend.estimate import LEAST_GAIN, inductor_seconds
from mirage_mlir.frameworks.backend.masked_rows import (
    drop_guards,
    guard_masked_rows,
    refuse_masks,
    without_guards,
)
from mirage_mlir.frameworks.backend.nodes import (
    Support,
    is_call,
    is_ours,
    is_product,
    is_view,
    message_of,
    signature_of,
    stem_of,
    viewed,
)
from mirage_mlir.frameworks.backend.operators import (
    DENSE,
    PartOperator,
    PartProgram,
    program_of,
)
from mirage_mlir.frameworks.backend.parts import GraphPart, leave_views, parts_of, split_readers
from mirage_mlir.frameworks.backend.report import ModelExplanation, PartReport, say
from mirage_mlir.frameworks.backend.searches import FoundKernel
from mirage_mlir.frameworks.backend.timing import PartTimes, times_of
from mirage_mlir.frameworks.fx_graph import inverse_of
from mirage_mlir.runtime.artifact import MODELLED
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.targets.target import Target
from mirage_mlir.torch import NAMESPACE

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""

common: Any = import_module("torch._functorch.compile_utils")
fuser: Any = import_module("torch.fx.passes.utils.fuser_utils")
HigherOrder: Any = import_module("torch._ops").HigherOrderOperator
tools: Any = import_module("torch.fx.passes.tools_common")

Search = Callable[[Sequence[PartProgram]], Sequence[FoundKernel]]
"""Finds the kernels of parts, no two of which are alike."""

UNCLEAR = 0.8
"""Parts for which the models promise less of the time of inductor's kernels are taken without being
timed, which takes seconds of inductor's each. Of decode steps on an H100 and an H200 the ratio of
the models was off by less than a tenth."""


@dataclass(frozen=True)
class PartCandidate:
    """
    A part that a program can have.

    Args:
        part: its nodes.
        module: what computes it by torch's operators.
        inputs: the nodes that it reads, in the order in which the program takes them.
        outputs: those of its own that others read, in the order of the results.
        program: in the kernel dialect.
    """

    part: GraphPart
    module: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    program: PartProgram


@dataclass
class GraphCompiler:
    """
    Puts kernels in the place of parts of graphs; parts that are alike are searched once.

    Args:
        search: finds kernels.
        target: the GPU.
        explanation: where to say what became of each sort of part.
        timed_from: times on this machine's GPU decide of parts for which the models promise at
            least this part of the time of inductor's kernels.
    """

    search: Search
    target: Target
    explanation: ModelExplanation = field(default_factory=ModelExplanation)
    timed_from: float = inf
    _known: dict[str, tuple[PartOperator | None, int]] = field(
        default_factory=dict[str, tuple[PartOperator | None, int]]
    )
    """By the key of a program: its operator, and where the table has it."""
    _programs: dict[object, PartProgram | str] = field(
        default_factory=dict[object, PartProgram | str]
    )
    """By what it depends on: a program, or why there is none. Made once for equal layers."""

    def rewrite(
        self, module: Any, constants: frozenset[Any] = frozenset()
    ) -> list[tuple[PartProgram, PartOperator]]:
        """
        Change a graph module in place; what took parts, once for each part.

        Args:
            module: in operators of ATen, functional but for the last copies.
            constants: inputs that do not change between calls.
        """
        support = Support()
        guards = guard_masked_rows(module.graph)
        split_readers(module.graph, support)
        refuse_masks(guards, support)
        parts = parts_of(module.graph, support)
        leave_views(module.graph, parts)
        tried = [self._candidate(module, part, constants) for part in parts]
        candidates = [each for each in tried if each is not None]
        self._search_all(candidates)
        found = [(each, self._operator(each)) for each in candidates]
        taken = [(each, operator) for each, operator in found if operator is not None]
        _replace_all(module, taken)
        drop_guards(module.graph, guards)
        inside = {node for part in parts for node in part.nodes}
        for node in module.graph.nodes:
            left = is_call(node) and node not in inside and not is_ours(node)
            # A result among several is counted where they are made.
            if left and stem_of(node) != "getitem" and (why := support.refusal(node)):
                self._outside(why, 1)
        if taken:
            tools.stable_topological_sort(module)
            module.graph.eliminate_dead_code()
            _merge_equal(module)
            module.graph.lint()
            module.recompile()
        return [(each.program, operator) for each, operator in taken]

    def _outside(self, why: str, number: int) -> None:
        self.explanation.outside[why] = self.explanation.outside.get(why, 0) + number

    def _candidate(
        self, module: Any, part: GraphPart, constants: frozenset[Any]
    ) -> PartCandidate | None:
        """A part with its program; None where it is left, which is noted."""
        if why := part.promises():
            self._left(part, why)
            return None
        taken, inputs, outputs = fuser.fuse_as_graphmodule(
            module, list(part.nodes), "part", always_return_tuple=True
        )
        if not inputs:
            # Where and on which device would its results be? It is a constant.
            self._left(part, "reads no tensor")
            return None
        fixed = frozenset(number for number, node in enumerate(inputs) if node in constants)
        key = signature_of(taken), fixed
        if key not in self._programs:
            self._programs[key] = _program_or_refusal(taken, fixed)
        program = self._programs[key]
        if isinstance(program, str):
            self._left(part, program)
            return None
        return PartCandidate(part, taken, tuple(inputs), tuple(outputs), program)

    def _search_all(self, candidates: Sequence[PartCandidate]) -> None:
        """Know an operator for each sort of candidate, or that there is none."""
        new = {each.program.key: each for each in candidates}
        new = {key: each for key, each in new.items() if key not in self._known}
        if new:
            say(f"{len(new)} sorts of parts, of {len(candidates)} parts")
        found = self.search([each.program for each in new.values()]) if new else ()
        for each, result in zip(new.values(), found, strict=True):
            self._known[each.program.key] = self._judged(each, result)

    def _judged(
        self, candidate: PartCandidate, found: FoundKernel
    ) -> tuple[PartOperator | None, int]:
        """An operator where it pays, and the row of the table that says so, of no part as yet."""
        without = inductor_seconds(candidate.part, self.target)
        names, kernel = names_of(candidate.part), found.kernel
        if kernel is None:
            return None, self._note(
                PartReport(names, 0, False, found.why, None, without, found.seconds)
            )
        times, how = PartTimes(modelled_seconds(kernel), without), ""
        operator = None
        timed = times.ours >= self.timed_from * without
        if timed or _pays(times):
            operator = PartOperator(candidate.program.call_form, candidate.module, kernel)
            if timed:
                times, how = self._measured(candidate, operator, times)
        pays = _pays(times)
        why = f"{times.ours / times.without:.2f} of the time without{how}"
        row = PartReport(names, 0, pays, why, times.ours, times.without, found.seconds)
        return operator if pays else None, self._note(row)

    @staticmethod
    def _measured(
        candidate: PartCandidate, operator: PartOperator, modelled: PartTimes
    ) -> tuple[PartTimes, str]:
        """The times on this GPU, else those of the models; and a word on which they are."""
        try:
            return times_of(without_guards(candidate.module), operator.of_part), ", both measured"
        except RuntimeError as error:
            return modelled, f"; not measured: {str(error).partition(chr(10))[0]}"

    def _operator(self, candidate: PartCandidate) -> PartOperator | None:
        """What takes the place of a part, which is counted."""
        operator, row = self._known[candidate.program.key]
        self._again(row)
        return operator

    def _left(self, part: GraphPart, why: str) -> None:
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


def _pays(times: PartTimes) -> bool:
    return times.ours <= (1 - LEAST_GAIN) * times.without


def _program_or_refusal(module: Any, constants: frozenset[int]) -> PartProgram | str:
    try:
        return program_of(module, constants)
    except UnsupportedOperation as error:
        return message_of(error)


def names_of(part: GraphPart) -> tuple[str, ...]:
    """Of a part's operators, without those that move nothing."""
    return tuple(stem_of(node) for node in part.nodes if not is_view(node))


def modelled_seconds(kernel: CompiledKernel) -> float:
    """The time of a kernel in the cost model, on the GPU that it is for."""
    (code, *_) = kernel.artifact.targets
    return code.resources.get(MODELLED, 0) * 1e-12


def _merge_equal(module: Any) -> None:
    """
    Compute once what a graph computes twice.

    Each layer of a model converts the mask anew, for a kernel of its own: inductor fuses what reads
    so little with nothing. Two draws of random numbers are not one, nor are two calls of operators
    that nobody knows here, or of those on operators.
    """
    targets = {node.target for node in module.graph.nodes if is_call(node)}
    if any(isinstance(target, HigherOrder) for target in targets):
        return
    single = [target.overloadpacket for target in targets if _may_draw(target)]
    before = common.rand_ops
    common.rand_ops = [*before, *single]
    try:
        module.graph = common.fx_graph_cse(module.graph)
    finally:
        common.rand_ops = before


def _may_draw(target: Any) -> bool:
    """Whether two equal calls of an operator may differ."""
    if not isinstance(target, torch._ops.OpOverload):
        return False
    known = target.namespace in ("aten", "prims", NAMESPACE)
    return not known or torch.Tag.nondeterministic_seeded in target.tags


def _replace_all(module: Any, taken: Sequence[tuple[PartCandidate, PartOperator]]) -> None:
    """Let operators make what others read of their parts."""
    made: dict[Any, Any] = {}
    for each, operator in taken:
        # What another part made is made by a new node now.
        inputs = tuple(made.get(node, node) for node in each.inputs)
        made |= _replaced(module.graph, operator, each, inputs)
    for each, _ in reversed(taken):
        for node in reversed(each.part.nodes):
            module.graph.erase_node(node)


def _replaced(
    graph: Any, operator: PartOperator, candidate: PartCandidate, inputs: tuple[Any, ...]
) -> dict[Any, Any]:
    """Let a call make what others read of a part; the new node of each old one."""
    orders, new = candidate.program.result_orders, dict[Any, Any]()
    placed = zip(inputs, candidate.program.input_orders, strict=True)
    # As early as can be: at the end of the graph are copies into the inputs of the model.
    with graph.inserting_before(candidate.part.nodes[0]):
        given = [_as_it_lies(graph, *each) for each in placed]
        made = graph.call_function(operator.call, operator.arguments(given))
        values = [
            node.meta["val"].permute(order)
            for node, order in zip(candidate.outputs, orders, strict=True)
        ]
        made.meta["val"] = values[0] if len(values) == 1 else tuple(values)
        results = [made] if len(values) == 1 else []
        for number, value in enumerate(values if len(values) > 1 else []):
            each = graph.call_function(getitem, (made, number))
            each.meta["val"] = value
            results.append(each)
        for node, order, result in zip(candidate.outputs, orders, results, strict=True):
            # With the dimensions, and so the strides, of the node whose place it takes.
            new[node] = _permuted(graph, result, inverse_of(order))
            node.replace_all_uses_with(new[node])
    return new


def _as_it_lies(graph: Any, node: Any, order: tuple[int, ...]) -> Any:
    """A tensor with its dimensions in the order of memory, dense."""
    placed = _permuted(graph, node, order)
    if placed is node or not _is_elementwise(viewed(node)):
        return placed
    # Inductor lays out anew what it computes itself, and writes it like this where it is told to.
    made = graph.call_function(torch.ops.aten.clone.default, (placed,), DENSE)
    made.meta["val"] = placed.meta["val"].clone(**DENSE)
    return made


def _permuted(graph: Any, node: Any, order: tuple[int, ...]) -> Any:
    """A tensor with its dimensions in another order."""
    if order == tuple(range(len(order))):
        return node
    made = graph.call_function(torch.ops.aten.permute.default, (node, [*order]))
    made.meta["val"] = node.meta["val"].permute(order)
    return made


def _is_elementwise(node: Any) -> bool:
    """Whether inductor generates code for an operator, and calls no library."""
    return is_call(node) and not is_product(node) and not is_ours(node)
