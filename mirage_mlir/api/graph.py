"""Tensor programs under construction."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import ParamSpec, TypedDict, Unpack, get_type_hints

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.api.arguments import (
    count,
    dims_of,
    fill,
    finite,
    flag,
    integers,
    sizes_of,
    string,
)
from mirage_mlir.api.options import checked
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.optimize import optimize
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.types import element_attribute, element_type_of_attribute
from mirage_mlir.graph.target import DEFAULT_CHIPS, DEFAULT_TARGET
from mirage_mlir.runtime.element_types import ElementType, element_type_of
from mirage_mlir.runtime.kernel import CompiledKernel

P = ParamSpec("P")

ROW_OPS: Mapping[str, Callable[..., Operation]] = kernel.ROW_OPS
"""Builders of operators whose classes are made from their rows: a value, then the parameters."""


class SearchOptions(TypedDict, total=False):
    """How to search and what to compile for."""

    time_limit: float | None
    """Seconds of search after which the best so far is taken."""
    max_kernels: int
    """Kernels that a plan may have, for a program that is searched as one piece."""
    jobs: int
    """Processes that search; the result is the same for any number."""
    compile_for: Sequence[str]
    """Instruction sets that the result has machine code for; sm_90a and sm_80 unless given."""
    profile: bool
    """Time the best candidates on this machine's GPU, and take the fastest."""
    top_k: int
    """How many candidates are timed; 8 unless given."""
    cache: bool
    """Keep on disk what was found by timing, and use what was kept; yes unless given."""
    f32: str
    """What products of f32 are: 3xtf32, as precise as f32 and the default, or tf32."""
    allow_unverified: bool
    """Return the best graph where none is verified, with warnings; no unless given."""
    verify_budget: float
    """Seconds that random tests of the result may take; above it normal forms have to prove it."""
    pack: bool
    """Let kernels read copies of constant inputs, packed in the first call; no unless given."""


