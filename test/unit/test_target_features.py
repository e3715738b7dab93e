"""Code asks a target for its features: the names of chips and GPUs stand in its rows alone."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mirage_mlir.targets.target import (
    DEFAULT_CHIPS,
    GPUS,
    H200,
    MMA_INSTRUCTIONS,
    SUPPORTED,
    TARGETS,
    Feature,
    Target,
)

ROOT = Path(__file__).parents[2] / "mirage_mlir"

ROWS = ROOT / "targets" / "target.py"

NAMES = re.compile(r"\bsm_?\d{2,3}[af]?\b|\b[AHB][12]00\b", re.IGNORECASE)

# glob, unlike rglob, follows the links to dialects/ and passes/.
FOLDERS = [ROOT, *(path for path in ROOT.iterdir() if path.is_dir())]
FILES = sorted({path for folder in FOLDERS for path in folder.glob("**/*.py")} - {ROWS})


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Strings and names of the code, with their lines; docstrings may tell what was measured."""
    told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if node not in told:
                yield node.lineno, text
            case ast.Name(id=text) | ast.Attribute(attr=text):
                yield node.lineno, text
            case ast.alias(name=text) | ast.arg(arg=text):
                yield node.lineno, text
            case ast.FunctionDef(name=text) | ast.ClassDef(name=text):
                yield node.lineno, text
            case _:
                pass


def sizes(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """The whole numbers of the code, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield node.lineno, node.value


def chips_in(source: str, counts: frozenset[int]) -> list[str]:
    """What of `source` only a target's row should know."""
    tree = ast.parse(source)
    names = [f"{line}: {text}" for line, text in texts(tree) if NAMES.search(text)]
    return [*names, *(f"{line}: {size}" for line, size in sizes(tree) if size in counts)]


COUNTS = frozenset(target.sm_count for target in GPUS.values())


def test_no_name_of_a_chip_outside_its_row() -> None:
    found = {
        str(path.relative_to(ROOT)): chips
        for path in FILES
        if (chips := chips_in(path.read_text(encoding="utf-8"), COUNTS))
    }
    assert len(FILES) > 100
    assert found == {}


@pytest.mark.parametrize(
    "source",
    ['CHIP = "sm_90a"', "H100 = 1", "blocks = 132", 'fail(f"{x} needs sm_90")', "import rows.A100"],
)
def test_they_would_be_found(source: str) -> None:
    assert chips_in(source, COUNTS)


def test_docstrings_may_tell_what_was_measured() -> None:
    assert not chips_in('"""On an H200, sm_90a, it took 132 us."""', COUNTS)


@pytest.mark.parametrize("target", GPUS.values(), ids=list(GPUS))
def test_features_and_numbers_agree(target: Target) -> None:
    """A number that only a feature gives is there where the feature is."""
    assert target.mma == tuple(each for each in MMA_INSTRUCTIONS if each in target.features)
    assert target.has_clusters == (target.cluster_max > 0) == (target.sm_count_in_clusters > 0)
    assert target.has_tma == (target.tma_bandwidth > 0) == (target.tma_l2_bandwidth_per_sm > 0)
    assert target.has_wgmma == (target.wgmma_throughput > 0)
    assert not target.has_multicast or (target.has_tma and target.has_clusters)
    assert Feature.MMA_SYNC in target.features


def test_an_instruction_set_stands_for_the_first_gpu_with_it() -> None:
    for target in GPUS.values():
        alike = [each for each in GPUS.values() if each.chip == target.chip]
        assert TARGETS[target.chip] is alike[0]


def test_a_feature_without_lowering_is_refused() -> None:
    """By one line that names it, whatever else the GPU can do."""
    later = replace(H200, name="X", chip="sm_999", features=H200.features | {Feature.TCGEN05})
    with pytest.raises(ValueError, match=r"for X \(sm_999\): its MMA instructions, tcgen05, have"):
        later.require_lowering()
    for name, target in TARGETS.items():
        assert (name in SUPPORTED) == (target.chip in DEFAULT_CHIPS)
