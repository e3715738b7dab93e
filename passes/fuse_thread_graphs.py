"""The `fuse-thread-graphs` pass."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.transforms.dead_code_elimination import dce

from mirage_mlir.decisions.sinking import is_computed_behind
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.threadblock import Stage
from mirage_mlir.operators.elementwise import Cost
from mirage_mlir.operators.table import ROWS
from mirage_mlir.passes.analysis.dependences import leading_to
from mirage_mlir.passes.analysis.row_sums import finds_rows_together
from mirage_mlir.passes.analysis.tile_attributes import sums_across
from mirage_mlir.passes.patterns.scalar import RULES, apply_rule


def _broadcasts_to(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether a tile of `shape` broadcasts to the shape `to`."""
    padded = (1,) * (len(to) - len(shape)) + shape
    return len(padded) == len(to) and all(a in (1, b) for a, b in zip(padded, to, strict=True))


@dataclass
class ThreadGroup:
    """Operations that become one thread graph; only the result of `root` is used outside."""

    root: Operation
    members: list[Operation]
    shape: tuple[int, ...]
    stage: Stage


def _accepts(
    group: ThreadGroup, op: Operation, stages: dict[SSAValue, Stage], *, together: bool
) -> bool:
    """Whether `op` may be computed again for each element of `group`."""
    if not _broadcasts_to(threadblock.shape_of(op.results[0]), group.shape):
        return False
    # A value of another stage is computed once there, not in each iteration of the loop. Without a
    # loop it would wait for sums of rows over a cluster.
    stage = stages[op.results[0]]
    same = together or stage == group.stage or isinstance(op, threadblock.ConstantOp)
    return same or (
        stage == Stage.INVARIANT and group.stage == Stage.POST and _is_as_cheap(group, op)
    )


def _is_as_cheap(group: ThreadGroup, op: Operation) -> bool:
    """
    Whether what is computed before the loop may as well be behind it, where it needs no place in
    shared memory meanwhile: a residual and a bias, say, and whatever would take much of it.
    """
    whole = threadblock.shape_of(op.results[0]) == group.shape
    # What is not large threads compute while they wait for the first tiles, unless it is cheap.
    large = is_computed_behind(prod(group.shape))
    return whole and _is_of_loads(op, _is_elementwise if large else is_cheap)


def _is_of_loads(op: Operation, accepted: Callable[[Operation], bool]) -> bool:
    """Whether accepted operations alone make `op` of what is loaded: all can be read later."""
    made = [value.owner for value in op.operands]
    return accepted(op) and all(
        isinstance(each, threadblock.LoadOp | threadblock.ConstantOp)
        or (isinstance(each, Operation) and _is_of_loads(each, accepted))
        for each in made
    )


def _is_elementwise(op: Operation) -> bool:
    return type(op) in RULES


def find_groups(graph: kernel.GraphDefinedOp) -> list[ThreadGroup]:
    """
    The largest elementwise groups of `graph`, in program order of their roots.

    An operation joins the group of its users when they are all in one group: then no path
    leaves the group and comes back, and nothing inside is needed outside.
    """
    stages, together = threadblock.stages(graph), finds_rows_together(graph)
    group_of: dict[Operation, ThreadGroup] = {}
    groups: list[ThreadGroup] = []
    for op in reversed(graph.body.block.ops):
        if type(op) not in RULES:
            continue
        users = [group_of.get(use.operation) for use in op.results[0].uses]
        first = users[0] if users else None
        if (
            first
            and all(user is first for user in users)
            and _accepts(first, op, stages, together=together)
        ):
            group = first
        else:
            group = ThreadGroup(op, [], threadblock.shape_of(op.results[0]), stages[op.results[0]])
            groups.append(group)
        group.members.insert(0, op)
        group_of[op] = group
    return groups[::-1]


