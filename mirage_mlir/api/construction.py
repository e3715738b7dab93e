"""How operators are added to a graph, and which line of the user's program they come from."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import islice
from typing import ParamSpec

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.api.arguments import finite, finite_or_lowest
from mirage_mlir.api.tensor import Tensor
from mirage_mlir.dialects import kernel

P = ParamSpec("P")


class GraphBuilder(ABC):
    """A graph under construction, whatever operators there are."""

    def __init__(self) -> None:
        self._block = Block()
        self._region = Region(self._block)
        self._location: LocationAttr | None = None

    @contextmanager
    def located(self, location: LocationAttr) -> Generator[None]:
        """Operators and inputs that are added inside are from `location`, not from the caller."""
        before, self._location = self._location, location
        try:
            yield
        finally:
            self._location = before

    @abstractmethod
    def _tensor(self, value: SSAValue) -> Tensor:
        """A value of this graph, as users have it."""

    def _value(self, tensor: object) -> SSAValue:
        if isinstance(tensor, bool):
            raise TypeError(
                "operands are tensors of a graph, not bool: == and != compare objects, and "
                "graph.compare(a, b, 'eq') elements"
            )
        if not isinstance(tensor, Tensor):
            raise TypeError(f"operands are tensors of a graph, not {type(tensor).__qualname__}")
        if tensor.graph is not self:
            raise ValueError(f"{tensor!r} belongs to another graph")
        return tensor.value

    def _operand(
        self, tensor: Tensor | float, like: Tensor | float, *, lowest: bool = False
    ) -> SSAValue:
        """
        `tensor`, or a number as a constant of the type and rank of the tensor `like`.

        With `lowest` it may be -inf.
        """
        if isinstance(tensor, Tensor) or not isinstance(like, Tensor):
            return self._value(tensor)
        tensor_type = kernel.tensor_type(self._value(like))
        ones = TensorType(tensor_type.element_type, [1] * tensor_type.get_num_dims())
        value = finite_or_lowest(tensor, "operand") if lowest else finite(tensor, "operand")
        return self._add(kernel.ConstantOp, value, ones).value

    def _add(self, make: Callable[P, Operation], *args: P.args, **kwargs: P.kwargs) -> Tensor:
        """The one result of a new operation; what its dialect rejects is a `ValueError`."""
        try:
            op = make(*args, **kwargs)
            op.location = self._location or caller()
            op.verify()
        except (DiagnosticException, ValueError) as error:
            raise ValueError(str(error)) from error
        self._block.add_op(op)
        return self._tensor(op.results[0])


def caller() -> LocationAttr:
    """The place outside this package where the running method was called."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    if frame is None:
        return UNKNOWN_LOC
    # One entry per instruction, and an instruction takes two bytes.
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    line, column = positions[0] or frame.f_lineno, (positions[2] or 0) + 1
    return FileLineColLoc(StringAttr(frame.f_code.co_filename), IntAttr(line), IntAttr(column))
