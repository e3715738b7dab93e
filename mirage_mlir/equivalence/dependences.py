"""What values of a function are computed from, and what is computed from them."""

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue


def values_before(values: Iterable[SSAValue]) -> set[SSAValue]:
    """Some values, and all that they are computed from."""
    found: set[SSAValue] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += value.owner.operands if isinstance(value.owner, Operation) else ()
    return found


def operators_before(values: Iterable[SSAValue]) -> set[Operation]:
    """The operators that compute some values."""
    owners = (value.owner for value in values_before(values))
    return {owner for owner in owners if isinstance(owner, Operation)}


def operators_after(op: Operation) -> set[Operation]:
    """The operators that compute from what one computes."""
    found: set[Operation] = set()
    pending = [op]
    while pending:
        readers = {use.operation for value in pending.pop().results for use in value.uses}
        pending += readers - found
        found |= readers
    return found
