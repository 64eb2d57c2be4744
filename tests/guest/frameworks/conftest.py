"""For all adapters: a script as it would run without the guest, and compiled programs that tests share."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import forked
import pytest
from harness import Child, Result

GUEST = ("PYTHONPATH", "DEVIATE_RUN_DIR", "DEVIATE_SPEC", "DEVIATE_GUEST", "DEVIATE_WORK", "DEVIATE_ROOT")


@pytest.fixture
def plainly() -> Callable[[Child], Result]:
    """`plainly(child)` runs the script as its user wrote it, without taps and without the guest."""
    return lambda child: child.run(is_tapped=False, environment=dict.fromkeys(GUEST))


@pytest.fixture(scope="session")
def compiled_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where JAX keeps what XLA has compiled: a script and its twins are the same programs."""
    return tmp_path_factory.mktemp("xla")


@pytest.fixture(scope="module", autouse=True)
def _compiles_a_program_once(compiled_programs: Path) -> Iterator[None]:
    """Unless scripts are to run in new processes that share nothing.

    TensorFlow is as quiet for all scripts as some of them make it, so that they have one server in common.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
        if not os.environ.get(forked.COLD):
            patch.setenv("JAX_COMPILATION_CACHE_DIR", str(compiled_programs))
            patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
            patch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
        yield
