"""On what a benchmark ran: for results on disk."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from gpu import commit, package_version

from mirage_mlir import __version__


def processor() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def described() -> dict[str, object]:
    """Date, commit, processor and versions."""
    packages = ("numba-cuda-mlir", "nvidia-cuda-nvcc", "numpy", "xdsl", "z3-solver")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "mirage_mlir": __version__,
        **{name: package_version(name) for name in packages},
    }
