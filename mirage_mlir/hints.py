"""xDSL's `isa` without its cost: that makes the constraint of a generic type anew in each call."""

from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, irdl_to_attr_constraint

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T", bound=Attribute)

_constraint_of: Any = cache(irdl_to_attr_constraint)


def isa(attribute: Attribute | None, kind: "TypeForm[T]") -> TypeGuard[T]:
    """Whether an attribute is of a type, which may be generic: `TensorType[FloatType]`."""
    constraint: AttrConstraint = _constraint_of(kind)
    return attribute is not None and constraint.verifies(attribute)
