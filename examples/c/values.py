"""Random inputs of a compiled program, and what it computes of them, for a program in C."""

import sys
from pathlib import Path

import numpy as np
import torch

import mirage_mlir as mi

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}


def main(artifact: str, values: str) -> None:
    kernel = mi.load(artifact)
    torch.manual_seed(0)
    inputs = [
        (torch.randn(spec.shape) / spec.shape[0] ** 0.5).to(TYPES[spec.element_type.value])
        for spec in kernel.artifact.inputs
    ]
    results = kernel(*inputs)  # interpreted: the tensors are in host memory
    outputs = results if isinstance(results, tuple) else (results,)
    with Path(values).open("wb") as file:
        for tensor in (*inputs, *outputs):
            data = tensor.contiguous().view(torch.uint8).numpy().tobytes()
            file.write(np.uint64(len(data)).tobytes() + data)


if __name__ == "__main__":
    main(*sys.argv[1:])
