"""Peers for attention: PyTorch's fused kernels, FlashDecoding in Triton, libraries."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from kernels.case import EPS
from peers import attention_libraries
from peers.peer import Call, Inputs, Peer, Setting, fastest

BACKENDS = {
    "sdpa_flash": "FLASH_ATTENTION",
    "sdpa_cudnn": "CUDNN_ATTENTION",
    "sdpa_efficient": "EFFICIENT_ATTENTION",
}
"""PyTorch's, by our name."""

SPLITS = (1, 2, 4, 8, 16, 32, 64, 128)


def paper_peers(*, normed: bool) -> list[Peer]:
    """q [B, M, D], k [B, D, S], v [B, S, D], no scale; with `normed`, q and v are normalized."""
    fused: dict[str, Callable[[], Call]] = {
        name: partial(one_call, backend, 1.0) for name, backend in BACKENDS.items()
    }
    fused |= attention_libraries.whole_sequences(1.0)
    peers = [Peer(name, _fused_heads(make, normed), as_cache) for name, make in fused.items()]
    return [*peers, Peer("triton_flashdecoding", _decoding(normed=normed), slow_to_build=True)]


def as_cache(q: Any, k: Any, v: Any) -> Inputs:
    """One head, keys stored [S, D] as caches are."""
    return q[:, None], k.transpose(1, 2).contiguous()[:, None], v[:, None]


def _fused_heads(make: Callable[[], Call], normed: bool) -> Callable[[Setting], Call]:
    def build(setting: Setting) -> Call:
        from peers.torch_programs import rms

        fused = make()

        def call(q: Any, k: Any, v: Any) -> Any:
            if normed:
                q, v = rms(q), rms(v)
            return fused(q, k, v)[:, 0]

        return call

    return build


def one_call(backend: str, own_scale: float | None = None, *, grouped: bool = False) -> Call:
    """`scaled_dot_product_attention` by one of `BACKENDS`."""
    functional: Any = import_module("torch.nn.functional")
    choice: Any = import_module("torch.nn.attention")
    chosen = getattr(choice.SDPBackend, backend)

    def call(
        q: Any,
        k: Any,
        v: Any,
        attn_mask: Any = None,
        scale: float | None = own_scale,
        is_causal: bool = False,
    ) -> Any:
        with choice.sdpa_kernel(chosen):
            return functional.scaled_dot_product_attention(
                q, k, v, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=grouped
            )

    return call


def decode_peers(sequences: int) -> list[Peer]:
    """q [B, Hq, 1, D], k and v [B, Hkv, S, D], scaled by the width; `sequences` is B."""
    peers: list[Peer] = []
    for name, backend in BACKENDS.items():
        # The efficient one has no grouped heads.
        if name != "sdpa_efficient":
            peers.append(Peer(name, _grouped(backend)))
        peers.append(Peer(f"{name}_packed", _packed(backend)))
    peers.append(Peer("triton_flashdecoding", _packed_decoding, slow_to_build=True))
    return peers + attention_libraries.decode_peers(sequences)


def _grouped(backend: str) -> Callable[[Setting], Call]:
    def build(setting: Setting) -> Call:
        return one_call(backend, setting.sets[0][0].shape[-1] ** -0.5, grouped=True)

    return build


def rows_of_group(q: Any, k: Any) -> Any:
    """The query heads of one key-value head as rows."""
    return q.view(q.shape[0], k.shape[1], -1, q.shape[3])


def _packed(backend: str) -> Callable[[Setting], Call]:
    def build(setting: Setting) -> Call:
        fused = one_call(backend, setting.sets[0][0].shape[-1] ** -0.5)

        def call(q: Any, k: Any, v: Any) -> Any:
            return fused(rows_of_group(q, k), k, v).reshape(q.shape)

        return call

    return build


