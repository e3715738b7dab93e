"""
One small program for each kind of kernel that the lowering builds.

Ones and primes are among their sizes, so that tiles are ragged: what tensor copies fill with zero,
and what is masked where zero is not neutral. `marks` are what the PTX must have; without them a
kind would not be what it is called.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import attention_cases as attention
import lowering_cases as linear
import lowering_tiles as tiles
from attention_cases import Heads
from lowered_kernels import graphs_of
from lowering_cases import Linear
from small_graphs import ALL, Program
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    ModuleOp,
    UnitAttr,
    i64,
)

from mirage_mlir.dialects import threadblock as tb
from mirage_mlir.driver.as_written import compile_as_written
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.runtime.artifact import Artifact, TargetCode

CHIPS = ("sm_90a", "sm_80")

TENSOR_COPY, WARPGROUP, CLUSTER = "cp.async.bulk.tensor", "wgmma.mma_async", "mapa"
FOLLOWS, MULTICAST = "griddepcontrol.wait", "multicast::cluster"
COPY, MATRIX_LOAD, MATMUL = "cp.async.c", "ldmatrix", "mma.sync"
COUNTER, TF32 = "atom.", "tf32"


@dataclass(frozen=True)
class Kind:
    """
    A program of one or more kernels, as a uGraph.

    Args:
        make: the module of its only function, `f`.
        marks: words of the PTX for sm_90a.
        others: the same for sm_80; None where it is not compiled for that.
        constants: inputs that never change, which are packed.
    """

    make: Callable[[], ModuleOp]
    marks: tuple[str, ...]
    others: tuple[str, ...] | None = (MATMUL,)
    constants: tuple[int, ...] = ()

    def marks_on(self, chip: str) -> tuple[str, ...] | None:
        """Words of the PTX for a chip."""
        return self.marks if chip == "sm_90a" else self.others

    def module(self) -> ModuleOp:
        """The program, with its constants marked."""
        module = self.make()
        (function,) = [op for op in module.body.block.ops if isinstance(op, func.FuncOp)]
        mark = DictionaryAttr({"kernel.constant": UnitAttr()})
        given = range(len(function.body.block.args))
        if self.constants:
            function.arg_attrs = ArrayAttr(
                [mark if number in self.constants else DictionaryAttr({}) for number in given]
            )
        return module


def rows(make: Callable[[], ModuleOp], *marks: str) -> Kind:
    """A kernel without matmuls."""
    return Kind(make, marks, ())


def matmul_of_threads(depth: int, columns: int, step: int, width: int) -> ModuleOp:
    """One row times a matrix, by multiplications and sums along the columns of tiles."""
    p = Program(f"{depth}x1xf16", f"{depth}x{columns}xf16")
    x, w = p.inputs
    with p.graph([-(-columns // width)], [-(-depth // step)]) as g:
        xt = g.load(x, (step, 1), [ALL], [0])
        wt = g.load(w, (step, width), [1], [0])
        sums = g.add(tb.ReduceSumOp(g.add(tb.MulOp(xt, wt)), [0]))
        g.store(linear.total(g, sums), f"1x{columns}xf16", [1])
    return p.finish(*g.results)


def in_clusters(case: Linear, *cluster: int) -> ModuleOp:
    """RMSNorm and a matmul; clusters span columns along the grid's first axis, then rows."""
    return clustered(linear.rmsnorm_linear(case), *cluster)


def clustered(module: ModuleOp, *cluster: int) -> ModuleOp:
    """The same in clusters."""
    for graph in graphs_of(module):
        graph.cluster = DenseArrayBase.from_list(i64, cluster)
    return module


def cyclic(module: ModuleOp) -> ModuleOp:
    """The same with cyclic graphs, where loops cut what the grid does."""
    for graph in graphs_of(module):
        loads = [op for op in graph.body.block.ops if isinstance(op, tb.LoadOp)]
        graph.cyclic = UnitAttr() if any(map(tb.is_cut_twice, loads)) else None
    return module


