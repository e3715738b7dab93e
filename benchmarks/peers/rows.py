"""Peers that normalize rows: Triton with a row per program, and libraries where there are any."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from kernels.case import EPS
from peers.peer import Call, Peer, Setting, fastest


def rmsnorm_peers() -> list[Peer]:
    """RMSNorm with a gain: x [rows, columns], gain [columns]."""
    peers = [Peer("composite", composite), Peer("triton", triton_rms_norm, slow_to_build=True)]
    if find_spec("liger_kernel") is not None:
        peers.append(Peer("liger", liger))
    if find_spec("quack") is not None:
        peers.append(Peer("quack", quack))
    return peers


def composite(setting: Setting) -> Call:
    """As Hugging Face's LlamaRMSNorm."""
    torch = setting.torch

    def call(x: Any, gain: Any) -> Any:
        wide = x.float()
        root = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        return gain * (wide * root).to(x.dtype)

    return call


def triton_rms_norm(setting: Setting) -> Call:
    """Rows in registers, several per program where they are short."""
    torch = setting.torch
    triton: Any = import_module("triton")
    kernels: Any = import_module("peers.triton_kernels")
    count, width = setting.sets[0][0].shape
    block = triton.next_power_of_2(width)

    def make(configuration: tuple[int, int]) -> Call:
        warps, rows = configuration

        def call(x: Any, gain: Any) -> Any:
            y = torch.empty_like(x)
            rstd = torch.empty(count, dtype=torch.float32, device=x.device)
            if rows == 1:
                kernels.rms_norm_row[(count,)](
                    x, gain, y, rstd, width, EPS, BLOCK=block, HAS_W=True, num_warps=warps
                )
            else:
                kernels.rms_norm_rows[(triton.cdiv(count, rows),)](
                    x, gain, y, rstd, count, width, EPS, BLOCK=block, ROWS=rows, num_warps=warps
                )
            return y

        return call

    configurations = [(warps, 1) for warps in (4, 8, 16) if 128 * warps <= max(width, 512)]
    if width <= 2048:
        configurations += [(4, 2), (4, 4), (8, 4)]
    return fastest(setting, configurations, make)


def triton_ntrans(setting: Setting) -> Call:
    """nGPT's residual, a row per program."""
    torch = setting.torch
    triton: Any = import_module("triton")
    kernels: Any = import_module("peers.triton_kernels")
    count, width = setting.sets[0][0].shape

    def make(warps: int) -> Call:
        def call(h: Any, x: Any, alpha: Any) -> Any:
            y = torch.empty_like(x)
            kernels.ntrans_row[(count,)](
                h, x, alpha, y, width, EPS, BLOCK=triton.next_power_of_2(width), num_warps=warps
            )
            return y

        return call

    return fastest(setting, [4, 8, 16, 32], make)


def liger(setting: Setting) -> Call:
    """Liger's Triton kernel."""
    module: Any = import_module("liger_kernel.ops.rms_norm")

    def call(x: Any, gain: Any) -> Any:
        return module.rms_norm_forward(x, gain, EPS, 0.0, "llama", None)[0]

    return call


def quack(setting: Setting) -> Call:
    """QuACK's kernel in CuTe's language."""
    module: Any = import_module("quack.rmsnorm")

    def call(x: Any, gain: Any) -> Any:
        return module.rmsnorm_fwd(x, gain, eps=EPS)[0]

    return call
