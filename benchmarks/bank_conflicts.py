"""
Conflicts of the banks of shared memory: what the kernels should have, and what `ncu` counts.

    python benchmarks/bank_conflicts.py                     each kind of kernel, and large programs
    python benchmarks/bank_conflicts.py --only attention    those with this in their names
    python benchmarks/bank_conflicts.py --expect            without a GPU: what they should have
    python benchmarks/bank_conflicts.py f.mirage g.mirage   these artifacts

The interpreter of lowered kernels runs every instruction of a kernel, and counts what each warp
asks of the banks (`mirage_mlir/layouts/banks.py`). It runs all blocks of small kernels; of others
the first cluster, which stands for all. `ncu` reports the same for each instruction of the machine
code, and counters of the multiprocessor for each kernel. The former must be what is expected. The
latter have more: a store that waits for a tensor copy, or for the tensor core, counts as a conflict
there.

Instructions may be fewer than operations that were lowered, with fewer conflicts: the compiler
merges loads from one address and neighbouring accesses, and does in some threads what only these
need. Reads of other blocks' memory are counted in neither.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from math import prod
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sanitize import WHERE, save
from workloads import Workload, bank_workloads, build_all

from mirage_mlir.runtime.artifact import Artifact, TargetCode

if TYPE_CHECKING:
    from xdsl.dialects import gpu as gpu_dialect

COUNTERS = (
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
)
"""Of the multiprocessor; a wavefront is a pass of the banks."""

BY_INSTRUCTION = {
    "inst_executed": "instructions",
    "memory_l1_wavefronts_shared": "passes",
    "memory_l1_wavefronts_shared_ideal": "least",
    "memory_l2_theoretical_sectors_global": "sectors",
    "memory_l2_theoretical_sectors_global_ideal": "fewest",
}
"""Of each instruction of the machine code."""

COPY = "cp.async"

INSTRUCTIONS = {
    "LDS": "load",
    "STS": "store",
    "LDSM": "ldmatrix",
    "LDGSTS": COPY,
    "LD": "load of the cluster",
    "LDG": "load",
    "STG": "store",
}
"""What instructions of the machine code are called here."""

MERGED = ("load", "store")
"""Instructions of which there may be fewer than operations that were lowered."""

ALL_BLOCKS = 64
"""Kernels of so many blocks are interpreted wholly: a second or so."""

RUNNER = Path(__file__).with_name("sanitize.py")


@dataclass
class Access:
    """
    Instructions of one sort in one kernel.

    Args:
        instructions: of warps, on shared memory.
        passes: of its banks.
        least: passes without conflicts.
        sectors: of device memory, of 32 bytes.
        fewest: sectors that the bytes would fill.
    """

    instructions: int = 0
    passes: int = 0
    least: int = 0
    sectors: int = 0
    fewest: int = 0

    @property
    def conflicts(self) -> int:
        """Passes more than are needed."""
        return self.passes - self.least

    def __add__(self, other: "Access") -> "Access":
        both = (asdict(self), asdict(other))
        return Access(**{name: sum(each[name] for each in both) for name in both[0]})


Accesses = dict[str, Access]


@dataclass
class Measured:
    """What `ncu` says of a kernel."""

    kernel: str
    accesses: Accesses = field(default_factory=dict[str, Access])
    counters: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Expected:
    """What a kernel should do; from one cluster where not `whole`."""

    kernel: str
    whole: bool
    accesses: Accesses


# --- what is expected


def expected(path: Path) -> list[Expected]:
    """What the interpreter counts, for each kernel of an artifact."""
    import numpy as np

    from mirage_mlir.interpreters.gpu_simulator import random_inputs, run_kernels
    from mirage_mlir.interpreters.gpu_simulator.traffic import TrafficWatcher

    code = Artifact.load(path).targets[0]
    kernels = lowered(code)
    whole = all(prod(launch.grid) <= ALL_BLOCKS for launch in code.launches)
    # What blocks that do not run would have written is missing, and no fault.
    watcher = TrafficWatcher(keep_going=not whole)
    inputs = random_inputs(kernels)
    with np.errstate(all="ignore"):
        run_kernels(kernels, inputs, blocks=None if whole else {(0, 0, 0)}, checker=watcher)
    found: list[Expected] = []
    for launch in code.launches:
        asked = watcher.kernels[launch.kernel]
        times = 1 if whole else prod(launch.grid) // blocks_together(kernels, launch.kernel)
        # What threads copy is written as it comes, one line of device memory after the other.
        passes = asked.passes | Counter({COPY: asked.lines[COPY]})
        accesses = {
            name: Access(
                times * asked.instructions[name],
                times * passes[name],
                times * asked.least[name],
                times * asked.sectors[name],
                times * asked.fewest[name],
            )
            for name in sorted({*asked.passes, *asked.sectors})
        }
        found.append(Expected(launch.kernel, whole, accesses))
    return found


def lowered(code: TargetCode) -> "gpu_dialect.ModuleOp":
    """The kernels of an artifact, made again from its uGraph."""
    from xdsl.dialects import gpu

    from mirage_mlir.driver.source import compiler_context, parse_program
    from mirage_mlir.passes.pipelines import lowering_passes

    module = parse_program(code.ugraph, "ugraph")
    # Code that is kept as PTX for later GPUs says so.
    target = "sm_80" if code.target == "sm_90" else code.target
    for each in lowering_passes(target, pack=bool(code.packed)):
        each.apply(compiler_context(), module)
    return next(op for op in module.body.block.ops if isinstance(op, gpu.ModuleOp))


def blocks_together(kernels: "gpu_dialect.ModuleOp", name: str) -> int:
    """Blocks of a cluster."""
    from xdsl.dialects import llvm
    from xdsl.dialects.builtin import DenseArrayBase

    for op in kernels.body.block.ops:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data == name:
            found = op.attributes.get("nvvm.cluster_dim")
            return prod(found.get_values()) if isinstance(found, DenseArrayBase) else 1
    raise ValueError(f"there is no kernel {name}")


# --- what is measured


def ncu() -> str | None:
    """The path of ncu."""
    return shutil.which("ncu", path=os.pathsep.join([os.environ.get("PATH", ""), *WHERE]))


def measure(program: str, paths: Sequence[Path], folder: Path) -> list[Measured]:
    """What `ncu` says of all kernels of the artifacts, in the order of their launches."""
    report = folder / "report.ncu-rep"
    names = ",".join([*BY_INSTRUCTION, *(f"{name}.sum" for name in COUNTERS)])
    profile = [program, "--clock-control", "none", "--metrics", names, "-f", "-o", str(report)]
    run([*profile, sys.executable, str(RUNNER), "--run", *map(str, paths)])
    pages = {
        page: run([program, "-i", str(report), "--page", page, "--csv"])
        for page in ("source", "raw")
    }
    found = list(by_instruction(pages["source"]))
    for kernel, row in zip(found, counters(pages["raw"]), strict=True):
        if row["Kernel Name"] != kernel.kernel:
            raise ValueError(f"ncu reports {row['Kernel Name']} and {kernel.kernel} as one kernel")
        kernel.counters.update({name: whole(row[f"{name}.sum"]) for name in COUNTERS})
    return found


def run(command: Sequence[str]) -> str:
    """What a command prints; ends the script where it fails."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command[:4])} failed:\n{result.stdout[-3000:]}")
    return result.stdout


