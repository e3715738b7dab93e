"""The table of timed cases: what its lines say of ours and of the peers."""

from collections.abc import Mapping
from typing import Any

OURS, PACKED = "mirage", "mirage, packed"
"""Our kernel, and the same one reading packed constants: each call behind another of its own."""

BEHIND = ", behind others"
"""Follows these names where each call starts as behind kernels of another library."""

LATENCY_BOUND = 5e-6
"""Seconds: a floor below it says little."""


def is_ours(name: str) -> bool:
    """Whether a time is of our kernels."""
    return name.removesuffix(BEHIND) in (OURS, PACKED)


def behind(microseconds: Mapping[str, float]) -> float | None:
    """Our time behind another library, packed or not; in a chain where that alone was taken."""
    names = [name for name in microseconds if is_ours(name)]
    wanted = [name for name in names if name.endswith(BEHIND)] or names
    return min((microseconds[name] for name in wanted), default=None)


def header() -> str:
    """The names of the columns of `line`."""
    return (
        f"{'case':34}{'chain':>8}{'packed':>8}{'behind':>8}{'peer':>8}  {'which':22}{'ratio':>6}"
        f"{'must':>6}{'aim':>6}{'/floor':>8}{'error':>9}"
    )


def line(row: Mapping[str, Any]) -> str:
    """One case as a line of the table."""
    name = f"{row['program']} {row['label']} {row['dtype']}"
    times: Mapping[str, float] = row["microseconds"]
    best, ours = row["best_peer"], behind(times)
    shown = (times.get(OURS), times.get(PACKED), ours, times.get(best))
    cells = f"{name:34}{''.join(f'{number(time):>8}' for time in shown)}  {best or '-':22}"
    over = ours / row["floor_us"] if ours and row["floor_us"] > LATENCY_BOUND * 1e6 else None
    verdict = "" if met(row, "must") else "  MISSED"
    error = row["errors"].get(OURS)
    return (
        f"{cells}{number(row['ratio'], 2):>6}{number(row['must'], 2):>6}"
        f"{number(row['aim'], 2):>6}"
        f"{number(over, 2):>8}{'-' if error is None else format(error, '9.1e'):>9}{verdict}"
    )


def left_out(row: Mapping[str, Any]) -> list[str]:
    """A line for each implementation that was not timed: its result is wrong, or it raised."""
    wrong = {
        name: f"wrong, error {error:.1e}"
        for name, error in row["errors"].items()
        if name not in row["microseconds"]
    }
    return [f"  ! {name}: {why}" for name, why in (wrong | row["problems"]).items()]


def number(value: float | None, digits: int = 1) -> str:
    """A number or a dash."""
    return "-" if value is None else f"{value:.{digits}f}"


def met(row: Mapping[str, Any], bar: str) -> bool:
    """Whether a case is within a bar; any ratio is where there is none."""
    return row["ratio"] is not None and (row[bar] is None or row["ratio"] <= row[bar])
