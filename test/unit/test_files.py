"""Files are short, and a class of the sources has a name of its own."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MOST_LINES = 400
"""A longer file has more than one purpose."""

LONGER: frozenset[str] = frozenset()
"""Those that wait for their split."""

SOURCES = ("dialects", "passes", "mirage_mlir")

SHARED = {
    "one operation, of several dialects": {"BarrierOp", "StoreOp"},
    "one notion, of the search and of the algebra of its expressions": {"Function", "Input"},
    "one notion, in two algebras of normal forms": {
        *("Algebra", "Factor", "Functions", "Monomial"),
    },
    "one notion, at two levels of the program": {
        *("Chain", "Dependence", "Extent", "Kernel", "KernelResources", "Operand", "Output"),
        *("Stage", "Tensor", "TensorView", "Value"),
    },
    "one notion, for users and in the compiler": {"CompiledFunction"},
    "one notion, for each kind of interpreter": {"Dim", "Operators"},
    "words that the name of the file makes clear, of which no file imports two": {
        *("Choice", "Piece", "Reading", "Saturation", "Source", "Split", "Step"),
    },
}
"""Names that several classes have, by why they may."""


def files(*folders: str) -> list[Path]:
    """Python files, without what is reached through links."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted({path.resolve() for path in found})


def test_files_are_short() -> None:
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in files(*SOURCES, "benchmarks", "test", "tools")
    }
    assert len(lengths) > 600, "the folders are found"
    assert {name: count for name, count in lengths.items() if count > MOST_LINES}.keys() == LONGER


DIALECTS = ("kernel", "threadblock", "stablehlo")
"""Of operators that have one name in all of them."""


def is_of_operators(path: Path) -> bool:
    """Whether a file defines operators, which tensors and tiles have under one name."""
    return path.parent.name == "dialects" and path.name.startswith(DIALECTS)


def test_classes_have_names_of_their_own() -> None:
    """Names for one file alone, with an underscore, do not count."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in files(*SOURCES):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    shared = {
        name
        for name, paths in found.items()
        if len(paths) > 1 and not all(map(is_of_operators, paths))
    }
    assert shared == set().union(*SHARED.values())
