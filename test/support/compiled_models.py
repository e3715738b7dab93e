# pyright: basic
"""Small models, and what the backend of `torch.compile` makes of them."""

from typing import Any

from optional_packages import package

torch: Any = package("torch")

from mirage_mlir.frameworks.backend.entry import Backend  # noqa: E402

OPTIONS = {"rest": "eager", "effort": "quick"}


def compiled(model: Any, **options: Any) -> tuple[Any, Backend]:
    backend = Backend({**OPTIONS, **options})
    return torch.compile(model, backend=backend, dynamic=False), backend


def close(found: Any, wanted: Any, tolerance: float = 1e-4) -> bool:
    return bool(torch.dist(found, wanted) <= tolerance * (1 + wanted.norm()))


class Norm(torch.nn.Module):
    """As people write it."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(size))

    def forward(self, x: Any) -> Any:
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def normed_linear() -> Any:
    return torch.nn.Sequential(Norm(32), torch.nn.Linear(32, 16, bias=False))