class Tensor:
    """A value in a graph; `+`, `-`, `*`, `/` and `@` build operators as the graph's methods do."""

    __array_ufunc__ = None
    """Arrays of numpy leave operators to us: each of their elements would become a tensor."""

    def __init__(self, graph: "KernelGraph", value: SSAValue) -> None:
        self.graph = graph
        self.value = value

    @property
    def dims(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return kernel.shape_of(self.value)

    @property
    def dtype(self) -> ElementType:
        """The type of the elements."""
        return element_type_of_attribute(kernel.tensor_type(self.value).element_type)

    def __repr__(self) -> str:
        return f"<Tensor {'x'.join([*map(str, self.dims), self.dtype.value])}>"

    def __add__(self, other: "Tensor | float") -> "Tensor":
        return self.graph.add(self, other)

    def __radd__(self, other: float) -> "Tensor":
        return self.graph.add(other, self)

    def __sub__(self, other: "Tensor | float") -> "Tensor":
        return self.graph.sub(self, other)

    def __rsub__(self, other: float) -> "Tensor":
        return self.graph.sub(other, self)

    def __mul__(self, other: "Tensor | float") -> "Tensor":
        return self.graph.mul(self, other)

    def __rmul__(self, other: float) -> "Tensor":
        return self.graph.mul(other, self)

    def __truediv__(self, other: "Tensor | float") -> "Tensor":
        return self.graph.div(self, other)

    def __rtruediv__(self, other: float) -> "Tensor":
        return self.graph.div(other, self)

    def __matmul__(self, other: "Tensor") -> "Tensor":
        return self.graph.matmul(self, other)


class KernelGraph:
    """
    A tensor program under construction.

    Every operator is checked when it is added: operands that do not fit are a `ValueError` with
    the shapes, other arguments a `TypeError`. Negative dimensions count from the end.
    """

    def __init__(self, name: str = "kernel_graph") -> None:
        if not string(name, "a graph's name").isidentifier():
            raise ValueError(f"a graph's name is an identifier, not {name!r}")
        self.name = name
        self._block = Block()
        self._region = Region(self._block)
        self._constants: list[int] = []
        self._outputs: list[SSAValue] = []

    # Inputs and outputs

    def new_input(
        self,
        dims: Sequence[int],
        dtype: object = ElementType.F16,
        *,
        constant: bool = False,
        name: str | None = None,
    ) -> Tensor:
        """
        A new input, after those there are.

        Args:
            dims: the size of each dimension; tensors are dense, the last dimension innermost.
            dtype: `float16`, `bfloat16` or `float32`, of this package, numpy or torch.
            constant: it never changes between calls (a weight), so that it may be packed once.
            name: what messages call it; `input<number>` unless given.
        """
        sizes = sizes_of(dims, "dims")
        index = len(self._block.args)
        hint = _name_hint(f"input{index}" if name is None else name)
        never_changes = flag(constant, "constant")
        tensor_type = TensorType(element_attribute(element_type_of(dtype)), sizes)
        value = self._block.insert_arg(tensor_type, index, _caller())
        value.name_hint = hint
        if never_changes:
            self._constants.append(index)
        return Tensor(self, value)

    def mark_output(self, *tensors: Tensor) -> None:
        """Make each of `tensors` a result, after those there are."""
        self._outputs.extend(self._value(tensor) for tensor in tensors)

    def to_module(self) -> ModuleOp:
        """
        The program as a module with one function.

        Raises:
            ValueError: no output was marked.
        """
        if not self._outputs:
            raise ValueError("the graph has no output: call mark_output before")
        copies: dict[SSAValue, SSAValue] = {}
        body = Region()
        self._region.clone_into(body, 0, copies)
        results = [copies[value] for value in self._outputs]
        body.block.add_op(func.ReturnOp(*results))
        types = (list(body.block.arg_types), [value.type for value in results])
        attributes = [DictionaryAttr({}) for _ in body.block.args]
        for index in self._constants:
            attributes[index] = DictionaryAttr({"kernel.constant": UnitAttr()})
        function = func.FuncOp(
            self.name, types, body, arg_attrs=ArrayAttr(attributes) if self._constants else None
        )
        return ModuleOp([function])

    def superoptimize(
        self, target: str = DEFAULT_TARGET, **options: Unpack[SearchOptions]
    ) -> CompiledKernel:
        """
        Search for a better graph, verify it, compile it.

        Args:
            target: the GPU to search for: H200, H100, A100, sm_90a or sm_80.
            options: see `SearchOptions`.

        Raises:
            ValueError: no output was marked, or an argument is out of range.
            DiagnosticException: the program cannot be compiled; the message says where and why.
        """
        chosen = options_of(target, options)
        return CompiledKernel(optimize(self.to_module(), self.name, chosen).artifact)

    # How operators are added

    def _value(self, tensor: object) -> SSAValue:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"operands are tensors of a graph, not {type(tensor).__qualname__}")
        if tensor.graph is not self:
            raise ValueError(f"{tensor!r} belongs to another graph")
        return tensor.value

    def _operand(self, tensor: "Tensor | float", like: "Tensor | float") -> SSAValue:
        """`tensor`, or a number as a constant of the type and rank of the tensor `like`."""
        if isinstance(tensor, Tensor) or not isinstance(like, Tensor):
            return self._value(tensor)
        tensor_type = kernel.tensor_type(self._value(like))
        ones = TensorType(tensor_type.element_type, [1] * tensor_type.get_num_dims())
        return self._add(kernel.ConstantOp, finite(tensor, "operand"), ones).value

    def _add(self, make: Callable[P, Operation], *args: P.args, **kwargs: P.kwargs) -> Tensor:
        """The one result of a new operation; what its dialect rejects is a `ValueError`."""
        try:
            op = make(*args, **kwargs)
            op.location = _caller()
            op.verify()
        except (DiagnosticException, ValueError) as error:
            raise ValueError(str(error)) from error
        self._block.add_op(op)
        return Tensor(self, op.results[0])

    def _binary(
        self, make: type[kernel.BinaryOp], lhs: Tensor | float, rhs: Tensor | float
    ) -> Tensor:
        return self._add(make, self._operand(lhs, rhs), self._operand(rhs, lhs))

    # Elementwise operators; shapes broadcast as numpy's do

    def add(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs + rhs`."""
        return self._binary(kernel.AddOp, lhs, rhs)

    def sub(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs - rhs`."""
        return self._binary(kernel.SubOp, lhs, rhs)

    def mul(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs * rhs`."""
        if isinstance(lhs, Tensor) and not isinstance(rhs, Tensor):
            return self.scale(lhs, rhs)
        if isinstance(rhs, Tensor) and not isinstance(lhs, Tensor):
            return self.scale(rhs, lhs)
        return self._binary(kernel.MulOp, lhs, rhs)

    def div(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """`lhs / rhs`."""
        return self._binary(kernel.DivOp, lhs, rhs)

    def max(self, lhs: Tensor | float, rhs: Tensor | float) -> Tensor:
        """The larger of `lhs` and `rhs`, element by element."""
        return self._binary(kernel.MaxOp, lhs, rhs)

    def exp(self, x: Tensor) -> Tensor:
        """`e ** x`."""
        return self._add(kernel.ExpOp, self._value(x))

    def log(self, x: Tensor) -> Tensor:
        """The natural logarithm."""
        return self._add(kernel.LogOp, self._value(x))

    def square(self, x: Tensor) -> Tensor:
        """`x * x`."""
        return self._add(kernel.SquareOp, self._value(x))

    def sqrt(self, x: Tensor) -> Tensor:
        """The square root."""
        return self._add(kernel.SqrtOp, self._value(x))

    def rsqrt(self, x: Tensor) -> Tensor:
        """`1 / sqrt(x)`."""
        return self._add(kernel.RsqrtOp, self._value(x))

    def sigmoid(self, x: Tensor) -> Tensor:
        """`1 / (1 + e ** -x)`."""
        return self._add(kernel.SigmoidOp, self._value(x))

    def silu(self, x: Tensor) -> Tensor:
        """`x * sigmoid(x)`."""
        return self._add(kernel.SiluOp, self._value(x))

    def gelu(self, x: Tensor, approximate: str = "none") -> Tensor:
        """`x * Phi(x)`; `approximate="tanh"` is the approximation that PyTorch calls so."""
        return self._add(kernel.GeluOp, self._value(x), string(approximate, "approximate"))

    def relu(self, x: Tensor) -> Tensor:
        """`max(x, 0)`."""
        return self._add(kernel.ReluOp, self._value(x))

    def tanh(self, x: Tensor) -> Tensor:
        """The hyperbolic tangent."""
        return self._add(kernel.TanhOp, self._value(x))

    def softcap(self, x: Tensor, cap: float) -> Tensor:
        """`cap * tanh(x / cap)`, for a `cap` above 0: scores of attention kept within it."""
        return self._add(ROW_OPS["softcap"], self._value(x), finite(cap, "cap"))

    def clamp(self, x: Tensor, min: float, max: float) -> Tensor:
        """`x` moved into `[min, max]`."""
        limits = (finite(min, "min"), finite(max, "max"))
        return self._add(kernel.ClampOp, self._value(x), *limits)

    def pow(self, x: Tensor, exponent: float) -> Tensor:
        """`x ** exponent`."""
        return self._add(kernel.PowOp, self._value(x), finite(exponent, "exponent"))

    def scale(self, x: Tensor, factor: float) -> Tensor:
        """`x * factor`."""
        return self._add(kernel.ScaleOp, self._value(x), finite(factor, "factor"))

    def cast(self, x: Tensor, dtype: object) -> Tensor:
        """`x` with another element type."""
        result = TensorType(element_attribute(element_type_of(dtype)), _dims(x))
        return self._add(kernel.CastOp, self._value(x), result)

    # Products and reductions; reduced dimensions stay, with size 1

    def matmul(self, lhs: Tensor, rhs: Tensor, precision: str | None = None) -> Tensor:
        """
        The product of the last two dimensions; those before broadcast.

        With `precision="tf32"` the operands, in float32, may be rounded to tf32.
        """
        operands = self._value(lhs), self._value(rhs)
        if precision is not None:
            string(precision, "precision")
        return self._add(kernel.MatmulOp, *operands, precision=precision)

    def reduction(self, x: Tensor, dim: int | Sequence[int]) -> Tensor:
        """The sum over `dim`; the same as `reduce_sum`."""
        return self.reduce_sum(x, dim)

    def reduce_sum(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        """The sum over `dims`."""
        return self._add(kernel.ReduceSumOp, self._value(x), dims_of(_dims(x), dims))

    def reduce_max(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        """The maximum over `dims`."""
        return self._add(kernel.ReduceMaxOp, self._value(x), dims_of(_dims(x), dims))

    def reduce_mean(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        """The mean over `dims`."""
        return self._add(kernel.ReduceMeanOp, self._value(x), dims_of(_dims(x), dims))

    def rms_norm(
        self,
        x: Tensor,
        weight: Tensor | None = None,
        *,
        normalized_shape: Sequence[int] | None = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """
        `x / sqrt(mean(x ** 2) + eps) * weight` over the last dimension.

        `normalized_shape`, as PyTorch has it, is checked when given. The weight is a vector;
        leading dimensions of size 1 are dropped.
        """
        self._check_normalized(x, normalized_shape)
        return self._add(kernel.RmsNormOp, self._value(x), self._vector(weight), finite(eps, "eps"))

    def layer_norm(
        self,
        x: Tensor,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        *,
        normalized_shape: Sequence[int] | None = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """`(x - mean(x)) / sqrt(var(x) + eps) * weight + bias` over the last dimension."""
        self._check_normalized(x, normalized_shape)
        return self._add(
            kernel.LayerNormOp,
            self._value(x),
            self._vector(weight),
            self._vector(bias),
            finite(eps, "eps"),
        )

    def softmax(self, x: Tensor, dim: int = -1) -> Tensor:
        """`exp(x) / sum(exp(x))` along `dim`."""
        return self._add(kernel.SoftmaxOp, self._value(x), _dim(x, dim))

    # Views and rearrangements

    def transpose(self, x: Tensor, *permutation: int) -> Tensor:
        """Dimension `permutation[i]` of `x` becomes dimension i; the last two swap by default."""
        rank = len(_dims(x))
        order = list(permutation) or [*range(rank - 2), rank - 1, rank - 2]
        return self._add(kernel.TransposeOp, self._value(x), dims_of(_dims(x), order))

    def reshape(self, x: Tensor, dims: Sequence[int]) -> Tensor:
        """The same elements, in the same order; one of `dims` may be -1, which is what is left."""
        sizes = fill(_dims(x), dims)
        result = TensorType(kernel.tensor_type(self._value(x)).element_type, sizes)
        return self._add(kernel.ReshapeOp, self._value(x), result)

    def broadcast(self, x: Tensor, dims: Sequence[int]) -> Tensor:
        """`x` repeated along its dimensions of size 1, and along new leading ones."""
        result = TensorType(kernel.tensor_type(self._value(x)).element_type, sizes_of(dims, "dims"))
        return self._add(kernel.BroadcastOp, self._value(x), result)

    def repeat(self, x: Tensor, dim: int, times: int) -> Tensor:
        """The whole of `x`, `times` times, one after the other along `dim` (numpy.tile)."""
        return self._add(kernel.RepeatOp, self._value(x), _dim(x, dim), count(times, "times"))

    def repeat_interleave(self, x: Tensor, dim: int, times: int) -> Tensor:
        """Each element along `dim` `times` times (numpy.repeat), as key-value heads are."""
        return self._add(
            kernel.RepeatInterleaveOp, self._value(x), _dim(x, dim), count(times, "times")
        )

    def slice(
        self,
        x: Tensor,
        offsets: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> Tensor:
        """Elements `offset + i * stride`, `size` of them, along each dimension."""
        starts, counts = integers(offsets, "offsets"), integers(sizes, "sizes")
        steps = [1] * len(starts) if strides is None else integers(strides, "strides")
        return self._add(kernel.SliceOp, self._value(x), starts, counts, steps)

    def chunk(self, x: Tensor, chunks: int, dim: int = -1) -> tuple[Tensor, ...]:
        """`chunks` equal parts of `x` along `dim`; raises `ValueError` where they are not equal."""
        axis, parts = _dim(x, dim), count(chunks, "chunks")
        size, rest = divmod(_dims(x)[axis], parts)
        if rest:
            raise ValueError(f"dimension {axis} of size {_dims(x)[axis]} is no {parts} equal parts")
        sizes = [*_dims(x)]
        sizes[axis] = size
        starts = [[0] * len(sizes) for _ in range(parts)]
        for number, start in enumerate(starts):
            start[axis] = number * size
        return tuple(self.slice(x, start, sizes) for start in starts)

    def concat(self, tensors: Sequence[Tensor], dim: int) -> Tensor:
        """The tensors one after the other along `dim`."""
        if isinstance(tensors, Tensor):
            raise TypeError("concat takes a list of tensors, not one tensor")
        if not tensors:
            raise ValueError("concat takes at least one tensor")
        values = [self._value(tensor) for tensor in tensors]
        return self._add(kernel.ConcatOp, values, _dim(tensors[0], dim))

    def constant(
        self, value: float, dims: Sequence[int], dtype: object = ElementType.F32
    ) -> Tensor:
        """A tensor all of whose elements are `value`."""
        result = TensorType(element_attribute(element_type_of(dtype)), sizes_of(dims, "dims"))
        return self._add(kernel.ConstantOp, finite(value, "value"), result)

    def _check_normalized(self, x: Tensor, normalized_shape: Sequence[int] | None) -> None:
        if normalized_shape is None:
            return
        if (shape := tuple(integers(normalized_shape, "normalized_shape"))) != _dims(x)[-1:]:
            raise ValueError(
                f"normalized_shape is {shape}; norms are over the last dimension, "
                f"{_dims(x)[-1:]} here"
            )

    def _vector(self, tensor: Tensor | None) -> SSAValue | None:
        if tensor is None:
            return None
        if len(_dims(tensor)) > 1 and _dims(tensor)[:-1] == (1,) * (len(_dims(tensor)) - 1):
            tensor = self.reshape(tensor, _dims(tensor)[-1:])
        return self._value(tensor)


def _dims(x: object) -> tuple[int, ...]:
    """The sizes of a tensor; raises `TypeError` where it is none."""
    if not isinstance(x, Tensor):
        raise TypeError(f"operands are tensors of a graph, not {type(x).__qualname__}")
    return x.dims


def _dim(x: Tensor, dim: int) -> int:
    """One dimension of `x`, counted from the front."""
    return dims_of(_dims(x), (dim,))[0]


def _caller() -> LocationAttr:
    """The place outside this package where the running method was called."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    if frame is None:
        return UNKNOWN_LOC
    # One entry per instruction, and an instruction takes two bytes.
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    line, column = positions[0] or frame.f_lineno, (positions[2] or 0) + 1
    return FileLineColLoc(StringAttr(frame.f_code.co_filename), IntAttr(line), IntAttr(column))


def _name_hint(name: str) -> str:
    if not SSAValue.is_valid_name(string(name, "an input's name")):
        raise ValueError(f"an input's name is an identifier, not {name!r}")
    return name


def options_of(target: str, options: SearchOptions) -> Options:
    """
    The driver's options for those of a user.

    Raises:
        TypeError: an option does not exist, or has another type.
        ValueError: an option is out of its range.
    """
    hints = {"target": str, **get_type_hints(SearchOptions)}
    known = checked({"target": target, **options}, hints)
    chips = known.pop("compile_for", DEFAULT_CHIPS)
    return Options(**known, chips=chips)
