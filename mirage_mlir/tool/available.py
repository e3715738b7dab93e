"""The dialects, passes and output formats that `mirage-opt` has."""

from collections.abc import Iterable

from xdsl.universe import XDSL_UNIVERSE, Universe

from mirage_mlir.suggestions import suggestion
from mirage_mlir.universe import MIRAGE_UNIVERSE

GENERIC_PASSES = {
    "canonicalize": "Simplify operations by the rules of their dialects.",
    "cse": "Compute once what equal operations compute.",
    "dce": "Remove unused operations without effects.",
    "licm": "Move loop-invariant operations out of `scf` loops.",
}
"""
The passes of xDSL that make sense between ours, with a summary each.

The others are for other machines and dialects (stencils, RISC-V, x86, CSL, ...): `xdsl-opt`, which
knows our dialects and passes too, has them all.
"""

GENERIC_TARGETS = {"mlir": "The program as MLIR text; the default."}
"""The output formats of xDSL that fit our programs."""


def available() -> Universe:
    """
    What we and other installed packages have, all dialects of xDSL, and its generic passes.

    In a checkout that is not installed (`tools/mirage-opt`) no entry point names ours.
    """
    found = Universe.get_multiverse()
    foreign_passes = XDSL_UNIVERSE.all_passes.keys() - GENERIC_PASSES.keys()
    foreign_targets = XDSL_UNIVERSE.all_targets.keys() - GENERIC_TARGETS.keys()
    passes = {**found.all_passes, **MIRAGE_UNIVERSE.all_passes}
    targets = {**found.all_targets, **MIRAGE_UNIVERSE.all_targets}
    return Universe(
        all_dialects={**found.all_dialects, **MIRAGE_UNIVERSE.all_dialects},
        all_passes={name: load for name, load in passes.items() if name not in foreign_passes},
        all_targets={name: load for name, load in targets.items() if name not in foreign_targets},
    )


def about_unknown(name: str, known: Iterable[str]) -> str:
    """The end of an error about a pass or an output format that there is not."""
    word = name.lstrip("-")
    if word in XDSL_UNIVERSE.all_passes or word in XDSL_UNIVERSE.all_targets:
        return f" (one of xDSL's, which xdsl-opt has){suggestion(name, known)}"
    return suggestion(name, known)
