# pyright: basic
"""
Mirage's tutorial "Superoptimizing RMSNorm and Linear", with the imports of this project.

    python examples/mirage_rmsnorm_linear.py

The tutorial gives W the dims (406, 4096), a slip of the pen: the error says what does not fit. On a
machine without a GPU the tensors are in host memory, and the kernel is interpreted.
"""

import torch

import mirage_mlir as mi


def superoptimized(rows_of_w: int) -> mi.CompiledKernel:
    """The tutorial's program."""
    graph = mi.new_kernel_graph()
    X = graph.new_input(dims=(16, 4096), dtype=mi.float16)
    G = graph.new_input(dims=(1, 4096), dtype=mi.float16)
    W = graph.new_input(dims=(rows_of_w, 4096), dtype=mi.float16)
    O = graph.matmul(graph.rms_norm(X, G), W)
    graph.mark_output(O)
    return mi.superoptimize(graph)


def main() -> None:
    """As the tutorial has it, then with the W that it calls the result with."""
    try:
        superoptimized(406)
    except ValueError as error:
        print("W with dims (406, 4096):", error)
    optimized_graph = superoptimized(4096)
    print(optimized_graph.ugraph)

    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    input_tensors = [
        torch.randn(16, 4096, dtype=torch.float16, device=device),
        torch.randn(1, 4096, dtype=torch.float16, device=device),
        torch.randn(4096, 4096, dtype=torch.float16, device=device),
    ]
    result = optimized_graph(input_tensors)

    x, g, w = (tensor.double() for tensor in input_tensors)
    exact = torch.nn.functional.rms_norm(x, (4096,), eps=1e-5) * g @ w
    error = float(torch.dist(result.double(), exact) / exact.norm())
    print("relative error:", "at most 1e-3" if error <= 1e-3 else error)


if __name__ == "__main__":
    main()
