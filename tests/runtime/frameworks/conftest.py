"""For all adapters: a script as it would run without the guest."""

from collections.abc import Callable

import pytest
from harness import Child, Result

GUEST = ("PYTHONPATH", "DEVIATE_RUN_DIR", "DEVIATE_SPEC", "DEVIATE_GUEST", "DEVIATE_WORK", "DEVIATE_ROOT")


@pytest.fixture
def plainly() -> Callable[[Child], Result]:
    """`plainly(child)` runs the script as its user wrote it, without taps and without the guest."""
    return lambda child: child.run(is_tapped=False, environment=dict.fromkeys(GUEST))
