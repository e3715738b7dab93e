# pyright: basic
"""
A drop-in for a hand-written RMSNorm with gradients: `RMSNormTritonKernel.apply(x, weight)`.

    python examples/rmsnorm_training.py

Forward and backward are programs that were superoptimized. Gradients are compared with torch's.
"""

import torch
from torch.nn.functional import rms_norm as torch_rms_norm

from mirage_mlir.torch import rms_norm


class RMSNormTritonKernel:
    """What the name stood for before: an autograd function."""

    apply = staticmethod(rms_norm)


def main() -> None:
    """The example of that function, and torch's own beside it."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    B, D, H = 2, 3, 4
    x = torch.randn(B, D, H, device=device, requires_grad=True)
    grad_y = torch.randn(B, D, H, device=device)
    weight = torch.randn(H, device=device, requires_grad=True)

    rmsnorm = RMSNormTritonKernel.apply
    y = rmsnorm(x, weight)
    y.backward(grad_y)

    wanted = torch.autograd.grad(torch_rms_norm(x, (H,), weight, 1e-5), (x, weight), grad_y)
    for name, found, exact in zip(("x", "weight"), (x.grad, weight.grad), wanted, strict=True):
        assert found is not None
        same = torch.allclose(found, exact, rtol=1e-5, atol=1e-6)
        print(f"gradient of {name}:", "equal" if same else "differs")


if __name__ == "__main__":
    main()
