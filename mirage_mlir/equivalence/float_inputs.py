"""
Inputs for the floating-point gate: of usual sizes, and hard ones.

All kinds are runs of one evaluation. Elements are independent; a kind says how large they are, and
where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.constant_inputs import is_constant_input
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.equivalence.inputs import DrawnWords
from mirage_mlir.equivalence.mask_inputs import is_mask, selects_lowest, two_sides
from mirage_mlir.equivalence.named_elements import Named, named_elements
from mirage_mlir.equivalence.residues import Words
from mirage_mlir.equivalence.sample import Dims
from mirage_mlir.equivalence.steps import STEPS
from mirage_mlir.interpreters.dims import Dim
from mirage_mlir.interpreters.domain import AnyArray, ElementType
from mirage_mlir.interpreters.float_domain import Floats, round_to
from mirage_mlir.interpreters.operators import element_type_of, integers, mnemonic, shape_of
from mirage_mlir.interpreters.tensors import Tensor, drawn, made

DISTANCE: dict[ElementType, float] = {
    "f16": 256.0,
    "bf16": 32.0,
    "f32": 1024.0,
    "f64": 1024.0,
    "f8E4M3FN": 2.0,
    "f8E5M2": 1.0,
}
"""Mean over spread of inputs far from zero; a type still tells a few steps within the spread."""

HOT = 2e4
"""The size of the one channel that trained language models have; f16 ends at 65504."""

HOT_SPREAD = 0.1
"""How much smaller it is in some rows: sums over rows of one size and of random sign may cancel to
nothing, and then only rounding is compared. Times the gain, f16 is still exceeded."""

HOT_GAIN = 4.0
"""The gain of that channel."""

GAINS = (0.01, 8.0)
"""The range of the other gains."""

MEANS = ("layer_norm", "reduce_mean", "sub")
"""Operators of programs that measure values from a mean. Graphs measure them from a value of the
row before that is known (`search/stabilization/centring.py`), which must not matter."""

LARGEST = 3.0**0.5 * 2
"""The largest magnitude of what is drawn for a normal number."""

APART = 37
"""Elements from that of one row to that of the next, of masks of one element."""

TINY = 1e-5
"""The size of tiny inputs: squares of f16 vanish below 2e-4."""

SCORES = 1e4
"""The largest argument of exp in the hard kind: e^89 overflows f32."""

RAISED, RAISED_IN_F16 = 24.0, 8.0
"""
What is added to an element that a program names, so that it is all of a softmax but for rounding:
the others have e^-24, 4e-11, and so e^-3 still where scores are divided by 8. f16 has no such
number, and e^-8.
"""

EQUAL = 776.0
"""The size of equal inputs: large beside guards of up to 1e-5, which an f32 of that size absorbs,
and of few bits, so that sums of them, and means, are exact."""

DRAWS = 12
"""How often inputs are drawn for programs that take floors or compare: where a row is divided by
its largest element, one element of it is on a step, and rounding takes one in six of them off it
where the order of operations is another."""

SATURATING = 14.0
"""Distance from zero at which a sigmoid is 1 but for 8e-7: what is left is lost to 1 minus it."""

KEPT = 1 << 21
"""Elements of an argument, of all kinds that run together: 16 MB in f64."""


class Masked(Enum):
    """Where masks are -inf, along the last dimension."""

    FIRST = "over the first half"
    LAST = "over the last half"
    MIDDLE = "over the half in the middle"
    ENDS = "but over the half in the middle"
    EVEN = "at every other element"
    ODD = "at the others"
    ONE = "at one element of a row"
    ALL_BUT_ONE = "but at one element of a row"

    def holds(self, channel: AnyArray, row: AnyArray, size: int) -> AnyArray:
        """Where elements of rows of a size are masked."""
        middle = (channel >= size // 4) & (channel < size - size // 4)
        # Rows have theirs all over, one after the other in steps that tiles do not have.
        own = channel == (row * APART + size // 3) % max(size, 1)
        match self:
            case Masked.FIRST | Masked.LAST:
                return (channel < size // 2) == (self is Masked.FIRST)
            case Masked.MIDDLE | Masked.ENDS:
                return middle == (self is Masked.MIDDLE)
            case Masked.EVEN | Masked.ODD:
                return (channel % 2 == 0) == (self is Masked.EVEN)
            case Masked.ONE | Masked.ALL_BUT_ONE:
                return own == (self is Masked.ONE)


@dataclass(frozen=True)
class InputKind:
    """One kind of input."""

    name: str
    far: tuple[int, ...] = ()
    """The arguments whose mean is far from zero."""
    hot: bool = False
    """Whether one channel of activations is huge, and gains differ widely."""
    first: bool = False
    """Whether that is the first channel, from which others may be measured."""
    tiny: bool = False
    zero: bool = False
    """Whether activations are zero, so that what guards divisions by them is all there is."""
    equal: bool = False
    """Whether activations are the same everywhere: differences are zero, but for rounding, and
    what guards divisions by them is all there is. Only whether results are finite counts."""
    draw: int = 0
    """Which of several draws it is."""
    scaled_data: bool = False
    """Whether the factor of a kind is one of activations alone: weights do not become as large."""
    largest: bool = False
    """Whether arguments are as large as the program bears: the largest of some factors."""
    smallest: bool = False
    """Whether arguments are as small as the program is accurate with: the smallest of some."""
    masked: Masked | None = None
    """Where masks are -inf."""
    scores: float = 0.0
    """The largest argument of exp, about; 0: whatever it is."""
    raised: Named | None = None
    """The element of each row that is far from the others: above them, or below."""
    shift: float = 0.0
    """What is added to all arguments; times the distance of `raised`, if there is one."""


NORMAL = InputKind("normal inputs")

SCALED = InputKind("normal inputs, and data times a factor", scaled_data=True)


def kinds_of(reference: FuncOp, *, exponentials: bool, narrow: bool = False) -> list[InputKind]:
    """
    The kinds of inputs that can show errors of a program, the most telling first.

    Args:
        reference: the program.
        exponentials: whether it, or what is compared with it, has exponentials.
        narrow: whether what is compared with it computes in f16.
    """
    arguments = reference.body.block.args
    long = [n for n, argument in enumerate(arguments) if max(shape_of(argument), default=1) > 1]
    kinds = [NORMAL]
    kinds += [InputKind("one channel of 2e4", hot=True), InputKind("inputs of 1e-5", tiny=True)]
    wide = not (narrow or has_f16(reference))
    if not (wide and exponentials):
        # Where scores are huge, rounding decides which of them is all of a softmax.
        name = "inputs as large as the program bears"
        kinds.append(InputKind(name, largest=True, scaled_data=wide))
    name = "inputs as small as the program bears"
    kinds.append(InputKind(name, smallest=True, scaled_data=wide))
    kinds.append(InputKind("inputs of zero", zero=True))
    if exponentials:
        kinds.append(InputKind("arguments of exp up to 1e4", scores=SCORES))
        selects = any(map(selects_lowest, reference.body.block.ops))
        selects = selects and any(map(two_sides, arguments))
        if selects or any(map(is_mask, arguments)):
            kinds += [InputKind(f"masks of -inf {each.value}", masked=each) for each in Masked]
    if any(mnemonic(op) in MEANS for op in reference.body.block.ops):
        kinds.append(InputKind("a first channel of 2e4", hot=True, first=True))
    kinds += [InputKind(f"argument {number} far from zero", far=(number,)) for number in long]
    if len(long) > 1:
        kinds.append(InputKind("all arguments far from zero", far=tuple(long)))
    if exponentials:
        kinds += [
            InputKind(f"arguments near {sign * SATURATING:.0f}", shift=sign * SATURATING)
            for sign in (1, -1)
        ]
        kinds += [
            InputKind(
                f"element {each.index} of {each.size} far {side} the others",
                raised=each,
                shift=sign,
            )
            for each in named_elements(reference)
            for side, sign in (("above", 1.0), ("below", -1.0))
        ]
    kinds.append(InputKind("equal inputs", equal=True))
    if any(mnemonic(op) in STEPS for op in reference.body.block.ops):
        kinds += [InputKind("other normal inputs", draw=number) for number in range(1, DRAWS)]
    return kinds


def has_f16(function: FuncOp) -> bool:
    """Whether something is computed in f16, whose largest number is 65504."""
    return any(is_f16(value) for op in function.walk() for value in op.results)


def is_f16(value: SSAValue) -> bool:
    """Whether a value is a tensor or tile of f16."""
    tensor = isinstance(value.type, TensorType | TileType)
    return tensor and element_type_of(value.type) == "f16"


def activations(function: FuncOp) -> list[bool]:
    """
    Of each argument whether it is data, rather than a weight or a gain.

    Where none has rows, those are that have a dimension for them; or else all that are no weights.
    """
    arguments = function.body.block.args
    given = [not is_constant_input(function, number) for number in range(len(arguments))]
    shapes = [shape_of(argument) for argument in arguments]
    rules = (
        [sum(size > 1 for size in shape) > 1 for shape in shapes],
        [len(shape) > 1 and max(shape) > 1 for shape in shapes],
        [True for _ in shapes],
    )
    for rule in rules:
        found = [free and holds for free, holds in zip(given, rule, strict=True)]
        if any(found):
            return found
    return given


def is_gain(argument: SSAValue) -> bool:
    """Whether an argument is a vector that scales channels, or is added to them."""
    return sum(size > 1 for size in shape_of(argument)) <= 1


def contraction(argument: SSAValue) -> int:
    """
    The length of the sums in which an argument, or a transpose of it, is a weight.

    Weights are drawn as networks initialise them, with a variance of one over this length.
    """
    for use in argument.uses:
        if mnemonic(use.operation) == "matmul" and use.index == 1:
            return shape_of(argument)[-2]
        if mnemonic(use.operation) == "transpose":
            order = integers(use.operation, "permutation")
            for other in use.operation.results[0].uses:
                if mnemonic(other.operation) == "matmul" and other.index == 1:
                    return shape_of(argument)[order[-2]]
    return 1


class DrawnFloats:
    """The elements of an argument for each kind of input; see `Source`."""

    def __init__(
        self,
        argument: SSAValue,
        number: int,
        kinds: Sequence[InputKind],
        factors: NDArray[np.float64],
        seed: int,
        *,
        activation: bool,
        hot_channels: tuple[int, int],
    ):
        """
        `factors` is what the values of each kind are multiplied by; of `hot_channels` the second is
        the first channel.
        """
        self._factors = factors
        self._argument, self._number, self._kinds = argument, number, kinds
        self._type: ElementType = element_type_of(argument.type)
        # The first draw has the words that there are without a number of draws.
        self._words = {
            draw: DrawnWords(shape_of(argument), [seed, 3, number, *([draw] if draw else [])])
            for draw in sorted({kind.draw for kind in kinds})
        }
        self._scale = contraction(argument) ** -0.5
        self._activation = activation
        self._gain = is_gain(argument) and not activation
        # Where masks do not hold, and where they do.
        self._sides = (0.0, -np.inf) if is_mask(argument) else two_sides(argument)
        self._hot = hot_channels

    def at(self, places: Sequence[AnyArray]) -> Floats:
        """The elements at arrays of indices, in f32."""
        normal = {draw: _normal(words.at(places)[0]) for draw, words in self._words.items()}
        channel = places[-1] if places else np.zeros(())
        row = places[-2] if len(places) > 1 else np.zeros(())
        runs = [
            self._values(kind, normal[kind.draw], channel, row, self._raised(kind, places))
            * (factor if self._activation or not kind.scaled_data else 1.0)
            for kind, factor in zip(self._kinds, self._factors, strict=True)
        ]
        with np.errstate(all="ignore"):
            return round_to(np.stack(runs).astype(np.float32), self._type)

    def _raised(self, kind: InputKind, places: Sequence[AnyArray]) -> Floats:
        """What is added to the elements at some indices."""
        shape, named = shape_of(self._argument), kind.raised
        if named is None:
            return np.full((), kind.shift)
        if len(shape) < -named.dimension or shape[named.dimension] != named.size:
            return np.zeros(())
        height = RAISED_IN_F16 if self._type == "f16" else RAISED
        return np.where(places[named.dimension] == named.index, kind.shift * height, 0.0)

    def _values(
        self, kind: InputKind, normal: Floats, channel: AnyArray, row: AnyArray, raised: Floats
    ) -> Floats:
        """The elements of one kind."""
        values = normal + raised
        hot = np.broadcast_to(channel == self._hot[kind.first], normal.shape)
        if kind.hot and self._gain:
            low, high = np.log(GAINS[0]), np.log(GAINS[1])
            values = np.exp(low + (high - low) * (normal / (2 * LARGEST) + 0.5))
            values = np.where(hot, HOT_GAIN, values)
        elif kind.hot and self._activation:
            smaller = 1 - HOT_SPREAD * np.abs(normal) / LARGEST
            values = np.where(hot, HOT * smaller * np.sign(normal), values)
        if self._number in kind.far:
            values = values + DISTANCE[self._type]
        if kind.tiny and self._activation:
            values = values * TINY
        if kind.zero and self._activation:
            values = np.zeros_like(values)
        if kind.equal and self._activation:
            values = np.full_like(values, EQUAL)
        values = values * self._scale
        if kind.masked is not None and self._sides is not None:
            size = (shape_of(self._argument) or (1,))[-1]
            chosen = kind.masked.holds(channel, row, size)
            values = np.where(chosen, self._sides[1], self._sides[0] + 0.0 * normal)
        return values


def _normal(words: Words) -> Floats:
    """Nearly normal numbers of random words: sums of four pieces of 16 bits, of variance 4 / 12."""
    pieces = [(words >> np.uint64(16 * i)) & np.uint64(0xFFFF) for i in range(4)]
    total = pieces[0] + pieces[1] + pieces[2] + pieces[3]
    return (total.astype(np.float64) / 2.0**17 - 1.0) * LARGEST


def drawn_inputs(
    function: FuncOp,
    dims: Dims,
    kinds: Sequence[InputKind],
    factors: NDArray[np.float64],
    seed: int,
) -> list[Tensor[Floats]]:
    """The inputs in f32, which holds all element types; small inputs are kept."""
    inputs: list[Tensor[Floats]] = []
    arguments = zip(function.body.block.args, dims, activations(function), strict=True)
    for number, (argument, each, activation) in enumerate(arguments):
        source = DrawnFloats(
            argument,
            number,
            kinds,
            factors,
            seed,
            activation=activation,
            hot_channels=_hot_channels(each),
        )
        inputs.append(made(drawn(source, each), KEPT // len(kinds)))
    return inputs


def _hot_channels(dims: Sequence[Dim]) -> tuple[int, int]:
    """Two of the computed indices of the last dimension: the same for all of one size."""
    indices = dims[-1].indices if dims else np.zeros(1, np.intp)
    return int(indices[len(indices) // 3]), int(indices[0])
