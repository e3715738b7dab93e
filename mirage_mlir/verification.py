"""Checking a whole module, with the place of whatever breaks a rule."""

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.dominance import DominanceInfo
from xdsl.traits import NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.constant_inputs import CONSTANT_INPUT
from mirage_mlir.diagnostics import InvalidOperation, invalid, plain
from mirage_mlir.suggestions import suggestion

OWN_DIALECTS = frozenset(("kernel", "threadblock", "thread"))

LOWERING_ATTRIBUTES = frozenset("batched buffer layout".split())
"""What the passes from `assign-layouts` to `plan-memory` write on operations of a graph."""

ARGUMENT_ATTRIBUTES = (CONSTANT_INPUT,)
"""What `kernel` says of an argument of a function."""


def verify(module: ModuleOp) -> None:
    """
    Check every operation of `module` and that every value is defined before it is used.

    Raises `InvalidOperation` at the first that is wrong, inner ones first, as `Operation.verify`
    does; that one knows no places, prints the whole module, and does not look at dominance.
    """
    from mirage_mlir.dialects.candidate import verify_candidates
    from mirage_mlir.dialects.target import verify_target

    _verify_operation(module)
    verify_target(module)
    verify_candidates(module)
    dominance = _Dominance()
    for op in module.walk():
        dominance.verify(op)


def _verify_operation(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                _verify_operation(inner)
            if not block.ops and not _may_be_empty(region):
                raise invalid(op, "expects a terminator in its block")
    if isinstance(op, IRDLOperation) and op.dialect_name() in OWN_DIALECTS:
        _verify_attributes(op)
    if isinstance(op, FuncOp):
        _verify_arguments(op)
    _verify_names(op)
    try:
        op.verify(verify_nested_ops=False)
    except InvalidOperation:
        raise
    except VerifyException as error:
        raise invalid(op, plain(str(error))) from error


def _verify_names(op: Operation) -> None:
    """What a symbol table defines, it defines once; MLIR says that of the second definition."""
    if not op.has_trait(SymbolTable):
        return
    known: set[str] = set()
    for inner in (inner for region in op.regions for block in region.blocks for inner in block.ops):
        name = inner.get_attr_or_prop("sym_name")
        if not isinstance(name, StringAttr):
            continue
        if name.data in known:
            raise invalid(inner, f"defines @{name.data}, which is defined before")
        known.add(name.data)


def _verify_attributes(op: IRDLOperation) -> None:
    """
    What `op` has are attributes of its own, of a pass, or of another dialect (`other.name`).

    MLIR would take a misspelt one for a note of somebody else.
    """
    own = op.get_irdl_definition().properties
    noted = LOWERING_ATTRIBUTES if op.dialect_name() != "kernel" else frozenset[str]()
    for name in [*op.properties, *op.attributes]:
        if name not in own and name not in noted and "." not in name:
            has = f"it has {', '.join(own)}" if own else "it has none"
            raise invalid(op, f"has no attribute '{name}' ({has}){suggestion(name, own)}")


def _verify_arguments(function: FuncOp) -> None:
    """What `kernel` is made to say of arguments is something that it says."""
    for number, attributes in enumerate(function.arg_attrs or ()):
        for name, value in attributes.data.items():
            if name.partition(".")[0] not in OWN_DIALECTS:
                continue
            if name not in ARGUMENT_ATTRIBUTES:
                hint = suggestion(name, ARGUMENT_ATTRIBUTES)
                raise invalid(function, f"argument {number} has an unknown '{name}'{hint}")
            if not isinstance(value, UnitAttr):
                raise invalid(function, f"argument {number} has a value for '{name}': {value}")


def _may_be_empty(region: Region) -> bool:
    return region.parent is not None and region.parent.has_trait(NoTerminator)


class _Dominance:
    """The order of operations and blocks, found once for each block and region."""

    def __init__(self) -> None:
        self.positions: dict[Block, dict[Operation, int]] = {}
        self.regions: dict[Region, DominanceInfo] = {}

    def verify(self, op: Operation) -> None:
        for index, operand in enumerate(op.operands):
            if not self.reaches(operand, op):
                raise invalid(op, f"operand #{index} does not dominate this use")

    def reaches(self, value: SSAValue, user: Operation) -> bool:
        """Whether `value` is defined wherever `user` runs."""
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        region = block.parent if block is not None else None
        if block is None or region is None:
            return False
        around = user
        while around.parent is None or around.parent.parent is not region:
            if (outer := around.parent_op()) is None:
                return False  # the region that defines the value does not hold its user
            around = outer
        if isinstance(region.parent, ModuleOp):
            return True  # the body of a module is a graph: its order means nothing
        if around.parent is not block:
            if region not in self.regions:
                self.regions[region] = DominanceInfo(region)
            return self.regions[region].dominates(block, around.parent)
        return not isinstance(value, OpResult) or self.comes_before(value.op, around, block)

    def comes_before(self, first: Operation, second: Operation, block: Block) -> bool:
        if block not in self.positions:
            self.positions[block] = {op: index for index, op in enumerate(block.ops)}
        positions = self.positions[block]
        return positions[first] < positions[second]
