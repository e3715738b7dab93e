"""Random inputs of a compiled program, and what it computes of them, for a program in C."""

import sys
from pathlib import Path

import numpy as np

import mirage_mlir as mi


def main(artifact: str, values: str) -> None:
    kernel = mi.load(artifact)
    random = np.random.default_rng(0)
    inputs = [
        (random.standard_normal(spec.shape) / spec.shape[0] ** 0.5).astype(np.float16)
        for spec in kernel.artifact.inputs
    ]
    result: np.ndarray[tuple[int, ...], np.dtype[np.float16]] = kernel(*inputs)
    with Path(values).open("wb") as file:
        for tensor in (*inputs, result):
            file.write(np.uint64(tensor.nbytes).tobytes() + tensor.tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
