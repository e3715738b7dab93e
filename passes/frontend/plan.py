"""Functions as plans: which kernels compute which values, and functions written from plans."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.index_formulas import makes_formula, with_operands
from mirage_mlir.passes.frontend.strided_views import takes_no_kernel
from mirage_mlir.passes.frontend.to_ir import Kernel
from mirage_mlir.search.multi_kernel.kernel_plan import KernelPlan


@dataclass(frozen=True)
class PlannedKernel:
    """A kernel that computes `results` from `arguments`, values of the function planned for."""

    arguments: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    write: Callable[[Sequence[SSAValue]], Kernel]
    seconds: float
    """The modelled time."""
    structure: str = ""
    """Grid and loop, for people."""
    count: int = 1
    """How many kernels these are: those of a piece that was cut in several are written as one."""
    plan: KernelPlan | None = None
    """What the search found; None for a kernel that only copies."""
    rivals: "tuple[PlannedKernel, ...]" = ()
    """What else was found for a piece, the fastest first."""

    @property
    def careless(self) -> bool:
        """Whether a kernel adds, subtracts or divides values where the function does not do so."""
        return self.plan is not None and self.plan.careless


@dataclass(frozen=True)
class Plan:
    """Kernels that together compute what `function` returns, but for views and its own graphs."""

    function: FuncOp
    kernels: tuple[PlannedKernel, ...]
    saved: float = 0.0
    """Seconds less where kernels share launches, as `with_joint_launches` finds them."""

    @property
    def structure(self) -> str:
        """Grid and loop of each kernel, in the order of the pieces; empty where it is not known."""
        return "; ".join(planned.structure for planned in self.kernels if planned.structure)

    @property
    def careless(self) -> bool:
        """Whether a kernel adds, subtracts or divides values where the function does not do so."""
        return any(planned.careless for planned in self.kernels)

    @property
    def count(self) -> int:
        """How many kernels are launched."""
        return sum(planned.count for planned in self.kernels)

    @property
    def seconds(self) -> float:
        """The modelled time of all of them."""
        return sum(planned.seconds for planned in self.kernels) - self.saved


class FunctionWriter:
    """Writes the function that a plan makes of another; `write` does all of it."""

    def __init__(self, plan: Plan) -> None:
        self.function = plan.function
        self._makers = {result: planned for planned in plan.kernels for result in planned.results}
        self.launched: list[PlannedKernel] = []
        """The kernels in the order in which they run."""
        self._block = Block(arg_types=[arg.type for arg in plan.function.body.block.args])
        self._values: dict[SSAValue, SSAValue] = {}

    @property
    def values(self) -> Mapping[SSAValue, SSAValue]:
        """What was written for each value of the function that is needed."""
        return self._values

    def write(self) -> FuncOp:
        """The function of the same name and type that launches the plan's kernels."""
        for old, new in zip(self.function.body.block.args, self._block.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
            self._values[old] = new
        results = [self._value(value) for value in returned(self.function)]
        last = ReturnOp(*results)
        if self.function.body.block.last_op is not None:
            last.location = self.function.body.block.last_op.location
        self._block.add_op(last)
        written = FuncOp.create(
            properties=dict(self.function.properties),
            attributes=dict(self.function.attributes),
            regions=[Region(self._block)],
        )
        written.location = self.function.location
        return written

    def _value(self, old: SSAValue) -> SSAValue:
        """The new value for an old one, computed when it is first asked for."""
        pending = [old]
        # Not by recursion: a function may launch thousands of kernels one after the other.
        while pending:
            last = pending[-1]
            planned = self._makers.get(last)
            needed = self._operands(last) if planned is None else planned.arguments
            missing = [value for value in needed if value not in self._values]
            if last not in self._values and missing:
                pending += reversed(missing)
                continue
            pending.pop()
            if last in self._values:
                continue
            if planned is not None:
                self._launch(planned)
            else:
                self._copy(last)
        return self._values[old]

    def _operands(self, value: SSAValue) -> Sequence[SSAValue]:
        """What a view, or a graph that was there before, is made from."""
        if not isinstance(op := value.owner, Operation):
            return ()
        own = _own_numbers(op)
        return [operand for operand in op.operands if operand.owner not in own]

    def _launch(self, planned: PlannedKernel) -> None:
        self.launched.append(planned)
        written = planned.write([self._values[argument] for argument in planned.arguments])
        for op in written.operations:
            _locate(op, planned.results[0])
            self._block.add_op(op)
        for old, new in zip(planned.results, written.results, strict=True):
            op = new.owner
            if isinstance(op, Operation) and isinstance(old.owner, Operation):
                op.location = old.owner.location
            new.name_hint = old.name_hint
            self._values[old] = new

    def _copy(self, old: SSAValue) -> None:
        """Copy a view, or a graph that was there before."""
        op = old.owner
        assert isinstance(op, Operation)
        assert stays(op), f"no kernel of the plan makes the result of {op.name}"
        values = dict(self._values)
        for number in _own_numbers(op):
            self._block.add_op(number.clone(values))
        made = op.clone(values)
        self._block.add_op(made)
        self._values.update(zip(op.results, made.results, strict=True))


def _locate(made: Operation, result: SSAValue) -> None:
    """Make `made` and what is inside, which no line of the program says, come from `result`."""
    source = result.owner
    if not isinstance(source, Operation):
        return
    for op in made.walk():
        if op.location == UNKNOWN_LOC:
            op.location = source.location
        for block in [block for region in op.regions for block in region.blocks]:
            for argument in block.args:
                if argument.location == UNKNOWN_LOC:
                    argument.location = source.location


def _own_numbers(op: Operation) -> list[Operation]:
    """
    What only `op` has: numbers of a formula, and what is computed of nothing but these, in order.

    A kernel may write the same numbers, and does not make them for a formula.
    """
    found: dict[Operation, None] = {}
    for operand in op.operands if makes_formula(op) else ():
        owner = operand.owner
        if isinstance(owner, Operation) and not makes_formula(owner):
            found.update(dict.fromkeys(with_operands(owner)))
    return list(found)


def stays(op: Operation) -> bool:
    """Whether `op` needs no kernel: a view, indices, or a kernel already."""
    return isinstance(op, kernel.GraphDefinedOp) or takes_no_kernel(op)


def varying(block: Block) -> set[Operation]:
    """The operations that depend on arguments or indices, and graphs that there are already."""
    values = set[SSAValue](block.args)
    found: set[Operation] = set()
    for op in block.ops:
        if isinstance(op, kernel.IotaOp):
            values.add(op.result)
        elif values.intersection(op.operands) or isinstance(op, kernel.GraphDefinedOp):
            values.update(op.results)
            found.add(op)
    return found


def to_compute(values: Sequence[SSAValue]) -> list[SSAValue]:
    """The results of operators from which `values` follow by what stays; each once, in order."""
    found: dict[SSAValue, None] = {}
    pending = list(reversed(values))
    while pending:
        owner = pending[-1].owner
        value = pending.pop()
        if not isinstance(owner, Operation):
            continue
        if makes_formula(owner):
            continue
        if stays(owner):
            pending += reversed(owner.operands)
        else:
            found.setdefault(value)
    return list(found)


def returned(function: FuncOp) -> tuple[SSAValue, ...]:
    """The values that `function` returns."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return tuple(last.operands)
