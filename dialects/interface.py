"""
The interface of a module of kernels: the function that it computes, and what a call prepares.

    gpu.module @f attributes {kernel.interface = #kernel.interface<"f", [tensor<16x512xf16>], ...>}

`lower-to-nvvm` writes it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.dialects.facts import Facts, FactsAttr, to_facts
from mirage_mlir.hints import isa
from mirage_mlir.layouts.layout import SWIZZLES

if TYPE_CHECKING:
    # Slow to load, and programs have none.
    from xdsl.dialects import gpu

INTERFACE = "kernel.interface"
"""Name of the attribute."""

ELEMENTS = ("f16", "bf16", "f32")
"""Element types of tensor maps and of packed copies."""

MAPPED_MEMORY = ("input", "output", "scratch", "packed")
"""The kinds of memory that tensor maps describe."""


@dataclass(frozen=True)
class TensorMapFacts(Facts):
    """From what a launch encodes a tensor map (`cuTensorMapEncodeTiled`)."""

    tensor: str = ""
    """The memory, as `input:0` or `packed:0`."""
    dims: tuple[int, ...] = ()
    """Elements along each dimension, innermost first."""
    strides: tuple[int, ...] = ()
    """Bytes from one index to the next along each dimension but the innermost."""
    box: tuple[int, ...] = ()
    """Elements of a box along each dimension."""
    offset: int = 0
    """Bytes from the start of the memory to the first element."""
    swizzle: int = 0
    """Bytes of a swizzled line, 0 for none."""
    element: str = ""
    """The element type."""

    def verify(self) -> None:
        rank = len(self.dims)
        if not rank or len(self.box) != rank or len(self.strides) != rank - 1:
            raise VerifyException("has no box or stride for each of its dimensions")
        if min(*self.dims, *self.box, *self.strides) < 1 or self.offset < 0:
            raise VerifyException("has dimensions, strides or boxes below 1, or a negative offset")
        if self.swizzle not in (0, *SWIZZLES):
            raise VerifyException(f"swizzle is {self.swizzle}, not 0 or one of {SWIZZLES}")
        _verify_memory(self.tensor, self.element, MAPPED_MEMORY)


@dataclass(frozen=True)
class PackingFacts(Facts):
    """A packed copy of an input, which a launch makes; see `Packing`."""

    tensor: str = ""
    """The input, as `input:0`."""
    shape: tuple[int, ...] = ()
    """Sizes of the view that is packed."""
    strides: tuple[int, ...] = ()
    """Its strides in elements."""
    tile: tuple[int, ...] = ()
    """Sizes of a tile."""
    counts: tuple[int, ...] = ()
    """Tiles along each dimension."""
    order: tuple[int, ...] = ()
    """Dimensions in the order in which tiles are counted, outermost first."""
    offset: int = 0
    """Elements from the start of the input to the view."""
    run_dim: int = 0
    """The dimension along which elements of a line are neighbours."""
    panel: int = 0
    """Elements of a line."""
    element: str = ""
    """The element type."""

    @property
    def packing(self) -> Packing:
        """The packing; raises `ValueError` where the fields contradict each other."""
        values = asdict(self)
        return Packing(**{each.name: values[each.name] for each in fields(Packing)})

    def verify(self) -> None:
        _verify_memory(self.tensor, self.element, ("input",))
        try:
            _ = self.packing
        except ValueError as error:
            raise VerifyException(str(error)) from error


def _verify_memory(tensor: str, element: str, kinds: Sequence[str]) -> None:
    if element not in ELEMENTS:
        raise VerifyException(f"element is '{element}', not one of {', '.join(ELEMENTS)}")
    kind, _, number = tensor.partition(":")
    if kind not in kinds or not number.isdigit():
        raise VerifyException(f"tensor is '{tensor}', not memory such as 'input:0'")


@irdl_attr_definition
class TensorMapAttr(FactsAttr):
    """`#kernel.tensor_map<tensor = "input:0", dims = [512, 16], strides = [1024], ...>`."""

    name = "kernel.tensor_map"

    KIND = TensorMapFacts

    @property
    def tensor_map(self) -> TensorMapFacts:
        """The facts that the attribute carries."""
        return to_facts(TensorMapFacts, self.facts.data)


@irdl_attr_definition
class PackingAttr(FactsAttr):
    """`#kernel.packing<tensor = "input:1", shape = [192, 768], tile = [32, 192], ...>`."""

    name = "kernel.packing"

    KIND = PackingFacts

    @property
    def packing(self) -> PackingFacts:
        """The facts that the attribute carries."""
        return to_facts(PackingFacts, self.facts.data)


@irdl_attr_definition
class InterfaceAttr(ParametrizedAttribute):
    """
    The function that a module of kernels computes, and the descriptors that a call needs.

        #kernel.interface<"f", [tensor<16x512xf16>, tensor<512x64xf16>], array<i64: 1>,
          [tensor<16x64xf16>], [array<i64: 64, 1>], [#kernel.tensor_map<...>], []>

    The parameters are the function's name, the types of its inputs, the numbers of constant inputs,
    the types of its results and their strides in elements, the tensor maps, and the packed copies
    of inputs; `map:0` and `packed:0` are the first of these.
    """

    name = INTERFACE

    function: StringAttr
    inputs: ArrayAttr[TensorType]
    constants: DenseArrayBase[I64]
    outputs: ArrayAttr[TensorType]
    strides: ArrayAttr[DenseArrayBase[I64]]
    tensor_maps: ArrayAttr[TensorMapAttr]
    packings: ArrayAttr[PackingAttr]

    def verify(self) -> None:
        if any(not 0 <= number < len(self.inputs) for number in self.constants.get_values()):
            raise VerifyException(f"has a constant input that is none of {len(self.inputs)} inputs")
        ranks = [len(kind.get_shape()) for kind in self.outputs]
        if ranks != [len(steps) for steps in self.strides]:
            raise VerifyException("has no stride for each dimension of each result")


def set_interface(kernels: "gpu.ModuleOp", interface: InterfaceAttr) -> None:
    """Write it on a module of kernels."""
    kernels.attributes[INTERFACE] = interface


def interface_of(kernels: Operation) -> InterfaceAttr | None:
    """The interface of a module of kernels; None where `lower-to-nvvm` has not written it."""
    found = kernels.attributes.get(INTERFACE)
    return found if isinstance(found, InterfaceAttr) else None


def in_plain_form(attribute: Attribute) -> Attribute:
    """`attribute` for tools that do not know our dialects: with dictionaries for ours."""
    if isinstance(attribute, FactsAttr):
        return attribute.facts
    if isinstance(attribute, InterfaceAttr):
        names = [name for name, _ in InterfaceAttr.get_irdl_definition().parameters]
        plain = map(in_plain_form, attribute.parameters)
        return DictionaryAttr(dict(zip(names, plain, strict=True)))
    if isa(attribute, ArrayAttr[Attribute]):
        return ArrayAttr(map(in_plain_form, attribute))
    return attribute


def function_name(kernels: "gpu.ModuleOp") -> str:
    """The function that kernels compute: that of their interface, or of their module's name."""
    interface = interface_of(kernels)
    return kernels.sym_name.data if interface is None else interface.function.data