def build_thread_graph(group: ThreadGroup) -> thread.GraphOp:
    """The thread graph that computes `group.root`, in front of it."""
    inside = {member.results[0] for member in group.members}
    inputs: list[SSAValue] = []
    for member in group.members:
        inputs += [v for v in member.operands if v not in inside and v not in inputs]
    block = Block(arg_types=[threadblock.tile_type(value).element_type for value in inputs])
    builder = Builder(InsertPoint.at_end(block))
    scalars: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for member in group.members:
        arguments = [scalars[value] for value in member.operands]
        scalars[member.results[0]] = apply_rule(builder, member, arguments)
    builder.insert(thread.StoreOp(scalars[group.root.results[0]]))
    graph = thread.GraphOp(inputs, [group.root.results[0].type], Region(block))
    graph.location = group.root.location
    return graph


def repeat_constants(graph: kernel.GraphDefinedOp) -> None:
    """Give each user of a constant its own copy, so that the copy can join the user's group."""
    for op in list(graph.body.block.ops):
        if isinstance(op, threadblock.ConstantOp):
            for use in list(op.result.uses)[1:]:
                copy = op.clone()
                graph.body.block.insert_op_before(copy, use.operation)
                use.operation.operands[use.index] = copy.result


def is_cheap(op: Operation) -> bool:
    """Whether `op` is elementwise and takes one instruction for each element."""
    row = ROWS.get(op.name.partition(".")[2])
    return type(op) in RULES and row is not None and row.cost is Cost.ONE


def repeat_behind_sums(graph: kernel.GraphDefinedOp) -> None:
    """
    Compute cheap operations again behind the sums that they lead to, over the blocks of a cluster.

    Else their results would wait for the sums in registers, as f32; what was loaded waits in shared
    memory.
    """
    if not finds_rows_together(graph):
        return
    ops = list(graph.body.block.ops)
    before = {*leading_to(ops, {*sums_across(graph)})}
    for op in reversed(ops):
        if op not in before or not is_cheap(op) or threadblock.shape_of(op.results[0])[-1] == 1:
            continue
        later = [use for use in op.results[0].uses if use.operation not in before]
        if later:
            copy = op.clone()
            users = {use.operation for use in later}
            first = next(each for each in graph.body.block.ops if each in users)
            graph.body.block.insert_op_before(copy, first)
            for use in later:
                use.operation.operands[use.index] = copy.results[0]


def fuse(graph: kernel.GraphDefinedOp) -> None:
    """Replace the elementwise operations of `graph` by thread graphs."""
    repeat_constants(graph)
    repeat_behind_sums(graph)
    for group in find_groups(graph):
        fused = build_thread_graph(group)
        block = graph.body.block
        block.insert_op_before(fused, group.root)
        group.root.results[0].replace_all_uses_with(fused.results[0])
        for member in reversed(group.members):
            member.detach()
            member.erase()


@dataclass(frozen=True)
class FuseThreadGraphsPass(ModulePass):
    """
    Turn each elementwise chain of a threadblock graph into one thread graph.

    Input:
        %e = threadblock.exp %x : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>
        %y = threadblock.add %e, %x : (...) -> !threadblock.tile<16x64xf32>

    Output:
        %y = thread.graph ins(%x) {
        ^bb0(%0: f32):
          %1 = math.exp %0 : f32
          %2 = arith.addf %1, %0 : f32
          thread.store %2 : f32
        } : (!threadblock.tile<16x64xf32>) -> !threadblock.tile<16x64xf32>

    Elementwise work on row scalars is repeated by each thread that needs its result, which is
    cheaper than an exchange through shared memory. A value with users in two thread graphs is
    computed once, by a thread graph of its own; again only where it would wait in registers for
    sums over the blocks of a cluster. What is loaded, combined by cheap operations, and used behind
    the loop alone is combined there.
    """

    name = "fuse-thread-graphs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every `kernel.graph_defined` of the module."""
        dce(op)
        for graph in [g for g in op.walk() if isinstance(g, kernel.GraphDefinedOp)]:
            fuse(graph)
