"""The options of `run.py`."""

import argparse
import os
from pathlib import Path

from kernels.case import Case
from kernels.older_code import PORTABLE


def parse(about: str) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cores = os.cpu_count() or 1
    parser.add_argument(
        "--workloads", type=Path, nargs="+", help="MLIR files and folders to time instead"
    )
    parser.add_argument("--only", default="", help="words, one of which a case's name contains")
    parser.add_argument("--dtype", default="f16", help="f16 or bf16, of all but RMSNorm")
    parser.add_argument("--out-in", action="store_true", help="time weights [out, in], too")
    parser.add_argument("--quick", action="store_true", help="fewer replays, no torch.compile")
    parser.add_argument(
        "--without-compile", default="", help="programs to time without torch.compile: a,b"
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--target", default="H200", help="what to search for")
    wanted.add_argument(
        "--code", choices=PORTABLE, help="time code for an older instruction set on the GPU here"
    )
    parser.add_argument("--top-k", type=int, default=8, help="candidates that are timed")
    parser.add_argument("--time-limit", type=float, help="seconds for each search")
    parser.add_argument("--jobs", type=int, default=cores, help="to search and compile with")
    parser.add_argument("--peer-jobs", type=int, default=max(1, cores // 2), help="for peers")
    parser.add_argument("--pack", action="store_true", help="time packed constants too")
    parser.add_argument("--show", type=Path, help="print the table of a result, time nothing")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds to start cases in")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parents[1] / "results", help="folder"
    )
    arguments = parser.parse_args()
    if arguments.code is not None:
        arguments.target = arguments.code
    return arguments


def uses_compile(arguments: argparse.Namespace, case: Case) -> bool:
    """
    Whether torch.compile is among the peers: it takes longest, and often others are faster.

    It is none of those for an older instruction set, as its products are a library's.
    """
    without = arguments.quick or arguments.code is not None
    return not without and case.program not in arguments.without_compile.split(",")
