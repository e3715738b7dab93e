"""Random programs of norms, gains and products in f16, and inputs that bring f16 to its limits."""

from collections.abc import Sequence
from random import Random

import numpy as np
from program_values import Array
from search_programs import normalised, stable_softmax

from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind

SIZE = 8
SQUARE = (SIZE, SIZE)

KINDS = ("norm", "norm", "centred", "gain", "gain", "add", "scale", "softmax", "sigmoid", "product")

FACTORS = (1e-3, 0.125, 64.0)


class RandomF16Program:
    """
    One program on squares of 8, with products of which each factor is some chain of operators.

    Most results are narrowed to f16, as those of programs whose tensors are all f16.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.builder = ProgramBuilder()
        value = self._chain(self.builder.input(SQUARE))
        for _ in range(self.random.randint(1, 2)):
            other = self.builder.input(SQUARE, constant=True)
            if self.random.random() < 0.3:
                other = self._chain(other)
            value = self.builder.matmul(value, other)
            self._narrow(value)
        if self.random.random() < 0.3:
            value = self._step(value)
        self.builder.output(value)

    def _chain(self, value: int) -> int:
        for _ in range(self.random.randint(1, 3)):
            value = self._step(value)
        return value

    def _narrow(self, value: int) -> None:
        if self.random.random() < 0.7:
            self.builder.narrow(value, "f16")

    def _step(self, value: int) -> int:
        b = self.builder
        match self.random.choice(KINDS):
            case "norm":
                weighted = self.random.random() < 0.6
                result = normalised(b, value, b.input((SIZE,)) if weighted else None)
            case "centred":
                centred = b.binary(Kind.SUB, value, b.mean(value, (1,)))
                result = normalised(b, centred, b.input((SIZE,)))
            case "gain":
                shape = self.random.choice([(SIZE,), (SIZE, 1), SQUARE])
                kind = self.random.choice([Kind.MUL, Kind.MUL, Kind.DIV])
                result = b.binary(kind, value, b.input(shape))
            case "add":
                result = b.binary(Kind.ADD, value, b.input(self.random.choice([(SIZE,), SQUARE])))
            case "scale":
                result = b.binary(Kind.MUL, value, b.constant(self.random.choice(FACTORS)))
            case "softmax":
                result = stable_softmax(b, value)
            case "sigmoid":
                result = b.function(Function("sigmoid"), value)
            case _:
                result = b.matmul(value, b.input(SQUARE))
        self._narrow(result)
        return result


def hard_inputs(shapes: Sequence[Sequence[int]], seed: int) -> list[Array]:
    """Inputs near zero, far from it, or with one large column; some of each in turn."""
    random = np.random.default_rng(seed)
    found: list[Array] = []
    for shape in shapes:
        array = random.standard_normal(shape) * 10.0 ** random.integers(-5, 3)
        if random.random() < 0.3:
            array[..., random.integers(array.shape[-1])] = 2e4
        if random.random() < 0.2:
            array = array + 100 * np.abs(array).max()
        found.append(np.clip(array, -6e4, 6e4))
    return found
