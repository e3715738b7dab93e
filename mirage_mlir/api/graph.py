"""Tensor programs under construction."""

from collections.abc import Sequence
from typing import TypedDict, Unpack, get_type_hints

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.ir import Region, SSAValue

from mirage_mlir.api.arguments import flag, refuse_strides, sizes_of, string
from mirage_mlir.api.construction import caller
from mirage_mlir.api.elementwise import ElementwiseOperators
from mirage_mlir.api.options import checked
from mirage_mlir.api.reductions import Reductions
from mirage_mlir.api.tensor import Tensor
from mirage_mlir.constant_inputs import constant_mark
from mirage_mlir.driver.kept import compiled, known
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import text_of
from mirage_mlir.driver.types import element_attribute
from mirage_mlir.runtime.element_types import ElementType, element_type_of
from mirage_mlir.runtime.kernel import CompiledKernel
from mirage_mlir.runtime.present_gpu import present_target
from mirage_mlir.targets.target import DEFAULT_CHIPS


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
    """Keep on disk what was found, and use what was kept; yes unless given."""
    quiet: bool
    """Show no progress, which else appears on a terminal after two seconds; no unless given."""
    f32: str
    """What products of f32 are: 3xtf32, as precise as f32 and the default, or tf32."""
    allow_unverified: bool
    """Return the best graph where none is verified, with warnings; no unless given."""
    verify_budget: float
    """Seconds that random tests of the result may take; above it normal forms have to prove it."""
    pack: bool
    """Let kernels read copies of constant inputs, packed in the first call; no unless given."""


class KernelGraph(ElementwiseOperators, Reductions):
    """
    A tensor program under construction.

    Every operator is checked when it is added: operands that do not fit are a `ValueError` with
    the shapes, other arguments a `TypeError`. Negative dimensions count from the end.
    """

    def __init__(self, name: str = "kernel_graph") -> None:
        if not string(name, "a graph's name").isidentifier():
            raise ValueError(f"a graph's name is an identifier, not {name!r}")
        super().__init__()
        self.name = name
        self._constants: list[int] = []
        self._outputs: list[SSAValue] = []

    def new_input(
        self,
        dims: Sequence[int],
        dtype: object = ElementType.F16,
        *,
        constant: bool = False,
        name: str | None = None,
        strides: Sequence[int] | None = None,
    ) -> Tensor:
        """
        A new input, after those there are.

        Args:
            dims: the size of each dimension; tensors are dense, the last dimension innermost.
            dtype: `float16`, `bfloat16` or `float32`, of this package, numpy or torch.
            constant: it never changes between calls (a weight), so that it may be packed once.
            name: what messages call it; `input<number>` unless given.
            strides: those of a dense tensor, in elements; others are refused.
        """
        sizes = sizes_of(dims, "dims")
        if strides is not None:
            refuse_strides(strides, sizes)
        index = len(self._block.args)
        hint = _name_hint(f"input{index}" if name is None else name)
        never_changes = flag(constant, "constant")
        tensor_type = TensorType(element_attribute(element_type_of(dtype)), sizes)
        value = self._block.insert_arg(tensor_type, index, self._location or caller())
        value.name_hint = hint
        if never_changes:
            self._constants.append(index)
        return self._tensor(value)

    def __repr__(self) -> str:
        """The program as text, once it has an output."""
        if self._outputs:
            return text_of(self.to_module())
        count = sum(1 for _ in self._block.ops)
        return f"<KernelGraph {self.name}: {count} operators, no output yet>"

    def _repr_svg_(self) -> str | None:
        """The program as a picture, for notebooks; none without an output, or without Graphviz."""
        from mirage_mlir.view.notebook import function_svg

        return function_svg(self.to_module()) if self._outputs else None

    def _repr_html_(self) -> str:
        """The same; without a picture the text."""
        from mirage_mlir.view.notebook import as_html

        return as_html(self._repr_svg_(), repr(self))

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The inputs, in their order."""
        return tuple(map(self._tensor, self._block.args))

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
            attributes[index] = constant_mark()
        function = func.FuncOp(
            self.name, types, body, arg_attrs=ArrayAttr(attributes) if self._constants else None
        )
        return ModuleOp([function])

    def backward(self, *inputs: Tensor) -> "KernelGraph":
        """
        The gradient program: takes the inputs, then the gradient of each output.

        Args:
            inputs: those whose gradients are its outputs, in this order; all unless given.

        Raises:
            ValueError: no output was marked, or one of `inputs` is no input of this graph.
            DiagnosticException: an operator has no gradient.
        """
        from mirage_mlir.passes.gradients.backward import backward

        values = [self._value(tensor) for tensor in inputs] or [*self._block.args]
        for value in values:
            if value not in self._block.args:
                raise ValueError(f"{Tensor(self, value)!r} is no input of the graph")
        function = self.to_module().body.block.first_op
        assert isinstance(function, func.FuncOp)
        numbers = [self._block.args.index(value) for value in values]
        return KernelGraph.of(backward(function, numbers), self._constants)

    @staticmethod
    def of(function: func.FuncOp, constants: Sequence[int]) -> "KernelGraph":
        """The graph of a function, which it takes apart; `constants` are inputs by number."""
        graph = KernelGraph(function.sym_name.data)
        results = function.body.block.last_op
        assert isinstance(results, func.ReturnOp)
        graph._outputs = [*results.operands]
        results.detach()
        results.erase()
        graph._region = function.detach_region(function.body)
        graph._block = graph._region.block
        graph._constants = [*constants]
        return graph

    def superoptimize(
        self, target: str | None = None, **options: Unpack[SearchOptions]
    ) -> CompiledKernel:
        """
        Search for a better graph, verify it, compile it.

        Args:
            target: the GPU to search for: H200, H100, A100, sm_90a or sm_80; unless given the one
                that is there, or H200 without one.
            options: see `SearchOptions`.

        Raises:
            ValueError: no output was marked, or an argument is out of range.
            DiagnosticException: the program cannot be compiled; the message says where and why.
        """
        chosen = options_of(target, options)
        return CompiledKernel(compiled(self.to_module(), self.name, chosen))

    def kept(
        self, target: str | None = None, **options: Unpack[SearchOptions]
    ) -> CompiledKernel | None:
        """What `superoptimize` found before, on this machine, with these arguments; or None."""
        artifact = known(self.to_module(), self.name, options_of(target, options))
        return None if artifact is None else CompiledKernel(artifact)

    def _tensor(self, value: SSAValue) -> Tensor:
        return Tensor(self, value)


def _name_hint(name: str) -> str:
    if not SSAValue.is_valid_name(string(name, "an input's name")):
        raise ValueError(f"an input's name is an identifier, not {name!r}")
    return name


def options_of(target: str | None, options: SearchOptions) -> Options:
    """
    The driver's options for those of a user; without a target for the GPU that is there.

    Raises:
        TypeError: an option does not exist, or has another type.
        ValueError: an option is out of its range.
    """
    hints = {"target": str | None, **get_type_hints(SearchOptions)}
    given = checked({"target": target, **options}, hints)
    given["target"] = given["target"] or present_target()
    chips = given.pop("compile_for", DEFAULT_CHIPS)
    return Options(**given, chips=chips)
