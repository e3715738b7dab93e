"""Sequences of passes that more than one part of the compiler runs."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_pipeline

from mirage_mlir.passes import load_pass

LOWERING = (
    "sink-reductions,fuse-thread-graphs,split-cross-block-sums{{target={target}}},"
    "select-mma{{target={target}}},select-copies{{target={target}}},"
    "assign-layouts{{target={target}}},fuse-horizontally{{target={target}}},"
    "software-pipeline{{target={target}}},"
    "plan-memory{{target={target}}},overlap-launches{{target={target}}},"
    "lower-to-nvvm{{target={target} pack={pack}}}"
)
"""From functions of uGraphs to `gpu.module`s of kernels; `target` is a GPU or its chip."""


def lowering_passes(
    target: str, *, pack: bool = False, last: str = "lower-to-nvvm"
) -> Iterator[ModulePass]:
    """The passes of `LOWERING`, in order, up to `last`; `pack` is an option of lower-to-nvvm."""
    for spec in parse_pipeline(LOWERING.format(target=target, pack=str(pack).lower())):
        yield load_pass(spec.name).from_spec(spec)
        if spec.name == last:
            return


class Pipeline(ModulePass):
    """Several passes under one name; as a pass it runs all of them."""

    @abstractmethod
    def passes(self) -> Sequence[ModulePass]:
        """The passes, in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in self.passes():
            each.apply(ctx, op)
