"""The `software-pipeline` pass."""

from dataclasses import dataclass

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.tile_attributes import has_layouts
from mirage_mlir.passes.graph_pass import GraphPass
from mirage_mlir.passes.schedule.pipelining import Pipelining
from mirage_mlir.passes.schedule.rasterization import rasterize
from mirage_mlir.passes.schedule.shifted_tiles import shift_tiles
from mirage_mlir.passes.schedule.staggering import stagger
from mirage_mlir.passes.schedule.streams import mark_streams
from mirage_mlir.targets.target import Target


@dataclass(frozen=True)
class SoftwarePipelinePass(GraphPass):
    """
    Split a block's work into prologue, main loop and epilogue, with explicit copies and waits.

    Input, where the operators of a graph have layouts:
        %x = threadblock.load %xa grid_map [_] loop_map [1] {layout = #x} : ...
        %p = threadblock.matmul %x, %w {layout = #acc, warps = array<i64: 1, 1, 4>} : ...
        %s = threadblock.accumulate %p {layout = #acc} : ...

    Output, where all threads copy the loop's tiles (`cp.async`), here with three stages:
        threadblock.section "prologue"
        threadblock.issue_copies iteration 0 %x, %w : ...
        threadblock.issue_copies iteration 1 %x, %w : ...
        threadblock.section "main_loop"
        threadblock.barrier pending 1
        threadblock.issue_copies ahead 2 %x, %w : ...
        %p = threadblock.matmul %x, %w {layout = #acc, warps = array<i64: 1, 1, 4>} : ...
        %s = threadblock.accumulate %p {layout = #acc} : ...
        threadblock.section "epilogue"

    Output, where tensor copies can fetch all of them (the schedule gets `producer_warps = 1`):
        threadblock.section "producer"
        threadblock.fill_buffers iterations 7 at_start 3 %x, %w : ...
        threadblock.refill_buffers ahead 6 %x, %w : ...
        threadblock.section "main_loop"
        threadblock.await_tiles %x, %w : ...
        %p = threadblock.matmul %x, %w {layout = #acc, mma = "wgmma", ...} : ...
        %s = threadblock.accumulate %p {layout = #acc} : ...
        threadblock.await_mma pending 1 %s : ...
        threadblock.release_tiles behind 1 %x, %w : ...
        threadblock.section "epilogue"
        threadblock.await_mma pending 0 %s : ...

    A barrier stands in front of each read or write of shared memory that conflicts with an access
    of another thread. The barrier at the top of the loop also waits for the iteration's copies.
    Those of a later iteration are issued behind it, or, in a loop that reads and writes one whole
    row in each iteration, behind the loop's last barrier.

    Producer warps only start tensor copies; each consumer warp waits for the copies itself. There
    is one producer warp, or a warpgroup of four where consumers need the registers that a
    warpgroup can give up. Without producers there are as many stages as keep enough bytes in
    flight; with producers, as many as fit in shared memory. Tiles that threads write in such a loop
    are double-buffered (`buffer = #threadblock.buffer<double_buffered>`) where this saves barriers.

    Behind a sum across blocks `continue_with` says which of them go on: all threads of the cluster
    together, its first block, or without a cluster the block that comes last.

    Matmuls of warpgroups are asynchronous. Where nothing in the loop reads their sums, they are
    still in flight while those of the next iteration are started (`await_mma pending 1`). Else the
    wait stands in front of the first reader. A matmul whose left operand threads compute from
    another matmul's result, in registers, starts one iteration later if there are registers, three
    buffers, and several warpgroups with rows of their own: it runs while they compute the next left
    operand (`deferred`). The warpgroups take turns: one has its matmuls started while the others
    compute. Else the elementwise code is interleaved with the MMAs that take it
    (`interleaved_graphs`).

    Elementwise code between loads in place and stores is computed a few elements of a thread at a
    time, if the thread has many (`stream`).

    A kernel with producers that has more tiles than the GPU has places for blocks, one on each
    multiprocessor, is persistent: it is launched with `persistent_blocks`, each of which computes
    one tile of the grid after another, and whose producer copies for the next one meanwhile. Its
    sections say what is done for one tile; fills are for the first.

    Where a tensor is no multiple of its tiles along an axis of the grid, the last tile that a
    producer copies starts early enough to end with the tensor (`shifted_axes`), if what is stored
    of an element depends on no other along that axis. It stores what the tile before has not.

    The schedule also has the order of a grid's blocks where concurrent blocks then share more tiles
    in L2: bands of `raster_width` blocks. Where blocks mostly read along lines of their own, as
    those of weights [out, in], each begins its loop `stagger` iterations further along than its
    neighbour, so that they do not all ask the same banks of device memory.

    Fails on a graph without layouts, or with a schedule, and on a module for another target.
    """

    name = "software-pipeline"

    stages: int | None = None
    """Buffers of each tile that the loop loads; chosen by their size where not given."""

    persistent: bool = True
    """Whether blocks may compute one tile of the grid after another."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.stages is not None and self.stages < 2:
            raise ValueError(f"stages is at least 2, not {self.stages}")

    def visit(self, graph: kernel.GraphDefinedOp, target: Target) -> None:
        if not has_layouts(graph):
            fail(graph, "has no layouts; run assign-layouts first")
        if graph.schedule.stages:
            fail(graph, "has a schedule already")
        Pipelining(graph, target, self.stages, self.persistent).run()
        shift_tiles(graph)
        rasterize(graph, target.sm_count, target.l2_bytes)
        stagger(graph)
        mark_streams(graph)
