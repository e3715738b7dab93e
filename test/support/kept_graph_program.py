# pyright: basic
"""
A process that compiles a small model by the backend, and says what became of it, as JSON.

Arguments: `train` for gradients, too; `fails` for kernels that fail; `cuda` for a GPU's;
`elsewhere=FOLDER` to say whether the backend is asked where that is the folder of our kernels.
"""

import json
import os
import sys
from typing import Any

import torch
import torch._inductor.compile_fx  # Before the process forks.
from compiled_models import normed_linear

from mirage_mlir.frameworks.backend.entry import Backend
from mirage_mlir.frameworks.backend.operators import PartOperator

ASKED = 42
"""The exit code of a fork whose backend was asked."""


class Noting(Backend):
    """Counts the graphs that it is asked for."""

    asked = 0

    def _rewrite(self, *rest: Any) -> None:
        self.asked += 1
        super()._rewrite(*rest)


class Leaving(Backend):
    """Leaves the process when it is asked for a graph."""

    def _rewrite(self, *rest: Any) -> None:
        os._exit(ASKED)


def fail(self: PartOperator, tensors: Any) -> Any:
    raise MemoryError("no room")


def is_asked(folder: str, model: Any, x: Any, options: dict[str, str]) -> bool:
    """Whether the backend is, with other kernels; a fork has been told nothing by torch yet."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == ASKED
    os.environ["MIRAGE_CACHE_DIR"] = folder
    with torch.no_grad():
        torch.compile(model, backend=Leaving(options))(x)
    os._exit(0)


def main() -> None:
    if "fails" in sys.argv:
        PartOperator._by_kernels = fail
    device = "cuda" if "cuda" in sys.argv else "cpu"
    torch.manual_seed(0)
    model, x = normed_linear().to(device), torch.randn(4, 32, device=device)
    options = {} if device == "cuda" else {"target": "A100"}
    elsewhere = [word.partition("=")[2] for word in sys.argv if word.startswith("elsewhere=")]
    asked_elsewhere = [is_asked(folder, model, x, options) for folder in elsewhere]
    backend = Noting(options)
    call = torch.compile(model, backend=backend)
    with torch.set_grad_enabled("train" in sys.argv):
        made = [[each(x)] for each in (call, model)]
        for results in made if torch.is_grad_enabled() else []:
            results += torch.autograd.grad(results[0].square().sum(), [*model.parameters()])
    errors = [float(torch.dist(*pair) / pair[1].norm()) for pair in zip(*made, strict=True)]
    parts = backend.explanation.parts
    rows = [[part.operators, part.count, part.taken, part.why] for part in parts]
    said = {"asked": backend.asked, "rows": rows, "errors": errors, "elsewhere": asked_elsewhere}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
