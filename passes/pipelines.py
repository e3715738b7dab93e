"""Sequences of passes that more than one part of the compiler runs."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.passes import load_pass
from mirage_mlir.passes.graph_pass import TargetPass

PACKING, PIPELINING = "pack-constants", "software-pipeline"

LOWERING = (
    *("compute-indices", "bound-loops"),
    *("sink-reductions", "fuse-thread-graphs", "split-cross-block-sums", "select-mma"),
    *("select-copies", "assign-layouts", "fuse-horizontally", "software-pipeline"),
    *("plan-memory", PACKING, "overlap-launches", "lower-to-nvvm"),
)
"""From functions of uGraphs to `gpu.module`s of kernels."""


def lowering_passes(
    target: str, *, pack: bool = False, persistent: bool = True, last: str = LOWERING[-1]
) -> Iterator[ModulePass]:
    """
    The passes of `LOWERING`, in order, up to `last`.

    Args:
        target: a GPU or its chip.
        pack: whether kernels read packed copies of constant inputs.
        persistent: whether blocks may compute one tile of the grid after another.
        last: the name of a pass.
    """
    for name in LOWERING[: LOWERING.index(last) + 1]:
        if name != PACKING or pack:
            each = load_pass(name)
            more = {"persistent": persistent} if name == PIPELINING else {}
            yield each(target, **more) if issubclass(each, TargetPass) else each()


class Pipeline(ModulePass):
    """Several passes under one name; as a pass it runs all of them."""

    @abstractmethod
    def passes(self) -> Sequence[ModulePass]:
        """The passes, in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in self.passes():
            each.apply(ctx, op)
