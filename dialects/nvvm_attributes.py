"""
The attributes and pointer types of the `nvvm` dialect, spelled as upstream MLIR prints them.

Upstream has two spellings: `#nvvm<shfl_kind bfly>` and, for attributes with an assembly format
of their own, `#nvvm.mma_layout<row>`. Its parser takes each attribute in its own spelling only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

GLOBAL = LLVMPointerType(IntAttr(1))
"""A pointer to device memory."""

SHARED = LLVMPointerType(IntAttr(3))
"""A pointer to the shared memory of this block."""

CLUSTER_SHARED = LLVMPointerType(IntAttr(7))
"""A pointer to the shared memory of any block of this cluster."""


class CacheModifier(StrEnum):
    """Which caches an asynchronous copy fills: all of them, or L2 only (`CG`, 16 bytes only)."""

    CA = "ca"
    CG = "cg"


class ShuffleKind(StrEnum):
    """Which lane a shuffle reads: lane xor offset, lane + offset, lane - offset, lane = offset."""

    BFLY = "bfly"
    DOWN = "down"
    UP = "up"
    IDX = "idx"


class GridDependency(StrEnum):
    """The two halves of programmatic dependent launch."""

    WAIT = "wait"
    LAUNCH_DEPENDENTS = "launch_dependents"


class PrefetchLevel(StrEnum):
    """The cache that a prefetch fills."""

    L2 = "L2"


class RegisterAction(StrEnum):
    """Whether a warpgroup takes registers from the block's pool or gives some back."""

    INCREASE = "increase"
    DECREASE = "decrease"


class MatrixLayout(StrEnum):
    """The order of a matrix fragment; for `ldmatrix`, `COL` transposes each 8x8 matrix."""

    ROW = "row"
    COL = "col"


class MultiplicandType(StrEnum):
    """The element type that a tensor core sees in its A and B registers."""

    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"


class MatrixElementType(StrEnum):
    """The element size that `ldmatrix` and `stmatrix` move."""

    B16 = "b16"


class MemoryScope(StrEnum):
    """The threads that a synchronisation reaches: the block's, the cluster's, or all."""

    CTA = "cta"
    CLUSTER = "cluster"
    GPU = "gpu"


class TensorCopyMode(StrEnum):
    """How a bulk tensor copy reads the tensor: as a box of it."""

    TILE = "tile"


class ProxyKind(StrEnum):
    """The path to memory that a proxy fence joins with the ordinary one."""

    ASYNC_SHARED = "async.shared"


class SharedSpace(StrEnum):
    """Whose shared memory: the block's."""

    CTA = "cta"


