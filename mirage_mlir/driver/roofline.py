"""
The roofline of a kernel as a picture: operations per second that its bytes allow, and its own.

Source: Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures" (CACM 2009).
"""

from math import log10

from mirage_mlir.search.multi_kernel.explanation import KernelExplanation
from mirage_mlir.targets.target import target_named

WIDTH, HEIGHT = 520, 260
LEFT, RIGHT, TOP, BOTTOM = 74, 26, 14, 40
"""Margins."""

FIRST, LAST = -1.0, 4.0
"""Powers of ten of operations per byte."""

HIGH = 15.5
"""The power of ten of operations per second at the top."""


def roofline_svg(model: KernelExplanation, chip: str) -> str:
    """
    The picture; empty for a kernel without matmuls, which has no operations to count.

    The slope is the rate of device memory that the floor is taken with, the flat part that of the
    tensor cores.
    """
    if not (model.matmul_operations and model.dram_bytes and model.floor_seconds):
        return ""
    target = target_named(chip)
    peak = max(target.mma_throughput, target.wgmma_throughput)
    bandwidth = model.floor_bytes / model.floor_seconds
    intensity = model.matmul_operations / model.dram_bytes
    reached = model.matmul_operations / model.seconds
    low = log10(bandwidth) + FIRST
    ridge = peak / bandwidth
    roof = " ".join(
        _point(low, x, y) for x, y in ((10**FIRST, 10**low), (ridge, peak), (10**LAST, peak))
    )
    x, y = _place(low, intensity, reached)
    _, above = _place(low, intensity, min(peak, intensity * bandwidth))
    side, anchor = (-9, "end") if intensity > ridge else (9, "start")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="12">',
            "<title>Roofline</title>",
            *_axes(low),
            f'<polyline points="{roof}" fill="none" stroke="#1a73e8" stroke-width="2"/>',
            f'<line x1="{x:.1f}" y1="{above:.1f}" x2="{x:.1f}" y2="{y:.1f}" stroke="#5f6368" '
            'stroke-dasharray="3 3"/>',
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#e8710a"/>',
            f'<text x="{x + side:.1f}" y="{y + 16:.1f}" text-anchor="{anchor}">'
            f"{intensity:.1f} FLOP/byte, {reached / 1e12:.2f} TFLOP/s</text>",
            f'<text x="{WIDTH - RIGHT}" y="{_place(low, 1.0, peak)[1] - 6:.1f}" text-anchor="end" '
            f'fill="#1a73e8">{peak / 1e12:.0f} TFLOP/s, {bandwidth / 1e12:.2f} TB/s</text>',
            "</svg>",
        ]
    )


def _place(low: float, intensity: float, rate: float) -> tuple[float, float]:
    """Where operations per byte and per second are, in pixels, within the frame."""
    across = (log10(intensity) - FIRST) / (LAST - FIRST)
    up = (log10(rate) - low) / (HIGH - low)
    across, up = min(max(across, 0.0), 1.0), min(max(up, 0.0), 1.0)
    return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)


def _point(low: float, intensity: float, rate: float) -> str:
    x, y = _place(low, intensity, rate)
    return f"{x:.1f},{y:.1f}"


def _axes(low: float) -> list[str]:
    parts = [
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{HEIGHT - TOP - BOTTOM}" fill="#fafafa" stroke="#dadce0"/>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle" '
        'fill="#5f6368">operations of matmuls per byte of device memory</text>',
    ]
    for power in range(int(FIRST), int(LAST) + 1):
        x, _ = _place(low, 10.0**power, 10**low)
        parts.append(
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle" fill="#5f6368">'
            f"{10.0**power:g}</text>"
        )
    for power in range(12, int(HIGH) + 1):
        _, y = _place(low, 1.0, 10.0**power)
        parts.append(
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#5f6368">'
            f"{10 ** (power - 12):g} TF/s</text>"
        )
    return parts
