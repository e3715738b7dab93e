"""The normalizations of the `kernel` dialect."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, var_operand_def

from mirage_mlir.dialects.bases import NormBase
from mirage_mlir.dialects.common import ELEMENT_TYPE
from mirage_mlir.dialects.kernel_bases import TensorOp


class NormOp(NormBase, TensorOp, ABC):
    """A normalization of the last dimension; `parameters` are rows: a weight, then a bias."""

    input = operand_def(TensorType.constr(ELEMENT_TYPE))
    parameters = var_operand_def(TensorType.constr(ELEMENT_TYPE))
    result = result_def(TensorType.constr(ELEMENT_TYPE))

    @property
    def weight(self) -> SSAValue | None:
        """The factor of each element of a row, if any."""
        return self.parameters[0] if self.parameters else None


@irdl_op_definition
class RmsNormOp(NormOp):
    """
    `x / sqrt(mean(x^2) + eps) * weight` over the last dimension.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4.
    """

    name = "kernel.rms_norm"

    PARAMETER_NAMES: ClassVar[tuple[str, ...]] = ("weight",)

    def __init__(
        self,
        input: SSAValue,
        weight: SSAValue | None,
        eps: float,
        result_type: Attribute | None = None,
    ):
        super().__init__(input, [weight], eps, result_type)


@irdl_op_definition
class LayerNormOp(NormOp):
    """
    `(x - mean(x)) / sqrt(variance(x) + eps) * weight + bias` over the last dimension.

    The variance is the mean of the squared distances from the mean.
    Source: Ba et al., "Layer Normalization" (2016).
    """

    name = "kernel.layer_norm"

    def __init__(
        self,
        input: SSAValue,
        weight: SSAValue | None,
        bias: SSAValue | None,
        eps: float,
        result_type: Attribute | None = None,
    ):
        if weight is None and bias is not None:
            raise ValueError("layer_norm takes a bias only together with a weight")
        super().__init__(input, [weight, bias], eps, result_type)

    @property
    def bias(self) -> SSAValue | None:
        """What is added to each element of a row, if any."""
        return self.parameters[1] if len(self.parameters) > 1 else None
