"""
The rules of a kernel that starts before the previous grid has ended.

Until a thread has waited for that grid it reads only inputs that are available, and writes nothing:
the previous grid may still write its results, and read what this kernel writes.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.fetched_tiles import FetchTilesOp
from mirage_mlir.dialects.graph_defined import GraphDefinedOp
from mirage_mlir.dialects.layout import GlobalAttr, layout_of
from mirage_mlir.dialects.overlap import AwaitPreviousGridOp, OneThreadOp
from mirage_mlir.dialects.pipeline import (
    PRODUCER,
    SCHEDULE_OPS,
    FillBuffersOp,
    IssueCopiesOp,
    RefillBuffersOp,
    SectionOp,
)
from mirage_mlir.dialects.split_k import StorePartialSumOp


def verify_overlap(graph: GraphDefinedOp) -> None:
    """Raise `InvalidOperation` where a thread does not wait for the previous grid."""
    overlap = graph.overlap
    if wrong := [number for number in overlap.available if not 0 <= number < len(graph.inputs)]:
        raise invalid(graph, f"has {len(graph.inputs)} inputs, and none is number {wrong[0]}")
    if not overlap.starts_early:
        return
    for ops in _programs(graph):
        _verify_waits(graph, ops)


def _programs(graph: GraphDefinedOp) -> Iterator[Sequence[Operation]]:
    """What the producer runs, what all consumers run, and what one of these runs alone."""
    producer: list[Operation] = []
    consumers: list[Operation] = []
    current = consumers
    for op in graph.body.block.ops:
        if isinstance(op, SectionOp):
            current = producer if op.section.data == PRODUCER else consumers
        elif isinstance(op, OneThreadOp):
            yield [*op.body.block.ops]
        elif not isinstance(op, threadblock.LoadOp):
            current.append(op)
    yield producer
    yield consumers


def _verify_waits(graph: GraphDefinedOp, ops: Sequence[Operation]) -> None:
    """Nothing of `ops` that must wait for the previous grid stands in front of the wait."""
    available = {graph.body.block.args[number] for number in graph.overlap.available}
    for op in ops:
        if isinstance(op, AwaitPreviousGridOp):
            return
        if isinstance(op, threadblock.StoreOp | StorePartialSumOp):
            raise invalid(op, "writes a tensor before the previous grid has ended")
        for source in _sources(op):
            if source not in available:
                name = f"input {source.index}" if isinstance(source, BlockArgument) else "a tensor"
                raise invalid(op, f"reads {name} before the previous grid has ended")


def _sources(op: Operation) -> Iterator[SSAValue]:
    """The tensors that `op` copies tiles of, or reads in place."""
    copies = isinstance(op, IssueCopiesOp | FetchTilesOp | FillBuffersOp | RefillBuffersOp)
    if isinstance(op, SCHEDULE_OPS) and not copies:
        return
    for value in op.operands:
        load = value.owner
        if isinstance(load, threadblock.LoadOp):
            if copies or isinstance(layout_of(value), GlobalAttr):
                yield load.source
