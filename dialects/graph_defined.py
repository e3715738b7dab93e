"""`kernel.graph_defined`: the operator of the `kernel` dialect that a threadblock graph defines."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure

from mirage_mlir.dialects.bases import verify_static
from mirage_mlir.dialects.common import I64ArrayConstr, i64_array
from mirage_mlir.dialects.kernel_bases import TensorConstr
from mirage_mlir.dialects.loop_bounds import LoopBounds, LoopBoundsAttr, Unmasked, UnmaskedAttr
from mirage_mlir.dialects.schedule import (
    BlockMemory,
    MemoryAttr,
    Overlap,
    OverlapAttr,
    Schedule,
    ScheduleAttr,
)


@irdl_op_definition
class GraphDefinedOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    One kernel: the threadblock graph in `body`, run by each block of a grid.

    `grid` has the blocks along x, y, z; `loop` the iterations of up to two nested loops, outermost
    first; `cluster` the blocks along each axis that may see each other's shared memory. `bounds`,
    `unmasked`, `schedule`, `memory` and `overlap` are decisions of the passes of the lowering. The
    block arguments are the inputs; `threadblock.store` number i writes result i.

    Where a grid axis of G blocks and loops with F iterations in all cut the same dimension of a
    tensor, block b has tile number b * F + i in iteration i: tiles that follow each other (block
    distribution). With `cyclic` it has tile number i * G + b, in all loads and stores of the graph:
    the blocks take turns (cyclic distribution), and what they read at one time lies side by side.

        %o = kernel.graph_defined ins(%x) grid [4] loop [8] {
        ^bb0(%a: tensor<64x64xf16>):
          ...
        } : (tensor<64x64xf16>) -> tensor<64x1xf32>
    """

    name = "kernel.graph_defined"

    inputs = var_operand_def(TensorConstr)
    grid = prop_def(I64ArrayConstr)
    cluster = opt_prop_def(I64ArrayConstr)
    loop = opt_prop_def(I64ArrayConstr)
    cyclic = opt_prop_def(UnitAttr)
    bounds_attr = opt_prop_def(LoopBoundsAttr, prop_name="bounds")
    unmasked_attr = opt_prop_def(UnmaskedAttr, prop_name="unmasked")
    schedule_attr = opt_prop_def(ScheduleAttr, prop_name="schedule")
    memory_attr = opt_prop_def(MemoryAttr, prop_name="memory")
    overlap_attr = opt_prop_def(OverlapAttr, prop_name="overlap")
    body = region_def("single_block")
    outputs = var_result_def(TensorConstr)

    traits = traits_def(Pure(), NoTerminator(), IsolatedFromAbove())
    assembly_format = (
        "`ins` `(` $inputs `)` `grid` $grid (`cluster` $cluster^)? (`loop` $loop^)? "
        "(`cyclic` $cyclic^)? (`bounds` $bounds^)? (`unmasked` $unmasked^)? "
        "(`schedule` $schedule^)? (`memory` $memory^)? (`overlap` $overlap^)? "
        "attr-dict-with-keyword $body `:` functional-type($inputs, $outputs)"
    )

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        grid: Sequence[int],
        loop: Sequence[int],
        result_types: Sequence[Attribute],
        body: Region,
        cluster: Sequence[int] = (),
        *,
        cyclic: bool = False,
    ):
        properties: dict[str, Attribute] = {"grid": i64_array(grid)}
        if loop:
            properties["loop"] = i64_array(loop)
        if cluster:
            properties["cluster"] = i64_array(cluster)
        if cyclic:
            properties["cyclic"] = UnitAttr()
        super().__init__(
            operands=[inputs], properties=properties, result_types=[result_types], regions=[body]
        )

    @property
    def grid_sizes(self) -> tuple[int, ...]:
        """The blocks along each axis of the grid."""
        return self.grid.get_values()

    @property
    def cluster_sizes(self) -> tuple[int, ...]:
        """The blocks of a cluster along each axis of the grid; empty without clusters."""
        return () if self.cluster is None else self.cluster.get_values()

    @property
    def loop_sizes(self) -> tuple[int, ...]:
        """The iterations of each loop, outermost first; empty without a loop."""
        return () if self.loop is None else self.loop.get_values()

    @property
    def is_cyclic(self) -> bool:
        """Whether blocks take turns with the tiles of a dimension that loops cut, too."""
        return self.cyclic is not None

    @property
    def bounds(self) -> LoopBounds | None:
        """Which iterations each block runs; None for all."""
        return None if self.bounds_attr is None else self.bounds_attr.bounds

    @bounds.setter
    def bounds(self, bounds: LoopBounds) -> None:
        self.bounds_attr = LoopBoundsAttr.of(bounds)

    @property
    def unmasked(self) -> Unmasked | None:
        """The iterations in which masks of indices hide nothing, if that is known of some."""
        return None if self.unmasked_attr is None else self.unmasked_attr.unmasked

    @unmasked.setter
    def unmasked(self, unmasked: Unmasked) -> None:
        self.unmasked_attr = UnmaskedAttr.of(unmasked)

    @property
    def launched_axes(self) -> list[int]:
        """The grid's axes as launched: that of the lengths of loops stands behind another one."""
        axes = list(range(len(self.grid_sizes)))
        if self.bounds is None or not self.schedule.longest_first:
            return axes
        bounded = self.bounds.axis
        others = [axis for axis in axes if axis != bounded]
        return [*others[:1], bounded, *others[1:]]

    @property
    def schedule(self) -> Schedule:
        """How a block runs the kernel, as far as passes have decided that."""
        return Schedule() if self.schedule_attr is None else self.schedule_attr.schedule

    @schedule.setter
    def schedule(self, schedule: Schedule) -> None:
        self.schedule_attr = ScheduleAttr.of(schedule)

    @property
    def memory(self) -> BlockMemory:
        """Where the kernel's memory lies, once `plan-memory` has placed it."""
        return BlockMemory() if self.memory_attr is None else self.memory_attr.plan

    @memory.setter
    def memory(self, plan: BlockMemory) -> None:
        self.memory_attr = MemoryAttr.of(plan)

    @property
    def overlap(self) -> Overlap:
        """How the launch overlaps with the previous grid, once `overlap-launches` has decided."""
        return Overlap() if self.overlap_attr is None else self.overlap_attr.overlap

    @overlap.setter
    def overlap(self, overlap: Overlap) -> None:
        self.overlap_attr = OverlapAttr.of(overlap)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from mirage_mlir.passes.patterns.kernel import DropIdleCyclic, DropUnusedInputs

        return (DropUnusedInputs(), DropIdleCyclic())

    def verify_(self) -> None:
        from mirage_mlir.dialects.graph_rules import verify_graph

        verify_static(self)
        verify_graph(self)
