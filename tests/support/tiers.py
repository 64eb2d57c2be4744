"""Marks cases of a test for the slow tier: most of a matrix is slow by nature, a few cases of it are not."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(values: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """Parameters of which all but the quick ones are marked slow.

    Raises:
        AssertionError: a quick value is none of the values.
    """
    cases = list(values)
    assert all(value in cases for value in quick), f"one of {quick} is no case"
    return [value if value in quick else pytest.param(*_arguments(value), marks=pytest.mark.slow) for value in cases]


def _arguments(value: Any) -> tuple[Any, ...]:
    """A tuple is the arguments of a case, anything else is its only one."""
    return value if type(value) is tuple else (value,)