@irdl_attr_definition
class CacheModifierAttr(EnumAttribute[CacheModifier], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<load_cache_modifier cg>`."""

    name = "nvvm.load_cache_modifier"


@irdl_attr_definition
class ShuffleKindAttr(EnumAttribute[ShuffleKind], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<shfl_kind bfly>`."""

    name = "nvvm.shfl_kind"


@irdl_attr_definition
class GridDependencyAttr(EnumAttribute[GridDependency], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<grid_dep_action wait>`."""

    name = "nvvm.grid_dep_action"


@irdl_attr_definition
class PrefetchLevelAttr(EnumAttribute[PrefetchLevel], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<prefetch_cache_level L2>`."""

    name = "nvvm.prefetch_cache_level"


@irdl_attr_definition
class RegisterActionAttr(EnumAttribute[RegisterAction], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<action increase>`."""

    name = "nvvm.action"


BracketedEnum = TypeVar("BracketedEnum", bound=StrEnum)


class BracketedEnumAttribute(Data[BracketedEnum]):
    """An enum attribute in the second spelling; a subclass names its `enum_type`."""

    enum_type: ClassVar[type[StrEnum]]

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> BracketedEnum:
        with parser.in_angle_brackets():
            return cast(BracketedEnum, parser.parse_str_enum(cls.enum_type))


@irdl_attr_definition
class MatrixLayoutAttr(BracketedEnumAttribute[MatrixLayout]):
    """`#nvvm.mma_layout<row>`."""

    name = "nvvm.mma_layout"
    enum_type = MatrixLayout


@irdl_attr_definition
class MultiplicandTypeAttr(BracketedEnumAttribute[MultiplicandType]):
    """`#nvvm.mma_type<f16>`."""

    name = "nvvm.mma_type"
    enum_type = MultiplicandType


@irdl_attr_definition
class MatrixElementTypeAttr(BracketedEnumAttribute[MatrixElementType]):
    """`#nvvm.ld_st_matrix_elt_type<b16>`."""

    name = "nvvm.ld_st_matrix_elt_type"
    enum_type = MatrixElementType


@irdl_attr_definition
class MemoryScopeAttr(BracketedEnumAttribute[MemoryScope]):
    """`#nvvm.mem_scope<cta>`."""

    name = "nvvm.mem_scope"
    enum_type = MemoryScope


@irdl_attr_definition
class TensorCopyModeAttr(BracketedEnumAttribute[TensorCopyMode]):
    """`#nvvm.tma_load_mode<tile>`."""

    name = "nvvm.tma_load_mode"
    enum_type = TensorCopyMode


@irdl_attr_definition
class ProxyKindAttr(BracketedEnumAttribute[ProxyKind]):
    """`#nvvm.proxy_kind<async.shared>`."""

    name = "nvvm.proxy_kind"
    enum_type = ProxyKind


@irdl_attr_definition
class SharedSpaceAttr(BracketedEnumAttribute[SharedSpace]):
    """`#nvvm.shared_space<cta>`."""

    name = "nvvm.shared_space"
    enum_type = SharedSpace


def _print_sizes(printer: Printer, sizes: Sequence[tuple[str, IntAttr]]) -> None:
    """Write `<m = 8, n = 8>`."""
    with printer.in_angle_brackets():
        printer.print_string(", ".join(f"{letter} = {size.data}" for letter, size in sizes))


def _parse_sizes(parser: AttrParser, letters: str) -> tuple[IntAttr, ...]:
    """Read what `_print_sizes` writes."""
    sizes: list[IntAttr] = []
    with parser.in_angle_brackets():
        for letter in letters:
            if sizes:
                parser.parse_punctuation(",")
            parser.parse_keyword(letter)
            parser.parse_punctuation("=")
            sizes.append(IntAttr(parser.parse_integer()))
    return tuple(sizes)


@irdl_attr_definition
class MatrixShapeAttr(ParametrizedAttribute):
    """The shape of one matrix that `ldmatrix` moves: `#nvvm.ld_st_matrix_shape<m = 8, n = 8>`."""

    name = "nvvm.ld_st_matrix_shape"

    m: IntAttr
    n: IntAttr

    def print_parameters(self, printer: Printer) -> None:
        _print_sizes(printer, (("m", self.m), ("n", self.n)))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[IntAttr, ...]:
        return _parse_sizes(parser, "mn")


@irdl_attr_definition
class MmaShapeAttr(ParametrizedAttribute):
    """The shape of one matrix-unit instruction: `#nvvm.shape<m = 16, n = 8, k = 16>`."""

    name = "nvvm.shape"

    m: IntAttr
    n: IntAttr
    k: IntAttr

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(m, n, k): A is m x k, B is k x n, C and D are m x n."""
        return (self.m.data, self.n.data, self.k.data)

    def print_parameters(self, printer: Printer) -> None:
        _print_sizes(printer, (("m", self.m), ("n", self.n), ("k", self.k)))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[IntAttr, ...]:
        return _parse_sizes(parser, "mnk")


TARGETS = "targets"
"""Name of the attribute of a `gpu.module` that lists what to compile it for."""

OPTIMISATION = 3
"""How hard LLVM tries."""


@irdl_attr_definition
class NvvmTargetAttr(ParametrizedAttribute):
    """`#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">`: what kernels are made for."""

    name = "nvvm.target"

    level: IntAttr
    chip: StringAttr
    features: StringAttr

    @staticmethod
    def of(chip: str, features: str) -> NvvmTargetAttr:
        """The instruction set `chip`, and the PTX version that `features` names."""
        return NvvmTargetAttr(IntAttr(OPTIMISATION), StringAttr(chip), StringAttr(features))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"O = {self.level.data}, chip = ")
            printer.print_string_literal(self.chip.data)
            printer.print_string(", features = ")
            printer.print_string_literal(self.features.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[IntAttr, StringAttr, StringAttr]:
        with parser.in_angle_brackets():
            parser.parse_keyword("O")
            parser.parse_punctuation("=")
            level = parser.parse_integer()
            chip, features = (_parse_text(parser, name) for name in ("chip", "features"))
        return IntAttr(level), StringAttr(chip), StringAttr(features)


def _parse_text(parser: AttrParser, name: str) -> str:
    parser.parse_punctuation(",")
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return parser.parse_str_literal()
