"""Line plots as SVG, which any browser shows and a diff can follow."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 640, 400, 56
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")


@dataclass(frozen=True)
class Line:
    """Points of one line, and its name."""

    name: str
    points: Sequence[tuple[float, float]]


def _ticks(most: float) -> list[float]:
    """Up to six round numbers from 0 to `most`."""
    step = 10.0 ** len(str(int(most)))
    for divisor in (10, 5, 2, 1):
        for scale in (1, 10, 100, 1000):
            candidate = step / (divisor * scale)
            if 3 <= most / candidate <= 6:
                return [candidate * i for i in range(int(most / candidate) + 2)]
    return [0.0, most]


def svg(title: str, across: str, up: str, lines: Sequence[Line]) -> str:
    """The lines in one coordinate system that starts at (0, 0)."""
    points = [point for line in lines for point in line.points]
    x_ticks = _ticks(max(x for x, _ in points))
    y_ticks = _ticks(max(y for _, y in points))

    def place(x: float, y: float) -> tuple[float, float]:
        right = MARGIN + x / x_ticks[-1] * (WIDTH - 2 * MARGIN)
        return right, HEIGHT - MARGIN - y / y_ticks[-1] * (HEIGHT - 2 * MARGIN)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="24" text-anchor="middle" font-size="15">{title}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{across}</text>',
        f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" '
        f'transform="rotate(-90 16 {HEIGHT / 2})">{up}</text>',
    ]
    for tick in x_ticks:
        x, y = place(tick, 0)
        parts.append(f'<path d="M{x:.1f} {y:.1f} V{MARGIN}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{tick:g}</text>')
    for tick in y_ticks:
        x, y = place(0, tick)
        parts.append(f'<path d="M{x:.1f} {y:.1f} H{WIDTH - MARGIN}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        places = [place(x, y) for x, y in line.points]
        path = " ".join(f"{'ML'[i > 0]}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(places))
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        y = MARGIN + 8 + 16 * number
        parts.append(f'<text x="{MARGIN + 12}" y="{y}" fill="{colour}">{line.name}</text>')
    return "\n".join([*parts, "</svg>\n"])
