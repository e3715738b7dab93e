"""
Whether fusing operators on tiles into thread graphs left a function what it was.

Each thread graph is compared with the operators that it stands for, in a function of their own; all
else must be as it was, but for reductions that moved behind an accumulator of the same kind.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from xdsl.dialects.builtin import f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.driver.fused_operators import FusedOperators, difference, text_of
from mirage_mlir.equivalence.symbolic.blocks import live_operations

Reduction = threadblock.ReduceSumOp | threadblock.ReduceMaxOp

KINDS: Mapping[type[Operation], str] = {
    threadblock.ReduceSumOp: "sum",
    threadblock.ReduceMaxOp: "max",
}
"""The accumulators that each reduction may change places with."""


def check_fusion(before: FuncOp, after: FuncOp) -> None:
    """
    Compare a function of operators on tiles with the same one after `sink-reductions` and
    `fuse-thread-graphs`.

    `sink-reductions` may have run before that.

    Rules that turn operators into scalar code are compared so with what operators mean, each time
    that they are used: by normal forms, or in f64 on inputs of many kinds.

    Raises:
        DiagnosticException: a thread graph computes something else than its operators, or the
            functions differ in anything else.
    """
    known: dict[tuple[str, str], str | None] = {}
    values: dict[SSAValue, SSAValue] = {}
    values.update(zip(after.body.block.args, before.body.block.args, strict=True))
    left, right = _live(before.body.block), _live(after.body.block)
    if len(left) != len(right):
        fail(before, "has another number of operations once its operators are fused")
    for old, new in zip(left, right, strict=True):
        if _made_of(old, old.operands) != _made_of(new, [values[v] for v in new.operands]):
            fail(old, f"became another operation, '{new.name}', when operators were fused")
        if isinstance(old, kernel.GraphDefinedOp) and isinstance(new, kernel.GraphDefinedOp):
            _Graph(old, known).check(new)
        values.update(zip(new.results, old.results, strict=True))


def _made_of(
    op: Operation, operands: Iterable[Hashable], types: Sequence[Attribute] | None = None
) -> Hashable:
    """All that an operation is but for its place; of other types, if they are given."""
    attributes = (*sorted(op.properties.items()), *sorted(op.attributes.items()))
    inside = () if isinstance(op, kernel.GraphDefinedOp) else _inside(op)
    return op.name, attributes, types or tuple(op.result_types), tuple(operands), inside


def _inside(op: Operation) -> tuple[Hashable, ...]:
    """What the blocks of an operation are made of, names of values apart."""
    numbers: dict[SSAValue, int] = {}
    found: list[Hashable] = []
    for block in (block for region in op.regions for block in region.blocks):
        found.append(tuple(argument.type for argument in block.args))
        for value in block.args:
            numbers[value] = len(numbers)
        for inner in block.ops:
            found.append(_made_of(inner, [numbers[value] for value in inner.operands]))
            for value in inner.results:
                numbers[value] = len(numbers)
    return tuple(found)


def _live(block: Block) -> list[Operation]:
    """The operations that returned or stored values need, in their order."""
    live = live_operations(op for op in block.ops if not op.results)
    return [op for op in block.ops if op in live]


def _is_elementwise(op: Operation) -> bool:
    """Whether an operator computes an element from the elements at its place alone."""
    return row_of(op) is not None or isinstance(
        op, threadblock.ConstantOp | threadblock.BroadcastOp
    )


class _Graph:
    """
    The operators on tiles of one graph, by what makes them.

    What is made in the same way has the same number; so has an accumulator of sums, or of maxima,
    and the sum or the maximum of an accumulator of what was reduced.
    """

    def __init__(self, graph: kernel.GraphDefinedOp, known: dict[tuple[str, str], str | None]):
        self.graph = graph
        self.known = known
        """What pairs of functions were found to differ in."""
        self.numbers: dict[Hashable, int] = {}
        self.values: dict[SSAValue, int] = {}
        self.stores: list[Hashable] = []
        self.live = _live(graph.body.block)
        self.unfused: dict[Operation, None] = {}
        """Elementwise operators that no thread graph was found to stand for."""
        self.inside = set[Operation]()
        """Those that thread graphs compute on the way to what they stand for."""
        self.elementwise = set[SSAValue]()
        """What elementwise operators compute."""
        self._number_arguments(graph.body.block)
        for op in self.live:
            operands = [self.values[operand] for operand in op.operands]
            if not op.results:
                self.stores.append(_made_of(op, operands))
            elif isinstance(op, threadblock.AccumulateOp):
                self.values[op.result] = self._accumulated(op, op.value)
            else:
                self._number_results(op, _made_of(op, operands))
            if _is_elementwise(op):
                self.unfused[op] = None
                self.elementwise.update(op.results)

    def _number(self, made: Hashable) -> int:
        return self.numbers.setdefault(made, len(self.numbers))

    def _number_arguments(self, block: Block) -> None:
        for place, argument in enumerate(block.args):
            self.values[argument] = self._number((place, argument.type))

    def _number_results(self, op: Operation, made: Hashable) -> None:
        for place, result in enumerate(op.results):
            self.values[result] = self._number((made, place))

    def _accumulated(self, op: threadblock.AccumulateOp, value: SSAValue) -> int:
        """The number of what an accumulator would make of a value."""
        tile = threadblock.TileType(threadblock.shape_of(value), f32)
        operands = [self.values[each] for each in (value, *op.operands[1:])]
        made = _made_of(op, operands, (tile,)), 0
        reduction = value.owner
        if isinstance(reduction, Reduction) and KINDS[type(reduction)] == op.kind.data:
            inner = self._accumulated(op, reduction.input)
            self.numbers[made] = self._number((_made_of(reduction, [inner], (tile,)), 0))
        return self._number(made)

    def check(self, fused: kernel.GraphDefinedOp) -> None:
        """
        Compare with the graph after its operators were fused.

        Raises:
            DiagnosticException: they differ.
        """
        self._number_arguments(fused.body.block)
        stores: list[Hashable] = []
        for op in _live(fused.body.block):
            made = _made_of(op, [self.values[operand] for operand in op.operands])
            if not op.results:
                stores.append(made)
            elif (made, 0) in self.numbers:
                self._number_results(op, made)
            elif isinstance(op, thread.GraphOp) and len(op.results) == 1:
                self.values[op.results[0]] = self._stands_for(op)
            else:
                fail(self.graph, f"had no '{op.name}' like the one after its operators were fused")
        if stores != self.stores:
            fail(self.graph, "stores something else once its operators are fused")

    def _stands_for(self, fused: thread.GraphOp) -> int:
        """The number of the operator that makes what a thread graph computes."""
        wrong: list[tuple[Operation, str]] = []
        for again in (False, True):
            for members in self._candidates(fused, again=again):
                if (reason := self._difference(members, fused)) is None:
                    self._settle(members)
                    return self.values[members[-1].results[0]]
                wrong.append((members[-1], reason))
        if not wrong:
            fail(self.graph, "has no operators that a thread graph after fusing them stands for")
        root, reason = wrong[0]
        found = f"its code on threads computes something else: {reason}"
        fail(root, f"is wrong once fused: {found}")

    def _settle(self, members: list[Operation]) -> None:
        """Note that a thread graph stands for the last of some operators."""
        self.inside.update(members[:-1])
        # Of a constant each user has one.
        if not isinstance(members[-1], threadblock.ConstantOp):
            del self.unfused[members[-1]]

    def _candidates(self, fused: thread.GraphOp, *, again: bool = False) -> list[list[Operation]]:
        """
        Groups of operators that read what a thread graph reads, the largest ones first.

        They may compute `again` what another thread graph computes, too.
        """
        inputs = {self.values[operand] for operand in fused.operands}
        groups = [
            members
            for op in self.unfused
            if op.results[0].type == fused.results[0].type
            and (members := self._group(op, inputs, again=again)) is not None
        ]
        inner = self.inside.union(*(members[:-1] for members in groups))
        return sorted(groups, key=lambda members: members[-1] in inner)

    def _group(self, root: Operation, inputs: set[int], *, again: bool) -> list[Operation] | None:
        """
        An operator and those that it needs, it alone if not `again`, if they read some tiles and no
        others.
        """
        members, read, pending = {root}, set[int](), [root]
        while pending:
            for value in pending.pop().operands:
                number, op = self.values[value], value.owner
                repeated = again and number not in inputs and value in self.elementwise
                if isinstance(op, Operation) and (op in self.unfused or repeated):
                    if op not in members:
                        members.add(op)
                        pending.append(op)
                elif number in inputs:
                    read.add(number)
                else:
                    return None
        users = {
            use.operation
            for op in members - {root}
            if not isinstance(op, threadblock.ConstantOp)
            for use in op.results[0].uses
        }
        escaping = not again and not members.issuperset(users.intersection(self.live))
        if escaping or read != inputs:
            return None
        return [op for op in self.live if op in members]

    def _difference(self, members: list[Operation], fused: thread.GraphOp) -> str | None:
        """In what a thread graph differs from operators."""
        made = {member.results[0] for member in members}
        read = [value for op in (fused, *members) for value in op.operands if value not in made]
        inputs = {value: self.values[value] for value in read}
        functions = FusedOperators(members, fused, inputs).functions()
        texts = text_of(functions[0]), text_of(functions[1])
        if texts not in self.known:
            self.known[texts] = difference(*functions)
        return self.known[texts]
