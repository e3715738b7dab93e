"""The structures found for each program as a table, beside what an expert's kernels do."""

from typing import Any

from experts import EXPERTS

SHOWN = 3
"""Structures of a program in the table: the best, and the two after it."""


def _rows(name: str, run: dict[str, Any]) -> list[str]:
    alone = run["search"]["modelled_alone"] * 1e6
    rows: list[str] = []
    seen: set[str] = set()
    for rank, (structure, seconds) in enumerate(
        zip(run["structures"], run["modelled"], strict=True), start=1
    ):
        text = structure or f"each operator alone ({run['search']['operators']} operators)"
        if text in seen:
            continue
        seen.add(text)
        first = not rows
        rows.append(
            f"| {name if first else ''} | {rank} | `{text}` | {seconds * 1e6:.1f} | "
            f"{f'{alone:.1f}' if first else ''} | {EXPERTS.get(name, '') if first else ''} |"
        )
        if len(rows) == SHOWN:
            break
    return rows


def markdown(runs: dict[str, Any], machine: dict[str, object]) -> str:
    """The table; kernels of one structure are parted by semicolons."""
    lines = [
        "# Structures found",
        "",
        f"Written by `benchmarks/search/run.py`, {machine['date']}, commit {machine['commit']}. "
        "Times are the cost model's for an H200, in microseconds. `grid(i, k) loop(j)` names the "
        "axes that blocks cut and that they walk; `=1`: one index of the axis in each block; "
        "`across n blocks`: the blocks of a cluster add up what they sum. The rank is that among "
        "all that was kept; candidates of one structure with other tile sizes are left out.",
        "",
        "| program | rank | structure | modelled | operators alone | an expert's kernels |",
        "|---|---|---|---|---|---|",
    ]
    for name, run in runs.items():
        if "error" not in run:
            lines += _rows(name, run)
    return "\n".join(lines) + "\n"
