"""
Whether a change that moves code leaves all kernels as they were.

    python benchmarks/fingerprints.py --write FILE [--only WORDS] [--jobs N]
    python benchmarks/fingerprints.py --compare FILE [--only WORDS] [--jobs N]

For each workload (`test/workloads`) and each kind of kernel (`test/support/kernel_kinds.py`), and
for both instruction sets, FILE has a hash of the graph that was chosen, as text, and one of the
PTX. A change of the IR's syntax changes the first; nothing but a change of a kernel changes the
second. Comparing exits with 1 where a PTX differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from mirage_mlir.driver.as_written import compile_as_written
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import alone, functions, parse_program, text_of
from mirage_mlir.driver.superoptimize import superoptimize_function
from mirage_mlir.targets.target import DEFAULT_CHIPS

ROOT = Path(__file__).parents[1]

Hashes = dict[str, str]


def hashed(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ptx_of(compiled: Iterable[CompiledFunction]) -> Hashes:
    """The hash of each chip's PTX."""
    return {f"ptx {each.code.target}": hashed(each.ptx) for each in compiled}


def of_workload(name: str) -> Hashes:
    """What is found for a workload, by its name."""
    path = ROOT / "test" / "workloads" / f"{name}.mlir"
    module = parse_program(path.read_text(), path.name)
    options = Options(chips=DEFAULT_CHIPS, cache=False)
    found = superoptimize_function(module, functions(module)[0].sym_name.data, options)
    graphs = {
        f"graph {chip}": hashed(text_of(alone(offer.function)))
        for chip, offer in found.offers.items()
    }
    return {**graphs, **ptx_of(found.compiled)}


def of_kind(name: str) -> Hashes:
    """What a hand-written graph becomes, by its name."""
    import kernel_kinds

    kind = kernel_kinds.KINDS[name]
    hashes: Hashes = {}
    for chip in kernel_kinds.CHIPS:
        if kind.marks_on(chip) is not None:
            packed = bool(kind.constants)
            hashes |= ptx_of(compile_as_written(kind.module(), "f", (chip,), pack=packed)[1])
    return hashes


def of_program(name: str) -> tuple[str, Hashes]:
    """Name and hashes of a workload or a kind."""
    folder, _, stem = name.partition("/")
    return name, of_workload(stem) if folder == "workloads" else of_kind(stem)


def names() -> list[str]:
    """All workloads and kinds."""
    import kernel_kinds

    files = sorted((ROOT / "test" / "workloads").glob("*.mlir"))
    return [f"workloads/{path.stem}" for path in files] + [
        f"kinds/{name}" for name in kernel_kinds.KINDS
    ]


def differences(old: Mapping[str, Hashes], new: Mapping[str, Hashes]) -> list[str]:
    """A line for each hash that changed or that one side lacks."""
    return [
        f"{name}: {what} {old.get(name, {}).get(what)} -> {hashes.get(what)}"
        for name, hashes in new.items()
        for what in sorted({*old.get(name, {}), *hashes})
        if old.get(name, {}).get(what) != hashes.get(what)
    ]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="hashes of all kernels")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--write", type=Path, metavar="FILE")
    group.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--only", default="", help="words, one of which a name has")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    chosen = [name for name in names() if any(word in name for word in options.only.split(","))]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        found = dict(pool.map(of_program, chosen))
    if options.write:
        options.write.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    changed = differences(json.loads(options.compare.read_text()), found)
    print("\n".join([*changed, f"{len(found)} programs, {len(changed)} hashes differ"]))
    return any(": ptx " in line for line in changed)


sys.path[:0] = [str(ROOT / "test" / "support")]

if __name__ == "__main__":
    sys.exit(main())