MATMULS = {
    "product_of_threads": rows(partial(matmul_of_threads, 256, 192, 64, 64)),
    "product_of_threads_primes": rows(partial(matmul_of_threads, 257, 191, 64, 64)),
    "rmsnorm_linear": Kind(
        partial(linear.rmsnorm_linear, Linear(16, 256, 192, 16, 64, 64)),
        (TENSOR_COPY, WARPGROUP),
        (COPY, MATRIX_LOAD, MATMUL),
    ),
    "rmsnorm_linear_primes": Kind(
        partial(linear.rmsnorm_linear, Linear(17, 101, 53, 16, 32, 32)), (MATRIX_LOAD, MATMUL)
    ),
    "rmsnorm_linear_zero_filled": Kind(
        partial(linear.rmsnorm_linear, Linear(13, 200, 104, 16, 64, 48)), (TENSOR_COPY,)
    ),
    "rmsnorm_linear_one_row": Kind(
        partial(linear.rmsnorm_linear, Linear(1, 384, 96, 1, 128, 32)), (TENSOR_COPY,), ()
    ),
    "rmsnorm_linear_bf16": Kind(
        partial(linear.rmsnorm_linear, Linear(40, 80, 24, 40, 16, 24, "bf16")), (MATMUL,)
    ),
    "linear_tiny": Kind(partial(linear.biased_linear, Linear(5, 20, 7, 5, 10, 7)), (), ()),
    "linear_odd_rows": Kind(
        partial(linear.linear_in, None, Linear(127, 331, 139, 127, 64, 64)), (WARPGROUP,)
    ),
    "linear_odd_rows_batched": Kind(
        partial(linear.batched_linear, 3, Linear(19, 203, 77, 16, 32, 32, "bf16")), (MATMUL,)
    ),
    "shared_left_sides": Kind(
        partial(in_clusters, Linear(64, 2048, 128, 64, 64, 32), 4, 1), (MULTICAST,)
    ),
    "shared_right_sides": Kind(
        partial(in_clusters, Linear(128, 2048, 256, 64, 64, 128), 1, 2), (MULTICAST, WARPGROUP)
    ),
    "shared_tiles_ragged": Kind(
        partial(in_clusters, Linear(100, 1992, 56, 64, 64, 32), 2, 2), (MULTICAST,)
    ),
    "linear_128_rows": Kind(
        partial(linear.plain_linear, Linear(128, 64, 72, 128, 64, 32)), (WARPGROUP,)
    ),
    "linear_many_sums": Kind(
        partial(linear.gated_mlp, Linear(64, 256, 256, 64, 64, 128)),
        (WARPGROUP, TENSOR_COPY),
    ),
    "linear_transposed": Kind(
        partial(
            linear.transposed_linear,
            Linear(64, 192, 64, 64, 64, 64),
            computed=False,
            views=True,
        ),
        (WARPGROUP,),
    ),
    "linear_computed_transposed": Kind(
        partial(
            linear.transposed_linear, Linear(16, 96, 24, 16, 32, 24), computed=True, views=False
        ),
        (MATMUL,),
    ),
    "linear_bias_relu": Kind(
        partial(linear.biased_linear, Linear(16, 192, 88, 16, 64, 32)), (TENSOR_COPY,)
    ),
    "linear_batched": Kind(
        partial(linear.batched_linear, 3, Linear(19, 72, 40, 16, 32, 32)), (MATMUL,)
    ),
    "linear_two_loops": Kind(partial(linear.two_loops, 16, (3, 100), 48, 32), (MATMUL,)),
    "gated_mlp": Kind(
        partial(linear.gated_mlp, Linear(16, 256, 192, 16, 64, 64)), (WARPGROUP, TENSOR_COPY)
    ),
    "gated_mlp_ragged": Kind(
        partial(linear.gated_mlp, Linear(7, 136, 88, 8, 64, 64)), (WARPGROUP, TENSOR_COPY)
    ),
    "gated_mlp_primes": Kind(
        partial(linear.gated_mlp, Linear(7, 131, 89, 8, 64, 32, "bf16")), (MATMUL,)
    ),
    "lora": Kind(
        partial(linear.lora, Linear(16, 256, 128, 16, 64, 64), 16),
        (WARPGROUP, TENSOR_COPY),
    ),
    "lora_primes": Kind(
        partial(linear.lora, Linear(11, 103, 61, 16, 32, 32), 13), (MATRIX_LOAD, MATMUL)
    ),
    "linear_f32": Kind(
        partial(linear.linear_in, None, Linear(16, 96, 72, 16, 32, 24, "f32")), (MATMUL, TF32)
    ),
    "linear_tf32": Kind(
        partial(linear.linear_in, "tf32", Linear(16, 96, 72, 16, 32, 24, "f32")), (MATMUL, TF32)
    ),
    "linear_tf32_primes": Kind(
        partial(linear.linear_in, "tf32", Linear(17, 101, 53, 16, 32, 32, "f32")),
        (MATMUL, TF32),
    ),
    "rmsnorm_linear_f32": Kind(
        partial(linear.rmsnorm_linear, Linear(13, 101, 37, 16, 32, 32, "f32")), (MATMUL, TF32)
    ),
    "packed": Kind(
        partial(linear.rmsnorm_linear, Linear(16, 384, 384, 16, 32, 192)),
        (WARPGROUP, TENSOR_COPY),
        (MATMUL,),
        constants=(1,),
    ),
    "packed_ragged": Kind(
        partial(linear.gated_mlp, Linear(8, 168, 320, 8, 32, 192)),
        (WARPGROUP, TENSOR_COPY),
        (MATMUL,),
        constants=(1, 2),
    ),
}

