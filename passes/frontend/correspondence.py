"""Which values of a program the kernels of a plan compute, by number."""

from collections.abc import Hashable, Sequence
from functools import cached_property

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.equivalence.merging import sorted_items
from mirage_mlir.equivalence.parts import numbered_values
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan
from mirage_mlir.passes.patterns.decompose import take_apart_unsearched


class Correspondence:
    """
    Between a program and a function that the search made of it.

    Args:
        program: as it was written.
        searched: the same, normalised, perhaps cut in pieces and put together again.
        copied: values of `searched` by copies of them.
    """

    def __init__(self, program: FuncOp, searched: FuncOp, copied: dict[SSAValue, SSAValue]) -> None:
        self.program = program
        self.searched = searched
        self.copied = copied

    def parts(self, plan: Plan, writer: FunctionWriter, written: FuncOp) -> list[list[int]]:
        """
        For each kernel of a plan, numbers of values of the program and of what was written for it.

        One of the program and one of what was written alternate. A plan of one kernel has none.
        """
        if len(plan.kernels) == 1:
            return []
        made = {value: number for number, value in enumerate(numbered_values(written))}
        found: list[list[int]] = []
        for planned in plan.kernels:
            part: list[int] = []
            for result in planned.results:
                number = self._numbers.get(self.copied.get(result, result))
                value = writer.values.get(result)
                if number is not None and value is not None and value.type == result.type:
                    part += [number, made[value]]
            if part:
                found.append(part)
        return found

    @cached_property
    def _numbers(self) -> dict[SSAValue, int]:
        """The numbers of values of the program by those of the function that was searched."""
        copied: dict[SSAValue, SSAValue] = {}
        copy = self.program.clone(copied)
        numbers = {copied[v]: n for n, v in enumerate(numbered_values(self.program)) if v in copied}
        take_apart_unsearched(copy)
        normalise(copy)
        known: dict[Hashable, int] = {}
        classes = {_class: value for value, _class in _classes(copy, known).items()}
        found: dict[SSAValue, int] = {}
        for value, each in _classes(self.searched, known).items():
            number = numbers.get(classes[each]) if each in classes else None
            if number is not None and not isinstance(value, BlockArgument):
                found[value] = number
        return found


def _classes(function: FuncOp, known: dict[Hashable, int]) -> dict[SSAValue, int]:
    """For each value a number that values of the same operators have, and no others."""
    found: dict[SSAValue, int] = {}
    for argument in function.body.block.args:
        found[argument] = known.setdefault(argument.index, len(known))
    graphs = 0
    for op in function.body.block.ops:
        graphs += bool(op.regions)
        for place, result in enumerate(op.results):
            key = *_maker(op, graphs), tuple(found[value] for value in op.operands), place
            found[result] = known.setdefault((key, result.type), len(known))
    return found


def _maker(op: Operation, graphs: int) -> Sequence[Hashable]:
    """What an operation is; of graphs only their number is looked at."""
    return op.name, graphs if op.regions else tuple(sorted_items(op))
