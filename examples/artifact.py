"""
Save a compiled kernel, load it again, call it.

    python examples/artifact.py [FILE]

Loading needs no compiler: on a machine that only runs kernels, numpy and the CUDA driver are
enough.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import mirage_mlir as mi


def save(path: Path) -> None:
    """Compile a bias and a GELU, and write them to `path`."""
    graph = mi.new_kernel_graph("bias_gelu")
    x = graph.new_input(dims=(16, 64), dtype=mi.float32)
    bias = graph.new_input(dims=(64,), dtype=mi.float32, constant=True)
    graph.mark_output(graph.gelu(x + bias, approximate="tanh"))
    graph.superoptimize().save(path)


def main() -> None:
    """Save, load, call."""
    folder = tempfile.TemporaryDirectory()
    with folder as name:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(name) / "bias_gelu.mirage"
        save(path)

        kernel = mi.load(path)
        x = np.linspace(-3, 3, 16 * 64, dtype=np.float32).reshape(16, 64)
        result = kernel(x, np.zeros(64, np.float32))
        print(
            "loaded", path.name, "with code for", *(code.target for code in kernel.artifact.targets)
        )
        print("largest result:", f"{result.max():.3f}")


if __name__ == "__main__":
    main()
