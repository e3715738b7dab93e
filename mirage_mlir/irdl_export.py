"""
Our dialects as IRDL, for MLIR tools that were not built with them.

`dialect_to_irdl` of xDSL 0.74 leaves out attributes, regions and types, and turns every constraint
into `irdl.any`. This exporter keeps what IRDL can say of a constraint: bases, parameters of our own
types, equalities, alternatives, and variables (two operands of one element type). What it cannot
say (shapes, verifiers, traits, optional attributes) is left to our own verifier.

A constraint of IRDL stands for one value wherever it is used, also within a variadic group: all of
it would have one type. A group whose types may differ becomes `MAX_GROUP` optional values instead,
and a program says which of them are there (`segment_sizes`).

Source: Fehr et al., "IRDL: An IR Definition Language for SSA Compilers" (PLDI 2022).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import irdl
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i32,
)
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AllOf,
    AnyOf,
    AttrConstraint,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    OperandDef,
    OptionalDef,
    ParamAttrConstraint,
    RangeLengthConstraint,
    RangeOf,
    RegionDef,
    ResultDef,
    SingleBlockRegionDef,
    VarConstraint,
    VariadicDef,
)
from xdsl.irdl.constraints import MessageConstraint
from xdsl.irdl.operations import AttrOrPropDef
from xdsl.rewriter import InsertPoint

from mirage_mlir.diagnostics import fail

MAX_GROUP = 16
"""How many values of different types a variadic group may have in an exported program."""

ValueDefs = Sequence[tuple[str, OperandDef | ResultDef]]

MLIR_NAMES: dict[type[Attribute], str] = {
    ArrayAttr: "#builtin.array",
    DenseArrayBase: "#builtin.dense_array",
    FloatAttr: "#builtin.float",
    IntegerAttr: "#builtin.integer",
    StringAttr: "#builtin.string",
    TensorType: "!builtin.tensor",
}
"""Builtin classes, and the names under which MLIR's IRDL knows them."""


class _Constraints:
    """Writes the constraints of one definition; what is the same is written once."""

    def __init__(self, block: Block, dialects: frozenset[str]):
        self.builder = Builder(InsertPoint.at_end(block))
        self.dialects = dialects
        self.values: dict[object, SSAValue] = {}

    def once(self, key: object, make: Callable[[], SSAValue]) -> SSAValue:
        if key not in self.values:
            self.values[key] = make()
        return self.values[key]

    def lower(self, constraint: Any) -> SSAValue:
        """The IRDL value for `constraint`: `irdl.any` where IRDL has no word for it."""
        match constraint:
            case VarConstraint(name=name, constraint=inner):
                return self.once(("variable", name), lambda: self.lower(inner))
            case MessageConstraint(constr=inner):
                return self.lower(inner)
            case AnyOf(attr_constrs=choices):
                return self.choice([self.lower(choice) for choice in choices])
            case AllOf(attr_constrs=parts):
                lowered = [self.lower(part) for part in parts]
                return self.builder.insert(irdl.AllOfOp(lowered)).output
            case EqAttrConstraint(attr=attribute):
                return self.equal(attribute)
            case ParamAttrConstraint(base_attr=base, param_constrs=parameters):
                return self.parametric(base, parameters)
            case BaseAttr(attr=base):
                return self.base(base)
            case AttrConstraint():
                bases = constraint.get_bases() or {Attribute}
                return self.choice([self.base(each) for each in sorted(bases, key=_name_of)])
            case _:
                return self.any()

    def any(self) -> SSAValue:
        return self.builder.insert(irdl.AnyOp()).output

    def choice(self, choices: Sequence[SSAValue]) -> SSAValue:
        if len(choices) == 1:
            return choices[0]
        return self.builder.insert(irdl.AnyOfOp(choices)).output

    def equal(self, attribute: Attribute) -> SSAValue:
        return self.builder.insert(irdl.IsOp(attribute)).output

    def parametric(self, base: type[Attribute], parameters: Sequence[Any]) -> SSAValue:
        """`base` with its parameters, which MLIR lets us name for types of our own only."""
        if (symbol := self.symbol(base)) is None:
            return self.base(base)
        values = [self.lower(parameter) for parameter in parameters]
        return self.builder.insert(irdl.ParametricOp(symbol, values)).output

    def base(self, base: type[Attribute]) -> SSAValue:
        if (symbol := self.symbol(base)) is not None:
            return self.builder.insert(irdl.BaseOp(symbol)).output
        if base in MLIR_NAMES:
            return self.builder.insert(irdl.BaseOp(MLIR_NAMES[base])).output
        if issubclass(base, ParametrizedAttribute) and not base.get_irdl_definition().parameters:
            return self.equal(base.new(()))  # such as f16: the class has one member
        return self.any()

    def symbol(self, base: type[Attribute]) -> SymbolRefAttr | None:
        """The symbol that stands for `base` in the exported module, if it is one of ours."""
        dialect, _, name = _name_of(base).partition(".")
        return SymbolRefAttr(dialect, [name]) if dialect in self.dialects else None


