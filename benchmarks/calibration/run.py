"""
How well the cost model orders kernels: modelled and measured times, and their rank correlation.

    python benchmarks/calibration/run.py                      all programs, on a GPU
    python benchmarks/calibration/run.py --only lora,ntrans   those whose names contain a word
    python benchmarks/calibration/run.py --again FILE         the model of now on what FILE has
    python benchmarks/calibration/run.py --compact FILE       the kernels of FILE that a test ranks
    python benchmarks/calibration/run.py --first FILE         what searches put first, for a test

Of each program some ten kernels are taken from all over the range of the model, up to four times
slower than its best: other structures, other tilings. They are verified, compiled, compared with
float64 and timed, and go to `results/<machine>/<date>-calibration.json`.

Spearman's rank correlation is computed for each program, and overall: the overall one asks whether
the model would order kernels of different programs, which it never has to; the search needs those
of the programs. The regret is how much slower than the fastest the kernel is that the model ranks
first. Kernels that spill registers are timed but not counted: the compiler does not take them.
"""

import sys
from pathlib import Path


def main() -> int:
    """Run the benchmark."""
    # The folder of all benchmarks: a script has only its own on the path.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from calibration.calibrate import calibrate

    return calibrate(__doc__ or "")


if __name__ == "__main__":
    sys.exit(main())
