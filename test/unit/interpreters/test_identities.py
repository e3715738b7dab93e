"""The identities that users rely on, each in both arguments: the fields and the normal form."""

import pytest
from identities import IDENTITIES, WRONG, pair

from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.field_tests import Draws, FieldTests
from mirage_mlir.interpreters.forms import prove
from mirage_mlir.interpreters.representatives import field_axes


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities_are_accepted(name: str) -> None:
    report = check_equivalence(*pair(name))
    assert report.verdict is Verdict.EQUAL, str(report)


@pytest.mark.parametrize("name", IDENTITIES)
def test_what_each_argument_knows(name: str) -> None:
    identity = IDENTITIES[name]
    functions = pair(name)
    axes = field_axes(functions, DimensionClasses(functions), 0, 0)
    reference, candidate = functions
    outcome = FieldTests(Draws(reference, 0), candidate, axes, tests=3).run()
    assert (not outcome.differences) == identity.tests
    proof = prove(*functions)
    assert proof.proved == identity.form, proof.reason


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_identity(name: str) -> None:
    left, right = pair(name)
    for reference, candidate in ((left, right), (right, left)):
        assert check_equivalence(reference, candidate).verdict is Verdict.DIFFERENT
        assert not prove(reference, candidate).proved
