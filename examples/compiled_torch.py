# pyright: basic
"""
A module of PyTorch as it stands, by kernels that are searched for: `mi.compile(module)`.

    python examples/compiled_torch.py

The module is the RMSNorm of LLaMA as people write it, then a linear layer. Values and gradients
are compared with the module itself, in float64.
"""

import copy

import torch

import mirage_mlir as mi


class LlamaRMSNorm(torch.nn.Module):
    """That of Hugging Face's models: in float32, but for the weight."""

    def __init__(self, size: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, hidden):
        """Rows over the root of their mean square."""
        hidden_type = hidden.dtype
        hidden = hidden.to(torch.float32)
        variance = hidden.pow(2).mean(-1, keepdim=True)
        hidden = hidden * torch.rsqrt(variance + self.eps)
        return self.weight * hidden.to(hidden_type)


def distance(found, wanted) -> float:
    """Relative, in the 2-norm."""
    found, wanted = found.detach(), wanted.detach()
    return float(torch.dist(found.double(), wanted) / wanted.norm())


def main() -> None:
    """Compile, call, differentiate, compare."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    layer = torch.nn.Sequential(LlamaRMSNorm(64), torch.nn.Linear(64, 48, bias=False))
    layer = layer.to(device, torch.float16)
    compiled = mi.compile(layer)

    x = torch.randn(2, 8, 64, device=device, dtype=torch.float16)
    y = compiled(x)
    y.sum().backward()
    exact = copy.deepcopy(layer).double()
    exact.zero_grad()
    wanted = exact(x.double())
    wanted.sum().backward()

    error = distance(y, wanted)
    gradient_error = distance(layer[1].weight.grad, exact[1].weight.grad)
    print(next(line.strip() for line in compiled.report().splitlines() if "found" in line))
    print(f"relative error: at most {1e-3 if error <= 1e-3 else error:.0e}")
    print(f"of a gradient: at most {2e-3 if gradient_error <= 2e-3 else gradient_error:.0e}")


if __name__ == "__main__":
    main()
