"""What tests of PyTorch/XLA have in common: a CPU is the device."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def device() -> Iterator[None]:
    """Processes that tests start train on the CPU as the device, with one thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PJRT_DEVICE", "CPU")
        patch.setenv("OMP_NUM_THREADS", "1")
        yield
