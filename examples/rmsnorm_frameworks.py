# pyright: basic
"""
RMSNorm of a 2-D tensor, the weight broadcast over the rows, called from PyTorch and from JAX.

    python examples/rmsnorm_frameworks.py

One kernel serves both; each result is compared with what the library itself computes.
"""

import jax
import numpy as np
import torch

import mirage_mlir as mi

ROWS, COLUMNS, EPS = 300, 250, 1e-6
"""Neither is a multiple of anything: the kernel masks what lies beyond the tensor."""


def compiled() -> mi.CompiledKernel:
    """The program, and what the search finds for it."""
    graph = mi.new_kernel_graph("rms_norm")
    a = graph.new_input(dims=(ROWS, COLUMNS), dtype=mi.float32, name="a")
    g = graph.new_input(dims=(COLUMNS,), dtype=mi.float32, name="g")
    graph.mark_output(graph.rms_norm(a, g, eps=EPS))
    return graph.superoptimize()


def main() -> None:
    """Call it with tensors of both libraries."""
    kernel = compiled()
    print(kernel.ugraph)
    generator = torch.Generator().manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    a = torch.randn(ROWS, COLUMNS, generator=generator).to(device)
    g = torch.randn(COLUMNS, generator=generator).to(device)
    ours = kernel(a, g)
    theirs = torch.nn.functional.rms_norm(a, (COLUMNS,), g, EPS)
    print("PyTorch:", "equal" if torch.allclose(ours, theirs, rtol=1e-5, atol=1e-6) else "differs")

    a, g = jax.numpy.asarray(a.cpu().numpy()), jax.numpy.asarray(g.cpu().numpy())
    ours = kernel(a, g)
    theirs = a * jax.lax.rsqrt(jax.numpy.mean(a**2, axis=-1, keepdims=True) + EPS) * g
    print("JAX:", "equal" if np.allclose(ours, theirs, rtol=1e-5, atol=1e-6) else "differs")


if __name__ == "__main__":
    main()
