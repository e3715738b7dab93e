"""Peers for products of few rows in Triton: split over the depth, with what is around them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from kernels.case import EPS
from kernels.older_code import major_for_triton
from peers.peer import Call, Inputs, Peer, Setting, fastest

ROWS = 16
"""Rows of a tile: the fewest that the tensor core takes."""

TILES = (
    (16, 256, 4, 4),
    (32, 128, 4, 5),
    (32, 256, 8, 3),
    (64, 64, 4, 6),
    (64, 128, 4, 4),
    (128, 64, 8, 5),
)
"""Columns, depth, warps and stages."""

SPLITS = (1, 2, 4, 8, 16)

FEWEST, MOST = 0.7, 9
"""Programs for each multiprocessor, of configurations that are tried."""

HOPPER = 9
"""The compute capability from which on a kernel may start inside the end of another, and weights
come by tensor copies."""


@dataclass(frozen=True)
class Tile:
    """A configuration of `skinny_matmul`."""

    columns: int
    depth: int
    warps: int
    stages: int
    split: int
    tensor_copies: bool
    starts_early: bool


def split_k(
    *, norm: bool = False, gate: bool = False, gelu: bool = False, adapter: bool = False
) -> Peer:
    """
    `x @ w` in one kernel, with at most one of these fused into it.

    Args:
        norm: `rms_norm(x) @ w`, the norm applied behind the product.
        gate: `silu(x @ w) * (x @ w3)`.
        gelu: `gelu(x @ w + bias)`.
        adapter: `x @ w + (x @ a) @ b`.
    """

    def build(setting: Setting) -> Call:
        x, w, *others = setting.sets[0]
        product = _Product(setting, x, w)
        fused = {"norm": norm, "gate": gate, "gelu": gelu}
        rank = others[0].shape[1] if adapter else 0

        def make(tile: Tile) -> Call:
            def call(*inputs: Any) -> Any:
                return product(tile, *inputs, **fused, rank=rank)

            return call

        return fastest(setting, product.tiles(pairs=gate or adapter), make)

    return Peer("triton_splitk", build, slow_to_build=True)


Normed = Callable[[Inputs], Inputs]
"""Of the inputs: rows, a residual or None, a gain or None, a bias or None, and the weights."""


def norm_and_split_k(parts: Normed) -> Peer:
    """A norm in a kernel of its own, then the product, which starts inside the end of the norm."""

    def build(setting: Setting) -> Call:
        rows, *_, weights = parts(setting.sets[0])
        product = _Product(setting, rows, weights)

        def make(tile: Tile) -> Call:
            def call(*inputs: Any) -> Any:
                x, residual, gain, bias, w = parts(inputs)
                y, summed = product.normed(tile, x, residual, gain, bias)
                z = product(tile, y, w)
                return z if residual is None else (summed, z)

            return call

        return fastest(setting, product.tiles(), make)

    return Peer("norm_splitk", build, slow_to_build=True)


class _Product:
    """Calls of the kernels on tensors of one shape; scratch memory is made once."""

    def __init__(self, setting: Setting, rows: Any, weights: Any) -> None:
        self._torch = torch = setting.torch
        self._compile_only = setting.compile_only
        self._kernels: Any = import_module("peers.triton_skinny")
        triton: Any = import_module("triton")
        self._block = triton.next_power_of_2(rows.shape[1])
        (self._count, self._depth), self._width = rows.shape, weights.shape[1]
        options: dict[str, Any] = {"device": rows.device}
        size = max(SPLITS) * self._width
        self._parts = torch.empty(2 * ROWS * size, dtype=torch.float32, **options)
        self._squares = torch.empty(size, dtype=torch.float32, **options)
        self._counters = torch.zeros(self._width // 16, dtype=torch.int32, **options)

        def scratch(bytes_: int, alignment: int, stream: Any) -> Any:
            return torch.empty(bytes_, dtype=torch.int8, **options)

        # Triton keeps descriptors of tensor copies there.
        triton.set_allocator(scratch)

    def __call__(
        self,
        tile: Tile,
        x: Any,
        w: Any,
        second: Any = None,
        third: Any = None,
        *,
        norm: bool = False,
        gate: bool = False,
        gelu: bool = False,
        rank: int = 0,
    ) -> Any:
        """One product, with what is fused into it."""
        y = self._torch.empty(self._count, self._width, dtype=x.dtype, device=x.device)
        # A pointer that is not read has to be one all the same.
        second, third = w if second is None else second, w if third is None else third
        self._kernels.skinny_matmul[(self._width // tile.columns, tile.split)](
            *(x, w, second, third, y, self._parts, self._squares, self._counters, self._count),
            *(self._depth, self._width, self._depth // tile.split, tile.split, EPS),
            BM=ROWS,
            BN=tile.columns,
            BK=tile.depth,
            NORM=norm,
            DUAL=gate,
            GELU=gelu,
            R=rank,
            ONE=tile.split == 1,
            TMA=tile.tensor_copies,
            PDL=tile.starts_early,
            num_warps=tile.warps,
            num_stages=tile.stages,
            **_launch(tile),
        )
        return y

    def normed(self, tile: Tile, x: Any, residual: Any, gain: Any, bias: Any) -> tuple[Any, Any]:
        """The norm of some rows, and the sum that it is the norm of."""
        y, summed = self._torch.empty_like(x), x if residual is None else self._torch.empty_like(x)
        given = [x if each is None else each for each in (residual, gain, bias)]
        self._kernels.norm_row[(self._count,)](
            *(x, *given, summed, y, self._depth, EPS),
            BLOCK=self._block,
            ADD=residual is not None,
            MEAN=bias is not None,
            GAIN=gain is not None,
            PDL=tile.starts_early,
            num_warps=8,
            **_launch(tile),
        )
        return y, summed

    def tiles(self, *, pairs: bool = False) -> list[Tile]:
        """Configurations to try; of `pairs` each stage has a second tile: one stage fewer."""
        processors = self._torch.cuda.get_device_properties(0).multi_processor_count
        hopper = major_for_triton(self._torch) >= HOPPER
        ways = ((False, False), (False, True), (True, True)) if hopper else ((False, False),)
        found = [
            Tile(columns, depth, warps, stages - pairs, split, *way)
            for columns, depth, warps, stages in TILES
            for split in SPLITS
            for way in ways
            if self._width % columns == 0
            and self._depth % (depth * split) == 0
            and FEWEST * processors <= self._width // columns * split <= MOST * processors
        ]
        if not self._compile_only:
            return found
        # One for each kernel that has to be compiled.
        return list({replace(one, split=min(one.split, 2)): one for one in found}.values())


def _launch(tile: Tile) -> dict[str, Any]:
    """An option that not all versions of Triton have."""
    return {"launch_pdl": True} if tile.starts_early else {}


def fused_lora(setting: Setting) -> Call:
    """A linear layer and its adapter in one kernel."""
    torch = setting.torch
    kernels: Any = import_module("peers.triton_kernels")
    (count, depth), (_, width) = setting.sets[0][0].shape, setting.sets[0][1].shape
    rank = setting.sets[0][2].shape[1]

    def make(configuration: tuple[int, int, int, int]) -> Call:
        columns, tile, warps, stages = configuration

        def call(x: Any, w: Any, a: Any, b: Any) -> Any:
            y = torch.empty(count, width, dtype=x.dtype, device=x.device)
            kernels.lora_columns[(width // columns,)](
                *(x, w, a, b, y, count, depth, width),
                R=rank,
                BM=ROWS,
                BN=columns,
                BK=min(tile, depth),
                num_warps=warps,
                num_stages=stages,
            )
            return y

        return call

    return fastest(
        setting, [(16, 256, 2, 2), (32, 128, 4, 3), (32, 64, 4, 4), (64, 64, 4, 4)], make
    )


LINEAR_PEERS = {
    "matmul": [split_k()],
    "rmsnorm_linear": [
        split_k(norm=True),
        norm_and_split_k(lambda given: (given[0], None, None, None, given[1])),
    ],
    "add_rmsnorm_linear": [norm_and_split_k(lambda given: (*given[:3], None, given[3]))],
    "layernorm_linear": [norm_and_split_k(lambda given: (given[0], None, *given[1:]))],
    "linear_bias_gelu": [split_k(gelu=True)],
    "gated_mlp": [split_k(gate=True)],
    "lora": [Peer("triton_fused", fused_lora, slow_to_build=True), split_k(adapter=True)],
}
"""By program, whose inputs are in the order of `kernels/programs.py`."""
