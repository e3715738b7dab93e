"""Searches, compiles, times and compares; see `run.py`."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import gpu
from kernels.case import Case
from kernels.command_line import parse, uses_compile
from kernels.lines import BEHIND, OURS, PACKED, behind, header, is_ours, left_out, line, met
from kernels.older_code import (
    Compiler,
    compiler,
    generate_by_triton,
    is_peer,
    means,
    what_ran,
)
from kernels.ours import Searched, behind_others, program_of, search
from kernels.programs import chosen, table
from kernels.weight_layouts import summary, with_out_in
from kernels.workload_files import NO_BAR, cases_in
from measured import SharedMachine, compile_all, shared, time_one
from peers.attention_libraries import PACKAGES
from peers.peer import Call, Inputs, Peer, Setting, prepared
from peers.table import (
    COMPILED,
    compile_peers,
    dtype_of,
    function_of,
    peers_of,
    random_inputs,
    use_caches,
)

import mirage_mlir as mi
from mirage_mlir.driver.bench import AS_GOOD
from mirage_mlir.driver.compile import CompiledFunction
from mirage_mlir.driver.machine import this_machine
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import alone, text_of
from mirage_mlir.driver.timer import Job
from mirage_mlir.driver.timings import Timed, Timings
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.runtime.present_gpu import present_target
from mirage_mlir.targets.target import target_named
from mirage_mlir.worker import WorkerError, Workers, workers

TOLERANCE = {"f16": 5e-4, "bf16": 4e-3, "f32": 1e-5}
"""The largest relative error in the 2-norm that counts as right."""

PEER_TOLERANCE = 10.0
"""How many times more a peer may be off: its sums may be in half precision."""

CHECKS = 2
"""Fresh inputs on which our kernel is compared with float64."""

MATRIX_RATE = 7.9e14
"""Operations per second of a large product, as an H200 was seen to reach."""

MOST_BYTES = 400 << 20
"""Inputs of more than this need no rotation: one set is larger than L2 many times."""


@dataclass
class Suite:
    """What all cases share."""

    torch: Any
    arguments: Namespace
    compiler: Compiler
    rate: float
    """Bytes per second of a large copy."""
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    start: float = field(default_factory=perf_counter)

    @property
    def replays(self) -> int:
        """Of each graph."""
        return 20 if self.arguments.quick else 50

    def peers(self, case: Case) -> list[Peer]:
        """Those to time."""
        peers = peers_of(case)
        if self.arguments.code is not None:
            peers = [peer for peer in peers if is_peer(peer)]
        if uses_compile(self.arguments, case):
            return peers
        return [peer for peer in peers if peer.name != COMPILED]

    # One case

    def run(self, case: Case, searched: Searched, timings: Timings) -> dict[str, Any]:
        """Check and time ours and the peers."""
        torch = self.torch
        floor = max(case.bytes / self.rate, case.flops / MATRIX_RATE)
        row: dict[str, Any] = {
            "program": case.program,
            "label": case.label,
            "dtype": case.dtype,
            "bytes": case.bytes,
            "floor_us": floor * 1e6,
            "must": case.bar.must,
            "aim": case.bar.aim,
            "search_seconds": searched.seconds,
            "candidates": [one.fields() for one in timings.candidates],
        }
        sets = [random_inputs(torch, case) for _ in range(set_count(case))]
        calls: dict[str, tuple[Call, Sequence[Inputs]]] = {}
        errors, problems = dict[str, float](), dict[str, str]()
        kernels = {} if timings.best is None else self.kernels(case, timings.best)
        for name, kernel in kernels.items():
            errors[name] = max(self.error(case, kernel) for _ in range(CHECKS))
            calls[name] = (kernel, sets)
        if timings.best is not None:
            row |= about(timings.best)
        for peer in self.peers(case):
            try:
                ready = prepared(peer, sets)
                call = peer.build(Setting(torch, ready))
                errors[peer.name] = self.peer_error(case, peer, call)
                calls[peer.name] = (call, ready)
            # Whatever keeps a peer from running, ours and the others are timed.
            except Exception as error:
                problems[peer.name] = " ".join(str(error).split())[:200]
        row |= {"errors": errors, "problems": problems}
        own = errors.get("eager", 0.0) if case.file else 0.0
        right = {
            name: call for name, call in calls.items() if is_right(case, name, errors[name], own)
        }
        row |= self.times(right)
        for kernel in kernels.values():
            kernel.release()
        del sets, calls, right
        torch.cuda.empty_cache()
        return row

    def kernels(self, case: Case, best: Timed) -> dict[str, mi.CompiledKernel]:
        """What was found, and where asked for and possible the same with packed constants."""
        assert best.compiled is not None
        assert best.offer is not None
        found = {OURS: kernel_of(case, best.compiled)}
        if self.arguments.pack:
            text, name = text_of(alone(best.offer.function)), best.compiled.name
            packed = self.compiler(Job(text, name, self.arguments.target, pack=True))
            if packed.code.packed:
                found[PACKED] = kernel_of(case, packed)
        return found | {f"{name}{BEHIND}": behind_others(each) for name, each in found.items()}

    def times(self, calls: Mapping[str, tuple[Call, Sequence[Inputs]]]) -> dict[str, Any]:
        """Microseconds of all implementations, and how ours stands."""
        graphs = {name: gpu.capture(self.torch, call, sets) for name, (call, sets) in calls.items()}
        microseconds = gpu.replayed(self.torch, graphs, self.replays)
        others = {name: time for name, time in microseconds.items() if not is_ours(name)}
        best = min(others, key=lambda name: others[name], default=None)
        ours = behind(microseconds)
        ratio = None if best is None or ours is None else ours / others[best]
        return {"microseconds": microseconds, "best_peer": best, "ratio": ratio}

    def error(self, case: Case, kernel: mi.CompiledKernel) -> float:
        """The relative error of ours on fresh inputs, its outputs NaN before."""
        torch = self.torch
        inputs = random_inputs(torch, case)
        outputs = [
            # A transposed result is one that the kernel writes along other lines.
            torch.empty_strided(
                spec.shape, spec.strides, dtype=dtype_of(torch, dtype), device="cuda"
            ).fill_(float("nan"))
            for spec, dtype in zip(kernel.artifact.outputs, case.output_types, strict=True)
        ]
        kernel(*inputs, out=outputs)
        return self.worst(case, outputs, inputs)

    def peer_error(self, case: Case, peer: Peer, call: Call) -> float:
        """The same of a peer, which makes its own outputs."""
        from peers.torch_programs import tuple_of

        inputs = random_inputs(self.torch, case)
        (ready,) = prepared(peer, [inputs])
        return self.worst(case, tuple_of(call(*ready)), inputs)

    def worst(self, case: Case, outputs: Sequence[Any], inputs: Inputs) -> float:
        """The largest error of any output."""
        from peers.torch_programs import tuple_of

        wide = [tensor.double() for tensor in inputs]
        pairs = zip(outputs, tuple_of(function_of(case, wide=True)(*wide)), strict=True)
        errors = [gpu.relative_error(output, wanted) for output, wanted in pairs]
        # max() would lose a NaN.
        return next((error for error in errors if not isfinite(error)), max(errors))

    # All of them

    def write(self) -> None:
        """Write what there is, with what it depends on."""
        libraries = {name: gpu.package_version(name) for name in PACKAGES}
        environment = gpu.environment(self.torch) | libraries
        code = self.arguments.code
        content = {
            "environment": environment,
            "code": code,
            "command": sys.argv[1:],
            "copy_bytes_per_second": self.rate,
            "cases": self.rows,
        }
        suffix = "" if code is None else f"-{code}"
        name = f"kernels{suffix}"
        path = gpu.result_path(self.arguments.results, self.torch, environment, name)
        write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


def set_count(case: Case) -> int:
    """How many input sets to rotate over."""
    return 2 if case.bytes > MOST_BYTES else min(128, gpu.set_count(case.bytes))


def is_right(case: Case, name: str, error: float, eager: float = 0.0) -> bool:
    """Whether a result counts, where that of each operator on its own is off by `eager`."""
    allowed = TOLERANCE[case.dtype] * (1.0 if is_ours(name) else PEER_TOLERANCE)
    return error <= max(allowed, AS_GOOD * eager)


def kernel_of(case: Case, compiled: CompiledFunction) -> mi.CompiledKernel:
    """A kernel as a user has it."""
    return mi.CompiledKernel(
        mi.Artifact(
            name=compiled.name,
            inputs=compiled.inputs,
            outputs=compiled.outputs,
            targets=(compiled.code,),
            program=case.text(),
        )
    )


def about(timed: Timed) -> dict[str, Any]:
    """What was taken."""
    assert timed.compiled is not None
    code = timed.compiled.code
    return {
        "structure": timed.search.structure,
        "modelled_us": timed.search.modelled * 1e6,
        "resources": dict(code.resources),
        "launches": [
            {"grid": launch.grid, "threads": launch.threads, "shared": launch.shared_bytes}
            for launch in code.launches
        ],
        "ugraph": code.ugraph,
    }


def run(about_it: str) -> int:
    """Run the benchmark; 1 where a result is wrong or missing."""
    arguments = parse(about_it)
    if arguments.show is not None:
        return show(arguments.show)
    use_caches()
    if arguments.code is not None:
        generate_by_triton(arguments.code)
    cases, unreadable = list(table(arguments.dtype)), list[str]()
    if arguments.out_in:
        cases = list(with_out_in(cases))
    if arguments.workloads is not None:
        cases, unreadable = cases_in(arguments.workloads)
        print("".join(f"! {problem}\n" for problem in unreadable), end="")
    wanted = chosen(cases, arguments.only)
    if arguments.code is not None:
        # Bars are for code that uses all that the GPU has.
        wanted = [replace(case, bar=NO_BAR) for case in wanted]
    with workers(arguments.jobs) as pool, workers(arguments.peer_jobs) as peer_pool:
        tasks = [(case.key, uses_compile(arguments, case)) for case in wanted]
        compiling = iter([]) if arguments.quick else peer_pool.map(compile_peers, tasks)
        here = arguments.target if arguments.code is None else present_target()
        with shared(this_machine(here), pool) as machine:
            rows = timed_cases(arguments, wanted, compiling, machine)
    right = [row for row in rows if OURS in row["microseconds"]]
    must, aim = (sum(met(row, bar) for row in rows) for bar in ("must", "aim"))
    print(
        f"{len(rows)} of {len(wanted)} cases, {len(right)} right, {must} within what they must "
        f"be, {aim} within the aim\n{summary(rows)}{means(arguments.code, rows)}",
        end="",
    )
    return 0 if len(right) == len(wanted) and not unreadable else 1


def show(path: Path) -> int:
    """The table of a result."""
    result = json.loads(path.read_text())
    rows, code = result["cases"], result.get("code")
    about_it = what_ran(code, result["environment"]["device"])
    lines = [text for row in rows for text in (line(row), *left_out(row))]
    print("\n".join([about_it, header(), *lines, summary(rows)]), end="")
    print(means(code, rows), end="")
    return 0


def timed_cases(
    arguments: Namespace,
    wanted: Sequence[Case],
    compiling: Any,
    machine: SharedMachine,
) -> list[dict[str, Any]]:
    """Search and compile all; then, on a GPU that does nothing else, time case by case."""
    start = perf_counter()
    pool = machine.pool
    assert isinstance(pool, Workers)
    chip = target_named(arguments.target).chip
    options = Options(target=arguments.target, chips=(chip,))
    find = partial(
        search, target=arguments.target, count=arguments.top_k, time_limit=arguments.time_limit
    )
    found = list(pool.map(find, [case.text() for case in wanted]))
    print(f"# searched in {perf_counter() - start:.0f} s", flush=True)
    usable = [
        (case, one) for case, one in zip(wanted, found, strict=True) if isinstance(one, Searched)
    ]
    for case, one in zip(wanted, found, strict=True):
        if isinstance(one, WorkerError):
            print(f"! {case.name}: {one}")
    programs = [program_of(case, one) for case, one in usable]
    compile_one = compiler(arguments.code)
    compiled = list(compile_all(programs, machine, options, compile_one))
    wait([each for some in compiled for each in some])
    print(f"# compiled in {perf_counter() - start:.0f} s", flush=True)
    for problems in compiling:
        for problem in [problems] if isinstance(problems, WorkerError) else problems:
            print(f"! {problem}", flush=True)
    torch = gpu.torch_module()
    suite = Suite(torch, arguments, compile_one, gpu.copy_rate(torch), start=start)
    print(f"# peers compiled in {perf_counter() - start:.0f} s")
    about_it = what_ran(arguments.code, machine.name)
    print(f"# {about_it}, copies {suite.rate / 1e12:.2f} TB/s; us\n{header()}", flush=True)
    for (case, one), program, ready in zip(usable, programs, compiled, strict=True):
        if perf_counter() - start > arguments.budget:
            print("# the time is over")
            break
        timings = time_one(program, ready, machine, options)
        try:
            suite.rows.append(suite.run(case, one, timings))
        # Out of memory, say: the other cases are of interest.
        except Exception as error:
            print(f"! {case.name}: {' '.join(str(error).split())[:200]}", flush=True)
            continue
        print(line(suite.rows[-1]), *left_out(suite.rows[-1]), sep="\n", flush=True)
        suite.write()
    print(f"# {perf_counter() - start:.0f} s")
    return suite.rows
