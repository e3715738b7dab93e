"""Which operations others depend on."""

from xdsl.ir import Operation


def leading_to(ops: list[Operation], chosen: set[Operation]) -> list[Operation]:
    """The operations of `ops` that are `chosen`, or on which these depend."""
    found = set(chosen)
    for op in reversed(ops):
        if op in found:
            found.update(value.owner for value in op.operands if isinstance(value.owner, Operation))
    return [op for op in ops if op in found]
