"""Peers for products of few rows in Triton: split over the depth, with a norm or a gate fused."""

from importlib import import_module
from typing import Any

from kernels.case import EPS
from peers.peer import Call, Peer, Setting, fastest

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


def split_k(*, norm: bool = False, gate: bool = False) -> Peer:
    """`norm(x) @ w`, or `silu(x @ w1) * (x @ w2)`."""

    def build(setting: Setting) -> Call:
        return _split_k(setting, norm, gate)

    return Peer("triton_splitk", build, slow_to_build=True)


def _split_k(setting: Setting, norm: bool, gate: bool) -> Call:
    torch = setting.torch
    kernels: Any = import_module("peers.triton_kernels")
    x0, w0 = setting.sets[0][:2]
    (count, depth), width = x0.shape, w0.shape[1]
    options: dict[str, Any] = {"dtype": torch.float32, "device": x0.device}
    parts = torch.empty(max(SPLITS) * 2 * ROWS * width, **options)
    squares = torch.empty(max(SPLITS) * width, **options)
    counters = torch.zeros(width // 16, dtype=torch.int32, device=x0.device)

    def make(configuration: tuple[int, int, int, int, int]) -> Call:
        columns, tile, warps, stages, split = configuration

        def call(x: Any, w1: Any, *others: Any) -> Any:
            y = torch.empty(count, width, dtype=x.dtype, device=x.device)
            w2 = others[0] if gate else w1
            scratch = (parts, squares, counters)
            sizes = (count, depth, width, depth // split, split, EPS)
            kernels.skinny_matmul[(width // columns, split)](
                *(x, w1, w2, x, y, *scratch, *sizes),
                BM=ROWS,
                BN=columns,
                BK=tile,
                NORM=int(norm),
                HAS_G=False,
                DUAL=gate,
                ONE=split == 1,
                num_warps=warps,
                num_stages=stages,
            )
            return y

        return call

    found = _configurations(torch, depth, width)
    if gate:
        # Two tiles of weights in each stage: one stage fewer.
        found = [(c, t, w, stages - 1, split) for c, t, w, stages, split in found]
    if setting.compile_only:
        # One for each kernel that has to be compiled.
        found = list({(*one[:4], one[4] == 1): one for one in found}.values())
    return fastest(setting, found, make)


def _configurations(torch: Any, depth: int, width: int) -> list[tuple[int, int, int, int, int]]:
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    return [
        (columns, tile, warps, stages, split)
        for columns, tile, warps, stages in TILES
        for split in SPLITS
        if width % columns == 0
        and depth % (tile * split) == 0
        and FEWEST * processors <= width // columns * split <= MOST * processors
    ]


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
