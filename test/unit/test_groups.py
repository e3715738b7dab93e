"""Tests that share what is slow to make run in one process of a run."""

from typing import Any

import pytest


@pytest.mark.xdist_group("groups")
def test_groups_have_names(request: Any) -> None:
    """xdist finds the tests of a group by the name that it gives them; else it ignores groups."""
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.endswith("@groups")
