"""
Our kernels against PyTorch, torch.compile, SDPA, Triton and libraries, program by program.

    python benchmarks/kernels/run.py                             72 cases, 10 minutes on an H200
    python benchmarks/kernels/run.py --only ntrans,lora          those whose names contain a word
    python benchmarks/kernels/run.py --quick                     fewer replays, no torch.compile
    python benchmarks/kernels/run.py --results DIR --top-k 16
    python benchmarks/kernels/run.py --pack                      packed constants too
    python benchmarks/kernels/run.py --out-in --dtype bf16       weights [out, in], too, in bf16
    python benchmarks/kernels/run.py --code sm_80                code for an A100, on the GPU here
    python benchmarks/kernels/run.py --workloads F.mlir DIR      programs in files instead
    python benchmarks/kernels/run.py --show FILE                 the table of a result

Every program is searched, with nothing said about it but its operators; the best candidates in the
model are verified, compiled, compared with float64 and timed, and the fastest that is right is
taken, as `mirage-opt --profile` does. Then, per case, ours and all peers are compared with float64
(ours with its output poisoned) and timed in turn. With `--pack` ours is timed twice, the second
time with kernels that read packed copies of the weights, which the first call makes; bars are for
the better.

With `--out-in` each case with weights is followed by the same with weights as `nn.Linear` has them,
which kernels and PyTorch read as they lie; in the end the table says how its time stands to the
first.

With `--code sm_80` kernels are searched for and generated as for an A100, by its cost model, and
assembled for the GPU that is there; peers are what Triton generates for sm_80, and eager PyTorch,
which has all that the GPU has. The table says so, there are no bars, and the geometric means over
both follow. It says how such code stands to Triton's on that GPU, and nothing of an A100.

Ours is timed in a chain of its own calls, each of which starts inside the end of the one before
(programmatic dependent launch), and as it runs behind another library, where its first launch
waits for what is before it. Both are in the table; ratios, bars and the time over the floor are of
the second.

The peers of programs in files are made from the operators: PyTorch, one call each; torch.compile of
that; where a softmax stands between two products, SDPA, and FlashInfer and FlashAttention-4 if they
are installed; and else, where products share an input, one product whose weights lie side by side.
There are no bars, and ours is right if it is as near to float64 as PyTorch, operator by operator,
is. What keeps a peer from running is among the `problems` of a result.

The table says how much of the fastest peer's time ours takes, and the bars: what it must and what
it should be. Where the floor (the bytes that must be moved at the rate of a large copy, or the
operations at 790 TFLOP/s) is above 5 us, the time over it follows. Results go to
`results/<machine>/<date>-kernels.json` after each case; with `--code sm_80` its name says that,
too.
"""

import sys
from pathlib import Path


def main() -> int:
    """Run the benchmark; 1 where a result is wrong."""
    # The folder of all benchmarks: a script has only its own on the path.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from kernels.suite import run

    return run(__doc__ or "")


if __name__ == "__main__":
    sys.exit(main())
