"""Facts between passes are typed: passes read no attribute by a name that no dialect declares."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mirage_mlir.dialects.facts import Facts
from mirage_mlir.dialects.schedule import BlockMemory, Overlap, Schedule

ROOT = Path(__file__).resolve().parents[2]

FOREIGN = {
    "'gpu.container_module'": "MLIR's gpu dialect wants it on a module",
    "'nvvm.cluster_dim'": "a kernel's attribute in MLIR's nvvm dialect",
    "'nvvm.maxnreg'": "the same",
    "'nvvm.minctasm'": "the same",
    "'targets'": "an attribute of MLIR's gpu.module",
    "TARGETS": "the same",
    "TARGET": "`kernel.target`, a typed attribute that dialects/target.py verifies",
    "'gpu.kernel'": "MLIR's gpu dialect wants it on a kernel",
    "'linalg.memoized_indexing_maps'": "MLIR's linalg has it beside the maps of named operations",
    "WHERE_UNMASKED": "typed, and read by dialects/loop_bounds.py alone",
    "BUFFER": "typed, and read by dialects/layout.py alone",
    "LAUNCH": "typed, and read by dialects/launch.py alone",
    "WORKSPACE": "the same",
    "IMPLEMENTS": "`kernel.implements`, which dialects/candidate.py alone reads, and verifies",
    "CANDIDATE": "`kernel.candidate`, likewise",
    "ALTERNATIVE": "`kernel.alternative`, likewise",
    "UNVERIFIED": "`kernel.unverified`, likewise",
    "LAYOUT": "typed, and read by dialects/layout.py alone",
    "INTERFACE": "typed, and read by dialects/interface.py alone",
    "INVARIANT": "MLIR's llvm dialect has it on loads",
    "name": "those of linalg, as MLIR defines them; and copies or removals of all",
    "'call_target_name'": "StableHLO's, of calls that are refused by name",
    "attribute": "copies or prints whatever there is",
    "kind.attribute_name": "sizes of optional groups, which parsing.py drops",
}
"""Names that other dialects declare, or that one place reads, each with the reason."""


def is_attributes(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "attributes"


def keys(tree: ast.AST) -> Iterator[str]:
    """What `op.attributes` is asked for: by index, `get`, `pop`, or `in`."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=owner, slice=key) if is_attributes(owner):
                yield ast.unparse(key)
            case ast.Call(func=ast.Attribute(value=owner, attr="get" | "pop"), args=[key, *_]) if (
                is_attributes(owner)
            ):
                yield ast.unparse(key)
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[owner]):
                if is_attributes(owner):
                    yield ast.unparse(key)
            case _:
                pass


@cache
def keys_of_the_project() -> dict[str, str]:
    """Every name that an operation is asked for, with a file that does so."""
    files = [
        path
        for folder in ("dialects", "passes", "mirage_mlir")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    return {key: path.name for path in files for key in keys(ast.parse(path.read_text()))}


def test_no_new_attribute_is_read_by_its_name() -> None:
    found = keys_of_the_project()
    unknown = {key: file for key, file in found.items() if key not in FOREIGN}
    assert not unknown, "declare a property of the operation, or an attribute of a dialect"


def test_the_list_names_nothing_that_is_gone() -> None:
    assert set(FOREIGN) <= set(keys_of_the_project())


def test_each_way_to_read_is_seen() -> None:
    text = "op.attributes[A]; op.attributes.get('b'); op.attributes.pop(C); D in op.attributes"
    assert set(keys(ast.parse(text))) == {"A", "'b'", "C", "D"}


def facts() -> dict[str, list[ast.stmt]]:
    """The bodies of all classes of facts, which dialects declare."""
    files = [ast.parse(path.read_text()) for path in sorted((ROOT / "dialects").glob("*.py"))]
    return {
        node.name: node.body
        for tree in files
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base) == Facts.__name__ for base in node.bases)
    }


def test_each_fact_says_what_it_means() -> None:
    """Below each field of a schedule, a memory plan, a launch, ... stands a sentence."""
    classes = facts()
    assert {Schedule.__name__, BlockMemory.__name__, Overlap.__name__} <= set(classes)
    silent = [
        f"{name}.{ast.unparse(field)}"
        for name, body in classes.items()
        for field, below in zip(body, [*body[1:], None], strict=True)
        if isinstance(field, ast.AnnAssign)
        and not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant))
    ]
    assert silent == []
