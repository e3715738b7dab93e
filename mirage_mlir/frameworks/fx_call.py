"""What the importer of an FX graph gives to a handler of an ATen operator, and the handlers."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.api.tensor import Tensor
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.interpreters.float_domain import round_to
from mirage_mlir.runtime.element_types import ElementType

if TYPE_CHECKING:
    from mirage_mlir.frameworks.fx_graph import FxImporter

Results: TypeAlias = Tensor | tuple[Tensor | None, ...]
"""What a handler gives; None for a result that has no program."""

Handler: TypeAlias = Callable[..., Results]
"""Takes a `FxCall`, then the arguments of the node as they are; numbers are numbers."""

AnyHandler = TypeVar("AnyHandler", bound=Handler)

HANDLERS: dict[str, Handler] = {}
"""By the name of the overload, such as `add.Tensor`."""

ROWS_ARE_SEEN = "mirage_rows_are_seen"
"""The mark of attention whose result is only read in rows that its mask leaves something of."""


def handles(*names: str) -> Callable[[AnyHandler], AnyHandler]:
    """Make a function the handler of overloads of ATen."""

    def register(handler: AnyHandler) -> AnyHandler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


def counts_to(element_type: ElementType) -> int:
    """The largest n so that `element_type` has all integers from -n to n."""
    return FORMATS[element_type.value].counts_to


class FxCall:
    """
    One node of an FX graph while it becomes operators.

    Args:
        importer: knows what the node's operands became.
        node: of `torch.fx`; its `meta["val"]` has the result's shape and type.
        dtype: the element type that the result is to have; masks and integers have no own one.
    """

    def __init__(self, importer: "FxImporter", node: Any, dtype: ElementType) -> None:
        self._importer, self.node, self.dtype = importer, node, dtype

    @property
    def graph(self) -> KernelGraph:
        """The program that grows."""
        return self._importer.graph

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the (one) result."""
        return tuple(map(int, self.node.meta["val"].shape))

    def shape_of(self, operand: Any) -> tuple[int, ...]:
        """The shape of an operand."""
        return tuple(map(int, operand.meta["val"].shape))

    def is_mask(self, operand: Any) -> bool:
        """Whether an operand is a tensor of truth values."""
        return self._importer.is_mask(operand)

    def tensor(self, operand: Any, dtype: ElementType | None = None) -> Tensor:
        """An operand as a tensor of `dtype`, that of the result unless given."""
        if is_number(operand):
            # The part is left to torch: a handler knows this operand as a tensor only.
            raise TypeError(f"takes a tensor, not {operand}")
        return self._importer.tensor(operand, dtype or self.dtype)

    def value(self, operand: Any, dtype: ElementType) -> Tensor | float:
        """The same; a number stays a number."""
        return operand if is_number(operand) else self.tensor(operand, dtype)

    def scaled(self, x: Tensor, factor: float) -> Tensor:
        """`factor * x`; `x` where the factor is 1."""
        return x if factor == 1 else self.graph.scale(x, factor)

    def shaped(self, x: Tensor) -> Tensor:
        """The same elements in the shape of the result."""
        return x if x.dims == self.shape else self.graph.reshape(x, self.shape)

    def part(self, operand: Any, number: int) -> Tensor | None:
        """One result of an operand that has several."""
        return self._importer.parts(operand, self.dtype)[number]

    def widest(self, *operands: Any, numbers: bool = False) -> ElementType:
        """
        The type to compute in so that no operand loses anything.

        With `numbers` this is also so for numbers, which torch does not round to the type of a
        tensor beside them.
        """
        tensors = [each for each in operands if each is not None and not is_number(each)]
        types = {self._importer.own_type(each) for each in (*tensors, self.node)} - {None}
        kind, *others = types or {self.dtype}
        assert kind is not None
        exact = all(self._importer.counts(each, kind) for each in tensors)
        if numbers:
            exact &= all(_is_exact(each, kind) for each in operands if is_number(each))
        return kind if exact and not others else ElementType.F32

    def index_type(self, size: int) -> ElementType:
        """The type of the result where it counts to `size`, so that nothing is cast; f32 else."""
        return self.dtype if size <= counts_to(self.dtype) else ElementType.F32

    def mask(self, operand: Any) -> Tensor:
        """Where an operand is not 0, as a mask of the result's type."""
        if self.is_mask(operand):
            return self.tensor(operand)
        kind = self.widest(operand)
        return self.graph.compare(self.tensor(operand, kind), 0.0, "ne")


def is_number(value: object) -> bool:
    """Whether an argument of a node is a number of Python."""
    return isinstance(value, int | float)


def _is_exact(number: float, kind: ElementType) -> bool:
    with np.errstate(over="ignore"):
        return bool(round_to(np.asarray([number], np.float32), kind.value)[0] == np.float32(number))


def dims_or_all(call: FxCall, operand: Any, dims: Any) -> list[int]:
    """Dimensions to reduce: all where torch says none."""
    if dims is None or dims == []:
        return [*range(len(call.shape_of(operand)))]
    return [dims] if isinstance(dims, int) else [*dims]
