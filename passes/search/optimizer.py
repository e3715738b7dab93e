"""Plans for a function: one kernel found by search, or each operator alone."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail, remark
from mirage_mlir.dialects import kernel
from mirage_mlir.graph.target import Target
from mirage_mlir.passes.search import direct
from mirage_mlir.passes.search.from_ir import Piece, UnsupportedError, read_piece
from mirage_mlir.passes.search.normalise import normalise
from mirage_mlir.passes.search.plan import Plan, PlannedKernel, returned, to_compute
from mirage_mlir.passes.search.to_ir import write_graph
from mirage_mlir.search.axes import RolesError
from mirage_mlir.search.block_graph import BlockGraph
from mirage_mlir.search.engine import Limits, search
from mirage_mlir.search.program import Program
from mirage_mlir.search.report import SearchReport

MAX_OPERATORS = 40
"""Elementary operators (a norm has six) up to which one kernel is searched for: a chain of four
norms has 34 and fits one, searched in 1.5 s."""


class AloneError(Exception):
    """An operator that no kernel was found for."""

    def __init__(self, op: Operation) -> None:
        super().__init__(f"no kernel computes {op.name} alone")
        self.op = op


@dataclass(frozen=True)
class Searched:
    """The graphs for one program, and what was searched for them."""

    graphs: list[BlockGraph]
    report: SearchReport


@dataclass
class Optimizer:
    """Finds the plans for one function; `report` is filled on the way."""

    function: FuncOp
    target: Target
    limits: Limits
    report: SearchReport
    _known: dict[object, Searched] = field(default_factory=dict[object, Searched])
    """Programs that were searched: equal operators are searched once."""

    def plans(self) -> Iterator[tuple[Plan, bool]]:
        """
        The plans, the fastest in the model first, and whether each operator is alone.

        Only in the last it is.
        """
        with self.report.phase("reading"):
            normalise(self.function)
        alone = self._alone_or_decomposed()
        self.report.modelled_alone = alone.seconds
        for plan in self._in_one_kernel():
            if plan.seconds < alone.seconds:
                yield plan, False
        yield alone, True

    # One kernel

    def _in_one_kernel(self) -> Iterator[Plan]:
        wanted = to_compute(returned(self.function))
        if not wanted:
            return
        operators = [op for op in self.function.body.block.ops if op.results]
        if any(isinstance(op, kernel.GraphDefinedOp) for op in operators):
            remark(self.function, "has graphs already: other operators are lowered alone")
            return
        try:
            with self.report.phase("reading"):
                piece = read_piece(inner(operators, wanted), wanted)
        except UnsupportedError as error:
            remark(error.op, f"is not fused with its neighbours: {error}")
            return
        except RolesError as error:
            remark(self.function, f"is too large for one kernel: it {error}")
            return
        if (count := len(list(piece.program.operations()))) > MAX_OPERATORS:
            remark(self.function, f"is too large for one kernel: it has {count} operators")
            return
        searched = self._search(piece.program, self.limits)
        self.report.add(searched.report)
        for graph in searched.graphs:
            yield Plan(self.function, (planned(piece, graph),))

    def _search(self, program: Program, limits: Limits) -> Searched:
        key = program.key()
        if key not in self._known:
            report = SearchReport()
            graphs = search(program, self.target, limits, report)
            self._known[key] = Searched(graphs, report)
        return self._known[key]

    # Each operator alone

    def _alone_or_decomposed(self) -> Plan:
        """Each operator alone; those for which that is impossible are taken apart first."""
        try:
            return self._alone(self.function)
        except AloneError:
            decomposed = decompose(self.function)
        try:
            return self._alone(decomposed)
        except AloneError as error:
            fail(error.op, "has no kernel: its grid would need too many axes or its tiles too much")

    def _alone(self, function: FuncOp) -> Plan:
        kernels: dict[SSAValue, PlannedKernel] = {}
        pending = to_compute(returned(function))
        while pending:
            value = pending.pop()
            if value in kernels:
                continue
            kernels[value] = self._operator_alone(value)
            pending += to_compute(kernels[value].arguments)
        return Plan(function, tuple(kernels.values()))

    def _operator_alone(self, value: SSAValue) -> PlannedKernel:
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, kernel.ConstantOp):
            return direct.constant(op, self.target)
        if isinstance(op, kernel.ConcatOp):
            return direct.concat(op, self.target)
        try:
            piece = read_piece([op], [value])
        except UnsupportedError as error:
            fail(op, str(error))
        # There must be a result, whatever the time limit; one operator takes milliseconds.
        with self.report.phase("operators alone"):
            graphs = self._search(piece.program, Limits()).graphs
        if not graphs:
            raise AloneError(op)
        return planned(piece, graphs[0])


def inner(operators: list[Operation], wanted: list[SSAValue]) -> set[Operation]:
    """The operators to search together: all but views of the function's arguments."""
    computed = {op for op in operators if to_compute(op.results)}
    assert all(value.owner in computed for value in wanted)
    return computed


def planned(piece: Piece, graph: BlockGraph) -> PlannedKernel:
    """A found graph as a kernel of a plan."""
    shapes = [kernel.shape_of(result) for result in piece.results]
    return PlannedKernel(
        piece.arguments,
        piece.results,
        lambda arguments: write_graph(piece.program, graph, arguments, shapes),
        graph.seconds,
        str(graph),
    )


def decompose(function: FuncOp) -> FuncOp:
    """A copy of `function` with norms and softmax taken apart."""
    from mirage_mlir.passes.kernel_decompose import KernelDecomposePass

    module = ModuleOp([function.clone()])
    KernelDecomposePass().apply(Context(), module)
    copy = module.body.block.first_op
    assert isinstance(copy, FuncOp)
    return copy