def whole(text: str) -> int:
    """A number as ncu writes it."""
    return round(float(text.replace(",", "") or 0))


def by_instruction(text: str) -> Iterator[Measured]:
    """Page "source": for each kernel a name, column titles, and a row for each instruction."""
    kernel, titles = None, list[str]()
    for row in csv.reader(text.splitlines()):
        if row[:1] == ["Kernel Name"]:
            if kernel is not None:
                yield kernel
            kernel = Measured(row[1])
        elif row[:1] == ["Address"]:
            titles = row
        elif kernel is not None and len(row) == len(titles):
            add_instruction(kernel.accesses, dict(zip(titles, row, strict=True)))
    if kernel is not None:
        yield kernel


def add_instruction(accesses: Accesses, row: dict[str, str]) -> None:
    """Count an instruction, of which the predicate is no part of the name."""
    words = [word for word in row["Source"].split() if not word.startswith("@")]
    name = INSTRUCTIONS.get(words[0].partition(".")[0]) if words else None
    if name is None:
        return
    # ncu leaves a column out where it is zero for all instructions of a kernel.
    found = Access(**{part: whole(row.get(metric, "")) for metric, part in BY_INSTRUCTION.items()})
    if not found.passes:
        # Of device memory, or by no thread at all.
        found.instructions = 0
    accesses[name] = accesses.get(name, Access()) + found