SUMS = {
    "split_k": Kind(
        partial(linear.split_linear, Linear(16, 512, 128, 16, 64, 64), 2, more=False),
        (CLUSTER, TENSOR_COPY),
        (COUNTER,),
    ),
    "split_k_then_more": Kind(
        partial(linear.split_linear, Linear(5, 100, 20, 5, 10, 20), 5, more=True),
        (CLUSTER,),
        (COUNTER,),
    ),
    "split_k_roots": Kind(
        partial(linear.split_roots, Linear(16, 256, 48, 16, 32, 48), 4), (CLUSTER,), (COUNTER,)
    ),
    "split_k_f32": Kind(
        partial(linear.split_linear, Linear(4, 40, 6, 4, 8, 6, "f32"), 2, more=True),
        (CLUSTER,),
        (COUNTER,),
    ),
    "sixteen_blocks": Kind(
        partial(linear.split_linear, Linear(16, 1024, 32, 16, 32, 32), 16, more=False),
        (COUNTER,),
        (COUNTER,),
    ),
    "split_k_cyclic": Kind(
        lambda: cyclic(linear.split_linear(Linear(16, 500, 128, 16, 64, 64), 2, more=False)),
        (CLUSTER,),
        (COUNTER,),
    ),
    "sums_across": Kind(partial(tiles.sums_across, 17, 64, 2, 8), (CLUSTER,), (COUNTER,)),
    "sums_after_the_loop": Kind(
        partial(attention.sums_after_the_loop, Linear(16, 128, 64, 16, 32, 16), 4),
        (CLUSTER,),
        # Blocks that share a sum store tiles of their own.
        None,
    ),
}

ATTENTION = {
    "attention": Kind(
        partial(attention.attention, Heads(2, 64, 256, 64, 64, 64)), (WARPGROUP, TENSOR_COPY)
    ),
    "attention_ragged": Kind(
        partial(attention.attention, Heads(1, 50, 100, 32, 64, 32, 1, "bf16")),
        (WARPGROUP, TENSOR_COPY),
    ),
    "attention_primes": Kind(
        partial(attention.attention, Heads(2, 13, 151, 23, 13, 64)), (MATRIX_LOAD, MATMUL)
    ),
    "attention_one_query": Kind(partial(attention.attention, Heads(1, 1, 100, 16, 1, 64)), (), ()),
    "attention_tiny": Kind(partial(attention.attention, Heads(2, 5, 41, 9, 3, 7)), (), ()),
    "attention_f32": Kind(partial(attention.attention, Heads(1, 3, 20, 8, 3, 8, 1, "f32")), (), ()),
    "attention_many_queries": Kind(
        partial(attention.attention, Heads(1, 128, 192, 64, 128, 64)),
        (WARPGROUP, TENSOR_COPY),
    ),
    "attention_across": Kind(
        partial(attention.attention, Heads(2, 64, 512, 64, 64, 64, 4)),
        (WARPGROUP, CLUSTER),
        (COUNTER,),
    ),
    "attention_across_ragged": Kind(
        partial(attention.attention, Heads(1, 6, 150, 16, 8, 32, 3)), (CLUSTER,), (COUNTER,)
    ),
    "attention_across_empty_blocks": Kind(
        partial(attention.attention, Heads(1, 8, 70, 16, 8, 32, 4)), (CLUSTER,), (COUNTER,)
    ),
    "attention_across_many": Kind(
        partial(attention.attention, Heads(1, 8, 300, 8, 8, 16, 17)), (COUNTER,), (COUNTER,)
    ),
    "attention_across_no_loop": Kind(
        partial(attention.attention_without_loop, Heads(1, 64, 64, 32, 64, 32, 2)),
        (WARPGROUP, CLUSTER),
        (COUNTER,),
    ),
    "attention_two_kernels": Kind(
        partial(attention.split_attention, Heads(2, 64, 512, 64, 64, 64, 4)),
        (WARPGROUP, TENSOR_COPY, FOLLOWS),
    ),
    "attention_two_kernels_ragged": Kind(
        partial(attention.split_attention, Heads(1, 6, 150, 16, 8, 32, 3)), (FOLLOWS,)
    ),
    "attention_two_sorts_of_scores": Kind(
        partial(attention.jointly_shifted, Heads(1, 64, 64, 32, 64, 32)), (WARPGROUP,)
    ),
    "attention_maxima_asked_for": Kind(
        partial(attention.observed_attention, Heads(1, 8, 70, 16, 8, 16, 2)),
        (CLUSTER,),
        (COUNTER,),
    ),
    "attention_merged": rows(partial(attention.merged_at_once, Heads(2, 8, 0, 16, 1, 0, 16), 5)),
}

