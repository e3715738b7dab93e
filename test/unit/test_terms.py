"""Sources and documents say what the field says: home-made terms do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FOLDERS = ("dialects", "passes", "mirage_mlir", "docs")

HOME_MADE = {
    # "In turn", "take turns", and what turns something into something else are ordinary English.
    r"(?<!in )(?<!take )(?<!takes )\bturns?\b(?! (into|out|each|every|operators|what|until))": (
        "iteration"
    ),
    r"turns?_(of|ahead|at)|(copy|run|first|over|last)_turns?": "iteration",
    r"warp[- ]groups?": "warpgroup",
    r"(kernel|one) in\s+front|kernel_in_front": "previous grid",
    r"tiles?\s+that\s+stays?\b|\b(copied|copy)_stays\b|\bis_stay\b": "loop-invariant tile",
    r"\bmeetings?\b|\bmeet_(block|cluster)": "barrier",
    r"(threads|warps|lanes|blocks|cluster) (all )?(meet|met)\b": "synchronize",
    r"stabilis": "row maximum, stabilize",
    r"leave_part|LeavePart|sums_in_scratch": "partial sum, workspace",
    r"\btrails?\b|\bTrail": "MMA interleaving",
    r"even_bytes": "occupancy-limiting shared memory",
    r"\balternates\b": "double-buffered",
    r"tell_producers": "consumer arrive",
    r"cluster_shares": "cluster reduction",
    r"\bfenced\s*=|\"fenced\"": "async-proxy fence",
    r"\bquads\b": "lane transpose",
    r"defer_reductions": "sunk reduction",
    r"\bstranger\b": "first divergence",
    r"\bhandover\b": "inter-block hand-off",
    r"[Mm]atrix units?\b": "tensor core",
    r"products? of warpgroups|warpgroups' products": "warpgroup matmul",
}
"""What was said, and what the field says; only words without another use in the sources."""


def sources() -> list[Path]:
    """Python and Markdown; the links inside of `mirage_mlir` lead to the first two folders."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        for suffix in ("py", "md"):
            found += sorted((ROOT / folder).rglob(f"*.{suffix}"))
    return [path for path in found if not path.parent.is_symlink()]


TEXTS = {path: path.read_text() for path in sources()}


def test_sources_are_found() -> None:
    """Files of all folders."""
    names = {path.relative_to(ROOT).parts[0] for path in TEXTS}
    assert names == {*FOLDERS, "README.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize("pattern", HOME_MADE)
def test_standard_terms(pattern: str) -> None:
    """Each place with a home-made term, by file and line."""
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}"
        for path, text in TEXTS.items()
        for match in re.finditer(pattern, text)
    ]
    assert not found, f"say {HOME_MADE[pattern]!r}"


def test_a_matmul_is_a_matmul() -> None:
    """In the model and the lowering; `product` is there that of scalars, as an expression says."""
    folders = ("mirage_mlir/search/cost_model", "mirage_mlir/decisions", "passes/mma")
    folders += ("passes/layouts", "passes/schedule", "passes/analysis")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}"
        for path, text in TEXTS.items()
        if path.relative_to(ROOT).as_posix().startswith(folders)
        for match in re.finditer(r"(?i)\bproducts?\b(?!\()|_products?\b", text)
        if "itertools" not in text[: match.start()].rpartition("\n")[2]
    ]
    assert not found, "say 'matmul'"
