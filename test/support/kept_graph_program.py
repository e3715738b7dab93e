# pyright: basic
"""
A process that compiles a small model by the backend, and says what became of it, as JSON.

Arguments: `train` for gradients, too; `fails` for kernels that fail; `cuda` for a GPU's.
"""

import json
import sys
from typing import Any

import torch
from compiled_models import normed_linear

from mirage_mlir.frameworks.backend.entry import Backend
from mirage_mlir.frameworks.backend.operators import PartOperator


class Noting(Backend):
    """Counts the graphs that it is asked for."""

    asked = 0

    def _rewrite(self, *rest: Any) -> None:
        self.asked += 1
        super()._rewrite(*rest)


def fail(self: PartOperator, tensors: Any) -> Any:
    raise MemoryError("no room")


def main() -> None:
    if "fails" in sys.argv:
        PartOperator._by_kernels = fail
    device = "cuda" if "cuda" in sys.argv else "cpu"
    torch.manual_seed(0)
    model, x = normed_linear().to(device), torch.randn(4, 32, device=device)
    backend = Noting({} if device == "cuda" else {"target": "A100"})
    call = torch.compile(model, backend=backend)
    with torch.set_grad_enabled("train" in sys.argv):
        made = [[each(x)] for each in (call, model)]
        for results in made if torch.is_grad_enabled() else []:
            results += torch.autograd.grad(results[0].square().sum(), [*model.parameters()])
    errors = [float(torch.dist(*pair) / pair[1].norm()) for pair in zip(*made, strict=True)]
    parts = backend.explanation.parts
    rows = [[part.operators, part.count, part.taken, part.why] for part in parts]
    sys.stdout.write(json.dumps({"asked": backend.asked, "rows": rows, "errors": errors}))


if __name__ == "__main__":
    main()
