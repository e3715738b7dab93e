"""
An RMSNorm and a linear layer through the Python interface, on any machine.

    python examples/rmsnorm_linear.py

Without a GPU the kernel is compiled all the same, and the call on numpy arrays is interpreted.
"""

import numpy as np

import mirage_mlir as mi

ROWS, DEPTH, COLUMNS = 8, 256, 128
EPS = 1e-5


def compiled() -> mi.CompiledKernel:
    """The program, operator by operator, and what the search finds for it."""
    graph = mi.new_kernel_graph("rmsnorm_linear")
    x = graph.new_input(dims=(ROWS, DEPTH), dtype=mi.float16)
    w = graph.new_input(dims=(DEPTH, COLUMNS), dtype=mi.float16, constant=True)
    graph.mark_output(graph.rms_norm(x, normalized_shape=(DEPTH,), eps=EPS) @ w)
    return graph.superoptimize()


def main() -> None:
    """Compile, call, and compare with float64."""
    kernel = compiled()
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, DEPTH)).astype(np.float16)
    w = rng.standard_normal((DEPTH, COLUMNS)).astype(np.float16)
    result = kernel(x, w).astype(np.float64)

    exact = x.astype(np.float64)
    exact /= np.sqrt((exact**2).mean(axis=1, keepdims=True) + EPS)
    exact = exact @ w.astype(np.float64)
    error = np.linalg.norm(result - exact) / np.linalg.norm(exact)

    print("uGraph:")
    print(kernel.ugraph)
    print("relative error:", "at most 1e-3" if error <= 1e-3 else error)


if __name__ == "__main__":
    main()
