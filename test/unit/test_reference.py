"""The reference that is made of the code has no gaps."""

import pytest
from reference import pages
from reference_operations import documentation, examples, operation_section
from reference_passes import lit_example
from xdsl.irdl import IRDLOperation

from mirage_mlir.dialects import DIALECTS, load_dialect
from mirage_mlir.passes import PASSES, load_pass
from mirage_mlir.tool.reference import reference_of

OURS = ("kernel", "threadblock", "thread")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_operation_has_a_docstring(dialect: str) -> None:
    bare = [op.name for op in load_dialect(dialect).operations if not op.__dict__.get("__doc__")]
    assert not bare


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_operation_has_an_example(dialect: str) -> None:
    """In `test/dialects/<dialect>`, whose programs lit runs through `mirage-opt`."""
    shown = examples(dialect)
    missing = [op.name for op in load_dialect(dialect).operations if not shown.get(op.name)]
    assert not missing


@pytest.mark.parametrize("dialect", OURS)
def test_each_attribute_is_explained(dialect: str) -> None:
    for operation in load_dialect(dialect).operations:
        assert issubclass(operation, IRDLOperation)
        said = " ".join(documentation(operation))
        for name in operation.get_irdl_definition().properties:
            assert name in said, f"{operation.name}: no word about {name}"


@pytest.mark.parametrize("name", PASSES)
def test_each_option_has_a_meaning(name: str) -> None:
    assert load_pass(name).__doc__
    for option in reference_of(load_pass(name)).options:
        assert option.meaning, f"{name}: no docstring below {option.name}"


def test_a_pass_is_shown_on_a_function_of_its_test() -> None:
    example = lit_example("kernel-decompose")
    assert example is not None
    before, after = example
    assert "kernel.rms_norm" in before
    assert "kernel.rms_norm" not in after
    assert "kernel.reduce_sum" in after
    # Its test runs other options too, so that what one sees would not be what the test says.
    assert lit_example("verify-equivalence") is None


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The pages, which take a second to make."""
    return pages()


def test_pages_name_everything(made: dict[str, str]) -> None:
    for dialect in DIALECTS:
        page = made[f"reference/{dialect}.md"]
        assert all(f"### `{op.name}`" in page for op in load_dialect(dialect).operations)
    assert all(f"## `--{name}`" in made["reference/passes.md"] for name in PASSES)


def test_definitions_of_an_operation(made: dict[str, str]) -> None:
    """Operands, types, attributes with defaults: what the code says, and nothing of xDSL's."""
    (gelu,) = [op for op in load_dialect("kernel").operations if op.name == "kernel.gelu"]
    assert issubclass(gelu, IRDLOperation)
    section = operation_section(gelu, ["%y = ..."])
    assert "* Operands: `input` (tensor of T)." in section
    assert "* `T`: f16 or bf16 or f32, the same everywhere." in section
    assert '| `approximate` | string | `"none"` | `approximate = "tanh"` |' in section
    for name in OURS:
        assert "Constraint(" not in made[f"reference/{name}.md"]
