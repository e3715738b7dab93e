# pyright: basic
"""
The LLaMA-3-8B layer of Mirage's README, as a torch module around two superoptimized kernels.

    python examples/mirage_llama_layer.py [--hidden 4096 --inner 14336 --heads 32 --batch 2]

On a machine without a GPU the tensors are in host memory, and the kernels are interpreted; smaller
sizes take less time.
"""

import argparse

import torch
from torch.nn.functional import rms_norm, scaled_dot_product_attention, silu

import mirage_mlir as mi

EPS = 1e-5


def get_mirage_kernel(batch_size: int, hidden: int, output_dim: int) -> mi.CompiledKernel:
    """RMSNorm and a linear layer. Mirage's README marks Y as the output, a slip: Z is meant."""
    graph = mi.new_kernel_graph()
    X = graph.new_input(dims=(batch_size, hidden), dtype=mi.float16)
    W = graph.new_input(dims=(hidden, output_dim), dtype=mi.float16)
    Y = graph.rms_norm(X, normalized_shape=(hidden,), eps=EPS)
    Z = graph.matmul(Y, W)
    graph.mark_output(Z)
    return graph.superoptimize()


class Layer(torch.nn.Module):
    """The layer without its residuals and projections, as Mirage's README has it."""

    def __init__(self, batch: int, hidden: int, inner: int, heads: int) -> None:
        super().__init__()
        kind = {"dtype": torch.float16, "device": "cuda" if torch.cuda.is_available() else "cpu"}
        self.heads = heads
        self.Wqkv = torch.nn.Parameter(torch.randn(hidden, 3 * hidden, **kind) / hidden**0.5)
        self.W13 = torch.nn.Parameter(torch.randn(hidden, 2 * inner, **kind) / hidden**0.5)
        self.W2 = torch.nn.Parameter(torch.randn(inner, hidden, **kind) / inner**0.5)
        self.kernel_1 = get_mirage_kernel(batch, hidden, self.Wqkv.shape[-1])
        self.kernel_2 = get_mirage_kernel(batch, hidden, self.W13.shape[-1])

    def attention(self, Z: torch.Tensor) -> torch.Tensor:
        """Over the tokens of the batch."""
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(0, 1) for part in Z.chunk(3, -1))
        return scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """With kernels."""
        Z = self.kernel_1(inputs=[X, self.Wqkv])
        O = self.attention(Z)
        V = self.kernel_2(inputs=[O, self.W13])
        V1, V3 = V.chunk(2, -1)
        return torch.matmul(silu(V1) * V3, self.W2)

    def exact(self, X: torch.Tensor) -> torch.Tensor:
        """In float64, by torch alone."""
        hidden = (X.shape[-1],)
        wqkv, w13, w2 = (weight.double() for weight in (self.Wqkv, self.W13, self.W2))
        O = self.attention(rms_norm(X.double(), hidden, eps=EPS) @ wqkv)
        V1, V3 = (rms_norm(O, hidden, eps=EPS) @ w13).chunk(2, -1)
        return (silu(V1) * V3) @ w2


def main() -> None:
    """Build the layer, call it, and compare with float64."""
    parser = argparse.ArgumentParser(description="The LLaMA-3-8B layer around two kernels.")
    for name, size in (("hidden", 4096), ("inner", 14336), ("heads", 32), ("batch", 2)):
        parser.add_argument(f"--{name}", type=int, default=size)
    sizes = parser.parse_args()
    torch.manual_seed(0)
    layer = Layer(sizes.batch, sizes.hidden, sizes.inner, sizes.heads)
    for kernel in (layer.kernel_1, layer.kernel_2):
        print(*(line.strip() for line in kernel.report.splitlines() if "found:" in line))
    X = torch.randn(sizes.batch, sizes.hidden, dtype=torch.float16, device=layer.W2.device)
    with torch.no_grad():
        output, exact = layer(X), layer.exact(X)
    error = float(torch.dist(output.double(), exact) / exact.norm())
    print("relative error:", "at most 4e-3" if error <= 4e-3 else error)


if __name__ == "__main__":
    main()
