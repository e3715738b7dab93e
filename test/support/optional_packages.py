"""Packages that a machine may lack."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


def package(name: str) -> Any:
    """An optional package, untyped; the test is skipped without it."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"{name} is not installed")
    return import_module(name)