def counters(text: str) -> Iterator[dict[str, str]]:
    """Page "raw": column titles, units, and a row for each kernel."""
    rows = [row for row in csv.reader(text.splitlines()) if len(row) > len(COUNTERS)]
    start = next(number for number, row in enumerate(rows) if row[0] == "ID")
    for row in rows[start + 2 :]:
        yield dict(zip(rows[start], row, strict=True))


# --- both


def lines_of(name: str, should: Expected, has: Measured | None) -> Iterator[str]:
    """A kernel, and what each sort of instruction asks for."""
    yield f"{name}: {should.kernel}{'' if should.whole else ' (first cluster, times all)'}"
    for sort in sorted({*should.accesses, *(has.accesses if has else ())}):
        one = should.accesses.get(sort, Access())
        other = has.accesses.get(sort, Access()) if has else None
        found = [
            described(one.passes, one.least, other and other.passes, "passes", "conflicts"),
            described(one.sectors, one.fewest, other and other.sectors, "sectors", "too many"),
        ]
        yield f"    {sort:20} {'; '.join(each for each in found if each)}"
    if has:
        loads, stores, *_ = (has.counters[each] for each in COUNTERS)
        yield f"    counted by the multiprocessor: conflicts of loads {loads}, of stores {stores}"


def described(one: int, least: int, other: int | None, what: str, more: str) -> str:
    """Numbers expected and measured."""
    if not one and not other:
        return ""
    text = f"{one} {what}" + (f", {one - least} {more}" if one > least else "")
    if other is None:
        return text
    return text + (" (measured: the same)" if other == one else f" (measured: {other})")


def agree(should: Expected, has: Measured) -> bool:
    """
    Whether all passes of the banks are as expected.

    Loads and stores may be fewer, with no conflicts more.
    """
    for name in {*should.accesses, *has.accesses}:
        one, other = should.accesses.get(name, Access()), has.accesses.get(name, Access())
        fewer = name in MERGED and other.instructions < one.instructions
        if fewer and other.conflicts <= one.conflicts and 0 < other.passes < one.passes:
            continue
        if one.passes != other.passes:
            return False
    return True


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("artifacts", nargs="*", type=Path, help="files that 'save' wrote")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--expect", action="store_true", help="do not measure")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="to compile with")
    results = Path(__file__).parent / "results"
    parser.add_argument("--results", type=Path, default=results, help="where results go")
    return parser.parse_args()


def prepared(arguments: argparse.Namespace, folder: Path) -> list[Path]:
    """The artifacts to look at."""
    if arguments.artifacts:
        return list(arguments.artifacts)
    only: str = arguments.only
    chosen: list[Workload] = [work for work in bank_workloads() if only in work.name]
    return [save(built, folder) for built in build_all(chosen, arguments.jobs)]


def write(rows: list[dict[str, object]], folder: Path) -> None:
    """Results, with what they depend on."""
    import gpu

    torch = gpu.torch_module()
    found = {"environment": gpu.environment(torch), "kernels": rows}
    folder = folder / gpu.machine_name(torch)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now(UTC):%Y-%m-%d}-bank_conflicts.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    print(f"wrote {path}")


def main() -> int:
    """Compare; 1 where a kernel does not do what is expected."""
    arguments = parse()
    program = None if arguments.expect else ncu()
    if program is None and not arguments.expect:
        raise SystemExit(f"there is no ncu on PATH nor in {', '.join(WHERE)}")
    with TemporaryDirectory() as name:
        paths = prepared(arguments, Path(name))
        with get_context("spawn").Pool(max(1, arguments.jobs)) as pool:
            # Interpreted while the GPU is busy.
            pending = pool.map_async(expected, paths, chunksize=1)
            has = measure(program, paths, Path(name)) if program else None
            should = [
                (path.stem, each)
                for path, some in zip(paths, pending.get(), strict=True)
                for each in some
            ]
    rows: list[dict[str, object]] = []
    tally: Counter[bool] = Counter()
    for number, (artifact, one) in enumerate(should):
        other = has[number] if has else None
        print("\n".join(lines_of(artifact, one, other)))
        row: dict[str, object] = {"artifact": artifact, "expected": asdict(one)}
        if other:
            tally[agree(one, other)] += 1
            row |= {"measured": asdict(other), "agree": agree(one, other)}
        rows.append(row)
    if has:
        print(f"{tally[True]} kernels as expected, {tally[False]} not")
        write(rows, arguments.results)
    return 1 if tally[False] else 0


if __name__ == "__main__":
    sys.exit(main())
