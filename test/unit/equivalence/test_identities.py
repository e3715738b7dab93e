"""The identities that users rely on, each in both arguments: random tests and the normal form."""

import pytest
from identities import IDENTITIES, WRONG, pair

from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.equivalence.random_tests import RandomTests, exponential_arguments
from mirage_mlir.equivalence.sample import whole
from mirage_mlir.equivalence.symbolic import prove


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities_are_accepted(name: str) -> None:
    identity = IDENTITIES[name]
    reference, candidate = pair(name)
    report = check_equivalence(reference, candidate)
    assert (report.verdict is Verdict.EQUAL) == identity.accurate, str(report)
    assert identity.accurate or report.verdict is Verdict.INACCURATE
    tests = RandomTests(
        reference,
        whole(reference),
        0,
        exponential=exponential_arguments((reference, candidate)),
        expand_sigmoid=False,
    )
    assert tests.run(candidate, None).passed == identity.tests
    proof = prove(reference, candidate)
    assert proof.proved == identity.form, proof.reason


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_identity(name: str) -> None:
    left, right = pair(name)
    for reference, candidate in ((left, right), (right, left)):
        assert check_equivalence(reference, candidate).verdict is Verdict.DIFFERENT
        assert not prove(reference, candidate).proved
