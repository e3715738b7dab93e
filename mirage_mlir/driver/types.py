"""Element types as attributes of the IR, and back."""

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute

from mirage_mlir.dialects.common import FloatType
from mirage_mlir.runtime.element_types import ElementType

_ATTRIBUTES: dict[ElementType, FloatType] = {
    ElementType.F16: f16,
    ElementType.BF16: bf16,
    ElementType.F32: f32,
}


def element_attribute(element_type: ElementType) -> FloatType:
    """The attribute for `element_type`."""
    return _ATTRIBUTES[element_type]


def element_type_of_attribute(attribute: Attribute) -> ElementType:
    """The element type that `attribute` is; the dialects allow no others."""
    return next(item for item, known in _ATTRIBUTES.items() if known == attribute)