def _name_of(base: type[Attribute]) -> str:
    return getattr(base, "name", "")


def _names(names: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr(StringAttr(name) for name in names)


def _of_each(constraint: Any) -> Any:
    """The constraint on each value of a range of operands or results."""
    match constraint:
        case RangeLengthConstraint(constraint=inner):
            return _of_each(inner)
        case RangeOf(constr=inner):
            return inner
        case _:
            return None


def _may_differ(definition: object, constraint: Any) -> bool:
    """Whether the values of a variadic group may be of different types."""
    return isinstance(definition, VariadicDef) and not (
        isinstance(definition, OptionalDef) or isinstance(constraint, VarConstraint)
    )


def _export_values(
    definitions: ValueDefs,
    constraints: _Constraints,
    make: type[irdl.OperandsOp] | type[irdl.ResultsOp],
) -> irdl.OperandsOp | irdl.ResultsOp:
    """All operands or all results of an operation."""
    groups: list[tuple[str, irdl.VariadicityAttr, SSAValue]] = []
    for name, each in definitions:
        constraint = _of_each(each.constr)
        if _may_differ(each, constraint):
            groups += [
                (f"{name}_{i}", irdl.VariadicityAttr.OPTIONAL, constraints.lower(constraint))
                for i in range(MAX_GROUP)
            ]
        elif isinstance(each, OptionalDef):
            groups.append((name, irdl.VariadicityAttr.OPTIONAL, constraints.lower(constraint)))
        elif isinstance(each, VariadicDef):
            groups.append((name, irdl.VariadicityAttr.VARIADIC, constraints.lower(constraint)))
        else:
            groups.append((name, irdl.VariadicityAttr.SINGLE, constraints.lower(constraint)))
    names, kinds, values = zip(*groups, strict=True)
    return make(values, irdl.VariadicityArrayAttr(ArrayAttr(kinds)), _names(names))


def _segment_sizes(op: Operation, definitions: ValueDefs, count: int) -> list[int] | None:
    """The sizes of the exported groups when they must be said: `count` values are there."""
    if not any(_may_differ(each, _of_each(each.constr)) for _, each in definitions):
        return None
    variadic = [each for _, each in definitions if isinstance(each, VariadicDef)]
    if len(variadic) > 1:
        raise ValueError(f"'{op.name}' has {len(variadic)} variadic groups; one can be exported")
    present = count - (len(definitions) - 1)
    if present > MAX_GROUP:
        fail(op, f"has {present} values in one group; IRDL programs have at most {MAX_GROUP}")
    sizes: list[int] = []
    for _, each in definitions:
        filled = [1] * present + [0] * (MAX_GROUP - present)
        sizes += filled if isinstance(each, VariadicDef) else [1]
    return sizes


def group_sizes(kind: type[IRDLOperation], operands: int, results: int) -> dict[str, list[int]]:
    """
    The attributes that a new operation of `kind` with so many operands and results has to have.

    Raises:
        ValueError: there are more values in one group than IRDL programs can have, or too few.
    """
    definition = kind.get_irdl_definition()
    found: dict[str, list[int]] = {}
    for name, definitions, count in (
        (AttrSizedOperandSegments.attribute_name, definition.operands, operands),
        (AttrSizedResultSegments.attribute_name, definition.results, results),
    ):
        if not any(_may_differ(each, _of_each(each.constr)) for _, each in definitions):
            continue
        present = count - (len(definitions) - 1)
        if not 0 <= present <= MAX_GROUP:
            raise ValueError(
                f"'{kind.name}' takes up to {MAX_GROUP} values in a group, not {present}"
            )
        filled = [1] * present + [0] * (MAX_GROUP - present)
        for _, each in definitions:
            found[name] = found.get(name, []) + (filled if isinstance(each, VariadicDef) else [1])
    return found


def segment_sizes(op: IRDLOperation) -> dict[str, Attribute]:
    """The attributes with which an exported program says which optional values `op` has."""
    definition = op.get_irdl_definition()
    sizes = {
        AttrSizedOperandSegments.attribute_name: _segment_sizes(
            op, definition.operands, len(op.operands)
        ),
        AttrSizedResultSegments.attribute_name: _segment_sizes(
            op, definition.results, len(op.results)
        ),
    }
    return {
        name: DenseArrayBase.from_list(i32, each)
        for name, each in sizes.items()
        if each is not None
    }


def _required(definitions: Iterable[tuple[str, AttrOrPropDef]]) -> dict[str, AttrOrPropDef]:
    """The attributes that must be there: IRDL would demand optional ones too."""
    return {
        name: each
        for name, each in definitions
        if not isinstance(each, OptionalDef) and each.default_value is None
    }


def _region(definition: RegionDef) -> irdl.RegionOp:
    """`irdl.region`; the constructor of xDSL 0.74 sets neither its result nor its operands."""
    single = isinstance(definition, SingleBlockRegionDef)
    properties = {"number_of_blocks": IntegerAttr(1, i32)} if single else {}
    return irdl.RegionOp.create(properties=properties, result_types=[irdl.RegionType()])


def export_operation(
    op: type[IRDLOperation], dialects: frozenset[str] = frozenset()
) -> irdl.OperationOp:
    """`op` with its operands, required attributes, results and regions."""
    definition = op.get_irdl_definition()
    block = Block()
    constraints = _Constraints(block, dialects)
    if definition.operands:
        block.add_op(_export_values(definition.operands, constraints, irdl.OperandsOp))
    if definition.results:
        block.add_op(_export_values(definition.results, constraints, irdl.ResultsOp))
    required = _required((*definition.properties.items(), *definition.attributes.items()))
    if required:
        lowered = {name: constraints.lower(each.constr) for name, each in required.items()}
        block.add_op(irdl.AttributesOp.get(lowered))
    if definition.regions:
        regions = [_region(each) for _, each in definition.regions]
        block.add_ops(regions)
        names = _names(name for name, _ in definition.regions)
        block.add_op(irdl.RegionsOp([region.output for region in regions], names))
    return irdl.OperationOp(op.name.partition(".")[2], Region(block))


def export_attribute(
    attribute: type[ParametrizedAttribute], dialects: frozenset[str] = frozenset()
) -> irdl.AttributeOp | irdl.TypeOp:
    """`attribute` with the constraints of its parameters; types become `irdl.type`."""
    block = Block()
    constraints = _Constraints(block, dialects)
    parameters = attribute.get_irdl_definition().parameters
    if parameters:
        values = [constraints.lower(each.constr) for _, each in parameters]
        block.add_op(irdl.ParametersOp(values, _names(name for name, _ in parameters)))
    kind = irdl.TypeOp if issubclass(attribute, TypeAttribute) else irdl.AttributeOp
    return kind(attribute.name.partition(".")[2], Region(block))


def export_dialect(dialect: Dialect, dialects: frozenset[str] = frozenset()) -> irdl.DialectOp:
    """
    The whole of `dialect`, which may refer to the types of `dialects`.

    Raises:
        ValueError: an attribute holds Python data, which has no form in IRDL.
    """
    block = Block()
    for attribute in dialect.attributes:
        if not issubclass(attribute, ParametrizedAttribute):
            raise ValueError(f"{attribute.name} holds Python data, which has no form in IRDL")
        block.add_op(export_attribute(attribute, dialects))
    for op in dialect.operations:
        assert issubclass(op, IRDLOperation)
        block.add_op(export_operation(op, dialects))
    return irdl.DialectOp(dialect.name, Region(block))


def export_dialects(dialects: Sequence[Dialect]) -> list[irdl.DialectOp]:
    """`dialects`, which may refer to each other's types."""
    names = frozenset(dialect.name for dialect in dialects)
    return [export_dialect(dialect, names) for dialect in dialects]