def _packed_decoding(setting: Setting) -> Call:
    sets = [(rows_of_group(q, k), k, v) for q, k, v in setting.sets]
    width = sets[0][0].shape[-1]
    inner = Setting(setting.torch, sets, setting.compile_only)
    decode = _decoding(scale=width**-0.5, transposed=False)(inner)

    def call(q: Any, k: Any, v: Any) -> Any:
        return decode(rows_of_group(q, k), k, v).reshape(q.shape)

    return call


# FlashDecoding in Triton

Tile = tuple[int, int, int, int]
"""Query rows, keys, warps and stages."""

FEW_ROWS: Sequence[Tile] = ((16, 64, 4, 3), (16, 128, 4, 3), (16, 64, 2, 4))

MANY_ROWS: Sequence[Tile] = ((64, 64, 4, 3), (64, 128, 4, 2), (128, 64, 8, 3), (128, 128, 8, 2))


def _decoding(
    *, scale: float = 1.0, normed: bool = False, transposed: bool = True
) -> Callable[[Setting], Call]:
    def build(setting: Setting) -> Call:
        q, _, v = setting.sets[0]
        found = _tilings(setting.torch, math.prod(q.shape[:-2]), q.shape[-2], v.shape[-2])
        if setting.compile_only:
            found = list({(*tile, split == 1): (tile, split) for tile, split in found}.values())

        def make(configuration: tuple[Tile, int]) -> Call:
            return _decode_call(setting.torch, configuration, scale, normed, transposed)

        return fastest(setting, found, make)

    return build


def _tilings(torch: Any, heads: int, rows: int, keys: int) -> list[tuple[Tile, int]]:
    """Tiles, each with the splits of the keys that come nearest to two blocks a processor."""
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    found: list[tuple[Tile, int]] = []
    for tile in FEW_ROWS if rows <= 16 else MANY_ROWS:
        blocks = heads * math.ceil(rows / tile[0])
        fitting = [split for split in SPLITS if split * tile[1] <= keys]

        def distance(split: int, blocks: int = blocks) -> float:
            return abs(math.log2(blocks * split / (2 * processors)))

        nearest = sorted(fitting, key=distance)
        found += [(tile, split) for split in nearest[: 3 if rows <= 16 else 2]]
    return found


def _decode_call(
    torch: Any, configuration: tuple[Tile, int], scale: float, normed: bool, transposed: bool
) -> Call:
    triton: Any = import_module("triton")
    kernels: Any = import_module("peers.triton_kernels")
    (rows, tile, warps, stages), splits = configuration

    def call(q: Any, k: Any, v: Any) -> Any:
        *lead, count, width = q.shape
        q, k, v = (tensor.reshape(-1, *tensor.shape[-2:]) for tensor in (q, k, v))
        heads, keys = q.shape[0], v.shape[1]
        share = triton.cdiv(triton.cdiv(keys, splits), tile) * tile
        parts = triton.cdiv(keys, share)
        o = torch.empty_like(q)
        stride = (k.stride(2), k.stride(1)) if transposed else (k.stride(1), k.stride(2))
        size = heads * parts * count
        scratch = torch.empty(
            size * (width + 2) if parts > 1 else 1, dtype=torch.float32, device=q.device
        )
        sums = (scratch, scratch[size * width :], scratch[size * (width + 1) :])
        kernels.decode_part[(parts, triton.cdiv(count, rows), heads)](
            *(q, k, v, o, *sums, count, keys, share, scale, EPS, q.stride(0), q.stride(1)),
            *(k.stride(0), *stride, v.stride(0), v.stride(1), o.stride(0), o.stride(1)),
            D=width,
            BM=rows,
            BS=tile,
            QN=normed,
            KN=False,
            VN=normed,
            ONE=parts == 1,
            num_warps=warps,
            num_stages=stages,
        )
        if parts > 1:
            kernels.decode_combine[(count, heads)](
                *(*sums, o, count, parts, o.stride(0), o.stride(1)),
                D=width,
                BSP=triton.next_power_of_2(parts),
                num_warps=1 if parts * width <= 2048 else 4,
            )
        return o.reshape(*lead, count, width)

    return call