ROWS = {
    "long_rows": rows(partial(tiles.elementwise, (70, 3000), (40, 3000), [0], (3000,), "f16")),
    "long_rows_primes": rows(
        partial(tiles.elementwise, (9, 5003), (9, 5003), [0], (9, 5003), "bf16")
    ),
    "softmax": rows(partial(tiles.softmax, 33, 256, 2)),
    "softmax_primes": rows(partial(tiles.softmax, 13, 1009, 2, "bf16")),
    "layer_norm": rows(partial(tiles.layer_norm, 9, 512, 2, "f16")),
    "layer_norm_f32_primes": rows(partial(tiles.layer_norm, 7, 509, 2, "f32")),
    "softmax_in_clusters": Kind(
        partial(tiles.rows_in_clusters, 5, 4099, 4, "f16"), (CLUSTER,), None
    ),
    "softmax_in_clusters_of_8": Kind(
        partial(tiles.rows_in_clusters, 3, 2048, 8, "f32"), (CLUSTER,), None
    ),
    "softmax_sums": rows(partial(attention.softmax_sums, 5, 33, 7)),
    "sums_over_the_first_of_three": rows(partial(tiles.reduction, (47, 5, 3), [0], "sum")),
    "largest_of_columns": rows(partial(tiles.reduction, (23, 37), [0], "max", cut=1)),
    "looped_maximum": rows(partial(tiles.looped_reduction, (40, 100), 32, 1, [1], ("max", "max"))),
    "rows_stored_in_a_loop": rows(partial(tiles.rows_and_sums, 64, 256, 4, 8, "f16"), COPY),
    "rows_stored_in_a_loop_primes": rows(
        partial(tiles.rows_and_sums, 101, 67, 5, 3, "bf16"), FOLLOWS
    ),
    "rows_stored_in_a_loop_ragged": rows(
        partial(tiles.rows_and_sums, 61, 64, 3, 4, "f32"), FOLLOWS
    ),
    "rows_cyclic": Kind(
        lambda: cyclic(tiles.row_gradients(1024, 512, 32, 1, "f16")), (COPY,), (COPY,)
    ),
    "rows_cyclic_ragged": Kind(
        lambda: cyclic(tiles.row_gradients(1003, 256, 66, 2, "bf16")), (COPY,), (COPY,)
    ),
    "rows_cyclic_few": rows(lambda: cyclic(tiles.row_gradients(7, 67, 12, 1, "f32")), FOLLOWS),
    "transposes": rows(partial(tiles.transposes, 40, 24, (20, 12), "f16")),
    "joined_product": Kind(partial(tiles.joined_matmul, 16, (40, 24), 32, 2), (MATMUL,)),
    "chain_of_kernels": Kind(partial(tiles.chain, 16, 64, 32, "f16"), (FOLLOWS,)),
    "views_between": rows(tiles.views_between, FOLLOWS),
}

PERSISTENT = {
    "persistent": Kind(
        partial(linear.linear_in, None, Linear(2560, 320, 2560, 128, 64, 256)),
        (WARPGROUP, TENSOR_COPY),
        None,
    ),
    "persistent_ragged": Kind(
        partial(linear.linear_in, None, Linear(2500, 1000, 2600, 128, 64, 256)),
        (WARPGROUP, TENSOR_COPY),
        None,
    ),
    "persistent_swapped": Kind(
        partial(linear.biased_linear, Linear(2500, 456, 2600, 176, 64, 128)),
        (WARPGROUP, TENSOR_COPY, "movmatrix"),
        None,
    ),
    "persistent_in_clusters": Kind(
        lambda: clustered(linear.linear_in(None, Linear(2560, 320, 2560, 128, 64, 256)), 2, 1),
        (WARPGROUP, MULTICAST),
        None,
    ),
    "persistent_attention": Kind(
        partial(attention.attention, Heads(17, 1000, 600, 128, 128, 128)),
        (WARPGROUP, TENSOR_COPY, "bar.arrive"),
        None,
    ),
}
"""With more tiles than the GPU has places for blocks."""

KINDS: dict[str, Kind] = {**MATMULS, **SUMS, **ATTENTION, **ROWS, **PERSISTENT}


def compiled(name: str, chip: str, here: str) -> Artifact:
    """A kind of kernel for a chip; as PTX where the GPU here is another."""
    kind = KINDS[name]
    artifact, (made,) = compile_as_written(kind.module(), "f", (chip,), pack=bool(kind.constants))
    return artifact if chip == here else replace(artifact, targets=(portable(made),))


def portable(made: CompiledFunction) -> TargetCode:
    """
    Code for one chip as PTX, which the driver of any later GPU compiles.

    It says that it is for the generation of the one here. The driver tells PTX, which ends with a
    zero, from machine code by itself.
    """
    return replace(made.code, target="sm_90", cubin=made.ptx.encode() + b"\0")
